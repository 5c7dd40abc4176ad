/* test_event_bytes.c - the canonical bytes of one event. */
#include "base/event_bytes.h"

#include <glib.h>
#include <string.h>

#define TEXT(t) byte_span_of_text(t)
#define BYTES(literal) byte_span("" literal, sizeof(literal) - 1)

static gsize
check(ByteSpan bytes)
{
    /* In memory of its own, so that a sanitizer sees a read past the end. */
    g_autofree guint8 *copy = g_memdup2(bytes.data, bytes.length);

    return event_bytes_check(copy, bytes.length);
}

static GByteArray *
build(const EventHeader *headers, guint n_headers, ByteSpan body)
{
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_set_size(bytes, (guint) event_bytes_size(headers, n_headers, body));
    g_assert_true(event_bytes_write(bytes->data, headers, n_headers, body) ==
                  bytes->data + bytes->len);
    return bytes;
}

static ByteSpan
span_of(const GByteArray *bytes)
{
    return byte_span(bytes->data, bytes->len);
}

/* 1b, map of n distinct two-byte keys with empty values; repeats the first key if asked. */
static GByteArray *
build_many(guint n_headers, gboolean repeat_first)
{
    g_autofree guint16 *keys = g_new(guint16, n_headers);
    g_autofree EventHeader *headers = g_new0(EventHeader, n_headers);

    for (guint i = 0; i < n_headers; i++) {
        keys[i] = (guint16) i;
        headers[i].key = byte_span(&keys[i], sizeof keys[i]);
    }
    if (repeat_first)
        keys[n_headers - 1] = 0;
    return build(headers, n_headers, TEXT(""));
}

static void
test_the_smallest_event_is_five_bytes(void)
{
    g_autoptr(GByteArray) event = build(NULL, 0, TEXT(""));

    g_assert_true(byte_span_equal(span_of(event), BYTES("\x1b\x00\x18\x00\x00")));
    g_assert_cmpuint(check(span_of(event)), ==, 5);
}

static void
test_an_event_has_the_bytes_of_thrifts_compact_protocol(void)
{
    const EventHeader header = { TEXT("k"), TEXT("value") };
    g_autoptr(GByteArray) event = build(&header, 1, TEXT("body"));

    g_assert_true(byte_span_equal(span_of(event), BYTES("\x1b\x01\x88\x01k\x05value\x18\x04"
                                                        "body\x00")));
    g_assert_cmpuint(check(span_of(event)), ==, event->len);
}

static void
test_bytes_behind_the_event_are_not_its_business(void)
{
    g_assert_cmpuint(check(BYTES("\x1b\x00\x18\x01x\x00\x1b\xff\xff")), ==, 6);
}

static void
test_nul_bytes_and_empty_texts_come_back_as_they_were(void)
{
    const EventHeader headers[] = { { BYTES("a\0b"), BYTES("\0\0") },
                                    { TEXT(""), TEXT("") },
                                    { BYTES("\xff\xfe"), TEXT("") } };
    g_autoptr(GByteArray) event = build(headers, G_N_ELEMENTS(headers), BYTES("\0x\xff"));
    EventView view;
    EventHeaderIter iter;
    EventHeader header;

    g_assert_cmpuint(check(span_of(event)), ==, event->len);
    event_view_init(&view, event->data, event->len);

    g_assert_true(byte_span_equal(view.body, BYTES("\0x\xff")));
    g_assert_cmpuint(view.n_headers, ==, G_N_ELEMENTS(headers));
    event_header_iter_init(&iter, &view);
    for (guint i = 0; i < G_N_ELEMENTS(headers); i++) {
        g_assert_true(event_header_iter_next(&iter, &header));
        g_assert_true(byte_span_equal(header.key, headers[i].key));
        g_assert_true(byte_span_equal(header.value, headers[i].value));
    }
    g_assert_false(event_header_iter_next(&iter, &header));
}

static void
test_a_header_is_found_by_all_of_its_key(void)
{
    const EventHeader headers[] = { { BYTES("a\0b"), TEXT("long") }, { TEXT("a"), TEXT("short") } };
    g_autoptr(GByteArray) event = build(headers, G_N_ELEMENTS(headers), TEXT(""));
    EventView view;
    ByteSpan value;

    event_view_init(&view, event->data, event->len);

    g_assert_true(event_view_find_header(&view, TEXT("a"), &value));
    g_assert_true(byte_span_equal(value, TEXT("short")));
    g_assert_false(event_view_find_header(&view, TEXT("b"), &value));
}

static void
test_every_length_around_a_varint_step_is_written_and_read(void)
{
    const gsize lengths[] = { 126, 127, 128, 129, 16383, 16384, 2097151, 2097152 };

    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree guint8 *body = g_malloc0(lengths[i]);
        g_autoptr(GByteArray) event = build(NULL, 0, byte_span(body, lengths[i]));
        EventView view;

        g_assert_cmpuint(check(span_of(event)), ==, event->len);
        event_view_init(&view, event->data, event->len);
        g_assert_cmpuint(view.body.length, ==, lengths[i]);
    }
}

