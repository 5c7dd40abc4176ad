/* topology_draw.c - a configuration as a drawing in text: sources, channels, sinks. */
#include "agent/agent_config.h"
#include "agent/agent_route.h"
#include "agent/http_server.h"
#include "agent/topology_canvas.h"
#include "agent/topology_label.h"
#include "agent/topology_layout.h"

/* Nobody looks at a larger drawing. */
#define CELLS_MAX (1 << 21)

/* Where things stand from left to right. A line that has to change its row does so in a track, a
 * column of its own between two columns of boxes. */
typedef struct {
    const TopologyLayout *layout;
    TopologyCanvas *canvas;
    guint x[N_TOPOLOGY_COLUMNS];
    guint width[N_TOPOLOGY_COLUMNS];
    guint total_width;
    guint owner; /* of lines; each box has one */
} Drawing;

static const TopologyBox *
box_at(const TopologyLayout *layout, Column column, guint index)
{
    return &g_array_index(layout->boxes[column], TopologyBox, index);
}

/* ---- measures ---- */

static guint
column_width(const TopologyLayout *layout, Column column)
{
    glong width = 0;

    for (guint i = 0; i < layout->boxes[column]->len; i++) {
        const GPtrArray *lines = box_at(layout, column, i)->lines;

        for (guint line = 0; line < lines->len; line++)
            width = MAX(width, g_utf8_strlen(g_ptr_array_index(lines, line), -1));
    }
    return (guint) width + 4;
}

static gboolean
needs_track(const TopologyLayout *layout, Column column, guint index)
{
    for (guint i = 0; i < layout->edges[column]->len; i++) {
        const TopologyEdge *edge = &g_array_index(layout->edges[column], TopologyEdge, i);

        if (edge->from == index && edge->entry_row != box_at(layout, column, index)->exit_row)
            return TRUE;
    }
    return FALSE;
}

static guint
gap_width(const TopologyLayout *layout, Column column)
{
    guint width = 5;

    for (guint i = 0; i < layout->boxes[column]->len; i++)
        width += needs_track(layout, column, i) ? 2 : 0;
    return width;
}

static void
measure(Drawing *self)
{
    guint x = 0;

    for (guint column = 0; column < N_TOPOLOGY_COLUMNS; column++) {
        self->x[column] = x;
        self->width[column] = column_width(self->layout, column);
        x += self->width[column];
        if (column < TOPOLOGY_SINKS)
            x += gap_width(self->layout, column);
    }
    self->total_width = x;
}

/* ---- strokes ---- */

static void
draw_boxes(Drawing *self, Column column)
{
    for (guint i = 0; i < self->layout->boxes[column]->len; i++) {
        const TopologyBox *box = box_at(self->layout, column, i);

        topology_canvas_box(self->canvas, self->x[column], box->y, self->width[column],
                            box->height);
        for (guint line = 0; line < box->lines->len; line++)
            topology_canvas_text(self->canvas, self->x[column] + 2, box->y + 1 + line,
                                 g_ptr_array_index(box->lines, line));
    }
}

/* All lines out of one box, whose track is at track_x. */
static void
draw_lines(Drawing *self, Column column, guint index, guint track_x)
{
    const TopologyBox *box = box_at(self->layout, column, index);
    guint border_x = self->x[column] + self->width[column] - 1;
    guint target_x = self->x[column + 1];
    guint top = box->exit_row;
    guint bottom = box->exit_row;

    self->owner++;
    for (guint i = 0; i < self->layout->edges[column]->len; i++) {
        const TopologyEdge *edge = &g_array_index(self->layout->edges[column], TopologyEdge, i);

        if (edge->from != index)
            continue;
        top = MIN(top, edge->entry_row);
        bottom = MAX(bottom, edge->entry_row);
        topology_canvas_across(self->canvas, edge->entry_row, track_x, target_x - 2, self->owner,
                               edge->optional);
        topology_canvas_arrow(self->canvas, target_x - 1, edge->entry_row);
        topology_canvas_exit(self->canvas, border_x, box->exit_row);
    }
    topology_canvas_down(self->canvas, track_x, top, bottom, self->owner);
    topology_canvas_across(self->canvas, box->exit_row, border_x + 1, track_x, self->owner, FALSE);
}

