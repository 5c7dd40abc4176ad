/* found_client.c - weights become names that are given several times. */
#include "client/discovery/found_client.h"

void
rpc_client_set_found_hosts(RpcClient *self, const GPtrArray *hosts)
{
    g_autoptr(GPtrArray) endpoints = g_ptr_array_new();
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree guint *shares = found_hosts_shares(hosts);

    for (guint round = 0; round < FOUND_HOSTS_MAX_SHARE; round++)
        for (guint i = 0; i < hosts->len; i++) {
            const FoundHost *host = hosts->pdata[i];

            if (shares[i] <= round)
                continue;
            g_ptr_array_add(endpoints, host->endpoint);
            g_array_append_val(ranks, host->rank);
        }
    /* What is no address was not found. */
    rpc_client_set_ranked_hosts(self, endpoints, (const guint *) (gpointer) ranks->data, NULL);
}
