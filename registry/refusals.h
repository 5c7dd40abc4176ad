/* refusals.h - what was refused to peers: counted by reason, logged at most once a second each. */
#pragma once

#include <glib.h>

#include "base/metric.h"

/* What a peer may put into a line of the log. */
#define LOGGED_BYTES_MAX 160

typedef enum {
    REFUSAL_BAD_PROTOCOL, /* speaks something else */
    REFUSAL_BAD_COMMAND,
    REFUSAL_BAD_NAME,
    REFUSAL_BAD_BODY,
    REFUSAL_TOO_LONG,
    REFUSAL_IDLE,
    REFUSAL_TOO_MANY, /* connections */
    REFUSAL_RESOURCES,
    N_REFUSALS,
} RefusalReason;

typedef struct Refusals Refusals;

/* protocol names the half of the registry: "nsqlookupd". */
Refusals *refusals_new(const char *protocol);
void refusals_free(Refusals *self);
/* detail may be NULL. */
void refusals_add(Refusals *self, RefusalReason reason, const char *peer, const char *detail);
MetricSet *refusals_metrics(const Refusals *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Refusals, refusals_free)
