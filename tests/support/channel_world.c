/* channel_world.c - a file channel, random things done with it, and what must be true of it. */
#include "tests/support/channel_world.h"

#include <string.h>

#include "agent/builtin.h"
#include "agent/channels/file_channel/file_channel.h"
#include "base/batch_builder.h"
#include "base/clock.h"
#include "tests/support/folder.h"
#include "tests/support/test_part.h"

#define PADDING 900 /* so that segments are filled soon */
#define MAX_LEASES 3
#define LATE_NUMBER 4000000000u

/* ---- events ---- */

static Batch *
batch_of_padded(guint first, guint count)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(4096, count);

    for (guint i = first; i < first + count; i++) {
        g_autofree char *number = g_strdup_printf("%u", i);
        g_autofree char *body = g_strdup_printf("%-*s", i % 3 * PADDING, number);

        batch_builder_add_event(builder, NULL, 0, byte_span_of_text(body));
    }
    return batch_builder_finish(builder);
}

static guint
number_of(const Batch *batch, guint index)
{
    g_autofree char *text = NULL;
    EventView view;

    batch_view(batch, index, &view);
    text = g_strndup((const char *) view.body.data, view.body.length);
    return (guint) g_ascii_strtoull(text, NULL, 10);
}

static GArray *
lease_numbers(const Lease *lease)
{
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(guint));

    for (guint i = 0; i < lease->slices->len; i++) {
        const BatchSlice *slice = &g_array_index(lease->slices, BatchSlice, i);

        for (guint k = 0; k < slice->count; k++) {
            guint number = number_of(slice->batch, slice->first + k);

            g_array_append_val(numbers, number);
        }
    }
    return numbers;
}

/* ---- a put that is waited for ---- */

typedef struct {
    Ticket ticket;
    GMutex lock; /* guards is_done */
    GCond changed;
    gboolean is_done;
} WaitTicket;

static void
wait_ticket_done(Ticket *ticket)
{
    WaitTicket *self = (WaitTicket *) ticket;

    g_mutex_lock(&self->lock);
    self->is_done = TRUE;
    g_cond_signal(&self->changed);
    g_mutex_unlock(&self->lock);
}

static gboolean
put_and_wait(Channel *channel, Batch *batch, gboolean even_for_room)
{
    WaitTicket ticket = { .ticket = { .done = wait_ticket_done } };
    PutResult result = channel_put(channel, batch, &ticket.ticket, NULL);
    gint64 deadline_us = clock_deadline_us(20 * G_USEC_PER_SEC);
    gboolean is_in;

    if (result != PUT_PENDING)
        return result == PUT_DONE;
    if (!even_for_room && channel_put_cancel(channel, &ticket.ticket))
        return FALSE;
    g_mutex_lock(&ticket.lock);
    while (!ticket.is_done)
        g_assert_true(g_cond_wait_until(&ticket.changed, &ticket.lock, deadline_us));
    g_mutex_unlock(&ticket.lock);
    is_in = ticket.ticket.error == NULL;
    g_clear_error(&ticket.ticket.error);
    return is_in;
}

/* ---- the world ---- */

static Channel *
open_channel(const char *directory, const char *options, const FileOps *ops, GError **error)
{
    g_autofree char *yaml = g_strdup_printf("directory: %s\n%s", directory, options);
    const char *type = strstr(options, "memory-capacity:") != NULL ? "spillable" : "file";
    Component *component =
        test_part_new(builtin_find(COMPONENT_CHANNEL, type), COMPONENT_CHANNEL, "tested", yaml);

    ((FileChannel *) component)->ops = ops;
    if (component_open(component, error))
        return (Channel *) component;
    component_free(component);
    return NULL;
}

gboolean
channel_world_open(ChannelWorld *self, GError **error)
{
    self->channel = open_channel(self->directory, self->options, self->ops, error);
    return self->channel != NULL;
}

void
channel_world_close(ChannelWorld *self)
{
    g_ptr_array_set_size(self->leases, 0);
    if (self->leased->len > 0)
        memset(self->leased->data, 0, self->leased->len);
    if (self->channel != NULL)
        test_part_free(&self->channel->base);
    self->channel = NULL;
}

static void
roll_back(gpointer lease)
{
    lease_rollback(lease);
}

