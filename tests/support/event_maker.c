/* event_maker.c - events from texts. */
#include "tests/support/event_maker.h"

#include <string.h>

#define MAX_HEADERS 16

MadeEvent *
made_event_new_bytes(const EventHeader *headers, guint n_headers, ByteSpan body)
{
    MadeEvent *self = g_new0(MadeEvent, 1);

    self->batch = batch_new_single(headers, n_headers, body);
    batch_view(self->batch, 0, &self->view);
    return self;
}

MadeEvent *
made_event_new(const char *const *headers, const char *body)
{
    EventHeader made[MAX_HEADERS];
    guint n = 0;

    for (; headers != NULL && headers[n] != NULL; n++) {
        const char *equals = strchr(headers[n], '=');

        g_assert_true(equals != NULL && n < MAX_HEADERS);
        made[n].key = byte_span(headers[n], (gsize) (equals - headers[n]));
        made[n].value = byte_span_of_text(equals + 1);
    }
    return made_event_new_bytes(made, n, byte_span_of_text(body));
}

void
made_event_free(MadeEvent *self)
{
    if (self == NULL)
        return;
    batch_unref(self->batch);
    g_free(self);
}
