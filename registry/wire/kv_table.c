/* kv_table.c - tables of texts, as JSON. */
#include "registry/wire/kv_table.h"

#include <string.h>

#include "base/text_hash.h"
#include "registry/wire/fastjson.h"
#include "registry/wire/json_object.h"

GHashTable *
kv_table_new(void)
{
    return g_hash_table_new_full(text_hash, g_str_equal, g_free, g_free);
}

GHashTable *
kv_config_new(void)
{
    return g_hash_table_new_full(text_hash, g_str_equal, g_free,
                                 (GDestroyNotify) g_hash_table_unref);
}

static GList *
sorted_keys(GHashTable *table)
{
    return g_list_sort(g_hash_table_get_keys(table), (GCompareFunc) strcmp);
}

/* ---- out ---- */

static void
write_table(GHashTable *table, Fastjson *json, const char *key)
{
    g_autoptr(GList) names = sorted_keys(table);

    fastjson_open(json, key, '{');
    for (GList *name = names; name != NULL; name = name->next) {
        fastjson_key(json, name->data);
        fastjson_text(json, NULL, g_hash_table_lookup(table, name->data));
    }
    fastjson_close(json, '}');
}

GString *
kv_table_encode(GHashTable *table)
{
    Fastjson json = { .out = g_string_new(NULL) };

    fastjson_open(&json, NULL, '{');
    write_table(table, &json, "table");
    fastjson_close(&json, '}');
    return json.out;
}

GString *
kv_config_encode(GHashTable *config)
{
    g_autoptr(GList) names = sorted_keys(config);
    Fastjson json = { .out = g_string_new(NULL) };

    fastjson_open(&json, NULL, '{');
    fastjson_open(&json, "configTable", '{');
    for (GList *name = names; name != NULL; name = name->next) {
        fastjson_key(&json, name->data);
        write_table(g_hash_table_lookup(config, name->data), &json, NULL);
    }
    fastjson_close(&json, '}');
    fastjson_close(&json, '}');
    return json.out;
}

/* ---- in ---- */

static void
read_table(JsonReader *reader, GHashTable *table)
{
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        char *text = NULL;

        json_read_text(reader, &text);
        if (text != NULL)
            g_hash_table_insert(table, g_strdup(key->str), text);
        json_check_children(reader, g_hash_table_size(table));
    }
}

static void
read_config(JsonReader *reader, gpointer config)
{
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        GHashTable *table = kv_table_new();

        g_hash_table_insert(config, g_strdup(key->str), table);
        if (!json_read_null(reader))
            read_table(reader, table);
        json_check_children(reader, g_hash_table_size(config));
    }
}

GHashTable *
kv_config_decode(ByteSpan json, GError **error)
{
    static const JsonMember members[] = { JSON_MEMBER_BY("configTable", read_config), { 0 } };
    g_autoptr(GHashTable) config = kv_config_new();
    JsonReader reader;

    json_reader_init(&reader, json, JSON_FASTJSON);
    json_object_read(&reader, members, config);
    return json_reader_finish(&reader, error) ? g_steal_pointer(&config) : NULL;
}
