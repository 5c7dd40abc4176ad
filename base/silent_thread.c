/* silent_thread.c - a thread begins with the signals blocked that its maker had blocked. */
#include "base/silent_thread.h"

#include <pthread.h>
#include <signal.h>

GThread *
silent_thread_new(const char *name, GThreadFunc function, gpointer user, GError **error)
{
    sigset_t all;
    sigset_t before;
    GThread *thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = g_thread_try_new(name, function, user, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}
