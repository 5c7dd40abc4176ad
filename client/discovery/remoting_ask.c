/* remoting_ask.c - a command there, a command back; and what a wrong port answers. */
#include "client/discovery/remoting_ask.h"

#include "client/discovery/frame_exchange.h"
#include "client/discovery/registry_port.h"

typedef struct {
    guint16 port;
    gboolean is_known;
    RemotingAnswered done;
    gpointer user;
} RemotingQuestion;

static void
question_fail(const RemotingQuestion *self, RegistryPort found)
{
    g_autoptr(GError) error = registry_port_explain_no_namesrv(self->port, found);

    self->done(NULL, error, self->user);
}

static void
question_take(const RemotingQuestion *self, ByteSpan frame)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(RemotingCommand) answer = NULL;

    if (registry_port_is_nsq_tcp(frame)) {
        question_fail(self, REGISTRY_PORT_NSQ_TCP);
        return;
    }
    answer = remoting_command_decode(frame, &error);
    if (answer == NULL)
        g_prefix_error(&error, "it is no name server: ");
    self->done(answer, error, self->user);
}

/* Whoever is there and says nothing may be another program. */
static void
question_give_up(const RemotingQuestion *self, const GError *error)
{
    g_autoptr(GError) hinted = NULL;

    if (self->is_known || (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT) &&
                           !g_error_matches(error, FRAME_ERROR, FRAME_ERROR_HUNG_UP))) {
        self->done(NULL, error, self->user);
        return;
    }
    hinted = g_error_new(error->domain, error->code,
                         "%s; is port %u that of a name server? it is 9876 unless it was told "
                         "otherwise",
                         error->message, self->port);
    self->done(NULL, hinted, self->user);
}

static void
on_exchanged(GBytes *frame, const GError *error, gpointer user)
{
    g_autofree RemotingQuestion *self = user;
    gsize length;
    const guint8 *bytes = frame == NULL ? NULL : g_bytes_get_data(frame, &length);

    if (bytes != NULL)
        question_take(self, byte_span(bytes, length));
    else if (g_error_matches(error, FRAME_ERROR, FRAME_ERROR_HTTP))
        question_fail(self, REGISTRY_PORT_NSQ_HTTP);
    else
        question_give_up(self, error);
}

void
remoting_ask(const Endpoint *peer, const RemotingCommand *request, gboolean is_known,
             gint64 timeout_us, GCancellable *stop, RemotingAnswered done, gpointer user)
{
    RemotingQuestion *self = g_new0(RemotingQuestion, 1);
    g_autoptr(GByteArray) frame = g_byte_array_new();
    g_autoptr(GBytes) bytes = NULL;

    self->port = peer->port;
    self->is_known = is_known;
    self->done = done;
    self->user = user;
    remoting_command_encode(request, frame);
    bytes = g_bytes_new(frame->data, frame->len);
    frame_exchange(peer, bytes, REMOTING_MAX_FRAME, timeout_us, stop, on_exchanged, self);
}

GError *
remoting_refusal(const RemotingCommand *answer)
{
    g_autofree char *remark = remoting_command_remark(answer);

    return g_error_new(G_IO_ERROR, G_IO_ERROR_FAILED, "it answered with code %d%s%s", answer->code,
                       *remark != '\0' ? ": " : "", remark);
}
