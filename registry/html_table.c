/* html_table.c - tables of the page for people. */
#include "registry/html_table.h"

void
html_append_text(GString *out, const char *text)
{
    g_autofree char *escaped = g_markup_escape_text(text, -1);

    g_string_append(out, escaped);
}

void
html_append_count(GString *out, guint n, const char *noun)
{
    g_string_append_printf(out, "%u %s%s", n, noun, n == 1 ? "" : "s");
}

void
html_table_begin(GString *out, const char *caption, const char *const *columns)
{
    g_string_append_printf(out, "<table><caption>%s</caption>\n<thead><tr>", caption);
    for (; *columns != NULL; columns++)
        g_string_append_printf(out, "<th scope=\"col\">%s</th>", *columns);
    g_string_append(out, "</tr></thead>\n<tbody>\n");
}

void
html_row_begin(GString *out, const char *head)
{
    g_string_append(out, "<tr><th scope=\"row\">");
    html_append_text(out, head);
    g_string_append(out, "</th>");
}

void
html_cell(GString *out, const char *text)
{
    g_string_append(out, "<td>");
    html_append_text(out, text);
    g_string_append(out, "</td>");
}

void
html_number(GString *out, gint64 number)
{
    g_string_append_printf(out, "<td class=\"number\">%" G_GINT64_FORMAT "</td>", number);
}

void
html_state(GString *out, const char *kind, const char *text)
{
    if (*kind == '\0')
        g_string_append(out, "<td>");
    else
        g_string_append_printf(out, "<td class=\"%s\">", kind);
    html_append_text(out, text);
    g_string_append(out, "</td>");
}

void
html_row_end(GString *out)
{
    g_string_append(out, "</tr>\n");
}

void
html_names_begin(GString *out)
{
    g_string_append(out, "<td>");
}

void
html_name(GString *out, guint i, const char *name, const char *remark)
{
    if (i >= HTML_NAMES_MAX)
        return;
    g_string_append(out, i > 0 ? ", " : "");
    html_append_text(out, name);
    if (*remark != '\0')
        g_string_append_printf(out, " <strong>(%s)</strong>", remark);
}

void
html_names_end(GString *out, guint n)
{
    if (n > HTML_NAMES_MAX)
        g_string_append_printf(out, " and %u more", n - HTML_NAMES_MAX);
    g_string_append(out, n > 0 ? "</td>" : "none</td>");
}

void
html_table_end(GString *out, guint n, const char *where)
{
    if (n == 0)
        g_string_append(out, "<tr><td>none</td></tr>\n");
    g_string_append(out, "</tbody></table>\n");
    if (n > HTML_ROWS_MAX)
        g_string_append_printf(out, "<p>%u more are in %s.</p>\n", n - HTML_ROWS_MAX, where);
}
