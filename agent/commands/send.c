/* send.c - `leat send`: each line of some files, or of standard input, becomes an event. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/commands/command.h"
#include "agent/commands/send_lines.h"
#include "base/clock.h"
#include "base/quantity.h"

#define MAX_BATCH 1000000

/* As given on the command line. */
typedef struct {
    char *to;
    char *batch;
    GStrv headers;
    char *rate;
    char *protocol;
    char *timeout;
    gboolean quiet;
} SendArguments;

typedef struct {
    Endpoint *to;
    GArray *headers; /* EventHeader, borrowed from the arguments */
    SendPlan plan;
} SendJob;

static void
send_arguments_clear(SendArguments *self)
{
    g_free(self->to);
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
    g_clear_pointer(&self->to, endpoint_free);
    g_clear_pointer(&self->headers, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SendJob, send_job_clear)

/* ---- arguments ---- */

/* These return NULL, or what is wrong. (transfer full) */

static char *
parse_to(const char *text, SendJob *job)
{
    g_autoptr(GError) failure = NULL;

    if (text == NULL)
        return g_strdup("--to HOST:PORT is missing; see 'leat send --help'");
    job->to = endpoint_parse(text, &failure);
    if (job->to == NULL)
        return g_strdup_printf("--to: %s", failure->message);
    if (job->to->host[0] == '\0' || job->to->port == 0)
        return g_strdup_printf("--to: '%s' lacks a host or a port; write HOST:PORT", text);
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

static const char *
parse_number(const char *text, guint64 max, guint64 *ret_number)
{
    const char *problem = quantity_parse_count(text, ret_number);

    if (problem != NULL)
        return problem;
    return *ret_number < 1 || *ret_number > max ? "is out of range" : NULL;
}

static char *
parse_batch(const char *text, SendJob *job)
{
    guint64 batch_size = 1000;
    const char *problem = text == NULL ? NULL : parse_number(text, MAX_BATCH, &batch_size);

    if (problem != NULL)
        return g_strdup_printf("--batch: '%s' %s; write a number from 1 to %d", text, problem,
                               MAX_BATCH);
    job->plan.batch_size = (guint) batch_size;
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
    problem = parse_number(number, G_MAXINT32, &job->plan.rate);
    if (problem == NULL)
        return NULL;
    return g_strdup_printf("--rate: '%s' %s; write N/s with N from 1 to %d, such as 500/s", text,
                           problem, G_MAXINT32);
}

static char *
parse_protocol(const char *text, SendJob *job)
{
    if (text == NULL || g_ascii_strcasecmp(text, "compact") == 0)
        job->plan.protocol = WIRE_COMPACT;
    else if (g_ascii_strcasecmp(text, "binary") == 0)
        job->plan.protocol = WIRE_BINARY;
    else
        return g_strdup_printf("--protocol: '%s' is neither compact nor binary", text);
    return NULL;
}

static char *
parse_timeout(const char *text, SendJob *job)
{
    const char *problem =
        quantity_parse_duration(text == NULL ? "20s" : text, &job->plan.timeout_us);

    if (problem != NULL)
        return g_strdup_printf("--timeout: '%s' %s", text, problem);
    return job->plan.timeout_us > 0 ? NULL : g_strdup("--timeout: 0 is no time to answer in");
}

static char *
parse_arguments(const SendArguments *arguments, SendJob *job)
{
    char *problem = parse_to(arguments->to, job);

    job->headers = g_array_new(FALSE, FALSE, sizeof(EventHeader));
    for (guint i = 0; problem == NULL && arguments->headers && arguments->headers[i]; i++)
        problem = parse_header(arguments->headers[i], job);
    if (problem == NULL)
        problem = parse_batch(arguments->batch, job);
    if (problem == NULL)
        problem = parse_rate(arguments->rate, job);
    if (problem == NULL)
        problem = parse_protocol(arguments->protocol, job);
    if (problem == NULL)
        problem = parse_timeout(arguments->timeout, job);
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

static int
send_job_run(const SendJob *self, LineReader *lines, gboolean quiet)
{
    g_autoptr(WireConnection) connection = wire_connection_new(self->to, self->plan.protocol);
    SendTotals totals = { .total_bytes = line_reader_total(lines) };
    g_autoptr(GError) failure = NULL;
    SendProgress progress;
    gboolean is_done;

    if (!wire_connection_open(connection, clock_deadline_us(self->plan.timeout_us), &failure)) {
        g_prefix_error(&failure, "cannot connect, nothing was sent: ");
        return send_fail(failure);
    }
    catch_signals(self->plan.stop_fd);
    send_progress_init(&progress,
                       !quiet && isatty(STDERR_FILENO) && !line_reader_reads_terminal(lines));
    is_done = send_lines(&self->plan, connection, lines, &progress, &totals, &failure);
    send_progress_clear(&progress);
    if (!quiet) {
        g_autofree char *summary = send_totals_to_text(&totals);

        puts(summary);
    }
    return is_done ? EXIT_OK : send_fail(failure);
}

static int
send_run(int argc, char **argv)
{
    static const char *const only_stdin[] = { "-", NULL };
    g_auto(SendArguments) arguments = { 0 };
    g_auto(SendJob) job = { 0 };
    const GOptionEntry entries[] = {
        { "to", 't', 0, G_OPTION_ARG_STRING, &arguments.to, "where the Thrift source listens",
          "HOST:PORT" },
        { "batch", 'b', 0, G_OPTION_ARG_STRING, &arguments.batch,
          "at most so many events in one call (default 1000)", "N" },
        { "header", 'H', 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments.headers,
          "a header that every event gets; may be given again", "KEY=VALUE" },
        { "rate", 'r', 0, G_OPTION_ARG_STRING, &arguments.rate, "at most so many events a second",
          "N/s" },
        { "protocol", 'p', 0, G_OPTION_ARG_STRING, &arguments.protocol,
          "compact (default) or binary", "PROTOCOL" },
        { "timeout", 0, 0, G_OPTION_ARG_STRING, &arguments.timeout,
          "for the connection, and for each answer (default 20s)", "TIME" },
        { "quiet", 'q', 0, G_OPTION_ARG_NONE, &arguments.quiet,
          "no progress and no summary; only errors", NULL },
        { 0 },
    };
    g_autoptr(LineReader) lines = NULL;
    g_autoptr(GError) failure = NULL;
    g_autofree char *problem = NULL;
    int status;

    if (!command_parse(&send_command, entries, &argc, &argv, &status))
        return status;
    problem = parse_arguments(&arguments, &job);
    if (problem != NULL)
        return command_usage_error(&send_command, "%s", problem);
    job.plan.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lines = line_reader_new(argc > 1 ? (const char *const *) argv + 1 : only_stdin,
                            send_plan_max_line(&job.plan), job.plan.stop_fd, &failure);
    return lines == NULL ? send_fail(failure) : send_job_run(&job, lines, arguments.quiet);
}

const Command send_command = {
    .name = "send",
    .arguments = "--to=HOST:PORT [FILE...]",
    .summary = "send each line of files or of standard input as an event",
    .details =
        "A FILE of - is standard input, and so is none. The newline is not part of the event,\n"
        "everything else is, whatever bytes it has. Lines of a slow pipe go out after 0.2 s.\n"
        "On a terminal, progress is shown; at the end, what was sent and how fast.\n"
        "\n"
        "Exit status: 0 if every event was answered OK. 1 if not: then the message names the "
        "first\n"
        "line that was not acknowledged, from which to send again. 2 if the command is wrong.\n"
        "\n"
        "Examples:\n"
        "  leat send --to localhost:4141 --header app=shop /var/log/shop.log\n"
        "  tail -F /var/log/syslog | leat send --to hub.example:4141 --rate 500/s",
    .run = send_run,
};
