/* test_agent_config.c - a good file is wired as it says; of a bad one every mistake is shown. */
#include "agent/agent_config.h"

#include <string.h>

#include "agent/agent_route.h"

/* Sections that are right, for tests that are about another one. */
#define SOURCES "sources:\n  numbers: { type: sequence, channels: [buffer] }\n"
#define CHANNELS "channels:\n  buffer: { type: memory }\n"
#define SINKS "sinks:\n  out: { type: null, channel: buffer }\n"

#define TWO_SINKS \
    "sinks:\n  a: { type: null, channel: buffer }\n  b: { type: null, channel: buffer }\n"

static AgentConfig *
parse(const char *yaml)
{
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    AgentConfig *config = agent_config_parse(yaml, strlen(yaml), problems);
    g_autofree char *text = problems_to_text(problems);

    g_assert_cmpstr(text, ==, "");
    g_assert_nonnull(config);
    return config;
}

static char *
problems_of(const char *yaml)
{
    g_autoptr(Problems) problems = problems_new("agent.yaml");
    g_autoptr(AgentConfig) config = agent_config_parse(yaml, strlen(yaml), problems);

    g_assert_null(config);
    return problems_to_text(problems);
}

/* ---- good files ---- */

static void
test_parts_stand_in_the_order_of_the_file_and_are_wired(void)
{
    g_autoptr(AgentConfig) config =
        parse("sinks:\n"
              "  b: { type: null, channel: buffer }\n"
              "  a: { type: null, channel: zebra }\n"
              "agent: { name: edge, http: \"off\", shutdown-timeout: 3s }\n"
              "channels:\n"
              "  zebra: { type: memory }\n"
              "  buffer: { type: memory, capacity: 7 }\n"
              "sources:\n"
              "  numbers: { type: sequence, channels: [buffer, zebra] }\n");
    const Sink *second = g_ptr_array_index(config->sinks, 1);
    const Source *source = g_ptr_array_index(config->sources, 0);

    g_assert_cmpstr(config->name, ==, "edge");
    g_assert_null(config->http);
    g_assert_cmpint(config->shutdown_timeout_us, ==, 3 * G_USEC_PER_SEC);
    g_assert_cmpstr(second->base.path, ==, "sinks.a");
    g_assert_true(second->channel == g_ptr_array_index(config->channels, 0));
    g_assert_cmpuint(((const Channel *) g_ptr_array_index(config->channels, 1))->capacity, ==, 7);
    g_assert_nonnull(source->processor);
}

static void
test_what_is_not_written_has_its_default(void)
{
    g_autoptr(AgentConfig) config = parse(SOURCES CHANNELS SINKS);

    g_assert_cmpstr(config->name, ==, g_get_host_name());
    g_assert_cmpint(config->shutdown_timeout_us, ==, 10 * G_USEC_PER_SEC);
    g_assert_cmpuint(config->http->port, ==, 41414);
    g_assert_cmpuint(config->selectors->len, ==, 1);
    g_assert_cmpstr(((const Component *) g_ptr_array_index(config->selectors, 0))->type->name, ==,
                    "replicating");
}

static void
test_a_selector_sees_required_channels_first_and_interceptors_keep_their_order(void)
{
    g_autoptr(AgentConfig) config = parse(
        "sources:\n"
        "  numbers:\n"
        "    type: sequence\n"
        "    optional-channels: spare\n"
        "    channels: [two, one]\n"
        "    selector: { type: load_balance }\n"
        "    interceptors: [{ type: uuid }, { type: HOST }, { type: uuid, header-name: b }]\n"
        "channels: { one: { type: memory }, two: { type: memory }, spare: { type: memory } }\n"
        "sinks:\n"
        "  a: { type: null, channel: one }\n"
        "  b: { type: null, channel: two }\n"
        "  c: { type: null, channel: spare }\n");
    const AgentRoute *route = g_ptr_array_index(config->routes, 0);
    const Selector *selector = route->selector;

    g_assert_cmpuint(selector->n_channels, ==, 3);
    g_assert_cmpuint(selector->n_required, ==, 2);
    g_assert_cmpstr(selector->channel_names[0], ==, "two");
    g_assert_cmpstr(selector->channel_names[2], ==, "spare");
    g_assert_cmpuint(selector->required, ==, 3);
    g_assert_cmpuint(selector->optional, ==, 4);
    g_assert_cmpuint(route->interceptors->len, ==, 3);
    g_assert_cmpstr(((const Component *) g_ptr_array_index(route->interceptors, 1))->name, ==,
                    "numbers.interceptors[1]");
}