static void
test_an_event_cut_anywhere_is_none(void)
{
    const EventHeader headers[] = { { TEXT("key"), TEXT("value") }, { TEXT("k"), TEXT("v") } };
    g_autofree guint8 *body = g_malloc0(200);
    g_autoptr(GByteArray) event = build(headers, G_N_ELEMENTS(headers), byte_span(body, 200));

    for (gsize length = 0; length < event->len; length++)
        g_assert_cmpuint(check(byte_span(event->data, length)), ==, 0);
}

static void
test_legal_thrift_in_another_form_is_not_canonical(void)
{
    const ByteSpan forms[] = {
        BYTES("\x18\x00\x1b\x00\x00"),                  /* body first, a delta of -1 cannot be */
        BYTES("\x28\x00\x0b\x02\x00\x00"),              /* body first, long header for field 1 */
        BYTES("\x0b\x02\x00\x18\x00\x00"),              /* long header for field 1 */
        BYTES("\x1b\x80\x00\x18\x00\x00"),              /* count not minimal */
        BYTES("\x1b\x00\x18\x80\x00\x00"),              /* length not minimal */
        BYTES("\x1b\x00\x18\x00\x15\x02\x00"),          /* an unknown field */
        BYTES("\x1b\x00\x18\x00\x10"),                  /* another way to say stop */
        BYTES("\x1b\x01\x88\x81\x00k\x00\x18\x00\x00"), /* key length not minimal */
    };

    for (guint i = 0; i < G_N_ELEMENTS(forms); i++)
        g_assert_cmpuint(check(forms[i]), ==, 0);
}

static void
test_lengths_and_counts_past_the_end_are_refused(void)
{
    const ByteSpan forms[] = {
        BYTES("\x1b\x00\x18\x02x\x00"),                              /* body past the end */
        BYTES("\x1b\x00\x18\xff\xff\xff\xff\x07\x00"),               /* 2^31 - 1 */
        BYTES("\x1b\x00\x18\xff\xff\xff\xff\x0f\x00"),               /* 2^32 - 1: -1 to Thrift */
        BYTES("\x1b\x00\x18\xff\xff\xff\xff\xff\x01\x00"),           /* more than 32 bits */
        BYTES("\x1b\x00\x18\x80\x80\x80\x80\x80\x80\x00\x00"),       /* over-long */
        BYTES("\x1b\xff\xff\xff\xff\x07\x88\x01k\x01v\x18\x00\x00"), /* count */
        BYTES("\x1b\x01\x18\x00\x00"),                               /* count without types */
        BYTES("\x1b\x01\x8b\x01k\x01v\x18\x00\x00"),                 /* not text to text */
        BYTES("\x1b\x01\x88\x7fk\x01v\x18\x00\x00"),                 /* key past the end */
        BYTES("\x1b\x01\x88\x01k\x7fv\x18\x00\x00"),                 /* value past the end */
        BYTES(""),
    };

    for (guint i = 0; i < G_N_ELEMENTS(forms); i++)
        g_assert_cmpuint(check(forms[i]), ==, 0);
}

static void
test_a_key_twice_is_not_canonical_however_many_there_are(void)
{
    for (guint n_headers = 2; n_headers < 300; n_headers++) {
        g_autoptr(GByteArray) good = build_many(n_headers, FALSE);
        g_autoptr(GByteArray) bad = build_many(n_headers, TRUE);

        g_assert_cmpuint(check(span_of(good)), ==, good->len);
        g_assert_cmpuint(check(span_of(bad)), ==, 0);
    }
}

/* Built in steps, with key i % n_keys for header i, value i: the last of each key must stay. */
static void
keep_last(guint n_headers, guint n_keys)
{
    g_autofree guint8 *event = g_malloc(32 + n_headers * 10);
    guint8 *out = event_bytes_begin(event, n_headers);
    EventView view;
    EventHeaderIter iter;
    EventHeader header;
    guint32 expected = n_headers - n_keys;

    for (guint32 i = 0; i < n_headers; i++) {
        guint32 key = i % n_keys;

        out = event_bytes_put_header(out, byte_span(&key, 4), byte_span(&i, 4));
    }
    out = event_bytes_end(event_bytes_keep_last_headers(event, out), TEXT("b"));

    g_assert_cmpuint(event_bytes_check(event, (gsize) (out - event)), ==, out - event);
    event_view_init(&view, event, (gsize) (out - event));
    g_assert_cmpuint(view.n_headers, ==, n_keys);
    event_header_iter_init(&iter, &view);
    for (; event_header_iter_next(&iter, &header); expected++)
        g_assert_cmpmem(header.value.data, header.value.length, &expected, 4);
    g_assert_true(byte_span_equal(view.body, TEXT("b")));
}

static void
test_of_a_repeated_key_the_last_header_stays(void)
{
    keep_last(1, 1);
    keep_last(2, 1);
    keep_last(16, 16);
    keep_last(16, 5);
    keep_last(17, 17);
    keep_last(17, 16);
    keep_last(300, 100); /* the count loses a byte */
    keep_last(100000, 99999);
}

