/* test_file_faults.c - disks that are full, broken or forbidden: nothing is lost, nothing is twice.
 */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/sinks/file_pool.h"
#include "base/clock.h"
#include "tests/support/decoder.h"
#include "tests/support/fault.h"
#include "tests/support/file_sink_harness.h"

#define N_DELIVERIES 4
#define N_EVENTS 7 /* of each delivery */
#define N_APPS 2

static void
deliver_until_done(FileSinkHarness *sink)
{
    for (int attempt = 0; file_sink_harness_deliver(sink) != DELIVERED; attempt++) {
        g_assert_error(sink->error, SINK_ERROR, SINK_ERROR_IO);
        g_assert_cmpint(attempt, <, 5);
    }
}

static void
deliver_everything(FileSinkHarness *sink, GString **expected)
{
    for (int i = 0; i < N_DELIVERIES * N_EVENTS; i++) {
        g_autofree char *header = g_strdup_printf("app=%d", i % 3 % N_APPS);
        g_autofree char *body = g_strdup_printf("event %d", i);

        file_sink_harness_put(sink, header, body);
        g_string_append_printf(expected[i % 3 % N_APPS], "%s\n", body);
        if (i % N_EVENTS == N_EVENTS - 1)
            deliver_until_done(sink);
    }
}

/* All files of one app, in order, decompressed. */
static GString *
read_app(FileSinkHarness *sink, int app, FileCompression compression)
{
    g_autofree char *list = file_sink_harness_list(sink);
    g_auto(GStrv) files = g_strsplit(list, " ", -1);
    g_autofree char *prefix = g_strdup_printf("%d-", app);
    GString *text = g_string_new(NULL);

    for (guint i = 0; files[i] != NULL; i++) {
        g_autofree char *path = NULL;
        g_autoptr(GString) bytes = g_string_new(NULL);
        g_autoptr(GString) decoded = NULL;
        g_autofree char *content = NULL;
        gsize length;

        if (!g_str_has_prefix(files[i], prefix))
            continue;
        g_assert_false(g_str_has_suffix(files[i], ".tmp"));
        path = file_sink_harness_path(sink, files[i]);
        g_assert_true(g_file_get_contents(path, &content, &length, NULL));
        g_string_append_len(bytes, content, (gssize) length);
        decoded = compression == FILE_COMPRESSION_NONE ? g_string_new_len(content, (gssize) length)
                                                       : decoder_read(compression, bytes);
        g_assert_nonnull(decoded);
        g_string_append_len(text, decoded->str, (gssize) decoded->len);
    }
    return text;
}

/* A run in which the calls from number `first` on fail. FALSE if there were not as many. */
static gboolean
run_with_fault(const char *options, FileCompression compression, Fault fault, guint first,
               int number)
{
    g_autofree char *all = g_strdup_printf("prefix: \"%%{app}\", compression: %s, %s",
                                           file_compression_names[compression], options);
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new(all);
    GString *expected[N_APPS];
    gboolean hit;

    for (int i = 0; i < N_APPS; i++)
        expected[i] = g_string_new(NULL);
    fault_clear();
    fault_set(fault, first, 1 + first % 3, number);
    deliver_everything(sink, expected);
    file_sink_harness_close(sink);
    hit = fault_hits() > 0;
    fault_clear();
    file_sink_harness_reopen(sink, all);
    for (int i = 0; i < N_APPS; i++) {
        g_autoptr(GString) text = read_app(sink, i, compression);

        g_assert_cmpstr(text->str, ==, expected[i]->str);
        g_string_free(expected[i], TRUE);
    }
    return hit;
}

static void
run_with_every_fault(const char *options, Fault fault, int number)
{
    const char *missing;

    for (guint c = FILE_COMPRESSION_NONE; c <= FILE_COMPRESSION_ZSTD; c++) {
        guint first = 0;

        if (c != FILE_COMPRESSION_NONE && file_codec_find(c, &missing) == NULL)
            continue;
        while (run_with_fault(options, c, fault, first, number))
            first++;
        g_assert_cmpuint(first, >, 3);
    }
}

