/* frame_call.c - one frame: its header, its protocol, the walk through it, and what becomes of it.
 */
#include <string.h>

#include "thrift/client_guess.h"
#include "thrift/frame_server_private.h"

/* Of an unknown method's name, in answers and reports. */
#define MAX_SHOWN_NAME 128

/* From here on a copy of events goes into a pooled buffer, not onto the heap. */
#define LARGE_COPY ((gsize) 32 * 1024)

typedef struct {
    FrameConnection *connection;
    WireMessage message;
    const guint8 *data;
    gsize length;
    Buffer *buffer;
    gsize reserved;
} FrameCall;

/* ---- the methods of the service ---- */

#define FRAME_TYPE_PROCESSOR (frame_processor_get_type())
G_DECLARE_FINAL_TYPE(FrameProcessor, frame_processor, FRAME, PROCESSOR, LeatSourceProcessor)

struct _FrameProcessor {
    LeatSourceProcessor parent_instance;
};

G_DEFINE_FINAL_TYPE(FrameProcessor, frame_processor, LEAT_TYPE_SOURCE_PROCESSOR)

/* The events of the walk as a batch: the frame itself where that is possible. NULL: no memory. */
static Batch *
batch_of_walk(FrameCall *self)
{
    FrameLoop *loop = self->connection->loop;
    const Walk *walk = &loop->walk;
    const guint32 *offsets = walk->offsets;
    gsize end = offsets[walk->n_events];
    Buffer *copy;

    if (walk->in_place && self->buffer != NULL)
        return batch_new_from_buffer(g_steal_pointer(&self->buffer), offsets, walk->n_events);
    if (end < LARGE_COPY)
        return batch_new_copy(walk->bytes, offsets, walk->n_events);
    copy = buffer_pool_get(loop->pool, end);
    if (copy == NULL)
        return NULL;
    memcpy(copy->data, walk->bytes, end);
    return batch_new_from_buffer(copy, offsets, walk->n_events);
}

static void
receive_events(FrameCall *self, gboolean is_single)
{
    Batch *batch = batch_of_walk(self);
    gsize reserved = self->reserved;

    if (batch == NULL) {
        frame_connection_end_for_memory(self->connection);
        return;
    }
    self->reserved = 0;
    frame_request_receive(self->connection, &self->message, is_single, batch, reserved);
}

static void
append(LeatSourceProcessor *processor G_GNUC_UNUSED, gpointer call)
{
    receive_events(call, TRUE);
}

static void
append_batch(LeatSourceProcessor *processor G_GNUC_UNUSED, gpointer call)
{
    receive_events(call, FALSE);
}

static void
frame_processor_class_init(FrameProcessorClass *class)
{
    LeatSourceProcessorClass *processor = LEAT_SOURCE_PROCESSOR_CLASS(class);

    processor->append = append;
    processor->append_batch = append_batch;
}

static void
frame_processor_init(FrameProcessor *self G_GNUC_UNUSED)
{
}

LeatSourceProcessor *
frame_processor_new(void)
{
    return g_object_new(FRAME_TYPE_PROCESSOR, NULL);
}

/* ---- the header ---- */

/* What the client sent first, length included, while nothing but a length is known of it. */
static const char *
guess_client(const FrameCall *self)
{
    guint8 first[CLIENT_GUESS_BYTES];
    gsize n = MIN(self->length, sizeof first - FRAME_PREFIX);
    guint32 length = GUINT32_TO_BE((guint32) self->length);

    if (self->connection->knows_protocol)
        return NULL;
    memcpy(first, &length, FRAME_PREFIX);
    memcpy(first + FRAME_PREFIX, self->data, n);
    return client_guess(first, FRAME_PREFIX + n);
}

static gboolean
read_header(FrameCall *self)
{
    const char *guess;

    if (wire_message_read(self->data, self->length, &self->message)) {
        if (self->message.type == WIRE_CALL || self->message.type == WIRE_ONEWAY)
            return TRUE;
        frame_connection_end(self->connection, FRAME_CLOSED_BAD_HEADER,
                             "a message that is neither CALL nor ONEWAY");
        return FALSE;
    }
    guess = guess_client(self);
    if (guess != NULL)
        frame_connection_end(self->connection, FRAME_CLOSED_NOT_FRAMED, guess);
    else
        frame_connection_end(self->connection, FRAME_CLOSED_BAD_HEADER,
                             "a frame does not begin with the header of a Thrift message");
    return FALSE;
}

