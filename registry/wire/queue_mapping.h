/* queue_mapping.h - where the queues of a static topic really are (5.x).
 *
 * A name server passes it on: the object is kept as it was written, in fastjson's default form. */
#pragma once

#include <glib.h>

#include "registry/wire/json_reader.h"

typedef struct {
    char *topic;
    char *broker;
    char *json;
} QueueMapping;

/* Topic and broker are its own words for them; "" if it has none. NULL if it cannot be read. */
QueueMapping *queue_mapping_read(JsonReader *reader);
QueueMapping *queue_mapping_copy(const QueueMapping *self);
void queue_mapping_free(QueueMapping *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueueMapping, queue_mapping_free)
