/* line_reader.h - the lines of some files, or of standard input, one after the other, with the
 * place each stands at. */
#pragma once

#include <glib.h>

#include "base/span.h"

#define LINE_READER_ERROR (line_reader_error_quark())
GQuark line_reader_error_quark(void);
typedef enum { LINE_READER_ERROR_IO, LINE_READER_ERROR_TOO_LONG } LineReaderError;

typedef enum {
    LINE_READ,
    LINE_NOT_YET, /* the deadline came, or stop_fd became readable */
    LINE_END,     /* of the last file */
    LINE_FAILED,
} LineResult;

/* Where a line stands. */
typedef struct {
    const char *file; /* "stdin" for standard input; lives as long as the reader */
    guint64 line;     /* from 1 */
} LinePlace;

typedef struct LineReader LineReader;

/* paths is NULL-terminated, "-" is standard input; all are looked at before anything is read. A
 * longer line than max_line bytes is an error. stop_fd, borrowed, ends every wait. */
LineReader *line_reader_new(const char *const *paths, gsize max_line, int stop_fd, GError **error);
void line_reader_free(LineReader *self);

/* A line ends with a newline, which is not part of it, or with its file. Waits for a pipe or a
 * terminal until deadline_us. The span stays valid until the next call. */
LineResult line_reader_next(LineReader *self, gint64 deadline_us, ByteSpan *ret_line,
                            GError **error);
/* The place of the line read last; after LINE_FAILED, of the line that could not be. */
LinePlace line_reader_place(const LineReader *self);
guint64 line_reader_consumed(const LineReader *self); /* bytes of lines read, newlines included */
/* Bytes of all files together when they were looked at, 0 if one of them is no regular file. */
guint64 line_reader_total(const LineReader *self);
gboolean line_reader_reads_terminal(const LineReader *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LineReader, line_reader_free)
