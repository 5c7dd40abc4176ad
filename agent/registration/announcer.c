/* announcer.c - keeps one registry told of one source. */
#include "agent/registration/announcer.h"

#include "base/backoff.h"
#include "base/clock.h"

#define FIRST_PAUSE_US (250 * 1000)

typedef enum {
    STATE_PAUSING, /* not connected, until due */
    STATE_CONNECTING,
    STATE_ASKING,  /* step */
    STATE_RESTING, /* registered, until the next heartbeat */
    STATE_ENDED,
} AnnouncerState;

struct Announcer {
    const Registration *registration;
    const AnnouncerHooks *hooks;
    gpointer user;

    AnnouncerState state;
    AnnounceStep step;
    gint64 due_us;
    gint32 serial; /* of the last request */
    gboolean is_leaving;
    Backoff backoff;
    Announced announced; /* on this connection */
    GByteArray *input;   /* an answer that is not there whole yet */
};

Announcer *
announcer_new(const Registration *registration, const AnnouncerHooks *hooks, gpointer user)
{
    Announcer *self = g_new0(Announcer, 1);

    self->registration = registration;
    self->hooks = hooks;
    self->user = user;
    self->input = g_byte_array_new();
    backoff_init(&self->backoff, FIRST_PAUSE_US, registration->heartbeat_us / 2);
    return self;
}

void
announcer_free(Announcer *self)
{
    if (self == NULL)
        return;
    announced_clear(&self->announced);
    g_byte_array_unref(self->input);
    g_free(self);
}

gint64
announcer_due_us(const Announcer *self)
{
    return self->due_us;
}

/* ---- ends ---- */

static void
announcer_disconnect(Announcer *self)
{
    if (self->state != STATE_PAUSING)
        self->hooks->disconnect(self->user);
    announced_clear(&self->announced);
    g_byte_array_set_size(self->input, 0);
}

static void
announcer_end(Announcer *self, gboolean has_left)
{
    announcer_disconnect(self);
    self->state = STATE_ENDED;
    self->due_us = CLOCK_NEVER;
    self->hooks->ended(has_left, self->user);
}

/* Who never answers is perhaps somebody else. (transfer full) */
static GError *
announcer_explain(const Announcer *self, const GError *why)
{
    const RegistrationType *type = registration_type(self->registration);

    if (self->state != STATE_ASKING || self->step != type->first ||
        !(g_error_matches(why, REGISTRATION_ERROR, REGISTRATION_ERROR_SILENT) ||
          g_error_matches(why, REGISTRATION_ERROR, REGISTRATION_ERROR_CLOSED)))
        return g_error_copy(why);
    return g_error_new(why->domain, why->code, "%s; %s", why->message, type->hint);
}

static void
announcer_fail(Announcer *self, const GError *error, gint64 now_us)
{
    g_autoptr(GError) why = announcer_explain(self, error);

    if (self->is_leaving) {
        announcer_end(self, FALSE);
        return;
    }
    announcer_disconnect(self);
    self->state = STATE_PAUSING;
    self->due_us = clock_after_us(now_us, backoff_next_delay_us(&self->backoff));
    self->hooks->failed(why, self->user);
}

static void
announcer_give_up(Announcer *self, const char *what, gint64 now_us)
{
    g_autoptr(GError) error =
        g_error_new(REGISTRATION_ERROR, REGISTRATION_ERROR_SILENT, "%s within %d s", what,
                    (int) (ANNOUNCER_PATIENCE_US / G_USEC_PER_SEC));

    announcer_fail(self, error, now_us);
}

/* ---- requests and answers ---- */

static void
announcer_ask(Announcer *self, AnnounceStep step, gint64 now_us)
{
    g_autoptr(GByteArray) out = g_byte_array_new();

    self->state = STATE_ASKING;
    self->step = step;
    self->serial++;
    self->due_us = clock_after_us(now_us, ANNOUNCER_PATIENCE_US);
    registration_type(self->registration)
        ->ask(self->registration, step, &self->announced, self->serial, out);
    self->hooks->send(byte_span(out->data, out->len), self->user);
}