ChannelWorld *
channel_world_new(guint seed, const FileOps *ops, const char *options)
{
    ChannelWorld *self = g_new0(ChannelWorld, 1);

    self->ops = ops;
    self->seed = seed;
    self->options = g_strdup(options);
    self->directory = folder_make();
    self->rand = g_rand_new_with_seed(seed);
    self->states = g_byte_array_new();
    self->leased = g_byte_array_new();
    self->leases = g_ptr_array_new_with_free_func(roll_back);
    return self;
}

void
channel_world_free(ChannelWorld *self)
{
    channel_world_close(self);
    folder_remove(self->directory);
    g_free(self->directory);
    g_free(self->options);
    g_rand_free(self->rand);
    g_byte_array_unref(self->states);
    g_byte_array_unref(self->leased);
    g_ptr_array_unref(self->leases);
    g_free(self);
}

/* ---- actions ---- */

static void G_GNUC_PRINTF(2, 3) tell(const ChannelWorld *self, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    if (!self->tells)
        return;
    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_printerr("  action %u: %s\n", self->n_actions, text);
}

gboolean
channel_world_put(ChannelWorld *self, guint count)
{
    guint first = self->states->len;
    g_autoptr(Batch) batch = batch_of_padded(first, count);

    tell(self, "put events %u to %u", first, first + count - 1);
    g_byte_array_set_size(self->states, first + count);
    g_byte_array_set_size(self->leased, first + count);
    memset(self->states->data + first, EVENT_ASKED, count);
    memset(self->leased->data + first, 0, count);
    if (!put_and_wait(self->channel, batch, FALSE))
        return FALSE;
    memset(self->states->data + first, EVENT_ACKNOWLEDGED, count);
    return TRUE;
}

/* The lease must be the lowest events that are there. */
static void
check_lease(ChannelWorld *self, const Lease *lease, guint max_events)
{
    g_autoptr(GArray) numbers = lease != NULL ? lease_numbers(lease) : NULL;
    guint n_events = 0;

    for (guint i = 0; i < self->states->len && n_events < max_events; i++) {
        if (self->states->data[i] != EVENT_ACKNOWLEDGED || self->leased->data[i])
            continue;
        if (numbers == NULL || n_events >= numbers->len)
            g_error("seed %u, action %u: event %u was not taken", self->seed, self->n_actions, i);
        if (g_array_index(numbers, guint, n_events) != i)
            g_error("seed %u, action %u: event %u was taken, not %u", self->seed, self->n_actions,
                    g_array_index(numbers, guint, n_events), i);
        n_events++;
    }
    if (numbers != NULL && numbers->len != n_events)
        g_error("seed %u, action %u: more was taken than is there", self->seed, self->n_actions);
}

static void
mark_leased(ChannelWorld *self, const Lease *lease, gboolean leased)
{
    g_autoptr(GArray) numbers = lease_numbers(lease);

    for (guint i = 0; i < numbers->len; i++)
        self->leased->data[g_array_index(numbers, guint, i)] = (guint8) leased;
}

static void
act_take(ChannelWorld *self)
{
    TakeLimits limits = { .max_events = (guint) g_rand_int_range(self->rand, 1, 12),
                          .max_bytes = G_MAXSIZE };
    Lease *lease;

    if (self->leases->len == MAX_LEASES)
        return;
    tell(self, "take at most %u events as lease %u", limits.max_events, self->leases->len);
    lease = channel_take(self->channel, &limits, clock_now_us());
    if (!self->fails)
        check_lease(self, lease, limits.max_events);
    if (lease == NULL)
        return;
    mark_leased(self, lease, TRUE);
    g_ptr_array_add(self->leases, lease);
}

static void
act_commit(ChannelWorld *self)
{
    guint index = (guint) g_rand_int_range(self->rand, 0, MAX_LEASES);
    g_autoptr(GArray) numbers = NULL;
    Lease *lease;
    guint count;

    if (index >= self->leases->len)
        return;
    lease = g_ptr_array_index(self->leases, index);
    if (lease->n_events == 0)
        return;
    numbers = lease_numbers(lease);
    count = g_rand_boolean(self->rand)
                ? lease->n_events
                : (guint) g_rand_int_range(self->rand, 1, (gint32) lease->n_events + 1);
    tell(self, "commit %u of the %u events of lease %u", count, lease->n_events, index);
    for (guint i = 0; i < count; i++)
        self->states->data[g_array_index(numbers, guint, i)] = EVENT_CONSUMED;
    lease_commit(lease, count);
    if (lease->n_events == 0)
        g_ptr_array_remove_index(self->leases, index);
}

