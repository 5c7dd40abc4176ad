/* namesrv_settings.h - what the RocketMQ half of the registry is told to do. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"

/* The one that this one stands for. */
#define NAMESRV_VERSION "5.3.3"

typedef struct {
    Endpoint *listen;
    char *kv_config_path;
    gint64 scan_us;
    gint64 idle_us;
    gint64 wait_for_service_us;
    gboolean acting_master;
    gboolean drop_topics;
    gboolean order_topics;
    gboolean tell_order_topics;
    gboolean list_all_topics;
    gboolean list_topics;
    gboolean remote_config;
    guint64 max_connections;
    guint64 max_registrations;
    guint64 max_frame;
    guint64 receive_memory;
} NamesrvSettings;
