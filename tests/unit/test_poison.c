/* test_poison.c - a poison event is found, an outage rejects nothing and is asked no more often
 * than back-off allows. */
#include "agent/core/poison.h"

#define BATCH 1000
#define NOBODY 0
#define A 1
#define B 2

/* ---- a channel, a destination, and a caller that does as it is told ---- */

typedef struct {
    Poison *poison;
    GArray *queue; /* gboolean: whether the event of that number is still there */
    GArray *aside; /* gboolean: and kept aside */
    guint first;   /* events before it are gone */
    gboolean (*takes)(guint64 seq, guint request);
    guint64 answers_as;
    guint n_requests;
    guint n_pauses;
    guint n_delivered;
    GArray *rejected; /* guint64 */
} World;

static gboolean
takes_all(guint64 seq G_GNUC_UNUSED, guint request G_GNUC_UNUSED)
{
    return TRUE;
}

static gboolean
takes_nothing(guint64 seq G_GNUC_UNUSED, guint request G_GNUC_UNUSED)
{
    return FALSE;
}

static World *
world_new(guint n_events, gboolean (*takes)(guint64, guint))
{
    World *self = g_new0(World, 1);

    self->poison = poison_new();
    self->queue = g_array_new(FALSE, TRUE, sizeof(gboolean));
    self->aside = g_array_new(FALSE, TRUE, sizeof(gboolean));
    self->rejected = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_array_set_size(self->queue, n_events);
    g_array_set_size(self->aside, n_events);
    for (guint i = 0; i < n_events; i++)
        g_array_index(self->queue, gboolean, i) = TRUE;
    self->takes = takes;
    self->answers_as = A;
    return self;
}

static void
world_free(World *self)
{
    poison_free(self->poison);
    g_array_unref(self->queue);
    g_array_unref(self->aside);
    g_array_unref(self->rejected);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

static gboolean
is_there(const World *self, guint seq)
{
    return g_array_index(self->queue, gboolean, seq) && !g_array_index(self->aside, gboolean, seq);
}

/* The next events in a row; 0 if there are none. */
static guint
take(World *self, guint most, guint *ret_first)
{
    guint n = 0;

    while (self->first < self->queue->len && !is_there(self, self->first))
        self->first++;
    *ret_first = self->first;
    while (n < most && self->first + n < self->queue->len && is_there(self, self->first + n))
        n++;
    return n;
}

static void
put_back(World *self)
{
    for (guint i = 0; i < self->aside->len; i++)
        g_array_index(self->aside, gboolean, i) = FALSE;
    self->first = 0;
}

static void
pause_sending(World *self)
{
    put_back(self);
    self->n_pauses++;
}

static void
reject_found(World *self)
{
    guint64 found;

    while (poison_is_found(self->poison, &found)) {
        g_array_append_val(self->rejected, found);
        g_array_index(self->queue, gboolean, found) = FALSE;
        g_array_index(self->aside, gboolean, found) = FALSE;
        poison_note_rejected(self->poison, found);
    }
}

static void
acknowledge(World *self, guint64 first, guint n_events)
{
    for (guint64 seq = first; seq < first + n_events; seq++)
        g_array_index(self->queue, gboolean, seq) = FALSE;
    self->n_delivered += n_events;
    poison_note_acknowledged(self->poison, first, n_events, self->answers_as);
    reject_found(self);
    if (!poison_is_searching(self->poison))
        put_back(self);
}

static void
send(World *self, guint64 first, guint n_events)
{
    gboolean taken = TRUE;

    self->n_requests++;
    for (guint64 seq = first; seq < first + n_events; seq++)
        taken = taken && self->takes(seq, self->n_requests);
    if (taken) {
        acknowledge(self, first, n_events);
        return;
    }
    switch (poison_note_refused(self->poison, first, n_events, self->answers_as)) {
    case POISON_PAUSE:
        pause_sending(self);
        break;
    case POISON_GO_ON:
        self->first = 0;
        break;
    case POISON_KEEP_ASIDE:
        g_assert_cmpuint(n_events, ==, 1);
        g_array_index(self->aside, gboolean, first) = TRUE;
        break;
    }
}

/* FALSE when nothing is left to be taken. */
static gboolean
step(World *self)
{
    guint64 suspect;
    guint first;
    guint n;

    if (poison_next_suspect(self->poison, &suspect)) {
        g_assert_true(g_array_index(self->aside, gboolean, suspect));
        g_array_index(self->aside, gboolean, suspect) = FALSE;
        send(self, suspect, 1);
        return TRUE;
    }
    n = take(self, poison_limit(self->poison, BATCH), &first);
    if (n == 0) {
        poison_note_alone(self->poison);
        reject_found(self);
        poison_note_pause(self->poison);
        pause_sending(self);
        return FALSE;
    }
    if (poison_note_taken(self->poison, first, n))
        g_array_index(self->aside, gboolean, first) = TRUE;
    else
        send(self, first, n);
    return TRUE;
}

static void
run(World *self, guint max_pauses)
{
    guint steps = 0;

    self->n_pauses = 0;
    while (self->n_pauses < max_pauses) {
        if (!step(self) && self->n_delivered + self->rejected->len == self->queue->len)
            return;
        g_assert_cmpuint(steps++, <, 1000000);
    }
}

/* ---- outages ---- */

static void
test_two_refusals_are_no_reason_to_search(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_nothing);

    run(world, POISON_PATIENCE - 1);

    g_assert_false(poison_is_searching(world->poison));
    g_assert_cmpuint(poison_limit(world->poison, BATCH), ==, BATCH);
}

