/* namesrv_requests.c - the requests that a name server knows, and who carries them out. */
#include "registry/namesrv_server_private.h"

typedef struct {
    gint32 code;
    NamesrvHandler handler;
} RequestRow;

/* By code. */
static const RequestRow rows[] = {
    { NAMESRV_PUT_KV_CONFIG, namesrv_put_kv_config },
    { NAMESRV_GET_KV_CONFIG, namesrv_get_kv_config },
    { NAMESRV_DELETE_KV_CONFIG, namesrv_delete_kv_config },
    { NAMESRV_REGISTER_BROKER, namesrv_register_broker },
    { NAMESRV_UNREGISTER_BROKER, namesrv_unregister_broker },
    { NAMESRV_GET_ROUTE, namesrv_get_route },
    { NAMESRV_GET_CLUSTER_INFO, namesrv_get_cluster_info },
    { NAMESRV_WIPE_WRITE_PERM, namesrv_wipe_write_perm },
    { NAMESRV_GET_ALL_TOPICS, namesrv_get_all_topics },
    { NAMESRV_DELETE_TOPIC, namesrv_delete_topic },
    { NAMESRV_REGISTER_TOPIC, namesrv_register_topic },
    { NAMESRV_GET_KV_LIST, namesrv_get_kv_list },
    { NAMESRV_GET_TOPICS_OF_CLUSTER, namesrv_get_topics_of_cluster },
    { NAMESRV_GET_SYSTEM_TOPICS, namesrv_get_system_topics },
    { NAMESRV_GET_UNIT_TOPICS, namesrv_get_unit_topics },
    { NAMESRV_GET_UNIT_SUB_TOPICS, namesrv_get_unit_sub_topics },
    { NAMESRV_GET_UNIT_SUB_UNUNIT_TOPICS, namesrv_get_unit_sub_ununit_topics },
    { NAMESRV_UPDATE_CONFIG, namesrv_update_config },
    { NAMESRV_GET_CONFIG, namesrv_get_config },
    { NAMESRV_QUERY_DATA_VERSION, namesrv_query_data_version },
    { NAMESRV_ADD_WRITE_PERM, namesrv_add_write_perm },
    { NAMESRV_GET_BROKER_GROUP, namesrv_get_broker_group },
    { NAMESRV_BROKER_HEARTBEAT, namesrv_hear_broker },
};

const char *const namesrv_request_names[] = {
    "put-kv-config",
    "get-kv-config",
    "delete-kv-config",
    "register-broker",
    "unregister-broker",
    "get-route",
    "get-cluster",
    "wipe-write-perm",
    "get-topics",
    "delete-topic",
    "register-topic",
    "get-kv-list",
    "get-topics-of-cluster",
    "get-system-topics",
    "get-unit-topics",
    "get-unit-sub-topics",
    "get-unit-sub-ununit-topics",
    "update-config",
    "get-config",
    "query-data-version",
    "add-write-perm",
    "get-broker-group",
    "broker-heartbeat",
    "unknown",
    NULL,
};
G_STATIC_ASSERT(G_N_ELEMENTS(namesrv_request_names) == G_N_ELEMENTS(rows) + 2);

NamesrvHandler
namesrv_handler_for(gint32 code, guint *ret_index)
{
    guint i = 0;

    while (i < G_N_ELEMENTS(rows) && rows[i].code != code)
        i++;
    *ret_index = i;
    return i < G_N_ELEMENTS(rows) ? rows[i].handler : NULL;
}
