/* http_watch.h - look-ups over HTTP that wait for a change. */
#pragma once

#include "registry/http_server.h"
#include "registry/topic_watch.h"

/* Answers a request about a topic with what there is now. */
typedef void (*HttpWatchAnswer)(HttpRequest *request, const char *topic, gpointer user);

/* Holds the request, which is answered later. */
void http_watch_add(TopicWatch *watch, HttpRequest *request, const char *topic, gint64 wait_us,
                    HttpWatchAnswer answer, gpointer user);
