/* seq_set.h - a set of sequence numbers as merged ranges; no lock. */
#pragma once

#include <glib.h>

/* No event has a higher number: where one stands in a file, the file is wrong. What is added to it
 * does not overflow. */
#define SEQ_MAX ((guint64) 1 << 62)

/* first .. end, without end. bytes is what the events of the range were charged. */
typedef struct {
    guint64 first;
    guint64 end;
    guint64 bytes;
} SeqRange;

typedef struct {
    GArray *ranges; /* SeqRange, rising, never touching */
    guint64 n_events;
    guint64 n_bytes;
} SeqSet;

void seq_set_init(SeqSet *self);
void seq_set_clear(SeqSet *self); /* frees; init makes it usable again */

/* Ranges may overlap what is there: then the bytes of what is new are in proportion. */
void seq_set_add(SeqSet *self, SeqRange range);
void seq_set_add_all(SeqSet *self, const SeqSet *other);
/* Takes out everything below seq. */
void seq_set_remove_below(SeqSet *self, guint64 seq);
void seq_set_empty(SeqSet *self);

guint seq_set_n_ranges(const SeqSet *self);
const SeqRange *seq_set_range(const SeqSet *self, guint index);
/* Index of the first range that ends behind seq; n_ranges if there is none. */
guint seq_set_find(const SeqSet *self, guint64 seq);
