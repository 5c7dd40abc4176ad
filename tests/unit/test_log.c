/* test_log.c - the shape of a line, whatever is in it. */
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log_library.h"

/* What body writes to stderr. */
static char *
capture(void (*body)(void))
{
    int kept = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    char *text;
    long length;

    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    body();
    dup2(kept, STDERR_FILENO);
    close(kept);
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    text = g_malloc0((gsize) length + 1);
    g_assert_cmpuint(fread(text, 1, (gsize) length, file), ==, (gsize) length);
    fclose(file);
    return text;
}

static void
assert_matches(const char *text, const char *pattern)
{
    if (!g_regex_match_simple(pattern, text, G_REGEX_DOLLAR_ENDONLY, 0))
        g_error("'%s' does not match '%s'", text, pattern);
}

#define TIME "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z "

static void
write_plain(void)
{
    log_info("listening", LOG_TEXT("address", "0.0.0.0:4141"), LOG_INT("n", -7));
}

static void
test_a_line_has_time_level_thread_message_and_fields(void)
{
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_TEXT, LOG_AT_INFO);
    text = capture(write_plain);

    assert_matches(text, TIME "info    main: listening address=0\\.0\\.0\\.0:4141 n=-7\\n$");
}

static void
write_nasty(void)
{
    log_warning("odd", LOG_TEXT("a", ""), LOG_TEXT("b", "two words"), LOG_TEXT("c", "q\"\\"),
                LOG_TEXT("d", "x\ny\x1b[31m"), LOG_TEXT("e", "l\xc3\xb6we"));
}

static void
test_no_value_breaks_its_line(void)
{
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_TEXT, LOG_AT_INFO);
    text = capture(write_nasty);

    g_assert_nonnull(strstr(text, " main: odd a=\"\" b=\"two words\" c=\"q\\\"\\\\\" "
                                  "d=x\\ny\\x1b[31m e=l\xc3\xb6we\n"));
    g_assert_true(strchr(text, '\n') == text + strlen(text) - 1);
}

static void
test_json_is_one_object_a_line_with_numbers_as_numbers(void)
{
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_JSON, LOG_AT_INFO);
    text = capture(write_plain);

    assert_matches(text,
                   "^\\{\"time\":\"[^\"]+Z\",\"level\":\"info\",\"thread\":\"main\","
                   "\"message\":\"listening\",\"address\":\"0\\.0\\.0\\.0:4141\",\"n\":-7\\}\\n$");
}

static void
test_what_is_below_the_level_is_not_written(void)
{
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_TEXT, LOG_AT_WARNING);
    text = capture(write_plain);

    g_assert_cmpstr(text, ==, "");
    g_assert_true(log_enabled(LOG_AT_ERROR));
    g_assert_false(log_enabled(LOG_AT_INFO));
}

static gpointer
write_from_long_name(gpointer user G_GNUC_UNUSED)
{
    log_name_thread("a-component-with-a-long-name");
    log_info("here");
    return NULL;
}

static void
write_from_thread(void)
{
    g_thread_join(g_thread_new(NULL, write_from_long_name, NULL));
}

static void
test_a_line_has_the_whole_name_of_its_thread(void)
{
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_TEXT, LOG_AT_INFO);
    text = capture(write_from_thread);

    g_assert_nonnull(strstr(text, " a-component-with-a-long-name: here\n"));
}

static void
write_as_library(void)
{
    g_log_structured("libsoup", G_LOG_LEVEL_WARNING, "MESSAGE", "odd %d", 1);
}

static void
test_messages_of_libraries_have_the_same_shape(void)
{
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_TEXT, LOG_AT_INFO);
    text = capture(write_as_library);

    assert_matches(text,
                   TIME "warning main: message of a library library=libsoup text=\"odd 1\"\\n$");
}

static void
write_flood(void)
{
    for (int i = 0; i < 1000; i++)
        g_log_structured("libflood", G_LOG_LEVEL_WARNING, "MESSAGE", "odd %d", i);
    g_log_structured("libquiet", G_LOG_LEVEL_WARNING, "MESSAGE", "once");
}

static void
test_a_library_that_says_much_has_one_line_and_all_is_counted(void)
{
    guint64 before = metric_get(log_library_metrics(), 0);
    g_autofree char *text = NULL;

    log_init(LOG_FORMAT_TEXT, LOG_AT_INFO);
    text = capture(write_flood);

    assert_matches(text, TIME "[^\\n]*libflood text=\"odd 0\"\\n[^\\n]*libquiet text=once\\n$");
    g_assert_cmpuint(metric_get(log_library_metrics(), 0) - before, ==, 1001);
}

static void
test_a_critical_message_that_is_fatal_ends_the_process(void)
{
    if (g_test_subprocess()) {
        g_log_set_always_fatal(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
        log_init(LOG_FORMAT_TEXT, LOG_AT_INFO);
        g_log_structured("GLib", G_LOG_LEVEL_CRITICAL, "MESSAGE", "assertion failed");
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);

    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*error*library=GLib*assertion failed*");
}

static void
test_words_for_level_and_format_ignore_case(void)
{
    LogLevel level = LOG_AT_ERROR;
    LogFormat format = LOG_FORMAT_TEXT;

    g_assert_true(log_level_from_text("Debug", &level) && level == LOG_AT_DEBUG);
    g_assert_true(log_format_from_text("JSON", &format) && format == LOG_FORMAT_JSON);
    g_assert_false(log_level_from_text("verbose", &level));
    g_assert_false(log_format_from_text("", &format));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log/a-fatal-message-ends-the-process",
                    test_a_critical_message_that_is_fatal_ends_the_process);
    if (!g_test_subprocess())
        g_log_set_always_fatal(G_LOG_FATAL_MASK);
    g_test_add_func("/log/a-library-that-says-much",
                    test_a_library_that_says_much_has_one_line_and_all_is_counted);
    g_test_add_func("/log/a-line-has-all-its-parts",
                    test_a_line_has_time_level_thread_message_and_fields);
    g_test_add_func("/log/no-value-breaks-its-line", test_no_value_breaks_its_line);
    g_test_add_func("/log/json-is-one-object-a-line",
                    test_json_is_one_object_a_line_with_numbers_as_numbers);
    g_test_add_func("/log/the-level-decides", test_what_is_below_the_level_is_not_written);
    g_test_add_func("/log/the-whole-name-of-the-thread",
                    test_a_line_has_the_whole_name_of_its_thread);
    g_test_add_func("/log/libraries-have-the-same-shape",
                    test_messages_of_libraries_have_the_same_shape);
    g_test_add_func("/log/words-ignore-case", test_words_for_level_and_format_ignore_case);
    return g_test_run();
}
