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

/* Who reads one, and hears of each property in turn; of listenPort with bindAddress, and of
 * needWaitForService with its seconds, at the end. */
typedef struct {
    /* A key of the section namesrv, and the property that it comes from. */
    void (*option)(const char *key, const char *value, const char *property, int line,
                   gpointer user);
    /* Without effect, or not the one that may be meant; why is a sentence without its subject. */
    void (*odd)(const char *property, const char *why, int line, gpointer user);
    /* Wrong, with a remedy. */
    void (*wrong)(const char *property, const char *what, int line, gpointer user);
    gpointer user;
} PropertiesReader;

/* FALSE, with the line: it cannot be read. */
gboolean namesrv_properties_read(const char *text, const PropertiesReader *reader, int *ret_line);
