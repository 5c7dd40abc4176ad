/* quantity.c - numbers as people write them: sizes with KiB, durations with s, and back to text. */
#include "base/quantity.h"

#include <string.h>

#define MAX_FRACTION_DIGITS 9

static const char not_a_count[] = "is not a whole number";
static const char not_a_size[] = "is not a size; write a number with KiB, MiB or GiB";
static const char ambiguous_size[] = "is ambiguous; write KiB, MiB or GiB for powers of 1024, or "
                                     "kB, MB or GB for powers of 1000";
static const char not_a_duration[] =
    "is not a duration; write a number with us, ms, s, m, h or d, such as 10s";
static const char no_duration_unit[] = "has no unit; write a number with us, ms, s, m, h or d, "
                                       "such as 10s";
static const char not_a_ratio[] =
    "is not a ratio; write a number from 0 to 1, or a percentage such as 25%";
static const char too_large[] = "is too large; no machine counts that far";
static const char too_large_count[] = "is too large";

typedef struct {
    const char *name; /* NULL ends a table */
    guint64 factor;
} Unit;

/* Rising, for the way back to text. */
static const Unit binary_units[] = {
    { "B", 1 },
    { "KiB", G_GUINT64_CONSTANT(1) << 10 },
    { "MiB", G_GUINT64_CONSTANT(1) << 20 },
    { "GiB", G_GUINT64_CONSTANT(1) << 30 },
    { "TiB", G_GUINT64_CONSTANT(1) << 40 },
    { 0 },
};

static const Unit decimal_units[] = {
    { "kB", G_GUINT64_CONSTANT(1000) },
    { "MB", G_GUINT64_CONSTANT(1000000) },
    { "GB", G_GUINT64_CONSTANT(1000000000) },
    { "TB", G_GUINT64_CONSTANT(1000000000000) },
    { 0 },
};

static const Unit duration_units[] = {
    { "us", 1 },
    { "ms", 1000 },
    { "s", G_USEC_PER_SEC },
    { "m", G_GUINT64_CONSTANT(60) * G_USEC_PER_SEC },
    { "h", G_GUINT64_CONSTANT(3600) * G_USEC_PER_SEC },
    { "d", G_GUINT64_CONSTANT(86400) * G_USEC_PER_SEC },
    { 0 },
};

/* digits / 10^n_fraction */
typedef struct {
    unsigned __int128 digits;
    guint n_fraction;
    gboolean overflow;
    const char *unit; /* what stands behind the number, after one optional space */
} Decimal;

/* The number of digits passed. */
static guint
decimal_scan_digits(Decimal *self, const char **text)
{
    const char *start = *text;

    for (; g_ascii_isdigit(**text); (*text)++) {
        /* The limit keeps digits * factor within 128 bits. */
        if (self->digits > G_MAXUINT64)
            self->overflow = TRUE;
        else
            self->digits = self->digits * 10 + (guint) (**text - '0');
    }
    return (guint) (*text - start);
}

/* Our own rather than strtod: no sign, no exponent, no hexadecimal, no locale, no rounding. */
static gboolean
decimal_scan(Decimal *self, const char *text)
{
    *self = (Decimal){ 0 };
    if (decimal_scan_digits(self, &text) == 0)
        return FALSE;
    if (*text == '.') {
        text++;
        self->n_fraction = decimal_scan_digits(self, &text);
        if (self->n_fraction == 0 || self->n_fraction > MAX_FRACTION_DIGITS)
            return FALSE;
    }
    self->unit = *text == ' ' && text[1] != '\0' ? text + 1 : text;
    return TRUE;
}

/* FALSE if the result is over limit. */
static gboolean
decimal_times(const Decimal *self, guint64 factor, guint64 limit, guint64 *ret_product)
{
    unsigned __int128 product = self->digits;

    if (self->overflow)
        return FALSE;
    product *= factor;
    for (guint i = 0; i < self->n_fraction; i++)
        product /= 10;
    if (product > limit)
        return FALSE;
    *ret_product = (guint64) product;
    return TRUE;
}

static const Unit *
unit_find(const Unit *units, const char *name, int (*compare)(const char *, const char *))
{
    for (; units->name != NULL; units++)
        if (compare(units->name, name) == 0)
            return units;
    return NULL;
}

const char *
quantity_parse_count(const char *text, guint64 *ret_count)
{
    Decimal number;

    if (!decimal_scan(&number, text) || number.n_fraction > 0 || *number.unit != '\0')
        return not_a_count;
    return decimal_times(&number, 1, G_MAXUINT64, ret_count) ? NULL : too_large_count;
}

