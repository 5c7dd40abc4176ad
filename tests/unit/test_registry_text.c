/* test_registry_text.c - query strings, durations and flat TOML as Go's programs take them. */
#include "registry/go_duration.h"
#include "registry/http_query.h"
#include "registry/toml_reader.h"

/* ---- queries ---- */

static void
test_parameters_are_unescaped_and_the_first_of_a_name_counts(void)
{
    g_autoptr(HttpQuery) query =
        http_query_parse("topic=a%23ephemeral&topic=b&&empty=&bare&%74wo+words=x+y%2Bz&nul=a%00b");

    g_assert_cmpstr(http_query_get(query, "topic"), ==, "a#ephemeral");
    g_assert_cmpstr(http_query_get(query, "empty"), ==, "");
    g_assert_cmpstr(http_query_get(query, "bare"), ==, "");
    g_assert_cmpstr(http_query_get(query, "two words"), ==, "x y+z");
    g_assert_cmpstr(http_query_get(query, "nul"), ==,
                    "a\xef\xbf\xbd"
                    "b");
    g_assert_null(http_query_get(query, "absent"));
}

static void
test_no_query_has_no_parameters(void)
{
    g_autoptr(HttpQuery) query = http_query_parse(NULL);

    g_assert_nonnull(query);
    g_assert_null(http_query_get(query, "topic"));
}

static void
test_queries_that_cannot_be_read(void)
{
    static const char *const rows[] = { "a=%", "a=%z1", "a=%1", "%zz=1", "a=1;b=2", "a=1&b%" };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_null(http_query_parse(rows[i]));
}

/* ---- durations ---- */

static void
test_durations(void)
{
    static const struct {
        const char *text;
        gint64 us;
    } rows[] = {
        { "0", 0 },
        { "300s", 300 * G_USEC_PER_SEC },
        { "1h30m", G_GINT64_CONSTANT(5400000000) },
        { "+1.5m", 90 * G_USEC_PER_SEC },
        { "1m0.5s250ms", 60750000 },
        { "12us3\xc2\xb5s", 15 },
        { "2000ns", 2 },
        { ".5s", 500000 },
    };
    static const char *const bad[] = {
        "", "+", "5", "s", "5 s", "-5s", "1.2.3s", "5x", ".s", "1e9s", "99999999999999h"
    };
    gint64 us;

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_assert_true(go_duration_parse(rows[i].text, &us));
        g_assert_cmpint(us, ==, rows[i].us);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(go_duration_parse(bad[i], &us));
}

/* ---- TOML ---- */

static void
note_pair(const char *key, const char *value, gboolean in_table, int line, gpointer user)
{
    g_string_append_printf(user, "%d:%s%s=[%s] ", line, in_table ? "table's " : "", key, value);
}

static void
test_keys_and_values(void)
{
    g_autoptr(GString) seen = g_string_new(NULL);
    g_autoptr(Problems) problems = problems_new("file");

    g_assert_true(toml_read("# comment\r\n"
                            "a = \"x # \\\"y\\\"\" # more\r\n"
                            "\n"
                            "  b='\\n'\n"
                            "c_d = 5# five\n"
                            "e = true\n"
                            "list = [\"x]\", [1, 2]] # more\n"
                            "[table]\n"
                            "f = 1\n",
                            note_pair, seen, problems));

    g_assert_cmpstr(seen->str, ==,
                    "2:a=[x # \"y\"] 4:b=[\\n] 5:c_d=[5] 6:e=[true] "
                    "7:list=[[\"x]\", [1, 2]]] 9:table's f=[1] ");
}

static void
test_lines_that_are_none(void)
{
    static const char *const rows[] = { "a",         "a =",         "= 1",     "a = \"x",
                                        "a = 'x' y", "a = \"\\q\"", "a = 1 2", "a = [\"x]",
                                        "a = [[1]",  "a = ]" };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) seen = g_string_new(NULL);
        g_autoptr(Problems) problems = problems_new("file");

        g_assert_false(toml_read(rows[i], note_pair, seen, problems));
        g_assert_cmpuint(problems_count(problems), ==, 1);
        g_assert_cmpstr(seen->str, ==, "");
    }
}

static void
test_values_that_lack_their_quotes(void)
{
    static const char *const good[] = { "1", "-1_000", "+1.5e-3", "0xff", "inf", "true", "false" };
    static const char *const bad[] = { "127.0.0.1:4160", ":4160", "60s",    "x",
                                       "True",           "1.",    "[::1]:1" };

    for (gsize i = 0; i < G_N_ELEMENTS(good) + G_N_ELEMENTS(bad); i++) {
        gboolean is_good = i < G_N_ELEMENTS(good);
        const char *value = is_good ? good[i] : bad[i - G_N_ELEMENTS(good)];
        g_autofree char *line = g_strdup_printf("a = %s", value);
        g_autoptr(GString) seen = g_string_new(NULL);
        g_autoptr(Problems) problems = problems_new("file");

        g_assert_cmpint(toml_read(line, note_pair, seen, problems), ==, is_good);
        g_assert_cmpint(seen->len > 0, ==, is_good);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/parameters",
                    test_parameters_are_unescaped_and_the_first_of_a_name_counts);
    g_test_add_func("/query/none", test_no_query_has_no_parameters);
    g_test_add_func("/query/bad", test_queries_that_cannot_be_read);
    g_test_add_func("/go-duration", test_durations);
    g_test_add_func("/toml/pairs", test_keys_and_values);
    g_test_add_func("/toml/bad", test_lines_that_are_none);
    g_test_add_func("/toml/quotes", test_values_that_lack_their_quotes);
    return g_test_run();
}
