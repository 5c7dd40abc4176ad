/* nsq_identity.c - what an nsqd tells about itself, read as the original reads it: keys in any
 * case, the last of several, unknown ones ignored, types as they must be. */
#include "registry/wire/nsq_identity.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/json_value.h"
#include "registry/wire/nsq_json.h"

typedef struct {
    const char *key;
    gboolean is_number;
    gboolean required;
    gsize offset; /* in NsqIdentity: char * or gint64 */
} IdentityRow;

#define ROW(member) .key = #member, .offset = G_STRUCT_OFFSET(NsqIdentity, member)

static const IdentityRow rows[] = {
    { ROW(broadcast_address), .required = TRUE },
    { ROW(tcp_port), .is_number = TRUE, .required = TRUE },
    { ROW(http_port), .is_number = TRUE, .required = TRUE },
    { ROW(version), .required = TRUE },
    { ROW(hostname) },
    { ROW(topology_zone) },
    { ROW(topology_region) },
};

static const IdentityRow *
find_row(const char *key)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_ascii_strcasecmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

static gboolean
take_text(char **member, const JsonValue *value)
{
    /* A NUL would cut the text short later on. */
    if (value->kind != JSON_STRING || strlen(value->text->str) != value->text->len)
        return FALSE;
    g_free(*member);
    *member = g_strdup(value->text->str);
    return TRUE;
}

static gboolean
take_member(NsqIdentity *self, const JsonValue *value)
{
    const IdentityRow *row = find_row(value->key->str);
    gpointer member;

    if (g_ascii_strcasecmp(value->key->str, "remote_address") == 0)
        return value->kind == JSON_STRING || value->kind == JSON_NULL;
    if (row == NULL || value->kind == JSON_NULL)
        return TRUE;
    member = G_STRUCT_MEMBER_P(self, row->offset);
    return row->is_number ? json_value_get_int(value, member) : take_text(member, value);
}

static gboolean
take_members(NsqIdentity *self, const JsonValue *object, GError **error)
{
    for (guint i = 0; i < object->children->len; i++) {
        const JsonValue *value = g_ptr_array_index(object->children, i);

        if (take_member(self, value))
            continue;
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "'%s' has a value of another type",
                    value->key->str);
        return FALSE;
    }
    return TRUE;
}

static gboolean
decode(NsqIdentity *self, const guint8 *body, gsize length, GError **error)
{
    g_autoptr(JsonValue) value = json_value_parse(body, length, error);

    if (value == NULL)
        return FALSE;
    if (value->kind == JSON_NULL)
        return TRUE;
    if (value->kind == JSON_OBJECT)
        return take_members(self, value, error);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "it is no object");
    return FALSE;
}

static gboolean
check_required(const NsqIdentity *self, GError **error)
{
    g_autoptr(GString) missing = g_string_new(NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        gconstpointer member = G_STRUCT_MEMBER_P(self, rows[i].offset);
        const char *text = rows[i].is_number ? NULL : *(char *const *) member;
        gboolean given =
            rows[i].is_number ? *(const gint64 *) member != 0 : text != NULL && *text != '\0';

        if (rows[i].required && !given)
            g_string_append_printf(missing, "%s%s", missing->len > 0 ? ", " : "", rows[i].key);
    }
    if (missing->len == 0)
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "it lacks %s", missing->str);
    return FALSE;
}

/* The topology is newer than the version that we stand for: told only by those who have it. */
static char *
identity_to_json(const NsqIdentity *self)
{
    GString *out = g_string_new("{");

    nsq_json_append_member(out, "remote_address", self->remote_address);
    nsq_json_append_member(out, "hostname", self->hostname);
    nsq_json_append_member(out, "broadcast_address", self->broadcast_address);
    nsq_json_append_number(out, "tcp_port", self->tcp_port);
    nsq_json_append_number(out, "http_port", self->http_port);
    nsq_json_append_member(out, "version", self->version);
    if (*self->topology_zone != '\0' || *self->topology_region != '\0') {
        nsq_json_append_member(out, "topology_zone", self->topology_zone);
        nsq_json_append_member(out, "topology_region", self->topology_region);
    }
    return g_string_free(out, FALSE);
}

static void
fill_in(NsqIdentity *self, const char *remote_address)
{
    char **optional[] = { &self->hostname, &self->topology_zone, &self->topology_region };

    for (gsize i = 0; i < G_N_ELEMENTS(optional); i++)
        if (*optional[i] == NULL)
            *optional[i] = g_strdup("");
    self->remote_address = g_strdup(remote_address);
    self->node = g_strdup_printf("%s:%" G_GINT64_FORMAT, self->broadcast_address, self->http_port);
    self->json = identity_to_json(self);
}

NsqIdentity *
nsq_identity_parse(const guint8 *body, gsize length, const char *remote_address,
                   const char **ret_answer, GError **error)
{
    g_autoptr(NsqIdentity) self = g_new0(NsqIdentity, 1);

    *ret_answer = "E_BAD_BODY IDENTIFY failed to decode JSON body";
    if (!decode(self, body, length, error))
        return NULL;
    *ret_answer = "E_BAD_BODY IDENTIFY missing fields";
    if (!check_required(self, error))
        return NULL;
    fill_in(self, remote_address);
    return g_steal_pointer(&self);
}

void
nsq_identity_free(NsqIdentity *self)
{
    if (self == NULL)
        return;
    g_free(self->remote_address);
    g_free(self->hostname);
    g_free(self->broadcast_address);
    g_free(self->version);
    g_free(self->topology_zone);
    g_free(self->topology_region);
    g_free(self->node);
    g_free(self->json);
    g_free(self);
}

char *
nsq_self_to_json(const NsqSelf *self)
{
    GString *out = g_string_new("{");

    nsq_json_append_member(out, "broadcast_address", self->broadcast_address);
    nsq_json_append_member(out, "hostname", self->hostname);
    nsq_json_append_number(out, "http_port", self->http_port);
    nsq_json_append_number(out, "tcp_port", self->tcp_port);
    nsq_json_append_member(out, "version", NSQ_VERSION);
    g_string_append_c(out, '}');
    return g_string_free(out, FALSE);
}
