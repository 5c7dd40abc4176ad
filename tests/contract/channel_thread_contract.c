/* channel_thread_contract.c - what every channel promises when many threads use it at once. */
#include "tests/contract/channel_contract.h"
#include "tests/contract/channel_harness.h"

#define N_THREADS 10
#define NOTHING_YET G_MAXUINT

static guint
scaled(guint number)
{
    return g_getenv("LEAT_SOAK") != NULL ? number * 20 : number;
}

/* ---- nothing lost, nothing twice ---- */

/* Bodies are numbers: producer * per_producer + index. */
typedef struct {
    ChannelHarness *harness;
    guint per_producer;
    gint *seen;  /* atomic, by number */
    gint n_seen; /* atomic */
    gint stop;   /* atomic */
} Traffic;

typedef struct {
    Traffic *traffic;
    guint index;
} TrafficThread;

static gpointer
produce(gpointer data)
{
    TrafficThread *self = data;
    Traffic *traffic = self->traffic;
    g_autoptr(GRand) rand = g_rand_new_with_seed(self->index);
    guint sent = 0;

    while (sent < traffic->per_producer) {
        guint count = (guint) g_rand_int_range(rand, 1, 40);

        count = MIN(count, traffic->per_producer - sent);
        channel_harness_put(traffic->harness, self->index * traffic->per_producer + sent, count);
        sent += count;
    }
    return NULL;
}

static guint
number_of_event(const BatchSlice *slice, guint index)
{
    char text[16] = { 0 };
    EventView event;

    batch_view(slice->batch, slice->first + index, &event);
    g_assert_cmpuint(event.body.length, <, sizeof text);
    memcpy(text, event.body.data, event.body.length);
    return (guint) g_ascii_strtoull(text, NULL, 10);
}

/* Marks the first n_events as seen; within a lease each producer's events are in order. */
static void
see(Traffic *traffic, const Lease *lease, guint n_events)
{
    guint last[N_THREADS];

    for (guint i = 0; i < N_THREADS; i++)
        last[i] = NOTHING_YET;
    for (guint s = 0; n_events > 0; s++) {
        const BatchSlice *slice = &g_array_index(lease->slices, BatchSlice, s);

        for (guint i = 0; i < slice->count && n_events > 0; i++, n_events--) {
            guint number = number_of_event(slice, i);
            guint producer = number / traffic->per_producer;

            g_assert_true(last[producer] == NOTHING_YET || number > last[producer]);
            last[producer] = number;
            g_assert_cmpint(g_atomic_int_add(&traffic->seen[number], 1), ==, 0);
            g_atomic_int_inc(&traffic->n_seen);
        }
    }
}

static gpointer
consume(gpointer data)
{
    TrafficThread *self = data;
    Traffic *traffic = self->traffic;
    g_autoptr(GRand) rand = g_rand_new_with_seed(1000 + self->index);

    while (!g_atomic_int_get(&traffic->stop)) {
        TakeLimits limits = { .max_events = (guint) g_rand_int_range(rand, 1, 60),
                              .max_bytes = (gsize) g_rand_int_range(rand, 1, 2000),
                              .linger_us = g_rand_int_range(rand, 0, 100),
                              .stop = &traffic->stop };
        g_autoptr(Lease) lease =
            channel_take(traffic->harness->channel, &limits, clock_deadline_us(G_USEC_PER_SEC));

        while (lease != NULL && lease->n_events > 0 && g_rand_int_range(rand, 0, 3) > 0) {
            guint n = (guint) g_rand_int_range(rand, 1, (gint) lease->n_events + 1);

            see(traffic, lease, n);
            lease_commit(lease, n);
        }
    }
    return NULL;
}

static void
wait_until_all_are_seen(Traffic *traffic)
{
    gint64 deadline_us = clock_deadline_us(60 * G_USEC_PER_SEC);

    while ((guint) g_atomic_int_get(&traffic->n_seen) < N_THREADS * traffic->per_producer) {
        g_assert_cmpint(clock_now_us(), <, deadline_us);
        g_usleep(1000);
    }
}

