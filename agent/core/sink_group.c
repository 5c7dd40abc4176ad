/* sink_group.c - turns of the members of a group, and penalties of those that failed. */
#include "agent/core/sink_group.h"

#include <string.h>

#include "agent/core/sink.h"
#include "base/choice.h"
#include "base/clock.h"
#include "base/log.h"

#define NOBODY G_MAXUINT

struct SinkGroup {
    Component base;
    GStrv sink_names;
    GPtrArray *priorities; /* OptionMapEntry *; failover */
    guint selector;        /* load balancing, as backoff */
    gboolean backoff;
    gint64 max_penalty_us;

    /* Fixed once configured. */
    GPtrArray *members; /* Sink *, by rank */
    gboolean fails_over;

    GMutex lock; /* guards the rest */
    GCond changed;
    Choice *choice;
    gboolean *waits; /* for a turn, by rank */
    guint chosen;    /* whose turn it is, or NOBODY */
    gint yields;     /* atomic: it is to end its turn. For TakeLimits */
    gboolean forgives;
};

/* ---- rows ---- */

const OptionSpec sink_group_options[] = {
    { .name = "sinks",
      OPTION_AT(NAMES, SinkGroup, sink_names),
      .required = TRUE,
      .example = "[first, second]",
      .help = "The sinks of the group, two or more, which all take from one channel." },
    { 0 },
};

static const OptionSpec failover_options[] = {
    { .name = "priorities",
      OPTION_AT(MAP, SinkGroup, priorities),
      .value_kind = OPTION_STRING,
      .fallback_text = "the order of the sinks",
      .example = "{ first: 10, second: 5 }",
      .help = "A number for each sink; of those that work, the one with the highest delivers." },
    { .name = "max-penalty",
      OPTION_AT(DURATION, SinkGroup, max_penalty_us),
      .fallback = "30s",
      .min = 1000,
      .help = "A sink that failed is tried again after 1 s, then 2 s, and so on, but no later than "
              "this." },
    { 0 },
};

typedef enum { SELECTOR_ROUND_ROBIN, SELECTOR_RANDOM } GroupSelector;
static const char *const selector_names[] = { "round-robin", "random", NULL };

static const OptionSpec load_balance_options[] = {
    { .name = "selector",
      OPTION_AT(CHOICE, SinkGroup, selector),
      .choices = selector_names,
      .fallback = "round-robin",
      .help = "Which sink takes the next batch." },
    { .name = "backoff",
      OPTION_AT(BOOL, SinkGroup, backoff),
      .fallback = "true",
      .help = "Leave a sink that failed alone for a while; else its own backoff is all." },
    { .name = "max-penalty",
      OPTION_AT(DURATION, SinkGroup, max_penalty_us),
      .fallback = "30s",
      .min = 1000,
      .help = "A sink that failed is tried again after 1 s, then 2 s, and so on, but no later than "
              "this." },
    { 0 },
};

const MetricSpec sink_group_metrics[N_SINK_GROUP_METRICS + 1] = {
    [SINK_GROUP_TURNS] = { .name = "leat_sink_group_turns_total",
                           .help = "Batches that members of the group took." },
    [SINK_GROUP_PROBES] = { .name = "leat_sink_group_probes_total",
                            .help = "Those of them that a member took after a penalty." },
    [SINK_GROUP_PENALTIES] = { .name = "leat_sink_group_penalties_total",
                               .help = "Times a member that failed was left alone for a while." },
    [SINK_GROUP_TAKEOVERS] = { .name = "leat_sink_group_takeovers_total",
                               .help = "Times another member became the one to deliver; "
                                       "failover." },
    [SINK_GROUP_LIVE] = { .name = "leat_sink_group_live_members",
                          .kind = METRIC_GAUGE,
                          .help = "Members that have not failed since their last success." },
};

/* ---- configuration ---- */

const char *const *
sink_group_sink_names(const SinkGroup *self)
{
    return (const char *const *) self->sink_names;
}

void
sink_group_set_members(SinkGroup *self, const GPtrArray *sinks)
{
    g_clear_pointer(&self->members, g_ptr_array_unref);
    self->members = g_ptr_array_new();
    for (guint i = 0; i < sinks->len; i++)
        g_ptr_array_add(self->members, g_ptr_array_index(sinks, i));
}

const GPtrArray *
sink_group_members(const SinkGroup *self)
{
    return self->members;
}

static Sink *
member_at(const SinkGroup *self, guint rank)
{
    return g_ptr_array_index(self->members, rank);
}

static void
sink_group_make_ready(SinkGroup *self, ChoicePolicy policy, gint64 max_penalty_us)
{
    guint n_members;

    if (self->members == NULL) /* nobody named any, which is a problem already */
        self->members = g_ptr_array_new();
    n_members = self->members->len;
    for (guint rank = 0; rank < n_members; rank++) {
        member_at(self, rank)->group = self;
        member_at(self, rank)->rank = rank;
    }
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    self->choice = choice_new(policy, n_members, max_penalty_us);
    self->waits = g_new0(gboolean, n_members);
    self->chosen = NOBODY;
    metric_set(self->base.metrics, SINK_GROUP_LIVE, n_members);
}

