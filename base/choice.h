/* choice.h - which of several destinations to try next: for hosts of a client, and for sinks of a
 * group.
 *
 * Pure: the clock is passed in and nothing is locked. Each item has a back-off of its own: it is
 * not due for 1 s after a failure, doubling up to max_backoff, the upper half of it random. The
 * count starts anew once the item has succeeded for as long as its last back-off lasted. */
#pragma once

#include <glib.h>

typedef enum {
    CHOICE_STICKY, /* stay with what works; after a failure the next in the list, round and round */
    CHOICE_PRIORITY, /* always the first in the list that is due */
    CHOICE_ROUND_ROBIN,
    CHOICE_RANDOM,
} ChoicePolicy;

typedef struct Choice Choice;

/* max_backoff_us 0: failures cost nothing, every item is always due. */
Choice *choice_new(ChoicePolicy policy, guint n_items, gint64 max_backoff_us);
void choice_free(Choice *self);

/* One pass: every item once, in the order to try them; those that are due first, then the others,
 * the earliest due first. ret_order has room for n_items. Advances a round robin by one. */
void choice_order(Choice *self, gint64 now_us, guint *ret_order);
/* Failures of an item that is not due count once: whatever was under way when it failed says
 * nothing new. */
void choice_note_failure(Choice *self, guint item, gint64 now_us);
void choice_note_success(Choice *self, guint item, gint64 now_us);

gint64 choice_due_us(const Choice *self, guint item); /* in the past: due; 0: never failed since */
/* The soonest of all, for a wait. */
gint64 choice_earliest_due_us(const Choice *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Choice, choice_free)
