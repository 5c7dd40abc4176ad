/* test_receive_memory.c - who gets memory when, and that nobody is forgotten in the line. */
#include "thrift/receive_memory.h"

#include <stdatomic.h>

typedef struct {
    ReceiveWaiter waiter;
    GString *order; /* of the grants */
    char name;
} NamedWaiter;

static void
note_grant(LoopJob *job)
{
    NamedWaiter *self = (NamedWaiter *) job;

    g_string_append_c(self->order, self->name);
}

typedef struct {
    Loop *loop;
    ReceiveMemory *memory;
    GString *order;
    NamedWaiter a, b, c;
} Gate;

static void
gate_init(Gate *self, gsize limit)
{
    self->loop = loop_new(NULL);
    self->memory = receive_memory_new(limit);
    self->order = g_string_new(NULL);
    self->a = (NamedWaiter){ .waiter = { .granted.run = note_grant, .loop = self->loop },
                             .order = self->order,
                             .name = 'a' };
    self->b = self->a;
    self->b.name = 'b';
    self->c = self->a;
    self->c.name = 'c';
}

static void
gate_clear(Gate *self)
{
    receive_memory_free(self->memory);
    loop_free(self->loop);
    g_string_free(self->order, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Gate, gate_clear)

static const char *
grants_so_far(Gate *self)
{
    loop_turn(self->loop, 0);
    return self->order->str;
}

static void
test_what_fits_is_reserved_at_once(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    g_assert_true(receive_memory_reserve(gate.memory, 60, &gate.a.waiter));
    g_assert_true(receive_memory_reserve(gate.memory, 40, &gate.b.waiter));

    g_assert_cmpuint(receive_memory_reserved(gate.memory), ==, 100);
    g_assert_cmpstr(grants_so_far(&gate), ==, "");
}

static void
test_a_small_one_does_not_overtake_a_large_one_that_waits(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    g_assert_true(receive_memory_reserve(gate.memory, 60, &gate.c.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 80, &gate.a.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 1, &gate.b.waiter));
    g_assert_cmpstr(grants_so_far(&gate), ==, "");
    receive_memory_release(gate.memory, 60);

    g_assert_cmpstr(grants_so_far(&gate), ==, "ab");
    g_assert_cmpuint(receive_memory_reserved(gate.memory), ==, 81);
}

static void
test_one_that_leaves_the_line_lets_the_next_in(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    g_assert_true(receive_memory_reserve(gate.memory, 60, &gate.c.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 80, &gate.a.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 40, &gate.b.waiter));
    g_assert_true(receive_memory_cancel(gate.memory, &gate.a.waiter));

    g_assert_cmpstr(grants_so_far(&gate), ==, "b");
}

static void
test_one_that_has_been_granted_can_no_longer_leave(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    g_assert_true(receive_memory_reserve(gate.memory, 60, &gate.c.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 80, &gate.a.waiter));
    receive_memory_release(gate.memory, 60);

    g_assert_false(receive_memory_cancel(gate.memory, &gate.a.waiter));
    g_assert_cmpstr(grants_so_far(&gate), ==, "a");
}

static void
test_the_largest_frame_fits_when_nothing_else_is_reserved(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    receive_memory_hold(gate.memory, 10);
    g_assert_true(receive_memory_reserve(gate.memory, 125, &gate.a.waiter));

    g_assert_false(receive_memory_reserve(gate.memory, 1, &gate.b.waiter));
    receive_memory_release(gate.memory, 125);
    g_assert_cmpstr(grants_so_far(&gate), ==, "b");
}

static void
test_a_reservation_is_enlarged_if_it_fits_or_is_the_only_one(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    g_assert_true(receive_memory_reserve(gate.memory, 50, &gate.a.waiter));
    g_assert_true(receive_memory_reserve_more(gate.memory, 50, 70));
    receive_memory_release(gate.memory, 70);

    g_assert_true(receive_memory_reserve(gate.memory, 40, &gate.b.waiter));
    g_assert_false(receive_memory_reserve_more(gate.memory, 50, 11));
    g_assert_true(receive_memory_reserve_more(gate.memory, 50, 10));
    g_assert_true(receive_memory_reserve_more(gate.memory, 60, 0));
    g_assert_cmpuint(receive_memory_reserved(gate.memory), ==, 100);
}

static void
test_what_is_held_counts_and_its_release_lets_the_next_in(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 100);
    g_assert_true(receive_memory_reserve(gate.memory, 50, &gate.c.waiter));
    receive_memory_hold(gate.memory, 10);
    g_assert_false(receive_memory_reserve(gate.memory, 45, &gate.a.waiter));
    receive_memory_release_held(gate.memory, 10);

    g_assert_cmpstr(grants_so_far(&gate), ==, "a");
}

