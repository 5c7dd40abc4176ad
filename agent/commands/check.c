/* check.c - `leat check`: everything wrong with a configuration, or a drawing of what it makes. */
#include "agent/commands/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_config.h"
#include "base/file_text.h"

static AgentConfig *
load_standard_input(Problems *problems)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length;

    text = file_text_read_fd(STDIN_FILENO, YAML_TREE_MAX_BYTES, &length, &error);
    if (text != NULL)
        return agent_config_parse(text, length, problems);
    problems_add_at(problems, 0, 0, "", "standard input cannot be read: %s", error->message);
    return NULL;
}

static int
check_file(const char *file, gboolean dot)
{
    gboolean is_stdin = strcmp(file, "-") == 0;
    g_autoptr(Problems) problems = problems_new(is_stdin ? "<stdin>" : file);
    g_autoptr(AgentConfig) config =
        is_stdin ? load_standard_input(problems) : agent_config_load(file, problems);
    g_autofree char *text = NULL;

    if (config == NULL) {
        text = problems_to_text(problems);
        fputs(text, stderr);
        return EXIT_PROBLEM;
    }
    text = dot ? agent_config_to_dot(config) : agent_config_draw(config);
    fputs(text, stdout);
    return EXIT_OK;
}

static int
check_run(int argc, char **argv)
{
    gboolean dot = FALSE;
    const GOptionEntry entries[] = {
        { .long_name = "dot",
          .arg = G_OPTION_ARG_NONE,
          .arg_data = &dot,
          .description = "print the topology for Graphviz" },
        { 0 },
    };
    int status;

    if (!command_parse(&check_command, entries, &argc, &argv, &status))
        return status;
    if (argc < 2)
        return command_usage_error(&check_command, "FILE is missing; see 'leat check --help'");
    if (argc > 2)
        return command_usage_error(&check_command, "one FILE at a time, '%s' is one too many",
                                   argv[2]);
    return check_file(argv[1], dot);
}

const Command check_command = {
    .name = "check",
    .arguments = "FILE",
    .summary = "find everything wrong with a configuration, or draw it",
    .details =
        "Reads FILE (- is standard input) as 'leat run' would, but opens nothing: no address\n"
        "is bound and no file is written. Every problem is shown, one a line:\n"
        "\n"
        "  agent.yaml:14:21: sinks.archive.roll-size: '64Mb' is not a size; write a number\n"
        "  with KiB, MiB or GiB\n"
        "\n"
        "A file without problems is shown as a drawing: sources, channels, sinks.\n"
        "The exit status is 0 if there is no problem and 1 if there is one.\n"
        "\n"
        "Example:\n"
        "  leat check agent.yaml && systemctl restart leat",
    .run = check_run,
};
