/* go_duration.c - durations as Go's programs take them: numbers with units, one behind the other.
 */
#include "registry/go_duration.h"

#include <string.h>

typedef struct {
    const char *unit;
    double us;
} UnitRow;

/* Longer ones first: "ms" is no "m". */
static const UnitRow units[] = {
    { "ns", 0.001 },         { "us", 1 },   { "\xc2\xb5s", 1 }, { "\xce\xbcs", 1 }, { "ms", 1000 },
    { "s", G_USEC_PER_SEC }, { "m", 60e6 }, { "h", 3600e6 },
};

static const UnitRow *
find_unit(const char *text)
{
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
        if (g_str_has_prefix(text, units[i].unit))
            return &units[i];
    return NULL;
}

gboolean
go_duration_parse(const char *text, gint64 *ret_us)
{
    double sum = 0;

    if (strcmp(text, "0") == 0) {
        *ret_us = 0;
        return TRUE;
    }
    text += *text == '+' ? 1 : 0;
    if (*text == '\0')
        return FALSE;
    while (*text != '\0') {
        gsize length = strspn(text, "0123456789.");
        g_autofree char *number = g_strndup(text, length);
        const UnitRow *unit = find_unit(text + length);
        char *end;

        if (unit == NULL || length == 0)
            return FALSE;
        sum += g_ascii_strtod(number, &end) * unit->us;
        if (*end != '\0' || end == number)
            return FALSE;
        text += length + strlen(unit->unit);
    }
    if (sum >= (double) G_MAXINT64)
        return FALSE;
    *ret_us = (gint64) sum;
    return TRUE;
}
