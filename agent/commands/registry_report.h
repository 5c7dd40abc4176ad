/* registry_report.h - what a registry knows, in tables: for people, or as JSON. */
#pragma once

#include <glib.h>

typedef struct {
    const char *name; /* "write queues"; in JSON with '_' for ' ' */
    gboolean is_number;
} ReportColumn;

typedef struct RegistryReport RegistryReport;

/* type: "nsqlookupd"; topic: what was asked for, or NULL. */
RegistryReport *registry_report_new(const char *registry, const char *type, const char *topic);
void registry_report_free(RegistryReport *self);
/* columns end with { NULL } and outlive it. Rows go into the table that was begun last. */
void registry_report_begin(RegistryReport *self, const char *name, const ReportColumn *columns);
/* (transfer full) a text for each column. */
void registry_report_add(RegistryReport *self, GStrv row);

char *registry_report_to_text(const RegistryReport *self); /* (transfer full) */
char *registry_report_to_json(const RegistryReport *self); /* one line, (transfer full) */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RegistryReport, registry_report_free)
