/* test_rpc_settings.c - an option means the same to the library and to the Thrift sink. */
#include "client/rpc_settings.h"

#include <glib.h>
#include <string.h>

#include "agent/core/sink.h"

extern const SinkType thrift_sink;

static const OptionSpec *
find_in_sink(const char *name)
{
    for (const OptionSpec *row = thrift_sink.base.options; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static gsize
member_size(OptionKind kind)
{
    return kind == OPTION_CHOICE || kind == OPTION_BOOL ? sizeof(guint) : sizeof(guint64);
}

/* What the sink has as its default is no change. */
static void
assert_same_default(const OptionSpec *row, const char *fallback)
{
    g_auto(RpcSettings) fresh = { 0 };
    g_auto(RpcSettings) set = { 0 };
    g_autoptr(GError) error = NULL;

    rpc_settings_init(&fresh);
    rpc_settings_init(&set);
    rpc_settings_set(&set, row->name, fallback, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(G_STRUCT_MEMBER_P(&set, row->offset), member_size(row->kind),
                    G_STRUCT_MEMBER_P(&fresh, row->offset), member_size(row->kind));
}

static void
test_an_option_of_the_sink_is_the_same_here(void)
{
    guint n_common = 0;

    for (const OptionSpec *row = rpc_settings_rows; row->name != NULL; row++) {
        const OptionSpec *of_sink = find_in_sink(row->name);

        if (of_sink == NULL)
            continue;
        n_common++;
        g_assert_cmpint(row->kind, ==, of_sink->kind);
        g_assert_cmpuint(row->min, ==, of_sink->min);
        g_assert_cmpint(row->zero_ok, ==, of_sink->zero_ok);
        if (row->choices != NULL)
            g_assert_cmpstrv(row->choices, of_sink->choices);
        /* Many threads share a client of the library, and one of a sink. */
        if (of_sink->fallback != NULL && strcmp(row->name, "connections") != 0)
            assert_same_default(row, of_sink->fallback);
    }
    g_assert_cmpuint(n_common, ==, 10);
}

static void
test_the_defaults_are_those_of_the_client(void)
{
    g_auto(RpcSettings) settings = { 0 };
    RpcClientOptions expected;
    RpcClientOptions options;

    rpc_client_options_init(&expected);
    rpc_settings_init(&settings);
    g_assert_true(rpc_settings_set(&settings, "hosts", "hub1:4141", NULL));
    rpc_settings_to_options(&settings, &options);
    g_assert_cmpuint(options.hosts->len, ==, 1);
    options.hosts = NULL;

    g_assert_cmpint(options.kind, ==, expected.kind);
    g_assert_cmpint(options.protocol, ==, expected.protocol);
    g_assert_cmpuint(options.batch_size, ==, expected.batch_size);
    g_assert_cmpuint(options.connections, ==, expected.connections);
    g_assert_cmpuint(options.in_flight, ==, expected.in_flight);
    g_assert_cmpuint(options.max_attempts, ==, expected.max_attempts);
    g_assert_cmpint(options.backoff, ==, expected.backoff);
    g_assert_cmpint(options.max_backoff_us, ==, expected.max_backoff_us);
    g_assert_cmpint(options.request_timeout_us, ==, expected.request_timeout_us);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rpc-settings/an-option-of-the-sink-is-the-same-here",
                    test_an_option_of_the_sink_is_the_same_here);
    g_test_add_func("/rpc-settings/the-defaults-are-those-of-the-client",
                    test_the_defaults_are_those_of_the_client);
    return g_test_run();
}
