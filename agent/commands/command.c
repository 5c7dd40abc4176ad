/* command.c - what all subcommands share: options, help, usage errors. */
#include "agent/commands/command.h"

#include <stdio.h>
#include <string.h>

#include "base/problems.h"

/* Columns of the names of options and of commands in a help text. */
#define NAME_COLUMNS 24

int
command_usage_error(const Command *self, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list arguments;

    va_start(arguments, format);
    what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "leat %s: %s\n", self->name, what);
    return EXIT_USAGE;
}

/* ---- help ---- */

static void
print_option(const GOptionEntry *entry)
{
    g_autoptr(GString) names = g_string_new("  ");

    if (entry->short_name != 0)
        g_string_append_printf(names, "-%c, ", entry->short_name);
    g_string_append_printf(names, "--%s", entry->long_name);
    if (entry->arg_description != NULL)
        g_string_append_printf(names, "=%s", entry->arg_description);
    if (names->len > NAME_COLUMNS - 2)
        printf("%s\n%*s%s\n", names->str, NAME_COLUMNS, "", entry->description);
    else
        printf("%-*s%s\n", NAME_COLUMNS, names->str, entry->description);
}

static void
print_help(const Command *self, const GOptionEntry *entries)
{
    printf("leat %s: %s\n\nUsage: leat %s [OPTION...]%s%s\n\n%s\n\nOptions:\n", self->name,
           self->summary, self->name, self->arguments[0] != '\0' ? " " : "", self->arguments,
           self->details);
    for (const GOptionEntry *entry = entries; entry != NULL && entry->long_name != NULL; entry++)
        print_option(entry);
    printf("%-*s%s\n", NAME_COLUMNS, "  -h, --help", "show this help");
}

/* ---- options ---- */

/* What to say of an unknown option: the nearest one, or where they are listed. */
static char *
option_hint(const Command *self, const GOptionEntry *entries, const char *argument)
{
    const char *name = argument + strspn(argument, "-");
    g_autofree char *word = g_strndup(name, strcspn(name, "="));
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *nearest;

    for (const GOptionEntry *entry = entries; entry != NULL && entry->long_name != NULL; entry++)
        g_ptr_array_add(names, (gpointer) entry->long_name);
    g_ptr_array_add(names, (gpointer) "help");
    g_ptr_array_add(names, NULL);
    nearest = problems_nearest(word, (const char *const *) names->pdata);
    if (nearest != NULL)
        return g_strdup_printf("did you mean '--%s'?", nearest);
    return g_strdup_printf("see 'leat %s --help'", self->name);
}

/* The option parser leaves unknown options where they are. FALSE and a usage error if there is one;
 * a "--" that protected arguments is taken out. */
static gboolean
check_arguments(const Command *self, const GOptionEntry *entries, int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        g_autofree char *hint = NULL;

        if (strcmp(argv[i], "--") == 0) {
            memmove(argv + i, argv + i + 1, (gsize) (*argc - i) * sizeof *argv);
            (*argc)--;
            return TRUE;
        }
        if (argv[i][0] != '-' || argv[i][1] == '\0')
            continue;
        hint = option_hint(self, entries, argv[i]);
        command_usage_error(self, "unknown option '%.*s'; %s", (int) strcspn(argv[i], "="), argv[i],
                            hint);
        return FALSE;
    }
    return TRUE;
}

/* The option parser takes "--dot=no" for "--dot". FALSE and a usage error if there is such. */
static gboolean
check_switches(const Command *self, const GOptionEntry *entries, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (const GOptionEntry *entry = entries; entry != NULL && entry->long_name != NULL;
             entry++) {
            g_autofree char *with_value = g_strdup_printf("--%s=", entry->long_name);

            if (entry->arg != G_OPTION_ARG_NONE || !g_str_has_prefix(argv[i], with_value))
                continue;
            command_usage_error(self, "--%s takes no value", entry->long_name);
            return FALSE;
        }
    return TRUE;
}

gboolean
command_parse(const Command *self, const GOptionEntry *entries, int *argc, char ***argv,
              int *ret_status)
{
    gboolean help = FALSE;
    const GOptionEntry help_entry[] = {
        { .long_name = "help", .short_name = 'h', .arg = G_OPTION_ARG_NONE, .arg_data = &help },
        { 0 },
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_ignore_unknown_options(context, TRUE);
    if (entries != NULL)
        g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, help_entry, NULL);
    *ret_status = EXIT_USAGE;
    if (!check_switches(self, entries, *argc, *argv))
        return FALSE;
    if (!g_option_context_parse(context, argc, argv, &error)) {
        command_usage_error(self, "%s", error->message);
        return FALSE;
    }
    if (help) {
        print_help(self, entries);
        *ret_status = EXIT_OK;
        return FALSE;
    }
    return check_arguments(self, entries, argc, *argv);
}
