/* consumption.h - which events of the log are consumed, and what of that the log does not say yet;
 * no lock. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/checkpoint.h"
#include "agent/channels/file_channel/record.h"
#include "agent/channels/file_channel/seq_set.h"

typedef struct {
    guint64 low;     /* every event below is consumed */
    SeqSet above;    /* consumed above low: as many ranges as there are leases, or fewer */
    SeqSet unlogged; /* consumed, and not in the log */
} Consumption;

void consumption_init(Consumption *self);
void consumption_clear(Consumption *self);

/* These events are consumed. Returns the bytes of those that were not before. */
guint64 consumption_add(Consumption *self, SeqRange range);
/* The same, and the log is to be told. */
guint64 consumption_commit(Consumption *self, SeqRange range);
/* All below, which the log has said. */
void consumption_raise(Consumption *self, guint64 low);
/* What a good record of type RECORD_CONSUMED says. Returns the bytes of what was not before. */
guint64 consumption_add_record(Consumption *self, const RecordHeader *header, ByteSpan payload);
void consumption_add_checkpoint(Consumption *self, const Checkpoint *checkpoint);
/* Up to max_ranges of what the log is to be told go over into ret_set, which is initialised. */
void consumption_take_unlogged(Consumption *self, guint max_ranges, SeqSet *ret_set);
/* It could not be written. */
void consumption_return_unlogged(Consumption *self, const SeqSet *set);
/* How many of first .. end are consumed. */
guint64 consumption_count(const Consumption *self, guint64 first, guint64 end);
