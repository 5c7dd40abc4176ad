/* log_reader.c - reads events back from the log, from any place on. */
#include "agent/channels/file_channel/log_reader.h"

#include <errno.h>

#include "agent/channels/file_channel/compression.h"
#include "base/batch_builder.h"

/* Records are read together until they are this much: a lease of many tiny ones is cheap then. */
#define GATHER_BYTES ((gsize) 128 * 1024)
#define MAX_READ_ERRORS 10
/* Of an event without header and body. */
#define EVENT_MIN_BYTES 5

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

/* ---- the events of one record ---- */

typedef enum { EVENTS_GOOD, EVENTS_BAD, EVENTS_NO_MEMORY, EVENTS_NOT_BUILT } EventsState;

/* Kept from one record to the next. */
typedef struct {
    guint8 *raw; /* what was expanded */
    gsize raw_capacity;
    guint32 *ends; /* from 0: where each event ends */
    gsize max_ends;
    ByteSpan events;
} Decoder;

static void
decoder_clear(Decoder *self)
{
    g_free(self->raw);
    g_free(self->ends);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Decoder, decoder_clear)

static gboolean
decoder_has_room(Decoder *self, const RecordHeader *header)
{
    if (header->compression != RECORD_PLAIN && header->raw_length > self->raw_capacity) {
        g_free(self->raw);
        self->raw = g_try_malloc(header->raw_length);
        self->raw_capacity = self->raw != NULL ? header->raw_length : 0;
        if (self->raw == NULL)
            return FALSE;
    }
    if (header->count >= self->max_ends) {
        g_free(self->ends);
        self->ends = g_try_new(guint32, (gsize) header->count + 1);
        self->max_ends = self->ends != NULL ? (gsize) header->count + 1 : 0;
        if (self->ends == NULL)
            return FALSE;
    }
    return TRUE;
}

/* Good: it holds exactly as many canonical events as it says. */
static EventsState
decoder_read(Decoder *self, const Record *record)
{
    const RecordHeader *header = &record->header;

    if (header->raw_length > G_MAXINT32 || header->count > header->raw_length / EVENT_MIN_BYTES)
        return EVENTS_BAD;
    if (record_compression_missing(header->compression) != NULL)
        return EVENTS_NOT_BUILT;
    if (!decoder_has_room(self, header))
        return EVENTS_NO_MEMORY;
    self->events = record->payload;
    if (header->compression != RECORD_PLAIN) {
        if (!record_expand(record->payload, self->raw, header->raw_length))
            return EVENTS_BAD;
        self->events = byte_span(self->raw, header->raw_length);
    }
    self->ends[0] = 0;
    if (event_bytes_check_many(self->events.data, self->events.length, header->count, 0,
                               self->ends + 1) != header->count ||
        self->ends[header->count] != self->events.length)
        return EVENTS_BAD;
    return EVENTS_GOOD;
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
        if (result == READ_ERROR &&
            (g_error_matches(failure, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_NO_MEMORY) ||
             !log_reader_gives_up(self, seq))) {
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

/* One large record. */
static EventsState
read_large(const LogReader *self, const Record *record, LogRun **ret_run)
{
    g_auto(Decoder) decoder = { 0 };
    g_autoptr(Batch) batch = NULL;
    EventsState state = decoder_read(&decoder, record);
    LogRun *run;

    if (state != EVENTS_GOOD)
        return state;
    batch = batch_new_copy(decoder.events.data, decoder.ends, record->header.count);
    if (batch == NULL)
        return EVENTS_NO_MEMORY;
    run = log_run_new(batch, 1);
    run->seq = record->header.seq;
    run->segment = self->info.number;
    run->time_us = record->header.time_us;
    run->spots[0].offset = record->offset;
    run->spots[1].offset = record->end;
    *ret_run = run;
    return EVENTS_GOOD;
}

/* Small records that stand one behind the other. */
typedef struct {
    BatchBuilder *builder;
    GArray *spots; /* LogSpot */
    Decoder decoder;
} Gathering;

static EventsState
gather_record(Gathering *self, const Record *record)
{
    LogSpot spot = { .offset = record->offset, .first = batch_builder_n_events(self->builder) };
    EventsState state = decoder_read(&self->decoder, record);

    if (state != EVENTS_GOOD)
        return state;
    batch_builder_add_encoded(self->builder, self->decoder.events, self->decoder.ends + 1,
                              record->header.count);
    g_array_append_val(self->spots, spot);
    return EVENTS_GOOD;
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

/* The first record and the small ones right behind it, up to end_seq. What is wrong with a later
 * one is seen when it is the first. */
static EventsState
gather_records(LogReader *self, Gathering *gathering, const Record *first, guint64 end_seq,
               LogRun **ret_run)
{
    RecordHeader header = first->header;
    guint64 seq = header.seq;
    Record record = *first;
    guint64 end = 0;
    EventsState state = EVENTS_GOOD;

    do {
        if (record.header.type != RECORD_EVENTS)
            continue;
        if (record.header.seq != seq || record.header.raw_length > GATHER_BYTES)
            break;
        state = gather_record(gathering, &record);
        if (state != EVENTS_GOOD)
            break;
        seq += record.header.count;
        end = record.end;
    } while (seq < end_seq && batch_builder_n_bytes(gathering->builder) < GATHER_BYTES &&
             segment_reader_next(self->reader, &record, NULL) == READ_RECORD);
    if (end == 0)
        return state;
    *ret_run = gathered_run(self, gathering, &header, end);
    return EVENTS_GOOD;
}

static EventsState
read_small(LogReader *self, const Record *first, guint64 end_seq, LogRun **ret_run)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(GATHER_BYTES, 256);
    g_autoptr(GArray) spots = g_array_new(FALSE, FALSE, sizeof(LogSpot));
    Gathering gathering = { .builder = builder, .spots = spots };
    EventsState state = gather_records(self, &gathering, first, end_seq, ret_run);

    decoder_clear(&gathering.decoder);
    return state;
}

/* The run that begins with the record. */
static EventsState
read_run(LogReader *self, const Record *record, guint64 end_seq, LogRun **ret_run)
{
    if (record->header.raw_length <= GATHER_BYTES)
        return read_small(self, record, end_seq, ret_run);
    return read_large(self, record, ret_run);
}

/* Of a record that is good, and yet cannot be read by this process. */
static gboolean
set_unreadable(const RecordHeader *header, EventsState state, GError **error)
{
    if (state == EVENTS_NO_MEMORY)
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_NO_MEMORY,
                    "no memory for a record of %u events", header->count);
    else if (state == EVENTS_NOT_BUILT)
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_FORMAT,
                    "%u events are compressed with %s, which this leat was built without; run one "
                    "that has it",
                    header->count, record_compression_missing(header->compression));
    else
        return FALSE;
    return TRUE;
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
    g_autoptr(GError) failure = NULL;
    EventsState state;
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
    if (!log_reader_seek(self, &info, offset, &failure)) {
        if (g_error_matches(failure, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_GONE))
            return lost_until(range, info.end_seq, info.number, ret_lost, ret_damaged);
        g_propagate_error(error, g_steal_pointer(&failure));
        return LOG_READ_ERROR;
    }
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
    state = read_run(self, &record, range->end, ret_run);
    if (set_unreadable(&record.header, state, error))
        return LOG_READ_ERROR;
    if (state == EVENTS_BAD)
        return lost_until(range, end_seq, info.number, ret_lost, ret_damaged);
    return LOG_READ_RUN;
}