static void
test_refusals_of_different_leases_are_not_added_up(void)
{
    g_autoptr(Poison) poison = poison_new();

    for (guint i = 0; i < 10; i++)
        g_assert_cmpint(poison_note_refused(poison, i % 2, 5, A), ==, POISON_PAUSE);

    g_assert_false(poison_is_searching(poison));
}

static void
test_an_acknowledgement_of_the_lease_starts_the_count_anew(void)
{
    g_autoptr(Poison) poison = poison_new();

    poison_note_refused(poison, 10, 5, A);
    poison_note_refused(poison, 10, 5, A);
    poison_note_acknowledged(poison, 8, 5, A);
    poison_note_refused(poison, 10, 3, A);

    g_assert_false(poison_is_searching(poison));
}

static void
test_a_destination_that_refuses_everything_is_asked_for_two_events_a_pause(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_nothing);

    run(world, POISON_PATIENCE);
    g_assert_cmpuint(world->n_requests, ==, POISON_PATIENCE);
    run(world, 500);

    g_assert_cmpuint(world->rejected->len, ==, 0);
    g_assert_cmpuint(world->n_requests, <=, POISON_PATIENCE + 2 * 500);
}

static void
test_what_an_outage_held_up_is_delivered_without_a_pause_when_it_ends(void)
{
    for (guint duration = 1; duration < 100; duration++) {
        g_autoptr(World) world = world_new(BATCH, takes_nothing);

        run(world, duration);
        world->n_requests = 0;
        world->takes = takes_all;
        run(world, 1);

        g_assert_cmpuint(world->n_delivered, ==, BATCH);
        g_assert_cmpuint(world->rejected->len, ==, 0);
        g_assert_cmpuint(world->n_requests, <=, 2);
        g_assert_false(poison_is_searching(world->poison));
    }
}

static guint period;

static gboolean
takes_all_but_every_nth_request(guint64 seq G_GNUC_UNUSED, guint request)
{
    return request % period != 0;
}

static void
test_a_destination_that_refuses_in_a_rhythm_gets_everything(void)
{
    for (period = 2; period < 100; period++) {
        g_autoptr(World) world = world_new(10 * BATCH, takes_all_but_every_nth_request);

        run(world, 1000);

        g_assert_cmpuint(world->n_delivered, ==, 10 * BATCH);
    }
}

static GRand *dice;
static double refuses;

