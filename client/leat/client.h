/* client.h - sends events to leat agents, and to Thrift sources of Apache Flume.
 *
 *     const char *options[] = { "hosts", "hub1:4141,hub2:4141", "client", "failover", NULL };
 *     LeatClient *client = leat_client_new(options, &error);
 *     LeatEvent event = { .body = "hello", .body_length = 5 };
 *
 *     if (!leat_client_append(client, &event, &error))
 *         fprintf(stderr, "%s\n", error->message);
 *     leat_client_free(client);
 *
 * Delivery is at least once: what was acknowledged is in the channels of an agent; what was not may
 * be there all the same, and is to be sent again.
 *
 * Threads: any number of them may use one client at the same time, leat_client_new and
 * leat_client_free apart. Calls wait, each no longer than the option call-timeout. After fork, a
 * client is of no use in the child.
 *
 * Errors: a call that fails says so by its result and, unless the error argument is NULL, sets
 * *error, which must have been NULL; the caller frees it with g_error_free. The rest of GLib need
 * not be known. The library never logs, never touches signals (nor needs SIGPIPE ignored), and
 * ends the program only when there is no memory left.
 *
 * Pointers that a call is given are borrowed until it returns. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

G_BEGIN_DECLS

#define LEAT_API __attribute__((visibility("default")))

/* ---- events ---- */

/* Text that ends with NUL, best in UTF-8. A value of NULL is an empty one. */
typedef struct {
    const char *name;
    const char *value;
} LeatHeader;

typedef struct {
    const void *body; /* any bytes; may be NULL if there are none */
    size_t body_length;
    const LeatHeader *headers; /* in any order; of several with one name the last one counts */
    size_t n_headers;
} LeatEvent;

/* ---- errors ---- */

#define LEAT_ERROR (leat_error_quark())
LEAT_API GQuark leat_error_quark(void);

/* The code of an error, whose domain is always LEAT_ERROR; the message tells the host and the
 * reason. "Later" means: send what was not acknowledged again, after a pause. */
typedef enum {
    LEAT_ERROR_OPTION = 0,      /* leat_client_new and leat_client_set_hosts: the message names the
                                 * option and the remedy */
    LEAT_ERROR_UNREACHABLE = 1, /* no host could be resolved and connected to: later */
    LEAT_ERROR_TIMEOUT = 2,     /* no answer in time; the events may have arrived: later */
    LEAT_ERROR_REFUSED = 3,     /* a host answered that it cannot take them now: later */
    LEAT_ERROR_NO_SOURCE = 4,   /* who listens there is no Thrift source, or has another protocol */
    LEAT_ERROR_BROKEN = 5,      /* a connection ended; the events may have arrived: later */
    LEAT_ERROR_EVENT = 6,       /* the first event not acknowledged can never be sent, it is larger
                                 * than 16 MB or not well-formed: never; go on behind it */
    LEAT_ERROR_CLOSED = 7,      /* by leat_client_close: never */
} LeatError;

/* ---- clients ---- */

typedef struct LeatClient LeatClient;

/* options: names and values in turn, ended by NULL. Hosts are not looked for before there are
 * events to send. NULL and LEAT_ERROR_OPTION if an option is wrong.
 *
 *   hosts              "hub1:4141,[::1]:4141": names, IPv4 or IPv6, each with its port. Required
 *   client             single: one host (the default where there is one)
 *                      failover: one host until it fails, then the next (the default for several)
 *                      load-balance: each call to the next host
 *   protocol           compact (default) or binary
 *   batch-size         events in one request at the most, 100; larger calls are cut
 *   connections        to each host at the most, 5
 *   in-flight          requests on one connection that wait for their answers, 1
 *   max-attempts       of failover, for each request; 0 (default): as many as there are hosts
 *   host-selector      of load-balance: round-robin (default) or random
 *   backoff            true (default): a host that has failed is tried last for a while, and then
 *                      load-balance asks it with a batch of no events whether it is back
 *   max-backoff        30s: for how long at the most
 *   connect-timeout    20s: for one host to be resolved and connected to
 *   request-timeout    20s: for one answer
 *   call-timeout       60s: for a call as a whole, with all that is tried on other hosts
 *   reset-connection-interval   connections live so long; 0 (default): for ever
 *
 * Times are numbers with us, ms, s, m, h or d. */
LEAT_API LeatClient *leat_client_new(const char *const *options, GError **error);

/* Sends to other hosts from now on, written as the option hosts; any number of them, whatever the
 * option client says. Those that stay keep their connections, and calls on their way to one that
 * leaves are finished. False and LEAT_ERROR_OPTION if one of them is wrong: nothing has changed. */
LEAT_API bool leat_client_set_hosts(LeatClient *client, const char *hosts, GError **error);

/* Sends one event, and waits until it is acknowledged. */
LEAT_API bool leat_client_append(LeatClient *client, const LeatEvent *event, GError **error);

/* Sends events in their order, and waits until all are acknowledged. *acknowledged (unless NULL) is
 * set in any case: so many of the first events are; after a failure send those behind them again.
 * One call with many events is far quicker than many calls with one. */
LEAT_API bool leat_client_append_batch(LeatClient *client, const LeatEvent *events, size_t n_events,
                                       size_t *acknowledged, GError **error);

/* The option batch-size: a good number of events to gather for one call. */
LEAT_API size_t leat_client_batch_size(const LeatClient *client);

/* Until it is closed. Failing hosts do not change it: the next call tries them again. */
LEAT_API bool leat_client_is_active(LeatClient *client);

/* Calls in other threads, and all later ones, fail at once with LEAT_ERROR_CLOSED. May be called
 * again. */
LEAT_API void leat_client_close(LeatClient *client);

/* Closes and frees; NULL is nothing. No other thread may be in a call any more, or come later:
 * leat_client_close sends them away. */
LEAT_API void leat_client_free(LeatClient *client);

/* The version of the library at run time: "0.1.0". */
LEAT_API const char *leat_version(void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeatClient, leat_client_free)

G_END_DECLS
