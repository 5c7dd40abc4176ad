/* yaml_tree.h - a YAML document as a tree of texts that keeps line and column. Built on libyaml.
 *
 * Scalars stay text until an option row types them; tags of the YAML core (!!str, !!int, ...) are
 * therefore ignored, and other tags are problems. ${NAME} and ${NAME:-default} are expanded from
 * the environment in values, however quoted, not in keys; the default stands for an unset or empty
 * variable and is not expanded itself; $${ is a literal "${"; an unset name without a default is a
 * problem. Anchors and aliases work (an alias node carries its own position, its children those of
 * the original). Merge keys, duplicate keys, several documents, nesting over 32, and more than
 * 100,000 nodes or 64 MiB of text after everything is expanded are problems. */
#pragma once

#include <glib.h>

/* No configuration is larger than that. */
#define YAML_TREE_MAX_BYTES (16 * 1024 * 1024)

typedef enum { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING } YamlKind;

typedef struct YamlNode YamlNode;
struct YamlNode {
    YamlKind kind;
    int line;            /* from 1 */
    int column;          /* from 1 */
    char *text;          /* SCALAR: expanded, UTF-8, no NUL; "" for an empty value */
    gboolean quoted;     /* SCALAR: in quotes, a block, or with an expanded variable */
    gboolean broken;     /* SCALAR that stands for what had a problem: say no more about it */
    YamlNode *key;       /* of an entry of a MAPPING: its key, a SCALAR; else NULL */
    GPtrArray *children; /* SEQUENCE: items; MAPPING: values, in the order of the file */
};

typedef struct Problems Problems;

/* The root, a mapping. NULL, with a problem, if there is none to go on with: an unreadable or empty
 * file, a syntax error. Other problems leave a tree that may be checked further, so that all of
 * them are shown at once: whoever goes on to use it asks problems_count first. */
YamlNode *yaml_tree_parse(const char *text, gsize length, Problems *problems);
YamlNode *yaml_tree_load(const char *path, Problems *problems);
void yaml_node_free(YamlNode *self);

/* TRUE for what a user means by "no value": nothing at all, or a plain ~. */
gboolean yaml_node_is_empty(const YamlNode *self);
/* The value of key in a mapping, NULL if absent. */
const YamlNode *yaml_node_get(const YamlNode *mapping, const char *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlNode, yaml_node_free)
