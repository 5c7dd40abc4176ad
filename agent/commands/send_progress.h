/* send_progress.h - one line on a terminal that says how far `leat send` is. */
#pragma once

#include <glib.h>

typedef struct {
    guint64 n_events; /* acknowledged */
    guint64 n_bytes;  /* of their lines */
    guint64 n_batches;
    guint64 total_bytes; /* of all lines, 0 if unknown */
    gint64 elapsed_us;
} SendTotals;

typedef struct {
    gboolean is_on;
    gint64 next_us;
} SendProgress;

void send_progress_init(SendProgress *self, gboolean is_on);
/* Draws on stderr, over what was drawn before, ten times a second at the most. */
void send_progress_show(SendProgress *self, const SendTotals *totals);
void send_progress_clear(SendProgress *self);

/* What fits into so many columns. (transfer full) */
char *send_progress_to_text(const SendTotals *totals, guint columns);
char *send_totals_to_text(const SendTotals *totals); /* (transfer full) */
