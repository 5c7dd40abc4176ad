/* topic_route.c - where a topic's queues are, as JSON in each form. */
#include "registry/wire/topic_route.h"

#include <string.h>

#include "registry/wire/broker_group_json.h"
#include "registry/wire/fastjson.h"
#include "registry/wire/json_object.h"

static void
queue_free(RouteQueue *self)
{
    g_free(self->broker);
    g_free(self);
}

static void
filter_free(RouteFilter *self)
{
    g_free(self->address);
    g_ptr_array_unref(self->servers);
    g_free(self);
}

TopicRoute *
topic_route_new(void)
{
    TopicRoute *self = g_new0(TopicRoute, 1);

    self->queues = g_ptr_array_new_with_free_func((GDestroyNotify) queue_free);
    self->brokers = g_ptr_array_new_with_free_func((GDestroyNotify) broker_group_free);
    self->filters = g_ptr_array_new_with_free_func((GDestroyNotify) filter_free);
    self->mappings = g_ptr_array_new_with_free_func((GDestroyNotify) queue_mapping_free);
    return self;
}

void
topic_route_free(TopicRoute *self)
{
    g_free(self->order_conf);
    g_ptr_array_unref(self->queues);
    g_ptr_array_unref(self->brokers);
    g_ptr_array_unref(self->filters);
    g_ptr_array_unref(self->mappings);
    g_free(self);
}

BrokerGroup *
topic_route_add_broker(TopicRoute *self, const char *cluster, const char *broker)
{
    BrokerGroup *group = broker_group_new(cluster, broker);

    g_ptr_array_add(self->brokers, group);
    return group;
}

RouteQueue *
topic_route_add_queue(TopicRoute *self, const char *broker, gint32 read_queues, gint32 write_queues,
                      gint32 perm, gint32 sys_flag)
{
    RouteQueue *queue = g_new0(RouteQueue, 1);

    *queue = (RouteQueue){
        .broker = g_strdup(broker),
        .read_queues = read_queues,
        .write_queues = write_queues,
        .perm = perm,
        .sys_flag = sys_flag,
    };
    g_ptr_array_add(self->queues, queue);
    return queue;
}

RouteFilter *
topic_route_add_filter(TopicRoute *self, const char *address)
{
    RouteFilter *filter = g_new0(RouteFilter, 1);

    filter->address = g_strdup(address);
    filter->servers = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(self->filters, filter);
    return filter;
}

void
topic_route_add_mapping(TopicRoute *self, const QueueMapping *mapping)
{
    g_ptr_array_add(self->mappings, queue_mapping_copy(mapping));
}

/* ---- out ---- */

RouteForm
route_form_for(const RemotingCommand *request)
{
    return (RouteForm){
        .standard = request->version >= REMOTING_VERSION_4_9_4 ||
                    remoting_command_get_bool(request, "acceptStandardJsonOnly"),
        .syn_flag = request->version < REMOTING_VERSION_4_9_0,
    };
}

static void
write_queue(const RouteQueue *self, Fastjson *json, gboolean syn_flag)
{
    fastjson_open(json, NULL, '{');
    fastjson_text(json, "brokerName", self->broker);
    fastjson_int(json, "perm", self->perm);
    fastjson_int(json, "readQueueNums", self->read_queues);
    fastjson_int(json, syn_flag ? "topicSynFlag" : "topicSysFlag", self->sys_flag);
    fastjson_int(json, "writeQueueNums", self->write_queues);
    fastjson_close(json, '}');
}

static int
compare_filters(gconstpointer a, gconstpointer b)
{
    return strcmp((*(RouteFilter *const *) a)->address, (*(RouteFilter *const *) b)->address);
}

static int
compare_mappings(gconstpointer a, gconstpointer b)
{
    return strcmp((*(QueueMapping *const *) a)->broker, (*(QueueMapping *const *) b)->broker);
}

/* Tables go out by their keys. (transfer container) */
static GPtrArray *
sorted(GPtrArray *entries, GCompareFunc compare)
{
    GPtrArray *copy = g_ptr_array_sized_new(entries->len);

    for (guint i = 0; i < entries->len; i++)
        g_ptr_array_add(copy, g_ptr_array_index(entries, i));
    g_ptr_array_sort(copy, compare);
    return copy;
}

static void
write_filters(const TopicRoute *self, Fastjson *json)
{
    g_autoptr(GPtrArray) filters = sorted(self->filters, compare_filters);

    fastjson_open(json, "filterServerTable", '{');
    for (guint i = 0; i < filters->len; i++) {
        const RouteFilter *filter = g_ptr_array_index(filters, i);

        fastjson_key(json, filter->address);
        fastjson_open(json, NULL, '[');
        for (guint j = 0; j < filter->servers->len; j++)
            fastjson_text(json, NULL, g_ptr_array_index(filter->servers, j));
        fastjson_close(json, ']');
    }
    fastjson_close(json, '}');
}

