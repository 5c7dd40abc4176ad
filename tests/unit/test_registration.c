/* test_registration.c - which address of a source registries are told, and what `leat check` says
 * of the section. */
#include "agent/core/registration.h"

#include <string.h>

#include "agent/agent_config.h"
#include "agent/builtin.h"
#include "tests/support/fake_listener.h"
#include "tests/support/test_part.h"

/* ---- what is told ---- */

typedef struct {
    const char *listen, *advertise, *local, *registry;
    guint16 http_port;
    const char *expected; /* "host port http-port"; NULL: nothing, as it would be of no use */
} AnnounceRow;

static const AnnounceRow announce_rows[] = {
    /* Everywhere: as the registry is reached. */
    { ":0", "", "10.0.0.1", "10.0.0.9", 0, "10.0.0.1 4141 4141" },
    { "0.0.0.0:0", "", "10.0.0.1", "10.0.0.9", 8080, "10.0.0.1 4141 8080" },
    { "[::]:0", "", "2001:db8::1", "2001:db8::9", 0, "2001:db8::1 4141 4141" },
    { ":0", "", "127.0.0.1", "127.0.0.1", 0, "127.0.0.1 4141 4141" },
    { "0.0.0.0:0", "", "2001:db8::1", "2001:db8::9", 0, NULL },
    { "[::]:0", "", "10.0.0.1", "10.0.0.9", 0, NULL },
    { ":0", "", "2001:db8::1", "2001:db8::9", 0, "2001:db8::1 4141 4141" },
    /* At one address: there, and nowhere else. */
    { "10.0.0.2:0", "", "10.0.0.1", "10.0.0.9", 0, "10.0.0.2 4141 4141" },
    { "127.0.0.1:0", "", "127.0.0.1", "127.0.0.1", 0, "127.0.0.1 4141 4141" },
    { "127.0.0.1:0", "", "10.0.0.1", "10.0.0.9", 0, NULL },
    { "localhost:0", "", "10.0.0.1", "10.0.0.9", 0, NULL },
    { "[::1]:0", "", "10.0.0.1", "10.0.0.9", 0, NULL },
    /* As written. */
    { ":0", "hub1", "10.0.0.1", "10.0.0.9", 0, "hub1 4141 4141" },
    { ":0", "hub1:99", "10.0.0.1", "10.0.0.9", 0, "hub1 99 99" },
    { ":0", "2001:db8::7", "10.0.0.1", "10.0.0.9", 0, "2001:db8::7 4141 4141" },
    { ":0", "[2001:db8::7]", "10.0.0.1", "10.0.0.9", 0, "2001:db8::7 4141 4141" },
    { ":0", "[2001:db8::7]:99", "10.0.0.1", "10.0.0.9", 0, "2001:db8::7 99 99" },
    { "127.0.0.1:0", "hub1", "10.0.0.1", "10.0.0.9", 0, "hub1 4141 4141" },
    { ":0", "127.0.0.1:99", "127.0.0.1", "127.0.0.1", 0, "127.0.0.1 99 99" },
    { ":0", "127.0.0.1:99", "10.0.0.1", "10.0.0.9", 0, NULL },
};

static void
test_what_is_told(gconstpointer data)
{
    const AnnounceRow *row = data;
    g_autofree char *yaml =
        g_strdup_printf("{ tcp-addresses: [\"registry:4160\"], topic: t%s%s%s }",
                        *row->advertise != '\0' ? ", advertise: \"" : "", row->advertise,
                        *row->advertise != '\0' ? "\"" : "");
    g_autoptr(FakeListener) source = fake_listener_new(row->listen, 4141);
    Registration *registration = (Registration *) test_part_new(
        &nsqlookupd_registration.base, COMPONENT_REGISTRATION, "registration[0]", yaml);
    g_auto(Announced) as = { 0 };
    g_autoptr(GError) error = NULL;
    g_autofree char *told = NULL;

    registration->source = &source->base;
    if (registration_announce(registration, row->local, row->registry, row->http_port, &as, &error))
        told = g_strdup_printf("%s %u %u", as.host, as.port, as.http_port);

    g_assert_cmpstr(told, ==, row->expected);
    g_assert_true((error == NULL) == (told != NULL));
    test_part_free(&registration->base);
}

/* ---- what is wrong with the section ---- */

#define OTHERS                                   \
    "channels: { b: { type: memory } }\n"        \
    "sinks: { o: { type: null, channel: b } }\n" \
    "sources:\n"
