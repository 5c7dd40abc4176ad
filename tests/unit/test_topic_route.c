/* test_topic_route.c - routes, clusters, lists and tables, byte for byte as RocketMQ 5.3.3 writes
 * them, and read again. */
#include <gio/gio.h>
#include <string.h>

#include "registry/wire/cluster_info.h"
#include "registry/wire/data_version.h"
#include "registry/wire/kv_table.h"
#include "registry/wire/topic_list.h"
#include "registry/wire/topic_route.h"

/* Frees made. */
static void
assert_json(GString *made, const char *expected)
{
    g_assert_cmpstr(made->str, ==, expected);
    g_string_free(made, TRUE);
}

static const RouteForm by_default = { 0 };
static const RouteForm by_standard = { .standard = TRUE };

static const char mapping_json[] =
    "{\"bname\":\"b/1\",\"currIdMap\":{0:0,2:1,10:1},\"dirty\":false,\"epoch\":1,\"scope\":"
    "\"__global__\",\"topic\":\"T\",\"totalQueues\":8}";

static const char full_default[] =
    "{\"brokerDatas\":[{\"brokerAddrs\":{-1:\"x\",0:\"10.0.0.1:10911\",1:\"10.0.0.2:10911\",2:"
    "\"z\","
    "10:\"t\"},\"brokerName\":\"b/1\",\"cluster\":\"c/"
    "1\",\"enableActingMaster\":false,\"zoneName\":"
    "\"z\xc3\xbc\"}],\"filterServerTable\":{\"10.0.0.1:10911\":[\"f1:1\",\"f2:2\"]},"
    "\"orderTopicConf\":\"b:4\",\"queueDatas\":[{\"brokerName\":\"b/1\",\"perm\":6,"
    "\"readQueueNums\":8,\"topicSysFlag\":1,\"writeQueueNums\":4}],\"topicQueueMappingByBroker\":{"
    "\"b/1\":{\"bname\":\"b/1\",\"currIdMap\":{0:0,2:1,10:1},\"dirty\":false,\"epoch\":1,\"scope\":"
    "\"__global__\",\"topic\":\"T\",\"totalQueues\":8}}}";

static const char full_standard[] =
    "{\"brokerDatas\":[{\"brokerAddrs\":{\"-1\":\"x\",\"0\":\"10.0.0.1:10911\",\"1\":"
    "\"10.0.0.2:10911\",\"2\":\"z\",\"10\":\"t\"},\"brokerName\":\"b\\/1\",\"cluster\":\"c\\/1\","
    "\"enableActingMaster\":false,\"zoneName\":\"z\\u00FC\"}],\"filterServerTable\":{"
    "\"10.0.0.1:10911\":[\"f1:1\",\"f2:2\"]},\"orderTopicConf\":\"b:4\",\"queueDatas\":[{"
    "\"brokerName\":\"b\\/1\",\"perm\":6,\"readQueueNums\":8,\"topicSysFlag\":1,\"writeQueueNums\":"
    "4}],\"topicQueueMappingByBroker\":{\"b\\/1\":{\"bname\":\"b\\/"
    "1\",\"currIdMap\":{\"0\":0,\"2\":"
    "1,\"10\":1},\"dirty\":false,\"epoch\":1,\"scope\":\"__global__\",\"topic\":\"T\","
    "\"totalQueues\":8}}}";

static TopicRoute *
full_route(void)
{
    TopicRoute *route = topic_route_new();
    BrokerGroup *group = topic_route_add_broker(route, "c/1", "b/1");
    RouteFilter *filter = topic_route_add_filter(route, "10.0.0.1:10911");
    g_autoptr(QueueMapping) mapping = g_new0(QueueMapping, 1);

    broker_group_set_address(group, 1, "10.0.0.2:10911");
    broker_group_set_address(group, 10, "t");
    broker_group_set_address(group, 0, "old");
    broker_group_set_address(group, -1, "x");
    broker_group_set_address(group, 0, "10.0.0.1:10911");
    broker_group_set_address(group, 2, "z");
    group->zone = g_strdup("z\xc3\xbc");
    topic_route_add_queue(route, "b/1", 8, 4, 6, 1);
    g_ptr_array_add(filter->servers, g_strdup("f1:1"));
    g_ptr_array_add(filter->servers, g_strdup("f2:2"));
    route->order_conf = g_strdup("b:4");
    mapping->topic = g_strdup("T");
    mapping->broker = g_strdup("b/1");
    mapping->json = g_strdup(mapping_json);
    topic_route_add_mapping(route, mapping);
    return route;
}

