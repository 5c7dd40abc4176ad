/* file_channel_take.c - leases: from the cache, or read back from the log by one consumer at a
 * time.
 */
#include "agent/channels/file_channel/file_channel.h"
#include "base/clock.h"

#define READ_RETRY_US G_USEC_PER_SEC
#define MAX_AGE_US ((gint64) 3650 * 24 * 3600 * G_USEC_PER_SEC)

/* A part of a lease; parallel to its slices, with the reference that they borrow. */
typedef struct {
    LogRun *run;
    guint first;
    guint count;
} LeasePart;

typedef struct {
    Lease base;
    GArray *parts; /* LeasePart */
} FileLease;

/* ---- lease ---- */

static void
lease_part_clear(gpointer part)
{
    g_clear_pointer(&((LeasePart *) part)->run, log_run_unref);
}

static FileLease *
file_lease_new(Channel *channel)
{
    FileLease *self = g_new0(FileLease, 1);

    lease_init(&self->base, channel);
    self->parts = g_array_sized_new(FALSE, FALSE, sizeof(LeasePart), 8);
    g_array_set_clear_func(self->parts, lease_part_clear);
    return self;
}

static void
file_lease_free(FileLease *self)
{
    g_array_unref(self->parts);
    lease_clear(&self->base);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileLease, file_lease_free)

static LeasePart *
part_at(const FileLease *self, guint index)
{
    return &g_array_index(self->parts, LeasePart, index);
}

static guint64
part_seq(const LeasePart *part)
{
    return part->run->seq + part->first;
}

static guint64
file_lease_end_seq(const FileLease *self)
{
    const LeasePart *last;

    if (self->parts->len == 0)
        return 0;
    last = part_at(self, self->parts->len - 1);
    return part_seq(last) + last->count;
}

static void
file_lease_add(FileLease *self, LogRun *run, guint first, guint count)
{
    LeasePart part = { .run = log_run_ref(run), .first = first, .count = count };

    g_array_append_val(self->parts, part);
    lease_add_slice(&self->base, run->batch, first, count, run->seq + first);
}

/* ---- take, with the lock held ---- */

/* Takes from the run what of the range it has; FALSE when the lease is full. */
static gboolean
file_channel_take_run(FileChannel *self, FileLease *lease, const TakeLimits *limits, LogRun *run,
                      LogRange *range)
{
    guint first = (guint) (range->first - run->seq);
    guint there = (guint) (MIN(log_run_end_seq(run), range->end) - range->first);
    guint count = lease_count_for(&lease->base, limits, run->batch, first, there);

    if (count == 0)
        return FALSE;
    file_lease_add(lease, run, first, count);
    range->first += count;
    range->from = log_run_position(run, first + count);
    self->stock.n_events -= count;
    self->stock.n_bytes -= MIN(self->stock.n_bytes, batch_span(run->batch, first, count).length);
    return TRUE;
}

typedef struct {
    LogReadResult result;
    LogRun *run;      /* LOG_READ_RUN */
    guint64 lost_end; /* LOG_READ_LOST */
    guint64 damaged;  /* number of the segment where they should be; 0: none */
} DiskRead;

/* ---- with no lock held, but reading set ---- */

static void
file_channel_report_lost(FileChannel *self, guint64 n_lost, guint64 segment)
{
    g_autofree char *name = segment_name(segment);
    g_autofree char *detail = NULL;
    g_autoptr(GError) error = NULL;

    if (segment != 0 && segment_list_mark_damaged(&self->segments, segment))
        segment_dir_keep_damaged(&self->dir, segment, &error);
    detail = g_strdup_printf("directory '%s': %" G_GUINT64_FORMAT " events %s%s cannot be read "
                             "and are lost%s%s",
                             self->dir.path, n_lost, segment != 0 ? "in " : "that no segment has",
                             segment != 0 ? name : "", error != NULL ? "; " : "",
                             error != NULL ? error->message : "");
    component_report_topic(&self->base.base, REPORT_DAMAGED, name, NULL, detail);
    metric_add(self->base.base.part_metrics, FILE_CHANNEL_LOST, n_lost);
}

