/* lookup.c - `leat lookup`: what a registry knows, whichever kind it is. */
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "agent/commands/command.h"
#include "agent/commands/registry_ask.h"
#include "agent/commands/registry_read.h"
#include "client/discovery/lookup_schedule.h"
#include "registry/wire/topic_namespace.h"

/* How often a registry is asked that cannot be watched. */
#define WATCH_POLL_MS 2000

typedef struct {
    gboolean as_json;
    gboolean watches;
    char *name_space;
} LookupArguments;

static void
lookup_arguments_clear(LookupArguments *self)
{
    g_free(self->name_space);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LookupArguments, lookup_arguments_clear)

static int
fail(const char *registry, const GError *error)
{
    fprintf(stderr, "leat lookup: %s: %s\n", registry, error->message);
    return EXIT_PROBLEM;
}

static char *
reading_text(RegistryReading *reading, gboolean as_json, GError **error)
{
    g_autoptr(RegistryReport) report = registry_read(reading, error);

    if (report == NULL)
        return NULL;
    return as_json ? registry_report_to_json(report) : registry_report_to_text(report);
}

static gboolean
on_pause_over(gpointer is_over)
{
    *(gboolean *) is_over = TRUE;
    return G_SOURCE_REMOVE;
}

static void
pause_for(guint ms)
{
    gboolean is_over = FALSE;

    g_timeout_add(ms, on_pause_over, &is_over);
    while (!is_over)
        g_main_context_iteration(NULL, TRUE);
}

/* Trouble is told once, and so is its end, as the table may be the one that was shown before. */
static void
tell_trouble(const char *registry, const GError *error /* or NULL */, char **trouble)
{
    const char *message = error != NULL ? error->message : NULL;

    if (g_strcmp0(message, *trouble) == 0)
        return;
    fprintf(stderr, "leat lookup: %s: %s\n", registry,
            message != NULL ? message : "it answers again");
    g_free(*trouble);
    *trouble = g_strdup(message);
}

/* Until it is interrupted, or nobody reads any more: what is other than before. */
static int
watch(RegistryReading *reading, const char *registry, gboolean as_json)
{
    g_autofree char *before = NULL;
    g_autofree char *trouble = NULL;

    for (;;) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = reading_text(reading, as_json, &error);

        tell_trouble(registry, error, &trouble);
        if (text == NULL)
            g_clear_pointer(&reading->index, g_free);
        if (text != NULL && g_strcmp0(text, before) != 0) {
            printf("%s%s", before != NULL && !as_json ? "\n" : "", text);
            if (fflush(stdout) != 0)
                return EXIT_PROBLEM;
            g_free(before);
            before = g_steal_pointer(&text);
        }
        pause_for(reading->index == NULL ? WATCH_POLL_MS : WATCH_SPACING_US / 1000);
    }
}

static int
look_up(const Endpoint *registry, const char *topic, const LookupArguments *arguments)
{
    RegistryReading reading = { .registry = registry };
    g_autofree char *name = endpoint_to_text(registry);
    g_autofree char *full_topic = NULL;
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;

    if (!registry_ask_kind(registry, &reading.kind, &error))
        return fail(name, error);
    if (topic != NULL)
        full_topic = reading.kind == REGISTRY_NSQLOOKUPD
                         ? nsq_topic_in_namespace(arguments->name_space, topic)
                         : broker_topic_in_namespace(arguments->name_space, topic);
    reading.topic = full_topic;
    if (arguments->watches)
        return watch(&reading, name, arguments->as_json);
    text = reading_text(&reading, arguments->as_json, &error);
    g_free(reading.index);
    if (text == NULL)
        return fail(name, error);
    fputs(text, stdout);
    return EXIT_OK;
}

static int
lookup_run(int argc, char **argv)
{
    g_auto(LookupArguments) arguments = { 0 };
    const GOptionEntry entries[] = {
        { "json", 'j', 0, G_OPTION_ARG_NONE, &arguments.as_json, "one JSON object, on one line",
          NULL },
        { "watch", 'w', 0, G_OPTION_ARG_NONE, &arguments.watches,
          "go on, and show what there is whenever it changes", NULL },
        { "namespace", 'n', 0, G_OPTION_ARG_STRING, &arguments.name_space,
          "stands before TOPIC, as in the agents' configuration", "NAME" },
        { 0 },
    };
    g_autoptr(Endpoint) registry = NULL;
    g_autoptr(GError) error = NULL;
    int status;

    if (!command_parse(&lookup_command, entries, &argc, &argv, &status))
        return status;
    if (argc < 2)
        return command_usage_error(&lookup_command, "ADDRESS is missing; see 'leat lookup --help'");
    if (argc > 3)
        return command_usage_error(&lookup_command, "one TOPIC at a time, '%s' is one too many",
                                   argv[3]);
    if (arguments.name_space != NULL && argc < 3)
        return command_usage_error(&lookup_command, "--namespace goes with a TOPIC");
    registry = endpoint_parse_peer(argv[1], &error);
    if (registry == NULL)
        return command_usage_error(&lookup_command, "%s", error->message);
    return look_up(registry, argc > 2 ? argv[2] : NULL, &arguments);
}

const Command lookup_command = {
    .name = "lookup",
    .arguments = "ADDRESS [TOPIC]",
    .summary = "show what a registry knows: nodes, topics and routes",
    .details =
        "ADDRESS is the HTTP port of an nsqlookupd (4161 as a rule) or the port of a namesrv\n"
        "(9876), of leat-registry or of the original: which one it is shows by itself. With\n"
        "TOPIC: the nodes, or the brokers with their queues, that take it.\n"
        "\n"
        "With --watch the table comes again whenever it has changed: at once where the registry\n"
        "can be watched, and every 2 s where not, until Ctrl-C. That a registry does not answer,\n"
        "and that it answers again, is said on standard error.\n"
        "\n"
        "Exit status: 0, or 1 if nobody answers or the topic is not known.\n"
        "\n"
        "Examples:\n"
        "  leat lookup registry1:4161\n"
        "  leat lookup --watch registry1:4161 collectors\n"
        "  leat lookup --json registry1:4161 | jq '.nodes[].topics[] | select(.tombstoned)'\n"
        "  leat lookup --json registry1:9876 logs | jq -r '.queues[].addresses[].address'",
    .run = lookup_run,
};
