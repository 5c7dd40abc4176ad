/* option.c - tables of rows applied to a mapping: every member set, every mistake named. */
#include "base/option.h"

#include <string.h>

#include "base/option_value.h"

static const gsize member_sizes[] = {
    [OPTION_STRING] = sizeof(OPTION_TYPE_STRING),
    [OPTION_BOOL] = sizeof(OPTION_TYPE_BOOL),
    [OPTION_COUNT] = sizeof(OPTION_TYPE_COUNT),
    [OPTION_SIZE] = sizeof(OPTION_TYPE_SIZE),
    [OPTION_DURATION] = sizeof(OPTION_TYPE_DURATION),
    [OPTION_RATIO] = sizeof(OPTION_TYPE_RATIO),
    [OPTION_CHOICE] = sizeof(OPTION_TYPE_CHOICE),
    [OPTION_REGEX] = sizeof(OPTION_TYPE_REGEX),
    [OPTION_PATH] = sizeof(OPTION_TYPE_PATH),
    [OPTION_SECRET_FILE] = sizeof(OPTION_TYPE_SECRET_FILE),
    [OPTION_LISTEN] = sizeof(OPTION_TYPE_LISTEN),
    [OPTION_ENDPOINTS] = sizeof(OPTION_TYPE_ENDPOINTS),
    [OPTION_NAMES] = sizeof(OPTION_TYPE_NAMES),
    [OPTION_MAP] = sizeof(OPTION_TYPE_MAP),
    [OPTION_ROWS] = sizeof(OPTION_TYPE_ROWS),
    [OPTION_PART] = 0,
    [OPTION_PARTS] = 0,
};

static const char *
node_words(const YamlNode *node)
{
    return node->kind == YAML_SCALAR     ? "a single value"
           : node->kind == YAML_SEQUENCE ? "a list"
                                         : "a mapping";
}

static char *
path_join(const char *path, const char *name)
{
    return *path == '\0' ? g_strdup(name) : g_strdup_printf("%s.%s", path, name);
}

/* FALSE, after adding a problem unless the node has one already, if it has no value or is not of
 * the given YAML kind. */
static gboolean
check_node(const YamlNode *node, YamlKind wanted, const char *expects, const char *path,
           Problems *problems)
{
    if (node->kind == YAML_SCALAR && node->broken)
        return FALSE;
    if (yaml_node_is_empty(node))
        problems_add(problems, node, path, "there is no value; write %s", expects);
    else if (node->kind != wanted)
        problems_add(problems, node, path, "%s stands here; write %s", node_words(node), expects);
    else
        return TRUE;
    return FALSE;
}

/* --- lists --- */

/* Calls add for each scalar of a list, or for a scalar alone. FALSE if any had a problem. */
static gboolean
visit_items(const OptionSpec *spec, const YamlNode *node, const char *path, Problems *problems,
            gboolean (*add)(const YamlNode *item, const char *path, Problems *problems,
                            GPtrArray *list),
            GPtrArray *list)
{
    const char *expects = option_kind_expects(spec->kind);
    gboolean ok = TRUE;

    if (node->kind == YAML_SCALAR)
        return check_node(node, YAML_SCALAR, expects, path, problems) &&
               add(node, path, problems, list);
    if (!check_node(node, YAML_SEQUENCE, expects, path, problems))
        return FALSE;
    for (guint i = 0; i < node->children->len; i++) {
        const YamlNode *item = g_ptr_array_index(node->children, i);
        g_autofree char *item_path = g_strdup_printf("%s[%u]", path, i);

        ok = check_node(item, YAML_SCALAR, "one value", item_path, problems) &&
             add(item, item_path, problems, list) && ok;
    }
    if (spec->required && node->children->len == 0) {
        problems_add(problems, node, path, "the list is empty; write at least one");
        return FALSE;
    }
    return ok;
}

static gboolean
add_name(const YamlNode *item, const char *path, Problems *problems, GPtrArray *list)
{
    if (*item->text == '\0') {
        problems_add(problems, item, path, "'' is no name; write a name");
        return FALSE;
    }
    g_ptr_array_add(list, g_strdup(item->text));
    return TRUE;
}

static gboolean
apply_names(const OptionSpec *spec, const YamlNode *node, gpointer target, const char *path,
            Problems *problems)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

    if (!visit_items(spec, node, path, problems, add_name, list))
        return FALSE;
    g_ptr_array_add(list, NULL);
    *(GStrv *) target = (GStrv) g_ptr_array_steal(list, NULL);
    return TRUE;
}

