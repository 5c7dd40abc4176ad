/* rpc_settings.c - one text after the other becomes an option of an RpcClient. */
#include "client/rpc_settings.h"

#include <string.h>

#include "base/option_value.h"
#include "base/suggestion.h"

#define MS 1000 /* in us */

const OptionSpec rpc_settings_rows[] = {
    { .name = "hosts", OPTION_AT(ENDPOINTS, RpcSettings, hosts) },
    { .name = "client", OPTION_AT(CHOICE, RpcSettings, client), .choices = rpc_client_kind_names },
    { .name = "protocol", OPTION_AT(CHOICE, RpcSettings, protocol), .choices = rpc_protocol_names },
    { .name = "batch-size", OPTION_AT(COUNT, RpcSettings, batch_size), .min = 1, .max = 1000000 },
    { .name = "connections", OPTION_AT(COUNT, RpcSettings, connections), .min = 1, .max = 1000 },
    { .name = "in-flight",
      OPTION_AT(COUNT, RpcSettings, in_flight),
      .min = 1,
      .max = RPC_MAX_IN_FLIGHT },
    { .name = "max-attempts", OPTION_AT(COUNT, RpcSettings, max_attempts), .max = 1000000 },
    { .name = "host-selector",
      OPTION_AT(CHOICE, RpcSettings, host_selector),
      .choices = rpc_host_selector_names },
    { .name = "backoff", OPTION_AT(BOOL, RpcSettings, backoff) },
    { .name = "max-backoff", OPTION_AT(DURATION, RpcSettings, max_backoff_us), .min = MS },
    { .name = "connect-timeout", OPTION_AT(DURATION, RpcSettings, connect_timeout_us), .min = MS },
    { .name = "request-timeout", OPTION_AT(DURATION, RpcSettings, request_timeout_us), .min = MS },
    { .name = "call-timeout", OPTION_AT(DURATION, RpcSettings, call_timeout_us), .min = MS },
    { .name = "reset-connection-interval",
      OPTION_AT(DURATION, RpcSettings, reset_connection_interval_us),
      .min = MS,
      .zero_ok = TRUE },
    { 0 },
};

void
rpc_settings_init(RpcSettings *self)
{
    RpcClientOptions defaults;

    rpc_client_options_init(&defaults);
    *self = (RpcSettings){
        .protocol = defaults.protocol,
        .batch_size = defaults.batch_size,
        .connections = defaults.connections,
        .in_flight = defaults.in_flight,
        .max_attempts = defaults.max_attempts,
        .host_selector = defaults.host_selector,
        .backoff = defaults.backoff,
        .max_backoff_us = defaults.max_backoff_us,
        .connect_timeout_us = defaults.connect_timeout_us,
        .request_timeout_us = defaults.request_timeout_us,
        .call_timeout_us = 60 * G_USEC_PER_SEC,
        .reset_connection_interval_us = defaults.reset_connection_interval_us,
    };
}

void
rpc_settings_clear(RpcSettings *self)
{
    g_clear_pointer(&self->hosts, g_ptr_array_unref);
}

/* ---- setting ---- */

static gboolean
refuse(GError **error, const char *what)
{
    g_set_error_literal(error, RPC_ERROR, RPC_ERROR_CONFIGURATION, what);
    return FALSE;
}

static const OptionSpec *
find_row(const char *name)
{
    for (const OptionSpec *row = rpc_settings_rows; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static gboolean
refuse_name(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(rpc_settings_rows)] = { NULL };
    g_autofree char *hint = NULL;
    g_autofree char *what = NULL;

    for (guint i = 0; rpc_settings_rows[i].name != NULL; i++)
        names[i] = rpc_settings_rows[i].name;
    hint = suggestion_for(name, names, "options");
    what = g_strdup_printf("there is no such option; %s", hint);
    return refuse(error, what);
}

static void
free_endpoint(gpointer endpoint)
{
    endpoint_free(endpoint);
}

static GPtrArray *
parse_hosts(const char *value, Problems *problems)
{
    g_autoptr(GPtrArray) hosts = g_ptr_array_new_with_free_func(free_endpoint);
    g_auto(GStrv) words = g_strsplit_set(value, ", \t\r\n", -1);

    for (guint i = 0; words[i] != NULL; i++) {
        const YamlNode word = { .text = words[i] };
        Endpoint *host;

        if (*words[i] == '\0')
            continue;
        host = option_value_parse_endpoint(&word, "", problems);
        if (host == NULL)
            return NULL;
        g_ptr_array_add(hosts, host);
    }
    if (hosts->len > 0)
        return g_steal_pointer(&hosts);
    problems_add(problems, NULL, "", "there are none; write host:port, such as hub1:4141");
    return NULL;
}

static gboolean
set_hosts(RpcSettings *self, const char *value, Problems *problems)
{
    GPtrArray *hosts = parse_hosts(value, problems);

    if (hosts == NULL)
        return FALSE;
    rpc_settings_clear(self);
    self->hosts = hosts;
    return TRUE;
}

static gboolean
set_value(RpcSettings *self, const OptionSpec *row, const char *value, Problems *problems)
{
    g_autofree char *text = g_strdup(value);
    const YamlNode scalar = { .text = text };

    if (row->kind == OPTION_ENDPOINTS)
        return set_hosts(self, value, problems);
    if (!option_value_parse(row, &scalar, G_STRUCT_MEMBER_P(self, row->offset), "", problems))
        return FALSE;
    if (row->choices == rpc_client_kind_names)
        self->has_client = TRUE;
    return TRUE;
}

gboolean
rpc_settings_set(RpcSettings *self, const char *name, const char *value, GError **error)
{
    const OptionSpec *row = find_row(name);
    g_autoptr(Problems) problems = NULL;
    g_autofree char *what = NULL;

    if (row == NULL)
        return refuse_name(name, error);
    problems = problems_new(name);
    if (set_value(self, row, value, problems))
        return TRUE;
    what = problems_to_text(problems);
    /* "NAME: what is wrong\n" */
    return refuse(error, g_strchomp(what) + strlen(name) + 2);
}

void
rpc_settings_to_options(const RpcSettings *self, RpcClientOptions *ret_options)
{
    gboolean is_alone = self->hosts != NULL && self->hosts->len == 1;

    *ret_options = (RpcClientOptions){
        .kind = self->has_client ? self->client
                : is_alone       ? RPC_SINGLE
                                 : RPC_FAILOVER,
        .hosts = self->hosts,
        .protocol = self->protocol,
        .batch_size = (guint) self->batch_size,
        .connections = (guint) self->connections,
        .in_flight = (guint) self->in_flight,
        .max_attempts = (guint) self->max_attempts,
        .host_selector = self->host_selector,
        .backoff = self->backoff,
        .max_backoff_us = self->max_backoff_us,
        .connect_timeout_us = self->connect_timeout_us,
        .request_timeout_us = self->request_timeout_us,
        .reset_connection_interval_us = self->reset_connection_interval_us,
    };
}
