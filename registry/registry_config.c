/* registry_config.c - the sections of leat-registry's file. */
#include "registry/registry_config.h"

#include <stdio.h>

#include "base/text_wrap.h"

static const OptionSpec registry_options[] = {
    { .name = "http",
      OPTION_AT(LISTEN, RegistryConfig, http),
      .fallback = "127.0.0.1:4171",
      .off_ok = TRUE,
      .help = "Address of the page for people, of /metrics and of /healthz, which nsqlookupd's "
              "HTTP address has too; off disables it, port 0 picks one and logs it." },
    { .name = "nsqlookupd", .kind = OPTION_PART, .help = "What stands for NSQ's nsqlookupd." },
    { 0 },
};

static const OptionSpec nsqlookupd_options[] = {
    { .name = "tcp-address",
      OPTION_AT(LISTEN, NsqSettings, tcp_address),
      .fallback = "0.0.0.0:4160",
      .help = "Where nsqd registers; port 0 picks one and logs it." },
    { .name = "http-address",
      OPTION_AT(LISTEN, NsqSettings, http_address),
      .fallback = "0.0.0.0:4161",
      .help = "Where consumers, nsqd and nsqadmin look up; port 0 picks one and logs it." },
    { .name = "broadcast-address",
      OPTION_AT(STRING, NsqSettings, broadcast_address),
      .fallback_text = "the host name",
      .example = "registry1.example",
      .help = "The name or address by which nsqd reaches the HTTP address." },
    { .name = "inactive-producer-timeout",
      OPTION_AT(DURATION, NsqSettings, inactive_us),
      .fallback = "300s",
      .min = 1000,
      .max = G_GUINT64_CONSTANT(86400) * G_USEC_PER_SEC,
      .help = "Look-ups pass over a node that was not heard for longer; after twice this time its "
              "connection is closed." },
    { .name = "tombstone-lifetime",
      OPTION_AT(DURATION, NsqSettings, tombstone_us),
      .fallback = "45s",
      .min = 1000,
      .zero_ok = TRUE,
      .max = G_GUINT64_CONSTANT(86400) * G_USEC_PER_SEC,
      .help = "How long a tombstone hides a node from the look-ups of a topic." },
    { .name = "max-connections",
      OPTION_AT(COUNT, NsqSettings, max_connections),
      .fallback = "20000",
      .min = 1,
      .max = 1000000,
      .help = "Connections of nodes at a time; one more is closed at once." },
    { .name = "max-http-connections",
      OPTION_AT(COUNT, NsqSettings, max_http_connections),
      .fallback = "4000",
      .min = 1,
      .max = 1000000,
      .help =
          "HTTP connections at a time, those of waiting look-ups among them; one more takes the "
          "place of the one that has been longest without a whole request." },
    { 0 },
};

static const OptionSpec *const registry_tables[] = { registry_options, NULL };
static const OptionSpec *const nsqlookupd_tables[] = { nsqlookupd_options, NULL };

/* ---- overrides ---- */

static YamlNode *
scalar_new(const char *text)
{
    YamlNode *node = g_new0(YamlNode, 1);

    node->kind = YAML_SCALAR;
    node->text = g_strdup(text);
    node->quoted = TRUE;
    return node;
}

static YamlNode *
mapping_new(void)
{
    YamlNode *node = g_new0(YamlNode, 1);

    node->kind = YAML_MAPPING;
    node->children = g_ptr_array_new_with_free_func((GDestroyNotify) yaml_node_free);
    return node;
}

/* Takes the value; one that is there already goes. */
static void
mapping_set(YamlNode *mapping, const char *key, YamlNode *value)
{
    const YamlNode *old = yaml_node_get(mapping, key);

    value->key = scalar_new(key);
    if (old != NULL)
        g_ptr_array_remove(mapping->children, (gpointer) old);
    g_ptr_array_add(mapping->children, value);
}

/* The mapping that an override belongs to; NULL if something else stands there, which has a problem
 * of its own. */
static YamlNode *
find_mapping(YamlNode *root, const char *section)
{
    YamlNode *mapping = section != NULL ? (YamlNode *) yaml_node_get(root, section) : root;

    if (mapping == NULL) {
        mapping = mapping_new();
        mapping_set(root, section, mapping);
    }
    return mapping->kind == YAML_MAPPING ? mapping : NULL;
}

static void
apply_overrides(YamlNode *root, const GPtrArray *overrides)
{
    for (guint i = 0; i < overrides->len; i++) {
        const RegistryOverride *override = g_ptr_array_index(overrides, i);
        YamlNode *mapping = find_mapping(root, override->section);

        if (mapping != NULL)
            mapping_set(mapping, override->key, scalar_new(override->value));
    }
}

/* ---- the file ---- */

RegistryConfig *
registry_config_load(const char *file, const GPtrArray *overrides, Problems *problems)
{
    g_autoptr(RegistryConfig) self = g_new0(RegistryConfig, 1);
    g_autoptr(YamlNode) root = file != NULL ? yaml_tree_load(file, problems) : mapping_new();

    if (root == NULL)
        return NULL;
    apply_overrides(root, overrides);
    options_apply(registry_tables, root, self, "", problems);
    options_apply(nsqlookupd_tables, yaml_node_get(root, "nsqlookupd"), &self->nsqlookupd,
                  "nsqlookupd", problems);
    return problems_count(problems) == 0 ? g_steal_pointer(&self) : NULL;
}

/* ---- help ---- */

#define HELP_COLUMNS 76

static void
print_keys(const OptionSpec *specs, const char *margin)
{
    for (const OptionSpec *spec = specs; spec->name != NULL; spec++) {
        const char *fallback = spec->fallback != NULL ? spec->fallback : spec->fallback_text;
        g_autofree char *deeper = g_strconcat(margin, "    ", NULL);
        g_autofree char *help = text_wrap(spec->help, deeper, HELP_COLUMNS);

        printf("%s%s:%s%s\n%s", margin, spec->name, fallback != NULL ? " " : "",
               fallback != NULL ? fallback : "", help);
        if (spec->kind == OPTION_PART)
            print_keys(nsqlookupd_options, deeper);
    }
}

void
registry_config_print_keys(void)
{
    print_keys(registry_options, "  ");
}

void
registry_config_free(RegistryConfig *self)
{
    if (self == NULL)
        return;
    options_clear(registry_tables, self);
    options_clear(nsqlookupd_tables, &self->nsqlookupd);
    g_free(self);
}