static void
endpoint_free_func(gpointer endpoint)
{
    endpoint_free(endpoint);
}

/* "a:1,b:2", as `leat send` and Apache Flume take them. */
static gboolean
has_several_addresses(const char *text)
{
    const char *separator = strpbrk(text, ", \t");
    const char *colon = strchr(text, ':');

    return separator != NULL && colon != NULL && colon < separator &&
           strchr(separator, ':') != NULL;
}

static gboolean
add_endpoint(const YamlNode *item, const char *path, Problems *problems, GPtrArray *list)
{
    Endpoint *endpoint;

    if (has_several_addresses(item->text))
        return option_value_refuse(item, path, problems,
                                   "is more than one address; write a list, such as "
                                   "[\"hub1:4141\", \"hub2:4141\"]");
    endpoint = option_value_parse_endpoint(item, path, problems);
    if (endpoint == NULL)
        return FALSE;
    g_ptr_array_add(list, endpoint);
    return TRUE;
}

static gboolean
apply_endpoints(const OptionSpec *spec, const YamlNode *node, gpointer target, const char *path,
                Problems *problems)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(endpoint_free_func);

    if (!visit_items(spec, node, path, problems, add_endpoint, list))
        return FALSE;
    *(GPtrArray **) target = g_steal_pointer(&list);
    return TRUE;
}

/* --- maps and rows --- */

static void
string_entry_free(gpointer data)
{
    OptionMapEntry *entry = data;

    g_free(entry->key);
    g_free(entry->string);
    g_free(entry);
}

static void
names_entry_free(gpointer data)
{
    OptionMapEntry *entry = data;

    g_free(entry->key);
    g_strfreev(entry->names);
    g_free(entry);
}

static gboolean
apply_map(const OptionSpec *spec, const YamlNode *node, gpointer target, const char *path,
          Problems *problems)
{
    gboolean of_names = spec->value_kind == OPTION_NAMES;
    const OptionSpec value_spec = { .kind = spec->value_kind };
    g_autoptr(GPtrArray) map =
        g_ptr_array_new_with_free_func(of_names ? names_entry_free : string_entry_free);
    gboolean ok = TRUE;

    if (!check_node(node, YAML_MAPPING, option_kind_expects(spec->kind), path, problems))
        return FALSE;
    for (guint i = 0; i < node->children->len; i++) {
        const YamlNode *value = g_ptr_array_index(node->children, i);
        g_autofree char *value_path = path_join(path, value->key->text);
        OptionMapEntry *entry = g_new0(OptionMapEntry, 1);

        entry->key = g_strdup(value->key->text);
        g_ptr_array_add(map, entry);
        if (of_names)
            ok = apply_names(&value_spec, value, &entry->names, value_path, problems) && ok;
        else if (check_node(value, YAML_SCALAR, "one text", value_path, problems))
            entry->string = g_strdup(value->text);
        else
            ok = FALSE;
    }
    if (ok)
        *(GPtrArray **) target = g_steal_pointer(&map);
    return ok;
}

static void
rows_free(const OptionSpec *spec, GPtrArray *rows)
{
    const OptionSpec *const tables[] = { spec->rows, NULL };

    for (guint i = 0; rows != NULL && i < rows->len; i++) {
        options_clear(tables, g_ptr_array_index(rows, i));
        g_free(g_ptr_array_index(rows, i));
    }
    g_clear_pointer(&rows, g_ptr_array_unref);
}

static void
apply_row(const OptionSpec *spec, const YamlNode *item, const char *path, Problems *problems,
          GPtrArray *rows)
{
    const OptionSpec *const tables[] = { spec->rows, NULL };

    if (!check_node(item, YAML_MAPPING, "a mapping", path, problems))
        return;
    g_ptr_array_add(rows, g_malloc0(spec->row_size));
    options_apply(tables, item, rows->pdata[rows->len - 1], path, problems);
}

static void
apply_list_of_rows(const OptionSpec *spec, const YamlNode *node, const char *path,
                   Problems *problems, GPtrArray *rows)
{
    if (!check_node(node, YAML_SEQUENCE, option_kind_expects(spec->kind), path, problems))
        return;
    for (guint i = 0; i < node->children->len; i++) {
        g_autofree char *item_path = g_strdup_printf("%s[%u]", path, i);

        apply_row(spec, g_ptr_array_index(node->children, i), item_path, problems, rows);
    }
    if (spec->required && node->children->len == 0)
        problems_add(problems, node, path, "the list is empty; write at least one");
}

