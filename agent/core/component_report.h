/* component_report.h - what component.c and component_report.c share: one component's reports. */
#pragma once

#include "base/metric.h"

typedef struct ComponentReports ComponentReports;

extern const MetricSpec component_report_metrics[];

ComponentReports *component_reports_new(void);
void component_reports_free(ComponentReports *self);
