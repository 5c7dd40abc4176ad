/* file_sink_harness.h - one file sink in a folder of its own, driven without a runner. */
#pragma once

#include <glib.h>

#include "agent/core/sink.h"

typedef struct {
    char *folder;
    Sink *sink;
    GPtrArray *batches; /* Batch *, what the next delivery holds */
    GError *error;      /* of the last delivery */
    guint done;         /* likewise */
} FileSinkHarness;

/* options: YAML flow text, "roll-count: 3, format: json"; @ in it is the folder. `directory` is the
 * folder itself unless the options name it. Open. */
FileSinkHarness *file_sink_harness_new(const char *options);
/* Closes the sink and removes the folder. */
void file_sink_harness_free(FileSinkHarness *self);

/* What a configuration with these options is told; "" if nothing. (transfer full) */
char *file_sink_harness_problems(const char *options);

void file_sink_harness_close(FileSinkHarness *self);
void file_sink_harness_reopen(FileSinkHarness *self, const char *options);
/* As if the process had died: the sink is closed, and the files are as they were before. */
void file_sink_harness_crash(FileSinkHarness *self);

/* headers: "key=value" or "". */
void file_sink_harness_put(FileSinkHarness *self, const char *header, const char *body);
/* Delivers what was put, once; it is kept if the verdict is RETRY, but for what is done. */
Verdict file_sink_harness_deliver(FileSinkHarness *self);
void file_sink_harness_put_and_deliver(FileSinkHarness *self, const char *header, const char *body);
/* Lets time pass until the sink's next tick, and ticks. */
void file_sink_harness_tick(FileSinkHarness *self);

/* Paths below the folder in order, separated by blanks, the time of each name written as T:
 * "web/sink-T-000001.log". (transfer full) */
char *file_sink_harness_list(FileSinkHarness *self);
/* Contents of all files in that order, each in brackets. (transfer full) */
char *file_sink_harness_contents(FileSinkHarness *self);
/* The real path of the one file whose listed path this is. (transfer full) */
char *file_sink_harness_path(FileSinkHarness *self, const char *listed);
guint64 file_sink_harness_metric(FileSinkHarness *self, guint row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileSinkHarness, file_sink_harness_free)

#define assert_files(harness, expected)                                  \
    G_STMT_START                                                         \
    {                                                                    \
        g_autofree char *listed_files = file_sink_harness_list(harness); \
        g_assert_cmpstr(listed_files, ==, expected);                     \
    }                                                                    \
    G_STMT_END
#define assert_contents(harness, expected)                                    \
    G_STMT_START                                                              \
    {                                                                         \
        g_autofree char *read_contents = file_sink_harness_contents(harness); \
        g_assert_cmpstr(read_contents, ==, expected);                         \
    }                                                                         \
    G_STMT_END
