/* file_sink_harness.c - configures, opens and feeds a file sink; looks at what it wrote. */
#include "tests/support/file_sink_harness.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sinks/file_pool.h"
#include "base/clock.h"
#include "tests/support/event_maker.h"

extern const SinkType file_sink;

static Sink *
make_sink(const char *folder, const char *options, Problems *problems)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(YamlNode) node = NULL;
    Sink *sink;

    g_string_printf(text, "{ channel: c, %s%s }",
                    strstr(options, "directory:") == NULL ? "directory: \"@\", " : "", options);
    g_string_replace(text, "@", folder, 0);
    node = yaml_tree_parse(text->str, text->len, problems);
    g_assert_nonnull(node);
    sink = (Sink *) component_new(&file_sink.base, COMPONENT_SINK, sink_options, sink_metrics,
                                  "sink", "sinks.sink", node, problems);
    component_configure(&sink->base, problems);
    return sink;
}

static void
drop_batch(gpointer batch)
{
    batch_unref(batch);
}

static void
open_sink(FileSinkHarness *self, const char *options)
{
    g_autoptr(Problems) problems = problems_new("test.yaml");
    g_autofree char *told = NULL;
    g_autoptr(GError) error = NULL;

    self->sink = make_sink(self->folder, options, problems);
    told = problems_to_text(problems);
    g_assert_cmpstr(told, ==, "");
    component_open(&self->sink->base, &error);
    g_assert_no_error(error);
}

FileSinkHarness *
file_sink_harness_new(const char *options)
{
    FileSinkHarness *self = g_new0(FileSinkHarness, 1);

    self->folder = g_dir_make_tmp("leat-file-sink-XXXXXX", NULL);
    self->batches = g_ptr_array_new_with_free_func(drop_batch);
    open_sink(self, options);
    return self;
}

char *
file_sink_harness_problems(const char *options)
{
    g_autoptr(Problems) problems = problems_new("test.yaml");
    Sink *sink = make_sink("/nowhere", options, problems);

    component_free(&sink->base);
    return problems_to_text(problems);
}

void
file_sink_harness_close(FileSinkHarness *self)
{
    component_close(&self->sink->base);
}

void
file_sink_harness_reopen(FileSinkHarness *self, const char *options)
{
    file_sink_harness_close(self);
    component_free(&self->sink->base);
    open_sink(self, options);
}

static void
remove_tree(const char *path)
{
    g_autoptr(GDir) folder = NULL;
    struct stat entry;
    const char *name;

    if (lstat(path, &entry) == 0 && S_ISDIR(entry.st_mode))
        folder = g_dir_open(path, 0, NULL);
    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
        g_autofree char *below = g_build_filename(path, name, NULL);

        remove_tree(below);
    }
    g_remove(path);
}

void
file_sink_harness_free(FileSinkHarness *self)
{
    file_sink_harness_close(self);
    component_free(&self->sink->base);
    remove_tree(self->folder);
    g_clear_error(&self->error);
    g_ptr_array_unref(self->batches);
    g_free(self->folder);
    g_free(self);
}

/* ---- delivering ---- */

void
file_sink_harness_put(FileSinkHarness *self, const char *header, const char *body)
{
    g_autoptr(MadeEvent) event = *header != '\0' ? MADE_EVENT(body, header) : MADE_EVENT(body);

    g_ptr_array_add(self->batches, batch_ref(event->batch));
}

Verdict
file_sink_harness_deliver(FileSinkHarness *self)
{
    g_autofree BatchSlice *slices = g_new0(BatchSlice, self->batches->len + 1);
    Delivery delivery = { .slices = slices, .deadline_us = CLOCK_NEVER };
    Verdict verdict;

    g_clear_error(&self->error);
    delivery.n_slices = delivery.n_events = self->batches->len;
    for (guint i = 0; i < self->batches->len; i++)
        slices[i] = (BatchSlice){ .batch = g_ptr_array_index(self->batches, i), .count = 1 };
    self->done = 12345;
    verdict = file_sink.deliver(self->sink, &delivery, &self->done, &self->error);
    g_assert_cmpuint(self->done, <=, delivery.n_events);
    g_assert_cmpint(verdict == DELIVERED, ==, self->error == NULL);
    if (self->done > 0)
        g_ptr_array_remove_range(self->batches, 0, self->done);
    return verdict;
}

void
file_sink_harness_put_and_deliver(FileSinkHarness *self, const char *header, const char *body)
{
    file_sink_harness_put(self, header, body);
    g_assert_cmpint(file_sink_harness_deliver(self), ==, DELIVERED);
    g_assert_no_error(self->error);
}

