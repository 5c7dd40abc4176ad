/* test_rpc_threads.c - one client and many threads: pools, waits, and how they all end. */
#include <dirent.h>
#include <glib.h>
#include <netdb.h>
#include <string.h>

#include "base/clock.h"
#include "client/rpc_client.h"
#include "tests/support/deaf_peer.h"
#include "tests/support/events.h"
#include "tests/support/rpc_fixture.h"
#include "tests/support/rpc_turmoil.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define SHORT_US (200 * 1000)

/* ---- a name server that the test can keep silent ---- */

static GMutex name_lock; /* guards the rest */
static GCond name_changed;
static gboolean names_are_silent;
static guint n_names_asked;

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list);

int
__wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret_list)
{
    if (strcmp(node, "silent") != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return __real_getaddrinfo(node, service, hints, ret_list);
    g_mutex_lock(&name_lock);
    n_names_asked++;
    g_cond_broadcast(&name_changed);
    while (names_are_silent)
        g_cond_wait(&name_changed, &name_lock);
    g_mutex_unlock(&name_lock);
    return EAI_NONAME;
}

static void
set_names_silent(gboolean silent)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&name_lock);

    names_are_silent = silent;
    n_names_asked = 0;
    g_cond_broadcast(&name_changed);
}

static void
wait_until_name_is_asked_for(void)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&name_lock);

    while (n_names_asked == 0)
        g_cond_wait(&name_changed, &name_lock);
}

/* ---- senders ---- */

/* A thread that sends one batch. */
typedef struct {
    RpcClient *client;
    guint number;
    gint64 deadline_us;
    gboolean is_sent;
    GError *error;
    GThread *thread;
} Sender;

static gpointer
sender_thread(gpointer user)
{
    Sender *self = user;
    g_autoptr(Batch) batch = batch_of_numbers(self->number, 1);
    BatchSlice slice = { .batch = batch, .count = 1 };
    guint acknowledged;

    self->is_sent = rpc_client_append_batch(self->client, &slice, 1, self->deadline_us,
                                            &acknowledged, &self->error);
    return NULL;
}

static Sender *
sender_new(RpcClient *client, guint number, gint64 time_us)
{
    Sender *self = g_new0(Sender, 1);

    self->client = client;
    self->number = number;
    self->deadline_us = clock_deadline_us(time_us);
    self->thread = g_thread_new("sender", sender_thread, self);
    return self;
}

static void
sender_finish(Sender *self)
{
    g_thread_join(self->thread);
    g_clear_error(&self->error);
    g_free(self);
}

static void
sender_expect(Sender *self, int code)
{
    g_thread_join(g_steal_pointer(&self->thread));
    g_assert_false(self->is_sent);
    g_assert_error(self->error, RPC_ERROR, code);
    g_clear_error(&self->error);
    g_free(self);
}

static RpcClient *
client_of(const Endpoint *host)
{
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    RpcClientOptions options;
    RpcClient *client;

    g_ptr_array_add(hosts, (gpointer) host);
    rpc_client_options_init(&options);
    options.hosts = hosts;
    client = rpc_client_new(&options, &error);
    g_assert_no_error(error);
    return client;
}

/* ---- sharing ---- */

/* Flume's testMultipleThreads. */
static void
test_a_hundred_threads_share_five_connections_and_every_event_arrives_once(void)
{
    g_auto(RpcFixture) self;
    g_autofree char *stored = NULL;
    g_auto(GStrv) numbers = NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    Sender *senders[100];

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    rpc_server_delay(self.servers[0], 1000);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++)
        senders[i] = sender_new(rpc_fixture_client(&self), i, SOON_US);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++) {
        g_assert_no_error(senders[i]->error);
        sender_finish(senders[i]);
    }

    stored = rpc_server_stored(self.servers[0]);
    numbers = g_strsplit(stored, " ", 0);
    for (guint i = 0; numbers[i] != NULL; i++)
        g_assert_true(g_hash_table_add(seen, numbers[i]));
    g_assert_cmpuint(g_hash_table_size(seen), ==, 100);
    g_assert_cmpuint(rpc_server_most_connections(self.servers[0]), <=, 5);
}

static void
test_who_waits_for_a_connection_gives_up_at_the_deadline_and_blames_nobody(void)
{
    g_auto(RpcFixture) self;
    Sender *holder;

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.connections = 1;
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);
    holder = sender_new(rpc_fixture_client(&self), 0, SOON_US);
    g_assert_true(rpc_server_wait_calls(self.servers[0], 1));

    sender_expect(sender_new(self.client, 1, SHORT_US), RPC_ERROR_TIMEOUT);
    g_assert_cmpint(self.n_failed, ==, 0);
    rpc_client_interrupt(self.client);
    sender_expect(holder, RPC_ERROR_CLOSED);
}

