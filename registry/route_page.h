/* route_page.h - brokers and routes of RocketMQ's half as HTML, for people. */
#pragma once

#include <glib.h>

#include "registry/route_table.h"

void route_page_append(GString *out, const RouteTable *table, gint64 now_us);
