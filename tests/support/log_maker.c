/* log_maker.c - the directory of a file channel, written byte by byte, and damaged at will. */
#include "tests/support/log_maker.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "agent/channels/file_channel/checkpoint.h"
#include "agent/channels/file_channel/compression.h"
#include "agent/channels/file_channel/segment_dir.h"
#include "tests/support/events.h"
#include "tests/support/folder.h"

/* Any time will do, as long as it is one. */
#define SOME_TIME_US G_GINT64_CONSTANT(1700000000000000)
#define SOME_SALT 0x1ea70000u

LogMaker *
log_maker_new(void)
{
    LogMaker *self = g_new0(LogMaker, 1);

    self->path = folder_make();
    self->channel = 0xc4a11e1;
    self->records = g_array_new(FALSE, FALSE, sizeof(LogPosition));
    self->bytes = g_byte_array_new();
    return self;
}

void
log_maker_free(LogMaker *self)
{
    folder_remove(self->path);
    g_free(self->path);
    g_array_unref(self->records);
    g_byte_array_unref(self->bytes);
    g_free(self);
}

char *
log_maker_file(const LogMaker *self, const char *name)
{
    return g_build_filename(self->path, name, NULL);
}

char *
log_maker_segment(const LogMaker *self, guint64 number)
{
    g_autofree char *name = segment_name(number);

    return log_maker_file(self, name);
}

LogPosition
log_maker_record(const LogMaker *self, guint index)
{
    g_assert_cmpuint(index, <, self->records->len);
    return g_array_index(self->records, LogPosition, index);
}

/* ---- writing ---- */

static void
write_segment(const LogMaker *self)
{
    g_autofree char *file = log_maker_segment(self, self->head.number);

    g_assert_true(g_file_set_contents_full(file, (const char *) self->bytes->data,
                                           (gssize) self->bytes->len, G_FILE_SET_CONTENTS_NONE,
                                           0666, NULL));
}

void
log_maker_roll(LogMaker *self)
{
    const guint64 number = self->head.number + 1;

    self->head = (SegmentHead){ .version = SEGMENT_VERSION,
                                .salt = SOME_SALT + (guint32) number,
                                .channel = self->channel,
                                .number = number,
                                .size = SEGMENT_MIN_SIZE,
                                .time_us = SOME_TIME_US,
                                .first_seq = self->next_seq,
                                .consumed = self->consumed,
                                .previous = number - 1,
                                .previous_end = self->bytes->len };
    g_byte_array_set_size(self->bytes, SEGMENT_HEAD_SIZE);
    segment_head_write(&self->head, self->bytes->data);
    self->synced = SEGMENT_HEAD_SIZE;
    write_segment(self);
}

static void
add_record(LogMaker *self, RecordHeader header, ByteSpan payload)
{
    const guint offset = self->bytes->len;
    LogPosition position = { self->head.number, offset };

    header.length = (guint32) payload.length;
    header.salt = self->head.salt;
    header.synced = self->synced;
    header.time_us = SOME_TIME_US;
    g_byte_array_set_size(self->bytes, offset + (guint) record_size(header.length));
    memset(self->bytes->data + offset, 0, self->bytes->len - offset);
    memcpy(self->bytes->data + offset + RECORD_HEADER_SIZE, payload.data, payload.length);
    record_header_write(&header, record_payload_crc(payload), self->bytes->data + offset);
    g_array_append_val(self->records, position);
    write_segment(self);
}

static void
add_events(LogMaker *self, guint count, gboolean is_compressed)
{
    g_autoptr(Batch) batch = batch_of_numbers((guint) self->next_seq, count);
    ByteSpan payload = batch_span(batch, 0, count);
    RecordHeader header = { .type = RECORD_EVENTS,
                            .count = count,
                            .seq = self->next_seq,
                            .raw_length = (guint32) payload.length };
    g_autofree guint8 *squeezed = NULL;

    if (is_compressed && record_compression_missing(RECORD_ZSTD) == NULL) {
        gsize length;

        squeezed = record_compress(payload, &length);
        g_assert_nonnull(squeezed);
        payload = byte_span(squeezed, length);
    }
    header.compression = is_compressed ? RECORD_ZSTD : RECORD_PLAIN;
    add_record(self, header, payload);
    self->next_seq += count;
}

void
log_maker_put_in_group(LogMaker *self, guint count)
{
    add_events(self, count, FALSE);
}