static void
test_one_mapping_may_serve_several_parts(void)
{
    g_autoptr(AgentConfig) config = parse("sources:\n"
                                          "  a: &numbers { type: sequence, channels: [buffer] }\n"
                                          "  b: *numbers\n" CHANNELS SINKS);

    g_assert_cmpuint(config->sources->len, ==, 2);
    g_assert_cmpstr(((const Component *) g_ptr_array_index(config->sources, 1))->path, ==,
                    "sources.b");
}

static void
test_a_source_may_have_64_channels(void)
{
    g_autoptr(GString) channels = g_string_new("channels:\n");
    g_autoptr(GString) sinks = g_string_new("sinks:\n");
    g_autoptr(GString) names = g_string_new(NULL);
    g_autofree char *yaml = NULL;
    g_autoptr(AgentConfig) config = NULL;
    const AgentRoute *route;

    for (guint i = 0; i < SELECTOR_MAX_CHANNELS; i++) {
        g_string_append_printf(channels, "  c%u: { type: memory }\n", i);
        g_string_append_printf(sinks, "  s%u: { type: null, channel: c%u }\n", i, i);
        g_string_append_printf(names, "%sc%u", i > 0 ? ", " : "", i);
    }
    yaml = g_strdup_printf("sources:\n  numbers: { type: sequence, channels: [%s] }\n%s%s",
                           names->str, channels->str, sinks->str);
    config = parse(yaml);
    route = g_ptr_array_index(config->routes, 0);

    g_assert_cmpuint(route->selector->required, ==, G_MAXUINT64);
    g_assert_cmpuint(route->selector->optional, ==, 0);
}

/* ---- bad files ---- */

/* A file and all that is said of it. */
typedef struct {
    const char *sentence;
    const char *yaml;
    const char *problems;
} BadFile;

