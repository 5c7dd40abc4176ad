/* kv_table.h - tables of texts: the KV configuration of a name server, in answers and in its file.
 *
 * A table is a GHashTable of char *, keys in order of bytes when written. */
#pragma once

#include <glib.h>

#include "base/span.h"

GHashTable *kv_table_new(void);
/* {"table":{"k":"v"}} (transfer full) */
GString *kv_table_encode(GHashTable *table);

/* Namespaces: char * to tables. */
GHashTable *kv_config_new(void);
/* {"configTable":{"ns":{"k":"v"}}}, the original's file. (transfer full) */
GString *kv_config_encode(GHashTable *config);
GHashTable *kv_config_decode(ByteSpan json, GError **error);
