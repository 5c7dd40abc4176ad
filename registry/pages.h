/* pages.h - the page for people, /metrics and /healthz. */
#pragma once

#include "registry/http_server.h"
#include "registry/namesrv_service.h"
#include "registry/nsq_service.h"

typedef struct {
    NsqService *nsq; /* borrowed, as is the next; NULL: off */
    NamesrvService *namesrv;
    HttpServer *server; /* borrowed; of the address that is for the pages alone, NULL: none */
    gboolean is_stopping;
} Pages;

const HttpRoute *pages_routes(void); /* user is the Pages */
