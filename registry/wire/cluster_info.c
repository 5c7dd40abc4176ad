/* cluster_info.c - all clusters and brokers, as JSON. */
#include "registry/wire/cluster_info.h"

#include "registry/wire/broker_group_json.h"

static void
cluster_brokers_free(ClusterBrokers *self)
{
    g_free(self->name);
    g_ptr_array_unref(self->brokers);
    g_free(self);
}

ClusterInfo *
cluster_info_new(void)
{
    ClusterInfo *self = g_new0(ClusterInfo, 1);

    self->groups = g_ptr_array_new_with_free_func((GDestroyNotify) broker_group_free);
    self->clusters = g_ptr_array_new_with_free_func((GDestroyNotify) cluster_brokers_free);
    return self;
}

void
cluster_info_free(ClusterInfo *self)
{
    g_ptr_array_unref(self->groups);
    g_ptr_array_unref(self->clusters);
    g_free(self);
}

BrokerGroup *
cluster_info_add_group(ClusterInfo *self, const char *cluster, const char *broker)
{
    BrokerGroup *group = broker_group_new(cluster, broker);

    g_ptr_array_add(self->groups, group);
    return group;
}

ClusterBrokers *
cluster_info_add_cluster(ClusterInfo *self, const char *name)
{
    ClusterBrokers *cluster = g_new0(ClusterBrokers, 1);

    cluster->name = g_strdup(name);
    cluster->brokers = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(self->clusters, cluster);
    return cluster;
}

void
cluster_brokers_add(ClusterBrokers *self, const char *broker)
{
    g_ptr_array_add(self->brokers, g_strdup(broker));
}

GString *
cluster_info_encode(const ClusterInfo *self)
{
    Fastjson json = { .out = g_string_sized_new(512) };

    fastjson_open(&json, NULL, '{');
    fastjson_open(&json, "brokerAddrTable", '{');
    for (guint i = 0; i < self->groups->len; i++) {
        const BrokerGroup *group = g_ptr_array_index(self->groups, i);

        fastjson_key(&json, group->broker);
        broker_group_write(group, &json);
    }
    fastjson_close(&json, '}');
    fastjson_open(&json, "clusterAddrTable", '{');
    for (guint i = 0; i < self->clusters->len; i++) {
        const ClusterBrokers *cluster = g_ptr_array_index(self->clusters, i);

        fastjson_key(&json, cluster->name);
        fastjson_open(&json, NULL, '[');
        for (guint j = 0; j < cluster->brokers->len; j++)
            fastjson_text(&json, NULL, g_ptr_array_index(cluster->brokers, j));
        fastjson_close(&json, ']');
    }
    fastjson_close(&json, '}');
    fastjson_close(&json, '}');
    return json.out;
}

/* ---- in ---- */

static void
read_groups(JsonReader *reader, gpointer info)
{
    GPtrArray *groups = ((ClusterInfo *) info)->groups;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        BrokerGroup *group = broker_group_read(reader);

        if (group != NULL) {
            g_free(group->broker);
            group->broker = g_strdup(key->str);
            g_ptr_array_add(groups, group);
        }
        json_check_children(reader, groups->len);
    }
}

static void
read_clusters(JsonReader *reader, gpointer info)
{
    ClusterInfo *self = info;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        ClusterBrokers *cluster = cluster_info_add_cluster(self, key->str);

        if (!json_read_null(reader))
            json_read_texts(reader, cluster->brokers);
        json_check_children(reader, self->clusters->len);
    }
}

ClusterInfo *
cluster_info_decode(ByteSpan json, GError **error)
{
    static const JsonMember members[] = {
        JSON_MEMBER_BY("brokerAddrTable", read_groups),
        JSON_MEMBER_BY("clusterAddrTable", read_clusters),
        { 0 },
    };
    g_autoptr(ClusterInfo) self = cluster_info_new();
    JsonReader reader;

    json_reader_init(&reader, json, JSON_FASTJSON);
    json_object_read(&reader, members, self);
    return json_reader_finish(&reader, error) ? g_steal_pointer(&self) : NULL;
}
