/* send.c - `leat send`: each line of some files, or of standard input, becomes an event. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/commands/command.h"
#include "agent/commands/send_discovery.h"
#include "agent/commands/send_lines.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "client/rpc_settings.h"

#define DEFAULT_BATCH 1000

/* As given on the command line. */
typedef struct {
    char *to;
    char *discover;
    char *client;
    char *batch;
    GStrv headers;
    char *rate;
    char *protocol;
    char *timeout;
    gboolean quiet;
} SendArguments;

typedef struct {
    RpcSettings settings;
    GArray *headers; /* EventHeader, borrowed from the arguments */
    SendPlan plan;
} SendJob;

static void
send_arguments_clear(SendArguments *self)
{
    g_free(self->to);
    g_free(self->discover);
    g_free(self->client);
    g_free(self->batch);
    g_strfreev(self->headers);
    g_free(self->rate);
    g_free(self->protocol);
    g_free(self->timeout);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SendArguments, send_arguments_clear)

static void
send_job_clear(SendJob *self)
{
    rpc_settings_clear(&self->settings);
    g_clear_pointer(&self->headers, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SendJob, send_job_clear)

/* ---- arguments ---- */

/* These return NULL, or what is wrong. (transfer full) */

static char *
parse_settings(const SendArguments *arguments, RpcSettings *settings)
{
    const struct {
        const char *option;
        const char *text;
        const char *setting;
    } rows[] = {
        { "--to", arguments->to, "hosts" },
        { "--client", arguments->client, "client" },
        { "--batch", arguments->batch, "batch-size" },
        { "--protocol", arguments->protocol, "protocol" },
        { "--timeout", arguments->timeout, "connect-timeout" },
        { "--timeout", arguments->timeout, "request-timeout" },
    };

    if (arguments->to == NULL && arguments->discover == NULL)
        return g_strdup("--to HOST:PORT is missing; see 'leat send --help'");
    if (arguments->to != NULL && arguments->discover != NULL)
        return g_strdup("--to names hosts and --discover finds them; give one of the two");
    rpc_settings_init(settings);
    settings->batch_size = DEFAULT_BATCH;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) failure = NULL;

        if (rows[i].text != NULL &&
            !rpc_settings_set(settings, rows[i].setting, rows[i].text, &failure))
            return g_strdup_printf("%s: %s", rows[i].option, failure->message);
    }
    if (arguments->discover != NULL && settings->has_client && settings->client == RPC_SINGLE)
        return g_strdup("--client: single has one host, --discover finds any number of them");
    return NULL;
}

static char *
parse_header(const char *text, SendJob *job)
{
    const char *equals = strchr(text, '=');
    EventHeader header;

    if (equals == NULL || equals == text)
        return g_strdup_printf("--header: '%s' is not KEY=VALUE", text);
    header.key = byte_span(text, (gsize) (equals - text));
    header.value = byte_span_of_text(equals + 1);
    for (guint i = 0; i < job->headers->len; i++)
        if (byte_span_equal(g_array_index(job->headers, EventHeader, i).key, header.key))
            return g_strdup_printf("--header: '%.*s' is given twice", (int) header.key.length,
                                   text);
    g_array_append_val(job->headers, header);
    return NULL;
}

static char *
parse_rate(const char *text, SendJob *job)
{
    g_autofree char *number = NULL;
    const char *problem;

    if (text == NULL)
        return NULL;
    number = g_str_has_suffix(text, "/s") ? g_strndup(text, strlen(text) - 2) : g_strdup(text);
    problem = quantity_parse_count(number, &job->plan.rate);
    if (problem == NULL && (job->plan.rate < 1 || job->plan.rate > G_MAXINT32))
        problem = "is out of range";
    if (problem == NULL)
        return NULL;
    return g_strdup_printf("--rate: '%s' %s; write N/s with N from 1 to %d, such as 500/s", text,
                           problem, G_MAXINT32);
}

