/* nsq_command.h - one line of NSQ's look-up protocol V1, and the frames of its answers. */
#pragma once

#include <glib.h>

#include "base/span.h"

#define NSQ_MAGIC "  V1"
#define NSQ_MAGIC_LENGTH 4
#define NSQ_LENGTH_PREFIX 4

typedef enum { NSQ_PING, NSQ_IDENTIFY, NSQ_REGISTER, NSQ_UNREGISTER, NSQ_UNKNOWN } NsqVerb;

/* Parts of the line. */
typedef struct {
    NsqVerb verb;
    ByteSpan word; /* the verb as it was written */
    gboolean has_topic;
    ByteSpan topic;
    ByteSpan channel; /* empty: none */
} NsqCommand;

/* The line without its LF. Always succeeds: what is no command is NSQ_UNKNOWN. */
NsqCommand nsq_command_parse(ByteSpan line);
/* FALSE, with the answer for the client: no topic, or a name that is none. For REGISTER and
 * UNREGISTER. */
gboolean nsq_command_check_names(const NsqCommand *self, GString *ret_answer);

/* Length and payload. */
void nsq_frame_append(GByteArray *out, const char *payload, gsize length);
