/* topology_canvas.h - a grid of characters to draw boxes and lines on, in UTF-8 or plain ASCII. */
#pragma once

#include <glib.h>

typedef struct TopologyCanvas TopologyCanvas;

TopologyCanvas *topology_canvas_new(guint width, guint height);
void topology_canvas_free(TopologyCanvas *self);

void topology_canvas_text(TopologyCanvas *self, guint x, guint y, const char *text);
void topology_canvas_box(TopologyCanvas *self, guint x, guint y, guint width, guint height);
/* Where a line leaves a box: a point of its right border. */
void topology_canvas_exit(TopologyCanvas *self, guint x, guint y);
void topology_canvas_arrow(TopologyCanvas *self, guint x, guint y);

/* From one cell to another, both included. Lines of one owner join where they meet; where lines of
 * two owners cross, the vertical one is drawn through. Owners are counted from 1. */
void topology_canvas_across(TopologyCanvas *self, guint y, guint from_x, guint to_x, guint owner,
                            gboolean dashed);
void topology_canvas_down(TopologyCanvas *self, guint x, guint from_y, guint to_y, guint owner);

/* Lines without blanks at their end. (transfer full) */
char *topology_canvas_to_text(const TopologyCanvas *self, gboolean utf8);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopologyCanvas, topology_canvas_free)
