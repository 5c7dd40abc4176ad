/* test_connection.c - one connection against a peer that the test plays itself. */
#include "thrift/wire/connection.h"

#include <glib.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/batch_builder.h"
#include "base/clock.h"
#include "tests/support/deaf_peer.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define AT_ONCE_US (20 * 1000)

/* Replies to calls 1 and 2. */
static const char ok_1[] = "\0\0\0\x13\x82\x41\x01\x0b"
                           "appendBatch\x05\0\0\0";
static const char ok_2[] = "\0\0\0\x13\x82\x41\x02\x0b"
                           "appendBatch\x05\0\0\0";

typedef struct {
    int listen_fd;
    int fd; /* the accepted connection */
    Endpoint *endpoint;
    WireConnection *connection;
    Batch *batch;
} Fixture;

static void
fixture_set_up(Fixture *self, gconstpointer protocol)
{
    g_autoptr(Endpoint) anywhere = endpoint_new("127.0.0.1", 0);
    g_autoptr(GError) error = NULL;

    self->listen_fd = endpoint_listen(anywhere, 8, &self->endpoint, &error);
    g_assert_no_error(error);
    self->connection =
        wire_connection_new(self->endpoint, (WireProtocol) GPOINTER_TO_INT(protocol));
    wire_connection_open(self->connection, clock_deadline_us(SOON_US), &error);
    g_assert_no_error(error);
    self->fd = accept(self->listen_fd, NULL, NULL);
    g_assert_cmpint(self->fd, >=, 0);
    self->batch = batch_new_single(NULL, 0, byte_span_of_text("body"));
}

static void
fixture_tear_down(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    batch_unref(self->batch);
    wire_connection_free(self->connection);
    endpoint_free(self->endpoint);
    close(self->fd);
    close(self->listen_fd);
}

static gboolean
send_one(Fixture *self, GError **error)
{
    BatchSlice slice = { .batch = self->batch, .count = 1 };

    return wire_connection_send(self->connection, &slice, 1, clock_deadline_us(SOON_US), error);
}

static void
peer_says(Fixture *self, const char *bytes, gsize size)
{
    g_assert_cmpint(send(self->fd, bytes, size, MSG_NOSIGNAL), ==, size);
}

static void
assert_peer_got(Fixture *self, const char *expected, gsize size)
{
    g_autofree char *bytes = g_malloc(size);

    g_assert_cmpint(recv(self->fd, bytes, size, MSG_WAITALL), ==, size);
    g_assert_cmpmem(bytes, size, expected, size);
}

static void
assert_receive_fails(Fixture *self, gint64 deadline_us, ConnectionError code)
{
    g_autoptr(GError) error = NULL;
    WireReply reply;

    g_assert_false(wire_connection_receive(self->connection, deadline_us, &reply, &error));
    g_assert_error(error, CONNECTION_ERROR, (int) code);
}

/* ---- calls ---- */

static void
test_a_compact_call_is_one_whole_frame(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    static const char expected[] = "\0\0\0\x1b\x82\x21\x01\x0b"
                                   "appendBatch\x19\x1c"
                                   "\x1b\0\x18\x04"
                                   "body\0"
                                   "\0";
    g_autoptr(GError) error = NULL;

    g_assert_true(send_one(self, &error));

    assert_peer_got(self, expected, sizeof expected - 1);
    g_assert_cmpuint(wire_connection_in_flight(self->connection), ==, 1);
}

static void
test_a_binary_call_is_one_whole_frame(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    static const char expected[] = "\0\0\0\x35\x80\x01\0\x01\0\0\0\x0b"
                                   "appendBatch\0\0\0\x01"
                                   "\x0f\0\x01\x0c\0\0\0\x01"
                                   "\x0d\0\x01\x0b\x0b\0\0\0\0"
                                   "\x0b\0\x02\0\0\0\x04"
                                   "body\0"
                                   "\0";
    g_autoptr(GError) error = NULL;

    g_assert_true(send_one(self, &error));

    assert_peer_got(self, expected, sizeof expected - 1);
}

/* More slices than one sendmsg takes, and more bytes than a socket buffer holds. */
static gpointer
read_everything(gpointer fd)
{
    GByteArray *all = g_byte_array_new();
    guint8 bytes[65536];
    gssize n_read;

    while ((n_read = recv(GPOINTER_TO_INT(fd), bytes, sizeof bytes, 0)) > 0)
        g_byte_array_append(all, bytes, (guint) n_read);
    return all;
}

