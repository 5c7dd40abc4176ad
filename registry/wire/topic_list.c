/* topic_list.c - names of topics, as JSON. */
#include "registry/wire/topic_list.h"

#include "registry/wire/fastjson.h"
#include "registry/wire/json_object.h"

GString *
topic_list_encode(const GPtrArray *topics, const char *broker_address)
{
    Fastjson json = { .out = g_string_sized_new(256) };

    fastjson_open(&json, NULL, '{');
    fastjson_text(&json, "brokerAddr", broker_address);
    fastjson_open(&json, "topicList", '[');
    for (guint i = 0; i < topics->len; i++)
        fastjson_text(&json, NULL, g_ptr_array_index(topics, i));
    fastjson_close(&json, ']');
    fastjson_close(&json, '}');
    return json.out;
}

static void
read_topics(JsonReader *reader, gpointer topics)
{
    json_read_texts(reader, topics);
}

GPtrArray *
topic_list_decode(ByteSpan json, GError **error)
{
    static const JsonMember members[] = { JSON_MEMBER_BY("topicList", read_topics), { 0 } };
    g_autoptr(GPtrArray) topics = g_ptr_array_new_with_free_func(g_free);
    JsonReader reader;

    json_reader_init(&reader, json, JSON_FASTJSON);
    json_object_read(&reader, members, topics);
    return json_reader_finish(&reader, error) ? g_steal_pointer(&topics) : NULL;
}
