/* log_survivors.h - what is found in the directory of a file channel after it was damaged. */
#pragma once

#include <glib.h>

/* The events that `leat channel cat` prints: "7-39 45-59". (transfer full) */
char *log_survivors_read(const char *path);
/* What `leat channel verify` says, file names without their zeros: "2.segment:4096: ...\n", and
 * "5 lost\n" behind that if any are. (transfer full) */
char *log_survivors_verify(const char *path);

/* Lines of rising numbers as ranges. (transfer full) */
char *number_lines_to_ranges(const char *lines);

#define assert_readers_find(log, expected_events, expected_damage)    \
    G_STMT_START                                                      \
    {                                                                 \
        g_autofree char *events_ = log_survivors_read((log)->path);   \
        g_autofree char *damage_ = log_survivors_verify((log)->path); \
        g_assert_cmpstr(events_, ==, expected_events);                \
        g_assert_cmpstr(damage_, ==, expected_damage);                \
    }                                                                 \
    G_STMT_END
