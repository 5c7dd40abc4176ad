/* scripted_sink.c - sinks that do as they are told, and their runners on one channel. */
#include "tests/support/scripted_sink.h"

#include <string.h>

#include "agent/builtin.h"
#include "base/clock.h"
#include "tests/support/test_part.h"

/* ---- the sinks ---- */

static char *
bodies_of(const Delivery *delivery)
{
    GString *bodies = g_string_new(NULL);

    for (guint s = 0; s < delivery->n_slices; s++) {
        for (guint i = 0; i < delivery->slices[s].count; i++) {
            EventView event;

            batch_view(delivery->slices[s].batch, delivery->slices[s].first + i, &event);
            g_string_append_len(bodies, (const char *) event.body.data, (gssize) event.body.length);
        }
    }
    return g_string_free(bodies, FALSE);
}

static Step
next_step(ScriptedSink *self)
{
    guint index = MIN(self->n_submitted, self->script->len - 1);

    self->n_submitted++;
    return g_array_index(self->script, Step, index);
}

/* With the lock held. */
static Verdict
play(ScriptedSink *self, Step step, const char *bodies, guint *ret_done, GError **error)
{
    guint n_events = (guint) strlen(bodies);

    self->n_attempts++;
    self->blocked = step.action == DO_BLOCK;
    g_cond_broadcast(&self->changed);
    while (self->blocked && !self->interrupted)
        g_cond_wait(&self->changed, &self->lock);
    while (step.action == DO_AWAIT && !self->hurried && !self->interrupted)
        g_cond_wait(&self->changed, &self->lock);
    if (step.action == DO_TASTE)
        step.action = strchr(bodies, 'x') != NULL ? DO_REFUSE : DO_DELIVER;
    *ret_done = step.action == DO_DELIVER ? n_events : step.done;
    g_string_append_len(self->arrived, bodies, *ret_done);
    if (step.action == DO_DELIVER)
        return DELIVERED;
    g_set_error_literal(error, SINK_ERROR, SINK_ERROR_REFUSED, "scripted");
    if (step.action == DO_REFUSE)
        return DELIVERY_REFUSED;
    return step.action == DO_REJECT ? DELIVERY_REJECTED : DELIVERY_RETRY;
}

static Verdict
scripted_sink_deliver(Sink *sink, const Delivery *delivery, guint *ret_done, GError **error)
{
    ScriptedSink *self = (ScriptedSink *) sink;
    g_autofree char *bodies = bodies_of(delivery);
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->deadline_us = delivery->deadline_us;
    return play(self, next_step(self), bodies, ret_done, error);
}

typedef struct {
    Step step;
    Delivery delivery;
} Submitted;

static guint
scripted_pipe_room(Sink *sink)
{
    const ScriptedSink *self = (const ScriptedSink *) sink;

    return self->room - self->under_way.length;
}

static void
scripted_pipe_submit(Sink *sink, const Delivery *delivery)
{
    ScriptedSink *self = (ScriptedSink *) sink;
    Submitted *submitted = g_new(Submitted, 1);
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    g_assert_cmpuint(self->under_way.length, <, self->room);
    *submitted = (Submitted){ .step = next_step(self), .delivery = *delivery };
    g_queue_push_tail(&self->under_way, submitted);
    self->most_under_way = MAX(self->most_under_way, self->under_way.length);
    g_cond_broadcast(&self->changed);
}

static Verdict
scripted_pipe_collect(Sink *sink, gint64 deadline_us, guint *ret_done, GError **error)
{
    ScriptedSink *self = (ScriptedSink *) sink;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    g_autofree Submitted *oldest = g_queue_pop_head(&self->under_way);
    g_autofree char *bodies = bodies_of(&oldest->delivery); /* it is still there */

    if (deadline_us == 0)
        oldest->step = (Step){ DO_RETRY, 0 };
    return play(self, oldest->step, bodies, ret_done, error);
}

static void
scripted_sink_interrupt(Sink *sink)
{
    ScriptedSink *self = (ScriptedSink *) sink;

    g_mutex_lock(&self->lock);
    self->interrupted = TRUE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
}

static void
scripted_sink_hurry(Sink *sink)
{
    ScriptedSink *self = (ScriptedSink *) sink;

    g_mutex_lock(&self->lock);
    self->hurried = TRUE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
}

static void
scripted_sink_tick(Sink *sink)
{
    ScriptedSink *self = (ScriptedSink *) sink;

    g_mutex_lock(&self->lock);
    self->n_ticks++;
    self->next_tick_us = CLOCK_NEVER;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
}

static gint64
scripted_sink_next_tick_us(Sink *sink)
{
    ScriptedSink *self = (ScriptedSink *) sink;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return self->next_tick_us;
}

const SinkType scripted_sink = {
    .base = { .name = "scripted", .instance_size = sizeof(ScriptedSink) },
    .deliver = scripted_sink_deliver,
    .interrupt = scripted_sink_interrupt,
    .hurry = scripted_sink_hurry,
    .tick = scripted_sink_tick,
    .next_tick_us = scripted_sink_next_tick_us,
};

const SinkType scripted_pipe = {
    .base = { .name = "scripted-pipe", .instance_size = sizeof(ScriptedSink) },
    .room = scripted_pipe_room,
    .submit = scripted_pipe_submit,
    .collect = scripted_pipe_collect,
    .interrupt = scripted_sink_interrupt,
};

/* ---- channels ---- */

Channel *
bench_channel_new(const char *name, const char *yaml)
{
    return (Channel *) test_part_open(builtin_find(COMPONENT_CHANNEL, "memory"), COMPONENT_CHANNEL,
                                      name, yaml);
}

