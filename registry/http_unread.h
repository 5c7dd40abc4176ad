/* http_unread.h - what is there of large answers until clients have read them: all together have a
 * limit, beyond which the oldest that is not read ends its connection. */
#pragma once

#include "base/http_listener.h"

typedef struct HttpUnread HttpUnread;

HttpUnread *http_unread_new(HttpListener *listener, gsize max_bytes);
/* The answer of a message takes so many bytes, until the message is freed. */
void http_unread_add(HttpUnread *self, SoupServerMessage *message, gsize bytes);
void http_unread_free(HttpUnread *self);
