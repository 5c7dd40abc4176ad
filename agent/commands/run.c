/* run.c - `leat run`: the agent, until it is told to stop. */
#include <stdio.h>

#include "agent/agent_process.h"
#include "agent/commands/command.h"
#include "base/log.h"

static AgentConfig *
load_config(const char *file)
{
    g_autoptr(Problems) problems = problems_new(file);
    AgentConfig *config = agent_config_load(file, problems);
    g_autofree char *text = NULL;

    if (config != NULL)
        return config;
    text = problems_to_text(problems);
    fputs(text, stderr);
    return NULL;
}

static int
run_run(int argc, char **argv)
{
    g_autofree char *format_text = NULL;
    g_autofree char *level_text = NULL;
    const GOptionEntry entries[] = {
        { .long_name = "log-format",
          .arg = G_OPTION_ARG_STRING,
          .arg_data = &format_text,
          .description = "text (default) or json, one object a line",
          .arg_description = "FORMAT" },
        { .long_name = "log-level",
          .arg = G_OPTION_ARG_STRING,
          .arg_data = &level_text,
          .description = "error, warning, info (default) or debug",
          .arg_description = "LEVEL" },
        { 0 },
    };
    LogFormat format = LOG_FORMAT_TEXT;
    LogLevel level = LOG_AT_INFO;
    AgentConfig *config;
    int status;

    if (!command_parse(&run_command, entries, &argc, &argv, &status))
        return status;
    if (argc < 2)
        return command_usage_error(&run_command, "FILE is missing; see 'leat run --help'");
    if (argc > 2)
        return command_usage_error(&run_command, "one FILE at a time, '%s' is one too many",
                                   argv[2]);
    if (format_text != NULL && !log_format_from_text(format_text, &format))
        return command_usage_error(&run_command, "--log-format is text or json, not '%s'",
                                   format_text);
    if (level_text != NULL && !log_level_from_text(level_text, &level))
        return command_usage_error(
            &run_command, "--log-level is error, warning, info or debug, not '%s'", level_text);
    log_init(format, level);
    config = load_config(argv[1]);
    if (config == NULL)
        return EXIT_PROBLEM;
    return agent_process_run(config) ? EXIT_OK : EXIT_PROBLEM;
}

const Command run_command = {
    .name = "run",
    .arguments = "FILE",
    .summary = "run the agent that FILE describes, until it is told to stop",
    .details =
        "Reads FILE as 'leat check' does and refuses to start if anything is wrong with it.\n"
        "Logs go to the journal under systemd, else to standard error.\n"
        "\n"
        "SIGTERM and SIGINT stop it cleanly: sources answer what is in hand, channels in memory\n"
        "are emptied through their sinks, all within shutdown-timeout; what could not be\n"
        "delivered by then is counted in the log. A second signal ends it at once, with status 1;\n"
        "channels on disk are intact. The exit status is 0 after a clean stop, and 1 if the agent\n"
        "could not start or did not stop in time.\n"
        "\n"
        "Example:\n"
        "  leat run --log-level debug agent.yaml",
    .run = run_run,
    .early_stop = "leat run: told to stop before anything was started\n",
    .early_stop_status = EXIT_OK,
};
