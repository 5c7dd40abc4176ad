/* channel_walk.c - reads the log of a channel folder record by record, over whatever is damaged. */
#include "agent/commands/channel_walk.h"

#include <errno.h>

#include "agent/channels/file_channel/compression.h"
#include "base/event_bytes.h"

/* Of a log with more gaps than this only so many are counted. */
#define MAX_GAPS 100000

/* Events first .. end are not where they should be: before this record. */
typedef struct {
    guint64 first;
    guint64 end;
    LogPosition before;
} Gap;

struct ChannelWalk {
    ChannelFolder *folder;
    Consumption consumption;
    GArray *gaps; /* Gap */
    guint64 next_seq;
    guint64 n_queued;
    gboolean knows_seq; /* else the first record says where the events begin */

    guint index; /* of the next segment */
    guint64 from;
    const ChannelSegment *segment; /* being read; NULL: none */
    char *name;
    int fd;
    SegmentReader *reader;
    guint64 safe;     /* what stands before this was safe on disk: the records say so */
    guint8 *expanded; /* of the last record, if it was compressed */

    guint64 passed;               /* offset that the search for a record has come to */
    ChannelWalkSearches searches; /* NULL: nobody wants to know */
    gpointer searches_user;

    guint64 done_bytes; /* of the segments before */
    guint64 total_bytes;
};

guint
walked_record_n_events(const WalkedRecord *self)
{
    return self->record.header.type == RECORD_EVENTS ? self->record.header.count : 0;
}

gboolean
walked_record_is_queued(const WalkedRecord *self, const Consumption *consumption)
{
    guint64 first = self->record.header.seq;
    guint n_events = walked_record_n_events(self);

    return consumption_count(consumption, first, first + n_events) < n_events;
}

/* What is not read must be there all the same. */
static void
skip_to(ChannelWalk *self, LogPosition from)
{
    const ChannelSegment *first = channel_folder_segment(self->folder, 0);
    const Checkpoint *checkpoint = &self->folder->checkpoint;
    const Gap gap = { 0, first->head.first_seq, { first->number, SEGMENT_HEAD_SIZE } };

    if (gap.end > 0)
        g_array_append_val(self->gaps, gap);
    self->knows_seq =
        from.segment == checkpoint->end.segment && from.offset == checkpoint->end.offset;
    self->next_seq = self->knows_seq ? checkpoint->next_seq : 0;
}

ChannelWalk *
channel_walk_new(ChannelFolder *folder, LogPosition from)
{
    ChannelWalk *self = g_new0(ChannelWalk, 1);
    guint found = channel_folder_find(folder, from);

    self->folder = folder;
    consumption_init(&self->consumption);
    self->gaps = g_array_new(FALSE, FALSE, sizeof(Gap));
    self->fd = -1;
    self->index = found > 0 ? found - 1 : 0;
    self->from = found > 0 ? from.offset : SEGMENT_HEAD_SIZE;
    self->knows_seq = TRUE;
    for (guint i = self->index; i < channel_folder_n_segments(folder); i++)
        self->total_bytes += channel_folder_segment(folder, i)->size;
    self->total_bytes -= MIN(self->total_bytes, found > 0 ? from.offset : 0);
    if (found > 0)
        skip_to(self, from);
    if (folder->has_checkpoint)
        consumption_add_checkpoint(&self->consumption, &folder->checkpoint);
    return self;
}

static void
leave_segment(ChannelWalk *self)
{
    g_clear_pointer(&self->reader, segment_reader_free);
    g_clear_pointer(&self->name, g_free);
    if (self->fd >= 0)
        self->folder->dir.ops->close(self->fd);
    self->fd = -1;
    self->segment = NULL;
}

void
channel_walk_free(ChannelWalk *self)
{
    leave_segment(self);
    consumption_clear(&self->consumption);
    g_array_unref(self->gaps);
    g_free(self->expanded);
    g_free(self);
}

void
channel_walk_watch(ChannelWalk *self, ChannelWalkSearches searches, gpointer user)
{
    self->searches = searches;
    self->searches_user = user;
}

/* ---- sequence numbers ---- */

static void
expect_seq(ChannelWalk *self, guint64 seq, guint64 offset)
{
    Gap gap = { self->next_seq, seq, { self->segment->number, offset } };

    if (self->knows_seq && seq > self->next_seq && self->gaps->len < MAX_GAPS)
        g_array_append_val(self->gaps, gap);
    if (!self->knows_seq || seq > self->next_seq)
        self->next_seq = seq;
    self->knows_seq = TRUE;
}

