/* rpc_server.c - one thread listens, and one serves each connection. */
#include "tests/support/rpc_server.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event_bytes.h"
#include "thrift/wire/call.h"
#include "thrift/wire/reply.h"
#include "thrift/wire/walk.h"

#define SOON_US (10 * G_USEC_PER_SEC)

struct RpcServer {
    Endpoint *endpoint;
    GThread *listener;
    int listen_fd;
    int stop_fd; /* eventfd */

    GMutex lock; /* guards the rest */
    GCond changed;
    gboolean stopping;
    Answer answer;
    GQueue plan; /* Answer */
    gint64 delay_us;
    guint n_held;
    GString *stored;
    guint n_stored;
    guint n_calls;
    guint n_appends;
    guint n_connections;
    guint most_connections;
    GHashTable *fds; /* of connections that are open */
};

typedef struct {
    RpcServer *server;
    int fd;
} Connection;

/* ---- one connection ---- */

/* NULL: the peer has hung up. */
static GByteArray *
read_bytes(int fd, gsize size)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    g_byte_array_set_size(bytes, (guint) size);
    if (recv(fd, bytes->data, size, MSG_WAITALL) != (gssize) size)
        return NULL;
    return g_steal_pointer(&bytes);
}

static GByteArray *
read_frame(int fd)
{
    g_autoptr(GByteArray) prefix = read_bytes(fd, 4);
    guint32 length;

    if (prefix == NULL)
        return NULL;
    memcpy(&length, prefix->data, sizeof length);
    return read_bytes(fd, GUINT32_FROM_BE(length));
}

static Answer
server_next_answer(RpcServer *self)
{
    return self->plan.length > 0 ? (Answer) GPOINTER_TO_INT(g_queue_pop_head(&self->plan))
                                 : self->answer;
}

static void
server_store(RpcServer *self, const Walk *walk)
{
    const guint32 *offsets = walk->offsets;

    for (guint i = 0; i < walk->n_events; i++) {
        EventView view;

        event_view_init(&view, walk->bytes + offsets[i], offsets[i + 1] - offsets[i]);
        g_string_append_printf(self->stored, "%s%.*s", self->n_stored > 0 ? " " : "",
                               (int) MIN(view.body.length, 40), (const char *) view.body.data);
        self->n_stored++;
    }
}

/* What the frame is to be answered with; its events are stored if that is ANSWER_OK. */
static Answer
server_take_call(RpcServer *self, const GByteArray *frame, WireMessage *ret_message)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gboolean is_append;
    WalkVerdict verdict;
    Answer answer;
    Walk walk;

    g_assert_true(wire_message_read(frame->data, frame->len, ret_message));
    is_append = byte_span_equal(ret_message->name, byte_span_of_text(WIRE_APPEND));
    walk_init(&walk);
    verdict =
        (is_append ? walk_append : walk_append_batch)(&walk, ret_message, frame->data, frame->len);
    g_assert_cmpint(verdict, ==, WALK_GOOD);
    answer = server_next_answer(self);
    if (answer == ANSWER_OK)
        server_store(self, &walk);
    walk_clear(&walk);
    self->n_calls++;
    self->n_appends += is_append;
    g_cond_broadcast(&self->changed);
    return answer;
}

