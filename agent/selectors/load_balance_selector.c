/* load_balance_selector.c - each event goes into one of the source's channels, in turn. */
#include <stdatomic.h>

#include "agent/core/selector.h"

typedef enum { POLICY_ROUND_ROBIN, POLICY_RANDOM } LoadBalancePolicy;

typedef struct {
    Selector base;
    guint policy; /* LoadBalancePolicy */
    guint64 seed; /* fixed at open */
    _Atomic guint64 n_selected;
} LoadBalanceSelector;

static const char *const policies[] = { "round-robin", "random", NULL };

static const OptionSpec load_balance_options[] = {
    { .name = "policy",
      OPTION_AT(CHOICE, LoadBalanceSelector, policy),
      .choices = policies,
      .fallback = "round-robin",
      .help = "How the channel is chosen; the source's optional channels get every event." },
    { 0 },
};

static gboolean
load_balance_open(Component *component, GError **error G_GNUC_UNUSED)
{
    LoadBalanceSelector *self = (LoadBalanceSelector *) component;

    self->seed = (guint64) g_random_int() << 32 | g_random_int();
    return TRUE;
}

/* The steps of splitmix64: numbers that follow one another become numbers without order. */
static guint64
scatter(guint64 number)
{
    number *= G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static void
load_balance_select(Selector *base, const EventView *event G_GNUC_UNUSED, ChannelSet *ret_required,
                    ChannelSet *ret_optional)
{
    LoadBalanceSelector *self = (LoadBalanceSelector *) base;
    guint64 number = atomic_fetch_add_explicit(&self->n_selected, 1, memory_order_relaxed);

    if (self->policy == POLICY_RANDOM)
        number = scatter(self->seed + number);
    *ret_required = (ChannelSet) 1 << number % base->n_required;
    *ret_optional = base->optional;
}

const SelectorType load_balance_selector = {
    .base = {
        .name = "load-balance",
        .summary = "Puts each event into one channel of the source, in turn or at random.",
        .instance_size = sizeof(LoadBalanceSelector),
        .options = load_balance_options,
        .open = load_balance_open,
    },
    .select = load_balance_select,
};
