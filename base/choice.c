/* choice.c - the order in which to try several destinations, and how long to leave one alone. */
#include "base/choice.h"

#include "base/backoff.h"

#define FIRST_BACKOFF_US G_USEC_PER_SEC
#define ASIDE_US G_MAXINT64 /* as due_us */

typedef struct {
    Backoff backoff;
    gint64 delay_us; /* the last */
    gint64 due_us;
    guint rank;
    gint64 healthy_since_us; /* first success since the last failure; 0: none yet, or forgotten */
} ChoiceItem;

struct Choice {
    ChoicePolicy policy;
    gint64 max_backoff_us; /* 0: none */
    guint n_items;
    guint head; /* sticky: the one that works; round robin: where the next pass begins */
    ChoiceItem items[];
};

Choice *
choice_new(ChoicePolicy policy, guint n_items, gint64 max_backoff_us)
{
    Choice *self = g_malloc0(sizeof(Choice) + n_items * sizeof(ChoiceItem));

    self->policy = policy;
    self->max_backoff_us = max_backoff_us;
    self->n_items = n_items;
    for (guint i = 0; i < n_items; i++)
        backoff_init(&self->items[i].backoff, MIN(FIRST_BACKOFF_US, max_backoff_us),
                     max_backoff_us);
    return self;
}

/* CHOICE_NEW: it is none of the new items. */
static guint
find_heir(guint item, guint n_items, const guint *from)
{
    for (guint i = 0; i < n_items; i++)
        if (from[i] == item)
            return i;
    return CHOICE_NEW;
}

Choice *
choice_new_from(const Choice *self, guint n_items, const guint *from)
{
    Choice *heir = choice_new(self->policy, n_items, self->max_backoff_us);

    for (guint i = 0; i < n_items; i++)
        if (from[i] != CHOICE_NEW)
            heir->items[i] = self->items[from[i]];
    for (guint i = 0; i < self->n_items; i++) {
        guint head = find_heir((self->head + i) % self->n_items, n_items, from);

        if (head != CHOICE_NEW) {
            heir->head = head;
            break;
        }
    }
    return heir;
}

void
choice_free(Choice *self)
{
    g_free(self);
}

/* ---- the order ---- */

void
choice_set_rank(Choice *self, guint item, guint rank)
{
    g_assert(item < self->n_items);
    self->items[item].rank = rank;
}

static void
write_rotation(const Choice *self, guint *ret_order)
{
    guint first = self->policy == CHOICE_PRIORITY ? 0 : self->head;

    for (guint i = 0; i < self->n_items; i++)
        ret_order[i] = (first + i) % self->n_items;
}

static void
shuffle(guint *order, guint n_items)
{
    for (guint i = n_items; i > 1; i--) {
        guint j = (guint) g_random_int_range(0, (gint32) i);
        guint swapped = order[j];

        order[j] = order[i - 1];
        order[i - 1] = swapped;
    }
}

static gboolean
is_behind(const Choice *self, guint item, guint other, gint64 now_us)
{
    gint64 due_us = MAX(self->items[item].due_us, now_us);
    gint64 other_due_us = MAX(self->items[other].due_us, now_us);

    if (due_us != other_due_us || due_us > now_us)
        return due_us > other_due_us;
    return self->items[item].rank > self->items[other].rank;
}

/* Moves those that are not due behind those that are, the earliest due first, and among those that
 * are due higher ranks behind lower ones. Stable, and short enough for insertion. */
static void
sort_by_due(const Choice *self, gint64 now_us, guint *order)
{
    for (guint i = 1; i < self->n_items; i++) {
        guint item = order[i];
        guint j = i;

        for (; j > 0 && is_behind(self, order[j - 1], item, now_us); j--)
            order[j] = order[j - 1];
        order[j] = item;
    }
}

void
choice_order(Choice *self, gint64 now_us, guint *ret_order)
{
    write_rotation(self, ret_order);
    if (self->policy == CHOICE_RANDOM)
        shuffle(ret_order, self->n_items);
    sort_by_due(self, now_us, ret_order);
    /* Counted in the list, not among those that are due: nobody's share shifts to its successor. */
    if (self->policy == CHOICE_ROUND_ROBIN && self->n_items > 0)
        self->head = (ret_order[0] + 1) % self->n_items;
}

/* ---- what happened ---- */

void
choice_note_failure(Choice *self, guint item, gint64 now_us)
{
    ChoiceItem *failed = &self->items[item];

    g_assert(item < self->n_items);
    if (self->policy == CHOICE_STICKY && item == self->head)
        self->head = (item + 1) % self->n_items;
    failed->healthy_since_us = 0;
    if (self->max_backoff_us == 0 || failed->due_us > now_us)
        return;
    failed->delay_us = backoff_next_delay_us(&failed->backoff);
    failed->due_us = now_us + failed->delay_us;
}

void
choice_note_success(Choice *self, guint item, gint64 now_us)
{
    ChoiceItem *worked = &self->items[item];

    g_assert(item < self->n_items);
    if (self->policy == CHOICE_STICKY && self->items[self->head].due_us > now_us)
        self->head = item;
    worked->due_us = 0;
    if (worked->backoff.failures == 0)
        return;
    if (worked->healthy_since_us == 0)
        worked->healthy_since_us = now_us;
    if (now_us - worked->healthy_since_us >= worked->delay_us)
        backoff_reset(&worked->backoff);
}

/* ---- trials aside ---- */

gboolean
choice_is_on_trial(const Choice *self, guint item, gint64 now_us)
{
    g_assert(item < self->n_items);
    return self->items[item].due_us != 0 && self->items[item].due_us <= now_us;
}

void
choice_set_aside(Choice *self, guint item)
{
    g_assert(item < self->n_items);
    self->items[item].due_us = ASIDE_US;
}

gboolean
choice_end_aside(Choice *self, guint item, gint64 now_us)
{
    g_assert(item < self->n_items);
    if (self->items[item].due_us != ASIDE_US)
        return FALSE;
    self->items[item].due_us = now_us;
    return TRUE;
}

/* ---- when ---- */

gint64
choice_due_us(const Choice *self, guint item)
{
    g_assert(item < self->n_items);
    return self->items[item].due_us;
}
