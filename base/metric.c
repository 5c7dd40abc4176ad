/* metric.c - counters, gauges and histograms of one component, as C11 relaxed atomics.
 *
 * What only ever grows has a cell in each of several shards, and a thread adds to those of its own
 * shard: a cache line that two loops add to is dearer than all the rest of the counting. What can
 * be set has one cell, in the shard of gauges. */
#include "base/metric.h"

#include <stdatomic.h>

/* A histogram has its buckets and behind them the sum. */
#define HISTOGRAM_CELLS (METRIC_BUCKETS + 1)

#define CACHE_LINE 64
#define GAUGE_SHARD 0
#define FIRST_SHARD 1
#define N_SHARDS 5

typedef struct {
    guint first; /* cell */
    guint count;
} CellRange;

struct MetricSet {
    const MetricSpec *specs;
    char *kind;
    char *type;
    char *component;
    CellRange *rows;
    gsize shard_cells;      /* a multiple of a cache line */
    _Atomic guint64 *cells; /* N_SHARDS * shard_cells */
};

static guint
cells_of_row(const MetricSpec *spec)
{
    if (spec->kind == METRIC_HISTOGRAM)
        return HISTOGRAM_CELLS;
    if (spec->label == NULL)
        return 1;
    return spec->values != NULL ? g_strv_length((char **) spec->values) : 0;
}

MetricSet *
metric_set_new(const MetricSpec *specs, const char *kind, const char *type, const char *component)
{
    MetricSet *self = g_new0(MetricSet, 1);
    guint n_rows = 0;
    guint n_cells = 0;

    while (specs[n_rows].name != NULL)
        n_rows++;
    self->specs = specs;
    self->kind = g_strdup(kind);
    self->type = g_strdup(type);
    self->component = g_strdup(component);
    self->rows = g_new0(CellRange, n_rows);
    for (guint row = 0; row < n_rows; row++) {
        self->rows[row].first = n_cells;
        self->rows[row].count = cells_of_row(&specs[row]);
        n_cells += self->rows[row].count;
    }
    self->shard_cells =
        (n_cells * sizeof(guint64) + CACHE_LINE - 1) / CACHE_LINE * (CACHE_LINE / sizeof(guint64));
    self->cells = g_aligned_alloc0(N_SHARDS * self->shard_cells, sizeof(guint64), CACHE_LINE);
    return self;
}

void
metric_set_free(MetricSet *self)
{
    if (self == NULL)
        return;
    g_free(self->kind);
    g_free(self->type);
    g_free(self->component);
    g_free(self->rows);
    g_aligned_free(self->cells);
    g_free(self);
}

static _Atomic guint64 *
metric_cell(const MetricSet *self, guint shard, guint row, guint value)
{
    g_assert(value < self->rows[row].count);
    return &self->cells[shard * self->shard_cells + self->rows[row].first + value];
}

static guint
shard_of_thread(void)
{
    static atomic_uint n_threads;
    static _Thread_local guint shard;

    if (G_UNLIKELY(shard == 0))
        shard = FIRST_SHARD +
                atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed) % (N_SHARDS - 1);
    return shard;
}

void
metric_add(MetricSet *self, guint row, guint64 amount)
{
    metric_add_value(self, row, 0, amount);
}

void
metric_add_value(MetricSet *self, guint row, guint value, guint64 amount)
{
    guint shard = self->specs[row].kind == METRIC_GAUGE ? GAUGE_SHARD : shard_of_thread();

    atomic_fetch_add_explicit(metric_cell(self, shard, row, value), amount, memory_order_relaxed);
}

void
metric_subtract(MetricSet *self, guint row, guint64 amount)
{
    metric_subtract_value(self, row, 0, amount);
}

void
metric_subtract_value(MetricSet *self, guint row, guint value, guint64 amount)
{
    g_assert(self->specs[row].kind == METRIC_GAUGE);
    atomic_fetch_sub_explicit(metric_cell(self, GAUGE_SHARD, row, value), amount,
                              memory_order_relaxed);
}

void
metric_set(MetricSet *self, guint row, guint64 number)
{
    g_assert(self->specs[row].kind == METRIC_GAUGE);
    atomic_store_explicit(metric_cell(self, GAUGE_SHARD, row, 0), number, memory_order_relaxed);
}

void
metric_reset_value(MetricSet *self, guint row, guint value)
{
    for (guint shard = 0; shard < N_SHARDS; shard++)
        atomic_store_explicit(metric_cell(self, shard, row, value), 0, memory_order_relaxed);
}

static guint
bucket_of(gint64 us)
{
    guint bits;

    if (us <= 1 << METRIC_FIRST_BOUND_BITS)
        return 0;
    bits = g_bit_storage((gulong) us - 1); /* a bound belongs to its own bucket */
    return MIN(bits - METRIC_FIRST_BOUND_BITS, METRIC_BUCKETS - 1);
}

void
metric_observe_us(MetricSet *self, guint row, gint64 us, guint64 weight)
{
    us = MAX(us, 0);
    metric_add_value(self, row, bucket_of(us), weight);
    metric_add_value(self, row, METRIC_BUCKETS, (guint64) us * weight);
}

guint64
metric_get(const MetricSet *self, guint row)
{
    guint64 sum = 0;

    for (guint value = 0; value < self->rows[row].count; value++)
        sum += metric_get_value(self, row, value);
    return sum;
}

guint64
metric_get_value(const MetricSet *self, guint row, guint value)
{
    guint64 sum = 0;

    for (guint shard = 0; shard < N_SHARDS; shard++)
        sum += atomic_load_explicit(metric_cell(self, shard, row, value), memory_order_relaxed);
    return sum;
}

guint64
metric_get_buckets(const MetricSet *self, guint row, guint64 ret_buckets[METRIC_BUCKETS])
{
    for (guint bucket = 0; bucket < METRIC_BUCKETS; bucket++)
        ret_buckets[bucket] = metric_get_value(self, row, bucket);
    return metric_get_value(self, row, METRIC_BUCKETS);
}

const MetricSpec *
metric_set_specs(const MetricSet *self)
{
    return self->specs;
}

const char *
metric_set_kind(const MetricSet *self)
{
    return self->kind;
}

const char *
metric_set_type(const MetricSet *self)
{
    return self->type;
}

const char *
metric_set_component(const MetricSet *self)
{
    return self->component;
}
