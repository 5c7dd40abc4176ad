/* text_hash.h - a hash of texts that come from outside, for GHashTable.
 *
 * Nobody who does not know the secret of this process can choose many texts that collide. With
 * g_str_hash that takes no effort, and makes a table as slow as a list. */
#pragma once

#include <glib.h>

/* SipHash with one round a word and three at the end. */
guint64 text_hash_with(const guint64 secret[2], const char *text);
/* A GHashFunc; the secret is drawn at the first use. */
guint text_hash(gconstpointer text);
