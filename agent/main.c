/* main.c - finds the subcommand and runs it. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/commands/command.h"
#include "agent/commands/version.h"
#include "base/early_stop.h"
#include "base/suggestion.h"

/* In the order of `leat --help`, ended by NULL. */
static const Command *const commands[] = { &run_command,      &check_command,
                                           &describe_command, &send_command,
                                           &channel_command,  &lookup_command,
                                           &route_command,    NULL };

static const Command *
find_command(const char *name)
{
    for (const Command *const *command = commands; *command != NULL; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

/* One line on stderr: what, and the nearest of all commands and options of leat itself. */
static int
unknown_word(const char *kind, const char *word)
{
    const char *names[G_N_ELEMENTS(commands) + 2] = { NULL };
    g_autofree char *hint = NULL;
    guint n = 0;

    for (guint i = 0; word[0] != '-' && commands[i] != NULL; i++)
        names[n++] = commands[i]->name;
    names[n++] = word[0] != '-' ? "help" : "--help";
    if (word[0] == '-')
        names[n++] = "--version";
    hint = suggestion_for(word, names, word[0] != '-' ? "commands" : "options");
    fprintf(stderr, "leat: unknown %s '%s'; %s\n", kind, word, hint);
    return EXIT_USAGE;
}

static int
print_help(void)
{
    printf("leat: a log collector agent that speaks Thrift\n\n"
           "Usage: leat COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");
    for (const Command *const *command = commands; *command != NULL; command++)
        printf("  %-12s%s\n", (*command)->name, (*command)->summary);
    printf("  %-12s%s\n", "help", "show the help of a command");
    printf("\nOptions:\n"
           "  -h, --help  show this help\n"
           "  --version   show the versions of leat and of the libraries in use\n\n"
           "Example:\n"
           "  leat check agent.yaml && leat run agent.yaml\n\n"
           "'leat help COMMAND' tells more about one of them, 'leat describe' about every option\n"
           "of a configuration.\n");
    return EXIT_OK;
}

static int
run_help(int argc, char **argv)
{
    static char help_option[] = "--help";
    const Command *command;

    if (argc < 2 || strcmp(argv[1], "help") == 0)
        return print_help();
    command = find_command(argv[1]);
    if (command == NULL)
        return unknown_word("command", argv[1]);
    return command->run(2, (char *[]){ argv[1], help_option, NULL });
}

/* command: the one that is named, NULL if there is none of that name. */
static int
run_command_line(const Command *command, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    if (word == NULL) {
        fprintf(stderr, "leat: a command is missing; see 'leat --help'\n");
        return EXIT_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help();
    if (strcmp(word, "help") == 0)
        return run_help(argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0) {
        version_print();
        return EXIT_OK;
    }
    if (command == NULL)
        return unknown_word(word[0] == '-' ? "option" : "command", word);
    return command->run(argc - 1, argv + 1);
}

/* errno does not tell: the write that failed may have been any. */
static gboolean
has_output_no_reader(void)
{
    struct pollfd output = { .fd = STDOUT_FILENO };

    return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

/* What was printed must have arrived: a full disk or a reader that went away is not success. The
 * reader knows that it went, as `head` does. */
static int
close_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (!has_output_no_reader())
        fprintf(stderr, "leat: standard output cannot be written%s%s\n", errno != 0 ? ": " : "",
                errno != 0 ? g_strerror(errno) : "");
    return status == EXIT_OK ? EXIT_PROBLEM : status;
}

int
main(int argc, char **argv)
{
    const Command *command = argc > 1 ? find_command(argv[1]) : NULL;

    if (command != NULL && command->early_stop != NULL)
        early_stop_catch(command->early_stop, command->early_stop_status);
    /* Not LC_NUMERIC: numbers are written and read in one way everywhere. */
    setlocale(LC_CTYPE, "");
    /* What a write finds is an error of that write: a closed peer, a file at its size limit. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return close_output(run_command_line(command, argc, argv));
}
