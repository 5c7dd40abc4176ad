/* log_survivors.h - what is found in the directory of a file channel after it was damaged. */
#pragma once

#include <glib.h>
#include <string.h>

/* The events that `leat channel cat` prints: "7-39 45-59". (transfer full) */
char *log_survivors_read(const char *path);
/* What `leat channel verify` says, file names without their zeros: "2.segment:4096: ...\n", and
 * "5 lost\n" behind that if any are. (transfer full) */
char *log_survivors_verify(const char *path);

/* The events that a file channel with this directory gives, once it has recovered; all of them are
 * committed. (transfer full) */
char *log_survivors_recover(const char *path, guint64 *ret_lost);

/* The same for a log that cannot all be read by this program: how many events are left then. */
guint64 log_survivors_left(const char *path, guint64 *ret_lost);

/* Why a file channel does not open with this directory. (transfer full) */
char *log_survivors_refusal(const char *path);

/* What the commands find. */
#define assert_readers_find(log, expected_events, expected_damage)    \
    G_STMT_START                                                      \
    {                                                                 \
        g_autofree char *damage_ = log_survivors_verify((log)->path); \
        g_autofree char *read_ = log_survivors_read((log)->path);     \
        g_assert_cmpstr(damage_, ==, expected_damage);                \
        g_assert_cmpstr(read_, ==, expected_events);                  \
    }                                                                 \
    G_STMT_END

/* What the commands find, then what a channel finds, which is the same; after it nothing is left.
 */
#define assert_survives(log, expected_events, expected_damage)                             \
    G_STMT_START                                                                           \
    {                                                                                      \
        g_autofree char *damage_ = log_survivors_verify((log)->path);                      \
        g_autofree char *read_ = log_survivors_read((log)->path);                          \
        guint64 n_lost_, n_again_;                                                         \
        g_autofree char *taken_ = log_survivors_recover((log)->path, &n_lost_);            \
        g_autofree char *lost_ = g_strdup_printf("%" G_GUINT64_FORMAT " lost\n", n_lost_); \
        g_assert_cmpstr(damage_, ==, expected_damage);                                     \
        g_assert_cmpstr(read_, ==, expected_events);                                       \
        g_assert_cmpstr(taken_, ==, expected_events);                                      \
        g_autofree char *again_ = log_survivors_recover((log)->path, &n_again_);           \
        g_assert_cmpstr(again_, ==, "");                                                   \
        g_assert_cmpuint(n_again_, ==, 0);                                                 \
        g_assert_true(n_lost_ == 0 ? strstr(damage_, " lost\n") == NULL                    \
                                   : g_str_has_suffix(damage_, lost_));                    \
    }                                                                                      \
    G_STMT_END
