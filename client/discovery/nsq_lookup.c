/* nsq_lookup.c - asks an nsqlookupd over HTTP, and finds out what is wrong with an address where
 * no HTTP is. */
#include <string.h>

#include "client/discovery/frame_exchange.h"
#include "client/discovery/lookup.h"
#include "client/discovery/registry_view.h"
#include "registry/wire/nsq_answer.h"

#define STATUS_OK 200
#define STATUS_NOT_FOUND 404

/* What any nsqlookupd says on its TCP port to one who speaks HTTP there; no answer is so short. */
#define WRONG_PORT_ANSWER "E_BAD_PROTOCOL"
#define WRONG_PORT_MAX_ANSWER 64

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

gint64
lookup_timeout_us(const LookupQuestion *question)
{
    return LOOKUP_TIMEOUT_US + (question->index != NULL ? LOOKUP_WAIT_S * G_USEC_PER_SEC : 0);
}

/* ---- what is wrong ---- */

static gboolean
is_wrong_port_answer(GBytes *answer)
{
    gsize length;
    const char *text = answer == NULL ? NULL : g_bytes_get_data(answer, &length);

    return text != NULL && length == 4 + strlen(WRONG_PORT_ANSWER) &&
           memcmp(text + 4, WRONG_PORT_ANSWER, strlen(WRONG_PORT_ANSWER)) == 0;
}

static void
on_sniffed(GBytes *answer, const GError *error G_GNUC_UNUSED, gpointer user)
{
    NsqLookup *self = user;

    if (is_wrong_port_answer(answer)) {
        g_clear_error(&self->error);
        g_set_error(&self->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "port %u is nsqlookupd's for TCP, where nodes register; write its port for "
                    "HTTP, which is 4161 unless it was told otherwise",
                    self->registry->port);
    }
    lookup_fail(self, self->error);
}

/* Nobody was there, or nobody is asked any more. */
static gboolean
explains_itself(const GError *error)
{
    return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT) ||
           error->domain == G_RESOLVER_ERROR;
}

static void
lookup_look_into(NsqLookup *self, const GError *error)
{
    static const char question[] = "GET /ping HTTP/1.0\r\n\r\n";
    g_autoptr(GBytes) bytes = g_bytes_new_static(question, strlen(question));

    if (explains_itself(error)) {
        lookup_fail(self, error);
        return;
    }
    self->error = g_error_copy(error);
    frame_exchange(self->registry, bytes, WRONG_PORT_MAX_ANSWER, LOOKUP_TIMEOUT_US, self->stop,
                   on_sniffed, self);
}

/* ---- answers ---- */

static GPtrArray *
hosts_of(const GPtrArray *nodes)
{
    GPtrArray *hosts = found_hosts_new();

    for (guint i = 0; i < nodes->len; i++) {
        const NsqListedNode *node = nodes->pdata[i];

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

static gboolean
read_reply(const HttpReply *reply, LookupAnswer *ret_answer, GError **error)
{
    gsize length;
    const guint8 *body = g_bytes_get_data(reply->body, &length);
    g_autoptr(GPtrArray) nodes = NULL;

    *ret_answer = (LookupAnswer){ .index = reply->index, .epoch = reply->epoch };
    if (knows_no_such_topic(reply))
        return TRUE;
    if (reply->status != STATUS_OK) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "it answered with HTTP status %u",
                    reply->status);
        return FALSE;
    }
    nodes = nsq_answer_decode_nodes((ByteSpan){ .data = body, .length = length }, error);
    if (nodes == NULL)
        return FALSE;
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