/* ---- routes ---- */

static void
test_route_in_both_forms(void)
{
    g_autoptr(TopicRoute) route = full_route();

    assert_json(topic_route_encode(route, &by_default), full_default);
    assert_json(topic_route_encode(route, &by_standard), full_standard);
}

static void
test_route_of_nothing(void)
{
    g_autoptr(TopicRoute) route = topic_route_new();

    assert_json(topic_route_encode(route, &by_default),
                "{\"brokerDatas\":[],\"filterServerTable\":{},\"queueDatas\":[]}");
}

static void
test_form_follows_the_peer(void)
{
    static const struct {
        gint32 version;
        const char *accept;
        gboolean standard;
        gboolean syn_flag;
    } rows[] = {
        { 121, NULL, FALSE, TRUE },   { 317, "true", TRUE, TRUE }, { 392, NULL, FALSE, TRUE },
        { 393, NULL, FALSE, FALSE },  { 400, NULL, FALSE, FALSE }, { 400, "false", FALSE, FALSE },
        { 400, "true", TRUE, FALSE }, { 401, NULL, TRUE, FALSE },  { 479, "false", TRUE, FALSE },
        { 99999, NULL, TRUE, FALSE },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(RemotingCommand) request = remoting_command_new(105, 1);
        RouteForm form;

        request->version = rows[i].version;
        remoting_command_set(request, "acceptStandardJsonOnly", rows[i].accept);
        form = route_form_for(request);

        g_assert_cmpint(form.standard, ==, rows[i].standard);
        g_assert_cmpint(form.syn_flag, ==, rows[i].syn_flag);
    }
}

static void
test_old_peers_know_another_flag(void)
{
    const RouteForm form = { .syn_flag = TRUE };
    g_autoptr(TopicRoute) route = topic_route_new();

    topic_route_add_queue(route, "b", 8, 4, 6, 1);

    assert_json(
        topic_route_encode(route, &form),
        "{\"brokerDatas\":[],\"filterServerTable\":{},\"queueDatas\":[{\"brokerName\":\"b\","
        "\"perm\":6,\"readQueueNums\":8,\"topicSynFlag\":1,\"writeQueueNums\":4}]}");
}

static void
assert_reads_as(const char *json, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TopicRoute) route = topic_route_decode(byte_span_of_text(json), &error);

    g_assert_no_error(error);
    assert_json(topic_route_encode(route, &by_default), expected);
}

static void
test_route_is_read_in_every_form(void)
{
    assert_reads_as(full_default, full_default);
    assert_reads_as(full_standard, full_default);
    assert_reads_as("{}", "{\"brokerDatas\":[],\"filterServerTable\":{},\"queueDatas\":[]}");
    assert_reads_as(" { \"queueDatas\" : [ { \"topicSynFlag\" : 2, \"perm\" : \"4\" } ], "
                    "\"brokerDatas\" : null, \"filterServerTable\" : { \"a\" : null } } ",
                    "{\"brokerDatas\":[],\"filterServerTable\":{\"a\":[]},\"queueDatas\":[{"
                    "\"brokerName\":\"\",\"perm\":4,\"readQueueNums\":0,\"topicSysFlag\":2,"
                    "\"writeQueueNums\":0}]}");
}

/* fastjson writes it when one object stands in two places. */
static void
test_references_are_tolerated(void)
{
    static const char json[] =
        "{\"brokerDatas\":[],\"filterServerTable\":{},\"queueDatas\":[],"
        "\"topicQueueMappingByBroker\":{\"b\":{\"$ref\":\"$.topicQueueMappingByBroker.c\"}}}";

    assert_reads_as(json, json);
    assert_reads_as(
        "{\"queueDatas\":[{\"$ref\":\"$.queueDatas[0]\"}]}",
        "{\"brokerDatas\":[],\"filterServerTable\":{},\"queueDatas\":[{\"brokerName\":"
        "\"\",\"perm\":0,\"readQueueNums\":0,\"topicSysFlag\":0,\"writeQueueNums\":0}]}");
}

