/* thrift_hosts.c - places for hosts; one that has not been heard of for long is given to another.
 */
#include "agent/sinks/thrift_hosts.h"

#include <string.h>

#include "base/clock.h"

/* One that fails is heard of more often, as the longest back-off between hosts is shorter. */
#define FORGET_US (10 * 60 * G_USEC_PER_SEC)

typedef struct {
    char *name;
    gboolean is_failing;
    gint64 heard_us; /* 0: never */
} ThriftHost;

struct ThriftHosts {
    Component *component;
    guint row;
    GArray *hosts; /* ThriftHost, by place */
};

static void
thrift_host_clear(gpointer host)
{
    g_free(((ThriftHost *) host)->name);
}

static ThriftHost *
host_at(ThriftHosts *self, guint place)
{
    return &g_array_index(self->hosts, ThriftHost, place);
}

/* hosts->len: it has none. */
static guint
hosts_find(ThriftHosts *self, const char *name)
{
    guint place = 0;

    while (place < self->hosts->len && strcmp(host_at(self, place)->name, name) != 0)
        place++;
    return place;
}

static void
hosts_add(ThriftHosts *self, const char *name)
{
    ThriftHost host = { .name = g_strdup(name) };

    g_array_append_val(self->hosts, host);
}

ThriftHosts *
thrift_hosts_new(Component *component, guint row, const GPtrArray *first, gboolean may_change)
{
    ThriftHosts *self = g_new0(ThriftHosts, 1);
    const char *labels[THRIFT_LABELLED_HOSTS + 2] = { NULL };

    self->component = component;
    self->row = row;
    self->hosts = g_array_new(FALSE, FALSE, sizeof(ThriftHost));
    g_array_set_clear_func(self->hosts, thrift_host_clear);
    for (guint i = 0; first != NULL && i < first->len; i++) {
        g_autofree char *name = endpoint_to_text(first->pdata[i]);

        if (hosts_find(self, name) == self->hosts->len) /* else named twice, for two shares */
            hosts_add(self, name);
    }
    for (guint i = 0; i < THRIFT_LABELLED_HOSTS; i++)
        labels[i] = i < self->hosts->len ? host_at(self, i)->name : may_change ? "" : NULL;
    if (may_change || self->hosts->len > THRIFT_LABELLED_HOSTS)
        labels[THRIFT_LABELLED_HOSTS] = "others";
    component_set_metric_values(component, labels);
    return self;
}

void
thrift_hosts_free(ThriftHosts *self)
{
    if (self == NULL)
        return;
    g_array_unref(self->hosts);
    g_free(self);
}

/* ---- places ---- */

/* The end, or the place of the one that has been silent the longest. */
static guint
hosts_find_room(ThriftHosts *self, gint64 now_us)
{
    guint oldest = 0;

    if (self->hosts->len < THRIFT_LABELLED_HOSTS)
        return self->hosts->len;
    for (guint i = 1; i < self->hosts->len; i++)
        if (host_at(self, i)->heard_us < host_at(self, oldest)->heard_us)
            oldest = i;
    return host_at(self, oldest)->heard_us + FORGET_US < now_us ? oldest : self->hosts->len;
}

static guint
hosts_settle(ThriftHosts *self, const char *name, gint64 now_us)
{
    guint place = hosts_find_room(self, now_us);

    if (place == self->hosts->len) {
        hosts_add(self, name);
    } else {
        thrift_host_clear(host_at(self, place));
        *host_at(self, place) = (ThriftHost){ .name = g_strdup(name) };
    }
    if (place < THRIFT_LABELLED_HOSTS)
        component_rename_metric_value(self->component, self->row, place, name);
    return place;
}

guint
thrift_hosts_place(ThriftHosts *self, const char *peer)
{
    gint64 now_us = clock_now_us();
    guint place = hosts_find(self, peer);

    if (place == self->hosts->len)
        place = hosts_settle(self, peer, now_us);
    host_at(self, place)->heard_us = now_us;
    return place;
}

guint64
thrift_hosts_bit(guint place)
{
    return (guint64) 1 << place % 64;
}

void
thrift_hosts_count_failure(ThriftHosts *self, guint place)
{
    metric_add_value(self->component->part_metrics, self->row, MIN(place, THRIFT_LABELLED_HOSTS),
                     1);
}

gboolean
thrift_hosts_note(ThriftHosts *self, guint place, gboolean is_failing)
{
    gboolean before = host_at(self, place)->is_failing;

    host_at(self, place)->is_failing = is_failing;
    return before;
}
