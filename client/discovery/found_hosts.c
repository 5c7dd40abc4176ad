/* found_hosts.c - who they are, and which share of the batches each has. */
#include "client/discovery/found_hosts.h"

#include <string.h>

FoundHost *
found_host_new(const char *host, guint16 port, guint weight, guint rank)
{
    FoundHost *self = g_new0(FoundHost, 1);

    self->endpoint = endpoint_new(host, port);
    self->name = endpoint_to_text(self->endpoint);
    self->weight = weight;
    self->rank = rank;
    return self;
}

void
found_host_free(FoundHost *self)
{
    if (self == NULL)
        return;
    endpoint_free(self->endpoint);
    g_free(self->name);
    g_free(self);
}

GPtrArray *
found_hosts_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify) found_host_free);
}

gboolean
found_hosts_equal(const GPtrArray *some, const GPtrArray *others)
{
    if (some->len != others->len)
        return FALSE;
    for (guint i = 0; i < some->len; i++) {
        const FoundHost *one = some->pdata[i];
        const FoundHost *other = others->pdata[i];

        if (strcmp(one->name, other->name) != 0 || one->weight != other->weight ||
            one->rank != other->rank)
            return FALSE;
    }
    return TRUE;
}

static guint
common_divisor(guint one, guint other)
{
    while (other != 0) {
        guint rest = one % other;

        one = other;
        other = rest;
    }
    return one;
}

guint *
found_hosts_shares(const GPtrArray *hosts)
{
    guint *shares = g_new(guint, hosts->len);
    guint divisor = 0;
    guint largest = 1;

    for (guint i = 0; i < hosts->len; i++)
        divisor = common_divisor(((const FoundHost *) hosts->pdata[i])->weight, divisor);
    for (guint i = 0; i < hosts->len; i++) {
        shares[i] = ((const FoundHost *) hosts->pdata[i])->weight / MAX(divisor, 1);
        largest = MAX(largest, shares[i]);
    }
    for (guint i = 0; i < hosts->len && largest > FOUND_HOSTS_MAX_SHARE; i++)
        shares[i] = (guint) (((guint64) shares[i] * FOUND_HOSTS_MAX_SHARE + largest / 2) / largest);
    for (guint i = 0; i < hosts->len; i++)
        shares[i] = MAX(shares[i], 1);
    return shares;
}
