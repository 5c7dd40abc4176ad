/* registry_report.h - what a registry knows, in tables: for people, or as JSON. */
#pragma once

#include <glib.h>

typedef enum {
    REPORT_TEXT,
    REPORT_NUMBER,
    REPORT_MARKED,   /* a list; some of its items are marked, with what the mark is called */
    REPORT_NUMBERED, /* a list; each of its items has a number, which is not shown when it is 0 */
} ReportKind;

typedef struct {
    const char *name; /* "write queues"; in JSON with '_' for ' ' */
    ReportKind kind;
    const char *item, *mark; /* what an item of the list, and its mark or number, are called */
} ReportColumn;

typedef struct RegistryReport RegistryReport;

/* type: "nsqlookupd"; topic: what was asked for, or NULL. */
RegistryReport *registry_report_new(const char *registry, const char *type, const char *topic);
void registry_report_free(RegistryReport *self);
/* columns end with one without a name, and outlive it. Cells go into the table that was begun last,
 * one for each column, row by row. */
void registry_report_begin(RegistryReport *self, const char *name, const ReportColumn *columns);
void registry_report_add_text(RegistryReport *self, const char *text /* or NULL */);
void registry_report_add_number(RegistryReport *self, gint64 number);
void registry_report_add_list(RegistryReport *self);
/* To the list that was added last. */
void registry_report_add_item(RegistryReport *self, const char *text, gint64 mark);

char *registry_report_to_text(const RegistryReport *self); /* (transfer full) */
char *registry_report_to_json(const RegistryReport *self); /* one line, (transfer full) */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RegistryReport, registry_report_free)