static void
write_answer(GByteArray *out, WireMessage *message, Answer answer)
{
    static const char no_thrift[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    static const WireStatus statuses[] = {
        [ANSWER_OK] = WIRE_STATUS_OK,         [ANSWER_FAILED] = WIRE_STATUS_FAILED,
        [ANSWER_ERROR] = WIRE_STATUS_ERROR,   [ANSWER_UNKNOWN] = WIRE_STATUS_UNKNOWN,
        [ANSWER_STATUS_42] = (WireStatus) 42,
    };

    switch (answer) {
    case ANSWER_NO_STATUS:
        wire_reply_write_status(out, message, WIRE_STATUS_OK);
        /* The field goes, its end stays. */
        g_byte_array_set_size(out, out->len - (message->protocol == WIRE_COMPACT ? 3 : 7));
        out->data[out->len - 1] = 0;
        out->data[3] -= message->protocol == WIRE_COMPACT ? 3 : 7;
        return;
    case ANSWER_UNKNOWN_METHOD:
        wire_reply_write_exception(out, message, WIRE_EXCEPTION_UNKNOWN_METHOD, "Invalid method");
        return;
    case ANSWER_PROTOCOL_ERROR:
        wire_reply_write_exception(out, message, WIRE_EXCEPTION_PROTOCOL_ERROR, "no events");
        return;
    case ANSWER_INTERNAL_ERROR:
        wire_reply_write_exception(out, message, WIRE_EXCEPTION_INTERNAL_ERROR, "broken");
        return;
    case ANSWER_WRONG_SEQUENCE_ID:
        message->sequence_id++;
        wire_reply_write_status(out, message, WIRE_STATUS_OK);
        return;
    case ANSWER_WRONG_METHOD:
        message->name = byte_span_of_text(
            byte_span_equal(message->name, byte_span_of_text(WIRE_APPEND)) ? WIRE_APPEND_BATCH
                                                                           : WIRE_APPEND);
        wire_reply_write_status(out, message, WIRE_STATUS_OK);
        return;
    case ANSWER_NO_THRIFT:
        g_byte_array_append(out, (const guint8 *) no_thrift, sizeof no_thrift - 1);
        return;
    default:
        wire_reply_write_status(out, message, statuses[answer]);
    }
}

static void
server_wait_out_delay(RpcServer *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 until_us = clock_now_us() + self->delay_us;

    while (!self->stopping && self->delay_us > 0 &&
           g_cond_wait_until(&self->changed, &self->lock, until_us))
        ;
}

/* FALSE: the connection is to be closed. */
static gboolean
connection_answer(Connection *self, const GByteArray *frame)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    WireMessage message;
    Answer answer = server_take_call(self->server, frame, &message);

    server_wait_out_delay(self->server);
    if (answer == ANSWER_HANG_UP)
        return FALSE;
    if (answer != ANSWER_NOTHING)
        write_answer(out, &message, answer);
    return out->len == 0 || send(self->fd, out->data, out->len, MSG_NOSIGNAL) == (gssize) out->len;
}

static guint
server_n_held(RpcServer *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return MAX(self->n_held, 1);
}

static void
connection_serve(Connection *self)
{
    g_autoptr(GPtrArray) frames =
        g_ptr_array_new_with_free_func((GDestroyNotify) g_byte_array_unref);
    GByteArray *frame;

    while ((frame = read_frame(self->fd)) != NULL) {
        g_ptr_array_add(frames, frame);
        if (frames->len < server_n_held(self->server))
            continue;
        for (guint i = 0; i < frames->len; i++)
            if (!connection_answer(self, frames->pdata[i]))
                return;
        g_ptr_array_set_size(frames, 0);
    }
}

/* Closing with bytes unread would reset the connection, and answers on their way would be lost. */
static void
connection_end(Connection *self)
{
    guint8 bytes[4096];

    shutdown(self->fd, SHUT_WR);
    while (recv(self->fd, bytes, sizeof bytes, 0) > 0)
        ;
}

static gpointer
connection_thread(gpointer user)
{
    Connection *self = user;
    RpcServer *server = self->server;

    connection_serve(self);
    connection_end(self);
    g_mutex_lock(&server->lock);
    close(self->fd);
    g_hash_table_remove(server->fds, GINT_TO_POINTER(self->fd));
    g_cond_broadcast(&server->changed);
    g_mutex_unlock(&server->lock);
    g_free(self);
    return NULL;
}

/* ---- listening ---- */

static void
server_accept(RpcServer *self)
{
    Connection *connection;
    int fd = accept(self->listen_fd, NULL, NULL);

    if (fd < 0)
        return;
    connection = g_new0(Connection, 1);
    *connection = (Connection){ .server = self, .fd = fd };
    g_mutex_lock(&self->lock);
    g_hash_table_add(self->fds, GINT_TO_POINTER(fd));
    self->n_connections++;
    self->most_connections = MAX(self->most_connections, g_hash_table_size(self->fds));
    g_thread_unref(g_thread_new("connection", connection_thread, connection));
    g_mutex_unlock(&self->lock);
}

static gpointer
listen_thread(gpointer user)
{
    RpcServer *self = user;
    struct pollfd fds[] = { { .fd = self->listen_fd, .events = POLLIN },
                            { .fd = self->stop_fd, .events = POLLIN } };

    while (poll(fds, G_N_ELEMENTS(fds), -1) > 0 && fds[1].revents == 0)
        server_accept(self);
    return NULL;
}

