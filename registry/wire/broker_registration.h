/* broker_registration.h - what a RocketMQ broker tells a name server of itself: the fields and the
 * body of a REGISTER_BROKER (103), as name servers of RocketMQ 4.9 and 5.3 read them.
 *
 * What is absent has been replaced by the field's default. Strings are UTF-8 without NUL. */
#pragma once

#include <glib.h>

#include "registry/wire/data_version.h"
#include "registry/wire/queue_mapping.h"
#include "registry/wire/remoting_command.h"

/* The bits of a queue's permission. */
#define QUEUE_PERM_INHERIT 1
#define QUEUE_PERM_WRITE 2
#define QUEUE_PERM_READ 4

#define BROKER_HEARTBEAT_TIMEOUT_MS 120000 /* unless the broker says its own */

typedef struct {
    char *name;
    gint32 read_queues;
    gint32 write_queues;
    gint32 perm;
    gint32 sys_flag;
    gboolean order;
} BrokerTopic;

typedef struct {
    char *cluster;
    char *broker;
    char *address;    /* "ip:port" */
    char *ha_address; /* or NULL */
    char *zone;       /* or NULL */
    gint64 id;        /* 0: master, above: slave, -1: candidate of an election */
    gint64 heartbeat_timeout_ms;
    gboolean knows_acting_master; /* the field was there: a broker of 5.x */
    gboolean enable_acting_master;
    DataVersion version;
    GPtrArray *topics;         /* BrokerTopic * */
    GPtrArray *mappings;       /* QueueMapping * */
    GPtrArray *filter_servers; /* char *, or NULL: it says nothing of them */
} BrokerRegistration;

BrokerRegistration *broker_registration_new(void); /* with the defaults; no names, no topics */
void broker_registration_free(BrokerRegistration *self);
/* The topic is the registration's. */
BrokerTopic *broker_registration_add_topic(BrokerRegistration *self, const char *name,
                                           gint32 read_queues, gint32 write_queues, gint32 perm);

/* Of a REGISTER_BROKER (103) of any version. NULL, with the remark of the answer, which is an
 * error. A version without a timestamp is of now. */
BrokerRegistration *broker_registration_decode(const RemotingCommand *request, gint64 now_ms,
                                               GError **error);
/* Sets the fields and the body of a request; plain JSON with its CRC, which every version reads. */
void broker_registration_encode(const BrokerRegistration *self, RemotingCommand *request);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BrokerRegistration, broker_registration_free)
