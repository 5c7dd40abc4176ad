/* test_file_sink.c - what ends a file, what it is called, and what a delivery leaves behind. */
#include "agent/sinks/file_pool.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/file_sink_harness.h"

/* ---- names ---- */

static void
test_a_file_in_use_bears_tmp_until_the_sink_closes(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    file_sink_harness_put_and_deliver(sink, "", "one");
    assert_files(sink, "sink-T-000001.log.tmp");
    assert_contents(sink, "[one\n]");
    file_sink_harness_close(sink);

    assert_files(sink, "sink-T-000001.log");
    assert_contents(sink, "[one\n]");
}

static void
test_no_file_is_made_before_the_first_event(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("roll-interval: 1ms, idle-close: 1ms");

    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    assert_files(sink, "");
}

static void
test_prefix_suffix_and_folders_are_as_configured(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new(
        "directory: \"@/a/%{app}/%Y\", prefix: \"%{app}.x\", suffix: .txt, time-zone: utc");

    file_sink_harness_put_and_deliver(sink, "app=web", "one");
    file_sink_harness_put_and_deliver(sink, "timestamp=0", "two");
    file_sink_harness_close(sink);

    g_test_message("the year is the clock's");
    {
        g_autofree char *list = file_sink_harness_list(sink);

        g_assert_true(g_str_has_prefix(list, "a/unknown/1970/unknown.x-T-000002.txt a/web/2"));
        g_assert_true(g_str_has_suffix(list, "/web.x-T-000001.txt"));
    }
}

static void
test_names_do_not_collide_after_a_restart(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    for (int i = 0; i < 5; i++) {
        file_sink_harness_put_and_deliver(sink, "", "run");
        file_sink_harness_reopen(sink, "");
    }

    assert_contents(sink, "[run\n][run\n][run\n][run\n][run\n]");
}

static void
test_a_final_name_that_was_taken_meanwhile_is_not_overwritten(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *path = NULL;

    file_sink_harness_put_and_deliver(sink, "", "ours");
    path = file_sink_harness_path(sink, "sink-T-000001.log.tmp");
    path[strlen(path) - strlen(".tmp")] = '\0';
    g_assert_true(g_file_set_contents(path, "theirs", -1, NULL));
    file_sink_harness_close(sink);

    assert_files(sink, "sink-T-000001-1.log sink-T-000001.log");
    assert_contents(sink, "[ours\n][theirs]");
}

static void
test_files_get_the_mode_that_is_configured(void)
{
    g_autoptr(FileSinkHarness) sink =
        file_sink_harness_new("directory: \"@/new\", file-mode: \"0604\"");
    g_autofree char *path = NULL;
    g_autofree char *folder = NULL;
    struct stat entry;

    file_sink_harness_put_and_deliver(sink, "", "one");
    path = file_sink_harness_path(sink, "new/sink-T-000001.log.tmp");
    folder = g_path_get_dirname(path);

    g_assert_cmpint(g_stat(path, &entry), ==, 0);
    g_assert_cmpint(entry.st_mode & 0777, ==, 0604);
    g_assert_cmpint(g_stat(folder, &entry), ==, 0);
    g_assert_cmpint(entry.st_mode & 0777, ==, 0705);
}

static void
test_a_link_below_the_directory_is_not_followed(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("directory: \"@/%{app}\"");
    g_autofree char *outside = g_dir_make_tmp("leat-outside-XXXXXX", NULL);
    g_autofree char *link = g_build_filename(sink->folder, "web", NULL);

    g_assert_cmpint(symlink(outside, link), ==, 0);
    file_sink_harness_put(sink, "app=web", "one");

    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    g_assert_nonnull(strstr(sink->error->message, "link"));
    g_assert_cmpint(g_rmdir(outside), ==, 0);
    g_unlink(link);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);
}

static void
test_an_event_whose_folder_cannot_be_waits_and_is_named(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("directory: \"@/%{app}/%Y\"");
    g_autofree char *afile = g_build_filename(sink->folder, "afile", NULL);

    g_assert_true(g_file_set_contents(afile, "x", 1, NULL));
    file_sink_harness_put(sink, "app=web", "one");
    file_sink_harness_put(sink, "app=afile", "two");

    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    g_assert_true(g_str_has_prefix(sink->error->message, "the event with app=afile waits, "));
    g_assert_nonnull(strstr(sink->error->message, "/afile': Not a directory; a file or a "));
    g_unlink(afile);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);
}

