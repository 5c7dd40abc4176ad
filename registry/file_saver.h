/* file_saver.h - replaces a file again and again, each time on a thread of its own: a disk that is
 * slow to sync must not keep nodes and look-ups waiting. */
#pragma once

#include "base/loop.h"

typedef struct FileSaver FileSaver;

/* On the loop's thread: it is on the disk, or (error) the file is as it was. */
typedef void (*FileSaved)(const GError *error, gpointer user);

FileSaver *file_saver_new(Loop *loop, const char *path, FileSaved saved, gpointer user);
/* Makes the folders that are not there. One at a time. */
void file_saver_save(FileSaver *self, GString *text /* (transfer full) */);
/* For who turns the loop no more: waits for what is under way, and calls saved. FALSE: it is still
 * under way at the deadline. */
gboolean file_saver_settle(FileSaver *self, gint64 deadline_us);
/* What is under way ends some time, and calls nobody. The loop may not be turned any more. */
void file_saver_free(FileSaver *self);
