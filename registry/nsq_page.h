/* nsq_page.h - nodes and topics of NSQ's half as HTML, for people. */
#pragma once

#include <glib.h>

#include "registry/nsq_table.h"

void nsq_page_append(GString *out, const NsqTable *table, gint64 now_us);
