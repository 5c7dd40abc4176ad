/* topic_route.h - where a topic's queues are: what a name server answers to GET_ROUTE (105), and
 * what a REGISTER_TOPIC (217) brings.
 *
 * Strings are UTF-8 without NUL. */
#pragma once

#include <glib.h>

#include "base/span.h"
#include "registry/wire/broker_group.h"
#include "registry/wire/broker_registration.h"
#include "registry/wire/remoting_command.h"

typedef struct {
    char *broker;
    gint32 read_queues;
    gint32 write_queues;
    gint32 perm;
    gint32 sys_flag;
} RouteQueue;

typedef struct {
    char *address;
    GPtrArray *servers; /* char * */
} RouteFilter;

typedef struct {
    char *order_conf;    /* or NULL */
    GPtrArray *queues;   /* RouteQueue * */
    GPtrArray *brokers;  /* BrokerGroup * */
    GPtrArray *filters;  /* RouteFilter * */
    GPtrArray *mappings; /* QueueMapping *, one a broker; empty unless the topic is static */
} TopicRoute;

/* How the peer that asked wants it written. */
typedef struct {
    gboolean standard; /* JSON as the standard has it; else integer keys are not quoted */
    gboolean syn_flag; /* "topicSynFlag", as it was called before 4.9 */
} RouteForm;

RouteForm route_form_for(const RemotingCommand *request);

TopicRoute *topic_route_new(void);
void topic_route_free(TopicRoute *self);
/* The group is the route's. */
BrokerGroup *topic_route_add_broker(TopicRoute *self, const char *cluster, const char *broker);
RouteQueue *topic_route_add_queue(TopicRoute *self, const char *broker, gint32 read_queues,
                                  gint32 write_queues, gint32 perm, gint32 sys_flag);
/* Its list of servers is empty. */
RouteFilter *topic_route_add_filter(TopicRoute *self, const char *address);
void topic_route_add_mapping(TopicRoute *self, const QueueMapping *mapping /* copied */);

GString *topic_route_encode(const TopicRoute *self, const RouteForm *form); /* (transfer full) */
/* Reads every form. NULL with G_IO_ERROR_INVALID_DATA. */
TopicRoute *topic_route_decode(ByteSpan json, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopicRoute, topic_route_free)