/* Thrown once a request. */
static gboolean
takes_by_chance(guint64 seq G_GNUC_UNUSED, guint request)
{
    static guint last_request;
    static gboolean takes;

    if (request != last_request)
        takes = g_rand_double(dice) > refuses;
    last_request = request;
    return takes;
}

static void
test_a_destination_that_refuses_at_random_gets_next_to_everything(void)
{
    g_autoptr(GRand) fixed = g_rand_new_with_seed(1);

    dice = fixed;
    for (refuses = 0.1; refuses < 0.95; refuses += 0.2) {
        g_autoptr(World) world = world_new(20 * BATCH, takes_by_chance);

        run(world, 100000);

        g_assert_cmpuint(world->n_delivered + world->rejected->len, ==, 20 * BATCH);
        g_assert_cmpuint(world->rejected->len, <=, 1);
    }
}

/* ---- poison ---- */

static guint64 poison_seq;

static gboolean
takes_all_but_one(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq != poison_seq;
}

static void
test_one_poison_event_is_found_wherever_it_is(void)
{
    for (poison_seq = 0; poison_seq < BATCH; poison_seq++) {
        g_autoptr(World) world = world_new(2 * BATCH, takes_all_but_one);

        run(world, 10);

        g_assert_cmpuint(world->n_delivered, ==, 2 * BATCH - 1);
        g_assert_cmpuint(world->rejected->len, ==, 1);
        g_assert_cmpuint(g_array_index(world->rejected, guint64, 0), ==, poison_seq);
        g_assert_cmpuint(world->n_pauses, <=, POISON_PATIENCE + 1);
        g_assert_cmpuint(world->n_requests, <=, 60);
    }
}

static void
test_a_poison_event_alone_is_kept_until_others_have_been_acknowledged(void)
{
    g_autoptr(World) world = world_new(1, takes_nothing);

    run(world, 100);

    g_assert_cmpuint(world->rejected->len, ==, 0);
    g_assert_cmpuint(world->n_delivered, ==, 0);
}

static void
test_one_acknowledgement_and_a_while_alone_are_enough(void)
{
    g_autoptr(World) world = world_new(2, takes_all_but_one);

    poison_seq = 0;
    run(world, 100);

    g_assert_cmpuint(world->rejected->len, ==, 1);
    g_assert_cmpuint(world->n_delivered, ==, 1);
    g_assert_cmpuint(world->n_pauses, <=, POISON_PATIENCE + 4);
}

static gboolean
takes_none_of_twelve(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq < 100 || seq >= 112;
}

static void
test_poison_events_in_a_row_are_all_found(void)
{
    g_autoptr(World) world = world_new(2 * BATCH, takes_none_of_twelve);

    run(world, 30);

    g_assert_cmpuint(world->rejected->len, ==, 12);
    g_assert_cmpuint(world->n_delivered, ==, 2 * BATCH - 12);
}

static gboolean
takes_nine_of_ten(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq % 10 != 0;
}

static void
test_after_one_was_found_the_next_is_searched_for_at_once(void)
{
    g_autoptr(World) world = world_new(10 * BATCH, takes_nine_of_ten);

    run(world, 30);

    g_assert_cmpuint(world->rejected->len, ==, BATCH);
    g_assert_cmpuint(world->n_delivered, ==, 9 * BATCH);
    g_assert_cmpuint(world->n_pauses, <, 10);
}

static gboolean
takes_every_second(guint64 seq, guint request G_GNUC_UNUSED)
{
    return seq % 2 != 0;
}

static void
test_a_channel_half_of_poison_is_worked_off(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_every_second);

    run(world, 1000);

    g_assert_cmpuint(world->n_delivered, ==, BATCH / 2);
    g_assert_cmpuint(world->rejected->len, ==, BATCH / 2);
}

