/* test_loop.c - jobs in order, timers in order of time, and watches that vanish in mid-turn. */
#include "base/loop.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

static Loop *
new_loop(void)
{
    g_autoptr(GError) error = NULL;
    Loop *loop = loop_new(&error);

    g_assert_no_error(error);
    return loop;
}

/* ---- jobs ---- */

typedef struct {
    LoopJob job;
    Loop *loop;
    guint thread;
    guint number;
} NumberedJob;

#define POSTING_THREADS 3
#define JOBS_PER_THREAD 20000

static guint next_number[POSTING_THREADS];
static guint jobs_run;

static void
check_order_of_job(LoopJob *job)
{
    NumberedJob *self = (NumberedJob *) job;

    g_assert_cmpuint(self->number, ==, next_number[self->thread]++);
    if (++jobs_run == POSTING_THREADS * JOBS_PER_THREAD)
        loop_quit(self->loop);
    g_free(self);
}

static gpointer
post_jobs(gpointer data)
{
    NumberedJob *first = data;

    for (guint i = 0; i < JOBS_PER_THREAD; i++) {
        NumberedJob *job = g_memdup2(first, sizeof *first);

        job->number = i;
        loop_post(job->loop, &job->job);
    }
    return NULL;
}

static void
test_jobs_of_each_thread_run_in_order_and_none_is_forgotten(void)
{
    g_autoptr(Loop) loop = new_loop();
    NumberedJob first[POSTING_THREADS] = { 0 };
    GThread *threads[POSTING_THREADS];

    jobs_run = 0;
    for (guint i = 0; i < POSTING_THREADS; i++) {
        next_number[i] = 0;
        first[i] = (NumberedJob){ .job.run = check_order_of_job, .loop = loop, .thread = i };
        threads[i] = g_thread_new("poster", post_jobs, &first[i]);
    }
    loop_run(loop);
    for (guint i = 0; i < POSTING_THREADS; i++)
        g_thread_join(threads[i]);

    g_assert_cmpuint(jobs_run, ==, POSTING_THREADS * JOBS_PER_THREAD);
}

typedef struct {
    LoopJob job;
    Loop *loop;
    guint left;
} RepeatedJob;

static void
post_again(LoopJob *job)
{
    RepeatedJob *self = (RepeatedJob *) job;

    if (--self->left > 0)
        loop_post(self->loop, job);
    else
        loop_quit(self->loop);
}

static void
test_a_job_may_post_itself_again(void)
{
    g_autoptr(Loop) loop = new_loop();
    RepeatedJob job = { .job.run = post_again, .loop = loop, .left = 1000 };

    loop_post(loop, &job.job);
    loop_run(loop);

    g_assert_cmpuint(job.left, ==, 0);
}

static void
test_a_loop_told_to_quit_before_it_runs_returns_at_once(void)
{
    g_autoptr(Loop) loop = new_loop();

    loop_quit(loop);

    loop_run(loop);
}

/* ---- timers ---- */

#define N_TIMERS 500

static gint64 last_due_us;
static guint n_expired;

static void
check_order_of_timer(LoopTimer *timer)
{
    g_assert_cmpint(timer->due_us, >=, last_due_us);
    g_assert_cmpuint(timer->position, ==, 0);
    last_due_us = timer->due_us;
    n_expired++;
}

static void
test_timers_expire_in_order_of_time_whatever_was_moved_or_cleared(void)
{
    g_autoptr(Loop) loop = new_loop();
    LoopTimer timers[N_TIMERS] = { 0 };
    guint n_set = 0;

    last_due_us = 0;
    n_expired = 0;
    for (guint i = 0; i < N_TIMERS; i++) {
        timers[i].expired = check_order_of_timer;
        loop_timer_set(loop, &timers[i], g_test_rand_int_range(1, 1000));
    }
    for (guint i = 0; i < N_TIMERS; i += 2)
        loop_timer_set(loop, &timers[i], g_test_rand_int_range(1, 1000));
    for (guint i = 0; i < N_TIMERS; i += 3)
        loop_timer_clear(loop, &timers[i]);
    for (guint i = 0; i < N_TIMERS; i++)
        n_set += timers[i].position != 0;
    loop_turn(loop, 0);

    g_assert_cmpuint(n_expired, ==, n_set);
    g_assert_cmpint(loop_next_due_us(loop), ==, CLOCK_NEVER);
}

static void
test_a_timer_does_not_expire_before_its_time(void)
{
    g_autoptr(Loop) loop = new_loop();
    LoopTimer timer = { .expired = check_order_of_timer };
    gint64 due_us = clock_now_us() + 20000;

    n_expired = 0;
    last_due_us = 0;
    loop_timer_set(loop, &timer, due_us);
    while (n_expired == 0)
        loop_turn(loop, CLOCK_NEVER);

    g_assert_cmpint(clock_now_us(), >=, due_us);
}

typedef struct {
    LoopTimer timer;
    Loop *loop;
    guint n_expired;
} StubbornTimer;

static void
set_again_for_the_past(LoopTimer *timer)
{
    StubbornTimer *self = (StubbornTimer *) timer;

    self->n_expired++;
    loop_timer_set(self->loop, timer, 1);
}

