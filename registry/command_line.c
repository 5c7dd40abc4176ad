/* command_line.c - options as Go's and Java's programs take them: one dash or two, a value behind
 * '=' or a space. */
#include "registry/command_line.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "registry/command_line_private.h"
#include "registry/go_duration.h"
#include "registry/registry_config.h"

#define OPTION_COLUMNS 38

enum { STATUS_PROBLEM = 1, STATUS_USAGE = 2 };

static const ArgumentSpec specs[] = {
    { "tcp-address", ARGUMENT_VALUE, "ADDRESS", "where nsqd registers (0.0.0.0:4160)" },
    { "http-address", ARGUMENT_VALUE, "ADDRESS", "where clients look up (0.0.0.0:4161)" },
    { "broadcast-address", ARGUMENT_VALUE, "HOST", "how nsqd reaches it (the host name)" },
    { "inactive-producer-timeout", ARGUMENT_DURATION, "TIME",
      "how long a node may be silent (300s)" },
    { "tombstone-lifetime", ARGUMENT_DURATION, "TIME", "how long a tombstone hides (45s)" },
    { "config", ARGUMENT_CONFIG, "FILE", "nsqlookupd's file, in TOML" },
    { "http", ARGUMENT_HTTP, "ADDRESS", "where the page and /metrics are, too; or off" },
    { "log-format", ARGUMENT_LOG_FORMAT, "FORMAT", "text (default) or json, one object a line" },
    { "log-level", ARGUMENT_LOG_LEVEL, "LEVEL", "error, warning, info (default) or debug" },
    { "c", ARGUMENT_PROPERTIES, "FILE", "namesrv's file, Java properties; or --configFile" },
    { "configFile", ARGUMENT_PROPERTIES, NULL, NULL },
    { "p", ARGUMENT_PRINT, NULL, "print namesrv's properties; or --printConfigItem" },
    { "printConfigItem", ARGUMENT_PRINT, NULL, NULL },
    { "n", ARGUMENT_NAMESRV, "ADDRESSES", "namesrv's, without effect; or --namesrvAddr" },
    { "namesrvAddr", ARGUMENT_NAMESRV, NULL, NULL },
    { "log-prefix", ARGUMENT_IGNORED, "TEXT", "nsqlookupd's, without effect" },
    { "verbose", ARGUMENT_IGNORED_SWITCH, NULL, "nsqlookupd's, without effect" },
    { "help", ARGUMENT_HELP, NULL, "show this help; or -h" },
    { "h", ARGUMENT_HELP, NULL, NULL },
    { "version", ARGUMENT_VERSION, NULL, "show the versions of leat-registry and its libraries" },
};

/* As the program spells it that the option is of. */
static const char *
dashes_of(const char *name)
{
    return name[1] == '\0' ? "-" : "--";
}

/* (transfer full) */
static char *
name_for_help(const ArgumentSpec *spec)
{
    const char *word = spec->word != NULL ? spec->word : "";

    if (spec->name[1] == '\0')
        return g_strdup_printf("  -%s%s%s", spec->name, *word != '\0' ? " " : "", word);
    return g_strdup_printf("  --%s%s%s", spec->name, *word != '\0' ? "=" : "", word);
}

void
command_line_print_help(void)
{
    printf(
        "leat-registry: the name service of agents and of the programs of NSQ and RocketMQ\n\n"
        "Usage: leat-registry [OPTION...] [FILE]\n\n"
        "FILE is its configuration, in YAML; without one it has defaults throughout. It stands\n"
        "in for nsqlookupd and for RocketMQ's namesrv, whose options it takes as they are:\n"
        "they beat what the files say. Told only what one of them is told, it is only that one.\n"
        "\nOptions:\n");
    for (gsize i = 0; i < G_N_ELEMENTS(specs); i++) {
        g_autofree char *name = NULL;

        if (specs[i].help == NULL)
            continue;
        name = name_for_help(&specs[i]);
        printf("%-*s%s\n", OPTION_COLUMNS, name, specs[i].help);
    }
    printf("\nKeys of FILE, with their defaults:\n");
    registry_config_print_keys();
    printf("\nSIGTERM and SIGINT stop it cleanly, with status 0.\n\n"
           "Examples:\n"
           "  leat-registry /etc/leat/registry.yaml\n"
           "  leat-registry -tcp-address=0.0.0.0:4160 -broadcast-address=registry1.example\n");
}

/* ---- values ---- */

