/* fuzz_frame_server.c - any bytes in any pieces: the server answers whole frames in order, and
 * nothing of a connection is left when it is over. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/fuzz/fuzz_target.h"
#include "thrift/frame_server_private.h"

/* How an input is played; its first two bytes. */
typedef struct {
    gsize receive_memory;
    FrameProtocol protocol;
    gboolean completes_at_once;
    guint seed; /* of the pieces */
} Play;

typedef struct {
    FrameServer *server;
    FrameLoop *loop;
    Play play;
    int fd; /* the client's end */
    GQueue waiting;
    GByteArray *answers;
    int n_connections;
} Fixture;

static void
received(Request *request, gpointer user)
{
    Fixture *self = user;
    Batch *batch = request_batch(request);

    for (guint i = 0; i < batch->n_events; i++) {
        ByteSpan event = batch_span(batch, i, 1);

        g_assert_cmpuint(event_bytes_check(event.data, event.length), ==, event.length);
    }
    if (self->play.completes_at_once)
        request_complete(request, TRUE);
    else
        g_queue_push_head(&self->waiting, request);
}

static void
returned(Request *request, gpointer user G_GNUC_UNUSED)
{
    request_complete(request, FALSE);
}

static void
reported(FrameReason reason, const char *peer, const char *detail G_GNUC_UNUSED,
         gpointer user G_GNUC_UNUSED)
{
    g_assert_cmpint(reason, <, N_FRAME_REASONS);
    g_assert_nonnull(peer);
}

static void
connections_changed(int change, gpointer user)
{
    ((Fixture *) user)->n_connections += change;
}

static const FrameHandler handler = {
    .received = received,
    .returned = returned,
    .expired = returned,
    .report = reported,
    .connections_changed = connections_changed,
};

/* One loop that the target turns itself, and one connection: a pair of sockets. */
static void
fixture_init(Fixture *self, Play play)
{
    FrameServerOptions options = {
        .name = "fuzz",
        .listen = endpoint_new("", 0),
        .protocol = play.protocol,
        .threads = 1,
        .max_frame = play.receive_memory,
        .max_connections = 1,
        .receive_memory = play.receive_memory,
        .frame_timeout_us = G_USEC_PER_SEC,
    };
    int ends[2];

    self->play = play;
    self->answers = g_byte_array_new();
    self->server = frame_server_new(&options, &handler, self);
    endpoint_free((Endpoint *) options.listen);
    self->loop = &self->server->loops[0];
    if (!frame_loop_init(self->loop, self->server, NULL) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
        g_error("no descriptors");
    self->server->n_loops = 1;
    self->fd = ends[0];
    self->loop->n_connections = self->server->n_connections = 1;
    connections_changed(1, self);
    frame_connection_open(self->loop, ends[1],
                          (const struct sockaddr *) &(struct sockaddr_in){ .sin_family = AF_INET },
                          sizeof(struct sockaddr_in));
}

static void
fixture_clear(Fixture *self)
{
    g_assert_cmpuint(self->loop->n_kept, ==, 0);
    g_assert_cmpint(self->n_connections, ==, 0);
    g_assert_cmpuint(receive_memory_reserved(self->server->memory), ==, 0);
    g_assert_cmpuint(receive_memory_held(self->server->memory), ==, 0);
    frame_server_free(self->server);
    g_byte_array_unref(self->answers);
}

static void
read_answers(Fixture *self)
{
    guint8 bytes[4096];
    ssize_t got;

    while ((got = read(self->fd, bytes, sizeof bytes)) > 0)
        g_byte_array_append(self->answers, bytes, (guint) got);
}

static void
turn(Fixture *self)
{
    Request *request;

    loop_turn(self->loop->loop, 0);
    while ((request = g_queue_pop_head(&self->waiting)) != NULL)
        request_hand_back(request);
    loop_turn(self->loop->loop, 0);
    g_assert_cmpuint(receive_memory_held(self->server->memory), <=, self->play.receive_memory / 8);
    read_answers(self);
}

static void
send_in_pieces(Fixture *self, const guint8 *data, gsize size)
{
    g_autoptr(GRand) dice = g_rand_new_with_seed(self->play.seed);

    while (size > 0) {
        static const gsize pieces[] = { 1, 3, 4, 5, 30, 1000, 100000 };
        gsize piece = pieces[g_rand_int_range(dice, 0, G_N_ELEMENTS(pieces))];
        ssize_t sent = send(self->fd, data, MIN(piece, size), MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN)
            return;
        data += MAX(sent, 0);
        size -= (gsize) MAX(sent, 0);
        turn(self);
    }
}

static void
check_answers(const GByteArray *answers)
{
    guint at = 0;

    while (at < answers->len) {
        guint32 length;
        WireMessage message;

        g_assert_cmpuint(answers->len - at, >=, FRAME_PREFIX);
        memcpy(&length, answers->data + at, FRAME_PREFIX);
        length = GUINT32_FROM_BE(length);
        at += FRAME_PREFIX;
        g_assert_cmpuint(length, <=, answers->len - at);
        g_assert_true(wire_message_read(answers->data + at, length, &message));
        g_assert_true(message.type == WIRE_REPLY || message.type == WIRE_EXCEPTION);
        at += length;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gsize memories[] = { 1 << 20, 64, 300, 20000 };
    Fixture fixture = { 0 };

    if (size < 2)
        return 0;
    source_processor_prepare_types();
    fixture_init(&fixture, (Play){ .receive_memory = memories[data[0] & 3],
                                   .protocol = (FrameProtocol) ((data[0] >> 2 & 3) % 3),
                                   .completes_at_once = data[0] >> 4 & 1,
                                   .seed = data[1] });
    send_in_pieces(&fixture, data + 2, size - 2);
    shutdown(fixture.fd, SHUT_WR);
    for (int i = 0; i < 4; i++)
        turn(&fixture);
    close(fixture.fd);
    turn(&fixture);
    check_answers(fixture.answers);
    fixture_clear(&fixture);
    return 0;
}
