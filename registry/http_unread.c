/* http_unread.c - the large answers that are under way, the oldest first. */
#include "registry/http_unread.h"

struct HttpUnread {
    HttpListener *listener;
    gsize max_bytes;
    gsize bytes;    /* of all in the line */
    GQueue answers; /* UnreadAnswer */
};

typedef struct {
    HttpUnread *unread;
    SoupServerMessage *message; /* not referenced */
    gsize bytes;
    GList link;
} UnreadAnswer;

static void
forget(UnreadAnswer *self)
{
    g_queue_unlink(&self->unread->answers, &self->link);
    self->unread->bytes -= self->bytes;
    g_free(self);
}

static void
on_freed(gpointer answer, GObject *message G_GNUC_UNUSED)
{
    forget(answer);
}

static UnreadAnswer *
oldest(const HttpUnread *self)
{
    return self->answers.head->data;
}

static void
drop(UnreadAnswer *self)
{
    g_object_weak_unref(G_OBJECT(self->message), on_freed, self);
    forget(self);
}

/* One alone may be of any size. */
static void
make_room(HttpUnread *self)
{
    while (self->bytes > self->max_bytes && self->answers.length > 1) {
        http_listener_close_unread(self->listener, oldest(self)->message);
        drop(oldest(self));
    }
}

void
http_unread_add(HttpUnread *self, SoupServerMessage *message, gsize bytes)
{
    UnreadAnswer *answer = g_new0(UnreadAnswer, 1);

    answer->unread = self;
    answer->message = message;
    answer->bytes = bytes;
    answer->link.data = answer;
    g_queue_push_tail_link(&self->answers, &answer->link);
    self->bytes += bytes;
    g_object_weak_ref(G_OBJECT(message), on_freed, answer);
    make_room(self);
}

HttpUnread *
http_unread_new(HttpListener *listener, gsize max_bytes)
{
    HttpUnread *self = g_new0(HttpUnread, 1);

    self->listener = listener;
    self->max_bytes = max_bytes;
    return self;
}

void
http_unread_free(HttpUnread *self)
{
    if (self == NULL)
        return;
    while (self->answers.length > 0)
        drop(oldest(self));
    g_free(self);
}
