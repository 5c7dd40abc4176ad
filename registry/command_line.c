/* command_line.c - options as Go's and Java's programs take them: one dash or two, a value behind
 * '=' or a space; and the files of nsqlookupd and namesrv. */
#include "registry/command_line.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/problems.h"
#include "base/quantity.h"
#include "registry/go_duration.h"
#include "registry/namesrv_properties.h"
#include "registry/registry_config.h"
#include "registry/toml_reader.h"

#define MAX_FILE_BYTES (1024 * 1024)
#define OPTION_COLUMNS 38

enum { STATUS_PROBLEM = 1, STATUS_USAGE = 2 };

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
    const char *help; /* NULL: not shown */
} ArgumentSpec;

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
    { "c", ARGUMENT_PROPERTIES, "FILE", "namesrv's file, Java properties" },
    { "configFile", ARGUMENT_PROPERTIES, NULL, NULL },
    { "p", ARGUMENT_PRINT, NULL, "print namesrv's properties, and end" },
    { "printConfigItem", ARGUMENT_PRINT, NULL, NULL },
    { "n", ARGUMENT_NAMESRV, NULL, NULL },
    { "namesrvAddr", ARGUMENT_NAMESRV, NULL, NULL },
    { "log-prefix", ARGUMENT_IGNORED, NULL, NULL },
    { "verbose", ARGUMENT_IGNORED_SWITCH, NULL, NULL },
    { "help", ARGUMENT_HELP, NULL, "show this help" },
    { "h", ARGUMENT_HELP, NULL, NULL },
    { "version", ARGUMENT_VERSION, NULL, "show the versions of leat-registry and its libraries" },
};

/* As the program spells it that the option is of. (transfer full) */
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

/* section and key are static. */
static void
add_override(CommandLine *self, const char *section, const char *key, const char *value)
{
    RegistryOverride *override = g_new0(RegistryOverride, 1);

    override->section = section;
    override->key = key;
    override->value = g_strdup(value);
    g_ptr_array_add(self->overrides, override);
}

/* What neither we nor Go take for a duration is left to the file's own check. */
static void
add_duration(CommandLine *self, const char *key, const char *value)
{
    g_autofree char *plain = NULL;
    gint64 us;

    if (quantity_parse_duration(value, &us) != NULL && go_duration_parse(value, &us))
        plain = quantity_duration_to_option(us);
    add_override(self, "nsqlookupd", key, plain != NULL ? plain : value);
}

static gboolean
set_log_level(CommandLine *self, const char *value)
{
    if (g_ascii_strcasecmp(value, "warn") == 0)
        value = "warning";
    else if (g_ascii_strcasecmp(value, "fatal") == 0)
        value = "error";
    self->has_log_level = TRUE;
    return log_level_from_text(value, &self->log_level);
}

static const ArgumentSpec *
find_spec(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(specs); i++)
        if (strcmp(specs[i].name, name) == 0)
            return &specs[i];
    return NULL;
}

/* FALSE: the value is none for this option. */
static gboolean
set_value(CommandLine *self, const ArgumentSpec *spec, const char *value)
{
    switch (spec->kind) {
    case ARGUMENT_VALUE:
        self->is_nsqlookupd = TRUE;
        add_override(self, "nsqlookupd", spec->name, value);
        return TRUE;
    case ARGUMENT_DURATION:
        self->is_nsqlookupd = TRUE;
        add_duration(self, spec->name, value);
        return TRUE;
    case ARGUMENT_HTTP:
        add_override(self, NULL, spec->name, value);
        return TRUE;
    case ARGUMENT_LOG_LEVEL:
        return set_log_level(self, value);
    case ARGUMENT_LOG_FORMAT:
        return log_format_from_text(value, &self->log_format);
    case ARGUMENT_NAMESRV:
        self->is_namesrv = TRUE;
        G_GNUC_FALLTHROUGH;
    default:
        g_ptr_array_add(self->ignored, g_strdup_printf("'%s' has no effect here", spec->name));
        return TRUE;
    }
}

/* ---- nsqlookupd's file ---- */

static gboolean
may_be_in_file(const ArgumentSpec *spec)
{
    return spec->kind <= ARGUMENT_IGNORED_SWITCH && spec->kind != ARGUMENT_CONFIG;
}

typedef struct {
    CommandLine *command_line;
    Problems *problems;
} TomlFile;

static void
visit_pair(const char *key, const char *value, int line, gpointer user)
{
    TomlFile *self = user;
    g_autofree char *name = g_strdelimit(g_strdup(key), "_", '-');
    const ArgumentSpec *spec = find_spec(name);

    if (spec == NULL || !may_be_in_file(spec))
        g_ptr_array_add(self->command_line->ignored,
                        g_strdup_printf("the file's '%s' has no effect here", key));
    else if (!set_value(self->command_line, spec, value))
        problems_add_at(self->problems, line, 1, key, "'%s' is none of its values", value);
}

/* FALSE after telling what is wrong. */
static gboolean
show_problems(Problems *problems)
{
    g_autofree char *said = NULL;

    if (problems_count(problems) == 0)
        return TRUE;
    said = problems_to_text(problems);
    fputs(said, stderr);
    return FALSE;
}

/* (transfer full) NULL with a problem. */
static char *
read_text(const char *path, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    gsize length;
    char *text = file_text_read(path, MAX_FILE_BYTES, clock_deadline_us(FILE_TEXT_PATIENCE_US),
                                &length, &error);

    if (text == NULL)
        problems_add_at(problems, 0, 0, "", "it cannot be read: %s", error->message);
    return text;
}

