/* file_codec.h - compression of one open file, in steps that can be taken back.
 *
 * A codec sees records in, and gives bytes to append to the file. Everything given up to a FLUSH
 * can be read back even if nothing follows; FINISH makes the file complete as it stands, and what
 * comes after it begins a new member. After a rollback the file has been cut to the last commit:
 * what is given next closes what was left open there and begins anew. */
#pragma once

#include <glib.h>

#include "base/span.h"

typedef enum { FILE_CODEC_MORE, FILE_CODEC_FLUSH, FILE_CODEC_FINISH } FileCodecStep;

/* How much of a file that was left behind is whole. */
typedef struct {
    guint64 length;
    guint8 closing[16]; /* to be appended so that readers find a proper end */
    gsize n_closing;
} FileEnd;

typedef struct FileCodec FileCodec;

typedef struct {
    const char *suffix; /* ".gz" */
    FileCodec *(*create)(void);
    void (*free)(FileCodec *self);
    gboolean (*pack)(FileCodec *self, ByteSpan records, FileCodecStep step, GString *out,
                     GError **error);
    void (*commit)(FileCodec *self);
    void (*rollback)(FileCodec *self);
    /* The last point where a record ends and nothing is lost before; descriptor at its start. FALSE
     * with errno set. */
    gboolean (*find_end)(int fd, FileEnd *ret_end);
} FileCodecType;

struct FileCodec {
    const FileCodecType *type;
};

typedef enum {
    FILE_COMPRESSION_NONE,
    FILE_COMPRESSION_GZIP,
    FILE_COMPRESSION_ZSTD
} FileCompression;
extern const char *const file_compression_names[]; /* in this order, NULL-terminated */
extern const char *const file_compression_suffixes[];

/* NULL for none, and for one whose library is not built in: then *ret_missing is its name. */
const FileCodecType *file_codec_find(FileCompression compression, const char **ret_missing);

/* Of a file whose records stand there as they are: it is cut behind the last newline. */
gboolean file_plain_find_end(int fd, FileEnd *ret_end);

extern const FileCodecType file_gzip;
extern const FileCodecType file_zstd;
