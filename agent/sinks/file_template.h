/* file_template.h - a path with escapes: parsed once, filled in for each event, never left.
 *
 * %{NAME} is a header's value, FILE_TIME_ESCAPES are times, %% is a percent sign. What comes from
 * a header is one piece of a name, never a way out of it: no '/', no control characters, nothing
 * that is not UTF-8 (each becomes '_'), no '.' or '-' at the front, 160 bytes at the most. A part
 * of the path that stays empty, or a header that an event lacks, reads "unknown". */
#pragma once

#include <glib.h>

#include "agent/sinks/file_time.h"
#include "base/event_bytes.h"

typedef struct FileTemplate FileTemplate;

/* NULL with an error that says what to write instead. A directory's fixed beginning is its base,
 * the operator's own; a name has no base and no '/'. */
FileTemplate *file_template_parse_directory(const char *text, GError **error);
/* limit: bytes that the name may take. */
FileTemplate *file_template_parse_name(const char *text, gsize limit, GError **error);
void file_template_free(FileTemplate *self);

const char *file_template_base(const FileTemplate *self);
gboolean file_template_is_fixed(const FileTemplate *self); /* the same for every event */
gboolean file_template_has_time(const FileTemplate *self);

/* Appends what stands behind the base: "web/2024-01-31". event may be NULL if it is fixed. */
void file_template_append(const FileTemplate *self, const EventView *event, const FileTime *time,
                          GString *out);

/* Appends the headers that it takes, with what it makes of them: " app=web day=unknown". */
void file_template_append_headers(const FileTemplate *self, const EventView *event, GString *out);

/* What each part behind the base can read, as unanchored expressions on bytes. (transfer full) */
GPtrArray *file_template_patterns(const FileTemplate *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileTemplate, file_template_free)
