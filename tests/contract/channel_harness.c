/* channel_harness.c - one channel under test, of any type. */
#include "tests/contract/channel_harness.h"

#include "agent/builtin.h"
#include "tests/support/folder.h"
#include "tests/support/test_part.h"

const ChannelVariant channel_variants[] = {
    { .name = "memory", .type = "memory", .options = "" },
    { .name = "file",
      .type = "file",
      .options = "reserve: 0\nsegment-size: 1MiB\n",
      .is_on_disk = TRUE },
    { .name = "file-uncached",
      .type = "file",
      .options = "reserve: 0\nsync: never\ncache: 0\nsegment-size: 64KiB\n",
      .is_on_disk = TRUE },
    { .name = "spillable",
      .type = "spillable",
      .options = "reserve: 0\nsegment-size: 1MiB\n",
      .is_on_disk = TRUE },
    { .name = "spillable-little",
      .type = "spillable",
      .options = "reserve: 0\nsync: never\ncache: 0\nsegment-size: 64KiB\nmemory-capacity: 8\n",
      .is_on_disk = TRUE,
      .may_wait = TRUE },
    { 0 },
};

/* ---- the channel ---- */

static void
channel_harness_open(ChannelHarness *self)
{
    self->channel = (Channel *) test_part_open(builtin_find(COMPONENT_CHANNEL, self->variant->type),
                                               COMPONENT_CHANNEL, "tested", self->yaml);
}

ChannelHarness *
channel_harness_new(const ChannelVariant *variant, const char *options)
{
    ChannelHarness *self = g_new0(ChannelHarness, 1);
    g_autofree char *directory = NULL;

    self->variant = variant;
    if (variant->is_on_disk) {
        self->directory = folder_make();
        directory = g_strdup_printf("directory: %s\n", self->directory);
    }
    self->yaml =
        g_strdup_printf("%s%s%s", variant->options, directory != NULL ? directory : "", options);
    channel_harness_open(self);
    return self;
}

void
channel_harness_reopen(ChannelHarness *self)
{
    test_part_free(&self->channel->base);
    channel_harness_open(self);
}

void
channel_harness_free(ChannelHarness *self)
{
    test_part_free(&self->channel->base);
    if (self->directory != NULL)
        folder_remove(self->directory);
    g_free(self->directory);
    g_free(self->yaml);
    g_free(self);
}

guint64
channel_harness_metric(ChannelHarness *self, ChannelMetric metric)
{
    return metric_get(self->channel->base.metrics, metric);
}

/* ---- tickets ---- */

static void
test_ticket_done(Ticket *ticket)
{
    TestTicket *self = (TestTicket *) ticket;

    g_mutex_lock(&self->lock);
    self->n_done++;
    g_cond_signal(&self->changed);
    g_mutex_unlock(&self->lock);
}

void
test_ticket_init(TestTicket *self)
{
    *self = (TestTicket){ .ticket = { .done = test_ticket_done } };
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
}

void
test_ticket_clear(TestTicket *self)
{
    g_assert_cmpuint(self->n_done, <=, 1);
    g_clear_error(&self->ticket.error);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
}

gboolean
test_ticket_is_done(TestTicket *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->n_done > 0;
}

gboolean
test_ticket_wait(TestTicket *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 deadline_us = clock_deadline_us(10 * G_USEC_PER_SEC);

    while (self->n_done == 0)
        if (!g_cond_wait_until(&self->changed, &self->lock, deadline_us))
            return FALSE;
    return TRUE;
}

/* ---- put ---- */

PutResult
channel_harness_start_put(ChannelHarness *self, guint first, guint count, TestTicket *ticket)
{
    g_autoptr(Batch) batch = batch_of_numbers(first, count);
    g_autoptr(GError) error = NULL;
    PutResult result = channel_put(self->channel, batch, &ticket->ticket, &error);

    g_assert_no_error(error);
    return result;
}

void
channel_harness_put_batch(ChannelHarness *self, Batch *batch)
{
    g_autoptr(Batch) owned G_GNUC_UNUSED = batch;
    g_autoptr(GError) error = NULL;
    TestTicket ticket;

    test_ticket_init(&ticket);
    if (channel_put(self->channel, batch, &ticket.ticket, &error) == PUT_PENDING)
        g_assert_true(test_ticket_wait(&ticket));
    g_assert_no_error(error);
    g_assert_no_error(ticket.ticket.error);
    test_ticket_clear(&ticket);
}

void
channel_harness_put(ChannelHarness *self, guint first, guint count)
{
    channel_harness_put_batch(self, batch_of_numbers(first, count));
}

gboolean
channel_harness_is_full_for(ChannelHarness *self, guint count)
{
    TestTicket ticket;
    gboolean is_full;

    test_ticket_init(&ticket);
    is_full = channel_harness_start_put(self, 0, count, &ticket) == PUT_PENDING;
    if (is_full && !channel_put_cancel(self->channel, &ticket.ticket)) {
        g_assert_true(test_ticket_wait(&ticket)); /* it had room, and is only being written */
        is_full = FALSE;
    }
    test_ticket_clear(&ticket);
    return is_full;
}

/* ---- take ---- */

Lease *
channel_harness_take(ChannelHarness *self, guint max_events)
{
    TakeLimits limits = { .max_events = max_events, .max_bytes = G_MAXSIZE };

    return channel_take(self->channel, &limits, clock_now_us());
}

char *
lease_to_text(const Lease *lease)
{
    return slices_to_text((const BatchSlice *) (gpointer) lease->slices->data, lease->slices->len);
}

/* Takes and commits what is there by the deadline; FALSE if nothing is. */
static gboolean
channel_harness_drain_once(ChannelHarness *self, gint64 deadline_us, GString *text)
{
    TakeLimits limits = { .max_events = 1000, .max_bytes = G_MAXSIZE };
    g_autoptr(Lease) lease = channel_take(self->channel, &limits, deadline_us);
    g_autofree char *part = NULL;

    if (lease == NULL)
        return FALSE;
    part = lease_to_text(lease);
    g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", part);
    lease_commit(lease, lease->n_events);
    return TRUE;
}

char *
channel_harness_drain(ChannelHarness *self)
{
    GString *text = g_string_new(NULL);

    while (channel_harness_drain_once(self, clock_now_us(), text))
        ;
    return g_string_free(text, FALSE);
}

char *
channel_harness_drain_around(ChannelHarness *self, TestTicket *ticket)
{
    GString *text = g_string_new(NULL);

    while (!test_ticket_is_done(ticket))
        channel_harness_drain_once(self, clock_deadline_us(1000), text);
    while (channel_harness_drain_once(self, clock_now_us(), text))
        ;
    return g_string_free(text, FALSE);
}
