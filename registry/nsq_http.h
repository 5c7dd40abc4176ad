/* nsq_http.h - nsqlookupd's HTTP routes. */
#pragma once

#include "registry/http_server.h"
#include "registry/nsq_table.h"
#include "registry/refusals.h"
#include "registry/topic_watch.h"

typedef struct NsqHttp NsqHttp;

/* Table and refusals are borrowed. Look-ups that wait do so on the loop. */
NsqHttp *nsq_http_new(Loop *loop, NsqTable *table, Refusals *refusals);
void nsq_http_free(NsqHttp *self);
const HttpRoute *nsq_http_routes(void); /* user is the NsqHttp */
TopicWatch *nsq_http_watch(const NsqHttp *self);
MetricSet *nsq_http_metrics(const NsqHttp *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqHttp, nsq_http_free)
