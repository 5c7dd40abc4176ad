/* kv_store.c - the KV configuration of a name server, in memory and in a file. */
#include "registry/kv_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "registry/file_saver.h"
#include "registry/wire/kv_table.h"

/* Escapes make the file longer than what it holds. */
#define MAX_FILE_BYTES (6 * KV_STORE_MAX_BYTES)

/* What they cost beside their texts: many small ones must not fill the memory either. */
#define ENTRY_BYTES 64
#define SPACE_BYTES 512

struct KvStore {
    char *path;
    FileSaver *saver;
    GHashTable *spaces; /* name → table: what is on the disk */
    GHashTable *next;   /* likewise: with all that is to be */
    gsize next_size;
    GQueue saving;  /* KvChange: of the write under way, in order */
    GQueue waiting; /* likewise: of the one after it */
    gsize held_bytes;
    gboolean is_telling; /* those of a write what became of them */
};

G_DEFINE_QUARK(leat_kv_store_error, kv_store_error)

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
size_of_all(GHashTable *spaces)
{
    GHashTableIter iter, table_iter;
    gpointer name, table, key, value;
    gsize size = 0;

    g_hash_table_iter_init(&iter, spaces);
    while (g_hash_table_iter_next(&iter, &name, &table)) {
        size += size_of_space(name);
        g_hash_table_iter_init(&table_iter, table);
        while (g_hash_table_iter_next(&table_iter, &key, &value))
            size += size_of_entry(key, value);
    }
    return size;
}

static GHashTable *
copy_of(GHashTable *spaces)
{
    GHashTable *copy = kv_config_new();
    GHashTableIter iter, table_iter;
    gpointer name, table, key, value;

    g_hash_table_iter_init(&iter, spaces);
    while (g_hash_table_iter_next(&iter, &name, &table)) {
        GHashTable *table_copy = kv_table_new();

        g_hash_table_iter_init(&table_iter, table);
        while (g_hash_table_iter_next(&table_iter, &key, &value))
            g_hash_table_insert(table_copy, g_strdup(key), g_strdup(value));
        g_hash_table_insert(copy, g_strdup(name), table_copy);
    }
    return copy;
}

static const char *
find(GHashTable *spaces, const char *space, const char *key)
{
    GHashTable *table = g_hash_table_lookup(spaces, space);

    return table != NULL ? g_hash_table_lookup(table, key) : NULL;
}

GHashTable *
kv_store_list(const KvStore *self, const char *space)
{
    return g_hash_table_lookup(self->spaces, space);
}

const char *
kv_store_get(const KvStore *self, const char *space, const char *key)
{
    return find(self->spaces, space, key);
}

static void
apply(GHashTable *spaces, const KvChange *change)
{
    GHashTable *table = g_hash_table_lookup(spaces, change->space);

    if (table == NULL && change->kind == KV_DELETE)
        return;
    if (table == NULL) {
        table = kv_table_new();
        g_hash_table_insert(spaces, g_strdup(change->space), table);
    }
    if (change->kind == KV_PUT && change->value != NULL)
        g_hash_table_replace(table, g_strdup(change->key), g_strdup(change->value));
    else
        g_hash_table_remove(table, change->key);
}

/* ---- changes ---- */

static gboolean
would_change(const KvStore *self, const KvChange *change)
{
    const char *old = find(self->next, change->space, change->key);

    if (change->kind == KV_DELETE)
        return old != NULL;
    return g_strcmp0(old, change->value) != 0 || !g_hash_table_contains(self->next, change->space);
}

/* How large it would be. */
static gsize
size_with(const KvStore *self, const KvChange *change)
{
    const char *old = find(self->next, change->space, change->key);
    gboolean is_new_space =
        change->kind == KV_PUT && !g_hash_table_contains(self->next, change->space);

    return self->next_size + (is_new_space ? size_of_space(change->space) : 0) +
           size_of_entry(change->key, change->kind == KV_PUT ? change->value : NULL) -
           size_of_entry(change->key, old);
}

