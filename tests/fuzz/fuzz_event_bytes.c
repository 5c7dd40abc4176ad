/* fuzz_event_bytes.c - any bytes: what is taken for a canonical event is viewed without a step
 * outside, and built anew it has the same bytes. */
#include "base/event_bytes.h"

#include <glib.h>

#include "tests/fuzz/fuzz_target.h"

static void
check_view(const guint8 *data, gsize length)
{
    g_autofree guint8 *out = g_malloc(length);
    g_autoptr(GArray) headers = g_array_new(FALSE, FALSE, sizeof(EventHeader));
    EventView view;
    EventHeaderIter iter;
    EventHeader header;

    event_view_init(&view, data, length);
    event_header_iter_init(&iter, &view);
    while (event_header_iter_next(&iter, &header)) {
        ByteSpan value;

        g_array_append_val(headers, header);
        g_assert_true(event_view_find_header(&view, header.key, &value));
        g_assert_true(value.data == header.value.data); /* of this one: no key comes twice */
    }
    g_assert_cmpuint(headers->len, ==, view.n_headers);
    g_assert_cmpuint(
        event_bytes_size((const EventHeader *) (gpointer) headers->data, headers->len, view.body),
        ==, length);
    g_assert_true(event_bytes_write(out, (const EventHeader *) (gpointer) headers->data,
                                    headers->len, view.body) == out + length);
    g_assert_cmpmem(out, length, data, length);
}

/* One event after another gives what each gives alone, whatever shape is expected. */
static void
check_sequence(const guint8 *data, gsize size)
{
    EventShape shape = { 0 };
    gsize length;

    for (guint i = 0; i < 4; i++)
        event_bytes_check_next(&shape, data, size);
    for (; size > 0; data += length, size -= length) {
        length = event_bytes_check(data, size);
        g_assert_cmpuint(event_bytes_check_next(&shape, data, size), ==, length);
        length = MAX(length, 1);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gsize length = event_bytes_check(data, size);

    check_sequence(data, size);
    g_assert_cmpuint(length, <=, size);
    if (length == 0)
        return 0;
    g_assert_cmpuint(event_bytes_check(data, length), ==, length);
    g_assert_cmpuint(event_bytes_check(data, length - 1), ==, 0);
    check_view(data, length);
    return 0;
}