static void
test_who_waits_for_a_host_that_turns_out_to_be_frozen_goes_to_another(void)
{
    g_auto(RpcFixture) self;
    Sender *senders[10];

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 2);
    self.options.connections = 1;
    self.options.backoff = TRUE;
    self.options.request_timeout_us = G_USEC_PER_SEC;
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++)
        senders[i] = sender_new(rpc_fixture_client(&self), i, SOON_US);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++) {
        g_thread_join(g_steal_pointer(&senders[i]->thread));
        g_assert_no_error(senders[i]->error);
        g_free(senders[i]);
    }

    g_assert_cmpuint(rpc_server_n_stored(self.servers[1]), ==, 10);
    g_assert_cmpuint(rpc_server_n_calls(self.servers[0]), <=, 2);
}

/* Of four senders two try the host that answers no attempt to connect. */
static void
test_nobody_waits_while_another_thread_connects(void)
{
    g_auto(RpcFixture) self;
    g_auto(DeafPeer) deaf = { 0 };
    g_autoptr(GPtrArray) hosts = g_ptr_array_new();
    g_autoptr(RpcClient) client = NULL;
    Sender *senders[4];
    guint n_sent = 0;

    deaf_peer_init(&deaf);
    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 1);
    g_ptr_array_add(hosts, deaf.bound);
    g_ptr_array_add(hosts, (gpointer) rpc_server_endpoint(self.servers[0]));
    self.options.hosts = hosts;
    self.options.connect_timeout_us = 10 * SOON_US;
    client = rpc_client_new(&self.options, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++)
        senders[i] = sender_new(client, i, 10 * SOON_US);

    g_assert_true(rpc_server_wait_calls(self.servers[0], 2));
    rpc_client_interrupt(client);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++) {
        g_thread_join(g_steal_pointer(&senders[i]->thread));
        n_sent += senders[i]->is_sent;
        g_clear_error(&senders[i]->error);
        g_free(senders[i]);
    }
    g_assert_cmpuint(n_sent, <=, 2);
}

/* ---- the end ---- */

static void
check_stop_ends_a_call_and_waits(void (*stop)(RpcClient *client))
{
    g_auto(RpcFixture) self;
    Sender *senders[4];

    rpc_fixture_init(&self, RPC_SINGLE, 1);
    self.options.connections = 1;
    self.options.request_timeout_us = 2 * SOON_US;
    rpc_server_answer(self.servers[0], ANSWER_NOTHING);
    for (guint i = 0; i < G_N_ELEMENTS(senders); i++)
        senders[i] = sender_new(rpc_fixture_client(&self), i, CLOCK_NEVER);
    g_assert_true(rpc_server_wait_calls(self.servers[0], 1));
    stop(self.client);

    for (guint i = 0; i < G_N_ELEMENTS(senders); i++)
        sender_expect(senders[i], RPC_ERROR_CLOSED);
    g_assert_cmpint(self.n_failed, ==, 0);
}

static void
test_close_ends_a_call_and_those_who_wait_at_once(void)
{
    check_stop_ends_a_call_and_waits(rpc_client_close);
}

/* Again and again, as who has not begun yet is not interrupted. */
static void
interrupt_repeatedly(RpcClient *client)
{
    for (guint i = 0; i < 50; i++) {
        rpc_client_interrupt(client);
        g_usleep(2000);
    }
}

static void
test_interrupt_ends_a_call_and_those_who_wait(void)
{
    check_stop_ends_a_call_and_waits(interrupt_repeatedly);
}

static void
test_close_ends_an_attempt_to_connect(void)
{
    g_auto(DeafPeer) deaf = { 0 };
    g_autoptr(RpcClient) client = NULL;
    gint64 begin_us = clock_now_us();
    Sender *sender;

    deaf_peer_init(&deaf);
    client = client_of(deaf.bound);
    sender = sender_new(client, 0, CLOCK_NEVER);
    g_usleep(20 * 1000); /* it may just as well not have begun */
    rpc_client_close(client);

    sender_expect(sender, RPC_ERROR_CLOSED);
    g_assert_cmpint(clock_now_us() - begin_us, <, SOON_US);
}

