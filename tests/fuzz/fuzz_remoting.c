/* fuzz_remoting.c - any bytes as frames, registrations and bodies of RocketMQ's programs: what is
 * read can be written, and is then read as the same.
 *
 * The first byte says what the rest is. */
#include <glib.h>
#include <string.h>

#include "registry/wire/broker_registration.h"
#include "registry/wire/cluster_info.h"
#include "registry/wire/fastjson.h"
#include "registry/wire/json_value.h"
#include "registry/wire/kv_table.h"
#include "registry/wire/remoting_command.h"
#include "registry/wire/topic_list.h"
#include "registry/wire/topic_route.h"
#include "tests/fuzz/fuzz_target.h"

#define MAX_FRAME 100000

static ByteSpan
span_of(const GString *text)
{
    return byte_span(text->str, text->len);
}

/* Frees both. */
static void
assert_same(GString *a, GString *b)
{
    g_assert_cmpmem(a->str, a->len, b->str, b->len);
    g_string_free(a, TRUE);
    g_string_free(b, TRUE);
}

/* ---- frames ---- */

static void
append_be(GByteArray *out, gint64 number, guint n_bytes)
{
    for (guint i = n_bytes; i-- > 0;) {
        guint8 byte = (guint8) (number >> (8 * i));

        g_byte_array_append(out, &byte, 1);
    }
}

static void
append_text(GByteArray *out, const char *text, guint n_bytes_of_length)
{
    append_be(out, (gint64) strlen(text), n_bytes_of_length);
    g_byte_array_append(out, (const guint8 *) text, (guint) strlen(text));
}

/* As peers pack it that were told to; leat writes JSON. */
static GByteArray *
pack(const RemotingCommand *command)
{
    g_autoptr(GByteArray) fields = g_byte_array_new();
    g_autoptr(GByteArray) header = g_byte_array_new();
    GByteArray *frame = g_byte_array_new();

    for (guint i = 0; i < command->fields->len; i++) {
        const RemotingField *field = &g_array_index(command->fields, RemotingField, i);

        append_text(fields, field->name, 2);
        append_text(fields, field->value, 4);
    }
    append_be(header, command->code, 2);
    append_be(header, 9, 1);
    append_be(header, command->version, 2);
    append_be(header, command->opaque, 4);
    append_be(header, (command->is_answer ? 1 : 0) | (command->is_one_way ? 2 : 0), 4);
    append_text(header, command->remark == NULL ? "" : command->remark, 4);
    append_be(header, fields->len, 4);
    g_byte_array_append(header, fields->data, fields->len);
    append_be(frame, 4 + header->len + (gint64) command->body.length, 4);
    append_be(frame, 1 << 24 | header->len, 4);
    g_byte_array_append(frame, header->data, header->len);
    if (command->body.length > 0)
        g_byte_array_append(frame, command->body.data, (guint) command->body.length);
    return frame;
}

static gboolean
fits_packed(const RemotingCommand *command)
{
    for (guint i = 0; i < command->fields->len; i++)
        if (strlen(g_array_index(command->fields, RemotingField, i).name) > G_MAXINT16)
            return FALSE;
    return command->code == (gint16) command->code && command->version == (gint16) command->version;
}

/* An empty remark is none in a packed header. */
static void
assert_equal(const RemotingCommand *a, const RemotingCommand *b)
{
    g_assert_cmpint(a->code, ==, b->code);
    g_assert_cmpint(a->version, ==, b->version);
    g_assert_cmpint(a->opaque, ==, b->opaque);
    g_assert_cmpint(a->is_answer, ==, b->is_answer);
    g_assert_cmpint(a->is_one_way, ==, b->is_one_way);
    g_assert_cmpstr(a->remark == NULL ? "" : a->remark, ==, b->remark == NULL ? "" : b->remark);
    g_assert_cmpmem(a->body.data, a->body.length, b->body.data, b->body.length);
    g_assert_cmpuint(a->fields->len, ==, b->fields->len);
    for (guint i = 0; i < a->fields->len; i++) {
        const RemotingField *left = &g_array_index(a->fields, RemotingField, i);
        const RemotingField *right = &g_array_index(b->fields, RemotingField, i);

        g_assert_cmpstr(left->name, ==, right->name);
        g_assert_cmpstr(left->value, ==, right->value);
    }
}