static void
test_many_threads_lose_nothing_and_see_nothing_twice(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness =
        channel_harness_new(variant, "capacity: 200\nbyte-capacity: 64KiB");
    guint per_producer = scaled(2000);
    g_autofree gint *seen = g_new0(gint, N_THREADS * per_producer);
    Traffic traffic = { .harness = harness, .per_producer = per_producer, .seen = seen };
    TrafficThread threads[N_THREADS];
    GThread *producers[N_THREADS];
    GThread *consumers[N_THREADS];

    for (guint i = 0; i < N_THREADS; i++) {
        threads[i] = (TrafficThread){ .traffic = &traffic, .index = i };
        producers[i] = g_thread_new("producer", produce, &threads[i]);
        consumers[i] = g_thread_new("consumer", consume, &threads[i]);
    }
    for (guint i = 0; i < N_THREADS; i++)
        g_thread_join(producers[i]);
    wait_until_all_are_seen(&traffic);
    g_atomic_int_set(&traffic.stop, 1);
    channel_wake(harness->channel);
    for (guint i = 0; i < N_THREADS; i++)
        g_thread_join(consumers[i]);

    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, 0);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), ==, 0);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_PUT_SUCCESSES), ==,
                     N_THREADS * per_producer);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_TAKE_SUCCESSES), ==,
                     N_THREADS * per_producer);
}

/* ---- a put is done or cancelled, never both and never neither ---- */

typedef struct {
    ChannelHarness *harness;
    gint stop; /* atomic */
    guint64 n_taken;
} Drain;

static gpointer
drain_slowly(gpointer data)
{
    Drain *self = data;

    while (!g_atomic_int_get(&self->stop)) {
        TakeLimits limits = { .max_events = 1, .max_bytes = 1000, .stop = &self->stop };
        g_autoptr(Lease) lease =
            channel_take(self->harness->channel, &limits, clock_deadline_us(G_USEC_PER_SEC));

        if (lease != NULL) {
            self->n_taken += lease->n_events;
            lease_commit(lease, lease->n_events);
        }
    }
    return NULL;
}

typedef struct {
    ChannelHarness *harness;
    guint n_puts;
    guint64 n_done;
    guint64 n_cancelled;
} Canceller;

/* Cancels each put while it may be completing; done or not must be certain afterwards. */
static gpointer
put_and_cancel(gpointer data)
{
    Canceller *self = data;

    for (guint i = 0; i < self->n_puts; i++) {
        TestTicket ticket;
        PutResult result;

        test_ticket_init(&ticket);
        result = channel_harness_start_put(self->harness, i, 1, &ticket);
        for (guint spin = 0; spin < i % 64; spin++)
            g_thread_yield();
        if (result == PUT_PENDING && channel_put_cancel(self->harness->channel, &ticket.ticket)) {
            g_assert_false(test_ticket_is_done(&ticket));
            self->n_cancelled++;
        } else {
            if (result == PUT_PENDING)
                g_assert_true(test_ticket_wait(&ticket));
            g_assert_no_error(ticket.ticket.error);
            self->n_done++;
        }
        test_ticket_clear(&ticket);
    }
    return NULL;
}

static void
test_a_put_is_either_done_or_cancelled(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 2");
    Drain drain = { .harness = harness };
    GThread *consumer = g_thread_new("consumer", drain_slowly, &drain);
    Canceller cancellers[4];
    GThread *threads[4];
    guint64 n_done = 0;
    guint64 n_cancelled = 0;

    for (guint i = 0; i < 4; i++) {
        cancellers[i] = (Canceller){ .harness = harness, .n_puts = scaled(3000) };
        threads[i] = g_thread_new("canceller", put_and_cancel, &cancellers[i]);
    }
    for (guint i = 0; i < 4; i++) {
        g_thread_join(threads[i]);
        n_done += cancellers[i].n_done;
        n_cancelled += cancellers[i].n_cancelled;
    }
    g_atomic_int_set(&drain.stop, 1);
    channel_wake(harness->channel);
    g_thread_join(consumer);

    g_assert_cmpuint(n_done + n_cancelled, ==, 4 * scaled(3000));
    g_assert_cmpuint(n_done, ==, drain.n_taken + channel_n_events(harness->channel));
    g_assert_cmpuint(n_done, ==, channel_harness_metric(harness, CHANNEL_PUT_SUCCESSES));
}

const ContractTest channel_thread_contract[] = {
    { "nothing-lost-nothing-twice", test_many_threads_lose_nothing_and_see_nothing_twice },
    { "done-or-cancelled", test_a_put_is_either_done_or_cancelled },
    { 0 },
};