static gboolean
read_config(CommandLine *self, const char *path)
{
    g_autoptr(Problems) problems = problems_new(path);
    g_autofree char *text = read_text(path, problems);
    TomlFile file = { .command_line = self, .problems = problems };

    self->is_nsqlookupd = TRUE;
    if (text != NULL)
        toml_read(text, visit_pair, &file, problems);
    return show_problems(problems);
}

/* ---- namesrv's file ---- */

static void
take_property(const char *key, const char *value, gpointer user)
{
    add_override(user, "namesrv", key, value);
}

static void
ignore_property(const char *property, gpointer user)
{
    g_ptr_array_add(((CommandLine *) user)->ignored,
                    g_strdup_printf("the file's '%s' has no effect here", property));
}

static gboolean
read_properties(CommandLine *self, const char *path)
{
    g_autoptr(Problems) problems = problems_new(path);
    g_autofree char *text = read_text(path, problems);
    int line;

    self->is_namesrv = TRUE;
    if (text != NULL && !namesrv_properties_read(text, take_property, ignore_property, self, &line))
        problems_add_at(problems, line, 1, "",
                        "this is no property; write listenPort=9876, in UTF-8");
    return show_problems(problems);
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
refuse_unknown(const char *name)
{
    const char *names[G_N_ELEMENTS(specs) + 1] = { NULL };
    const char *nearest;

    for (gsize i = 0; i < G_N_ELEMENTS(specs); i++)
        names[i] = specs[i].name;
    nearest = problems_nearest(name, names);
    if (nearest != NULL)
        return refuse("unknown option '--%s'; did you mean '--%s'?", name, nearest);
    return refuse("unknown option '--%s'; see 'leat-registry --help'", name);
}

typedef struct {
    CommandLine *command_line;
    char *config;     /* of -config, the last one */
    char *properties; /* of -c, likewise */
    int argc;
    char **argv;
    int next;
} Parser;

static gboolean
take_value(Parser *self, const ArgumentSpec *spec, const char *value)
{
    if (value == NULL && self->next == self->argc)
        return refuse("--%s needs a value; see 'leat-registry --help'", spec->name);
    if (value == NULL)
        value = self->argv[self->next++];
    if (spec->kind == ARGUMENT_CONFIG || spec->kind == ARGUMENT_PROPERTIES) {
        char **path = spec->kind == ARGUMENT_CONFIG ? &self->config : &self->properties;

        g_free(*path);
        *path = g_strdup(value);
        return TRUE;
    }
    return set_value(self->command_line, spec, value) ||
           refuse("'%s' is no value for --%s; see 'leat-registry --help'", value, spec->name);
}

/* A switch may have "=true" or "=false" behind it, as Go's flags may. */
static gboolean
take_switch(CommandLine *self, const ArgumentSpec *spec, const char *value)
{
    gboolean on = value == NULL || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;

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
    const char *start = argument + (argument[1] == '-' ? 2 : 1);
    const char *equals = strchr(start, '=');
    g_autofree char *name =
        equals != NULL ? g_strndup(start, (gsize) (equals - start)) : g_strdup(start);
    const ArgumentSpec *spec = find_spec(name);
    const char *value = equals != NULL ? equals + 1 : NULL;

    if (spec == NULL)
        return refuse_unknown(name);
    return has_value(spec) ? take_value(self, spec, value)
                           : take_switch(self->command_line, spec, value);
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

static CommandLine *
command_line_new(void)
{
    CommandLine *self = g_new0(CommandLine, 1);

    self->log_level = LOG_AT_INFO;
    self->log_format = LOG_FORMAT_TEXT;
    self->overrides = g_ptr_array_new_with_free_func(override_free);
    self->ignored = g_ptr_array_new_with_free_func(g_free);
    return self;
}

/* Where leat-registry takes the place of another program it opens no port that that one had not. */
static void
turn_off_others(CommandLine *self, CommandLine *told)
{
    if (told->file != NULL || (!told->is_nsqlookupd && !told->is_namesrv))
        return;
    add_override(self, NULL, "http", "off");
    if (!told->is_nsqlookupd)
        add_override(self, NULL, "nsqlookupd", "off");
    if (!told->is_namesrv)
        add_override(self, NULL, "namesrv", "off");
}

/* The options beat the files: what they set is set again behind those. */
static gboolean
add_files(CommandLine *self, const Parser *parser)
{
    g_autoptr(CommandLine) of_files = command_line_new();

    if (parser->config != NULL && !read_config(of_files, parser->config))
        return FALSE;
    if (parser->properties != NULL && !read_properties(of_files, parser->properties))
        return FALSE;
    if (!self->has_log_level)
        self->log_level = of_files->log_level;
    self->is_nsqlookupd |= of_files->is_nsqlookupd;
    self->is_namesrv |= of_files->is_namesrv;
    turn_off_others(of_files, self);
    g_ptr_array_extend_and_steal(of_files->overrides, g_steal_pointer(&self->overrides));
    self->overrides = g_steal_pointer(&of_files->overrides);
    g_ptr_array_extend_and_steal(self->ignored, g_steal_pointer(&of_files->ignored));
    return TRUE;
}

CommandLine *
command_line_parse(int argc, char **argv, int *ret_status)
{
    g_autoptr(CommandLine) self = command_line_new();
    Parser parser = { .command_line = self, .argc = argc, .argv = argv, .next = 1 };
    gboolean ok = take_arguments(&parser);

    *ret_status = ok ? STATUS_PROBLEM : STATUS_USAGE;
    if (ok && !self->help && !self->version)
        ok = add_files(self, &parser);
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