/* Frees the frame. */
static void
assert_reads_as(GByteArray *frame, const RemotingCommand *command)
{
    ByteSpan bytes = byte_span(frame->data, frame->len);
    gsize needed;
    g_autoptr(RemotingCommand) again = NULL;

    g_assert_true(remoting_frame_needs(bytes, G_MAXUINT32, &needed, NULL));
    g_assert_cmpuint(needed, ==, frame->len);
    again = remoting_command_decode(bytes, NULL);
    g_assert_nonnull(again);
    assert_equal(command, again);
    g_byte_array_unref(frame);
}

static void
check_command(const RemotingCommand *command)
{
    GByteArray *frame = g_byte_array_new();

    remoting_command_encode(command, frame);
    assert_reads_as(frame, command);
    if (fits_packed(command))
        assert_reads_as(pack(command), command);
}

/* ---- registrations ---- */

static void
check_lists(const BrokerRegistration *a, const BrokerRegistration *b)
{
    g_assert_cmpuint(a->topics->len, ==, b->topics->len);
    for (guint i = 0; i < a->topics->len; i++) {
        const BrokerTopic *left = g_ptr_array_index(a->topics, i);
        const BrokerTopic *right = g_ptr_array_index(b->topics, i);

        g_assert_cmpstr(left->name, ==, right->name);
        g_assert_cmpint(left->read_queues, ==, right->read_queues);
        g_assert_cmpint(left->write_queues, ==, right->write_queues);
        g_assert_cmpint(left->perm, ==, right->perm);
        g_assert_cmpint(left->sys_flag, ==, right->sys_flag);
        g_assert_cmpint(left->order, ==, right->order);
    }
    g_assert_cmpuint(a->mappings->len, ==, b->mappings->len);
    for (guint i = 0; i < a->mappings->len; i++) {
        const QueueMapping *left = g_ptr_array_index(a->mappings, i);
        const QueueMapping *right = g_ptr_array_index(b->mappings, i);

        g_assert_cmpstr(left->topic, ==, right->topic);
        g_assert_cmpstr(left->broker, ==, right->broker);
        g_assert_cmpstr(left->json, ==, right->json);
    }
}

static void
check_registration(const RemotingCommand *request)
{
    g_autoptr(BrokerRegistration) came = broker_registration_decode(request, 1, NULL);
    g_autoptr(BrokerRegistration) again = NULL;
    g_autoptr(RemotingCommand) sent = remoting_command_new(103, 1);

    if (came == NULL)
        return;
    broker_registration_encode(came, sent);
    check_command(sent);
    again = broker_registration_decode(sent, 1, NULL);

    g_assert_nonnull(again);
    g_assert_cmpstr(came->broker, ==, again->broker);
    g_assert_cmpstr(came->cluster, ==, again->cluster);
    g_assert_cmpstr(came->address, ==, again->address);
    g_assert_cmpstr(came->ha_address, ==, again->ha_address);
    g_assert_cmpstr(came->zone, ==, again->zone);
    g_assert_cmpint(came->id, ==, again->id);
    g_assert_cmpint(came->heartbeat_timeout_ms, ==, again->heartbeat_timeout_ms);
    g_assert_cmpint(came->knows_acting_master, ==, again->knows_acting_master);
    g_assert_cmpint(came->enable_acting_master, ==, again->enable_acting_master);
    g_assert_true(data_version_equal(&came->version, &again->version));
    check_lists(came, again);
}

static void
check_stream(ByteSpan stream)
{
    g_autoptr(RemotingCommand) at_once = remoting_command_decode(stream, NULL);
    g_autoptr(GError) error = NULL;
    gsize needed;

    if (at_once != NULL)
        check_command(at_once);
    while (remoting_frame_needs(stream, MAX_FRAME, &needed, &error) && needed <= stream.length) {
        g_autoptr(RemotingCommand) command =
            remoting_command_decode(byte_span(stream.data, needed), &error);

        g_assert_cmpuint(needed, >=, 8);
        if (command == NULL)
            break;
        check_command(command);
        check_registration(command);
        stream = byte_span(stream.data + needed, stream.length - needed);
    }
    g_assert_true(error != NULL || needed > stream.length);
    if (error == NULL)
        g_assert_cmpuint(needed, <=, MAX_FRAME);
}