static void
test_many_slices_arrive_in_order(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_autofree BatchSlice *slices = g_new0(BatchSlice, 3 * IOV_MAX);
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    g_autofree char *body = g_strnfill(3000, 'x');
    g_autoptr(GError) error = NULL;
    g_autoptr(Batch) batch = NULL;
    g_autoptr(GByteArray) got = NULL;
    GThread *reader = g_thread_new("reader", read_everything, GINT_TO_POINTER(self->fd));
    ByteSpan events;

    for (guint i = 0; i < 3 * IOV_MAX; i++) {
        body[0] = (char) ('a' + i % 26);
        batch_builder_add_event(builder, NULL, 0, byte_span(body, 3000));
    }
    batch = batch_builder_finish(builder);
    for (guint i = 0; i < batch->n_events; i++)
        slices[i] = (BatchSlice){ .batch = batch, .first = i, .count = 1 };
    wire_connection_send(self->connection, slices, batch->n_events, clock_deadline_us(SOON_US),
                         &error);
    g_assert_no_error(error);
    wire_connection_shut(self->connection);
    got = g_thread_join(reader);

    events = batch_span(batch, 0, batch->n_events);
    g_assert_cmpuint(got->len, ==, 4 + wire_frame_size(WIRE_COMPACT, slices, batch->n_events));
    g_assert_cmpmem(got->data + got->len - 1 - events.length, events.length, events.data,
                    events.length);
}

static void
test_a_frame_over_the_limit_is_not_sent(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_autofree char *body = g_malloc0(WIRE_MAX_FRAME);
    g_autoptr(Batch) large = batch_new_single(NULL, 0, byte_span(body, WIRE_MAX_FRAME));
    BatchSlice slice = { .batch = large, .count = 1 };
    g_autoptr(GError) error = NULL;

    g_assert_false(
        wire_connection_send(self->connection, &slice, 1, clock_deadline_us(SOON_US), &error));

    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_TOO_LARGE);
    g_assert_cmpint(recv(self->fd, body, 1, MSG_DONTWAIT), ==, -1);
    g_assert_true(send_one(self, NULL));
}

static void
test_a_peer_that_takes_nothing_is_given_up_at_the_deadline(Fixture *self,
                                                           gconstpointer protocol G_GNUC_UNUSED)
{
    g_autofree char *body = g_malloc0(WIRE_MAX_FRAME / 2);
    g_autoptr(Batch) large = batch_new_single(NULL, 0, byte_span(body, WIRE_MAX_FRAME / 2));
    BatchSlice slice = { .batch = large, .count = 1 };
    g_autoptr(GError) error = NULL;

    g_assert_false(
        wire_connection_send(self->connection, &slice, 1, clock_deadline_us(AT_ONCE_US), &error));

    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_TIMEOUT);
}

static void
test_an_append_is_one_whole_frame(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    static const char expected[] = "\0\0\0\x15\x82\x21\x01\x06"
                                   "append\x1c"
                                   "\x1b\0\x18\x04"
                                   "body\0"
                                   "\0";
    static const char reply_bytes[] = "\0\0\0\x0e\x82\x41\x01\x06"
                                      "append\x05\0\0\0";
    BatchSlice slice = { .batch = self->batch, .count = 1 };
    g_autoptr(GError) error = NULL;
    WireReply reply;

    g_assert_true(
        wire_connection_send_append(self->connection, &slice, clock_deadline_us(SOON_US), &error));
    assert_peer_got(self, expected, sizeof expected - 1);
    peer_says(self, reply_bytes, sizeof reply_bytes - 1);

    wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, &error);
    g_assert_no_error(error);
}

/* ---- replies ---- */

static void
test_replies_that_come_together_are_given_one_by_one(Fixture *self,
                                                     gconstpointer protocol G_GNUC_UNUSED)
{
    g_autofree char *both = g_malloc(sizeof ok_1 + sizeof ok_2 - 2);
    g_autoptr(GError) error = NULL;
    WireReply reply;

    memcpy(both, ok_1, sizeof ok_1 - 1);
    memcpy(both + sizeof ok_1 - 1, ok_2, sizeof ok_2 - 1);
    g_assert_true(send_one(self, NULL) && send_one(self, NULL));
    peer_says(self, both, sizeof ok_1 + sizeof ok_2 - 2);

    for (gint32 i = 1; i <= 2; i++) {
        wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, &error);
        g_assert_no_error(error);
        g_assert_cmpint(reply.message.sequence_id, ==, i);
        g_assert_cmpint(reply.status, ==, WIRE_STATUS_OK);
    }
    g_assert_cmpuint(wire_connection_in_flight(self->connection), ==, 0);
}

static void
test_a_reply_to_another_call_is_refused(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_assert_true(send_one(self, NULL));
    peer_says(self, ok_2, sizeof ok_2 - 1);

    assert_receive_fails(self, clock_deadline_us(SOON_US), CONNECTION_ERROR_PROTOCOL);
}

