/* namesrv_server_private.h - one connection, and the requests; for the server's own files alone. */
#pragma once

#include "registry/namesrv_server.h"
#include "registry/tcp_server.h"
#include "registry/wire/namesrv_codes.h"
#include "registry/wire/remoting_command.h"

struct NamesrvServer {
    NamesrvParts parts;
    TcpServer *tcp;
    MetricSet *metrics;
    gint64 started_us;
};

typedef struct {
    TcpConnection base;
    NamesrvServer *server;
    RouteSession *session; /* NULL after the end */
    GQueue waiters;        /* of namesrv_waiters.c */
    GQueue kv_requests;    /* of namesrv_kv.c */
} NamesrvConnection;

typedef enum { REQUEST_ANSWERED, REQUEST_HELD } RequestOutcome;

/* Fills the answer, which is one of success and nothing more; one that is held is answered later.
 */
typedef RequestOutcome (*NamesrvHandler)(NamesrvConnection *self, const RemotingCommand *request,
                                         RemotingCommand *answer);

/* What every connection may ask; others are unknown. The index is that of the metric. */
NamesrvHandler namesrv_handler_for(gint32 code, guint *ret_index);
extern const char *const namesrv_request_names[];

gint64 namesrv_now_us(const NamesrvConnection *self);
/* An answer that is an error. */
RequestOutcome namesrv_fail(RemotingCommand *answer, gint32 code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* Likewise, to a request whose body cannot be read: that is counted and logged. */
RequestOutcome namesrv_fail_body(NamesrvConnection *self, const RemotingCommand *request,
                                 RemotingCommand *answer, const GError *error);
/* A field that the request must have; NULL after failing the answer. */
const char *namesrv_need(const RemotingCommand *request, RemotingCommand *answer, const char *name);
/* As Java words what is not there. */
const char *namesrv_text(const char *text);

/* ---- namesrv_waiters.c: routes that are waited for ---- */

/* FALSE: it waits for nothing, or that would cost too much; it is to be answered now. */
gboolean namesrv_hold(NamesrvConnection *self, const RemotingCommand *request, const char *topic);
void namesrv_forget_waiters(NamesrvConnection *self);

/* ---- namesrv_brokers.c: what brokers ask ---- */

RequestOutcome namesrv_register_broker(NamesrvConnection *, const RemotingCommand *,
                                       RemotingCommand *);
RequestOutcome namesrv_unregister_broker(NamesrvConnection *, const RemotingCommand *,
                                         RemotingCommand *);
RequestOutcome namesrv_query_data_version(NamesrvConnection *, const RemotingCommand *,
                                          RemotingCommand *);
RequestOutcome namesrv_hear_broker(NamesrvConnection *, const RemotingCommand *, RemotingCommand *);
RequestOutcome namesrv_get_broker_group(NamesrvConnection *, const RemotingCommand *,
                                        RemotingCommand *);
RequestOutcome namesrv_register_topic(NamesrvConnection *, const RemotingCommand *,
                                      RemotingCommand *);

/* ---- namesrv_lookups.c: what clients and people look up ---- */

/* Without waiting. */
void namesrv_fill_route(NamesrvConnection *self, const RemotingCommand *request,
                        RemotingCommand *answer, const char *topic);

RequestOutcome namesrv_get_route(NamesrvConnection *, const RemotingCommand *, RemotingCommand *);
RequestOutcome namesrv_get_cluster_info(NamesrvConnection *, const RemotingCommand *,
                                        RemotingCommand *);
RequestOutcome namesrv_get_all_topics(NamesrvConnection *, const RemotingCommand *,
                                      RemotingCommand *);
RequestOutcome namesrv_get_topics_of_cluster(NamesrvConnection *, const RemotingCommand *,
                                             RemotingCommand *);
RequestOutcome namesrv_get_system_topics(NamesrvConnection *, const RemotingCommand *,
                                         RemotingCommand *);
RequestOutcome namesrv_get_unit_topics(NamesrvConnection *, const RemotingCommand *,
                                       RemotingCommand *);
RequestOutcome namesrv_get_unit_sub_topics(NamesrvConnection *, const RemotingCommand *,
                                           RemotingCommand *);
RequestOutcome namesrv_get_unit_sub_ununit_topics(NamesrvConnection *, const RemotingCommand *,
                                                  RemotingCommand *);

/* ---- namesrv_kv.c: the KV configuration ---- */

void namesrv_forget_kv_requests(NamesrvConnection *self);

RequestOutcome namesrv_put_kv_config(NamesrvConnection *, const RemotingCommand *,
                                     RemotingCommand *);
RequestOutcome namesrv_get_kv_config(NamesrvConnection *, const RemotingCommand *,
                                     RemotingCommand *);
RequestOutcome namesrv_delete_kv_config(NamesrvConnection *, const RemotingCommand *,
                                        RemotingCommand *);
RequestOutcome namesrv_get_kv_list(NamesrvConnection *, const RemotingCommand *, RemotingCommand *);

/* ---- namesrv_admin.c: what people change ---- */

/* Once it was carried out and changed something; what follows from it is logged by the journal. */
void namesrv_log_request(NamesrvConnection *self, const char *what, const char *name);

RequestOutcome namesrv_wipe_write_perm(NamesrvConnection *, const RemotingCommand *,
                                       RemotingCommand *);
RequestOutcome namesrv_add_write_perm(NamesrvConnection *, const RemotingCommand *,
                                      RemotingCommand *);
RequestOutcome namesrv_delete_topic(NamesrvConnection *, const RemotingCommand *,
                                    RemotingCommand *);
RequestOutcome namesrv_update_config(NamesrvConnection *, const RemotingCommand *,
                                     RemotingCommand *);
RequestOutcome namesrv_get_config(NamesrvConnection *, const RemotingCommand *, RemotingCommand *);
