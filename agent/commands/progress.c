/* progress.c - one line on a terminal that says how far a long command is. */
#include "agent/commands/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"

#define REDRAW_US (G_USEC_PER_SEC / 10)
#define BAR_COLUMNS 20
#define LINE_START "\r\033[K"

void
progress_init(Progress *self, gboolean is_on)
{
    *self = (Progress){ .is_on = is_on };
}

static guint
terminal_columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void
progress_show(Progress *self, const ProgressCount *count)
{
    gint64 now_us = clock_now_us();

    if (!self->is_on || now_us < self->next_us)
        return;
    /* The last column stays free: a terminal may wrap behind it. */
    g_autofree char *text = progress_to_text(count, terminal_columns() - 1);

    fprintf(stderr, LINE_START "%s", text);
    self->next_us = now_us + REDRAW_US;
}

void
progress_clear(Progress *self)
{
    if (self->is_on)
        fputs(LINE_START, stderr);
}

guint64
progress_per_second(guint64 count, gint64 elapsed_us)
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
append_time_left(GString *text, const ProgressCount *count)
{
    guint64 rate = progress_per_second(count->n_bytes, count->elapsed_us);
    guint64 left_s;

    if (rate == 0)
        return;
    left_s = (count->total_bytes - count->n_bytes + rate - 1) / rate;
    g_string_append_printf(text, "  %" G_GUINT64_FORMAT ":%02u:%02u left", left_s / 3600,
                           (guint) (left_s / 60 % 60), (guint) (left_s % 60));
}

char *
progress_to_text(const ProgressCount *count, guint columns)
{
    GString *text = g_string_new(NULL);
    g_autofree char *size = quantity_size_to_text(count->n_bytes);
    /* A file may have grown since it was looked at. */
    gboolean is_total_known = count->total_bytes >= MAX(count->n_bytes, 1);

    if (is_total_known)
        append_bar(text, (double) count->n_bytes / (double) count->total_bytes);
    g_string_append_printf(text, "%" G_GUINT64_FORMAT " event%s  %s  %" G_GUINT64_FORMAT "/s",
                           count->n_events, count->n_events == 1 ? "" : "s", size,
                           progress_per_second(count->n_events, count->elapsed_us));
    if (is_total_known)
        append_time_left(text, count);
    g_string_truncate(text, MIN(text->len, columns));
    return g_string_free(text, FALSE);
}
