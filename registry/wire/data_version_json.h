/* data_version_json.h - a data version as a part of a larger text. */
#pragma once

#include "registry/wire/data_version.h"
#include "registry/wire/fastjson.h"
#include "registry/wire/json_object.h"

void data_version_write(const DataVersion *self, Fastjson *json, const char *key);
/* What is absent keeps its value. */
void data_version_read(JsonReader *reader, DataVersion *self);
