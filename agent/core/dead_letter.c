/* dead_letter.c - one event into the dead-letter channel, with the reason in its headers. */
#include "agent/core/dead_letter.h"

#include <string.h>

#include "agent/core/event_edit.h"

#define ERROR_HEADER "leat.error"
#define SINK_HEADER "leat.sink"
#define ERROR_LENGTH_MAX 1024

struct DeadLetter {
    Channel *channel;
    char *sink_name;
    EventEdit *edit;

    GMutex lock; /* guards the rest */
    GCond changed;
    gboolean is_done; /* the put under way */
    gboolean interrupted;
};

/* One at a time, but a ticket does not say whose it is. */
typedef struct {
    Ticket ticket;
    DeadLetter *owner;
} DeadLetterPut;

DeadLetter *
dead_letter_new(Channel *channel, const char *sink_name)
{
    DeadLetter *self = g_new0(DeadLetter, 1);

    self->channel = channel;
    self->sink_name = g_strdup(sink_name);
    self->edit = event_edit_new();
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    return self;
}

void
dead_letter_free(DeadLetter *self)
{
    if (self == NULL)
        return;
    event_edit_free(self->edit);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
    g_free(self->sink_name);
    g_free(self);
}

/* ---- the letter ---- */

/* (transfer full) NULL: no memory. */
static Batch *
dead_letter_write(DeadLetter *self, const BatchSlice *event, const char *why)
{
    g_autofree char *reason = g_strndup(why, ERROR_LENGTH_MAX);
    const EventHeader *headers;
    EventView view;
    guint n_headers;

    batch_view(event->batch, event->first, &view);
    event_edit_open(self->edit, &view, G_MAXINT32);
    event_edit_set_header(self->edit, byte_span_of_text(ERROR_HEADER), byte_span_of_text(reason));
    event_edit_set_header(self->edit, byte_span_of_text(SINK_HEADER),
                          byte_span_of_text(self->sink_name));
    headers = event_edit_headers(self->edit, &n_headers);
    if (event_edit_outcome(self->edit) != EVENT_EDIT_GOOD)
        return NULL;
    return batch_new_single(headers, n_headers, event_edit_body(self->edit));
}

/* ---- the put ---- */

static void
dead_letter_done(Ticket *ticket)
{
    DeadLetter *self = ((DeadLetterPut *) ticket)->owner;

    g_mutex_lock(&self->lock);
    self->is_done = TRUE;
    g_cond_signal(&self->changed);
    g_mutex_unlock(&self->lock);
}

/* FALSE when it is time to give up. */
static gboolean
dead_letter_wait(DeadLetter *self, gint64 deadline_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (!self->is_done && !self->interrupted)
        if (!g_cond_wait_until(&self->changed, &self->lock, deadline_us))
            break;
    return self->is_done;
}

/* After a cancel that came too late. */
static void
dead_letter_wait_until_done(DeadLetter *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    while (!self->is_done)
        g_cond_wait(&self->changed, &self->lock);
}

static gboolean
dead_letter_put_batch(DeadLetter *self, Batch *batch, GError **error)
{
    DeadLetterPut put = { .ticket = { .done = dead_letter_done }, .owner = self };
    PutResult result;

    self->is_done = FALSE; /* nobody else looks before the put */
    result = channel_put(self->channel, batch, &put.ticket, error);
    if (result != PUT_PENDING)
        return result == PUT_DONE;
    if (!dead_letter_wait(self, channel_put_deadline_us(self->channel, &put.ticket))) {
        if (channel_put_cancel(self->channel, &put.ticket)) {
            g_set_error_literal(error, CHANNEL_ERROR, CHANNEL_ERROR_TIMEOUT,
                                "no room within its put-timeout");
            return FALSE;
        }
        dead_letter_wait_until_done(self);
    }
    if (put.ticket.error == NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&put.ticket.error));
    return FALSE;
}

gboolean
dead_letter_put(DeadLetter *self, const BatchSlice *event, const char *why, GError **error)
{
    g_autoptr(Batch) batch = dead_letter_write(self, event, why);

    if (batch == NULL)
        g_set_error_literal(error, CHANNEL_ERROR, CHANNEL_ERROR_NO_MEMORY,
                            "no memory for the event");
    else if (dead_letter_put_batch(self, batch, error))
        return TRUE;
    g_prefix_error(error, "dead-letter channel '%s': ", self->channel->base.name);
    return FALSE;
}

void
dead_letter_interrupt(DeadLetter *self)
{
    g_mutex_lock(&self->lock);
    self->interrupted = TRUE;
    g_cond_signal(&self->changed);
    g_mutex_unlock(&self->lock);
}
