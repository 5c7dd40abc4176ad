/* rpc_turmoil.c - thirty events a call, again and again. */
#include "tests/support/rpc_turmoil.h"

#include "base/clock.h"
#include "tests/support/events.h"

static gpointer
send_again_and_again(gpointer user)
{
    RpcTurmoil *self = user;
    g_autoptr(Batch) batch = batch_of_numbers(0, 30);
    BatchSlice slice = { .batch = batch, .count = 30 };

    while (!g_atomic_int_get(&self->stop)) {
        guint acknowledged;

        if (!rpc_client_append_batch(self->client, &slice, 1,
                                     clock_deadline_us(self->call_timeout_us), &acknowledged, NULL))
            g_atomic_int_inc(&self->n_failed);
        g_atomic_int_add(&self->n_acknowledged, (gint) acknowledged);
    }
    return NULL;
}

void
rpc_turmoil_begin(RpcTurmoil *self, RpcClient *client, gint64 call_timeout_us)
{
    *self = (RpcTurmoil){ .client = client, .call_timeout_us = call_timeout_us };
    for (guint i = 0; i < G_N_ELEMENTS(self->threads); i++)
        self->threads[i] = g_thread_new("sender", send_again_and_again, self);
}

void
rpc_turmoil_end(RpcTurmoil *self)
{
    g_atomic_int_set(&self->stop, TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(self->threads); i++)
        g_thread_join(self->threads[i]);
}
