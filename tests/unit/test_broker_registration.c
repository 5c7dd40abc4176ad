/* test_broker_registration.c - what brokers of RocketMQ 4.9 and 5.3 tell of themselves, and what
 * agents tell to their name servers. */
#include "config.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/broker_body.h"
#include "registry/wire/broker_registration.h"
#include "registry/wire/namesrv_codes.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define NOW_MS 1234

/* A request with the fields that all have, and this body. (transfer full) */
static RemotingCommand *
request_with(const char *body)
{
    RemotingCommand *request = remoting_command_new(NAMESRV_REGISTER_BROKER, 1);

    remoting_command_set(request, "brokerName", "b");
    remoting_command_set(request, "brokerAddr", "10.0.0.1:10911");
    remoting_command_set(request, "clusterName", "c");
    remoting_command_set(request, "haServerAddr", "10.0.0.1:10912");
    remoting_command_set(request, "brokerId", "0");
    if (body != NULL)
        request->body = byte_span_of_text(body);
    return request;
}

static void
describe_lists(const BrokerRegistration *self, GString *out)
{
    for (guint i = 0; i < self->topics->len; i++) {
        const BrokerTopic *topic = g_ptr_array_index(self->topics, i);

        g_string_append_printf(out, " %s/%d/%d/%d/%d%s", topic->name, topic->read_queues,
                               topic->write_queues, topic->perm, topic->sys_flag,
                               topic->order ? "/order" : "");
    }
    for (guint i = 0; i < self->mappings->len; i++) {
        const QueueMapping *mapping = g_ptr_array_index(self->mappings, i);

        g_string_append_printf(out, " %s@%s%s", mapping->topic, mapping->broker, mapping->json);
    }
    if (self->filter_servers == NULL)
        g_string_append(out, " no-filters");
    for (guint i = 0; self->filter_servers != NULL && i < self->filter_servers->len; i++)
        g_string_append_printf(out, " filter:%s",
                               (const char *) g_ptr_array_index(self->filter_servers, i));
}

/* What its body has said, or the error. (transfer full) */
static char *
decode(const RemotingCommand *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BrokerRegistration) self = broker_registration_decode(request, NOW_MS, &error);
    g_autoptr(GString) out = NULL;

    g_assert_true((self == NULL) == (error != NULL));
    if (self == NULL)
        return g_strdup(error->message);
    out = g_string_new(NULL);
    g_string_append_printf(out, "%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ":",
                           self->version.state_version, self->version.timestamp_ms,
                           self->version.counter);
    describe_lists(self, out);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Frees made. */
static void
assert_text(char *made, const char *expected)
{
    g_assert_cmpstr(made, ==, expected);
    g_free(made);
}

static char *
decode_body(const char *body)
{
    g_autoptr(RemotingCommand) request = request_with(body);

    return decode(request);
}

/* ---- fields ---- */

static void
test_fields_of_a_broker_of_4_9(void)
{
    g_autoptr(RemotingCommand) request = request_with(NULL);
    g_autoptr(BrokerRegistration) self = NULL;

    remoting_command_set(request, "brokerId", "-1");
    self = broker_registration_decode(request, NOW_MS, NULL);

    g_assert_cmpstr(self->broker, ==, "b");
    g_assert_cmpstr(self->cluster, ==, "c");
    g_assert_cmpstr(self->address, ==, "10.0.0.1:10911");
    g_assert_cmpstr(self->ha_address, ==, "10.0.0.1:10912");
    g_assert_null(self->zone);
    g_assert_cmpint(self->id, ==, -1);
    g_assert_cmpint(self->heartbeat_timeout_ms, ==, 120000);
    g_assert_false(self->knows_acting_master);
    g_assert_false(self->enable_acting_master);
}

