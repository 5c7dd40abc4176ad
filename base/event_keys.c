/* event_keys.c - repeated keys: a hash set of places among the encoded headers. */
#include "base/event_keys.h"

#include <glib.h>
#include <string.h>

#include "base/event_bytes.h"
#include "base/span.h"

/* Open addressing, at most three quarters full. A slot holds 1 + where a header begins; 4 bytes a
 * slot keep the set of a 16 MB event of tiny keys at twice the event's size. */
typedef struct {
    const guint8 *headers;
    guint32 *slots;
    guint64 mask;
    guint64 point; /* the hash depends on it: nobody can choose keys that collide */
} KeySet;

#define HASH_PRIME ((G_GUINT64_CONSTANT(1) << 61) - 1)

static guint64
random_point(void)
{
    guint64 high = g_random_int();

    return ((high << 32) | g_random_int()) % (HASH_PRIME - 1) + 1;
}

/* FALSE: no memory. */
static gboolean
key_set_init(KeySet *self, const guint8 *headers, guint count)
{
    guint64 n_slots = 64;

    while (n_slots / 4 * 3 < count)
        n_slots *= 2;
    self->headers = headers;
    self->slots = g_try_malloc0(n_slots * sizeof(guint32));
    self->mask = n_slots - 1;
    self->point = random_point();
    return self->slots != NULL;
}

static void
key_set_clear(KeySet *self)
{
    g_free(self->slots);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KeySet, key_set_clear)

static guint64
multiply_modulo_prime(guint64 a, guint64 b)
{
    unsigned __int128 product = (unsigned __int128) a * b;
    guint64 sum = (guint64) (product & HASH_PRIME) + (guint64) (product >> 61);

    return sum >= HASH_PRIME ? sum - HASH_PRIME : sum;
}

/* The key as a polynomial, seven bytes a coefficient, at the secret point: two keys of n bytes
 * collide for at most n / 7 + 1 of 2^61 points. */
static guint64
key_hash(const KeySet *self, ByteSpan key)
{
    guint64 hash = multiply_modulo_prime(key.length, self->point);

    for (gsize at = 0; at < key.length; at += 7) {
        guint64 chunk = 0;

        memcpy(&chunk, key.data + at, MIN(7, key.length - at));
        hash = multiply_modulo_prime((hash + chunk) % HASH_PRIME, self->point);
    }
    hash ^= hash >> 29;
    hash *= G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

static ByteSpan
key_at(const KeySet *self, guint32 slot)
{
    EventHeaderIter iter = { .cursor = self->headers + (slot - 1), .left = 1 };
    EventHeader header = { 0 };

    event_header_iter_next(&iter, &header);
    return header.key;
}

/* The slot that holds the key, or the empty one where it belongs. */
static guint32 *
key_set_find(const KeySet *self, ByteSpan key)
{
    guint64 place = key_hash(self, key) & self->mask;

    while (self->slots[place] && !byte_span_equal(key_at(self, self->slots[place]), key))
        place = (place + 1) & self->mask;
    return &self->slots[place];
}

static inline guint32
slot_of(const KeySet *self, const guint8 *header)
{
    return (guint32) (header - self->headers) + 1;
}

static gboolean
many_are_distinct(const guint8 *headers, guint count)
{
    g_auto(KeySet) set = { 0 };
    EventHeaderIter iter = { .cursor = headers, .left = count };
    EventHeader header;
    const guint8 *start = headers;

    if (!key_set_init(&set, headers, count))
        return FALSE;
    for (; event_header_iter_next(&iter, &header); start = iter.cursor) {
        guint32 *slot = key_set_find(&set, header.key);

        if (*slot)
            return FALSE;
        *slot = slot_of(&set, start);
    }
    return TRUE;
}

static gboolean
few_are_distinct(const guint8 *headers, guint count)
{
    ByteSpan keys[EVENT_KEYS_FEW];
    EventHeaderIter iter = { .cursor = headers, .left = count };
    EventHeader header;
    guint n_keys = 0;

    while (event_header_iter_next(&iter, &header)) {
        for (guint i = 0; i < n_keys; i++)
            if (byte_span_equal(keys[i], header.key))
                return FALSE;
        keys[n_keys++] = header.key;
    }
    return TRUE;
}

gboolean
event_keys_are_distinct(const guint8 *headers, guint count)
{
    return count <= EVENT_KEYS_FEW ? few_are_distinct(headers, count)
                                   : many_are_distinct(headers, count);
}

guint
event_keys_keep_last(guint8 *headers, guint count, guint8 **ret_end)
{
    g_auto(KeySet) set = { 0 };
    EventHeaderIter iter = { .cursor = headers, .left = count };
    EventHeader header;
    const guint8 *start = headers;
    guint8 *out = headers;
    guint n_kept = 0;

    if (!key_set_init(&set, headers, count))
        return 0;
    for (; event_header_iter_next(&iter, &header); start = iter.cursor)
        *key_set_find(&set, header.key) = slot_of(&set, start);

    iter = (EventHeaderIter){ .cursor = headers, .left = count };
    for (start = headers; event_header_iter_next(&iter, &header); start = iter.cursor) {
        guint32 *slot = key_set_find(&set, header.key);
        gsize size = (gsize) (iter.cursor - start);

        if (*slot != slot_of(&set, start))
            continue;
        /* The set must follow a header that moves: its old place is written over. */
        *slot = slot_of(&set, out);
        memmove(out, start, size);
        out += size;
        n_kept++;
    }
    *ret_end = out;
    return n_kept;
}
