/* line_reader.c - reads files and pipes in large pieces and cuts them into lines. */
#include "agent/commands/line_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"

#define READ_SIZE (256 * 1024)

struct LineReader {
    GStrv paths;
    gsize max_line;
    int stop_fd;
    guint64 total;
    gboolean reads_terminal;

    guint n_opened; /* paths[n_opened - 1] is the file being read */
    int fd;         /* -1: none open */
    guint64 line;
    guint64 consumed;

    guint8 *buffer;
    gsize capacity;
    gsize start;    /* of the line being put together */
    gsize end;      /* of what was read */
    gsize searched; /* up to here there is no newline behind start */
};

G_DEFINE_QUARK(leat_line_reader_error, line_reader_error)

static gboolean
is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static const char *
display_name(const char *path)
{
    return is_stdin(path) ? "stdin" : path;
}

static void
set_io_error(const char *path, int failure, GError **error)
{
    g_set_error(error, LINE_READER_ERROR, LINE_READER_ERROR_IO, "cannot read %s: %s",
                display_name(path), g_strerror(failure));
}

static int
open_path(const char *path, GError **error)
{
    int fd = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        set_io_error(path, errno, error);
    return fd;
}

static void
close_fd(int fd)
{
    if (fd > STDIN_FILENO)
        close(fd);
}

