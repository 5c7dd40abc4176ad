/* registration.h - announces one source of the agent to registries, so that others find it. What a
 * registry is told, and when, is the service's (agent/registration/); the type knows its language.
 */
#pragma once

#include <glib.h>

#include "agent/core/component.h"
#include "agent/core/source.h"
#include "base/span.h"

#define REGISTRATION_ERROR (registration_error_quark())
GQuark registration_error_quark(void);
typedef enum {
    REGISTRATION_ERROR_UNREACHABLE, /* nobody who asks the registry could reach the source */
    REGISTRATION_ERROR_REFUSED,     /* the registry says no */
    REGISTRATION_ERROR_NOT_ONE,     /* whoever answers is no registry */
    REGISTRATION_ERROR_SILENT,      /* no answer in time */
    REGISTRATION_ERROR_CLOSED,      /* the registry closed the connection */
} RegistrationError;

/* Where others reach the source, as a registry is told. */
typedef struct {
    char *host; /* without brackets */
    guint16 port;
    guint16 http_port; /* of the agent, else that of the source */
} Announced;

/* What is said on one connection, each with one answer. */
typedef enum {
    ANNOUNCE_HELLO, /* where a language needs it */
    ANNOUNCE_JOIN,
    ANNOUNCE_HEARTBEAT,
    ANNOUNCE_LEAVE,
} AnnounceStep;

typedef struct Registration Registration;

typedef struct {
    ComponentType base;
    AnnounceStep first; /* what a connection begins with: HELLO or JOIN */
    const char *hint;   /* what to look at if that gets no answer */

    const GPtrArray *(*addresses)(const Registration *self); /* Endpoint *; NULL: none are known */
    /* Once it is configured, what a registry may know it as only once: "topic 't' of source 's'".
     * (transfer full) NULL: that has a problem. */
    char *(*identity)(const Registration *self);
    /* Appends one request. serial is another one for each request of a connection. */
    void (*ask)(const Registration *self, AnnounceStep step, const Announced *as, gint32 serial,
                GByteArray *out);
    /* Takes the answer to it from the front of the input. FALSE without an error: it is not there
     * whole yet. FALSE with one: it is no, or no answer at all. */
    gboolean (*take_answer)(const Registration *self, AnnounceStep step, gint32 serial,
                            ByteSpan *input, GError **error);
} RegistrationType;

struct Registration {
    Component base;
    char *source_name; /* rows of the kind */
    char *advertise;
    char *name_space;
    gint64 heartbeat_us; /* a row of each type, whose default it is */

    const Source *source;   /* wired by the configuration */
    const char *agent_name; /* borrowed of it */
    Endpoint *advertised;   /* host "" and port 0 are left to us */
};

static inline const RegistrationType *
registration_type(const Registration *self)
{
    return (const RegistrationType *) self->base.type;
}

extern const OptionSpec registration_options[];

/* The rows of each type, as every registry has its own: up to REGISTRATION_PEERS of them have a
 * label. */
typedef enum {
    REGISTRATION_REGISTERED, /* gauge */
    REGISTRATION_HEARTBEATS,
    REGISTRATION_FAILURES,
    N_REGISTRATION_METRICS,
} RegistrationMetric;
extern const MetricSpec registration_metrics[N_REGISTRATION_METRICS + 1];
#define REGISTRATION_PEERS 32

/* For the type's configure, once its addresses are known: labels, whether each is there once, and
 * whether `advertise` can be true. option: the one that has the addresses. */
void registration_configure(Registration *self, const char *option, Problems *problems);
/* For its finalize. */
void registration_finalize(Registration *self);

/* What a registry is told that was reached by this address of ours. FALSE if that would be of no
 * use to anybody who asks it. */
gboolean registration_announce(const Registration *self, const char *local_host,
                               const char *registry_host, guint16 http_port,
                               Announced *ret_announced, GError **error);
void announced_clear(Announced *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Announced, announced_clear)
