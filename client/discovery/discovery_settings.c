/* discovery_settings.c - option rows of discovery, and what they mean. */
#include "client/discovery/discovery_settings.h"

#include <gio/gio.h>
#include <string.h>

#include "base/option_value.h"
#include "client/discovery/http_fetch.h"
#include "registry/wire/nsq_name.h"
#include "registry/wire/topic_namespace.h"

typedef struct {
    const char *addresses; /* the option that has them */
    gsize offset;          /* of them, GPtrArray * */
    gint64 poll_interval_us;
    char *(*topic_in_namespace)(const char *name_space, const char *topic);
    /* NULL, or what is wrong with the topic in its namespace. */
    const char *(*find_problem)(const char *topic);
} RegistryKindRow;

static const char *find_problem_with_nsq_topic(const char *topic);
static const char *find_problem_with_broker_topic(const char *topic);

static const RegistryKindRow kind_rows[] = {
    [REGISTRY_NSQLOOKUPD] = { "http-addresses", G_STRUCT_OFFSET(DiscoveryRow, http_addresses),
                              60 * G_USEC_PER_SEC, nsq_topic_in_namespace,
                              find_problem_with_nsq_topic },
    [REGISTRY_NAMESRV] = { "addresses", G_STRUCT_OFFSET(DiscoveryRow, addresses),
                           30 * G_USEC_PER_SEC, broker_topic_in_namespace,
                           find_problem_with_broker_topic },
};

static const char *const kind_names[] = {
    [REGISTRY_NSQLOOKUPD] = "nsqlookupd",
    [REGISTRY_NAMESRV] = "namesrv",
    NULL,
};

const OptionSpec discovery_rows[] = {
    { .name = "type",
      OPTION_AT(CHOICE, DiscoveryRow, kind),
      .required = TRUE,
      .choices = kind_names,
      .example = "nsqlookupd",
      .help = "What the registries are; leat-registry is both." },
    { .name = "http-addresses",
      OPTION_AT(ENDPOINTS, DiscoveryRow, http_addresses),
      .example = "[\"registry1:4161\", \"registry2:4161\"]",
      .help = "Where nsqlookupd answers HTTP; all are asked." },
    { .name = "addresses",
      OPTION_AT(ENDPOINTS, DiscoveryRow, addresses),
      .example = "[\"registry1:9876\", \"registry2:9876\"]",
      .help = "Where namesrv listens; all are asked." },
    { .name = "topic",
      OPTION_AT(STRING, DiscoveryRow, topic),
      .required = TRUE,
      .example = "collectors",
      .help = "What the hosts have registered." },
    { .name = "poll-interval",
      OPTION_AT(DURATION, DiscoveryRow, poll_interval_us),
      .fallback_text = "60s of nsqlookupd, 30s of namesrv",
      .min = 10 * 1000,
      .example = "60s",
      .help =
          "Time between two look-ups at registries that cannot be watched. Those (nsqlookupd, "
          "namesrv) do not tell of a restart, so a host that they no longer name stays for 45 s." },
    { .name = "jitter",
      OPTION_AT(RATIO, DiscoveryRow, jitter),
      .fallback = "0.3",
      .help = "Up to so much of poll-interval is left out, at random, so that agents that started "
              "together do not ask together." },
    { .name = "namespace",
      OPTION_AT(STRING, DiscoveryRow, name_space),
      .example = "qa",
      .help = "Stands before the topic, for those who share registries." },
    { 0 },
};

static const GPtrArray *
row_addresses(const DiscoveryRow *self)
{
    return G_STRUCT_MEMBER(const GPtrArray *, self, kind_rows[self->kind].offset);
}

static char *
row_topic(const DiscoveryRow *self)
{
    return kind_rows[self->kind].topic_in_namespace(self->name_space, self->topic);
}

/* ---- checks ---- */

static const char *
find_problem_with_nsq_topic(const char *topic)
{
    return nsq_name_is_valid(byte_span_of_text(topic))
               ? NULL
               : "write 1 to 64 letters, digits, '.', '_' or '-', the namespace and a '.' included";
}

static const char *
find_problem_with_broker_topic(const char *topic)
{
    return broker_topic_is_valid(topic)
               ? NULL
               : "write 1 to 127 letters, digits, '_', '-', '%' or '|', the namespace included";
}

