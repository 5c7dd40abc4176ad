/* nsq_request.h - NSQ's look-up protocol V1 from a node's side: what it says, and how it reads the
 * answers. Each request gets one answer, in order. */
#pragma once

#include <glib.h>

#include "base/span.h"
#include "registry/wire/nsq_command.h"

/* What a node says of itself; all texts are UTF-8, and none is empty but for the host name's. */
typedef struct {
    const char *broadcast_address; /* without brackets */
    const char *hostname;
    guint16 tcp_port;
    guint16 http_port; /* 0 is refused */
    const char *version;
} NsqIntroduction;

/* The first on a connection, with the protocol's magic before it. */
void nsq_request_append_identify(GByteArray *out, const NsqIntroduction *node);
/* Valid names; those of the protocol have no way to say others. */
void nsq_request_append_register(GByteArray *out, const char *topic);
void nsq_request_append_unregister(GByteArray *out, const char *topic);
void nsq_request_append_ping(GByteArray *out);

/* An answer that is larger is no answer of a registry. */
#define NSQ_ANSWER_MAX (64 * 1024)

/* Takes the first answer from the front of the input, in which its payload stays. FALSE without an
 * error: it is not there whole yet. FALSE with one (G_IO_ERROR_INVALID_DATA): whoever answers is no
 * nsqlookupd. */
gboolean nsq_answer_take(ByteSpan *input, ByteSpan *ret_payload, GError **error);
/* FALSE (G_IO_ERROR_FAILED), with what the registry says, if it refused the request. */
gboolean nsq_answer_check(NsqVerb request, ByteSpan payload, GError **error);
