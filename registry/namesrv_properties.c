/* namesrv_properties.c - the settings of a name server as RocketMQ's own properties. */
#include "registry/namesrv_properties.h"

#include <stdlib.h>
#include <string.h>

#include "registry/properties_reader.h"

#define DEFAULT_PORT "9876"
/* Of waitSecondsForService, which has no effect without needWaitForService. */
#define DEFAULT_WAIT_S 45

typedef enum { KIND_BOOL, KIND_TEXT, KIND_MILLISECONDS, KIND_SECONDS } PropertyKind;

typedef struct {
    const char *property;
    const char *option; /* of the section namesrv */
    gsize offset;       /* in NamesrvSettings */
    PropertyKind kind;
    gboolean is_live;
} PropertyRow;

#define AT(member) G_STRUCT_OFFSET(NamesrvSettings, member)

static const PropertyRow rows[] = {
    { "deleteTopicWithBrokerRegistration", "delete-unnamed-topics", AT(drop_topics), KIND_BOOL,
      FALSE },
    { "enableAllTopicList", "list-all-topics", AT(list_all_topics), KIND_BOOL, TRUE },
    { "enableTopicList", "list-topics", AT(list_topics), KIND_BOOL, TRUE },
    { "kvConfigPath", "kv-config-path", AT(kv_config_path), KIND_TEXT, FALSE },
    { "orderMessageEnable", "order-topics", AT(order_topics), KIND_BOOL, TRUE },
    { "returnOrderTopicConfigToBroker", "tell-order-topics", AT(tell_order_topics), KIND_BOOL,
      TRUE },
    { "scanNotActiveBrokerInterval", "scan-interval", AT(scan_us), KIND_MILLISECONDS, FALSE },
    { "serverChannelMaxIdleTimeSeconds", "idle-timeout", AT(idle_us), KIND_SECONDS, FALSE },
    { "supportActingMaster", "acting-master", AT(acting_master), KIND_BOOL, FALSE },
};

/* Who could set these could read and write files. */
static const char *const forbidden[] = { "configBlackList", "configStorePath", "kvConfigPath",
                                         "rocketmqHome" };

static const PropertyRow *
find_row(const char *property)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].property, property) == 0)
            return &rows[i];
    return NULL;
}

/* As Java has it. */
static gboolean
is_true(const char *value)
{
    return g_ascii_strcasecmp(value, "true") == 0;
}

/* ---- writing ---- */

/* (transfer full) */
static char *
value_of(const PropertyRow *row, const NamesrvSettings *settings)
{
    const char *at = (const char *) settings + row->offset;

    switch (row->kind) {
    case KIND_BOOL:
        return g_strdup(*(const gboolean *) at ? "true" : "false");
    case KIND_TEXT:
        return g_strdup(*(char *const *) at);
    case KIND_MILLISECONDS:
        return g_strdup_printf("%" G_GINT64_FORMAT, *(const gint64 *) at / 1000);
    case KIND_SECONDS:
        return g_strdup_printf("%" G_GINT64_FORMAT, *(const gint64 *) at / G_USEC_PER_SEC);
    }
    g_assert_not_reached();
}

static int
compare_lines(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

GString *
namesrv_properties_write(const NamesrvSettings *settings, guint16 port)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    GString *out = g_string_new(NULL);
    const Endpoint *listen = settings->listen;
    gint64 wait_us = settings->wait_for_service_us;

    g_ptr_array_add(lines, g_strdup_printf("listenPort=%u\n", port));
    g_ptr_array_add(lines, g_strdup_printf("bindAddress=%s\n",
                                           *listen->host != '\0' ? listen->host : "0.0.0.0"));
    g_ptr_array_add(lines,
                    g_strdup_printf("needWaitForService=%s\n", wait_us > 0 ? "true" : "false"));
    g_ptr_array_add(lines,
                    g_strdup_printf("waitSecondsForService=%" G_GINT64_FORMAT "\n",
                                    wait_us > 0 ? wait_us / G_USEC_PER_SEC : DEFAULT_WAIT_S));
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *value = value_of(&rows[i], settings);

        g_ptr_array_add(lines, g_strdup_printf("%s=%s\n", rows[i].property, value));
    }
    g_ptr_array_sort(lines, compare_lines);
    for (guint i = 0; i < lines->len; i++)
        g_string_append(out, g_ptr_array_index(lines, i));
    return out;
}

/* ---- changing ---- */

typedef struct {
    NamesrvSettings *settings; /* NULL: only looks whether it may */
    gboolean is_forbidden;
} Update;

static void
update_one(const char *property, const char *value, int line G_GNUC_UNUSED, gpointer user)
{
    Update *self = user;
    const PropertyRow *row = find_row(property);

    for (gsize i = 0; i < G_N_ELEMENTS(forbidden); i++)
        if (strcmp(property, forbidden[i]) == 0)
            self->is_forbidden = TRUE;
    if (self->settings != NULL && row != NULL && row->is_live)
        *(gboolean *) ((char *) self->settings + row->offset) = is_true(value);
}