static gboolean
apply_rows(const OptionSpec *spec, const YamlNode *node, gpointer target, const char *path,
           Problems *problems)
{
    gsize before = problems_count(problems);
    GPtrArray *rows = g_ptr_array_new();

    if (node->kind == YAML_MAPPING)
        apply_row(spec, node, path, problems, rows);
    else
        apply_list_of_rows(spec, node, path, problems, rows);
    if (problems_count(problems) == before) {
        *(GPtrArray **) target = rows;
        return TRUE;
    }
    rows_free(spec, rows);
    return FALSE;
}

/* --- one option --- */

/* Not with the other scalars: who uses those alone has no use for a library of expressions. */
static gboolean
apply_regex(const YamlNode *node, gpointer target, const char *path, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    Regex *regex = regex_new(node->text, &error);

    if (regex == NULL)
        return option_value_refuse(node, path, problems,
                                   "is not a regular expression: %s; correct the pattern",
                                   error->message);
    *(Regex **) target = regex;
    return TRUE;
}

/* FALSE, with the member as it was, if there were problems. */
static gboolean
apply_node(const OptionSpec *spec, const YamlNode *node, gpointer target, const char *path,
           Problems *problems)
{
    switch (spec->kind) {
    case OPTION_PART:
    case OPTION_PARTS:
        return TRUE;
    case OPTION_NAMES:
        return apply_names(spec, node, target, path, problems);
    case OPTION_ENDPOINTS:
        return apply_endpoints(spec, node, target, path, problems);
    case OPTION_MAP:
        return apply_map(spec, node, target, path, problems);
    case OPTION_ROWS:
        return apply_rows(spec, node, target, path, problems);
    case OPTION_REGEX:
        return check_node(node, YAML_SCALAR, option_kind_expects(spec->kind), path, problems) &&
               apply_regex(node, target, path, problems);
    default:
        return check_node(node, YAML_SCALAR, option_kind_expects(spec->kind), path, problems) &&
               option_value_parse(spec, node, target, path, problems);
    }
}

/* Lists and mappings stand in rows as a user would write them: "[a, b]". */
static YamlNode *
fallback_node(const OptionSpec *spec, Problems *problems)
{
    g_autofree char *text = g_strdup_printf("fallback: %s", spec->fallback);
    g_autoptr(YamlNode) root = NULL;
    YamlNode *node;

    if (spec->kind == OPTION_NAMES || spec->kind == OPTION_ENDPOINTS || spec->kind == OPTION_MAP ||
        spec->kind == OPTION_ROWS) {
        root = yaml_tree_parse(text, strlen(text), problems);
        return root == NULL ? NULL : g_ptr_array_steal_index(root->children, 0);
    }
    node = g_new0(YamlNode, 1);
    node->text = g_strdup(spec->fallback);
    node->quoted = TRUE;
    return node;
}

static void
apply_fallback(const OptionSpec *spec, gpointer target)
{
    g_autoptr(Problems) problems = NULL;
    g_autoptr(YamlNode) node = NULL;
    g_autofree char *text = NULL;

    if (spec->fallback == NULL)
        return;
    problems = problems_new("fallback");
    node = fallback_node(spec, problems);
    if (node != NULL && apply_node(spec, node, target, spec->name, problems))
        return;
    text = problems_to_text(problems);
    g_error("the option row '%s' has a fallback that is none: %s", spec->name, text);
}

static void
report_missing(const OptionSpec *spec, const YamlNode *mapping, const char *path,
               Problems *problems)
{
    g_autofree char *kind = g_strdup_printf("<%s>", option_kind_name(spec->kind));

    problems_add(problems, mapping, path, "the option '%s' is missing; add '%s: %s'", spec->name,
                 spec->name, spec->example == NULL ? kind : spec->example);
}

/* "host-backoff" for "backoff"; NULL: there is none. */
static const char *
find_switch_like(const OptionSpec *const *tables, const char *name)
{
    for (; *tables != NULL; tables++)
        for (const OptionSpec *spec = *tables; spec->name != NULL; spec++)
            if (spec->kind == OPTION_BOOL && g_str_has_suffix(spec->name, name))
                return spec->name;
    return NULL;
}

/* TRUE, after adding a problem, if true or false stands where a duration belongs and was meant for
 * another option. */