static void
test_a_reply_of_another_method_is_refused(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    static const char reply[] = "\0\0\0\x13\x82\x41\x01\x0b"
                                "appendBotch\x05\0\0\0";

    g_assert_true(send_one(self, NULL));
    peer_says(self, reply, sizeof reply - 1);

    assert_receive_fails(self, clock_deadline_us(SOON_US), CONNECTION_ERROR_PROTOCOL);
}

static void
test_a_peer_that_speaks_no_thrift_is_refused(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    static const char reply[] = "HTTP/1.1 400 Bad Request\r\n\r\n";

    g_assert_true(send_one(self, NULL));
    peer_says(self, reply, sizeof reply - 1);

    assert_receive_fails(self, clock_deadline_us(SOON_US), CONNECTION_ERROR_PROTOCOL);
}

static void
test_a_sequence_id_comes_round_again(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;
    char reply_bytes[sizeof ok_1];
    WireReply reply;

    memcpy(reply_bytes, ok_1, sizeof ok_1);
    for (guint i = 0; i < 2 * WIRE_MAX_SEQUENCE_ID; i++) {
        g_assert_true(send_one(self, &error));
        reply_bytes[6] = (char) (i % WIRE_MAX_SEQUENCE_ID + 1);
        peer_says(self, reply_bytes, sizeof reply_bytes - 1);
        wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, &error);
        g_assert_no_error(error);
    }
}

/* ---- a peer in trouble ---- */

static void
test_a_silent_peer_is_given_up_at_the_deadline(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_assert_true(send_one(self, NULL));

    assert_receive_fails(self, clock_deadline_us(AT_ONCE_US), CONNECTION_ERROR_TIMEOUT);
}

static void
test_a_peer_that_hangs_up_is_noticed(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_assert_true(send_one(self, NULL));
    shutdown(self->fd, SHUT_RDWR);

    assert_receive_fails(self, clock_deadline_us(SOON_US), CONNECTION_ERROR_CLOSED);
}

static void
test_a_peer_that_hangs_up_without_a_word_may_speak_another_protocol(
    Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;
    WireReply reply;

    g_assert_true(send_one(self, NULL));
    shutdown(self->fd, SHUT_RDWR);

    g_assert_false(
        wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, &error));
    g_assert_true(g_str_has_suffix(error->message, "it may not speak the binary protocol"));
}

static void
test_a_peer_that_has_answered_speaks_the_protocol(Fixture *self,
                                                  gconstpointer protocol G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;
    WireReply reply;

    g_assert_true(send_one(self, NULL) && send_one(self, NULL));
    peer_says(self, ok_1, sizeof ok_1 - 1);
    shutdown(self->fd, SHUT_RDWR);

    g_assert_true(
        wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, NULL));
    g_assert_false(
        wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, &error));
    g_assert_true(g_str_has_suffix(error->message, "the peer closed the connection"));
}

static void
test_it_is_quiet_until_something_is_owed_said_or_over(Fixture *self,
                                                      gconstpointer protocol G_GNUC_UNUSED)
{
    WireReply reply;

    g_assert_true(wire_connection_is_quiet(self->connection));
    g_assert_true(send_one(self, NULL));
    g_assert_false(wire_connection_is_quiet(self->connection));
    peer_says(self, ok_1, sizeof ok_1 - 1);
    g_assert_true(
        wire_connection_receive(self->connection, clock_deadline_us(SOON_US), &reply, NULL));
    g_assert_true(wire_connection_is_quiet(self->connection));
    peer_says(self, "x", 1);
    g_assert_false(wire_connection_is_quiet(self->connection));
}

static void
test_a_peer_that_hung_up_is_not_quiet(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    shutdown(self->fd, SHUT_RDWR);

    g_assert_false(wire_connection_is_quiet(self->connection));
}

static gpointer
shut_connection(gpointer connection)
{
    wire_connection_shut(connection);
    return NULL;
}

static void
test_another_thread_ends_a_wait(Fixture *self, gconstpointer protocol G_GNUC_UNUSED)
{
    GThread *other;

    g_assert_true(send_one(self, NULL));
    other = g_thread_new("other", shut_connection, self->connection);

    assert_receive_fails(self, CLOCK_NEVER, CONNECTION_ERROR_SHUT);
    g_thread_join(other);
}

/* ---- connecting ---- */

