/* segment.c - the head of a segment file, and what segments are called; bytes only, no files. */
#include "agent/channels/file_channel/segment.h"

#include "agent/channels/file_channel/crc32c.h"
#include "agent/channels/file_channel/little_endian.h"
#include "agent/channels/file_channel/seq_set.h"

#define HEAD_USED 96
#define NAME_DIGITS 16

static const guint8 magic[8] = { 'L', 'E', 'A', 'T', 'S', 'E', 'G', '\n' };

void
segment_head_write(const SegmentHead *self, guint8 out[SEGMENT_HEAD_SIZE])
{
    memset(out, 0, SEGMENT_HEAD_SIZE);
    memcpy(out, magic, sizeof(magic));
    put_u32(out + 8, self->version);
    put_u32(out + 16, SEGMENT_HEAD_SIZE);
    put_u32(out + 20, self->salt);
    put_u64(out + 24, self->channel);
    put_u64(out + 32, self->number);
    put_u64(out + 40, self->size);
    put_u64(out + 48, (guint64) self->time_us);
    put_u64(out + 56, self->first_seq);
    put_u64(out + 64, self->consumed);
    put_u64(out + 72, self->previous);
    put_u64(out + 80, self->previous_end);
    put_u32(out + 12, crc32c(0, out, HEAD_USED));
    memcpy(out + SEGMENT_HEAD_COPY, out, HEAD_USED);
}

static gboolean
is_zero(ByteSpan data)
{
    for (gsize i = 0; i < data.length; i++)
        if (data.data[i] != 0)
            return FALSE;
    return TRUE;
}

static SegmentHeadState
read_copy(const guint8 *data, SegmentHead *ret_head)
{
    guint8 copy[HEAD_USED];
    guint32 crc = get_u32(data + 12);

    if (memcmp(data, magic, sizeof(magic)) != 0)
        return SEGMENT_HEAD_BAD;
    memcpy(copy, data, HEAD_USED);
    put_u32(copy + 12, 0);
    if (crc32c(0, copy, HEAD_USED) != crc)
        return SEGMENT_HEAD_BAD;
    *ret_head = (SegmentHead){
        .version = get_u32(data + 8),
        .salt = get_u32(data + 20),
        .channel = get_u64(data + 24),
        .number = get_u64(data + 32),
        .size = get_u64(data + 40),
        .time_us = (gint64) get_u64(data + 48),
        .first_seq = get_u64(data + 56),
        .consumed = get_u64(data + 64),
        .previous = get_u64(data + 72),
        .previous_end = get_u64(data + 80),
    };
    if (ret_head->version != SEGMENT_VERSION)
        return SEGMENT_HEAD_VERSION;
    if (get_u32(data + 16) != SEGMENT_HEAD_SIZE || ret_head->first_seq > SEQ_MAX ||
        ret_head->consumed > SEQ_MAX)
        return SEGMENT_HEAD_BAD;
    return SEGMENT_HEAD_GOOD;
}

SegmentHeadState
segment_head_read(ByteSpan data, SegmentHead *ret_head)
{
    SegmentHeadState state = SEGMENT_HEAD_BAD;

    if (is_zero(data))
        return SEGMENT_HEAD_EMPTY;
    if (data.length >= HEAD_USED)
        state = read_copy(data.data, ret_head);
    if (state == SEGMENT_HEAD_BAD && data.length >= SEGMENT_HEAD_COPY + HEAD_USED)
        state = read_copy(data.data + SEGMENT_HEAD_COPY, ret_head);
    if (state != SEGMENT_HEAD_VERSION && data.length < SEGMENT_HEAD_SIZE)
        return memcmp(data.data, magic, MIN(data.length, sizeof(magic))) == 0 ? SEGMENT_HEAD_EMPTY
                                                                              : SEGMENT_HEAD_BAD;
    return state;
}

char *
segment_name(guint64 number)
{
    return g_strdup_printf("%016" G_GUINT64_FORMAT SEGMENT_SUFFIX, number);
}

gboolean
segment_name_parse(const char *name, guint64 *ret_number)
{
    guint64 number = 0;

    for (guint i = 0; i < NAME_DIGITS; i++) {
        if (!g_ascii_isdigit(name[i]))
            return FALSE;
        number = number * 10 + (guint64) (name[i] - '0');
    }
    if (number == 0 || strcmp(name + NAME_DIGITS, SEGMENT_SUFFIX) != 0)
        return FALSE;
    *ret_number = number;
    return TRUE;
}
