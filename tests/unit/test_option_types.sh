#!/bin/sh
# test_option_types.sh - an option row whose member has another type than its kind does not compile.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
n=0

# compiles KIND TYPE: a row of KIND that points at a member of TYPE.
compiles() {
    cat >"$folder/row.c" <<END
#include "base/option.h"
typedef struct { int before; $2 member; } Part;
const OptionSpec rows[] = { { .name = "x", OPTION_AT($1, Part, member) }, { 0 } };
END
    $CC -std=gnu11 -I"$top_srcdir" $GLIB_CFLAGS -fsyntax-only "$folder/row.c" >"$folder/log" 2>&1
}

report() {
    n=$((n + 1))
    if [ "$1" = "$2" ]; then
        echo "ok $n - $3"
    else
        echo "not ok $n - $3"
        sed 's/^/# /' "$folder/log"
    fi
}

accepts() {
    compiles "$1" "$2" && got=yes || got=no
    report "$got" yes "a $1 row takes a member of type $2"
}

refuses() {
    compiles "$1" "$2" && got=yes || got=no
    report "$got" no "a $1 row does not compile with a member of type $2"
}

accepts STRING 'char *'
accepts BOOL gboolean
accepts COUNT guint64
accepts SIZE guint64
accepts DURATION gint64
accepts RATIO double
accepts CHOICE guint
accepts REGEX 'GRegex *'
accepts PATH 'char *'
accepts SECRET_FILE 'char *'
accepts LISTEN 'Endpoint *'
accepts ENDPOINTS 'GPtrArray *'
accepts NAMES GStrv
accepts MAP 'GPtrArray *'
accepts ROWS 'GPtrArray *'
refuses STRING 'const char *'
refuses BOOL 'unsigned char'
refuses COUNT guint
refuses SIZE gint64
refuses DURATION guint
refuses RATIO float
refuses CHOICE int
refuses REGEX 'char *'
refuses LISTEN Endpoint
refuses ENDPOINTS GStrv
refuses NAMES 'char *'
refuses MAP 'GHashTable *'
refuses PART gboolean
echo "1..$n"
