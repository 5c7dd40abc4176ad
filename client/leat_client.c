/* leat_client.c - the library: texts, events and errors of an application around an RpcClient. */
#include "config.h"

#include "client/leat/client.h"

#include "base/clock.h"
#include "client/event_window.h"
#include "client/rpc_client.h"
#include "client/rpc_settings.h"

struct LeatClient {
    RpcClient *rpc;
    gint64 call_timeout_us;
};

G_DEFINE_QUARK(leat_error, leat_error)

const char *
leat_version(void)
{
    return PACKAGE_VERSION;
}

/* ---- errors ---- */

static LeatError
code_of_rpc_error(int code)
{
    switch (code) {
    case RPC_ERROR_CONFIGURATION:
        return LEAT_ERROR_OPTION;
    case RPC_ERROR_UNREACHABLE:
        return LEAT_ERROR_UNREACHABLE;
    case RPC_ERROR_TIMEOUT:
        return LEAT_ERROR_TIMEOUT;
    case RPC_ERROR_REFUSED:
        return LEAT_ERROR_REFUSED;
    case RPC_ERROR_NOT_A_SOURCE:
        return LEAT_ERROR_NO_SOURCE;
    case RPC_ERROR_TOO_LARGE:
        return LEAT_ERROR_EVENT;
    case RPC_ERROR_CLOSED:
        return LEAT_ERROR_CLOSED;
    default:
        return LEAT_ERROR_BROKEN;
    }
}

/* Always FALSE. */
static gboolean
pass_failure(GError *failure /* (transfer full) */, GError **error)
{
    if (failure->domain == RPC_ERROR) {
        failure->code = (int) code_of_rpc_error(failure->code);
        failure->domain = LEAT_ERROR;
    }
    g_propagate_error(error, failure);
    return FALSE;
}

/* ---- making one ---- */

static gboolean
read_options(RpcSettings *settings, const char *const *options, GError **error)
{
    for (; options != NULL && options[0] != NULL; options += 2) {
        if (options[1] == NULL) {
            g_set_error(error, LEAT_ERROR, LEAT_ERROR_OPTION,
                        "%s: there is no value; options are names and values in turn", options[0]);
            return FALSE;
        }
        if (!rpc_settings_set(settings, options[0], options[1], error)) {
            g_prefix_error(error, "%s: ", options[0]);
            return FALSE;
        }
    }
    return TRUE;
}

LeatClient *
leat_client_new(const char *const *options, GError **error)
{
    g_auto(RpcSettings) settings = { 0 };
    RpcClientOptions rpc_options;
    GError *failure = NULL;
    LeatClient *self;
    RpcClient *rpc;

    rpc_settings_init(&settings);
    if (!read_options(&settings, options, &failure)) {
        pass_failure(failure, error);
        return NULL;
    }
    rpc_settings_to_options(&settings, &rpc_options);
    rpc = rpc_client_new(&rpc_options, &failure);
    if (rpc == NULL) {
        pass_failure(failure, error);
        return NULL;
    }
    self = g_new0(LeatClient, 1);
    self->rpc = rpc;
    self->call_timeout_us = settings.call_timeout_us;
    return self;
}

bool
leat_client_set_hosts(LeatClient *self, const char *hosts, GError **error)
{
    g_auto(RpcSettings) settings = { 0 };
    GError *failure = NULL;

    if (rpc_settings_set(&settings, "hosts", hosts != NULL ? hosts : "", &failure) &&
        rpc_client_set_hosts(self->rpc, settings.hosts, &failure))
        return true;
    g_prefix_error(&failure, "hosts: ");
    return pass_failure(failure, error);
}

/* ---- sending ---- */

bool
leat_client_append(LeatClient *self, const LeatEvent *event, GError **error)
{
    gint64 deadline_us = clock_deadline_us(self->call_timeout_us);
    GError *failure = NULL;
    g_autoptr(Batch) batch = event_window_encode(event, 1, &failure);

    if (batch == NULL || !rpc_client_append(self->rpc, batch, 0, deadline_us, &failure))
        return pass_failure(failure, error);
    return true;
}

static gboolean
append_window(LeatClient *self, const LeatEvent *events, size_t n_events, gint64 deadline_us,
              guint *ret_acknowledged, GError **error)
{
    g_autoptr(Batch) window = event_window_encode(events, n_events, error);
    BatchSlice slice = { .batch = window };

    *ret_acknowledged = 0;
    if (window == NULL)
        return FALSE;
    slice.count = window->n_events;
    return rpc_client_append_batch(self->rpc, &slice, 1, deadline_us, ret_acknowledged, error);
}

bool
leat_client_append_batch(LeatClient *self, const LeatEvent *events, size_t n_events,
                         size_t *acknowledged, GError **error)
{
    gint64 deadline_us = clock_deadline_us(self->call_timeout_us);
    GError *failure = NULL;
    size_t n_done = 0;
    guint n_more;

    if (!rpc_client_is_active(self->rpc))
        failure = g_error_new_literal(LEAT_ERROR, LEAT_ERROR_CLOSED, "the client is closed");
    while (failure == NULL && n_done < n_events) {
        append_window(self, events + n_done, n_events - n_done, deadline_us, &n_more, &failure);
        n_done += n_more;
    }
    if (acknowledged != NULL)
        *acknowledged = n_done;
    return failure == NULL || pass_failure(failure, error);
}

/* ---- the rest ---- */

size_t
leat_client_batch_size(const LeatClient *self)
{
    return rpc_client_batch_size(self->rpc);
}

bool
leat_client_is_active(LeatClient *self)
{
    return rpc_client_is_active(self->rpc);
}

void
leat_client_close(LeatClient *self)
{
    rpc_client_close(self->rpc);
}

void
leat_client_free(LeatClient *self)
{
    if (self == NULL)
        return;
    rpc_client_free(self->rpc);
    g_free(self);
}
