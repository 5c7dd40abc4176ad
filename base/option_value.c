/* option_value.c - one scalar made into the value of one row. */
#include "base/option_value.h"

#include <string.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/quantity.h"

#define MAX_SECRET_BYTES 65536
#define SHOWN_BYTES 80

typedef struct {
    const char *name;    /* as help shows it */
    const char *expects; /* as a remedy says it: "write ..." */
} KindWords;

static const KindWords kind_words[] = {
    [OPTION_STRING] = { "text", "one text" },
    [OPTION_BOOL] = { "bool", "true or false" },
    [OPTION_COUNT] = { "number", "a number" },
    [OPTION_SIZE] = { "size", "a size" },
    [OPTION_DURATION] = { "duration", "a duration" },
    [OPTION_RATIO] = { "ratio", "a ratio" },
    [OPTION_CHOICE] = { "choice", "one of the choices" },
    [OPTION_REGEX] = { "regex", "a regular expression" },
    [OPTION_PATH] = { "path", "a path" },
    [OPTION_SECRET_FILE] = { "file", "the path of a file" },
    [OPTION_LISTEN] = { "address", "an address" },
    [OPTION_ENDPOINTS] = { "list of addresses", "a list of addresses" },
    [OPTION_NAMES] = { "list of names", "a list of names" },
    [OPTION_MAP] = { "mapping", "a mapping" },
    [OPTION_ROWS] = { "list of mappings", "a list of mappings" },
    [OPTION_PART] = { "mapping with a type", "a mapping with its type" },
    [OPTION_PARTS] = { "list of mappings with a type", "a list of mappings with their types" },
};

/* What parsers need to complain. */
typedef struct {
    const YamlNode *node;
    const char *path;
    Problems *problems;
} Place;

typedef gboolean (*ParseFunc)(const OptionSpec *spec, const char *text, gpointer target,
                              const Place *place);

const char *
option_kind_name(OptionKind kind)
{
    return kind_words[kind].name;
}

const char *
option_kind_expects(OptionKind kind)
{
    return kind_words[kind].expects;
}

G_GNUC_PRINTF(4, 0)
static gboolean
refuse_valist(const YamlNode *scalar, const char *path, Problems *problems, const char *format,
              va_list arguments)
{
    gsize length = strlen(scalar->text);
    g_autofree char *what = g_strdup_vprintf(format, arguments);

    problems_add(problems, scalar, path, "'%.*s%s' %s", (int) MIN(length, SHOWN_BYTES),
                 scalar->text, length > SHOWN_BYTES ? "..." : "", what);
    return FALSE;
}

gboolean
option_value_refuse(const YamlNode *scalar, const char *path, Problems *problems,
                    const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    refuse_valist(scalar, path, problems, format, arguments);
    va_end(arguments);
    return FALSE;
}

static gboolean G_GNUC_PRINTF(2, 3) refuse(const Place *place, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    refuse_valist(place->node, place->path, place->problems, format, arguments);
    va_end(arguments);
    return FALSE;
}

/* --- numbers --- */

char *
option_number_to_text(OptionKind kind, guint64 number)
{
    if (kind == OPTION_SIZE)
        return quantity_size_to_option(number);
    if (kind == OPTION_DURATION)
        return quantity_duration_to_option((gint64) number);
    return g_strdup_printf("%" G_GUINT64_FORMAT, number);
}

/* "a number from 1 to 64" */
static char *
range_in_words(const OptionSpec *spec)
{
    const char *kind = option_kind_expects(spec->kind);
    const char *or_zero = spec->zero_ok && spec->min > 0 ? ", or 0" : "";
    g_autofree char *min = option_number_to_text(spec->kind, spec->min);
    g_autofree char *max = option_number_to_text(spec->kind, spec->max);

    if (spec->max == 0)
        return g_strdup_printf("%s of at least %s%s", kind, min, or_zero);
    return g_strdup_printf("%s from %s to %s%s", kind, min, max, or_zero);
}

static gboolean
check_range(const OptionSpec *spec, guint64 number, const Place *place)
{
    g_autofree char *range = NULL;

    if (number == 0 && spec->zero_ok)
        return TRUE;
    if (number >= spec->min && (spec->max == 0 || number <= spec->max))
        return TRUE;
    range = range_in_words(spec);
    return refuse(place, "is %s; write %s", spec->max == 0 ? "too small" : "out of range", range);
}

static gboolean
parse_count(const OptionSpec *spec, const char *text, gpointer target, const Place *place)
{
    guint64 number;
    const char *complaint = quantity_parse_count(text, &number);
    g_autofree char *range = complaint != NULL ? range_in_words(spec) : NULL;

    if (complaint != NULL)
        return refuse(place, "%s; write %s", complaint, range);
    if (!check_range(spec, number, place))
        return FALSE;
    *(guint64 *) target = number;
    return TRUE;
}

static gboolean
parse_size(const OptionSpec *spec, const char *text, gpointer target, const Place *place)
{
    guint64 number;
    const char *complaint = quantity_parse_size(text, &number);

    if (complaint != NULL)
        return refuse(place, "%s", complaint);
    if (!check_range(spec, number, place))
        return FALSE;
    *(guint64 *) target = number;
    return TRUE;
}

