# A leat with the sink that docs/adding-a-part.md shows, taken out of the page: the documentation builds.
check_PROGRAMS += %D%/leat-with-console
nodist_tests_adding_leat_with_console_SOURCES = %D%/console_sink.c %D%/agent/builtin.h
tests_adding_leat_with_console_SOURCES = agent/builtin.c agent/main.c
tests_adding_leat_with_console_CPPFLAGS = -I$(builddir)/%D% $(AM_CPPFLAGS) $(SOUP_CFLAGS) $(YAML_CFLAGS)
tests_adding_leat_with_console_LDADD = $(AGENT_LIBS)
BUILT_SOURCES += %D%/console_sink.c %D%/agent/builtin.h
CLEANFILES += %D%/console_sink.c %D%/agent/builtin.h

%D%/console_sink.c: docs/adding-a-part.md
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SED) -n '/^```c/,/^```/{/^```/!p;};/^The line goes/q' $(srcdir)/docs/adding-a-part.md > $@
%D%/agent/builtin.h: agent/builtin.h
	$(AM_V_GEN)$(MKDIR_P) %D%/agent && $(SED) 's/X(null_sink)/X(console_sink) X(null_sink)/' $(srcdir)/agent/builtin.h > $@
agent/tests_adding_leat_with_console-builtin.$(OBJEXT): %D%/agent/builtin.h
