/* file_text.h - reads a small file whole, and never more of it than it may have. */
#pragma once

#include <glib.h>

/* (transfer full) The content, with a NUL behind it; it may hold others. The error (G_FILE_ERROR)
 * says why alone, without the path: "No such file or directory", "is larger than 16 MiB". */
char *file_text_read(const char *path, gsize max_bytes, gsize *ret_length, GError **error);
/* What is left to read of a descriptor, which stays open. */
char *file_text_read_fd(int fd, gsize max_bytes, gsize *ret_length, GError **error);
