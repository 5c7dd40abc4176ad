/* data_version.c - the version of a broker's topics, as JSON. */
#include "registry/wire/data_version.h"

#include "registry/wire/data_version_json.h"

void
data_version_write(const DataVersion *self, Fastjson *json, const char *key)
{
    fastjson_open(json, key, '{');
    fastjson_int(json, "counter", self->counter);
    fastjson_int(json, "stateVersion", self->state_version);
    fastjson_int(json, "timestamp", self->timestamp_ms);
    fastjson_close(json, '}');
}

void
data_version_read(JsonReader *reader, DataVersion *self)
{
    static const JsonMember members[] = {
        JSON_MEMBER("counter", INT64, DataVersion, counter),
        JSON_MEMBER("stateVersion", INT64, DataVersion, state_version),
        JSON_MEMBER("timestamp", INT64, DataVersion, timestamp_ms),
        { 0 },
    };

    json_object_read(reader, members, self);
}

GString *
data_version_encode(const DataVersion *self)
{
    Fastjson json = { .out = g_string_new(NULL) };

    data_version_write(self, &json, NULL);
    return json.out;
}

gboolean
data_version_decode(ByteSpan json, gint64 now_ms, DataVersion *ret_version, GError **error)
{
    DataVersion version = { .timestamp_ms = now_ms };
    JsonReader reader;

    json_reader_init(&reader, json, JSON_FASTJSON);
    data_version_read(&reader, &version);
    if (!json_reader_finish(&reader, error))
        return FALSE;
    *ret_version = version;
    return TRUE;
}

gboolean
data_version_equal(const DataVersion *a, const DataVersion *b)
{
    return a->state_version == b->state_version && a->timestamp_ms == b->timestamp_ms &&
           a->counter == b->counter;
}
