/* event_keys.h - finds repeated keys among the encoded headers of one event, in linear time
 * whatever the keys are. For event_bytes.c and event_check.c only.
 *
 * headers is where the first key's length stands; count headers follow, all checked. */
#pragma once

#include <glib.h>

/* Up to this many keys are cheaper compared one with another. */
#define EVENT_KEYS_FEW 16

/* FALSE also if there is no memory for looking; then event_keys_keep_last has none either. */
gboolean event_keys_are_distinct(const guint8 *headers, guint count);

/* Moves the headers together so that only the last one of each key stays. Returns how many did, and
 * where they end now; 0, with all as it was, if there is no memory for it. */
guint event_keys_keep_last(guint8 *headers, guint count, guint8 **ret_end);