static void
write_mappings(const TopicRoute *self, Fastjson *json)
{
    g_autoptr(GPtrArray) mappings = sorted(self->mappings, compare_mappings);

    fastjson_open(json, "topicQueueMappingByBroker", '{');
    for (guint i = 0; i < mappings->len; i++) {
        const QueueMapping *mapping = g_ptr_array_index(mappings, i);

        fastjson_key(json, mapping->broker);
        fastjson_copy(json, NULL, byte_span_of_text(mapping->json));
    }
    fastjson_close(json, '}');
}

GString *
topic_route_encode(const TopicRoute *self, const RouteForm *form)
{
    Fastjson json = { .out = g_string_sized_new(512), .standard = form->standard };

    fastjson_open(&json, NULL, '{');
    fastjson_open(&json, "brokerDatas", '[');
    for (guint i = 0; i < self->brokers->len; i++)
        broker_group_write(g_ptr_array_index(self->brokers, i), &json);
    fastjson_close(&json, ']');
    write_filters(self, &json);
    fastjson_text(&json, "orderTopicConf", self->order_conf);
    fastjson_open(&json, "queueDatas", '[');
    for (guint i = 0; i < self->queues->len; i++)
        write_queue(g_ptr_array_index(self->queues, i), &json, form->syn_flag);
    fastjson_close(&json, ']');
    if (self->mappings->len > 0)
        write_mappings(self, &json);
    fastjson_close(&json, '}');
    return json.out;
}

/* ---- in ---- */

static void
read_brokers(JsonReader *reader, gpointer route)
{
    GPtrArray *brokers = ((TopicRoute *) route)->brokers;

    if (!json_reader_enter(reader, JSON_ARRAY))
        return;
    while (json_reader_next(reader)) {
        BrokerGroup *group = broker_group_read(reader);

        if (group != NULL)
            g_ptr_array_add(brokers, group);
        json_check_children(reader, brokers->len);
    }
}

static void
read_queues(JsonReader *reader, gpointer route)
{
    static const JsonMember members[] = {
        JSON_MEMBER("brokerName", TEXT, RouteQueue, broker),
        JSON_MEMBER("perm", INT32, RouteQueue, perm),
        JSON_MEMBER("readQueueNums", INT32, RouteQueue, read_queues),
        JSON_MEMBER("topicSynFlag", INT32, RouteQueue, sys_flag),
        JSON_MEMBER("topicSysFlag", INT32, RouteQueue, sys_flag),
        JSON_MEMBER("writeQueueNums", INT32, RouteQueue, write_queues),
        { 0 },
    };
    TopicRoute *self = route;

    if (!json_reader_enter(reader, JSON_ARRAY))
        return;
    while (json_reader_next(reader)) {
        json_object_read(reader, members, topic_route_add_queue(self, "", 0, 0, 0, 0));
        json_check_children(reader, self->queues->len);
    }
}

static void
read_filters(JsonReader *reader, gpointer route)
{
    TopicRoute *self = route;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        RouteFilter *filter = topic_route_add_filter(self, key->str);

        if (!json_read_null(reader))
            json_read_texts(reader, filter->servers);
        json_check_children(reader, self->filters->len);
    }
}

static void
read_mappings(JsonReader *reader, gpointer route)
{
    TopicRoute *self = route;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        QueueMapping *mapping = queue_mapping_read(reader);

        if (mapping != NULL) {
            g_free(mapping->broker);
            mapping->broker = g_strdup(key->str);
            g_ptr_array_add(self->mappings, mapping);
        }
        json_check_children(reader, self->mappings->len);
    }
}

TopicRoute *
topic_route_decode(ByteSpan json, GError **error)
{
    static const JsonMember members[] = {
        JSON_MEMBER_BY("brokerDatas", read_brokers),
        JSON_MEMBER_BY("filterServerTable", read_filters),
        JSON_MEMBER("orderTopicConf", TEXT, TopicRoute, order_conf),
        JSON_MEMBER_BY("queueDatas", read_queues),
        JSON_MEMBER_BY("topicQueueMappingByBroker", read_mappings),
        { 0 },
    };
    g_autoptr(TopicRoute) self = topic_route_new();
    JsonReader reader;

    json_reader_init(&reader, json, JSON_FASTJSON);
    json_object_read(&reader, members, self);
    return json_reader_finish(&reader, error) ? g_steal_pointer(&self) : NULL;
}
