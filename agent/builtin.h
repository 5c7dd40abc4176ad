/* builtin.h - the catalogue: every part that leat has, one line each. */
#pragma once

#include "agent/core/channel.h"
#include "agent/core/interceptor.h"
#include "agent/core/registration.h"
#include "agent/core/selector.h"
#include "agent/core/sink.h"
#include "agent/core/sink_group.h"
#include "agent/core/source.h"

#define BUILTIN_SOURCES(X) \
    X(sequence_source)     \
    X(thrift_source)

#define BUILTIN_INTERCEPTORS(X)    \
    X(host_interceptor)            \
    X(regex_extractor_interceptor) \
    X(regex_filter_interceptor)    \
    X(remove_header_interceptor)   \
    X(search_replace_interceptor)  \
    X(static_interceptor)          \
    X(timestamp_interceptor)       \
    X(uuid_interceptor)

#define BUILTIN_SELECTORS(X) \
    X(load_balance_selector) \
    X(multiplexing_selector) \
    X(replicating_selector)

#define BUILTIN_CHANNELS(X) \
    X(file_channel)         \
    X(memory_channel)       \
    X(spillable_channel)

#define BUILTIN_SINKS(X) \
    X(file_sink)         \
    X(logger_sink)       \
    X(null_sink)         \
    X(thrift_sink)

#define BUILTIN_REGISTRATIONS(X) \
    X(namesrv_registration)      \
    X(nsqlookupd_registration)

#define BUILTIN_DECLARE_SOURCE(name) extern const SourceType name;
#define BUILTIN_DECLARE_INTERCEPTOR(name) extern const InterceptorType name;
#define BUILTIN_DECLARE_SELECTOR(name) extern const SelectorType name;
#define BUILTIN_DECLARE_CHANNEL(name) extern const ChannelType name;
#define BUILTIN_DECLARE_SINK(name) extern const SinkType name;
#define BUILTIN_DECLARE_REGISTRATION(name) extern const RegistrationType name;
BUILTIN_SOURCES(BUILTIN_DECLARE_SOURCE)
BUILTIN_INTERCEPTORS(BUILTIN_DECLARE_INTERCEPTOR)
BUILTIN_SELECTORS(BUILTIN_DECLARE_SELECTOR)
BUILTIN_CHANNELS(BUILTIN_DECLARE_CHANNEL)
BUILTIN_SINKS(BUILTIN_DECLARE_SINK)
BUILTIN_REGISTRATIONS(BUILTIN_DECLARE_REGISTRATION)

/* NULL-terminated, in the order above. The ComponentType is the first member of each. */
const ComponentType *const *builtin_types(ComponentKind kind);
/* Case is ignored and '_' taken for '-'. NULL if there is none. */
const ComponentType *builtin_find(ComponentKind kind, const char *name);
/* NULL-terminated; the array is the caller's, the names are not. */
const char **builtin_type_names(ComponentKind kind);
/* Rows and metrics that every part of the kind has; NULL if none. */
const OptionSpec *builtin_kind_options(ComponentKind kind);
const MetricSpec *builtin_kind_metrics(ComponentKind kind);
/* Metrics that every part has, whatever its kind. */
const MetricSpec *builtin_common_metrics(void);
