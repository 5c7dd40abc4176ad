/* suspects.c - keeps the counts of each suspect. */
#include "agent/core/suspects.h"

Suspects *
suspects_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(Suspect));
}

Suspect *
suspects_find(const Suspects *self, guint64 seq)
{
    for (guint i = 0; i < self->len; i++)
        if (suspect_at(self, i)->seq == seq)
            return suspect_at(self, i);
    return NULL;
}

gsize
suspects_largest(const Suspects *self)
{
    gsize largest = 0;

    for (guint i = 0; i < self->len; i++)
        largest = MAX(largest, suspect_at(self, i)->n_bytes);
    return largest;
}

void
suspects_note_refused(Suspects *self, Suspect suspect, gsize n_bytes, guint64 by)
{
    const Suspect *known = suspects_find(self, suspect.seq);

    if (known != NULL)
        g_array_remove_index(self, (guint) (known - suspect_at(self, 0)));
    suspect.refused_by = by;
    suspect.n_bytes = MAX(suspect.n_bytes, n_bytes);
    suspect.waits = TRUE;
    suspect.aside = FALSE;
    suspect.answers_since = 0;
    suspect.times_refused++;
    g_array_append_val(self, suspect);
}

guint
suspects_drop(Suspects *self, guint64 first, guint64 end)
{
    guint n_before = self->len;

    for (guint i = self->len; i > 0; i--) {
        const Suspect *suspect = suspect_at(self, i - 1);

        if (suspect->seq >= first && suspect->seq < end && !suspect->aside)
            g_array_remove_index(self, i - 1);
    }
    return n_before - self->len;
}

void
suspects_put_back(Suspects *self)
{
    for (guint i = 0; i < self->len; i++)
        suspect_at(self, i)->aside = FALSE;
}

void
suspects_count_answer(Suspects *self)
{
    for (guint i = 0; i < self->len; i++)
        suspect_at(self, i)->answers_since++;
}

void
suspects_count_refused(Suspects *self, gsize n_bytes, guint64 by, guint times)
{
    for (guint i = 0; i < self->len; i++) {
        Suspect *other = suspect_at(self, i);

        if (n_bytes >= other->n_bytes && (other->refused_by & by) != 0)
            other->n_refused += times;
    }
}

/* So often the destination refused what it takes: no wonder if it did so with the others. The first
 * time is counted already. */
void
suspects_count_cleared(Suspects *self, guint64 first, guint64 end)
{
    for (guint i = 0; i < self->len; i++) {
        const Suspect *cleared = suspect_at(self, i);

        if (cleared->seq >= first && cleared->seq < end)
            suspects_count_refused(self, cleared->n_bytes, cleared->refused_by,
                                   cleared->times_refused - 1);
    }
}
