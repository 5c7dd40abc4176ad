/* test_frame_server.c - requests that are completed late, in another order, by other threads, or
 * after their connection is gone. */
#include "thrift/frame_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/events.h"
#include "thrift/frame_server_private.h"
#include "thrift/wire/connection.h"

#define SOON_US (10 * G_USEC_PER_SEC)

/* A server whose requests wait until the test says what becomes of them, and a client. */
typedef struct {
    FrameServer *server;
    GAsyncQueue *received; /* Request * */
    GAsyncQueue *expired;
    gboolean complete_when_expired;
    gint n_connections; /* atomic */
    WireConnection *client;
} Fixture;

/* In the scratch of a request. */
typedef struct {
    gboolean ok;
} Outcome;

static void
received(Request *request, gpointer user)
{
    g_async_queue_push(((Fixture *) user)->received, request);
}

static void
returned(Request *request, gpointer user G_GNUC_UNUSED)
{
    request_complete(request, ((Outcome *) request_user(request))->ok);
}

static void
expired(Request *request, gpointer user)
{
    Fixture *self = user;

    g_async_queue_push(self->expired, request);
    if (self->complete_when_expired)
        request_complete(request, FALSE);
}

static void
reported(FrameReason reason G_GNUC_UNUSED, const char *peer G_GNUC_UNUSED,
         const char *detail G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED)
{
}

static void
connections_changed(int change, gpointer user)
{
    g_atomic_int_add(&((Fixture *) user)->n_connections, change);
}

static void
fixture_set_up(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    static const FrameHandler handler = {
        .user_size = sizeof(Outcome),
        .received = received,
        .returned = returned,
        .expired = expired,
        .report = reported,
        .connections_changed = connections_changed,
    };
    g_autoptr(Endpoint) anywhere = endpoint_new("127.0.0.1", 0);
    FrameServerOptions options = {
        .name = "server",
        .listen = anywhere,
        .threads = 2,
        .max_frame = 1024 * 1024,
        .max_connections = 10,
        .receive_memory = 1024 * 1024,
        .frame_timeout_us = SOON_US,
    };
    g_autoptr(GError) error = NULL;

    self->received = g_async_queue_new();
    self->expired = g_async_queue_new();
    self->server = frame_server_new(&options, &handler, self);
    g_assert_true(frame_server_open(self->server, &error));
    g_assert_true(frame_server_start(self->server, &error));
    self->client = wire_connection_new(frame_server_bound(self->server), WIRE_COMPACT);
    g_assert_true(wire_connection_open(self->client, clock_deadline_us(SOON_US), &error));
}

static void
fixture_tear_down(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    g_clear_pointer(&self->client, wire_connection_free);
    frame_server_begin_stop(self->server, clock_now_us(), clock_now_us());
    frame_server_finish_stop(self->server);
    g_assert_cmpuint(receive_memory_reserved(self->server->memory), ==, 0);
    g_assert_cmpint(g_atomic_int_get(&self->n_connections), ==, 0);
    frame_server_free(self->server);
    g_async_queue_unref(self->received);
    g_async_queue_unref(self->expired);
}

static void
send_batch(Fixture *self, const char *body)
{
    g_autoptr(Batch) batch = batch_of(body, NULL);
    g_autoptr(GError) error = NULL;
    BatchSlice slice = { .batch = batch, .count = 1 };

    wire_connection_send(self->client, &slice, 1, clock_deadline_us(SOON_US), &error);
    g_assert_no_error(error);
}

/* Checks the sequence id, too. */
static WireStatus
receive_status(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    WireReply reply;

    wire_connection_receive(self->client, clock_deadline_us(SOON_US), &reply, &error);
    g_assert_no_error(error);
    g_assert_false(reply.is_exception);
    return (WireStatus) reply.status;
}

static Request *
pop(GAsyncQueue *queue)
{
    Request *request = g_async_queue_timeout_pop(queue, SOON_US);

    g_assert_nonnull(request);
    return request;
}

static void
hand_back(Request *request, gboolean ok)
{
    ((Outcome *) request_user(request))->ok = ok;
    request_hand_back(request);
}

/* ---- the processor ---- */

static guint n_append_batch_calls;
static void (*real_append_batch)(LeatSourceProcessor *self, gpointer call);

static void
spy_append_batch(LeatSourceProcessor *self, gpointer call)
{
    n_append_batch_calls++;
    real_append_batch(self, call);
}

