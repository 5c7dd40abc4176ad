/* thrift_hosts.h - what a Thrift sink knows of each of its hosts, which come and go: whether it
 * fails, and which counter and which bit are its own. For the sink's thread. */
#pragma once

#include <glib.h>

#include "agent/core/component.h"

/* Hosts that have a failure counter of their own, and one for all others. */
#define THRIFT_LABELLED_HOSTS 32

typedef struct ThriftHosts ThriftHosts;

/* row: of the component's own metrics, by host. first: those that are known from the beginning
 * (Endpoint *, or NULL); may_change: there may be others. For configure. */
ThriftHosts *thrift_hosts_new(Component *component, guint row, const GPtrArray *first,
                              gboolean may_change);
void thrift_hosts_free(ThriftHosts *self);

/* The host's place, which is its own for as long as it is heard of. */
guint thrift_hosts_place(ThriftHosts *self, const char *peer);
/* With more than 64 hosts some share a bit, and the search for poison is a little less sure. */
guint64 thrift_hosts_bit(guint place);
void thrift_hosts_count_failure(ThriftHosts *self, guint place);
/* Returns how it was before. */
gboolean thrift_hosts_note(ThriftHosts *self, guint place, gboolean is_failing);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ThriftHosts, thrift_hosts_free)
