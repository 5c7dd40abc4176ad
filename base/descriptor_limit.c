/* descriptor_limit.c - as many open files as the system lets this process have. */
#include "base/descriptor_limit.h"

#include <errno.h>
#include <gio/gio.h>
#include <sys/resource.h>

gboolean
descriptor_limit_raise(GError **error)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            return TRUE;
    }
    g_set_error_literal(error, G_IO_ERROR, g_io_error_from_errno(errno), g_strerror(errno));
    return FALSE;
}
