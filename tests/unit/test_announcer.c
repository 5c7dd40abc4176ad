/* test_announcer.c - what a registry is told and when, with a clock that is set by hand. */
#include "agent/registration/announcer.h"

#include <string.h>

#include "agent/builtin.h"
#include "base/clock.h"
#include "tests/support/fake_listener.h"
#include "tests/support/test_part.h"

#define HEARTBEAT_US (4 * G_USEC_PER_SEC)
#define IDENTITY "\0\0\0\2{}"
#define OK "\0\0\0\2OK"

typedef struct {
    FakeListener *source;
    Registration *registration;
    Announcer *announcer;
    gint64 now_us;
    GString *log; /* what it wanted since the last look */
    char *why;    /* it failed last */
} World;

/* ---- hooks that write down what they are asked for ---- */

static void
on_connect(gpointer user)
{
    g_string_append(((World *) user)->log, "connect;");
}

/* The first line, without the magic. */
static void
on_send(ByteSpan bytes, gpointer user)
{
    const guint8 *newline = memchr(bytes.data, '\n', bytes.length);
    gsize skip = bytes.data[0] == ' ' ? 4 : 0;

    g_string_append_printf(((World *) user)->log, "%.*s;", (int) (newline - bytes.data - skip),
                           (const char *) bytes.data + skip);
}

static void
on_disconnect(gpointer user)
{
    g_string_append(((World *) user)->log, "disconnect;");
}

static void
on_registered(const Announced *as, gpointer user)
{
    g_string_append_printf(((World *) user)->log, "registered %s %u %u;", as->host, as->port,
                           as->http_port);
}

static void
on_heartbeat(gpointer user)
{
    g_string_append(((World *) user)->log, "alive;");
}

static void
on_failed(const GError *why, gpointer user)
{
    World *self = user;

    g_string_append_printf(self->log, "failed %d;", why->code);
    g_free(self->why);
    self->why = g_strdup(why->message);
}

static void
on_ended(gboolean has_left, gpointer user)
{
    g_string_append(((World *) user)->log, has_left ? "left;" : "ended;");
}

static const AnnouncerHooks hooks = { on_connect,   on_send,   on_disconnect, on_registered,
                                      on_heartbeat, on_failed, on_ended };

static World *
world_new(void)
{
    World *self = g_new0(World, 1);

    self->log = g_string_new(NULL);
    self->source = fake_listener_new(":0", 4141);
    self->registration = (Registration *) test_part_new(
        &nsqlookupd_registration.base, COMPONENT_REGISTRATION, "registration[0]",
        "{ tcp-addresses: [\"10.0.0.9:4160\"], topic: t, heartbeat: 4s }");
    self->registration->source = &self->source->base;
    self->announcer = announcer_new(self->registration, &hooks, self);
    self->now_us = 1000 * G_USEC_PER_SEC;
    return self;
}

