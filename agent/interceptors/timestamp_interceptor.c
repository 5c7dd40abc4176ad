/* timestamp_interceptor.c - writes the time into a header, in milliseconds since 1970. */
#include "agent/core/interceptor.h"
#include "base/clock.h"

typedef struct {
    Interceptor base;
    char *header_name;
    gboolean preserve_existing;
} TimestampInterceptor;

static const OptionSpec timestamp_options[] = {
    { .name = "header-name",
      OPTION_AT(STRING, TimestampInterceptor, header_name),
      .fallback = "timestamp",
      .help = "The header that receives the milliseconds since 1970, UTC." },
    { .name = "preserve-existing",
      OPTION_AT(BOOL, TimestampInterceptor, preserve_existing),
      .fallback = "false",
      .help = "Leave events alone that have this header." },
    { 0 },
};

static void
timestamp_intercept(const Interceptor *base, EventEdit *event)
{
    const TimestampInterceptor *self = (const TimestampInterceptor *) base;
    ByteSpan key = byte_span_of_text(self->header_name);
    ByteSpan existing;
    char text[24];
    int length;

    if (self->preserve_existing && event_edit_find_header(event, key, &existing))
        return;
    length = g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, clock_wall_us() / 1000);
    event_edit_set_header(event, key, byte_span(text, (gsize) length));
}

const InterceptorType timestamp_interceptor = {
    .base = {
        .name = "timestamp",
        .summary = "Writes the time at which an event came in into a header.",
        .instance_size = sizeof(TimestampInterceptor),
        .options = timestamp_options,
    },
    .intercept = timestamp_intercept,
};
