/* broker_group_json.h - a group of brokers as a part of a larger text. */
#pragma once

#include "registry/wire/broker_group.h"
#include "registry/wire/fastjson.h"
#include "registry/wire/json_object.h"

void broker_group_write(const BrokerGroup *self, Fastjson *json);
/* NULL if it cannot be read. */
BrokerGroup *broker_group_read(JsonReader *reader);
