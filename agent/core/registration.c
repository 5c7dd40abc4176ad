/* registration.c - which address of a source is told to registries, and whether it can be right. */
#include "agent/core/registration.h"

#include <gio/gio.h>
#include <string.h>

G_DEFINE_QUARK(leat_registration_error, registration_error)

const OptionSpec registration_options[] = {
    { .name = "source",
      OPTION_AT(STRING, Registration, source_name),
      .fallback_text = "the only source that listens",
      .example = "thrift",
      .help = "Source that is announced." },
    { .name = "advertise",
      OPTION_AT(STRING, Registration, advertise),
      .fallback_text = "where the source listens",
      .example = "collector1.example:4141",
      .help = "Address at which others reach the source: host or host:port. Of a source that "
              "listens on every interface a registry is told the address by which the registry "
              "itself is reached; one on another machine is never told a loopback address." },
    { .name = "namespace",
      OPTION_AT(STRING, Registration, name_space),
      .fallback = "",
      .help = "Put before the names of topics, so that several may share a registry." },
    { 0 },
};

const MetricSpec registration_metrics[N_REGISTRATION_METRICS + 1] = {
    [REGISTRATION_REGISTERED] = { .name = "leat_registration_registered",
                                  .kind = METRIC_GAUGE,
                                  .help = "Whether the registry knows the source: 1 or 0.",
                                  .label = "peer" },
    [REGISTRATION_HEARTBEATS] = { .name = "leat_registration_heartbeats_total",
                                  .kind = METRIC_COUNTER,
                                  .help = "Heartbeats that the registry has answered.",
                                  .label = "peer" },
    [REGISTRATION_FAILURES] = { .name = "leat_registration_failures_total",
                                .kind = METRIC_COUNTER,
                                .help = "Attempts to register that failed, and registrations that "
                                        "were lost.",
                                .label = "peer" },
};

/* ---- hosts ---- */

static gboolean
is_wildcard(const char *host)
{
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);

    return *host == '\0' || (address != NULL && g_inet_address_get_is_any(address));
}

static gboolean
is_loopback(const char *host)
{
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);

    return address != NULL ? g_inet_address_get_is_loopback(address)
                           : g_ascii_strcasecmp(host, "localhost") == 0;
}

/* As far as the name tells: a name may be anybody's. */
static gboolean
is_surely_remote(const char *host)
{
    return g_hostname_is_ip_address(host) && !is_loopback(host) && !is_wildcard(host);
}

/* ---- what is told ---- */

/* Where the source itself listens; NULL: everywhere. */
static const char *
host_of_source(const Registration *self)
{
    const Endpoint *address = source_type(self->source)->listens_on(self->source);

    return address == NULL || is_wildcard(address->host) ? NULL : address->host;
}

/* Without a look at where the registry is; NULL: at the address by which that is reached. */
static const char *
host_to_announce(const Registration *self)
{
    if (self->advertised != NULL)
        return self->advertised->host;
    return host_of_source(self);
}

static gboolean
check_reach(const Registration *self, const char *host, const char *registry_host, GError **error)
{
    if (!is_loopback(host) || is_loopback(registry_host))
        return TRUE;
    if (self->advertised != NULL)
        g_set_error(error, REGISTRATION_ERROR, REGISTRATION_ERROR_UNREACHABLE,
                    "nobody who asks the registry at %s would get here by '%s'; write an address "
                    "that others reach",
                    registry_host, host);
    else
        g_set_error(error, REGISTRATION_ERROR, REGISTRATION_ERROR_UNREACHABLE,
                    "source '%s' listens on '%s' alone, where nobody who asks the registry at %s "
                    "would reach it; let it listen on another address, or write `advertise`",
                    self->source->base.name, host, registry_host);
    return FALSE;
}

static GSocketFamily
family_of(const char *host)
{
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);

    return address != NULL ? g_inet_address_get_family(address) : G_SOCKET_FAMILY_INVALID;
}

/* A source that listens on every interface of one family is not where the other one's address
 * leads to. */
static gboolean
check_family(const Registration *self, const char *local_host, GError **error)
{
    const Endpoint *address = source_type(self->source)->listens_on(self->source);

    if (*address->host == '\0' || family_of(address->host) == family_of(local_host))
        return TRUE;
    g_set_error(error, REGISTRATION_ERROR, REGISTRATION_ERROR_UNREACHABLE,
                "the registry is reached by '%s', where source '%s' does not listen; let it listen "
                "on \":%u\", which is both families, or write `advertise`",
                local_host, self->source->base.name, address->port);
    return FALSE;
}

