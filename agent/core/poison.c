/* poison.c - the search for an event that its destination never takes. */
#include "agent/core/poison.h"

/* Single events refused in a row before a pause: one and another one to compare with, or several
 * that may all be poison where something has been acknowledged just before. */
#define STREAK_IN_DOUBT 2
#define STREAK_ALIVE 16
/* What a refusal is worth after which the destination acknowledged something else, and one after
 * which nothing else came for a while; the second only counts on top of the first. */
#define EVIDENCE_COMPARED 1
#define EVIDENCE_ALONE 4
#define EVIDENCE_MAX 200
#define REFUSED_IN_DOUBT_MAX 8
#define LATELY 64
/* That chance alone makes a destination that refuses now and then refuse one event so often. */
#define CHANCE_MAX 1e-6
/* So many doubts end a search, and this is how long the next one may be put off. */
#define DOUBTS_MAX 16
#define PATIENCE_MAX 12
/* With so many all are forgotten at a pause, and found again if need be. */
#define SUSPECTS_MAX 64

typedef struct {
    guint64 seq;
    guint64 refused_by; /* the last time */
    guint evidence;
    gboolean waits;      /* for the acknowledgement that makes evidence of its last refusal */
    guint answers_since; /* to others, since then */
    gboolean aside;
} Suspect;

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
    guint streak;    /* single events refused in a row */

    guint64 lease_end;       /* of the lease that was refused again and again */
    guint64 acknowledged_by; /* in this search */

    /* How often it refuses anything, lately: leases and, in a search, single events, each counted
     * when it is refused for the first time and when it is acknowledged. */
    guint n_acknowledged;
    guint n_refused;
    guint n_doubts; /* suspects acknowledged after all, pauses although it was alive */
    GArray *suspects;
};

