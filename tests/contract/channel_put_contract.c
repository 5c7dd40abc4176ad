/* channel_put_contract.c - what every channel promises to those who put. */
#include "tests/contract/channel_contract.h"
#include "tests/contract/channel_harness.h"

static void
test_events_come_out_in_the_order_they_were_put(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");

    channel_harness_put(harness, 0, 2);
    channel_harness_put(harness, 2, 1);
    channel_harness_put(harness, 3, 3);

    assert_drains(harness, "0 1 2 3 4 5");
}

static void
test_a_full_channel_keeps_what_it_has_and_takes_nothing_of_a_batch_that_does_not_fit(
    gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 3");

    channel_harness_put(harness, 0, 2);

    g_assert_true(channel_harness_is_full_for(harness, 2));
    assert_drains(harness, "0 1");
}

static void
test_a_channel_takes_exactly_its_capacity(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 3");

    channel_harness_put(harness, 0, 2);
    channel_harness_put(harness, 2, 1);

    g_assert_true(channel_harness_is_full_for(harness, 1));
    g_assert_cmpuint(channel_n_events(harness->channel), ==, 3);
}

static void
test_a_put_that_waits_is_done_once_there_is_room(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 2");
    TestTicket ticket;

    test_ticket_init(&ticket);
    channel_harness_put(harness, 0, 2);
    g_assert_cmpint(channel_harness_start_put(harness, 2, 2, &ticket), ==, PUT_PENDING);
    g_assert_false(test_ticket_is_done(&ticket));

    assert_drains_around(harness, &ticket, "0 1 2 3");
    g_assert_no_error(ticket.ticket.error);
    test_ticket_clear(&ticket);
}

static void
test_leased_events_count_until_they_are_committed(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 2");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put(harness, 0, 2);
    lease = channel_harness_take(harness, 2);
    g_assert_true(channel_harness_is_full_for(harness, 1));

    lease_commit(lease, 2);
    g_assert_false(channel_harness_is_full_for(harness, 1));
}

static void
test_a_rollback_makes_no_room(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 2");

    channel_harness_put(harness, 0, 2);
    lease_rollback(channel_harness_take(harness, 2));

    g_assert_true(channel_harness_is_full_for(harness, 1));
    assert_drains(harness, "0 1");
}

static void
test_a_partial_commit_makes_room_for_as_many(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 4");
    g_autoptr(Lease) lease = NULL;

    channel_harness_put(harness, 0, 4);
    lease = channel_harness_take(harness, 4);
    lease_commit(lease, 2);

    g_assert_true(channel_harness_is_full_for(harness, 3));
    g_assert_false(channel_harness_is_full_for(harness, 2));
}

static void
test_a_later_put_never_overtakes_one_that_waits(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 3");
    TestTicket large;
    TestTicket small;

    test_ticket_init(&large);
    test_ticket_init(&small);
    channel_harness_put(harness, 0, 2);
    g_assert_cmpint(channel_harness_start_put(harness, 2, 3, &large), ==, PUT_PENDING);
    g_assert_cmpint(channel_harness_start_put(harness, 5, 1, &small), ==, PUT_PENDING);

    assert_drains_around(harness, &small, "0 1 2 3 4 5");
    g_assert_true(test_ticket_wait(&large));
    test_ticket_clear(&large);
    test_ticket_clear(&small);
}

static void
test_a_cancelled_put_leaves_nothing_behind(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 2");
    TestTicket ticket;

    test_ticket_init(&ticket);
    channel_harness_put(harness, 0, 2);
    g_assert_cmpint(channel_harness_start_put(harness, 2, 2, &ticket), ==, PUT_PENDING);
    g_assert_true(channel_put_cancel(harness->channel, &ticket.ticket));

    assert_drains(harness, "0 1");
    g_assert_false(test_ticket_is_done(&ticket));
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_PUT_SUCCESSES), ==, 2);
    test_ticket_clear(&ticket);
}

static void
test_cancelling_the_first_lets_in_those_behind_it(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 3");
    TestTicket large;
    TestTicket small;

    test_ticket_init(&large);
    test_ticket_init(&small);
    channel_harness_put(harness, 0, 2);
    g_assert_cmpint(channel_harness_start_put(harness, 2, 3, &large), ==, PUT_PENDING);
    g_assert_cmpint(channel_harness_start_put(harness, 5, 1, &small), ==, PUT_PENDING);
    g_assert_true(channel_put_cancel(harness->channel, &large.ticket));

    g_assert_true(test_ticket_wait(&small));
    assert_drains(harness, "0 1 5");
    test_ticket_clear(&large);
    test_ticket_clear(&small);
}

