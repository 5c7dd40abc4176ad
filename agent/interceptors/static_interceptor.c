/* static_interceptor.c - gives every event the same header. */
#include "agent/core/interceptor.h"

typedef struct {
    Interceptor base;
    char *key;
    char *value;
    gboolean preserve_existing;
} StaticInterceptor;

static const OptionSpec static_options[] = {
    { .name = "key",
      OPTION_AT(STRING, StaticInterceptor, key),
      .fallback = "key",
      .help = "The name of the header." },
    { .name = "value",
      OPTION_AT(STRING, StaticInterceptor, value),
      .fallback = "value",
      .help = "What stands in it." },
    { .name = "preserve-existing",
      OPTION_AT(BOOL, StaticInterceptor, preserve_existing),
      .fallback = "true",
      .help = "Leave events alone that have this header." },
    { 0 },
};

static void
static_intercept(const Interceptor *base, EventEdit *event)
{
    const StaticInterceptor *self = (const StaticInterceptor *) base;
    ByteSpan key = byte_span_of_text(self->key);
    ByteSpan existing;

    if (self->preserve_existing && event_edit_find_header(event, key, &existing))
        return;
    event_edit_set_header(event, key, byte_span_of_text(self->value));
}

const InterceptorType static_interceptor = {
    .base = {
        .name = "static",
        .summary = "Gives every event the same header.",
        .instance_size = sizeof(StaticInterceptor),
        .options = static_options,
    },
    .intercept = static_intercept,
};