/* A problem at the value of an option of the row, or at the row. */
static void
row_problem(const YamlNode *node, const char *path, const char *option, Problems *problems,
            const char *what)
{
    const YamlNode *value = yaml_node_get(node, option);
    g_autofree char *option_path = g_strdup_printf("%s.%s", path, option);

    problems_add(problems, value != NULL ? value : node, option_path, "%s", what);
}

static void
row_check_topic(const DiscoveryRow *self, const YamlNode *node, const char *path,
                Problems *problems)
{
    g_autofree char *topic = row_topic(self);
    const char *remedy = kind_rows[self->kind].find_problem(topic);
    g_autofree char *what = NULL;

    if (remedy == NULL)
        return;
    what = g_strdup_printf("'%s' is no topic of %s; %s", topic, kind_names[self->kind], remedy);
    row_problem(node, path, "topic", problems, what);
}

static void
row_check_kind(const DiscoveryRow *self, const YamlNode *node, const char *path, Problems *problems)
{
    g_autofree char *what = g_strdup_printf("that is not of %s; write %s", kind_names[self->kind],
                                            kind_rows[self->kind].addresses);

    for (guint i = 0; i < G_N_ELEMENTS(kind_rows); i++)
        if (i != self->kind && yaml_node_get(node, kind_rows[i].addresses) != NULL)
            row_problem(node, path, kind_rows[i].addresses, problems, what);
}

static void
row_check_addresses(const DiscoveryRow *self, const YamlNode *node, const char *path,
                    Problems *problems)
{
    const GPtrArray *addresses = row_addresses(self);
    const char *option = kind_rows[self->kind].addresses;
    g_autofree char *what = NULL;

    if (addresses != NULL && addresses->len > 0)
        return;
    what = g_strdup_printf("there are none; write where %s is asked, such as %s: "
                           "[\"registry1:%s\"]",
                           kind_names[self->kind], option,
                           self->kind == REGISTRY_NAMESRV ? "9876" : "4161");
    row_problem(node, path, option, problems, what);
}

static gboolean
rows_ask_the_same(const DiscoveryRow *a, const DiscoveryRow *b)
{
    g_autofree char *topic_a = row_topic(a);
    g_autofree char *topic_b = row_topic(b);

    return a->kind == b->kind && g_strcmp0(topic_a, topic_b) == 0;
}

/* The first address that is asked the same by two rows, or by one twice; or NULL. */
static const Endpoint *
rows_find_twice(const DiscoveryRow *a, const DiscoveryRow *b)
{
    const GPtrArray *of_a = row_addresses(a);
    const GPtrArray *of_b = row_addresses(b);

    if (of_a == NULL || of_b == NULL || !rows_ask_the_same(a, b))
        return NULL;
    return a == b ? endpoints_find_twice(of_a) : endpoints_find_common(of_a, of_b);
}

/* What another row before it asks already. */
static void
row_check_differs(const GPtrArray *rows, guint index, const YamlNode *node, const char *path,
                  Problems *problems)
{
    const DiscoveryRow *self = rows->pdata[index];
    const Endpoint *twice = NULL;
    g_autofree char *name = NULL;
    g_autofree char *what = NULL;

    for (guint i = 0; i <= index && twice == NULL; i++)
        twice = rows_find_twice(self, rows->pdata[i]);
    if (twice == NULL)
        return;
    name = endpoint_to_text(twice);
    what = g_strdup_printf("'%s' is asked the same twice; name it once", name);
    row_problem(node, path, kind_rows[self->kind].addresses, problems, what);
}

static void
row_check(const DiscoveryRow *self, const YamlNode *node, const char *path, Problems *problems)
{
    if (self->kind == REGISTRY_NSQLOOKUPD && !http_fetch_is_available())
        row_problem(node, path, "type", problems,
                    "this leat was built without libsoup, so nsqlookupd cannot be asked; build it "
                    "with libsoup, ask a namesrv, or write hosts");
    row_check_kind(self, node, path, problems);
    row_check_addresses(self, node, path, problems);
    row_check_topic(self, node, path, problems);
}

void
discovery_rows_check(const GPtrArray *rows, const YamlNode *node, const char *path,
                     Problems *problems)
{
    for (guint i = 0; i < rows->len; i++) {
        gboolean is_list = node->kind == YAML_SEQUENCE;
        const YamlNode *item = is_list ? node->children->pdata[i] : node;
        g_autofree char *item_path = is_list ? g_strdup_printf("%s[%u]", path, i) : g_strdup(path);

        row_check(rows->pdata[i], item, item_path, problems);
        row_check_differs(rows, i, item, item_path, problems);
    }
}