/* Returns the index of the first event that was not seen before. */
static guint
note_events(ChannelWalk *self, const Record *record)
{
    const RecordHeader *header = &record->header;
    guint first;

    /* Numbers that are given again were not acknowledged the first time, or are the same events. */
    expect_seq(self, header->seq, record->offset);
    first = (guint) MIN(self->next_seq - header->seq, header->count);
    self->next_seq += header->count - first;
    return first;
}

/* ---- segments ---- */

static void
walk_passed(guint64 offset, gpointer user)
{
    ChannelWalk *self = user;

    self->passed = offset;
    if (self->searches != NULL)
        self->searches(self, self->searches_user);
}

static void
open_reader(ChannelWalk *self, guint64 offset)
{
    self->reader = segment_reader_new(self->folder->dir.ops, self->fd, self->segment->head.salt,
                                      self->segment->end);
    segment_reader_seek(self->reader, offset);
    segment_reader_watch(self->reader, walk_passed, self);
}

/* FALSE behind the last. One that is gone meanwhile was consumed. */
static gboolean
enter_segment(ChannelWalk *self)
{
    while (self->index < channel_folder_n_segments(self->folder)) {
        const ChannelSegment *segment = channel_folder_segment(self->folder, self->index);

        self->index++;
        self->fd = segment_dir_open_segment(&self->folder->dir, segment->number);
        consumption_raise(&self->consumption, segment->head.consumed);
        if (self->fd < 0) {
            self->done_bytes += segment->size;
            self->knows_seq = FALSE;
            continue;
        }
        self->segment = segment;
        self->safe = segment->safe;
        self->name = segment_name(segment->number);
        open_reader(self, self->from);
        if (self->from == SEGMENT_HEAD_SIZE)
            expect_seq(self, segment->head.first_seq, SEGMENT_HEAD_SIZE);
        self->from = SEGMENT_HEAD_SIZE;
        return TRUE;
    }
    return FALSE;
}

static void
note_safe(ChannelWalk *self, const Record *record)
{
    self->safe = MAX(self->safe, MIN(record->header.synced, record->offset));
}

/* Where the bytes that no record can be made of end, if they ought to be records: something was
 * written behind them when they were safe on disk, or something says that the segment is longer. 0
 * if they are the end of the log. */
static guint64
find_end_of_damage(ChannelWalk *self, guint64 bad)
{
    const ChannelSegment *segment = self->segment;
    guint64 end = 0;
    guint64 known;
    Record record;

    while (segment_reader_resume(self->reader, &record) == READ_RECORD) {
        if (end == 0)
            end = record.offset;
        note_safe(self, &record);
        if (segment->end != G_MAXUINT64 || self->safe > bad)
            return end;
    }
    known = segment->end != G_MAXUINT64 ? segment->end : self->safe;
    if (known > bad)
        return end > 0 ? MIN(end, known) : known;
    return 0;
}

/* What was read may have been half of what an agent was writing: what it has written since makes it
 * look like damage. */
static void
look_again(ChannelWalk *self, guint64 offset)
{
    segment_reader_free(self->reader);
    open_reader(self, offset);
}

/* After bytes that are no record. FALSE: the segment ends here. */
static gboolean
step_over(ChannelWalk *self, Record *ret_record)
{
    guint64 bad = segment_reader_offset(self->reader);
    guint64 end = bad < self->segment->end ? find_end_of_damage(self, bad) : 0;

    self->passed = 0;
    if (end == 0)
        return FALSE;
    look_again(self, bad);
    if (segment_reader_next(self->reader, ret_record, NULL) == READ_RECORD)
        return TRUE;
    channel_folder_add_damage(self->folder, self->name, bad,
                              "%" G_GUINT64_FORMAT " bytes are damaged", end - bad);
    segment_reader_seek(self->reader, end);
    return segment_reader_next(self->reader, ret_record, NULL) == READ_RECORD;
}

static gboolean
next_of_segment(ChannelWalk *self, Record *ret_record)
{
    g_autoptr(GError) failure = NULL;
    ReadResult result = segment_reader_next(self->reader, ret_record, &failure);

    if (result == READ_RECORD)
        return TRUE;
    if (result != READ_ERROR)
        return step_over(self, ret_record);
    channel_folder_add_damage(self->folder, self->name, segment_reader_offset(self->reader),
                              "it cannot be read: %s", failure->message);
    result = segment_reader_resume(self->reader, ret_record);
    self->passed = 0;
    return result == READ_RECORD;
}

