/* nsq_answer.c - finds lists of nodes and of names in JSON that a registry sent. */
#include "registry/wire/nsq_answer.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/json_value.h"

void
nsq_listed_node_free(NsqListedNode *self)
{
    if (self == NULL)
        return;
    g_free(self->broadcast_address);
    g_free(self->hostname);
    g_free(self->remote_address);
    g_free(self->version);
    g_ptr_array_unref(self->topics);
    g_array_unref(self->tombstones);
    g_free(self);
}

/* ---- JSON ---- */

/* The last of that name; NULL: there is none of this kind. */
static const JsonValue *
find_member(const JsonValue *object, const char *key, JsonKind kind)
{
    if (object->kind != JSON_OBJECT)
        return NULL;
    for (guint i = object->children->len; i > 0; i--) {
        const JsonValue *member = object->children->pdata[i - 1];

        if (strcmp(member->key->str, key) == 0)
            return member->kind == kind ? member : NULL;
    }
    return NULL;
}

static gboolean
is_plain_text(const JsonValue *value)
{
    return value->kind == JSON_STRING && strlen(value->text->str) == value->text->len;
}

static char *
text_of(const JsonValue *object, const char *key)
{
    const JsonValue *member = find_member(object, key, JSON_STRING);

    return g_strdup(member != NULL && is_plain_text(member) ? member->text->str : "");
}

/* 0: none. */
static guint16
port_of(const JsonValue *object, const char *key)
{
    const JsonValue *member = find_member(object, key, JSON_NUMBER);
    gint64 number;

    if (member == NULL || !json_value_get_int(member, &number) || number < 0 ||
        number > G_MAXUINT16)
        return 0;
    return (guint16) number;
}

/* NULL with an error: the answer has no such list. */
static const JsonValue *
find_list(const JsonValue *answer, const char *key, GError **error)
{
    const JsonValue *data = find_member(answer, "data", JSON_OBJECT);
    const JsonValue *list = find_member(data != NULL ? data : answer, key, JSON_ARRAY);

    if (list == NULL)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the answer has no list '%s'", key);
    return list;
}

/* ---- lists ---- */

static GPtrArray *
names_of(const JsonValue *list)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; list != NULL && i < list->children->len; i++) {
        const JsonValue *name = list->children->pdata[i];

        if (is_plain_text(name))
            g_ptr_array_add(names, g_strdup(name->text->str));
    }
    return names;
}

static GArray *
tombstones_of(const JsonValue *list, guint n_topics)
{
    GArray *tombstones = g_array_sized_new(FALSE, TRUE, sizeof(gboolean), n_topics);

    g_array_set_size(tombstones, n_topics);
    for (guint i = 0; list != NULL && i < MIN(list->children->len, n_topics); i++)
        g_array_index(tombstones, gboolean, i) =
            ((const JsonValue *) list->children->pdata[i])->kind == JSON_TRUE;
    return tombstones;
}

static NsqListedNode *
node_of(const JsonValue *object)
{
    NsqListedNode *self = g_new0(NsqListedNode, 1);

    self->broadcast_address = text_of(object, "broadcast_address");
    self->tcp_port = port_of(object, "tcp_port");
    self->http_port = port_of(object, "http_port");
    self->hostname = text_of(object, "hostname");
    self->remote_address = text_of(object, "remote_address");
    self->version = text_of(object, "version");
    self->topics = names_of(find_member(object, "topics", JSON_ARRAY));
    self->tombstones =
        tombstones_of(find_member(object, "tombstones", JSON_ARRAY), self->topics->len);
    return self;
}

GPtrArray *
nsq_answer_decode_nodes(ByteSpan body, GError **error)
{
    g_autoptr(JsonValue) answer = json_value_parse(body.data, body.length, error);
    g_autoptr(GPtrArray) nodes =
        g_ptr_array_new_with_free_func((GDestroyNotify) nsq_listed_node_free);
    const JsonValue *list = answer == NULL ? NULL : find_list(answer, "producers", error);

    if (list == NULL)
        return NULL;
    for (guint i = 0; i < list->children->len; i++) {
        g_autoptr(NsqListedNode) node = node_of(list->children->pdata[i]);

        if (node->broadcast_address[0] != '\0' && node->tcp_port != 0)
            g_ptr_array_add(nodes, g_steal_pointer(&node));
    }
    return g_steal_pointer(&nodes);
}

GPtrArray *
nsq_answer_decode_names(ByteSpan body, const char *key, GError **error)
{
    g_autoptr(JsonValue) answer = json_value_parse(body.data, body.length, error);
    const JsonValue *list = answer == NULL ? NULL : find_list(answer, key, error);

    return list == NULL ? NULL : names_of(list);
}
