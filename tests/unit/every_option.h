/* every_option.h - one row of each kind, for the tests of options. */
#pragma once

#include <glib.h>

#include "base/option.h"

typedef struct {
    char *header;
    guint64 weight;
} EveryRow;

typedef struct {
    char *text;
    gboolean truth;
    guint64 count;
    guint64 bytes;
    gint64 time_us;
    double ratio;
    guint choice;
    Regex *regex;
    char *path;
    char *secret;
    Endpoint *listen;
    GPtrArray *endpoints;
    GStrv names;
    GPtrArray *words;  /* MAP of STRING */
    GPtrArray *routes; /* MAP of NAMES */
    GPtrArray *rows;   /* of EveryRow */
} EveryOption;

static const char *const every_choice[] = { "round-robin", "failover", "random", NULL };

static const OptionSpec every_row_options[] = {
    { .name = "header", OPTION_AT(STRING, EveryRow, header), .required = TRUE },
    { .name = "weight", OPTION_AT(COUNT, EveryRow, weight), .fallback = "1" },
    { 0 },
};

static const OptionSpec every_option[] = {
    { .name = "text", OPTION_AT(STRING, EveryOption, text), .fallback = "a: %{b}" },
    { .name = "truth", OPTION_AT(BOOL, EveryOption, truth), .fallback = "true" },
    { .name = "count", OPTION_AT(COUNT, EveryOption, count), .fallback = "5", .max = 10 },
    { .name = "bytes",
      OPTION_AT(SIZE, EveryOption, bytes),
      .fallback = "4KiB",
      .min = 4096,
      .max = 1 << 30,
      .zero_ok = TRUE },
    { .name = "time", OPTION_AT(DURATION, EveryOption, time_us), .fallback = "10s", .min = 1000 },
    { .name = "ratio", OPTION_AT(RATIO, EveryOption, ratio), .fallback = "25%" },
    { .name = "choice",
      OPTION_AT(CHOICE, EveryOption, choice),
      .fallback = "failover",
      .choices = every_choice },
    { .name = "regex", OPTION_AT(REGEX, EveryOption, regex), .fallback = "^a: b$" },
    { .name = "path", OPTION_AT(PATH, EveryOption, path), .fallback = "/var/log" },
    { 0 },
};

static const OptionSpec every_list[] = {
    { .name = "secret-file", OPTION_AT(SECRET_FILE, EveryOption, secret) },
    { .name = "listen",
      OPTION_AT(LISTEN, EveryOption, listen),
      .fallback = "127.0.0.1:41414",
      .off_ok = TRUE },
    { .name = "hosts", OPTION_AT(ENDPOINTS, EveryOption, endpoints), .fallback = "[a:1, b:2]" },
    { .name = "names", OPTION_AT(NAMES, EveryOption, names), .fallback = "[x, y]" },
    { .name = "words",
      OPTION_AT(MAP, EveryOption, words),
      .value_kind = OPTION_STRING,
      .fallback = "{ k: v }" },
    { .name = "routes", OPTION_AT(MAP, EveryOption, routes), .value_kind = OPTION_NAMES },
    { .name = "rows",
      OPTION_AT(ROWS, EveryOption, rows),
      .rows = every_row_options,
      .row_size = sizeof(EveryRow) },
    { .name = "part", .kind = OPTION_PART },
    { .name = "parts", .kind = OPTION_PARTS },
    { 0 },
};

static const OptionSpec *const every_table[] = { every_option, every_list, NULL };
