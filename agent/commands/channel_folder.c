/* channel_folder.c - the directory of a file channel seen from outside. */
#include "agent/commands/channel_folder.h"

#include <errno.h>

#include "agent/channels/file_channel/segment_reader.h"

/* A log that is damaged everywhere must not fill the memory. */
#define MAX_DAMAGES 1000

static void
channel_damage_free(gpointer damage)
{
    ChannelDamage *self = damage;

    g_free(self->file);
    g_free(self->what);
    g_free(self);
}

void
channel_folder_free(ChannelFolder *self)
{
    segment_dir_close(&self->dir);
    checkpoint_clear(&self->checkpoint);
    g_array_unref(self->segments);
    g_ptr_array_unref(self->aside);
    g_ptr_array_unref(self->damages);
    g_free(self);
}

static gboolean
has_damage(const ChannelFolder *self, const char *file, guint64 offset, const char *what)
{
    for (guint i = 0; i < self->damages->len; i++) {
        const ChannelDamage *damage = g_ptr_array_index(self->damages, i);

        if (damage->offset == offset && g_str_equal(damage->file, file) &&
            g_str_equal(damage->what, what))
            return TRUE;
    }
    return FALSE;
}

void
channel_folder_add_damage(ChannelFolder *self, const char *file, guint64 offset, const char *format,
                          ...)
{
    g_autofree char *what = NULL;
    ChannelDamage *damage;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (has_damage(self, file, offset, what) || self->n_damages++ >= MAX_DAMAGES)
        return;
    damage = g_new0(ChannelDamage, 1);
    damage->file = g_strdup(file);
    damage->offset = offset;
    damage->what = g_steal_pointer(&what);
    g_ptr_array_add(self->damages, damage);
}

guint
channel_folder_n_segments(const ChannelFolder *self)
{
    return self->segments->len;
}

ChannelSegment *
channel_folder_segment(const ChannelFolder *self, guint index)
{
    return &g_array_index(self->segments, ChannelSegment, index);
}

guint
channel_folder_find(const ChannelFolder *self, LogPosition position)
{
    for (guint i = 0; i < self->segments->len; i++) {
        const ChannelSegment *segment = channel_folder_segment(self, i);

        if (segment->number == position.segment)
            return position.offset <= segment->size ? i + 1 : 0;
    }
    return 0;
}

/* ---- heads ---- */

static void
add_bad_head(ChannelFolder *self, const char *name, SegmentHeadState state, guint32 version,
             guint64 size)
{
    if (state == SEGMENT_HEAD_VERSION)
        channel_folder_add_damage(self, name, 8,
                                  "it is of version %u of the format, this program reads version "
                                  "%d",
                                  version, SEGMENT_VERSION);
    else if (state == SEGMENT_HEAD_BAD)
        channel_folder_add_damage(self, name, 0, "both copies of its head are damaged");
    else if (size > SEGMENT_HEAD_SIZE)
        channel_folder_add_damage(self, name, 0, "it has no head");
    /* Else it was about to be made when its agent died. */
}

/* Damage to one of the two copies is survived, but told. */
static void
check_copies(ChannelFolder *self, const char *name, int fd, const SegmentHead *head)
{
    guint8 expected[SEGMENT_HEAD_SIZE];
    guint8 bytes[SEGMENT_HEAD_SIZE];
    gssize got = file_read_all(self->dir.ops, fd, bytes, sizeof(bytes), 0);

    segment_head_write(head, expected);
    for (gssize i = 0; i < got; i++)
        if (bytes[i] != expected[i]) {
            channel_folder_add_damage(self, name, (guint64) i,
                                      "a copy of its head is damaged; the other one serves");
            return;
        }
}

static gboolean
judge_head(ChannelFolder *self, const char *name, int fd, ChannelSegment *segment)
{
    SegmentHeadState state;

    if (self->dir.ops->size(fd, &segment->size) != 0 ||
        !segment_reader_head(self->dir.ops, fd, &segment->head, &state)) {
        channel_folder_add_damage(self, name, 0, "it cannot be read: %s", g_strerror(errno));
        return FALSE;
    }
    if (state != SEGMENT_HEAD_GOOD) {
        add_bad_head(self, name, state, segment->head.version, segment->size);
        return FALSE;
    }
    check_copies(self, name, fd, &segment->head);
    if (segment->head.number == segment->number)
        return TRUE;
    channel_folder_add_damage(self, name, 32,
                              "it is a copy of segment %" G_GUINT64_FORMAT " under another name",
                              segment->head.number);
    return FALSE;
}

/* A segment that is gone meanwhile was consumed. */
static void
look_at_segment(ChannelFolder *self, guint64 number)
{
    g_autofree char *name = segment_name(number);
    ChannelSegment segment = { .number = number, .end = G_MAXUINT64, .safe = SEGMENT_HEAD_SIZE };
    int fd = segment_dir_open_segment(&self->dir, number);

    if (fd < 0) {
        if (errno != ENOENT)
            channel_folder_add_damage(self, name, 0, "it cannot be opened: %s",
                                      file_open_strerror(errno));
        return;
    }
    if (judge_head(self, name, fd, &segment))
        g_array_append_val(self->segments, segment);
    self->dir.ops->close(fd);
}

