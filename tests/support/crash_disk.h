/* crash_disk.h - file calls that are recorded, so that what a crash could leave at any moment can
 * be put into another folder; and that fail when told to. One at a time in a process. */
#pragma once

#include <glib.h>

#include "agent/channels/file_channel/file_ops.h"

extern const FileOps crash_disk_ops;

/* hook (may be NULL) is called before each call that changes something, from the thread that makes
 * it. */
void crash_disk_start(void (*hook)(gpointer user), gpointer user);
void crash_disk_stop(void);
guint crash_disk_n_calls(void); /* that change something, since the start */
/* The call number n, and all later ones if for_ever, fails with this errno. */
void crash_disk_fail(guint n, gboolean for_ever, int number);

/* So many reads fail with this errno; then they work again. */
void crash_disk_fail_reads(guint n_reads, int number);
/* While number is not 0, nothing can be opened for reading. */
void crash_disk_fail_opens(int number);
/* While number is not 0, no room can be had for new segments and files. */
void crash_disk_fill(int number);

typedef enum {
    CRASH_KILL,  /* of the process, perhaps in the middle of a write */
    CRASH_POWER, /* what was not synced is lost, torn, out of order, or zeros */
} CrashKind;

/* From the hook, or while nobody makes calls: one of the states that could be found. */
void crash_disk_leave(CrashKind kind, GRand *rand, const char *into);
