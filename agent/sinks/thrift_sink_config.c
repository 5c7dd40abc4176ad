/* thrift_sink_config.c - option rows of the Thrift sink, and which go together. */
#include "agent/sinks/thrift_metrics.h"
#include "agent/sinks/thrift_sink_private.h"
#include "client/discovery/discovery_settings.h"

const OptionSpec thrift_sink_options[] = {
    { .name = "hosts",
      OPTION_AT(ENDPOINTS, ThriftSink, hosts),
      .example = "[\"collector1:4141\", \"collector2:4141\"]",
      .shown = TRUE,
      .help = "Addresses of Thrift sources that the events go to; with discovery, those to begin "
              "with." },
    { .name = "discovery",
      OPTION_AT(ROWS, ThriftSink, discovery),
      .rows = discovery_rows,
      .row_size = sizeof(DiscoveryRow),
      .example = "{ type: nsqlookupd, http-addresses: [\"registry1:4161\"], topic: collectors }",
      .help = "Registries that know the hosts, which then come and go while the agent runs; "
              "beside hosts, or in their place." },
    { .name = "client",
      OPTION_AT(CHOICE, ThriftSink, client),
      .choices = rpc_client_kind_names,
      .fallback_text = "single with one host, failover with several, load-balance with discovery",
      .example = "failover",
      .help = "Failover stays with a host until it fails and then goes on to the next one; "
              "load-balance shares the batches among all hosts." },
    { .name = "protocol",
      OPTION_AT(CHOICE, ThriftSink, protocol),
      .fallback = "compact",
      .choices = rpc_protocol_names,
      .help = "Thrift protocol that the hosts speak." },
    { .name = "connections",
      OPTION_AT(COUNT, ThriftSink, connections),
      .fallback = "1",
      .min = 1,
      .max = 64,
      .help = "Connections to each host; with more than one, batches overtake one another." },
    { .name = "in-flight",
      OPTION_AT(COUNT, ThriftSink, in_flight),
      .fallback = "1",
      .min = 1,
      .max = RPC_MAX_IN_FLIGHT,
      .help = "Batches sent on a connection before the first is answered; more is faster over long "
              "distances, and more is sent twice when a connection breaks." },
    { .name = "max-attempts",
      OPTION_AT(COUNT, ThriftSink, max_attempts),
      .fallback = "0",
      .max = 1000000,
      .help = "Hosts that failover tries before it backs off; 0 is all of them." },
    { .name = "host-selector",
      OPTION_AT(CHOICE, ThriftSink, host_selector),
      .fallback = "round-robin",
      .choices = rpc_host_selector_names,
      .help = "Which host the next batch goes to under load-balance." },
    { .name = "host-backoff",
      OPTION_AT(BOOL, ThriftSink, host_backoff),
      .fallback = "true",
      .help =
          "Try hosts that failed lately after the others; load-balance asks them with a batch of "
          "no events whether they are back." },
    { .name = "max-host-backoff",
      OPTION_AT(DURATION, ThriftSink, max_host_backoff_us),
      .fallback = "30s",
      .min = 1000,
      .help = "A host that failed comes last for 1 s, then for 2 s, and so on, but for no longer "
              "than this." },
    { .name = "connect-timeout",
      OPTION_AT(DURATION, ThriftSink, connect_timeout_us),
      .fallback = "20s",
      .min = 1000,
      .help = "Give up a host that cannot be resolved and connected to within this time." },
    { .name = "request-timeout",
      OPTION_AT(DURATION, ThriftSink, request_timeout_us),
      .fallback = "20s",
      .min = 1000,
      .help = "Give up a host that has not answered a batch within this time; of several, one "
              "that freezes holds up the sink for so long, once." },
    { .name = "reset-connection-interval",
      OPTION_AT(DURATION, ThriftSink, reset_connection_interval_us),
      .fallback = "0s",
      .min = 1000,
      .zero_ok = TRUE,
      .help =
          "Connect anew after this time, between batches, to spread over hosts behind one name; "
          "0 is never." },
    { 0 },
};

static void
check_client(const ThriftSink *self, Problems *problems)
{
    const Component *component = &self->base.base;
    guint n_hosts = self->hosts == NULL ? 0 : self->hosts->len;

    if (component_has_problem(component, problems, "client"))
        return;
    if (self->client == RPC_SINGLE && self->discovery != NULL)
        component_problem(component, problems, "client",
                          "single has one host, discovery finds any number of them; write failover "
                          "or load-balance");
    else if (self->client == RPC_SINGLE && n_hosts > 1)
        component_problem(component, problems, "client",
                          "single has one host, not %u; write failover or load-balance", n_hosts);
    else if (self->client == RPC_LOAD_BALANCE && n_hosts == 1 && self->discovery == NULL)
        component_problem(component, problems, "client",
                          "load-balance needs two hosts or more; add hosts or write single");
}

static void
check_discovery(const ThriftSink *self, const YamlNode *node, Problems *problems)
{
    const Component *component = &self->base.base;
    g_autofree char *path = g_strdup_printf("%s.discovery", component->path);

    if (self->discovery->len == 0)
        component_problem(component, problems, "discovery",
                          "the list is empty; write at least one");
    discovery_rows_check(self->discovery, node, path, problems);
}

/* FALSE: there is a problem with how they are written. */
static gboolean
check_hosts(const ThriftSink *self, Problems *problems)
{
    const Component *component = &self->base.base;
    const YamlNode *hosts = yaml_node_get(component->node, "hosts");
    const YamlNode *discovery = yaml_node_get(component->node, "discovery");

    if (self->discovery != NULL)
        check_discovery(self, discovery, problems);
    else if (hosts == NULL && discovery == NULL)
        problems_add(problems, component->node, component->path,
                     "the option 'hosts' is missing; add 'hosts: [\"collector1:4141\", "
                     "\"collector2:4141\"]', or discovery");
    else if (self->hosts != NULL && self->hosts->len == 0)
        component_problem(component, problems, "hosts", "the list is empty; write at least one");
    return (self->hosts != NULL || self->discovery != NULL) &&
           (hosts == NULL || self->hosts != NULL) && (discovery == NULL || self->discovery != NULL);
}

static RpcClientKind
usual_client(const ThriftSink *self)
{
    if (self->discovery != NULL)
        return RPC_LOAD_BALANCE;
    return self->hosts->len > 1 ? RPC_FAILOVER : RPC_SINGLE;
}

void
thrift_sink_configure(Component *component, Problems *problems)
{
    ThriftSink *self = (ThriftSink *) component;
    gboolean has_hosts = check_hosts(self, problems);

    self->known = thrift_hosts_new(component, THRIFT_SINK_HOST_FAILURES, self->hosts,
                                   self->discovery != NULL);
    if (!has_hosts)
        return;
    if (yaml_node_get(component->node, "client") == NULL)
        self->client = usual_client(self);
    check_client(self, problems);
    self->findings.n_hosts = self->hosts == NULL ? 0 : (gint) self->hosts->len;
    metric_set(component->part_metrics, THRIFT_SINK_HOSTS, (guint64) self->findings.n_hosts);
}
