/* broker_packed_body.c - what is inside of a compressed REGISTER_BROKER: texts with their lengths,
 * and what is a JSON object elsewhere is one line of words. */
#include "registry/wire/broker_body.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/data_version_json.h"
#include "registry/wire/json_object.h"

#define TOPIC_WORDS 5 /* at least: name, queues, queues, permission, kind of filter */

typedef struct {
    const guint8 *at, *end;
} Cursor;

static gboolean
refuse(GError **error, const char *what)
{
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, what);
    return FALSE;
}

/* A length or a count, of things that have a byte each at least. */
static gboolean
take_count(Cursor *self, gsize *ret_count, GError **error)
{
    guint32 number;

    if (self->end - self->at < (gssize) sizeof number)
        return refuse(error, "a compressed body ends too early");
    memcpy(&number, self->at, sizeof number);
    self->at += sizeof number;
    *ret_count = GUINT32_FROM_BE(number);
    return *ret_count <= (gsize) (self->end - self->at) ||
           refuse(error, "a compressed body ends too early");
}

static gboolean
take_text(Cursor *self, ByteSpan *ret_text, GError **error)
{
    gsize length;

    if (!take_count(self, &length, error))
        return FALSE;
    *ret_text = byte_span(self->at, length);
    self->at += length;
    return TRUE;
}

/* One more of what there are JSON_MAX_CHILDREN of at the most. */
static gboolean
take_next(Cursor *self, guint n_before, ByteSpan *ret_text, GError **error)
{
    return (n_before < JSON_MAX_CHILDREN || refuse(error, "there are too many topics")) &&
           take_text(self, ret_text, error);
}

static gboolean
parse_number(const char *word, gint32 *ret_number, GError **error)
{
    gint64 number;

    if (!g_ascii_string_to_signed(word, 10, G_MININT32, G_MAXINT32, &number, NULL))
        return refuse(error, "a topic has a word that is no number");
    *ret_number = (gint32) number;
    return TRUE;
}

static gboolean
take_topic(Cursor *self, BrokerRegistration *registration, GError **error)
{
    ByteSpan line;
    g_autofree char *text = NULL;
    g_auto(GStrv) words = NULL;
    BrokerTopic *topic;

    if (!take_next(self, registration->topics->len, &line, error))
        return FALSE;
    text = g_utf8_make_valid((const char *) line.data, (gssize) line.length);
    words = g_strsplit(text, " ", TOPIC_WORDS + 1);
    if (g_strv_length(words) < TOPIC_WORDS)
        return refuse(error, "a topic has too few words");
    topic = broker_registration_add_topic(registration, words[0], 0, 0, 0);
    return parse_number(words[1], &topic->read_queues, error) &&
           parse_number(words[2], &topic->write_queues, error) &&
           parse_number(words[3], &topic->perm, error);
}

static gboolean
take_filter_servers(Cursor *self, BrokerRegistration *registration, GError **error)
{
    ByteSpan json;
    JsonReader reader;

    if (!take_text(self, &json, error))
        return FALSE;
    json_reader_init(&reader, json, JSON_FASTJSON);
    if (json_read_null(&reader))
        g_clear_pointer(&registration->filter_servers, g_ptr_array_unref);
    else
        json_read_texts(&reader, registration->filter_servers);
    return json_reader_finish(&reader, error);
}

static gboolean
take_mapping(Cursor *self, BrokerRegistration *registration, GError **error)
{
    ByteSpan json;
    JsonReader reader;
    QueueMapping *mapping;

    if (!take_next(self, registration->mappings->len, &json, error))
        return FALSE;
    json_reader_init(&reader, json, JSON_FASTJSON);
    mapping = queue_mapping_read(&reader);
    if (mapping != NULL)
        g_ptr_array_add(registration->mappings, mapping);
    return json_reader_finish(&reader, error);
}

gboolean
broker_packed_body_decode(ByteSpan content, gint32 version, gint64 now_ms,
                          BrokerRegistration *registration, GError **error)
{
    Cursor cursor = { .at = content.data };
    ByteSpan json;
    gsize count;

    if (content.length == 0)
        return refuse(error, "a compressed body ends too early");
    cursor.end = content.data + content.length;
    if (!take_text(&cursor, &json, error) ||
        !data_version_decode(json, now_ms, &registration->version, error) ||
        !take_count(&cursor, &count, error))
        return FALSE;
    for (gsize i = 0; i < count; i++)
        if (!take_topic(&cursor, registration, error))
            return FALSE;
    if (!take_filter_servers(&cursor, registration, error))
        return FALSE;
    if (version < REMOTING_VERSION_5_0_0)
        return TRUE;
    if (!take_count(&cursor, &count, error))
        return FALSE;
    for (gsize i = 0; i < count; i++)
        if (!take_mapping(&cursor, registration, error))
            return FALSE;
    return TRUE;
}
