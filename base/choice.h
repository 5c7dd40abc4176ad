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
#define CHOICE_NEW G_MAXUINT
/* For other items: from[i] is what item i is in this one, or CHOICE_NEW. Those that stay keep their
 * back-off, and whoever has the turn keeps it. */
Choice *choice_new_from(const Choice *self, guint n_items, const guint *from);
void choice_free(Choice *self);

/* Among those that are due, items of a higher rank come after all of lower ones. 0 at first. */
void choice_set_rank(Choice *self, guint item, guint rank);

/* One pass: every item once, in the order to try them; those that are due first, then the others,
 * the earliest due first. ret_order has room for n_items. Advances a round robin by one. */
void choice_order(Choice *self, gint64 now_us, guint *ret_order);
/* Failures of an item that is not due count once: whatever was under way when it failed says
 * nothing new. */
void choice_note_failure(Choice *self, guint item, gint64 now_us);
void choice_note_success(Choice *self, guint item, gint64 now_us);

/* Due again after a failure, which somebody finds out about aside: until that ends, or a success is
 * noted, it is not due. */
gboolean choice_is_on_trial(const Choice *self, guint item, gint64 now_us);
void choice_set_aside(Choice *self, guint item);
/* It is due. FALSE: a success was noted meanwhile. */
gboolean choice_end_aside(Choice *self, guint item, gint64 now_us);

gint64 choice_due_us(const Choice *self, guint item); /* in the past: due; 0: never failed since */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Choice, choice_free)
