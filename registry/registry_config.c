/* registry_config.c - the sections of leat-registry's file. */
#include "registry/registry_config.h"

#include <stdio.h>
#include <string.h>

#include "base/text_wrap.h"

/* Of a name of DNS. */
#define HOST_MAX 253

static const OptionSpec registry_options[] = {
    { .name = "http",
      OPTION_AT(LISTEN, RegistryConfig, http),
      .fallback = "127.0.0.1:4171",
      .off_ok = TRUE,
      .help = "Address of the page for people, of /metrics and of /healthz, which nsqlookupd's "
              "HTTP address has too; off disables it, port 0 picks one and logs it." },
    { .name = "nsqlookupd",
      .kind = OPTION_PART,
      .help = "What stands for NSQ's nsqlookupd, or off." },
    { .name = "namesrv",
      .kind = OPTION_PART,
      .help = "What stands for RocketMQ's namesrv, or off." },
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
    { .name = "max-registrations",
      OPTION_AT(COUNT, NsqSettings, max_registrations),
      .fallback = "1000000",
      .min = 1,
      .max = 100000000,
      .help = "Topics, channels, and nodes at either, in all; what goes beyond is refused." },
    { 0 },
};

static const OptionSpec namesrv_options[] = {
    { .name = "listen",
      OPTION_AT(LISTEN, NamesrvSettings, listen),
      .fallback = "0.0.0.0:9876",
      .help = "Where brokers register and clients look up; port 0 picks one and logs it." },
    { .name = "kv-config-path",
      OPTION_AT(PATH, NamesrvSettings, kv_config_path),
      .fallback_text = "$HOME/namesrv/kvConfig.json",
      .example = "/var/lib/leat-registry/kvConfig.json",
      .help = "The file that keeps the KV configuration." },
    { .name = "scan-interval",
      OPTION_AT(DURATION, NamesrvSettings, scan_us),
      .fallback = "5s",
      .min = 1000,
      .max = G_GUINT64_CONSTANT(3600) * G_USEC_PER_SEC,
      .help = "A broker is listed at most this much longer than it may be silent, which is 120 s "
              "unless it asks for another time." },
    { .name = "idle-timeout",
      OPTION_AT(DURATION, NamesrvSettings, idle_us),
      .fallback = "120s",
      .min = 1000,
      .max = G_GUINT64_CONSTANT(86400) * G_USEC_PER_SEC,
      .help = "A connection without a request for so long is closed, and its brokers leave." },
    { .name = "wait-for-service",
      OPTION_AT(DURATION, NamesrvSettings, wait_for_service_us),
      .fallback = "0s",
      .max = G_GUINT64_CONSTANT(3600) * G_USEC_PER_SEC,
      .help = "How long after its start routes are not told, since brokers have not come back." },
    { .name = "acting-master",
      OPTION_AT(BOOL, NamesrvSettings, acting_master),
      .fallback = "false",
      .help = "Show the lowest slave as master while that is away, in groups that ask for it." },
    { .name = "delete-unnamed-topics",
      OPTION_AT(BOOL, NamesrvSettings, drop_topics),
      .fallback = "false",
      .help = "Remove the topics of a broker that its registration does not name; brokers must not "
              "register single topics then." },
    { .name = "order-topics",
      OPTION_AT(BOOL, NamesrvSettings, order_topics),
      .fallback = "false",
      .help = "Put the order configuration of a topic into its route." },
    { .name = "tell-order-topics",
      OPTION_AT(BOOL, NamesrvSettings, tell_order_topics),
      .fallback = "true",
      .help = "Tell brokers that register which topics are ordered." },
    { .name = "list-all-topics",
      OPTION_AT(BOOL, NamesrvSettings, list_all_topics),
      .fallback = "true",
      .help = "Answer requests for the list of all topics." },
    { .name = "list-topics",
      OPTION_AT(BOOL, NamesrvSettings, list_topics),
      .fallback = "true",
      .help = "Answer requests for the topics of a cluster and of units." },
    { .name = "remote-config",
      OPTION_AT(BOOL, NamesrvSettings, remote_config),
      .fallback = "false",
      .help = "Let anybody who can connect change order-topics, tell-order-topics, list-all-topics "
              "and list-topics, until the registry stops." },
    { .name = "max-connections",
      OPTION_AT(COUNT, NamesrvSettings, max_connections),
      .fallback = "20000",
      .min = 1,
      .max = 1000000,
      .help = "Connections at a time; one more is closed at once." },
    { .name = "max-registrations",
      OPTION_AT(COUNT, NamesrvSettings, max_registrations),
      .fallback = "1000000",
      .min = 1,
      .max = 100000000,
      .help = "Brokers, and topics at brokers, in all; what goes beyond is refused." },
    { .name = "max-frame",
      OPTION_AT(SIZE, NamesrvSettings, max_frame),
      .fallback = "16MiB",
      .min = 4096,
      .max = 1024 * 1024 * 1024,
      .help = "The largest request; some 65,000 topics of one broker are 16 MiB." },
    { .name = "receive-memory",
      OPTION_AT(SIZE, NamesrvSettings, receive_memory),
      .fallback = "256MiB",
      .min = 65536,
      .help = "What all connections together may hold of requests that are not there whole, and as "
              "much of answers that nobody reads." },
    { 0 },
};