static void
test_fields_of_a_broker_of_5_3(void)
{
    g_autoptr(RemotingCommand) request = request_with(NULL);
    g_autoptr(BrokerRegistration) self = NULL;
    g_autoptr(BrokerRegistration) without = NULL;

    remoting_command_set(request, "haServerAddr", "");
    remoting_command_set(request, "heartbeatTimeoutMillis", "10000");
    remoting_command_set(request, "enableActingMaster", "true");
    remoting_command_set(request, "__ZONE_NAME", "z");
    self = broker_registration_decode(request, NOW_MS, NULL);
    remoting_command_set(request, "enableActingMaster", "false");
    without = broker_registration_decode(request, NOW_MS, NULL);

    g_assert_null(self->ha_address);
    g_assert_cmpstr(self->zone, ==, "z");
    g_assert_cmpint(self->heartbeat_timeout_ms, ==, 10000);
    g_assert_true(self->knows_acting_master);
    g_assert_true(self->enable_acting_master);
    g_assert_true(without->knows_acting_master);
    g_assert_false(without->enable_acting_master);
}

static void
test_fields_that_are_wrong(void)
{
    static const char *const rows[][3] = {
        { "brokerName", "", "brokerName is missing" },
        { "clusterName", "", "clusterName is missing" },
        { "brokerAddr", "", "brokerAddr is missing" },
        { "brokerId", "one", "brokerId is no number that it can be: one" },
        { "brokerId", "-2", "brokerId is no number that it can be: -2" },
        { "heartbeatTimeoutMillis", "-1",
          "heartbeatTimeoutMillis is no number that it can be: -1" },
        { "bodyCrc32", "4294967295", "bodyCrc32 is no number that it can be: 4294967295" },
        { "bodyCrc32", "1", "crc32 not match" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(RemotingCommand) request = request_with("{}");

        remoting_command_set(request, rows[i][0], rows[i][1]);

        assert_text(decode(request), rows[i][2]);
    }
}

static void
test_id_must_be_there(void)
{
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_REGISTER_BROKER, 1);

    remoting_command_set(request, "brokerName", "b");
    remoting_command_set(request, "brokerAddr", "a:1");
    remoting_command_set(request, "clusterName", "c");

    assert_text(decode(request), "brokerId is missing");
}

/* ---- bodies of JSON ---- */

/* As the 5.3.3 of the originals writes it. */
static const char body_5_3[] =
    "{\"filterServerList\":[\"f1:1\"],\"topicConfigSerializeWrapper\":{\"dataVersion\":{"
    "\"counter\":3,"
    "\"stateVersion\":2,\"timestamp\":1700000000000},\"mappingDataVersion\":{\"counter\":0,"
    "\"stateVersion\":0,\"timestamp\":5},\"topicConfigTable\":{\"T\":{\"attributes\":{"
    "\"+message.type\":\"NORMAL\"},\"order\":false,\"perm\":6,\"readQueueNums\":8,"
    "\"topicFilterType\":\"SINGLE_TAG\",\"topicName\":\"T\",\"topicSysFlag\":0,\"writeQueueNums\":"
    "8},"
    "\"U\":{\"attributes\":{},\"order\":true,\"perm\":4,\"readQueueNums\":4,\"topicFilterType\":"
    "\"SINGLE_TAG\",\"topicName\":\"U\",\"topicSysFlag\":5,\"writeQueueNums\":3}},"
    "\"topicQueueMappingDetailMap\":{},\"topicQueueMappingInfoMap\":{\"T\":{\"bname\":\"b/1\","
    "\"currIdMap\":{0:0,2:1,10:1},\"dirty\":false,\"epoch\":1,\"scope\":\"__global__\",\"topic\":"
    "\"T\","
    "\"totalQueues\":8}}}}";

#define MAPPING                                                                              \
    "{\"bname\":\"b/1\",\"currIdMap\":{0:0,2:1,10:1},\"dirty\":false,\"epoch\":1,\"scope\":" \
    "\"__global__\",\"topic\":\"T\",\"totalQueues\":8}"

static void
test_body_of_5_3(void)
{
    assert_text(decode_body(body_5_3),
                "2.1700000000000.3: T/8/8/6/0 U/4/3/4/5/order T@b/1" MAPPING " filter:f1:1");
}

