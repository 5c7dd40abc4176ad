/* source.h - brings events into the agent: on a thread that the core gives it, or with loops of its
 * own. */
#pragma once

#include <glib.h>

#include "agent/core/channel_processor.h"
#include "agent/core/component.h"

#define SOURCE_ERROR (source_error_quark())
GQuark source_error_quark(void);
typedef enum { SOURCE_ERROR_INTERRUPTED, SOURCE_ERROR_IO } SourceError;

typedef struct Source Source;

/* Either run + interrupt, or start + begin_stop + finish_stop. */
typedef struct {
    ComponentType base;

    /* On a thread of the core, until interrupted or finished. */
    void (*run)(Source *self);
    void (*interrupt)(Source *self); /* any thread, returns at once */

    gboolean (*start)(Source *self, GError **error);
    /* Returns at once: nothing more is accepted, what is in hand is answered. Requests still
     * pending at answer_deadline_us are cancelled and answered FAILED. */
    void (*begin_stop)(Source *self, gint64 answer_deadline_us, gint64 deadline_us);
    void (*finish_stop)(Source *self); /* waits for the end, until deadline_us at most */

    const Endpoint *(*listens_on)(
        const Source *self); /* as configured; two sources must not share one. May be NULL */
    /* As bound, once open: the agent logs it. May be NULL. */
    const Endpoint *(*bound_to)(const Source *self);
    gsize (*largest_batch)(const Source *self); /* bytes it may put at once; may be NULL */
    /* NULL while it works, else why not, in words (static). For /healthz. May be NULL */
    const char *(*trouble)(const Source *self);
} SourceType;

struct Source {
    Component base;
    GStrv channel_names; /* rows of the kind */
    GStrv optional_channel_names;
    gint64 intercept_timeout_us;
    ChannelProcessor *processor; /* wired by the configuration */
    gint stopping;               /* atomic: set before interrupt */

    GMutex put_lock; /* guards put_is_ready */
    GCond put_woken;
    gboolean put_is_ready; /* the source_put under way can be finished */
};

static inline const SourceType *
source_type(const Source *self)
{
    return (const SourceType *) self->base.type;
}

/* For sources with a thread: puts one batch and waits until it is committed, refused, past the
 * channels' put-timeout, or the source is interrupted. Counts received, accepted and refused; the
 * batch stays the caller's, who may try it again. */
gboolean source_put(Source *self, Batch *batch, GError **error);
/* Makes a source_put that waits return, once stopping is set; for `interrupt`. */
void source_interrupt_put(Source *self);

typedef enum {
    SOURCE_EVENTS_RECEIVED,
    SOURCE_EVENTS_ACCEPTED,
    SOURCE_EVENTS_REFUSED,
    SOURCE_APPENDS_RECEIVED,
    SOURCE_APPENDS_ACCEPTED,
    SOURCE_BATCHES_RECEIVED,
    SOURCE_BATCHES_ACCEPTED,
    SOURCE_OPEN_CONNECTIONS,   /* gauge */
    SOURCE_READ_FAILURES,      /* requests that could not be read */
    SOURCE_CHANNEL_FAILURES,   /* puts that a channel refused */
    SOURCE_INTERCEPT_FAILURES, /* puts that did not get through the interceptors */
    SOURCE_EVENTS_DROPPED,     /* by interceptors */
    SOURCE_EVENTS_UNROUTED,    /* by a selector that chose no channel */
    SOURCE_OPTIONAL_FAILURES,  /* events that an optional channel did not take */
    N_SOURCE_METRICS,
} SourceMetric;
extern const MetricSpec source_metrics[N_SOURCE_METRICS + 1];
extern const OptionSpec source_options[];
