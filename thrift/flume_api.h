/* flume_api.h - the generated Thrift code with what it lacks: cleanup for its types. */
#pragma once

#include "flume_thrift_source_protocol.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(flumeThriftSourceProtocolProcessor, g_object_unref)
