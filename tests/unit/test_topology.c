/* test_topology.c - the drawing of a topology shows every part and every line, and only those. */
#include "agent/agent_config.h"

#include <locale.h>
#include <string.h>

#include "agent/http_server.h"

#define CHAIN                                             \
    "agent: { name: edge, http: \"off\" }\n"              \
    "sources:\n"                                          \
    "  numbers: { type: sequence, channels: [buffer] }\n" \
    "channels:\n"                                         \
    "  buffer: { type: memory, byte-capacity: 1MiB }\n"   \
    "sinks:\n"                                            \
    "  out: { type: null, channel: buffer }\n"

#define NET                                                        \
    "agent: { name: edge, http: \"off\" }\n"                       \
    "sources:\n"                                                   \
    "  a: { type: sequence, channels: [x, y] }\n"                  \
    "  b: { type: sequence, channels: y, optional-channels: x }\n" \
    "channels: { x: { type: memory }, y: { type: memory } }\n"     \
    "sinks:\n"                                                     \
    "  m: { type: null, channel: x }\n"                            \
    "  n: { type: null, channel: x }\n"                            \
    "  o: { type: null, channel: y }\n"

static AgentConfig *
parse(const char *yaml)
{
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    AgentConfig *config = agent_config_parse(yaml, strlen(yaml), problems);
    g_autofree char *text = problems_to_text(problems);

    g_assert_cmpstr(text, ==, "");
    return config;
}

static char *
draw(const char *yaml, const char *locale)
{
    g_autoptr(AgentConfig) config = parse(yaml);

    g_assert_nonnull(setlocale(LC_CTYPE, locale));
    return agent_config_draw(config);
}

static void
test_a_chain_is_a_straight_line(void)
{
    g_autofree char *drawing = draw(CHAIN, "C");

    g_assert_cmpstr(drawing, ==,
                    "agent edge, without metrics\n"
                    "\n"
                    "+----------+     +-----------------------+     +------+\n"
                    "| numbers  +---->| buffer                +---->| out  |\n"
                    "| sequence |     | memory                |     | null |\n"
                    "+----------+     | 1000000 events, 1 MiB |     +------+\n"
                    "                 +-----------------------+\n");
}

/* Each line has a row of its own between two columns; where two cross, one is drawn through. */
static void
test_lines_of_different_parts_do_not_join(void)
{
    g_autofree char *drawing = draw(NET, "C.UTF-8");

    g_assert_cmpstr(drawing, ==,
                    "agent edge, without metrics\n"
                    "\n"
                    "┌──────────┐         ┌─────────────────────────┐       ┌──────┐\n"
                    "│ a        ├──┬─────►│ x                       ├──┬───►│ m    │\n"
                    "│ sequence │  │ ┌╌╌╌►│ memory                  │  │    │ null │\n"
                    "└──────────┘  │ │    │ 1000000 events, 256 MiB │  │    └──────┘\n"
                    "┌──────────┐  │ │    └─────────────────────────┘  │    ┌──────┐\n"
                    "│ b        ├──│─┤                                 └───►│ n    │\n"
                    "│ sequence │  │ │                                      │ null │\n"
                    "└──────────┘  │ │                                      └──────┘\n"
                    "              │ │    ┌─────────────────────────┐       ┌──────┐\n"
                    "              └─│───►│ y                       ├──────►│ o    │\n"
                    "                └───►│ memory                  │       │ null │\n"
                    "                     │ 1000000 events, 256 MiB │       └──────┘\n"
                    "                     └─────────────────────────┘\n"
                    "\n"
                    "╌╌► optional: a copy, if there is room\n");
}

static void
test_the_address_of_metrics_is_shown_if_there_will_be_any(void)
{
    g_autofree char *drawing = draw("agent: { name: edge, http: ':8080' }\n"
                                    "sources: { a: { type: sequence, channels: x } }\n"
                                    "channels: { x: { type: memory } }\n"
                                    "sinks: { m: { type: null, channel: x } }\n",
                                    "C");

    g_assert_true(g_str_has_prefix(
        drawing, http_server_is_available() ? "agent edge, metrics at :8080\n"
                                            : "agent edge, metrics off (built without HTTP)\n"));
}

static void
test_graphviz_gets_every_part_and_line(void)
{
    g_autoptr(AgentConfig) config = parse(NET);
    g_autofree char *dot = agent_config_to_dot(config);

    g_assert_true(g_str_has_prefix(dot, "digraph \"edge\" {\n"));
    g_assert_nonnull(strstr(dot, "\"sources.a\" -> \"channels.x\";\n"));
    g_assert_nonnull(strstr(dot, "\"sources.b\" -> \"channels.x\" [style=dashed];\n"));
    g_assert_nonnull(strstr(dot, "\"channels.x\" -> \"sinks.n\";\n"));
    g_assert_null(strstr(dot, "\"channels.y\" -> \"sinks.n\""));
}

#define TIERS                                                     \
    "agent: { name: edge, http: \"off\" }\n"                      \
    "sources: { in: { type: sequence, channels: x } }\n"          \
    "channels: { x: { type: memory }, dead: { type: memory } }\n" \
    "sinks:\n"                                                    \
    "  a: { type: 'null', channel: x, dead-letter: dead }\n"      \
    "  b: { type: 'null', channel: x }\n"                         \
    "  letters: { type: 'null', channel: dead }\n"                \
    "sink-groups: { g: { processor: failover, sinks: [a, b] } }\n"

