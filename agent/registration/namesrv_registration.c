/* namesrv_registration.c - announces a source as a RocketMQ broker announces itself at namesrv. */
#include <string.h>

#include "agent/core/registration.h"
#include "base/clock.h"
#include "registry/wire/broker_registration.h"
#include "registry/wire/namesrv_codes.h"
#include "registry/wire/topic_namespace.h"

#define ANSWER_MAX (1024 * 1024)
#define NAME_LETTERS G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-%|." /* host names have dots */
#define BEATS_TO_DEATH 3
#define CATCH_ALL_TOPIC "TBW102"

typedef struct {
    char *name;
    guint64 read_queues;
    guint64 write_queues;
    guint perm; /* index in perm_names */
} TopicRow;

typedef struct {
    Registration base;
    GPtrArray *addresses; /* Endpoint * */
    char *cluster;
    char *broker;
    guint64 broker_id;
    GPtrArray *topics; /* TopicRow * */
    gint64 heartbeat_timeout_us;

    BrokerRegistration *told; /* all of it but the addresses */
} NamesrvRegistration;

static const char *const perm_names[] = { "rw", "r", "w", "none", NULL };
static const gint32 perm_bits[] = { QUEUE_PERM_READ | QUEUE_PERM_WRITE, QUEUE_PERM_READ,
                                    QUEUE_PERM_WRITE, 0 };

static const OptionSpec topic_rows[] = {
    { .name = "name",
      OPTION_AT(STRING, TopicRow, name),
      .required = TRUE,
      .example = "logs",
      .help = "Topic for which the source is found: up to 127 letters, digits, '_' and '-'." },
    { .name = "read-queues",
      OPTION_AT(COUNT, TopicRow, read_queues),
      .fallback = "4",
      .max = G_MAXINT16,
      .help =
          "Queues that consumers of RocketMQ would read; clients of leat do not look at them." },
    { .name = "write-queues",
      OPTION_AT(COUNT, TopicRow, write_queues),
      .fallback = "4",
      .max = G_MAXINT16,
      .help = "Share of the load that clients give to this source, beside those of others." },
    { .name = "perm",
      OPTION_AT(CHOICE, TopicRow, perm),
      .fallback = "rw",
      .choices = perm_names,
      .help = "What the topic is for; without w clients send nothing new." },
    { 0 },
};

static const OptionSpec namesrv_options[] = {
    { .name = "addresses",
      OPTION_AT(ENDPOINTS, NamesrvRegistration, addresses),
      .required = TRUE,
      .example = "[\"registry1:9876\", \"registry2:9876\"]",
      .help = "Addresses of all name servers; the source is announced at each of them." },
    { .name = "cluster",
      OPTION_AT(STRING, NamesrvRegistration, cluster),
      .fallback = "DefaultCluster",
      .help = "Cluster that the source is listed in." },
    { .name = "broker",
      OPTION_AT(STRING, NamesrvRegistration, broker),
      .fallback_text = "the name of the agent",
      .example = "collector-1",
      .help = "Name of the source in the cluster; another source needs another one, but for a "
              "substitute, which has the same and a broker-id above 0." },
    { .name = "broker-id",
      OPTION_AT(COUNT, NamesrvRegistration, broker_id),
      .fallback = "0",
      .max = G_MAXINT32,
      .help =
          "0 is who gets the events; others of the same broker name get them while it is away." },
    { .name = "topics",
      OPTION_AT(ROWS, NamesrvRegistration, topics),
      .rows = topic_rows,
      .row_size = sizeof(TopicRow),
      .required = TRUE,
      .example = "[{ name: logs, write-queues: 4 }]",
      .help = "Topics for which the source is found." },
    { .name = "heartbeat",
      OPTION_AT(DURATION, NamesrvRegistration, base.heartbeat_us),
      .fallback = "30s",
      .min = G_USEC_PER_SEC,
      .max = 60 * G_USEC_PER_SEC,
      .help = "How often a name server is told that the source is still there." },
    { .name = "heartbeat-timeout",
      OPTION_AT(DURATION, NamesrvRegistration, heartbeat_timeout_us),
      .fallback_text = "3 heartbeats",
      .example = "90s",
      .min = G_USEC_PER_SEC,
      .max = 60 * 60 * (guint64) G_USEC_PER_SEC,
      .help = "A name server forgets the source when it has heard nothing for so long; namesrv "
              "before 5.0 always waits for 120 s." },
    { 0 },
};

