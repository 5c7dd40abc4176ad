/* shrink.c - leaves out of a failing run what the failure does not need. */
#include "tests/support/shrink.h"

#define MOST_ACTIONS 64

static gboolean
leave_out(guint64 *actions, guint64 chunk, ShrinkRun fails, gpointer user)
{
    if ((*actions & chunk) == 0 || !fails(*actions & ~chunk, user))
        return FALSE;
    *actions &= ~chunk;
    return TRUE;
}

static gboolean
leave_out_chunks(guint64 *actions, guint size, ShrinkRun fails, gpointer user)
{
    guint64 chunk = (G_GUINT64_CONSTANT(1) << size) - 1;
    gboolean any = FALSE;

    for (guint first = 0; first < MOST_ACTIONS; first += size)
        any |= leave_out(actions, chunk << first, fails, user);
    return any;
}

/* What two actions cancel, such as a take and its roll-back. */
static gboolean
leave_out_pairs(guint64 *actions, ShrinkRun fails, gpointer user)
{
    gboolean any = FALSE;

    for (guint i = 0; i < MOST_ACTIONS; i++)
        for (guint k = i + 1; k < MOST_ACTIONS; k++) {
            guint64 pair = G_GUINT64_CONSTANT(1) << i | G_GUINT64_CONSTANT(1) << k;

            if ((*actions & pair) == pair)
                any |= leave_out(actions, pair, fails, user);
        }
    return any;
}

guint64
shrink_actions(guint64 actions, ShrinkRun fails, gpointer user)
{
    for (guint size = MOST_ACTIONS / 2; size > 1; size /= 2)
        leave_out_chunks(&actions, size, fails, user);
    while (leave_out_chunks(&actions, 1, fails, user) || leave_out_pairs(&actions, fails, user))
        ;
    return actions;
}
