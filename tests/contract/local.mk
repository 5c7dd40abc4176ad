# Suites against an interface of the core, run for every type that implements it.
contract_tests = %D%/test_channel
check_PROGRAMS += $(contract_tests)
TESTS += $(contract_tests)

tests_contract_test_channel_SOURCES = \
	%D%/channel_contract.h \
	%D%/channel_harness.c \
	%D%/channel_harness.h \
	%D%/channel_put_contract.c \
	%D%/channel_take_contract.c \
	%D%/channel_thread_contract.c \
	%D%/channel_wait_contract.c \
	%D%/test_channel.c \
	tests/support/events.c \
	tests/support/events.h \
	tests/support/folder.c \
	tests/support/folder.h \
	tests/support/test_part.c \
	tests/support/test_part.h
tests_contract_test_channel_LDADD = $(AGENT_LIBS)