static DiskRead
file_channel_read_disk(FileChannel *self, const LogRange *range)
{
    g_autoptr(GError) error = NULL;
    DiskRead read = { 0 };

    read.result =
        log_reader_read(&self->reader, range, &read.run, &read.lost_end, &read.damaged, &error);
    metric_add(self->base.base.part_metrics, FILE_CHANNEL_DISK_READS, 1);
    if (read.result == LOG_READ_ERROR) {
        g_prefix_error(&error, "directory '%s': ", self->dir.path);
        component_report(&self->base.base, REPORT_DISK, NULL, error->message);
    }
    if (read.result == LOG_READ_LOST)
        file_channel_report_lost(self, read.lost_end - range->first, read.damaged);
    return read;
}

/* ---- take, with the lock held again ---- */

/* Reads from the disk what the cache has not. The lock is let go meanwhile; reading is set, so that
 * nobody else takes. NULL: try again, or *ret_failed. */
static LogRun *
file_channel_read(FileChannel *self, LogRange *range, gboolean *ret_failed)
{
    DiskRead read;

    g_mutex_unlock(&self->lock);
    read = file_channel_read_disk(self, range);
    g_mutex_lock(&self->lock);
    *ret_failed = read.result == LOG_READ_ERROR;
    if (read.result == LOG_READ_RUN)
        run_cache_add_read(&self->cache, read.run);
    if (read.result == LOG_READ_LOST) {
        self->stock.n_events -= read.lost_end - range->first;
        file_channel_consume(self, range->first, read.lost_end, 0);
        range->first = read.lost_end;
    }
    return read.run;
}

static LogRun *
file_channel_find(const FileChannel *self, guint64 seq)
{
    LogRun *run = run_cache_find(&self->memory, seq);

    return run != NULL ? run : run_cache_find(&self->cache, seq);
}

/* Fills the lease from one range; FALSE when it is full, or the disk fails. */
static gboolean
file_channel_take_range(FileChannel *self, FileLease *lease, const TakeLimits *limits,
                        LogRange *range, gboolean *ret_failed)
{
    while (range->first < range->end) {
        LogRun *cached = file_channel_find(self, range->first);
        g_autoptr(LogRun) run = cached != NULL ? log_run_ref(cached) : NULL;

        if (run == NULL && lease->base.n_events >= MAX(limits->max_events, 1))
            return FALSE;
        if (run == NULL)
            run = file_channel_read(self, range, ret_failed);
        if (*ret_failed)
            return FALSE;
        if (run != NULL && !file_channel_take_run(self, lease, limits, run, range))
            return FALSE;
    }
    return TRUE;
}

/* While reading is set. */
static gboolean
file_channel_fill(FileChannel *self, FileLease *lease, const TakeLimits *limits)
{
    gboolean failed = FALSE;
    gboolean goes_on = TRUE;
    LogRange range;

    while (goes_on && log_ranges_take_first(&self->available, &range)) {
        /* What was put back while the disk was read comes first the next time. */
        goes_on = range.first >= file_lease_end_seq(lease) &&
                  file_channel_take_range(self, lease, limits, &range, &failed);
        log_ranges_add(&self->available, range);
    }
    return !failed;
}

/* For another reader to be done, or for a disk that fails; no longer than the caller waits. */
static void
file_channel_wait_for_disk(FileChannel *self, gint64 deadline_us)
{
    g_cond_wait_until(&self->read_done, &self->lock,
                      MIN(clock_deadline_us(READ_RETRY_US), deadline_us));
}

static gboolean
is_over(const TakeLimits *limits, gint64 deadline_us)
{
    return clock_now_us() >= deadline_us ||
           (limits->stop != NULL && g_atomic_int_get(limits->stop));
}

/* One consumer reads at a time; a disk that is slow for it is slow for the next one too. */
static gboolean
file_channel_begin_reading(FileChannel *self, const TakeLimits *limits, gint64 deadline_us)
{
    do {
        if (!take_waiters_wait(&self->waiters, &self->lock, &self->stock, limits, deadline_us))
            return FALSE;
        while (self->reading) {
            if (is_over(limits, deadline_us))
                return FALSE;
            file_channel_wait_for_disk(self, deadline_us);
        }
    } while (self->stock.n_events == 0);
    self->reading = TRUE;
    return TRUE;
}