static void
test_nothing_is_read_ahead_when_memory_is_short(void)
{
    g_auto(Gate) gate = { 0 };
    gsize limit = 1024 * 1024;

    gate_init(&gate, limit);
    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, 65536), ==, 65536);
    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, limit), ==, limit / 8);
    receive_memory_hold(gate.memory, limit / 8 - 5000);
    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, 65536), ==, 5000);
    receive_memory_hold(gate.memory, 5000);
    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, 65536), ==, 0);
    receive_memory_release_held(gate.memory, limit / 8);
    g_assert_true(receive_memory_reserve(gate.memory, limit - 4000, &gate.a.waiter));

    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, 65536), ==, 0);
}

static void
test_nothing_is_read_ahead_while_somebody_waits(void)
{
    g_auto(Gate) gate = { 0 };

    gate_init(&gate, 1024 * 1024);
    g_assert_true(receive_memory_reserve(gate.memory, 512 * 1024, &gate.c.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 600 * 1024, &gate.a.waiter));

    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, 65536), ==, 0);
    g_assert_true(receive_memory_cancel(gate.memory, &gate.a.waiter));
    g_assert_cmpuint(receive_memory_read_ahead(gate.memory, 65536), ==, 65536);
}

/* ---- small and large ---- */

#define MIB ((gsize) 1024 * 1024)

/* 16 MiB, of which a sixteenth is the small ones'. */
static void
gate_with_small_ones_init(Gate *self, gsize n_bytes)
{
    gate_init(self, 16 * MIB);
    for (; n_bytes > 0; n_bytes -= RECEIVE_SMALL)
        g_assert_true(receive_memory_reserve(self->memory, RECEIVE_SMALL, &self->c.waiter));
}

static void
test_large_ones_leave_a_share_to_small_ones(void)
{
    g_auto(Gate) gate = { 0 };

    gate_with_small_ones_init(&gate, 0);
    g_assert_true(receive_memory_reserve(gate.memory, 15 * MIB, &gate.c.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, MIB, &gate.a.waiter));
    g_assert_true(receive_memory_reserve(gate.memory, RECEIVE_SMALL, &gate.b.waiter));
    receive_memory_release(gate.memory, 15 * MIB);

    g_assert_cmpstr(grants_so_far(&gate), ==, "a");
}

static void
test_small_ones_use_what_large_ones_leave_while_none_of_those_waits(void)
{
    g_auto(Gate) gate = { 0 };

    gate_with_small_ones_init(&gate, 2 * MIB);
    g_assert_false(receive_memory_reserve(gate.memory, 15 * MIB, &gate.a.waiter));
    g_assert_false(receive_memory_reserve(gate.memory, 1, &gate.b.waiter));
    g_assert_true(receive_memory_cancel(gate.memory, &gate.a.waiter));

    g_assert_cmpstr(grants_so_far(&gate), ==, "b");
}

static void
test_one_as_large_as_all_waits_only_until_small_ones_are_in_their_share(void)
{
    g_auto(Gate) gate = { 0 };

    gate_with_small_ones_init(&gate, MIB + RECEIVE_SMALL);
    g_assert_false(receive_memory_reserve(gate.memory, 16 * MIB, &gate.a.waiter));
    g_assert_cmpstr(grants_so_far(&gate), ==, "");
    receive_memory_release(gate.memory, RECEIVE_SMALL);

    g_assert_cmpstr(grants_so_far(&gate), ==, "a");
}

static void
test_memory_is_lent_to_small_ones_while_their_share_has_room(void)
{
    g_auto(Gate) gate = { 0 };

    gate_with_small_ones_init(&gate, MIB - RECEIVE_SMALL);
    g_assert_true(receive_memory_lends(gate.memory, RECEIVE_SMALL));
    g_assert_false(receive_memory_lends(gate.memory, RECEIVE_SMALL + 1));
    receive_memory_adjust(gate.memory, 0, 1);

    g_assert_false(receive_memory_lends(gate.memory, RECEIVE_SMALL));
}

static void
test_an_adjusted_reservation_moves_to_the_account_of_its_size(void)
{
    g_auto(Gate) gate = { 0 };

    gate_with_small_ones_init(&gate, MIB);
    receive_memory_adjust(gate.memory, RECEIVE_SMALL, MIB);
    g_assert_cmpuint(receive_memory_reserved(gate.memory), ==, 2 * MIB - RECEIVE_SMALL);
    g_assert_true(receive_memory_lends(gate.memory, RECEIVE_SMALL));
    receive_memory_adjust(gate.memory, MIB, RECEIVE_SMALL);

    g_assert_cmpuint(receive_memory_reserved(gate.memory), ==, MIB);
    g_assert_false(receive_memory_lends(gate.memory, RECEIVE_SMALL));
}

