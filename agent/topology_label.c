/* topology_label.c - what a drawing says of a part: its name and a few lines more. */
#include "agent/topology_label.h"

#include <string.h>

#include "base/quantity.h"

#define LINE_COLUMNS 36

char *
topology_label_clean(const char *text)
{
    GString *clean = g_string_new(NULL);

    for (; *text != '\0'; text = g_utf8_next_char(text)) {
        gunichar letter = g_utf8_get_char(text);

        g_string_append_unichar(clean, g_unichar_isprint(letter) ? letter : '?');
    }
    return g_string_free(clean, FALSE);
}

/* Text that is too long keeps its end, which tells paths apart. */
static void
add_line(GPtrArray *lines, const char *line)
{
    g_autofree char *text = topology_label_clean(line);
    glong length = g_utf8_strlen(text, -1);

    if (length <= LINE_COLUMNS)
        g_ptr_array_add(lines, g_steal_pointer(&text));
    else
        g_ptr_array_add(
            lines,
            g_strconcat("...", g_utf8_offset_to_pointer(text, length - LINE_COLUMNS + 3), NULL));
}

static char *
endpoints_to_text(const GPtrArray *endpoints)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < endpoints->len; i++) {
        g_autofree char *one = endpoint_to_text(g_ptr_array_index(endpoints, i));

        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", one);
    }
    return g_string_free(text, FALSE);
}

/* The value of an option that says where a part reads or writes, NULL of any other. */
static char *
place_of_option(gconstpointer instance, const OptionSpec *row)
{
    gpointer member;

    if (row->kind != OPTION_PATH && row->kind != OPTION_LISTEN && row->kind != OPTION_ENDPOINTS)
        return NULL;
    member = *(gpointer *) G_STRUCT_MEMBER_P(instance, row->offset);
    if (member == NULL || (row->kind == OPTION_ENDPOINTS && ((GPtrArray *) member)->len == 0))
        return NULL;
    if (row->kind == OPTION_PATH)
        return g_strdup(member);
    return row->kind == OPTION_LISTEN ? endpoint_to_text(member) : endpoints_to_text(member);
}

/* Of one of several rows of addresses: its required text, which says what is there, and they. */
static char *
place_of_row(const OptionSpec *options, gconstpointer row)
{
    const char *what = NULL;
    g_autofree char *where = NULL;

    for (; options->name != NULL; options++) {
        if (options->kind == OPTION_STRING && options->required)
            what = *(char **) G_STRUCT_MEMBER_P(row, options->offset);
        else if (where == NULL)
            where = place_of_option(row, options);
    }
    return what != NULL && where != NULL ? g_strdup_printf("%s at %s", what, where) : NULL;
}

/* Where a sink looks for what it sends to. */
static void
add_rows_of_addresses(GPtrArray *lines, const Component *component)
{
    for (const OptionSpec *option = component->type->options;
         option != NULL && option->name != NULL; option++) {
        const GPtrArray *rows = option->kind == OPTION_ROWS
                                    ? *(GPtrArray **) G_STRUCT_MEMBER_P(component, option->offset)
                                    : NULL;

        for (guint i = 0; rows != NULL && i < rows->len; i++) {
            g_autofree char *place = place_of_row(option->rows, rows->pdata[i]);

            if (place != NULL)
                add_line(lines, place);
        }
    }
}

static GPtrArray *
label_new(const Component *component)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

    add_line(lines, component->name);
    add_line(lines, component->type->name);
    for (const OptionSpec *row = component->type->options; row != NULL && row->name != NULL;
         row++) {
        g_autofree char *place = place_of_option(component, row);

        if (place == NULL)
            continue;
        add_line(lines, place);
        break;
    }
    return lines;
}

/* "with timestamp, host, static", over as many lines as it takes. */
static void
add_interceptors(GPtrArray *lines, const GPtrArray *interceptors)
{
    g_autoptr(GString) line = g_string_new("with ");

    for (guint i = 0; i < interceptors->len; i++) {
        const Component *interceptor = g_ptr_array_index(interceptors, i);
        const char *name = interceptor->type->name;

        if (line->len + strlen(name) + 1 > LINE_COLUMNS) {
            add_line(lines, line->str);
            g_string_assign(line, "     ");
        }
        g_string_append_printf(line, "%s%s", name, i + 1 < interceptors->len ? ", " : "");
    }
    if (interceptors->len > 0)
        add_line(lines, line->str);
}

GPtrArray *
topology_label_of_source(const AgentRoute *route)
{
    GPtrArray *lines = label_new(&route->source->base);
    const char *selector = route->selector->base.type->name;

    add_interceptors(lines, route->interceptors);
    if (strcmp(selector, "replicating") != 0) {
        g_autofree char *text = g_strconcat(selector, " selector", NULL);

        add_line(lines, text);
    }
    return lines;
}

GPtrArray *
topology_label_of_channel(const Channel *channel)
{
    GPtrArray *lines = label_new(&channel->base);
    g_autofree char *bytes = quantity_size_to_text(channel->byte_capacity);
    g_autofree char *capacity =
        g_strdup_printf("%" G_GUINT64_FORMAT " events, %s", channel->capacity, bytes);

    add_line(lines, capacity);
    return lines;
}

GPtrArray *
topology_label_of_sink(const Sink *sink)
{
    GPtrArray *lines = label_new(&sink->base);

    add_rows_of_addresses(lines, &sink->base);
    if (sink->group != NULL) {
        const Component *group = (const Component *) sink->group;
        g_autofree char *text = g_strdup_printf("%s group %s", group->type->name, group->name);

        add_line(lines, text);
    }
    if (sink->dead_letter != NULL) {
        g_autofree char *text = g_strconcat("dead letters to ", sink->dead_letter->base.name, NULL);

        add_line(lines, text);
    }
    return lines;
}
