/* registry_report.c - tables with columns as wide as what is in them, and the same as JSON. */
#include "agent/commands/registry_report.h"

#include "base/json_writer.h"

typedef struct {
    char *text;
    gint64 mark;
} ReportItem;

typedef struct {
    GString *text;
    GArray *items; /* ReportItem; NULL: no list */
} ReportCell;

typedef struct {
    char *name;
    const ReportColumn *columns;
    guint n_columns;
    GArray *cells; /* ReportCell, row by row */
} ReportTable;

struct RegistryReport {
    char *registry;
    char *type;
    char *topic; /* or NULL */
    GPtrArray *tables;
};

static void
item_clear(gpointer item)
{
    g_free(((ReportItem *) item)->text);
}

static void
cell_clear(gpointer cell)
{
    ReportCell *self = cell;

    g_string_free(self->text, TRUE);
    g_clear_pointer(&self->items, g_array_unref);
}

static void
table_free(gpointer table)
{
    ReportTable *self = table;

    g_free(self->name);
    g_array_unref(self->cells);
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
    table->cells = g_array_new(FALSE, FALSE, sizeof(ReportCell));
    g_array_set_clear_func(table->cells, cell_clear);
    g_ptr_array_add(self->tables, table);
}

/* ---- cells ---- */

static ReportTable *
last_table(const RegistryReport *self)
{
    return self->tables->pdata[self->tables->len - 1];
}

/* The kind of the column that a table's next cell is in. */
static ReportKind
next_kind(const ReportTable *self)
{
    return self->columns[self->cells->len % self->n_columns].kind;
}

static gboolean
is_list(ReportKind kind)
{
    return kind == REPORT_MARKED || kind == REPORT_NUMBERED;
}

/* What peers say may hold what moves a cursor. (transfer full) */
static char *
plain_text(const char *text)
{
    char *plain = g_strdup(text != NULL ? text : "");

    for (char *c = plain; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c))
            *c = '?';
    return plain;
}

void
registry_report_add_text(RegistryReport *self, const char *text)
{
    ReportTable *table = last_table(self);
    g_autofree char *plain = plain_text(text);
    const ReportCell cell = { .text = g_string_new(plain) };

    g_assert(next_kind(table) == REPORT_TEXT);
    g_array_append_val(table->cells, cell);
}

void
registry_report_add_number(RegistryReport *self, gint64 number)
{
    ReportTable *table = last_table(self);
    const ReportCell cell = { .text = g_string_new(NULL) };

    g_assert(next_kind(table) == REPORT_NUMBER);
    g_string_printf(cell.text, "%" G_GINT64_FORMAT, number);
    g_array_append_val(table->cells, cell);
}

void
registry_report_add_list(RegistryReport *self)
{
    ReportTable *table = last_table(self);
    ReportCell cell = { .text = g_string_new(NULL) };

    g_assert(is_list(next_kind(table)));
    cell.items = g_array_new(FALSE, FALSE, sizeof(ReportItem));
    g_array_set_clear_func(cell.items, item_clear);
    g_array_append_val(table->cells, cell);
}

void
registry_report_add_item(RegistryReport *self, const char *text, gint64 mark)
{
    ReportTable *table = last_table(self);
    guint last = table->cells->len - 1;
    const ReportColumn *column = &table->columns[last % table->n_columns];
    ReportCell *cell = &g_array_index(table->cells, ReportCell, last);
    const ReportItem item = { plain_text(text), mark };

    g_assert(cell->items != NULL);
    g_string_append_printf(cell->text, "%s%s", cell->items->len > 0 ? ", " : "", item.text);
    if (mark != 0 && column->kind == REPORT_MARKED)
        g_string_append_printf(cell->text, " (%s)", column->mark);
    else if (mark != 0)
        g_string_append_printf(cell->text, " (%" G_GINT64_FORMAT ")", mark);
    g_array_append_val(cell->items, item);
}

static guint
count_rows(const ReportTable *self)
{
    return self->cells->len / self->n_columns;
}

static const ReportCell *
cell_at(const ReportTable *self, guint row, guint column)
{
    return &g_array_index(self->cells, ReportCell, row * self->n_columns + column);
}

/* ---- for people ---- */

static glong
column_width(const ReportTable *self, guint column)
{
    glong width = g_utf8_strlen(self->columns[column].name, -1);

    for (guint row = 0; row < count_rows(self); row++)
        width = MAX(width, g_utf8_strlen(cell_at(self, row, column)->text->str, -1));
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
append_line(GString *out, const ReportTable *self, const glong *widths, const ReportCell *cells)
{
    for (guint i = 0; i < self->n_columns; i++)
        append_cell(out, cells != NULL ? cells[i].text->str : self->columns[i].name, widths[i],
                    self->columns[i].kind == REPORT_NUMBER, i + 1 == self->n_columns);
}

static void
append_table(GString *out, const ReportTable *self)
{
    g_autofree glong *widths = g_new(glong, self->n_columns);

    if (count_rows(self) == 0) {
        g_string_append_printf(out, "no %s\n", self->name);
        return;
    }
    for (guint i = 0; i < self->n_columns; i++)
        widths[i] = column_width(self, i);
    append_line(out, self, widths, NULL);
    for (guint row = 0; row < count_rows(self); row++)
        append_line(out, self, widths, cell_at(self, row, 0));
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
write_list(JsonWriter *json, const ReportColumn *column, const char *key, const GArray *items)
{
    json_open(json, key, '[');
    for (guint i = 0; i < items->len; i++) {
        const ReportItem *item = &g_array_index(items, ReportItem, i);

        json_open(json, NULL, '{');
        json_text(json, column->item, item->text);
        if (column->kind == REPORT_MARKED)
            json_bool(json, column->mark, item->mark != 0);
        else
            json_int(json, column->mark, item->mark);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void
write_cell(JsonWriter *json, const ReportColumn *column, const ReportCell *cell)
{
    g_autofree char *key = g_strdelimit(g_strdup(column->name), " ", '_');

    if (is_list(column->kind))
        write_list(json, column, key, cell->items);
    else if (column->kind == REPORT_NUMBER)
        json_int(json, key, g_ascii_strtoll(cell->text->str, NULL, 10));
    else
        json_text(json, key, cell->text->str);
}

static void
write_table(JsonWriter *json, const ReportTable *self)
{
    json_open(json, self->name, '[');
    for (guint row = 0; row < count_rows(self); row++) {
        json_open(json, NULL, '{');
        for (guint column = 0; column < self->n_columns; column++)
            write_cell(json, &self->columns[column], cell_at(self, row, column));
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
