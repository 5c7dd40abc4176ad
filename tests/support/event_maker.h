/* event_maker.h - one event for a test, with its view. */
#pragma once

#include <glib.h>

#include "base/batch.h"

typedef struct {
    Batch *batch;
    EventView view;
} MadeEvent;

/* headers: "key=value" texts, NULL-terminated, or NULL for none. */
MadeEvent *made_event_new(const char *const *headers, const char *body);
MadeEvent *made_event_new_bytes(const EventHeader *headers, guint n_headers, ByteSpan body);
void made_event_free(MadeEvent *self);

#define MADE_EVENT(body, ...) \
    made_event_new((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL }, body)

G_DEFINE_AUTOPTR_CLEANUP_FUNC(MadeEvent, made_event_free)