/* ---- rolling ---- */

static void
test_a_file_holds_roll_count_events_even_within_a_delivery(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("roll-count: 2");

    for (int i = 0; i < 5; i++)
        file_sink_harness_put(sink, "", "x");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    assert_files(sink, "sink-T-000001.log sink-T-000002.log sink-T-000003.log.tmp");
    assert_contents(sink, "[x\nx\n][x\nx\n][x\n]");
}

static void
test_a_file_that_is_full_ends_at_the_next_tick(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("roll-count: 1");

    file_sink_harness_put_and_deliver(sink, "", "x");
    file_sink_harness_tick(sink);

    assert_files(sink, "sink-T-000001.log");
}

static void
test_no_file_is_larger_than_roll_size_but_for_one_large_event(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("roll-size: 10B");

    file_sink_harness_put(sink, "", "1234");
    file_sink_harness_put(sink, "", "5678");
    file_sink_harness_put(sink, "", "9");
    file_sink_harness_put(sink, "", "larger than ten");
    file_sink_harness_put(sink, "", "a");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    assert_contents(sink, "[1234\n5678\n][9\n][larger than ten\n][a\n]");
}

static void
test_a_file_ends_roll_interval_after_its_first_event_without_another_one(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("roll-interval: 20ms, idle-close: 0");

    file_sink_harness_put_and_deliver(sink, "", "x");
    file_sink_harness_tick(sink);

    assert_files(sink, "sink-T-000001.log");
    g_assert_cmpuint(
        metric_get_value(sink->sink->base.part_metrics, FILE_METRIC_FINISHED, FILE_ROLL_INTERVAL),
        ==, 1);
}

static void
test_an_idle_file_ends(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("idle-close: 20ms, roll-interval: 0");

    file_sink_harness_put_and_deliver(sink, "", "x");
    file_sink_harness_tick(sink);

    assert_files(sink, "sink-T-000001.log");
    g_assert_cmpuint(
        metric_get_value(sink->sink->base.part_metrics, FILE_METRIC_FINISHED, FILE_ROLL_IDLE), ==,
        1);
}

static void
test_zero_is_never(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new(
        "roll-interval: 0, roll-size: 0, roll-count: 0, idle-close: 0, sync: never");

    for (int i = 0; i < 1000; i++)
        file_sink_harness_put(sink, "", "0123456789");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    assert_files(sink, "sink-T-000001.log.tmp");
    g_assert_cmpint(sink_type(sink->sink)->next_tick_us(sink->sink), ==, CLOCK_NEVER);
}

static void
test_sync_at_an_interval_is_the_only_tick_of_a_busy_file(void)
{
    g_autoptr(FileSinkHarness) sink =
        file_sink_harness_new("roll-interval: 0, idle-close: 0, sync-interval: 20ms");

    file_sink_harness_put_and_deliver(sink, "", "x");
    file_sink_harness_tick(sink);

    assert_files(sink, "sink-T-000001.log.tmp");
    g_assert_cmpint(sink_type(sink->sink)->next_tick_us(sink->sink), ==, CLOCK_NEVER);
}

/* ---- many files ---- */

static void
test_each_path_has_its_file_and_its_order(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("prefix: \"%{app}\"");

    file_sink_harness_put(sink, "app=a", "1");
    file_sink_harness_put(sink, "app=b", "2");
    file_sink_harness_put(sink, "app=a", "3");
    file_sink_harness_put(sink, "", "4");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    assert_files(sink, "a-T-000001.log.tmp b-T-000002.log.tmp unknown-T-000003.log.tmp");
    assert_contents(sink, "[1\n3\n][2\n][4\n]");
}

static guint
n_descriptors(void)
{
    g_autoptr(GDir) folder = g_dir_open("/proc/self/fd", 0, NULL);
    guint n = 0;

    while (g_dir_read_name(folder) != NULL)
        n++;
    return n;
}

static void
put_round(FileSinkHarness *sink, int n_apps)
{
    for (int i = 0; i < n_apps; i++) {
        g_autofree char *header = g_strdup_printf("app=%03d", i);

        file_sink_harness_put(sink, header, header);
    }
}

