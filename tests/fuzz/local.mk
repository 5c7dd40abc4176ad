# A fuzz target is one file, fuzz_X.c, with LLVMFuzzerTestOneInput, and a folder corpus/X. `make check` replays the
# corpus through it; with --enable-fuzzing (clang) the libFuzzer program tests/fuzz/fuzz_X is built as well:
#
#     CC=clang ../configure --enable-fuzzing --enable-sanitizer=address,undefined && make check-programs
#     tests/fuzz/fuzz_X -max_len=4096 new-corpus ../tests/fuzz/corpus/X
EXTRA_DIST += %D%/corpus

LIBFUZZER = $(AM_LDFLAGS) -fsanitize=fuzzer

replays = \
	%D%/replay_yaml_tree
check_PROGRAMS += $(replays)
TESTS += $(replays)

tests_fuzz_replay_yaml_tree_SOURCES = %D%/fuzz_yaml_tree.c %D%/replay_main.c
tests_fuzz_replay_yaml_tree_CPPFLAGS = $(TEST_CPPFLAGS) -DFUZZ_CORPUS='"yaml_tree"'
tests_fuzz_replay_yaml_tree_LDADD = $(BASE_LIBS)

if FUZZING
check_PROGRAMS += \
	%D%/fuzz_yaml_tree
endif

tests_fuzz_fuzz_yaml_tree_SOURCES = %D%/fuzz_yaml_tree.c
tests_fuzz_fuzz_yaml_tree_LDFLAGS = $(LIBFUZZER)
tests_fuzz_fuzz_yaml_tree_LDADD = $(BASE_LIBS)
