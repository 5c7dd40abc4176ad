/* poison.c - the search for an event that its destination never takes. */
#include "agent/core/poison.h"

#include "agent/core/suspects.h"

/* Single events refused in a row before a pause: one and another one to compare with, or several
 * that may all be poison where something has been acknowledged just before. */
#define STREAK_IN_DOUBT 2
#define STREAK_ALIVE 16
/* What a refusal is worth after which the destination acknowledged something else, and one after
 * which nothing else came for a while; the second only counts on top of the first. */
#define EVIDENCE_COMPARED 1
#define EVIDENCE_ALONE 4
#define REFUSED_IN_DOUBT_MAX 8
#define LATELY 64
#define USUAL_OF 16
/* That chance alone makes a destination that refuses now and then refuse one event so often. */
#define CHANCE_MAX 1e-6
/* So many doubts end a search, and this is how long the next one may be put off. */
#define DOUBTS_MAX 16
#define PATIENCE_MAX 12
/* With so many all are forgotten at a pause, and found again if need be. */
#define SUSPECTS_MAX 64
/* A delivery to compare with may be so much larger than the suspect: an eighth, or this. */
#define COMPARED_BYTES_MORE 4096

struct Poison {
    guint patience;

    /* While all is well: the lease refused last. */
    guint64 refused_first;
    guint refusals;

    gboolean searching;
    gboolean alive;  /* something has been acknowledged since the last pause */
    gboolean found;  /* in this search */
    gboolean halves; /* more than one event was refused while alive: one of them may be it */
    guint64 next;    /* what was acknowledged, or is suspect, ends here */
    guint64 end;     /* what was refused ends here */
    gboolean large_was_sent; /* that is suspect, since the last acknowledgement */
    guint streak;            /* single events refused in a row */

    guint64 lease_end;       /* of the lease that was refused again and again */
    guint64 acknowledged_by; /* in this search */
    gsize acknowledged_most; /* bytes of one delivery, in this search */

    /* How often it refuses anything, lately: leases and, in a search, single events, each counted
     * when it is refused for the first time and when it is acknowledged. */
    guint n_acknowledged;
    guint n_refused;
    double usual_bytes; /* of an event, in what was acknowledged lately */
    guint n_doubts;     /* suspects acknowledged after all, pauses although it was alive */
    Suspects *suspects;
};

Poison *
poison_new(void)
{
    Poison *self = g_new0(Poison, 1);

    self->patience = POISON_PATIENCE;
    self->suspects = suspects_new();
    return self;
}

void
poison_free(Poison *self)
{
    if (self == NULL)
        return;
    g_array_unref(self->suspects);
    g_free(self);
}

gboolean
poison_is_searching(const Poison *self)
{
    return self->searching;
}

/* ---- suspects ---- */

static void
count_lately(Poison *self, guint *counter)
{
    (*counter)++;
    if (self->n_acknowledged + self->n_refused < LATELY)
        return;
    self->n_acknowledged /= 2;
    self->n_refused /= 2;
}

static Suspect
new_suspect(Poison *self, const PoisonSent *sent, guint64 by)
{
    Suspect fresh = { .seq = sent->first };

    /* What else was refused with it has been acknowledged: that is a comparison already. */
    if (fresh.seq < self->lease_end && (self->acknowledged_by & by) != 0 &&
        sent->n_bytes <= self->acknowledged_most)
        fresh.evidence = EVIDENCE_COMPARED;
    if (self->alive || self->n_refused < REFUSED_IN_DOUBT_MAX)
        count_lately(self, &self->n_refused);
    if (self->alive)
        suspects_count_refused(self->suspects, sent->n_bytes, by, 1);
    return fresh;
}

static void
note_suspect(Poison *self, const PoisonSent *sent, guint64 by)
{
    const Suspect *known = suspects_find(self->suspects, sent->first);
    Suspect suspect = known != NULL ? *known : new_suspect(self, sent, by);

    suspects_note_refused(self->suspects, suspect, sent->n_bytes, by);
}

/* Whether others, as they come, are no comparison for want of size. */
static gboolean
is_unusually_large(const Poison *self, gsize n_bytes)
{
    return self->usual_bytes > 0 && n_bytes > 2 * self->usual_bytes;
}

static void
note_usual(Poison *self, const PoisonSent *sent)
{
    double n_bytes = (double) sent->n_bytes / MAX(sent->n_events, 1);

    self->usual_bytes +=
        self->usual_bytes == 0 ? n_bytes : (n_bytes - self->usual_bytes) / USUAL_OF;
}

/* ---- what to send ---- */

/* A destination that refuses now and then must not do so in step with us. Of the large ones, one is
 * sent for each acknowledgement. */
static gboolean
is_turn_of(const Poison *self, const Suspect *suspect)
{
    if (!suspect->aside || suspect->waits)
        return FALSE;
    if (is_unusually_large(self, suspect->n_bytes))
        return !self->large_was_sent;
    return suspect->answers_since > suspect->evidence % 3;
}