static const GPtrArray *
namesrv_addresses(const Registration *registration)
{
    return ((const NamesrvRegistration *) registration)->addresses;
}

/* Whoever registers for an id takes it from whoever has it. */
static char *
namesrv_identity(const Registration *registration)
{
    const BrokerRegistration *told = ((const NamesrvRegistration *) registration)->told;

    return g_strdup_printf("broker '%s' with id %" G_GINT64_FORMAT, told->broker, told->id);
}

/* ---- requests ---- */

static void
write_registration(const NamesrvRegistration *self, const char *address, RemotingCommand *request)
{
    BrokerRegistration told = *self->told;

    told.address = (char *) address;
    told.ha_address = (char *) address; /* required; no slave of RocketMQ's will ever ask there */
    broker_registration_encode(&told, request);
}

static void
write_farewell(const NamesrvRegistration *self, const char *address, RemotingCommand *request)
{
    remoting_command_set(request, "brokerName", self->told->broker);
    remoting_command_set(request, "brokerAddr", address);
    remoting_command_set(request, "clusterName", self->told->cluster);
    remoting_command_set_int(request, "brokerId", self->told->id);
}

/* A heartbeat is the whole registration: so a name server of any version knows all, whatever it has
 * lost. */
static void
namesrv_ask(const Registration *registration, AnnounceStep step, const Announced *as, gint32 serial,
            GByteArray *out)
{
    const NamesrvRegistration *self = (const NamesrvRegistration *) registration;
    gboolean leaves = step == ANNOUNCE_LEAVE;
    g_autoptr(RemotingCommand) request =
        remoting_command_new(leaves ? NAMESRV_UNREGISTER_BROKER : NAMESRV_REGISTER_BROKER, serial);
    g_autoptr(Endpoint) endpoint = endpoint_new(as->host, as->port);
    g_autofree char *address = endpoint_to_text(endpoint);

    if (leaves)
        write_farewell(self, address, request);
    else
        write_registration(self, address, request);
    remoting_command_encode(request, out);
}

/* ---- answers ---- */

/* The next command of the input. NULL without an error: it is not there whole yet. */
static RemotingCommand *
take_command(ByteSpan *input, GError **error)
{
    RemotingCommand *command;
    gsize needed;

    if (!remoting_frame_needs(*input, ANSWER_MAX, &needed, error)) {
        g_prefix_error(error, "it is no name server: ");
        return NULL;
    }
    if (input->length < needed)
        return NULL;
    command = remoting_command_decode(byte_span(input->data, needed), error);
    *input = byte_span(input->data + needed, input->length - needed);
    return command;
}

static gboolean
check_answer(const RemotingCommand *answer, GError **error)
{
    g_autofree char *remark = remoting_command_remark(answer);

    if (answer->code == REMOTING_SUCCESS)
        return TRUE;
    g_set_error(error, REGISTRATION_ERROR, REGISTRATION_ERROR_REFUSED, "it answers %d: %s",
                answer->code, *remark != '\0' ? remark : "without a reason");
    return FALSE;
}

static gboolean
namesrv_take_answer(const Registration *registration G_GNUC_UNUSED, AnnounceStep step G_GNUC_UNUSED,
                    gint32 serial, ByteSpan *input, GError **error)
{
    for (;;) {
        g_autoptr(RemotingCommand) command = take_command(input, error);

        if (command == NULL)
            return FALSE;
        if (command->is_answer && command->opaque == serial)
            return check_answer(command, error);
    }
}

/* ---- configuration ---- */

static gboolean
has_topic(const NamesrvRegistration *self, const char *name)
{
    for (guint i = 0; i < self->told->topics->len; i++)
        if (strcmp(((const BrokerTopic *) g_ptr_array_index(self->told->topics, i))->name, name) ==
            0)
            return TRUE;
    return FALSE;
}

/* Producers of RocketMQ look it up for topics that have no route. */
static void
check_catch_all(const NamesrvRegistration *self, const TopicRow *row, Problems *problems)
{
    if (strcmp(row->name, CATCH_ALL_TOPIC) == 0 && (perm_bits[row->perm] & QUEUE_PERM_WRITE) != 0)
        component_problem(&self->base.base, problems, "topics",
                          "'" CATCH_ALL_TOPIC "' stands for every topic that has no broker, and "
                          "all of them would come here; name the topics that the source is for");
}

