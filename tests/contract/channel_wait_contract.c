/* channel_wait_contract.c - how long every channel lets a consumer wait. */
#include "tests/contract/channel_contract.h"
#include "tests/contract/channel_harness.h"

/* A deadline that is never reached unless a test is about to fail. */
#define FAR_US (10 * G_USEC_PER_SEC)
#define LONG_US (G_USEC_PER_SEC / 5)

static Lease *
take(ChannelHarness *harness, guint max_events, gint64 linger_us, gint64 wait_us)
{
    TakeLimits limits = { .max_events = max_events, .max_bytes = 1000000, .linger_us = linger_us };

    return channel_take(harness->channel, &limits, clock_deadline_us(wait_us));
}

static void
take_and_commit(ChannelHarness *harness, guint max_events, gint64 linger_us)
{
    g_autoptr(Lease) lease = take(harness, max_events, linger_us, FAR_US);

    g_assert_nonnull(lease);
    lease_commit(lease, lease->n_events);
}

/* ---- a consumer on a thread of its own ---- */

typedef struct {
    ChannelHarness *harness;
    TakeLimits limits;
    gint stop;
    Lease *lease;
    char *taken; /* as text, NULL if nothing */
    gint64 took_us;
    GThread *thread;
} Consumer;

static gpointer
consumer_run(gpointer data)
{
    Consumer *self = data;
    gint64 start_us = clock_now_us();

    self->lease = channel_take(self->harness->channel, &self->limits, clock_deadline_us(FAR_US));
    self->took_us = clock_now_us() - start_us;
    if (self->lease != NULL)
        self->taken = lease_to_text(self->lease);
    return NULL;
}

static void
consumer_start(Consumer *self, ChannelHarness *harness, guint max_events, gint64 linger_us)
{
    *self = (Consumer){
        .harness = harness,
        .limits = { .max_events = max_events, .max_bytes = 1000000, .linger_us = linger_us }
    };
    self->limits.stop = &self->stop;
    self->thread = g_thread_new("consumer", consumer_run, self);
}

/* Waits for its end and returns what it took. */
static const char *
consumer_join(Consumer *self)
{
    g_thread_join(self->thread);
    return self->taken;
}

static void
consumer_finish(Consumer *self)
{
    if (self->lease != NULL)
        lease_commit(self->lease, self->lease->n_events);
    g_clear_pointer(&self->lease, lease_rollback);
    g_clear_pointer(&self->taken, g_free);
}

/* Gives the thread time to fall asleep; right either way, but sharper when it does. */
static void
let_it_sleep(void)
{
    g_usleep(20000);
}

/* ---- tests ---- */

static void
test_a_take_from_an_empty_channel_ends_at_its_deadline(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    gint64 start_us = clock_now_us();

    g_assert_null(take(harness, 1, 0, 30000));

    g_assert_cmpint(clock_now_us() - start_us, >=, 30000);
}

static void
test_a_put_wakes_a_waiting_consumer(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumer;

    consumer_start(&consumer, harness, 10, 0);
    let_it_sleep();
    channel_harness_put(harness, 0, 2);

    g_assert_cmpstr(consumer_join(&consumer), ==, "0 1");
    g_assert_cmpint(consumer.took_us, <, FAR_US / 2);
    consumer_finish(&consumer);
}

static void
test_a_rollback_wakes_a_waiting_consumer(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumer;
    Lease *lease;

    channel_harness_put(harness, 0, 1);
    lease = channel_harness_take(harness, 1);
    consumer_start(&consumer, harness, 10, 0);
    let_it_sleep();
    lease_rollback(lease);

    g_assert_cmpstr(consumer_join(&consumer), ==, "0");
    g_assert_cmpint(consumer.took_us, <, FAR_US / 2);
    consumer_finish(&consumer);
}

static void
test_every_waiting_consumer_gets_its_share(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumers[3];

    for (guint i = 0; i < 3; i++)
        consumer_start(&consumers[i], harness, 1, 0);
    let_it_sleep();
    channel_harness_put(harness, 0, 3); /* one put, three sleepers */

    for (guint i = 0; i < 3; i++) {
        g_assert_nonnull(consumer_join(&consumers[i]));
        g_assert_cmpint(consumers[i].took_us, <, FAR_US / 2);
    }
    for (guint i = 0; i < 3; i++)
        consumer_finish(&consumers[i]);
}

static void
test_the_first_event_after_silence_is_taken_at_once(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    gint64 start_us = clock_now_us();

    channel_harness_put(harness, 0, 1);
    take_and_commit(harness, 10, FAR_US); /* the very first */
    g_assert_cmpint(clock_now_us() - start_us, <, FAR_US / 2);

    g_usleep(20000);
    channel_harness_put(harness, 1, 1);
    start_us = clock_now_us();
    take_and_commit(harness, 10, 20000);
    g_assert_cmpint(clock_now_us() - start_us, <, FAR_US / 2);
}

static void
test_soon_after_a_take_events_are_left_to_gather_for_as_long_as_linger(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;
    gint64 start_us;

    channel_harness_put(harness, 0, 1);
    start_us = clock_now_us();
    take_and_commit(harness, 10, 0);
    channel_harness_put(harness, 1, 1);
    lease = take(harness, 10, LONG_US, FAR_US);

    assert_lease(lease, "1");
    g_assert_cmpint(clock_now_us() - start_us, >=, LONG_US);
    g_assert_cmpint(clock_now_us() - start_us, <, FAR_US / 2);
}

