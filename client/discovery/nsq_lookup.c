/* nsq_lookup.c - asks an nsqlookupd over HTTP, and finds out what is wrong with an address where
 * no HTTP is. */
#include "client/discovery/found_hosts.h"
#include "client/discovery/lookup.h"
#include "client/discovery/registry_port.h"
#include "registry/wire/nsq_answer.h"

#define STATUS_OK 200
#define STATUS_NOT_FOUND 404

typedef struct {
    Endpoint *registry;
    GCancellable *stop;
    LookupDone done;
    gpointer user;
    GError *error; /* of a question that is being looked into */
} NsqLookup;

static void
lookup_free(NsqLookup *self)
{
    endpoint_free(self->registry);
    g_clear_object(&self->stop);
    g_clear_error(&self->error);
    g_free(self);
}

static void
lookup_fail(NsqLookup *self, const GError *error)
{
    self->done(NULL, error, self->user);
    lookup_free(self);
}

/* ---- what is wrong ---- */

static void
on_port_found(RegistryPort port, const GError *error, gpointer user)
{
    NsqLookup *self = user;

    if (port == REGISTRY_PORT_NSQ_TCP) {
        g_clear_error(&self->error);
        self->error = registry_port_explain_nsq_tcp(self->registry->port);
    } else if (port == REGISTRY_PORT_OTHER && error == NULL) {
        g_prefix_error(&self->error, "it is no nsqlookupd: ");
    }
    lookup_fail(self, self->error);
}

/* Unless nobody was there, or nobody is asked any more. */
static void
lookup_look_into(NsqLookup *self, const GError *error)
{
    if (registry_port_is_absence(error) ||
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        lookup_fail(self, error);
        return;
    }
    self->error = g_error_copy(error);
    registry_port_find_out(self->registry, self->stop, on_port_found, self);
}

/* ---- answers ---- */

/* What cannot be written as a host is none: a node may call itself anything. */
static gboolean
is_host(const NsqListedNode *node)
{
    g_autoptr(Endpoint) endpoint = endpoint_new(node->broadcast_address, node->tcp_port);
    g_autofree char *text = endpoint_to_text(endpoint);
    g_autoptr(Endpoint) read = endpoint_parse_peer(text, NULL);

    return read != NULL;
}

static GPtrArray *
hosts_of(const GPtrArray *nodes)
{
    GPtrArray *hosts = found_hosts_new();

    for (guint i = 0; i < nodes->len; i++) {
        const NsqListedNode *node = nodes->pdata[i];

        if (is_host(node))
            g_ptr_array_add(hosts, found_host_new(node->broadcast_address, node->tcp_port, 1, 0));
    }
    return hosts;
}

/* Not every 404 of a web server is one of nsqlookupd. */
static gboolean
knows_no_such_topic(const HttpReply *reply)
{
    static const char message[] = "TOPIC_NOT_FOUND";
    gsize length;
    const char *body = g_bytes_get_data(reply->body, &length);

    return reply->status == STATUS_NOT_FOUND && body != NULL &&
           g_strstr_len(body, (gssize) length, message) != NULL;
}

gboolean
nsq_lookup_check_status(const HttpReply *reply, GError **error)
{
    if (reply->status == STATUS_OK)
        return TRUE;
    if (knows_no_such_topic(reply))
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "it knows no such topic");
    else if (reply->status == STATUS_NOT_FOUND)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                            "it speaks HTTP, but not as nsqlookupd does: is that the port of "
                            "leat-registry's page? look-ups go to another, which is 4161 unless "
                            "it was told otherwise, or 9876 of a name server");
    else
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "it answered with HTTP status %u",
                    reply->status);
    return FALSE;
}

static gboolean
read_reply(const HttpReply *reply, LookupAnswer *ret_answer, GError **error)
{
    gsize length;
    const guint8 *body = g_bytes_get_data(reply->body, &length);
    g_autoptr(GPtrArray) nodes = NULL;

    *ret_answer = (LookupAnswer){ .index = reply->index, .epoch = reply->epoch };
    if (knows_no_such_topic(reply))
        return TRUE;
    if (!nsq_lookup_check_status(reply, error))
        return FALSE;
    nodes = nsq_answer_decode_nodes((ByteSpan){ .data = body, .length = length }, error);
    if (nodes == NULL) {
        g_prefix_error(error, "its answer cannot be read: ");
        return FALSE;
    }
    ret_answer->hosts = hosts_of(nodes);
    return TRUE;
}

static void
on_reply(const HttpReply *reply, const GError *error, gpointer user)
{
    NsqLookup *self = user;
    g_autoptr(GError) failure = NULL;
    LookupAnswer answer;

    if (reply == NULL) {
        lookup_look_into(self, error);
        return;
    }
    if (!read_reply(reply, &answer, &failure)) {
        lookup_fail(self, failure);
        return;
    }
    self->done(&answer, NULL, self->user);
    g_clear_pointer(&answer.hosts, g_ptr_array_unref);
    lookup_free(self);
}

char *
nsq_lookup_query(const LookupQuestion *question)
{
    g_autofree char *topic = g_uri_escape_string(question->topic, NULL, FALSE);
    g_autofree char *index = NULL;

    if (question->index == NULL)
        return g_strdup_printf("topic=%s", topic);
    index = g_uri_escape_string(question->index, NULL, FALSE);
    return g_strdup_printf("topic=%s&wait=%ds&index=%s", topic, LOOKUP_WAIT_S, index);
}

void
nsq_lookup_ask(HttpClient *http, const LookupQuestion *question, GCancellable *stop,
               LookupDone done, gpointer user)
{
    NsqLookup *self = g_new0(NsqLookup, 1);
    g_autofree char *query = nsq_lookup_query(question);

    self->registry = endpoint_copy(question->registry);
    self->stop = stop != NULL ? g_object_ref(stop) : NULL;
    self->done = done;
    self->user = user;
    http_client_get(http, self->registry, "/lookup", query, lookup_timeout_us(question), stop,
                    on_reply, self);
}
