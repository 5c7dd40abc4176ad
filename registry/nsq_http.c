/* nsq_http.c - nsqlookupd's HTTP routes, and the look-up that waits. */
#include "registry/nsq_http.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/quantity.h"
#include "registry/http_watch.h"
#include "registry/nsq_report.h"
#include "registry/wire/nsq_name.h"

#define JSON_TYPE "application/json; charset=utf-8"
#define INDEX_HEADER "X-Leat-Index"
/* Another one after a restart, when what is not registered yet has not left. */
#define EPOCH_HEADER "X-Leat-Epoch"

struct NsqHttp {
    NsqTable *table;
    Refusals *refusals;
    TopicWatch *watch;
    MetricSet *metrics;
};

enum { HTTP_LOOKUPS };

static const MetricSpec specs[] = {
    [HTTP_LOOKUPS] = { .name = "leat_registry_lookups_total",
                       .kind = METRIC_COUNTER,
                       .help = "Look-ups of topics that were answered." },
    { 0 },
};

/* ---- arguments ---- */

static void
refuse(HttpRequest *request, const char *code)
{
    http_request_refuse(request, 400, code);
}

/* NULL after refusing the request. */
static const char *
argument(HttpRequest *request, const char *name, const char *missing)
{
    const HttpQuery *query = http_request_query(request);
    const char *value = query != NULL ? http_query_get(query, name) : NULL;

    if (query == NULL)
        refuse(request, "INVALID_REQUEST");
    else if (value == NULL)
        refuse(request, missing);
    return value;
}

static const char *
topic_argument(HttpRequest *request)
{
    return argument(request, "topic", "MISSING_ARG_TOPIC");
}

static const char *
valid_topic(HttpRequest *request)
{
    const char *topic = topic_argument(request);

    if (topic == NULL || nsq_name_is_valid(byte_span_of_text(topic)))
        return topic;
    refuse(request, "INVALID_ARG_TOPIC");
    return NULL;
}

static const char *
valid_channel(HttpRequest *request)
{
    const char *channel = argument(request, "channel", "MISSING_ARG_CHANNEL");

    if (channel == NULL || nsq_name_is_valid(byte_span_of_text(channel)))
        return channel;
    refuse(request, "INVALID_ARG_CHANNEL");
    return NULL;
}

/* The original takes '*' for all topics there are, which nobody means: refused. */
static const char *
one_topic(HttpRequest *request)
{
    const char *topic = topic_argument(request);

    if (topic == NULL || strcmp(topic, "*") != 0)
        return topic;
    refuse(request, "INVALID_ARG_TOPIC");
    return NULL;
}

static void
answer_json(HttpRequest *request, GString *json)
{
    http_request_answer(request, 200, JSON_TYPE, json);
}

static void
answer_empty(HttpRequest *request)
{
    http_request_answer(request, 200, NULL, NULL);
}

/* What people do is logged with who did it; what follows from it is logged by the journal. */
static void
log_request(HttpRequest *request, const char *what, const char *topic, const char *name)
{
    log_info("asked over HTTP", LOG_TEXT("action", what), LOG_TEXT("topic", topic),
             LOG_TEXT("name", name), LOG_TEXT("peer", http_request_peer(request)));
}

/* ---- look-ups ---- */

static void
add_number_header(HttpRequest *request, const char *name, guint64 number)
{
    char text[24];

    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, number);
    http_request_add_header(request, name, text);
}

static void
answer_lookup(HttpRequest *request, const char *topic_name, gpointer user)
{
    NsqHttp *self = user;
    const NsqTopic *topic = nsq_table_find(self->table, topic_name);

    add_number_header(request, INDEX_HEADER, nsq_table_index(self->table, topic_name));
    add_number_header(request, EPOCH_HEADER, nsq_table_first_index(self->table));
    metric_add(self->metrics, HTTP_LOOKUPS, 1);
    if (topic == NULL)
        http_request_refuse(request, 404, "TOPIC_NOT_FOUND");
    else
        answer_json(request, nsq_report_lookup(self->table, topic, clock_now_us()));
}

/* FALSE after refusing the request. No wait is a wait of 0. */
static gboolean
wait_arguments(HttpRequest *request, gint64 *ret_wait_us, guint64 *ret_index)
{
    const char *wait = http_query_get(http_request_query(request), "wait");
    const char *index = http_query_get(http_request_query(request), "index");

    *ret_wait_us = 0;
    *ret_index = 0;
    if (wait == NULL || index == NULL)
        return TRUE;
    if (quantity_parse_duration(wait, ret_wait_us) != NULL)
        refuse(request, "INVALID_ARG_WAIT");
    else if (!g_ascii_string_to_unsigned(index, 10, 0, G_MAXUINT64, ret_index, NULL))
        refuse(request, "INVALID_ARG_INDEX");
    else
        return TRUE;
    return FALSE;
}

static void
lookup(HttpRequest *request, gpointer user)
{
    NsqHttp *self = user;
    const char *topic = topic_argument(request);
    gint64 wait_us;
    guint64 index;

    if (topic == NULL || !wait_arguments(request, &wait_us, &index))
        return;
    if (wait_us > 0 && index == nsq_table_index(self->table, topic))
        http_watch_add(self->watch, request, topic, wait_us, answer_lookup, self);
    else
        answer_lookup(request, topic, self);
}

static void
topics(HttpRequest *request, gpointer user)
{
    answer_json(request, nsq_report_topics(((NsqHttp *) user)->table));
}

