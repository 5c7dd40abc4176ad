/* route_journal.h - every change of the routes, counted and logged once. */
#pragma once

#include "base/metric.h"
#include "registry/route_table.h"

typedef struct RouteJournal RouteJournal;

RouteJournal *route_journal_new(void);
void route_journal_free(RouteJournal *self);
void route_journal_note(RouteJournal *self, const RouteEvent *event);
/* Gauges are as of this call. */
MetricSet *route_journal_metrics(RouteJournal *self, const RouteTable *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RouteJournal, route_journal_free)
