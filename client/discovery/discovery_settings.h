/* discovery_settings.h - how people write where hosts are to be found: in a configuration, or as
 * one word on a command line. */
#pragma once

#include <glib.h>

#include "base/option.h"
#include "client/discovery/discovery.h"

/* Registries of one kind. */
typedef struct {
    guint kind;                /* RegistryKind */
    GPtrArray *http_addresses; /* Endpoint *, of nsqlookupd */
    GPtrArray *addresses;      /* Endpoint *, of namesrv */
    char *topic;
    gint64 poll_interval_us; /* 0: that of the kind */
    double jitter;
    char *name_space;
} DiscoveryRow;

extern const OptionSpec discovery_rows[];

/* What the rows cannot express. node is the list, or the one mapping, and path its name. */
void discovery_rows_check(const GPtrArray *rows, const YamlNode *node, const char *path,
                          Problems *problems);
/* (transfer full) Starts to look. NULL: no thread can be started. */
Discovery *discovery_rows_begin(const GPtrArray *rows, const DiscoveryEvents *events, gpointer user,
                                GError **error);

/* "nsqlookupd://HOST:PORT,HOST:PORT/TOPIC", all else as by default. (transfer full) a list of one
 * for discovery_rows_free; NULL with a sentence of what is wrong with it. */
GPtrArray *discovery_rows_parse(const char *text, GError **error);
void discovery_rows_free(GPtrArray *rows);