gboolean
poison_next_suspect(Poison *self, guint64 *ret_seq)
{
    for (guint i = 0; i < self->suspects->len; i++) {
        Suspect *kept = suspect_at(self->suspects, i);

        if (!is_turn_of(self, kept))
            continue;
        kept->aside = FALSE;
        self->large_was_sent |= is_unusually_large(self, kept->n_bytes);
        *ret_seq = kept->seq;
        return TRUE;
    }
    return FALSE;
}

guint
poison_limit(const Poison *self, guint most)
{
    if (!self->searching)
        return most;
    if (!self->alive || (self->suspects->len > 0 && suspects_largest(self->suspects) == 0))
        return 1; /* the more there are to compare with */
    if (!self->halves || self->next >= self->end)
        return most;
    return (guint) MIN(most, MAX(1, (self->end - self->next) / 2));
}

gsize
poison_limit_bytes(const Poison *self, gsize most)
{
    gsize largest = self->searching ? suspects_largest(self->suspects) : 0;
    gsize more = MIN(largest, MAX(largest / 8, COMPARED_BYTES_MORE));

    /* The event that is too many for this is at least one byte over. */
    return largest == 0 ? most : MIN(most, largest + more - 1);
}

gboolean
poison_note_taken(Poison *self, guint64 first, guint n_events)
{
    Suspect *known;

    if (!self->searching)
        return FALSE;
    suspects_drop(self->suspects, 0, first); /* another sink has taken them */
    known = n_events == 1 ? suspects_find(self->suspects, first) : NULL;
    if (known == NULL || self->streak == 0 || known->evidence > 0)
        return FALSE;
    known->aside = TRUE;
    return TRUE;
}

/* ---- what became of it ---- */

static void
end_search(Poison *self, guint patience)
{
    g_array_set_size(self->suspects, 0);
    self->searching = FALSE;
    self->refusals = 0;
    self->patience = patience;
}

/* Where a batch was too large the next one is, too, and a pause for each refusal would be long. */
static guint
patience_after(const Poison *self)
{
    return self->found || self->halves ? 1 : POISON_PATIENCE;
}

static void
end_search_if_over(Poison *self)
{
    if (self->searching && self->next >= self->end && self->suspects->len == 0)
        end_search(self, patience_after(self));
}

/* A destination that refuses now and then is no matter for a search, which costs more there than to
 * send it all again: the next one comes later. */
static void
note_doubt(Poison *self)
{
    self->n_doubts++;
    if (self->n_doubts >= DOUBTS_MAX || self->suspects->len == 0)
        end_search(self, CLAMP(2 * self->patience, POISON_PATIENCE, PATIENCE_MAX));
}

void
poison_note_pause(Poison *self)
{
    if (!self->searching)
        return;
    self->streak = 0;
    suspects_put_back(self->suspects);
    if (self->suspects->len >= SUSPECTS_MAX)
        g_array_set_size(self->suspects, 0);
    /* Where large ones are in doubt only, pieces as small as the search sends are what it takes. */
    if (self->alive && self->suspects->len > 0 &&
        !is_unusually_large(self, suspects_largest(self->suspects)))
        note_doubt(self);
    self->alive = FALSE;
}

/* Whether the lease has been refused often enough. */
static gboolean
begin_search(Poison *self, guint64 first, guint n_events)
{
    self->refusals = first == self->refused_first ? self->refusals + 1 : 1;
    self->refused_first = first;
    if (self->refusals == 1)
        count_lately(self, &self->n_refused);
    if (self->refusals < self->patience)
        return FALSE;
    self->searching = TRUE;
    self->found = FALSE;
    /* Where one was found lately there are often more, and where many are refused of which each
     * alone is taken, a batch is too large: that destination was no outage. */
    self->alive = self->patience < POISON_PATIENCE;
    self->halves = FALSE;
    self->streak = 0;
    self->n_doubts = 0;
    self->lease_end = first + n_events;
    self->acknowledged_by = 0;
    self->acknowledged_most = 0;
    return TRUE;
}

static PoisonAdvice
note_refused_alone(Poison *self, const PoisonSent *sent, guint64 by)
{
    guint streak_max = self->alive ? STREAK_ALIVE : STREAK_IN_DOUBT;
    const Suspect *known = suspects_find(self->suspects, sent->first);

    if (known == NULL || (known->evidence == 0 && !self->alive))
        self->streak++;
    note_suspect(self, sent, by);
    self->next = MAX(self->next, sent->first + 1);
    if (self->streak >= streak_max || self->suspects->len >= SUSPECTS_MAX) {
        poison_note_pause(self);
        return POISON_PAUSE;
    }
    suspects_find(self->suspects, sent->first)->aside = TRUE;
    return POISON_KEEP_ASIDE;
}