static void
add_topic(NamesrvRegistration *self, const TopicRow *row, Problems *problems)
{
    g_autofree char *name = broker_topic_in_namespace(self->base.name_space, row->name);

    check_catch_all(self, row, problems);
    if (!broker_topic_is_valid(name))
        component_problem(&self->base.base, problems, "topics",
                          "'%s' is no name of a topic; use up to %d letters, digits, '_' and '-'",
                          name, BROKER_TOPIC_MAX);
    else if (has_topic(self, name))
        component_problem(&self->base.base, problems, "topics",
                          "topic '%s' is there twice; name it once", name);
    else
        broker_registration_add_topic(self->told, name, (gint32) row->read_queues,
                                      (gint32) row->write_queues, perm_bits[row->perm]);
}

/* As brokers do; and the original refuses a first registration of a single topic. */
static void
add_own_topic(NamesrvRegistration *self, const char *name)
{
    if (!has_topic(self, name))
        broker_registration_add_topic(self->told, name, 1, 1, QUEUE_PERM_INHERIT);
}

static void
add_topics(NamesrvRegistration *self, Problems *problems)
{
    for (guint i = 0; self->topics != NULL && i < self->topics->len; i++)
        add_topic(self, g_ptr_array_index(self->topics, i), problems);
    add_own_topic(self, self->told->cluster);
    add_own_topic(self, self->told->broker);
    if (self->topics != NULL && self->topics->len == 1 && self->told->topics->len == 1)
        component_problem(&self->base.base, problems, "topics",
                          "the topic, the cluster and the broker have one name; give one of them "
                          "another");
}

static void
check_name(const NamesrvRegistration *self, const char *option, const char *name,
           Problems *problems)
{
    gsize length = strlen(name);

    if (length == 0)
        component_problem(&self->base.base, problems, option,
                          "'' is no name; write one, or leave the option out");
    else if (length > BROKER_TOPIC_MAX || strspn(name, NAME_LETTERS) != length)
        component_problem(&self->base.base, problems, option,
                          "'%s' cannot be the name of a %s; write '%s: ...' with up to %d letters, "
                          "digits, '.', '_' and '-'",
                          name, option, option, BROKER_TOPIC_MAX);
}

static void
read_timeout(NamesrvRegistration *self, Problems *problems)
{
    gint64 timeout_us = self->heartbeat_timeout_us;

    if (timeout_us == 0)
        timeout_us = BEATS_TO_DEATH * self->base.heartbeat_us;
    else if (timeout_us <= self->base.heartbeat_us)
        component_problem(&self->base.base, problems, "heartbeat-timeout",
                          "it is over before the next heartbeat has come; raise it to more than "
                          "one heartbeat, or lower heartbeat");
    self->told->heartbeat_timeout_ms = timeout_us / 1000;
}

static void
namesrv_configure(Component *component, Problems *problems)
{
    NamesrvRegistration *self = (NamesrvRegistration *) component;
    const char *broker = self->broker != NULL ? self->broker : self->base.agent_name;

    registration_configure(&self->base, "addresses", problems);
    self->told = broker_registration_new();
    self->told->cluster = g_strdup(self->cluster);
    self->told->broker = g_strdup(broker != NULL ? broker : "");
    self->told->id = (gint64) self->broker_id;
    self->told->knows_acting_master = TRUE;
    /* The same for as long as the agent runs, so that what is changed at a name server stays. */
    self->told->version = (DataVersion){ .timestamp_ms = clock_wall_us() / 1000, .counter = 1 };
    check_name(self, "cluster", self->told->cluster, problems);
    check_name(self, "broker", self->told->broker, problems);
    read_timeout(self, problems);
    add_topics(self, problems);
}

static void
namesrv_finalize(Component *component)
{
    NamesrvRegistration *self = (NamesrvRegistration *) component;

    g_clear_pointer(&self->told, broker_registration_free);
    registration_finalize(&self->base);
}

const RegistrationType namesrv_registration = {
    .base = {
        .name = "namesrv",
        .summary = "Announces a source at leat-registry, or at RocketMQ's namesrv.",
        .instance_size = sizeof(NamesrvRegistration),
        .options = namesrv_options,
        .metrics = registration_metrics,
        .configure = namesrv_configure,
        .finalize = namesrv_finalize,
    },
    .first = ANNOUNCE_JOIN,
    .hint = "is that a name server of RocketMQ's? its port is 9876 unless it was told another",
    .addresses = namesrv_addresses,
    .identity = namesrv_identity,
    .ask = namesrv_ask,
    .take_answer = namesrv_take_answer,
};
