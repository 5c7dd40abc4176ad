/* channel_verify.c - `leat channel verify`: reads everything and says what is damaged. */
#include "agent/commands/channel.h"
#include "base/quantity.h"

/* Returns how many events it brought. */
static guint
verify_record(ChannelWalk *walk, const WalkedRecord *record, ChannelTotals *totals)
{
    guint count = record->record.header.count - record->first;
    ByteSpan events;

    if (record->record.header.type != RECORD_EVENTS)
        return 0;
    if (!channel_walk_events(walk, record, &events))
        totals->n_lost += count;
    totals->n_events += count;
    return count;
}

ChannelTotals
channel_folder_verify(ChannelFolder *self, ChannelProgress *progress)
{
    g_autoptr(ChannelWalk) walk = channel_walk_new(self, (LogPosition){ 0 });
    ChannelTotals totals = { 0 };
    WalkedRecord record;

    channel_progress_watch(progress, walk);
    while (channel_walk_next(walk, &record))
        channel_progress_show(progress, walk, verify_record(walk, &record, &totals));
    totals.n_bytes = channel_walk_n_bytes(walk);
    totals.n_lost += channel_walk_add_losses(walk);
    totals.n_queued = channel_walk_n_queued(walk);
    return totals;
}

static void
print_totals(const ChannelFolder *folder, const ChannelTotals *totals)
{
    g_autofree char *size = quantity_size_to_text(totals->n_bytes);
    guint n_segments = channel_folder_n_segments(folder);

    printf("read %s in %u segment%s: %" G_GUINT64_FORMAT " events, %" G_GUINT64_FORMAT
           " of them queued\n",
           size, n_segments, n_segments == 1 ? "" : "s", totals->n_events, totals->n_queued);
    if (folder->n_damages == 0)
        puts("no damage");
    else
        printf("damaged in %" G_GUINT64_FORMAT " place%s; %" G_GUINT64_FORMAT " event%s lost\n",
               folder->n_damages, folder->n_damages == 1 ? "" : "s", totals->n_lost,
               totals->n_lost == 1 ? "" : "s");
}

static int
channel_verify_run(int argc, char **argv)
{
    g_autoptr(ChannelFolder) folder = NULL;
    ChannelProgress progress;
    ChannelTotals totals;
    int status;

    folder = channel_folder_of_arguments(&channel_verify_command, NULL, argc, argv, &status);
    if (folder == NULL)
        return status;
    channel_progress_init(&progress, TRUE);
    totals = channel_folder_verify(folder, &progress);
    channel_progress_clear(&progress);
    channel_folder_print_damages(folder, stdout);
    print_totals(folder, &totals);
    return folder->n_damages == 0 ? EXIT_OK : EXIT_PROBLEM;
}

const Command channel_verify_command = {
    .name = "channel verify",
    .arguments = "DIR",
    .summary = "read everything in the directory of a file channel, and say what is damaged",
    .details =
        "Changes nothing, and an agent may be running with DIR. Every damage is a line with the\n"
        "file and the offset in it:\n"
        "\n"
        "  0000000000000003.segment:8192: 640 bytes are damaged\n"
        "\n"
        "The unfinished record that a crash leaves at the end is no damage: nothing there was\n"
        "acknowledged. An event is lost when it was acknowledged, not consumed, and is not there.\n"
        "Exit status: 0 if nothing is damaged, 1 if anything is or DIR cannot be read.\n"
        "\n"
        "Example:\n"
        "  leat channel verify /var/lib/leat/spool",
    .run = channel_verify_run,
};