static void
act_roll_back(ChannelWorld *self)
{
    guint index = (guint) g_rand_int_range(self->rand, 0, MAX_LEASES);

    if (index >= self->leases->len)
        return;
    tell(self, "roll lease %u back", index);
    mark_leased(self, g_ptr_array_index(self->leases, index), FALSE);
    g_ptr_array_remove_index(self->leases, index);
}

static void
act_reopen(ChannelWorld *self)
{
    g_autoptr(GError) error = NULL;

    tell(self, "close and open");
    channel_world_close(self);
    channel_world_open(self, &error);
}

void
channel_world_act(ChannelWorld *self)
{
    gint32 dice = g_rand_int_range(self->rand, 0, 100);

    self->n_actions++;
    if (self->channel == NULL || dice >= 97)
        act_reopen(self);
    else if (dice < 40)
        channel_world_put(self, (guint) g_rand_int_range(self->rand, 1, 6));
    else if (dice < 65)
        act_take(self);
    else if (dice < 88)
        act_commit(self);
    else
        act_roll_back(self);
}

void
channel_world_act_numbered(ChannelWorld *self, guint number)
{
    const guint32 key[] = { self->seed, number };

    g_rand_set_seed_array(self->rand, key, G_N_ELEMENTS(key));
    self->n_actions = number;
    channel_world_act(self);
}

/* ---- what must be true ---- */

static GArray *
drain(Channel *channel, gint64 deadline_us)
{
    TakeLimits limits = { .max_events = 1000, .max_bytes = G_MAXSIZE };
    GArray *all = g_array_new(FALSE, FALSE, sizeof(guint));
    Lease *lease;

    while ((lease = channel_take(channel, &limits, deadline_us)) != NULL) {
        g_autoptr(GArray) numbers = lease_numbers(lease);

        g_array_append_vals(all, numbers->data, numbers->len);
        lease_commit(lease, lease->n_events);
        lease_rollback(lease);
    }
    return all;
}

char *
channel_world_drain(ChannelWorld *self, gint64 deadline_us)
{
    g_autoptr(GArray) numbers = drain(self->channel, deadline_us);
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < numbers->len; i++) {
        guint number = g_array_index(numbers, guint, i);

        self->states->data[number] = EVENT_CONSUMED;
        g_string_append_printf(text, "%s%u", i > 0 ? " " : "", number);
    }
    return g_string_free(text, FALSE);
}

static void
check_drained(const ChannelWorld *self, const GArray *numbers, const char *what)
{
    g_autofree guint8 *found = g_malloc0(self->states->len + 1);
    guint last = 0;

    for (guint i = 0; i < numbers->len; i++) {
        guint number = g_array_index(numbers, guint, i);

        if (number >= self->states->len)
            g_error("seed %u, %s: event %u was never put", self->seed, what, number);
        if (i > 0 && number <= last)
            g_error("seed %u, %s: event %u comes behind %u", self->seed, what, number, last);
        found[number] = 1;
        last = number;
    }
    for (guint i = 0; i < self->states->len; i++)
        if (self->states->data[i] == EVENT_ACKNOWLEDGED && !found[i])
            g_error("seed %u, %s: event %u was acknowledged and is lost", self->seed, what, i);
}

void
channel_world_check(const ChannelWorld *self, const char *directory, const char *what)
{
    g_autoptr(GError) error = NULL;
    Channel *channel = open_channel(directory, self->options, NULL, &error);
    g_autoptr(Batch) late = batch_of_padded(LATE_NUMBER, 1);
    g_autoptr(GArray) numbers = NULL;
    g_autoptr(GArray) later = NULL;

    if (channel == NULL)
        g_error("seed %u, %s: the channel does not open: %s", self->seed, what, error->message);
    if (!self->fails && metric_get(channel->base.part_metrics, FILE_CHANNEL_LOST) > 0)
        g_error("seed %u, %s: losses are told of that are none", self->seed, what);
    numbers = drain(channel, clock_now_us());
    check_drained(self, numbers, what);
    if (!put_and_wait(channel, late, TRUE))
        g_error("seed %u, %s: nothing can be put any more", self->seed, what);
    test_part_free(&channel->base);
    channel = open_channel(directory, self->options, NULL, &error);
    g_assert_no_error(error);
    later = drain(channel, clock_now_us());
    if (later->len != 1 || g_array_index(later, guint, 0) != LATE_NUMBER)
        g_error("seed %u, %s: %u events are there at the second start", self->seed, what,
                later->len);
    test_part_free(&channel->base);
}
