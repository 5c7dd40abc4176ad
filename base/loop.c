/* loop.c - an epoll loop: descriptors, timers in a binary heap, and jobs from other threads. */
#include "base/loop.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gio/gio.h>

#include "base/clock.h"

#define EVENTS_PER_TURN 128
#define FIRST_HEAP_SIZE 16

struct Loop {
    int epoll_fd;
    int wake_fd; /* an eventfd, edge-triggered: each write wakes, nobody reads it */
    gint64 now_us;

    LoopTimer **heap; /* from index 1; a parent is never due later than its children */
    guint n_timers;
    guint heap_size;

    struct epoll_event events[EVENTS_PER_TURN]; /* of this turn; data.ptr NULL: removed since */
    int n_events;

    atomic_bool quitting;

    GMutex lock; /* guards the rest */
    LoopJob *first_job, *last_job;
};

/* ---- life ---- */

static void
set_system_error(GError **error, const char *what)
{
    int code = errno;

    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), "%s: %s", what, g_strerror(code));
}

/* What marks the eventfd among the events of a turn: any address that no watch can have. */
static void *
wake_mark(Loop *self)
{
    return &self->wake_fd;
}

Loop *
loop_new(GError **error)
{
    g_autoptr(Loop) self = g_new0(Loop, 1);
    struct epoll_event event = { .events = EPOLLIN | EPOLLET };

    g_mutex_init(&self->lock);
    self->wake_fd = -1;
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll_fd >= 0)
        self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    event.data.ptr = wake_mark(self);
    if (self->wake_fd < 0 || epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, self->wake_fd, &event) < 0) {
        set_system_error(error, "cannot set up an event loop");
        return NULL;
    }
    self->heap_size = FIRST_HEAP_SIZE;
    self->heap = g_new(LoopTimer *, self->heap_size);
    self->now_us = clock_now_us();
    return g_steal_pointer(&self);
}

void
loop_free(Loop *self)
{
    if (self == NULL)
        return;
    /* Whoever is still in loop_post leaves first. */
    g_mutex_lock(&self->lock);
    g_mutex_unlock(&self->lock);
    g_mutex_clear(&self->lock);
    if (self->wake_fd >= 0)
        close(self->wake_fd);
    if (self->epoll_fd >= 0)
        close(self->epoll_fd);
    g_free(self->heap);
    g_free(self);
}

int
loop_fd(const Loop *self)
{
    return self->epoll_fd;
}

gint64
loop_now_us(const Loop *self)
{
    return self->now_us;
}

/* ---- jobs ---- */

static void
wake(Loop *self)
{
    guint64 one = 1;
    ssize_t written;

    /* Fails only when 2^64 - 2 wake-ups have been counted. */
    do
        written = write(self->wake_fd, &one, sizeof one);
    while (written < 0 && errno == EINTR);
}

/* Wakes with the lock held: as soon as the job can be taken it may be the last of the loop, and who
 * waited for it may free the loop. */
void
loop_post(Loop *self, LoopJob *job)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    job->next = NULL;
    if (self->first_job != NULL) {
        self->last_job->next = job;
        self->last_job = job;
        return;
    }
    self->first_job = self->last_job = job;
    wake(self);
}

void
loop_quit(Loop *self)
{
    atomic_store(&self->quitting, TRUE);
    wake(self);
}

static LoopJob *
take_jobs(Loop *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return g_steal_pointer(&self->first_job);
}

static void
run_jobs(Loop *self)
{
    LoopJob *job = take_jobs(self);

    while (job != NULL) {
        LoopJob *next = job->next; /* the job may be freed, or posted again, while it runs */

        job->run(job);
        job = next;
    }
}

/* ---- watches ---- */

gboolean
loop_add(Loop *self, LoopWatch *watch, GError **error)
{
    struct epoll_event event = { .events = watch->events, .data.ptr = watch };

    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0)
        return TRUE;
    set_system_error(error, "cannot watch a descriptor");
    return FALSE;
}

