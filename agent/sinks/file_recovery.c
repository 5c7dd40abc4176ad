/* file_recovery.c - looks through the folders that the templates can name. */
#include "agent/sinks/file_recovery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sinks/file_directory.h"
#include "agent/sinks/file_error.h"
#include "agent/sinks/file_pool.h"

typedef struct {
    const FileRules *rules;
    Component *owner;
    GPtrArray *folders; /* GRegex *, one for each level below the base */
    GRegex *file;       /* group 1: stem, group 2: suffix */

    guint n_ended;
    guint64 n_cut; /* bytes */
} Recovery;

static GRegex *
compile(const char *before, const char *pattern, const char *after)
{
    g_autofree char *whole = g_strconcat(before, pattern, after, NULL);
    GRegexCompileFlags flags = G_REGEX_RAW | G_REGEX_DOTALL | G_REGEX_DOLLAR_ENDONLY;
    GRegex *regex = g_regex_new(whole, flags, 0, NULL);

    g_assert(regex != NULL);
    return regex;
}

static void
compile_all(Recovery *self, const FileTemplate *directory, const FileTemplate *name)
{
    g_autoptr(GPtrArray) folders = file_template_patterns(directory);
    g_autoptr(GPtrArray) files = file_template_patterns(name);

    self->folders = g_ptr_array_new_with_free_func((GDestroyNotify) g_regex_unref);
    for (guint i = 0; i < folders->len; i++)
        g_ptr_array_add(self->folders, compile("^", g_ptr_array_index(folders, i), "$"));
    self->file =
        compile("^(", g_ptr_array_index(files, 0), FILE_STAMP_PATTERN ")(.*)\\" FILE_TMP "$");
}

static void
report(Recovery *self, const char *path, const char *detail)
{
    component_report(self->owner, REPORT_DESTINATION, path, detail);
}

static void
report_errno(Recovery *self, int number, const char *doing, const char *path)
{
    g_autoptr(GError) error = NULL;

    file_error_set(&error, number, doing, path);
    report(self, path, error->message);
}

/* ---- one file ---- */

static gboolean
find_end(int fd, const char *name, FileEnd *ret_end, const char **ret_missing)
{
    *ret_missing = NULL;
    for (guint i = FILE_COMPRESSION_GZIP; i <= FILE_COMPRESSION_ZSTD; i++) {
        g_autofree char *ending = g_strconcat(file_compression_suffixes[i], FILE_TMP, NULL);
        const FileCodecType *codec;

        if (!g_str_has_suffix(name, ending))
            continue;
        codec = file_codec_find(i, ret_missing);
        return codec != NULL && codec->find_end(fd, ret_end);
    }
    return file_plain_find_end(fd, ret_end);
}

/* 0 or an errno. */
static int
cut(Recovery *self, int fd, const FileEnd *end, guint64 size)
{
    ssize_t wrote;

    if (end->length < size && ftruncate(fd, (off_t) end->length) != 0)
        return errno;
    wrote = pwrite(fd, end->closing, end->n_closing, (off_t) end->length);
    if (wrote != (ssize_t) end->n_closing)
        return wrote < 0 ? errno : ENOSPC;
    if (self->rules->sync != FILE_SYNC_NEVER && fdatasync(fd) != 0)
        return errno;
    self->n_cut += size - end->length;
    return 0;
}

/* 0 or an errno. */
static int
give_final_name(Recovery *self, int directory, const char *name)
{
    g_autoptr(GMatchInfo) match = NULL;
    g_autofree char *stem = NULL;
    g_autofree char *suffix = NULL;
    g_autofree char *final = NULL;

    g_regex_match(self->file, name, 0, &match);
    stem = g_match_info_fetch(match, 1);
    suffix = g_match_info_fetch(match, 2);
    return file_directory_publish(directory, stem, suffix, &final) ? 0 : errno;
}

