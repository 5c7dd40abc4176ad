/* yaml_tree.c - the nodes of a YAML document, and the way from a file to them. */
#include "base/yaml_tree.h"

#include <string.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/problems.h"
#include "base/yaml_reader.h"

void
yaml_node_free(YamlNode *self)
{
    if (self == NULL)
        return;
    yaml_node_free(self->key);
    g_clear_pointer(&self->children, g_ptr_array_unref);
    g_free(self->text);
    g_free(self);
}

const YamlNode *
yaml_node_get(const YamlNode *mapping, const char *key)
{
    for (guint i = 0; mapping->kind == YAML_MAPPING && i < mapping->children->len; i++) {
        const YamlNode *value = g_ptr_array_index(mapping->children, i);

        if (strcmp(value->key->text, key) == 0)
            return value;
    }
    return NULL;
}

gboolean
yaml_node_is_empty(const YamlNode *self)
{
    return self->kind == YAML_SCALAR && !self->quoted && !self->broken &&
           (*self->text == '\0' || strcmp(self->text, "~") == 0);
}

/* libyaml would find a bad byte too, but not say where it stands. */
static gboolean
check_utf8(const char *text, gsize length, Problems *problems)
{
    const char *end;
    int line = 1;
    const char *start = text;

    if (g_utf8_validate_len(text, length, &end))
        return TRUE;
    for (const char *c = text; c < end; c++) {
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    }
    problems_add_at(problems, line, (int) g_utf8_strlen(start, end - start) + 1, "",
                    "the byte 0x%02x stands here, which is not UTF-8 text; save the file as UTF-8",
                    *(const guint8 *) end);
    return FALSE;
}

YamlNode *
yaml_tree_parse(const char *text, gsize length, Problems *problems)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    return check_utf8(text, length, problems) ? yaml_read(text, length, problems) : NULL;
}

YamlNode *
yaml_tree_load(const char *path, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length;

    text = file_text_read(path, YAML_TREE_MAX_BYTES, clock_deadline_us(FILE_TEXT_PATIENCE_US),
                          &length, &error);
    if (text != NULL)
        return yaml_tree_parse(text, length, problems);
    problems_add(
        problems, NULL, "", "the file cannot be read: %s; name a YAML file%s", error->message,
        g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES) ? " that this user may read"
                                                                 : " that exists");
    return NULL;
}
