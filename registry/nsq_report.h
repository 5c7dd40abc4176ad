/* nsq_report.h - the table as nsqlookupd's JSON. */
#pragma once

#include "registry/nsq_table.h"

/* All (transfer full). */
GString *nsq_report_topics(const NsqTable *table);
GString *nsq_report_channels(const NsqTable *table, const char *topic);
GString *nsq_report_lookup(const NsqTable *table, const NsqTopic *topic, gint64 now_us);
GString *nsq_report_nodes(const NsqTable *table, gint64 now_us);
/* wall_us is the wall clock's time at now_us. */
GString *nsq_report_debug(const NsqTable *table, gint64 now_us, gint64 wall_us);
