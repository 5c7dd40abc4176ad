/* broker_registration.c - keeps what a broker tells of itself. */
#include "registry/wire/broker_registration.h"

static void
topic_free(BrokerTopic *self)
{
    g_free(self->name);
    g_free(self);
}

static void
mapping_free(QueueMapping *self)
{
    g_free(self->topic);
    g_free(self->broker);
    g_free(self->json);
    g_free(self);
}

BrokerRegistration *
broker_registration_new(void)
{
    BrokerRegistration *self = g_new0(BrokerRegistration, 1);

    self->heartbeat_timeout_ms = BROKER_HEARTBEAT_TIMEOUT_MS;
    self->topics = g_ptr_array_new_with_free_func((GDestroyNotify) topic_free);
    self->mappings = g_ptr_array_new_with_free_func((GDestroyNotify) mapping_free);
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

void
broker_registration_add_topic(BrokerRegistration *self, const char *name, gint32 read_queues,
                              gint32 write_queues, gint32 perm)
{
    BrokerTopic *topic = g_new0(BrokerTopic, 1);

    topic->name = g_strdup(name);
    topic->read_queues = read_queues;
    topic->write_queues = write_queues;
    topic->perm = perm;
    g_ptr_array_add(self->topics, topic);
}
