/* registry_config.h - what leat-registry is to do: from a YAML file, from the command lines and
 * files of nsqlookupd and namesrv, or nothing but defaults. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "base/log.h"
#include "base/option.h"
#include "registry/namesrv_settings.h"
#include "registry/nsq_service.h"

typedef struct {
    Endpoint *http; /* NULL: off */
    gboolean has_nsqlookupd;
    NsqSettings nsqlookupd;
    gboolean has_namesrv;
    NamesrvSettings namesrv;
} RegistryConfig;

/* One option of the command line that stands for a value of the file. */
typedef struct {
    const char *section; /* NULL: of the file itself */
    const char *key;
    char *value;
} RegistryOverride;

/* Whether there may be such a value; FALSE with a problem of name, as the line of a file or the
 * command line has it. */
gboolean registry_config_check(const RegistryOverride *override, const char *name, int line,
                               Problems *problems);
/* file may be NULL. Overrides (GPtrArray of RegistryOverride *) beat the file. NULL with problems.
 */
RegistryConfig *registry_config_load(const char *file, const GPtrArray *overrides,
                                     Problems *problems);
/* Every key of the file with its default, for people. */
void registry_config_print_keys(void);
void registry_config_free(RegistryConfig *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RegistryConfig, registry_config_free)
