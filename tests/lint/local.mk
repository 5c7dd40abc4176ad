lints = %D%/conformance.py %D%/damage_table.py %D%/format.sh %D%/layers.py %D%/sizes.py
EXTRA_DIST += $(lints)
TESTS += %D%/format.sh
if HAVE_PYTHON
TESTS += %D%/conformance.py %D%/damage_table.py %D%/layers.py %D%/sizes.py
endif

# Minutes of clang-tidy; .clang-tidy says what it looks for.
ANALYZE_FLAGS = -std=gnu11 -DHAVE_CONFIG_H $(AM_CPPFLAGS) $(GLIB_CFLAGS) $(YAML_CFLAGS) $(PCRE2_CFLAGS) $(THRIFT_CFLAGS) $(SOUP_CFLAGS)
.PHONY: analyze
analyze: $(BUILT_SOURCES)
	find $(srcdir)/base $(srcdir)/thrift $(srcdir)/client $(srcdir)/registry $(srcdir)/agent -name '*.c' -print0 | \
	  xargs -0 -P $$(nproc) -n 6 sh -c 'clang-tidy --quiet "$$@" -- $(ANALYZE_FLAGS) 2>/dev/null' sh
