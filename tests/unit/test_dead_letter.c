/* test_dead_letter.c - an event that its destination never takes goes where it belongs, and nothing
 * else does. */
#include "agent/core/dead_letter.h"

#include <string.h>

#include "base/clock.h"
#include "tests/support/fake_channel.h"
#include "tests/support/scripted_sink.h"

#define FAST "{ channel: buffer, backoff: 1ms, max-backoff: 1ms }"
#define SLOW "{ channel: buffer, backoff: 1h, max-backoff: 1h }"

/* ---- letters ---- */

static ByteSpan
header_of(const Batch *batch, const char *key)
{
    EventHeaderIter iter;
    EventHeader header;
    EventView event;

    batch_view(batch, 0, &event);
    event_header_iter_init(&iter, &event);
    while (event_header_iter_next(&iter, &header))
        if (byte_span_equal(header.key, byte_span_of_text(key)))
            return header.value;
    g_assert_not_reached();
}

static gboolean
put_letter_of(DeadLetter *letters, const char *body, const char *why, GError **error)
{
    EventHeader header = { byte_span_of_text("leat.error"), byte_span_of_text("an older one") };
    g_autoptr(Batch) batch = batch_new_single(&header, 1, byte_span_of_text(body));
    BatchSlice event = { .batch = batch, .count = 1 };

    return dead_letter_put(letters, &event, why, error);
}

static gboolean
put_letter(DeadLetter *letters, const char *why, GError **error)
{
    return put_letter_of(letters, "body", why, error);
}

static void
test_a_letter_says_why_and_by_whom(void)
{
    FakeChannel *channel = fake_channel_new("dead");
    g_autoptr(DeadLetter) letters = dead_letter_new(&channel->base, "out");
    EventView event;

    g_assert_true(put_letter(letters, "too sour", NULL));

    batch_view(channel->batch, 0, &event);
    g_assert_true(byte_span_equal(event.body, byte_span_of_text("body")));
    g_assert_true(
        byte_span_equal(header_of(channel->batch, "leat.error"), byte_span_of_text("too sour")));
    g_assert_true(
        byte_span_equal(header_of(channel->batch, "leat.sink"), byte_span_of_text("out")));
    component_free(&channel->base.base);
}

static void
test_a_channel_that_refuses_is_named(void)
{
    FakeChannel *channel = fake_channel_new("dead");
    g_autoptr(DeadLetter) letters = dead_letter_new(&channel->base, "out");
    g_autoptr(GError) error = NULL;

    channel->answer = PUT_FAILED;
    g_assert_false(put_letter(letters, "too sour", &error));

    g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_IO);
    g_assert_cmpstr(error->message, ==, "dead-letter channel 'dead': told to fail");
    component_free(&channel->base.base);
}

static void
test_a_full_channel_is_waited_for_as_long_as_its_put_timeout(void)
{
    Channel *channel = bench_channel_new("dead", "{ capacity: 1, put-timeout: 10ms }");
    g_autoptr(DeadLetter) letters = dead_letter_new(channel, "out");
    g_autoptr(GError) error = NULL;

    bench_put_into(channel, "a");
    g_assert_false(put_letter(letters, "too sour", &error));

    g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TIMEOUT);
    g_assert_cmpuint(channel_n_events(channel), ==, 1);
    bench_channel_free(channel);
}

static void
test_a_letter_that_rests_in_its_channel_is_not_waited_for_as_long_as_its_put_timeout(void)
{
    Channel *channel = bench_channel_new("dead", "{ put-timeout: 30s }");
    g_autoptr(DeadLetter) letters = dead_letter_new(channel, "out");
    g_autofree char *large = g_strnfill(9 * 1024 * 1024, 'x');
    gint64 start_us = clock_now_us();

    g_assert_true(put_letter_of(letters, large, "too large", NULL));

    g_assert_cmpint(clock_now_us() - start_us, <, 15 * G_USEC_PER_SEC);
    g_assert_cmpuint(channel_n_events(channel), ==, 1);
    bench_channel_free(channel);
}

static void
test_an_interrupt_ends_the_wait(void)
{
    Channel *channel = bench_channel_new("dead", "{ capacity: 1, put-timeout: 1h }");
    g_autoptr(DeadLetter) letters = dead_letter_new(channel, "out");

    bench_put_into(channel, "a");
    dead_letter_interrupt(letters);

    g_assert_false(put_letter(letters, "too sour", NULL));
    bench_channel_free(channel);
}

/* ---- from a sink ---- */

static Bench *
bench_with_dead_letters(const char *yaml, const Step *script, Channel *dead_letters)
{
    Bench *self = bench_new_empty();

    bench_add(self, &scripted_sink, "out", yaml, script, dead_letters);
    bench_make_runners(self);
    return self;
}

static void
test_a_rejected_event_becomes_a_letter_and_the_others_arrive(void)
{
    Channel *dead = bench_channel_new("dead", "");
    Bench *bench = bench_with_dead_letters(SLOW, SCRIPT({ DO_REJECT, 1 }, { DO_DELIVER, 0 }), dead);

    bench_put(bench, "abc");
    bench_start(bench);
    bench_wait_until_left(bench, 0);
    g_autofree char *letters = bench_read(dead);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "ac");
    g_assert_cmpstr(letters, ==, "b");
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_DEAD_LETTERED), ==, 1);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_REJECTED), ==, 1);
    bench_free(bench);
    bench_channel_free(dead);
}

