/* http_fetch.h - HTTP towards registries, by libsoup, if this leat was built with it. */
#pragma once

#include <gio/gio.h>

#include "base/endpoint.h"

gboolean http_fetch_is_available(void);

/* Answers of registries are no larger. */
#define HTTP_FETCH_MAX_BODY (16 * 1024 * 1024)

typedef struct {
    guint status;
    const char *index; /* X-Leat-Index, or NULL */
    const char *epoch; /* X-Leat-Epoch, or NULL */
    GBytes *body;
} HttpReply;

/* reply is borrowed for the call, NULL with an error. */
typedef void (*HttpFetched)(const HttpReply *reply, const GError *error, gpointer user);

typedef struct HttpClient HttpClient;

/* For the thread's default main context, which turns until every done has been called. */
HttpClient *http_client_new(void);
void http_client_free(HttpClient *self);
/* GET; the query (or NULL) is escaped already. done is called once, later. stop may be NULL. */
void http_client_get(HttpClient *self, const Endpoint *peer, const char *path, const char *query,
                     gint64 timeout_us, GCancellable *stop, HttpFetched done, gpointer user);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpClient, http_client_free)