static gboolean
is_misplaced_switch(const OptionSpec *const *tables, const OptionSpec *spec, const YamlNode *node,
                    const char *path, Problems *problems)
{
    const char *other;

    if (spec->kind != OPTION_DURATION || node->kind != YAML_SCALAR ||
        (g_ascii_strcasecmp(node->text, "true") != 0 &&
         g_ascii_strcasecmp(node->text, "false") != 0))
        return FALSE;
    other = find_switch_like(tables, spec->name);
    if (other != NULL)
        option_value_refuse(node, path, problems, "is not a duration; did you mean '%s: %s'?",
                            other, node->text);
    return other != NULL;
}

static void
apply_option(const OptionSpec *const *tables, const OptionSpec *spec, const YamlNode *mapping,
             gpointer instance, const char *path, Problems *problems)
{
    gpointer target = G_STRUCT_MEMBER_P(instance, spec->offset);
    const YamlNode *node = mapping == NULL ? NULL : yaml_node_get(mapping, spec->name);
    g_autofree char *option_path = path_join(path, spec->name);

    memset(target, 0, member_sizes[spec->kind]);
    if (node != NULL && !is_misplaced_switch(tables, spec, node, option_path, problems) &&
        apply_node(spec, node, target, option_path, problems))
        return;
    if (node == NULL && spec->required)
        report_missing(spec, mapping, path, problems);
    apply_fallback(spec, target);
}

/* --- tables --- */

static GPtrArray *
all_names(const OptionSpec *const *tables)
{
    GPtrArray *names = g_ptr_array_new();

    for (; *tables != NULL; tables++)
        for (const OptionSpec *spec = *tables; spec->name != NULL; spec++)
            g_ptr_array_add(names, (gpointer) spec->name);
    g_ptr_array_add(names, NULL);
    return names;
}

static void
check_keys(const OptionSpec *const *tables, const YamlNode *mapping, const char *path,
           Problems *problems)
{
    g_autoptr(GPtrArray) names = all_names(tables);
    const char *const *list = (const char *const *) names->pdata;

    for (guint i = 0; i < mapping->children->len; i++) {
        const YamlNode *key = ((YamlNode *) g_ptr_array_index(mapping->children, i))->key;
        const char *nearest = problems_nearest(key->text, list);
        g_autofree char *options = g_strjoinv(", ", (char **) list);

        if (g_strv_contains(list, key->text))
            continue;
        if (nearest != NULL)
            problems_add(problems, key, path, "unknown option '%s'; did you mean '%s'?", key->text,
                         nearest);
        else
            problems_add(problems, key, path, "unknown option '%s'; options are: %s", key->text,
                         options);
    }
}

void
options_apply(const OptionSpec *const *tables, const YamlNode *mapping, gpointer instance,
              const char *path, Problems *problems)
{
    g_autoptr(Problems) ignored = NULL;

    if (mapping != NULL && !check_node(mapping, YAML_MAPPING, "a mapping", path, problems)) {
        /* What is missing in it would be said in vain. */
        ignored = problems_new("");
        problems = ignored;
        mapping = NULL;
    }
    if (mapping != NULL)
        check_keys(tables, mapping, path, problems);
    for (const OptionSpec *const *table = tables; *table != NULL; table++)
        for (const OptionSpec *spec = *table; spec->name != NULL; spec++)
            apply_option(tables, spec, mapping, instance, path, problems);
}

static void
clear_option(const OptionSpec *spec, gpointer target)
{
    switch (spec->kind) {
    case OPTION_STRING:
    case OPTION_PATH:
    case OPTION_SECRET_FILE:
        g_clear_pointer((char **) target, g_free);
        break;
    case OPTION_REGEX:
        g_clear_pointer((Regex **) target, regex_free);
        break;
    case OPTION_LISTEN:
        g_clear_pointer((Endpoint **) target, endpoint_free);
        break;
    case OPTION_NAMES:
        g_clear_pointer((GStrv *) target, g_strfreev);
        break;
    case OPTION_ENDPOINTS:
    case OPTION_MAP:
        g_clear_pointer((GPtrArray **) target, g_ptr_array_unref);
        break;
    case OPTION_ROWS:
        rows_free(spec, *(GPtrArray **) target);
        *(GPtrArray **) target = NULL;
        break;
    default:
        break;
    }
}

void
options_clear(const OptionSpec *const *tables, gpointer instance)
{
    for (; *tables != NULL; tables++)
        for (const OptionSpec *spec = *tables; spec->name != NULL; spec++)
            clear_option(spec, G_STRUCT_MEMBER_P(instance, spec->offset));
}
