/* channel.c - `leat channel`: looks into the directory of a file channel, and what its commands
 * share. */
#include "agent/commands/channel.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/suggestion.h"

ChannelFolder *
channel_folder_of_arguments(const Command *self, const GOptionEntry *entries, int argc, char **argv,
                            int *ret_status)
{
    g_autoptr(GError) failure = NULL;
    ChannelFolder *folder;

    if (!command_parse(self, entries, &argc, &argv, ret_status))
        return NULL;
    if (argc != 2) {
        *ret_status =
            argc < 2
                ? command_usage_error(self, "DIR is missing; see 'leat %s --help'", self->name)
                : command_usage_error(self, "one DIR at a time, '%s' is one too many", argv[2]);
        return NULL;
    }
    folder = channel_folder_open(argv[1], &failure);
    if (folder == NULL) {
        fprintf(stderr, "leat %s: %s\n", self->name, failure->message);
        *ret_status = EXIT_PROBLEM;
    }
    return folder;
}

/* ---- progress ---- */

void
channel_progress_init(ChannelProgress *self, gboolean is_on)
{
    *self = (ChannelProgress){ 0 };
    progress_init(&self->progress, is_on && isatty(STDERR_FILENO));
}

void
channel_progress_show(ChannelProgress *self, const ChannelWalk *walk, guint64 n_events)
{
    self->count.n_events += n_events;
    self->count.n_bytes = channel_walk_n_bytes(walk);
    self->count.total_bytes = channel_walk_total_bytes(walk);
    self->count.elapsed_us = clock_now_us() - self->start_us;
    progress_show(&self->progress, &self->count);
}

static void
show_search(const ChannelWalk *walk, gpointer user)
{
    channel_progress_show(user, walk, 0);
}

void
channel_progress_watch(ChannelProgress *self, ChannelWalk *walk)
{
    self->count = (ProgressCount){ 0 };
    self->start_us = clock_now_us();
    channel_walk_watch(walk, show_search, self);
}

void
channel_progress_clear(ChannelProgress *self)
{
    progress_clear(&self->progress);
}

/* ---- walks ---- */

ChannelWalk *
channel_walk_consumed(ChannelFolder *folder, ChannelProgress *progress)
{
    LogPosition from = { 0 };
    ChannelWalk *walk;
    WalkedRecord record;

    if (folder->has_checkpoint)
        from = folder->checkpoint.end;
    walk = channel_walk_new(folder, from);
    channel_progress_watch(progress, walk);
    while (channel_walk_next(walk, &record))
        channel_progress_show(progress, walk, walked_record_n_events(&record));
    return walk;
}

LogPosition
channel_folder_first(const ChannelFolder *folder)
{
    return folder->has_checkpoint ? folder->checkpoint.from : (LogPosition){ 0 };
}

void
channel_folder_print_damages(const ChannelFolder *self, FILE *out)
{
    for (guint i = 0; i < self->damages->len; i++) {
        const ChannelDamage *damage = g_ptr_array_index(self->damages, i);

        fprintf(out, "%s:%" G_GUINT64_FORMAT ": %s\n", damage->file, damage->offset, damage->what);
    }
    if (self->n_damages > self->damages->len)
        fprintf(out, "and %" G_GUINT64_FORMAT " more places\n",
                self->n_damages - self->damages->len);
}

/* ---- the command ---- */

static const Command *const channel_commands[] = { &channel_inspect_command,
                                                   &channel_verify_command, &channel_cat_command,
                                                   NULL };

/* Of "channel inspect". */
static const char *
word_of(const Command *command)
{
    return strchr(command->name, ' ') + 1;
}

static int
unknown_channel_command(const char *word)
{
    const char *words[G_N_ELEMENTS(channel_commands)] = { NULL };
    g_autofree char *hint = NULL;

    for (guint i = 0; channel_commands[i] != NULL; i++)
        words[i] = word_of(channel_commands[i]);
    hint = suggestion_for(word, words, "commands");
    return command_usage_error(&channel_command, "unknown command '%s'; %s", word, hint);
}

static int
channel_run(int argc, char **argv)
{
    int status;

    for (guint i = 0; argc > 1 && channel_commands[i] != NULL; i++)
        if (strcmp(argv[1], word_of(channel_commands[i])) == 0)
            return channel_commands[i]->run(argc - 1, argv + 1);
    if (!command_parse(&channel_command, NULL, &argc, &argv, &status))
        return status;
    if (argc < 2)
        return command_usage_error(&channel_command,
                                   "a command is missing; see 'leat channel --help'");
    return unknown_channel_command(argv[1]);
}

const Command channel_command = {
    .name = "channel",
    .arguments = "inspect|verify|cat DIR",
    .summary = "look into the directory of a file or spillable channel",
    .details =
        "leat channel inspect DIR      what is in it: events, segments, the age of the oldest\n"
        "leat channel verify DIR       read everything; status 1 if anything is damaged\n"
        "leat channel cat [--json] DIR print the events that are queued, and leave them there\n"
        "\n"
        "All of them only read. An agent may be running with the directory; what a spillable\n"
        "channel has in memory only is not there.\n"
        "\n"
        "Example:\n"
        "  leat channel inspect /var/lib/leat/spool",
    .run = channel_run,
};
