/* log_writer.c - appends groups of records to the newest segment. */
#include "agent/channels/file_channel/log_writer.h"

#include <errno.h>

#include "agent/channels/file_channel/compression.h"
#include "base/clock.h"

#define CONSUMPTION_ROOM ((guint64) 64 * 1024)

/* ---- a put ---- */

LogPut *
log_put_new(Batch *batch)
{
    LogPut *self = g_new0(LogPut, 1);

    self->link.data = self;
    self->run = log_run_new(batch, 1);
    self->run->time_us = clock_wall_us();
    self->header.count = batch->n_events;
    return self;
}

void
log_put_prepare(LogPut *self, RecordCompression compression)
{
    const Batch *batch = self->run->batch;
    ByteSpan events = batch_span(batch, 0, batch->n_events);
    gsize length = 0;

    self->payload = events;
    if (compression != RECORD_PLAIN && events.length <= RECORD_MAX_COMPRESSED_RAW)
        self->squeezed = record_compress(events, &length);
    if (self->squeezed != NULL)
        self->payload = byte_span(self->squeezed, length);
    self->header = (RecordHeader){
        .length = (guint32) self->payload.length,
        .type = RECORD_EVENTS,
        .compression = self->squeezed != NULL ? compression : RECORD_PLAIN,
        .count = batch->n_events,
        .time_us = self->run->time_us,
        .raw_length = (guint32) events.length,
    };
    self->payload_crc = record_payload_crc(self->payload);
}

void
log_put_free(LogPut *self)
{
    log_run_unref(self->run);
    g_free(self->squeezed);
    g_free(self);
}

/* ---- life cycle ---- */

void
log_writer_init(LogWriter *self, const SegmentDir *dir, SegmentList *segments)
{
    *self = (LogWriter){ .dir = dir, .segments = segments, .fd = -1 };
    self->parts = g_array_new(FALSE, FALSE, sizeof(struct iovec));
}

/* Gives back what was allocated behind the last record that counts; the log is the same without. */
static void
log_writer_shut(LogWriter *self)
{
    SegmentInfo info;

    if (self->fd < 0)
        return;
    if (segment_list_last(self->segments, &info) && info.number == self->number)
        self->dir->ops->truncate(self->fd, (off_t) info.end);
    self->dir->ops->close(self->fd);
    self->fd = -1;
}

void
log_writer_clear(LogWriter *self)
{
    log_writer_shut(self);
    g_clear_pointer(&self->parts, g_array_unref);
}

/* ---- segments ---- */

guint64
log_writer_consumed_size(guint n_ranges)
{
    return record_size(n_ranges * RECORD_RANGE_SIZE);
}

static guint64
consumption_room(guint64 segment_size)
{
    return MIN(CONSUMPTION_ROOM, segment_size / 8);
}

gboolean
log_writer_has_room(const LogWriter *self, guint64 size, gboolean is_consumption)
{
    guint64 kept = is_consumption ? 0 : consumption_room(self->size);

    return self->fd >= 0 && self->offset + size + kept <= self->size;
}

gboolean
log_writer_roll(LogWriter *self, guint64 size, guint64 group_size, guint64 consumed, GError **error)
{
    SegmentInfo previous = { 0 };
    guint64 least = SEGMENT_HEAD_SIZE + group_size + consumption_room(size);
    SegmentHead head = {
        .version = SEGMENT_VERSION,
        .salt = g_random_int(),
        .channel = self->channel,
        .number = self->last_number + 1,
        .size = MAX(size, least),
        .time_us = clock_wall_us(),
        .first_seq = self->next_seq,
        .consumed = consumed,
    };
    int fd;

    segment_list_last(self->segments, &previous);
    head.previous = previous.number;
    head.previous_end = previous.end;
    fd = segment_dir_create(self->dir, &head, error);
    self->last_number++; /* also when it failed: its name may have stayed */
    if (fd < 0)
        return FALSE;
    log_writer_shut(self);
    self->fd = fd;
    self->salt = head.salt;
    self->number = head.number;
    self->size = head.size;
    self->offset = self->synced = SEGMENT_HEAD_SIZE;
    segment_list_add(self->segments, &(SegmentInfo){ .number = head.number,
                                                     .salt = head.salt,
                                                     .first_seq = head.first_seq,
                                                     .end_seq = head.first_seq,
                                                     .end = SEGMENT_HEAD_SIZE });
    return TRUE;
}

