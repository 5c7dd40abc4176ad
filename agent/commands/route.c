/* route.c - `leat route`: drains a broker before maintenance, and resizes its queues of a topic. */
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "agent/commands/command.h"
#include "agent/commands/registry_ask.h"
#include "agent/commands/registry_read.h"
#include "base/quantity.h"
#include "client/discovery/lookup.h"
#include "registry/wire/namesrv_codes.h"
#include "registry/wire/topic_namespace.h"
#include "registry/wire/topic_route.h"

#define DEFAULT_ADDRESS "127.0.0.1:9876"
#define MAX_QUEUES 65535

/* As given on the command line. */
typedef struct {
    char *at;
    char *read;
    char *write;
    char *perm;
    char *name_space;
} RouteArguments;

static void
route_arguments_clear(RouteArguments *self)
{
    g_free(self->at);
    g_free(self->read);
    g_free(self->write);
    g_free(self->perm);
    g_free(self->name_space);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RouteArguments, route_arguments_clear)

/* What is to be done at each name server. */
typedef struct RouteJob RouteJob;
typedef gboolean (*RouteAct)(const RouteJob *self, const Endpoint *registry, char **ret_said,
                             GError **error);
struct RouteJob {
    RouteAct act;
    const char *broker;
    char *topic;              /* set */
    gint64 read, write, perm; /* set; -1: as it is */
};

/* ---- write permission ---- */

typedef struct {
    const char *field;
    gint64 count;
} TopicCount;

static gboolean
take_count(const RemotingCommand *answer, gpointer user, GError **error)
{
    TopicCount *self = user;

    return remoting_command_get_int(answer, self->field, 0, G_MAXINT32, &self->count, error);
}

static gboolean
change_write_perm(const RouteJob *self, const Endpoint *registry, gint32 code, const char *field,
                  const char *outcome, char **ret_said, GError **error)
{
    g_autoptr(RemotingCommand) request = remoting_command_new(code, 0);
    TopicCount topics = { .field = field };

    remoting_command_set(request, "brokerName", self->broker);
    if (!registry_ask_namesrv(registry, request, REMOTING_SUCCESS, LOOKUP_TIMEOUT_US, take_count,
                              &topics, error))
        return FALSE;
    if (topics.count == 0) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "it knows no topic of a broker '%s'",
                    self->broker);
        return FALSE;
    }
    *ret_said = g_strdup_printf("%" G_GINT64_FORMAT " topic%s of '%s' %s", topics.count,
                                topics.count == 1 ? "" : "s", self->broker, outcome);
    return TRUE;
}

static gboolean
wipe_write(const RouteJob *self, const Endpoint *registry, char **ret_said, GError **error)
{
    return change_write_perm(self, registry, NAMESRV_WIPE_WRITE_PERM, "wipeTopicCount",
                             "without write permission: nothing new goes there", ret_said, error);
}

static gboolean
restore_write(const RouteJob *self, const Endpoint *registry, char **ret_said, GError **error)
{
    return change_write_perm(self, registry, NAMESRV_ADD_WRITE_PERM, "addTopicCount",
                             "with write permission again", ret_said, error);
}

/* ---- queues ---- */

typedef struct {
    const char *broker;
    gboolean is_there;
    RouteQueue queue; /* without its name */
} BrokerQueues;

static gboolean
take_queues(const RemotingCommand *answer, gpointer user, GError **error)
{
    BrokerQueues *self = user;
    g_autoptr(TopicRoute) route = NULL;

    self->is_there = FALSE;
    if (answer->code == REMOTING_TOPIC_NOT_EXIST)
        return TRUE;
    route = topic_route_decode(answer->body, error);
    for (guint i = 0; route != NULL && i < route->queues->len; i++) {
        const RouteQueue *queue = route->queues->pdata[i];

        if (strcmp(queue->broker, self->broker) != 0)
            continue;
        self->is_there = TRUE;
        self->queue = *queue;
        self->queue.broker = NULL;
    }
    return route != NULL;
}

static gboolean
read_queues(const RouteJob *self, const Endpoint *registry, BrokerQueues *queues, GError **error)
{
    const LookupQuestion question = { .topic = self->topic };
    g_autoptr(RemotingCommand) request = route_lookup_request(&question);

    return registry_ask_namesrv(registry, request, REMOTING_TOPIC_NOT_EXIST, LOOKUP_TIMEOUT_US,
                                take_queues, queues, error);
}

static gboolean
take_nothing(const RemotingCommand *answer G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED,
             GError **error G_GNUC_UNUSED)
{
    return TRUE;
}

