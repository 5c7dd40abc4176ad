/* file_codec.c - which compressions this build has, and where a plain file ends. */
#include "config.h"

#include "agent/sinks/file_codec.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536

const char *const file_compression_names[] = { "none", "gzip", "zstd", NULL };
const char *const file_compression_suffixes[] = { "", ".gz", ".zst" };

const FileCodecType *
file_codec_find(FileCompression compression, const char **ret_missing)
{
    static const struct {
        const FileCodecType *type;
        const char *missing;
    } codecs[] = {
        [FILE_COMPRESSION_NONE] = { NULL, NULL },
#ifdef HAVE_ZLIB
        [FILE_COMPRESSION_GZIP] = { &file_gzip, NULL },
#else
        [FILE_COMPRESSION_GZIP] = { NULL, "zlib" },
#endif
#ifdef HAVE_ZSTD
        [FILE_COMPRESSION_ZSTD] = { &file_zstd, NULL },
#else
        [FILE_COMPRESSION_ZSTD] = { NULL, "libzstd" },
#endif
    };

    *ret_missing = codecs[compression].missing;
    return codecs[compression].type;
}

gboolean
file_plain_find_end(int fd, FileEnd *ret_end)
{
    g_autofree char *chunk = g_malloc(CHUNK);
    struct stat file;
    off_t end;

    memset(ret_end, 0, sizeof(*ret_end));
    if (fstat(fd, &file) != 0)
        return FALSE;
    for (end = file.st_size; end > 0 && ret_end->length == 0;) {
        gsize size = (gsize) MIN(end, CHUNK);
        ssize_t got = pread(fd, chunk, size, end - (off_t) size);
        const char *newline;

        if (got != (ssize_t) size) {
            errno = got < 0 ? errno : EIO;
            return FALSE;
        }
        end -= (off_t) size;
        newline = memrchr(chunk, '\n', size);
        if (newline != NULL)
            ret_end->length = (guint64) end + (guint64) (newline - chunk) + 1;
    }
    return TRUE;
}