static const BadFile bad_files[] = {
    { "sections_that_are_missing_are_named", "agent: { name: x }\n",
      "agent.yaml: channels: the section is missing; an agent needs a channel, add 'channels:' "
      "with one\n"
      "agent.yaml: sinks: the section is missing; an agent needs a sink, add 'sinks:' with one\n"
      "agent.yaml: sources: the section is missing; an agent needs a source, add 'sources:' with "
      "one\n" },
    { "an_empty_section_has_no_parts", SOURCES CHANNELS "sinks:\n",
      "agent.yaml:5:1: sinks: the section has no sink; write 'sink-name: { type: ... }' below "
      "it\n" },
    { "a_list_of_parts_has_no_names", "sources: [{ type: sequence }]\n" CHANNELS SINKS,
      "agent.yaml:1:1: sources: a list has no names; write 'source-name: { type: ... }' for each "
      "source\n" },
    { "an_unknown_section_is_nearest_to_another", "sink: {}\n" SOURCES CHANNELS SINKS,
      "agent.yaml:1:1: sink: unknown section 'sink'; did you mean 'sinks'?\n" },
    { "an_unknown_option_of_the_agent", "agent: { nam: x }\n" SOURCES CHANNELS SINKS,
      "agent.yaml:1:10: agent: unknown option 'nam'; did you mean 'name'?\n" },
    { "a_part_is_no_word", "sources:\n  numbers: sequence\n" CHANNELS SINKS,
      "agent.yaml:2:3: sources.numbers: a source is a mapping of options; write '{ type: sequence "
      "}' with its options\n" },
    { "a_part_without_a_type", SOURCES CHANNELS "sinks:\n  out: { channel: buffer }\n",
      "agent.yaml:6:3: sinks.out: the type is missing; add 'type: ...', sink types are: *\n" },
    { "a_type_that_is_misspelt", SOURCES CHANNELS "sinks:\n  out: { type: nul, channel: buffer }\n",
      "agent.yaml:6:16: sinks.out.type: there is no sink of type 'nul'; did you mean 'null'?\n" },
    { "a_type_that_is_like_no_other",
      SOURCES CHANNELS "sinks:\n  out: { type: cassandra, channel: buffer }\n",
      "agent.yaml:6:16: sinks.out.type: there is no sink of type 'cassandra'; sink types are: "
      "*null*\n" },
    { "of_an_unknown_type_the_common_options_are_checked",
      SOURCES CHANNELS "sinks:\n  out: { type: nul, channel: bufer, batch-size: 0, more: 1 }\n",
      "agent.yaml:6:16: sinks.out.type: there is no sink of type 'nul'; did you mean 'null'?\n"
      "agent.yaml:6:30: sinks.out.channel: there is no channel 'bufer'; did you mean 'buffer'?\n"
      "agent.yaml:6:49: sinks.out.batch-size: '0' is out of range; write a number from 1 to "
      "1000000\n" },
    { "a_name_has_letters_digits_and_three_signs",
      SOURCES CHANNELS "sinks:\n  o/t: { type: null, channel: buffer }\n",
      "agent.yaml:6:3: sinks.o/t: 'o/t' is not a name; use letters, digits, '_', '.' and '-'\n" },
    { "a_name_has_64_characters",
      SOURCES CHANNELS
      "sinks:\n"
      "  a123456789b123456789c123456789d123456789e123456789f123456789g1234: { type: null, "
      "channel: buffer }\n",
      "agent.yaml:6:3: *: the name has 65 characters; use at most 64\n" },
    { "a_sink_without_a_channel", SOURCES CHANNELS "sinks:\n  out: { type: null }\n",
      "agent.yaml:6:8: sinks.out: the option 'channel' is missing; add 'channel: buffer'\n" },
    { "a_source_without_a_channel", "sources:\n  numbers: { type: sequence }\n" CHANNELS SINKS,
      "agent.yaml:2:12: sources.numbers: the option 'channels' is missing; add 'channels: "
      "[buffer]'\n" },
    { "a_source_with_an_empty_list_of_channels",
      "sources:\n  numbers: { type: sequence, channels: [] }\n" CHANNELS SINKS,
      "agent.yaml:2:40: sources.numbers.channels: the list is empty; write at least one\n" },
    { "an_unknown_channel_in_a_list",
      "sources:\n  numbers: { type: sequence, channels: [buffer, x] }\n" CHANNELS SINKS,
      "agent.yaml:2:49: sources.numbers.channels[1]: there is no channel 'x'; channels are: "
      "buffer\n" },
    { "a_channel_twice",
      "sources:\n  numbers: { type: sequence, channels: [buffer, buffer] }\n" CHANNELS SINKS,
      "agent.yaml:2:49: sources.numbers.channels[1]: channel 'buffer' is named twice; name it "
      "once\n" },
    { "a_channel_required_and_optional",
      "sources:\n  numbers: { type: sequence, channels: buffer, optional-channels: buffer "
      "}\n" CHANNELS SINKS,
      "agent.yaml:2:67: sources.numbers.optional-channels[0]: channel 'buffer' is both required "
      "and optional; name it in one list\n" },
    { "a_channel_that_no_sink_reads_and_no_source_feeds",
      SOURCES "channels:\n  buffer: { type: memory }\n  spare: { type: memory }\n" SINKS,
      "agent.yaml:5:3: channels.spare: no sink reads this channel; add one with 'channel: spare' "
      "or remove it\n"
      "agent.yaml:5:3: channels.spare: no source writes to this channel; name it in the "
      "'channels' of one, or as the 'dead-letter' of a sink, or remove it\n" },
    { "an_unknown_dead_letter_channel",
      SOURCES CHANNELS "sinks:\n  out: { type: null, channel: buffer, dead-letter: dead }\n",
      "agent.yaml:6:52: sinks.out.dead-letter: there is no channel 'dead'; channels are: "
      "buffer\n" },
    { "dead_letters_into_the_own_channel",
      SOURCES CHANNELS "sinks:\n  out: { type: null, channel: buffer, dead-letter: buffer }\n",
      "agent.yaml:6:52: sinks.out.dead-letter: rejected events would come back to this sink "
      "(buffer -> buffer); name a channel that leads elsewhere\n" },
    { "dead_letters_that_come_back_by_way_of_others",
      SOURCES "channels: { buffer: { type: memory }, a: { type: memory }, b: { type: memory } }\n"
              "sinks:\n"
              "  out: { type: null, channel: buffer, dead-letter: a }\n"
              "  two: { type: null, channel: a, dead-letter: b }\n"
              "  three: { type: null, channel: b, dead-letter: a }\n",
      "agent.yaml:6:47: sinks.two.dead-letter: rejected events would come back to this sink "
      "(a -> b -> a); name a channel that leads elsewhere\n"
      "agent.yaml:7:49: sinks.three.dead-letter: rejected events would come back to this sink "
      "(b -> a -> b); name a channel that leads elsewhere\n" },
    { "a_dead_letter_channel_without_a_reader",
      SOURCES "channels: { buffer: { type: memory }, dead: { type: memory } }\n"
              "sinks:\n  out: { type: null, channel: buffer, dead-letter: dead }\n",
      "agent.yaml:3:39: channels.dead: no sink reads this channel; add one with 'channel: dead' "
      "or remove it\n" },
    { "a_group_of_an_unknown_sink",
      SOURCES CHANNELS TWO_SINKS "sink-groups:\n  g: { processor: failover, sinks: [a, c] }\n",
      "agent.yaml:9:40: sink-groups.g.sinks[1]: there is no sink 'c'; sinks are: a, b\n" },
    { "a_group_of_one",
      SOURCES CHANNELS TWO_SINKS "sink-groups:\n  g: { processor: failover, sinks: [a] }\n",
      "agent.yaml:9:36: sink-groups.g.sinks: a group of one sink does nothing; add another one or "
      "remove the group\n" },
    { "a_group_of_none", SOURCES CHANNELS TWO_SINKS "sink-groups:\n  g: { processor: failover }\n",
      "agent.yaml:9:6: sink-groups.g: the option 'sinks' is missing; add 'sinks: [first, "
      "second]'\n" },
    { "a_sink_in_two_groups",
      SOURCES CHANNELS TWO_SINKS "sink-groups:\n"
                                 "  g: { processor: failover, sinks: [a, b] }\n"
                                 "  h: { processor: load-balance, sinks: [b, b] }\n",
      "agent.yaml:10:41: sink-groups.h.sinks[0]: sink 'b' is in group 'g' already; a sink is in "
      "one group at most\n"
      "agent.yaml:10:44: sink-groups.h.sinks[1]: sink 'b' is in group 'g' already; a sink is in "
      "one group at most\n" },
    { "a_sink_twice_in_a_group",
      SOURCES CHANNELS TWO_SINKS
      "sink-groups:\n  g: { processor: load-balance, sinks: [a, b, a] }\n",
      "agent.yaml:9:47: sink-groups.g.sinks[2]: sink 'a' is named twice; name it once\n" },
    { "a_group_over_two_channels",
      "sources:\n  numbers: { type: sequence, channels: [x, y] }\n"
      "channels: { x: { type: memory }, y: { type: memory } }\n"
      "sinks: { a: { type: null, channel: x }, b: { type: null, channel: y } }\n"
      "sink-groups:\n  g: { processor: failover, sinks: [a, b] }\n",
      "agent.yaml:6:36: sink-groups.g.sinks: sink 'a' takes from channel 'x' and sink 'b' from "
      "'y'; the sinks of a group share one channel\n" },
    { "equal_priorities",
      SOURCES CHANNELS TWO_SINKS
      "sink-groups:\n  g: { processor: failover, sinks: [a, b], priorities: { a: 5, b: 5 } }\n",
      "agent.yaml:9:56: sink-groups.g.priorities: sinks 'a' and 'b' have the same priority; which "
      "of them goes first?\n" },
    { "priorities_of_strangers_and_words",
      SOURCES CHANNELS TWO_SINKS
      "sink-groups:\n  g: { processor: failover, sinks: [a, b], priorities: { a: x, c: 1 } }\n",
      "agent.yaml:9:56: sink-groups.g.priorities: 'c' is no sink of this group; add it to 'sinks' "
      "or remove it\n"
      "agent.yaml:9:56: sink-groups.g.priorities: 'x' of sink 'a' is not a priority; write a whole "
      "number\n" },
    { "a_priority_for_one_of_two",
      SOURCES CHANNELS TWO_SINKS
      "sink-groups:\n  g: { processor: failover, sinks: [a, b], priorities: { a: 5 } }\n",
      "agent.yaml:9:56: sink-groups.g.priorities: sink 'b' has no priority; give every sink of the "
      "group one, or none\n" },
    { "a_group_without_a_processor",
      SOURCES CHANNELS TWO_SINKS "sink-groups:\n  g: { sinks: [a, b] }\n",
      "agent.yaml:9:3: sink-groups.g: the processor is missing; add 'processor: ...', sink-group "
      "types are: failover, load-balance\n" },
    { "an_option_of_the_other_processor",
      SOURCES CHANNELS TWO_SINKS
      "sink-groups:\n  g: { processor: failover, sinks: [a, b], selector: random }\n",
      "agent.yaml:9:44: sink-groups.g: unknown option 'selector'; options are: sinks, priorities, "
      "max-penalty\n" },
    { "a_thrift_sink_with_more_hosts_than_its_client",
      SOURCES CHANNELS "sinks:\n"
                       "  out: { type: thrift, channel: buffer, hosts: [\"a:1\", \"b:2\"], "
                       "client: single }\n",
      "agent.yaml:6:72: sinks.out.client: single has one host, not 2; write failover or "
      "load-balance\n" },
    { "a_thrift_sink_with_fewer_hosts_than_its_client",
      SOURCES CHANNELS "sinks:\n"
                       "  out: { type: thrift, channel: buffer, hosts: \"a:1\", "
                       "client: load-balance }\n",
      "agent.yaml:6:63: sinks.out.client: load-balance needs two hosts or more; add hosts or write "
      "single\n" },
    { "a_misspelt_client_of_a_thrift_sink_is_one_problem",
      SOURCES CHANNELS "sinks:\n"
                       "  out: { type: thrift, channel: buffer, hosts: [\"a:1\", \"b:2\"], "
                       "client: loadbalance }\n",
      "agent.yaml:6:72: sinks.out.client: 'loadbalance' is none of the choices; did you mean "
      "'load-balance'? choices are: single, failover, load-balance\n" },
    { "a_misspelt_channel_is_one_problem",
      "sources:\n  numbers: { type: sequence, channels: [bufer] }\n" CHANNELS
      "sinks:\n  out: { type: null, channel: bufffer }\n",
      "agent.yaml:2:41: sources.numbers.channels[0]: there is no channel 'bufer'; did you mean "
      "'buffer'?\n"
      "agent.yaml:6:31: sinks.out.channel: there is no channel 'bufffer'; did you mean "
      "'buffer'?\n" },
    { "an_interceptor_has_a_place_in_its_list",
      "sources:\n  numbers: { type: sequence, channels: buffer, interceptors: [{ type: uuid }, "
      "{ type: uid }, uuid, { type: uuid, prefx: a }] }\n" CHANNELS SINKS,
      "agent.yaml:2:87: sources.numbers.interceptors[1].type: there is no interceptor of type "
      "'uid'; did you mean 'uuid'?\n"
      "agent.yaml:2:94: sources.numbers.interceptors[2]: an interceptor is a mapping of options; "
      "write '{ type: uuid }' with its options\n"
      "agent.yaml:2:114: sources.numbers.interceptors[3]: unknown option 'prefx'; did you mean "
      "'prefix'?\n" },
    { "interceptors_are_a_list",
      "sources:\n  numbers: { type: sequence, channels: buffer, interceptors: { type: uuid } "
      "}\n" CHANNELS SINKS,
      "agent.yaml:2:62: sources.numbers.interceptors: interceptors are a list; write '[{ type: "
      "... }]'\n" },
    { "a_selector_that_is_misspelt",
      "sources:\n  numbers: { type: sequence, channels: buffer, selector: { type: replicate } "
      "}\n" CHANNELS SINKS,
      "agent.yaml:2:66: sources.numbers.selector.type: there is no selector of type 'replicate'; "
      "did you mean 'replicating'?\n" },
    { "a_selector_names_channels_of_its_source",
      "sources:\n  numbers: { type: sequence, channels: buffer, selector: { type: multiplexing, "
      "mapping: { a: bufer } } }\n" CHANNELS SINKS,
      "agent.yaml:2:*: sources.numbers.selector.mapping: *'bufer'*buffer*\n" },
    { "an_unset_variable_and_what_else_is_wrong",
      "agent: { name: \"${LEAT_TEST_UNSET}\", http: nowhere }\n" SOURCES CHANNELS SINKS,
      "agent.yaml:1:16: agent.name: *LEAT_TEST_UNSET*\n"
      "agent.yaml:1:44: agent.http: 'nowhere' *\n" },
};