static void
assert_rounds_arrived(FileSinkHarness *sink, int n_apps, const char *contents_of_one)
{
    g_autoptr(GString) expected = g_string_new(NULL);

    for (int i = 0; i < n_apps; i++) {
        g_autofree char *header = g_strdup_printf("app=%03d", i);
        g_autoptr(GString) one = g_string_new(contents_of_one);

        g_string_replace(one, "@", header, 0);
        g_string_append_printf(expected, "[%s]", one->str);
    }
    assert_contents(sink, expected->str);
}

static void
test_more_paths_than_open_files_keep_one_file_each(void)
{
    g_autoptr(FileSinkHarness) sink =
        file_sink_harness_new("prefix: \"%{app}\", max-open-files: 8, sync: never");
    guint before = n_descriptors();

    put_round(sink, 200);
    put_round(sink, 200);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);
    put_round(sink, 200);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    g_assert_cmpuint(n_descriptors(), <=, before + 8);
    assert_rounds_arrived(sink, 200, "@\n@\n@\n");
    file_sink_harness_close(sink);
    assert_rounds_arrived(sink, 200, "@\n@\n@\n");
    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_IN_USE), ==, 0);
}

static void
test_a_file_put_aside_that_somebody_took_is_begun_anew(void)
{
    g_autoptr(FileSinkHarness) sink =
        file_sink_harness_new("prefix: \"%{app}\", max-open-files: 1");
    g_autofree char *path = NULL;

    file_sink_harness_put_and_deliver(sink, "app=a", "1");
    file_sink_harness_put_and_deliver(sink, "app=b", "2");
    path = file_sink_harness_path(sink, "a-T-000001.log.tmp");
    g_assert_cmpint(g_unlink(path), ==, 0);
    file_sink_harness_put_and_deliver(sink, "app=a", "3");
    file_sink_harness_close(sink);

    assert_files(sink, "a-T-000003.log b-T-000002.log");
    assert_contents(sink, "[3\n][2\n]");
}

static void
test_a_file_put_aside_ends_at_its_time(void)
{
    g_autoptr(FileSinkHarness) sink =
        file_sink_harness_new("prefix: \"%{app}\", max-open-files: 1, idle-close: 20ms");

    file_sink_harness_put(sink, "app=a", "1");
    file_sink_harness_put(sink, "app=b", "2");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);
    file_sink_harness_tick(sink);

    assert_files(sink, "a-T-000001.log b-T-000002.log");
}

static void
test_files_put_aside_are_bounded(void)
{
    g_autoptr(FileSinkHarness) sink =
        file_sink_harness_new("prefix: \"%{app}\", max-open-files: 1, sync: never");

    put_round(sink, 4200);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_IN_USE), ==, 4097);
}

/* ---- others in the folder ---- */

static void
wait_for_the_next_check(void)
{
    g_usleep(1010 * 1000);
}

static void
test_a_file_that_was_moved_away_is_followed_by_a_new_one(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *path = NULL;
    g_autofree char *moved = NULL;

    file_sink_harness_put_and_deliver(sink, "", "1");
    path = file_sink_harness_path(sink, "sink-T-000001.log.tmp");
    moved = g_strconcat(sink->folder, "/rotated", NULL);
    g_assert_cmpint(g_rename(path, moved), ==, 0);
    wait_for_the_next_check();
    file_sink_harness_put_and_deliver(sink, "", "2");

    assert_files(sink, "rotated sink-T-000002.log.tmp");
    assert_contents(sink, "[1\n][2\n]");
}

static void
test_a_file_that_was_emptied_is_followed_by_a_new_one(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *path = NULL;

    file_sink_harness_put_and_deliver(sink, "", "1");
    path = file_sink_harness_path(sink, "sink-T-000001.log.tmp");
    g_assert_cmpint(truncate(path, 0), ==, 0);
    wait_for_the_next_check();
    file_sink_harness_put_and_deliver(sink, "", "2");

    assert_contents(sink, "[][2\n]");
}

static void
test_a_directory_that_was_removed_is_made_again_for_the_next_batch(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("directory: \"@/a/b\"");
    g_autofree char *path = NULL;
    g_autofree char *folder = g_build_filename(sink->folder, "a", "b", NULL);

    file_sink_harness_put_and_deliver(sink, "", "1");
    path = file_sink_harness_path(sink, "a/b/sink-T-000001.log.tmp");
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    file_sink_harness_put_and_deliver(sink, "", "2");

    assert_contents(sink, "[2\n]");
}

