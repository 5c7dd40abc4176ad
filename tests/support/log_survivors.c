/* log_survivors.c - what is found in the directory of a file channel after it was damaged. */
#include "tests/support/log_survivors.h"

#include <stdlib.h>

#include "agent/builtin.h"
#include "agent/channels/file_channel/file_channel.h"
#include "agent/commands/channel.h"
#include "base/clock.h"
#include "tests/support/test_part.h"

/* Lines of rising numbers as ranges: "7-39 45". (transfer full) */
static char *
number_lines_to_ranges(const char *lines)
{
    g_auto(GStrv) numbers = g_strsplit(lines, "\n", -1);
    GString *text = g_string_new(NULL);

    for (char **number = numbers; *number != NULL && **number != '\0'; number++) {
        guint64 first = g_ascii_strtoull(*number, NULL, 10);
        guint64 last = first;

        while (number[1] != NULL && number[1][0] != '\0' &&
               g_ascii_strtoull(number[1], NULL, 10) == last + 1) {
            number++;
            last++;
        }
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, text->len > 0 ? " " : "", first);
        if (last > first)
            g_string_append_printf(text, "-%" G_GUINT64_FORMAT, last);
    }
    return g_string_free(text, FALSE);
}

static ChannelFolder *
open_folder(const char *path)
{
    g_autoptr(GError) error = NULL;
    ChannelFolder *folder = channel_folder_open(path, &error);

    g_assert_no_error(error);
    return folder;
}

char *
log_survivors_read(const char *path)
{
    g_autoptr(ChannelFolder) folder = open_folder(path);
    ChannelProgress progress;
    char *lines = NULL;
    size_t length;
    FILE *out = open_memstream(&lines, &length);
    char *ranges;

    channel_progress_init(&progress, FALSE);
    channel_folder_cat(folder, EVENT_FORMAT_TEXT, out, &progress);
    fclose(out);
    ranges = number_lines_to_ranges(lines);
    free(lines);
    return ranges;
}

char *
log_survivors_verify(const char *path)
{
    g_autoptr(ChannelFolder) folder = open_folder(path);
    GString *text = g_string_new(NULL);
    ChannelProgress progress;
    ChannelTotals totals;

    channel_progress_init(&progress, FALSE);
    totals = channel_folder_verify(folder, &progress);
    for (guint i = 0; i < folder->damages->len; i++) {
        const ChannelDamage *damage = g_ptr_array_index(folder->damages, i);
        const char *file = damage->file + strspn(damage->file, "0");

        g_string_append_printf(text, "%s:%" G_GUINT64_FORMAT ": %s\n", file, damage->offset,
                               damage->what);
    }
    if (totals.n_lost > 0)
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " lost\n", totals.n_lost);
    return g_string_free(text, FALSE);
}

/* ---- a channel ---- */

static void
append_bodies(const Lease *lease, GString *lines)
{
    for (guint i = 0; i < lease->slices->len; i++) {
        const BatchSlice *slice = &g_array_index(lease->slices, BatchSlice, i);

        for (guint k = 0; k < slice->count; k++) {
            EventView view;

            batch_view(slice->batch, slice->first + k, &view);
            event_format_append(EVENT_FORMAT_TEXT, &view, lines);
        }
    }
}

static char *
options_for(const char *path)
{
    return g_strdup_printf("directory: %s\nreserve: 0B\nsegment-size: 64KiB\n", path);
}

static char *
recover(const char *path, guint64 *ret_lost, guint64 *ret_left)
{
    const TakeLimits limits = { .max_events = 10, .max_bytes = G_MAXSIZE };
    g_autofree char *yaml = options_for(path);
    g_autoptr(GString) lines = g_string_new(NULL);
    Channel *channel =
        (Channel *) test_part_open(&file_channel.base, COMPONENT_CHANNEL, "recovered", yaml);
    Lease *lease;

    while ((lease = channel_take(channel, &limits, clock_now_us())) != NULL) {
        append_bodies(lease, lines);
        lease_commit(lease, lease->n_events);
        lease_rollback(lease);
    }
    *ret_left = channel_n_events(channel);
    *ret_lost = metric_get(channel->base.part_metrics, FILE_CHANNEL_LOST);
    test_part_free(&channel->base);
    return number_lines_to_ranges(lines->str);
}

char *
log_survivors_recover(const char *path, guint64 *ret_lost)
{
    guint64 n_left;
    char *events = recover(path, ret_lost, &n_left);

    g_assert_cmpuint(n_left, ==, 0);
    return events;
}

guint64
log_survivors_left(const char *path, guint64 *ret_lost)
{
    guint64 n_left;
    g_autofree char *events G_GNUC_UNUSED = recover(path, ret_lost, &n_left);

    return n_left;
}

char *
log_survivors_refusal(const char *path)
{
    g_autofree char *yaml = options_for(path);
    Component *channel = test_part_new(&file_channel.base, COMPONENT_CHANNEL, "refused", yaml);
    g_autoptr(GError) error = NULL;

    g_assert_false(component_open(channel, &error));
    test_part_free(channel);
    return g_strdup(error->message);
}
