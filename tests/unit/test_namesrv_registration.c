/* test_namesrv_registration.c - what a name server is told of a source, and how its answers are
 * read. */
#include <string.h>

#include "agent/agent_config.h"
#include "agent/builtin.h"
#include "registry/wire/broker_registration.h"
#include "registry/wire/namesrv_codes.h"
#include "tests/support/test_part.h"

#define OPTIONS "addresses: [\"10.0.0.9:9876\"], broker: c1"

typedef struct {
    Registration *registration;
    GByteArray *asked; /* what it said last */
} World;

static World *
world_new(const char *yaml)
{
    World *self = g_new0(World, 1);

    self->registration = (Registration *) test_part_new(
        &namesrv_registration.base, COMPONENT_REGISTRATION, "registration[0]", yaml);
    self->asked = g_byte_array_new();
    return self;
}

static void
world_free(World *self)
{
    test_part_free(&self->registration->base);
    g_byte_array_unref(self->asked);
    g_free(self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

/* ---- what it says ---- */

/* The whole of what it says, as a name server reads it. */
static RemotingCommand *
ask(World *self, AnnounceStep step, gint32 serial)
{
    const Announced as = { .host = (char *) "10.0.0.7", .port = 4141, .http_port = 1 };
    RemotingCommand *command;
    g_autoptr(GError) error = NULL;

    g_byte_array_set_size(self->asked, 0);
    namesrv_registration.ask(self->registration, step, &as, serial, self->asked);
    command = remoting_command_decode(byte_span(self->asked->data, self->asked->len), &error);
    g_assert_no_error(error);
    g_assert_cmpint(command->opaque, ==, serial);
    g_assert_false(command->is_answer);
    g_assert_false(command->is_one_way);
    return command;
}

static BrokerRegistration *
join(World *self, AnnounceStep step)
{
    g_autoptr(RemotingCommand) command = ask(self, step, 7);
    BrokerRegistration *told;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(command->code, ==, NAMESRV_REGISTER_BROKER);
    told = broker_registration_decode(command, 0, &error);
    g_assert_no_error(error);
    return told;
}

/* "name read write perm" of each. */
static char *
topics_of(const BrokerRegistration *told)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < told->topics->len; i++) {
        const BrokerTopic *topic = g_ptr_array_index(told->topics, i);

        g_string_append_printf(text, "%s %d %d %d;", topic->name, topic->read_queues,
                               topic->write_queues, topic->perm);
    }
    return g_string_free(text, FALSE);
}

static void
test_a_source_is_told_as_a_broker(void)
{
    g_autoptr(World) world = world_new(
        "{ " OPTIONS ", cluster: west, broker-id: 2, heartbeat: 10s, topics: [{ name: t }] }");

    g_autoptr(BrokerRegistration) told = join(world, ANNOUNCE_JOIN);

    g_assert_cmpstr(told->cluster, ==, "west");
    g_assert_cmpstr(told->broker, ==, "c1");
    g_assert_cmpstr(told->address, ==, "10.0.0.7:4141");
    g_assert_cmpint(told->id, ==, 2);
    g_assert_cmpint(told->heartbeat_timeout_ms, ==, 30000);
    g_assert_true(told->knows_acting_master);
    g_assert_false(told->enable_acting_master);
}

static void
test_topics_come_with_those_of_cluster_and_broker(void)
{
    g_autoptr(World) world = world_new(
        "{ " OPTIONS ", namespace: qa, topics: [{ name: logs }, { name: old, read-queues: 8, "
        "write-queues: 0, perm: r }, { name: TBW102, perm: none }] }");
    g_autofree char *topics = NULL;

    g_autoptr(BrokerRegistration) told = join(world, ANNOUNCE_JOIN);

    topics = topics_of(told);
    g_assert_cmpstr(topics, ==,
                    "qa%logs 4 4 6;qa%old 8 0 4;TBW102 4 4 0;DefaultCluster 1 1 1;c1 1 1 1;");
}

static void
test_a_heartbeat_says_all_of_it_in_the_same_version(void)
{
    g_autoptr(World) world = world_new("{ " OPTIONS ", topics: [{ name: t }] }");
    g_autoptr(BrokerRegistration) first = join(world, ANNOUNCE_JOIN);
    g_autofree char *topics = topics_of(first);
    g_autofree char *again = NULL;

    g_autoptr(BrokerRegistration) second = join(world, ANNOUNCE_HEARTBEAT);

    again = topics_of(second);
    g_assert_cmpstr(again, ==, topics);
    g_assert_true(data_version_equal(&first->version, &second->version));
    g_assert_cmpint(first->version.timestamp_ms, >, 0);
}

static void
test_a_farewell_names_what_goes(void)
{
    g_autoptr(World) world = world_new("{ " OPTIONS ", broker-id: 1, topics: [{ name: t }] }");

    g_autoptr(RemotingCommand) command = ask(world, ANNOUNCE_LEAVE, 9);

    g_assert_cmpint(command->code, ==, NAMESRV_UNREGISTER_BROKER);
    g_assert_cmpstr(remoting_command_get(command, "brokerName"), ==, "c1");
    g_assert_cmpstr(remoting_command_get(command, "brokerAddr"), ==, "10.0.0.7:4141");
    g_assert_cmpstr(remoting_command_get(command, "clusterName"), ==, "DefaultCluster");
    g_assert_cmpstr(remoting_command_get(command, "brokerId"), ==, "1");
}

/* ---- what it hears ---- */

static void
append_answer(GByteArray *out, gint32 opaque, gint32 code, const char *remark)
{
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_REGISTER_BROKER, opaque);
    g_autoptr(RemotingCommand) command = remoting_command_new_answer(request, code, remark);

    remoting_command_encode(command, out);
}