#define NUMBERS "  numbers: { type: sequence, channels: [b] }\n"
#define APPS(address) "  apps: { type: thrift, listen: \"" address "\", channels: [b] }\n"
#define WEB "  web: { type: thrift, listen: \":4142\", channels: [b] }\n"
#define NSQ "registration:\n  - { type: nsqlookupd, topic: t, tcp-addresses: [\"10.0.0.9:4160\"]"
#define NSQ_ITEM "  - { type: nsqlookupd, topic: t, tcp-addresses: [\"10.0.0.9:4160\"] }\n"
#define BROKER_ITEM(options, topic)                                         \
    "  - { type: namesrv, addresses: [\"10.0.0.9:9876\"], source: " options \
    ", topics: [{ name: " topic " }] }\n"
#define BROKER(options, topic) "registration:\n" BROKER_ITEM(options, topic)

static const struct {
    const char *name;
    const char *yaml;
    const char *problem; /* NULL: none */
} section_rows[] = {
    { "the_only_source_that_listens_need_not_be_named", OTHERS NUMBERS APPS(":4141") NSQ " }\n",
      NULL },
    { "one_of_two_must_be_named", OTHERS APPS(":4141") WEB NSQ " }\n",
      "agent.yaml:7:5: registration[0].source: the source is missing; add 'source: ...', sources "
      "that listen are: apps, web\n" },
    { "a_named_one_is_found", OTHERS APPS(":4141") WEB NSQ ", source: web }\n", NULL },
    { "no_source_listens", OTHERS NUMBERS NSQ " }\n",
      "agent.yaml:6:5: registration[0].source: no source listens, so that there is none to "
      "announce\n" },
    { "a_source_that_is_not_there", OTHERS APPS(":4141") NSQ ", source: app }\n",
      "agent.yaml:6:77: registration[0].source: there is no source 'app'; did you mean 'apps'?\n" },
    { "a_source_that_does_not_listen", OTHERS APPS(":4141") NUMBERS NSQ ", source: numbers }\n",
      "agent.yaml:7:77: registration[0].source: source 'numbers' does not listen; sources that "
      "listen are: apps\n" },
    { "a_source_on_loopback_and_a_registry_elsewhere", OTHERS APPS("127.0.0.1:4141") NSQ " }\n",
      "agent.yaml:6:5: registration[0].advertise: source 'apps' listens on '127.0.0.1' alone, "
      "where "
      "nobody who asks the registry at 10.0.0.9 would reach it; let it listen on another address, "
      "or write `advertise`\n" },
    { "a_loopback_address_for_a_registry_elsewhere",
      OTHERS APPS(":4141") NSQ ", advertise: \"localhost:1\" }\n",
      "agent.yaml:6:80: registration[0].advertise: nobody who asks the registry at 10.0.0.9 would "
      "get here by 'localhost'; write an address that others reach\n" },
    { "an_address_of_nobody", OTHERS APPS(":4141") NSQ ", advertise: 0.0.0.0 }\n",
      "agent.yaml:6:80: registration[0].advertise: '0.0.0.0' is no address that others reach; "
      "write "
      "one of this machine, or leave it out\n" },
    { "an_address_that_is_none", OTHERS APPS(":4141") NSQ ", advertise: \"a b\" }\n",
      "agent.yaml:6:80: registration[0].advertise: 'a b' is no address; write host or "
      "host:port\n" },
    { "a_topic_that_is_none", OTHERS APPS(":4141") NSQ ", namespace: \"q a\" }\n",
      "agent.yaml:6:32: registration[0].topic: 'q a.t' is no name of a topic; use up to 64 "
      "letters, "
      "digits, '.', '_' and '-'\n" },
    { "a_heartbeat_that_is_too_rare", OTHERS APPS(":4141") NSQ ", heartbeat: 2m }\n",
      "agent.yaml:6:80: registration[0].heartbeat: '2m' is out of range; write a duration from 1s "
      "to 1m\n" },
    { "an_unknown_type", OTHERS APPS(":4141") "registration:\n  - { type: zookeeper }\n",
      "agent.yaml:6:13: registration[0].type: there is no registration of type 'zookeeper'; "
      "registration types are: namesrv, nsqlookupd\n" },
    { "a_port_that_nobody_reaches", OTHERS APPS(":4141") NSQ ", advertise: \"h:0\" }\n",
      "agent.yaml:6:80: registration[0].advertise: 'h:0' has port 0, which nobody can connect to; "
      "write the port that others reach, or the host alone\n" },
    { "a_registry_that_is_there_twice",
      OTHERS APPS(":4141") "registration:\n  - { type: nsqlookupd, topic: t, tcp-addresses: "
                           "[\"a:1\", \"b:1\", \"A:1\"] }\n",
      "agent.yaml:6:50: registration[0].tcp-addresses: 'a:1' is there twice; name it once\n" },
    { "a_source_that_is_announced_twice", OTHERS APPS(":4141") NSQ " }\n" NSQ_ITEM,
      "agent.yaml:7:5: registration[1]: source 'apps' for topic 't' is announced at "
      "10.0.0.9:4160 by registration[0] too; leave one of them out, or let them differ\n" },
    { "two_brokers_of_one_id",
      OTHERS APPS(":4141") WEB BROKER("apps, broker: c1", "t") BROKER_ITEM("web, broker: c1", "u"),
      "agent.yaml:8:5: registration[1]: broker 'c1' with id 0 is announced at 10.0.0.9:9876 by "
      "registration[0] too; leave one of them out, or let them differ\n" },
    { "two_brokers_of_two_ids",
      OTHERS APPS(":4141") WEB BROKER("apps, broker: c1", "t")
          BROKER_ITEM("web, broker: c1, broker-id: 1", "t"),
      NULL },
    { "a_cluster_whose_name_is_none", OTHERS APPS(":4141") BROKER("apps, cluster: \"a b\"", "t"),
      "agent.yaml:6:75: registration[0].cluster: 'a b' cannot be the name of a cluster; write "
      "'cluster: ...' with up to 127 letters, digits, '.', '_' and '-'\n" },
    { "a_topic_that_stands_for_all", OTHERS APPS(":4141") BROKER("apps, broker: c1", "TBW102"),
      "agent.yaml:6:86: registration[0].topics: 'TBW102' stands for every topic that has no "
      "broker, and all of them would come here; name the topics that the source is for\n" },
    { "an_empty_list", OTHERS APPS(":4141") "registration: []\n",
      "agent.yaml:5:15: registration: the list is empty; write '- { type: ... }' for each, or "
      "leave "
      "the section out\n" },
    { "no_list", OTHERS APPS(":4141") "registration: { type: nsqlookupd }\n",
      "agent.yaml:5:1: registration: registrations are a list; write '- { type: ... }' for "
      "each\n" },
};