static void
test_body_of_4_9(void)
{
    assert_text(decode_body("{\"filterServerList\":[],\"topicConfigSerializeWrapper\":{"
                            "\"dataVersion\":{\"counter\":1,\"timestamp\":2},\"topicConfigTable\":{"
                            "\"T\":{\"order\":false,\"perm\":6,\"readQueueNums\":8,"
                            "\"topicFilterType\":\"SINGLE_TAG\",\"topicName\":\"T\","
                            "\"topicSysFlag\":0,\"writeQueueNums\":8}}}}"),
                "0.2.1: T/8/8/6/0");
}

static void
test_defaults_of_what_is_absent(void)
{
    assert_text(decode_body(NULL), "0.0.0:");
    assert_text(decode_body("{}"), "0.1234.0:");
    assert_text(decode_body("{\"filterServerList\":null,\"topicConfigSerializeWrapper\":null}"),
                "0.1234.0:");
    assert_text(decode_body("{\"topicConfigSerializeWrapper\":{\"dataVersion\":{},"
                            "\"topicConfigTable\":{\"T\":{},\"U\":{\"topicName\":\"V\"}}}}"),
                "0.1234.0: T/16/16/6/0 V/16/16/6/0");
}

static void
test_very_old_body_is_the_wrapper(void)
{
    g_autoptr(RemotingCommand) request =
        request_with("{\"dataVersion\":{\"counter\":1,\"timestamp\":2},\"topicConfigTable\":{"
                     "\"T\":{\"perm\":4}}}");

    request->version = REMOTING_VERSION_3_0_11 - 1;

    assert_text(decode(request), "0.2.1: T/16/16/4/0 no-filters");
}

static void
test_bodies_that_cannot_be_read(void)
{
    static const char *const bodies[] = {
        "[]",
        "5",
        "{\"topicConfigSerializeWrapper\":{\"topicConfigTable\":{\"T\":null}}}",
        "{\"topicConfigSerializeWrapper\":{\"topicConfigTable\":{\"T\":{\"perm\":4294967300}}}}",
        "{\"topicConfigSerializeWrapper\":{\"topicConfigTable\":{\"a\\u0000\":{}}}}",
        "{\"topicConfigSerializeWrapper\":{\"topicQueueMappingInfoMap\":{\"a\":1}}}",
        "{\"filterServerList\":{}}",
        "{\"filterServerList\":[]",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(bodies); i++) {
        g_autofree char *text = decode_body(bodies[i]);

        g_assert_true(g_str_has_prefix(text, "the body cannot be read: "));
    }
}

static void
test_checksum_is_of_the_bytes_as_they_came(void)
{
    g_autoptr(RemotingCommand) request = request_with("123456789");
    g_autoptr(RemotingCommand) empty = request_with(NULL);

    /* The check value of CRC-32, without its first bit. */
    g_assert_cmpint(broker_body_crc(request->body), ==, 0xcbf43926 & 0x7fffffff);
    g_assert_cmpint(broker_body_crc(empty->body), ==, 0);
}

/* ---- compressed bodies ---- */

