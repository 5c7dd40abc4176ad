/* yaml_reader.c - libyaml's events made into nodes. */
#include "base/yaml_reader.h"

#include <string.h>
#include <yaml.h>

#include "base/problems.h"
#include "base/yaml_expand.h"
#include "base/yaml_syntax.h"

#define MAX_DEPTH 32
#define MAX_SKIPPED_DEPTH 100
#define MAX_NODES 100000
#define MAX_TEXT_MIB 64

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_event_t, yaml_event_delete)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_parser_t, yaml_parser_delete)

typedef struct {
    yaml_parser_t *parser;
    Problems *problems;
    const char *text; /* the file */
    gsize length;
    GString *path;       /* of the node being read: "sinks.archive" */
    GHashTable *anchors; /* name → YamlNode *, borrowed from the tree or from dropped */
    GPtrArray *open;     /* collections whose end has not come yet, borrowed */
    GPtrArray *dropped;  /* owned: not in the tree, but an anchor may name them */
    guint n_nodes;
    gsize n_text_bytes;
    gboolean failed; /* nothing more can be read, and a problem says why */
} YamlReader;

static YamlNode *read_node(YamlReader *self, const yaml_event_t *event);

static void G_GNUC_PRINTF(3, 4)
    complain(YamlReader *self, const yaml_mark_t *mark, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    problems_add_at(self->problems, (int) mark->line + 1, (int) mark->column + 1, self->path->str,
                    "%s", what);
}

static gboolean
next_event(YamlReader *self, yaml_event_t *ret_event)
{
    if (self->failed)
        return FALSE;
    if (yaml_parser_parse(self->parser, ret_event))
        return TRUE;
    yaml_syntax_problem(self->parser, self->text, self->length, self->problems);
    self->failed = TRUE;
    return FALSE;
}

/* --- making nodes --- */

static void
node_free_func(gpointer node)
{
    yaml_node_free(node);
}

/* An alias or a variable makes much of a short text. */
static gboolean
account(YamlReader *self, const yaml_mark_t *mark, guint n_nodes, gsize n_text_bytes)
{
    self->n_nodes += n_nodes;
    self->n_text_bytes += n_text_bytes;
    if (self->n_nodes <= MAX_NODES && self->n_text_bytes <= MAX_TEXT_MIB * 1024 * 1024)
        return TRUE;
    complain(self, mark,
             "the file has more than %d nodes or %d MiB of text once aliases and variables are "
             "expanded; write a smaller one",
             MAX_NODES, MAX_TEXT_MIB);
    self->failed = TRUE;
    return FALSE;
}

/* text is NULL for a collection. NULL if the tree grows too large. */
static YamlNode *
node_new(YamlReader *self, const yaml_mark_t *mark, YamlKind kind, const char *text)
{
    YamlNode *node;

    if (!account(self, mark, 1, text == NULL ? 0 : strlen(text)))
        return NULL;
    node = g_new0(YamlNode, 1);
    node->kind = kind;
    node->line = (int) mark->line + 1;
    node->column = (int) mark->column + 1;
    node->text = g_strdup(text);
    if (kind != YAML_SCALAR)
        node->children = g_ptr_array_new_with_free_func(node_free_func);
    return node;
}

static YamlNode *
node_new_broken(YamlReader *self, const yaml_mark_t *mark)
{
    YamlNode *node = node_new(self, mark, YAML_SCALAR, "");

    if (node != NULL)
        node->broken = TRUE;
    return node;
}

static void
remember_anchor(YamlReader *self, const yaml_char_t *anchor, YamlNode *node)
{
    if (anchor != NULL)
        g_hash_table_insert(self->anchors, g_strdup((const char *) anchor), node);
}

/* Scalars are typed by option rows, so a tag of the core schema says nothing; any other asks for
 * something that would not happen. */
static void
check_tag(YamlReader *self, const yaml_event_t *event, const yaml_char_t *tag)
{
    static const char *const ignored[] = {
        "!",          YAML_STR_TAG, YAML_INT_TAG, YAML_FLOAT_TAG, YAML_BOOL_TAG, YAML_NULL_TAG,
        YAML_SEQ_TAG, YAML_MAP_TAG, NULL
    };

    if (tag != NULL && !g_strv_contains(ignored, (const char *) tag))
        complain(self, &event->start_mark, "the tag '%s' has no meaning here; remove it", tag);
}

/* --- scalars --- */

static void
expand_variables(YamlReader *self, const yaml_mark_t *mark, YamlNode *node)
{
    g_autofree char *expanded = NULL;

    if (node->broken || strstr(node->text, "${") == NULL)
        return;
    expanded = yaml_expand(node->text, node, self->path->str, self->problems);
    node->broken = expanded == NULL;
    node->quoted = TRUE;
    g_free(node->text);
    node->text = expanded == NULL ? g_strdup("") : g_steal_pointer(&expanded);
    account(self, mark, 0, strlen(node->text));
}