Poison *
poison_new(void)
{
    Poison *self = g_new0(Poison, 1);

    self->patience = POISON_PATIENCE;
    self->suspects = g_array_new(FALSE, FALSE, sizeof(Suspect));
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

static Suspect *
suspect_at(const Poison *self, guint index)
{
    return &g_array_index(self->suspects, Suspect, index);
}

static Suspect *
find_suspect(const Poison *self, guint64 seq)
{
    for (guint i = 0; i < self->suspects->len; i++)
        if (suspect_at(self, i)->seq == seq)
            return suspect_at(self, i);
    return NULL;
}

/* Those from first up to end that are not kept aside. Returns how many. */
static guint
drop_suspects(Poison *self, guint64 first, guint64 end)
{
    guint n_before = self->suspects->len;

    for (guint i = self->suspects->len; i > 0; i--) {
        const Suspect *suspect = suspect_at(self, i - 1);

        if (suspect->seq >= first && suspect->seq < end && !suspect->aside)
            g_array_remove_index(self->suspects, i - 1);
    }
    return n_before - self->suspects->len;
}

static void
count_lately(Poison *self, guint *counter)
{
    (*counter)++;
    if (self->n_acknowledged + self->n_refused < LATELY)
        return;
    self->n_acknowledged /= 2;
    self->n_refused /= 2;
}

static void
count_answer(Poison *self)
{
    for (guint i = 0; i < self->suspects->len; i++)
        suspect_at(self, i)->answers_since++;
}

static void
note_suspect(Poison *self, guint64 seq, guint64 by)
{
    Suspect *known = find_suspect(self, seq);
    Suspect fresh = { .seq = seq };

    if (known == NULL) {
        /* What else was refused with it has been acknowledged: that is a comparison already. */
        if (seq < self->lease_end && (self->acknowledged_by & by) != 0)
            fresh.evidence = EVIDENCE_COMPARED;
        if (self->alive || self->n_refused < REFUSED_IN_DOUBT_MAX)
            count_lately(self, &self->n_refused);
        g_array_append_val(self->suspects, fresh);
        known = find_suspect(self, seq);
    }
    known->refused_by = by;
    known->waits = TRUE;
    known->answers_since = 0;
}

/* ---- what to send ---- */

/* A destination that refuses now and then must not do so in step with us. */
static gboolean
is_turn_of(const Suspect *suspect)
{
    return suspect->aside && !suspect->waits && suspect->answers_since > suspect->evidence % 3;
}

gboolean
poison_next_suspect(Poison *self, guint64 *ret_seq)
{
    for (guint i = 0; i < self->suspects->len; i++) {
        Suspect *kept = suspect_at(self, i);

        if (!is_turn_of(kept))
            continue;
        kept->aside = FALSE;
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
    if (!self->alive || self->suspects->len > 0)
        return 1; /* the more there are to compare with */
    if (!self->halves || self->next >= self->end)
        return most;
    return (guint) MIN(most, MAX(1, (self->end - self->next) / 2));
}

gboolean
poison_note_taken(Poison *self, guint64 first, guint n_events)
{
    Suspect *known;

    if (!self->searching)
        return FALSE;
    drop_suspects(self, 0, first); /* another sink has taken them */
    known = n_events == 1 ? find_suspect(self, first) : NULL;
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

static void
end_search_if_over(Poison *self)
{
    if (self->searching && self->next >= self->end && self->suspects->len == 0)
        end_search(self, self->found || self->halves ? 1 : POISON_PATIENCE);
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
    for (guint i = 0; i < self->suspects->len; i++)
        suspect_at(self, i)->aside = FALSE;
    if (self->suspects->len >= SUSPECTS_MAX)
        g_array_set_size(self->suspects, 0);
    if (self->alive && self->suspects->len > 0)
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
    return TRUE;
}

static PoisonAdvice
note_refused_alone(Poison *self, guint64 seq, guint64 by)
{
    guint streak_max = self->alive ? STREAK_ALIVE : STREAK_IN_DOUBT;
    const Suspect *known = find_suspect(self, seq);

    if (known == NULL || (known->evidence == 0 && !self->alive))
        self->streak++;
    note_suspect(self, seq, by);
    self->next = MAX(self->next, seq + 1);
    if (self->streak >= streak_max || self->suspects->len >= SUSPECTS_MAX) {
        poison_note_pause(self);
        return POISON_PAUSE;
    }
    find_suspect(self, seq)->aside = TRUE;
    return POISON_KEEP_ASIDE;
}

PoisonAdvice
poison_note_refused(Poison *self, guint64 first, guint n_events, guint64 by)
{
    gboolean begins = !self->searching;

    if (begins && !begin_search(self, first, n_events))
        return POISON_PAUSE;
    count_answer(self);
    if (begins || n_events > 1) {
        self->next = first;
        self->end = first + n_events;
    }
    if (n_events == 1)
        return note_refused_alone(self, first, by);
    self->halves = self->alive;
    return self->alive ? POISON_GO_ON : POISON_PAUSE;
}

/* What was refused alone was acknowledged after all. After an outage that is its end, and then
 * nothing that it refused is suspect. */
static void
note_cleared(Poison *self)
{
    if (self->alive)
        note_doubt(self);
    else
        end_search(self, POISON_PATIENCE);
}

static void
compare_suspects(Poison *self, guint64 by)
{
    for (guint i = 0; i < self->suspects->len; i++) {
        Suspect *other = suspect_at(self, i);

        if (other->waits && (other->refused_by & by) != 0)
            other->evidence += EVIDENCE_COMPARED;
        other->waits = FALSE;
    }
}

void
poison_note_acknowledged(Poison *self, guint64 first, guint n_events, guint64 by)
{
    if (!self->searching) {
        if (self->refused_first >= first && self->refused_first - first < n_events)
            self->refusals = 0;
        count_lately(self, &self->n_acknowledged);
        return;
    }
    self->acknowledged_by |= by;
    self->next = MAX(self->next, first + n_events);
    self->streak = 0;
    count_answer(self);
    compare_suspects(self, by);
    if (drop_suspects(self, first, first + n_events) > 0)
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
        Suspect *kept = suspect_at(self, i);

        if (kept->aside && kept->waits && kept->evidence > 0)
            kept->evidence += EVIDENCE_ALONE;
    }
}

static guint
enough_evidence(const Poison *self)
{
    guint n_refused = MAX(self->n_refused, 1) - 1; /* it was one of them itself */
    double refuses = (1.0 + n_refused) / (2.0 + n_refused + self->n_acknowledged);
    double chance = 1;
    guint evidence = 0;

    for (; chance > CHANCE_MAX && evidence < EVIDENCE_MAX; evidence++)
        chance *= refuses;
    return evidence;
}

gboolean
poison_is_found(const Poison *self, guint64 *ret_seq)
{
    guint enough = enough_evidence(self);

    for (guint i = 0; i < self->suspects->len; i++) {
        const Suspect *kept = suspect_at(self, i);

        if (!kept->aside || kept->evidence < enough)
            continue;
        *ret_seq = kept->seq;
        return TRUE;
    }
    return FALSE;
}

void
poison_note_rejected(Poison *self, guint64 seq)
{
    find_suspect(self, seq)->aside = FALSE;
    drop_suspects(self, seq, seq + 1);
    self->found = TRUE;
    self->n_doubts = 0;
    end_search_if_over(self);
}
