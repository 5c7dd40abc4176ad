/* nsq_watch.c - look-ups that wait until a topic's producers change. */
#include "registry/nsq_watch.h"

#include "base/clock.h"

typedef struct {
    LoopTimer timer;
    NsqWatch *watch;
    HttpRequest *request;
    char *topic;
    GList link; /* in the topic's queue, or in woken */
    GQueue *queue;
} Waiter;

struct NsqWatch {
    Loop *loop;
    NsqWatchAnswer answer;
    gpointer user;
    GHashTable *waiting; /* topic → GQueue of Waiter */
    GQueue woken;        /* Waiter */
    LoopTimer wake_up;   /* due at once when some are woken */
    MetricSet *metrics;
};

enum { WATCH_WAITING };

static const MetricSpec specs[] = {
    [WATCH_WAITING] = { .name = "leat_registry_watches",
                        .kind = METRIC_GAUGE,
                        .help = "Look-ups that wait for a change." },
    { 0 },
};

/* Out of its queue; an empty one goes too. */
static void
take_out(Waiter *waiter)
{
    NsqWatch *self = waiter->watch;

    g_queue_unlink(waiter->queue, &waiter->link);
    if (waiter->queue != &self->woken && waiter->queue->length == 0)
        g_hash_table_remove(self->waiting, waiter->topic);
}

static void
waiter_free(Waiter *waiter)
{
    NsqWatch *self = waiter->watch;

    loop_timer_clear(self->loop, &waiter->timer);
    metric_subtract(self->metrics, WATCH_WAITING, 1);
    http_request_release(waiter->request);
    g_free(waiter->topic);
    g_free(waiter);
}

static void
answer_waiter(Waiter *waiter)
{
    take_out(waiter);
    waiter->watch->answer(waiter->request, waiter->topic, waiter->watch->user);
    waiter_free(waiter);
}

static void
on_waited_enough(LoopTimer *timer)
{
    answer_waiter((Waiter *) timer);
}

static void
on_gone(HttpRequest *request G_GNUC_UNUSED, gpointer user)
{
    take_out(user);
    waiter_free(user);
}

static void
on_wake_up(LoopTimer *timer)
{
    NsqWatch *self = (NsqWatch *) ((char *) timer - G_STRUCT_OFFSET(NsqWatch, wake_up));

    while (self->woken.head != NULL)
        answer_waiter(self->woken.head->data);
}

void
nsq_watch_add(NsqWatch *self, HttpRequest *request, const char *topic, gint64 wait_us)
{
    Waiter *waiter = g_new0(Waiter, 1);
    GQueue *queue = g_hash_table_lookup(self->waiting, topic);

    if (queue == NULL) {
        queue = g_queue_new();
        g_hash_table_insert(self->waiting, g_strdup(topic), queue);
    }
    waiter->timer.expired = on_waited_enough;
    waiter->watch = self;
    waiter->request = request;
    waiter->topic = g_strdup(topic);
    waiter->link.data = waiter;
    waiter->queue = queue;
    g_queue_push_tail_link(queue, &waiter->link);
    metric_add(self->metrics, WATCH_WAITING, 1);
    http_request_hold(request, on_gone, waiter);
    loop_timer_set(self->loop, &waiter->timer, clock_deadline_us(wait_us));
}

void
nsq_watch_wake(NsqWatch *self, const char *topic)
{
    GQueue *queue = g_hash_table_lookup(self->waiting, topic);
    GList *link;

    if (queue == NULL)
        return;
    while ((link = g_queue_pop_head_link(queue)) != NULL) {
        ((Waiter *) link->data)->queue = &self->woken;
        g_queue_push_tail_link(&self->woken, link);
    }
    g_hash_table_remove(self->waiting, topic);
    loop_timer_set(self->loop, &self->wake_up, 0);
}

void
nsq_watch_answer_all(NsqWatch *self)
{
    g_autoptr(GList) topics = g_hash_table_get_keys(self->waiting);

    for (GList *link = topics; link != NULL; link = link->next)
        nsq_watch_wake(self, link->data);
    on_wake_up(&self->wake_up);
}

MetricSet *
nsq_watch_metrics(const NsqWatch *self)
{
    return self->metrics;
}

static void
queue_free(gpointer queue)
{
    g_queue_free(queue);
}

NsqWatch *
nsq_watch_new(Loop *loop, NsqWatchAnswer answer, gpointer user)
{
    NsqWatch *self = g_new0(NsqWatch, 1);

    self->loop = loop;
    self->answer = answer;
    self->user = user;
    self->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, queue_free);
    self->wake_up.expired = on_wake_up;
    self->metrics = metric_set_new(specs, "registry", "nsqlookupd", "nsqlookupd");
    return self;
}

void
nsq_watch_free(NsqWatch *self)
{
    if (self == NULL)
        return;
    g_assert(g_hash_table_size(self->waiting) == 0 && self->woken.length == 0);
    loop_timer_clear(self->loop, &self->wake_up);
    g_hash_table_unref(self->waiting);
    metric_set_free(self->metrics);
    g_free(self);
}