/* ---- at every call ---- */

static void
test_a_write_that_fails_anywhere_loses_and_repeats_nothing(void)
{
    run_with_every_fault("sync: never", FAULT_WRITE, ENOSPC);
    run_with_every_fault("sync: never, roll-count: 3", FAULT_WRITE, EDQUOT);
    run_with_every_fault("sync: never, max-open-files: 1", FAULT_WRITE, EIO);
    run_with_every_fault("sync: never, roll-size: 40B", FAULT_WRITE, EFBIG);
}

static void
test_a_sync_that_fails_anywhere_loses_and_repeats_nothing(void)
{
    run_with_every_fault("sync: batch", FAULT_FDATASYNC, EIO);
}

static void
test_a_file_that_cannot_be_made_loses_and_repeats_nothing(void)
{
    run_with_every_fault("sync: never, roll-count: 2", FAULT_OPENAT, EMFILE);
}

static void
test_a_rename_that_fails_loses_and_repeats_nothing(void)
{
    run_with_every_fault("sync: never, roll-count: 2", FAULT_RENAMEAT2, EACCES);
}

static void
test_a_file_system_without_renameat2_is_served(void)
{
    run_with_every_fault("sync: never, roll-count: 2", FAULT_RENAMEAT2, EINVAL);
}

/* ---- one by one ---- */

static void
test_the_error_names_the_file_and_the_remedy(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    fault_set(FAULT_WRITE, 0, 1, ENOSPC);
    file_sink_harness_put(sink, "", "one");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    fault_clear();

    g_assert_nonnull(strstr(sink->error->message, sink->folder));
    g_assert_nonnull(strstr(sink->error->message, "No space left on device; free space"));
}

static void
test_a_failed_first_batch_leaves_no_file(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    fault_set(FAULT_WRITE, 0, 1, ENOSPC);
    file_sink_harness_put(sink, "", "one");
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    fault_clear();

    g_assert_cmpuint(sink->done, ==, 0);
    assert_files(sink, "");
    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_ROLLBACKS), ==, 1);
    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_IN_USE), ==, 0);
}

static void
test_a_failed_batch_is_cut_from_every_file_it_touched(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("prefix: \"%{app}\"");

    file_sink_harness_put_and_deliver(sink, "app=a", "1");
    file_sink_harness_put_and_deliver(sink, "app=b", "2");
    file_sink_harness_put(sink, "app=a", "3");
    file_sink_harness_put(sink, "app=b", "4");
    fault_set(FAULT_WRITE, 1, 1, ENOSPC);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    fault_clear();

    g_assert_cmpuint(sink->done, ==, 0);
    assert_contents(sink, "[1\n][2\n]");
}

static void
test_what_was_committed_at_a_roll_is_acknowledged_although_the_rest_fails(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("roll-count: 2");

    for (int i = 0; i < 5; i++)
        file_sink_harness_put(sink, "", "x");
    fault_set(FAULT_WRITE, 1, 1, ENOSPC);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    fault_clear();

    g_assert_cmpuint(sink->done, ==, 2);
    assert_contents(sink, "[x\nx\n]");
}

static void
test_a_file_that_cannot_be_cut_is_left_for_the_next_start(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");

    file_sink_harness_put_and_deliver(sink, "", "kept");
    file_sink_harness_put(sink, "", "torn in two");
    fault_set(FAULT_WRITE, 0, 1, EIO);
    fault_set(FAULT_FTRUNCATE, 0, 1, EIO);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    fault_clear();
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);
    assert_files(sink, "sink-T-000001.log.tmp sink-T-000002.log.tmp");
    file_sink_harness_reopen(sink, "");

    assert_contents(sink, "[kept\n][torn in two\n]");
}

static void
test_after_a_failed_sync_nothing_more_goes_into_the_file(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("sync: batch");

    file_sink_harness_put_and_deliver(sink, "", "1");
    file_sink_harness_put(sink, "", "2");
    fault_set(FAULT_FDATASYNC, 0, 1, EIO);
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERY_RETRY);
    fault_clear();
    g_assert_cmpint(file_sink_harness_deliver(sink), ==, DELIVERED);

    assert_files(sink, "sink-T-000001.log sink-T-000002.log.tmp");
    assert_contents(sink, "[1\n][2\n]");
    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_SYNC_FAILURES), ==, 1);
}