static YamlNode *
read_scalar(YamlReader *self, const yaml_event_t *event)
{
    const char *text = (const char *) event->data.scalar.value;
    const yaml_mark_t *mark = &event->start_mark;
    YamlNode *node;

    check_tag(self, event, event->data.scalar.tag);
    if (strlen(text) == event->data.scalar.length) {
        node = node_new(self, mark, YAML_SCALAR, text);
    } else {
        complain(self, mark, "the text holds a NUL (\\0); leave it out");
        node = node_new_broken(self, mark);
    }
    if (node == NULL)
        return NULL;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    remember_anchor(self, event->data.scalar.anchor, node);
    return node;
}

/* --- aliases --- */

/* depth is that of the copy. NULL if it is too deep or the tree grows too large. */
static YamlNode *
node_copy(YamlReader *self, const yaml_mark_t *mark, const YamlNode *original, guint depth)
{
    g_autoptr(YamlNode) node = NULL;

    if (original->kind != YAML_SCALAR && depth > MAX_DEPTH) {
        complain(self, mark, "this alias nests more than %d levels; write it flatter", MAX_DEPTH);
        return NULL;
    }
    node = node_new(self, mark, original->kind, original->text);
    if (node == NULL)
        return NULL;
    node->line = original->line;
    node->column = original->column;
    node->quoted = original->quoted;
    node->broken = original->broken;
    for (guint i = 0; original->kind != YAML_SCALAR && i < original->children->len; i++) {
        const YamlNode *child = g_ptr_array_index(original->children, i);
        YamlNode *copy = node_copy(self, mark, child, depth + 1);

        if (copy == NULL)
            return NULL;
        g_ptr_array_add(node->children, copy);
        if (child->key == NULL)
            continue;
        copy->key = node_copy(self, mark, child->key, depth + 1);
        if (copy->key == NULL)
            return NULL;
    }
    return g_steal_pointer(&node);
}

static YamlNode *
read_alias(YamlReader *self, const yaml_event_t *event)
{
    const char *name = (const char *) event->data.alias.anchor;
    const yaml_mark_t *mark = &event->start_mark;
    const YamlNode *original = g_hash_table_lookup(self->anchors, name);
    YamlNode *node = NULL;

    if (original == NULL)
        complain(self, mark, "there is no anchor '&%s' before this alias; write the value out",
                 name);
    else if (g_ptr_array_find(self->open, original, NULL))
        complain(self, mark, "the alias '*%s' stands inside its own anchor; write it out", name);
    else
        node = node_copy(self, mark, original, self->open->len + 1);
    if (node == NULL)
        return self->failed ? NULL : node_new_broken(self, mark);
    node->line = (int) mark->line + 1;
    node->column = (int) mark->column + 1;
    return node;
}

/* --- collections --- */

/* Of something that has a problem already. FALSE if nothing more can be read. */
static gboolean
skip_collection(YamlReader *self)
{
    for (guint depth = 1; depth > 0;) {
        g_auto(yaml_event_t) event = { 0 };

        if (!next_event(self, &event))
            return FALSE;
        if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
            depth++;
        else if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            depth--;
        /* libyaml takes time in proportion to the depth for every token. */
        self->failed = depth > MAX_SKIPPED_DEPTH;
    }
    return TRUE;
}

static gboolean
read_items(YamlReader *self, YamlNode *sequence)
{
    gsize path_length = self->path->len;

    for (;;) {
        g_auto(yaml_event_t) event = { 0 };
        YamlNode *item;

        if (!next_event(self, &event))
            return FALSE;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return TRUE;
        g_string_append_printf(self->path, "[%u]", sequence->children->len);
        item = read_node(self, &event);
        g_string_truncate(self->path, path_length);
        if (item == NULL)
            return FALSE;
        g_ptr_array_add(sequence->children, item);
    }
}

/* NULL if nothing more can be read; a key that is none has a problem and is broken. */
static YamlNode *
read_key(YamlReader *self, const yaml_event_t *event)
{
    g_autoptr(YamlNode) key = NULL;

    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(self, event);
    if (event->type == YAML_ALIAS_EVENT) {
        key = read_alias(self, event);
        if (key == NULL || key->kind == YAML_SCALAR)
            return g_steal_pointer(&key);
    }
    complain(self, &event->start_mark,
             "a list or a mapping stands where a key is expected; write a name");
    if (event->type != YAML_ALIAS_EVENT && !skip_collection(self))
        return NULL;
    return node_new_broken(self, &event->start_mark);
}

/* FALSE after adding a problem if this key may not stand here. */
static gboolean
check_key(YamlReader *self, const YamlNode *key, GHashTable *seen)
{
    const YamlNode *first = g_hash_table_lookup(seen, key->text);

    if (key->broken)
        return FALSE;
    if (!key->quoted && strcmp(key->text, "<<") == 0)
        problems_add(self->problems, key, self->path->str,
                     "merge keys ('<<') are not supported; write the options out");
    else if (first != NULL)
        problems_add(self->problems, key, self->path->str,
                     "this key is given twice, first in line %d; remove one", first->line);
    else
        return TRUE;
    return FALSE;
}

