/* announcer.h - keeps one registry told of one source: what to say and when. No sockets, and the
 * clock is passed in.
 *
 * A connection begins with HELLO and JOIN, then heartbeats follow. Whatever goes wrong ends it, and
 * after a pause everything is said anew. Pauses double up to half a heartbeat, so that a registry
 * that is back knows the source again within one; they and the heartbeats are spread at random, so
 * that many agents do not come all at once. */
#pragma once

#include <glib.h>

#include "agent/core/registration.h"

/* No answer, and no connection, is waited for longer. */
#define ANNOUNCER_PATIENCE_US (5 * G_USEC_PER_SEC)

/* What it wants, from inside the calls below. */
typedef struct {
    void (*connect)(gpointer user); /* announcer_connected or announcer_broken follows */
    void (*send)(ByteSpan bytes, gpointer user);
    void (*disconnect)(gpointer user); /* neither follows; also called while connecting */

    /* What became of it. */
    void (*registered)(const Announced *as, gpointer user);
    void (*heartbeat)(gpointer user);                 /* it was answered */
    void (*failed)(const GError *why, gpointer user); /* to register, or after that */
    void (*ended)(gboolean has_left, gpointer user);  /* has_left: and the registry knows it */
} AnnouncerHooks;

typedef struct Announcer Announcer;

Announcer *announcer_new(const Registration *registration, const AnnouncerHooks *hooks,
                         gpointer user);
void announcer_free(Announcer *self);

/* When announcer_tick has to be called; at once to begin with, CLOCK_NEVER once it has ended. */
gint64 announcer_due_us(const Announcer *self);
void announcer_tick(Announcer *self, gint64 now_us);
/* The addresses of both ends; http_port is the agent's, 0 if it has none. */
void announcer_connected(Announcer *self, const char *local_host, const char *registry_host,
                         guint16 http_port, gint64 now_us);
void announcer_received(Announcer *self, ByteSpan bytes, gint64 now_us);
void announcer_broken(Announcer *self, const GError *why, gint64 now_us);
/* Takes the registration back; `ended` is called when the registry has answered, or at once if
 * there is nothing to take back. */
void announcer_leave(Announcer *self, gint64 now_us);
