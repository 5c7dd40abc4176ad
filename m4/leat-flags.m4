# LEAT_FLAGS: warnings, hardening and what the --enable switches ask for, in AM_CFLAGS and AM_LDFLAGS.
AC_DEFUN([LEAT_FLAGS], [
  LEAT_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wwrite-strings"
  LEAT_CFLAGS="$LEAT_CFLAGS -fno-strict-aliasing -fstack-protector-strong"
  LEAT_LDFLAGS="-Wl,-z,relro -Wl,-z,now -Wl,--as-needed"
  AS_IF([test "x$enable_werror" = xyes], [LEAT_CFLAGS="$LEAT_CFLAGS -Werror"])
  AS_IF([test "x$enable_sanitizer" != x && test "x$enable_sanitizer" != xno],
    [LEAT_CFLAGS="$LEAT_CFLAGS -fsanitize=$enable_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"
     LEAT_LDFLAGS="$LEAT_LDFLAGS -fsanitize=$enable_sanitizer"])
  AS_IF([test "x$enable_coverage" = xyes],
    [LEAT_CFLAGS="$LEAT_CFLAGS --coverage"; LEAT_LDFLAGS="$LEAT_LDFLAGS --coverage"])
  AS_IF([test "x$enable_fuzzing" = xyes], [LEAT_CFLAGS="$LEAT_CFLAGS -fsanitize=fuzzer-no-link"])
  AC_SUBST([LEAT_CFLAGS])
  AC_SUBST([LEAT_LDFLAGS])
])