static void
file_channel_end_reading(FileChannel *self)
{
    self->reading = FALSE;
    /* A start counts the heads of records with it, and of what is lost nobody knows how much it is.
     * Were that kept, consumers would for ever think that there is enough. */
    if (self->stock.n_events == 0)
        self->stock.n_bytes = 0;
    g_cond_broadcast(&self->read_done);
    file_channel_admit_pending(self); /* what is lost makes room */
    file_channel_show(self);
}

Lease *
file_channel_take(Channel *channel, const TakeLimits *limits, gint64 deadline_us)
{
    FileChannel *self = file_channel_of(channel);
    g_autoptr(FileLease) lease = file_lease_new(channel);

    g_mutex_lock(&self->lock);
    while (lease->base.n_events == 0 && file_channel_begin_reading(self, limits, deadline_us)) {
        gboolean is_well = file_channel_fill(self, lease, limits);

        file_channel_end_reading(self);
        if (is_well || lease->base.n_events > 0)
            continue;
        if (is_over(limits, deadline_us))
            break;
        file_channel_wait_for_disk(self, deadline_us);
    }
    if (lease->base.n_events > 0)
        take_waiters_taken(&self->waiters);
    g_mutex_unlock(&self->lock);
    if (lease->base.n_events == 0)
        return NULL;
    return &g_steal_pointer(&lease)->base;
}

/* ---- commit ---- */

/* The wall clock may have been set since the put, perhaps from 1970: such an age says nothing. */
static void
file_channel_observe_residence(const FileChannel *self, gint64 age_us, guint count)
{
    if (age_us >= 0 && age_us <= MAX_AGE_US)
        metric_observe_us(self->base.base.metrics, CHANNEL_RESIDENCE_TIME, age_us, count);
}

/* With the lock held: the first n_events of the lease are consumed. */
static void
file_channel_consume_parts(FileChannel *self, FileLease *lease, guint n_events, gint64 now_us)
{
    guint n_whole = 0;

    while (n_events > 0) {
        LeasePart *part = part_at(lease, n_whole);
        guint count = MIN(n_events, part->count);

        file_channel_consume(self, part_seq(part), part_seq(part) + count,
                             log_run_charge(part->run, part->first, count));
        file_channel_observe_residence(self, now_us - part->run->time_us, count);
        part->first += count;
        part->count -= count;
        n_events -= count;
        if (part->count == 0)
            n_whole++;
    }
    if (n_whole > 0)
        g_array_remove_range(lease->parts, 0, n_whole);
}

void
file_channel_commit(Lease *base, guint n_events)
{
    FileChannel *self = file_channel_of(base->channel);
    FileLease *lease = (FileLease *) base;
    gint64 now_us = clock_wall_us();

    lease_forget(base, n_events);
    g_mutex_lock(&self->lock);
    file_channel_consume_parts(self, lease, n_events, now_us);
    if (lease->parts->len > 0)
        base->first = part_seq(part_at(lease, 0));
    run_cache_forget_below(&self->cache, self->consumption.low);
    run_cache_forget_below(&self->memory, self->consumption.low);
    file_channel_admit_pending(self);
    file_channel_show(self);
    g_mutex_unlock(&self->lock);
}

void
file_channel_rollback(Lease *base)
{
    FileChannel *self = file_channel_of(base->channel);
    g_autoptr(FileLease) lease = (FileLease *) base;

    if (base->n_events == 0)
        return;
    g_mutex_lock(&self->lock);
    for (guint i = 0; i < lease->parts->len; i++) {
        const LeasePart *part = part_at(lease, i);

        log_ranges_add(&self->available, (LogRange){ part_seq(part), part_seq(part) + part->count,
                                                     log_run_position(part->run, part->first) });
    }
    self->stock.n_events += base->n_events;
    self->stock.n_bytes += base->n_bytes;
    file_channel_show(self);
    g_mutex_unlock(&self->lock);
}
