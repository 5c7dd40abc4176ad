/* logger_sink.c - shows each event in the log of the agent, shortened; to see what comes through.
 */
#include "agent/core/sink.h"
#include "base/log.h"

typedef struct {
    Sink base;
    guint64 max_bytes;
} LoggerSink;

static const OptionSpec logger_sink_options[] = {
    { .name = "max-bytes",
      OPTION_AT(SIZE, LoggerSink, max_bytes),
      .fallback = "256",
      .max = 1 << 20,
      .help = "Show this much of the headers and of the body; a body that is not UTF-8 is shown in "
              "hexadecimal." },
    { 0 },
};

/* The largest part of the text that fits and ends with a whole character. */
static gsize
text_length_within(ByteSpan text, gsize max_bytes)
{
    gsize length = max_bytes;

    if (text.length <= max_bytes)
        return text.length;
    while (length > 0 && (text.data[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static char *
hex_of_bytes(ByteSpan bytes, gsize max_bytes)
{
    gsize shown = MIN(bytes.length, max_bytes);
    GString *hex = g_string_sized_new(2 * shown + 4);

    for (gsize i = 0; i < shown; i++)
        g_string_append_printf(hex, "%02x", bytes.data[i]);
    if (shown < bytes.length)
        g_string_append(hex, "...");
    return g_string_free(hex, FALSE);
}

static char *
text_of_bytes(ByteSpan bytes, gsize max_bytes)
{
    gsize shown = text_length_within(bytes, max_bytes);

    return g_strdup_printf("%.*s%s", (int) shown, (const char *) bytes.data,
                           shown < bytes.length ? "..." : "");
}

/* "dc=fra, host=web1" */
static char *
text_of_headers(const EventView *event, gsize max_bytes)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *valid = NULL;
    EventHeaderIter iter;
    EventHeader header;

    event_header_iter_init(&iter, event);
    while (text->len <= max_bytes && event_header_iter_next(&iter, &header)) {
        g_string_append(text, text->len > 0 ? ", " : "");
        g_string_append_len(text, (const char *) header.key.data, (gssize) header.key.length);
        g_string_append_c(text, '=');
        g_string_append_len(text, (const char *) header.value.data, (gssize) header.value.length);
    }
    valid = g_utf8_make_valid(text->str, (gssize) text->len);
    return text_of_bytes(byte_span_of_text(valid), max_bytes);
}

static void
logger_sink_show(const LoggerSink *self, const EventView *event)
{
    gboolean is_text =
        g_utf8_validate_len((const char *) event->body.data, event->body.length, NULL);
    g_autofree char *headers = text_of_headers(event, self->max_bytes);
    g_autofree char *body = is_text ? text_of_bytes(event->body, self->max_bytes)
                                    : hex_of_bytes(event->body, self->max_bytes);

    log_info("event", LOG_TEXT("sink", self->base.base.name), LOG_TEXT("headers", headers),
             LOG_INT("bytes", event->body.length), LOG_TEXT(is_text ? "body" : "hex", body));
}

static Verdict
logger_sink_deliver(Sink *sink, const Delivery *delivery, guint *ret_done,
                    GError **error G_GNUC_UNUSED)
{
    const LoggerSink *self = (const LoggerSink *) sink;
    EventView event;

    for (guint s = 0; s < delivery->n_slices; s++) {
        const BatchSlice *slice = &delivery->slices[s];

        for (guint i = 0; i < slice->count && log_enabled(LOG_AT_INFO); i++) {
            batch_view(slice->batch, slice->first + i, &event);
            logger_sink_show(self, &event);
        }
    }
    *ret_done = delivery->n_events;
    return DELIVERED;
}

const SinkType logger_sink = {
    .base = {
        .name = "logger",
        .summary = "Shows each event in the agent's log.",
        .instance_size = sizeof(LoggerSink),
        .options = logger_sink_options,
    },
    .deliver = logger_sink_deliver,
};
