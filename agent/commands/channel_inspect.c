/* channel_inspect.c - `leat channel inspect`: what is in the directory of a file channel. */
#include "agent/commands/channel.h"
#include "base/clock.h"
#include "base/quantity.h"

static char *
time_to_text(gint64 wall_us)
{
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(wall_us / G_USEC_PER_SEC);

    return time != NULL ? g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ") : g_strdup("?");
}

/* Wall clock, when the first event that is not consumed was put; 0 if there is none. */
static gint64
oldest_time_us(ChannelFolder *folder, const Consumption *consumption, ChannelProgress *progress)
{
    g_autoptr(ChannelWalk) walk = channel_walk_new(folder, channel_folder_first(folder));
    WalkedRecord record;

    channel_progress_watch(progress, walk);
    while (channel_walk_next(walk, &record)) {
        channel_progress_show(progress, walk, walked_record_n_events(&record));
        if (walked_record_is_queued(&record, consumption))
            return record.record.header.time_us;
    }
    return 0;
}

static void
print_oldest(gint64 oldest_us)
{
    g_autofree char *age = NULL;
    g_autofree char *time = NULL;

    if (oldest_us == 0)
        return;
    age =
        quantity_duration_to_text((clock_wall_us() - oldest_us) / G_USEC_PER_SEC * G_USEC_PER_SEC);
    time = time_to_text(oldest_us);
    printf("%-12s%s old, put at %s\n", "oldest", age, time);
}

/* ---- segments ---- */

/* Where its events end: what was read says so, or the next segment, or nobody. */
static guint64
end_seq_of(const ChannelFolder *folder, guint index, const ChannelWalk *walk)
{
    if (index + 1 < channel_folder_n_segments(folder))
        return channel_folder_segment(folder, index + 1)->head.first_seq;
    return MAX(channel_walk_next_seq(walk), channel_folder_segment(folder, index)->head.first_seq);
}

static void
print_segment(const ChannelFolder *folder, guint index, const ChannelWalk *walk)
{
    const ChannelSegment *segment = channel_folder_segment(folder, index);
    guint64 first = segment->head.first_seq;
    guint64 end = MAX(end_seq_of(folder, index, walk), first);
    guint64 n_consumed = consumption_count(channel_walk_consumption(walk), first, end);
    g_autofree char *name = segment_name(segment->number);
    g_autofree char *size = quantity_size_to_text(segment->size);
    g_autofree char *time = time_to_text(segment->head.time_us);

    printf("%-26s%-22s%14" G_GUINT64_FORMAT "%14" G_GUINT64_FORMAT "%14" G_GUINT64_FORMAT "%12s\n",
           name, time, first, end - first, end - first - n_consumed, size);
}

static void
print_segments(const ChannelFolder *folder, const ChannelWalk *walk)
{
    if (channel_folder_n_segments(folder) == 0)
        return;
    printf("\n%-26s%-22s%14s%14s%14s%12s\n", "segment", "created", "first event", "events",
           "queued", "size");
    for (guint i = 0; i < channel_folder_n_segments(folder); i++)
        print_segment(folder, i, walk);
}

/* ---- the whole ---- */

static void
print_sums(const ChannelFolder *folder, const ChannelWalk *walk)
{
    guint n_segments = channel_folder_n_segments(folder);
    guint64 n_bytes = 0;
    g_autofree char *size = NULL;

    for (guint i = 0; i < n_segments; i++)
        n_bytes += channel_folder_segment(folder, i)->size;
    size = quantity_size_to_text(n_bytes);
    printf("%-12s%016" G_GINT64_MODIFIER "x\n", "channel", folder->channel);
    printf("%-12s%u, %s\n", "segments", n_segments, size);
    printf("%-12s%" G_GUINT64_FORMAT " queued, the next one is event %" G_GUINT64_FORMAT "\n",
           "events", channel_walk_n_queued(walk), channel_walk_next_seq(walk));
}

static void
print_checkpoint(const ChannelFolder *folder)
{
    const Checkpoint *checkpoint = &folder->checkpoint;
    g_autofree char *end = segment_name(checkpoint->end.segment);

    if (!folder->has_checkpoint)
        printf("%-12s%s\n", "checkpoint", "none; a start reads the whole log");
    else if (checkpoint->end.segment == 0)
        printf("%-12s%s\n", "checkpoint", "of an empty log; a start reads the whole log");
    else
        printf("%-12severything before event %" G_GUINT64_FORMAT
               " is consumed; a start reads from %s:%" G_GUINT64_FORMAT "\n",
               "checkpoint", checkpoint->consumed, end, checkpoint->end.offset);
}

static void
print_damage(const ChannelFolder *folder, guint64 n_lost)
{
    for (guint i = 0; i < folder->aside->len; i++)
        printf("%-12s%s\n", i == 0 ? "set aside" : "",
               (const char *) g_ptr_array_index(folder->aside, i));
    if (folder->n_damages == 0) {
        printf("%-12s%s\n", "damage", "none seen; 'leat channel verify' reads everything");
        return;
    }
    printf("%-12s%" G_GUINT64_FORMAT " place%s, %" G_GUINT64_FORMAT " event%s lost\n", "damage",
           folder->n_damages, folder->n_damages == 1 ? "" : "s", n_lost, n_lost == 1 ? "" : "s");
    channel_folder_print_damages(folder, stdout);
}

static int
channel_inspect_run(int argc, char **argv)
{
    g_autoptr(ChannelFolder) folder = NULL;
    g_autoptr(ChannelWalk) walk = NULL;
    ChannelProgress progress;
    gint64 oldest_us;
    guint64 n_lost;
    int status;

    folder = channel_folder_of_arguments(&channel_inspect_command, NULL, argc, argv, &status);
    if (folder == NULL)
        return status;
    channel_progress_init(&progress, TRUE);
    walk = channel_walk_consumed(folder, &progress);
    n_lost = channel_walk_add_losses(walk);
    oldest_us = oldest_time_us(folder, channel_walk_consumption(walk), &progress);
    channel_progress_clear(&progress);
    print_sums(folder, walk);
    print_oldest(oldest_us);
    print_checkpoint(folder);
    print_damage(folder, n_lost);
    print_segments(folder, walk);
    return EXIT_OK;
}

const Command channel_inspect_command = {
    .name = "channel inspect",
    .arguments = "DIR",
    .summary = "what is in the directory of a file channel",
    .details =
        "How many events are queued and how old the oldest is, each segment with its events and\n"
        "size, and what is damaged as far as that shows. With a good checkpoint only what came\n"
        "after it is read, so that this is quick beside a large backlog; 'leat channel verify'\n"
        "reads everything. Changes nothing, and an agent may be running with DIR.\n"
        "Exit status: 0, or 1 if DIR cannot be read.\n"
        "\n"
        "Example:\n"
        "  leat channel inspect /var/lib/leat/spool",
    .run = channel_inspect_run,
};
