unit_tests = \
	%D%/test_clock
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

tests_unit_test_clock_SOURCES = %D%/test_clock.c
tests_unit_test_clock_LDADD = $(BASE_LIBS)
