/* topic_namespace.h - names of topics where several who share a registry must not see one
 * another's.
 *
 * A convention between clients: a registry takes the whole for the name. */
#pragma once

#include <glib.h>

/* "qa.topic", as NSQ has no other separator. A name that begins with the namespace stays as it is;
 * so does every name if there is none (NULL or ""). (transfer full) */
char *nsq_topic_in_namespace(const char *name_space, const char *topic);
/* "qa%topic", as RocketMQ's clients write it; what they put before a group ("%RETRY%", "%DLQ%")
 * stays in front, and topics of the system are everybody's. (transfer full) */
char *broker_topic_in_namespace(const char *name_space, const char *topic);

/* As RocketMQ's own clients have it: letters, digits, '_', '-', '%' and '|', and not too many. */
#define BROKER_TOPIC_MAX 127
gboolean broker_topic_is_valid(const char *topic);
