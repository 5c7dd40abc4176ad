/* early_stop.c - a stop before anything was started that could be stopped cleanly. */
#include "base/early_stop.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *early_line;
static int early_status;

static void
stop_early(int number G_GNUC_UNUSED)
{
    gssize n_written G_GNUC_UNUSED = write(STDERR_FILENO, early_line, strlen(early_line));

    _exit(early_status);
}

void
early_stop_catch(const char *line, int status)
{
    const struct sigaction action = { .sa_handler = stop_early };
    sigset_t signals;

    early_line = line;
    early_status = status;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    /* Who started us may have left them blocked, in which case nothing would ever stop us. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