/* ---- many loops ---- */

#define STRESS_LOOPS 4
#define STRESS_ROUNDS 20000
#define STRESS_LIMIT 100

typedef struct {
    ReceiveWaiter waiter;
    ReceiveMemory *memory;
    GRand *rand;
    guint rounds_left;
} StressClient;

static atomic_int stress_in_use;

static void stress_use(LoopJob *job);

static void
stress_next(StressClient *self)
{
    gsize size = (gsize) g_rand_int_range(self->rand, 1, STRESS_LIMIT);

    self->waiter.size = size;
    if (receive_memory_reserve(self->memory, size, &self->waiter))
        loop_post(self->waiter.loop, &self->waiter.granted);
}

static void
stress_use(LoopJob *job)
{
    StressClient *self = (StressClient *) job;
    gsize size = self->waiter.size;
    int before = atomic_fetch_add(&stress_in_use, (int) size);

    g_assert_true(before == 0 || before + (int) size <= STRESS_LIMIT);
    atomic_fetch_sub(&stress_in_use, (int) size);
    receive_memory_release(self->memory, size);
    if (--self->rounds_left == 0)
        loop_quit(self->waiter.loop);
    else
        stress_next(self);
}

static gpointer
stress_thread(gpointer data)
{
    StressClient *self = data;

    stress_next(self);
    loop_run(self->waiter.loop);
    return NULL;
}

static void
test_many_loops_share_it_and_none_waits_for_ever(void)
{
    g_autoptr(ReceiveMemory) memory = receive_memory_new(STRESS_LIMIT);
    StressClient clients[STRESS_LOOPS];
    GThread *threads[STRESS_LOOPS];

    for (guint i = 0; i < STRESS_LOOPS; i++) {
        clients[i] = (StressClient){
            .waiter = { .granted.run = stress_use, .loop = loop_new(NULL) },
            .memory = memory,
            .rand = g_rand_new_with_seed(i),
            .rounds_left = STRESS_ROUNDS,
        };
        threads[i] = g_thread_new("stress", stress_thread, &clients[i]);
    }
    for (guint i = 0; i < STRESS_LOOPS; i++)
        g_thread_join(threads[i]);

    g_assert_cmpuint(receive_memory_reserved(memory), ==, 0);
    for (guint i = 0; i < STRESS_LOOPS; i++) {
        loop_free(clients[i].waiter.loop);
        g_rand_free(clients[i].rand);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/receive-memory/what-fits", test_what_fits_is_reserved_at_once);
    g_test_add_func("/receive-memory/a-small-one-does-not-overtake",
                    test_a_small_one_does_not_overtake_a_large_one_that_waits);
    g_test_add_func("/receive-memory/one-that-leaves-the-line",
                    test_one_that_leaves_the_line_lets_the_next_in);
    g_test_add_func("/receive-memory/one-that-has-been-granted",
                    test_one_that_has_been_granted_can_no_longer_leave);
    g_test_add_func("/receive-memory/the-largest-frame-fits",
                    test_the_largest_frame_fits_when_nothing_else_is_reserved);
    g_test_add_func("/receive-memory/enlarged",
                    test_a_reservation_is_enlarged_if_it_fits_or_is_the_only_one);
    g_test_add_func("/receive-memory/what-is-held-counts",
                    test_what_is_held_counts_and_its_release_lets_the_next_in);
    g_test_add_func("/receive-memory/no-reading-ahead-when-short",
                    test_nothing_is_read_ahead_when_memory_is_short);
    g_test_add_func("/receive-memory/no-reading-ahead-while-somebody-waits",
                    test_nothing_is_read_ahead_while_somebody_waits);
    g_test_add_func("/receive-memory/large-ones-leave-a-share",
                    test_large_ones_leave_a_share_to_small_ones);
    g_test_add_func("/receive-memory/small-ones-use-what-is-left",
                    test_small_ones_use_what_large_ones_leave_while_none_of_those_waits);
    g_test_add_func("/receive-memory/one-as-large-as-all",
                    test_one_as_large_as_all_waits_only_until_small_ones_are_in_their_share);
    g_test_add_func("/receive-memory/lent",
                    test_memory_is_lent_to_small_ones_while_their_share_has_room);
    g_test_add_func("/receive-memory/adjusted",
                    test_an_adjusted_reservation_moves_to_the_account_of_its_size);
    g_test_add_func("/receive-memory/many-loops", test_many_loops_share_it_and_none_waits_for_ever);
    return g_test_run();
}
