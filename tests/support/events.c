/* events.c - batches from texts and back, for tests. */
#include "tests/support/events.h"

#include "base/batch_builder.h"

#define MAX_HEADERS 16

static void
add_event(BatchBuilder *builder, const char *text)
{
    const char *colon = strchr(text, ':');
    g_autofree char *head = g_strndup(text, colon != NULL ? (gsize) (colon - text) : 0);
    g_auto(GStrv) pairs = g_strsplit(head, ",", 0);
    EventHeader headers[MAX_HEADERS];
    guint n = 0;

    for (; pairs[n] != NULL; n++) {
        char *equals = strchr(pairs[n], '=');

        g_assert_nonnull(equals);
        g_assert_cmpuint(n, <, MAX_HEADERS);
        headers[n].key = byte_span(pairs[n], (gsize) (equals - pairs[n]));
        headers[n].value = byte_span_of_text(equals + 1);
    }
    batch_builder_add_event(builder, headers, n,
                            byte_span_of_text(colon != NULL ? colon + 1 : text));
}

Batch *
batch_of(const char *first, ...)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(64, 4);
    va_list texts;

    va_start(texts, first);
    for (const char *text = first; text != NULL; text = va_arg(texts, const char *))
        add_event(builder, text);
    va_end(texts);
    return batch_builder_finish(builder);
}

Batch *
batch_of_numbers(guint first, guint count)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(64, count);

    for (guint i = 0; i < count; i++) {
        char text[16];
        int length = g_snprintf(text, sizeof text, "%u", first + i);

        batch_builder_add_event(builder, NULL, 0, byte_span(text, (gsize) length));
    }
    return batch_builder_finish(builder);
}

Batch *
batch_of_size(guint count, gsize size)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(count * (size + 16), count);
    g_autofree char *body = g_strnfill(size, 'x');

    for (guint i = 0; i < count; i++)
        batch_builder_add_event(builder, NULL, 0, byte_span(body, size));
    return batch_builder_finish(builder);
}

static void
append_bytes(GString *out, ByteSpan bytes)
{
    for (gsize i = 0; i < bytes.length; i++) {
        if (bytes.data[i] == '\0')
            g_string_append(out, "\\0");
        else
            g_string_append_c(out, (char) bytes.data[i]);
    }
}

static void
append_event(GString *out, const Batch *batch, guint index)
{
    EventHeaderIter iter;
    EventHeader header;
    EventView event;
    const char *between = "";

    batch_view(batch, index, &event);
    event_header_iter_init(&iter, &event);
    while (event_header_iter_next(&iter, &header)) {
        g_string_append(out, between);
        append_bytes(out, header.key);
        g_string_append_c(out, '=');
        append_bytes(out, header.value);
        between = ",";
    }
    if (event.n_headers > 0)
        g_string_append_c(out, ':');
    append_bytes(out, event.body);
}

char *
slices_to_text(const BatchSlice *slices, guint n_slices)
{
    GString *out = g_string_new(NULL);

    for (guint s = 0; s < n_slices; s++) {
        for (guint i = 0; i < slices[s].count; i++) {
            if (s > 0 || i > 0)
                g_string_append_c(out, ' ');
            append_event(out, slices[s].batch, slices[s].first + i);
        }
    }
    return g_string_free(out, FALSE);
}

char *
batch_to_text(const Batch *batch)
{
    BatchSlice whole = { .batch = (Batch *) batch, .first = 0, .count = batch->n_events };

    return slices_to_text(&whole, 1);
}
