/* topology_layout.c - where the boxes of a topology stand and in which rows lines meet them.
 *
 * Columns fill from the top. A source, the channels that it is the first to feed and their sinks
 * start in one row, so that the usual chains are straight lines. */
#include "agent/topology_layout.h"

#include "agent/topology_label.h"

typedef struct {
    TopologyLayout *layout;
    guint next_y[N_TOPOLOGY_COLUMNS];
    gboolean *placed;       /* of the channels */
    GHashTable *row_owners; /* row -> source + 1 whose line runs there, before the channels */
} Placing;

static TopologyBox *
box_at(const TopologyLayout *self, Column column, guint index)
{
    return &g_array_index(self->boxes[column], TopologyBox, index);
}

static TopologyEdge *
edge_at(const TopologyLayout *self, Column column, guint index)
{
    return &g_array_index(self->edges[column], TopologyEdge, index);
}

/* ---- boxes and edges of a configuration ---- */

static void
add_box(TopologyLayout *self, Column column, GPtrArray *lines)
{
    TopologyBox box = { .lines = lines, .height = lines->len + 2 };

    g_array_append_val(self->boxes[column], box);
}

static void
add_edge(TopologyLayout *self, Column column, guint from, const GPtrArray *targets,
         gconstpointer target, gboolean optional)
{
    TopologyEdge edge = { .from = from, .optional = optional };

    g_ptr_array_find((GPtrArray *) targets, target, &edge.to);
    g_array_append_val(self->edges[column], edge);
}

static void
add_source(TopologyLayout *self, const AgentConfig *config, guint index)
{
    const AgentRoute *route = g_ptr_array_index(config->routes, index);

    add_box(self, TOPOLOGY_SOURCES, topology_label_of_source(route));
    for (guint i = 0; i < route->channels->len; i++)
        add_edge(self, TOPOLOGY_SOURCES, index, config->channels,
                 g_ptr_array_index(route->channels, i), i >= route->n_required);
}

static void
add_channel(TopologyLayout *self, const AgentConfig *config, guint index)
{
    const Channel *channel = g_ptr_array_index(config->channels, index);

    add_box(self, TOPOLOGY_CHANNELS, topology_label_of_channel(channel));
    for (guint i = 0; i < config->sinks->len; i++) {
        const Sink *sink = g_ptr_array_index(config->sinks, i);

        if (sink->channel == channel)
            add_edge(self, TOPOLOGY_CHANNELS, index, config->sinks, sink, FALSE);
    }
}

/* ---- places ---- */

static guint
row_owner(const Placing *self, guint row)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(self->row_owners, GUINT_TO_POINTER(row)));
}

static void
own_row(Placing *self, guint row, guint source)
{
    g_hash_table_insert(self->row_owners, GUINT_TO_POINTER(row), GUINT_TO_POINTER(source + 1));
}

/* Box and exit row; the column goes on below it. */
static void
place_box(Placing *self, Column column, TopologyBox *box, guint y)
{
    box->y = y;
    box->exit_row = y + 1;
    self->next_y[column] = y + box->height;
    self->layout->height = MAX(self->layout->height, self->next_y[column]);
}

static void
place_sinks(Placing *self, guint channel, guint y)
{
    for (guint i = 0; i < self->layout->edges[TOPOLOGY_CHANNELS]->len; i++) {
        TopologyEdge *edge = edge_at(self->layout, TOPOLOGY_CHANNELS, i);

        if (edge->from != channel)
            continue;
        y = MAX(self->next_y[TOPOLOGY_SINKS], y);
        edge->entry_row = y + 1;
        place_box(self, TOPOLOGY_SINKS, box_at(self->layout, TOPOLOGY_SINKS, edge->to), y);
    }
}

