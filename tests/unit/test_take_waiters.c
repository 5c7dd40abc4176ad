/* test_take_waiters.c - when a consumer that lingers is woken. */
#include "agent/core/take_waiters.h"

#include <glib.h>

#include "base/clock.h"

#define LONG_US (60 * G_USEC_PER_SEC)
#define REST_US 200
#define REST_BYTES (512 * 1024)

/* ---- a clock that stands still ---- */

gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);

static _Atomic gint64 now_us; /* 0: the real time */

gint64
__wrap_g_get_monotonic_time(void)
{
    gint64 fake_us = now_us;

    return fake_us != 0 ? fake_us : __real_g_get_monotonic_time();
}

typedef struct {
    GMutex lock;
    TakeWaiters waiters;
    TakeStock stock;
    GAsyncQueue *started; /* by the producer */
} Fixture;

/* The lock is held by the test but while it waits: so what a producer does comes after that. */
static void
fixture_set_up(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    *self = (Fixture){ 0 };
    g_mutex_init(&self->lock);
    take_waiters_init(&self->waiters);
    self->started = g_async_queue_new();
    g_mutex_lock(&self->lock);
}

static void
fixture_tear_down(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    g_mutex_unlock(&self->lock);
    g_mutex_clear(&self->lock);
    g_async_queue_unref(self->started);
}

static gpointer
put_ten_events(gpointer data)
{
    Fixture *self = data;

    g_async_queue_push(self->started, self);
    g_mutex_lock(&self->lock);
    self->stock.n_events += 10;
    self->stock.n_bytes += 10;
    take_waiters_notify(&self->waiters, &self->stock);
    g_mutex_unlock(&self->lock);
    return NULL;
}

/* How long it takes until a consumer that wants max_events gets the ten that are put. */
static gint64
wait_for_ten_us(Fixture *self, guint max_events, gint64 linger_us)
{
    const TakeLimits limits = { .max_events = max_events,
                                .max_bytes = G_MAXUINT,
                                .linger_us = linger_us };
    GThread *producer;
    gint64 waited_us;

    producer = g_thread_new("producer", put_ten_events, self);
    g_async_queue_pop(self->started);
    take_waiters_taken(&self->waiters);
    g_assert_true(
        take_waiters_wait(&self->waiters, &self->lock, &self->stock, &limits, CLOCK_NEVER));
    waited_us = clock_now_us() - self->waiters.last_take_us;
    g_mutex_unlock(&self->lock);
    g_thread_join(producer);
    g_mutex_lock(&self->lock);
    return waited_us;
}

static void
test_a_full_batch_ends_a_linger_after_a_short_rest(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    gint64 waited_us = wait_for_ten_us(self, 10, LONG_US);

    g_assert_cmpint(waited_us, >=, REST_US);
    g_assert_cmpint(waited_us, <, LONG_US);
}

static void
test_fewer_events_wait_for_the_end_of_the_linger(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    gint64 waited_us = wait_for_ten_us(self, 11, 20 * 1000);

    g_assert_cmpint(waited_us, >=, 20 * 1000);
}

static void
test_a_put_that_finds_no_room_ends_a_linger(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    self->stock.puts_wait = TRUE;

    g_assert_cmpint(wait_for_ten_us(self, 1000, LONG_US), <, LONG_US);
}

static void
test_without_linger_any_event_is_enough(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    g_assert_cmpint(wait_for_ten_us(self, 1000, 0), <, LONG_US);
}

/* ---- rests ---- */

typedef struct {
    Fixture *fixture;
    GThread *thread;
    gint stop; /* atomic */
} Consumer;

static gpointer
linger_for_ten(gpointer data)
{
    Consumer *consumer = data;
    Fixture *self = consumer->fixture;
    const TakeLimits limits = {
        .max_events = 10, .max_bytes = G_MAXUINT, .linger_us = LONG_US, .stop = &consumer->stop
    };

    g_mutex_lock(&self->lock);
    take_waiters_wait(&self->waiters, &self->lock, &self->stock, &limits, CLOCK_NEVER);
    g_mutex_unlock(&self->lock);
    return NULL;
}

/* It waits; the lock is held, and time stands still, in a future that no wait of the system
 * reaches.
 */
static void
consumer_start(Consumer *consumer, Fixture *self)
{
    *consumer = (Consumer){ .fixture = self };
    now_us = __real_g_get_monotonic_time() + G_TIME_SPAN_HOUR;
    take_waiters_taken(&self->waiters);
    consumer->thread = g_thread_new("consumer", linger_for_ten, consumer);
    while (self->waiters.waiting.length == 0) {
        g_mutex_unlock(&self->lock);
        g_thread_yield();
        g_mutex_lock(&self->lock);
    }
}

static gboolean
is_woken_by_put(Fixture *self, guint n_events, guint n_bytes)
{
    self->stock.n_events += n_events;
    self->stock.n_bytes += n_bytes;
    take_waiters_notify(&self->waiters, &self->stock);
    return self->waiters.waiting.length == 0;
}

static void
consumer_finish(Consumer *consumer)
{
    Fixture *self = consumer->fixture;

    now_us = 0;
    g_atomic_int_set(&consumer->stop, 1);
    take_waiters_wake_all(&self->waiters);
    g_mutex_unlock(&self->lock);
    g_thread_join(consumer->thread);
    g_mutex_lock(&self->lock);
}

static void
test_a_full_batch_wakes_with_the_first_put_after_the_rest(Fixture *self,
                                                          gconstpointer data G_GNUC_UNUSED)
{
    Consumer consumer;

    consumer_start(&consumer, self);
    g_assert_false(is_woken_by_put(self, 10, 10));
    now_us += REST_US - 1;
    g_assert_false(is_woken_by_put(self, 1, 1));
    now_us += 1;
    g_assert_true(is_woken_by_put(self, 1, 1));
    consumer_finish(&consumer);
}

static void
test_less_than_a_batch_does_not_wake_after_the_rest(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    Consumer consumer;

    consumer_start(&consumer, self);
    now_us += REST_US;
    g_assert_false(is_woken_by_put(self, 9, REST_BYTES));
    g_assert_true(is_woken_by_put(self, 1, 1));
    consumer_finish(&consumer);
}

static void
test_many_bytes_end_a_rest(Fixture *self, gconstpointer data G_GNUC_UNUSED)
{
    Consumer consumer;

    consumer_start(&consumer, self);
    g_assert_false(is_woken_by_put(self, 10, REST_BYTES - 1));
    g_assert_true(is_woken_by_put(self, 1, 1));
    consumer_finish(&consumer);
}

#define ADD(name, function) \
    g_test_add("/take-waiters/" name, Fixture, NULL, fixture_set_up, function, fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("a-full-batch-ends-a-linger-after-a-short-rest",
        test_a_full_batch_ends_a_linger_after_a_short_rest);
    ADD("fewer-events-wait-for-the-end-of-the-linger",
        test_fewer_events_wait_for_the_end_of_the_linger);
    ADD("a-put-that-finds-no-room-ends-a-linger", test_a_put_that_finds_no_room_ends_a_linger);
    ADD("a-full-batch-wakes-with-the-first-put-after-the-rest",
        test_a_full_batch_wakes_with_the_first_put_after_the_rest);
    ADD("less-than-a-batch-does-not-wake-after-the-rest",
        test_less_than_a_batch_does_not_wake_after_the_rest);
    ADD("many-bytes-end-a-rest", test_many_bytes_end_a_rest);
    ADD("without-linger-any-event-is-enough", test_without_linger_any_event_is_enough);
    return g_test_run();
}
