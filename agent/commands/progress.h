/* progress.h - one line on a terminal that says how far a long command is. */
#pragma once

#include <glib.h>

typedef struct {
    guint64 n_events;
    guint64 n_bytes;     /* done */
    guint64 total_bytes; /* of everything, 0 if unknown */
    gint64 elapsed_us;
} ProgressCount;

typedef struct {
    gboolean is_on;
    gint64 next_us;
} Progress;

void progress_init(Progress *self, gboolean is_on);
/* Draws on stderr, over what was drawn before, ten times a second at the most. */
void progress_show(Progress *self, const ProgressCount *count);
void progress_clear(Progress *self);

/* What fits into so many columns. (transfer full) */
char *progress_to_text(const ProgressCount *count, guint columns);
guint64 progress_per_second(guint64 count, gint64 elapsed_us);
