/* test_connection_pool.c - who gets which connection, and when; nothing is ever connected here. */
#include "client/connection_pool.h"

#include <glib.h>

#include "base/clock.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define SHORT_US (20 * 1000)

typedef struct {
    ConnectionPool *pool;
} Fixture;

static void
fixture_set_up(Fixture *self, gconstpointer max_connections)
{
    g_autoptr(Endpoint) nowhere = endpoint_new("127.0.0.1", 9);

    self->pool =
        connection_pool_new(nowhere, WIRE_COMPACT, (guint) GPOINTER_TO_INT(max_connections));
}

static void
fixture_tear_down(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    connection_pool_free(self->pool);
}

static PooledConnection *
take(Fixture *self)
{
    PooledConnection *taken = NULL;

    g_assert_cmpint(connection_pool_take(self->pool, 0, 0, &taken), ==, POOL_TAKEN);
    return taken;
}

static void
assert_busy(Fixture *self, gint64 deadline_us)
{
    PooledConnection *taken;

    g_assert_cmpint(connection_pool_take(self->pool, 0, deadline_us, &taken), ==, POOL_BUSY);
}

/* ---- waiters ---- */

typedef struct {
    ConnectionPool *pool;
    guint64 generation;
    PoolOutcome outcome;
    PooledConnection *taken;
    GThread *thread;
} Waiter;

static gpointer
waiter_thread(gpointer user)
{
    Waiter *self = user;

    self->outcome = connection_pool_take(self->pool, self->generation, clock_deadline_us(SOON_US),
                                         &self->taken);
    return NULL;
}

static Waiter *
waiter_new(Fixture *fixture, guint64 generation)
{
    guint n_before = connection_pool_n_waiting(fixture->pool);
    Waiter *self = g_new0(Waiter, 1);

    self->pool = fixture->pool;
    self->generation = generation;
    self->thread = g_thread_new("waiter", waiter_thread, self);
    while (connection_pool_n_waiting(fixture->pool) == n_before)
        g_thread_yield();
    return self;
}

static PoolOutcome
waiter_finish(Waiter *self, PooledConnection **ret_taken)
{
    PoolOutcome outcome;

    g_thread_join(self->thread);
    outcome = self->outcome;
    *ret_taken = self->taken;
    g_free(self);
    return outcome;
}

static void
finish_and_expect(Waiter *waiter, const PooledConnection *expected)
{
    PooledConnection *taken;

    g_assert_cmpint(waiter_finish(waiter, &taken), ==, POOL_TAKEN);
    g_assert_true(taken == expected);
}

/* ---- one thread ---- */

static void
test_connections_are_made_on_first_use_and_bounded(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *first = take(self);
    PooledConnection *second = take(self);

    g_assert_true(first != second);
    g_assert_false(first->is_open || second->is_open);
    assert_busy(self, 0);

    connection_pool_drop(self->pool, first);
    connection_pool_drop(self->pool, second);
}

static void
test_a_connection_that_is_given_back_is_used_again_the_longest_idle_first(
    Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *first = take(self);
    PooledConnection *second = take(self);

    g_assert_true(connection_pool_give(self->pool, second));
    g_assert_true(connection_pool_give(self->pool, first));

    g_assert_true(take(self) == second);
    g_assert_true(take(self) == first);
    connection_pool_drop(self->pool, first);
    connection_pool_drop(self->pool, second);
}

static void
test_a_renewed_connection_is_a_new_one_in_the_same_place(Fixture *self,
                                                         gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);

    taken->is_open = TRUE;
    taken = connection_pool_renew(self->pool, taken);

    g_assert_false(taken->is_open);
    assert_busy(self, 0);
    connection_pool_drop(self->pool, taken);
}

static void
test_a_wait_ends_at_its_deadline(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);

    assert_busy(self, clock_deadline_us(SHORT_US));

    g_assert_cmpuint(connection_pool_n_waiting(self->pool), ==, 0);
    connection_pool_drop(self->pool, taken);
}

/* ---- waiting ---- */

static void
test_waiters_are_served_in_their_order(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);
    Waiter *first = waiter_new(self, 0);
    Waiter *second = waiter_new(self, 0);

    connection_pool_give(self->pool, taken);
    finish_and_expect(first, taken);
    g_assert_cmpuint(connection_pool_n_waiting(self->pool), ==, 1);
    connection_pool_give(self->pool, taken);

    finish_and_expect(second, taken);
    connection_pool_drop(self->pool, taken);
}

/* Flume leaves them asleep for ever. */
static void
test_dropping_a_connection_wakes_a_waiter_who_may_open_another(Fixture *self,
                                                               gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);
    Waiter *waiter = waiter_new(self, 0);
    PooledConnection *another = NULL;

    taken->is_open = TRUE;
    connection_pool_drop(self->pool, taken);

    g_assert_cmpint(waiter_finish(waiter, &another), ==, POOL_TAKEN);
    g_assert_false(another->is_open);
    connection_pool_drop(self->pool, another);
}

