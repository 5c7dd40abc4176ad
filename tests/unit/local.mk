unit_tests = \
	%D%/test_clock \
	%D%/test_loop
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

tests_unit_test_clock_SOURCES = %D%/test_clock.c
tests_unit_test_clock_LDADD = $(BASE_LIBS)
tests_unit_test_loop_SOURCES = %D%/test_loop.c
tests_unit_test_loop_LDADD = $(BASE_LIBS)
