/* kv_store.c - the KV configuration of a name server, in memory and in a file. */
#include "registry/kv_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_replace.h"
#include "base/file_text.h"
#include "registry/wire/kv_table.h"

/* Escapes make the file longer than what it holds. */
#define MAX_FILE_BYTES (6 * KV_STORE_MAX_BYTES)

/* What they cost beside their texts: many small ones must not fill the memory either. */
#define ENTRY_BYTES 64
#define SPACE_BYTES 512

struct KvStore {
    char *path;
    GHashTable *spaces; /* name → table */
};

G_DEFINE_QUARK(leat - kv - store - error - quark, kv_store_error)

/* ---- the file ---- */

static GHashTable *
load(const char *path, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gsize length;
    g_autofree char *text = file_text_read(
        path, MAX_FILE_BYTES, clock_deadline_us(FILE_TEXT_PATIENCE_US), &length, &failure);
    GHashTable *spaces;

    if (text == NULL && g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        return kv_config_new();
    if (text == NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    spaces = kv_config_decode(byte_span(text, length), error);
    if (spaces == NULL)
        g_prefix_error(error,
                       "it is no KV configuration; mend it or move it away, then start again: ");
    return spaces;
}

static gboolean
save(KvStore *self, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(self->path);
    GString *text = kv_config_encode(self->spaces);
    gboolean ok;

    /* What it fails at shows in the next call. */
    (void) g_mkdir_with_parents(folder, 0755);
    ok = file_replace(self->path, text->str, text->len, error);
    if (!ok)
        g_prefix_error(error, "%s ", self->path);
    g_string_free(text, TRUE);
    return ok;
}

/* ---- the tables ---- */

static gsize
size_of_entry(const char *key, const char *value)
{
    return value != NULL ? strlen(key) + strlen(value) + ENTRY_BYTES : 0;
}

static gsize
size_of_space(const char *name)
{
    return strlen(name) + SPACE_BYTES;
}

static gsize
size_of_all(const KvStore *self)
{
    GHashTableIter iter, table_iter;
    gpointer name, table, key, value;
    gsize size = 0;

    g_hash_table_iter_init(&iter, self->spaces);
    while (g_hash_table_iter_next(&iter, &name, &table)) {
        size += size_of_space(name);
        g_hash_table_iter_init(&table_iter, table);
        while (g_hash_table_iter_next(&table_iter, &key, &value))
            size += size_of_entry(key, value);
    }
    return size;
}

GHashTable *
kv_store_list(const KvStore *self, const char *space)
{
    return g_hash_table_lookup(self->spaces, space);
}

const char *
kv_store_get(const KvStore *self, const char *space, const char *key)
{
    GHashTable *table = kv_store_list(self, space);

    return table != NULL ? g_hash_table_lookup(table, key) : NULL;
}

static void
set(GHashTable *table, const char *key, const char *value)
{
    if (value != NULL)
        g_hash_table_replace(table, g_strdup(key), g_strdup(value));
    else
        g_hash_table_remove(table, key);
}

/* A value of NULL deletes. What cannot be saved is taken back, so that memory and file agree. */
static gboolean
change(KvStore *self, const char *space, const char *key, const char *value, GError **error)
{
    GHashTable *table = kv_store_list(self, space);
    g_autofree char *old = table != NULL ? g_strdup(g_hash_table_lookup(table, key)) : NULL;
    gboolean is_new = table == NULL;

    if (is_new) {
        table = kv_table_new();
        g_hash_table_insert(self->spaces, g_strdup(space), table);
    }
    set(table, key, value);
    if (save(self, error))
        return TRUE;
    if (is_new)
        g_hash_table_remove(self->spaces, space);
    else
        set(table, key, old);
    return FALSE;
}

/* How large it would be with the entry in place of the one that it has. */
static gsize
size_with(const KvStore *self, const char *space, const char *key, const char *value)
{
    return size_of_all(self) + (kv_store_list(self, space) == NULL ? size_of_space(space) : 0) +
           size_of_entry(key, value) - size_of_entry(key, kv_store_get(self, space, key));
}

gboolean
kv_store_put(KvStore *self, const char *space, const char *key, const char *value, GError **error)
{
    if (size_with(self, space, key, value) > KV_STORE_MAX_BYTES) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC,
                    "the KV configuration is full: %d bytes at most", KV_STORE_MAX_BYTES);
        return FALSE;
    }
    return change(self, space, key, value, error);
}

gboolean
kv_store_delete(KvStore *self, const char *space, const char *key, GError **error)
{
    if (kv_store_get(self, space, key) == NULL)
        return TRUE;
    return change(self, space, key, NULL, error);
}

/* ---- life ---- */

/* That is there. (transfer full) */
static char *
nearest_folder(const char *path)
{
    char *folder = g_path_get_dirname(path);

    while (!g_file_test(folder, G_FILE_TEST_EXISTS) && !g_str_equal(folder, "/") &&
           !g_str_equal(folder, ".")) {
        char *above = g_path_get_dirname(folder);

        g_free(folder);
        folder = above;
    }
    return folder;
}

static gboolean
fail(const char *path, GError **error)
{
    int code = errno;

    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(code), "%s: %s", path,
                g_strerror(code));
    return FALSE;
}

/* Permissions alone do not tell. */
static gboolean
check_folder(const char *path, GError **error)
{
    g_autofree char *trial = g_strconcat(path, ".new", NULL);
    int fd = open(trial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0)
        return fail(trial, error);
    close(fd);
    unlink(trial);
    return TRUE;
}

gboolean
kv_store_check(const KvStore *self, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(self->path);
    g_autofree char *nearest = nearest_folder(self->path);

    if (g_str_equal(folder, nearest))
        return check_folder(self->path, error);
    if (access(nearest, W_OK | X_OK) != 0)
        return fail(nearest, error);
    g_set_error(error, KV_STORE_ERROR, KV_STORE_ERROR_NO_FOLDER, "%s is not there", folder);
    return FALSE;
}

KvStore *
kv_store_open(const char *path, GError **error)
{
    GHashTable *spaces = load(path, error);
    KvStore *self;

    if (spaces == NULL) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    self = g_new0(KvStore, 1);
    self->path = g_strdup(path);
    self->spaces = spaces;
    return self;
}

void
kv_store_free(KvStore *self)
{
    if (self == NULL)
        return;
    g_hash_table_unref(self->spaces);
    g_free(self->path);
    g_free(self);
}