/* A frame of JSON is too much to guess: the input is the body of a registration. */
static void
check_body(ByteSpan body)
{
    static const gint32 versions[] = { 36, 401, 479 };

    for (gsize i = 0; i < G_N_ELEMENTS(versions); i++) {
        g_autoptr(RemotingCommand) request = remoting_command_new(103, 1);

        request->version = versions[i];
        request->body = body;
        remoting_command_set(request, "brokerName", "b");
        remoting_command_set(request, "brokerAddr", "a:1");
        remoting_command_set(request, "clusterName", "c");
        remoting_command_set(request, "brokerId", "0");
        check_registration(request);
    }
}

/* ---- other bodies ---- */

static void
assert_strict(const GString *json)
{
    g_autoptr(JsonValue) value = json_value_parse((const guint8 *) json->str, json->len, NULL);

    g_assert_nonnull(value);
    for (gsize i = 0; i < json->len; i++)
        g_assert_cmpint((guint8) json->str[i], <, 0x7f);
}

static void
check_route(ByteSpan json)
{
    static const RouteForm by_default = { 0 };
    static const RouteForm by_standard = { .standard = TRUE, .syn_flag = TRUE };
    g_autoptr(TopicRoute) route = topic_route_decode(json, NULL);
    g_autoptr(TopicRoute) again = NULL;
    g_autoptr(GString) standard = NULL;

    if (route == NULL)
        return;
    standard = topic_route_encode(route, &by_standard);
    assert_strict(standard);
    again = topic_route_decode(span_of(standard), NULL);
    g_assert_nonnull(again);
    assert_same(topic_route_encode(route, &by_default), topic_route_encode(again, &by_default));
}

static void
check_cluster_info(ByteSpan json)
{
    g_autoptr(ClusterInfo) info = cluster_info_decode(json, NULL);
    g_autoptr(ClusterInfo) again = NULL;
    g_autoptr(GString) text = NULL;

    if (info == NULL)
        return;
    text = cluster_info_encode(info);
    again = cluster_info_decode(span_of(text), NULL);
    g_assert_nonnull(again);
    assert_same(cluster_info_encode(info), cluster_info_encode(again));
}

static void
check_topic_list(ByteSpan json)
{
    g_autoptr(GPtrArray) topics = topic_list_decode(json, NULL);
    g_autoptr(GPtrArray) again = NULL;
    g_autoptr(GString) text = NULL;

    if (topics == NULL)
        return;
    text = topic_list_encode(topics, "a:1");
    again = topic_list_decode(span_of(text), NULL);
    g_assert_nonnull(again);
    assert_same(topic_list_encode(topics, NULL), topic_list_encode(again, NULL));
}

static void
check_kv(ByteSpan json)
{
    g_autoptr(GHashTable) config = kv_config_decode(json, NULL);
    g_autoptr(GHashTable) again = NULL;
    g_autoptr(GString) text = NULL;

    if (config == NULL)
        return;
    text = kv_config_encode(config);
    again = kv_config_decode(span_of(text), NULL);
    g_assert_nonnull(again);
    assert_same(kv_config_encode(config), kv_config_encode(again));
}

/* What is JSON is fastjson's too, and a copy of a copy is the copy. */
static void
check_dialect(ByteSpan json)
{
    g_autoptr(JsonValue) strict = json_value_parse(json.data, json.length, NULL);
    g_autoptr(GString) standard = g_string_new(NULL);
    g_autoptr(GString) first = g_string_new(NULL);
    g_autoptr(GString) second = g_string_new(NULL);
    JsonReader reader;
    ByteSpan written;

    json_reader_init(&reader, json, JSON_FASTJSON);
    json_reader_skip(&reader, &written);
    if (!json_reader_finish(&reader, NULL)) {
        g_assert_null(strict);
        return;
    }
    fastjson_copy(&(Fastjson){ .out = first }, NULL, written);
    fastjson_copy(&(Fastjson){ .out = second }, NULL, span_of(first));
    g_assert_cmpmem(first->str, first->len, second->str, second->len);
    fastjson_copy(&(Fastjson){ .out = standard, .standard = TRUE }, NULL, span_of(first));
    assert_strict(standard);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(ByteSpan) = {
        check_stream,     check_body, check_route,   check_cluster_info,
        check_topic_list, check_kv,   check_dialect,
    };

    if (size > 0)
        checks[data[0] % G_N_ELEMENTS(checks)](byte_span(data + 1, size - 1));
    return 0;
}
