/* broker_registration_decode.c - what a broker tells of itself, from the fields of its request. */
#include "registry/wire/broker_registration.h"

#include <gio/gio.h>

#include "registry/wire/broker_body.h"

#define MAX_HEARTBEAT_TIMEOUT_MS (365 * 24 * 3600 * G_GINT64_CONSTANT(1000))

static gboolean
refuse(GError **error, const char *what)
{
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, what);
    return FALSE;
}

/* A field that must be there, and more than "". */
static gboolean
take_name(const RemotingCommand *request, const char *field, char **ret_name, GError **error)
{
    const char *name = remoting_command_get(request, field);

    if (name == NULL || *name == '\0') {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s is missing", field);
        return FALSE;
    }
    *ret_name = g_strdup(name);
    return TRUE;
}

static gboolean
take_names(const RemotingCommand *request, BrokerRegistration *self, GError **error)
{
    const char *ha_address = remoting_command_get(request, "haServerAddr");

    self->ha_address = ha_address == NULL || *ha_address == '\0' ? NULL : g_strdup(ha_address);
    self->zone = g_strdup(remoting_command_get(request, "__ZONE_NAME"));
    return take_name(request, "brokerName", &self->broker, error) &&
           take_name(request, "clusterName", &self->cluster, error) &&
           take_name(request, "brokerAddr", &self->address, error);
}

static gboolean
take_numbers(const RemotingCommand *request, BrokerRegistration *self, GError **error)
{
    if (remoting_command_get(request, "brokerId") == NULL)
        return refuse(error, "brokerId is missing");
    self->knows_acting_master = remoting_command_get(request, "enableActingMaster") != NULL;
    self->enable_acting_master = remoting_command_get_bool(request, "enableActingMaster");
    return remoting_command_get_int(request, "brokerId", -1, G_MAXINT64, &self->id, error) &&
           remoting_command_get_int(request, "heartbeatTimeoutMillis", 0, MAX_HEARTBEAT_TIMEOUT_MS,
                                    &self->heartbeat_timeout_ms, error);
}

static gboolean
check_crc(const RemotingCommand *request, GError **error)
{
    gint64 crc = 0;

    if (!remoting_command_get_int(request, "bodyCrc32", G_MININT32, G_MAXINT32, &crc, error))
        return FALSE;
    return crc == 0 || crc == broker_body_crc(request->body) || refuse(error, "crc32 not match");
}

BrokerRegistration *
broker_registration_decode(const RemotingCommand *request, gint64 now_ms, GError **error)
{
    g_autoptr(BrokerRegistration) self = broker_registration_new();

    if (!check_crc(request, error) || !take_names(request, self, error) ||
        !take_numbers(request, self, error))
        return NULL;
    if (!broker_body_decode(request, now_ms, self, error)) {
        g_prefix_error_literal(error, "the body cannot be read: ");
        return NULL;
    }
    return g_steal_pointer(&self);
}
