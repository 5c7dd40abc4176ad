# Load generator and physical limits. Built with the tests, so that they do not rot; run by `make bench`.
bench_programs = \
	%D%/channel_speed \
	%D%/hop_latency \
	%D%/limit_server \
	%D%/loadgen \
	%D%/relay \
	%D%/sync_loop \
	%D%/walk_speed
check_PROGRAMS += $(bench_programs)

tests_bench_channel_speed_SOURCES = \
	%D%/channel_speed.c \
	tests/support/events.c \
	tests/support/events.h \
	tests/support/test_part.c \
	tests/support/test_part.h
tests_bench_channel_speed_LDADD = $(AGENT_LIBS)
tests_bench_hop_latency_SOURCES = %D%/hop_latency.c %D%/load_frame.c %D%/load_frame.h
tests_bench_hop_latency_LDADD = $(WIRE_LIBS)
tests_bench_limit_server_SOURCES = %D%/limit_server.c
tests_bench_limit_server_LDADD = $(GLIB_LIBS)
tests_bench_loadgen_SOURCES = %D%/load_frame.c %D%/load_frame.h %D%/loadgen.c
tests_bench_loadgen_LDADD = $(WIRE_LIBS)
tests_bench_relay_SOURCES = %D%/relay.c
tests_bench_relay_LDADD = $(GLIB_LIBS)
tests_bench_sync_loop_SOURCES = %D%/load_frame.c %D%/load_frame.h %D%/sync_loop.c
tests_bench_sync_loop_LDADD = $(WIRE_LIBS)
tests_bench_walk_speed_SOURCES = \
	tests/support/thrift_writer.c \
	tests/support/thrift_writer.h \
	%D%/walk_speed.c
tests_bench_walk_speed_LDADD = $(WIRE_LIBS)

EXTRA_DIST += %D%/README.md %D%/bench.py %D%/registry_bench.py

# BENCH_OPTIONS=--quick takes about a minute.
.PHONY: bench
bench: $(bin_PROGRAMS) $(bench_programs)
	-$(PYTHON) $(srcdir)/%D%/bench.py --leat $(abs_builddir)/leat --programs $(abs_builddir)/%D% $(BENCH_OPTIONS)
if HAVE_SOUP
	-$(PYTHON) $(srcdir)/%D%/registry_bench.py --registry $(abs_builddir)/leat-registry
endif