static gboolean
is_ambiguous_unit(const char *name)
{
    return (strlen(name) == 1 && strchr("kKmMgGtT", *name) != NULL) || strcmp(name, "KB") == 0;
}

/* Binary units are taken in any case, since nothing else is meant by "mib". Decimal ones are not:
 * "Mb" is a megabit and "KB" may be either. */
const char *
quantity_parse_size(const char *text, guint64 *ret_bytes)
{
    static const Unit plain_bytes = { "B", 1 };
    const Unit *unit = &plain_bytes;
    Decimal number;

    if (!decimal_scan(&number, text))
        return not_a_size;
    if (*number.unit != '\0')
        unit = unit_find(binary_units, number.unit, g_ascii_strcasecmp);
    if (unit == NULL)
        unit = unit_find(decimal_units, number.unit, strcmp);
    if (unit == NULL)
        return is_ambiguous_unit(number.unit) ? ambiguous_size : not_a_size;
    if (unit->factor == 1 && number.n_fraction > 0)
        return not_a_size;
    return decimal_times(&number, unit->factor, G_MAXUINT64, ret_bytes) ? NULL : too_large;
}

const char *
quantity_parse_duration(const char *text, gint64 *ret_us)
{
    const Unit *unit;
    Decimal number;
    guint64 us;

    if (!decimal_scan(&number, text))
        return not_a_duration;
    if (*number.unit == '\0') {
        if (number.digits != 0 || number.overflow)
            return no_duration_unit;
        *ret_us = 0;
        return NULL;
    }
    unit = unit_find(duration_units, number.unit, strcmp);
    if (unit == NULL || (unit->factor == 1 && number.n_fraction > 0))
        return not_a_duration;
    if (!decimal_times(&number, unit->factor, G_MAXINT64, &us))
        return too_large;
    *ret_us = (gint64) us;
    return NULL;
}

const char *
quantity_parse_ratio(const char *text, double *ret_ratio)
{
    Decimal number;
    double ratio;

    if (!decimal_scan(&number, text) || number.overflow)
        return not_a_ratio;
    ratio = (double) number.digits;
    for (guint i = 0; i < number.n_fraction; i++)
        ratio /= 10;
    if (strcmp(number.unit, "%") == 0)
        ratio /= 100;
    else if (*number.unit != '\0')
        return not_a_ratio;
    if (ratio > 1)
        return not_a_ratio;
    *ret_ratio = ratio;
    return NULL;
}

/* One decimal at the most, in the largest unit that gives at least 1. */
static char *
rounded_text(const Unit *units, guint64 number)
{
    const Unit *unit = units;
    guint64 tenths;

    /* 1048575 B rounds to 1024.0 KiB, which is to be 1 MiB. */
    while (unit[1].name != NULL && number >= unit[1].factor - unit->factor / 20)
        unit++;
    if (unit->factor == 1)
        return g_strdup_printf("%" G_GUINT64_FORMAT " %s", number, unit->name);
    tenths =
        number / unit->factor * 10 + (number % unit->factor * 10 + unit->factor / 2) / unit->factor;
    if (tenths % 10 == 0)
        return g_strdup_printf("%" G_GUINT64_FORMAT " %s", tenths / 10, unit->name);
    return g_strdup_printf("%" G_GUINT64_FORMAT ".%u %s", tenths / 10, (guint) (tenths % 10),
                           unit->name);
}

char *
quantity_size_to_text(guint64 bytes)
{
    return rounded_text(binary_units, bytes);
}

char *
quantity_size_to_text_beside(guint64 bytes, guint64 other)
{
    g_autofree char *text = quantity_size_to_text(bytes);
    g_autofree char *other_text = quantity_size_to_text(other);

    if (bytes != other && strcmp(text, other_text) == 0)
        return g_strdup_printf("%" G_GUINT64_FORMAT " B", bytes);
    return g_steal_pointer(&text);
}

char *
quantity_duration_to_text(gint64 us)
{
    return us == 0 ? g_strdup("0 s") : rounded_text(duration_units, (guint64) MAX(us, 0));
}

static char *
exact_text(const Unit *units, guint64 number)
{
    const Unit *largest = units;

    for (const Unit *unit = units; unit->name != NULL; unit++)
        if (number >= unit->factor && number % unit->factor == 0)
            largest = unit;
    return g_strdup_printf("%" G_GUINT64_FORMAT "%s", number / largest->factor, largest->name);
}

char *
quantity_size_to_option(guint64 bytes)
{
    return bytes < 1024 ? g_strdup_printf("%" G_GUINT64_FORMAT, bytes)
                        : exact_text(binary_units, bytes);
}

char *
quantity_duration_to_option(gint64 us)
{
    return us <= 0 ? g_strdup("0s") : exact_text(duration_units, (guint64) us);
}