static gboolean
check_protocol(FrameCall *self)
{
    FrameConnection *connection = self->connection;
    FrameProtocol wanted = connection->loop->server->options.protocol;
    gboolean is_compact = self->message.protocol == WIRE_COMPACT;

    if (connection->knows_protocol && connection->is_compact != is_compact) {
        frame_connection_end(connection, FRAME_CLOSED_BAD_HEADER,
                             "the client changed its protocol in mid-connection");
        return FALSE;
    }
    connection->knows_protocol = TRUE;
    connection->is_compact = is_compact;
    if (wanted == FRAME_PROTOCOL_COMPACT && !is_compact) {
        frame_connection_end(connection, FRAME_CLOSED_WRONG_PROTOCOL,
                             "the client speaks the binary protocol; use TCompactProtocol in the "
                             "client, or 'protocol: auto' here");
        return FALSE;
    }
    if (wanted == FRAME_PROTOCOL_BINARY && is_compact) {
        frame_connection_end(connection, FRAME_CLOSED_WRONG_PROTOCOL,
                             "the client speaks the compact protocol; use TBinaryProtocol in the "
                             "client, or 'protocol: auto' here");
        return FALSE;
    }
    return TRUE;
}

/* ---- the arguments ---- */

static WalkVerdict
walk_arguments(FrameCall *self)
{
    Walk *walk = &self->connection->loop->walk;

    if (byte_span_equal(self->message.name, byte_span_of_text("append")))
        return walk_append(walk, &self->message, self->data, self->length);
    if (byte_span_equal(self->message.name, byte_span_of_text("appendBatch")))
        return walk_append_batch(walk, &self->message, self->data, self->length);
    return walk_other(walk, &self->message, self->data, self->length);
}

static void
answer_protocol_error(FrameCall *self, const char *text)
{
    frame_request_answer_exception(self->connection, &self->message, WIRE_EXCEPTION_PROTOCOL_ERROR,
                                   text);
}

static char *
printable_name(ByteSpan name)
{
    char *shown = g_strndup((const char *) name.data, MIN(name.length, MAX_SHOWN_NAME));

    for (char *c = shown; *c != '\0'; c++)
        if (!g_ascii_isprint(*c))
            *c = '?';
    return shown;
}

static void
answer_unknown_method(FrameCall *self)
{
    g_autofree char *name = printable_name(self->message.name);
    g_autofree char *text = g_strdup_printf("Invalid method name: '%s'", name);

    /* The answer must not grow with what a client invents. */
    self->message.name.length = MIN(self->message.name.length, MAX_SHOWN_NAME);
    frame_request_answer_exception(self->connection, &self->message, WIRE_EXCEPTION_UNKNOWN_METHOD,
                                   text);
    frame_connection_report(self->connection, FRAME_ANSWERED_UNKNOWN_METHOD, text);
}

static void
judge(FrameCall *self)
{
    FrameLoop *loop = self->connection->loop;

    switch (walk_arguments(self)) {
    case WALK_GOOD:
        if (!source_processor_dispatch(loop->processor, &self->message, self))
            answer_unknown_method(self);
        return;
    case WALK_INCOMPLETE:
        answer_protocol_error(self, loop->walk.reason);
        frame_connection_report(self->connection, FRAME_ANSWERED_INCOMPLETE, loop->walk.reason);
        return;
    case WALK_MALFORMED:
        answer_protocol_error(self, loop->walk.reason);
        frame_connection_end(self->connection, FRAME_CLOSED_MALFORMED, loop->walk.reason);
        return;
    case WALK_NO_MEMORY:
        frame_connection_end_for_memory(self->connection);
        return;
    }
}

void
frame_call_take(FrameConnection *connection, const guint8 *data, gsize length, Buffer *buffer,
                gsize reserved)
{
    FrameCall self = {
        .connection = connection,
        .data = data,
        .length = length,
        .buffer = buffer,
        .reserved = reserved,
    };
    FrameLoop *loop = connection->loop;

    if (read_header(&self) && check_protocol(&self))
        judge(&self);
    g_clear_pointer(&self.buffer, buffer_release);
    if (self.reserved > 0)
        receive_memory_release(loop->server->memory, self.reserved);
    walk_shrink(&loop->walk);
}