static gboolean
write_queues(const RouteJob *self, const Endpoint *registry, const RouteQueue *queue,
             GError **error)
{
    static const RouteForm form = { .standard = TRUE };
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_REGISTER_TOPIC, 0);
    g_autoptr(TopicRoute) route = topic_route_new();

    topic_route_add_queue(route, self->broker, queue->read_queues, queue->write_queues, queue->perm,
                          queue->sys_flag);
    remoting_command_set(request, "topic", self->topic);
    remoting_command_set_body(request, topic_route_encode(route, &form));
    return registry_ask_namesrv(registry, request, REMOTING_SUCCESS, LOOKUP_TIMEOUT_US,
                                take_nothing, NULL, error);
}

static gboolean
check_new_queues(const RouteJob *self, const BrokerQueues *before, GError **error)
{
    if (before->is_there || (self->read >= 0 && self->write >= 0 && self->perm >= 0))
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                "broker '%s' has no topic '%s' there; to make it, give --read, --write and --perm",
                self->broker, self->topic);
    return FALSE;
}

/* A name server says that all is well also when it knows no such broker, so look. */
static gboolean
check_outcome(const RouteJob *self, const RouteQueue *wanted, const BrokerQueues *after,
              GError **error)
{
    if (after->is_there && after->queue.read_queues == wanted->read_queues &&
        after->queue.write_queues == wanted->write_queues && after->queue.perm == wanted->perm)
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                "it did not take that: is there a broker '%s', and is it of RocketMQ 5 or "
                "leat-registry?",
                self->broker);
    return FALSE;
}

static gboolean
set_queues(const RouteJob *self, const Endpoint *registry, char **ret_said, GError **error)
{
    BrokerQueues queues = { .broker = self->broker };
    RouteQueue wanted;

    if (!read_queues(self, registry, &queues, error) || !check_new_queues(self, &queues, error))
        return FALSE;
    wanted = queues.queue;
    wanted.read_queues = self->read >= 0 ? (gint32) self->read : wanted.read_queues;
    wanted.write_queues = self->write >= 0 ? (gint32) self->write : wanted.write_queues;
    wanted.perm = self->perm >= 0 ? (gint32) self->perm : wanted.perm;
    if (!write_queues(self, registry, &wanted, error) ||
        !read_queues(self, registry, &queues, error) ||
        !check_outcome(self, &wanted, &queues, error))
        return FALSE;
    *ret_said = g_strdup_printf("'%s' of '%s' has %d read and %d write queues, perm %s",
                                self->topic, self->broker, wanted.read_queues, wanted.write_queues,
                                queue_perm_to_text(wanted.perm));
    return TRUE;
}

/* ---- arguments ---- */

/* These return NULL, or what is wrong. (transfer full) */

static char *
parse_count(const char *option, const char *text, gint64 *ret_count)
{
    guint64 count;
    const char *problem;

    *ret_count = -1;
    if (text == NULL)
        return NULL;
    problem = quantity_parse_count(text, &count);
    if (problem == NULL && count > MAX_QUEUES)
        problem = "is out of range";
    if (problem != NULL)
        return g_strdup_printf("%s: '%s' %s; write a number up to %d", option, text, problem,
                               MAX_QUEUES);
    *ret_count = (gint64) count;
    return NULL;
}

static char *
parse_perm(const char *text, gint64 *ret_perm)
{
    static const gint32 perms[] = { 0, QUEUE_PERM_WRITE, QUEUE_PERM_READ,
                                    QUEUE_PERM_READ | QUEUE_PERM_WRITE };

    *ret_perm = -1;
    for (guint i = 0; text != NULL && i < G_N_ELEMENTS(perms); i++)
        if (strcmp(text, queue_perm_to_text(perms[i])) == 0)
            *ret_perm = perms[i];
    if (text != NULL && *ret_perm < 0)
        return g_strdup_printf("--perm: '%s' is none; choices are: rw, r, w, -", text);
    return NULL;
}

static char *
parse_addresses(const char *text, GPtrArray *addresses)
{
    g_auto(GStrv) words = g_strsplit(text != NULL ? text : DEFAULT_ADDRESS, ",", -1);

    for (guint i = 0; words[i] != NULL; i++) {
        g_autoptr(GError) error = NULL;
        Endpoint *address = endpoint_parse_peer(words[i], &error);

        if (address == NULL)
            return g_strdup_printf("--at: %s", error->message);
        g_ptr_array_add(addresses, address);
    }
    return NULL;
}

static char *
parse_set(const RouteArguments *arguments, const char *topic, RouteJob *job)
{
    char *problem = parse_count("--read", arguments->read, &job->read);

    if (problem == NULL)
        problem = parse_count("--write", arguments->write, &job->write);
    if (problem == NULL)
        problem = parse_perm(arguments->perm, &job->perm);
    if (problem == NULL && job->read < 0 && job->write < 0 && job->perm < 0)
        problem = g_strdup("nothing to set; give --read, --write or --perm");
    job->topic = broker_topic_in_namespace(arguments->name_space, topic);
    return problem;
}

