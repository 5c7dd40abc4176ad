/* nsq_journal.h - every change of the table, counted and logged once. */
#pragma once

#include "base/metric.h"
#include "registry/nsq_table.h"

typedef struct NsqJournal NsqJournal;

NsqJournal *nsq_journal_new(void);
void nsq_journal_free(NsqJournal *self);
void nsq_journal_note(NsqJournal *self, const NsqEvent *event);
/* Gauges are as of this call. */
MetricSet *nsq_journal_metrics(NsqJournal *self, const NsqTable *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsqJournal, nsq_journal_free)
