/* test_file_codec.c - compressed files are whole after every flush, rollback and cut. */
#include "agent/sinks/file_codec.h"

#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/decoder.h"

#define N_BATCHES 5

/* A file of one codec, and what was committed to it. */
typedef struct {
    FileCompression compression;
    const FileCodecType *type;
    FileCodec *codec;
    GString *bytes; /* of the file */
    GString *text;  /* committed */
} CodecFile;

static CodecFile *
codec_file_new(FileCompression compression)
{
    CodecFile *self = g_new0(CodecFile, 1);
    const char *missing;

    self->compression = compression;
    self->type = file_codec_find(compression, &missing);
    self->codec = self->type->create();
    self->bytes = g_string_new(NULL);
    self->text = g_string_new(NULL);
    return self;
}

static void
codec_file_free(CodecFile *self)
{
    self->type->free(self->codec);
    g_string_free(self->bytes, TRUE);
    g_string_free(self->text, TRUE);
    g_free(self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CodecFile, codec_file_free)

static void
pack(CodecFile *self, const char *records, FileCodecStep step)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(
        self->type->pack(self->codec, byte_span_of_text(records), step, self->bytes, &error));
    g_assert_no_error(error);
}

static void
put_batch(CodecFile *self, const char *records)
{
    pack(self, records, FILE_CODEC_FLUSH);
    self->type->commit(self->codec);
    g_string_append(self->text, records);
}

/* A batch that is given in part, then cut off again. */
static void
fail_batch(CodecFile *self, const char *records, FileCodecStep step)
{
    gsize committed = self->bytes->len;

    pack(self, records, step);
    self->type->rollback(self->codec);
    g_string_truncate(self->bytes, committed);
}

static void
finish(CodecFile *self)
{
    pack(self, "", FILE_CODEC_FINISH);
    self->type->commit(self->codec);
}

static void
assert_reads(const CodecFile *self, const GString *bytes, const char *expected)
{
    g_autoptr(GString) read = decoder_read(self->compression, bytes);

    g_assert_nonnull(read);
    g_assert_cmpstr(read->str, ==, expected);
}

/* What recovery makes of the first length bytes. */
static GString *
recover(const CodecFile *self, const char *bytes, gsize length)
{
    int fd = memfd_create("codec", MFD_CLOEXEC);
    GString *whole = g_string_new_len(bytes, (gssize) length);
    FileEnd end;

    g_assert_cmpint(write(fd, bytes, length), ==, length);
    g_assert_cmpint(lseek(fd, 0, SEEK_SET), ==, 0);
    g_assert_true(self->type->find_end(fd, &end));
    close(fd);
    g_assert_cmpuint(end.length, <=, length);
    g_string_truncate(whole, end.length);
    if (end.length > 0)
        g_string_append_len(whole, (const char *) end.closing, (gssize) end.n_closing);
    return whole;
}

static char *
batch_text(int number)
{
    GString *text = g_string_new(NULL);

    for (int i = 0; i < 20; i++)
        g_string_append_printf(text, "batch %d, record %d: %u\n", number, i, g_random_int());
    return g_string_free(text, FALSE);
}

/* ---- for each codec ---- */

static void
test_a_finished_file_gives_back_what_went_in(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));

    put_batch(file, "one\ntwo\n");
    put_batch(file, "three\n");
    finish(file);

    assert_reads(file, file->bytes, "one\ntwo\nthree\n");
}

static void
test_large_records_in_pieces_are_whole(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));
    g_autoptr(GString) large = g_string_new(NULL);

    while (large->len < 3000000)
        g_string_append_printf(large, "%08x", g_random_int());
    for (int i = 0; i < 3; i++) {
        pack(file, large->str, FILE_CODEC_MORE);
        g_string_append(file->text, large->str);
    }
    put_batch(file, "end\n");
    finish(file);

    assert_reads(file, file->bytes, file->text->str);
}

static void
test_nothing_gives_nothing(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));

    put_batch(file, "");
    finish(file);

    g_assert_cmpuint(file->bytes->len, ==, 0);
}

static void
test_what_follows_a_finish_is_a_member_of_its_own(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));

    put_batch(file, "one\n");
    finish(file);
    finish(file);
    put_batch(file, "two\n");
    finish(file);

    assert_reads(file, file->bytes, "one\ntwo\n");
}

static void
test_failed_batches_leave_no_trace(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));

    fail_batch(file, "never\n", FILE_CODEC_FLUSH);
    put_batch(file, "one\n");
    fail_batch(file, "never\n", FILE_CODEC_MORE);
    fail_batch(file, "never\n", FILE_CODEC_FLUSH);
    put_batch(file, "two\n");
    fail_batch(file, "", FILE_CODEC_FINISH);
    put_batch(file, "three\n");
    fail_batch(file, "never\n", FILE_CODEC_FLUSH);
    finish(file);

    assert_reads(file, file->bytes, "one\ntwo\nthree\n");
}

/* Whole records from the first on: of so many batches at least, of one more if it is all there
 * although its flush is not. */
static void
assert_keeps(const CodecFile *file, const GString *recovered, const gsize *text_at, int n_batches)
{
    g_autoptr(GString) read =
        recovered->len > 0 ? decoder_read(file->compression, recovered) : g_string_new(NULL);

    g_assert_nonnull(read);
    g_assert_true(g_str_has_prefix(file->text->str, read->str));
    g_assert_true(read->len == text_at[n_batches] || read->len == text_at[n_batches + 1]);
}