static void
override_free(gpointer data)
{
    RegistryOverride *override = data;

    g_free(override->value);
    g_free(override);
}

const RegistryOverride *
command_line_add(CommandLine *self, const char *section, const char *key, const char *value)
{
    RegistryOverride *override = g_new0(RegistryOverride, 1);

    override->section = section;
    override->key = key;
    override->value = g_strdup(value);
    g_ptr_array_add(self->overrides, override);
    return override;
}

gboolean
command_line_override(CommandLine *self, const char *section, const char *key, const char *value,
                      const ValuePlace *place)
{
    return registry_config_check(command_line_add(self, section, key, value), place->name,
                                 place->line, place->problems);
}

/* What neither we nor Go take for a duration is left to the check. */
static gboolean
add_duration(CommandLine *self, const char *key, const char *value, const ValuePlace *place)
{
    g_autofree char *plain = NULL;
    gint64 us;

    if (quantity_parse_duration(value, &us) != NULL && go_duration_parse(value, &us))
        plain = quantity_duration_to_option(us);
    return command_line_override(self, "nsqlookupd", key, plain != NULL ? plain : value, place);
}

static gboolean
refuse_value(const char *value, const char *choices, const ValuePlace *place)
{
    problems_add_at(place->problems, place->line, 1, place->name,
                    "'%s' is none of its values; write %s", value, choices);
    return FALSE;
}

static gboolean
set_log_level(CommandLine *self, const char *value, const ValuePlace *place)
{
    const char *ours = value;

    if (g_ascii_strcasecmp(value, "warn") == 0)
        ours = "warning";
    else if (g_ascii_strcasecmp(value, "fatal") == 0)
        ours = "error";
    self->has_log_level = TRUE;
    return log_level_from_text(ours, &self->log_level) ||
           refuse_value(value, "error, warning, info or debug", place);
}

const ArgumentSpec *
command_line_find(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(specs); i++)
        if (strcmp(specs[i].name, name) == 0)
            return &specs[i];
    return NULL;
}

gboolean
command_line_set(CommandLine *self, const ArgumentSpec *spec, const char *value,
                 const ValuePlace *place)
{
    switch (spec->kind) {
    case ARGUMENT_VALUE:
        self->is_nsqlookupd = TRUE;
        return command_line_override(self, "nsqlookupd", spec->name, value, place);
    case ARGUMENT_DURATION:
        self->is_nsqlookupd = TRUE;
        return add_duration(self, spec->name, value, place);
    case ARGUMENT_HTTP:
        return command_line_override(self, NULL, spec->name, value, place);
    case ARGUMENT_LOG_LEVEL:
        return set_log_level(self, value, place);
    case ARGUMENT_LOG_FORMAT:
        return log_format_from_text(value, &self->log_format) ||
               refuse_value(value, "text or json", place);
    case ARGUMENT_NAMESRV:
        self->is_namesrv = TRUE;
        G_GNUC_FALLTHROUGH;
    default:
        g_ptr_array_add(self->ignored, g_strdup_printf("'%s' has no effect here", spec->name));
        return TRUE;
    }
}

gboolean
command_line_show(Problems *problems)
{
    g_autofree char *said = NULL;

    if (problems_count(problems) == 0)
        return TRUE;
    said = problems_to_text(problems);
    fputs(said, stderr);
    return FALSE;
}

/* ---- the command line ---- */

static gboolean
has_value(const ArgumentSpec *spec)
{
    return spec->kind != ARGUMENT_HELP && spec->kind != ARGUMENT_VERSION &&
           spec->kind != ARGUMENT_IGNORED_SWITCH && spec->kind != ARGUMENT_PRINT;
}

static gboolean refuse(const char *format, ...) G_GNUC_PRINTF(1, 2);

static gboolean
refuse(const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "leat-registry: %s\n", what);
    return FALSE;
}

static gboolean
refuse_unknown(const char *argument, const char *name)
{
    const char *names[G_N_ELEMENTS(specs) + 1] = { NULL };
    const char *nearest;

    for (gsize i = 0; i < G_N_ELEMENTS(specs); i++)
        names[i] = specs[i].name;
    nearest = problems_nearest(name, names);
    if (nearest != NULL)
        return refuse("unknown option '%s'; did you mean '%s%s'?", argument, dashes_of(nearest),
                      nearest);
    return refuse("unknown option '%s'; see 'leat-registry --help'", argument);
}