gboolean
channel_walk_next(ChannelWalk *self, WalkedRecord *ret_record)
{
    while (self->segment == NULL || !next_of_segment(self, &ret_record->record)) {
        if (self->segment != NULL)
            self->done_bytes += self->segment->size;
        leave_segment(self);
        if (!enter_segment(self))
            return FALSE;
    }
    note_safe(self, &ret_record->record);
    ret_record->first = 0;
    if (ret_record->record.header.type == RECORD_EVENTS)
        ret_record->first = note_events(self, &ret_record->record);
    else
        consumption_add_record(&self->consumption, &ret_record->record.header,
                               ret_record->record.payload);
    return TRUE;
}

/* ---- events ---- */

static gboolean
are_events(ByteSpan events, guint count)
{
    while (count > 0) {
        gsize length = event_bytes_check(events.data, events.length);

        if (length == 0)
            return FALSE;
        events = byte_span(events.data + length, events.length - length);
        count--;
    }
    return events.length == 0;
}

gboolean
channel_walk_events(ChannelWalk *self, const WalkedRecord *record, ByteSpan *ret_events)
{
    const RecordHeader *header = &record->record.header;
    const char *missing = record_compression_missing(header->compression);
    ByteSpan events = record->record.payload;

    g_clear_pointer(&self->expanded, g_free);
    if (missing != NULL) {
        channel_folder_add_damage(self->folder, self->name, record->record.offset,
                                  "%u events are compressed with %s, which this leat was built "
                                  "without; look with one that has it",
                                  header->count, missing);
        return FALSE;
    }
    if (header->compression != RECORD_PLAIN) {
        self->expanded = g_malloc(header->raw_length);
        events = record_expand(events, self->expanded, header->raw_length)
                     ? byte_span(self->expanded, header->raw_length)
                     : byte_span(NULL, 0);
    }
    if (are_events(events, header->count)) {
        *ret_events = events;
        return TRUE;
    }
    channel_folder_add_damage(self->folder, self->name, record->record.offset,
                              "the record does not hold the %u events that it says", header->count);
    return FALSE;
}

/* ---- what is known at the end ---- */

const Consumption *
channel_walk_consumption(const ChannelWalk *self)
{
    return &self->consumption;
}

guint64
channel_walk_next_seq(const ChannelWalk *self)
{
    return self->next_seq;
}

guint64
channel_walk_n_bytes(const ChannelWalk *self)
{
    if (self->reader == NULL)
        return self->done_bytes;
    return self->done_bytes + MAX(segment_reader_offset(self->reader), self->passed);
}

guint64
channel_walk_total_bytes(const ChannelWalk *self)
{
    return self->total_bytes;
}

/* where: "before it". */
static guint64
add_loss(ChannelWalk *self, const Gap *gap, const char *file, const char *where)
{
    guint64 n_lost =
        gap->end - gap->first - consumption_count(&self->consumption, gap->first, gap->end);

    if (n_lost > 0)
        channel_folder_add_damage(self->folder, file, gap->before.offset,
                                  "events %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                                  " are missing %s; %" G_GUINT64_FORMAT
                                  " of them were not consumed",
                                  gap->first, gap->end - 1, where, n_lost);
    return n_lost;
}

guint64
channel_walk_add_losses(ChannelWalk *self)
{
    const ChannelFolder *folder = self->folder;
    guint64 n_lost = 0;

    for (guint i = 0; i < self->gaps->len; i++) {
        const Gap *gap = &g_array_index(self->gaps, Gap, i);
        g_autofree char *name = segment_name(gap->before.segment);

        n_lost += add_loss(self, gap, name, "before it");
    }
    self->n_queued =
        self->next_seq - n_lost -
        MIN(self->next_seq - n_lost, consumption_count(&self->consumption, 0, self->next_seq));
    if (folder->has_checkpoint && folder->checkpoint.next_seq > self->next_seq) {
        const Gap end = { self->next_seq, folder->checkpoint.next_seq, { 0 } };

        n_lost += add_loss(self, &end, CHECKPOINT_NAME, "at the end of the log");
    }
    return n_lost;
}

guint64
channel_walk_n_queued(const ChannelWalk *self)
{
    return self->n_queued;
}
