/* http_watch.c - look-ups over HTTP that wait for a change. */
#include "registry/http_watch.h"

typedef struct {
    TopicWaiter base;
    HttpRequest *request;
    HttpWatchAnswer answer;
    gpointer user;
} Waiter;

static void
waiter_free(Waiter *self)
{
    http_request_release(self->request);
    g_free(self->base.topic);
    g_free(self);
}

static void
on_answer(TopicWaiter *waiter)
{
    Waiter *self = (Waiter *) waiter;

    self->answer(self->request, waiter->topic, self->user);
    waiter_free(self);
}

static void
on_gone(HttpRequest *request G_GNUC_UNUSED, gpointer user)
{
    Waiter *self = user;

    topic_watch_remove(&self->base);
    waiter_free(self);
}

void
http_watch_add(TopicWatch *watch, HttpRequest *request, const char *topic, gint64 wait_us,
               HttpWatchAnswer answer, gpointer user)
{
    Waiter *self = g_new0(Waiter, 1);

    self->base.answer = on_answer;
    self->request = request;
    self->answer = answer;
    self->user = user;
    topic_watch_add(watch, &self->base, topic, wait_us);
    http_request_hold(request, on_gone, self);
}