static void
world_free(World *self)
{
    announcer_free(self->announcer);
    test_part_free(&self->registration->base);
    fake_listener_free(self->source);
    g_string_free(self->log, TRUE);
    g_free(self->why);
    g_free(self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

static void
assert_log(World *self, const char *expected)
{
    g_assert_cmpstr(self->log->str, ==, expected);
    g_string_truncate(self->log, 0);
}

/* ---- what happens ---- */

/* Whatever it waits for comes; returns how long that took. */
static gint64
pass_time(World *self)
{
    gint64 due_us = MAX(announcer_due_us(self->announcer), self->now_us);
    gint64 passed_us = due_us - self->now_us;

    g_assert_cmpint(due_us, <, CLOCK_NEVER);
    self->now_us = due_us;
    announcer_tick(self->announcer, self->now_us);
    return passed_us;
}

static void
connected(World *self)
{
    announcer_connected(self->announcer, "10.0.0.1", "10.0.0.9", 0, self->now_us);
}

static void
answer(World *self, const char *bytes, gsize length)
{
    announcer_received(self->announcer, byte_span(bytes, length), self->now_us);
}
#define ANSWER(world, bytes) answer(world, bytes, sizeof(bytes) - 1)

static void
broken(World *self)
{
    g_autoptr(GError) why = g_error_new_literal(REGISTRATION_ERROR, REGISTRATION_ERROR_CLOSED, "");

    announcer_broken(self->announcer, why, self->now_us);
}

static void
join(World *self)
{
    pass_time(self);
    connected(self);
    ANSWER(self, IDENTITY);
    ANSWER(self, OK);
}

static World *
world_new_joined(void)
{
    World *self = world_new();

    join(self);
    g_string_truncate(self->log, 0);
    return self;
}

/* ---- joining ---- */

static void
test_it_joins_at_once_and_says_where_the_source_is(void)
{
    g_autoptr(World) world = world_new();

    join(world);

    assert_log(world, "connect;IDENTIFY;REGISTER t;registered 10.0.0.1 4141 4141;");
}

static void
test_an_answer_may_come_in_pieces(void)
{
    g_autoptr(World) world = world_new();
    pass_time(world);
    connected(world);

    for (gsize i = 0; i < sizeof IDENTITY - 1; i++)
        answer(world, &IDENTITY[i], 1);

    assert_log(world, "connect;IDENTIFY;REGISTER t;");
}

static void
test_what_was_not_asked_for_ends_the_connection(void)
{
    g_autoptr(World) at_rest = world_new_joined();
    g_autoptr(World) too_much = world_new();
    pass_time(too_much);
    connected(too_much);

    ANSWER(at_rest, OK);
    ANSWER(too_much, IDENTITY OK);

    assert_log(at_rest, "disconnect;failed 2;");
    assert_log(too_much, "connect;IDENTIFY;disconnect;failed 2;");
}

static void
test_a_refusal_ends_the_connection(void)
{
    g_autoptr(World) world = world_new();
    pass_time(world);
    connected(world);

    ANSWER(world, "\0\0\0\11E_INVALID");

    g_assert_nonnull(strstr(world->log->str, "IDENTIFY;disconnect;failed"));
}

static void
test_a_loopback_address_is_not_told_to_another_machine(void)
{
    g_autoptr(World) world = world_new();
    world->registration->advertised = endpoint_new("127.0.0.1", 0);
    pass_time(world);

    connected(world);

    assert_log(world, "connect;disconnect;failed 0;");
}

/* ---- heartbeats and silence ---- */

static void
test_heartbeats_come_in_time_and_a_little_early_at_most(void)
{
    g_autoptr(World) world = world_new_joined();

    for (int i = 0; i < 100; i++) {
        gint64 passed_us = pass_time(world);

        g_assert_cmpint(passed_us, <=, HEARTBEAT_US);
        g_assert_cmpint(passed_us, >=, HEARTBEAT_US * 9 / 10);
        ANSWER(world, OK);
        assert_log(world, "PING;alive;");
    }
}

static void
test_silence_is_not_waited_for_for_long(void)
{
    g_autoptr(World) unanswered = world_new_joined();
    g_autoptr(World) unconnected = world_new();
    pass_time(unanswered);
    pass_time(unconnected);

    g_assert_cmpint(pass_time(unanswered), ==, ANNOUNCER_PATIENCE_US);
    g_assert_cmpint(pass_time(unconnected), ==, ANNOUNCER_PATIENCE_US);

    assert_log(unanswered, "PING;disconnect;failed 3;");
    assert_log(unconnected, "connect;disconnect;failed 3;");
}

static void
test_who_never_answered_may_be_somebody_else(void)
{
    g_autoptr(World) stranger = world_new();
    g_autoptr(World) registry = world_new_joined();
    pass_time(stranger);
    connected(stranger);

    broken(stranger);
    broken(registry);

    g_assert_nonnull(strstr(stranger->why, "4160"));
    g_assert_null(strstr(registry->why, "4160"));
}

static void
test_after_a_break_all_is_said_anew(void)
{
    g_autoptr(World) world = world_new_joined();
    broken(world);
    g_string_truncate(world->log, 0);

    join(world);

    assert_log(world, "connect;IDENTIFY;REGISTER t;registered 10.0.0.1 4141 4141;");
}

static void
test_an_unfinished_answer_is_forgotten_with_its_connection(void)
{
    g_autoptr(World) world = world_new();
    pass_time(world);
    connected(world);
    ANSWER(world, "\0\0\0\2{");
    broken(world);
    g_string_truncate(world->log, 0);

    join(world);

    assert_log(world, "connect;IDENTIFY;REGISTER t;registered 10.0.0.1 4141 4141;");
}

/* ---- pauses ---- */

static gint64
pause_after_a_break(World *self)
{
    broken(self);
    return pass_time(self);
}

static void
test_pauses_double_up_to_half_a_heartbeat(void)
{
    g_autoptr(World) world = world_new();
    gint64 longest_us = 250 * 1000;
    pass_time(world);

    for (int i = 0; i < 10; i++) {
        gint64 passed_us = pause_after_a_break(world);

        g_assert_cmpint(passed_us, <=, longest_us);
        g_assert_cmpint(passed_us, >=, longest_us / 2);
        longest_us = MIN(2 * longest_us, HEARTBEAT_US / 2);
    }
}

static void
test_only_a_heartbeat_that_is_answered_ends_the_doubling(void)
{
    g_autoptr(World) world = world_new();
    join(world);
    for (int i = 0; i < 10; i++) {
        broken(world);
        join(world);
    }
    g_assert_cmpint(pause_after_a_break(world), >=, HEARTBEAT_US / 4);
    broken(world);
    join(world);

    pass_time(world);
    ANSWER(world, OK);

    g_assert_cmpint(pause_after_a_break(world), <=, 250 * 1000);
}

/* ---- leaving ---- */

static void
test_what_is_registered_is_taken_back(void)
{
    g_autoptr(World) world = world_new_joined();

    announcer_leave(world->announcer, world->now_us);
    ANSWER(world, OK);

    assert_log(world, "UNREGISTER t;disconnect;left;");
    g_assert_cmpint(announcer_due_us(world->announcer), ==, CLOCK_NEVER);
}

static void
test_an_answer_that_is_due_comes_before_the_farewell(void)
{
    g_autoptr(World) beating = world_new_joined();
    g_autoptr(World) joining = world_new();
    pass_time(beating);
    pass_time(joining);
    connected(joining);
    ANSWER(joining, IDENTITY);
    announcer_leave(beating->announcer, beating->now_us);
    announcer_leave(joining->announcer, joining->now_us);

    ANSWER(beating, OK);
    ANSWER(joining, OK);

    assert_log(beating, "PING;alive;UNREGISTER t;");
    assert_log(joining, "connect;IDENTIFY;REGISTER t;registered 10.0.0.1 4141 4141;UNREGISTER t;");
}

static void
test_who_was_not_registered_just_goes(void)
{
    g_autoptr(World) pausing = world_new();
    g_autoptr(World) connecting = world_new();
    g_autoptr(World) greeting = world_new();
    pass_time(connecting);
    pass_time(greeting);
    connected(greeting);

    announcer_leave(pausing->announcer, pausing->now_us);
    announcer_leave(connecting->announcer, connecting->now_us);
    announcer_leave(greeting->announcer, greeting->now_us);

    assert_log(pausing, "ended;");
    assert_log(connecting, "connect;disconnect;ended;");
    assert_log(greeting, "connect;IDENTIFY;disconnect;ended;");
}

static void
test_a_break_while_leaving_is_the_end(void)
{
    g_autoptr(World) world = world_new_joined();
    announcer_leave(world->announcer, world->now_us);

    broken(world);

    assert_log(world, "UNREGISTER t;disconnect;ended;");
}

#define ADD(test) g_test_add_func("/announcer/" #test, test_##test)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD(it_joins_at_once_and_says_where_the_source_is);
    ADD(an_answer_may_come_in_pieces);
    ADD(what_was_not_asked_for_ends_the_connection);
    ADD(a_refusal_ends_the_connection);
    ADD(a_loopback_address_is_not_told_to_another_machine);
    ADD(heartbeats_come_in_time_and_a_little_early_at_most);
    ADD(silence_is_not_waited_for_for_long);
    ADD(who_never_answered_may_be_somebody_else);
    ADD(after_a_break_all_is_said_anew);
    ADD(an_unfinished_answer_is_forgotten_with_its_connection);
    ADD(pauses_double_up_to_half_a_heartbeat);
    ADD(only_a_heartbeat_that_is_answered_ends_the_doubling);
    ADD(what_is_registered_is_taken_back);
    ADD(an_answer_that_is_due_comes_before_the_farewell);
    ADD(who_was_not_registered_just_goes);
    ADD(a_break_while_leaving_is_the_end);
    return g_test_run();
}