static void
test_nobody_listening_is_an_error_that_names_the_address(void)
{
    g_autoptr(Endpoint) anywhere = endpoint_new("127.0.0.1", 0);
    g_autoptr(Endpoint) bound = NULL;
    g_autoptr(WireConnection) connection = NULL;
    g_autoptr(GError) error = NULL;

    close(endpoint_listen(anywhere, 1, &bound, NULL));
    connection = wire_connection_new(bound, WIRE_COMPACT);

    g_assert_false(wire_connection_open(connection, clock_deadline_us(SOON_US), &error));
    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_CONNECT);
    g_assert_true(g_str_has_prefix(error->message, "127.0.0.1:"));
}

static void
test_another_thread_ends_an_attempt_to_connect(void)
{
    g_auto(DeafPeer) peer = { 0 };
    g_autoptr(WireConnection) connection = NULL;
    g_autoptr(GError) error = NULL;
    GThread *other;

    deaf_peer_init(&peer);
    connection = wire_connection_new(peer.bound, WIRE_COMPACT);
    other = g_thread_new("other", shut_connection, connection);

    g_assert_false(wire_connection_open(connection, CLOCK_NEVER, &error));
    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_SHUT);
    g_thread_join(other);
}

static void
test_a_name_without_an_address_is_an_error(void)
{
    g_autoptr(Endpoint) nowhere = endpoint_new("256.256.256.256", 1);
    g_autoptr(WireConnection) connection = wire_connection_new(nowhere, WIRE_COMPACT);
    g_autoptr(GError) error = NULL;

    g_assert_false(wire_connection_open(connection, clock_deadline_us(SOON_US), &error));
    g_assert_error(error, CONNECTION_ERROR, CONNECTION_ERROR_RESOLVE);
}

#define ADD(name, protocol, function)                                                             \
    g_test_add("/connection/" name, Fixture, GINT_TO_POINTER(protocol), fixture_set_up, function, \
               fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("a-compact-call-is-one-whole-frame", WIRE_COMPACT, test_a_compact_call_is_one_whole_frame);
    ADD("a-binary-call-is-one-whole-frame", WIRE_BINARY, test_a_binary_call_is_one_whole_frame);
    ADD("an-append-is-one-whole-frame", WIRE_COMPACT, test_an_append_is_one_whole_frame);
    ADD("many-slices-arrive-in-order", WIRE_COMPACT, test_many_slices_arrive_in_order);
    ADD("a-frame-over-the-limit-is-not-sent", WIRE_COMPACT,
        test_a_frame_over_the_limit_is_not_sent);
    ADD("a-peer-that-takes-nothing-is-given-up-at-the-deadline", WIRE_COMPACT,
        test_a_peer_that_takes_nothing_is_given_up_at_the_deadline);
    ADD("replies-that-come-together-are-given-one-by-one", WIRE_COMPACT,
        test_replies_that_come_together_are_given_one_by_one);
    ADD("a-reply-to-another-call-is-refused", WIRE_COMPACT,
        test_a_reply_to_another_call_is_refused);
    ADD("a-reply-of-another-method-is-refused", WIRE_COMPACT,
        test_a_reply_of_another_method_is_refused);
    ADD("a-peer-that-speaks-no-thrift-is-refused", WIRE_COMPACT,
        test_a_peer_that_speaks_no_thrift_is_refused);
    ADD("a-sequence-id-comes-round-again", WIRE_COMPACT, test_a_sequence_id_comes_round_again);
    ADD("a-silent-peer-is-given-up-at-the-deadline", WIRE_COMPACT,
        test_a_silent_peer_is_given_up_at_the_deadline);
    ADD("a-peer-that-hangs-up-is-noticed", WIRE_COMPACT, test_a_peer_that_hangs_up_is_noticed);
    ADD("a-peer-that-hangs-up-without-a-word-may-speak-another-protocol", WIRE_BINARY,
        test_a_peer_that_hangs_up_without_a_word_may_speak_another_protocol);
    ADD("a-peer-that-has-answered-speaks-the-protocol", WIRE_COMPACT,
        test_a_peer_that_has_answered_speaks_the_protocol);
    ADD("it-is-quiet-until-something-is-owed-said-or-over", WIRE_COMPACT,
        test_it_is_quiet_until_something_is_owed_said_or_over);
    ADD("a-peer-that-hung-up-is-not-quiet", WIRE_COMPACT, test_a_peer_that_hung_up_is_not_quiet);
    ADD("another-thread-ends-a-wait", WIRE_COMPACT, test_another_thread_ends_a_wait);
    g_test_add_func("/connection/nobody-listening-is-an-error-that-names-the-address",
                    test_nobody_listening_is_an_error_that_names_the_address);
    g_test_add_func("/connection/another-thread-ends-an-attempt-to-connect",
                    test_another_thread_ends_an_attempt_to_connect);
    g_test_add_func("/connection/a-name-without-an-address-is-an-error",
                    test_a_name_without_an_address_is_an_error);
    return g_test_run();
}
