/* test_client_guess.c - what is told of the first bytes of strangers, and of those that are none.
 */
#include "thrift/client_guess.h"

#include <string.h>

static void
assert_guess(const char *bytes, gsize length, const char *word)
{
    const char *guess = client_guess((const guint8 *) bytes, length);

    g_assert_nonnull(guess);
    g_assert_nonnull(strstr(guess, word));
}

#define assert_guesses(bytes, word) assert_guess((bytes), sizeof(bytes) - 1, (word))

static void
test_openings_of_other_protocols_are_known(void)
{
    assert_guesses("\x16\x03\x01\x02", "TLS");
    assert_guesses("GET / HTTP/1.1", "HTTP");
    assert_guesses("PRI * HTTP/2.0", "HTTP");
    assert_guesses("\x80\x01\x00\x01\x00\x00", "without framing");
    assert_guesses("\x82\x21\x01\x06"
                   "append",
                   "without framing");
    assert_guesses("\0\0\0\6append", "without framing");
    assert_guesses("\0\0\0\13appendBatch", "without framing");
    assert_guesses("\0\0\0\1\0\0\0\2\0\0\0\x40", "Avro");
    assert_guesses("\0\0\0\1\0", "Avro");
    assert_guesses("\1\0\0\0\6GSSAPI", "SASL");
    assert_guesses("<13>Oct 11 22:14:15", "plain text");
    assert_guesses("\0\0\0\x20[1,\"append\"", "JSON");
    assert_guesses("\0\0\0\x20\x0f\xff\0\0", "header transport");
}

static void
test_of_four_bytes_alone_a_guess_is_made_if_they_suffice(void)
{
    assert_guesses("POST", "HTTP");
    assert_guesses("\x16\x03\x03\x00", "TLS");
    assert_guesses("abcd", "plain text");
}

static void
test_of_bytes_that_say_nothing_nothing_is_said(void)
{
    g_assert_null(client_guess((const guint8 *) "", 0));
    g_assert_null(client_guess((const guint8 *) "\0\0\0\0", 4));
    g_assert_null(client_guess((const guint8 *) "\xff\xff\xff\xff", 4));
    g_assert_null(client_guess((const guint8 *) "\x7f\x45\x4c\x46\x02\x01", 6));
    g_assert_null(client_guess((const guint8 *) "\0\0\0\x20\x82\x21\x01\x06", 8));
}

static void
test_no_byte_behind_the_end_is_looked_at(void)
{
    static const char opening[] = "\0\0\0\13appendBatch";

    for (gsize length = 0; length < sizeof opening; length++) {
        g_autofree guint8 *exact = g_memdup2(opening, length); /* for the sanitizer */

        client_guess(exact, length);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-guess/openings", test_openings_of_other_protocols_are_known);
    g_test_add_func("/client-guess/four-bytes",
                    test_of_four_bytes_alone_a_guess_is_made_if_they_suffice);
    g_test_add_func("/client-guess/nothing", test_of_bytes_that_say_nothing_nothing_is_said);
    g_test_add_func("/client-guess/no-byte-behind-the-end",
                    test_no_byte_behind_the_end_is_looked_at);
    return g_test_run();
}
