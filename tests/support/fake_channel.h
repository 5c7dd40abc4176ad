/* fake_channel.h - a channel that answers as a test tells it. */
#pragma once

#include <glib.h>

#include "agent/core/channel.h"

typedef struct {
    Channel base;
    PutResult answer;
    gboolean is_late; /* put_cancel comes too late */
    Ticket *waiting;  /* after PUT_PENDING */
    Batch *batch;     /* the last one put */
    guint n_puts;
    guint n_cancelled;
} FakeChannel;

FakeChannel *fake_channel_new(const char *name);
/* Ends the put that waits; failure: NULL if it went well. */
void fake_channel_complete(FakeChannel *self, const char *failure);