static void
test_section(gconstpointer data)
{
    const char *const *row = data;
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    g_autoptr(AgentConfig) config = agent_config_parse(row[0], strlen(row[0]), problems);
    g_autofree char *text = problems_to_text(problems);

    g_assert_cmpstr(text, ==, row[1] != NULL ? row[1] : "");
    g_assert_true((config != NULL) == (row[1] == NULL));
}

static void
test_each_registration_has_its_source_and_its_defaults(void)
{
    static const char yaml[] =
        OTHERS APPS(":4141") WEB NSQ ", source: web }\n"
                                     "  - { type: nsqlookupd, topic: u, "
                                     "source: apps, tcp-addresses: [a:1] }\n";
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    g_autoptr(AgentConfig) config = agent_config_parse(yaml, sizeof yaml - 1, problems);
    const Registration *first = g_ptr_array_index(config->registrations, 0);
    const Registration *second = g_ptr_array_index(config->registrations, 1);

    g_assert_cmpstr(first->source->base.name, ==, "web");
    g_assert_cmpstr(second->source->base.name, ==, "apps");
    g_assert_cmpint(first->heartbeat_us, ==, 15 * G_USEC_PER_SEC);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(announce_rows); i++) {
        const AnnounceRow *row = &announce_rows[i];
        g_autofree char *path = g_strdup_printf("/registration/told/%s_%s_to_%s", row->listen,
                                                row->advertise, row->registry);

        g_test_add_data_func(path, row, test_what_is_told);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(section_rows); i++) {
        g_autofree char *path = g_strdup_printf("/registration/%s", section_rows[i].name);

        g_test_add_data_func(path, &section_rows[i].yaml, test_section);
    }
    g_test_add_func("/registration/each_registration_has_its_source_and_its_defaults",
                    test_each_registration_has_its_source_and_its_defaults);
    return g_test_run();
}
