/* text_hash.c - SipHash-1-3 of texts. */
#include "base/text_hash.h"

#include <string.h>

typedef struct {
    guint64 v0, v1, v2, v3;
} State;

static inline guint64
rotate(guint64 word, guint bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static inline void
mix(State *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static inline void
take(State *s, guint64 word)
{
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

guint64
text_hash_with(const guint64 secret[2], const char *text)
{
    State s = {
        .v0 = secret[0] ^ G_GUINT64_CONSTANT(0x736f6d6570736575),
        .v1 = secret[1] ^ G_GUINT64_CONSTANT(0x646f72616e646f6d),
        .v2 = secret[0] ^ G_GUINT64_CONSTANT(0x6c7967656e657261),
        .v3 = secret[1] ^ G_GUINT64_CONSTANT(0x7465646279746573),
    };
    gsize length = strlen(text), left = length;
    guint64 word;

    for (; left >= sizeof word; left -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        take(&s, GUINT64_FROM_LE(word));
    }
    word = 0;
    memcpy(&word, text, left);
    take(&s, GUINT64_FROM_LE(word) | ((guint64) length << 56));
    s.v2 ^= 0xff;
    mix(&s);
    mix(&s);
    mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static guint64
draw(void)
{
    return ((guint64) g_random_int() << 32) | g_random_int();
}

guint
text_hash(gconstpointer text)
{
    static guint64 secret[2];
    static gsize is_drawn;

    if (g_once_init_enter(&is_drawn)) {
        secret[0] = draw();
        secret[1] = draw();
        g_once_init_leave(&is_drawn, 1);
    }
    return (guint) text_hash_with(secret, text);
}
