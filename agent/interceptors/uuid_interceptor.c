/* uuid_interceptor.c - gives every event a random identity, so that duplicates can be told. */
#include "agent/core/interceptor.h"

typedef struct {
    Interceptor base;
    char *header_name;
    gboolean preserve_existing;
    char *prefix;
} UuidInterceptor;

static const OptionSpec uuid_options[] = {
    { .name = "header-name",
      OPTION_AT(STRING, UuidInterceptor, header_name),
      .fallback = "id",
      .help = "The header that receives the identity." },
    { .name = "preserve-existing",
      OPTION_AT(BOOL, UuidInterceptor, preserve_existing),
      .fallback = "true",
      .help = "Leave events alone that have this header." },
    { .name = "prefix",
      OPTION_AT(STRING, UuidInterceptor, prefix),
      .fallback = "",
      .help = "Stands in front of each identity." },
    { 0 },
};

static void
uuid_intercept(const Interceptor *base, EventEdit *event)
{
    const UuidInterceptor *self = (const UuidInterceptor *) base;
    ByteSpan key = byte_span_of_text(self->header_name);
    g_autofree char *uuid = NULL;
    g_autofree char *value = NULL;
    ByteSpan existing;

    if (self->preserve_existing && event_edit_find_header(event, key, &existing))
        return;
    uuid = g_uuid_string_random();
    value = g_strconcat(self->prefix, uuid, NULL);
    event_edit_set_header(event, key, byte_span_of_text(value));
}

const InterceptorType uuid_interceptor = {
    .base = {
        .name = "uuid",
        .summary = "Gives every event a random identity in a header.",
        .instance_size = sizeof(UuidInterceptor),
        .options = uuid_options,
    },
    .intercept = uuid_intercept,
};