static void
test_an_interrupt_ends_older_waits_and_shuts_what_was_taken(Fixture *self,
                                                            gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);
    Waiter *older = waiter_new(self, 0);
    Waiter *newer = waiter_new(self, 1);
    g_autoptr(GError) error = NULL;
    PooledConnection *unused;

    connection_pool_interrupt(self->pool, 1);

    g_assert_cmpint(waiter_finish(older, &unused), ==, POOL_STOPPED);
    g_assert_cmpint(connection_pool_take(self->pool, 0, 0, &unused), ==, POOL_STOPPED);
    g_assert_false(wire_connection_open(taken->wire, clock_deadline_us(SOON_US), &error));
    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_SHUT);
    connection_pool_drop(self->pool, taken);
    g_assert_cmpint(waiter_finish(newer, &taken), ==, POOL_TAKEN);
    connection_pool_drop(self->pool, taken);
}

static void
test_an_interrupted_renewal_lets_the_next_waiter_in(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);
    Waiter *newer = waiter_new(self, 1);

    connection_pool_interrupt(self->pool, 1);
    g_assert_null(connection_pool_renew(self->pool, taken));

    g_assert_cmpint(waiter_finish(newer, &taken), ==, POOL_TAKEN);
    connection_pool_drop(self->pool, taken);
}

static void
test_close_ends_waits_for_good(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);
    Waiter *waiter = waiter_new(self, G_MAXUINT64);
    PooledConnection *unused;

    g_assert_cmpuint(connection_pool_close(self->pool), ==, 0);

    g_assert_cmpint(waiter_finish(waiter, &unused), ==, POOL_STOPPED);
    g_assert_cmpint(connection_pool_take(self->pool, G_MAXUINT64, 0, &unused), ==, POOL_STOPPED);
    connection_pool_drop(self->pool, taken);
}

static void
test_close_closes_the_idle_and_what_comes_back(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);

    connection_pool_give(self->pool, take(self));

    g_assert_cmpuint(connection_pool_close(self->pool), ==, 1);
    g_assert_cmpuint(connection_pool_close(self->pool), ==, 0);
    g_assert_false(connection_pool_give(self->pool, taken));
}

static void
test_a_retired_pool_sends_everyone_away(Fixture *self, gconstpointer n G_GNUC_UNUSED)
{
    PooledConnection *taken = take(self);
    Waiter *waiter = waiter_new(self, 0);
    PooledConnection *unused;

    g_assert_true(connection_pool_is_in_use(self->pool));
    g_assert_cmpuint(connection_pool_retire(self->pool), ==, 0);

    g_assert_cmpint(waiter_finish(waiter, &unused), ==, POOL_STOPPED);
    g_assert_cmpint(connection_pool_take(self->pool, 0, 0, &unused), ==, POOL_STOPPED);
    g_assert_false(connection_pool_give(self->pool, taken));
    g_assert_false(connection_pool_is_in_use(self->pool));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, max_connections, function)                                        \
    g_test_add("/connection-pool/" name, Fixture, GINT_TO_POINTER(max_connections), \
               fixture_set_up, function, fixture_tear_down)
    ADD("connections-are-made-on-first-use-and-bounded", 2,
        test_connections_are_made_on_first_use_and_bounded);
    ADD("a-connection-that-is-given-back-is-used-again", 2,
        test_a_connection_that_is_given_back_is_used_again_the_longest_idle_first);
    ADD("a-renewed-connection-is-a-new-one-in-the-same-place", 1,
        test_a_renewed_connection_is_a_new_one_in_the_same_place);
    ADD("a-wait-ends-at-its-deadline", 1, test_a_wait_ends_at_its_deadline);
    ADD("waiters-are-served-in-their-order", 1, test_waiters_are_served_in_their_order);
    ADD("dropping-a-connection-wakes-a-waiter-who-may-open-another", 1,
        test_dropping_a_connection_wakes_a_waiter_who_may_open_another);
    ADD("an-interrupt-ends-older-waits-and-shuts-what-was-taken", 1,
        test_an_interrupt_ends_older_waits_and_shuts_what_was_taken);
    ADD("an-interrupted-renewal-lets-the-next-waiter-in", 1,
        test_an_interrupted_renewal_lets_the_next_waiter_in);
    ADD("close-ends-waits-for-good", 1, test_close_ends_waits_for_good);
    ADD("close-closes-the-idle-and-what-comes-back", 2,
        test_close_closes_the_idle_and_what_comes_back);
    ADD("a-retired-pool-sends-everyone-away", 1, test_a_retired_pool_sends_everyone_away);
    return g_test_run();
}