static void
test_a_timer_set_for_the_past_does_not_hold_up_the_turn(void)
{
    g_autoptr(Loop) loop = new_loop();
    StubbornTimer timer = { .timer.expired = set_again_for_the_past, .loop = loop };

    loop_timer_set(loop, &timer.timer, 1);
    loop_turn(loop, 0);

    g_assert_cmpuint(timer.n_expired, ==, 1);
}

/* ---- watches ---- */

typedef struct {
    LoopWatch watch;
    Loop *loop;
    guint *n_ready;
    LoopWatch *victim; /* removed when this one is ready */
} PairWatch;

static void
remove_the_other(LoopWatch *watch, guint32 events G_GNUC_UNUSED)
{
    PairWatch *self = (PairWatch *) watch;

    ++*self->n_ready;
    loop_remove(self->loop, self->victim);
}

static void
test_a_watch_removed_during_a_turn_is_not_called_in_it(void)
{
    g_autoptr(Loop) loop = new_loop();
    int ends[2];
    guint n_ready = 0;
    PairWatch first, second;

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    g_assert_cmpint(write(ends[0], "x", 1), ==, 1);
    g_assert_cmpint(write(ends[1], "x", 1), ==, 1);
    first = (PairWatch){ { ends[0], EPOLLIN, remove_the_other }, loop, &n_ready, &second.watch };
    second = (PairWatch){ { ends[1], EPOLLIN, remove_the_other }, loop, &n_ready, &first.watch };
    g_assert_true(loop_add(loop, &first.watch, NULL));
    g_assert_true(loop_add(loop, &second.watch, NULL));
    loop_turn(loop, CLOCK_NEVER);

    g_assert_cmpuint(n_ready, ==, 1);
    close(ends[0]);
    close(ends[1]);
}

static void
count_ready(LoopWatch *watch, guint32 events G_GNUC_UNUSED)
{
    ++*((PairWatch *) watch)->n_ready;
}

static void
test_a_watch_that_asks_for_nothing_is_left_alone_until_it_asks_again(void)
{
    g_autoptr(Loop) loop = new_loop();
    int ends[2];
    guint n_ready = 0;
    PairWatch watch;

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    g_assert_cmpint(write(ends[1], "x", 1), ==, 1);
    watch = (PairWatch){ { ends[0], EPOLLIN, count_ready }, loop, &n_ready, NULL };
    g_assert_true(loop_add(loop, &watch.watch, NULL));
    loop_change(loop, &watch.watch, 0);
    loop_turn(loop, 0);
    g_assert_cmpuint(n_ready, ==, 0);
    loop_change(loop, &watch.watch, EPOLLIN);
    loop_turn(loop, 0);

    g_assert_cmpuint(n_ready, ==, 1);
    close(ends[0]);
    close(ends[1]);
}

static void
test_a_descriptor_that_cannot_be_watched_is_an_error(void)
{
    g_autoptr(Loop) loop = new_loop();
    g_autoptr(GError) error = NULL;
    LoopWatch watch = { .fd = -1, .events = EPOLLIN, .ready = count_ready };

    g_assert_false(loop_add(loop, &watch, &error));

    g_assert_nonnull(error);
}

/* ---- inside another loop ---- */

static void
test_its_descriptor_shows_another_poll_that_a_job_waits(void)
{
    g_autoptr(Loop) loop = new_loop();
    GPollFD poll_fd = { .fd = loop_fd(loop), .events = G_IO_IN };
    RepeatedJob job = { .job.run = post_again, .loop = loop, .left = 1 };

    g_assert_cmpint(g_poll(&poll_fd, 1, 0), ==, 0);
    loop_post(loop, &job.job);
    g_assert_cmpint(g_poll(&poll_fd, 1, 0), ==, 1);
    loop_turn(loop, 0);

    g_assert_cmpuint(job.left, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/loop/jobs-of-each-thread-run-in-order",
                    test_jobs_of_each_thread_run_in_order_and_none_is_forgotten);
    g_test_add_func("/loop/a-job-may-post-itself-again", test_a_job_may_post_itself_again);
    g_test_add_func("/loop/quit-before-run",
                    test_a_loop_told_to_quit_before_it_runs_returns_at_once);
    g_test_add_func("/loop/timers-expire-in-order",
                    test_timers_expire_in_order_of_time_whatever_was_moved_or_cleared);
    g_test_add_func("/loop/a-timer-is-never-early", test_a_timer_does_not_expire_before_its_time);
    g_test_add_func("/loop/a-timer-set-for-the-past",
                    test_a_timer_set_for_the_past_does_not_hold_up_the_turn);
    g_test_add_func("/loop/removed-during-a-turn",
                    test_a_watch_removed_during_a_turn_is_not_called_in_it);
    g_test_add_func("/loop/a-watch-that-asks-for-nothing",
                    test_a_watch_that_asks_for_nothing_is_left_alone_until_it_asks_again);
    g_test_add_func("/loop/a-descriptor-that-cannot-be-watched",
                    test_a_descriptor_that_cannot_be_watched_is_an_error);
    g_test_add_func("/loop/inside-another-poll",
                    test_its_descriptor_shows_another_poll_that_a_job_waits);
    return g_test_run();
}
