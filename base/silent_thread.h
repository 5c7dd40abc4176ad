/* silent_thread.h - threads that take no signals: those are for threads of the program, which may
 * be somebody else's. */
#pragma once

#include <glib.h>

/* As g_thread_try_new. */
GThread *silent_thread_new(const char *name, GThreadFunc function, gpointer user, GError **error);