void
rpc_server_start(RpcServer *self)
{
    g_autoptr(Endpoint) wanted = endpoint_copy(self->endpoint);
    g_autoptr(GError) error = NULL;

    g_clear_pointer(&self->endpoint, endpoint_free);
    self->listen_fd = endpoint_listen(wanted, 128, &self->endpoint, &error);
    g_assert_no_error(error);
    self->stop_fd = eventfd(0, EFD_CLOEXEC);
    self->stopping = FALSE;
    self->listener = g_thread_new("listener", listen_thread, self);
}

void
rpc_server_hang_up(RpcServer *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    GHashTableIter iter;
    gpointer fd;

    g_hash_table_iter_init(&iter, self->fds);
    while (g_hash_table_iter_next(&iter, &fd, NULL))
        shutdown(GPOINTER_TO_INT(fd), SHUT_RDWR);
    while (g_hash_table_size(self->fds) > 0)
        g_cond_wait(&self->changed, &self->lock);
}

void
rpc_server_stop(RpcServer *self)
{
    const guint64 one = 1;

    if (self->listener == NULL)
        return;
    g_assert_cmpint(write(self->stop_fd, &one, sizeof one), ==, sizeof one);
    g_clear_pointer(&self->listener, g_thread_join);
    close(self->listen_fd);
    close(self->stop_fd);
    g_mutex_lock(&self->lock);
    self->stopping = TRUE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    rpc_server_hang_up(self);
}

RpcServer *
rpc_server_new(void)
{
    RpcServer *self = g_new0(RpcServer, 1);

    self->endpoint = endpoint_new("127.0.0.1", 0);
    self->stored = g_string_new(NULL);
    self->fds = g_hash_table_new(NULL, NULL);
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    g_queue_init(&self->plan);
    rpc_server_start(self);
    return self;
}

void
rpc_server_free(RpcServer *self)
{
    rpc_server_stop(self);
    g_queue_clear(&self->plan);
    g_hash_table_unref(self->fds);
    g_string_free(self->stored, TRUE);
    g_mutex_clear(&self->lock);
    g_cond_clear(&self->changed);
    endpoint_free(self->endpoint);
    g_free(self);
}

const Endpoint *
rpc_server_endpoint(const RpcServer *self)
{
    return self->endpoint;
}

/* ---- what to do ---- */

void
rpc_server_answer(RpcServer *self, Answer answer)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->answer = answer;
}

void
rpc_server_plan(RpcServer *self, const Answer *answers, guint n_answers)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    for (guint i = 0; i < n_answers; i++)
        g_queue_push_tail(&self->plan, GINT_TO_POINTER(answers[i]));
}

void
rpc_server_delay(RpcServer *self, gint64 delay_us)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->delay_us = delay_us;
}

void
rpc_server_hold(RpcServer *self, guint n_calls)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    self->n_held = n_calls;
}

/* ---- what has happened ---- */

char *
rpc_server_stored(RpcServer *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return g_strdup(self->stored->str);
}

static guint
server_read(RpcServer *self, const guint *member)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

    return *member;
}

guint
rpc_server_n_stored(RpcServer *self)
{
    return server_read(self, &self->n_stored);
}

guint
rpc_server_n_calls(RpcServer *self)
{
    return server_read(self, &self->n_calls);
}

guint
rpc_server_n_appends(RpcServer *self)
{
    return server_read(self, &self->n_appends);
}

guint
rpc_server_n_connections(RpcServer *self)
{
    return server_read(self, &self->n_connections);
}

guint
rpc_server_most_connections(RpcServer *self)
{
    return server_read(self, &self->most_connections);
}

gboolean
rpc_server_wait_calls(RpcServer *self, guint n_calls)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 deadline_us = clock_deadline_us(SOON_US);

    while (self->n_calls < n_calls)
        if (!g_cond_wait_until(&self->changed, &self->lock, deadline_us))
            return FALSE;
    return TRUE;
}

gboolean
rpc_server_wait_no_connection(RpcServer *self)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
    gint64 deadline_us = clock_deadline_us(SOON_US);

    while (g_hash_table_size(self->fds) > 0)
        if (!g_cond_wait_until(&self->changed, &self->lock, deadline_us))
            return FALSE;
    return TRUE;
}
