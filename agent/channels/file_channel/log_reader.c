/* log_reader.c - reads events back from the log, from any place on. */
#include "agent/channels/file_channel/log_reader.h"

#include <errno.h>

#include "agent/channels/file_channel/compression.h"
#include "base/batch_builder.h"

/* Records are read together until they are this much: a lease of many tiny ones is cheap then. */
#define GATHER_BYTES ((gsize) 128 * 1024)
#define MAX_READ_ERRORS 10

void
log_reader_init(LogReader *self, const SegmentDir *dir, SegmentList *segments)
{
    *self = (LogReader){ .dir = dir, .segments = segments, .fd = -1 };
}

static void
log_reader_shut(LogReader *self)
{
    g_clear_pointer(&self->reader, segment_reader_free);
    if (self->fd >= 0)
        self->dir->ops->close(self->fd);
    self->fd = -1;
    self->info = (SegmentInfo){ 0 };
}

void
log_reader_clear(LogReader *self)
{
    log_reader_shut(self);
}

/* The events of a record: their bytes, and where each ends. Either is kept for the caller by raw
 * and ends. FALSE if the record does not hold exactly as many canonical events as it says. */
static gboolean
read_events(const Record *record, GArray *ends, guint8 **ret_raw, ByteSpan *ret_events)
{
    guint count = record->header.count;
    ByteSpan events = record->payload;

    *ret_raw = NULL;
    if (record->header.raw_length > G_MAXINT32 || count > record->header.raw_length)
        return FALSE;
    if (record->header.compression != RECORD_PLAIN) {
        *ret_raw = record_expand(record->payload, record->header.raw_length);
        events = byte_span(*ret_raw, record->header.raw_length);
    }
    g_array_set_size(ends, count + 1);
    g_array_index(ends, guint32, 0) = 0;
    *ret_events = events;
    return events.data != NULL &&
           event_bytes_check_many(events.data, events.length, count, 0,
                                  &g_array_index(ends, guint32, 1)) == count &&
           g_array_index(ends, guint32, count) == events.length;
}

Batch *
log_reader_decode(const Record *record)
{
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autofree guint8 *raw = NULL;
    ByteSpan events;

    if (!read_events(record, ends, &raw, &events))
        return NULL;
    return batch_new_copy(events.data, (const guint32 *) (gpointer) ends->data,
                          record->header.count);
}

/* ---- where ---- */

/* Opens the segment and goes to the offset. */
static gboolean
log_reader_seek(LogReader *self, const SegmentInfo *info, guint64 offset, GError **error)
{
    if (self->info.number != info->number) {
        log_reader_shut(self);
        self->fd = segment_dir_open_segment(self->dir, info->number);
        if (self->fd < 0) {
            g_autofree char *name = segment_name(info->number);

            file_ops_set_error(error, errno, "open", name);
            return FALSE;
        }
        self->reader = segment_reader_new(self->dir->ops, self->fd, info->salt, info->end);
    }
    self->info = *info;
    segment_reader_set_limit(self->reader, info->end);
    segment_reader_seek(self->reader, offset);
    return TRUE;
}

/* The place to begin at. FALSE: no segment has the event. */
static gboolean
log_reader_find(LogReader *self, const LogRange *range, SegmentInfo *ret_info, guint64 *ret_offset)
{
    *ret_offset = SEGMENT_HEAD_SIZE;
    if (!segment_list_find_seq(self->segments, range->first, ret_info))
        return FALSE;
    if (range->from.segment == ret_info->number)
        *ret_offset = range->from.offset;
    return ret_info->first_seq <= range->first;
}

/* ---- what ---- */

/* The disk may have a bad moment; only when it keeps failing at one place is that place lost. */
static gboolean
log_reader_gives_up(LogReader *self, guint64 seq)
{
    self->n_errors = self->error_seq == seq ? self->n_errors + 1 : 1;
    self->error_seq = seq;
    return self->n_errors > MAX_READ_ERRORS;
}

/* The first record that ends behind seq. READ_END: there is none in this segment. */
static ReadResult
find_record(LogReader *self, guint64 seq, Record *ret_record, GError **error)
{
    ReadResult result;

    for (;;) {
        g_autoptr(GError) failure = NULL;

        result = segment_reader_next(self->reader, ret_record, &failure);
        if (result == READ_ERROR && !log_reader_gives_up(self, seq)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return READ_ERROR;
        }
        if (result != READ_RECORD && segment_reader_offset(self->reader) < self->info.end)
            result = segment_reader_resume(self->reader, ret_record);
        if (result != READ_RECORD)
            return READ_END;
        if (ret_record->header.type == RECORD_EVENTS &&
            ret_record->header.seq + ret_record->header.count > seq)
            return READ_RECORD;
    }
}