static const OptionSpec *const registry_tables[] = { registry_options, NULL };
static const OptionSpec *const nsqlookupd_tables[] = { nsqlookupd_options, NULL };
static const OptionSpec *const namesrv_tables[] = { namesrv_options, NULL };

typedef struct {
    const char *name;
    const OptionSpec *const *tables;
    gsize settings; /* where in the RegistryConfig they are, and whether it is on */
    gsize has;
} SectionSpec;

static const SectionSpec sections[] = {
    { "nsqlookupd", nsqlookupd_tables, G_STRUCT_OFFSET(RegistryConfig, nsqlookupd),
      G_STRUCT_OFFSET(RegistryConfig, has_nsqlookupd) },
    { "namesrv", namesrv_tables, G_STRUCT_OFFSET(RegistryConfig, namesrv),
      G_STRUCT_OFFSET(RegistryConfig, has_namesrv) },
};

/* ---- checks ---- */

/* Clients put a port behind it and connect to that. */
static gboolean
is_host(const char *text)
{
    if (*text == '\0' || strlen(text) > HOST_MAX)
        return FALSE;
    return g_hostname_is_ip_address(text) || text[strcspn(text, " \t\r\n\f\v/:@[]\"")] == '\0';
}

static void
check_broadcast_address(const YamlNode *node, const char *path, Problems *problems)
{
    if (node != NULL && node->kind == YAML_SCALAR && !node->broken && !yaml_node_is_empty(node) &&
        !is_host(node->text))
        problems_add(problems, node, path,
                     "'%.*s' is no host; write a name or an address without a port, such as "
                     "registry1.example",
                     HOST_MAX, node->text);
}

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

static const OptionSpec *
find_row(const OptionSpec *rows, const char *key)
{
    while (rows->name != NULL && strcmp(rows->name, key) != 0)
        rows++;
    g_assert(rows->name != NULL);
    return rows;
}

static const SectionSpec *
find_section(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++)
        if (name != NULL && g_str_equal(sections[i].name, name))
            return &sections[i];
    return NULL;
}