static void
channels(HttpRequest *request, gpointer user)
{
    const char *topic = topic_argument(request);

    if (topic != NULL)
        answer_json(request, nsq_report_channels(((NsqHttp *) user)->table, topic));
}

static void
nodes(HttpRequest *request, gpointer user)
{
    answer_json(request, nsq_report_nodes(((NsqHttp *) user)->table, clock_now_us()));
}

static void
debug(HttpRequest *request, gpointer user)
{
    answer_json(request,
                nsq_report_debug(((NsqHttp *) user)->table, clock_now_us(), clock_wall_us()));
}

static void
info(HttpRequest *request, gpointer user G_GNUC_UNUSED)
{
    answer_json(request, g_string_new("{\"version\":\"" NSQ_VERSION "\"}"));
}

static void
ping(HttpRequest *request, gpointer user G_GNUC_UNUSED)
{
    http_request_answer(request, 200, "text/plain; charset=utf-8", g_string_new("OK"));
}

/* ---- changes ---- */

/* Logged if it was carried out and changed something. */
static void
create(HttpRequest *request, NsqHttp *self, const char *topic, const char *channel)
{
    NsqCounts before = nsq_table_counts(self->table);
    NsqCounts after;

    if (!nsq_table_create(self->table, topic, channel)) {
        http_request_refuse(request, 503, "REGISTRY_FULL");
        refusals_add(self->refusals, REFUSAL_RESOURCES, http_request_peer(request),
                     "the registry is full");
        return;
    }
    after = nsq_table_counts(self->table);
    if (after.topics > before.topics || after.channels > before.channels)
        log_request(request, channel != NULL ? "create channel" : "create topic", topic,
                    channel != NULL ? channel : "");
    answer_empty(request);
}

static void
create_topic(HttpRequest *request, gpointer user)
{
    const char *topic = valid_topic(request);

    if (topic != NULL)
        create(request, user, topic, NULL);
}

static void
delete_topic(HttpRequest *request, gpointer user)
{
    const char *topic = one_topic(request);

    if (topic == NULL)
        return;
    if (nsq_table_delete_topic(((NsqHttp *) user)->table, topic))
        log_request(request, "delete topic", topic, "");
    answer_empty(request);
}

static void
tombstone_topic(HttpRequest *request, gpointer user)
{
    const char *topic = one_topic(request);
    const char *node = topic != NULL ? argument(request, "node", "MISSING_ARG_NODE") : NULL;

    if (node == NULL)
        return;
    if (nsq_table_tombstone(((NsqHttp *) user)->table, topic, node, clock_now_us()) > 0)
        log_request(request, "tombstone", topic, node);
    answer_empty(request);
}

static void
create_channel(HttpRequest *request, gpointer user)
{
    const char *topic = valid_topic(request);
    const char *channel = topic != NULL ? valid_channel(request) : NULL;

    if (channel != NULL)
        create(request, user, topic, channel);
}

static void
delete_channel(HttpRequest *request, gpointer user)
{
    const char *topic = valid_topic(request);
    const char *channel = topic != NULL ? valid_channel(request) : NULL;

    if (channel == NULL)
        return;
    if (!nsq_table_delete_channel(((NsqHttp *) user)->table, topic, channel)) {
        http_request_refuse(request, 404, "CHANNEL_NOT_FOUND");
        return;
    }
    log_request(request, "delete channel", topic, channel);
    answer_empty(request);
}

static const HttpRoute routes[] = {
    { "GET", "/channels", HTTP_ROUTE_NSQ, channels },
    { "GET", "/debug", HTTP_ROUTE_NSQ, debug },
    { "GET", "/info", HTTP_ROUTE_NSQ, info },
    { "GET", "/lookup", HTTP_ROUTE_NSQ, lookup },
    { "GET", "/nodes", HTTP_ROUTE_NSQ, nodes },
    { "GET", "/ping", HTTP_ROUTE_PLAIN, ping },
    { "GET", "/topics", HTTP_ROUTE_NSQ, topics },
    { "POST", "/channel/create", HTTP_ROUTE_NSQ, create_channel },
    { "POST", "/channel/delete", HTTP_ROUTE_NSQ, delete_channel },
    { "POST", "/topic/create", HTTP_ROUTE_NSQ, create_topic },
    { "POST", "/topic/delete", HTTP_ROUTE_NSQ, delete_topic },
    { "POST", "/topic/tombstone", HTTP_ROUTE_NSQ, tombstone_topic },
    { 0 },
};

const HttpRoute *
nsq_http_routes(void)
{
    return routes;
}

/* ---- life ---- */

NsqHttp *
nsq_http_new(Loop *loop, NsqTable *table, Refusals *refusals)
{
    NsqHttp *self = g_new0(NsqHttp, 1);

    self->table = table;
    self->refusals = refusals;
    self->watch = topic_watch_new(loop, "nsqlookupd");
    self->metrics = metric_set_new(specs, "registry", "nsqlookupd", "nsqlookupd");
    return self;
}

TopicWatch *
nsq_http_watch(const NsqHttp *self)
{
    return self->watch;
}

MetricSet *
nsq_http_metrics(const NsqHttp *self)
{
    return self->metrics;
}

void
nsq_http_free(NsqHttp *self)
{
    if (self == NULL)
        return;
    topic_watch_free(self->watch);
    metric_set_free(self->metrics);
    g_free(self);
}
