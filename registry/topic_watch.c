/* topic_watch.c - look-ups that wait until something about their topic changes. */
#include "registry/topic_watch.h"

#include "base/clock.h"
#include "base/text_hash.h"

struct TopicWatch {
    Loop *loop;
    GHashTable *waiting; /* topic → GQueue of TopicWaiter */
    GQueue woken;        /* TopicWaiter */
    guint n_waiters;
    LoopTimer wake_up; /* due at once when some are woken */
    gboolean has_ended;
    MetricSet *metrics;
};

enum { WATCH_WAITING };

static const MetricSpec specs[] = {
    [WATCH_WAITING] = { .name = "leat_registry_watches",
                        .kind = METRIC_GAUGE,
                        .help = "Look-ups that wait for a change." },
    { 0 },
};

/* An empty queue goes too. */
void
topic_watch_remove(TopicWaiter *waiter)
{
    TopicWatch *self = waiter->watch;

    g_queue_unlink(waiter->queue, &waiter->link);
    if (waiter->queue != &self->woken && waiter->queue->length == 0)
        g_hash_table_remove(self->waiting, waiter->topic);
    loop_timer_clear(self->loop, &waiter->timer);
    self->n_waiters--;
    metric_subtract(self->metrics, WATCH_WAITING, 1);
}

static void
answer_waiter(TopicWaiter *waiter)
{
    topic_watch_remove(waiter);
    waiter->answer(waiter);
}

static void
on_waited_enough(LoopTimer *timer)
{
    answer_waiter((TopicWaiter *) ((char *) timer - G_STRUCT_OFFSET(TopicWaiter, timer)));
}

static void
on_wake_up(LoopTimer *timer)
{
    TopicWatch *self = (TopicWatch *) ((char *) timer - G_STRUCT_OFFSET(TopicWatch, wake_up));

    while (self->woken.head != NULL)
        answer_waiter(self->woken.head->data);
}

void
topic_watch_add(TopicWatch *self, TopicWaiter *waiter, const char *topic, gint64 wait_us)
{
    GQueue *queue = g_hash_table_lookup(self->waiting, topic);

    if (queue == NULL) {
        queue = g_queue_new();
        g_hash_table_insert(self->waiting, g_strdup(topic), queue);
    }
    waiter->topic = g_strdup(topic);
    waiter->watch = self;
    waiter->timer.expired = on_waited_enough;
    waiter->link.data = waiter;
    waiter->queue = queue;
    g_queue_push_tail_link(queue, &waiter->link);
    self->n_waiters++;
    metric_add(self->metrics, WATCH_WAITING, 1);
    loop_timer_set(self->loop, &waiter->timer, clock_deadline_us(MIN(wait_us, TOPIC_WATCH_MAX_US)));
    if (self->has_ended)
        topic_watch_wake(self, topic);
}

guint
topic_watch_count(const TopicWatch *self)
{
    return self->n_waiters;
}

void
topic_watch_wake(TopicWatch *self, const char *topic)
{
    GQueue *queue = g_hash_table_lookup(self->waiting, topic);
    GList *link;

    if (queue == NULL)
        return;
    while ((link = g_queue_pop_head_link(queue)) != NULL) {
        ((TopicWaiter *) link->data)->queue = &self->woken;
        g_queue_push_tail_link(&self->woken, link);
    }
    g_hash_table_remove(self->waiting, topic);
    loop_timer_set(self->loop, &self->wake_up, 0);
}

void
topic_watch_end(TopicWatch *self)
{
    g_autoptr(GList) topics = g_hash_table_get_keys(self->waiting);

    self->has_ended = TRUE;
    for (GList *link = topics; link != NULL; link = link->next)
        topic_watch_wake(self, link->data);
    on_wake_up(&self->wake_up);
}

MetricSet *
topic_watch_metrics(const TopicWatch *self)
{
    return self->metrics;
}

static void
queue_free(gpointer queue)
{
    g_queue_free(queue);
}

TopicWatch *
topic_watch_new(Loop *loop, const char *section)
{
    TopicWatch *self = g_new0(TopicWatch, 1);

    self->loop = loop;
    self->waiting = g_hash_table_new_full(text_hash, g_str_equal, g_free, queue_free);
    self->wake_up.expired = on_wake_up;
    self->metrics = metric_set_new(specs, "registry", section, section);
    return self;
}

void
topic_watch_free(TopicWatch *self)
{
    if (self == NULL)
        return;
    g_assert(self->n_waiters == 0);
    loop_timer_clear(self->loop, &self->wake_up);
    g_hash_table_unref(self->waiting);
    metric_set_free(self->metrics);
    g_free(self);
}
