/* fuzz_walk.c - any frame: the walk stays within it, what it accepts is canonical and stays so, and
 * Thrift's generated decoder accepts the same calls with the same events, but for what is named
 * here. */
#include "thrift/wire/walk.h"

#include <glib.h>
#include <string.h>

#include "base/event_bytes.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/repeated_field.h"

#define TEXT(t) byte_span_of_text(t)

/* What the decoder must do with a call that the walk does not accept. */
typedef enum {
    DECODER_REFUSES,
    DECODER_ACCEPTS, /* a difference by intent */
    DECODER_DECIDES, /* the same, unless an event lacks something as well */
    NOT_ASKED,       /* a difference after which the two read different things, or a crash */
} Expectation;

/* Beside these the decoder differs in one more way: it cuts keys and values at NUL.
 *
 * Never asked are old-style headers (it leaves name and type unset) and calls in which a field of
 * the arguments or of an event comes twice (it frees what it must not, or adds both). */
static const struct {
    const char *reason;
    Expectation expectation;
} expectations[] = {
    { "an event lacks its headers or its body", DECODER_REFUSES },
    { "a field is of no known type", DECODER_REFUSES },
    /* Its arguments are not required; ours are. */
    { "the argument is absent or of another type", DECODER_ACCEPTS },
    /* It is done then; a frame of ours is one message. */
    { "bytes follow the message", DECODER_DECIDES },
    /* It reads events and texts whatever the container declares. */
    { "the list holds no events", NOT_ASKED },
    { "headers are no map of string to string", NOT_ASKED },
    { "a container holds values of no known type", NOT_ASKED },
    /* It takes up to ten bytes and drops the bits that do not fit. */
    { "an integer is over-long", NOT_ASKED },
    /* Passing over a string that it cannot read, it frees a pointer that it never set. */
    { "the frame ends too early", NOT_ASKED },
    /* The same; or it allocates what is claimed, copies a negative length, overflows the stack. */
    { "a length goes past the end of the frame", NOT_ASKED },
    { "a container claims more than the frame can hold", NOT_ASKED },
    { "values are nested more than 64 deep", NOT_ASKED },
};

static Expectation
expectation_of(WalkVerdict verdict, const char *reason)
{
    if (verdict == WALK_GOOD)
        return DECODER_ACCEPTS;
    for (guint i = 0; i < G_N_ELEMENTS(expectations); i++)
        if (strcmp(expectations[i].reason, reason) == 0)
            return expectations[i].expectation;
    g_error("the table does not know '%s'", reason);
}

/* ---- the walk by itself ---- */

static WalkVerdict
walk_by_name(Walk *walk, const WireMessage *message, const guint8 *data, gsize length)
{
    if (byte_span_equal(message->name, TEXT("append")))
        return walk_append(walk, message, data, length);
    if (byte_span_equal(message->name, TEXT("appendBatch")))
        return walk_append_batch(walk, message, data, length);
    return walk_other(walk, message, data, length);
}

static ByteSpan
event_at(const Walk *walk, guint index)
{
    const guint32 *offsets = walk->offsets;

    return byte_span(walk->bytes + offsets[index], offsets[index + 1] - offsets[index]);
}

