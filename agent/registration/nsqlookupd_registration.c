/* nsqlookupd_registration.c - announces a source as NSQ's nsqd announces itself at nsqlookupd. */
#include "config.h"

#include "agent/core/registration.h"
#include "registry/wire/nsq_name.h"
#include "registry/wire/nsq_request.h"
#include "registry/wire/topic_namespace.h"

typedef struct {
    Registration base;
    GPtrArray *tcp_addresses; /* Endpoint * */
    char *topic;

    char *full_topic; /* with the namespace */
} NsqlookupdRegistration;

static const OptionSpec nsqlookupd_options[] = {
    { .name = "tcp-addresses",
      OPTION_AT(ENDPOINTS, NsqlookupdRegistration, tcp_addresses),
      .required = TRUE,
      .example = "[\"registry1:4160\", \"registry2:4160\"]",
      .help = "TCP addresses of all registries; the source is announced at each of them." },
    { .name = "topic",
      OPTION_AT(STRING, NsqlookupdRegistration, topic),
      .required = TRUE,
      .example = "collectors",
      .help = "Topic for which the source is found: up to 64 letters, digits, '.', '_' and '-'." },
    { .name = "heartbeat",
      OPTION_AT(DURATION, NsqlookupdRegistration, base.heartbeat_us),
      .fallback = "15s",
      .min = G_USEC_PER_SEC,
      .max = 60 * G_USEC_PER_SEC,
      .help = "How often a registry is told that the source is still there." },
    { 0 },
};

static const NsqVerb verbs[] = {
    [ANNOUNCE_HELLO] = NSQ_IDENTIFY,
    [ANNOUNCE_JOIN] = NSQ_REGISTER,
    [ANNOUNCE_HEARTBEAT] = NSQ_PING,
    [ANNOUNCE_LEAVE] = NSQ_UNREGISTER,
};

static const GPtrArray *
nsqlookupd_addresses(const Registration *registration)
{
    return ((const NsqlookupdRegistration *) registration)->tcp_addresses;
}

static char *
nsqlookupd_identity(const Registration *registration)
{
    const NsqlookupdRegistration *self = (const NsqlookupdRegistration *) registration;
    const char *advertise = registration->advertise;

    if (self->full_topic == NULL || registration->source == NULL)
        return NULL;
    return g_strdup_printf("source '%s'%s%s for topic '%s'", registration->source->base.name,
                           advertise != NULL ? " as " : "", advertise != NULL ? advertise : "",
                           self->full_topic);
}

static void
identify(const Announced *as, GByteArray *out)
{
    const NsqIntroduction node = {
        .broadcast_address = as->host,
        .hostname = g_get_host_name(),
        .tcp_port = as->port,
        .http_port = as->http_port,
        .version = PACKAGE_VERSION,
    };

    nsq_request_append_identify(out, &node);
}

static void
nsqlookupd_ask(const Registration *registration, AnnounceStep step, const Announced *as,
               gint32 serial G_GNUC_UNUSED, GByteArray *out)
{
    const NsqlookupdRegistration *self = (const NsqlookupdRegistration *) registration;

    switch (step) {
    case ANNOUNCE_HELLO:
        identify(as, out);
        break;
    case ANNOUNCE_JOIN:
        nsq_request_append_register(out, self->full_topic);
        break;
    case ANNOUNCE_HEARTBEAT:
        nsq_request_append_ping(out);
        break;
    case ANNOUNCE_LEAVE:
        nsq_request_append_unregister(out, self->full_topic);
        break;
    }
}

static gboolean
nsqlookupd_take_answer(const Registration *registration G_GNUC_UNUSED, AnnounceStep step,
                       gint32 serial G_GNUC_UNUSED, ByteSpan *input, GError **error)
{
    ByteSpan payload;

    return nsq_answer_take(input, &payload, error) && nsq_answer_check(verbs[step], payload, error);
}

static void
nsqlookupd_configure(Component *component, Problems *problems)
{
    NsqlookupdRegistration *self = (NsqlookupdRegistration *) component;

    registration_configure(&self->base, "tcp-addresses", problems);
    if (self->topic == NULL)
        return;
    self->full_topic = nsq_topic_in_namespace(self->base.name_space, self->topic);
    if (!nsq_name_is_valid(byte_span_of_text(self->full_topic)))
        component_problem(component, problems, "topic",
                          "'%s' is no name of a topic; use up to %d letters, digits, '.', '_' and "
                          "'-'",
                          self->full_topic, NSQ_NAME_MAX);
}

static void
nsqlookupd_finalize(Component *component)
{
    NsqlookupdRegistration *self = (NsqlookupdRegistration *) component;

    g_free(self->full_topic);
    registration_finalize(&self->base);
}

const RegistrationType nsqlookupd_registration = {
    .base = {
        .name = "nsqlookupd",
        .summary = "Announces a source at leat-registry, or at NSQ's nsqlookupd.",
        .instance_size = sizeof(NsqlookupdRegistration),
        .options = nsqlookupd_options,
        .metrics = registration_metrics,
        .configure = nsqlookupd_configure,
        .finalize = nsqlookupd_finalize,
    },
    .first = ANNOUNCE_HELLO,
    .hint = "is that the TCP port of an nsqlookupd? it is 4160 unless it was told another, and "
            "4161 is for HTTP",
    .addresses = nsqlookupd_addresses,
    .identity = nsqlookupd_identity,
    .ask = nsqlookupd_ask,
    .take_answer = nsqlookupd_take_answer,
};