static void
test_a_put_that_is_done_cannot_be_cancelled(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 1");
    TestTicket ticket;

    test_ticket_init(&ticket);
    channel_harness_put(harness, 0, 1);
    g_assert_cmpint(channel_harness_start_put(harness, 1, 1, &ticket), ==, PUT_PENDING);
    assert_drains_around(harness, &ticket, "0 1");

    g_assert_false(channel_put_cancel(harness->channel, &ticket.ticket));
    test_ticket_clear(&ticket);
}

static void
assert_never_fits(ChannelHarness *harness, Batch *batch, const char *option)
{
    g_autoptr(Batch) owned G_GNUC_UNUSED = batch;
    g_autoptr(GError) error = NULL;
    TestTicket ticket;

    test_ticket_init(&ticket);
    g_assert_cmpint(channel_put(harness->channel, batch, &ticket.ticket, &error), ==, PUT_FAILED);
    g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_TOO_LARGE);
    g_assert_nonnull(strstr(error->message, option));
    test_ticket_clear(&ticket);
}

static void
test_a_batch_of_more_events_than_capacity_fails_at_once_and_names_the_option(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 3");

    assert_never_fits(harness, batch_of_numbers(0, 4), "capacity");

    channel_harness_put(harness, 0, 3);
    assert_drains(harness, "0 1 2");
}

static void
test_a_batch_of_more_bytes_than_capacity_fails_at_once_and_names_the_option(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "byte-capacity: 64KiB");

    assert_never_fits(harness, batch_of_size(1, 65536), "byte-capacity");
    assert_never_fits(harness, batch_of_size(100, 1000), "byte-capacity");

    channel_harness_put(harness, 0, 1);
    assert_drains(harness, "0");
}

static void
test_an_empty_batch_is_done_even_if_the_channel_is_full(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 1");
    TestTicket ticket;

    test_ticket_init(&ticket);
    channel_harness_put(harness, 0, 1);

    g_assert_cmpint(channel_harness_start_put(harness, 0, 0, &ticket), ==, PUT_DONE);
    assert_drains(harness, "0");
    test_ticket_clear(&ticket);
}

/* Fills the channel with batches of one size, in turn, and returns how many events went in. */
static guint
fill_with(ChannelHarness *harness, guint count, gsize size)
{
    guint n_events = 0;
    TestTicket ticket;

    for (;;) {
        g_autoptr(Batch) batch = batch_of_size(count, size);

        test_ticket_init(&ticket);
        if (channel_put(harness->channel, batch, &ticket.ticket, NULL) == PUT_PENDING) {
            if (channel_put_cancel(harness->channel, &ticket.ticket))
                break;
            g_assert_true(test_ticket_wait(&ticket));
        }
        test_ticket_clear(&ticket);
        n_events += count;
    }
    test_ticket_clear(&ticket);
    return n_events;
}

static void
test_bytes_are_bounded_and_all_given_back(gconstpointer variant)
{
    static const struct {
        guint count;
        gsize size;
        guint least; /* events that must fit, so that the bound is no excuse */
    } kinds[] = {
        { 1, 0, 19000 }, { 1, 300, 2500 }, { 7, 100, 6000 }, { 100, 1000, 900 }, { 1, 100000, 10 }
    };

    if (((const ChannelVariant *) variant)->may_wait) {
        g_test_skip("that a put waits does not tell that the channel is full");
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "byte-capacity: 1MiB");
        guint n_events = fill_with(harness, kinds[i].count, kinds[i].size);
        g_autofree char *drained = NULL;

        g_assert_cmpuint(n_events, >=, kinds[i].least);
        g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, n_events);
        g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), <=, 1 << 20);
        drained = channel_harness_drain(harness);
        g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, 0);
        g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), ==, 0);
    }
}

static void
test_a_batch_is_charged_until_its_last_event_is_committed(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autoptr(Lease) lease = NULL;
    guint64 charged;

    channel_harness_put_batch(harness, batch_of_size(2, 100000));
    charged = channel_harness_metric(harness, CHANNEL_BYTES);
    g_assert_cmpuint(charged, >=, 200000);
    lease = channel_harness_take(harness, 2);
    lease_commit(lease, 1);
    if (!channel_is_durable(harness->channel)) /* the memory is held until then */
        g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), ==, charged);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), >=, charged / 2);

    lease_commit(lease, 1);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_BYTES), ==, 0);
}

