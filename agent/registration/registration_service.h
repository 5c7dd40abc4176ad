/* registration_service.h - announces sources at all their registries, on a thread of its own. */
#pragma once

#include <glib.h>

typedef struct RegistrationService RegistrationService;

/* Registration *, borrowed. */
RegistrationService *registration_service_new(const GPtrArray *registrations);
void registration_service_free(RegistrationService *self); /* stopped, or never started */

/* Where the agent answers HTTP; 0: nowhere. Any thread; a registry is told when it is connected to
 * next. */
void registration_service_set_http_port(RegistrationService *self, guint16 port);

/* All sources must listen. Without registrations no thread is started. */
gboolean registration_service_start(RegistrationService *self, GError **error);
/* Takes back what is registered and returns when all registries have answered, at deadline_us at
 * the latest. Nothing happens if it has not started. */
void registration_service_stop(RegistrationService *self, gint64 deadline_us);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RegistrationService, registration_service_free)
