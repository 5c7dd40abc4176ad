/* test_text_hash.c - what the hash of a text is, and that nobody can make texts collide. */
#include "base/text_hash.h"

#include <glib.h>

#define N_TEXTS 4096

/* The answers are those of another program, which was held against CPython's. */
static void
test_a_hash_is_siphash_of_the_text(void)
{
    static const guint64 secret[2] = { G_GUINT64_CONSTANT(0x0706050403020100),
                                       G_GUINT64_CONSTANT(0x0f0e0d0c0b0a0908) };

    g_assert_cmphex(text_hash_with(secret, ""), ==, G_GUINT64_CONSTANT(0xabac0158050fc4dc));
    g_assert_cmphex(text_hash_with(secret, "a"), ==, G_GUINT64_CONSTANT(0x1c2697ab786a6237));
    g_assert_cmphex(text_hash_with(secret, "topic-1"), ==, G_GUINT64_CONSTANT(0x69b0101dfd461da6));
    g_assert_cmphex(text_hash_with(secret, "topic-12"), ==, G_GUINT64_CONSTANT(0xaa640bba6901d2b1));
    g_assert_cmphex(text_hash_with(secret, "topic-123"), ==,
                    G_GUINT64_CONSTANT(0xebe19d103a703502));
}

/* "Bb" and "CA" are one to g_str_hash, and so is all that is made of them. */
static char *
colliding_text(guint number)
{
    GString *text = g_string_new(NULL);

    for (guint bit = 1; bit < N_TEXTS; bit <<= 1)
        g_string_append(text, (number & bit) != 0 ? "Bb" : "CA");
    return g_string_free(text, FALSE);
}

static void
test_texts_that_were_chosen_to_collide_do_not(void)
{
    g_autoptr(GHashTable) hashes = g_hash_table_new(NULL, NULL);

    for (guint i = 0; i < N_TEXTS; i++) {
        g_autofree char *text = colliding_text(i);

        g_hash_table_add(hashes, GUINT_TO_POINTER(text_hash(text)));
    }

    g_assert_cmpuint(g_hash_table_size(hashes), >, N_TEXTS - 10);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/text-hash/a-hash-is-siphash-of-the-text", test_a_hash_is_siphash_of_the_text);
    g_test_add_func("/text-hash/texts-that-were-chosen-to-collide-do-not",
                    test_texts_that_were_chosen_to_collide_do_not);
    return g_test_run();
}
