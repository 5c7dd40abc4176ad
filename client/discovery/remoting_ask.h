/* remoting_ask.h - one request to a name server of RocketMQ's kind, over a connection of its own.
 */
#pragma once

#include <gio/gio.h>

#include "base/endpoint.h"
#include "registry/wire/remoting_command.h"

/* answer is borrowed for the call, NULL with an error; what its code means is for the caller. */
typedef void (*RemotingAnswered)(const RemotingCommand *answer, const GError *error, gpointer user);

/* In the thread's default main context, which turns until done has been called: once, later. stop
 * may be NULL. is_known: it has answered before, so its port is right. */
void remoting_ask(const Endpoint *peer, const RemotingCommand *request, gboolean is_known,
                  gint64 timeout_us, GCancellable *stop, RemotingAnswered done, gpointer user);
/* An error for an answer that is none of success. */
GError *remoting_refusal(const RemotingCommand *answer);