/* body_5_3 as 5.3.3 compresses it, and its checksum. */
static const guint8 compressed[] = {
    0x78, 0xda, 0x4d, 0x4f, 0xc1, 0x4e, 0xc3, 0x30, 0x0c, 0x0d, 0x9c, 0xf8, 0x01, 0xee, 0x91, 0xaf,
    0x0b, 0xd0, 0x6c, 0x13, 0x54, 0xbe, 0xed, 0x80, 0xa6, 0x49, 0xdb, 0x10, 0x50, 0xb8, 0x20, 0x14,
    0xa5, 0x99, 0x37, 0x2a, 0xb5, 0x4d, 0x95, 0xa4, 0x87, 0xa9, 0xea, 0xbf, 0xe3, 0xee, 0x02, 0xb6,
    0x9e, 0xf4, 0xf4, 0xac, 0x67, 0x3f, 0x0b, 0x21, 0xf2, 0x01, 0x9c, 0xef, 0xdb, 0x44, 0x01, 0x70,
    0xa1, 0x20, 0x26, 0x9b, 0xe8, 0x93, 0x42, 0xac, 0x7c, 0x0b, 0x38, 0x57, 0x90, 0xaa, 0x86, 0x58,
    0x6c, 0x3a, 0x40, 0xfd, 0x94, 0xfd, 0xd5, 0x28, 0x84, 0xb8, 0x66, 0xdc, 0x15, 0x32, 0xe7, 0x7e,
    0x94, 0xef, 0x9b, 0xfd, 0x7a, 0xfb, 0x6c, 0x8a, 0xd5, 0x5a, 0x0e, 0x30, 0x63, 0x53, 0xb4, 0x27,
    0xba, 0x4f, 0xe7, 0x8e, 0x00, 0x61, 0xff, 0xf2, 0xb6, 0x5b, 0x6d, 0x61, 0x32, 0xdd, 0x7e, 0xc8,
    0xa5, 0x5c, 0x30, 0xfe, 0x1b, 0xa6, 0xc1, 0xcd, 0x17, 0x1c, 0x35, 0x6a, 0xf8, 0x66, 0x7e, 0xc5,
    0x88, 0x03, 0x94, 0xad, 0x6d, 0x26, 0x7b, 0xf9, 0xa0, 0x41, 0x81, 0xeb, 0x43, 0xd8, 0x1c, 0x76,
    0x96, 0xa3, 0x0c, 0x19, 0x66, 0x6a, 0x8e, 0x5a, 0xe9, 0x0c, 0xf5, 0xa8, 0xe0, 0x50, 0x85, 0x74,
    0x06, 0x3c, 0xda, 0x3a, 0x92, 0x02, 0xea, 0xbc, 0xfb, 0xe1, 0xbc, 0xfc, 0x8e, 0xf3, 0x97, 0xfb,
    0xc6, 0x9c, 0x6a, 0x5f, 0xda, 0xda, 0x18, 0xde, 0x93, 0x7c, 0x57, 0x39, 0x16, 0x8b, 0x0b, 0x4f,
    0xb6, 0x7e, 0xed, 0xa9, 0xa7, 0x08, 0x98, 0x8f, 0xbf, 0x95, 0x49, 0x4a, 0xba,
};
#define COMPRESSED_CRC 662617483

static RemotingCommand *
compressed_request(gint32 version)
{
    RemotingCommand *request = request_with(NULL);

    request->version = version;
    request->body = byte_span(compressed, sizeof compressed);
    remoting_command_set_int(request, "bodyCrc32", COMPRESSED_CRC);
    return request;
}

#ifdef HAVE_ZLIB
static void
test_compressed_body_of_5_3(void)
{
    g_autoptr(RemotingCommand) request = compressed_request(REMOTING_VERSION);
    g_autofree char *told = NULL;
    g_autofree char *sniffed = NULL;

    remoting_command_set(request, "compressed", "false");
    sniffed = decode(request);
    remoting_command_set(request, "compressed", "true");
    told = decode(request);

    g_assert_cmpstr(told, ==,
                    "2.1700000000000.3: T/8/8/6/0 U/4/3/4/0 T@b/1" MAPPING " filter:f1:1");
    g_assert_cmpstr(sniffed, ==, told);
}

static void
test_mappings_are_there_from_5_0_on(void)
{
    g_autoptr(RemotingCommand) request = compressed_request(REMOTING_VERSION_5_0_0 - 1);

    assert_text(decode(request), "2.1700000000000.3: T/8/8/6/0 U/4/3/4/0 filter:f1:1");
}

/* (transfer full) */
static GByteArray *
deflate_all(const void *bytes, gsize length)
{
    uLongf size = compressBound(length);
    GByteArray *out = g_byte_array_sized_new((guint) size);

    g_byte_array_set_size(out, (guint) size);
    g_assert_cmpint(compress(out->data, &size, bytes, length), ==, Z_OK);
    g_byte_array_set_size(out, (guint) size);
    return out;
}

