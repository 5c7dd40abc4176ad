/* fake_channel.c - a channel that answers as a test tells it. */
#include "tests/support/fake_channel.h"

#include "tests/support/test_part.h"

static PutResult
fake_put(Channel *channel, Batch *batch, Ticket *ticket, GError **error)
{
    FakeChannel *self = (FakeChannel *) channel;

    self->n_puts++;
    g_clear_pointer(&self->batch, batch_unref);
    self->batch = batch_ref(batch);
    if (self->answer == PUT_FAILED)
        g_set_error_literal(error, CHANNEL_ERROR, CHANNEL_ERROR_IO, "told to fail");
    if (self->answer == PUT_PENDING) {
        self->waiting = ticket;
        ticket->channel = channel;
        ticket->batch = batch_ref(batch);
    }
    return self->answer;
}

static gboolean
fake_put_cancel(Channel *channel, Ticket *ticket)
{
    FakeChannel *self = (FakeChannel *) channel;

    if (self->is_late || self->waiting != ticket)
        return FALSE;
    self->n_cancelled++;
    self->waiting = NULL;
    g_clear_pointer(&ticket->batch, batch_unref);
    return TRUE;
}

void
fake_channel_complete(FakeChannel *self, const char *failure)
{
    Ticket *ticket = g_steal_pointer(&self->waiting);

    channel_complete_put(
        &self->base, ticket,
        failure != NULL ? g_error_new_literal(CHANNEL_ERROR, CHANNEL_ERROR_IO, failure) : NULL);
}

static guint64
fake_n_events(Channel *channel G_GNUC_UNUSED)
{
    return 0;
}

static void
fake_finalize(Component *component)
{
    g_clear_pointer(&((FakeChannel *) component)->batch, batch_unref);
}

static const ChannelType fake_channel = {
    .base = { .name = "fake", .instance_size = sizeof(FakeChannel), .finalize = fake_finalize },
    .put = fake_put,
    .put_cancel = fake_put_cancel,
    .n_events = fake_n_events,
};

FakeChannel *
fake_channel_new(const char *name)
{
    return (FakeChannel *) test_part_new(&fake_channel.base, COMPONENT_CHANNEL, name, "");
}