/* Applied alone, to a configuration that nobody sees. */
gboolean
registry_config_check(const RegistryOverride *override, const char *name, int line,
                      Problems *problems)
{
    const SectionSpec *section = find_section(override->section);
    const OptionSpec *of = section != NULL ? section->tables[0] : registry_options;
    OptionSpec rows[] = { *find_row(of, override->key), { 0 } };
    const OptionSpec *const tables[] = { rows, NULL };
    gsize before = problems_count(problems);
    RegistryConfig scratch = { 0 };
    gpointer target = (char *) &scratch + (section != NULL ? section->settings : 0);
    g_autoptr(YamlNode) mapping = mapping_new();
    YamlNode *value = scalar_new(override->value);

    rows[0].name = name;
    mapping_set(mapping, name, value);
    value->line = line;
    value->column = 1;
    options_apply(tables, mapping, target, "", problems);
    options_clear(tables, target);
    if (strcmp(override->key, "broadcast-address") == 0)
        check_broadcast_address(value, name, problems);
    return problems_count(problems) == before;
}

/* The mapping that an override belongs to; NULL if something else stands there, which has a problem
 * of its own unless it is "off". */
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

static gboolean
is_off(const YamlNode *node)
{
    return node != NULL && node->kind == YAML_SCALAR && g_ascii_strcasecmp(node->text, "off") == 0;
}

static void
apply_overrides(YamlNode *root, const GPtrArray *overrides, Problems *problems)
{
    for (guint i = 0; i < overrides->len; i++) {
        const RegistryOverride *override = g_ptr_array_index(overrides, i);
        YamlNode *mapping = find_mapping(root, override->section);

        if (mapping != NULL)
            mapping_set(mapping, override->key, scalar_new(override->value));
        else if (is_off(yaml_node_get(root, override->section)))
            problems_add(problems, yaml_node_get(root, override->section), override->section,
                         "it is off, but an option sets its %s; leave out one of them",
                         override->key);
    }
}

/* ---- the file ---- */

static void
load_section(RegistryConfig *self, const SectionSpec *section, const YamlNode *root,
             Problems *problems)
{
    const YamlNode *node = yaml_node_get(root, section->name);
    gboolean has = !is_off(node);

    *(gboolean *) ((char *) self + section->has) = has;
    if (has)
        options_apply(section->tables, node, (char *) self + section->settings, section->name,
                      problems);
}

/* NULL: the file does not say. */
static const YamlNode *
find_value(const YamlNode *root, const char *section, const char *key)
{
    const YamlNode *mapping = yaml_node_get(root, section);

    return mapping != NULL && mapping->kind == YAML_MAPPING ? yaml_node_get(mapping, key) : NULL;
}

/* Where the original has it. */
static void
find_kv_config(NamesrvSettings *settings)
{
    if (settings->kv_config_path == NULL)
        settings->kv_config_path =
            g_build_filename(g_get_home_dir(), "namesrv", "kvConfig.json", NULL);
}

RegistryConfig *
registry_config_load(const char *file, const GPtrArray *overrides, Problems *problems)
{
    g_autoptr(RegistryConfig) self = g_new0(RegistryConfig, 1);
    g_autoptr(YamlNode) root = file != NULL ? yaml_tree_load(file, problems) : mapping_new();

    if (root == NULL)
        return NULL;
    apply_overrides(root, overrides, problems);
    options_apply(registry_tables, root, self, "", problems);
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++)
        load_section(self, &sections[i], root, problems);
    check_broadcast_address(find_value(root, "nsqlookupd", "broadcast-address"),
                            "nsqlookupd.broadcast-address", problems);
    find_kv_config(&self->namesrv);
    if (!self->has_nsqlookupd && !self->has_namesrv)
        problems_add_at(problems, 0, 0, "",
                        "nsqlookupd and namesrv are both off; leave one of them on");
    return problems_count(problems) == 0 ? g_steal_pointer(&self) : NULL;
}

/* ---- help ---- */

#define HELP_COLUMNS 76

static void print_keys(const OptionSpec *specs, const char *margin);

static void
print_section(const char *name, const char *margin)
{
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++)
        if (g_str_equal(sections[i].name, name))
            print_keys(sections[i].tables[0], margin);
}

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
            print_section(spec->name, deeper);
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
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++)
        options_clear(sections[i].tables, (char *) self + sections[i].settings);
    g_free(self);
}