static void
test_every_call_passes_the_generated_processor(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    LeatSourceProcessorClass *class = g_type_class_ref(frame_processor_get_type());

    n_append_batch_calls = 0;
    real_append_batch = class->append_batch;
    class->append_batch = spy_append_batch;
    for (int i = 0; i < 3; i++) {
        send_batch(self, "x");
        hand_back(pop(self->received), TRUE);
        g_assert_cmpint(receive_status(self), ==, WIRE_STATUS_OK);
    }
    class->append_batch = real_append_batch;

    g_assert_true(
        g_type_is_a(frame_processor_get_type(), FLUME_TYPE_THRIFT_SOURCE_PROTOCOL_PROCESSOR));
    g_assert_cmpuint(n_append_batch_calls, ==, 3);
    g_type_class_unref(class);
}

/* ---- order ---- */

#define N_REQUESTS 40

static void
test_answers_go_out_in_the_order_of_requests_whatever_the_order_of_completion(
    Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    Request *requests[N_REQUESTS];

    for (guint i = 0; i < N_REQUESTS; i++) {
        g_autofree char *body = g_strdup_printf("%u", i);

        send_batch(self, body);
        requests[i] = pop(self->received);
    }
    for (guint i = N_REQUESTS; i > 0; i--)
        hand_back(requests[i - 1], i % 3 == 0);

    for (guint i = 1; i <= N_REQUESTS; i++)
        g_assert_cmpint(receive_status(self), ==, i % 3 == 0 ? WIRE_STATUS_OK : WIRE_STATUS_FAILED);
}

static gpointer
hand_back_all(gpointer queue)
{
    Request *request;

    while ((request = g_async_queue_try_pop(queue)) != NULL)
        hand_back(request, TRUE);
    return NULL;
}

static void
test_requests_come_back_from_several_threads_at_once(Fixture *self,
                                                     gconstpointer unused G_GNUC_UNUSED)
{
    for (guint round = 0; round < 20; round++) {
        GThread *threads[3];

        for (guint i = 0; i < N_REQUESTS; i++)
            send_batch(self, "x");
        while (g_async_queue_length(self->received) < N_REQUESTS)
            g_thread_yield();
        for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
            threads[i] = g_thread_new("owner", hand_back_all, self->received);
        for (guint i = 0; i < N_REQUESTS; i++)
            g_assert_cmpint(receive_status(self), ==, WIRE_STATUS_OK);
        for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
            g_thread_join(threads[i]);
    }
}

static void
test_a_request_has_the_events_that_were_sent(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    g_autofree char *text = NULL;
    Request *request;

    send_batch(self, "k=v:body");
    request = pop(self->received);
    text = batch_to_text(request_batch(request));

    g_assert_cmpstr(text, ==, "k=v:body");
    g_assert_false(request_is_single(request));
    g_assert_true(g_str_has_prefix(request_peer(request), "127.0.0.1:"));
    g_assert_true(request_of_user(request_user(request)) == request);
    hand_back(request, TRUE);
}

/* ---- ends ---- */

/* An appendBatch without events. */
static const char empty_batch[] = "\0\0\0\x12\x82\x21\x01\x0b"
                                  "appendBatch\x19\x0c";

static int
connect_raw(Fixture *self)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(frame_server_bound(self->server)->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    g_assert_cmpint(connect(fd, (struct sockaddr *) &address, sizeof address), ==, 0);
    return fd;
}

