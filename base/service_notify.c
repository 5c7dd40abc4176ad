/* service_notify.c - one datagram to $NOTIFY_SOCKET. */
#include "base/service_notify.h"

#include <errno.h>
#include <gio/gio.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static gboolean
fail(const char *path, int number, GError **error)
{
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(number), "NOTIFY_SOCKET '%s': %s", path,
                g_strerror(number));
    return FALSE;
}

gboolean
service_notify(const char *state, GError **error)
{
    const char *path = g_getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    gsize length;
    gssize sent;
    int fd;

    if (path == NULL || *path == '\0')
        return TRUE;
    length = strlen(path);
    if (length > sizeof address.sun_path)
        return fail(path, ENAMETOOLONG, error);
    memcpy(address.sun_path, path, length);
    if (*path == '@')
        address.sun_path[0] = '\0'; /* an abstract name */

    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail(path, errno, error);
    sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
                  (const struct sockaddr *) &address,
                  (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length));
    if (sent < 0)
        fail(path, errno, error);
    close(fd);
    return sent >= 0;
}