void
file_sink_harness_tick(FileSinkHarness *self)
{
    gint64 at_us = file_sink.next_tick_us(self->sink);

    g_assert_cmpint(at_us, <, clock_now_us() + 10 * G_USEC_PER_SEC);
    g_usleep((gulong) MAX(at_us - clock_now_us(), 0));
    file_sink.tick(self->sink);
}

guint64
file_sink_harness_metric(FileSinkHarness *self, guint row)
{
    return metric_get(self->sink->base.part_metrics, row);
}

/* ---- looking ---- */

static void
collect(const char *folder, const char *below, GPtrArray *paths)
{
    g_autofree char *path = g_build_filename(folder, below, NULL);
    g_autoptr(GDir) entries = g_dir_open(path, 0, NULL);
    const char *name;

    while (entries != NULL && (name = g_dir_read_name(entries)) != NULL) {
        g_autofree char *next =
            *below != '\0' ? g_build_filename(below, name, NULL) : g_strdup(name);
        g_autofree char *full = g_build_filename(folder, next, NULL);

        if (g_file_test(full, G_FILE_TEST_IS_DIR))
            collect(folder, next, paths);
        else
            g_ptr_array_add(paths, g_steal_pointer(&next));
    }
}

static int
compare_paths(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

static GPtrArray *
paths_in(FileSinkHarness *self)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);

    collect(self->folder, "", paths);
    g_ptr_array_sort(paths, compare_paths);
    return paths;
}

static char *
without_time(const char *path)
{
    g_autoptr(GRegex) stamp = g_regex_new("-[0-9]{8}T[0-9]{6}\\.[0-9]{3}Z-", G_REGEX_RAW, 0, NULL);

    return g_regex_replace_literal(stamp, path, -1, 0, "-T-", 0, NULL);
}

char *
file_sink_harness_list(FileSinkHarness *self)
{
    g_autoptr(GPtrArray) paths = paths_in(self);
    GString *list = g_string_new(NULL);

    for (guint i = 0; i < paths->len; i++) {
        g_autofree char *path = without_time(g_ptr_array_index(paths, i));

        g_string_append_printf(list, "%s%s", i > 0 ? " " : "", path);
    }
    return g_string_free(list, FALSE);
}

char *
file_sink_harness_contents(FileSinkHarness *self)
{
    g_autoptr(GPtrArray) paths = paths_in(self);
    GString *contents = g_string_new(NULL);

    for (guint i = 0; i < paths->len; i++) {
        g_autofree char *path = g_build_filename(self->folder, g_ptr_array_index(paths, i), NULL);
        g_autofree char *content = NULL;
        gsize length;

        g_assert_true(g_file_get_contents(path, &content, &length, NULL));
        g_string_append_printf(contents, "[%s]", content);
    }
    return g_string_free(contents, FALSE);
}

char *
file_sink_harness_path(FileSinkHarness *self, const char *listed)
{
    g_autoptr(GPtrArray) paths = paths_in(self);

    for (guint i = 0; i < paths->len; i++) {
        g_autofree char *path = without_time(g_ptr_array_index(paths, i));

        if (g_str_equal(path, listed))
            return g_build_filename(self->folder, g_ptr_array_index(paths, i), NULL);
    }
    g_error("there is no '%s'", listed);
}

/* ---- a crash ---- */

static void
for_each_file(FileSinkHarness *self, void (*act)(const char *path, GHashTable *files),
              GHashTable *files)
{
    g_autoptr(GPtrArray) paths = paths_in(self);

    for (guint i = 0; i < paths->len; i++) {
        g_autofree char *path = g_build_filename(self->folder, g_ptr_array_index(paths, i), NULL);

        act(path, files);
    }
}

static void
remember_file(const char *path, GHashTable *files)
{
    char *content;
    gsize length;

    g_assert_true(g_file_get_contents(path, &content, &length, NULL));
    g_hash_table_insert(files, g_strdup(path), g_bytes_new_take(content, length));
}

static void
remove_file(const char *path, GHashTable *files G_GNUC_UNUSED)
{
    g_assert_cmpint(g_remove(path), ==, 0);
}

void
file_sink_harness_crash(FileSinkHarness *self)
{
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
    GHashTableIter iter;
    gpointer path;
    gpointer content;

    for_each_file(self, remember_file, files);
    file_sink_harness_close(self);
    for_each_file(self, remove_file, files);
    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &path, &content))
        g_assert_true(g_file_set_contents(path, g_bytes_get_data(content, NULL),
                                          (gssize) g_bytes_get_size(content), NULL));
}
