/* source_processor.c - takes calls of append and appendBatch out of Thrift's dispatcher whole. */
#include "thrift/source_processor.h"

#include <string.h>

typedef struct {
    gpointer call; /* while one is dispatched */
} LeatSourceProcessorPrivate;

G_DEFINE_TYPE_WITH_PRIVATE(LeatSourceProcessor, leat_source_processor,
                           FLUME_TYPE_THRIFT_SOURCE_PROTOCOL_PROCESSOR)

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
        leat_source_processor_get_type,
    };

    for (guint i = 0; i < G_N_ELEMENTS(get_types); i++)
        g_type_ensure(get_types[i]());
}

/* Takes method_name, as Thrift's contract has it. The protocols are NULL: the arguments have been
 * read. FALSE for an unknown method, which is not left to Thrift's own dispatcher: in c_glib 0.17
 * its answer leaks 48 bytes (the exception's finalize does not chain up), and any client may ask
 * for it without end. */
static gboolean
dispatch_call(ThriftDispatchProcessor *dispatcher, ThriftProtocol *input G_GNUC_UNUSED,
              ThriftProtocol *output G_GNUC_UNUSED, gchar *method_name,
              gint32 sequence_id G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
    LeatSourceProcessor *self = LEAT_SOURCE_PROCESSOR(dispatcher);
    LeatSourceProcessorPrivate *priv = leat_source_processor_get_instance_private(self);
    LeatSourceProcessorClass *class = LEAT_SOURCE_PROCESSOR_GET_CLASS(self);
    void (*method)(LeatSourceProcessor *, gpointer) = NULL;

    if (strcmp(method_name, "append") == 0)
        method = class->append;
    else if (strcmp(method_name, "appendBatch") == 0)
        method = class->append_batch;
    g_free(method_name);
    if (method == NULL)
        return FALSE;
    method(self, priv->call);
    return TRUE;
}

gboolean
source_processor_dispatch(LeatSourceProcessor *self, const WireMessage *message, gpointer call)
{
    LeatSourceProcessorPrivate *priv = leat_source_processor_get_instance_private(self);
    ByteSpan name = message->name;

    /* Thrift's dispatcher would end the name there, and find another method. */
    if (name.length == 0 || memchr(name.data, '\0', name.length) != NULL)
        return FALSE;
    priv->call = call;
    return THRIFT_DISPATCH_PROCESSOR_GET_CLASS(self)->dispatch_call(
        THRIFT_DISPATCH_PROCESSOR(self), NULL, NULL,
        g_strndup((const char *) name.data, name.length), message->sequence_id, NULL);
}

static void
leat_source_processor_class_init(LeatSourceProcessorClass *class)
{
    THRIFT_DISPATCH_PROCESSOR_CLASS(class)->dispatch_call = dispatch_call;
}

static void
leat_source_processor_init(LeatSourceProcessor *self G_GNUC_UNUSED)
{
}
