/* test_channel.c - the promises of channel.h, held by every type of channel. */
#include "tests/contract/channel_contract.h"
#include "tests/contract/channel_harness.h"

static void
add_tests(const ChannelVariant *variant, const char *group, const ContractTest *tests)
{
    for (; tests->name != NULL; tests++) {
        g_autofree char *path =
            g_strdup_printf("/channel/%s/%s/%s", variant->name, group, tests->name);

        g_test_add_data_func(path, variant, tests->run);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (const ChannelVariant *variant = channel_variants; variant->name != NULL; variant++) {
        add_tests(variant, "put", channel_put_contract);
        add_tests(variant, "take", channel_take_contract);
        add_tests(variant, "wait", channel_wait_contract);
        add_tests(variant, "threads", channel_thread_contract);
    }
    return g_test_run();
}