typedef struct {
    Sink *sink;
    gint64 priority;
} Ranked;

static gint
compare_ranked(gconstpointer a, gconstpointer b)
{
    const Ranked *left = a;
    const Ranked *right = b;

    return left->priority > right->priority ? -1 : left->priority < right->priority;
}

static const OptionMapEntry *
find_priority(const SinkGroup *self, const char *name)
{
    for (guint i = 0; i < self->priorities->len; i++) {
        const OptionMapEntry *entry = g_ptr_array_index(self->priorities, i);

        if (strcmp(entry->key, name) == 0)
            return entry;
    }
    return NULL;
}

static void
check_priority_names(const SinkGroup *self, Problems *problems)
{
    for (guint i = 0; i < self->priorities->len; i++) {
        const OptionMapEntry *entry = g_ptr_array_index(self->priorities, i);

        if (self->sink_names != NULL && !g_strv_contains(sink_group_sink_names(self), entry->key))
            component_problem(&self->base, problems, "priorities",
                              "'%s' is no sink of this group; add it to 'sinks' or remove it",
                              entry->key);
    }
}

/* FALSE and a problem if it has none that can be used. */
static gboolean
read_priority(const SinkGroup *self, const char *name, gint64 *ret_priority, Problems *problems)
{
    const OptionMapEntry *entry = find_priority(self, name);

    if (entry == NULL)
        component_problem(&self->base, problems, "priorities",
                          "sink '%s' has no priority; give every sink of the group one, or none",
                          name);
    else if (!g_ascii_string_to_signed(entry->string, 10, G_MININT32, G_MAXINT32, ret_priority,
                                       NULL))
        component_problem(&self->base, problems, "priorities",
                          "'%s' of sink '%s' is not a priority; write a whole number",
                          entry->string, name);
    else
        return TRUE;
    return FALSE;
}

static void
rank_by_priority(SinkGroup *self, Problems *problems)
{
    g_autoptr(GArray) ranked = g_array_new(FALSE, FALSE, sizeof(Ranked));

    check_priority_names(self, problems);
    for (guint i = 0; i < self->members->len; i++) {
        Ranked entry = { .sink = member_at(self, i) };

        if (!read_priority(self, entry.sink->base.name, &entry.priority, problems))
            return;
        for (guint j = 0; j < ranked->len; j++)
            if (g_array_index(ranked, Ranked, j).priority == entry.priority)
                component_problem(&self->base, problems, "priorities",
                                  "sinks '%s' and '%s' have the same priority; which of them "
                                  "goes first?",
                                  g_array_index(ranked, Ranked, j).sink->base.name,
                                  entry.sink->base.name);
        g_array_append_val(ranked, entry);
    }
    g_array_sort(ranked, compare_ranked);
    for (guint i = 0; i < ranked->len; i++)
        self->members->pdata[i] = g_array_index(ranked, Ranked, i).sink;
}

static void
failover_configure(Component *component, Problems *problems)
{
    SinkGroup *self = (SinkGroup *) component;

    self->fails_over = TRUE;
    if (self->members != NULL && self->priorities != NULL)
        rank_by_priority(self, problems);
    sink_group_make_ready(self, CHOICE_PRIORITY, self->max_penalty_us);
}

static void
load_balance_configure(Component *component, Problems *problems G_GNUC_UNUSED)
{
    SinkGroup *self = (SinkGroup *) component;

    sink_group_make_ready(self,
                          self->selector == SELECTOR_RANDOM ? CHOICE_RANDOM : CHOICE_ROUND_ROBIN,
                          self->backoff ? self->max_penalty_us : 0);
}

static void
sink_group_finalize(Component *component)
{
    SinkGroup *self = (SinkGroup *) component;

    g_clear_pointer(&self->members, g_ptr_array_unref);
    if (self->choice == NULL) /* never configured */
        return;
    g_clear_pointer(&self->choice, choice_free);
    g_free(self->waits);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
}

/* ---- turns, with the lock held ---- */

static gboolean
is_live(const SinkGroup *self, guint rank)
{
    return choice_due_us(self->choice, rank) == 0;
}

/* The live member of the highest priority, NOBODY if there is none. */
static guint
first_live(const SinkGroup *self)
{
    for (guint rank = 0; rank < self->members->len; rank++)
        if (is_live(self, rank))
            return rank;
    return NOBODY;
}

static guint
count_live(const SinkGroup *self)
{
    guint n_live = 0;

    for (guint rank = 0; rank < self->members->len; rank++)
        n_live += is_live(self, rank);
    return n_live;
}

/* While the agent stops no member is left alone, unless another works: then nothing is put at risk
 * to find out about it. */
static gboolean
may_take(const SinkGroup *self, guint rank, gint64 now_us)
{
    if (self->forgives && !is_live(self, rank))
        return first_live(self) == NOBODY;
    if (choice_due_us(self->choice, rank) > now_us)
        return FALSE;
    return !self->fails_over || rank <= first_live(self);
}

