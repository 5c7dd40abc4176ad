/* test_file_channel_model.c - random actions on a file channel, and what they must do; 10,000
 * sequences with -m slow. */
#include <glib.h>

#include "agent/channels/file_channel/compression.h"
#include "tests/support/channel_world.h"

#define N_ACTIONS 40

static void
run_sequence(guint seed, const char *options)
{
    g_autoptr(ChannelWorld) world = channel_world_new(seed, NULL, options);
    g_autoptr(GError) error = NULL;

    channel_world_open(world, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < N_ACTIONS; i++)
        channel_world_act(world);
    channel_world_close(world);
    channel_world_check(world, world->directory, "at the end");
}

static void
test_every_sequence_of_actions_does_what_it_must(void)
{
    static const char *const options[] = {
        "reserve: 0\nsegment-size: 64KiB\n",
        "reserve: 0\nsegment-size: 64KiB\ncache: 0\n",
        "reserve: 0\nsegment-size: 64KiB\ncache: 4KiB\nsync: never\n",
        "reserve: 0\nsegment-size: 1MiB\ncache: 4KiB\nsync: interval\nsync-interval: 1ms\n",
        "reserve: 0\nsegment-size: 64KiB\nmemory-capacity: 30\ncache: 4KiB\nsync: never\n",
        "reserve: 0\nsegment-size: 64KiB\nmemory-capacity: 30\nmemory-bytes: 8KiB\ncache: 0\n",
        "reserve: 0\nsegment-size: 64KiB\nmemory-capacity: 100000\n",
        "reserve: 0\nsegment-size: 64KiB\ncache: 0\ncompression: zstd\n",
    };
    guint n_options = G_N_ELEMENTS(options) - (record_compression_names[1] == NULL);
    guint n_sequences = g_test_slow() ? 10000 : 2000;

    for (guint seed = 0; seed < n_sequences; seed++)
        run_sequence(seed, options[seed % n_options]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-channel/model", test_every_sequence_of_actions_does_what_it_must);
    return g_test_run();
}
