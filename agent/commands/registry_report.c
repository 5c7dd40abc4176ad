/* registry_report.c - tables with columns as wide as what is in them, and the same as JSON. */
#include "agent/commands/registry_report.h"

#include "base/json_writer.h"

typedef struct {
    char *name;
    const ReportColumn *columns;
    guint n_columns;
    GPtrArray *rows; /* GStrv */
} ReportTable;

struct RegistryReport {
    char *registry;
    char *type;
    char *topic; /* or NULL */
    GPtrArray *tables;
};

static void
table_free(gpointer table)
{
    ReportTable *self = table;

    g_free(self->name);
    g_ptr_array_unref(self->rows);
    g_free(self);
}

RegistryReport *
registry_report_new(const char *registry, const char *type, const char *topic)
{
    RegistryReport *self = g_new0(RegistryReport, 1);

    self->registry = g_strdup(registry);
    self->type = g_strdup(type);
    self->topic = g_strdup(topic);
    self->tables = g_ptr_array_new_with_free_func(table_free);
    return self;
}

void
registry_report_free(RegistryReport *self)
{
    if (self == NULL)
        return;
    g_free(self->registry);
    g_free(self->type);
    g_free(self->topic);
    g_ptr_array_unref(self->tables);
    g_free(self);
}

void
registry_report_begin(RegistryReport *self, const char *name, const ReportColumn *columns)
{
    ReportTable *table = g_new0(ReportTable, 1);

    table->name = g_strdup(name);
    table->columns = columns;
    while (columns[table->n_columns].name != NULL)
        table->n_columns++;
    table->rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_strfreev);
    g_ptr_array_add(self->tables, table);
}

/* What peers say may hold what moves a cursor. */
void
registry_report_add(RegistryReport *self, GStrv row)
{
    ReportTable *table = self->tables->pdata[self->tables->len - 1];

    g_assert(g_strv_length(row) == table->n_columns);
    for (guint i = 0; row[i] != NULL; i++)
        for (char *c = row[i]; *c != '\0'; c++)
            if (g_ascii_iscntrl(*c))
                *c = '?';
    g_ptr_array_add(table->rows, row);
}

/* ---- for people ---- */

static glong
column_width(const ReportTable *self, guint column)
{
    glong width = g_utf8_strlen(self->columns[column].name, -1);

    for (guint i = 0; i < self->rows->len; i++)
        width = MAX(width, g_utf8_strlen(((GStrv) self->rows->pdata[i])[column], -1));
    return width;
}

static void
append_cell(GString *out, const char *text, glong width, gboolean is_number, gboolean is_last)
{
    glong n_blanks = width - g_utf8_strlen(text, -1);

    if (is_number)
        g_string_append_printf(out, "%*s%s", (int) n_blanks, "", text);
    else
        g_string_append_printf(out, "%s%*s", text, is_last ? 0 : (int) n_blanks, "");
    g_string_append(out, is_last ? "\n" : "  ");
}

static void
append_line(GString *out, const ReportTable *self, const glong *widths, const char *const *texts)
{
    for (guint i = 0; i < self->n_columns; i++)
        append_cell(out, texts != NULL ? texts[i] : self->columns[i].name, widths[i],
                    self->columns[i].is_number, i + 1 == self->n_columns);
}

static void
append_table(GString *out, const ReportTable *self)
{
    g_autofree glong *widths = g_new(glong, self->n_columns);

    if (self->rows->len == 0) {
        g_string_append_printf(out, "no %s\n", self->name);
        return;
    }
    for (guint i = 0; i < self->n_columns; i++)
        widths[i] = column_width(self, i);
    append_line(out, self, widths, NULL);
    for (guint i = 0; i < self->rows->len; i++)
        append_line(out, self, widths, (const char *const *) self->rows->pdata[i]);
}

char *
registry_report_to_text(const RegistryReport *self)
{
    GString *out = g_string_new(NULL);

    for (guint i = 0; i < self->tables->len; i++) {
        if (i > 0)
            g_string_append_c(out, '\n');
        append_table(out, self->tables->pdata[i]);
    }
    return g_string_free(out, FALSE);
}

/* ---- JSON ---- */

static void
write_cell(JsonWriter *json, const ReportColumn *column, const char *text)
{
    g_autofree char *key = g_strdelimit(g_strdup(column->name), " ", '_');

    if (column->is_number)
        json_int(json, key, g_ascii_strtoll(text, NULL, 10));
    else
        json_text(json, key, text);
}

static void
write_table(JsonWriter *json, const ReportTable *self)
{
    json_open(json, self->name, '[');
    for (guint i = 0; i < self->rows->len; i++) {
        json_open(json, NULL, '{');
        for (guint column = 0; column < self->n_columns; column++)
            write_cell(json, &self->columns[column], ((GStrv) self->rows->pdata[i])[column]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

char *
registry_report_to_json(const RegistryReport *self)
{
    GString *out = g_string_new(NULL);
    JsonWriter json;

    json_writer_init(&json, out);
    json_open(&json, NULL, '{');
    json_text(&json, "registry", self->registry);
    json_text(&json, "type", self->type);
    if (self->topic != NULL)
        json_text(&json, "topic", self->topic);
    for (guint i = 0; i < self->tables->len; i++)
        write_table(&json, self->tables->pdata[i]);
    json_close(&json, '}');
    g_string_append_c(out, '\n');
    return g_string_free(out, FALSE);
}