static void
test_routes_that_cannot_be_read(void)
{
    static const char *const rows[] = {
        "",
        "[]",
        "{\"queueDatas\":{}}",
        "{\"queueDatas\":[null]}",
        "{\"queueDatas\":[{\"perm\":[]}]}",
        "{\"brokerDatas\":[{\"brokerAddrs\":{x:\"a\"}}]}",
        "{\"brokerDatas\":[{\"brokerAddrs\":{\"x\":\"a\"}}]}",
        "{\"brokerDatas\":[{\"brokerAddrs\":{1:2}}]}",
        "{\"brokerDatas\":[{\"enableActingMaster\":\"maybe\"}]}",
        "{\"filterServerTable\":{\"a\\u0000\":[]}}",
        "{brokerDatas:[]}",
        "{\"queueDatas\":[],}",
        "{\"topicQueueMappingByBroker\":{\"b\":[]}}",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(topic_route_decode(byte_span_of_text(rows[i]), &error));
        g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    }
}

static void
test_group_is_ordered_by_id(void)
{
    g_autoptr(BrokerGroup) group = broker_group_new("c", "b");

    broker_group_set_address(group, 3, "three");
    broker_group_set_address(group, 0, "none");
    broker_group_set_address(group, 0, "zero");

    assert_json(broker_group_encode(group),
                "{\"brokerMemberGroup\":{\"brokerAddrs\":{0:\"zero\",3:\"three\"},\"brokerName\":"
                "\"b\",\"cluster\":\"c\"}}");
}

/* ---- texts ---- */

/* All that fastjson 1.2.83 escapes, and the neighbours of it. */
static void
test_escapes_are_fastjsons(void)
{
    g_autoptr(TopicRoute) route = topic_route_new();
    static const char text[] = "\x01\x08\x09\x0a\x0b\x0c\x0d\x1f \"/\\~\x7f\xc2\x80\xc2\x9f\xc2\xa0"
                               "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xf0\x9f\x98\x80";

    route->order_conf = g_strdup(text);

    assert_json(topic_route_encode(route, &by_default),
                "{\"brokerDatas\":[],\"filterServerTable\":{},\"orderTopicConf\":"
                "\"\\u0001\\b\\t\\n\\u000B\\f\\r\\u001F \\\"/\\\\~\\u007F\\u0080\\u009F\xc2\xa0"
                "\xe2\x80\xa7\\u2028\\u2029\xf0\x9f\x98\x80\",\"queueDatas\":[]}");
    assert_json(topic_route_encode(route, &by_standard),
                "{\"brokerDatas\":[],\"filterServerTable\":{},\"orderTopicConf\":"
                "\"\\u0001\\b\\t\\n\\u000B\\f\\r\\u001F \\\"\\/\\\\~\\u007F\\u0080\\u009F\\u00A0"
                "\\u2027\\u2028\\u2029\\uD83D\\uDE00\",\"queueDatas\":[]}");
}

/* ---- the others ---- */

static void
test_cluster_info(void)
{
    static const char json[] =
        "{\"brokerAddrTable\":{\"b\":{\"brokerAddrs\":{0:\"10.0.0.1:10911\"},\"brokerName\":\"b\","
        "\"cluster\":\"c\",\"enableActingMaster\":false}},\"clusterAddrTable\":{\"c\":[\"b\"]}}";
    g_autoptr(ClusterInfo) info = cluster_info_new();
    g_autoptr(ClusterInfo) read = NULL;
    g_autoptr(GError) error = NULL;

    broker_group_set_address(cluster_info_add_group(info, "c", "b"), 0, "10.0.0.1:10911");
    cluster_brokers_add(cluster_info_add_cluster(info, "c"), "b");
    read = cluster_info_decode(byte_span_of_text(json), &error);

    g_assert_no_error(error);
    assert_json(cluster_info_encode(info), json);
    assert_json(cluster_info_encode(read), json);
    g_assert_null(
        cluster_info_decode(byte_span_of_text("{\"clusterAddrTable\":{\"c\":{}}}"), NULL));
}