static void
test_bad_file(gconstpointer data)
{
    const BadFile *bad = data;
    g_autofree char *problems = problems_of(bad->yaml);

    g_test_message("%s", problems);
    g_assert_true(g_pattern_match_simple(bad->problems, problems));
}

static void
test_more_than_64_channels_are_too_many(void)
{
    g_autoptr(GString) names = g_string_new("c0");
    g_autoptr(GString) channels = g_string_new("channels:\n  c0: { type: memory }\n");
    g_autofree char *yaml = NULL;
    g_autofree char *problems = NULL;

    for (guint i = 1; i <= SELECTOR_MAX_CHANNELS; i++) {
        g_string_append_printf(channels, "  c%u: { type: memory }\n", i);
        g_string_append_printf(names, ", c%u", i);
    }
    yaml = g_strdup_printf("sources:\n  numbers: { type: sequence, channels: [%s] }\n%s"
                           "sinks:\n  out: { type: null, channel: c0 }\n",
                           names->str, channels->str);
    problems = problems_of(yaml);

    g_assert_nonnull(strstr(problems, "agent.yaml:2:40: sources.numbers.channels: a source has at "
                                      "most 64 channels, required and optional, not 65; split it"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("LEAT_TEST_UNSET");
    g_test_add_func("/agent_config/parts_stand_in_the_order_of_the_file_and_are_wired",
                    test_parts_stand_in_the_order_of_the_file_and_are_wired);
    g_test_add_func("/agent_config/what_is_not_written_has_its_default",
                    test_what_is_not_written_has_its_default);
    g_test_add_func(
        "/agent_config/a_selector_sees_required_channels_first_and_interceptors_keep_their_order",
        test_a_selector_sees_required_channels_first_and_interceptors_keep_their_order);
    g_test_add_func("/agent_config/one_mapping_may_serve_several_parts",
                    test_one_mapping_may_serve_several_parts);
    g_test_add_func("/agent_config/a_source_may_have_64_channels",
                    test_a_source_may_have_64_channels);
    g_test_add_func("/agent_config/more_than_64_channels_are_too_many",
                    test_more_than_64_channels_are_too_many);
    for (guint i = 0; i < G_N_ELEMENTS(bad_files); i++) {
        g_autofree char *path = g_strconcat("/agent_config/bad/", bad_files[i].sentence, NULL);

        g_test_add_data_func(path, &bad_files[i], test_bad_file);
    }
    return g_test_run();
}
