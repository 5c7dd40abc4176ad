/* test_file_channel_model.c - random actions on a file channel, and what they must do; 10,000
 * sequences with -m slow. A sequence that fails is repeated with fewer and fewer actions. */
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/channels/file_channel/compression.h"
#include "tests/support/channel_world.h"
#include "tests/support/folder.h"
#include "tests/support/shrink.h"

#define N_ACTIONS 40
#define ALL_ACTIONS ((G_GUINT64_CONSTANT(1) << N_ACTIONS) - 1)
#define MOST_SECONDS 120 /* of a sequence: what hangs has failed */

typedef struct {
    guint seed;
    guint64 actions; /* bit i: the action i + 1 is done */
} Sequence;

/* Those that once failed, shrunk, and those that find a channel that is broken on purpose. */
static const Sequence kept_sequences[] = {
    { 2, 0x139012 },  /* a commit that forgets an event */
    { 4, 0x800046c }, /* a roll-back that forgets one of its three batches */
};

/* The seed chooses; the last one needs a library. */
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

static const char *
options_of(guint seed)
{
    guint index = seed % G_N_ELEMENTS(options);
    gboolean is_there =
        index < G_N_ELEMENTS(options) - 1 || record_compression_missing(RECORD_ZSTD) == NULL;

    return options[is_there ? index : 0];
}

/* ---- sequences in a process of their own, which a failure ends ---- */

typedef enum {
    RUN_SILENT,
    RUN_LOUD,    /* its failure shows */
    RUN_TELLING, /* and each action */
} RunVoice;

/* What a process leaves behind of the sequence that it has begun. */
typedef struct {
    Sequence sequence;
    char directory[256];
} Trace;

static void
run_sequence(Sequence sequence, RunVoice voice, Trace *trace)
{
    g_autoptr(ChannelWorld) world =
        channel_world_new(sequence.seed, NULL, options_of(sequence.seed));
    g_autoptr(GError) error = NULL;

    trace->sequence = sequence;
    g_strlcpy(trace->directory, world->directory, sizeof(trace->directory));
    world->tells = voice == RUN_TELLING;
    alarm(MOST_SECONDS);
    channel_world_open(world, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < N_ACTIONS; i++)
        if (sequence.actions >> i & 1)
            channel_world_act_numbered(world, i);
    channel_world_close(world);
    channel_world_check(world, world->directory, "at the end");
}

/* What it prints is not TAP. */
static void
become_child(RunVoice voice)
{
    const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    if (voice == RUN_SILENT)
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* TRUE if they do what they must, and nothing is left of them; else trace tells which did not. No
 * other thread is there when it forks: channels are only opened in children. */
static gboolean
run_in_child(const Sequence *sequences, gsize n_sequences, RunVoice voice, Trace *trace)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        become_child(voice);
        for (gsize i = 0; i < n_sequences; i++)
            run_sequence(sequences[i], voice, trace);
        exit(EXIT_SUCCESS);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (status == 0)
        return TRUE;
    folder_remove(trace->directory);
    return FALSE;
}

/* ---- the shortest that fails ---- */

static gboolean
still_fails(guint64 actions, gpointer user)
{
    Trace *trace = user;
    Sequence sequence = { trace->sequence.seed, actions };

    return !run_in_child(&sequence, 1, RUN_SILENT, trace);
}

static void
report_shortest(Trace *trace)
{
    Sequence failed = trace->sequence;
    gboolean again = still_fails(failed.actions, trace);

    if (again)
        failed.actions = shrink_actions(failed.actions, still_fails, trace);
    g_printerr("sequence { %u, 0x%" G_GINT64_MODIFIER "x } fails%s, with these options:\n%s",
               failed.seed, failed.actions, again ? "" : ", but did not at once when repeated",
               options_of(failed.seed));
    run_in_child(&failed, 1, RUN_TELLING, trace);
    g_printerr("To run it first from now on, put it into kept_sequences.\n");
}

static void
check_sequences(const Sequence *sequences, gsize n_sequences)
{
    Trace *trace =
        mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    g_assert_true(trace != MAP_FAILED);
    if (!run_in_child(sequences, n_sequences, RUN_LOUD, trace)) {
        report_shortest(trace);
        g_test_fail();
    }
    munmap(trace, sizeof(*trace));
}

/* ---- tests ---- */

static void
test_kept_sequences_do_what_they_must(void)
{
    check_sequences(kept_sequences, G_N_ELEMENTS(kept_sequences));
}

static void
test_every_sequence_of_actions_does_what_it_must(void)
{
    guint n_sequences = g_test_slow() ? 10000 : 2000;
    g_autofree Sequence *sequences = g_new(Sequence, n_sequences);

    for (guint seed = 0; seed < n_sequences; seed++)
        sequences[seed] = (Sequence){ seed, ALL_ACTIONS };
    check_sequences(sequences, n_sequences);
}

/* Needs three actions, and a fourth only with a fifth. */
static gboolean
fails_with_some(guint64 actions, gpointer user)
{
    const guint64 *needed = user;
    guint64 both = actions & 0x300;

    return (actions & *needed) == *needed && (both == 0 || both == 0x300);
}

static void
test_a_failure_is_shrunk_to_what_it_needs(void)
{
    guint64 needed = 0x8000000011;

    guint64 shrunk = shrink_actions(ALL_ACTIONS, fails_with_some, &needed);

    g_assert_cmphex(shrunk, ==, needed);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-channel/model/shrink", test_a_failure_is_shrunk_to_what_it_needs);
    g_test_add_func("/file-channel/model/kept", test_kept_sequences_do_what_they_must);
    g_test_add_func("/file-channel/model/random", test_every_sequence_of_actions_does_what_it_must);
    return g_test_run();
}
