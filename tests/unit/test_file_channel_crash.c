/* test_file_channel_crash.c - a crash at any moment, and calls that fail: nothing acknowledged is
 * lost, nothing is invented, the order is kept, and the channel opens. */
#include <errno.h>
#include <glib.h>

#include "tests/support/channel_world.h"
#include "tests/support/crash_disk.h"
#include "tests/support/folder.h"

#define OPTIONS "reserve: 0\nsegment-size: 64KiB\ncache: 16KiB\n"

/* ---- a crash at any moment ---- */

typedef struct {
    ChannelWorld *world;
    GRand *rand;
    CrashKind kind;
    guint n_checked;
} Crash;

static void
crash_now(gpointer user)
{
    Crash *self = user;
    g_autofree char *folder = folder_make();
    g_autofree char *what =
        g_strdup_printf("%s at call %u in %s", self->kind == CRASH_KILL ? "killed" : "power cut",
                        crash_disk_n_calls(), folder);

    crash_disk_leave(self->kind, self->rand, folder);
    channel_world_check(self->world, folder, what);
    folder_remove(folder);
    self->n_checked++;
}

static void
run_with_crashes(guint seed, CrashKind kind, guint n_actions, const char *options)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(ChannelWorld) world = channel_world_new(seed, &crash_disk_ops, options);
    g_autoptr(GError) error = NULL;
    Crash crash = { .world = world, .rand = rand, .kind = kind };

    crash_disk_start(crash_now, &crash);
    channel_world_open(world, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < n_actions; i++)
        channel_world_act(world);
    channel_world_close(world);

    g_assert_cmpuint(crash.n_checked, >, n_actions / 2);
    channel_world_check(world, world->directory, "at the end");
    g_test_message("%u moments", crash.n_checked);
    crash_disk_stop();
}

static void
test_a_killed_process_loses_nothing(void)
{
    run_with_crashes(1, CRASH_KILL, 200, OPTIONS);
}

static void
test_a_killed_process_loses_nothing_without_a_sync(void)
{
    run_with_crashes(2, CRASH_KILL, 200, OPTIONS "sync: never\n");
}

static void
test_a_killed_process_loses_nothing_between_two_syncs(void)
{
    run_with_crashes(3, CRASH_KILL, 200, OPTIONS "sync: interval\nsync-interval: 5ms\n");
}

/* Runs that once lost something. */
static const guint kept_seeds[] = { 12 };

static void
test_a_power_cut_loses_nothing(void)
{
    guint n_seeds = g_test_slow() ? 100 : 3;

    for (guint i = 0; i < G_N_ELEMENTS(kept_seeds); i++)
        run_with_crashes(kept_seeds[i], CRASH_POWER, 200, OPTIONS);
    for (guint seed = 100; seed < 100 + n_seeds; seed++)
        run_with_crashes(seed, CRASH_POWER, 200, OPTIONS);
}

/* ---- calls that fail ---- */

/* FALSE if there were not so many calls. */
static gboolean
run_with_failure(guint n, gboolean for_ever, int number, const char *options)
{
    g_autofree char *what = g_strdup_printf("call %u fails with %d%s", n, number,
                                            for_ever ? ", and all later ones" : "");
    g_autoptr(ChannelWorld) world = channel_world_new(77, &crash_disk_ops, options);
    gboolean reached;

    world->fails = TRUE;
    crash_disk_start(NULL, NULL);
    crash_disk_fail(n, for_ever, number);
    channel_world_open(world, NULL);
    for (guint i = 0; i < 40; i++)
        channel_world_act(world);
    channel_world_close(world);
    reached = crash_disk_n_calls() > n;
    channel_world_check(world, world->directory, what);
    crash_disk_stop();
    return reached;
}

static void
test_whatever_call_fails_nothing_is_lost(void)
{
    static const int numbers[] = { EIO, ENOSPC };

    for (guint k = 0; k < G_N_ELEMENTS(numbers); k++)
        for (guint for_ever = 0; for_ever < 2; for_ever++)
            for (guint n = 0; run_with_failure(n, for_ever != 0, numbers[k], OPTIONS); n++)
                g_assert_cmpuint(n, <, 1000);
}

/* For ever would be another story: then what is in memory is lost at the end. */
static void
test_whatever_call_fails_once_a_spillable_channel_writes_what_it_has(void)
{
    const char *options = OPTIONS "memory-capacity: 30\n";

    for (guint n = 0; run_with_failure(n, FALSE, EIO, options); n++)
        g_assert_cmpuint(n, <, 1000);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-channel/crash/kill", test_a_killed_process_loses_nothing);
    g_test_add_func("/file-channel/crash/kill-unsynced",
                    test_a_killed_process_loses_nothing_without_a_sync);
    g_test_add_func("/file-channel/crash/kill-interval",
                    test_a_killed_process_loses_nothing_between_two_syncs);
    g_test_add_func("/file-channel/crash/power", test_a_power_cut_loses_nothing);
    g_test_add_func("/file-channel/crash/failures", test_whatever_call_fails_nothing_is_lost);
    g_test_add_func("/file-channel/crash/spillable",
                    test_whatever_call_fails_once_a_spillable_channel_writes_what_it_has);
    return g_test_run();
}