/* The call that leat itself would send with these events. */
static GByteArray *
canonical_call(const Walk *walk)
{
    static const guint8 head[] = "\x82\x21\x01\x0b"
                                 "appendBatch\x19\xfc";
    GByteArray *call = g_byte_array_new();
    guint8 count[5];
    guint n_bytes = 0;

    g_byte_array_append(call, head, sizeof head - 1);
    for (guint left = walk->n_events;; left >>= 7) {
        count[n_bytes++] = (guint8) ((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        if (left <= 0x7f)
            break;
    }
    g_byte_array_append(call, count, n_bytes);
    for (guint i = 0; i < walk->n_events; i++)
        g_byte_array_append(call, event_at(walk, i).data, (guint) event_at(walk, i).length);
    g_byte_array_append(call, (const guint8 *) "", 1);
    return call;
}

static void
check_canonical(const Walk *walk, gsize length)
{
    static Walk again;
    g_autoptr(GByteArray) call = canonical_call(walk);
    gsize total = 0;
    WireMessage message;

    if (!again.offsets)
        walk_init(&again);
    g_assert_true(wire_message_read(call->data, call->len, &message));
    g_assert_cmpint(walk_append_batch(&again, &message, call->data, call->len), ==, WALK_GOOD);
    g_assert_true(again.in_place);
    g_assert_cmpuint(again.n_events, ==, walk->n_events);
    for (guint i = 0; i < walk->n_events; i++) {
        ByteSpan event = event_at(walk, i);

        g_assert_cmpuint(event_bytes_check(event.data, event.length), ==, event.length);
        g_assert_true(byte_span_equal(event, event_at(&again, i)));
        total += event.length;
    }
    g_assert_cmpuint(total, <=, length);
}

/* ---- the walk and the decoder ---- */

static void
compare_event(ByteSpan event, flumeThriftFlumeEvent *decoded)
{
    g_autoptr(GHashTable) cut = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    EventView view;
    EventHeaderIter iter;
    EventHeader header;
    GHashTableIter pairs;
    gpointer key;
    gpointer value;

    event_view_init(&view, event.data, event.length);
    event_header_iter_init(&iter, &view);
    while (event_header_iter_next(&iter, &header))
        g_hash_table_insert(cut, g_strndup((const char *) header.key.data, header.key.length),
                            g_strndup((const char *) header.value.data, header.value.length));

    g_assert_cmpmem(view.body.data, view.body.length, decoded->body->data, decoded->body->len);
    g_assert_cmpuint(g_hash_table_size(cut), ==, g_hash_table_size(decoded->headers));
    g_hash_table_iter_init(&pairs, decoded->headers);
    while (g_hash_table_iter_next(&pairs, &key, &value))
        g_assert_cmpstr(g_hash_table_lookup(cut, key), ==, value);
}

static void
compare_header(const WireMessage *message, const OracleCall *call)
{
    g_autofree char *name = g_strndup((const char *) message->name.data, message->name.length);

    g_assert_cmpstr(name, ==, call->name);
    g_assert_cmpint(message->type, ==, (gint) call->type);
    g_assert_cmpint(message->sequence_id, ==, call->sequence_id);
}

static void
compare_call(const Walk *walk, WalkVerdict verdict, const WireMessage *message, const guint8 *data,
             gsize length)
{
    Expectation expectation = expectation_of(verdict, walk->reason);
    g_auto(OracleCall) call = { 0 };

    if (message->protocol == WIRE_BINARY_OLD || expectation == NOT_ASKED ||
        has_repeated_field(message, data, length))
        return;
    /* To the decoder "append\0..." is append. */
    if (memchr(message->name.data, 0, message->name.length))
        return;

    oracle_decode(&call, message->protocol, data, length);
    compare_header(message, &call);
    if (expectation != DECODER_DECIDES)
        g_assert_cmpint(call.accepted, ==, expectation == DECODER_ACCEPTS);
    if (verdict != WALK_GOOD)
        return;
    g_assert_cmpuint(call.n_bytes_left, ==, 0);
    g_assert_cmpuint(walk->n_events, ==, call.events ? call.events->len : 0);
    for (guint i = 0; i < walk->n_events; i++)
        compare_event(event_at(walk, i), g_ptr_array_index(call.events, i));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Walk walk; /* scratch of all inputs, as in a server */
    WireMessage message;
    WalkVerdict verdict;

    if (!walk.offsets)
        walk_init(&walk);
    if (!wire_message_read(data, size, &message))
        return 0;
    g_assert_cmpuint(message.length, <=, size);
    verdict = walk_by_name(&walk, &message, data, size);
    g_assert_true((verdict == WALK_GOOD) == (walk.reason == NULL));
    if (verdict == WALK_GOOD)
        check_canonical(&walk, size);
    compare_call(&walk, verdict, &message, data, size);
    return 0;
}