/* Each line from a source gets an entry row of its own that no other source's line runs in. */
static void
place_channel(Placing *self, guint channel, guint y)
{
    TopologyBox *box = box_at(self->layout, TOPOLOGY_CHANNELS, channel);
    guint row = y + 1;

    for (guint i = 0; i < self->layout->edges[TOPOLOGY_SOURCES]->len; i++) {
        TopologyEdge *edge = edge_at(self->layout, TOPOLOGY_SOURCES, i);

        if (edge->to != channel)
            continue;
        while (row_owner(self, row) != 0 && row_owner(self, row) != edge->from + 1)
            row++;
        own_row(self, row, edge->from);
        edge->entry_row = row++;
    }
    box->height = MAX(box->height, row - y + 1);
    place_box(self, TOPOLOGY_CHANNELS, box, y);
    place_sinks(self, channel, y);
    self->placed[channel] = TRUE;
}

static gboolean
feeds_new_channel(const Placing *self, guint source)
{
    for (guint i = 0; i < self->layout->edges[TOPOLOGY_SOURCES]->len; i++) {
        const TopologyEdge *edge = edge_at(self->layout, TOPOLOGY_SOURCES, i);

        if (edge->from == source && !self->placed[edge->to])
            return TRUE;
    }
    return FALSE;
}

static guint
next_channel_y(const Placing *self)
{
    return MAX(self->next_y[TOPOLOGY_CHANNELS], self->next_y[TOPOLOGY_SINKS]);
}

static void
place_source(Placing *self, guint source)
{
    guint y = self->next_y[TOPOLOGY_SOURCES];

    if (feeds_new_channel(self, source))
        y = MAX(y, next_channel_y(self));
    while (row_owner(self, y + 1) != 0 && row_owner(self, y + 1) != source + 1)
        y++;
    own_row(self, y + 1, source);
    place_box(self, TOPOLOGY_SOURCES, box_at(self->layout, TOPOLOGY_SOURCES, source), y);
    for (guint i = 0; i < self->layout->edges[TOPOLOGY_SOURCES]->len; i++) {
        const TopologyEdge *edge = edge_at(self->layout, TOPOLOGY_SOURCES, i);

        if (edge->from == source && !self->placed[edge->to])
            place_channel(self, edge->to, MAX(y, next_channel_y(self)));
    }
}

static void
place_all(TopologyLayout *layout)
{
    g_autoptr(GHashTable) row_owners = g_hash_table_new(NULL, NULL);
    g_autofree gboolean *placed = g_new0(gboolean, layout->boxes[TOPOLOGY_CHANNELS]->len);
    Placing placing = { .layout = layout, .placed = placed, .row_owners = row_owners };

    for (guint i = 0; i < layout->boxes[TOPOLOGY_SOURCES]->len; i++)
        place_source(&placing, i);
    for (guint i = 0; i < layout->boxes[TOPOLOGY_CHANNELS]->len; i++)
        if (!placed[i])
            place_channel(&placing, i, next_channel_y(&placing));
}

/* ---- the whole ---- */

static void
clear_box(gpointer box)
{
    g_ptr_array_unref(((TopologyBox *) box)->lines);
}

TopologyLayout *
topology_layout_new(const AgentConfig *config)
{
    TopologyLayout *self = g_new0(TopologyLayout, 1);

    for (guint i = 0; i < N_TOPOLOGY_COLUMNS; i++) {
        self->boxes[i] = g_array_new(FALSE, TRUE, sizeof(TopologyBox));
        g_array_set_clear_func(self->boxes[i], clear_box);
    }
    for (guint i = 0; i < G_N_ELEMENTS(self->edges); i++)
        self->edges[i] = g_array_new(FALSE, TRUE, sizeof(TopologyEdge));
    for (guint i = 0; i < config->sources->len; i++)
        add_source(self, config, i);
    for (guint i = 0; i < config->channels->len; i++)
        add_channel(self, config, i);
    for (guint i = 0; i < config->sinks->len; i++)
        add_box(self, TOPOLOGY_SINKS, topology_label_of_sink(g_ptr_array_index(config->sinks, i)));
    place_all(self);
    return self;
}

void
topology_layout_free(TopologyLayout *self)
{
    for (guint i = 0; i < N_TOPOLOGY_COLUMNS; i++)
        g_array_unref(self->boxes[i]);
    for (guint i = 0; i < G_N_ELEMENTS(self->edges); i++)
        g_array_unref(self->edges[i]);
    g_free(self);
}
