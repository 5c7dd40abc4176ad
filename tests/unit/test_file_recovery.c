/* test_file_recovery.c - what a crash leaves is ended at the next start, and nobody else's. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sinks/file_pool.h"
#include "tests/support/decoder.h"
#include "tests/support/file_sink_harness.h"

#define STAMP "-20240131T101500.123Z-000001"

static char *
leave(FileSinkHarness *sink, const char *name, const char *content)
{
    char *path = g_build_filename(sink->folder, name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);

    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, content, -1, NULL));
    return path;
}

static void
append(const char *path, const char *bytes, gsize length)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    g_assert_cmpint(write(fd, bytes, length), ==, length);
    close(fd);
}

static void
test_a_left_over_is_cut_behind_its_last_record_and_renamed(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    g_free(leave(sink, "sink" STAMP ".log.tmp", "one\ntwo\nhal"));
    file_sink_harness_reopen(sink, "");

    assert_files(sink, "sink-T-000001.log");
    assert_contents(sink, "[one\ntwo\n]");
    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_RECOVERED), ==, 1);
}

static void
test_one_without_a_whole_record_is_removed(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    g_free(leave(sink, "sink" STAMP ".log.tmp", "hal"));
    g_free(leave(sink, "sink-20240131T101500.123Z-000002.log.tmp", ""));
    file_sink_harness_reopen(sink, "");

    assert_files(sink, "");
}

static void
test_other_files_are_nobodys_business(void)
{
    static const char *const others[] = {
        "apps" STAMP ".log.tmp",        "sink-web" STAMP ".log.tmp", "sink.tmp",
        "sink-20240131T1015-1.log.tmp", "sink" STAMP ".log",         "sink" STAMP ".log.tmp.bak",
        "deeper/sink" STAMP ".log.tmp",
    };
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *before = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        g_free(leave(sink, others[i], "hal"));
    before = file_sink_harness_list(sink);
    file_sink_harness_reopen(sink, "");

    assert_files(sink, before);
    assert_contents(sink, "[hal][hal][hal][hal][hal][hal][hal]");
}

static void
test_a_file_that_another_sink_holds_is_left_to_it(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *path = leave(sink, "sink" STAMP ".log.tmp", "one\nhal");
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint(flock(fd, LOCK_EX), ==, 0);
    file_sink_harness_reopen(sink, "");
    assert_contents(sink, "[one\nhal]");
    close(fd);
    file_sink_harness_reopen(sink, "");

    assert_contents(sink, "[one\n]");
}

static void
test_a_running_sink_holds_its_files(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *path = NULL;
    int fd;

    file_sink_harness_put_and_deliver(sink, "", "one");
    path = file_sink_harness_path(sink, "sink-T-000001.log.tmp");
    fd = open(path, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint(flock(fd, LOCK_EX | LOCK_NB), !=, 0);
    close(fd);
}

static void
test_only_plain_files_are_touched(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *target = leave(sink, "target", "hal");
    g_autofree char *link = g_build_filename(sink->folder, "sink" STAMP ".log.tmp", NULL);
    g_autofree char *pipe = g_build_filename(sink->folder, "sink" STAMP ".txt.tmp", NULL);
    struct stat entry;

    g_assert_cmpint(symlink(target, link), ==, 0);
    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
    file_sink_harness_reopen(sink, "");

    g_assert_cmpint(lstat(link, &entry), ==, 0);
    g_assert_cmpint(lstat(pipe, &entry), ==, 0);
    g_assert_cmpint(g_stat(target, &entry), ==, 0);
    g_assert_cmpint(entry.st_size, ==, 3);
    g_unlink(pipe);
}

static void
test_left_overs_are_found_in_every_folder_the_template_can_name(void)
{
    static const char options[] = "directory: \"@/%{app}/y%Y\", prefix: \"x-%{host}\"";
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new(options);

    g_free(leave(sink, "web/y2023/x-h1" STAMP ".log.tmp", "1\n"));
    g_free(leave(sink, "db/y2024/x-h2" STAMP ".log.tmp", "2\n"));
    g_free(leave(sink, "db/2024/x-h2" STAMP ".log.tmp", "not here\n"));
    g_free(leave(sink, "db/y2024/h2" STAMP ".log.tmp", "not this\n"));
    file_sink_harness_reopen(sink, options);

    assert_files(sink, "db/2024/x-h2-T-000001.log.tmp db/y2024/h2-T-000001.log.tmp "
                       "db/y2024/x-h2-T-000001.log web/y2023/x-h1-T-000001.log");
}

static void
test_a_taken_final_name_is_not_overwritten(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    g_free(leave(sink, "sink" STAMP ".log.tmp", "new\n"));
    g_free(leave(sink, "sink" STAMP ".log", "old\n"));
    file_sink_harness_reopen(sink, "");

    assert_files(sink, "sink-T-000001-1.log sink-T-000001.log");
    assert_contents(sink, "[new\n][old\n]");
}

static void
test_another_suffix_than_today_is_kept(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    g_free(leave(sink, "sink" STAMP ".txt.tmp", "one\n"));
    file_sink_harness_reopen(sink, "");

    assert_files(sink, "sink-T-000001.txt");
}

static void
assert_decodes(FileSinkHarness *sink, const char *listed, FileCompression compression,
               const char *expected)
{
    g_autofree char *path = file_sink_harness_path(sink, listed);
    g_autoptr(GString) bytes = g_string_new(NULL);
    g_autoptr(GString) text = NULL;
    g_autofree char *content = NULL;
    gsize length;

    g_assert_true(g_file_get_contents(path, &content, &length, NULL));
    g_string_append_len(bytes, content, (gssize) length);
    text = decoder_read(compression, bytes);
    g_assert_nonnull(text);
    g_assert_cmpstr(text->str, ==, expected);
}

/* Today's sink does not compress: the name tells what the file is. */
static void
test_a_compressed_file_becomes_whole(gconstpointer user)
{
    FileCompression compression = GPOINTER_TO_UINT(user);
    const char *suffix = file_compression_suffixes[compression];
    g_autofree char *options =
        g_strdup_printf("compression: %s", file_compression_names[compression]);
    g_autofree char *in_use = g_strdup_printf("sink-T-000001.log%s.tmp", suffix);
    g_autofree char *final = g_strdup_printf("sink-T-000001.log%s", suffix);
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new(options);
    g_autofree char *path = NULL;

    file_sink_harness_put_and_deliver(sink, "", "one");
    file_sink_harness_put_and_deliver(sink, "", "two");
    path = file_sink_harness_path(sink, in_use);
    append(path, "\x12\x34\x56", 3);
    file_sink_harness_crash(sink);
    assert_files(sink, in_use);
    file_sink_harness_reopen(sink, "");

    assert_files(sink, final);
    assert_decodes(sink, final, compression, "one\ntwo\n");
}

