/* recovery.c - what the files of a channel say: which segments, which events, which are consumed.
 */
#include "agent/channels/file_channel/recovery.h"

#include <errno.h>
#include <string.h>

#include "agent/channels/file_channel/checkpoint.h"
#include "agent/channels/file_channel/recovery_heads.h"
#include "agent/channels/file_channel/segment_reader.h"

typedef struct {
    const SegmentDir *dir;
    SegmentList *segments;
    RecoveredLog *log;
    Checkpoint checkpoint;
    gboolean has_checkpoint;
    guint64 read_bytes;     /* charged to puts that were read */
    guint64 consumed_bytes; /* and to events that are consumed among them */
    SeqSet missing;         /* numbers that no record has */
    guint64 heads_consumed; /* every event below was consumed, the heads say */
} Recovery;

static void recovery_note(Recovery *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
recovery_note(Recovery *self, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_ptr_array_add(self->log->notes, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

/* ---- what is lost ---- */

/* Whether they were consumed, and are gone rightly, only the whole log can tell. */
static void
recovery_miss(Recovery *self, guint64 first, guint64 end)
{
    if (first < end)
        seq_set_add(&self->missing, (SeqRange){ first, end, 0 });
}

static void
recovery_count_lost(Recovery *self)
{
    for (guint i = 0; i < seq_set_n_ranges(&self->missing); i++) {
        const SeqRange *range = seq_set_range(&self->missing, i);
        guint64 n_lost = range->end - range->first -
                         consumption_count(&self->log->consumption, range->first, range->end);

        if (n_lost == 0)
            continue;
        self->log->n_lost += n_lost;
        recovery_note(self, "%" G_GUINT64_FORMAT " events are lost", n_lost);
        consumption_commit(&self->log->consumption, (SeqRange){ range->first, range->end, 0 });
    }
}

static void
recovery_damage(Recovery *self, SegmentInfo *info, guint64 from, guint64 to)
{
    g_autoptr(GError) error = NULL;

    self->log->n_damages++;
    recovery_note(self,
                  "segment %" G_GUINT64_FORMAT " is damaged from byte %" G_GUINT64_FORMAT
                  " to %" G_GUINT64_FORMAT,
                  info->number, from, to);
    info->damaged = TRUE;
    if (!segment_dir_keep_damaged(self->dir, info->number, &error))
        recovery_note(self, "%s", error->message);
}

/* ---- the records of one segment ---- */

typedef struct {
    Recovery *recovery;
    SegmentInfo *info;
    SegmentReader *reader;
    guint64 known_end; /* where it must end; 0 for the last one, which ends where it ends */
    guint64 safe_end;  /* bytes before were safe on disk once, whatever they look like now */
    guint64 next_seq;
} SegmentScan;

static void
scan_events(SegmentScan *self, const Record *record)
{
    guint64 end_seq = record->header.seq + record->header.count;

    if (end_seq <= self->next_seq || record->header.seq < self->next_seq)
        return; /* numbers that were given again: what stands here was not acknowledged */
    recovery_miss(self->recovery, self->next_seq, record->header.seq);
    self->recovery->read_bytes += record->header.raw_length + RECORD_HEADER_SIZE;
    self->next_seq = end_seq;
}

static void
scan_record(SegmentScan *self, const Record *record)
{
    Recovery *recovery = self->recovery;

    if (record->header.type == RECORD_CONSUMED)
        recovery->consumed_bytes +=
            consumption_add_record(&recovery->log->consumption, &record->header, record->payload);
    else
        scan_events(self, record);
    self->info->end = record->end;
}

/* How far later records say that the segment was safe. */
static void
scan_find_safe_end(SegmentScan *self)
{
    guint64 at = segment_reader_offset(self->reader);
    Record record;

    while (segment_reader_resume(self->reader, &record) == READ_RECORD)
        do
            self->safe_end = MAX(self->safe_end, record.header.synced);
        while (segment_reader_next(self->reader, &record, NULL) == READ_RECORD);
    segment_reader_seek(self->reader, at);
}

/* Where no good record stands. TRUE: damage was passed over; FALSE: that is the end. */
static gboolean
scan_pass(SegmentScan *self, Record *record, const GError *error)
{
    guint64 at = segment_reader_offset(self->reader);
    gboolean passed;

    if (self->known_end != 0 && at >= self->known_end)
        return FALSE;
    if (self->known_end == 0)
        scan_find_safe_end(self);
    if (self->known_end == 0 && at >= self->safe_end && error == NULL)
        return FALSE; /* torn: nothing from here on was acknowledged */
    passed = segment_reader_resume(self->reader, record) == READ_RECORD;
    if (error != NULL)
        recovery_note(self->recovery, "segment %" G_GUINT64_FORMAT " cannot be read: %s",
                      self->info->number, error->message);
    recovery_damage(self->recovery, self->info, at,
                    passed ? record->offset : MAX(self->known_end, self->safe_end));
    return passed;
}

static void
scan_run(SegmentScan *self)
{
    guint64 begin = segment_reader_offset(self->reader);
    gboolean goes_on;
    Record record;

    self->info->end = begin;
    do {
        g_autoptr(GError) error = NULL;

        goes_on = segment_reader_next(self->reader, &record, &error) == READ_RECORD ||
                  scan_pass(self, &record, error);
        if (goes_on)
            scan_record(self, &record);
    } while (goes_on);
    self->recovery->log->n_scanned += self->info->end - begin;
    if (self->known_end != 0)
        self->info->end = self->known_end;
}

/* ---- all segments ---- */

/* FALSE with errno if it cannot be opened. */
static gboolean
scan_segment(Recovery *self, const HeadList *heads, guint index, guint64 *next_seq)
{
    const SegmentHead *head = head_list_at(heads, index);
    SegmentInfo info = { .number = head->number,
                         .salt = head->salt,
                         .first_seq = MAX(head->first_seq, *next_seq) };
    SegmentScan scan = { .recovery = self, .info = &info, .next_seq = *next_seq };
    guint64 begin = SEGMENT_HEAD_SIZE;
    int fd = segment_dir_open_segment(self->dir, head->number);

    if (fd < 0)
        return FALSE;
    scan.known_end = head_list_end(heads, index);
    if (self->log->used_checkpoint && self->checkpoint.end.segment == head->number) {
        begin = self->checkpoint.end.offset;
        scan.safe_end = begin;
        info.first_seq = head->first_seq;
    } else {
        recovery_miss(self, *next_seq, head->first_seq);
        scan.next_seq = info.first_seq;
    }
    scan.reader = segment_reader_new(self->dir->ops, fd, head->salt,
                                     scan.known_end != 0 ? scan.known_end : G_MAXUINT64);
    segment_reader_seek(scan.reader, begin);
    scan_run(&scan);
    info.end_seq = scan.next_seq;
    segment_list_add(self->segments, &info);
    *next_seq = scan.next_seq;
    segment_reader_free(scan.reader);
    self->dir->ops->close(fd);
    return TRUE;
}

/* A segment that the checkpoint covers: its head and the next one say enough. */
static void
add_covered(Recovery *self, const HeadList *heads, guint index)
{
    const SegmentHead *head = head_list_at(heads, index);

    segment_list_add(self->segments,
                     &(SegmentInfo){ .number = head->number,
                                     .salt = head->salt,
                                     .first_seq = head->first_seq,
                                     .end_seq = head_list_at(heads, index + 1)->first_seq,
                                     .end = head_list_end(heads, index) });
}

/* Whether the checkpoint tells all about the segments before its end, of which index has it. */
static gboolean
recovery_covers(Recovery *self, const HeadList *heads, guint index)
{
    for (guint i = 1; i <= index; i++)
        if (head_list_at(heads, i)->previous != head_list_at(heads, i - 1)->number)
            return FALSE; /* one between is missing: how much it had, the others tell */
    return head_list_size(heads, index) >= self->checkpoint.end.offset;
}

/* Index of the segment where the checkpoint ends; n_heads if it is of no use. */
static guint
recovery_find_begin(Recovery *self, const HeadList *heads)
{
    guint n_heads = head_list_length(heads);

    for (guint i = 0; self->has_checkpoint && i < n_heads; i++)
        if (head_list_at(heads, i)->number == self->checkpoint.end.segment)
            return recovery_covers(self, heads, i) ? i : n_heads;
    return n_heads;
}

static guint64
recovery_begin_with_checkpoint(Recovery *self, const HeadList *heads, guint begin)
{
    self->log->used_checkpoint = TRUE;
    self->read_bytes = self->checkpoint.n_bytes;
    consumption_add_checkpoint(&self->log->consumption, &self->checkpoint);
    recovery_miss(self, self->checkpoint.consumed,
                  MIN(head_list_at(heads, 0)->first_seq, self->checkpoint.next_seq));
    for (guint i = 0; i < begin; i++)
        add_covered(self, heads, i);
    return self->checkpoint.next_seq;
}

/* Everything is read. What was consumed in segments that are gone is known from heads. */
static guint64
recovery_begin_without(Recovery *self, const HeadList *heads)
{
    guint64 consumed = self->has_checkpoint ? self->checkpoint.consumed : 0;

    for (guint i = 0; i < head_list_length(heads); i++)
        self->heads_consumed = MAX(self->heads_consumed, head_list_at(heads, i)->consumed);
    consumed = MAX(consumed, self->heads_consumed);
    if (head_list_length(heads) > 0)
        consumed = MIN(consumed, head_list_at(heads, 0)->first_seq);
    consumption_raise(&self->log->consumption, consumed);
    return consumed;
}

/* A segment that vanishes meanwhile is lost; one that cannot be opened for another reason ends the
 * start: it may be there the next time, and then its events must not count as lost. */
static gboolean
recovery_scan(Recovery *self, const HeadList *heads, GError **error)
{
    guint n_heads = head_list_length(heads);
    guint begin = recovery_find_begin(self, heads);
    guint64 next_seq;

    if (begin < n_heads) {
        next_seq = recovery_begin_with_checkpoint(self, heads, begin);
    } else {
        begin = 0;
        next_seq = recovery_begin_without(self, heads);
    }
    for (guint i = begin; i < n_heads; i++) {
        g_autofree char *name = segment_name(head_list_at(heads, i)->number);
        g_autoptr(GError) failure = NULL;

        if (scan_segment(self, heads, i, &next_seq))
            continue;
        file_ops_set_error(&failure, errno, "open", name);
        if (!g_error_matches(failure, FILE_CHANNEL_ERROR, FILE_CHANNEL_ERROR_GONE)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return FALSE;
        }
        recovery_note(self, "%s", failure->message);
    }
    self->log->next_seq = next_seq;
    return TRUE;
}

/* ---- the sum ---- */

/* Numbers of what is consumed must never be given again: it would be taken for consumed. */
static void
recovery_close_numbers(Recovery *self)
{
    RecoveredLog *log = self->log;
    const SeqSet *above = &log->consumption.above;
    guint64 next_seq = self->has_checkpoint ? self->checkpoint.next_seq : 0;
    guint n_ranges;

    /* Not before the scan: the records say what was charged. */
    consumption_raise(&log->consumption, self->heads_consumed);
    if (self->has_checkpoint)
        consumption_add_checkpoint(&log->consumption, &self->checkpoint);
    next_seq = MAX(next_seq, log->consumption.low);
    n_ranges = seq_set_n_ranges(above);
    if (n_ranges > 0)
        next_seq = MAX(next_seq, seq_set_range(above, n_ranges - 1)->end);
    recovery_miss(self, log->next_seq, next_seq);
    log->next_seq = MAX(log->next_seq, next_seq);
    recovery_count_lost(self);
}

static void
recovery_list_available(Recovery *self)
{
    RecoveredLog *log = self->log;
    const SeqSet *above = &log->consumption.above;
    guint64 first = log->consumption.low;
    LogPosition from = { 0 };

    if (self->has_checkpoint && first == self->checkpoint.consumed)
        from = self->checkpoint.from;
    for (guint i = 0; i < seq_set_n_ranges(above); i++) {
        log_ranges_add(&log->available, (LogRange){ first, seq_set_range(above, i)->first, from });
        first = seq_set_range(above, i)->end;
        from = (LogPosition){ 0 };
    }
    log_ranges_add(&log->available, (LogRange){ first, log->next_seq, from });
}

static void
recovery_cut_tail(Recovery *self)
{
    g_autoptr(GError) error = NULL;
    SegmentInfo info;

    if (segment_list_last(self->segments, &info) && !info.damaged &&
        !segment_dir_cut(self->dir, info.number, info.end, &error))
        recovery_note(self, "%s", error->message);
}

guint64
recovered_log_n_events(const RecoveredLog *self)
{
    return self->next_seq - self->consumption.low - self->consumption.above.n_events;
}

void
recovered_log_clear(RecoveredLog *self)
{
    consumption_clear(&self->consumption);
    log_ranges_clear(&self->available);
    g_clear_pointer(&self->notes, g_ptr_array_unref);
}

static void
recovery_load_checkpoint(Recovery *self, const HeadList *heads)
{
    g_autofree char *why = NULL;

    self->has_checkpoint = checkpoint_load(self->dir->ops, self->dir->fd, &self->checkpoint, &why);
    if (why != NULL)
        recovery_note(self, "the checkpoint is of no use, all segments are read: %s", why);
    if (self->has_checkpoint && head_list_length(heads) > 0 &&
        self->checkpoint.channel != head_list_channel(heads)) {
        recovery_note(self, "the checkpoint is of another channel, all segments are read");
        self->has_checkpoint = FALSE;
    }
}

static gboolean
recovery_read(Recovery *self, HeadList *heads, GError **error)
{
    RecoveredLog *log = self->log;

    if (!head_list_read(heads, self->dir, log->notes, error))
        return FALSE;
    recovery_load_checkpoint(self, heads);
    log->channel = head_list_length(heads) > 0 ? head_list_channel(heads)
                   : self->has_checkpoint      ? self->checkpoint.channel
                                               : 0;
    if (log->channel == 0)
        log->channel = (guint64) g_random_int() << 32 | g_random_int() | 1;
    log->last_number =
        MAX(heads->last_number, self->has_checkpoint ? self->checkpoint.end.segment : 0);
    if (!recovery_scan(self, heads, error))
        return FALSE;
    recovery_close_numbers(self);
    recovery_list_available(self);
    log->n_bytes = self->read_bytes - MIN(self->read_bytes, self->consumed_bytes);
    if (recovered_log_n_events(log) == 0)
        log->n_bytes = 0;
    recovery_cut_tail(self);
    return TRUE;
}

gboolean
recovery_run(const SegmentDir *dir, SegmentList *segments, RecoveredLog *ret_log, GError **error)
{
    Recovery self = { .dir = dir, .segments = segments, .log = ret_log };
    g_auto(HeadList) heads = { 0 };
    gboolean is_read;

    *ret_log = (RecoveredLog){ .notes = g_ptr_array_new_with_free_func(g_free) };
    consumption_init(&ret_log->consumption);
    log_ranges_init(&ret_log->available);
    checkpoint_init(&self.checkpoint);
    seq_set_init(&self.missing);
    is_read = recovery_read(&self, &heads, error);
    checkpoint_clear(&self.checkpoint);
    seq_set_clear(&self.missing);
    if (!is_read)
        recovered_log_clear(ret_log);
    return is_read;
}
