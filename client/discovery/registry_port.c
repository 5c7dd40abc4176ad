/* registry_port.c - asks as of a namesrv: nsqlookupd does not understand that, and says so on one
 * port in HTTP and on the other one in a frame. */
#include "client/discovery/registry_port.h"

#include "client/discovery/frame_exchange.h"
#include "client/discovery/lookup.h"

#define NSQ_REFUSAL "E_BAD_PROTOCOL"
#define NSQ_MAX_REFUSAL 64
#define LENGTH_BYTES 4
#define ANY_TOPIC "leat" /* a namesrv need not know it */

typedef struct {
    RegistryPortFound done;
    gpointer user;
} PortQuestion;

gboolean
registry_port_is_nsq_tcp(ByteSpan answer)
{
    return answer.length > LENGTH_BYTES &&
           byte_span_equal(byte_span(answer.data + LENGTH_BYTES, answer.length - LENGTH_BYTES),
                           byte_span_of_text(NSQ_REFUSAL));
}

GError *
registry_port_explain_nsq_tcp(guint16 port)
{
    return g_error_new(G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "port %u is nsqlookupd's for TCP, where nodes register; write its port for "
                       "HTTP, which is 4161 unless it was told otherwise",
                       port);
}

GError *
registry_port_explain_no_namesrv(guint16 port, RegistryPort found)
{
    return g_error_new(
        G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
        "port %u is %s; write the port of the name server, which is 9876 unless it "
        "was told otherwise",
        port, found == REGISTRY_PORT_NSQ_TCP ? "nsqlookupd's for TCP" : "one where HTTP is spoken");
}

gboolean
registry_port_is_absence(const GError *error)
{
    return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE) ||
           g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT) ||
           error->domain == G_RESOLVER_ERROR;
}

static RegistryPort
port_of_answer(GBytes *answer, const GError *error)
{
    gsize length = 0;
    const guint8 *bytes = answer == NULL ? NULL : g_bytes_get_data(answer, &length);

    if (g_error_matches(error, FRAME_ERROR, FRAME_ERROR_HTTP))
        return REGISTRY_PORT_NSQ_HTTP;
    return registry_port_is_nsq_tcp(byte_span(bytes, length)) ? REGISTRY_PORT_NSQ_TCP
                                                              : REGISTRY_PORT_OTHER;
}

static void
on_exchanged(GBytes *answer, const GError *error, gpointer user)
{
    g_autofree PortQuestion *self = user;
    gboolean is_absent = error != NULL && registry_port_is_absence(error);

    self->done(port_of_answer(answer, error), is_absent ? error : NULL, self->user);
}

void
registry_port_find_out(const Endpoint *peer, GCancellable *stop, RegistryPortFound done,
                       gpointer user)
{
    const LookupQuestion question = { .registry = peer, .topic = ANY_TOPIC };
    g_autoptr(RemotingCommand) request = route_lookup_request(&question);
    GByteArray *frame = g_byte_array_new();
    g_autoptr(GBytes) bytes = NULL;
    PortQuestion *self = g_new0(PortQuestion, 1);

    self->done = done;
    self->user = user;
    remoting_command_encode(request, frame);
    bytes = g_byte_array_free_to_bytes(frame);
    frame_exchange(peer, bytes, NSQ_MAX_REFUSAL, LOOKUP_TIMEOUT_US, stop, on_exchanged, self);
}
