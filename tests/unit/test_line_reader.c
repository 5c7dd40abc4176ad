/* test_line_reader.c - files and pipes cut into lines. */
#include "agent/commands/line_reader.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define MAX_LINE 1000

/* A file that goes away with its scope. */
typedef char TemporaryFile;

static TemporaryFile *
temporary_file_new(const char *content, gsize length)
{
    char *path = NULL;
    int fd = g_file_open_tmp("leat-lines-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(path, content, (gssize) length, NULL));
    return path;
}

static void
temporary_file_free(TemporaryFile *path)
{
    g_unlink(path);
    g_free(path);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TemporaryFile, temporary_file_free)

static LineReader *
reader_of(const char *first, const char *second)
{
    const char *paths[] = { first, second, NULL };
    g_autoptr(GError) error = NULL;
    LineReader *reader = line_reader_new(paths, MAX_LINE, -1, &error);

    g_assert_no_error(error);
    return reader;
}

static void
assert_line(LineReader *reader, const char *expected, gsize length)
{
    g_autoptr(GError) error = NULL;
    ByteSpan line;

    g_assert_cmpint(line_reader_next(reader, CLOCK_NEVER, &line, &error), ==, LINE_READ);
    g_assert_no_error(error);
    g_assert_cmpmem(line.data, line.length, expected, length);
}

static void
assert_end(LineReader *reader)
{
    ByteSpan line;

    g_assert_cmpint(line_reader_next(reader, CLOCK_NEVER, &line, NULL), ==, LINE_END);
}

static void
test_a_line_is_all_bytes_before_the_newline(void)
{
    static const char content[] = "a\r\n\n\xff\0b\nlast";
    g_autoptr(TemporaryFile) file = temporary_file_new(content, sizeof content - 1);

    g_autoptr(LineReader) reader = reader_of(file, NULL);

    assert_line(reader, "a\r", 2);
    assert_line(reader, "", 0);
    assert_line(reader, "\xff\0b", 3);
    assert_line(reader, "last", 4);
    assert_end(reader);
}

static void
test_a_place_is_a_file_and_a_line_of_it(void)
{
    g_autoptr(TemporaryFile) first = temporary_file_new("1\n2", 3);
    g_autoptr(TemporaryFile) second = temporary_file_new("3\n", 2);
    g_autoptr(LineReader) reader = reader_of(first, second);

    assert_line(reader, "1", 1);
    assert_line(reader, "2", 1);
    g_assert_cmpstr(line_reader_place(reader).file, ==, first);
    g_assert_cmpuint(line_reader_place(reader).line, ==, 2);

    assert_line(reader, "3", 1);
    g_assert_cmpstr(line_reader_place(reader).file, ==, second);
    g_assert_cmpuint(line_reader_place(reader).line, ==, 1);
}

static void
test_consumed_bytes_reach_the_total(void)
{
    g_autoptr(TemporaryFile) first = temporary_file_new("1\n2", 3);
    g_autoptr(TemporaryFile) second = temporary_file_new("3\n", 2);
    g_autoptr(LineReader) reader = reader_of(first, second);

    for (const char *line = "123"; *line != '\0'; line++)
        assert_line(reader, line, 1);

    g_assert_cmpuint(line_reader_consumed(reader), ==, 5);
    g_assert_cmpuint(line_reader_total(reader), ==, 5);
}

static void
test_a_line_longer_than_the_limit_is_refused_with_its_number(void)
{
    g_autofree char *longest = g_strnfill(MAX_LINE, 'x');
    g_autofree char *content = g_strconcat(longest, "\n", longest, "x\n", NULL);
    g_autoptr(TemporaryFile) file = temporary_file_new(content, strlen(content));
    g_autoptr(LineReader) reader = reader_of(file, NULL);
    g_autoptr(GError) error = NULL;
    ByteSpan line;

    assert_line(reader, longest, MAX_LINE);

    g_assert_cmpint(line_reader_next(reader, CLOCK_NEVER, &line, &error), ==, LINE_FAILED);
    g_assert_error(error, LINE_READER_ERROR, LINE_READER_ERROR_TOO_LONG);
    g_assert_cmpuint(line_reader_place(reader).line, ==, 2);
}

/* Much larger than one read, so that lines lie across the seams. */
static void
test_lines_across_reads_stay_whole(void)
{
    g_autoptr(GString) content = g_string_new(NULL);
    g_autoptr(TemporaryFile) file = NULL;
    g_autoptr(LineReader) reader = NULL;

    for (guint i = 0; i < 200000; i++)
        g_string_append_printf(content, "line %u\n", i);
    file = temporary_file_new(content->str, content->len);
    reader = reader_of(file, NULL);

    for (guint i = 0; i < 200000; i++) {
        char expected[32];
        int length = g_snprintf(expected, sizeof expected, "line %u", i);

        assert_line(reader, expected, (gsize) length);
    }
    assert_end(reader);
}

/* A named pipe that somebody has open for writing, so that a reader finds it neither ended nor
 * ready. */
static void
test_a_silent_pipe_is_waited_for_until_the_deadline(void)
{
    g_autoptr(TemporaryFile) path = temporary_file_new("", 0);
    g_autoptr(LineReader) reader = NULL;
    int writer;
    ByteSpan line;

    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    writer = open(path, O_RDWR | O_CLOEXEC);
    g_assert_cmpint(write(writer, "one\nhalf", 8), ==, 8);
    reader = reader_of(path, NULL);

    assert_line(reader, "one", 3);
    g_assert_cmpint(line_reader_next(reader, clock_now_us(), &line, NULL), ==, LINE_NOT_YET);
    g_assert_cmpint(write(writer, "way\n", 4), ==, 4);
    assert_line(reader, "halfway", 7);
    g_assert_cmpuint(line_reader_total(reader), ==, 0);
    close(writer);
}

static void
test_a_missing_file_is_found_before_anything_is_read(void)
{
    g_autoptr(TemporaryFile) file = temporary_file_new("1\n", 2);
    const char *paths[] = { file, "/nonexistent/file", NULL };
    g_autoptr(GError) error = NULL;

    g_assert_null(line_reader_new(paths, MAX_LINE, -1, &error));

    g_assert_error(error, LINE_READER_ERROR, LINE_READER_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "/nonexistent/file"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/line-reader/a-line-is-all-bytes-before-the-newline",
                    test_a_line_is_all_bytes_before_the_newline);
    g_test_add_func("/line-reader/a-place-is-a-file-and-a-line-of-it",
                    test_a_place_is_a_file_and_a_line_of_it);
    g_test_add_func("/line-reader/consumed-bytes-reach-the-total",
                    test_consumed_bytes_reach_the_total);
    g_test_add_func("/line-reader/a-line-longer-than-the-limit-is-refused-with-its-number",
                    test_a_line_longer_than_the_limit_is_refused_with_its_number);
    g_test_add_func("/line-reader/lines-across-reads-stay-whole",
                    test_lines_across_reads_stay_whole);
    g_test_add_func("/line-reader/a-silent-pipe-is-waited-for-until-the-deadline",
                    test_a_silent_pipe_is_waited_for_until_the_deadline);
    g_test_add_func("/line-reader/a-missing-file-is-found-before-anything-is-read",
                    test_a_missing_file_is_found_before_anything_is_read);
    return g_test_run();
}
