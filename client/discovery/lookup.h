/* lookup.h - one question to one registry: which hosts take a topic? */
#pragma once

#include <gio/gio.h>

#include "base/endpoint.h"
#include "client/discovery/http_fetch.h"
#include "registry/wire/remoting_command.h"

/* A registry that has not answered by then is not there. */
#define LOOKUP_TIMEOUT_US (5 * G_USEC_PER_SEC)
/* How long a watch waits for news; the answer may take a look-up's time on top. */
#define LOOKUP_WAIT_S 30

typedef struct {
    const Endpoint *registry;
    const char *topic; /* as the registry has it: in its namespace */
    const char *index; /* of the last answer: to be answered when there is news; NULL: at once */
    gboolean is_known; /* it has answered before: no wrong port needs to be looked for */
} LookupQuestion;

typedef struct {
    GPtrArray *hosts;  /* FoundHost, may be stolen; NULL: nothing is known of the topic */
    const char *index; /* NULL: it has no watch */
    const char *epoch; /* another one after a restart; NULL: it does not tell */
} LookupAnswer;

/* answer is borrowed for the call, NULL with an error. */
typedef void (*LookupDone)(LookupAnswer *answer, const GError *error, gpointer user);

/* In the thread's default main context, which turns until done has been called: once, later. */
typedef void (*LookupAsk)(HttpClient *http, const LookupQuestion *question, GCancellable *stop,
                          LookupDone done, gpointer user);

void nsq_lookup_ask(HttpClient *http, const LookupQuestion *question, GCancellable *stop,
                    LookupDone done, gpointer user);

void route_lookup_ask(HttpClient *http, const LookupQuestion *question, GCancellable *stop,
                      LookupDone done, gpointer user);

/* What they ask, for those who want more of the answer. (transfer full) */
char *nsq_lookup_query(const LookupQuestion *question);
/* Of the answer to it or another one. FALSE: it knows no such topic (G_IO_ERROR_NOT_FOUND), or is
 * no nsqlookupd's. */
gboolean nsq_lookup_check_status(const HttpReply *reply, GError **error);
RemotingCommand *route_lookup_request(const LookupQuestion *question);

static inline gint64
lookup_timeout_us(const LookupQuestion *question)
{
    return LOOKUP_TIMEOUT_US + (question->index != NULL ? LOOKUP_WAIT_S * G_USEC_PER_SEC : 0);
}
