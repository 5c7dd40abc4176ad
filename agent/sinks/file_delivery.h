/* file_delivery.h - one delivery into as many files as its events ask for: all of it or nothing.
 *
 * Begin, add every event, commit or roll back. Where a file must be ended or put aside in between,
 * what stands so far is committed first: file_delivery_done tells how many events from the front
 * are certain. */
#pragma once

#include <glib.h>

#include "agent/sinks/file_pool.h"
#include "base/event_bytes.h"

typedef struct FileDelivery FileDelivery;

/* All borrowed. */
FileDelivery *file_delivery_new(const FileRules *rules, FilePool *pool, Component *owner);
void file_delivery_free(FileDelivery *self);

void file_delivery_begin(FileDelivery *self);
gboolean file_delivery_add(FileDelivery *self, const char *key, const EventView *event,
                           GError **error);
gboolean file_delivery_commit(FileDelivery *self, GError **error);
void file_delivery_rollback(FileDelivery *self);
guint file_delivery_done(const FileDelivery *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileDelivery, file_delivery_free)