/* ---- use ---- */

Discovery *
discovery_rows_begin(const GPtrArray *rows, const DiscoveryEvents *events, gpointer user,
                     GError **error)
{
    g_autofree DiscoverySource *sources = g_new0(DiscoverySource, rows->len);
    g_autoptr(GPtrArray) topics = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < rows->len; i++) {
        const DiscoveryRow *row = rows->pdata[i];

        g_ptr_array_add(topics, row_topic(row));
        sources[i] = (DiscoverySource){
            .kind = (RegistryKind) row->kind,
            .addresses = row_addresses(row),
            .topic = topics->pdata[i],
            .poll_interval_us = row->poll_interval_us != 0 ? row->poll_interval_us
                                                           : kind_rows[row->kind].poll_interval_us,
            .jitter = row->jitter,
        };
    }
    return discovery_new(sources, rows->len, events, user, error);
}

/* ---- one word ---- */

void
discovery_rows_free(GPtrArray *rows)
{
    const OptionSpec *const tables[] = { discovery_rows, NULL };

    for (guint i = 0; rows != NULL && i < rows->len; i++) {
        options_clear(tables, rows->pdata[i]);
        g_free(rows->pdata[i]);
    }
    g_clear_pointer(&rows, g_ptr_array_unref);
}

static YamlNode *
node_new(YamlKind kind, const char *key, const char *text)
{
    YamlNode *node = g_new0(YamlNode, 1);

    node->kind = kind;
    node->text = g_strdup(text);
    node->quoted = TRUE;
    if (kind != YAML_SCALAR)
        node->children = g_ptr_array_new_with_free_func((GDestroyNotify) yaml_node_free);
    if (key != NULL)
        node->key = node_new(YAML_SCALAR, NULL, key);
    return node;
}

static YamlNode *
addresses_node(const char *kind, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    const char *option = kind_rows[0].addresses;
    YamlNode *list;

    for (guint i = 0; kind_names[i] != NULL; i++)
        if (strcmp(kind_names[i], kind) == 0)
            option = kind_rows[i].addresses;
    list = node_new(YAML_SEQUENCE, option, NULL);
    for (guint i = 0; words[i] != NULL; i++)
        g_ptr_array_add(list->children, node_new(YAML_SCALAR, NULL, words[i]));
    return list;
}

/* As a configuration would have it: "{type: KIND, ADDRESSES: [...], topic: TOPIC}". (transfer full)
 * NULL: it is no such word. */
static YamlNode *
mapping_of(const char *text)
{
    const char *colon = strstr(text, "://");
    const char *slash = colon == NULL ? NULL : strchr(colon + 3, '/');
    g_autofree char *kind = NULL;
    g_autofree char *addresses = NULL;
    YamlNode *mapping;

    if (slash == NULL)
        return NULL;
    kind = g_strndup(text, (gsize) (colon - text));
    addresses = g_strndup(colon + 3, (gsize) (slash - colon - 3));
    mapping = node_new(YAML_MAPPING, NULL, NULL);
    g_ptr_array_add(mapping->children, node_new(YAML_SCALAR, "type", kind));
    g_ptr_array_add(mapping->children, addresses_node(kind, addresses));
    g_ptr_array_add(mapping->children, node_new(YAML_SCALAR, "topic", slash + 1));
    return mapping;
}

GPtrArray *
discovery_rows_parse(const char *text, GError **error)
{
    const OptionSpec *const tables[] = { discovery_rows, NULL };
    g_autoptr(YamlNode) mapping = mapping_of(text);
    g_autoptr(Problems) problems = problems_new("");
    g_autofree char *what = NULL;
    GPtrArray *rows;

    if (mapping == NULL) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "'%s' does not say where to look; write KIND://HOST:PORT,.../TOPIC, such as "
                    "nsqlookupd://registry1:4161/collectors",
                    text);
        return NULL;
    }
    rows = g_ptr_array_new();
    g_ptr_array_add(rows, g_malloc0(sizeof(DiscoveryRow)));
    options_apply(tables, mapping, rows->pdata[0], "", problems);
    if (problems_count(problems) == 0)
        discovery_rows_check(rows, mapping, "discover", problems);
    if (problems_count(problems) == 0)
        return rows;
    discovery_rows_free(rows);
    what = problems_to_text(problems);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        g_strchomp(what) + strspn(what, ": "));
    return NULL;
}
