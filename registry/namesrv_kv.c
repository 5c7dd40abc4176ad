/* namesrv_kv.c - the KV configuration: what people ask of it, and what is answered when it is on
 * the disk. */
#include "base/log.h"
#include "registry/namesrv_server_private.h"
#include "registry/wire/kv_table.h"

/* What waits for the disk. */
typedef struct {
    KvChange base;
    NamesrvServer *server;
    NamesrvConnection *connection; /* NULL: it has gone */
    char *space, *key, *value;
    char *peer;
    gint32 opaque;
    gboolean is_one_way;
    GList of_connection;
} KvRequest;

static void
kv_request_free(KvRequest *self)
{
    if (self->connection != NULL)
        g_queue_unlink(&self->connection->kv_requests, &self->of_connection);
    g_free(self->space);
    g_free(self->key);
    g_free(self->value);
    g_free(self->peer);
    g_free(self);
}

void
namesrv_forget_kv_requests(NamesrvConnection *self)
{
    while (self->kv_requests.head != NULL)
        ((KvRequest *) g_queue_pop_head_link(&self->kv_requests)->data)->connection = NULL;
}

/* ---- changes ---- */

/* Who waits for the route of a topic is told that its order is another. */
static void
touch_ordered(const KvRequest *self)
{
    const NamesrvParts *parts = &self->server->parts;

    if (parts->settings->order_topics && g_str_equal(self->space, NAMESRV_ORDER_TOPIC_NAMESPACE))
        route_table_touch(parts->table, self->key);
}

static void
note_change(const KvRequest *self)
{
    const char *what = self->base.kind == KV_PUT ? "put-kv-config" : "delete-kv-config";

    touch_ordered(self);
    log_info("asked by remoting", LOG_TEXT("action", what), LOG_TEXT("name", self->key),
             LOG_TEXT("peer", self->peer));
}

static RequestOutcome
fail_change(NamesrvConnection *self, RemotingCommand *answer, const GError *error)
{
    gboolean is_busy = g_error_matches(error, KV_STORE_ERROR, KV_STORE_ERROR_BUSY);

    tcp_connection_note_refusal(&self->base, REFUSAL_RESOURCES, error->message);
    return namesrv_fail(answer, is_busy ? REMOTING_SYSTEM_BUSY : REMOTING_SYSTEM_ERROR, "%s",
                        error->message);
}

static void
answer_change(const KvRequest *self, const GError *error)
{
    NamesrvConnection *connection = self->connection;
    g_autoptr(RemotingCommand) request = remoting_command_new(0, self->opaque);
    g_autoptr(RemotingCommand) answer =
        remoting_command_new_answer(request, REMOTING_SUCCESS, NULL);

    if (error != NULL)
        fail_change(connection, answer, error);
    if (!self->is_one_way)
        remoting_command_encode(answer, tcp_connection_output(&connection->base));
}

static void
on_done(KvChange *change, const GError *error)
{
    KvRequest *self = (KvRequest *) change;
    NamesrvConnection *connection = self->connection;

    if (error == NULL && change->is_change)
        note_change(self);
    if (connection != NULL)
        answer_change(self, error);
    kv_request_free(self);
    if (connection != NULL)
        tcp_connection_send(&connection->base);
}

static KvRequest *
kv_request_new(NamesrvConnection *connection, const RemotingCommand *request, KvChangeKind kind,
               const char *space, const char *key)
{
    KvRequest *self = g_new0(KvRequest, 1);

    self->server = connection->server;
    self->connection = connection;
    self->space = g_strdup(space);
    self->key = g_strdup(key);
    self->value = kind == KV_PUT ? g_strdup(remoting_command_get(request, "value")) : NULL;
    self->peer = g_strdup(connection->base.peer);
    self->opaque = request->opaque;
    self->is_one_way = request->is_one_way;
    self->base = (KvChange){
        .kind = kind, .space = self->space, .key = self->key, .value = self->value, .done = on_done
    };
    self->of_connection.data = self;
    g_queue_push_tail_link(&connection->kv_requests, &self->of_connection);
    return self;
}

static RequestOutcome
change(NamesrvConnection *self, const RemotingCommand *request, RemotingCommand *answer,
       KvChangeKind kind, const char *space, const char *key)
{
    KvRequest *wanted = kv_request_new(self, request, kind, space, key);
    g_autoptr(GError) error = NULL;
    KvOutcome outcome = kv_store_change(self->server->parts.kv, &wanted->base, &error);

    if (outcome == KV_HELD)
        return REQUEST_HELD;
    kv_request_free(wanted);
    return outcome == KV_UNCHANGED ? REQUEST_ANSWERED : fail_change(self, answer, error);
}

RequestOutcome
namesrv_put_kv_config(NamesrvConnection *self, const RemotingCommand *request,
                      RemotingCommand *answer)
{
    const char *space = remoting_command_get(request, "namespace");
    const char *key = remoting_command_get(request, "key");

    if (space == NULL || key == NULL)
        return namesrv_fail(answer, REMOTING_SYSTEM_ERROR, "namespace or key is null");
    return change(self, request, answer, KV_PUT, space, key);
}

RequestOutcome
namesrv_delete_kv_config(NamesrvConnection *self, const RemotingCommand *request,
                         RemotingCommand *answer)
{
    const char *space = remoting_command_get(request, "namespace");
    const char *key = remoting_command_get(request, "key");

    if (space == NULL || key == NULL)
        return REQUEST_ANSWERED;
    return change(self, request, answer, KV_DELETE, space, key);
}

/* ---- look-ups ---- */

RequestOutcome
namesrv_get_kv_config(NamesrvConnection *self, const RemotingCommand *request,
                      RemotingCommand *answer)
{
    const char *space = remoting_command_get(request, "namespace");
    const char *key = remoting_command_get(request, "key");
    const char *value = NULL;

    if (space != NULL && key != NULL)
        value = kv_store_get(self->server->parts.kv, space, key);
    if (value == NULL)
        return namesrv_fail(answer, REMOTING_QUERY_NOT_FOUND,
                            "No config item, Namespace: %s Key: %s", namesrv_text(space),
                            namesrv_text(key));
    remoting_command_set(answer, "value", value);
    return REQUEST_ANSWERED;
}

RequestOutcome
namesrv_get_kv_list(NamesrvConnection *self, const RemotingCommand *request,
                    RemotingCommand *answer)
{
    const char *space = remoting_command_get(request, "namespace");
    GHashTable *table = space != NULL ? kv_store_list(self->server->parts.kv, space) : NULL;

    if (table == NULL)
        return namesrv_fail(answer, REMOTING_QUERY_NOT_FOUND, "No config item, Namespace: %s",
                            namesrv_text(space));
    remoting_command_set_body(answer, kv_table_encode(table));
    return REQUEST_ANSWERED;
}