PropertiesUpdate
namesrv_properties_update(NamesrvSettings *settings, const char *text)
{
    Update look = { NULL, FALSE };
    Update update = { settings, FALSE };
    int line;

    if (!properties_read(text, update_one, &look, &line))
        return PROPERTIES_UNREADABLE;
    if (look.is_forbidden)
        return PROPERTIES_FORBIDDEN;
    (void) properties_read(text, update_one, &update, &line);
    return PROPERTIES_UPDATED;
}

/* ---- a file ---- */

typedef struct {
    char *value; /* NULL: not told */
    int line;
} LateProperty;

typedef struct {
    const PropertiesReader *reader;
    LateProperty host;
    LateProperty port;
    gboolean waits;
    LateProperty wait; /* in seconds */
} Reading;

static void
late_property_set(LateProperty *self, const char *value, int line)
{
    g_free(self->value);
    self->value = g_strdup(value);
    self->line = line;
}

/* FALSE after telling that it is wrong. */
static gboolean
check_number(const Reading *self, const char *property, const char *value, guint64 max, int line)
{
    g_autofree char *what = NULL;

    if (g_ascii_string_to_unsigned(value, 10, 0, max, NULL, NULL))
        return TRUE;
    what = g_strdup_printf("'%s' is no number from 0 to %" G_GUINT64_FORMAT
                           "; write digits and nothing else",
                           value, max);
    self->reader->wrong(property, what, line, self->reader->user);
    return FALSE;
}

/* Java takes every other word for false. */
static gboolean
read_bool(const Reading *self, const char *property, const char *value, int line)
{
    g_autofree char *why = NULL;

    if (is_true(value) || g_ascii_strcasecmp(value, "false") == 0)
        return is_true(value);
    why = g_strdup_printf("is '%s', which counts as false; write true or false", value);
    self->reader->odd(property, why, line, self->reader->user);
    return FALSE;
}

static void
read_row(const Reading *self, const PropertyRow *row, const char *value, int line)
{
    const char *property = row->property;
    g_autofree char *text = NULL;

    switch (row->kind) {
    case KIND_BOOL:
        text = g_strdup(read_bool(self, property, value, line) ? "true" : "false");
        break;
    case KIND_TEXT:
        text = g_strdup(value);
        break;
    case KIND_MILLISECONDS:
    case KIND_SECONDS:
        if (!check_number(self, property, value, G_MAXINT32, line))
            return;
        text = g_strconcat(value, row->kind == KIND_SECONDS ? "s" : "ms", NULL);
        break;
    }
    self->reader->option(row->option, text, property, line, self->reader->user);
}

static void
read_one(const char *property, const char *value, int line, gpointer user)
{
    Reading *self = user;
    const PropertyRow *row = find_row(property);

    if (strcmp(property, "listenPort") == 0) {
        if (check_number(self, property, value, G_MAXUINT16, line))
            late_property_set(&self->port, value, line);
    } else if (strcmp(property, "bindAddress") == 0) {
        late_property_set(&self->host, value, line);
    } else if (strcmp(property, "needWaitForService") == 0) {
        self->waits = read_bool(self, property, value, line);
    } else if (strcmp(property, "waitSecondsForService") == 0) {
        if (check_number(self, property, value, G_MAXINT32, line))
            late_property_set(&self->wait, value, line);
    } else if (row != NULL) {
        read_row(self, row, value, line);
    } else {
        self->reader->odd(property, "has no effect here", line, self->reader->user);
    }
}

/* What two properties say together. */
static void
finish_reading(Reading *self)
{
    const PropertiesReader *reader = self->reader;

    if (self->host.value != NULL || self->port.value != NULL) {
        const char *host = self->host.value != NULL ? self->host.value : "0.0.0.0";
        const char *port = self->port.value != NULL ? self->port.value : DEFAULT_PORT;
        gboolean is_bare = strchr(host, ':') != NULL && *host != '[';
        g_autofree char *listen = g_strdup_printf(is_bare ? "[%s]:%s" : "%s:%s", host, port);
        gboolean of_host = self->host.value != NULL;

        reader->option("listen", listen, of_host ? "bindAddress" : "listenPort",
                       of_host ? self->host.line : self->port.line, reader->user);
    }
    if (self->waits) {
        const char *seconds =
            self->wait.value != NULL ? self->wait.value : G_STRINGIFY(DEFAULT_WAIT_S);
        g_autofree char *wait = g_strconcat(seconds, "s", NULL);

        reader->option("wait-for-service", wait, "waitSecondsForService", self->wait.line,
                       reader->user);
    }
    g_free(self->host.value);
    g_free(self->port.value);
    g_free(self->wait.value);
}

gboolean
namesrv_properties_read(const char *text, const PropertiesReader *reader, int *ret_line)
{
    Reading reading = { .reader = reader };
    gboolean ok = properties_read(text, read_one, &reading, ret_line);

    finish_reading(&reading);
    return ok;
}
