/* test_file_text.c - small files and pipes, read whole or not at all. */
#include "base/file_text.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define SHORT_US (50 * 1000)

/* One FIFO in a folder of its own. */
typedef struct {
    char *folder;
    char *path;
} Fifo;

static void
fifo_make(Fifo *self)
{
    self->folder = g_dir_make_tmp("leat-XXXXXX", NULL);
    self->path = g_build_filename(self->folder, "fifo", NULL);
    g_assert_cmpint(mkfifo(self->path, 0600), ==, 0);
}

static void
fifo_clear(Fifo *self)
{
    g_unlink(self->path);
    g_rmdir(self->folder);
    g_free(self->path);
    g_free(self->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fifo, fifo_clear)

static void
assert_gives_up(const char *path)
{
    g_autoptr(GError) error = NULL;
    gsize length;
    char *text = file_text_read(path, 100, clock_deadline_us(SHORT_US), &length, &error);

    g_assert_null(text);
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN);
}

static void
test_a_fifo_without_a_writer_is_given_up_at_the_deadline(void)
{
    g_auto(Fifo) fifo = { 0 };

    fifo_make(&fifo);

    assert_gives_up(fifo.path);
}

static void
test_a_writer_that_does_not_end_is_given_up_at_the_deadline(void)
{
    g_auto(Fifo) fifo = { 0 };
    int writer;

    fifo_make(&fifo);
    writer = open(fifo.path, O_RDWR | O_CLOEXEC);
    g_assert_cmpint(write(writer, "agent:", 6), ==, 6);

    assert_gives_up(fifo.path);
    close(writer);
}

static gpointer
write_in_two_parts(gpointer path)
{
    int writer = open(path, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint(write(writer, "one\0", 4), ==, 4);
    g_assert_cmpint(write(writer, "two", 3), ==, 3);
    close(writer);
    return NULL;
}

static void
test_a_pipe_is_read_to_its_end(void)
{
    g_auto(Fifo) fifo = { 0 };
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    GThread *writer;
    gsize length;

    fifo_make(&fifo);
    writer = g_thread_new("writer", write_in_two_parts, fifo.path);
    text = file_text_read(fifo.path, 100, CLOCK_NEVER, &length, &error);
    g_thread_join(writer);

    g_assert_no_error(error);
    g_assert_cmpmem(text, length, "one\0two", 7);
}

static void
test_a_file_larger_than_it_may_be_is_refused(void)
{
    g_autoptr(GError) error = NULL;
    gsize length;

    g_assert_null(file_text_read(TEST_SOURCE_DIR "/LICENSE", 100, CLOCK_NEVER, &length, &error));

    g_assert_cmpstr(error->message, ==, "is larger than 100 B");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-text/no-writer",
                    test_a_fifo_without_a_writer_is_given_up_at_the_deadline);
    g_test_add_func("/file-text/no-end",
                    test_a_writer_that_does_not_end_is_given_up_at_the_deadline);
    g_test_add_func("/file-text/pipe", test_a_pipe_is_read_to_its_end);
    g_test_add_func("/file-text/too-large", test_a_file_larger_than_it_may_be_is_refused);
    return g_test_run();
}
