/* source_processor.h - the dispatcher of the server: a subclass of the generated processor of
 * ThriftSourceProtocol that takes whole frames instead of decoding them.
 *
 * The frame server reads and walks a message, then calls source_processor_dispatch. append and
 * appendBatch end in the virtual methods below, with the walked events; every other method goes to
 * Thrift's own dispatcher, which answers UNKNOWN_METHOD. One instance per loop. */
#pragma once

#include <glib-object.h>

#include "thrift/flume_api.h"
#include "thrift/wire/message.h"

#define LEAT_TYPE_SOURCE_PROCESSOR (leat_source_processor_get_type())
G_DECLARE_DERIVABLE_TYPE(LeatSourceProcessor, leat_source_processor, LEAT, SOURCE_PROCESSOR,
                         flumeThriftSourceProtocolProcessor)

struct _LeatSourceProcessorClass {
    flumeThriftSourceProtocolProcessorClass parent_class;

    /* call is what was given to source_processor_dispatch. The answer is written later, by its
     * owner. */
    void (*append)(LeatSourceProcessor *self, gpointer call);
    void (*append_batch)(LeatSourceProcessor *self, gpointer call);
};

/* Calls every generated _get_type() once; needed before any thread starts, as they race in 0.17. */
void source_processor_prepare_types(void);

/* The frame must have passed the walk. Bytes of a reply that Thrift's own dispatcher wrote (unknown
 * method) are appended to reply, length prefix included. */
void source_processor_dispatch(LeatSourceProcessor *self, const WireMessage *message,
                               const guint8 *frame, gsize length, gpointer call, GByteArray *reply);
