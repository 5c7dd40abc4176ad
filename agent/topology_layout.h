/* topology_layout.h - where the boxes of a topology stand and in which rows lines meet them. */
#pragma once

#include <glib.h>

#include "agent/agent_config.h"

typedef enum { TOPOLOGY_SOURCES, TOPOLOGY_CHANNELS, TOPOLOGY_SINKS, N_TOPOLOGY_COLUMNS } Column;

typedef struct {
    GPtrArray *lines; /* char * */
    guint y;
    guint height;
    guint exit_row; /* where its line leaves it */
} TopologyBox;

/* From a source into a channel, or from a channel into a sink, by their positions. */
typedef struct {
    guint from;
    guint to;
    guint entry_row;
    gboolean optional;
} TopologyEdge;

/* Rows are chosen so that, between two columns, no row holds lines of two boxes. */
typedef struct {
    GArray *boxes[N_TOPOLOGY_COLUMNS]; /* TopologyBox */
    GArray *edges[TOPOLOGY_SINKS];     /* TopologyEdge, out of the column of that index */
    guint height;
} TopologyLayout;

TopologyLayout *topology_layout_new(const AgentConfig *config);
void topology_layout_free(TopologyLayout *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopologyLayout, topology_layout_free)