/* A crash may stop the file at any byte. */
static void
test_a_file_cut_anywhere_keeps_every_batch_that_was_flushed(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));
    gsize at[N_BATCHES + 2] = { 0 };
    gsize text_at[N_BATCHES + 2] = { 0 };
    int whole = 0;

    for (int i = 0; i < N_BATCHES; i++) {
        g_autofree char *records = batch_text(i);

        if (i == 3) /* leaves an end and a second member inside */
            fail_batch(file, "never\n", FILE_CODEC_FLUSH);
        put_batch(file, records);
        at[i + 1] = file->bytes->len;
        text_at[i + 1] = file->text->len;
    }
    for (gsize length = 0; length <= file->bytes->len; length++) {
        g_autoptr(GString) recovered = recover(file, file->bytes->str, length);

        while (whole < N_BATCHES && at[whole + 1] <= length)
            whole++;
        assert_keeps(file, recovered, text_at, whole);
    }
}

static void
test_zeros_behind_the_last_flush_are_cut_off(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));
    g_autoptr(GString) recovered = NULL;
    char zeros[5000] = { 0 };

    put_batch(file, "one\ntwo\n");
    g_string_append_len(file->bytes, zeros, sizeof(zeros));
    recovered = recover(file, file->bytes->str, file->bytes->len);

    assert_reads(file, recovered, "one\ntwo\n");
}

static void
test_a_finished_file_is_left_as_it_is(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));
    g_autoptr(GString) recovered = NULL;

    put_batch(file, "no newline at the end");
    finish(file);
    recovered = recover(file, file->bytes->str, file->bytes->len);

    g_assert_cmpmem(recovered->str, recovered->len, file->bytes->str, file->bytes->len);
}

/* Bytes changed at random: no crash, and what is kept is readable. */
static void
test_damage_is_never_taken_for_content(gconstpointer compression)
{
    g_autoptr(CodecFile) file = codec_file_new(GPOINTER_TO_UINT(compression));

    for (int i = 0; i < N_BATCHES; i++) {
        g_autofree char *records = batch_text(i);

        put_batch(file, records);
    }
    for (int round = 0; round < 3000; round++) {
        g_autoptr(GString) damaged = g_string_new_len(file->bytes->str, (gssize) file->bytes->len);
        g_autoptr(GString) recovered = NULL;
        g_autoptr(GString) read = NULL;

        for (int i = g_test_rand_int_range(1, 4); i > 0; i--)
            damaged->str[g_test_rand_int_range(0, (gint32) damaged->len)] =
                (char) g_test_rand_int();
        recovered = recover(file, damaged->str, damaged->len);
        read = decoder_read(file->compression, recovered);

        g_assert_true(recovered->len == 0 || read != NULL);
    }
}

/* ---- plain files ---- */

static guint64
plain_end(const char *bytes, gsize length)
{
    int fd = memfd_create("plain", MFD_CLOEXEC);
    FileEnd end;

    g_assert_cmpint(write(fd, bytes, length), ==, length);
    g_assert_true(file_plain_find_end(fd, &end));
    close(fd);
    g_assert_cmpuint(end.n_closing, ==, 0);
    return end.length;
}

static void
test_a_plain_file_ends_behind_its_last_newline(void)
{
    g_autofree char *large = g_malloc0(300000);

    memset(large, 'x', 300000);
    large[10] = '\n';
    g_assert_cmpuint(plain_end("", 0), ==, 0);
    g_assert_cmpuint(plain_end("half", 4), ==, 0);
    g_assert_cmpuint(plain_end("one\n", 4), ==, 4);
    g_assert_cmpuint(plain_end("one\ntw\0", 7), ==, 4);
    g_assert_cmpuint(plain_end(large, 300000), ==, 11);
}

typedef struct {
    const char *name;
    GTestDataFunc run;
} CodecTest;

int
main(int argc, char **argv)
{
    static const CodecTest tests[] = {
        { "whole", test_a_finished_file_gives_back_what_went_in },
        { "large", test_large_records_in_pieces_are_whole },
        { "nothing", test_nothing_gives_nothing },
        { "members", test_what_follows_a_finish_is_a_member_of_its_own },
        { "rollback", test_failed_batches_leave_no_trace },
        { "cut-anywhere", test_a_file_cut_anywhere_keeps_every_batch_that_was_flushed },
        { "zeros", test_zeros_behind_the_last_flush_are_cut_off },
        { "finished", test_a_finished_file_is_left_as_it_is },
        { "damage", test_damage_is_never_taken_for_content },
    };

    g_test_init(&argc, &argv, NULL);
    for (guint c = FILE_COMPRESSION_GZIP; c <= FILE_COMPRESSION_ZSTD; c++)
        for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
            g_autofree char *path =
                g_strdup_printf("/file-codec/%s/%s", file_compression_names[c], tests[i].name);
            const char *missing;

            if (file_codec_find(c, &missing) != NULL)
                g_test_add_data_func(path, GUINT_TO_POINTER(c), tests[i].run);
        }
    g_test_add_func("/file-codec/plain", test_a_plain_file_ends_behind_its_last_newline);
    return g_test_run();
}