void
bench_channel_free(Channel *channel)
{
    test_part_free(&channel->base);
}

void
bench_put_into(Channel *channel, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        g_autoptr(Batch) batch = batch_new_single(NULL, 0, byte_span(letters, 1));
        Ticket ticket = { 0 };

        g_assert_cmpint(channel_put(channel, batch, &ticket, NULL), ==, PUT_DONE);
    }
}

char *
bench_read(Channel *channel)
{
    GString *text = g_string_new(NULL);
    TakeLimits limits = { .max_events = 1000, .max_bytes = 1000000 };
    Lease *lease;

    while ((lease = channel_take(channel, &limits, 0)) != NULL) {
        Delivery delivery = {
            .slices = (const BatchSlice *) lease->slices->data,
            .n_slices = lease->slices->len,
        };
        g_autofree char *bodies = bodies_of(&delivery);

        g_string_append(text, bodies);
        lease_commit(lease, lease->n_events);
        lease_rollback(lease);
    }
    return g_string_free(text, FALSE);
}

/* ---- the bench ---- */

Bench *
bench_new_empty(void)
{
    Bench *self = g_new0(Bench, 1);

    self->channel = bench_channel_new("buffer", "");
    self->sinks = g_ptr_array_new();
    self->runners = g_ptr_array_new();
    return self;
}

ScriptedSink *
bench_add(Bench *self, const SinkType *type, const char *name, const char *yaml, const Step *script,
          Channel *dead_letter)
{
    ScriptedSink *sink = (ScriptedSink *) test_part_new(&type->base, COMPONENT_SINK, name, yaml);

    sink->base.channel = self->channel;
    sink->base.dead_letter = dead_letter;
    sink->room = 4;
    sink->script = g_array_new(FALSE, FALSE, sizeof(Step));
    sink->arrived = g_string_new(NULL);
    sink->next_tick_us = CLOCK_NEVER;
    for (; (int) script->action != -1; script++)
        g_array_append_val(sink->script, *script);
    g_ptr_array_add(self->sinks, sink);
    return sink;
}

void
bench_make_runners(Bench *self)
{
    for (guint i = self->runners->len; i < self->sinks->len; i++)
        g_ptr_array_add(self->runners, sink_runner_new(g_ptr_array_index(self->sinks, i)));
    self->sink = g_ptr_array_index(self->sinks, 0);
    self->runner = g_ptr_array_index(self->runners, 0);
}

Bench *
bench_new_with(const char *yaml, const Step *script)
{
    Bench *self = bench_new_empty();

    bench_add(self, &scripted_sink, "out", yaml, script, NULL);
    bench_make_runners(self);
    return self;
}

void
bench_free(Bench *self)
{
    for (guint i = 0; i < self->runners->len; i++)
        sink_runner_interrupt(g_ptr_array_index(self->runners, i));
    for (guint i = 0; i < self->runners->len; i++)
        sink_runner_free(g_ptr_array_index(self->runners, i));
    for (guint i = 0; i < self->sinks->len; i++) {
        ScriptedSink *sink = g_ptr_array_index(self->sinks, i);

        g_assert_null(sink->under_way.head);
        g_array_unref(sink->script);
        g_string_free(sink->arrived, TRUE);
        component_free(&sink->base.base);
    }
    g_ptr_array_unref(self->runners);
    g_ptr_array_unref(self->sinks);
    bench_channel_free(self->channel);
    g_free(self);
}

void
bench_put(Bench *self, const char *letters)
{
    bench_put_into(self->channel, letters);
}

void
bench_start(Bench *self)
{
    bench_make_runners(self);
    for (guint i = 0; i < self->runners->len; i++)
        g_assert_true(sink_runner_start(g_ptr_array_index(self->runners, i), NULL));
}

void
bench_wait_for(ScriptedSink *sink, const guint *counter, guint n)
{
    gint64 deadline_us = clock_now_us() + BENCH_LIMIT_US;

    g_mutex_lock(&sink->lock);
    while (*counter < n)
        g_assert_true(g_cond_wait_until(&sink->changed, &sink->lock, deadline_us));
    g_mutex_unlock(&sink->lock);
}

void
bench_wait_until_left(Bench *self, guint64 n_events)
{
    gint64 deadline_us = clock_now_us() + BENCH_LIMIT_US;

    while (channel_n_events(self->channel) > n_events) {
        g_assert_cmpint(clock_now_us(), <, deadline_us);
        g_usleep(1000);
    }
}

void
bench_end(Bench *self, gboolean drain)
{
    for (guint i = 0; i < self->runners->len; i++)
        sink_runner_finish(g_ptr_array_index(self->runners, i), drain);
    for (guint i = 0; i < self->runners->len; i++)
        g_assert_true(
            sink_runner_wait(g_ptr_array_index(self->runners, i), clock_now_us() + BENCH_LIMIT_US));
}

void
bench_tell(ScriptedSink *sink, Action action)
{
    Step step = { action, 0 };

    g_mutex_lock(&sink->lock);
    g_array_set_size(sink->script, 0);
    g_array_append_val(sink->script, step);
    sink->blocked = FALSE;
    g_cond_broadcast(&sink->changed);
    g_mutex_unlock(&sink->lock);
}

gboolean
bench_is_blocked(ScriptedSink *sink)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&sink->lock);

    return sink->blocked;
}

char *
bench_arrived(ScriptedSink *sink)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&sink->lock);

    return g_strdup(sink->arrived->str);
}

guint64
bench_metric(const ScriptedSink *sink, SinkMetric metric)
{
    return metric_get(sink->base.base.metrics, metric);
}