static char *
decode_content(const void *content, gsize length, gint32 version)
{
    g_autoptr(GByteArray) body = deflate_all(content, length);
    g_autoptr(RemotingCommand) request = request_with(NULL);

    request->version = version;
    request->body = byte_span(body->data, body->len);
    return decode(request);
}

#define CONTENT(text, version) decode_content(text, sizeof(text) - 1, version)
#define PREFIX "the body cannot be read: "

static void
test_compressed_content(void)
{
    assert_text(CONTENT("\0\0\0\2{}\0\0\0\0\0\0\0\4null", 409), "0.1234.0: no-filters");
    assert_text(CONTENT("\0\0\0\2{}\0\0\0\1\0\0\0\x0bT 1 2 3 A {}\0\0\0\2[]", 409),
                PREFIX "a compressed body ends too early");
    assert_text(CONTENT("\0\0\0\2{}\0\0\0\1\0\0\0\x0cT 1 2 3 A {}\0\0\0\2[]", 409),
                "0.1234.0: T/1/2/3/0");
    assert_text(CONTENT("\0\0\0\2{}\0\0\0\1\0\0\0\7T 1 2 3\0\0\0\2[]", 409),
                PREFIX "a topic has too few words");
    assert_text(CONTENT("\0\0\0\2{}\0\0\0\1\0\0\0\x09T 1 x 3 A\0\0\0\2[]", 409),
                PREFIX "a topic has a word that is no number");
    assert_text(CONTENT("\0\0\0\2{}\0\0\0\0\0\0\0\2[]", 413),
                PREFIX "a compressed body ends too early");
    assert_text(CONTENT("\0\0\0\2{}\xff\xff\xff\xff", 409),
                PREFIX "a compressed body ends too early");
    assert_text(CONTENT("\xff\xff\xff\xff", 409), PREFIX "a compressed body ends too early");
    assert_text(CONTENT("", 409), PREFIX "a compressed body ends too early");
}

static void
test_damaged_streams(void)
{
    g_autoptr(RemotingCommand) cut = compressed_request(REMOTING_VERSION);
    g_autoptr(RemotingCommand) longer = compressed_request(REMOTING_VERSION);
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    g_byte_array_append(bytes, compressed, sizeof compressed);
    g_byte_array_append(bytes, (const guint8 *) "x", 1);
    longer->body = byte_span(bytes->data, bytes->len);
    cut->body.length--;
    remoting_command_set(cut, "bodyCrc32", "0");
    remoting_command_set(longer, "bodyCrc32", "0");

    assert_text(decode(cut), PREFIX "a compressed body is damaged");
    assert_text(decode(longer), PREFIX "something follows a compressed body");
}

static void
test_body_that_swells_is_refused(void)
{
    gsize length = (gsize) BROKER_BODY_MAX_INFLATED + 1;
    g_autofree char *zeros = g_malloc0(length);

    assert_text(decode_content(zeros, length, REMOTING_VERSION),
                PREFIX "a compressed body holds too much");
}
#else
static void
test_build_without_zlib_says_so(void)
{
    g_autoptr(RemotingCommand) request = compressed_request(REMOTING_VERSION);

    assert_text(decode(request), "the body cannot be read: the body is compressed, and this leat "
                                 "was built without zlib");
}
#endif

/* ---- out ---- */

