/* service_notify.h - tells the service manager how the process is doing, by systemd's protocol. */
#pragma once

#include <glib.h>

/* state: "READY=1", "STOPPING=1". TRUE also when nobody listens: $NOTIFY_SOCKET is unset. */
gboolean service_notify(const char *state, GError **error);