gboolean
registration_announce(const Registration *self, const char *local_host, const char *registry_host,
                      guint16 http_port, Announced *ret_announced, GError **error)
{
    const char *host = host_to_announce(self);
    guint16 port = self->advertised != NULL ? self->advertised->port : 0;

    if (host == NULL && !check_family(self, local_host, error))
        return FALSE;
    if (host == NULL)
        host = local_host;
    if (!check_reach(self, host, registry_host, error))
        return FALSE;
    if (port == 0)
        port = source_type(self->source)->bound_to(self->source)->port;
    *ret_announced = (Announced){
        .host = g_strdup(host),
        .port = port,
        .http_port = http_port != 0 ? http_port : port,
    };
    return TRUE;
}

void
announced_clear(Announced *self)
{
    g_clear_pointer(&self->host, g_free);
}

/* ---- checks before anything is opened ---- */

static Endpoint *
parse_with_port(const char *text, GError **error)
{
    g_autoptr(Endpoint) endpoint = endpoint_parse(text, error);

    if (endpoint == NULL || endpoint->port != 0)
        return g_steal_pointer(&endpoint);
    g_set_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_SYNTAX,
                "'%s' has port 0, which nobody can connect to; write the port that others reach, "
                "or the host alone",
                text);
    return NULL;
}

/* "host", "host:port", "2001:db8::1", "[2001:db8::1]:4141". Port 0: none was written. */
static Endpoint *
parse_advertise(const char *text, GError **error)
{
    g_autofree char *with_port = g_strconcat(text, ":0", NULL);
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);
    Endpoint *endpoint;

    if (address != NULL && g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6)
        return endpoint_new(text, 0);
    if (strchr(text, ':') != NULL && !g_str_has_suffix(text, "]"))
        return parse_with_port(text, error);
    endpoint = endpoint_parse(with_port, NULL);
    if (endpoint != NULL)
        return endpoint;
    g_set_error(error, ENDPOINT_ERROR, ENDPOINT_ERROR_SYNTAX,
                "'%s' is no address; write host or host:port", text);
    return NULL;
}

static void
read_advertise(Registration *self, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Endpoint) endpoint = NULL;

    if (self->advertise == NULL)
        return;
    endpoint = parse_advertise(self->advertise, &error);
    if (error != NULL)
        component_problem(&self->base, problems, "advertise", "%s", error->message);
    else if (is_wildcard(endpoint->host))
        component_problem(&self->base, problems, "advertise",
                          "'%s' is no address that others reach; write one of this machine, or "
                          "leave it out",
                          self->advertise);
    else
        self->advertised = g_steal_pointer(&endpoint);
}

static void
check_addresses(const Registration *self, const GPtrArray *addresses, Problems *problems)
{
    const char *host;

    if (self->source == NULL || (self->advertise != NULL && self->advertised == NULL))
        return; /* which is a problem already */
    host = host_to_announce(self);
    for (guint i = 0; host != NULL && i < addresses->len; i++) {
        const Endpoint *registry = g_ptr_array_index(addresses, i);
        g_autoptr(GError) error = NULL;

        if (!is_surely_remote(registry->host) || check_reach(self, host, registry->host, &error))
            continue;
        component_problem(&self->base, problems, "advertise", "%s", error->message);
        return;
    }
}

/* Two connections would take turns at one registration. */
static void
check_addresses_differ(const Registration *self, const char *option, const GPtrArray *addresses,
                       Problems *problems)
{
    const Endpoint *twice = endpoints_find_twice(addresses);
    g_autofree char *name = twice != NULL ? endpoint_to_text(twice) : NULL;

    if (twice != NULL)
        component_problem(&self->base, problems, option, "'%s' is there twice; name it once", name);
}

static void
name_peers(Registration *self, const GPtrArray *addresses)
{
    g_auto(GStrv) labels = g_new0(char *, REGISTRATION_PEERS + 2);

    for (guint i = 0; i < MIN(addresses->len, REGISTRATION_PEERS + 1); i++)
        labels[i] = i < REGISTRATION_PEERS ? endpoint_to_text(g_ptr_array_index(addresses, i))
                                           : g_strdup("others");
    component_set_metric_values(&self->base, (const char *const *) labels);
}

void
registration_configure(Registration *self, const char *option, Problems *problems)
{
    const GPtrArray *addresses = registration_type(self)->addresses(self);

    read_advertise(self, problems);
    if (addresses == NULL)
        return; /* which is a problem already */
    check_addresses_differ(self, option, addresses, problems);
    check_addresses(self, addresses, problems);
    name_peers(self, addresses);
}

void
registration_finalize(Registration *self)
{
    g_clear_pointer(&self->advertised, endpoint_free);
}
