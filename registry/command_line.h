/* command_line.h - the options of leat-registry, among them those of nsqlookupd and namesrv as they
 * spell them. */
#pragma once

#include <glib.h>

#include "base/log.h"

typedef struct {
    gboolean help;
    gboolean version;
    gboolean print; /* what namesrv would be told, in place of running */
    LogLevel log_level;
    gboolean has_log_level; /* it was told */
    LogFormat log_format;
    gboolean is_nsqlookupd; /* it was told something that only one of them is told */
    gboolean is_namesrv;
    char *file;           /* YAML, or NULL */
    GPtrArray *overrides; /* RegistryOverride *, later ones win */
    GPtrArray *ignored;   /* sentences about what has no effect here */
} CommandLine;

/* NULL after writing to stderr what is wrong; *ret_status is what to exit with. */
CommandLine *command_line_parse(int argc, char **argv, int *ret_status);
void command_line_free(CommandLine *self);
void command_line_print_help(void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CommandLine, command_line_free)
