/* route_room.c - what of a registration is too much, so that nobody can fill the memory.
 *
 * Nodes and topics at brokers are entries of the table; so is what may come with them without end:
 * filter servers, each begun KiB of a mapping, and clusters that list a broker beside its first. */
#include <string.h>

#include "registry/route_table_private.h"

#define NAME_MAX_BYTES 1024
#define MAPPING_MAX_BYTES (64 * 1024)
#define MAPPING_ENTRY_BYTES 1024
#define FILTER_SERVERS_MAX 64
/* They are kept in order, and looked through: a broker has a few. */
#define BROKER_NODES_MAX 1000

static gboolean
is_long(const char *text, gsize max)
{
    return text != NULL && strlen(text) > max;
}

static gboolean
has_long_name(const BrokerRegistration *told)
{
    if (is_long(told->cluster, NAME_MAX_BYTES) || is_long(told->broker, NAME_MAX_BYTES) ||
        is_long(told->address, NAME_MAX_BYTES) || is_long(told->ha_address, NAME_MAX_BYTES) ||
        is_long(told->zone, NAME_MAX_BYTES))
        return TRUE;
    for (guint i = 0; i < told->topics->len; i++)
        if (is_long(((BrokerTopic *) g_ptr_array_index(told->topics, i))->name, NAME_MAX_BYTES))
            return TRUE;
    return FALSE;
}

static gboolean
has_long_lists(const BrokerRegistration *told)
{
    GPtrArray *servers = told->filter_servers;

    if (servers != NULL && servers->len > FILTER_SERVERS_MAX)
        return TRUE;
    for (guint i = 0; servers != NULL && i < servers->len; i++)
        if (is_long(g_ptr_array_index(servers, i), NAME_MAX_BYTES))
            return TRUE;
    for (guint i = 0; i < told->mappings->len; i++) {
        const QueueMapping *mapping = g_ptr_array_index(told->mappings, i);

        if (is_long(mapping->broker, NAME_MAX_BYTES) || is_long(mapping->json, MAPPING_MAX_BYTES))
            return TRUE;
    }
    return FALSE;
}

static guint64
n_entries(const RouteTable *self)
{
    return (guint64) g_hash_table_size(self->nodes) + g_hash_table_size(self->offers) +
           self->n_extra;
}

guint
route_room_of_mapping(const char *json)
{
    return json != NULL ? (guint) (strlen(json) / MAPPING_ENTRY_BYTES) + 1 : 0;
}

/* How many of its topics its broker does not offer yet. */
static guint
count_new_topics(const RouteTable *self, const BrokerRegistration *told)
{
    const RouteBroker *broker = route_table_find_broker(self, told->broker);
    guint n = 0;

    for (guint i = 0; i < told->topics->len; i++) {
        const RouteTopic *topic =
            route_table_find(self, ((BrokerTopic *) g_ptr_array_index(told->topics, i))->name);

        if (topic == NULL || broker == NULL || route_offer_find(self, topic, broker) == NULL)
            n++;
    }
    return n;
}

static guint
count_new_mappings(const RouteTable *self, const BrokerRegistration *told)
{
    guint n = 0;

    for (guint i = 0; i < told->mappings->len; i++) {
        const QueueMapping *mapping = g_ptr_array_index(told->mappings, i);
        const RouteTopic *topic = route_table_find(self, mapping->topic);
        const char *known = topic != NULL && topic->mappings != NULL
                                ? g_hash_table_lookup(topic->mappings, mapping->broker)
                                : NULL;
        guint room = route_room_of_mapping(mapping->json), had = route_room_of_mapping(known);

        n += room > had ? room - had : 0;
    }
    return n;
}

/* The node itself, and what is not a part of its topics. */
static guint
count_new_of_node(const RouteTable *self, const BrokerRegistration *told)
{
    const RouteNode *node = route_table_find_node(self, told->cluster, told->address);
    GHashTable *names = g_hash_table_lookup(self->clusters, told->cluster);
    gboolean is_listed = names != NULL && g_hash_table_contains(names, told->broker);
    guint n_told = told->filter_servers != NULL ? told->filter_servers->len : 0;
    guint n_had = node != NULL && node->filter_servers != NULL ? node->filter_servers->len : 0;

    return (node == NULL ? 1 : 0) + (n_told > n_had ? n_told - n_had : 0) +
           (!is_listed && route_table_find_broker(self, told->broker) != NULL ? 1 : 0);
}

static gboolean
has_room(const RouteTable *self, const BrokerRegistration *told)
{
    guint64 n = n_entries(self) + count_new_of_node(self, told) + count_new_mappings(self, told);

    if (n + told->topics->len <= self->rules.max_entries)
        return TRUE;
    return n + count_new_topics(self, told) <= self->rules.max_entries;
}

static gboolean
has_too_many_nodes(const RouteTable *self, const BrokerRegistration *told)
{
    const RouteBroker *broker = route_table_find_broker(self, told->broker);

    return broker != NULL && broker->nodes->len >= BROKER_NODES_MAX &&
           route_broker_node(broker, told->id) == NULL;
}

RouteOutcome
route_room_check(const RouteTable *self, const BrokerRegistration *told)
{
    if (has_long_name(told) || has_long_lists(told))
        return ROUTE_TOO_LONG;
    if (has_too_many_nodes(self, told))
        return ROUTE_FULL;
    return has_room(self, told) ? ROUTE_ACCEPTED : ROUTE_FULL;
}

gboolean
route_room_for_topic(const RouteTable *self, const char *topic, guint n_brokers)
{
    return strlen(topic) <= NAME_MAX_BYTES &&
           n_entries(self) + n_brokers <= self->rules.max_entries;
}
