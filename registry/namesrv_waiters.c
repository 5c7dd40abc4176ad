/* namesrv_waiters.c - routes that are waited for: the requests, until there is news. */
#include <string.h>

#include "registry/namesrv_server_private.h"
#include "registry/wire/namesrv_watch.h"

/* Who asks for more is answered at once, as by a name server that knows no waiting. */
#define WAITERS_OF_CONNECTION_MAX 1000
#define WAITERS_MAX 100000
#define WAITING_BYTES_MAX 2048 /* of a request, of which all fields are kept while it waits */

typedef struct {
    TopicWaiter base;
    NamesrvConnection *connection;
    RemotingCommand *request; /* without its body */
    GList of_connection;
} Waiter;

static void
waiter_free(Waiter *self)
{
    g_queue_unlink(&self->connection->waiters, &self->of_connection);
    remoting_command_free(self->request);
    g_free(self->base.topic);
    g_free(self);
}

static void
on_answer(TopicWaiter *waiter)
{
    Waiter *self = (Waiter *) waiter;
    NamesrvConnection *connection = self->connection;
    g_autoptr(RemotingCommand) answer =
        remoting_command_new_answer(self->request, REMOTING_SUCCESS, NULL);

    namesrv_fill_route(connection, self->request, answer, waiter->topic);
    remoting_command_encode(answer, tcp_connection_output(&connection->base));
    waiter_free(self);
    tcp_connection_send(&connection->base);
}

void
namesrv_forget_waiters(NamesrvConnection *self)
{
    while (self->waiters.head != NULL) {
        Waiter *waiter = self->waiters.head->data;

        topic_watch_remove(&waiter->base);
        waiter_free(waiter);
    }
}

/* The frame that it came in goes. */
static RemotingCommand *
copy_request(const RemotingCommand *request)
{
    RemotingCommand *copy = remoting_command_new(request->code, request->opaque);

    copy->version = request->version;
    for (guint i = 0; i < request->fields->len; i++) {
        const RemotingField *field = &g_array_index(request->fields, RemotingField, i);

        remoting_command_set(copy, field->name, field->value);
    }
    return copy;
}

/* How long it wants to wait for news behind what it knows; 0: it does not. A connection that waits
 * must not look idle. */
static gint64
wait_of(const NamesrvConnection *self, const RemotingCommand *request, const char *topic)
{
    const NamesrvParts *parts = &self->server->parts;
    const char *index = remoting_command_get(request, NAMESRV_INDEX_FIELD);
    gint64 wait_ms = 0;
    guint64 known;

    if (index == NULL || !g_ascii_string_to_unsigned(index, 10, 0, G_MAXUINT64, &known, NULL) ||
        known != route_table_index(parts->table, topic) ||
        !remoting_command_get_int(request, NAMESRV_WAIT_FIELD, 0, G_MAXINT32, &wait_ms, NULL))
        return 0;
    return MIN(wait_ms * 1000, parts->settings->idle_us / 2);
}

static gboolean
is_large(const RemotingCommand *request)
{
    gsize size = 0;

    for (guint i = 0; i < request->fields->len; i++) {
        const RemotingField *field = &g_array_index(request->fields, RemotingField, i);

        size += strlen(field->name) + strlen(field->value);
    }
    return size > WAITING_BYTES_MAX;
}

static gboolean
is_too_much(const NamesrvConnection *self, const RemotingCommand *request)
{
    return self->waiters.length >= WAITERS_OF_CONNECTION_MAX ||
           topic_watch_count(self->server->parts.watch) >= WAITERS_MAX || is_large(request);
}

gboolean
namesrv_hold(NamesrvConnection *self, const RemotingCommand *request, const char *topic)
{
    gint64 wait_us = wait_of(self, request, topic);
    Waiter *waiter;

    if (wait_us == 0 || request->is_one_way || is_too_much(self, request))
        return FALSE;
    waiter = g_new0(Waiter, 1);
    waiter->base.answer = on_answer;
    waiter->connection = self;
    waiter->request = copy_request(request);
    waiter->of_connection.data = waiter;
    g_queue_push_tail_link(&self->waiters, &waiter->of_connection);
    topic_watch_add(self->server->parts.watch, &waiter->base, topic, wait_us);
    return TRUE;
}
