/* topic_watch.h - look-ups that wait until something about their topic changes, or until they have
 * waited long enough. */
#pragma once

#include <glib.h>

#include "base/loop.h"
#include "base/metric.h"

/* Nobody waits longer, whatever he asks for. */
#define TOPIC_WATCH_MAX_US (5 * 60 * G_USEC_PER_SEC)

typedef struct TopicWatch TopicWatch;
typedef struct TopicWaiter TopicWaiter;

/* The beginning of what its owner keeps of a look-up. */
struct TopicWaiter {
    char *topic; /* the watch sets it, and who frees the waiter frees it */
    /* Called once, when it waits no more: answers with what there is now, and frees it. */
    void (*answer)(TopicWaiter *self);

    /* the watch's own */
    TopicWatch *watch;
    LoopTimer timer;
    GQueue *queue;
    GList link;
};

/* section names the half of the registry: "nsqlookupd". */
TopicWatch *topic_watch_new(Loop *loop, const char *section);
void topic_watch_add(TopicWatch *self, TopicWaiter *waiter, const char *topic, gint64 wait_us);
/* Before it was answered: it is not going to be. */
void topic_watch_remove(TopicWaiter *waiter);
guint topic_watch_count(const TopicWatch *self);
/* Those who wait for the topic are answered when the loop turns next: one answer for all changes of
 * a turn. May be called while a table changes. */
void topic_watch_wake(TopicWatch *self, const char *topic);
/* For good: all who wait are answered, and whoever comes later does not wait. */
void topic_watch_end(TopicWatch *self);
MetricSet *topic_watch_metrics(const TopicWatch *self);
void topic_watch_free(TopicWatch *self); /* when nobody waits */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopicWatch, topic_watch_free)
