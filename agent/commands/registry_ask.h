/* registry_ask.h - questions to a registry of whatever kind, each waited for. */
#pragma once

#include <glib.h>

#include "client/discovery/discovery.h"
#include "client/discovery/http_fetch.h"
#include "registry/wire/remoting_command.h"

/* nsqlookupd's HTTP port, or a namesrv's. FALSE: nobody is there, or somebody else. */
gboolean registry_ask_kind(const Endpoint *registry, RegistryKind *ret_kind, GError **error);

/* What is made of an answer. FALSE with an error: it is none. */
typedef gboolean (*HttpTaker)(const HttpReply *reply, gpointer user, GError **error);
gboolean registry_ask_http(const Endpoint *registry, const char *path, const char *query,
                           gint64 timeout_us, HttpTaker take, gpointer user, GError **error);
/* Of an answer of success, or of the code also_fine; any other one is an error. */
typedef gboolean (*RemotingTaker)(const RemotingCommand *answer, gpointer user, GError **error);
gboolean registry_ask_namesrv(const Endpoint *registry, const RemotingCommand *request,
                              int also_fine, gint64 timeout_us, RemotingTaker take, gpointer user,
                              GError **error);
