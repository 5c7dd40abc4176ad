unit_tests = \
	%D%/test_batch \
	%D%/test_buffer_pool \
	%D%/test_call \
	%D%/test_clock \
	%D%/test_event_bytes \
	%D%/test_line_reader \
	%D%/test_loop \
	%D%/test_source_processor
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

tests_unit_test_clock_SOURCES = %D%/test_clock.c
tests_unit_test_clock_LDADD = $(BASE_LIBS)
tests_unit_test_loop_SOURCES = %D%/test_loop.c
tests_unit_test_loop_LDADD = $(BASE_LIBS)
tests_unit_test_batch_SOURCES = %D%/test_batch.c
tests_unit_test_batch_LDADD = $(BASE_LIBS)
tests_unit_test_buffer_pool_SOURCES = %D%/test_buffer_pool.c
tests_unit_test_buffer_pool_LDADD = $(BASE_LIBS)
tests_unit_test_event_bytes_SOURCES = %D%/test_event_bytes.c
tests_unit_test_event_bytes_LDADD = $(BASE_LIBS)
tests_unit_test_call_SOURCES = %D%/test_call.c
tests_unit_test_call_LDADD = $(WIRE_LIBS)
tests_unit_test_line_reader_SOURCES = %D%/test_line_reader.c
tests_unit_test_line_reader_LDADD = libagent.a $(BASE_LIBS)
tests_unit_test_source_processor_SOURCES = %D%/test_source_processor.c
tests_unit_test_source_processor_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
tests_unit_test_source_processor_LDADD = $(LEAT_THRIFT_LIBS)