static gboolean
take(const GByteArray *bytes, gsize length, gsize *ret_left, GError **error)
{
    ByteSpan input = byte_span(bytes->data, length);
    gboolean taken = namesrv_registration.take_answer(NULL, ANNOUNCE_JOIN, 7, &input, error);

    *ret_left = input.length;
    return taken;
}

static void
test_an_answer_is_taken_once_it_is_whole(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    gsize left;
    append_answer(bytes, 7, REMOTING_SUCCESS, NULL);

    for (gsize cut = 0; cut < bytes->len; cut++) {
        g_assert_false(take(bytes, cut, &left, &error));
        g_assert_no_error(error);
    }
    g_assert_true(take(bytes, bytes->len, &left, &error));

    g_assert_cmpuint(left, ==, 0);
}

static void
test_what_answers_something_else_is_passed_over(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(RemotingCommand) request = remoting_command_new(NAMESRV_NOTIFY_MIN_BROKER_ID, 7);
    g_autoptr(GError) error = NULL;
    gsize left;
    append_answer(bytes, 6, REMOTING_SYSTEM_ERROR, NULL);
    remoting_command_encode(request, bytes);

    g_assert_false(take(bytes, bytes->len, &left, &error));
    append_answer(bytes, 7, REMOTING_SUCCESS, NULL);
    g_assert_true(take(bytes, bytes->len, &left, &error));

    g_assert_no_error(error);
}

static void
test_a_refusal_is_told_with_its_reason(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    gsize left;
    append_answer(bytes, 7, REMOTING_SYSTEM_ERROR, "register broker failed");

    g_assert_false(take(bytes, bytes->len, &left, &error));

    g_assert_error(error, REGISTRATION_ERROR, REGISTRATION_ERROR_REFUSED);
    g_assert_cmpstr(error->message, ==, "it answers 1: register broker failed");
}

static void
test_what_is_no_name_server_is_found_out(void)
{
    static const char *const answers[] = { "HTTP/1.1 400 Bad Request\r\n",
                                           "\1\1\1\1E_BAD_PROTOCOL" };

    for (gsize i = 0; i < G_N_ELEMENTS(answers); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autoptr(GError) error = NULL;
        gsize left;
        g_byte_array_append(bytes, (const guint8 *) answers[i], (guint) strlen(answers[i]));

        g_assert_false(take(bytes, bytes->len, &left, &error));

        g_assert_nonnull(error);
        g_assert_true(g_str_has_prefix(error->message, "it is no name server: "));
    }
}

/* ---- what is wrong with the section ---- */

static const struct {
    const char *yaml;
    const char *problem;
} problem_rows[] = {
    { "{ " OPTIONS ", topics: [{ name: a.b }] }",
      "test.yaml:1:53: tested.topics: 'a.b' is no name of a topic; use up to 127 letters, digits, "
      "'_' and '-'\n" },
    { "{ " OPTIONS ", topics: [{ name: a }, { name: a }] }",
      "test.yaml:1:53: tested.topics: topic 'a' is there twice; name it once\n" },
    { "{ " OPTIONS ", topics: [{ name: c1 }], cluster: c1 }",
      "test.yaml:1:53: tested.topics: the topic, the cluster and the broker have one name; give "
      "one "
      "of them another\n" },
    { "{ " OPTIONS ", topics: [{ name: a }], heartbeat-timeout: 30s }",
      "test.yaml:1:87: tested.heartbeat-timeout: it is over before the next heartbeat has come; "
      "raise it to more than one heartbeat, or lower heartbeat\n" },
    { "{ " OPTIONS ", topics: [{ name: a }], cluster: \"\" }",
      "test.yaml:1:77: tested.cluster: '' is no name; write one, or leave the option out\n" },
    { "{ " OPTIONS ", topics: [] }",
      "test.yaml:1:53: tested.topics: the list is empty; write at least one\n" },
};

static void
test_problems(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(problem_rows); i++) {
        g_autofree char *problems = test_part_problems(
            &namesrv_registration.base, COMPONENT_REGISTRATION, problem_rows[i].yaml);

        g_assert_cmpstr(problems, ==, problem_rows[i].problem);
    }
}

static void
test_the_broker_is_the_agent_unless_it_is_named(void)
{
    static const char yaml[] =
        "agent: { name: edge-7 }\n"
        "channels: { b: { type: memory } }\n"
        "sinks: { o: { type: null, channel: b } }\n"
        "sources: { apps: { type: thrift, listen: \":4141\", channels: [b] } }\n"
        "registration: [{ type: namesrv, addresses: [\"a:1\"], topics: [{ name: t }] }]\n";
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    g_autoptr(AgentConfig) config = agent_config_parse(yaml, sizeof yaml - 1, problems);
    World world = { g_ptr_array_index(config->registrations, 0), g_byte_array_new() };

    g_autoptr(BrokerRegistration) told = join(&world, ANNOUNCE_JOIN);

    g_assert_cmpstr(told->broker, ==, "edge-7");
    g_byte_array_unref(world.asked);
}

#define ADD(test) g_test_add_func("/namesrv_registration/" #test, test_##test)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD(a_source_is_told_as_a_broker);
    ADD(topics_come_with_those_of_cluster_and_broker);
    ADD(a_heartbeat_says_all_of_it_in_the_same_version);
    ADD(a_farewell_names_what_goes);
    ADD(an_answer_is_taken_once_it_is_whole);
    ADD(what_answers_something_else_is_passed_over);
    ADD(a_refusal_is_told_with_its_reason);
    ADD(what_is_no_name_server_is_found_out);
    ADD(problems);
    ADD(the_broker_is_the_agent_unless_it_is_named);
    return g_test_run();
}
