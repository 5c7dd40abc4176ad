/* recovery_heads.c - the heads of all segments of a channel, read at the start. */
#include "agent/channels/file_channel/recovery_heads.h"

#include <errno.h>

#include "agent/channels/file_channel/segment_reader.h"

typedef struct {
    guint64 number; /* of the name */
    guint64 size;
    SegmentHead head;
    SegmentHeadState state;
    gboolean is_foreign; /* no regular file, or a link that leads nowhere: not ours to touch */
    gboolean is_copy;    /* of another number's segment */
} HeadEntry;

static HeadEntry *
entry_at(const HeadList *self, guint index)
{
    return &g_array_index(self->entries, HeadEntry, index);
}

void
head_list_clear(HeadList *self)
{
    g_clear_pointer(&self->entries, g_array_unref);
}

guint
head_list_length(const HeadList *self)
{
    return self->entries->len;
}

const SegmentHead *
head_list_at(const HeadList *self, guint index)
{
    return &entry_at(self, index)->head;
}

guint64
head_list_size(const HeadList *self, guint index)
{
    return entry_at(self, index)->size;
}

guint64
head_list_channel(const HeadList *self)
{
    return self->channel;
}

guint64
head_list_end(const HeadList *self, guint index)
{
    const SegmentHead *next;

    if (index + 1 >= self->entries->len)
        return 0;
    next = head_list_at(self, index + 1);
    /* The one between is gone, and with it where this one ended: all that is there counts. */
    if (next->previous != entry_at(self, index)->number)
        return entry_at(self, index)->size;
    return next->previous_end;
}

static gboolean
read_entry(const SegmentDir *dir, guint64 number, HeadEntry *ret_entry, GError **error)
{
    int fd = segment_dir_open_segment(dir, number);
    int saved = errno;
    gboolean read = FALSE;

    *ret_entry = (HeadEntry){ .number = number };
    if (fd >= 0) {
        read = dir->ops->size(fd, &ret_entry->size) == 0 &&
               segment_reader_head(dir->ops, fd, &ret_entry->head, &ret_entry->state);
        saved = errno;
        dir->ops->close(fd);
    } else if (saved == FILE_NOT_REGULAR || saved == ENOENT) {
        ret_entry->is_foreign = TRUE;
        return TRUE;
    }
    if (!read) {
        g_autofree char *name = segment_name(number);

        file_ops_set_error(error, saved, "read", name);
        return FALSE;
    }
    if (ret_entry->state == SEGMENT_HEAD_GOOD && ret_entry->head.number != number) {
        ret_entry->state = SEGMENT_HEAD_BAD;
        ret_entry->is_copy = TRUE;
    }
    return TRUE;
}

static gboolean
read_entries(HeadList *self, const SegmentDir *dir, GError **error)
{
    g_autoptr(GArray) numbers = segment_dir_list(dir, error);

    if (numbers == NULL)
        return FALSE;
    for (guint i = 0; i < numbers->len; i++) {
        HeadEntry entry;

        if (!read_entry(dir, g_array_index(numbers, guint64, i), &entry, error))
            return FALSE;
        if (entry.state == SEGMENT_HEAD_VERSION) {
            g_autofree char *name = segment_name(entry.number);

            g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_FORMAT,
                        "'%s/%s' is of format version %u, and this leat knows version %d; nothing "
                        "was changed",
                        dir->path, name, entry.head.version, SEGMENT_VERSION);
            return FALSE;
        }
        g_array_append_val(self->entries, entry);
        self->last_number = entry.number;
    }
    return TRUE;
}

/* The id that most of the good ones have, of equally many the newest. */
static guint64
common_channel(const HeadList *self)
{
    guint64 best = 0;
    guint most = 0;

    for (guint i = self->entries->len; i-- > 0;) {
        guint64 channel = head_list_at(self, i)->channel;
        guint count = 0;

        if (entry_at(self, i)->state != SEGMENT_HEAD_GOOD || channel == best)
            continue;
        for (guint k = 0; k < self->entries->len; k++)
            count += entry_at(self, k)->state == SEGMENT_HEAD_GOOD &&
                     head_list_at(self, k)->channel == channel;
        if (count > most) {
            most = count;
            best = channel;
        }
        if (count == self->entries->len)
            break;
    }
    return best;
}

static void
leave_alone(const HeadEntry *entry, GPtrArray *notes)
{
    g_autofree char *name = segment_name(entry->number);

    g_ptr_array_add(notes, g_strdup_printf("%s is no regular file: it is left alone", name));
}

/* Takes it out of the way. */
static void
dismiss(const SegmentDir *dir, const HeadEntry *entry, const char *why, GPtrArray *notes)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = segment_name(entry->number);

    g_ptr_array_add(notes, g_strdup_printf("%s %s: it is set aside", name, why));
    if (!segment_dir_set_aside(dir, entry->number, &error))
        g_ptr_array_add(notes, g_strdup(error->message));
}

static void
dismiss_copy(const SegmentDir *dir, const HeadEntry *entry, GPtrArray *notes)
{
    g_autofree char *why = g_strdup_printf(
        "is a copy of segment %" G_GUINT64_FORMAT " under another name", entry->head.number);

    dismiss(dir, entry, why, notes);
}

static gboolean
is_wanted(const HeadList *self, const SegmentDir *dir, const HeadEntry *entry, GPtrArray *notes)
{
    if (entry->state == SEGMENT_HEAD_GOOD && entry->head.channel == self->channel)
        return TRUE;
    if (entry->is_foreign)
        leave_alone(entry, notes);
    else if (entry->state == SEGMENT_HEAD_EMPTY && entry->size <= SEGMENT_HEAD_SIZE)
        segment_dir_delete(dir, entry->number); /* made, and never used */
    else if (entry->state == SEGMENT_HEAD_GOOD)
        dismiss(dir, entry, "is of another channel", notes);
    else if (entry->is_copy)
        dismiss_copy(dir, entry, notes);
    else
        dismiss(dir, entry, "has no good head", notes);
    return FALSE;
}

gboolean
head_list_read(HeadList *self, const SegmentDir *dir, GPtrArray *notes, GError **error)
{
    self->entries = g_array_new(FALSE, FALSE, sizeof(HeadEntry));
    if (!read_entries(self, dir, error))
        return FALSE;
    self->channel = common_channel(self);
    for (guint i = 0; i < self->entries->len;) {
        if (is_wanted(self, dir, entry_at(self, i), notes))
            i++;
        else
            g_array_remove_index(self->entries, i);
    }
    return TRUE;
}