static int
end_file(Recovery *self, int directory, int fd, const char *name, const FileEnd *end)
{
    struct stat file;
    int number = fstat(fd, &file) == 0 ? 0 : errno;

    if (number == 0 && end->length == 0)
        number = unlinkat(directory, name, 0) == 0 ? 0 : errno;
    else if (number == 0)
        number = cut(self, fd, end, (guint64) file.st_size);
    if (number == 0 && end->length > 0)
        number = give_final_name(self, directory, name);
    if (number == 0)
        self->n_ended++;
    return number;
}

static void
recover_locked(Recovery *self, int directory, int fd, const char *name, const char *path)
{
    const char *missing;
    FileEnd end;
    int number;

    if (find_end(fd, name, &end, &missing)) {
        number = end_file(self, directory, fd, name, &end);
        if (number != 0)
            report_errno(self, number, "end the left-over file", path);
    } else if (missing != NULL) {
        g_autofree char *detail = g_strdup_printf(
            "left as it is: this leat was built without %s; end it with one that has it", missing);

        report(self, path, detail);
    } else {
        report_errno(self, errno, "read the left-over file", path);
    }
}

/* Not ours to touch: what is no plain file, and what another sink holds or has just ended. */
static gboolean
is_left_over(int directory, int fd, const char *name)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file_lock(fd) &&
           file_is_at(fd, directory, name);
}

static void
recover_file(Recovery *self, int directory, const char *name, const char *path)
{
    int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 && errno != ENOENT)
        report_errno(self, errno, "open the left-over file", path);
    if (fd < 0)
        return;
    if (is_left_over(directory, fd, name))
        recover_locked(self, directory, fd, name, path);
    close(fd);
}

/* ---- folders ---- */

static void recover_folder(Recovery *self, int directory, guint level, const char *path);

static void
recover_entry(Recovery *self, int directory, guint level, const char *name, const char *folder)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    int next;

    if (level == self->folders->len) {
        if (g_regex_match(self->file, name, 0, NULL))
            recover_file(self, directory, name, path);
        return;
    }
    if (g_str_equal(name, ".") || g_str_equal(name, "..") ||
        !g_regex_match(g_ptr_array_index(self->folders, level), name, 0, NULL))
        return;
    next = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next >= 0)
        recover_folder(self, next, level + 1, path);
    else if (errno != ENOTDIR && errno != ELOOP && errno != ENOENT)
        report_errno(self, errno, "look for left-over files in", path);
}

static GPtrArray *
names_in(DIR *stream)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const struct dirent *entry;

    while ((entry = readdir(stream)) != NULL)
        g_ptr_array_add(names, g_strdup(entry->d_name));
    return names;
}

/* Takes the descriptor. The names are read first, since files get others on the way. */
static void
recover_folder(Recovery *self, int directory, guint level, const char *path)
{
    DIR *stream = fdopendir(directory);
    g_autoptr(GPtrArray) names = NULL;
    guint n_before = self->n_ended;

    if (stream == NULL) {
        report_errno(self, errno, "look for left-over files in", path);
        close(directory);
        return;
    }
    names = names_in(stream);
    for (guint i = 0; i < names->len; i++)
        recover_entry(self, directory, level, g_ptr_array_index(names, i), path);
    if (self->n_ended > n_before && self->rules->sync != FILE_SYNC_NEVER)
        file_directory_sync(directory);
    closedir(stream);
}

void
file_recovery_run(const FileRules *rules, const FileTemplate *directory, const FileTemplate *name,
                  Component *owner)
{
    Recovery self = { .rules = rules, .owner = owner };
    g_autoptr(GError) error = NULL;
    int base = file_directory_open(rules, "", &error);

    if (base < 0) {
        report(&self, rules->base, error->message);
        return;
    }
    compile_all(&self, directory, name);
    recover_folder(&self, base, 0, rules->base);
    g_ptr_array_unref(self.folders);
    g_regex_unref(self.file);
    metric_add(owner->part_metrics, FILE_METRIC_RECOVERED, self.n_ended);
    if (self.n_ended > 0) {
        g_autofree char *detail = g_strdup_printf(
            "left-over files ended: %u; bytes cut off behind their last whole records: "
            "%" G_GUINT64_FORMAT,
            self.n_ended, self.n_cut);

        component_report(owner, REPORT_RECOVERED, rules->base, detail);
    }
}
