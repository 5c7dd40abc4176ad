/* queue_mapping.c - where the queues of a static topic really are. */
#include "registry/wire/queue_mapping.h"

#include "registry/wire/fastjson.h"
#include "registry/wire/json_object.h"

QueueMapping *
queue_mapping_read(JsonReader *reader)
{
    static const JsonMember members[] = {
        JSON_MEMBER("bname", TEXT, QueueMapping, broker),
        JSON_MEMBER("topic", TEXT, QueueMapping, topic),
        { 0 },
    };
    g_autoptr(QueueMapping) self = g_new0(QueueMapping, 1);
    Fastjson copy = { 0 };
    JsonReader again;
    ByteSpan written;

    self->topic = g_strdup("");
    self->broker = g_strdup("");
    if (!json_reader_skip(reader, &written))
        return NULL;
    json_reader_init(&again, written, JSON_FASTJSON);
    json_object_read(&again, members, self);
    if (again.failure != NULL) {
        json_reader_fail(reader, again.failure);
        return NULL;
    }
    copy.out = g_string_sized_new(written.length);
    fastjson_copy(&copy, NULL, written);
    self->json = g_string_free(copy.out, FALSE);
    return g_steal_pointer(&self);
}

QueueMapping *
queue_mapping_copy(const QueueMapping *self)
{
    QueueMapping *copy = g_new0(QueueMapping, 1);

    copy->topic = g_strdup(self->topic);
    copy->broker = g_strdup(self->broker);
    copy->json = g_strdup(self->json);
    return copy;
}

void
queue_mapping_free(QueueMapping *self)
{
    g_free(self->topic);
    g_free(self->broker);
    g_free(self->json);
    g_free(self);
}
