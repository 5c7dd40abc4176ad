/* rpc_settings.h - the options of an RpcClient as people write them, for those who have no
 * configuration file. */
#pragma once

#include <glib.h>

#include "base/option.h"
#include "client/rpc_client.h"

typedef struct {
    GPtrArray *hosts; /* Endpoint, owned; NULL: none were set */
    guint client;     /* RpcClientKind, once it was set */
    gboolean has_client;
    guint protocol; /* WireProtocol */
    guint64 batch_size;
    guint64 connections;
    guint64 in_flight;
    guint64 max_attempts;
    guint host_selector;
    gboolean backoff;
    gint64 max_backoff_us;
    gint64 connect_timeout_us;
    gint64 request_timeout_us;
    gint64 call_timeout_us; /* not of the RpcClient, which is told with each call */
    gint64 reset_connection_interval_us;
} RpcSettings;

/* Name, kind and limits of each; defaults are those of rpc_settings_init. */
extern const OptionSpec rpc_settings_rows[];

void rpc_settings_init(RpcSettings *self);
void rpc_settings_clear(RpcSettings *self);
/* Hosts are separated by commas or blanks. FALSE with RPC_ERROR_CONFIGURATION: the message says
 * what is wrong with the value, or with the name, and does not begin with the name. */
gboolean rpc_settings_set(RpcSettings *self, const char *name, const char *value, GError **error);
/* Borrowed. Without a client that was set: single for one host, failover for several. */
void rpc_settings_to_options(const RpcSettings *self, RpcClientOptions *ret_options);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RpcSettings, rpc_settings_clear)
