# Unit and contract tests: one program each, GLib's g_test, TAP.
TEST_EXTENSIONS = .py .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh

TEST_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SOURCE_DIR='"$(abs_top_srcdir)"'

include tests/unit/local.mk
include tests/contract/local.mk