static gboolean
parse_duration(const OptionSpec *spec, const char *text, gpointer target, const Place *place)
{
    gint64 us;
    const char *complaint = quantity_parse_duration(text, &us);

    if (complaint != NULL)
        return refuse(place, "%s", complaint);
    if (!check_range(spec, (guint64) us, place))
        return FALSE;
    *(gint64 *) target = us;
    return TRUE;
}

static gboolean
parse_ratio(const OptionSpec *spec G_GNUC_UNUSED, const char *text, gpointer target,
            const Place *place)
{
    const char *complaint = quantity_parse_ratio(text, target);

    return complaint == NULL || refuse(place, "%s", complaint);
}

/* --- words --- */

static gboolean
parse_bool(const OptionSpec *spec G_GNUC_UNUSED, const char *text, gpointer target,
           const Place *place)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };

    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(text, words[i]) == 0) {
            *(gboolean *) target = i % 2 != 0;
            return TRUE;
        }
    }
    return refuse(place, "is neither true nor false; write true or false");
}

static gboolean
is_choice(const char *text, const char *choice)
{
    for (; *text != '\0' && *choice != '\0'; text++, choice++)
        if ((*text == '_' ? '-' : g_ascii_tolower(*text)) != g_ascii_tolower(*choice))
            return FALSE;
    return *text == *choice;
}

static gboolean
parse_choice(const OptionSpec *spec, const char *text, gpointer target, const Place *place)
{
    g_autofree char *choices = g_strjoinv(", ", (char **) spec->choices);
    const char *nearest = problems_nearest(text, spec->choices);

    for (guint i = 0; spec->choices[i] != NULL; i++) {
        if (is_choice(text, spec->choices[i])) {
            *(guint *) target = i;
            return TRUE;
        }
    }
    if (nearest != NULL)
        return refuse(place, "is none of the choices; did you mean '%s'? choices are: %s", nearest,
                      choices);
    return refuse(place, "is none of the choices; choices are: %s", choices);
}

/* --- texts --- */

static gboolean
parse_string(const OptionSpec *spec G_GNUC_UNUSED, const char *text, gpointer target,
             const Place *place G_GNUC_UNUSED)
{
    *(char **) target = g_strdup(text);
    return TRUE;
}

static gboolean
check_path(const char *text, const Place *place)
{
    if (*text == '\0')
        return refuse(place, "is no path; write the name of a file or folder");
    /* A shell would have expanded it, so a folder named ~ is never what was meant. */
    if (strcmp(text, "~") == 0 || g_str_has_prefix(text, "~/"))
        return refuse(place, "begins with ~, which is not expanded; write ${HOME} instead");
    return TRUE;
}

static gboolean
parse_path(const OptionSpec *spec, const char *text, gpointer target, const Place *place)
{
    return check_path(text, place) && parse_string(spec, text, target, place);
}

static gboolean
parse_secret_file(const OptionSpec *spec G_GNUC_UNUSED, const char *text, gpointer target,
                  const Place *place)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *content = NULL;
    gsize length;

    if (!check_path(text, place))
        return FALSE;
    content = file_text_read(text, MAX_SECRET_BYTES, clock_deadline_us(FILE_TEXT_PATIENCE_US),
                             &length, &error);
    if (content == NULL)
        return refuse(place, "cannot be read: %s; name a file with the secret in it",
                      error->message);
    if (g_str_has_suffix(content, "\n"))
        content[--length] = '\0';
    if (*content == '\0' || strlen(content) != length)
        return refuse(place, "holds no text; write the secret into that file");
    *(char **) target = g_steal_pointer(&content);
    return TRUE;
}

/* --- addresses --- */

static gboolean
parse_listen(const OptionSpec *spec, const char *text, gpointer target, const Place *place)
{
    g_autoptr(GError) error = NULL;
    Endpoint *endpoint;

    if (spec->off_ok && g_ascii_strcasecmp(text, "off") == 0) {
        *(Endpoint **) target = NULL;
        return TRUE;
    }
    endpoint = endpoint_parse(text, &error);
    if (endpoint == NULL) {
        problems_add(place->problems, place->node, place->path, "%s%s", error->message,
                     spec->off_ok ? ", or off" : "");
        return FALSE;
    }
    *(Endpoint **) target = endpoint;
    return TRUE;
}

Endpoint *
option_value_parse_endpoint(const YamlNode *scalar, const char *path, Problems *problems)
{
    g_autoptr(GError) error = NULL;
    Endpoint *endpoint = endpoint_parse_peer(scalar->text, &error);

    if (endpoint == NULL)
        problems_add(problems, scalar, path, "%s", error->message);
    return endpoint;
}

static const ParseFunc parsers[] = {
    [OPTION_STRING] = parse_string,
    [OPTION_BOOL] = parse_bool,
    [OPTION_COUNT] = parse_count,
    [OPTION_SIZE] = parse_size,
    [OPTION_DURATION] = parse_duration,
    [OPTION_RATIO] = parse_ratio,
    [OPTION_CHOICE] = parse_choice,
    [OPTION_PATH] = parse_path,
    [OPTION_SECRET_FILE] = parse_secret_file,
    [OPTION_LISTEN] = parse_listen,
};

gboolean
option_value_parse(const OptionSpec *spec, const YamlNode *scalar, gpointer target,
                   const char *path, Problems *problems)
{
    const Place place = { .node = scalar, .path = path, .problems = problems };

    g_assert(spec->kind < G_N_ELEMENTS(parsers));
    return parsers[spec->kind](spec, scalar->text, target, &place);
}
