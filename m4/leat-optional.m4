# LEAT_OPTIONAL(name, PREFIX, modules, what it gives)
# Looks for an optional library, defines HAVE_PREFIX, and remembers a row for the table at the end.
AC_DEFUN([LEAT_OPTIONAL], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [leave out: $4])], [], [with_$1=auto])
  have_$1=no
  AS_IF([test "x$with_$1" = xno], [leat_why="left out by --without-$1"],
    [PKG_CHECK_MODULES([$2], [$3], [have_$1=yes; leat_why="found"],
       [leat_why="not found: $3"
        AS_IF([test "x$with_$1" = xyes], [AC_MSG_ERROR([--with-$1 was asked for, but $3 is missing])])])])
  AS_IF([test "x$have_$1" = xyes], [AC_DEFINE([HAVE_$2], [1], [$4])])
  AM_CONDITIONAL([HAVE_$2], [test "x$have_$1" = xyes])
  leat_table="$leat_table
$(printf '  %-6s %-4s %-40s %s' '$1' "$have_$1" '$4' "$leat_why")"
])

AC_DEFUN([LEAT_OPTIONAL_TABLE], [
  AS_ECHO(["
leat $PACKAGE_VERSION will be built with
  GLib $($PKG_CONFIG --modversion glib-2.0), Thrift c_glib $($PKG_CONFIG --modversion thrift_c_glib), libyaml $($PKG_CONFIG --modversion yaml-0.1), PCRE2 $($PKG_CONFIG --modversion libpcre2-8)
and of the optional libraries:$leat_table
Stories in Python run with: ${PYTHON:-nothing, install python3-thrift and python3-pytest}
"])
])