static void
test_cluster_info_of_nothing(void)
{
    g_autoptr(ClusterInfo) info = cluster_info_decode(byte_span_of_text("{}"), NULL);

    assert_json(cluster_info_encode(info), "{\"brokerAddrTable\":{},\"clusterAddrTable\":{}}");
}

static void
test_topic_list(void)
{
    g_autoptr(GPtrArray) topics = topic_list_decode(
        byte_span_of_text("{\"brokerAddr\":\"x:1\",\"topicList\":[\"b\",null,\"a\"]}"), NULL);
    g_autoptr(GPtrArray) none = topic_list_decode(byte_span_of_text("{}"), NULL);

    assert_json(topic_list_encode(topics, NULL), "{\"topicList\":[\"b\",\"a\"]}");
    assert_json(topic_list_encode(topics, "x:1"),
                "{\"brokerAddr\":\"x:1\",\"topicList\":[\"b\",\"a\"]}");
    assert_json(topic_list_encode(none, NULL), "{\"topicList\":[]}");
}

static void
test_kv_table(void)
{
    static const char json[] = "{\"table\":{\"k1\":\"v/\xc3\xbc\",\"k2\":\"v\"}}";
    g_autoptr(GHashTable) table = kv_table_new();
    g_autoptr(GHashTable) none = kv_table_new();

    g_hash_table_insert(table, g_strdup("k2"), g_strdup("v"));
    g_hash_table_insert(table, g_strdup("k1"), g_strdup("v/\xc3\xbc"));

    assert_json(kv_table_encode(table), json);
    assert_json(kv_table_encode(none), "{\"table\":{}}");
}

static void
test_kv_config(void)
{
    static const char json[] = "{\"configTable\":{\"empty\":{},\"ns\":{\"a\":\"1\",\"b\":\"2\"}}}";
    g_autoptr(GHashTable) config = kv_config_decode(byte_span_of_text(json), NULL);

    assert_json(kv_config_encode(config), json);
    g_assert_null(kv_config_decode(byte_span_of_text("{\"configTable\":{\"ns\":[]}}"), NULL));
    g_assert_null(kv_config_decode(byte_span_of_text("{\"configTable\":{\"n\":{\"k\":1}}}"), NULL));
}

static void
test_data_version(void)
{
    static const char json[] = "{\"counter\":3,\"stateVersion\":2,\"timestamp\":1700000000000}";
    DataVersion version;
    DataVersion later;

    g_assert_true(data_version_decode(byte_span_of_text(json), 7, &version, NULL));
    g_assert_true(data_version_decode(byte_span_of_text("{}"), 7, &later, NULL));

    assert_json(data_version_encode(&version), json);
    assert_json(data_version_encode(&later), "{\"counter\":0,\"stateVersion\":0,\"timestamp\":7}");
    g_assert_true(data_version_equal(&version, &version));
    g_assert_false(data_version_equal(&version, &later));
    g_assert_false(data_version_decode(byte_span_of_text("null"), 7, &later, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/topic-route/forms", test_route_in_both_forms);
    g_test_add_func("/topic-route/nothing", test_route_of_nothing);
    g_test_add_func("/topic-route/form-of-a-peer", test_form_follows_the_peer);
    g_test_add_func("/topic-route/old-flag", test_old_peers_know_another_flag);
    g_test_add_func("/topic-route/read", test_route_is_read_in_every_form);
    g_test_add_func("/topic-route/references", test_references_are_tolerated);
    g_test_add_func("/topic-route/refused", test_routes_that_cannot_be_read);
    g_test_add_func("/topic-route/group", test_group_is_ordered_by_id);
    g_test_add_func("/topic-route/escapes", test_escapes_are_fastjsons);
    g_test_add_func("/topic-route/cluster-info", test_cluster_info);
    g_test_add_func("/topic-route/cluster-info-of-nothing", test_cluster_info_of_nothing);
    g_test_add_func("/topic-route/topic-list", test_topic_list);
    g_test_add_func("/topic-route/kv-table", test_kv_table);
    g_test_add_func("/topic-route/kv-config", test_kv_config);
    g_test_add_func("/topic-route/data-version", test_data_version);
    return g_test_run();
}
