/* poison_world.c - a channel, a destination, and a caller that does as the search for poison tells
 * it. */
#include "tests/support/poison_world.h"

gboolean
takes_all(guint64 seq G_GNUC_UNUSED, guint request G_GNUC_UNUSED)
{
    return TRUE;
}

gboolean
takes_nothing(guint64 seq G_GNUC_UNUSED, guint request G_GNUC_UNUSED)
{
    return FALSE;
}

World *
world_new(guint n_events, gboolean (*takes)(guint64, guint))
{
    World *self = g_new0(World, 1);

    self->poison = poison_new();
    self->queue = g_array_new(FALSE, TRUE, sizeof(gboolean));
    self->aside = g_array_new(FALSE, TRUE, sizeof(gboolean));
    self->rejected = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_array_set_size(self->queue, n_events);
    g_array_set_size(self->aside, n_events);
    for (guint i = 0; i < n_events; i++)
        g_array_index(self->queue, gboolean, i) = TRUE;
    self->takes = takes;
    self->n_come = n_events;
    self->answers_as = A;
    return self;
}

void
world_free(World *self)
{
    poison_free(self->poison);
    g_array_unref(self->queue);
    g_array_unref(self->aside);
    g_array_unref(self->rejected);
    g_free(self);
}

static gboolean
is_there(const World *self, guint seq)
{
    return g_array_index(self->queue, gboolean, seq) && !g_array_index(self->aside, gboolean, seq);
}

static gsize
bytes_of(const World *self, guint64 first, guint n_events)
{
    gsize n_bytes = 0;

    if (self->bytes_of == NULL)
        return n_events;
    for (guint64 seq = first; seq < first + n_events; seq++)
        n_bytes += self->bytes_of(seq);
    return n_bytes;
}

/* The next events in a row; 0 if there are none. */
static guint
take(World *self, guint most, gsize most_bytes, guint *ret_first)
{
    guint n = 0;

    while (self->first < self->n_come && !is_there(self, self->first))
        self->first++;
    *ret_first = self->first;
    while (n < most && self->first + n < self->n_come && is_there(self, self->first + n) &&
           (n == 0 || bytes_of(self, self->first, n + 1) <= most_bytes))
        n++;
    return n;
}

static void
put_back(World *self)
{
    for (guint i = 0; i < self->aside->len; i++)
        g_array_index(self->aside, gboolean, i) = FALSE;
    self->first = 0;
}

static void
pause_sending(World *self)
{
    put_back(self);
    self->n_pauses++;
}

static void
reject_found(World *self)
{
    guint64 found;

    while (poison_is_found(self->poison, &found)) {
        g_array_append_val(self->rejected, found);
        g_array_index(self->queue, gboolean, found) = FALSE;
        g_array_index(self->aside, gboolean, found) = FALSE;
        poison_note_rejected(self->poison, found);
    }
}

static void
acknowledge(World *self, guint64 first, guint n_events)
{
    for (guint64 seq = first; seq < first + n_events; seq++)
        g_array_index(self->queue, gboolean, seq) = FALSE;
    self->n_delivered += n_events;
    poison_note_acknowledged(self->poison,
                             &(PoisonSent){ first, n_events, bytes_of(self, first, n_events) },
                             self->answers_as);
    reject_found(self);
    if (!poison_is_searching(self->poison))
        put_back(self);
}

static void
send(World *self, guint64 first, guint n_events)
{
    PoisonSent sent = { first, n_events, bytes_of(self, first, n_events) };
    gboolean taken = TRUE;

    self->n_requests++;
    for (guint64 seq = first; seq < first + n_events; seq++)
        taken = taken && self->takes(seq, self->n_requests);
    if (taken && self->has_room != NULL)
        taken = self->has_room(sent.n_bytes, self->n_requests);
    if (taken) {
        acknowledge(self, first, n_events);
        return;
    }
    switch (poison_note_refused(self->poison, &sent, self->answers_as)) {
    case POISON_PAUSE:
        pause_sending(self);
        break;
    case POISON_GO_ON:
        self->first = 0;
        break;
    case POISON_KEEP_ASIDE:
        g_assert_cmpuint(n_events, ==, 1);
        g_array_index(self->aside, gboolean, first) = TRUE;
        break;
    }
}

/* FALSE when nothing is left to be taken. */
static gboolean
step(World *self)
{
    guint64 suspect;
    guint first;
    guint n;

    if (poison_next_suspect(self->poison, &suspect)) {
        g_assert_true(g_array_index(self->aside, gboolean, suspect));
        g_array_index(self->aside, gboolean, suspect) = FALSE;
        send(self, suspect, 1);
        return TRUE;
    }
    n = take(self, poison_limit(self->poison, BATCH), poison_limit_bytes(self->poison, BATCH_BYTES),
             &first);
    if (n == 0) {
        poison_note_alone(self->poison);
        reject_found(self);
        poison_note_pause(self->poison);
        pause_sending(self);
        return FALSE;
    }
    if (poison_note_taken(self->poison, first, n))
        g_array_index(self->aside, gboolean, first) = TRUE;
    else
        send(self, first, n);
    return TRUE;
}

void
run(World *self, guint max_pauses)
{
    guint steps = 0;

    self->n_pauses = 0;
    while (self->n_pauses < max_pauses) {
        if (!step(self) && self->n_delivered + self->rejected->len == self->queue->len)
            return;
        g_assert_cmpuint(steps++, <, 1000000);
    }
}
