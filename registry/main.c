/* main.c - leat-registry: reads what it is to do, and does it until it is told to stop. */
#include "config.h"

#include <libsoup/soup.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/early_stop.h"
#include "base/log.h"
#include "base/problems.h"
#include "registry/command_line.h"
#include "registry/namesrv_properties.h"
#include "registry/registry_config.h"
#include "registry/registry_process.h"

static void
print_version(void)
{
    printf("leat-registry %s, in place of nsqlookupd %s and namesrv %s\n", PACKAGE_VERSION,
           NSQ_VERSION, NAMESRV_VERSION);
    printf("GLib %u.%u.%u\n", glib_major_version, glib_minor_version, glib_micro_version);
    printf("libyaml %s\n", yaml_get_version_string());
    printf("libsoup %u.%u.%u\n", soup_get_major_version(), soup_get_minor_version(),
           soup_get_micro_version());
}

static RegistryConfig *
load_config(const CommandLine *command_line)
{
    const char *name = command_line->file != NULL ? command_line->file : "command line";
    g_autoptr(Problems) problems = problems_new(name);
    RegistryConfig *config =
        registry_config_load(command_line->file, command_line->overrides, problems);
    g_autofree char *text = NULL;

    if (config != NULL)
        return config;
    text = problems_to_text(problems);
    fputs(text, stderr);
    return NULL;
}

static void
print_properties(const RegistryConfig *config)
{
    GString *text = namesrv_properties_write(&config->namesrv, config->namesrv.listen->port);

    fputs(text->str, stdout);
    g_string_free(text, TRUE);
}

static int
run(const CommandLine *command_line)
{
    g_autoptr(RegistryConfig) config = load_config(command_line);

    if (config == NULL)
        return EXIT_FAILURE;
    if (command_line->print) {
        print_properties(config);
        return EXIT_SUCCESS;
    }
    log_init(command_line->log_format, command_line->log_level);
    for (guint i = 0; i < command_line->ignored->len; i++)
        log_warning("option ignored",
                    LOG_TEXT("detail", g_ptr_array_index(command_line->ignored, i)));
    return registry_process_run(config) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
    g_autoptr(CommandLine) command_line = NULL;
    int status;

    early_stop_catch("", EXIT_SUCCESS);
    command_line = command_line_parse(argc, argv, &status);
    setlocale(LC_CTYPE, "");
    /* A peer that went away is an error of the write to it. */
    signal(SIGPIPE, SIG_IGN);
    if (command_line == NULL)
        return status;
    if (command_line->help)
        command_line_print_help();
    else if (command_line->version)
        print_version();
    else
        return run(command_line);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
