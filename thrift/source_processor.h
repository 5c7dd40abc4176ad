/* source_processor.h - the dispatcher of the server: a subclass of the generated processor of
 * ThriftSourceProtocol that takes whole calls instead of decoding them.
 *
 * The frame server reads and walks a message, then calls source_processor_dispatch, and the calls
 * of the service end in the virtual methods below. One instance per loop, used for every call. */
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

/* FALSE if the service has no such method: nothing was called, the caller answers UNKNOWN_METHOD.
 */
gboolean source_processor_dispatch(LeatSourceProcessor *self, const WireMessage *message,
                                   gpointer call);