/* Without opening it: whoever writes into a named pipe would take us for its reader, and gone. */
static gboolean
line_reader_look_at(LineReader *self, const char *path, gboolean *ret_is_regular, GError **error)
{
    gint64 position = is_stdin(path) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    struct stat status = { 0 };
    int failure = 0;

    if ((is_stdin(path) ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0 ||
        (!is_stdin(path) && access(path, R_OK) != 0))
        failure = errno;
    else if (S_ISDIR(status.st_mode))
        failure = EISDIR;
    if (failure != 0) {
        set_io_error(path, failure, error);
        return FALSE;
    }
    *ret_is_regular = S_ISREG(status.st_mode);
    if (*ret_is_regular)
        self->total += (guint64) MAX(status.st_size - position, 0);
    self->reads_terminal |= is_stdin(path) && isatty(STDIN_FILENO);
    return TRUE;
}

LineReader *
line_reader_new(const char *const *paths, gsize max_line, int stop_fd, GError **error)
{
    g_autoptr(LineReader) self = g_new0(LineReader, 1);
    gboolean all_regular = TRUE;

    self->paths = g_strdupv((char **) paths);
    self->max_line = max_line;
    self->stop_fd = stop_fd;
    self->fd = -1;
    self->capacity = READ_SIZE;
    self->buffer = g_malloc(self->capacity);
    for (guint i = 0; paths[i] != NULL; i++) {
        gboolean is_regular;

        if (!line_reader_look_at(self, paths[i], &is_regular, error))
            return NULL;
        all_regular &= is_regular;
    }
    if (!all_regular)
        self->total = 0;
    return g_steal_pointer(&self);
}

void
line_reader_free(LineReader *self)
{
    close_fd(self->fd);
    g_free(self->buffer);
    g_strfreev(self->paths);
    g_free(self);
}

LinePlace
line_reader_place(const LineReader *self)
{
    const char *path = self->paths[self->n_opened > 0 ? self->n_opened - 1 : 0];

    return (LinePlace){ .file = display_name(path), .line = self->line };
}

guint64
line_reader_consumed(const LineReader *self)
{
    return self->consumed;
}

guint64
line_reader_total(const LineReader *self)
{
    return self->total;
}

gboolean
line_reader_reads_terminal(const LineReader *self)
{
    return self->reads_terminal;
}

/* Hands out what stands from start to end_of_line, and passes the newline. */
static LineResult
line_reader_hand_out(LineReader *self, gsize end_of_line, gsize next_line, ByteSpan *ret_line)
{
    *ret_line = byte_span(self->buffer + self->start, end_of_line - self->start);
    self->consumed += next_line - self->start;
    self->start = self->searched = next_line;
    self->line++;
    return LINE_READ;
}

/* Room for READ_SIZE more behind the unfinished line. */
static void
line_reader_make_room(LineReader *self)
{
    memmove(self->buffer, self->buffer + self->start, self->end - self->start);
    self->end -= self->start;
    self->searched -= self->start;
    self->start = 0;
    if (self->capacity - self->end >= READ_SIZE)
        return;
    self->capacity = MAX(self->capacity * 2, self->end + READ_SIZE);
    self->buffer = g_realloc(self->buffer, self->capacity);
}

/* FALSE if the deadline comes first, or a stop. Files are always ready. */
static gboolean
line_reader_wait(LineReader *self, gint64 deadline_us)
{
    struct pollfd fds[] = { { .fd = self->fd, .events = POLLIN },
                            { .fd = self->stop_fd, .events = POLLIN } };
    int n_ready;

    do
        n_ready = poll(fds, G_N_ELEMENTS(fds), clock_poll_timeout_ms(deadline_us));
    while (n_ready < 0 && errno == EINTR);
    return fds[0].revents != 0 && fds[1].revents == 0;
}

static LineResult
line_reader_fail(LineReader *self, GError *failure, GError **error)
{
    self->line++;
    g_propagate_error(error, failure);
    return LINE_FAILED;
}

static gboolean
line_reader_open_next(LineReader *self, GError **error)
{
    close_fd(self->fd);
    self->fd = open_path(self->paths[self->n_opened++], error);
    self->line = self->fd >= 0 ? 0 : 1;
    return self->fd >= 0;
}

/* At the end of a file: its last line if that has no newline, else on with the next file. */
static LineResult
line_reader_end_file(LineReader *self, ByteSpan *ret_line)
{
    close_fd(self->fd);
    self->fd = -1;
    if (self->end > self->start)
        return line_reader_hand_out(self, self->end, self->end, ret_line);
    return LINE_NOT_YET;
}

/* LINE_NOT_YET: look again at what is in the buffer. */
static LineResult
line_reader_fill(LineReader *self, ByteSpan *ret_line, GError **error)
{
    GError *failure = NULL;
    gssize n_read;

    line_reader_make_room(self);
    n_read = read(self->fd, self->buffer + self->end, READ_SIZE);
    if (n_read > 0)
        self->end += (gsize) n_read;
    if (n_read > 0 || (n_read < 0 && (errno == EINTR || errno == EAGAIN)))
        return LINE_NOT_YET;
    if (n_read == 0)
        return line_reader_end_file(self, ret_line);
    set_io_error(self->paths[self->n_opened - 1], errno, &failure);
    return line_reader_fail(self, failure, error);
}

static gboolean
line_reader_find_newline(LineReader *self, gsize *ret_position)
{
    const guint8 *newline = memchr(self->buffer + self->searched, '\n', self->end - self->searched);

    self->searched = self->end;
    if (newline == NULL)
        return FALSE;
    *ret_position = (gsize) (newline - self->buffer);
    return TRUE;
}

static LineResult
line_reader_refuse(LineReader *self, GError **error)
{
    g_autofree char *limit = quantity_size_to_text(self->max_line);

    return line_reader_fail(self,
                            g_error_new(LINE_READER_ERROR, LINE_READER_ERROR_TOO_LONG,
                                        "the line is longer than the %s that fit into one frame",
                                        limit),
                            error);
}

LineResult
line_reader_next(LineReader *self, gint64 deadline_us, ByteSpan *ret_line, GError **error)
{
    LineResult result = LINE_NOT_YET;
    gsize newline;

    while (result == LINE_NOT_YET) {
        if (line_reader_find_newline(self, &newline))
            return newline - self->start > self->max_line
                       ? line_reader_refuse(self, error)
                       : line_reader_hand_out(self, newline, newline + 1, ret_line);
        if (self->end - self->start > self->max_line)
            return line_reader_refuse(self, error);
        if (self->fd < 0 && self->paths[self->n_opened] == NULL)
            return LINE_END;
        if (self->fd < 0 && !line_reader_open_next(self, error))
            return LINE_FAILED;
        if (!line_reader_wait(self, deadline_us))
            return LINE_NOT_YET;
        result = line_reader_fill(self, ret_line, error);
    }
    return result;
}