/* is_whole: no part of what was refused before. */
static PoisonAdvice
note_refused_together(Poison *self, const PoisonSent *sent, guint64 by, gboolean is_whole)
{
    self->halves = self->alive;
    if (!self->alive)
        return POISON_PAUSE;
    if (self->suspects->len == 0)
        return POISON_GO_ON;
    if (is_whole)
        suspects_count_refused(self->suspects, sent->n_bytes, by, 1);
    if (++self->streak < STREAK_ALIVE)
        return POISON_GO_ON;
    poison_note_pause(self);
    return POISON_PAUSE;
}

PoisonAdvice
poison_note_refused(Poison *self, const PoisonSent *sent, guint64 by)
{
    gboolean begins = !self->searching;
    gboolean is_whole = sent->first >= self->end;

    if (begins && !begin_search(self, sent->first, sent->n_events))
        return POISON_PAUSE;
    suspects_count_answer(self->suspects);
    if (begins || sent->n_events > 1) {
        self->next = sent->first;
        self->end = sent->first + sent->n_events;
    }
    return sent->n_events == 1 ? note_refused_alone(self, sent, by)
                               : note_refused_together(self, sent, by, is_whole);
}

/* What was refused alone was acknowledged after all. After an outage that is its end, and then
 * nothing that it refused is suspect. */
static void
note_cleared(Poison *self)
{
    if (self->alive)
        note_doubt(self);
    else
        end_search(self, patience_after(self));
}

/* A large one's only if it comes next: later it is no wonder if there is more room than there was,
 * and of several that want the same room one gets it. */
static void
compare_suspect(const Poison *self, Suspect *suspect, gsize n_bytes, guint64 by)
{
    gboolean counts = suspect->answers_since == 1 || !is_unusually_large(self, suspect->n_bytes);

    if (n_bytes >= suspect->n_bytes && (suspect->refused_by & by) != 0) {
        suspect->n_acknowledged++;
        if (suspect->waits && counts)
            suspect->evidence += EVIDENCE_COMPARED;
    }
    suspect->waits = FALSE;
}

void
poison_note_acknowledged(Poison *self, const PoisonSent *sent, guint64 by)
{
    guint64 end = sent->first + sent->n_events;
    gboolean large = is_unusually_large(self, suspects_largest(self->suspects));

    note_usual(self, sent);
    if (!self->searching) {
        if (self->refused_first >= sent->first && self->refused_first < end)
            self->refusals = 0;
        count_lately(self, &self->n_acknowledged);
        return;
    }
    self->acknowledged_by |= by;
    self->acknowledged_most = MAX(self->acknowledged_most, sent->n_bytes);
    self->next = MAX(self->next, end);
    self->streak = 0;
    self->large_was_sent = FALSE;
    suspects_count_answer(self->suspects);
    for (guint i = 0; i < self->suspects->len; i++)
        compare_suspect(self, suspect_at(self->suspects, i), sent->n_bytes, by);
    suspects_count_cleared(self->suspects, sent->first, end);
    if (suspects_drop(self->suspects, sent->first, end) > 0 && !large)
        note_cleared(self);
    else
        count_lately(self, &self->n_acknowledged);
    self->alive = TRUE;
    end_search_if_over(self);
}

void
poison_note_alone(Poison *self)
{
    /* Nothing to learn from a destination that refuses much else. */
    if (2 * self->n_refused > self->n_acknowledged + 4)
        return;
    for (guint i = 0; i < self->suspects->len; i++) {
        Suspect *kept = suspect_at(self->suspects, i);

        if (kept->aside && kept->waits && kept->evidence > 0 &&
            !is_unusually_large(self, kept->n_bytes))
            kept->evidence += EVIDENCE_ALONE;
    }
}

/* How often the destination refuses anything, or what is as large. */
static double
refuses_how_often(const Poison *self, const Suspect *suspect)
{
    guint n_refused = MAX(self->n_refused, 1) - 1; /* it was one of them itself */
    double refuses = (1.0 + n_refused) / (2.0 + n_refused + self->n_acknowledged);

    if (suspect->n_refused == 0)
        return refuses;
    return MAX(refuses,
               suspect->n_refused / ((double) suspect->n_refused + suspect->n_acknowledged));
}

static gboolean
is_proven(const Poison *self, const Suspect *suspect)
{
    double refuses = refuses_how_often(self, suspect);
    double chance = 1;

    for (guint i = 0; i < suspect->evidence && chance > CHANCE_MAX; i++)
        chance *= refuses;
    return chance <= CHANCE_MAX;
}

gboolean
poison_is_found(const Poison *self, guint64 *ret_seq)
{
    for (guint i = 0; i < self->suspects->len; i++) {
        const Suspect *kept = suspect_at(self->suspects, i);

        if (!kept->aside || !is_proven(self, kept))
            continue;
        *ret_seq = kept->seq;
        return TRUE;
    }
    return FALSE;
}

void
poison_note_rejected(Poison *self, guint64 seq)
{
    suspects_find(self->suspects, seq)->aside = FALSE;
    suspects_drop(self->suspects, seq, seq + 1);
    self->found = TRUE;
    self->n_doubts = 0;
    end_search_if_over(self);
}
