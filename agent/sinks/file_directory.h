/* file_directory.h - folders below the base, and names in them: none is ever taken twice.
 *
 * The base is the operator's, links included. Below it every step is taken without following links,
 * since a header may have chosen the name. */
#pragma once

#include <glib.h>

#include "agent/sinks/file_rules.h"

#define FILE_TMP ".tmp"
/* "-20240131T101500.123Z-0000000001": what a name has behind its prefix, at the longest. */
#define FILE_STAMP_MAX 32
/* The same as an expression. */
#define FILE_STAMP_PATTERN "-[0-9]{8}T[0-9]{6}\\.[0-9]{3}Z-[0-9]{6,10}"

/* Descriptor of base/relative, -1 with an error and errno; create makes what is missing. */
int file_directory_open(const FileRules *rules, const char *relative, GError **error);
int file_directory_create(const FileRules *rules, const char *relative, GError **error);
/* Makes new and renamed entries last. */
void file_directory_sync(int directory);

/* A new name of prefix, time and the next count: "apps-20240131T101500.123Z-000001". The file
 * exists afterwards with suffix and FILE_TMP, is empty and locked. Its descriptor, -1 with errno
 * set. */
int file_directory_add(int directory, const FileRules *rules, const char *prefix, guint *count,
                       char **ret_stem /* (transfer full) */);

/* Takes FILE_TMP from the name stem + suffix; never over another file: a taken name gets "-1",
 * "-2", ... behind its stem. FALSE with errno set. */
gboolean file_directory_publish(int directory, const char *stem, const char *suffix,
                                char **ret_name /* (transfer full) */);

/* FALSE if another open descriptor holds the lock. */
gboolean file_lock(int fd);
/* The name in the directory is this very file. */
gboolean file_is_at(int fd, int directory, const char *name);
