/* channel_cat.c - `leat channel cat`: prints the events that are queued, and leaves them there. */
#include <string.h>
#include <unistd.h>

#include "agent/commands/channel.h"

/* Events of the record that are not consumed. */
static void
print_events(const WalkedRecord *record, ByteSpan events, const Consumption *consumption,
             EventFormat format, GString *out)
{
    const guint8 *event = events.data;

    for (guint i = 0; i < record->record.header.count; i++) {
        guint64 seq = record->record.header.seq + i;
        gsize length = event_bytes_check(event, (gsize) (events.data + events.length - event));
        EventView view;

        if (i >= record->first && consumption_count(consumption, seq, seq + 1) == 0) {
            event_view_init(&view, event, length);
            event_format_append(format, &view, out);
        }
        event += length;
    }
}

/* FALSE if out takes no more. */
static gboolean
print_record(ChannelWalk *walk, const WalkedRecord *record, const Consumption *consumption,
             EventFormat format, FILE *out)
{
    g_autoptr(GString) text = NULL;
    ByteSpan events;

    if (!walked_record_is_queued(record, consumption) ||
        !channel_walk_events(walk, record, &events))
        return TRUE;
    text = g_string_sized_new(2 * events.length);
    print_events(record, events, consumption, format, text);
    return fwrite(text->str, 1, text->len, out) == text->len;
}

/* Consumption is known before anything is printed. */
void
channel_folder_cat(ChannelFolder *self, EventFormat format, FILE *out, ChannelProgress *progress)
{
    g_autoptr(ChannelWalk) all = channel_walk_consumed(self, progress);
    g_autoptr(ChannelWalk) walk = channel_walk_new(self, channel_folder_first(self));
    WalkedRecord record;

    channel_progress_watch(progress, walk);
    channel_walk_add_losses(all);
    while (channel_walk_next(walk, &record) &&
           print_record(walk, &record, channel_walk_consumption(all), format, out))
        channel_progress_show(progress, walk, walked_record_n_events(&record));
}

static int
channel_cat_run(int argc, char **argv)
{
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        { .long_name = "json",
          .arg = G_OPTION_ARG_NONE,
          .arg_data = &json,
          .description = "one JSON object a line, with headers; loses nothing" },
        { 0 },
    };
    g_autoptr(ChannelFolder) folder = NULL;
    ChannelProgress progress;
    int status;

    folder = channel_folder_of_arguments(&channel_cat_command, entries, argc, argv, &status);
    if (folder == NULL)
        return status;
    channel_progress_init(&progress, !isatty(STDOUT_FILENO));
    channel_folder_cat(folder, json ? EVENT_FORMAT_JSON : EVENT_FORMAT_TEXT, stdout, &progress);
    channel_progress_clear(&progress);
    channel_folder_print_damages(folder, stderr);
    return folder->n_damages == 0 ? EXIT_OK : EXIT_PROBLEM;
}

const Command channel_cat_command = {
    .name = "channel cat",
    .arguments = "DIR",
    .summary = "print the events that are queued in a file channel, and leave them there",
    .details =
        "The body of each event and a newline, the oldest first. With --json an object as the\n"
        "file sink writes it: {\"headers\":{\"key\":\"value\"},\"body\":\"...\"}.\n"
        "An agent may be running with DIR; what it delivers meanwhile may be printed all the "
        "same.\n"
        "What is damaged is left out and told on standard error.\n"
        "Exit status: 0, or 1 if anything is damaged or DIR cannot be read.\n"
        "\n"
        "Example:\n"
        "  leat channel cat --json /var/lib/leat/spool | jq -r .headers.app | sort | uniq -c",
    .run = channel_cat_run,
};