static void
test_lingering_ends_when_as_many_events_are_there_as_asked_for(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumer;

    channel_harness_put(harness, 0, 1);
    take_and_commit(harness, 1, 0);
    consumer_start(&consumer, harness, 3, FAR_US);
    for (guint i = 1; i <= 3; i++) {
        let_it_sleep();
        channel_harness_put(harness, i, 1);
    }

    g_assert_cmpstr(consumer_join(&consumer), ==, "1 2 3");
    g_assert_cmpint(consumer.took_us, <, FAR_US / 2);
    consumer_finish(&consumer);
}

static void
test_lingering_ends_when_as_many_bytes_are_there_as_asked_for(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;
    TakeLimits limits = { .max_events = 1000, .max_bytes = 2000, .linger_us = FAR_US };
    gint64 start_us;

    channel_harness_put(harness, 0, 1);
    take_and_commit(harness, 1, 0);
    channel_harness_put_batch(harness, batch_of_size(3, 1000));
    lease_rollback(take(harness, 3, 0, FAR_US)); /* they count again */
    start_us = clock_now_us();
    lease = channel_take(harness->channel, &limits, clock_deadline_us(FAR_US));

    g_assert_cmpuint(lease->n_events, ==, 1);
    g_assert_cmpint(clock_now_us() - start_us, <, FAR_US / 2);
}

static void
test_lingering_ends_when_a_put_finds_no_room(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 2");
    TestTicket ticket;
    Consumer consumer;

    test_ticket_init(&ticket);
    channel_harness_put(harness, 0, 1);
    take_and_commit(harness, 1, 0);
    consumer_start(&consumer, harness, 1000, FAR_US);
    channel_harness_put(harness, 1, 2);
    let_it_sleep();
    g_assert_cmpint(channel_harness_start_put(harness, 3, 1, &ticket), ==, PUT_PENDING);

    g_assert_cmpstr(consumer_join(&consumer), ==, "1 2");
    g_assert_cmpint(consumer.took_us, <, FAR_US / 2);
    consumer_finish(&consumer);
    g_assert_true(test_ticket_wait(&ticket));
    test_ticket_clear(&ticket);
}

static void
test_lingering_ends_at_the_deadline_with_what_is_there(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;
    gint64 start_us;

    channel_harness_put(harness, 0, 1);
    take_and_commit(harness, 1, 0);
    channel_harness_put(harness, 1, 1);
    start_us = clock_now_us();
    lease = take(harness, 10, FAR_US, 30000);

    assert_lease(lease, "1");
    g_assert_cmpint(clock_now_us() - start_us, >=, 30000);
    g_assert_cmpint(clock_now_us() - start_us, <, FAR_US / 2);
}

static void
test_a_stop_wakes_a_waiting_consumer_with_nothing(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumer;

    consumer_start(&consumer, harness, 10, 0);
    let_it_sleep();
    g_atomic_int_set(&consumer.stop, 1);
    channel_wake(harness->channel);

    g_assert_cmpstr(consumer_join(&consumer), ==, NULL);
    g_assert_cmpint(consumer.took_us, <, FAR_US / 2);
}

static void
test_a_stop_ends_lingering_with_what_is_there(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumer;

    channel_harness_put(harness, 0, 1);
    take_and_commit(harness, 1, 0);
    consumer_start(&consumer, harness, 10, FAR_US);
    channel_harness_put(harness, 1, 1);
    let_it_sleep();
    g_atomic_int_set(&consumer.stop, 1);
    channel_wake(harness->channel);

    g_assert_cmpstr(consumer_join(&consumer), ==, "1");
    g_assert_cmpint(consumer.took_us, <, FAR_US / 2);
    consumer_finish(&consumer);
}

static void
test_a_wake_up_without_a_stop_changes_nothing(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    Consumer consumer;

    consumer_start(&consumer, harness, 10, 0);
    for (guint i = 0; i < 10; i++)
        channel_wake(harness->channel);
    let_it_sleep();
    channel_harness_put(harness, 0, 1);

    g_assert_cmpstr(consumer_join(&consumer), ==, "0");
    consumer_finish(&consumer);
}

const ContractTest channel_wait_contract[] = {
    { "until-the-deadline", test_a_take_from_an_empty_channel_ends_at_its_deadline },
    { "a-put-wakes", test_a_put_wakes_a_waiting_consumer },
    { "a-rollback-wakes", test_a_rollback_wakes_a_waiting_consumer },
    { "every-consumer-gets-its-share", test_every_waiting_consumer_gets_its_share },
    { "after-silence-at-once", test_the_first_event_after_silence_is_taken_at_once },
    { "events-gather", test_soon_after_a_take_events_are_left_to_gather_for_as_long_as_linger },
    { "until-enough-events", test_lingering_ends_when_as_many_events_are_there_as_asked_for },
    { "until-enough-bytes", test_lingering_ends_when_as_many_bytes_are_there_as_asked_for },
    { "until-a-put-waits", test_lingering_ends_when_a_put_finds_no_room },
    { "lingering-ends-at-the-deadline", test_lingering_ends_at_the_deadline_with_what_is_there },
    { "a-stop-wakes", test_a_stop_wakes_a_waiting_consumer_with_nothing },
    { "a-stop-ends-lingering", test_a_stop_ends_lingering_with_what_is_there },
    { "a-wake-up-without-a-stop", test_a_wake_up_without_a_stop_changes_nothing },
    { 0 },
};
