/* namesrv_properties.h - the settings of a name server as RocketMQ's own properties. */
#pragma once

#include <glib.h>

#include "registry/namesrv_settings.h"

typedef enum { PROPERTIES_UPDATED, PROPERTIES_FORBIDDEN, PROPERTIES_UNREADABLE } PropertiesUpdate;

/* key=value, a line each, sorted; the port is the one that it has, if it has one by now. (transfer
 * full) */
GString *namesrv_properties_write(const NamesrvSettings *settings, guint16 port);
/* All or nothing: those that may change while it runs, until it ends. Others are ignored, but for
 * those that may never be set from afar. */
PropertiesUpdate namesrv_properties_update(NamesrvSettings *settings, const char *text);

/* ---- a file of them ---- */

/* Called for each key of the section namesrv that the file sets. */
typedef void (*PropertiesOption)(const char *key, const char *value, gpointer user);
/* Called for each that has no effect here. */
typedef void (*PropertiesIgnored)(const char *property, gpointer user);

/* FALSE, with the line: it cannot be read. */
gboolean namesrv_properties_read(const char *text, PropertiesOption option,
                                 PropertiesIgnored ignored, gpointer user, int *ret_line);