/* Random headers of few different keys, whose values look like headers themselves: a set that
 * reads a header where none stands any more finds one there. */
static guint8 *
build_lookalikes(guint n_headers, GHashTable *last_values, guint8 **ret_end)
{
    guint8 *event = g_malloc(32 + (gsize) n_headers * 16);
    guint8 *out = event_bytes_begin(event, n_headers);

    for (guint i = 0; i < n_headers; i++) {
        guint8 key = (guint8) g_test_rand_int_range(1, 60);
        guint8 value[12];
        gsize length = (gsize) g_test_rand_int_range(0, 6) * 2;

        for (gsize at = 0; at < length; at += 2) {
            value[at] = 1;
            value[at + 1] = (guint8) g_test_rand_int_range(1, 60);
        }
        out = event_bytes_put_header(out, byte_span(&key, 1), byte_span(value, length));
        g_hash_table_insert(last_values, GUINT_TO_POINTER(key), g_bytes_new(value, length));
    }
    *ret_end = out;
    return event;
}

static void
test_headers_that_look_like_others_are_kept_apart(void)
{
    for (guint round = 0; round < 3000; round++) {
        g_autoptr(GHashTable) last_values =
            g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_bytes_unref);
        guint8 *out;
        g_autofree guint8 *event = build_lookalikes(100, last_values, &out);
        EventView view;
        EventHeaderIter iter;
        EventHeader header;

        out = event_bytes_end(event_bytes_keep_last_headers(event, out), TEXT(""));
        event_view_init(&view, event, (gsize) (out - event));

        g_assert_cmpuint(view.n_headers, ==, g_hash_table_size(last_values));
        event_header_iter_init(&iter, &view);
        while (event_header_iter_next(&iter, &header)) {
            GBytes *value =
                g_hash_table_lookup(last_values, GUINT_TO_POINTER((guint) header.key.data[0]));

            g_assert_nonnull(value);
            g_assert_cmpmem(header.value.data, header.value.length, g_bytes_get_data(value, NULL),
                            g_bytes_get_size(value));
        }
    }
}

static void
test_a_million_tiny_keys_take_linear_time(void)
{
    const guint n_headers = 1000000;
    g_autofree guint32 *keys = g_new(guint32, n_headers);
    g_autofree EventHeader *headers = g_new0(EventHeader, n_headers);
    g_autoptr(GByteArray) event = NULL;
    gint64 start_us;

    for (guint i = 0; i < n_headers; i++) {
        keys[i] = i;
        headers[i].key = byte_span(&keys[i], 3);
    }
    event = build(headers, n_headers, TEXT(""));
    start_us = g_get_monotonic_time();

    g_assert_cmpuint(event_bytes_check(event->data, event->len), ==, event->len);

    g_test_message("%" G_GINT64_FORMAT " ms", (g_get_monotonic_time() - start_us) / 1000);
    g_assert_cmpint(g_get_monotonic_time() - start_us, <, 20 * G_USEC_PER_SEC);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-bytes/the-smallest-event-is-five-bytes",
                    test_the_smallest_event_is_five_bytes);
    g_test_add_func("/event-bytes/an-event-has-the-bytes-of-thrifts-compact-protocol",
                    test_an_event_has_the_bytes_of_thrifts_compact_protocol);
    g_test_add_func("/event-bytes/bytes-behind-the-event-are-not-its-business",
                    test_bytes_behind_the_event_are_not_its_business);
    g_test_add_func("/event-bytes/nul-bytes-and-empty-texts-come-back-as-they-were",
                    test_nul_bytes_and_empty_texts_come_back_as_they_were);
    g_test_add_func("/event-bytes/a-header-is-found-by-all-of-its-key",
                    test_a_header_is_found_by_all_of_its_key);
    g_test_add_func("/event-bytes/every-length-around-a-varint-step-is-written-and-read",
                    test_every_length_around_a_varint_step_is_written_and_read);
    g_test_add_func("/event-bytes/an-event-cut-anywhere-is-none",
                    test_an_event_cut_anywhere_is_none);
    g_test_add_func("/event-bytes/legal-thrift-in-another-form-is-not-canonical",
                    test_legal_thrift_in_another_form_is_not_canonical);
    g_test_add_func("/event-bytes/lengths-and-counts-past-the-end-are-refused",
                    test_lengths_and_counts_past_the_end_are_refused);
    g_test_add_func("/event-bytes/a-key-twice-is-not-canonical-however-many-there-are",
                    test_a_key_twice_is_not_canonical_however_many_there_are);
    g_test_add_func("/event-bytes/of-a-repeated-key-the-last-header-stays",
                    test_of_a_repeated_key_the_last_header_stays);
    g_test_add_func("/event-bytes/headers-that-look-like-others-are-kept-apart",
                    test_headers_that_look_like_others_are_kept_apart);
    g_test_add_func("/event-bytes/a-million-tiny-keys-take-linear-time",
                    test_a_million_tiny_keys_take_linear_time);
    return g_test_run();
}
