/* nsq_watch.h - look-ups that wait until a topic's producers change, or until they have waited long
 * enough. */
#pragma once

#include <glib.h>

#include "base/loop.h"
#include "base/metric.h"
#include "registry/http_server.h"

/* Nobody waits longer, whatever he asks for. */
#define NSQ_WATCH_MAX_US (5 * 60 * G_USEC_PER_SEC)

typedef struct NsqWatch NsqWatch;

/* Answers a request about a topic with what there is now. */
typedef void (*NsqWatchAnswer)(HttpRequest *request, const char *topic, gpointer user);

NsqWatch *nsq_watch_new(Loop *loop, NsqWatchAnswer answer, gpointer user);
/* Holds the request, which is answered later. */
void nsq_watch_add(NsqWatch *self, HttpRequest *request, const char *topic, gint64 wait_us);
/* Those who wait for the topic are answered when the loop turns next: one answer for all changes of
 * a turn. May be called while the table changes. */
void nsq_watch_wake(NsqWatch *self, const char *topic);
void nsq_watch_answer_all(NsqWatch *self);
MetricSet *nsq_watch_metrics(const NsqWatch *self);
void nsq_watch_free(NsqWatch *self); /* after nsq_watch_answer_all */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqWatch, nsq_watch_free)
