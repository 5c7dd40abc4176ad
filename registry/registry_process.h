/* registry_process.h - the life of leat-registry: sockets, signals, the service manager. */
#pragma once

#include "registry/registry_config.h"

/* Runs until SIGTERM or SIGINT on the calling thread, which must be the main one. FALSE: it could
 * not start. */
gboolean registry_process_run(RegistryConfig *config);
