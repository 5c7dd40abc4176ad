/* registry_read.h - reads all that a registry knows, or what it knows of one topic, into a report.
 */
#pragma once

#include "agent/commands/registry_report.h"
#include "client/discovery/discovery.h"

typedef struct {
    const Endpoint *registry;
    RegistryKind kind;
    const char *topic; /* as the registry has it; NULL: everything */
    char *index;       /* of the last answer about a topic; NULL: none, or it has no watch */
} RegistryReading;

/* (transfer full) With an index it waits for news, as long as the registry lets it. */
RegistryReport *registry_read(RegistryReading *self, GError **error);
const char *queue_perm_to_text(gint32 perm); /* "rw", "r", "w" or "-" */
