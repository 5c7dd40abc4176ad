/* kv_store.h - the KV configuration of a name server: namespaces of keys and values, in memory and
 * in a file that is whole at every moment. */
#pragma once

#include <glib.h>

/* What all of it may have, with something for each key and namespace: the file is written anew for
 * each change. And an answer has a value in its header of 16 MiB, where a byte may become six. */
#define KV_STORE_MAX_BYTES (2 * 1024 * 1024)

#define KV_STORE_ERROR (kv_store_error_quark())
GQuark kv_store_error_quark(void);
typedef enum { KV_STORE_ERROR_NO_FOLDER } KvStoreError;

typedef struct KvStore KvStore;

/* A file that is not there is an empty one, and is made with its folders at the first change. NULL:
 * what is there cannot be read, or is no such file. */
KvStore *kv_store_open(const char *path, GError **error);
/* FALSE: a change could not be saved as things are, or would have to make its folder first. */
gboolean kv_store_check(const KvStore *self, GError **error);
void kv_store_free(KvStore *self);

const char *kv_store_get(const KvStore *self, const char *space, const char *key); /* or NULL */
/* Key → value; NULL: there is no such namespace. */
GHashTable *kv_store_list(const KvStore *self, const char *space);

/* When they return TRUE it is on the disk. FALSE: nothing has changed. A value of NULL is none:
 * what is left of it is its namespace. */
gboolean kv_store_put(KvStore *self, const char *space, const char *key, const char *value,
                      GError **error);
/* An emptied namespace stays. Of what is not there TRUE. */
gboolean kv_store_delete(KvStore *self, const char *space, const char *key, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(KvStore, kv_store_free)