void
log_maker_put(LogMaker *self, guint count)
{
    add_events(self, count, FALSE);
    self->synced = self->bytes->len;
}

void
log_maker_put_compressed(LogMaker *self, guint count)
{
    add_events(self, count, TRUE);
    self->synced = self->bytes->len;
}

void
log_maker_put_bytes(LogMaker *self, guint count, ByteSpan bytes)
{
    RecordHeader header = { .type = RECORD_EVENTS,
                            .count = count,
                            .seq = self->next_seq,
                            .raw_length = (guint32) bytes.length };

    add_record(self, header, bytes);
    self->next_seq += count;
    self->synced = self->bytes->len;
}

void
log_maker_consume(LogMaker *self, guint64 first, guint64 end)
{
    guint8 range[RECORD_RANGE_SIZE];
    RecordHeader header = { .type = RECORD_CONSUMED, .count = 1, .raw_length = RECORD_RANGE_SIZE };

    if (first == self->consumed)
        self->consumed = end;
    header.seq = self->consumed;
    record_range_write((SeqRange){ first, end, 10 * (end - first) }, range);
    add_record(self, header, byte_span(range, sizeof(range)));
    self->synced = self->bytes->len;
}

void
log_maker_checkpoint(LogMaker *self)
{
    g_autoptr(GError) error = NULL;
    Checkpoint checkpoint;
    SegmentDir dir;

    checkpoint_init(&checkpoint);
    checkpoint.channel = self->channel;
    checkpoint.consumed = self->consumed;
    checkpoint.from = log_maker_record(self, 0);
    checkpoint.end = (LogPosition){ self->head.number, self->bytes->len };
    checkpoint.next_seq = self->next_seq;
    checkpoint.n_bytes = 10 * (self->next_seq - self->consumed);
    g_assert_true(segment_dir_open(&dir, &file_ops_system, self->path, FALSE, &error));
    g_assert_true(checkpoint_save(&file_ops_system, dir.fd, &checkpoint, &error));
    segment_dir_close(&dir);
    checkpoint_clear(&checkpoint);
}

LogMaker *
log_maker_new_standard(void)
{
    LogMaker *self = log_maker_new();

    for (guint segment = 1; segment <= 3; segment++) {
        log_maker_roll(self);
        for (guint i = 0; i < 4; i++) {
            log_maker_put(self, 5);
            if (segment == 2 && i == 0)
                log_maker_consume(self, 0, 7);
        }
    }
    return self;
}

/* ---- damage ---- */

void
log_maker_overwrite(LogMaker *self, guint64 segment, guint64 offset, const void *bytes,
                    gsize length)
{
    g_autofree char *file = log_maker_segment(self, segment);
    int fd = g_open(file, O_WRONLY, 0);

    g_assert_cmpint(pwrite(fd, bytes, length, (off_t) offset), ==, (gssize) length);
    close(fd);
}

void
log_maker_flip(LogMaker *self, guint64 segment, guint64 offset)
{
    g_autofree char *file = log_maker_segment(self, segment);
    int fd = g_open(file, O_RDONLY, 0);
    guint8 byte;

    g_assert_cmpint(pread(fd, &byte, 1, (off_t) offset), ==, 1);
    close(fd);
    byte ^= 0x10;
    log_maker_overwrite(self, segment, offset, &byte, 1);
}

void
log_maker_zero(LogMaker *self, guint64 segment, guint64 offset, gsize length)
{
    g_autofree guint8 *zeros = g_malloc0(length);

    log_maker_overwrite(self, segment, offset, zeros, length);
}

void
log_maker_cut(LogMaker *self, guint64 segment, guint64 length)
{
    g_autofree char *file = log_maker_segment(self, segment);

    g_assert_cmpint(truncate(file, (off_t) length), ==, 0);
}

void
log_maker_remove(LogMaker *self, guint64 segment)
{
    g_autofree char *file = log_maker_segment(self, segment);

    g_assert_cmpint(g_unlink(file), ==, 0);
}

void
log_maker_copy(LogMaker *self, guint64 segment, guint64 to)
{
    g_autofree char *file = log_maker_segment(self, segment);
    g_autofree char *copy = log_maker_segment(self, to);
    g_autofree char *bytes = NULL;
    gsize length;

    g_assert_true(g_file_get_contents(file, &bytes, &length, NULL));
    g_assert_true(g_file_set_contents(copy, bytes, (gssize) length, NULL));
}