static void
begin_write(KvStore *self)
{
    self->saving = self->waiting;
    g_queue_init(&self->waiting);
    file_saver_save(self->saver, kv_config_encode(self->next));
}

/* All that is under way is taken back. */
static void
fail_all(KvStore *self, GQueue *changes)
{
    while (self->waiting.head != NULL)
        g_queue_push_tail_link(changes, g_queue_pop_head_link(&self->waiting));
    g_hash_table_unref(self->next);
    self->next = copy_of(self->spaces);
    self->next_size = size_of_all(self->next);
}

static void
tell(KvStore *self, GQueue *changes, const GError *error)
{
    self->is_telling = TRUE;
    while (changes->head != NULL) {
        KvChange *change = g_queue_pop_head_link(changes)->data;

        self->held_bytes -= change->bytes;
        change->done(change, error);
    }
    self->is_telling = FALSE;
}

static void
on_saved(const GError *error, gpointer user)
{
    KvStore *self = user;
    GQueue changes = self->saving;

    g_queue_init(&self->saving);
    if (error != NULL)
        fail_all(self, &changes);
    else
        for (const GList *link = changes.head; link != NULL; link = link->next)
            apply(self->spaces, link->data);
    tell(self, &changes, error);
    if (self->waiting.head != NULL)
        begin_write(self);
}

static gboolean
has_room(const KvStore *self, const KvChange *change, GError **error)
{
    if (size_with(self, change) > KV_STORE_MAX_BYTES)
        g_set_error(error, KV_STORE_ERROR, KV_STORE_ERROR_FULL,
                    "the KV configuration is full: %d bytes at most", KV_STORE_MAX_BYTES);
    else if (self->held_bytes > 0 && self->held_bytes + change->bytes > KV_STORE_MAX_BYTES)
        g_set_error(error, KV_STORE_ERROR, KV_STORE_ERROR_BUSY,
                    "too many changes of the KV configuration wait for the disk");
    else
        return TRUE;
    return FALSE;
}

KvOutcome
kv_store_change(KvStore *self, KvChange *change, GError **error)
{
    gboolean is_busy = self->saving.head != NULL || self->is_telling;

    change->link.data = change;
    change->is_change = would_change(self, change);
    change->bytes = size_of_space(change->space) + strlen(change->key) +
                    (change->value != NULL ? strlen(change->value) : 0);
    if (!change->is_change && !is_busy)
        return KV_UNCHANGED;
    if (!has_room(self, change, error))
        return KV_REFUSED;
    self->held_bytes += change->bytes;
    if (change->is_change) {
        self->next_size = size_with(self, change);
        apply(self->next, change);
    }
    g_queue_push_tail_link(&self->waiting, &change->link);
    if (!is_busy)
        begin_write(self);
    return KV_HELD;
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
    int fd = open(trial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);

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
kv_store_open(Loop *loop, const char *path, GError **error)
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
    self->next = copy_of(spaces);
    self->next_size = size_of_all(spaces);
    self->saver = file_saver_new(loop, path, on_saved, self);
    return self;
}

void
kv_store_settle(KvStore *self, gint64 deadline_us)
{
    while (self->saving.head != NULL)
        if (!file_saver_settle(self->saver, deadline_us))
            return;
}

void
kv_store_free(KvStore *self)
{
    g_autoptr(GError) error = NULL;
    GQueue changes;

    if (self == NULL)
        return;
    file_saver_free(self->saver);
    error = g_error_new_literal(KV_STORE_ERROR, KV_STORE_ERROR_BUSY, "the registry stops");
    changes = self->saving;
    while (self->waiting.head != NULL)
        g_queue_push_tail_link(&changes, g_queue_pop_head_link(&self->waiting));
    tell(self, &changes, error);
    g_hash_table_unref(self->spaces);
    g_hash_table_unref(self->next);
    g_free(self->path);
    g_free(self);
}
