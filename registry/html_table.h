/* html_table.h - tables of the page for people. */
#pragma once

#include <glib.h>

/* A page is for looking at; longer tables are for programs to read. */
#define HTML_ROWS_MAX 500

/* Of long lists within a cell, likewise. */
#define HTML_NAMES_MAX 10

void html_append_text(GString *out, const char *text); /* escaped */
/* "1 node", "2 nodes". */
void html_append_count(GString *out, guint n, const char *noun);
/* The caption and the columns (NULL-terminated) are as they are. */
void html_table_begin(GString *out, const char *caption, const char *const *columns);
/* A row begins with its head. */
void html_row_begin(GString *out, const char *head);
void html_cell(GString *out, const char *text);
void html_number(GString *out, gint64 number);
/* With a word for its state; kind is "", "warn" or "bad". */
void html_state(GString *out, const char *kind, const char *text);
void html_row_end(GString *out);
/* A cell with names: i counts them from 0, and n is how many there were. remark: "", or what to
 * know of this one. */
void html_names_begin(GString *out);
void html_name(GString *out, guint i, const char *name, const char *remark);
void html_names_end(GString *out, guint n);
/* n is how many rows there would have been without HTML_ROWS_MAX; where (HTML) is what has them
 * all. */
void html_table_end(GString *out, guint n, const char *where);
