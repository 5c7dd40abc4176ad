/* file_error.h - what went wrong with a file, in words for the operator: what, where, why, remedy.
 */
#pragma once

#include <glib.h>

/* "cannot write '/var/log/leat/apps.log.tmp': No space left on device; free space ...". number is
 * an errno. Always SINK_ERROR_IO. */
void file_error_set(GError **error, int number, const char *doing, const char *path);
/* Of a folder that was missing. */
void file_error_set_create(GError **error, int number, const char *path);
