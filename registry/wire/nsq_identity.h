/* nsq_identity.h - what an nsqd tells about itself in IDENTIFY, and what it is answered. */
#pragma once

#include <glib.h>

typedef struct {
    char *remote_address; /* "ip:port" of its connection */
    char *hostname;
    char *broadcast_address;
    gint64 tcp_port;
    gint64 http_port;
    char *version;
    char *topology_zone, *topology_region; /* "" if it told none */
    char *node; /* "broadcast_address:http_port", by which tombstones name it */
    char *json; /* the object that look-ups list, without its last brace */
} NsqIdentity;

/* (transfer full) From the body of IDENTIFY. NULL, with what is wrong for the log, and in
 * *ret_answer the sentence that the protocol has for it. */
NsqIdentity *nsq_identity_parse(const guint8 *body, gsize length, const char *remote_address,
                                const char **ret_answer, GError **error);
void nsq_identity_free(NsqIdentity *self);

/* What the registry says of itself. (transfer full) */
typedef struct {
    const char *broadcast_address;
    const char *hostname;
    guint16 tcp_port;
    guint16 http_port;
} NsqSelf;
char *nsq_self_to_json(const NsqSelf *self);

/* The nsqlookupd that this one stands for. */
#define NSQ_VERSION "1.3.0"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqIdentity, nsq_identity_free)