static void
test_groups_and_dead_letters_are_told_of(void)
{
    g_autofree char *drawing = draw(TIERS, "C");

    g_assert_nonnull(strstr(drawing, "| failover group g     |\n"));
    g_assert_nonnull(strstr(drawing, "| dead letters to dead |\n"));
    g_assert_nonnull(strstr(drawing, "| dead "));
}

static void
test_graphviz_gets_groups_and_dead_letters(void)
{
    g_autoptr(AgentConfig) config = parse(TIERS);
    g_autofree char *dot = agent_config_to_dot(config);

    g_assert_nonnull(strstr(dot, "\"sinks.a\" -> \"channels.dead\" [style=dotted, "
                                 "label=\"dead letters\"];\n"));
    g_assert_nonnull(strstr(dot, "  subgraph \"cluster sink-groups.g\" {\n"
                                 "    label=\"g, failover\";\n"
                                 "    \"sinks.a\";\n"
                                 "    \"sinks.b\";\n"
                                 "  }\n"));
}

static void
test_a_long_place_keeps_its_end_and_quotes_are_escaped(void)
{
    g_autoptr(AgentConfig) config =
        parse("agent: { name: 'say \"x\"' }\n"
              "sources: { a: { type: sequence, channels: x } }\n"
              "channels: { x: { type: memory } }\n"
              "sinks:\n"
              "  m: { type: file, channel: x, directory: "
              "'/a/very/long/path/that/does/not/fit/into/the/\"box\"' }\n");
    g_autofree char *drawing = NULL;
    g_autofree char *dot = agent_config_to_dot(config);

    g_assert_nonnull(setlocale(LC_CTYPE, "C"));
    drawing = agent_config_draw(config);
    g_assert_nonnull(strstr(drawing, "| .../that/does/not/fit/into/the/\"box\" |"));
    g_assert_nonnull(strstr(dot, "digraph \"say \\\"x\\\"\" {"));
    g_assert_nonnull(strstr(dot, "/the/\\\"box\\\"\"];\n"));
}

static void
test_nothing_in_a_drawing_commands_the_terminal(void)
{
    g_autofree char *drawing =
        draw("agent: { name: \"a\\e[31mb\" }\n"
             "sources: { a: { type: sequence, channels: x } }\n"
             "channels: { x: { type: memory } }\n"
             "sinks: { m: { type: file, channel: x, directory: \"/d\\n\" } }\n",
             "C");

    g_assert_true(g_str_has_prefix(drawing, "agent a?[31mb, "));
    g_assert_nonnull(strstr(drawing, "| /d?  |"));
}

static void
test_a_topology_too_large_to_look_at_is_told_in_words(void)
{
    g_autoptr(GString) yaml =
        g_string_new("channels: { x: { type: memory }, y: { type: memory } }\n"
                     "sinks:\n"
                     "  m: { type: null, channel: x }\n"
                     "  n: { type: null, channel: y }\n"
                     "sources:\n");
    g_autofree char *drawing = NULL;

    for (guint i = 0; i < 1000; i++)
        g_string_append_printf(yaml,
                               "  s%u: { type: sequence, channels: x, optional-channels: y }\n", i);
    drawing = draw(yaml->str, "C");

    g_assert_nonnull(strstr(drawing, "\nsource s999 puts events into x y (optional)\n"));
    g_assert_nonnull(strstr(drawing, "\nsink n takes events from y\n"));
}

static void
test_what_is_announced_is_said_above(void)
{
    static const char yaml[] =
        "agent: { name: edge, http: \"off\" }\n"
        "sources: { apps: { type: thrift, listen: \":4141\", channels: [b] } }\n"
        "channels: { b: { type: memory } }\n"
        "sinks: { out: { type: null, channel: b } }\n"
        "registration:\n"
        "  - { type: nsqlookupd, topic: t, tcp-addresses: [\"r1:4160\", \"r2:4160\"] }\n"
        "  - { type: namesrv, topics: [{ name: t }], addresses: [\"r1:9876\"] }\n";

    g_autofree char *drawing = draw(yaml, "C");

    g_assert_true(g_str_has_prefix(drawing,
                                   "agent edge, without metrics\n"
                                   "source apps announced at r1:4160, r2:4160 (nsqlookupd)\n"
                                   "source apps announced at r1:9876 (namesrv)\n"
                                   "\n+---"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/topology/groups_and_dead_letters_are_told_of",
                    test_groups_and_dead_letters_are_told_of);
    g_test_add_func("/topology/graphviz_gets_groups_and_dead_letters",
                    test_graphviz_gets_groups_and_dead_letters);
    g_test_add_func("/topology/a_chain_is_a_straight_line", test_a_chain_is_a_straight_line);
    g_test_add_func("/topology/lines_of_different_parts_do_not_join",
                    test_lines_of_different_parts_do_not_join);
    g_test_add_func("/topology/the_address_of_metrics_is_shown_if_there_will_be_any",
                    test_the_address_of_metrics_is_shown_if_there_will_be_any);
    g_test_add_func("/topology/graphviz_gets_every_part_and_line",
                    test_graphviz_gets_every_part_and_line);
    g_test_add_func("/topology/a_long_place_keeps_its_end_and_quotes_are_escaped",
                    test_a_long_place_keeps_its_end_and_quotes_are_escaped);
    g_test_add_func("/topology/nothing_in_a_drawing_commands_the_terminal",
                    test_nothing_in_a_drawing_commands_the_terminal);
    g_test_add_func("/topology/a_topology_too_large_to_look_at_is_told_in_words",
                    test_a_topology_too_large_to_look_at_is_told_in_words);
    g_test_add_func("/topology/what_is_announced_is_said_above",
                    test_what_is_announced_is_said_above);
    return g_test_run();
}
