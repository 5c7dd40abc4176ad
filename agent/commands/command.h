/* command.h - a subcommand of leat: a row with its function. */
#pragma once

#include <glib.h>

/* Exit statuses of every command. */
enum { EXIT_OK = 0, EXIT_PROBLEM = 1, EXIT_USAGE = 2 };

typedef struct {
    const char *name;
    const char *arguments; /* "FILE" */
    const char *summary;   /* one line for `leat --help` */
    const char *details;   /* paragraphs for `leat NAME --help`, an example among them */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */

    /* What SIGTERM and SIGINT do until the command handles them itself: end the process with this
     * line on stderr and this status. NULL: what they do by default. */
    const char *early_stop;
    int early_stop_status;
} Command;

extern const Command run_command, check_command, describe_command, send_command, channel_command,
    lookup_command, route_command;

/* Parses options into entries; FALSE with *ret_status set when the command is to end: --help was
 * printed (0), or one line of usage error (2). What is left in argv are the arguments. */
gboolean command_parse(const Command *self, const GOptionEntry *entries, int *argc, char ***argv,
                       int *ret_status);
/* One line on stderr, EXIT_USAGE. */
int command_usage_error(const Command *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
