# A fuzz target is one file, fuzz_X.c, with LLVMFuzzerTestOneInput, and a folder corpus/X. `make check` replays the
# corpus through it; with --enable-fuzzing (clang) the libFuzzer program tests/fuzz/fuzz_X is built as well:
#
#     CC=clang ../configure --enable-fuzzing --enable-sanitizer=address,undefined && make && make fuzz
# Corpora whose files come from a script: tests/fuzz/make_corpus.py, make_remoting_corpus.py.
EXTRA_DIST += %D%/corpus %D%/fuzz_target.h %D%/make_corpus.py %D%/make_remoting_corpus.py

fuzz_walk = \
	tests/support/cursor_transport.c \
	tests/support/cursor_transport.h \
	%D%/fuzz_walk.c \
	%D%/oracle.c \
	%D%/oracle.h \
	%D%/repeated_field.c \
	%D%/repeated_field.h

fuzz_channel_dir = \
	tests/support/events.c \
	tests/support/events.h \
	tests/support/test_part.c \
	tests/support/test_part.h \
	%D%/fuzz_channel_dir.c

LIBFUZZER = $(AM_LDFLAGS) -fsanitize=fuzzer

replays = \
	%D%/replay_channel_dir \
	%D%/replay_event_bytes \
	%D%/replay_frame_server \
	%D%/replay_nsq \
	%D%/replay_remoting \
	%D%/replay_reply \
	%D%/replay_walk \
	%D%/replay_yaml_tree
check_PROGRAMS += $(replays)
TESTS += $(replays)

tests_fuzz_replay_channel_dir_SOURCES = $(fuzz_channel_dir) %D%/replay_main.c
tests_fuzz_replay_channel_dir_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"channel_dir"'
tests_fuzz_replay_channel_dir_LDADD = $(AGENT_LIBS)
tests_fuzz_replay_event_bytes_SOURCES = %D%/fuzz_event_bytes.c %D%/replay_main.c
tests_fuzz_replay_event_bytes_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"event_bytes"'
tests_fuzz_replay_event_bytes_LDADD = $(BASE_LIBS)
tests_fuzz_replay_frame_server_SOURCES = %D%/fuzz_frame_server.c %D%/replay_main.c
tests_fuzz_replay_frame_server_CPPFLAGS = $(TEST_CPPFLAGS) $(THRIFT_CFLAGS) -DFUZZ_CORPUS='"frame_server"'
tests_fuzz_replay_frame_server_LDADD = $(LEAT_THRIFT_LIBS)
tests_fuzz_replay_nsq_SOURCES = %D%/fuzz_nsq.c %D%/replay_main.c
tests_fuzz_replay_nsq_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"nsq"'
tests_fuzz_replay_nsq_LDADD = $(REGISTRY_LIBS)
tests_fuzz_replay_remoting_SOURCES = %D%/fuzz_remoting.c %D%/replay_main.c
tests_fuzz_replay_remoting_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"remoting"'
tests_fuzz_replay_remoting_LDADD = $(REGISTRY_LIBS)
tests_fuzz_replay_reply_SOURCES = %D%/fuzz_reply.c %D%/replay_main.c
tests_fuzz_replay_reply_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"reply"'
tests_fuzz_replay_reply_LDADD = $(WIRE_LIBS)
tests_fuzz_replay_walk_SOURCES = $(fuzz_walk) %D%/replay_main.c
tests_fuzz_replay_walk_CPPFLAGS = $(TEST_CPPFLAGS) $(THRIFT_CFLAGS) -DFUZZ_CORPUS='"walk"'
tests_fuzz_replay_walk_LDADD = $(LEAT_THRIFT_LIBS)
tests_fuzz_replay_yaml_tree_SOURCES = %D%/fuzz_target.h %D%/fuzz_yaml_tree.c %D%/replay_main.c
tests_fuzz_replay_yaml_tree_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"yaml_tree"'
tests_fuzz_replay_yaml_tree_LDADD = $(BASE_LIBS)

if FUZZING
fuzz_targets = \
	%D%/fuzz_channel_dir \
	%D%/fuzz_event_bytes \
	%D%/fuzz_frame_server \
	%D%/fuzz_nsq \
	%D%/fuzz_remoting \
	%D%/fuzz_reply \
	%D%/fuzz_walk \
	%D%/fuzz_yaml_tree
check_PROGRAMS += $(fuzz_targets)
endif

# Without --enable-fuzzing there is none. Each target in turn, from its corpus; what it finds new goes to tests/fuzz/found/ of the build.
FUZZ_SECONDS = 60
.PHONY: fuzz
fuzz: $(fuzz_targets)
	for target in $(fuzz_targets); do \
	  name=$${target##*/fuzz_}; $(MKDIR_P) %D%/found/$$name; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 \
	    -artifact_prefix=%D%/found/ %D%/found/$$name $(srcdir)/%D%/corpus/$$name || exit 1; \
	done

tests_fuzz_fuzz_channel_dir_SOURCES = $(fuzz_channel_dir)
tests_fuzz_fuzz_channel_dir_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_channel_dir_LDADD = $(AGENT_LIBS)
tests_fuzz_fuzz_event_bytes_SOURCES = %D%/fuzz_event_bytes.c
tests_fuzz_fuzz_event_bytes_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_event_bytes_LDADD = $(BASE_LIBS)
tests_fuzz_fuzz_frame_server_SOURCES = %D%/fuzz_frame_server.c
tests_fuzz_fuzz_frame_server_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
tests_fuzz_fuzz_frame_server_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_frame_server_LDADD = $(LEAT_THRIFT_LIBS)
tests_fuzz_fuzz_nsq_SOURCES = %D%/fuzz_nsq.c
tests_fuzz_fuzz_nsq_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_nsq_LDADD = $(REGISTRY_LIBS)
tests_fuzz_fuzz_remoting_SOURCES = %D%/fuzz_remoting.c
tests_fuzz_fuzz_remoting_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_remoting_LDADD = $(REGISTRY_LIBS)
tests_fuzz_fuzz_reply_SOURCES = %D%/fuzz_reply.c
tests_fuzz_fuzz_reply_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_reply_LDADD = $(WIRE_LIBS)
tests_fuzz_fuzz_walk_SOURCES = $(fuzz_walk)
tests_fuzz_fuzz_walk_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
tests_fuzz_fuzz_walk_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_walk_LDADD = $(LEAT_THRIFT_LIBS)
tests_fuzz_fuzz_yaml_tree_SOURCES = %D%/fuzz_yaml_tree.c
tests_fuzz_fuzz_yaml_tree_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_yaml_tree_LDADD = $(BASE_LIBS)