static char *
parse_arguments(const SendArguments *arguments, SendJob *job)
{
    char *problem = parse_settings(arguments, &job->settings);

    job->headers = g_array_new(FALSE, FALSE, sizeof(EventHeader));
    for (guint i = 0; problem == NULL && arguments->headers && arguments->headers[i]; i++)
        problem = parse_header(arguments->headers[i], job);
    if (problem == NULL)
        problem = parse_rate(arguments->rate, job);
    job->plan.headers = (const EventHeader *) (gpointer) job->headers->data;
    job->plan.n_headers = job->headers->len;
    return problem;
}

/* ---- sending ---- */

static int signal_fd = -1;

static void
stop_at_signal(int number G_GNUC_UNUSED)
{
    const guint64 one = 1;
    int saved = errno;
    gssize n_written G_GNUC_UNUSED = write(signal_fd, &one, sizeof one);

    errno = saved;
}

/* The first signal stops after the batch in flight, a second one kills. */
static void
catch_signals(int stop_fd)
{
    struct sigaction action = { .sa_handler = stop_at_signal, .sa_flags = (int) SA_RESETHAND };

    signal_fd = stop_fd;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int
send_fail(const GError *failure)
{
    fprintf(stderr, "leat send: %s\n", failure->message);
    return EXIT_PROBLEM;
}

/* FALSE: there is no host that can be sent to. */
static gboolean
send_job_connect(const SendJob *self, RpcClient *client, SendDiscovery *discovery, GError **error)
{
    gint64 deadline_us = clock_deadline_us(self->settings.connect_timeout_us);

    if (discovery != NULL && !send_discovery_wait(discovery, deadline_us, error))
        return FALSE;
    return rpc_client_connect(client, CLOCK_NEVER, error);
}

static int
send_job_run(const SendJob *self, RpcClient *client, SendDiscovery *discovery, LineReader *lines,
             gboolean quiet)
{
    SendTotals totals = { .sent.total_bytes = line_reader_total(lines) };
    g_autoptr(GError) failure = NULL;
    Progress progress;
    gboolean is_done;

    if (!send_job_connect(self, client, discovery, &failure)) {
        g_prefix_error(&failure, "cannot connect, nothing was sent: ");
        return send_fail(failure);
    }
    catch_signals(self->plan.stop_fd);
    progress_init(&progress, !quiet && isatty(STDERR_FILENO) && !line_reader_reads_terminal(lines));
    is_done = send_lines(&self->plan, client, lines, &progress, &totals, &failure);
    progress_clear(&progress);
    if (!quiet) {
        g_autofree char *summary = send_totals_to_text(&totals);

        puts(summary);
    }
    return is_done ? EXIT_OK : send_fail(failure);
}

/* NULL, with a line about the command, if the hosts do not go with the kind of client. */
static RpcClient *
send_job_make_client(SendJob *self, gboolean finds_hosts)
{
    g_autoptr(GError) failure = NULL;
    RpcClientOptions options;
    RpcClient *client;

    rpc_settings_to_options(&self->settings, &options);
    self->plan.protocol = options.protocol;
    self->plan.batch_size = options.batch_size;
    self->plan.n_hosts = finds_hosts ? G_MAXUINT : options.hosts->len;
    options.any_hosts = finds_hosts;
    client = rpc_client_new(&options, &failure);
    if (client == NULL)
        command_usage_error(&send_command, "--client: %s", failure->message);
    return client;
}

static int
send_run(int argc, char **argv)
{
    static const char *const only_stdin[] = { "-", NULL };
    g_auto(SendArguments) arguments = { 0 };
    g_auto(SendJob) job = { 0 };
    const GOptionEntry entries[] = {
        { "to", 't', 0, G_OPTION_ARG_STRING, &arguments.to,
          "where Thrift sources listen; several are divided by commas", "HOST:PORT" },
        { "discover", 'd', 0, G_OPTION_ARG_STRING, &arguments.discover,
          "in place of --to: registries that know where, and the topic",
          "KIND://HOST:PORT,.../TOPIC" },
        { "client", 'c', 0, G_OPTION_ARG_STRING, &arguments.client,
          "of several hosts: failover (default) or load-balance", "KIND" },
        { "batch", 'b', 0, G_OPTION_ARG_STRING, &arguments.batch,
          "at most so many events in one call (default 1000)", "N" },
        { "header", 'H', 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments.headers,
          "a header that every event gets; may be given again", "KEY=VALUE" },
        { "rate", 'r', 0, G_OPTION_ARG_STRING, &arguments.rate, "at most so many events a second",
          "N/s" },
        { "protocol", 'p', 0, G_OPTION_ARG_STRING, &arguments.protocol,
          "compact (default) or binary", "PROTOCOL" },
        { "timeout", 0, 0, G_OPTION_ARG_STRING, &arguments.timeout,
          "for each connection, and for each answer (default 20s)", "TIME" },
        { "quiet", 'q', 0, G_OPTION_ARG_NONE, &arguments.quiet,
          "no progress and no summary; only errors", NULL },
        { 0 },
    };
    g_autoptr(RpcClient) client = NULL;
    g_autoptr(SendDiscovery) discovery = NULL; /* ends before the client */
    g_autoptr(LineReader) lines = NULL;
    g_autoptr(GError) failure = NULL;
    g_autofree char *problem = NULL;
    int status;

    if (!command_parse(&send_command, entries, &argc, &argv, &status))
        return status;
    problem = parse_arguments(&arguments, &job);
    if (problem != NULL)
        return command_usage_error(&send_command, "%s", problem);
    client = send_job_make_client(&job, arguments.discover != NULL);
    if (client == NULL)
        return EXIT_USAGE;
    if (arguments.discover != NULL)
        discovery = send_discovery_new(arguments.discover, client, &failure);
    if (failure != NULL)
        return command_usage_error(&send_command, "--discover: %s", failure->message);
    job.plan.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lines = line_reader_new(argc > 1 ? (const char *const *) argv + 1 : only_stdin,
                            send_plan_max_line(&job.plan), job.plan.stop_fd, &failure);
    if (lines == NULL)
        return send_fail(failure);
    return send_job_run(&job, client, discovery, lines, arguments.quiet);
}

const Command send_command = {
    .name = "send",
    .arguments = "--to=HOST:PORT[,...] [FILE...]",
    .summary = "send each line of files or of standard input as an event",
    .details =
        "A FILE of - is standard input, and so is none. The newline is not part of the event,\n"
        "everything else is, whatever bytes it has. Lines of a slow pipe go out after 0.2 s.\n"
        "On a terminal, progress is shown; at the end, what was sent and how fast.\n"
        "With failover all goes to one host until it fails, then to the next; with load-balance\n"
        "each batch goes to the next host. What one host fails to take goes to the others.\n"
        "\n"
        "With --discover, nsqlookupd (at its port for HTTP) or namesrv says which hosts there "
        "are,\n"
        "before the first event and whenever others come or go. A namespace is part of TOPIC, as\n"
        "the registry has it: qa.logs at nsqlookupd, qa%logs at namesrv.\n"
        "\n"
        "Exit status: 0 if every event was answered OK. 1 if not: then the message names the "
        "first\n"
        "line that was not acknowledged, from which to send again. 2 if the command is wrong.\n"
        "\n"
        "Examples:\n"
        "  leat send --to localhost:4141 --header app=shop /var/log/shop.log\n"
        "  tail -F /var/log/syslog | leat send --to hub1:4141,hub2:4141 --rate 500/s\n"
        "  leat send --discover nsqlookupd://registry1:4161/collectors shop.log\n"
        "  leat send --discover namesrv://registry1:9876,registry2:9876/qa%logs shop.log",
    .run = send_run,
    .early_stop = "leat send: interrupted, nothing was sent\n",
    .early_stop_status = EXIT_PROBLEM,
};
