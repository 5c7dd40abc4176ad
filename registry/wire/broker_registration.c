/* broker_registration.c - keeps what a broker tells of itself. */
#include "registry/wire/broker_registration.h"

#include "registry/wire/broker_body.h"
#include "registry/wire/data_version_json.h"
#include "registry/wire/fastjson.h"

static void
topic_free(BrokerTopic *self)
{
    g_free(self->name);
    g_free(self);
}

BrokerRegistration *
broker_registration_new(void)
{
    BrokerRegistration *self = g_new0(BrokerRegistration, 1);

    self->heartbeat_timeout_ms = BROKER_HEARTBEAT_TIMEOUT_MS;
    self->topics = g_ptr_array_new_with_free_func((GDestroyNotify) topic_free);
    self->mappings = g_ptr_array_new_with_free_func((GDestroyNotify) queue_mapping_free);
    return self;
}

void
broker_registration_free(BrokerRegistration *self)
{
    g_free(self->cluster);
    g_free(self->broker);
    g_free(self->address);
    g_free(self->ha_address);
    g_free(self->zone);
    g_ptr_array_unref(self->topics);
    g_ptr_array_unref(self->mappings);
    g_clear_pointer(&self->filter_servers, g_ptr_array_unref);
    g_free(self);
}

BrokerTopic *
broker_registration_add_topic(BrokerRegistration *self, const char *name, gint32 read_queues,
                              gint32 write_queues, gint32 perm)
{
    BrokerTopic *topic = g_new0(BrokerTopic, 1);

    topic->name = g_strdup(name);
    topic->read_queues = read_queues;
    topic->write_queues = write_queues;
    topic->perm = perm;
    g_ptr_array_add(self->topics, topic);
    return topic;
}

/* ---- out ---- */

static void
write_topic(const BrokerTopic *self, Fastjson *json)
{
    fastjson_key(json, self->name);
    fastjson_open(json, NULL, '{');
    fastjson_open(json, "attributes", '{');
    fastjson_close(json, '}');
    fastjson_bool(json, "order", self->order);
    fastjson_int(json, "perm", self->perm);
    fastjson_int(json, "readQueueNums", self->read_queues);
    fastjson_text(json, "topicFilterType", "SINGLE_TAG");
    fastjson_text(json, "topicName", self->name);
    fastjson_int(json, "topicSysFlag", self->sys_flag);
    fastjson_int(json, "writeQueueNums", self->write_queues);
    fastjson_close(json, '}');
}

static void
write_mappings(const BrokerRegistration *self, Fastjson *json)
{
    fastjson_open(json, "topicQueueMappingInfoMap", '{');
    for (guint i = 0; i < self->mappings->len; i++) {
        const QueueMapping *mapping = g_ptr_array_index(self->mappings, i);

        fastjson_key(json, mapping->topic);
        fastjson_copy(json, NULL, byte_span_of_text(mapping->json));
    }
    fastjson_close(json, '}');
}

static void
write_topics(const BrokerRegistration *self, Fastjson *json)
{
    fastjson_open(json, "topicConfigSerializeWrapper", '{');
    data_version_write(&self->version, json, "dataVersion");
    data_version_write(&self->version, json, "mappingDataVersion");
    fastjson_open(json, "topicConfigTable", '{');
    for (guint i = 0; i < self->topics->len; i++)
        write_topic(g_ptr_array_index(self->topics, i), json);
    fastjson_close(json, '}');
    fastjson_open(json, "topicQueueMappingDetailMap", '{');
    fastjson_close(json, '}');
    write_mappings(self, json);
    fastjson_close(json, '}');
}

static GString *
encode_body(const BrokerRegistration *self)
{
    Fastjson json = { .out = g_string_sized_new(1024) };

    fastjson_open(&json, NULL, '{');
    if (self->filter_servers != NULL) {
        fastjson_open(&json, "filterServerList", '[');
        for (guint i = 0; i < self->filter_servers->len; i++)
            fastjson_text(&json, NULL, g_ptr_array_index(self->filter_servers, i));
        fastjson_close(&json, ']');
    }
    write_topics(self, &json);
    fastjson_close(&json, '}');
    return json.out;
}

void
broker_registration_encode(const BrokerRegistration *self, RemotingCommand *request)
{
    remoting_command_set_body(request, encode_body(self));
    remoting_command_set(request, "brokerName", self->broker);
    remoting_command_set(request, "brokerAddr", self->address);
    remoting_command_set(request, "clusterName", self->cluster);
    /* Name servers complain of a registration without one. */
    remoting_command_set(request, "haServerAddr", self->ha_address == NULL ? "" : self->ha_address);
    remoting_command_set_int(request, "brokerId", self->id);
    remoting_command_set_int(request, "heartbeatTimeoutMillis", self->heartbeat_timeout_ms);
    if (self->knows_acting_master)
        remoting_command_set_bool(request, "enableActingMaster", self->enable_acting_master);
    remoting_command_set(request, "__ZONE_NAME", self->zone);
    remoting_command_set_bool(request, "compressed", FALSE);
    remoting_command_set_int(request, "bodyCrc32", broker_body_crc(request->body));
}
