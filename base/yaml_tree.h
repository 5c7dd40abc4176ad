/* yaml_tree.h - a YAML document as a tree of texts that keeps line and column. Built on libyaml.
 *
 * Scalars stay text until an option row types them. ${NAME} and ${NAME:-default} are expanded from
 * the environment and $${ is a literal "${"; an unset name is a problem. Anchors and aliases work
 * (an alias node carries its own position); merge keys, duplicate keys, several documents, nesting
 * over 32 and more than 100,000 nodes after aliases are expanded are problems. */
#pragma once

#include <glib.h>

typedef enum { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING } YamlKind;

typedef struct YamlNode YamlNode;
struct YamlNode {
    YamlKind kind;
    int line;            /* from 1 */
    int column;          /* from 1 */
    char *text;          /* SCALAR: expanded, UTF-8, no NUL; "" for an empty value */
    gboolean quoted;     /* SCALAR */
    YamlNode *key;       /* of an entry of a MAPPING: its key, a SCALAR; else NULL */
    GPtrArray *children; /* SEQUENCE: items; MAPPING: values, in the order of the file */
};

typedef struct Problems Problems;

/* The root, which must be a mapping, or NULL when problems were added. An empty file is a problem.
 */
YamlNode *yaml_tree_parse(const char *text, gsize length, Problems *problems);
YamlNode *yaml_tree_load(const char *path, Problems *problems);
void yaml_node_free(YamlNode *self);

/* The value of key in a mapping, NULL if absent. */
const YamlNode *yaml_node_get(const YamlNode *mapping, const char *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlNode, yaml_node_free)
