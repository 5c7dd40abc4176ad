/* fuzz_nsq.c - any bytes in any pieces from two nodes: every answer is a whole frame, and nothing
 * of a connection is left when it is over. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "registry/nsq_report.h"
#include "registry/nsq_server_private.h"
#include "registry/tcp_server_private.h"
#include "registry/wire/json_value.h"
#include "tests/fuzz/fuzz_target.h"

#define N_NODES 2

typedef struct {
    Loop *loop;
    NsqTable *table;
    Refusals *refusals;
    NsqServer *server;
    int fds[N_NODES]; /* the nodes' ends */
    GByteArray *answers[N_NODES];
    GRand *dice;
} Fixture;

static void
fixture_init(Fixture *self, guint seed)
{
    const NsqRules rules = { .inactive_us = G_USEC_PER_SEC,
                             .tombstone_us = G_USEC_PER_SEC,
                             .max_entries = G_MAXUINT64 };
    const NsqSelf answer = { .broadcast_address = "b", .hostname = "h" };
    g_autoptr(Endpoint) listen = endpoint_new("127.0.0.1", 0);
    const NsqServerOptions options = {
        .listen = listen,
        .max_connections = N_NODES,
        .idle_us = CLOCK_NEVER / 2,
        .hurry_us = CLOCK_NEVER / 2,
        .linger_us = 1,
    };

    self->loop = loop_new(NULL);
    self->table = nsq_table_new(&rules, 1);
    self->refusals = refusals_new("fuzz");
    self->dice = g_rand_new_with_seed(seed);
    self->server = nsq_server_new(self->loop, self->table, self->refusals, &options, NULL);
    g_assert_nonnull(self->server);
    nsq_server_set_self(self->server, &answer);
    for (int i = 0; i < N_NODES; i++) {
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
            g_error("no descriptors");
        self->fds[i] = ends[0];
        self->answers[i] = g_byte_array_new();
        tcp_connection_open(self->server->tcp, ends[1], "1.2.3.4:5");
    }
}

static void
turn(Fixture *self)
{
    guint8 bytes[4096];

    loop_turn(self->loop, 0);
    for (int i = 0; i < N_NODES; i++) {
        ssize_t got;

        while ((got = read(self->fds[i], bytes, sizeof bytes)) > 0)
            g_byte_array_append(self->answers[i], bytes, (guint) got);
    }
}

static void
send_piece(Fixture *self, int node, const guint8 *data, gsize size)
{
    while (size > 0) {
        ssize_t sent = send(self->fds[node], data, size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EAGAIN)
            return;
        data += MAX(sent, 0);
        size -= (gsize) MAX(sent, 0);
        turn(self);
    }
}

static void
send_in_pieces(Fixture *self, const guint8 *data, gsize size)
{
    static const gsize pieces[] = { 1, 3, 4, 5, 30, 1000, 100000 };

    while (size > 0) {
        gsize piece = pieces[g_rand_int_range(self->dice, 0, G_N_ELEMENTS(pieces))];

        piece = MIN(piece, size);
        for (int i = 0; i < N_NODES; i++)
            send_piece(self, i, data, piece);
        data += piece;
        size -= piece;
    }
}

static void
check_answers(const GByteArray *answers)
{
    guint at = 0;

    while (at < answers->len) {
        guint32 length;

        g_assert_cmpuint(answers->len - at, >=, 4);
        memcpy(&length, answers->data + at, 4);
        length = GUINT32_FROM_BE(length);
        at += 4;
        g_assert_cmpuint(length, <=, answers->len - at);
        g_assert_true(memcmp(answers->data + at, "OK", 2) == 0 || answers->data[at] == '{' ||
                      memcmp(answers->data + at, "E_", 2) == 0);
        at += length;
    }
}

/* What the table tells must be JSON, whatever nodes have said. */
static void
check_json(GString *json)
{
    g_autoptr(JsonValue) value = json_value_parse((const guint8 *) json->str, json->len, NULL);

    g_assert_nonnull(value);
    g_string_free(json, TRUE);
}

static void
check_reports(Fixture *self)
{
    gint64 now_us = clock_now_us();

    check_json(nsq_report_topics(self->table));
    check_json(nsq_report_nodes(self->table, now_us));
    check_json(nsq_report_debug(self->table, now_us, now_us));
}

static void
fixture_clear(Fixture *self)
{
    for (int i = 0; i < N_NODES; i++)
        shutdown(self->fds[i], SHUT_WR);
    for (int i = 0; i < 4; i++)
        turn(self);
    for (int i = 0; i < N_NODES; i++) {
        close(self->fds[i]);
        check_answers(self->answers[i]);
        g_byte_array_unref(self->answers[i]);
    }
    loop_turn(self->loop, 0);
    loop_turn(self->loop, 0);
    g_assert_cmpuint(self->server->tcp->connections.length, ==, 0);
    g_assert_cmpuint(self->server->tcp->held_bytes, ==, 0);
    g_assert_cmpuint(nsq_table_counts(self->table).registrations, ==, 0);
    g_assert_null(nsq_table_nodes(self->table));
    nsq_server_free(self->server);
    nsq_table_free(self->table);
    refusals_free(self->refusals);
    loop_free(self->loop);
    g_rand_free(self->dice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree Fixture *fixture = g_new0(Fixture, 1);

    if (size < 1)
        return 0;
    log_init(LOG_FORMAT_TEXT, LOG_AT_ERROR);
    fixture_init(fixture, data[0]);
    send_in_pieces(fixture, data + 1, size - 1);
    check_reports(fixture);
    fixture_clear(fixture);
    return 0;
}
