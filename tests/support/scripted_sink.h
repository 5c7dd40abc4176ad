/* scripted_sink.h - sinks that do as they are told, and their runners on one channel. */
#pragma once

#include <glib.h>

#include "agent/core/sink_runner.h"

#define BENCH_LIMIT_US (10 * G_USEC_PER_SEC)

typedef enum {
    DO_DELIVER,
    DO_RETRY,
    DO_REFUSE,
    DO_REJECT,
    DO_BLOCK, /* until interrupted, or told another thing */
    DO_AWAIT, /* until the agent stops; then it retries */
    DO_TASTE, /* refuses what holds an 'x', takes all else */
} Action;

typedef struct {
    Action action;
    guint done; /* RETRY, REFUSE, REJECT: leading events that arrive */
} Step;

typedef struct {
    Sink base;
    guint room; /* of the one that pipelines */

    GMutex lock; /* guards the rest */
    GCond changed;
    GArray *script;    /* Step, one a delivery; the last one is repeated */
    guint n_submitted; /* deliveries, or attempts to deliver */
    guint n_attempts;  /* that have begun to end */
    guint most_under_way;
    guint n_ticks;
    gint64 next_tick_us;
    gint64 deadline_us; /* of the last attempt */
    gboolean blocked;
    gboolean interrupted;
    gboolean hurried;
    GQueue under_way; /* of the one that pipelines */
    GString *arrived; /* bodies */
} ScriptedSink;

extern const SinkType scripted_sink;
extern const SinkType scripted_pipe; /* pipelines */

/* A channel and sinks on it, one event for each letter. */
typedef struct {
    Channel *channel;
    GPtrArray *sinks;   /* ScriptedSink * */
    GPtrArray *runners; /* SinkRunner *, once started */
    ScriptedSink *sink; /* the first one, and its runner */
    SinkRunner *runner;
} Bench;

Bench *bench_new_empty(void);
/* script: ended by an action of -1. dead_letter: NULL for none. */
ScriptedSink *bench_add(Bench *self, const SinkType *type, const char *name, const char *yaml,
                        const Step *script, Channel *dead_letter);
void bench_free(Bench *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bench, bench_free)

#define SCRIPT(...) ((const Step[]){ __VA_ARGS__, { -1, 0 } })
/* With one sink that does not pipeline. */
#define bench_new(yaml, ...) bench_new_with(yaml, SCRIPT(__VA_ARGS__))
Bench *bench_new_with(const char *yaml, const Step *script);

Channel *bench_channel_new(const char *name, const char *yaml); /* open */
void bench_channel_free(Channel *channel);
void bench_put_into(Channel *channel, const char *letters);
void bench_put(Bench *self, const char *letters);
/* Everything in the channel, which is empty afterwards, as bodies. (transfer full) */
char *bench_read(Channel *channel);

void bench_make_runners(Bench *self); /* groups and dead letters have been wired */
void bench_start(Bench *self);
/* Until *counter, guarded by the sink's lock, is at least n. */
void bench_wait_for(ScriptedSink *sink, const guint *counter, guint n);
void bench_wait_until_left(Bench *self, guint64 n_events);
void bench_end(Bench *self, gboolean drain);
/* What the sink does from now on. */
void bench_tell(ScriptedSink *sink, Action action);
gboolean bench_is_blocked(ScriptedSink *sink);
char *bench_arrived(ScriptedSink *sink); /* (transfer full) */
guint64 bench_metric(const ScriptedSink *sink, SinkMetric metric);