static void
reset(int fd)
{
    struct linger at_once = { .l_onoff = 1 };

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

static void
test_a_request_outlives_its_connection(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    int fd = connect_raw(self);
    Request *requests[2];

    for (int i = 0; i < 2; i++) {
        g_assert_cmpint(write(fd, empty_batch, sizeof empty_batch), ==, sizeof empty_batch);
        requests[i] = pop(self->received);
    }
    reset(fd);
    while (g_atomic_int_get(&self->n_connections) > 1)
        g_thread_yield();

    g_assert_true(g_str_has_prefix(request_peer(requests[0]), "127.0.0.1:"));
    hand_back(requests[1], TRUE);
    hand_back(requests[0], TRUE);
}

static gpointer
hand_back_later(gpointer data)
{
    g_usleep(50 * 1000);
    hand_back(data, TRUE);
    return NULL;
}

static void
test_a_stop_waits_for_requests_that_are_out_and_answers_them(Fixture *self,
                                                             gconstpointer unused G_GNUC_UNUSED)
{
    GThread *owner;

    send_batch(self, "x");
    owner = g_thread_new("owner", hand_back_later, pop(self->received));
    frame_server_begin_stop(self->server, clock_deadline_us(SOON_US), clock_deadline_us(SOON_US));
    frame_server_finish_stop(self->server);

    g_assert_cmpint(receive_status(self), ==, WIRE_STATUS_OK);
    g_thread_join(owner);
}

static void
test_a_stop_expires_what_is_out_at_its_deadline(Fixture *self, gconstpointer unused G_GNUC_UNUSED)
{
    self->complete_when_expired = TRUE;
    for (int i = 0; i < 3; i++)
        send_batch(self, "x");
    for (int i = 0; i < 3; i++)
        pop(self->received);
    frame_server_begin_stop(self->server, clock_now_us(), clock_deadline_us(SOON_US));
    frame_server_finish_stop(self->server);

    g_assert_cmpint(g_async_queue_length(self->expired), ==, 3);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(receive_status(self), ==, WIRE_STATUS_FAILED);
}

static void
test_a_stop_past_its_deadline_still_waits_for_what_is_out(Fixture *self,
                                                          gconstpointer unused G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;
    GThread *owner;
    WireReply reply;

    send_batch(self, "x");
    owner = g_thread_new("owner", hand_back_later, pop(self->received));
    frame_server_begin_stop(self->server, clock_now_us(), clock_now_us());
    frame_server_finish_stop(self->server);

    g_assert_cmpint(g_async_queue_length(self->expired), ==, 1);
    g_assert_false(
        wire_connection_receive(self->client, clock_deadline_us(SOON_US), &reply, &error));
    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_CLOSED);
    g_thread_join(owner);
}

static void
test_a_server_that_was_opened_and_never_started_can_be_freed(void)
{
    g_autoptr(Endpoint) anywhere = endpoint_new("127.0.0.1", 0);
    FrameServerOptions options = { .name = "server", .listen = anywhere, .threads = 2 };
    g_autoptr(FrameServer) server = frame_server_new(&options, &(FrameHandler){ 0 }, NULL);

    g_assert_true(frame_server_open(server, NULL));

    frame_server_begin_stop(server, 0, 0);
    frame_server_finish_stop(server);
}

static void
test_a_connection_that_comes_to_a_loop_that_stops_is_closed(void)
{
    g_autoptr(Endpoint) anywhere = endpoint_new("127.0.0.1", 0);
    FrameServerOptions options = { .name = "server", .listen = anywhere, .threads = 1 };
    FrameHandler handler = { .report = reported, .connections_changed = connections_changed };
    Fixture fixture = { 0 };
    g_autoptr(FrameServer) server = frame_server_new(&options, &handler, &fixture);
    FrameLoop *loop = &server->loops[0];
    struct sockaddr_in address = { .sin_family = AF_INET };
    int ends[2];
    char byte;

    source_processor_prepare_types();
    g_assert_true(frame_loop_init(loop, server, NULL));
    server->n_loops = 1;
    loop->stopping = TRUE;
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    frame_connection_open(loop, ends[1], (struct sockaddr *) &address, sizeof address);
    loop_turn(loop->loop, CLOCK_NEVER);

    g_assert_cmpint(read(ends[0], &byte, 1), ==, 0);
    g_assert_cmpuint(loop->n_kept, ==, 0);
    g_assert_cmpint(fixture.n_connections, ==, -1);
    close(ends[0]);
}

static void
add(const char *path, void (*test)(Fixture *, gconstpointer))
{
    g_test_add(path, Fixture, NULL, fixture_set_up, test, fixture_tear_down);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add("/frame-server/calls-pass-the-generated-processor",
        test_every_call_passes_the_generated_processor);
    add("/frame-server/answers-keep-the-order-of-requests",
        test_answers_go_out_in_the_order_of_requests_whatever_the_order_of_completion);
    add("/frame-server/requests-come-back-from-several-threads",
        test_requests_come_back_from_several_threads_at_once);
    add("/frame-server/a-request-has-the-events", test_a_request_has_the_events_that_were_sent);
    add("/frame-server/a-request-outlives-its-connection", test_a_request_outlives_its_connection);
    add("/frame-server/a-stop-waits", test_a_stop_waits_for_requests_that_are_out_and_answers_them);
    add("/frame-server/a-stop-expires", test_a_stop_expires_what_is_out_at_its_deadline);
    add("/frame-server/a-stop-past-its-deadline",
        test_a_stop_past_its_deadline_still_waits_for_what_is_out);
    g_test_add_func("/frame-server/never-started",
                    test_a_server_that_was_opened_and_never_started_can_be_freed);
    g_test_add_func("/frame-server/a-connection-that-comes-too-late",
                    test_a_connection_that_comes_to_a_loop_that_stops_is_closed);
    return g_test_run();
}