static void
test_close_ends_a_look_up_of_a_name(void)
{
    g_autoptr(Endpoint) silent = endpoint_new("silent", 4141);
    g_autoptr(RpcClient) client = client_of(silent);
    gint64 begin_us = clock_now_us();
    Sender *sender;

    set_names_silent(TRUE);
    sender = sender_new(client, 0, CLOCK_NEVER);
    wait_until_name_is_asked_for();
    rpc_client_close(client);

    sender_expect(sender, RPC_ERROR_CLOSED);
    g_assert_cmpint(clock_now_us() - begin_us, <, SOON_US);
    set_names_silent(FALSE);
}

/* ---- turmoil ---- */

static void
stir(RpcFixture *self)
{
    static const Answer answers[] = { ANSWER_FAILED, ANSWER_HANG_UP, ANSWER_WRONG_SEQUENCE_ID,
                                      ANSWER_NO_THRIFT };

    for (guint i = 0; i < 60; i++) {
        RpcServer *server = self->servers[i % self->n_servers];

        rpc_server_plan(server, &answers[i % G_N_ELEMENTS(answers)], 1);
        if (i % 7 == 0)
            rpc_client_interrupt(self->client);
        if (i % 11 == 0)
            rpc_server_stop(server);
        g_usleep(3000);
        if (i % 11 == 0)
            rpc_server_start(server);
    }
}

static void
test_nothing_acknowledged_is_lost_in_turmoil(void)
{
    g_auto(RpcFixture) self;
    RpcTurmoil turmoil;
    guint n_stored = 0;

    rpc_fixture_init(&self, RPC_LOAD_BALANCE, 3);
    self.options.batch_size = 7;
    self.options.in_flight = 3;
    self.options.connections = 2;
    self.options.backoff = TRUE;
    self.options.max_backoff_us = 5000;
    self.options.reset_connection_interval_us = 10 * 1000;
    rpc_turmoil_begin(&turmoil, rpc_fixture_client(&self), SHORT_US);
    stir(&self);
    rpc_client_close(self.client);
    rpc_turmoil_end(&turmoil);

    for (guint i = 0; i < self.n_servers; i++)
        n_stored += rpc_server_n_stored(self.servers[i]);
    g_assert_cmpint(turmoil.n_acknowledged, >, 0);
    g_assert_cmpuint(n_stored, >=, (guint) turmoil.n_acknowledged);
    g_assert_cmpint(self.n_opened, ==, self.n_closed);
}

static guint
count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    guint n = 0;

    while (readdir(directory) != NULL)
        n++;
    closedir(directory);
    return n;
}

static void
test_failed_connects_leave_no_descriptor_behind(void)
{
    const guint n_connects = 10000;
    g_auto(RpcFixture) self;
    guint before;

    rpc_fixture_init(&self, RPC_FAILOVER, 2);
    rpc_server_stop(self.servers[0]);
    rpc_server_stop(self.servers[1]);
    g_assert_false(rpc_fixture_send(&self, 0, 1, NULL));
    before = count_descriptors();
    for (guint i = 0; i < n_connects / 2; i++)
        g_assert_false(rpc_fixture_send(&self, 0, 1, NULL));

    g_assert_cmpint(self.n_failed, >=, n_connects);
    g_assert_cmpuint(count_descriptors(), ==, before);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/rpc-threads/" name, function)
    ADD("a-hundred-threads-share-five-connections",
        test_a_hundred_threads_share_five_connections_and_every_event_arrives_once);
    ADD("who-waits-for-a-connection-gives-up-at-the-deadline",
        test_who_waits_for_a_connection_gives_up_at_the_deadline_and_blames_nobody);
    ADD("who-waits-for-a-host-that-turns-out-to-be-frozen-goes-to-another",
        test_who_waits_for_a_host_that_turns_out_to_be_frozen_goes_to_another);
    ADD("nobody-waits-while-another-thread-connects",
        test_nobody_waits_while_another_thread_connects);
    ADD("close-ends-a-call-and-those-who-wait-at-once",
        test_close_ends_a_call_and_those_who_wait_at_once);
    ADD("interrupt-ends-a-call-and-those-who-wait", test_interrupt_ends_a_call_and_those_who_wait);
    ADD("close-ends-an-attempt-to-connect", test_close_ends_an_attempt_to_connect);
    ADD("close-ends-a-look-up-of-a-name", test_close_ends_a_look_up_of_a_name);
    ADD("nothing-acknowledged-is-lost-in-turmoil", test_nothing_acknowledged_is_lost_in_turmoil);
    ADD("failed-connects-leave-no-descriptor-behind",
        test_failed_connects_leave_no_descriptor_behind);
    return g_test_run();
}