void
loop_change(Loop *self, LoopWatch *watch, guint32 events)
{
    struct epoll_event event = { .events = events, .data.ptr = watch };

    if (watch->events == events)
        return;
    watch->events = events;
    /* Fails only for a descriptor that is not watched, which would be our mistake. */
    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) < 0)
        g_assert_not_reached();
}

void
loop_remove(Loop *self, LoopWatch *watch)
{
    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL) < 0)
        g_assert_not_reached();
    for (int i = 0; i < self->n_events; i++)
        if (self->events[i].data.ptr == watch)
            self->events[i].data.ptr = NULL;
}

/* ---- timers ---- */

static void
place(Loop *self, LoopTimer *timer, guint position)
{
    self->heap[position] = timer;
    timer->position = position;
}

static void
sift_up(Loop *self, LoopTimer *timer, guint position)
{
    while (position > 1 && self->heap[position / 2]->due_us > timer->due_us) {
        place(self, self->heap[position / 2], position);
        position /= 2;
    }
    place(self, timer, position);
}

static void
sift_down(Loop *self, LoopTimer *timer, guint position)
{
    for (guint child = 2 * position; child <= self->n_timers; child = 2 * position) {
        if (child < self->n_timers && self->heap[child + 1]->due_us < self->heap[child]->due_us)
            child++;
        if (self->heap[child]->due_us >= timer->due_us)
            break;
        place(self, self->heap[child], position);
        position = child;
    }
    place(self, timer, position);
}

/* Puts timer where position is free, up or down to where it belongs. */
static void
settle(Loop *self, LoopTimer *timer, guint position)
{
    if (position > 1 && self->heap[position / 2]->due_us > timer->due_us)
        sift_up(self, timer, position);
    else
        sift_down(self, timer, position);
}

void
loop_timer_set(Loop *self, LoopTimer *timer, gint64 due_us)
{
    timer->due_us = due_us;
    if (timer->position != 0) {
        settle(self, timer, timer->position);
        return;
    }
    if (++self->n_timers == self->heap_size) {
        self->heap_size *= 2;
        self->heap = g_renew(LoopTimer *, self->heap, self->heap_size);
    }
    sift_up(self, timer, self->n_timers);
}

void
loop_timer_clear(Loop *self, LoopTimer *timer)
{
    guint position = timer->position;
    LoopTimer *last;

    if (position == 0)
        return;
    timer->position = 0;
    last = self->heap[self->n_timers--];
    if (last != timer)
        settle(self, last, position);
}

gint64
loop_next_due_us(const Loop *self)
{
    return self->n_timers > 0 ? self->heap[1]->due_us : CLOCK_NEVER;
}

static void
run_timers(Loop *self)
{
    /* A timer that is set anew for a time already past waits for the next turn. */
    for (guint left = self->n_timers; left > 0 && self->n_timers > 0; left--) {
        LoopTimer *timer = self->heap[1];

        if (timer->due_us > self->now_us)
            return;
        loop_timer_clear(self, timer);
        timer->expired(timer);
    }
}

/* ---- turning ---- */

void
loop_turn(Loop *self, gint64 deadline_us)
{
    gint64 until_us = MIN(deadline_us, loop_next_due_us(self));
    gboolean woken = FALSE;

    self->n_events =
        epoll_wait(self->epoll_fd, self->events, EVENTS_PER_TURN, clock_poll_timeout_ms(until_us));
    self->now_us = clock_now_us();
    for (int i = 0; i < self->n_events; i++) {
        LoopWatch *watch = self->events[i].data.ptr;

        if (watch == wake_mark(self))
            woken = TRUE;
        else if (watch != NULL)
            watch->ready(watch, self->events[i].events);
    }
    self->n_events = 0;
    if (woken)
        run_jobs(self);
    run_timers(self);
}

void
loop_run(Loop *self)
{
    while (!atomic_load(&self->quitting))
        loop_turn(self, CLOCK_NEVER);
}