typedef struct {
    CommandLine *command_line;
    char *config;     /* of -config, the last one */
    char *properties; /* of -c, likewise */
    int argc;
    char **argv;
    int next;
} Parser;

/* name is as it was written. */
static gboolean
take_value(Parser *self, const ArgumentSpec *spec, const char *name, const char *value)
{
    g_autoptr(Problems) problems = problems_new("leat-registry");
    const ValuePlace place = { .problems = problems, .name = name };

    if (value == NULL && self->next == self->argc)
        return refuse("%s needs a value; see 'leat-registry --help'", name);
    if (value == NULL)
        value = self->argv[self->next++];
    if (spec->kind == ARGUMENT_CONFIG || spec->kind == ARGUMENT_PROPERTIES) {
        char **path = spec->kind == ARGUMENT_CONFIG ? &self->config : &self->properties;

        g_free(*path);
        *path = g_strdup(value);
        return TRUE;
    }
    return command_line_set(self->command_line, spec, value, &place) || command_line_show(problems);
}

/* As Go's flags take it; one that stands alone is on. */
static gboolean
read_switch(const char *value, gboolean *ret_on)
{
    static const char *const on[] = { "1", "t", "T", "true", "TRUE", "True", NULL };
    static const char *const off[] = { "0", "f", "F", "false", "FALSE", "False", NULL };

    *ret_on = value == NULL || g_strv_contains(on, value);
    return *ret_on || g_strv_contains(off, value);
}

static gboolean
take_switch(CommandLine *self, const ArgumentSpec *spec, const char *name, const char *value)
{
    gboolean on;

    if (!read_switch(value, &on))
        return refuse("%s: '%s' is neither true nor false; leave it out, or write one of them",
                      name, value);
    if (spec->kind == ARGUMENT_HELP)
        self->help = on;
    else if (spec->kind == ARGUMENT_VERSION)
        self->version = on;
    else if (spec->kind == ARGUMENT_PRINT)
        self->print = self->is_namesrv = on;
    return TRUE;
}

static gboolean
take_option(Parser *self, const char *argument)
{
    const char *equals = strchr(argument, '=');
    g_autofree char *written =
        equals != NULL ? g_strndup(argument, (gsize) (equals - argument)) : g_strdup(argument);
    const char *name = written + (written[1] == '-' ? 2 : 1);
    const ArgumentSpec *spec = command_line_find(name);
    const char *value = equals != NULL ? equals + 1 : NULL;

    if (spec == NULL)
        return refuse_unknown(written, name);
    return has_value(spec) ? take_value(self, spec, written, value)
                           : take_switch(self->command_line, spec, written, value);
}

static gboolean
take_arguments(Parser *self)
{
    while (self->next < self->argc) {
        const char *argument = self->argv[self->next++];

        if (argument[0] == '-' && argument[1] != '\0') {
            if (!take_option(self, argument))
                return FALSE;
        } else if (self->command_line->file != NULL) {
            return refuse("one FILE at a time, '%s' is one too many", argument);
        } else {
            self->command_line->file = g_strdup(argument);
        }
    }
    if ((self->config != NULL || self->properties != NULL) && self->command_line->file != NULL)
        return refuse("%s and FILE are two configurations; give one of them",
                      self->config != NULL ? "-config" : "-c");
    return TRUE;
}

CommandLine *
command_line_new(void)
{
    CommandLine *self = g_new0(CommandLine, 1);

    self->log_level = LOG_AT_INFO;
    self->log_format = LOG_FORMAT_TEXT;
    self->overrides = g_ptr_array_new_with_free_func(override_free);
    self->ignored = g_ptr_array_new_with_free_func(g_free);
    return self;
}

CommandLine *
command_line_parse(int argc, char **argv, int *ret_status)
{
    g_autoptr(CommandLine) self = command_line_new();
    Parser parser = { .command_line = self, .argc = argc, .argv = argv, .next = 1 };
    gboolean ok = take_arguments(&parser);

    *ret_status = ok ? STATUS_PROBLEM : STATUS_USAGE;
    if (ok && !self->help && !self->version)
        ok = command_line_add_files(self, parser.config, parser.properties);
    g_free(parser.config);
    g_free(parser.properties);
    return ok ? g_steal_pointer(&self) : NULL;
}

void
command_line_free(CommandLine *self)
{
    if (self == NULL)
        return;
    g_free(self->file);
    g_clear_pointer(&self->overrides, g_ptr_array_unref);
    g_clear_pointer(&self->ignored, g_ptr_array_unref);
    g_free(self);
}