static void
test_what_one_destination_refused_is_not_poison_because_another_takes_the_rest(void)
{
    g_autoptr(Poison) poison = poison_new();
    guint64 seq;

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, 0, 1, A);
    for (guint i = 1; i < 100; i++) {
        g_assert_false(poison_note_taken(poison, i, 1));
        poison_note_acknowledged(poison, i, 1, B);
        g_assert_false(poison_is_found(poison, &seq));
        g_assert_true(poison_next_suspect(poison, &seq));
        g_assert_cmpint(poison_note_refused(poison, 0, 1, A), ==, POISON_KEEP_ASIDE);
    }
}

static void
test_one_of_several_destinations_that_refused_is_enough(void)
{
    g_autoptr(Poison) poison = poison_new();
    guint64 seq;

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, 0, 1, A | B);
    for (guint i = 1; i < 100 && !poison_is_found(poison, &seq); i++) {
        poison_note_acknowledged(poison, i, 1, i % 2 == 0 ? A : B);
        if (poison_next_suspect(poison, &seq))
            g_assert_cmpint(poison_note_refused(poison, 0, 1, A | B), ==, POISON_KEEP_ASIDE);
    }

    g_assert_true(poison_is_found(poison, &seq));
    g_assert_cmpuint(seq, ==, 0);
}

static void
test_a_destination_that_nobody_can_name_proves_nothing(void)
{
    g_autoptr(World) world = world_new(BATCH, takes_all_but_one);

    poison_seq = 5;
    world->answers_as = NOBODY;
    run(world, 100);

    g_assert_cmpuint(world->rejected->len, ==, 0);
}

static void
test_suspects_that_another_sink_has_delivered_are_forgotten(void)
{
    g_autoptr(Poison) poison = poison_new();

    for (guint i = 0; i < POISON_PATIENCE; i++)
        poison_note_refused(poison, 0, 1, A);
    poison_note_pause(poison);
    g_assert_cmpuint(poison_limit(poison, BATCH), ==, 1);
    g_assert_false(poison_note_taken(poison, 7, 1));
    poison_note_acknowledged(poison, 7, 1, A);

    g_assert_false(poison_is_searching(poison));
    g_assert_cmpuint(poison_limit(poison, BATCH), ==, BATCH);
}

#define ADD(name, function) g_test_add_func("/poison/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("two-refusals-are-no-reason", test_two_refusals_are_no_reason_to_search);
    ADD("refusals-of-different-leases", test_refusals_of_different_leases_are_not_added_up);
    ADD("an-acknowledgement-starts-anew",
        test_an_acknowledgement_of_the_lease_starts_the_count_anew);
    ADD("an-outage-is-asked-for-two-events-a-pause",
        test_a_destination_that_refuses_everything_is_asked_for_two_events_a_pause);
    ADD("after-an-outage-no-pause",
        test_what_an_outage_held_up_is_delivered_without_a_pause_when_it_ends);
    ADD("refusals-in-a-rhythm", test_a_destination_that_refuses_in_a_rhythm_gets_everything);
    ADD("refusals-at-random", test_a_destination_that_refuses_at_random_gets_next_to_everything);
    ADD("found-wherever-it-is", test_one_poison_event_is_found_wherever_it_is);
    ADD("alone-it-is-kept", test_a_poison_event_alone_is_kept_until_others_have_been_acknowledged);
    ADD("one-acknowledgement-and-a-while", test_one_acknowledgement_and_a_while_alone_are_enough);
    ADD("in-a-row", test_poison_events_in_a_row_are_all_found);
    ADD("the-next-is-searched-for-at-once",
        test_after_one_was_found_the_next_is_searched_for_at_once);
    ADD("half-of-poison", test_a_channel_half_of_poison_is_worked_off);
    ADD("another-destination",
        test_what_one_destination_refused_is_not_poison_because_another_takes_the_rest);
    ADD("one-of-several-destinations", test_one_of_several_destinations_that_refused_is_enough);
    ADD("nobody-can-name", test_a_destination_that_nobody_can_name_proves_nothing);
    ADD("delivered-by-another-sink", test_suspects_that_another_sink_has_delivered_are_forgotten);
    return g_test_run();
}
