/* checkpoint.c - a small file that says how far the log has been consumed. */
#include "agent/channels/file_channel/checkpoint.h"

#include <errno.h>
#include <fcntl.h>

#include "agent/channels/file_channel/crc32c.h"
#include "agent/channels/file_channel/little_endian.h"
#include "agent/channels/file_channel/record.h"

#define HEAD_SIZE 88

static const guint8 magic[8] = { 'L', 'E', 'A', 'T', 'C', 'K', 'P', '\n' };
/* Far more ranges than sinks could leave open. */
#define MAX_SIZE ((gsize) 16 << 20)

void
checkpoint_init(Checkpoint *self)
{
    *self = (Checkpoint){ 0 };
    seq_set_init(&self->above);
}

void
checkpoint_clear(Checkpoint *self)
{
    seq_set_clear(&self->above);
}

/* ---- bytes ---- */

static GByteArray *
to_bytes(const Checkpoint *self)
{
    guint n_ranges = seq_set_n_ranges(&self->above);
    GByteArray *bytes = g_byte_array_new();
    guint8 *out;

    g_byte_array_set_size(bytes, HEAD_SIZE + n_ranges * RECORD_RANGE_SIZE);
    out = bytes->data;
    memset(out, 0, HEAD_SIZE);
    memcpy(out, magic, sizeof(magic));
    put_u32(out + 8, CHECKPOINT_VERSION);
    put_u64(out + 16, self->channel);
    put_u64(out + 24, self->consumed);
    put_u64(out + 32, self->from.segment);
    put_u64(out + 40, self->from.offset);
    put_u64(out + 48, self->end.segment);
    put_u64(out + 56, self->end.offset);
    put_u64(out + 64, self->next_seq);
    put_u64(out + 72, self->n_bytes);
    put_u64(out + 80, n_ranges);
    for (guint i = 0; i < n_ranges; i++)
        record_range_write(*seq_set_range(&self->above, i),
                           out + HEAD_SIZE + i * RECORD_RANGE_SIZE);
    put_u32(out + 12, crc32c(0, out, bytes->len));
    return bytes;
}

/* NULL if all is well, else what is wrong. Changes data. */
static const char *
check_bytes(guint8 *data, gsize length)
{
    guint32 crc;

    if (length < HEAD_SIZE || memcmp(data, magic, sizeof(magic)) != 0)
        return "it is not a checkpoint";
    if (get_u32(data + 8) != CHECKPOINT_VERSION)
        return "it is of another version";
    crc = get_u32(data + 12);
    put_u32(data + 12, 0);
    if (crc32c(0, data, length) != crc)
        return "its checksum is wrong";
    if ((length - HEAD_SIZE) % RECORD_RANGE_SIZE != 0 ||
        get_u64(data + 80) != (length - HEAD_SIZE) / RECORD_RANGE_SIZE)
        return "its length is wrong";
    return NULL;
}

static const char *
from_bytes(guint8 *data, gsize length, Checkpoint *self)
{
    const char *wrong = check_bytes(data, length);

    if (wrong != NULL)
        return wrong;
    self->channel = get_u64(data + 16);
    self->consumed = get_u64(data + 24);
    self->from = (LogPosition){ get_u64(data + 32), get_u64(data + 40) };
    self->end = (LogPosition){ get_u64(data + 48), get_u64(data + 56) };
    self->next_seq = get_u64(data + 64);
    self->n_bytes = get_u64(data + 72);
    for (gsize at = HEAD_SIZE; at < length; at += RECORD_RANGE_SIZE) {
        SeqRange range = record_range_read(data + at);

        if (range.first >= range.end || range.first < self->consumed || range.end > SEQ_MAX)
            return "its ranges make no sense";
        seq_set_add(&self->above, range);
    }
    /* Events that were consumed before they were written may be ahead of the log. */
    return self->consumed > SEQ_MAX || self->next_seq > SEQ_MAX ? "its numbers make no sense"
                                                                : NULL;
}

/* ---- files ---- */

static const char *
load_from(const FileOps *ops, int fd, Checkpoint *ret_checkpoint)
{
    g_autofree guint8 *data = NULL;
    guint64 size;
    gssize got;

    if (ops->size(fd, &size) != 0)
        return g_strerror(errno);
    if (size > MAX_SIZE)
        return "it is too large";
    data = g_malloc(size + 1);
    got = file_read_all(ops, fd, data, size, 0);
    if (got < 0)
        return g_strerror(errno);
    return from_bytes(data, (gsize) got, ret_checkpoint);
}

gboolean
checkpoint_load(const FileOps *ops, int folder, Checkpoint *ret_checkpoint, char **ret_why)
{
    g_auto(Checkpoint) loaded;
    const char *wrong;
    int fd = ops->open(folder, CHECKPOINT_NAME, O_RDONLY, 0);

    *ret_why = NULL;
    checkpoint_init(&loaded);
    if (fd < 0) {
        *ret_why = errno == ENOENT ? NULL : g_strdup(file_open_strerror(errno));
        return FALSE;
    }
    wrong = load_from(ops, fd, &loaded);
    ops->close(fd);
    if (wrong != NULL) {
        *ret_why = g_strdup(wrong);
        return FALSE;
    }
    checkpoint_clear(ret_checkpoint);
    *ret_checkpoint = loaded;
    seq_set_init(&loaded.above);
    return TRUE;
}

static gboolean
save_to(const FileOps *ops, int fd, const Checkpoint *self)
{
    g_autoptr(GByteArray) bytes = to_bytes(self);
    struct iovec part = { .iov_base = bytes->data, .iov_len = bytes->len };

    return file_write_all(ops, fd, &part, 1, 0) && file_sync(ops, fd);
}

gboolean
checkpoint_save(const FileOps *ops, int folder, const Checkpoint *self, GError **error)
{
    int fd = ops->open(folder, CHECKPOINT_TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    gboolean saved;
    int number;

    if (fd < 0) {
        file_ops_set_error(error, errno, "create", CHECKPOINT_TEMPORARY);
        return FALSE;
    }
    saved = save_to(ops, fd, self);
    number = errno;
    ops->close(fd);
    if (!saved) {
        ops->unlink(folder, CHECKPOINT_TEMPORARY);
        file_ops_set_error(error, number, "write", CHECKPOINT_TEMPORARY);
        return FALSE;
    }
    if (ops->rename(folder, CHECKPOINT_TEMPORARY, CHECKPOINT_NAME) != 0 ||
        ops->fsync(folder) != 0) {
        file_ops_set_error(error, errno, "put in place", CHECKPOINT_NAME);
        return FALSE;
    }
    return TRUE;
}
