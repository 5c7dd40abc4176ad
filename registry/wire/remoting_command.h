/* remoting_command.h - one request or answer of RocketMQ's remoting protocol, and its frame:
 *
 *     int32 length of what follows | int32 kind of header << 24 | header length | header | body
 *
 * The header is JSON, or the packed form that peers call ROCKETMQ; we read both and write JSON,
 * which every peer reads. */
#pragma once

#include <glib.h>

#include "base/span.h"

/* The name server that this one stands for: 5.3.3. */
#define REMOTING_VERSION 479
#define REMOTING_VERSION_3_0_11 37
#define REMOTING_VERSION_4_9_0 393
#define REMOTING_VERSION_4_9_4 401
#define REMOTING_VERSION_5_0_0 413

#define REMOTING_MAX_FRAME (16 * 1024 * 1024) /* the originals' default; its length included */
#define REMOTING_MAX_FIELDS 512               /* of one header; real ones have 20 at most */

/* Strings are UTF-8 without NUL; bytes that are no UTF-8 have become U+FFFD. */
typedef struct {
    char *name;
    char *value;
} RemotingField;

typedef struct {
    gint32 code; /* NamesrvRequest or RemotingResult */
    gint32 version;
    gint32 opaque; /* which request an answer is for */
    gboolean is_answer;
    gboolean is_one_way; /* nobody waits for an answer, not even for an error */
    char *remark;        /* or NULL */
    GArray *fields;      /* RemotingField, in order */
    ByteSpan body;       /* empty: none; of a decoded command a part of its frame, borrowed */
    char *own_body;      /* what body is in, if it was set; or NULL */
} RemotingCommand;

/* How long is the frame that begins here? FALSE: this is no frame, and the connection has to be
 * closed without an answer. Else *ret_needed bytes have to be there before it is worth asking
 * again; if so many are there already, the first *ret_needed are the whole frame. */
gboolean remoting_frame_needs(ByteSpan received, gsize max_frame, gsize *ret_needed,
                              GError **error);
/* A frame, which outlives the command. NULL, with what is wrong (G_IO_ERROR_INVALID_DATA), also if
 * it is not whole: the connection has to be closed. */
RemotingCommand *remoting_command_decode(ByteSpan frame, GError **error);
/* Appends its frame. The header is JSON; that of a request has an empty line behind it, at which
 * one who takes it for HTTP answers that it is none, instead of waiting for more. */
void remoting_command_encode(const RemotingCommand *self, GByteArray *out);

RemotingCommand *remoting_command_new(gint32 code, gint32 opaque);
/* An answer to it, with no more than the code and perhaps a remark. */
RemotingCommand *remoting_command_new_answer(const RemotingCommand *request, gint32 code,
                                             const char *remark /* or NULL */);
void remoting_command_free(RemotingCommand *self);

/* A field that is there already is replaced; a value of NULL adds nothing. */
void remoting_command_set(RemotingCommand *self, const char *name, const char *value);
void remoting_command_set_int(RemotingCommand *self, const char *name, gint64 value);
void remoting_command_set_bool(RemotingCommand *self, const char *name, gboolean value);
void remoting_command_set_body(RemotingCommand *self, GString *body /* (transfer full) */);

/* NULL: there is no such field. */
const char *remoting_command_get(const RemotingCommand *self, const char *name);
/* The value is kept if there is no such field. FALSE, with an error that names the field, if it is
 * no number, or one that does not fit. */
gboolean remoting_command_get_int(const RemotingCommand *self, const char *name, gint64 min,
                                  gint64 max, gint64 *value, GError **error);
/* As the originals: "true" in any case is true, all else is not. */
gboolean remoting_command_get_bool(const RemotingCommand *self, const char *name);
/* (transfer full) The remark as a part of an error: one line, not a long one; "" if there is none.
 */
char *remoting_command_remark(const RemotingCommand *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RemotingCommand, remoting_command_free)
