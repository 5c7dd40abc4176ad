/* agent_process.c - the main loop turns here while a lifecycle thread starts and stops the agent.
 */
#include "agent/agent_process.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/http_server.h"
#include "agent/http_service.h"
#include "base/clock.h"
#include "base/descriptor_limit.h"
#include "base/log.h"
#include "base/service_notify.h"

/* A stop ends within shutdown-timeout by itself, unless a part hangs: a machine that is merely busy
 * gets there within this time. */
#define STOP_GRACE_MS 5000

/* Tools that signal a process and then its group make two signals of one request. */
#define SAME_REQUEST_US (250 * 1000)

typedef enum { PROCESS_STARTING, PROCESS_RUNNING, PROCESS_STOPPING } ProcessState;

/* All of it is the main thread's; a lifecycle thread touches the agent, start_error and its own
 * function's result, and hands back by an idle source. */
typedef struct {
    GMainLoop *loop;
    Agent *agent;
    HttpService *http;
    ProcessState state;
    gboolean stop_is_asked;
    gint64 stop_asked_us; /* monotonic */
    gboolean ok;
    GThread *lifecycle; /* while starting or stopping */
    GError *start_error;
    guint watchdog; /* source id */
} Process;

static void process_begin_stop(Process *self);

static void
notify_service(const char *state)
{
    g_autoptr(GError) error = NULL;

    if (!service_notify(state, &error))
        log_warning("service manager cannot be told", LOG_TEXT("state", state),
                    LOG_TEXT("error", error->message));
}

/* ---- the lifecycle thread ---- */

static gboolean
on_started(gpointer user)
{
    Process *self = user;

    g_clear_pointer(&self->lifecycle, g_thread_join);
    if (self->start_error != NULL) {
        log_error("the agent cannot start", LOG_TEXT("error", self->start_error->message));
        g_main_loop_quit(self->loop);
        return G_SOURCE_REMOVE;
    }
    self->state = PROCESS_RUNNING;
    notify_service("READY=1");
    if (self->stop_is_asked)
        process_begin_stop(self);
    return G_SOURCE_REMOVE;
}

static gpointer
start_thread(gpointer user)
{
    Process *self = user;

    log_name_thread("lifecycle");
    agent_start(self->agent, &self->start_error);
    g_idle_add_full(G_PRIORITY_DEFAULT, on_started, self, NULL);
    return NULL;
}

static gboolean
on_stopped(gpointer user)
{
    Process *self = user;

    g_clear_pointer(&self->lifecycle, g_thread_join);
    self->ok = TRUE;
    g_main_loop_quit(self->loop);
    return G_SOURCE_REMOVE;
}

static gpointer
stop_thread(gpointer user)
{
    Process *self = user;

    log_name_thread("lifecycle");
    agent_stop(self->agent);
    g_idle_add_full(G_PRIORITY_DEFAULT, on_stopped, self, NULL);
    return NULL;
}

/* ---- the end ---- */

G_GNUC_NORETURN static void
on_alarm(int number G_GNUC_UNUSED)
{
    _exit(EXIT_FAILURE);
}

/* Without cleaning up: threads still run. Durable channels are made for it. The alarm is for what
 * may hang in the few lines up to the end: a lock, or the log. */
G_GNUC_NORETURN static void
process_end_at_once(Process *self, const char *why)
{
    guint64 left;
    guint64 lost;

    signal(SIGALRM, on_alarm);
    alarm(1);
    agent_count_events(self->agent, &left, &lost);
    log_error("ending at once", LOG_TEXT("reason", why), LOG_INT("events_left", left),
              LOG_INT("events_lost", lost));
    _exit(EXIT_FAILURE);
}

static gboolean
on_stop_is_late(gpointer user)
{
    process_end_at_once(user, "the stop took longer than shutdown-timeout");
}

static void
process_begin_stop(Process *self)
{
    gint64 late_ms = agent_config(self->agent)->shutdown_timeout_us / 1000 + STOP_GRACE_MS;

    self->state = PROCESS_STOPPING;
    notify_service("STOPPING=1");
    self->watchdog = g_timeout_add((guint) MIN(late_ms, G_MAXINT), on_stop_is_late, self);
    self->lifecycle = g_thread_new(NULL, stop_thread, self);
}

static gboolean
on_stop_signal(gpointer user)
{
    Process *self = user;

    if (self->stop_is_asked && clock_now_us() - self->stop_asked_us < SAME_REQUEST_US)
        return G_SOURCE_CONTINUE;
    if (self->stop_is_asked)
        process_end_at_once(self, "asked to stop a second time");
    self->stop_is_asked = TRUE;
    self->stop_asked_us = clock_now_us();
    if (self->state == PROCESS_RUNNING)
        process_begin_stop(self);
    return G_SOURCE_CONTINUE;
}

static gboolean
on_hangup(gpointer user G_GNUC_UNUSED)
{
    log_info("SIGHUP ignored, this version does not reload; restart to change the configuration");
    return G_SOURCE_CONTINUE;
}

/* ---- the beginning ---- */

static gboolean
process_open_http(Process *self, GError **error)
{
    const Endpoint *address = agent_config(self->agent)->http;

    if (address == NULL)
        return TRUE;
    if (!http_server_is_available()) {
        log_warning("no HTTP for metrics, this leat was built without libsoup; "
                    "write `http: off` to silence this");
        return TRUE;
    }
    self->http = http_service_new(self->agent, address, error);
    return self->http != NULL;
}

static void
process_turn(Process *self)
{
    self->lifecycle = g_thread_new(NULL, start_thread, self);
    g_main_loop_run(self->loop);
    if (self->watchdog != 0)
        g_source_remove(self->watchdog);
}

gboolean
agent_process_run(AgentConfig *config)
{
    g_autoptr(GError) error = NULL;
    Process self = {
        .loop = g_main_loop_new(NULL, FALSE),
        .agent = agent_new(config),
    };

    /* For good: one that comes when all is done shall not change how the process ends. */
    g_unix_signal_add(SIGTERM, on_stop_signal, &self);
    g_unix_signal_add(SIGINT, on_stop_signal, &self);
    g_unix_signal_add(SIGHUP, on_hangup, &self);
    if (!descriptor_limit_raise(&error))
        log_warning("the limit of open files cannot be raised", LOG_TEXT("error", error->message));
    g_clear_error(&error);
    if (process_open_http(&self, &error))
        process_turn(&self);
    else
        log_error("the agent cannot start", LOG_TEXT("error", error->message));
    http_service_free(self.http);
    agent_free(self.agent);
    g_clear_error(&self.start_error);
    g_main_loop_unref(self.loop);
    return self.ok;
}