/* ---- the log ---- */

static guint
count_of_channel(const ChannelFolder *self, guint64 channel)
{
    guint count = 0;

    for (guint i = 0; i < self->segments->len; i++)
        count += channel_folder_segment(self, i)->head.channel == channel;
    return count;
}

/* The one that most segments have, of equally many the newest. */
static void
choose_channel(ChannelFolder *self)
{
    guint most = 0;

    for (guint i = self->segments->len; i-- > 0;) {
        guint64 channel = channel_folder_segment(self, i)->head.channel;
        guint count = most > 0 && channel == self->channel ? 0 : count_of_channel(self, channel);

        if (count > most) {
            most = count;
            self->channel = channel;
        }
    }
}

static void
drop_strangers(ChannelFolder *self)
{
    for (guint i = 0; i < self->segments->len;) {
        const ChannelSegment *segment = channel_folder_segment(self, i);
        g_autofree char *name = segment_name(segment->number);

        if (segment->head.channel == self->channel) {
            i++;
            continue;
        }
        channel_folder_add_damage(self, name, 24, "it belongs to another channel");
        g_array_remove_index(self->segments, i);
    }
    if (!self->has_checkpoint || self->segments->len == 0 ||
        self->checkpoint.channel == self->channel)
        return;
    channel_folder_add_damage(self, CHECKPOINT_NAME, 16, "it belongs to another channel");
    self->has_checkpoint = FALSE;
}

/* What heads and the checkpoint say of where segments end. */
static void
find_ends(ChannelFolder *self)
{
    for (guint i = 0; i < self->segments->len; i++) {
        ChannelSegment *segment = channel_folder_segment(self, i);

        if (i + 1 < self->segments->len) {
            const SegmentHead *next = &channel_folder_segment(self, i + 1)->head;

            if (next->previous == segment->number)
                segment->end = next->previous_end;
        }
        if (self->has_checkpoint && self->checkpoint.end.segment == segment->number)
            segment->safe = MAX(segment->safe, self->checkpoint.end.offset);
    }
}

static void
load_checkpoint(ChannelFolder *self)
{
    g_autofree char *why = NULL;

    self->has_checkpoint = checkpoint_load(self->dir.ops, self->dir.fd, &self->checkpoint, &why);
    if (why != NULL)
        channel_folder_add_damage(self, CHECKPOINT_NAME, 0, "%s", why);
}

/* The names of damaged segments, kept for people to look at. */
static gboolean
look_for_others(ChannelFolder *self, gboolean *ret_is_channel, GError **error)
{
    g_autoptr(GDir) folder = g_dir_open(self->dir.path, 0, error);
    const char *name;
    guint64 number;

    *ret_is_channel = FALSE;
    if (folder == NULL)
        return FALSE;
    while ((name = g_dir_read_name(folder)) != NULL) {
        gboolean is_aside = g_str_has_suffix(name, SEGMENT_SUFFIX DAMAGED_SUFFIX);

        if (is_aside)
            g_ptr_array_add(self->aside, g_strdup(name));
        if (is_aside || segment_name_parse(name, &number) || g_str_equal(name, LOCK_NAME) ||
            g_str_equal(name, CHECKPOINT_NAME))
            *ret_is_channel = TRUE;
    }
    return TRUE;
}

/* The checkpoint first: what it names is still there, or was consumed since. */
static gboolean
channel_folder_load(ChannelFolder *self, GError **error)
{
    g_autoptr(GArray) numbers = NULL;
    gboolean is_channel;

    if (!look_for_others(self, &is_channel, error))
        return FALSE;
    if (!is_channel) {
        g_set_error(error, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_FORMAT,
                    "'%s' is not the directory of a file channel", self->dir.path);
        return FALSE;
    }
    load_checkpoint(self);
    numbers = segment_dir_list(&self->dir, error);
    if (numbers == NULL)
        return FALSE;
    for (guint i = 0; i < numbers->len; i++)
        look_at_segment(self, g_array_index(numbers, guint64, i));
    choose_channel(self);
    drop_strangers(self);
    find_ends(self);
    return TRUE;
}

ChannelFolder *
channel_folder_open(const char *path, GError **error)
{
    g_autoptr(ChannelFolder) self = g_new0(ChannelFolder, 1);

    checkpoint_init(&self->checkpoint);
    self->segments = g_array_new(FALSE, FALSE, sizeof(ChannelSegment));
    self->aside = g_ptr_array_new_with_free_func(g_free);
    self->damages = g_ptr_array_new_with_free_func(channel_damage_free);
    if (!segment_dir_open(&self->dir, &file_ops_system, path, FALSE, error) ||
        !channel_folder_load(self, error))
        return NULL;
    return g_steal_pointer(&self);
}