static void
choose(SinkGroup *self)
{
    gint64 now_us = clock_now_us();
    g_autofree guint *order = NULL;
    gboolean any = FALSE;

    if (self->chosen != NOBODY)
        return;
    for (guint rank = 0; rank < self->members->len; rank++)
        any = any || (self->waits[rank] && may_take(self, rank, now_us));
    if (!any) /* nobody's share is used up */
        return;
    order = g_new(guint, self->members->len);
    choice_order(self->choice, now_us, order);
    for (guint i = 0; i < self->members->len && self->chosen == NOBODY; i++)
        if (self->waits[order[i]] && may_take(self, order[i], now_us))
            self->chosen = order[i];
    g_cond_broadcast(&self->changed);
}

static void
wait_for_change(SinkGroup *self, guint rank, gint64 deadline_us)
{
    gint64 due_us = choice_due_us(self->choice, rank);
    gint64 until_us = due_us > clock_now_us() ? MIN(deadline_us, due_us) : deadline_us;

    clock_cond_wait_until(&self->changed, &self->lock, until_us);
}

/* ---- turns ---- */

gboolean
sink_group_await_turn(SinkGroup *self, guint rank, const gint *stop, gint64 deadline_us,
                      const gint **ret_yields)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->waits[rank] = TRUE;
    choose(self);
    while (self->chosen != rank && !g_atomic_int_get(stop) && clock_now_us() < deadline_us) {
        wait_for_change(self, rank, deadline_us);
        choose(self);
    }
    self->waits[rank] = FALSE;
    if (self->chosen != rank)
        return FALSE;
    /* What was said before it is its turn says nothing of it; but a stop is no matter of turns. */
    g_atomic_int_set(&self->yields, g_atomic_int_get(stop));
    *ret_yields = &self->yields;
    return TRUE;
}

void
sink_group_end_turn(SinkGroup *self, guint rank, gboolean found)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    g_assert(self->chosen == rank);
    self->chosen = NOBODY;
    choose(self);
    if (!found)
        return;
    metric_add(self->base.metrics, SINK_GROUP_TURNS, 1);
    if (!is_live(self, rank))
        metric_add(self->base.metrics, SINK_GROUP_PROBES, 1);
}

void
sink_group_forgive(SinkGroup *self)
{
    g_mutex_lock(&self->lock);
    self->forgives = TRUE;
    g_atomic_int_set(&self->yields, 1);
    choose(self);
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
}

/* ---- what became of it ---- */

typedef void (*NoteOutcome)(Choice *choice, guint item, gint64 now_us);

/* With no lock held: whoever waits for events in its turn gives it to one that has come before. */
static void
hand_over(SinkGroup *self, guint first)
{
    g_atomic_int_set(&self->yields, 1);
    channel_wake(member_at(self, first)->channel);
    metric_add(self->base.metrics, SINK_GROUP_TAKEOVERS, 1);
    log_info("another sink of the group takes over", LOG_TEXT("group", self->base.name),
             LOG_TEXT("sink", member_at(self, first)->base.name));
}

/* Returns when the member is due. */
static gint64
note_outcome(SinkGroup *self, guint rank, NoteOutcome note)
{
    guint first_before;
    guint first;
    gint64 due_before_us;
    gint64 due_us;

    g_mutex_lock(&self->lock);
    first_before = first_live(self);
    due_before_us = choice_due_us(self->choice, rank);
    note(self->choice, rank, clock_now_us());
    first = first_live(self);
    due_us = choice_due_us(self->choice, rank);
    metric_set(self->base.metrics, SINK_GROUP_LIVE, count_live(self));
    choose(self);
    g_mutex_unlock(&self->lock);
    if (due_us != due_before_us && due_us != 0)
        metric_add(self->base.metrics, SINK_GROUP_PENALTIES, 1);
    if (self->fails_over && first != first_before && first != NOBODY)
        hand_over(self, first);
    return due_us;
}

void
sink_group_note_success(SinkGroup *self, guint rank)
{
    note_outcome(self, rank, choice_note_success);
}

gint64
sink_group_note_failure(SinkGroup *self, guint rank)
{
    return note_outcome(self, rank, choice_note_failure);
}

gboolean
sink_group_is_live(SinkGroup *self, guint rank)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return is_live(self, rank);
}

gboolean
sink_group_has_live(SinkGroup *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return first_live(self) != NOBODY;
}

/* ---- the two processors ---- */

const ComponentType failover_sink_group = {
    .name = "failover",
    .summary = "One sink delivers; when it fails, the one of the next priority does.",
    .instance_size = sizeof(SinkGroup),
    .options = failover_options,
    .configure = failover_configure,
    .finalize = sink_group_finalize,
};

const ComponentType load_balance_sink_group = {
    .name = "load-balance",
    .summary = "The sinks share the batches.",
    .instance_size = sizeof(SinkGroup),
    .options = load_balance_options,
    .configure = load_balance_configure,
    .finalize = sink_group_finalize,
};
