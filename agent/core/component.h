/* component.h - what every part of an agent has: a type row, a name, options, metrics, a life
 * cycle. */
#pragma once

#include <glib.h>

#include "base/metric.h"
#include "base/option.h"
#include "base/problems.h"

typedef enum {
    COMPONENT_SOURCE,
    COMPONENT_INTERCEPTOR,
    COMPONENT_SELECTOR,
    COMPONENT_CHANNEL,
    COMPONENT_SINK,
    COMPONENT_SINK_GROUP,
    COMPONENT_REGISTRATION,
    N_COMPONENT_KINDS,
} ComponentKind;

const char *component_kind_name(ComponentKind kind); /* "source" */
/* The key of a mapping that names a part's type: "type", but "processor" of sink groups. */
const char *component_kind_type_key(ComponentKind kind);

typedef struct Component Component;

/* First member of every SourceType, ChannelType, ... Life cycle: configure, open, (start, stop by
 * kind), close. Every operation may be NULL. */
typedef struct {
    const char *name;    /* as in `type: NAME` */
    const char *summary; /* one sentence for help */
    gsize instance_size;
    const OptionSpec *options;
    const MetricSpec *metrics; /* rows of this part alone, beside those of its kind; NULL if none */

    /* Checks that rows cannot express. No side effects. Comes after the wiring. */
    void (*configure)(Component *self, Problems *problems);
    /* Binds, locks, recovers. All parts are opened before any starts. */
    gboolean (*open)(Component *self, GError **error);
    /* Undoes open; also called when a later part could not be opened. */
    void (*close)(Component *self);
    /* Frees what the part allocated besides its options. */
    void (*finalize)(Component *self);
} ComponentType;

struct Component {
    const ComponentType *type;
    ComponentKind kind;
    char *name;
    const OptionSpec *const *tables; /* of the kind and of the type, NULL-terminated */
    const YamlNode *node;            /* until component_configure; NULL afterwards */
    char *path;                      /* "sinks.archive" */
    MetricSet *metrics;              /* rows of the kind */
    MetricSet *part_metrics;         /* rows of the type, NULL if it has none */
    MetricSpec *own_specs; /* of part_metrics, with own_values; NULL unless they were set */
    GStrv own_values;
    MetricSet *reports;            /* component_report, by reason */
    struct ComponentReports *rate; /* component_report's own */
};

/* kind_options, kind_metrics: what all parts of the kind share; either may be NULL. The node is
 * borrowed until component_configure; problems with options are added, and the component is
 * complete in any case. */
Component *component_new(const ComponentType *type, ComponentKind kind,
                         const OptionSpec *kind_options, const MetricSpec *kind_metrics,
                         const char *name, const char *path, const YamlNode *node,
                         Problems *problems);
/* The type's own checks. Once, after the configuration has wired the component, while the tree
 * still stands. */
void component_configure(Component *self, Problems *problems);
void component_free(Component *self);

gboolean component_open(Component *self, GError **error); /* prefixes errors with kind and name */
void component_close(Component *self);

/* A problem at the value of one of its options, or at the component if the option is not written.
 */
void component_problem(const Component *self, Problems *problems, const char *option,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Whether one of its options has a problem already, so that what follows from its value is none. */
gboolean component_has_problem(const Component *self, const Problems *problems, const char *option);

/* For configure, once: the values (NULL-terminated, copied) of the labels of those rows of the type
 * that have none, as they depend on the configuration. */
void component_set_metric_values(Component *self, const char *const *values);

/* Any thread: another of those values, which the row counts from 0. One that is "" is not shown.
 */
void component_rename_metric_value(Component *self, guint row, guint value, const char *name);

/* An event of note: counted by reason, logged at most once a second per reason (the number of those
 * left out is logged with the next), unless each has a line. Any thread. detail and peer may be
 * NULL. */
typedef enum {
    REPORT_CONNECTION_CLOSED, /* bounded reasons of the frame server have rows of their own */
    REPORT_BAD_CLIENT,
    REPORT_TOO_LARGE,
    REPORT_REFUSED,
    REPORT_RESOURCES,
    REPORT_EVENT_DROPPED,
    REPORT_MATCH_LIMIT,
    REPORT_DESTINATION,
    REPORT_NOT_A_SOURCE,
    REPORT_REJECTED,
    REPORT_RECOVERED,
    REPORT_SYSTEM_LIMIT, /* found at the start */
    REPORT_NOT_COPIED,   /* by an optional channel */
    REPORT_DISK,         /* a write, a sync or a new file failed */
    REPORT_DAMAGED,      /* files on the disk are not as they were written */
    REPORT_REGISTRY,     /* one that hosts are looked up at, or this agent is registered with */
    REPORT_HOST_JOINED,  /* each has a line: watches come at most twenty times a second */
    REPORT_HOST_LEFT,    /* likewise */
    N_REPORT_REASONS,
} ReportReason;

void component_report(Component *self, ReportReason reason, const char *peer, const char *detail);
/* The same, with a line a second for each topic: a finer reason, a channel, a host. */
void component_report_topic(Component *self, ReportReason reason, const char *topic,
                            const char *peer, const char *detail);

/* Every metric set of live components, for the HTTP page. The lock is held during the call. */
void components_visit_metrics(void (*visit)(const GPtrArray *sets, gpointer user), gpointer user);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Component, component_free)