static LogRun *
run_of_record(const LogReader *self, const Record *record, Batch *batch)
{
    LogRun *run = log_run_new(batch, 1);

    run->seq = record->header.seq;
    run->segment = self->info.number;
    run->time_us = record->header.time_us;
    run->spots[0].offset = record->offset;
    run->spots[1].offset = record->end;
    return run;
}

/* Small records that stand one behind the other. */
typedef struct {
    BatchBuilder *builder;
    GArray *spots; /* LogSpot */
    GArray *ends;  /* of the events of one record */
} Gathering;

static gboolean
gather_record(Gathering *self, const Record *record)
{
    LogSpot spot = { .offset = record->offset, .first = batch_builder_n_events(self->builder) };
    g_autofree guint8 *raw = NULL;
    ByteSpan events;

    if (!read_events(record, self->ends, &raw, &events))
        return FALSE;
    batch_builder_add_encoded(self->builder, events, &g_array_index(self->ends, guint32, 1),
                              record->header.count);
    g_array_append_val(self->spots, spot);
    return TRUE;
}

static LogRun *
gathered_run(const LogReader *self, Gathering *gathering, const RecordHeader *first, guint64 end)
{
    g_autoptr(Batch) batch = batch_builder_finish(gathering->builder);
    guint n_records = gathering->spots->len;
    LogRun *run = log_run_new(batch, n_records);

    memcpy(run->spots, gathering->spots->data, n_records * sizeof(LogSpot));
    run->spots[n_records].offset = end;
    run->seq = first->seq;
    run->segment = self->info.number;
    run->time_us = first->time_us;
    return run;
}

/* The first record and the small ones right behind it, up to end_seq. NULL if the first is bad. */
static LogRun *
gather(LogReader *self, const Record *first, guint64 end_seq)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(GATHER_BYTES, 256);
    g_autoptr(GArray) spots = g_array_new(FALSE, FALSE, sizeof(LogSpot));
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint32));
    Gathering gathering = { .builder = builder, .spots = spots, .ends = ends };
    RecordHeader header = first->header;
    guint64 seq = header.seq;
    Record record = *first;
    guint64 end = 0;

    do {
        if (record.header.type != RECORD_EVENTS)
            continue;
        if (record.header.seq != seq || record.header.raw_length > GATHER_BYTES ||
            !gather_record(&gathering, &record))
            break;
        seq += record.header.count;
        end = record.end;
    } while (seq < end_seq && batch_builder_n_bytes(builder) < GATHER_BYTES &&
             segment_reader_next(self->reader, &record, NULL) == READ_RECORD);
    return spots->len > 0 ? gathered_run(self, &gathering, &header, end) : NULL;
}

/* The run that begins with the record; NULL if it is bad. */
static LogRun *
read_run(LogReader *self, const Record *record, guint64 end_seq)
{
    g_autoptr(Batch) batch = NULL;

    if (record->header.raw_length <= GATHER_BYTES)
        return gather(self, record, end_seq);
    batch = log_reader_decode(record);
    return batch != NULL ? run_of_record(self, record, batch) : NULL;
}

static LogReadResult
lost_until(const LogRange *range, guint64 until, guint64 segment, guint64 *ret_lost,
           guint64 *ret_damaged)
{
    *ret_lost = MIN(until, range->end);
    *ret_damaged = segment;
    return LOG_READ_LOST;
}

LogReadResult
log_reader_read(LogReader *self, const LogRange *range, LogRun **ret_run, guint64 *ret_lost,
                guint64 *ret_damaged, GError **error)
{
    SegmentInfo info;
    guint64 end_seq;
    guint64 offset;
    ReadResult result;
    Record record;

    if (!log_reader_find(self, range, &info, &offset))
        return lost_until(range,
                          segment_list_find_seq(self->segments, range->first, &info)
                              ? info.first_seq
                              : range->end,
                          0, ret_lost, ret_damaged);
    if (!log_reader_seek(self, &info, offset, error))
        return LOG_READ_ERROR;
    result = find_record(self, range->first, &record, error);
    if (result == READ_ERROR) {
        g_autofree char *name = segment_name(info.number);

        g_prefix_error(error, "cannot read %s: ", name);
        return LOG_READ_ERROR;
    }
    if (result != READ_RECORD)
        return lost_until(range, info.end_seq, info.number, ret_lost, ret_damaged);
    if (record.header.seq > range->first)
        return lost_until(range, record.header.seq, info.number, ret_lost, ret_damaged);
    end_seq = record.header.seq + record.header.count;
    *ret_run = read_run(self, &record, range->end);
    if (*ret_run == NULL)
        return lost_until(range, end_seq, info.number, ret_lost, ret_damaged);
    return LOG_READ_RUN;
}
