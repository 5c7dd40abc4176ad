/* command_line_private.h - options, and where a value of one was written; for the command line's
 * own files alone. */
#pragma once

#include "base/problems.h"
#include "registry/command_line.h"
#include "registry/registry_config.h"

typedef enum {
    ARGUMENT_VALUE,    /* of the section nsqlookupd */
    ARGUMENT_DURATION, /* likewise, in Go's words */
    ARGUMENT_HTTP,
    ARGUMENT_CONFIG,
    ARGUMENT_LOG_LEVEL,
    ARGUMENT_LOG_FORMAT,
    ARGUMENT_IGNORED,
    ARGUMENT_IGNORED_SWITCH,
    ARGUMENT_PROPERTIES,
    ARGUMENT_PRINT,
    ARGUMENT_NAMESRV, /* without effect, but only namesrv is told it */
    ARGUMENT_HELP,
    ARGUMENT_VERSION,
} ArgumentKind;

typedef struct {
    const char *name;
    ArgumentKind kind;
    const char *word; /* for its value in the help */
    const char *help; /* NULL: another name of the one above */
} ArgumentSpec;

/* A place in a file or on the command line, by the name that stands there. */
typedef struct {
    Problems *problems;
    const char *name;
    int line; /* 0: the command line */
} ValuePlace;

CommandLine *command_line_new(void);
const ArgumentSpec *command_line_find(const char *name); /* NULL: there is none */
/* section and key are static. */
const RegistryOverride *command_line_add(CommandLine *self, const char *section, const char *key,
                                         const char *value);
/* FALSE with a problem of the value. */
gboolean command_line_override(CommandLine *self, const char *section, const char *key,
                               const char *value, const ValuePlace *place);
/* Of an option that has one, but for those that name files. FALSE with a problem. */
gboolean command_line_set(CommandLine *self, const ArgumentSpec *spec, const char *value,
                          const ValuePlace *place);
/* FALSE after telling what is wrong. */
gboolean command_line_show(Problems *problems);

/* ---- command_line_files.c ---- */

/* What the files say is set before what the options say, which beat them. Either may be NULL. FALSE
 * after telling what is wrong. */
gboolean command_line_add_files(CommandLine *self, const char *config, const char *properties);