static gboolean
read_entry(YamlReader *self, const yaml_event_t *key_event, YamlNode *mapping, GHashTable *seen)
{
    g_autoptr(YamlNode) key = read_key(self, key_event);
    g_auto(yaml_event_t) event = { 0 };
    YamlNode *value;
    gboolean keep;

    if (key == NULL)
        return FALSE;
    if (self->path->len > 0)
        g_string_append_c(self->path, '.');
    g_string_append(self->path, key->text);
    keep = check_key(self, key, seen);
    if (!next_event(self, &event))
        return FALSE;
    value = read_node(self, &event);
    if (value == NULL)
        return FALSE;
    if (keep)
        g_hash_table_insert(seen, key->text, key);
    value->key = g_steal_pointer(&key);
    g_ptr_array_add(keep ? mapping->children : self->dropped, value);
    return TRUE;
}

static gboolean
read_entries(YamlReader *self, YamlNode *mapping)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    gsize path_length = self->path->len;

    for (;;) {
        g_auto(yaml_event_t) event = { 0 };

        if (!next_event(self, &event))
            return FALSE;
        if (event.type == YAML_MAPPING_END_EVENT)
            return TRUE;
        if (!read_entry(self, &event, mapping, seen))
            return FALSE;
        g_string_truncate(self->path, path_length);
    }
}

static YamlNode *
read_collection(YamlReader *self, const yaml_event_t *event)
{
    gboolean is_mapping = event->type == YAML_MAPPING_START_EVENT;
    g_autoptr(YamlNode) node = NULL;
    gboolean ok;

    if (self->open->len == MAX_DEPTH) {
        complain(self, &event->start_mark, "this nests more than %d levels; write it flatter",
                 MAX_DEPTH);
        return skip_collection(self) ? node_new_broken(self, &event->start_mark) : NULL;
    }
    check_tag(self, event,
              is_mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    node = node_new(self, &event->start_mark, is_mapping ? YAML_MAPPING : YAML_SEQUENCE, NULL);
    if (node == NULL)
        return NULL;
    remember_anchor(
        self, is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
        node);
    g_ptr_array_add(self->open, node);
    ok = is_mapping ? read_entries(self, node) : read_items(self, node);
    g_ptr_array_set_size(self->open, (gint) self->open->len - 1);
    return ok ? g_steal_pointer(&node) : NULL;
}

/* The node that starts with event. NULL if nothing more can be read. */
static YamlNode *
read_node(YamlReader *self, const yaml_event_t *event)
{
    YamlNode *node;

    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return read_alias(self, event);
    case YAML_SCALAR_EVENT:
        node = read_scalar(self, event);
        if (node != NULL)
            expand_variables(self, &event->start_mark, node);
        return node;
    default:
        return read_collection(self, event);
    }
}

/* --- the document --- */

/* The first event of the given type; FALSE if something else comes. */
static gboolean
expect(YamlReader *self, yaml_event_type_t type, yaml_mark_t *ret_mark)
{
    g_auto(yaml_event_t) event = { 0 };

    if (!next_event(self, &event))
        return FALSE;
    *ret_mark = event.start_mark;
    return event.type == type;
}

static YamlNode *
read_root(YamlReader *self)
{
    g_auto(yaml_event_t) event = { 0 };
    g_autoptr(YamlNode) root = NULL;

    if (!next_event(self, &event))
        return NULL;
    root = read_node(self, &event);
    if (root == NULL || root->kind == YAML_MAPPING)
        return g_steal_pointer(&root);
    if (yaml_node_is_empty(root))
        complain(self, &event.start_mark, "the file is empty; write 'name: value' lines");
    else if (!root->broken)
        complain(self, &event.start_mark, "the file is no mapping; write 'name: value' lines");
    return NULL;
}

static YamlNode *
read_document(YamlReader *self)
{
    g_autoptr(YamlNode) root = NULL;
    yaml_mark_t mark = { 0 };

    if (!expect(self, YAML_STREAM_START_EVENT, &mark))
        return NULL;
    if (!expect(self, YAML_DOCUMENT_START_EVENT, &mark)) {
        if (!self->failed)
            complain(self, &mark, "the file is empty; write 'name: value' lines");
        return NULL;
    }
    root = read_root(self);
    if (!expect(self, YAML_DOCUMENT_END_EVENT, &mark))
        return NULL;
    if (!expect(self, YAML_STREAM_END_EVENT, &mark) && !self->failed)
        complain(self, &mark, "a second document starts here; keep one in a file");
    return self->failed ? NULL : g_steal_pointer(&root);
}

YamlNode *
yaml_read(const char *text, gsize length, Problems *problems)
{
    g_autoptr(GString) path = g_string_new(NULL);
    g_autoptr(GHashTable) anchors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) open = g_ptr_array_new();
    g_autoptr(GPtrArray) dropped = g_ptr_array_new_with_free_func(node_free_func);
    g_auto(yaml_parser_t) parser;
    YamlReader self = {
        .parser = &parser,
        .problems = problems,
        .text = text,
        .length = length,
        .path = path,
        .anchors = anchors,
        .open = open,
        .dropped = dropped,
    };

    if (!yaml_parser_initialize(&parser))
        g_error("libyaml: out of memory");
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *) text, length);
    return read_document(&self);
}