static void
test_what_an_event_holds_comes_out_unchanged(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "");
    g_autofree char *large = g_strnfill(70000, 'v');
    EventHeader strange = { .key = byte_span("k\0", 2), .value = byte_span("\0\xff", 2) };
    EventHeader wide = { .key = byte_span("", 0), .value = byte_span(large, 70000) };
    EventHeader empty = { .key = byte_span("e", 1), .value = byte_span("", 0) };
    EventHeader headers[] = { strange, wide, empty };
    Batch *batches[] = { batch_new_single(NULL, 0, byte_span("", 0)),
                         batch_new_single(headers, 3, byte_span("a\0b", 3)),
                         batch_new_single(&empty, 1, byte_span("", 0)) };

    for (guint i = 0; i < G_N_ELEMENTS(batches); i++)
        channel_harness_put_batch(harness, batch_ref(batches[i]));
    for (guint i = 0; i < G_N_ELEMENTS(batches); i++) {
        g_autoptr(Lease) lease = channel_harness_take(harness, 1);
        const BatchSlice *slice = &g_array_index(lease->slices, BatchSlice, 0);

        g_assert_true(byte_span_equal(batch_span(slice->batch, slice->first, 1),
                                      batch_span(batches[i], 0, 1)));
        lease_commit(lease, 1);
        batch_unref(batches[i]);
    }
}

static void
test_closing_completes_the_puts_that_wait_and_refuses_later_ones(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 1");
    g_autoptr(Batch) late = batch_of_numbers(2, 1);
    g_autoptr(GError) error = NULL;
    TestTicket ticket;

    test_ticket_init(&ticket);
    channel_harness_put(harness, 0, 1);
    g_assert_cmpint(channel_harness_start_put(harness, 1, 1, &ticket), ==, PUT_PENDING);
    component_close(&harness->channel->base);

    g_assert_true(test_ticket_wait(&ticket));
    g_assert_error(ticket.ticket.error, CHANNEL_ERROR, CHANNEL_ERROR_CLOSED);
    test_ticket_clear(&ticket);
    test_ticket_init(&ticket);
    g_assert_cmpint(channel_put(harness->channel, late, &ticket.ticket, &error), ==, PUT_FAILED);
    g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_CLOSED);
    test_ticket_clear(&ticket);
}

static void
test_puts_are_counted_by_events(gconstpointer variant)
{
    g_autoptr(ChannelHarness) harness = channel_harness_new(variant, "capacity: 5");

    channel_harness_put(harness, 0, 3);
    channel_harness_put(harness, 3, 2);
    g_assert_true(channel_harness_is_full_for(harness, 4));

    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_PUT_ATTEMPTS), ==, 9);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_PUT_SUCCESSES), ==, 5);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_EVENTS), ==, 5);
    g_assert_cmpuint(channel_harness_metric(harness, CHANNEL_CAPACITY), ==, 5);
}

const ContractTest channel_put_contract[] = {
    { "events-come-out-in-order", test_events_come_out_in_the_order_they_were_put },
    { "a-batch-is-taken-whole-or-not-at-all",
      test_a_full_channel_keeps_what_it_has_and_takes_nothing_of_a_batch_that_does_not_fit },
    { "exactly-its-capacity", test_a_channel_takes_exactly_its_capacity },
    { "a-put-waits-for-room", test_a_put_that_waits_is_done_once_there_is_room },
    { "leased-events-count", test_leased_events_count_until_they_are_committed },
    { "a-rollback-makes-no-room", test_a_rollback_makes_no_room },
    { "a-partial-commit-makes-room", test_a_partial_commit_makes_room_for_as_many },
    { "first-come-first-served", test_a_later_put_never_overtakes_one_that_waits },
    { "a-cancelled-put-leaves-nothing", test_a_cancelled_put_leaves_nothing_behind },
    { "cancelling-lets-in-others", test_cancelling_the_first_lets_in_those_behind_it },
    { "done-cannot-be-cancelled", test_a_put_that_is_done_cannot_be_cancelled },
    { "too-many-events",
      test_a_batch_of_more_events_than_capacity_fails_at_once_and_names_the_option },
    { "too-many-bytes",
      test_a_batch_of_more_bytes_than_capacity_fails_at_once_and_names_the_option },
    { "an-empty-batch", test_an_empty_batch_is_done_even_if_the_channel_is_full },
    { "bytes-are-bounded", test_bytes_are_bounded_and_all_given_back },
    { "charged-until-the-last-event", test_a_batch_is_charged_until_its_last_event_is_committed },
    { "content-is-unchanged", test_what_an_event_holds_comes_out_unchanged },
    { "closing", test_closing_completes_the_puts_that_wait_and_refuses_later_ones },
    { "puts-are-counted", test_puts_are_counted_by_events },
    { 0 },
};
