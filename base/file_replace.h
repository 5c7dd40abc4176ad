/* file_replace.h - writes a small file so that, whatever happens, the old or the new one is there.
 */
#pragma once

#include <glib.h>

/* Under a temporary name beside it ("PATH.new"), synced, renamed, and the folder synced. The error
 * (G_FILE_ERROR) says what failed and why, without the path. One process at a time. */
gboolean file_replace(const char *path, const void *data, gsize length, GError **error);
