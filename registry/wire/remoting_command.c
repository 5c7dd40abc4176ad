/* remoting_command.c - a command with its fields, and the frame that it is written into. */
#include "registry/wire/remoting_command.h"

#include <gio/gio.h>
#include <string.h>

#include "registry/wire/fastjson.h"
#include "registry/wire/remoting_frame.h"

/* Letters. */
#define REMARK_MAX 200

static void
field_clear(RemotingField *self)
{
    g_free(self->name);
    g_free(self->value);
}

RemotingCommand *
remoting_command_new(gint32 code, gint32 opaque)
{
    RemotingCommand *self = g_new0(RemotingCommand, 1);

    self->code = code;
    self->version = REMOTING_VERSION;
    self->opaque = opaque;
    self->fields = g_array_new(FALSE, FALSE, sizeof(RemotingField));
    g_array_set_clear_func(self->fields, (GDestroyNotify) field_clear);
    return self;
}

RemotingCommand *
remoting_command_new_answer(const RemotingCommand *request, gint32 code, const char *remark)
{
    RemotingCommand *self = remoting_command_new(code, request->opaque);

    self->is_answer = TRUE;
    self->remark = g_strdup(remark);
    return self;
}

void
remoting_command_free(RemotingCommand *self)
{
    g_free(self->remark);
    g_free(self->own_body);
    g_array_unref(self->fields);
    g_free(self);
}

/* ---- fields ---- */

static RemotingField *
find_field(const RemotingCommand *self, const char *name)
{
    for (guint i = 0; i < self->fields->len; i++) {
        RemotingField *field = &g_array_index(self->fields, RemotingField, i);

        if (strcmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}

void
remoting_command_set(RemotingCommand *self, const char *name, const char *value)
{
    RemotingField *field = find_field(self, name);
    RemotingField added;

    if (value == NULL)
        return;
    if (field != NULL) {
        g_free(field->value);
        field->value = g_strdup(value);
        return;
    }
    added = (RemotingField){ .name = g_strdup(name), .value = g_strdup(value) };
    g_array_append_val(self->fields, added);
}

void
remoting_command_set_int(RemotingCommand *self, const char *name, gint64 value)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);

    remoting_command_set(self, name, text);
}

void
remoting_command_set_bool(RemotingCommand *self, const char *name, gboolean value)
{
    remoting_command_set(self, name, value ? "true" : "false");
}

void
remoting_command_set_body(RemotingCommand *self, GString *body)
{
    g_free(self->own_body);
    self->body.length = body->len;
    self->own_body = g_string_free(body, FALSE);
    self->body.data = (const guint8 *) self->own_body;
}

char *
remoting_command_remark(const RemotingCommand *self)
{
    const char *whole = self->remark != NULL ? self->remark : "";
    gboolean is_long = g_utf8_strlen(whole, -1) > REMARK_MAX;
    g_autofree char *remark = is_long ? g_utf8_substring(whole, 0, REMARK_MAX) : g_strdup(whole);

    for (char *c = remark; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    return g_strconcat(remark, is_long ? "..." : "", NULL);
}

const char *
remoting_command_get(const RemotingCommand *self, const char *name)
{
    const RemotingField *field = find_field(self, name);

    return field == NULL ? NULL : field->value;
}

gboolean
remoting_command_get_int(const RemotingCommand *self, const char *name, gint64 min, gint64 max,
                         gint64 *value, GError **error)
{
    const char *text = remoting_command_get(self, name);

    if (text == NULL)
        return TRUE;
    if (g_ascii_string_to_signed(text, 10, min, max, value, NULL))
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s is no number that it can be: %.40s",
                name, text);
    return FALSE;
}

gboolean
remoting_command_get_bool(const RemotingCommand *self, const char *name)
{
    const char *text = remoting_command_get(self, name);

    return text != NULL && g_ascii_strcasecmp(text, "true") == 0;
}

/* ---- the frame ---- */

static void
write_header(const RemotingCommand *self, GString *header)
{
    Fastjson json = { .out = header };

    fastjson_open(&json, NULL, '{');
    fastjson_int(&json, "code", self->code);
    if (self->fields->len > 0) {
        fastjson_open(&json, "extFields", '{');
        for (guint i = 0; i < self->fields->len; i++) {
            const RemotingField *field = &g_array_index(self->fields, RemotingField, i);

            fastjson_key(&json, field->name);
            fastjson_text(&json, NULL, field->value);
        }
        fastjson_close(&json, '}');
    }
    fastjson_int(&json, "flag",
                 (self->is_answer ? REMOTING_FLAG_ANSWER : 0) |
                     (self->is_one_way ? REMOTING_FLAG_ONE_WAY : 0));
    fastjson_text(&json, "language", self->is_answer ? "JAVA" : "OTHER");
    fastjson_int(&json, "opaque", self->opaque);
    fastjson_text(&json, "remark", self->remark);
    fastjson_text(&json, "serializeTypeCurrentRPC", "JSON");
    fastjson_int(&json, "version", self->version);
    fastjson_close(&json, '}');
}

static void
append_int(GByteArray *out, gsize number)
{
    guint32 bytes = GUINT32_TO_BE((guint32) number);

    g_byte_array_append(out, (const guint8 *) &bytes, sizeof bytes);
}

void
remoting_command_encode(const RemotingCommand *self, GByteArray *out)
{
    g_autoptr(GString) header = g_string_sized_new(160);

    write_header(self, header);
    if (!self->is_answer)
        g_string_append(header, "\r\n\r\n");
    append_int(out, 4 + header->len + self->body.length);
    append_int(out, (gsize) REMOTING_HEADER_JSON << 24 | header->len);
    g_byte_array_append(out, (const guint8 *) header->str, (guint) header->len);
    if (self->body.length > 0)
        g_byte_array_append(out, self->body.data, (guint) self->body.length);
}