static void
test_an_event_that_is_always_refused_becomes_a_letter(void)
{
    Channel *dead = bench_channel_new("dead", "");
    Bench *bench = bench_with_dead_letters(FAST, SCRIPT({ DO_TASTE, 0 }), dead);

    bench_put(bench, "abcdefxghijklm");
    bench_start(bench);
    bench_wait_until_left(bench, 0);
    g_autofree char *letters = bench_read(dead);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abcdefghijklm");
    g_assert_cmpstr(letters, ==, "x");
    bench_free(bench);
    bench_channel_free(dead);
}

static void
test_without_letters_it_is_counted_and_the_channel_moves_on(void)
{
    g_autoptr(Bench) bench = bench_new(FAST, { DO_TASTE, 0 });

    bench_put(bench, "axbcdefxghijkxlmnopqrsx");
    bench_start(bench);
    bench_wait_until_left(bench, 0);

    g_assert_cmpstr(bench->sink->arrived->str, ==, "abcdefghijklmnopqrs");
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_REJECTED), ==, 4);
    g_assert_cmpuint(bench_metric(bench->sink, SINK_EVENTS_DEAD_LETTERED), ==, 0);
}

static void
test_an_outage_writes_no_letters(void)
{
    Channel *dead = bench_channel_new("dead", "");
    Bench *bench = bench_with_dead_letters(FAST, SCRIPT({ DO_REFUSE, 0 }), dead);

    bench_put(bench, "abcdefghijklm");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 200);
    bench_tell(bench->sink, DO_DELIVER);
    bench_wait_until_left(bench, 0);

    g_assert_cmpuint(bench->sink->arrived->len, ==, 13);
    g_assert_cmpuint(channel_n_events(dead), ==, 0);
    bench_free(bench);
    bench_channel_free(dead);
}

static void
test_a_pipe_searches_too(void)
{
    Channel *dead = bench_channel_new("dead", "");
    Bench *bench = bench_new_empty();

    bench_add(bench, &scripted_pipe, "out",
              "{ channel: buffer, batch-size: 3, backoff: 1ms, max-backoff: 1ms }",
              SCRIPT({ DO_TASTE, 0 }), dead);
    bench_put(bench, "abcdefghijklmnxopqrstuvwyz");
    bench_start(bench);
    bench_wait_until_left(bench, 0);
    g_autofree char *letters = bench_read(dead);

    g_assert_cmpuint(bench->sink->arrived->len, ==, 25);
    g_assert_cmpstr(letters, ==, "x");
    bench_free(bench);
    bench_channel_free(dead);
}

static void
test_while_the_letter_cannot_be_put_nothing_is_lost(void)
{
    Channel *dead = bench_channel_new("dead", "{ capacity: 1, put-timeout: 0s }");
    Bench *bench = bench_with_dead_letters(FAST, SCRIPT({ DO_TASTE, 0 }), dead);

    bench_put_into(dead, "1");
    bench_put(bench, "abxc");
    bench_start(bench);
    bench_wait_until_left(bench, 1);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, bench->sink->n_attempts + 20);
    g_assert_cmpuint(channel_n_events(bench->channel), ==, 1);
    g_free(bench_read(dead));
    bench_wait_until_left(bench, 0);
    g_autofree char *letters = bench_read(dead);

    g_assert_cmpstr(letters, ==, "x");
    bench_free(bench);
    bench_channel_free(dead);
}

static void
test_suspects_go_back_when_the_sink_stops(void)
{
    g_autoptr(Bench) bench = bench_new("{ channel: buffer, batch-size: 1, backoff: 1ms, "
                                       "max-backoff: 1h }",
                                       { DO_REFUSE, 0 });

    bench_put(bench, "a");
    bench_start(bench);
    bench_wait_for(bench->sink, &bench->sink->n_attempts, 6);
    sink_runner_interrupt(bench->runner);
    g_autofree char *left = bench_read(bench->channel);

    g_assert_cmpstr(left, ==, "a");
}

#define ADD(name, function) g_test_add_func("/dead-letter/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("a-letter-says-why-and-by-whom", test_a_letter_says_why_and_by_whom);
    ADD("a-channel-that-refuses-is-named", test_a_channel_that_refuses_is_named);
    ADD("a-full-channel-is-waited-for",
        test_a_full_channel_is_waited_for_as_long_as_its_put_timeout);
    ADD("a-letter-that-rests",
        test_a_letter_that_rests_in_its_channel_is_not_waited_for_as_long_as_its_put_timeout);
    ADD("an-interrupt-ends-the-wait", test_an_interrupt_ends_the_wait);
    ADD("a-rejected-event-becomes-a-letter",
        test_a_rejected_event_becomes_a_letter_and_the_others_arrive);
    ADD("an-event-that-is-always-refused", test_an_event_that_is_always_refused_becomes_a_letter);
    ADD("without-letters-it-is-counted",
        test_without_letters_it_is_counted_and_the_channel_moves_on);
    ADD("an-outage-writes-no-letters", test_an_outage_writes_no_letters);
    ADD("a-pipe-searches-too", test_a_pipe_searches_too);
    ADD("nothing-is-lost", test_while_the_letter_cannot_be_put_nothing_is_lost);
    ADD("suspects-go-back", test_suspects_go_back_when_the_sink_stops);
    return g_test_run();
}
