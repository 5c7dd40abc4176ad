/* command_line_files.c - the files of nsqlookupd and namesrv, as if they were options. */
#include "base/clock.h"
#include "base/file_text.h"
#include "registry/command_line_private.h"
#include "registry/namesrv_properties.h"
#include "registry/toml_reader.h"

#define MAX_FILE_BYTES (1024 * 1024)

typedef struct {
    CommandLine *command_line;
    const char *path;
    Problems *problems;
} File;

/* (transfer full) NULL with a problem. */
static char *
read_text(const char *path, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    gsize length;
    char *text = file_text_read(path, MAX_FILE_BYTES, clock_deadline_us(FILE_TEXT_PATIENCE_US),
                                &length, &error);

    if (text == NULL)
        problems_add_at(problems, 0, 0, "", "it cannot be read: %s; name a file that can",
                        error->message);
    return text;
}

/* It is told when the file has been read and the log is there. */
static void
note_ignored(const File *self, int line, const char *key, const char *why)
{
    g_ptr_array_add(self->command_line->ignored,
                    g_strdup_printf("%s:%d: '%s' %s", self->path, line, key, why));
}

/* ---- nsqlookupd's ---- */

static gboolean
may_be_in_file(const ArgumentSpec *spec)
{
    return spec->kind <= ARGUMENT_IGNORED_SWITCH && spec->kind != ARGUMENT_CONFIG;
}

static void
visit_pair(const char *key, const char *value, gboolean in_table, int line, gpointer user)
{
    const File *self = user;
    g_autofree char *name = g_strdelimit(g_strdup(key), "_", '-');
    const ArgumentSpec *spec = command_line_find(name);
    const ValuePlace place = { .problems = self->problems, .name = key, .line = line };

    if (spec == NULL || !may_be_in_file(spec))
        note_ignored(self, line, key, "has no effect here");
    else if (in_table)
        note_ignored(self, line, key,
                     "has no effect below a [heading]; move it above the first one");
    else
        command_line_set(self->command_line, spec, value, &place);
}

static gboolean
read_config(CommandLine *self, const char *path)
{
    g_autoptr(Problems) problems = problems_new(path);
    g_autofree char *text = read_text(path, problems);
    File file = { .command_line = self, .path = path, .problems = problems };

    self->is_nsqlookupd = TRUE;
    if (text != NULL)
        toml_read(text, visit_pair, &file, problems);
    return command_line_show(problems);
}

/* ---- namesrv's ---- */

static void
take_property(const char *key, const char *value, const char *property, int line, gpointer user)
{
    const File *self = user;
    const ValuePlace place = { .problems = self->problems, .name = property, .line = line };

    command_line_override(self->command_line, "namesrv", key, value, &place);
}

static void
note_odd_property(const char *property, const char *why, int line, gpointer user)
{
    note_ignored(user, line, property, why);
}

static void
refuse_property(const char *property, const char *what, int line, gpointer user)
{
    problems_add_at(((const File *) user)->problems, line, 1, property, "%s", what);
}

static gboolean
read_properties(CommandLine *self, const char *path)
{
    g_autoptr(Problems) problems = problems_new(path);
    g_autofree char *text = read_text(path, problems);
    File file = { .command_line = self, .path = path, .problems = problems };
    const PropertiesReader reader = {
        .option = take_property, .odd = note_odd_property, .wrong = refuse_property, .user = &file
    };
    int line;

    self->is_namesrv = TRUE;
    if (text != NULL && !namesrv_properties_read(text, &reader, &line))
        problems_add_at(problems, line, 1, "",
                        "this is no property; write listenPort=9876, in UTF-8");
    return command_line_show(problems);
}

/* ---- both ---- */

/* Where leat-registry takes the place of another program it opens no port that that one had not. */
static void
turn_off_others(CommandLine *self, const CommandLine *told)
{
    if (told->file != NULL || (!told->is_nsqlookupd && !told->is_namesrv))
        return;
    command_line_add(self, NULL, "http", "off");
    if (!told->is_nsqlookupd)
        command_line_add(self, NULL, "nsqlookupd", "off");
    if (!told->is_namesrv)
        command_line_add(self, NULL, "namesrv", "off");
}

gboolean
command_line_add_files(CommandLine *self, const char *config, const char *properties)
{
    g_autoptr(CommandLine) of_files = command_line_new();

    if (config != NULL && !read_config(of_files, config))
        return FALSE;
    if (properties != NULL && !read_properties(of_files, properties))
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
