/* kv_store.h - the KV configuration of a name server: namespaces of keys and values, in memory and
 * in a file that is whole at every moment. It is written on another thread. */
#pragma once

#include "base/loop.h"

/* What all of it may have, with something for each key and namespace: the file is written anew for
 * each change. And an answer has a value in its header of 16 MiB, where a byte may become six. */
#define KV_STORE_MAX_BYTES (2 * 1024 * 1024)

#define KV_STORE_ERROR (kv_store_error_quark())
GQuark kv_store_error_quark(void);
typedef enum {
    KV_STORE_ERROR_FULL,
    KV_STORE_ERROR_BUSY, /* more changes wait for the disk than it can hold itself */
    KV_STORE_ERROR_NO_FOLDER,
} KvStoreError;

typedef struct KvStore KvStore;

typedef enum { KV_PUT, KV_DELETE } KvChangeKind;

/* Embedded by who wants it. */
typedef struct KvChange KvChange;
struct KvChange {
    KvChangeKind kind;
    const char *space, *key;
    const char *value; /* KV_PUT; NULL is none: what is left of it is its namespace */
    /* It is on the disk; with an error it is not, and nothing has changed. May free it. */
    void (*done)(KvChange *self, const GError *error);
    gboolean is_change; /* unless it is there already */

    GList link; /* the store's own */
    gsize bytes;
};

/* Of KV_HELD and that alone done is called, later. */
typedef enum { KV_UNCHANGED, KV_HELD, KV_REFUSED } KvOutcome;

/* A file that is not there is an empty one, and is made with its folders at the first change. NULL:
 * what is there cannot be read, or is no such file. The loop is borrowed; changes are done on it.
 */
KvStore *kv_store_open(Loop *loop, const char *path, GError **error);
/* FALSE: a change could not be saved as things are, or would have to make its folder first. */
gboolean kv_store_check(const KvStore *self, GError **error);
/* For who turns the loop no more: what is under way is done, unless it takes until then. */
void kv_store_settle(KvStore *self, gint64 deadline_us);
void kv_store_free(KvStore *self); /* what is still under way is done with an error */

/* As it is on the disk. */
const char *kv_store_get(const KvStore *self, const char *space, const char *key); /* or NULL */
/* Key → value; NULL: there is no such namespace. */
GHashTable *kv_store_list(const KvStore *self, const char *space);

/* Those that come while others are written share the next write. KV_REFUSED has an error. Deleting
 * leaves an empty namespace; of what is not there it changes nothing. */
KvOutcome kv_store_change(KvStore *self, KvChange *change, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(KvStore, kv_store_free)
