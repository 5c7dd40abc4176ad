/* test_lookup_schedule.c - when a registry is asked, under a clock of the test's own. */
#include "client/discovery/lookup_schedule.h"

#include "base/clock.h"

#define SECOND ((gint64) G_USEC_PER_SEC)
#define NOON (1000 * SECOND)
#define MINUTE (60 * SECOND)

/* What happens to a question that goes out when it is due, and is over 10 ms later. Returns when
 * that was. */
static gint64
ask(LookupSchedule *self, LookupOutcome outcome)
{
    gint64 end_us = self->due_us + 10 * 1000;

    lookup_schedule_begin(self, self->due_us);
    lookup_schedule_end(self, outcome, end_us);
    return end_us;
}

/* The same. Returns how long it is until the next one is due. */
static gint64
ask_for_delay(LookupSchedule *self, LookupOutcome outcome)
{
    gint64 end_us = ask(self, outcome);

    return self->due_us - end_us;
}

static void
test_the_first_question_is_due_at_once(void)
{
    LookupSchedule self;

    lookup_schedule_init(&self, MINUTE, 0.3, NOON);

    g_assert_cmpint(self.due_us, ==, NOON);
}

static void
test_polls_come_within_the_interval_and_not_all_together(void)
{
    LookupSchedule self;
    gint64 earliest_us = CLOCK_NEVER;
    gint64 latest_us = 0;

    lookup_schedule_init(&self, MINUTE, 0.3, NOON);
    for (guint i = 0; i < 200; i++) {
        gint64 delay_us = ask_for_delay(&self, LOOKUP_ANSWERED);

        earliest_us = MIN(earliest_us, delay_us);
        latest_us = MAX(latest_us, delay_us);
    }

    g_assert_cmpint(earliest_us, >=, 42 * SECOND);
    g_assert_cmpint(earliest_us, <, 45 * SECOND);
    g_assert_cmpint(latest_us, >, 57 * SECOND);
    g_assert_cmpint(latest_us, <=, MINUTE);
}

static void
test_one_question_is_under_way_at_a_time(void)
{
    LookupSchedule self;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    lookup_schedule_begin(&self, NOON);

    g_assert_cmpint(self.due_us, ==, CLOCK_NEVER);
}

static void
test_who_may_watch_asks_again_at_once_but_not_in_a_whirl(void)
{
    LookupSchedule self;
    gint64 end_us;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    end_us = ask(&self, LOOKUP_MAY_WATCH);
    g_assert_cmpint(self.due_us, ==, NOON + WATCH_SPACING_US);
    lookup_schedule_begin(&self, self.due_us);
    end_us += MINUTE;
    lookup_schedule_end(&self, LOOKUP_MAY_WATCH, end_us);

    g_assert_cmpint(self.due_us, ==, end_us);
}

static void
test_a_registry_that_fails_is_asked_again_later_and_later(void)
{
    LookupSchedule self;
    gint64 delays_us[8];

    lookup_schedule_init(&self, MINUTE, 0.3, NOON);
    for (guint i = 0; i < G_N_ELEMENTS(delays_us); i++)
        delays_us[i] = ask_for_delay(&self, LOOKUP_FAILED);

    g_assert_cmpint(delays_us[0], >=, SECOND / 2);
    g_assert_cmpint(delays_us[0], <=, SECOND);
    g_assert_cmpint(delays_us[3], >=, 4 * SECOND);
    g_assert_cmpint(delays_us[7], >=, 15 * SECOND);
    g_assert_cmpint(delays_us[7], <=, 30 * SECOND);
    ask(&self, LOOKUP_ANSWERED);
    g_assert_cmpint(ask_for_delay(&self, LOOKUP_FAILED), <=, SECOND);
}

/* ---- rechecks ---- */

static void
test_a_broken_connection_asks_at_once(void)
{
    LookupSchedule self;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    ask(&self, LOOKUP_ANSWERED);
    lookup_schedule_recheck(&self, NOON + 5 * SECOND);

    g_assert_cmpint(self.due_us, ==, NOON + 5 * SECOND);
}

static void
test_many_broken_connections_are_one_question_a_second(void)
{
    LookupSchedule self;
    guint n_questions = 0;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    ask(&self, LOOKUP_ANSWERED);
    for (gint64 now_us = NOON + SECOND; now_us < NOON + 6 * SECOND; now_us += 10 * 1000) {
        lookup_schedule_recheck(&self, now_us);
        if (self.due_us <= now_us) {
            ask(&self, LOOKUP_ANSWERED);
            n_questions++;
        }
    }

    g_assert_cmpuint(n_questions, ==, 5);
}

static void
test_what_breaks_while_a_question_is_under_way_asks_once_more(void)
{
    LookupSchedule self;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    lookup_schedule_begin(&self, NOON);
    lookup_schedule_recheck(&self, NOON);
    lookup_schedule_recheck(&self, NOON);
    lookup_schedule_end(&self, LOOKUP_ANSWERED, NOON + SECOND / 10);
    g_assert_cmpint(self.due_us, ==, NOON + RECHECK_SPACING_US);
    ask(&self, LOOKUP_ANSWERED);

    g_assert_cmpint(self.due_us, >, NOON + 50 * SECOND);
}

static void
test_a_watch_that_waits_is_left_to_wait(void)
{
    LookupSchedule self;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    ask(&self, LOOKUP_MAY_WATCH);
    lookup_schedule_begin(&self, self.due_us);
    lookup_schedule_recheck(&self, NOON + SECOND);
    g_assert_cmpint(self.due_us, ==, CLOCK_NEVER);
    lookup_schedule_end(&self, LOOKUP_MAY_WATCH, NOON + 30 * SECOND);

    g_assert_cmpint(self.due_us, ==, NOON + 30 * SECOND);
}

static void
test_a_broken_connection_ends_the_patience_with_a_registry_that_fails(void)
{
    LookupSchedule self;
    gint64 end_us;

    lookup_schedule_init(&self, MINUTE, 0, NOON);
    for (guint i = 0; i < 6; i++)
        end_us = ask(&self, LOOKUP_FAILED);
    g_assert_cmpint(self.due_us, >, end_us + 2 * SECOND);
    lookup_schedule_recheck(&self, end_us + SECOND);

    g_assert_cmpint(self.due_us, ==, end_us + SECOND);
}

#define ADD(name, function) g_test_add_func("/lookup-schedule/" name, function)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("first", test_the_first_question_is_due_at_once);
    ADD("polls", test_polls_come_within_the_interval_and_not_all_together);
    ADD("one-at-a-time", test_one_question_is_under_way_at_a_time);
    ADD("watch", test_who_may_watch_asks_again_at_once_but_not_in_a_whirl);
    ADD("failures", test_a_registry_that_fails_is_asked_again_later_and_later);
    ADD("recheck", test_a_broken_connection_asks_at_once);
    ADD("rechecks-coalesce", test_many_broken_connections_are_one_question_a_second);
    ADD("recheck-under-way", test_what_breaks_while_a_question_is_under_way_asks_once_more);
    ADD("recheck-of-a-watch", test_a_watch_that_waits_is_left_to_wait);
    ADD("recheck-of-a-failure",
        test_a_broken_connection_ends_the_patience_with_a_registry_that_fails);
    return g_test_run();
}