static void
draw_gap(Drawing *self, Column column)
{
    guint left_x = self->x[column] + self->width[column];
    guint next_track_x = left_x + 2;

    for (guint i = 0; i < self->layout->boxes[column]->len; i++) {
        gboolean has_track = needs_track(self->layout, column, i);

        draw_lines(self, column, i, has_track ? next_track_x : left_x);
        next_track_x += has_track ? 2 : 0;
    }
}

static gboolean
has_optional(const TopologyLayout *layout)
{
    for (guint i = 0; i < layout->edges[TOPOLOGY_SOURCES]->len; i++)
        if (g_array_index(layout->edges[TOPOLOGY_SOURCES], TopologyEdge, i).optional)
            return TRUE;
    return FALSE;
}

/* ---- the whole ---- */

/* A line for each part, where there are too many for a drawing. */
static char *
list_in_words(const AgentConfig *config)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < config->routes->len; i++) {
        const AgentRoute *route = g_ptr_array_index(config->routes, i);

        g_string_append_printf(text, "source %s puts events into", route->source->base.name);
        for (guint c = 0; c < route->channels->len; c++) {
            const Channel *channel = g_ptr_array_index(route->channels, c);

            g_string_append_printf(text, " %s%s", channel->base.name,
                                   c >= route->n_required ? " (optional)" : "");
        }
        g_string_append_c(text, '\n');
    }
    for (guint i = 0; i < config->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(config->sinks, i);

        g_string_append_printf(text, "sink %s takes events from %s%s%s%s%s\n", sink->base.name,
                               sink->channel->base.name, sink->group != NULL ? ", in group " : "",
                               sink->group != NULL ? ((const Component *) sink->group)->name : "",
                               sink->dead_letter != NULL ? ", dead letters to " : "",
                               sink->dead_letter != NULL ? sink->dead_letter->base.name : "");
    }
    return g_string_free(text, FALSE);
}

static char *
draw(const TopologyLayout *layout, gboolean utf8)
{
    Drawing drawing = { .layout = layout };
    g_autoptr(TopologyCanvas) canvas = NULL;

    measure(&drawing);
    if ((guint64) drawing.total_width * layout->height > CELLS_MAX)
        return NULL;
    canvas = topology_canvas_new(drawing.total_width, layout->height);
    drawing.canvas = canvas;
    for (guint column = 0; column < N_TOPOLOGY_COLUMNS; column++)
        draw_boxes(&drawing, column);
    draw_gap(&drawing, TOPOLOGY_SOURCES);
    draw_gap(&drawing, TOPOLOGY_CHANNELS);
    return topology_canvas_to_text(canvas, utf8);
}

static char *
metrics_in_words(const AgentConfig *config)
{
    g_autofree char *address = NULL;

    if (config->http == NULL)
        return g_strdup("without metrics");
    if (!http_server_is_available())
        return g_strdup("metrics off (built without HTTP)");
    address = endpoint_to_text(config->http);
    return g_strdup_printf("metrics at %s", address);
}

static void
append_announcement(GString *out, const Registration *registration)
{
    const GPtrArray *addresses = registration_type(registration)->addresses(registration);

    g_string_append_printf(out, "source %s announced at", registration->source->base.name);
    for (guint i = 0; i < addresses->len; i++) {
        g_autofree char *address = endpoint_to_text(g_ptr_array_index(addresses, i));

        g_string_append_printf(out, "%s %s", i > 0 ? "," : "", address);
    }
    g_string_append_printf(out, " (%s)\n", registration->base.type->name);
}

/* A line for each registration. */
static char *
announcements_in_words(const AgentConfig *config)
{
    GString *out = g_string_new(NULL);

    for (guint i = 0; i < config->registrations->len; i++)
        append_announcement(out, g_ptr_array_index(config->registrations, i));
    return g_string_free(out, FALSE);
}

char *
agent_config_draw(const AgentConfig *self)
{
    gboolean utf8 = g_get_charset(NULL);
    g_autofree char *name = topology_label_clean(self->name);
    g_autofree char *metrics = metrics_in_words(self);
    g_autofree char *announcements = announcements_in_words(self);
    g_autoptr(TopologyLayout) layout = topology_layout_new(self);
    g_autofree char *picture = draw(layout, utf8);
    gboolean explain = picture != NULL && has_optional(layout);

    if (picture == NULL)
        picture = list_in_words(self);
    return g_strdup_printf("agent %s, %s\n%s\n%s%s%s", name, metrics, announcements, picture,
                           !explain ? ""
                           : utf8   ? "\n╌╌►"
                                    : "\n..>",
                           explain ? " optional: a copy, if there is room\n" : "");
}