static void
test_registration_of_an_agent(void)
{
    static const char body[] =
        "{\"filterServerList\":[],\"topicConfigSerializeWrapper\":{\"dataVersion\":{\"counter\":1,"
        "\"stateVersion\":0,\"timestamp\":9},\"mappingDataVersion\":{\"counter\":1,"
        "\"stateVersion\":"
        "0,\"timestamp\":9},\"topicConfigTable\":{\"T\":{\"attributes\":{},\"order\":false,"
        "\"perm\":"
        "6,\"readQueueNums\":4,\"topicFilterType\":\"SINGLE_TAG\",\"topicName\":\"T\","
        "\"topicSysFlag\":0,\"writeQueueNums\":3}},\"topicQueueMappingDetailMap\":{},"
        "\"topicQueueMappingInfoMap\":{}}}";
    g_autoptr(BrokerRegistration) self = broker_registration_new();
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_REGISTER_BROKER, 1);

    self->broker = g_strdup("b");
    self->cluster = g_strdup("c");
    self->address = g_strdup("a:1");
    self->filter_servers = g_ptr_array_new();
    self->version = (DataVersion){ .timestamp_ms = 9, .counter = 1 };
    broker_registration_add_topic(self, "T", 4, 3, 6);
    broker_registration_encode(self, request);

    g_assert_cmpmem(request->body.data, request->body.length, body, sizeof body - 1);
    g_assert_cmpstr(remoting_command_get(request, "brokerId"), ==, "0");
    g_assert_cmpstr(remoting_command_get(request, "haServerAddr"), ==, "");
    g_assert_cmpstr(remoting_command_get(request, "compressed"), ==, "false");
    g_assert_cmpstr(remoting_command_get(request, "heartbeatTimeoutMillis"), ==, "120000");
    g_assert_null(remoting_command_get(request, "enableActingMaster"));
    assert_text(decode(request), "0.9.1: T/4/3/6/0");
}

static void
test_registration_comes_back_as_it_went(void)
{
    g_autoptr(RemotingCommand) came = request_with(body_5_3);
    g_autoptr(RemotingCommand) again = remoting_command_new(NAMESRV_REGISTER_BROKER, 1);
    g_autoptr(BrokerRegistration) self = NULL;
    g_autofree char *before = decode(came);

    remoting_command_set(came, "enableActingMaster", "true");
    remoting_command_set(came, "__ZONE_NAME", "z");
    self = broker_registration_decode(came, NOW_MS, NULL);
    broker_registration_encode(self, again);

    assert_text(decode(again), before);
    g_assert_cmpstr(remoting_command_get(again, "enableActingMaster"), ==, "true");
    g_assert_cmpstr(remoting_command_get(again, "__ZONE_NAME"), ==, "z");
    g_assert_cmpstr(remoting_command_get(again, "haServerAddr"), ==, "10.0.0.1:10912");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/broker-registration/fields-4-9", test_fields_of_a_broker_of_4_9);
    g_test_add_func("/broker-registration/fields-5-3", test_fields_of_a_broker_of_5_3);
    g_test_add_func("/broker-registration/wrong-fields", test_fields_that_are_wrong);
    g_test_add_func("/broker-registration/no-id", test_id_must_be_there);
    g_test_add_func("/broker-registration/body-5-3", test_body_of_5_3);
    g_test_add_func("/broker-registration/body-4-9", test_body_of_4_9);
    g_test_add_func("/broker-registration/defaults", test_defaults_of_what_is_absent);
    g_test_add_func("/broker-registration/wrapper", test_very_old_body_is_the_wrapper);
    g_test_add_func("/broker-registration/bodies-refused", test_bodies_that_cannot_be_read);
    g_test_add_func("/broker-registration/crc", test_checksum_is_of_the_bytes_as_they_came);
#ifdef HAVE_ZLIB
    g_test_add_func("/broker-registration/compressed", test_compressed_body_of_5_3);
    g_test_add_func("/broker-registration/no-mappings", test_mappings_are_there_from_5_0_on);
    g_test_add_func("/broker-registration/content", test_compressed_content);
    g_test_add_func("/broker-registration/damaged", test_damaged_streams);
    g_test_add_func("/broker-registration/bomb", test_body_that_swells_is_refused);
#else
    g_test_add_func("/broker-registration/no-zlib", test_build_without_zlib_says_so);
#endif
    g_test_add_func("/broker-registration/of-an-agent", test_registration_of_an_agent);
    g_test_add_func("/broker-registration/round-trip", test_registration_comes_back_as_it_went);
    return g_test_run();
}
