# Unit and contract tests: one program each, GLib's g_test, TAP. The stories speak it too.
TEST_EXTENSIONS = .py .sh .tap
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TAP_LOG_DRIVER = $(LOG_DRIVER)

TEST_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SOURCE_DIR='"$(abs_top_srcdir)"'

# One program that hangs is a failure with a name, and not the end of the others.
LOG_COMPILER = timeout 900
PY_LOG_COMPILER = $(PYTHON)
SH_LOG_COMPILER = $(SHELL)
TAP_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = CC='$(CC)' GLIB_CFLAGS='$(GLIB_CFLAGS)' LEAT_CFLAGS='$(LEAT_CFLAGS)' PYTHON='$(PYTHON)' \
	top_srcdir='$(top_srcdir)'; export CC GLIB_CFLAGS LEAT_CFLAGS PYTHON top_srcdir;

# Everything that `make check` builds, without running it.
.PHONY: check-programs
check-programs: $(BUILT_SOURCES) $(check_PROGRAMS) $(check_LIBRARIES)

# The long forms of the seeded samples: hours in place of minutes.
.PHONY: soak
soak: all
	LEAT_SOAK=1 $(MAKE) check

include tests/bench/local.mk
include tests/fuzz/local.mk
include tests/interop/local.mk
include tests/lint/local.mk
include tests/adding/local.mk
include tests/unit/local.mk
include tests/contract/local.mk
include tests/integration/local.mk
