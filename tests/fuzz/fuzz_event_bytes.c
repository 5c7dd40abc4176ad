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

/* Many events give what each gives alone, whatever the ones before it were like. */
static void
check_many(const guint8 *data, gsize size)
{
    g_autofree guint32 *ends = g_new(guint32, size + 1);
    guint n_events = event_bytes_check_many(data, size, (guint) size + 1, 7, ends);
    gsize at = 0;

    for (guint i = 0; i < n_events; i++) {
        at += event_bytes_check(data + at, size - at);
        g_assert_cmpuint(ends[i], ==, 7 + at);
    }
    g_assert_cmpuint(event_bytes_check(data + at, size - at), ==, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gsize length = event_bytes_check(data, size);

    check_many(data, size);
    g_assert_cmpuint(length, <=, size);
    if (length == 0)
        return 0;
    g_assert_cmpuint(event_bytes_check(data, length), ==, length);
    g_assert_cmpuint(event_bytes_check(data, length - 1), ==, 0);
    check_view(data, length);
    return 0;
}