/* ---- configuration ---- */

static void
test_bad_options_are_told_with_a_remedy(void)
{
    static const struct {
        const char *options;
        const char *words;
    } rows[] = {
        { "directory: \"/x/%q\"", "sinks.sink.directory: '%q' is not an escape" },
        { "prefix: a/b", "sinks.sink.prefix: has a '/' in it; write folders into directory" },
        { "suffix: a/b", "sinks.sink.suffix" },
        { "suffix: .tmp", "sinks.sink.suffix: '.tmp' marks a file in use" },
        { "time-zone: Mars", "sinks.sink.time-zone: 'Mars' is not a time zone" },
        { "file-mode: rw", "sinks.sink.file-mode: 'rw' is not a mode" },
        { "file-mode: \"0444\"", "sinks.sink.file-mode" },
        { "file-mode: \"1777\"", "sinks.sink.file-mode" },
        { "compression: lzma", "sinks.sink.compression" },
        { "max-open-files: 0", "sinks.sink.max-open-files" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *told = file_sink_harness_problems(rows[i].options);

        g_assert_nonnull(strstr(told, rows[i].words));
    }
}

static void
test_a_compression_that_is_not_built_in_names_the_library(void)
{
    static const char *const libraries[] = { "none", "zlib", "libzstd" };

    for (guint c = FILE_COMPRESSION_NONE; c <= FILE_COMPRESSION_ZSTD; c++) {
        g_autofree char *options = g_strdup_printf("compression: %s", file_compression_names[c]);
        g_autofree char *told = file_sink_harness_problems(options);
        const char *missing;

        if (file_codec_find(c, &missing) != NULL || c == FILE_COMPRESSION_NONE)
            g_assert_cmpstr(told, ==, "");
        else
            g_assert_nonnull(strstr(told, libraries[c]));
    }
}

typedef struct {
    const char *path;
    void (*run)(void);
} SinkTest;

static const SinkTest tests[] = {
    { "names/tmp", test_a_file_in_use_bears_tmp_until_the_sink_closes },
    { "names/no-event", test_no_file_is_made_before_the_first_event },
    { "names/configured", test_prefix_suffix_and_folders_are_as_configured },
    { "names/restart", test_names_do_not_collide_after_a_restart },
    { "names/taken", test_a_final_name_that_was_taken_meanwhile_is_not_overwritten },
    { "names/mode", test_files_get_the_mode_that_is_configured },
    { "names/link", test_a_link_below_the_directory_is_not_followed },
    { "names/in-the-way", test_an_event_whose_folder_cannot_be_waits_and_is_named },
    { "roll/count", test_a_file_holds_roll_count_events_even_within_a_delivery },
    { "roll/full", test_a_file_that_is_full_ends_at_the_next_tick },
    { "roll/size", test_no_file_is_larger_than_roll_size_but_for_one_large_event },
    { "roll/interval", test_a_file_ends_roll_interval_after_its_first_event_without_another_one },
    { "roll/idle", test_an_idle_file_ends },
    { "roll/never", test_zero_is_never },
    { "roll/sync", test_sync_at_an_interval_is_the_only_tick_of_a_busy_file },
    { "many/order", test_each_path_has_its_file_and_its_order },
    { "many/aside", test_more_paths_than_open_files_keep_one_file_each },
    { "many/taken", test_a_file_put_aside_that_somebody_took_is_begun_anew },
    { "many/bounded", test_files_put_aside_are_bounded },
    { "many/time", test_a_file_put_aside_ends_at_its_time },
    { "others/moved", test_a_file_that_was_moved_away_is_followed_by_a_new_one },
    { "others/emptied", test_a_file_that_was_emptied_is_followed_by_a_new_one },
    { "others/removed", test_a_directory_that_was_removed_is_made_again_for_the_next_batch },
    { "options/bad", test_bad_options_are_told_with_a_remedy },
    { "options/missing", test_a_compression_that_is_not_built_in_names_the_library },
};

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    umask(0);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strdup_printf("/file-sink/%s", tests[i].path);

        g_test_add_func(path, tests[i].run);
    }
    return g_test_run();
}
