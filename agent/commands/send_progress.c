/* send_progress.c - draws the progress of `leat send`, and sums it up. */
#include "agent/commands/send_progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"

#define REDRAW_US (G_USEC_PER_SEC / 10)
#define BAR_COLUMNS 20
#define LINE_START "\r\033[K"

void
send_progress_init(SendProgress *self, gboolean is_on)
{
    *self = (SendProgress){ .is_on = is_on };
}

static guint
terminal_columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void
send_progress_show(SendProgress *self, const SendTotals *totals)
{
    gint64 now_us = clock_now_us();

    if (!self->is_on || now_us < self->next_us)
        return;
    /* The last column stays free: a terminal may wrap behind it. */
    g_autofree char *text = send_progress_to_text(totals, terminal_columns() - 1);

    fprintf(stderr, LINE_START "%s", text);
    self->next_us = now_us + REDRAW_US;
}

void
send_progress_clear(SendProgress *self)
{
    if (self->is_on)
        fputs(LINE_START, stderr);
}

static guint64
per_second(guint64 count, gint64 elapsed_us)
{
    return (guint64) ((double) count * G_USEC_PER_SEC / (double) MAX(elapsed_us, 1));
}

static void
append_bar(GString *text, double share)
{
    guint n_full = (guint) (share * BAR_COLUMNS);

    g_string_append_c(text, '[');
    for (guint i = 0; i < BAR_COLUMNS; i++)
        g_string_append_c(text, i < n_full ? '#' : '.');
    g_string_append_printf(text, "] %3.0f%%  ", share * 100);
}

static void
append_time_left(GString *text, const SendTotals *totals)
{
    guint64 rate = per_second(totals->n_bytes, totals->elapsed_us);
    guint64 left_s;

    if (rate == 0)
        return;
    left_s = (totals->total_bytes - totals->n_bytes + rate - 1) / rate;
    g_string_append_printf(text, "  %" G_GUINT64_FORMAT ":%02u:%02u left", left_s / 3600,
                           (guint) (left_s / 60 % 60), (guint) (left_s % 60));
}

char *
send_progress_to_text(const SendTotals *totals, guint columns)
{
    GString *text = g_string_new(NULL);
    g_autofree char *size = quantity_size_to_text(totals->n_bytes);
    /* A file may have grown since it was looked at. */
    gboolean is_total_known = totals->total_bytes >= MAX(totals->n_bytes, 1);

    if (is_total_known)
        append_bar(text, (double) totals->n_bytes / (double) totals->total_bytes);
    g_string_append_printf(text, "%" G_GUINT64_FORMAT " event%s  %s  %" G_GUINT64_FORMAT "/s",
                           totals->n_events, totals->n_events == 1 ? "" : "s", size,
                           per_second(totals->n_events, totals->elapsed_us));
    if (is_total_known)
        append_time_left(text, totals);
    g_string_truncate(text, MIN(text->len, columns));
    return g_string_free(text, FALSE);
}

char *
send_totals_to_text(const SendTotals *totals)
{
    g_autofree char *size = quantity_size_to_text(totals->n_bytes);

    return g_strdup_printf("sent %" G_GUINT64_FORMAT " event%s (%s) in %.2f s, %" G_GUINT64_FORMAT
                           " events/s, %" G_GUINT64_FORMAT " batch%s",
                           totals->n_events, totals->n_events == 1 ? "" : "s", size,
                           (double) totals->elapsed_us / G_USEC_PER_SEC,
                           per_second(totals->n_events, totals->elapsed_us), totals->n_batches,
                           totals->n_batches == 1 ? "" : "es");
}
