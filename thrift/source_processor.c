/* source_processor.c - takes calls of append and appendBatch out of Thrift's dispatcher whole. */
#include "thrift/source_processor.h"

#include <string.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/protocol/thrift_compact_protocol.h>
#include <thrift/c_glib/thrift_application_exception.h>

#include "thrift/cursor_transport.h"
#include "thrift/wire/reply.h"

#define LENGTH_PREFIX 4

/* Longer names are cut in the answer: it must not grow with what a client invents. */
#define MAX_ECHOED_NAME 256

typedef struct {
    ThriftProtocol *input;
    ThriftProtocol *output;
} Protocols;

typedef struct {
    LeatCursorTransport *arguments;
    LeatCursorTransport *reply;
    Protocols compact;
    Protocols binary;
    gpointer call; /* while one is dispatched */
} LeatSourceProcessorPrivate;

G_DEFINE_TYPE_WITH_PRIVATE(LeatSourceProcessor, leat_source_processor,
                           FLUME_TYPE_THRIFT_SOURCE_PROTOCOL_PROCESSOR)

/* A struct without fields: its stop byte, the same in both protocols. */
static const guint8 empty_arguments[] = { 0 };

void
source_processor_prepare_types(void)
{
    static GType (*const get_types[])(void) = {
        flume_thrift_flume_event_get_type,
        flume_thrift_source_protocol_append_args_get_type,
        flume_thrift_source_protocol_append_result_get_type,
        flume_thrift_source_protocol_append_batch_args_get_type,
        flume_thrift_source_protocol_append_batch_result_get_type,
        flume_thrift_source_protocol_if_get_type,
        flume_thrift_source_protocol_client_get_type,
        flume_thrift_source_protocol_handler_get_type,
        flume_thrift_source_protocol_processor_get_type,
        thrift_application_exception_get_type,
        thrift_binary_protocol_get_type,
        thrift_compact_protocol_get_type,
        leat_cursor_transport_get_type,
        leat_source_processor_get_type,
    };

    for (guint i = 0; i < G_N_ELEMENTS(get_types); i++)
        g_type_ensure(get_types[i]());
}

/* ---- the dispatcher ---- */

/* Takes method_name, as Thrift's contract has it. */
static gboolean
dispatch_call(ThriftDispatchProcessor *dispatcher, ThriftProtocol *input, ThriftProtocol *output,
              gchar *method_name, gint32 sequence_id, GError **error)
{
    LeatSourceProcessor *self = LEAT_SOURCE_PROCESSOR(dispatcher);
    LeatSourceProcessorPrivate *priv = leat_source_processor_get_instance_private(self);
    LeatSourceProcessorClass *class = LEAT_SOURCE_PROCESSOR_GET_CLASS(self);
    void (*method)(LeatSourceProcessor *, gpointer) = NULL;
    ThriftDispatchProcessorClass *thrift;

    if (strcmp(method_name, "append") == 0)
        method = class->append;
    else if (strcmp(method_name, "appendBatch") == 0)
        method = class->append_batch;
    if (method != NULL) {
        g_free(method_name);
        method(self, priv->call);
        return TRUE;
    }
    /* Not the parent class: the generated code looks for its parent from the class of the instance,
     * finds itself, and never comes back. */
    thrift = g_type_class_peek(THRIFT_TYPE_DISPATCH_PROCESSOR);
    return thrift->dispatch_call(dispatcher, input, output, method_name, sequence_id, error);
}

static void
set_length_prefix(GByteArray *reply, guint start)
{
    guint32 length = GUINT32_TO_BE(reply->len - start - LENGTH_PREFIX);

    memcpy(reply->data + start, &length, LENGTH_PREFIX);
}

static gboolean
call_dispatcher(LeatSourceProcessor *self, const WireMessage *message, GByteArray *reply)
{
    LeatSourceProcessorPrivate *priv = leat_source_processor_get_instance_private(self);
    Protocols *with = message->protocol == WIRE_COMPACT ? &priv->compact : &priv->binary;
    guint start = reply->len;
    gboolean answered;

    cursor_transport_set_input(priv->arguments, empty_arguments, sizeof empty_arguments);
    cursor_transport_set_output(priv->reply, reply);
    g_byte_array_set_size(reply, start + LENGTH_PREFIX);
    answered = THRIFT_DISPATCH_PROCESSOR_GET_CLASS(self)->dispatch_call(
        THRIFT_DISPATCH_PROCESSOR(self), with->input, with->output,
        g_strndup((const char *) message->name.data, message->name.length), message->sequence_id,
        NULL);
    cursor_transport_set_output(priv->reply, NULL);
    if (answered && reply->len > start + LENGTH_PREFIX)
        set_length_prefix(reply, start);
    else
        g_byte_array_set_size(reply, start);
    return answered;
}

/* Thrift's dispatcher ends a name at its first NUL, and answers an old-style call in the strict
 * form, which an old client cannot read. */
static gboolean
dispatcher_can_answer(const WireMessage *message)
{
    return message->protocol != WIRE_BINARY_OLD && message->name.length <= MAX_ECHOED_NAME &&
           (message->name.length == 0 ||
            memchr(message->name.data, '\0', message->name.length) == NULL);
}

static gboolean
method_is(const WireMessage *message, const char *name)
{
    return byte_span_equal(message->name, byte_span_of_text(name));
}

void
source_processor_dispatch(LeatSourceProcessor *self, const WireMessage *message, gpointer call,
                          GByteArray *reply)
{
    LeatSourceProcessorPrivate *priv = leat_source_processor_get_instance_private(self);
    WireMessage echoed = *message;
    gboolean is_ours = method_is(message, "append") || method_is(message, "appendBatch");

    priv->call = call;
    if ((is_ours || dispatcher_can_answer(message)) && call_dispatcher(self, message, reply))
        return;
    echoed.name.length = MIN(echoed.name.length, MAX_ECHOED_NAME);
    wire_reply_write_exception(reply, &echoed, WIRE_EXCEPTION_UNKNOWN_METHOD,
                               "Invalid method name");
}

/* ---- life ---- */

static void
leat_source_processor_finalize(GObject *object)
{
    LeatSourceProcessorPrivate *priv =
        leat_source_processor_get_instance_private(LEAT_SOURCE_PROCESSOR(object));

    g_object_unref(priv->compact.input);
    g_object_unref(priv->compact.output);
    g_object_unref(priv->binary.input);
    g_object_unref(priv->binary.output);
    g_object_unref(priv->arguments);
    g_object_unref(priv->reply);
    G_OBJECT_CLASS(leat_source_processor_parent_class)->finalize(object);
}

static void
leat_source_processor_class_init(LeatSourceProcessorClass *class)
{
    G_OBJECT_CLASS(class)->finalize = leat_source_processor_finalize;
    THRIFT_DISPATCH_PROCESSOR_CLASS(class)->dispatch_call = dispatch_call;
}

static void
leat_source_processor_init(LeatSourceProcessor *self)
{
    LeatSourceProcessorPrivate *priv = leat_source_processor_get_instance_private(self);
    GType compact = THRIFT_TYPE_COMPACT_PROTOCOL;
    GType binary = THRIFT_TYPE_BINARY_PROTOCOL;

    priv->arguments = cursor_transport_new();
    priv->reply = cursor_transport_new();
    priv->compact.input = g_object_new(compact, "transport", priv->arguments, NULL);
    priv->compact.output = g_object_new(compact, "transport", priv->reply, NULL);
    priv->binary.input = g_object_new(binary, "transport", priv->arguments, NULL);
    priv->binary.output = g_object_new(binary, "transport", priv->reply, NULL);
}