static void
test_a_failed_sync_at_the_interval_is_counted_and_ends_the_file(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("sync-interval: 5ms");

    file_sink_harness_put_and_deliver(sink, "", "1");
    fault_set(FAULT_FDATASYNC, 0, 1, EIO);
    file_sink_harness_tick(sink);
    fault_clear();

    assert_files(sink, "sink-T-000001.log");
    g_assert_cmpuint(file_sink_harness_metric(sink, FILE_METRIC_SYNC_FAILURES), ==, 1);
}

static gint64
us_to_next_tick(const FileSinkHarness *sink)
{
    return sink_type(sink->sink)->next_tick_us(sink->sink) - clock_now_us();
}

static void
test_a_file_that_cannot_be_renamed_is_tried_again_later_and_later(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("idle-close: 5ms, sync: never");

    file_sink_harness_put_and_deliver(sink, "", "1");
    fault_set(FAULT_RENAMEAT2, 0, 2, EACCES);
    file_sink_harness_tick(sink);
    g_assert_cmpint(us_to_next_tick(sink), <=, G_USEC_PER_SEC);
    file_sink_harness_tick(sink);
    g_assert_cmpint(us_to_next_tick(sink), >, 1.5 * G_USEC_PER_SEC);
    assert_files(sink, "sink-T-000001.log.tmp");
    file_sink_harness_tick(sink);

    assert_files(sink, "sink-T-000001.log");
    fault_clear();
}

static void
test_without_renameat2_and_links_a_taken_name_is_still_not_overwritten(void)
{
    g_autoptr(FileSinkHarness) sink = file_sink_harness_new("");
    g_autofree char *path = NULL;

    file_sink_harness_put_and_deliver(sink, "", "ours");
    path = file_sink_harness_path(sink, "sink-T-000001.log.tmp");
    path[strlen(path) - strlen(".tmp")] = '\0';
    g_assert_true(g_file_set_contents(path, "theirs", -1, NULL));
    fault_set(FAULT_RENAMEAT2, 0, 2, EINVAL);
    fault_set(FAULT_LINKAT, 0, 2, EPERM);
    file_sink_harness_close(sink);
    fault_clear();

    assert_contents(sink, "[ours\n][theirs]");
}

typedef struct {
    const char *path;
    void (*run)(void);
} FaultTest;

static const FaultTest tests[] = {
    { "everywhere/write", test_a_write_that_fails_anywhere_loses_and_repeats_nothing },
    { "everywhere/sync", test_a_sync_that_fails_anywhere_loses_and_repeats_nothing },
    { "everywhere/create", test_a_file_that_cannot_be_made_loses_and_repeats_nothing },
    { "everywhere/rename", test_a_rename_that_fails_loses_and_repeats_nothing },
    { "everywhere/renameat2", test_a_file_system_without_renameat2_is_served },
    { "error", test_the_error_names_the_file_and_the_remedy },
    { "first-batch", test_a_failed_first_batch_leaves_no_file },
    { "every-file", test_a_failed_batch_is_cut_from_every_file_it_touched },
    { "roll", test_what_was_committed_at_a_roll_is_acknowledged_although_the_rest_fails },
    { "no-cut", test_a_file_that_cannot_be_cut_is_left_for_the_next_start },
    { "sync", test_after_a_failed_sync_nothing_more_goes_into_the_file },
    { "sync-interval", test_a_failed_sync_at_the_interval_is_counted_and_ends_the_file },
    { "rename", test_a_file_that_cannot_be_renamed_is_tried_again_later_and_later },
    { "no-links", test_without_renameat2_and_links_a_taken_name_is_still_not_overwritten },
};

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strdup_printf("/file-faults/%s", tests[i].path);

        g_test_add_func(path, tests[i].run);
    }
    return g_test_run();
}
