/* file_text.h - reads a small file whole, and never more of it than it may have. */
#pragma once

#include <glib.h>

/* For the deadline of file_text_read: what writes into a pipe has this long, start to end. */
#define FILE_TEXT_PATIENCE_US (10 * G_USEC_PER_SEC)

/* (transfer full) The content, with a NUL behind it; it may hold others. The path may be that of a
 * pipe, as the shell's <(...) is. The error (G_FILE_ERROR) says why alone, without the path: "No
 * such file or directory", "is larger than 16 MiB". */
char *file_text_read(const char *path, gsize max_bytes, gint64 deadline_us, gsize *ret_length,
                     GError **error);
/* What is left to read of a descriptor, however long it takes; it stays open. */
char *file_text_read_fd(int fd, gsize max_bytes, gsize *ret_length, GError **error);