/* Who gives one of these wants less than all topics of a broker to be changed. */
static char *
check_no_set(const RouteArguments *arguments, const char *action)
{
    const struct {
        const char *option;
        const char *given;
    } of_set[] = { { "--read", arguments->read },
                   { "--write", arguments->write },
                   { "--perm", arguments->perm },
                   { "--namespace", arguments->name_space } };

    for (guint i = 0; i < G_N_ELEMENTS(of_set); i++)
        if (of_set[i].given != NULL)
            return g_strdup_printf("%s goes with set; %s is for all topics of the broker",
                                   of_set[i].option, action);
    return NULL;
}

static char *
parse_action(const RouteArguments *arguments, int argc, char **argv, RouteJob *job)
{
    static const struct {
        const char *name;
        RouteAct act;
        int n_names;
    } actions[] = { { "wipe-write", wipe_write, 1 },
                    { "restore-write", restore_write, 1 },
                    { "set", set_queues, 2 } };

    for (guint i = 0; argc > 1 && i < G_N_ELEMENTS(actions); i++) {
        if (strcmp(argv[1], actions[i].name) != 0)
            continue;
        if (argc != 2 + actions[i].n_names)
            return g_strdup_printf("%s takes %s; see 'leat route --help'", argv[1],
                                   actions[i].n_names == 1 ? "BROKER" : "BROKER and TOPIC");
        job->act = actions[i].act;
        job->broker = argv[2];
        return actions[i].n_names == 2 ? parse_set(arguments, argv[3], job)
                                       : check_no_set(arguments, argv[1]);
    }
    return argc > 1 ? g_strdup_printf("'%s' is none of wipe-write, restore-write, set", argv[1])
                    : g_strdup("what to do is missing: wipe-write, restore-write or set");
}

/* ---- at each of them ---- */

static int
act_at_all(const RouteJob *job, const GPtrArray *addresses)
{
    int status = EXIT_OK;

    g_assert(job->act != NULL); /* else there was a problem */
    for (guint i = 0; i < addresses->len; i++) {
        g_autofree char *name = endpoint_to_text(addresses->pdata[i]);
        g_autofree char *said = NULL;
        g_autoptr(GError) error = NULL;

        if (job->act(job, addresses->pdata[i], &said, &error)) {
            printf("%s: %s\n", name, said);
            continue;
        }
        fprintf(stderr, "leat route: %s: %s\n", name, error->message);
        status = EXIT_PROBLEM;
    }
    return status;
}

static int
route_run(int argc, char **argv)
{
    g_auto(RouteArguments) arguments = { 0 };
    const GOptionEntry entries[] = {
        { "at", 'a', 0, G_OPTION_ARG_STRING, &arguments.at,
          "name servers, divided by commas (default " DEFAULT_ADDRESS ")", "HOST:PORT" },
        { "write", 0, 0, G_OPTION_ARG_STRING, &arguments.write, "set: write queues", "N" },
        { "read", 0, 0, G_OPTION_ARG_STRING, &arguments.read, "set: read queues", "N" },
        { "perm", 0, 0, G_OPTION_ARG_STRING, &arguments.perm, "set: rw, r, w or -", "P" },
        { "namespace", 'n', 0, G_OPTION_ARG_STRING, &arguments.name_space,
          "set: stands before TOPIC, as in the agents' configuration", "NAME" },
        { 0 },
    };
    g_autoptr(GPtrArray) addresses = g_ptr_array_new_with_free_func((GDestroyNotify) endpoint_free);
    g_autofree char *problem = NULL;
    RouteJob job = { 0 };
    int status;

    if (!command_parse(&route_command, entries, &argc, &argv, &status))
        return status;
    problem = parse_action(&arguments, argc, argv, &job);
    if (problem == NULL)
        problem = parse_addresses(arguments.at, addresses);
    status = problem == NULL ? act_at_all(&job, addresses)
                             : command_usage_error(&route_command, "%s", problem);
    g_free(job.topic);
    return status;
}

const Command route_command = {
    .name = "route",
    .arguments = "wipe-write|restore-write BROKER, or set BROKER TOPIC",
    .summary = "drain a broker before maintenance, or resize its queues",
    .details =
        "Changes routes at name servers, of leat-registry or of RocketMQ. Those know nothing of\n"
        "each other: name all of them with --at.\n"
        "\n"
        "wipe-write takes write permission from all topics of the broker, so that its clients\n"
        "send nothing new and finish what is under way; restore-write gives it back.\n"
        "set changes one topic of it, and what is not given stays as it is. To make it smaller:\n"
        "write queues first, drain, then read queues. Either holds until the broker itself has\n"
        "something new to register.\n"
        "\n"
        "Exit status: 0, or 1 if any of the name servers did not do it.\n"
        "\n"
        "Examples:\n"
        "  leat route wipe-write collector1 --at registry1:9876,registry2:9876\n"
        "  leat route set collector1 logs --write 2 && leat lookup 127.0.0.1:9876 logs",
    .run = route_run,
};