int
main(int argc, char **argv)
{
    const char *missing;

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-recovery/cut",
                    test_a_left_over_is_cut_behind_its_last_record_and_renamed);
    g_test_add_func("/file-recovery/empty", test_one_without_a_whole_record_is_removed);
    g_test_add_func("/file-recovery/others", test_other_files_are_nobodys_business);
    g_test_add_func("/file-recovery/held", test_a_file_that_another_sink_holds_is_left_to_it);
    g_test_add_func("/file-recovery/holds", test_a_running_sink_holds_its_files);
    g_test_add_func("/file-recovery/plain", test_only_plain_files_are_touched);
    g_test_add_func("/file-recovery/folders",
                    test_left_overs_are_found_in_every_folder_the_template_can_name);
    g_test_add_func("/file-recovery/taken", test_a_taken_final_name_is_not_overwritten);
    g_test_add_func("/file-recovery/suffix", test_another_suffix_than_today_is_kept);
    for (guint c = FILE_COMPRESSION_GZIP; c <= FILE_COMPRESSION_ZSTD; c++) {
        g_autofree char *path = g_strdup_printf("/file-recovery/%s", file_compression_names[c]);

        if (file_codec_find(c, &missing) != NULL)
            g_test_add_data_func(path, GUINT_TO_POINTER(c), test_a_compressed_file_becomes_whole);
    }
    return g_test_run();
}
