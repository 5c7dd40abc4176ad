/* option.h - option rows: one table per part gives parsing, validation, help, schema and manual.
 *
 *     { .name = "roll-size", OPTION_AT(SIZE, FileSink, roll_bytes),
 *       .fallback = "128MiB", .min = 4096, .help = "Start a new file at this size; 0 is never." },
 *
 * OPTION_AT compares the member's C type with the kind's at compile time. */
#pragma once

#include <glib.h>

#include "base/endpoint.h"
#include "base/problems.h"
#include "base/regex.h"
#include "base/yaml_tree.h"

typedef enum {
    OPTION_STRING,      /* char *          */
    OPTION_BOOL,        /* gboolean        true/false, yes/no, on/off */
    OPTION_COUNT,       /* guint64         */
    OPTION_SIZE,        /* guint64, bytes  */
    OPTION_DURATION,    /* gint64, microseconds */
    OPTION_RATIO,       /* double, 0 to 1  */
    OPTION_CHOICE,      /* guint, index into choices; case is ignored and '_' taken for '-' */
    OPTION_REGEX,       /* Regex * */
    OPTION_PATH,        /* char *          */
    OPTION_SECRET_FILE, /* char *          the content of the named file, without its last newline
                         */
    OPTION_LISTEN,      /* Endpoint *      or NULL for "off" where the fallback allows it */
    OPTION_ENDPOINTS,   /* GPtrArray * of Endpoint *; port 0 refused */
    OPTION_NAMES,       /* GStrv           a list, or one scalar for a list of one */
    OPTION_MAP,         /* GPtrArray * of OptionMapEntry *, in the order of the file */
    OPTION_ROWS,        /* GPtrArray * of instances of `rows`, each g_malloc0(row_size); a list, or
                           one mapping for a list of one */
    OPTION_PART,        /* no member: a mapping with `type`, agent_config makes a part of */
    OPTION_PARTS,       /* no member: a list of such mappings */
} OptionKind;

typedef struct {
    char *key;
    union {
        char *string; /* value_kind STRING */
        GStrv names;  /* value_kind NAMES  */
    };
} OptionMapEntry;

typedef struct OptionSpec OptionSpec;
struct OptionSpec {
    const char *name; /* kebab-case YAML key; NULL ends a table */
    OptionKind kind;
    gsize offset;
    const char *fallback;       /* default in the words a user would write; NULL: empty (NULL, 0) */
    const char *fallback_text;  /* how help names a default that is computed: "the host name" */
    gboolean required;          /* then there is no fallback */
    guint64 min;                /* COUNT, SIZE, DURATION (µs) */
    guint64 max;                /* 0: unlimited */
    gboolean zero_ok;           /* 0 is allowed although it is below min */
    gboolean off_ok;            /* LISTEN: "off" gives NULL */
    const char *const *choices; /* CHOICE, NULL-terminated */
    OptionKind value_kind;      /* MAP: STRING or NAMES */
    const OptionSpec *rows;     /* ROWS: the table of one row */
    gsize row_size;             /* ROWS */
    const char *example;        /* for conf/reference.yaml where there is no fallback */
    gboolean shown;             /* not commented there: the part is of no use without it */
    const char *help;           /* one full sentence */
};

#define OPTION_TYPE_STRING char *
#define OPTION_TYPE_BOOL gboolean
#define OPTION_TYPE_COUNT guint64
#define OPTION_TYPE_SIZE guint64
#define OPTION_TYPE_DURATION gint64
#define OPTION_TYPE_RATIO double
#define OPTION_TYPE_CHOICE guint
#define OPTION_TYPE_REGEX Regex *
#define OPTION_TYPE_PATH char *
#define OPTION_TYPE_SECRET_FILE char *
#define OPTION_TYPE_LISTEN Endpoint *
#define OPTION_TYPE_ENDPOINTS GPtrArray *
#define OPTION_TYPE_NAMES GStrv
#define OPTION_TYPE_MAP GPtrArray *
#define OPTION_TYPE_ROWS GPtrArray *

/* A row whose member has another type than its kind divides by zero at compile time. */
#define OPTION_AT(KIND, Struct, member)                                                    \
    .kind = OPTION_##KIND,                                                                 \
    .offset = G_STRUCT_OFFSET(Struct, member) +                                            \
              0 / (gsize) __builtin_types_compatible_p(__typeof__(((Struct *) 0)->member), \
                                                       OPTION_TYPE_##KIND)

/* Sets every member that the tables (NULL-terminated list) describe, from the mapping (NULL:
 * nothing is written) or from the fallback. Every problem is added with its place; unknown keys are
 * problems with the nearest name. The instance is complete and may be cleared afterwards in any
 * case: an option with a problem has its fallback, or is empty if there is none. path is the prefix
 * of names; items of lists are counted from 0, as in "interceptors[0]". */
void options_apply(const OptionSpec *const *tables, const YamlNode *mapping, gpointer instance,
                   const char *path, Problems *problems);
/* Frees what options_apply allocated in the instance, and sets it to NULL. */
void options_clear(const OptionSpec *const *tables, gpointer instance);

const char *option_kind_name(OptionKind kind); /* "size", "duration", ... as help shows it */
/* A min or max of COUNT, SIZE or DURATION as a user would write it: "4KiB". (transfer full) */
char *option_number_to_text(OptionKind kind, guint64 number);
