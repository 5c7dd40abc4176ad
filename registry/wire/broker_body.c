/* broker_body.c - the body of a REGISTER_BROKER, as JSON or compressed. */
#include "registry/wire/broker_body.h"

#include <string.h>

#include "registry/wire/crc32.h"
#include "registry/wire/data_version_json.h"
#include "registry/wire/inflate.h"
#include "registry/wire/json_object.h"

#define ZLIB_FIRST_BYTE 0x78

gint64
broker_body_crc(ByteSpan body)
{
    return crc32_of(body) & 0x7fffffff;
}

/* ---- JSON ---- */

static void
read_version(JsonReader *reader, gpointer registration)
{
    data_version_read(reader, &((BrokerRegistration *) registration)->version);
}

/* The name that a topic has for itself counts, and its key if it has none. */
static void
read_topic(JsonReader *reader, BrokerRegistration *self, const char *key)
{
    static const JsonMember members[] = {
        JSON_MEMBER("order", BOOL, BrokerTopic, order),
        JSON_MEMBER("perm", INT32, BrokerTopic, perm),
        JSON_MEMBER("readQueueNums", INT32, BrokerTopic, read_queues),
        JSON_MEMBER("topicName", TEXT, BrokerTopic, name),
        JSON_MEMBER("topicSysFlag", INT32, BrokerTopic, sys_flag),
        JSON_MEMBER("writeQueueNums", INT32, BrokerTopic, write_queues),
        { 0 },
    };
    BrokerTopic *topic =
        broker_registration_add_topic(self, key, BROKER_BODY_TOPIC_QUEUES, BROKER_BODY_TOPIC_QUEUES,
                                      QUEUE_PERM_READ | QUEUE_PERM_WRITE);

    json_object_read(reader, members, topic);
}

static void
read_topics(JsonReader *reader, gpointer registration)
{
    BrokerRegistration *self = registration;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        read_topic(reader, self, key->str);
        json_check_children(reader, self->topics->len);
    }
}

static void
read_mappings(JsonReader *reader, gpointer registration)
{
    BrokerRegistration *self = registration;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        QueueMapping *mapping = queue_mapping_read(reader);

        if (mapping == NULL)
            return;
        g_free(mapping->topic);
        mapping->topic = g_strdup(key->str);
        g_ptr_array_add(self->mappings, mapping);
        json_check_children(reader, self->mappings->len);
    }
}

static void
read_wrapper(JsonReader *reader, gpointer registration)
{
    static const JsonMember members[] = {
        JSON_MEMBER_BY("dataVersion", read_version),
        JSON_MEMBER_BY("topicConfigTable", read_topics),
        JSON_MEMBER_BY("topicQueueMappingInfoMap", read_mappings),
        { 0 },
    };

    json_object_read(reader, members, registration);
}

static void
read_filter_servers(JsonReader *reader, gpointer registration)
{
    json_read_texts(reader, ((BrokerRegistration *) registration)->filter_servers);
}

static gboolean
decode_json(ByteSpan body, gboolean is_wrapper, BrokerRegistration *self, GError **error)
{
    static const JsonMember members[] = {
        JSON_MEMBER_BY("filterServerList", read_filter_servers),
        JSON_MEMBER_BY("topicConfigSerializeWrapper", read_wrapper),
        { 0 },
    };
    JsonReader reader;

    json_reader_init(&reader, body, JSON_FASTJSON);
    if (is_wrapper)
        read_wrapper(&reader, self);
    else
        json_object_read(&reader, members, self);
    return json_reader_finish(&reader, error);
}

/* ---- the whole ---- */

/* Newer brokers say "compressed: false" of bodies that are; no JSON begins like zlib. */
static gboolean
is_compressed(const RemotingCommand *request)
{
    return remoting_command_get_bool(request, "compressed") ||
           request->body.data[0] == ZLIB_FIRST_BYTE;
}

static gboolean
decode_compressed(const RemotingCommand *request, gint64 now_ms, BrokerRegistration *self,
                  GError **error)
{
    g_autoptr(GByteArray) content = inflate_all(request->body, BROKER_BODY_MAX_INFLATED, error);

    return content != NULL && broker_packed_body_decode(byte_span(content->data, content->len),
                                                        request->version, now_ms, self, error);
}

gboolean
broker_body_decode(const RemotingCommand *request, gint64 now_ms, BrokerRegistration *self,
                   GError **error)
{
    gboolean is_wrapper = request->version < REMOTING_VERSION_3_0_11;

    if (!is_wrapper)
        self->filter_servers = g_ptr_array_new_with_free_func(g_free);
    if (request->body.length == 0)
        return TRUE;
    self->version.timestamp_ms = now_ms;
    if (!is_wrapper && is_compressed(request))
        return decode_compressed(request, now_ms, self, error);
    return decode_json(request->body, is_wrapper, self, error);
}
