/* test_frame_pace.c - how long a connection may hold receive memory while others wait for it. */
#include "base/clock.h"
#include "thrift/frame_server_private.h"

#define SECOND ((gint64) G_USEC_PER_SEC)
#define BEGIN (1000 * SECOND)

typedef struct {
    FrameServer server;
    FrameLoop loop;
    FrameConnection connection;
} Fixture;

/* A frame of 3000 bytes that holds memory since BEGIN, in a server whose frame-timeout is 30 s. */
static void
fixture_set_up(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    self->server.options.frame_timeout_us = 30 * SECOND;
    self->loop.server = &self->server;
    self->connection = (FrameConnection){
        .loop = &self->loop,
        .frame_length = 3000,
        .reserved = 3072,
        .frame_started_us = BEGIN,
        .active_us = BEGIN,
    };
}

static void
test_one_of_which_nothing_comes_has_a_second(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + SECOND);

    self->connection.frame_filled = 2900;
    self->connection.active_us = BEGIN + 5 * SECOND;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + 6 * SECOND);
}

static void
test_one_that_goes_on_must_keep_the_pace_of_the_timeout(Fixture *self,
                                                        gconstpointer unused G_GNUC_UNUSED)
{
    self->connection.frame_filled = 500;
    self->connection.active_us = BEGIN + 4500 * SECOND / 1000;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + 5 * SECOND);
}

static void
test_one_that_has_just_begun_has_a_second_whatever_its_pace(Fixture *self,
                                                            gconstpointer unused G_GNUC_UNUSED)
{
    self->connection.frame_filled = 1;
    self->connection.active_us = BEGIN + SECOND / 2;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + SECOND);
}

static void
test_one_that_waits_itself_has_a_second_since_it_was_read(Fixture *self,
                                                          gconstpointer unused G_GNUC_UNUSED)
{
    self->connection.reserved = 0;
    self->connection.waiting = TRUE;
    self->connection.frame_started_us = 0;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + SECOND);
}

static void
test_one_that_waits_with_its_whole_frame_here_has_done_its_part(Fixture *self,
                                                                gconstpointer unused G_GNUC_UNUSED)
{
    guint8 held[3000];

    self->connection.reserved = 0;
    self->connection.waiting = TRUE;
    self->connection.held = held;
    self->connection.held_size = sizeof held;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, CLOCK_NEVER);
}

static void
test_one_that_holds_no_memory_is_left_alone(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    self->connection.reserved = 0;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, CLOCK_NEVER);
}

static void
test_one_that_does_not_read_its_answers_has_a_second(Fixture *self,
                                                     gconstpointer unused G_GNUC_UNUSED)
{
    GByteArray unsent = { 0 };

    self->connection.unsent = &unsent;
    self->connection.unsent_since_us = BEGIN + SECOND;
    self->connection.sent_us = BEGIN + 2 * SECOND;
    self->connection.frame_started_us = 0;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + 3 * SECOND);
}

static void
test_a_timeout_of_years_does_not_overflow(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    self->server.options.frame_timeout_us = G_MAXINT64;
    self->connection.frame_filled = 2999;
    self->connection.active_us = BEGIN + 100 * SECOND;

    g_assert_cmpint(frame_pace_due_us(&self->connection), ==, BEGIN + 101 * SECOND);
}

static void
add(const char *path, void (*test)(Fixture *, gconstpointer))
{
    g_test_add(path, Fixture, NULL, fixture_set_up, test, NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add("/frame-pace/nothing-comes", test_one_of_which_nothing_comes_has_a_second);
    add("/frame-pace/pace-of-the-timeout", test_one_that_goes_on_must_keep_the_pace_of_the_timeout);
    add("/frame-pace/just-begun", test_one_that_has_just_begun_has_a_second_whatever_its_pace);
    add("/frame-pace/waits-itself", test_one_that_waits_itself_has_a_second_since_it_was_read);
    add("/frame-pace/whole-frame-here",
        test_one_that_waits_with_its_whole_frame_here_has_done_its_part);
    add("/frame-pace/holds-no-memory", test_one_that_holds_no_memory_is_left_alone);
    add("/frame-pace/does-not-read", test_one_that_does_not_read_its_answers_has_a_second);
    add("/frame-pace/timeout-of-years", test_a_timeout_of_years_does_not_overflow);
    return g_test_run();
}