/* Whatever the page cache holds of what was not synced is not to be believed. */
static gboolean
log_writer_fail(LogWriter *self, const char *what, GError **error)
{
    int number = errno;
    g_autofree char *name = segment_name(self->number);

    log_writer_shut(self);
    self->offset = self->synced;
    file_ops_set_error(error, number, what, name);
    g_prefix_error(error, "directory '%s': ", self->dir->path);
    return FALSE;
}

/* ---- groups ---- */

static void
add_part(LogWriter *self, const void *bytes, gsize length)
{
    struct iovec part = { .iov_base = (void *) bytes, .iov_len = length };

    g_array_append_val(self->parts, part);
}

static void
add_record(LogWriter *self, RecordHeader *header, guint32 payload_crc, ByteSpan payload,
           guint8 *header_bytes)
{
    static const guint8 zeros[RECORD_ALIGNMENT] = { 0 };
    gsize padding = record_size(header->length) - RECORD_HEADER_SIZE - header->length;

    header->salt = self->salt;
    header->synced = self->synced;
    record_header_write(header, payload_crc, header_bytes);
    add_part(self, header_bytes, RECORD_HEADER_SIZE);
    add_part(self, payload.data, payload.length);
    if (padding > 0)
        add_part(self, zeros, padding);
}

static guint8 *
consumed_payload(const SeqSet *consumed)
{
    guint n_ranges = seq_set_n_ranges(consumed);
    guint8 *payload = g_malloc(n_ranges * RECORD_RANGE_SIZE);

    for (guint i = 0; i < n_ranges; i++)
        record_range_write(*seq_set_range(consumed, i), payload + i * RECORD_RANGE_SIZE);
    return payload;
}

static void
add_put(LogWriter *self, LogPut *put, guint64 *seq, guint64 *offset)
{
    LogRun *run = put->run;

    *seq = MAX(*seq, run->seq);
    put->header.seq = run->seq = *seq;
    run->segment = self->number;
    run->spots[0].offset = *offset;
    add_record(self, &put->header, put->payload_crc, put->payload, put->header_bytes);
    *seq += put->header.count;
    *offset += record_size(put->header.length);
    run->spots[1].offset = *offset;
}

gboolean
log_writer_append(LogWriter *self, GList *puts, const SeqSet *consumed, guint64 low, GError **error)
{
    guint n_ranges = seq_set_n_ranges(consumed);
    g_autofree guint8 *payload = consumed_payload(consumed);
    guint8 header_bytes[RECORD_HEADER_SIZE];
    guint64 seq = self->next_seq;
    guint64 offset = self->offset;

    g_array_set_size(self->parts, 0);
    if (n_ranges > 0) {
        RecordHeader header = { .length = n_ranges * RECORD_RANGE_SIZE,
                                .type = RECORD_CONSUMED,
                                .count = n_ranges,
                                .seq = low,
                                .time_us = clock_wall_us(),
                                .raw_length = n_ranges * RECORD_RANGE_SIZE };
        ByteSpan bytes = byte_span(payload, header.length);

        add_record(self, &header, record_payload_crc(bytes), bytes, header_bytes);
        offset += record_size(header.length);
    }
    for (GList *link = puts; link != NULL; link = link->next)
        add_put(self, link->data, &seq, &offset);
    if (!file_write_all(self->dir->ops, self->fd, (struct iovec *) (gpointer) self->parts->data,
                        self->parts->len, self->offset))
        return log_writer_fail(self, "write", error);
    self->offset = offset;
    self->next_seq = seq;
    return TRUE;
}

gboolean
log_writer_sync(LogWriter *self, GError **error)
{
    SegmentInfo info;

    if (self->fd < 0 || self->synced == self->offset)
        return TRUE;
    if (!file_sync(self->dir->ops, self->fd)) {
        segment_list_last(self->segments, &info);
        self->next_seq = info.end_seq; /* the numbers of what is not accepted are given again */
        return log_writer_fail(self, "sync", error);
    }
    self->synced = self->offset;
    return TRUE;
}

void
log_writer_accept(LogWriter *self)
{
    segment_list_grow(self->segments, self->offset, self->next_seq);
}
