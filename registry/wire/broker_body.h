/* broker_body.h - the body of a REGISTER_BROKER: topics, their version, filter servers. */
#pragma once

#include "registry/wire/broker_registration.h"

#define BROKER_BODY_TOPIC_QUEUES 16 /* of a topic that does not say */

/* What a compressed body may hold: four of the longest frames. */
#define BROKER_BODY_MAX_INFLATED (4 * REMOTING_MAX_FRAME)

/* Adds what the body of the request says; FALSE with what is wrong with it. */
gboolean broker_body_decode(const RemotingCommand *request, gint64 now_ms,
                            BrokerRegistration *ret_registration, GError **error);
/* Of the inflated content of a compressed body of a peer of this version. */
gboolean broker_packed_body_decode(ByteSpan content, gint32 version, gint64 now_ms,
                                   BrokerRegistration *ret_registration, GError **error);
/* As brokers send it: a positive int32; 0 of nothing. */
gint64 broker_body_crc(ByteSpan body);