/* Up to a tenth early. */
static void
announcer_rest(Announcer *self, gint64 now_us)
{
    gint64 heartbeat_us = self->registration->heartbeat_us;

    self->state = STATE_RESTING;
    self->due_us =
        now_us + heartbeat_us - (gint64) (g_random_double() * (double) heartbeat_us / 10);
}

static void
announcer_advance(Announcer *self, gint64 now_us)
{
    AnnounceStep answered = self->step;

    if (answered == ANNOUNCE_LEAVE) {
        announcer_end(self, TRUE);
        return;
    }
    if (answered == ANNOUNCE_HELLO) {
        announcer_ask(self, ANNOUNCE_JOIN, now_us);
        return;
    }
    if (answered == ANNOUNCE_HEARTBEAT) {
        backoff_reset(&self->backoff); /* not before: it may be one that drops whoever joins */
        self->hooks->heartbeat(self->user);
    }
    announcer_rest(self, now_us);
    if (answered == ANNOUNCE_JOIN)
        self->hooks->registered(&self->announced, self->user);
    if (self->is_leaving)
        announcer_ask(self, ANNOUNCE_LEAVE, now_us);
}

/* TRUE: the whole answer is there, and nothing else. FALSE without an error: not yet. */
static gboolean
announcer_take_answer(Announcer *self, ByteSpan bytes, GError **error)
{
    const RegistrationType *type = registration_type(self->registration);
    GError *failure = NULL;
    gboolean taken;
    ByteSpan rest;

    g_byte_array_append(self->input, bytes.data, (guint) bytes.length);
    rest = byte_span(self->input->data, self->input->len);
    taken = self->state == STATE_ASKING &&
            type->take_answer(self->registration, self->step, self->serial, &rest, &failure);
    if (failure != NULL)
        g_propagate_error(error, failure);
    else if (self->state != STATE_ASKING || (taken && rest.length > 0))
        g_set_error_literal(error, REGISTRATION_ERROR, REGISTRATION_ERROR_NOT_ONE,
                            "it says something that it was not asked for");
    else if (taken)
        g_byte_array_set_size(self->input, 0);
    return taken && self->input->len == 0;
}

void
announcer_received(Announcer *self, ByteSpan bytes, gint64 now_us)
{
    g_autoptr(GError) error = NULL;

    if (announcer_take_answer(self, bytes, &error))
        announcer_advance(self, now_us);
    else if (error != NULL)
        announcer_fail(self, error, now_us);
}

/* ---- what happens to it ---- */

void
announcer_tick(Announcer *self, gint64 now_us)
{
    if (now_us < self->due_us)
        return;
    switch (self->state) {
    case STATE_PAUSING:
        self->state = STATE_CONNECTING;
        self->due_us = clock_after_us(now_us, ANNOUNCER_PATIENCE_US);
        self->hooks->connect(self->user);
        break;
    case STATE_CONNECTING:
        announcer_give_up(self, "no connection", now_us);
        break;
    case STATE_ASKING:
        announcer_give_up(self, "no answer", now_us);
        break;
    case STATE_RESTING:
        announcer_ask(self, ANNOUNCE_HEARTBEAT, now_us);
        break;
    case STATE_ENDED:
        break;
    }
}

void
announcer_connected(Announcer *self, const char *local_host, const char *registry_host,
                    guint16 http_port, gint64 now_us)
{
    g_autoptr(GError) error = NULL;

    if (registration_announce(self->registration, local_host, registry_host, http_port,
                              &self->announced, &error))
        announcer_ask(self, registration_type(self->registration)->first, now_us);
    else
        announcer_fail(self, error, now_us);
}

void
announcer_broken(Announcer *self, const GError *why, gint64 now_us)
{
    announcer_fail(self, why, now_us);
}

void
announcer_leave(Announcer *self, gint64 now_us)
{
    if (self->is_leaving || self->state == STATE_ENDED)
        return;
    self->is_leaving = TRUE;
    if (self->state == STATE_RESTING)
        announcer_ask(self, ANNOUNCE_LEAVE, now_us);
    else if (self->state != STATE_ASKING || self->step == ANNOUNCE_HELLO)
        announcer_end(self, FALSE);
}
