unit_tests = \
	%D%/test_agent_config \
	%D%/test_announcer \
	%D%/test_backoff \
	%D%/test_batch \
	%D%/test_batch_cutter \
	%D%/test_broker_registration \
	%D%/test_buffer_pool \
	%D%/test_builtin \
	%D%/test_call \
	%D%/test_channel_processor \
	%D%/test_client_guess \
	%D%/test_choice \
	%D%/test_clock \
	%D%/test_component \
	%D%/test_connection \
	%D%/test_connection_pool \
	%D%/test_dead_letter \
	%D%/test_endpoint \
	%D%/test_event_bytes \
	%D%/test_event_check \
	%D%/test_event_edit \
	%D%/test_event_format \
	%D%/test_event_window \
	%D%/test_file_channel_crash \
	%D%/test_file_channel_faults \
	%D%/test_file_channel_model \
	%D%/test_file_channel_record \
	%D%/test_file_codec \
	%D%/test_file_faults \
	%D%/test_file_recovery \
	%D%/test_file_sink \
	%D%/test_file_template \
	%D%/test_file_text \
	%D%/test_file_time \
	%D%/test_frame_pace \
	%D%/test_frame_server \
	%D%/test_header_interceptors \
	%D%/test_intercept_watch \
	%D%/test_interceptor_chain \
	%D%/test_json_writer \
	%D%/test_kv_store \
	%D%/test_leat_client \
	%D%/test_line_reader \
	%D%/test_log \
	%D%/test_log_damage_checkpoint \
	%D%/test_log_damage_pages \
	%D%/test_log_damage_records \
	%D%/test_log_damage_segments \
	%D%/test_loop \
	%D%/test_lookup_schedule \
	%D%/test_memory_queue \
	%D%/test_memory_rest \
	%D%/test_metric \
	%D%/test_namesrv_registration \
	%D%/test_no_memory \
	%D%/test_nsq_answer \
	%D%/test_nsq_request \
	%D%/test_nsq_table \
	%D%/test_nsq_table_time \
	%D%/test_nsq_wire \
	%D%/test_option \
	%D%/test_option_problems \
	%D%/test_peer_socket \
	%D%/test_poison \
	%D%/test_poison_outage \
	%D%/test_poison_room \
	%D%/test_problems \
	%D%/test_progress \
	%D%/test_put_race \
	%D%/test_quantity \
	%D%/test_receive_memory \
	%D%/test_regex \
	%D%/test_regex_interceptors \
	%D%/test_registration \
	%D%/test_registry_text \
	%D%/test_registry_view \
	%D%/test_remoting \
	%D%/test_reply \
	%D%/test_resolver \
	%D%/test_route_index \
	%D%/test_route_people \
	%D%/test_route_roles \
	%D%/test_route_table \
	%D%/test_rpc_client \
	%D%/test_rpc_connect \
	%D%/test_rpc_hosts \
	%D%/test_rpc_probe \
	%D%/test_rpc_set_hosts \
	%D%/test_rpc_settings \
	%D%/test_rpc_stream \
	%D%/test_rpc_threads \
	%D%/test_selectors \
	%D%/test_sink_group \
	%D%/test_sink_group_threads \
	%D%/test_sink_pipeline \
	%D%/test_sink_runner \
	%D%/test_source_processor \
	%D%/test_spillable_channel \
	%D%/test_source_put \
	%D%/test_take_waiters \
	%D%/test_text_hash \
	%D%/test_thrift_hosts \
	%D%/test_thrift_sink \
	%D%/test_time_pattern \
	%D%/test_topic_route \
	%D%/test_topology \
	%D%/test_walk \
	%D%/test_walk_verdicts \
	%D%/test_yaml_problems \
	%D%/test_yaml_tree

walk_probe = \
	tests/support/thrift_writer.c \
	tests/support/thrift_writer.h \
	tests/support/walk_probe.c \
	tests/support/walk_probe.h
# What makes a single part from YAML text.
test_part = tests/support/test_part.c tests/support/test_part.h
scripted_sink = $(test_part) tests/support/scripted_sink.c tests/support/scripted_sink.h
# Batches from texts, and interceptors that change them.
test_events = tests/support/events.c tests/support/events.h
test_intercept = $(test_events) $(test_part) tests/support/intercept.c tests/support/intercept.h
test_select = $(test_events) tests/support/select.c tests/support/select.h

# A client, and the servers that are its hosts.
test_rpc = \
	tests/support/events.c \
	tests/support/events.h \
	tests/support/rpc_fixture.c \
	tests/support/rpc_fixture.h \
	tests/support/rpc_server.c \
	tests/support/rpc_server.h

decoder = \
	tests/support/decoder.c \
	tests/support/decoder.h
event_maker = \
	tests/support/event_maker.c \
	tests/support/event_maker.h
# The directory of a file channel, damaged, and what is found in it.
log_damage = \
	tests/support/events.c \
	tests/support/events.h \
	tests/support/folder.c \
	tests/support/folder.h \
	tests/support/log_maker.c \
	tests/support/log_maker.h \
	tests/support/log_survivors.c \
	tests/support/log_survivors.h \
	tests/support/test_part.c \
	tests/support/test_part.h
file_sink_harness = \
	$(event_maker) \
	tests/support/file_sink_harness.c \
	tests/support/file_sink_harness.h
FILE_SINK_LIBS = libagent.a $(BASE_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests) %D%/test_option_types.sh
EXTRA_DIST += %D%/test_option_types.sh

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
tests_unit_test_event_check_SOURCES = %D%/test_event_check.c
tests_unit_test_event_check_LDADD = $(BASE_LIBS)
tests_unit_test_call_SOURCES = %D%/test_call.c
tests_unit_test_call_LDADD = $(WIRE_LIBS)
tests_unit_test_line_reader_SOURCES = %D%/test_line_reader.c
tests_unit_test_line_reader_LDADD = libagent.a $(BASE_LIBS)
tests_unit_test_source_processor_SOURCES = %D%/test_source_processor.c
tests_unit_test_source_processor_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
tests_unit_test_source_processor_LDADD = $(LEAT_THRIFT_LIBS)
tests_unit_test_reply_SOURCES = %D%/test_reply.c
tests_unit_test_reply_LDADD = $(WIRE_LIBS)
tests_unit_test_walk_SOURCES = $(walk_probe) %D%/test_walk.c
tests_unit_test_walk_LDADD = $(WIRE_LIBS)
tests_unit_test_walk_verdicts_SOURCES = $(walk_probe) %D%/test_walk_verdicts.c
tests_unit_test_walk_verdicts_LDADD = $(WIRE_LIBS)
tests_unit_test_connection_SOURCES = \
	%D%/test_connection.c tests/support/deaf_peer.c tests/support/deaf_peer.h
tests_unit_test_connection_LDADD = $(WIRE_LIBS)
tests_unit_test_progress_SOURCES = %D%/test_progress.c
tests_unit_test_progress_LDADD = libagent.a $(BASE_LIBS)
tests_unit_test_take_waiters_SOURCES = %D%/test_take_waiters.c
tests_unit_test_take_waiters_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=g_get_monotonic_time
tests_unit_test_take_waiters_LDADD = $(AGENT_LIBS)
tests_unit_test_backoff_SOURCES = %D%/test_backoff.c
tests_unit_test_backoff_LDADD = $(BASE_LIBS)
tests_unit_test_component_SOURCES = %D%/test_component.c $(test_part)
tests_unit_test_component_LDADD = $(AGENT_LIBS)
tests_unit_test_log_SOURCES = %D%/test_log.c
tests_unit_test_log_LDADD = $(BASE_LIBS)
tests_unit_test_metric_SOURCES = %D%/test_metric.c
tests_unit_test_metric_LDADD = $(BASE_LIBS)
tests_unit_test_dead_letter_SOURCES = \
	$(scripted_sink) %D%/test_dead_letter.c tests/support/fake_channel.c tests/support/fake_channel.h
tests_unit_test_dead_letter_LDADD = $(AGENT_LIBS)
sink_party = $(scripted_sink) tests/support/sink_party.c tests/support/sink_party.h
tests_unit_test_sink_group_SOURCES = %D%/test_sink_group.c $(sink_party)
tests_unit_test_sink_group_threads_SOURCES = %D%/test_sink_group_threads.c $(sink_party)
tests_unit_test_sink_group_threads_LDADD = $(AGENT_LIBS)
tests_unit_test_sink_group_LDADD = $(AGENT_LIBS)
tests_unit_test_sink_pipeline_SOURCES = %D%/test_sink_pipeline.c $(scripted_sink)
tests_unit_test_sink_pipeline_LDADD = $(AGENT_LIBS)
tests_unit_test_sink_runner_SOURCES = %D%/test_sink_runner.c $(scripted_sink)
tests_unit_test_sink_runner_LDADD = $(AGENT_LIBS)
tests_unit_test_source_put_SOURCES = %D%/test_source_put.c $(test_part)
tests_unit_test_source_put_LDADD = $(AGENT_LIBS)
poison_world = tests/support/poison_world.c tests/support/poison_world.h
tests_unit_test_poison_outage_SOURCES = %D%/test_poison_outage.c $(poison_world)
tests_unit_test_poison_outage_LDADD = $(AGENT_LIBS)
tests_unit_test_poison_room_SOURCES = %D%/test_poison_room.c $(poison_world)
tests_unit_test_poison_room_LDADD = $(AGENT_LIBS)
tests_unit_test_poison_SOURCES = %D%/test_poison.c $(poison_world)
tests_unit_test_poison_LDADD = $(AGENT_LIBS)
tests_unit_test_problems_SOURCES = %D%/test_problems.c
tests_unit_test_problems_LDADD = $(BASE_LIBS)
tests_unit_test_quantity_SOURCES = %D%/test_quantity.c
tests_unit_test_quantity_LDADD = $(BASE_LIBS)
tests_unit_test_file_text_SOURCES = %D%/test_file_text.c
tests_unit_test_file_text_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_file_text_LDADD = $(BASE_LIBS)
tests_unit_test_regex_SOURCES = %D%/test_regex.c
tests_unit_test_regex_LDADD = $(BASE_LIBS)
tests_unit_test_endpoint_SOURCES = %D%/test_endpoint.c
tests_unit_test_endpoint_LDADD = $(BASE_LIBS)
tests_unit_test_json_writer_SOURCES = %D%/test_json_writer.c
tests_unit_test_json_writer_LDADD = $(BASE_LIBS)
tests_unit_test_yaml_tree_SOURCES = %D%/test_yaml_tree.c
tests_unit_test_yaml_tree_LDADD = $(BASE_LIBS)
tests_unit_test_yaml_problems_SOURCES = %D%/test_yaml_problems.c
tests_unit_test_yaml_problems_LDADD = $(BASE_LIBS)
tests_unit_test_option_SOURCES = %D%/every_option.h %D%/test_option.c
tests_unit_test_option_LDADD = $(BASE_LIBS)
tests_unit_test_option_problems_SOURCES = %D%/every_option.h %D%/test_option_problems.c
tests_unit_test_option_problems_LDADD = $(BASE_LIBS)
tests_unit_test_receive_memory_SOURCES = %D%/test_receive_memory.c
tests_unit_test_receive_memory_LDADD = $(LEAT_THRIFT_LIBS)
tests_unit_test_agent_config_SOURCES = %D%/test_agent_config.c
tests_unit_test_agent_config_LDADD = $(AGENT_LIBS)
tests_unit_test_builtin_SOURCES = %D%/test_builtin.c
tests_unit_test_builtin_LDADD = $(AGENT_LIBS)
tests_unit_test_text_hash_SOURCES = %D%/test_text_hash.c
tests_unit_test_text_hash_LDADD = $(BASE_LIBS)
tests_unit_test_topology_SOURCES = %D%/test_topology.c
tests_unit_test_topology_LDADD = $(AGENT_LIBS)
tests_unit_test_event_edit_SOURCES = %D%/test_event_edit.c $(test_events)
tests_unit_test_event_edit_LDADD = $(AGENT_LIBS)
tests_unit_test_header_interceptors_SOURCES = %D%/test_header_interceptors.c $(test_intercept)
tests_unit_test_header_interceptors_LDADD = $(AGENT_LIBS)
tests_unit_test_no_memory_SOURCES = \
	$(test_intercept) \
	$(walk_probe) \
	tests/support/memory_fault.c \
	tests/support/memory_fault.h \
	tests/support/select.c \
	tests/support/select.h \
	%D%/test_no_memory.c
tests_unit_test_no_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=g_try_malloc,--wrap=g_try_malloc0,--wrap=g_try_realloc,--wrap=mmap
tests_unit_test_no_memory_LDADD = $(AGENT_LIBS)
tests_unit_test_intercept_watch_SOURCES = %D%/test_intercept_watch.c $(test_intercept)
tests_unit_test_intercept_watch_LDADD = $(AGENT_LIBS)
tests_unit_test_interceptor_chain_SOURCES = %D%/test_interceptor_chain.c $(test_intercept)
tests_unit_test_interceptor_chain_LDADD = $(AGENT_LIBS)
tests_unit_test_regex_interceptors_SOURCES = %D%/test_regex_interceptors.c $(test_intercept)
tests_unit_test_regex_interceptors_LDADD = $(AGENT_LIBS)
tests_unit_test_thrift_sink_SOURCES = \
	$(test_part) %D%/test_thrift_sink.c tests/support/rpc_server.c tests/support/rpc_server.h
tests_unit_test_thrift_sink_LDADD = $(AGENT_LIBS)
tests_unit_test_time_pattern_SOURCES = %D%/test_time_pattern.c
tests_unit_test_time_pattern_LDADD = $(AGENT_LIBS)
tests_unit_test_channel_processor_SOURCES = \
	$(test_intercept) \
	%D%/test_channel_processor.c \
	tests/support/fake_channel.c \
	tests/support/fake_channel.h \
	tests/support/select.c \
	tests/support/select.h
tests_unit_test_channel_processor_LDADD = $(AGENT_LIBS)
tests_unit_test_selectors_SOURCES = %D%/test_selectors.c $(test_select)
tests_unit_test_selectors_LDADD = $(AGENT_LIBS)
tests_unit_test_event_format_SOURCES = $(event_maker) %D%/test_event_format.c
tests_unit_test_event_format_LDADD = $(BASE_LIBS)
tests_unit_test_file_template_SOURCES = $(event_maker) %D%/test_file_template.c
tests_unit_test_file_template_LDADD = libagent.a $(BASE_LIBS)
tests_unit_test_file_time_SOURCES = $(event_maker) %D%/test_file_time.c
tests_unit_test_file_time_LDADD = libagent.a $(BASE_LIBS)
channel_world = \
	tests/support/channel_world.c \
	tests/support/channel_world.h \
	tests/support/folder.c \
	tests/support/folder.h \
	tests/support/test_part.c \
	tests/support/test_part.h
tests_unit_test_file_channel_crash_SOURCES = \
	$(channel_world) tests/support/crash_disk.c tests/support/crash_disk.h %D%/test_file_channel_crash.c
tests_unit_test_file_channel_crash_LDADD = $(AGENT_LIBS)
tests_unit_test_file_channel_faults_SOURCES = \
	$(channel_world) tests/support/crash_disk.c tests/support/crash_disk.h %D%/test_file_channel_faults.c
tests_unit_test_file_channel_faults_LDADD = $(AGENT_LIBS)
tests_unit_test_file_channel_model_SOURCES = \
	$(channel_world) tests/support/shrink.c tests/support/shrink.h %D%/test_file_channel_model.c
tests_unit_test_file_channel_model_LDADD = $(AGENT_LIBS)
tests_unit_test_file_channel_record_SOURCES = %D%/test_file_channel_record.c
tests_unit_test_file_channel_record_LDADD = libagent.a $(BASE_LIBS)
tests_unit_test_log_damage_checkpoint_SOURCES = $(log_damage) %D%/test_log_damage_checkpoint.c
tests_unit_test_log_damage_checkpoint_LDADD = $(AGENT_LIBS)
tests_unit_test_log_damage_pages_SOURCES = $(log_damage) %D%/test_log_damage_pages.c
tests_unit_test_log_damage_pages_LDADD = $(AGENT_LIBS)
tests_unit_test_log_damage_records_SOURCES = $(log_damage) %D%/test_log_damage_records.c
tests_unit_test_log_damage_records_LDADD = $(AGENT_LIBS)
tests_unit_test_log_damage_segments_SOURCES = $(log_damage) %D%/test_log_damage_segments.c
tests_unit_test_log_damage_segments_LDADD = $(AGENT_LIBS)
tests_unit_test_file_codec_SOURCES = $(decoder) %D%/test_file_codec.c
tests_unit_test_file_codec_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)
tests_unit_test_file_codec_LDADD = $(FILE_SINK_LIBS)
tests_unit_test_file_sink_SOURCES = $(file_sink_harness) %D%/test_file_sink.c
tests_unit_test_file_sink_LDADD = $(FILE_SINK_LIBS)
tests_unit_test_file_faults_SOURCES = \
	$(decoder) $(file_sink_harness) tests/support/fault.c tests/support/fault.h %D%/test_file_faults.c
tests_unit_test_file_faults_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)
tests_unit_test_file_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=write,--wrap=fdatasync,--wrap=ftruncate \
	-Wl,--wrap=renameat2,--wrap=linkat,--wrap=openat
tests_unit_test_file_faults_LDADD = $(FILE_SINK_LIBS)
tests_unit_test_file_recovery_SOURCES = $(decoder) $(file_sink_harness) %D%/test_file_recovery.c
tests_unit_test_file_recovery_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)
tests_unit_test_file_recovery_LDADD = $(FILE_SINK_LIBS)
tests_unit_test_memory_queue_SOURCES = %D%/test_memory_queue.c $(test_events)
tests_unit_test_memory_queue_LDADD = $(AGENT_LIBS)
tests_unit_test_memory_rest_SOURCES = $(test_part) $(test_select) %D%/test_memory_rest.c
tests_unit_test_memory_rest_LDADD = $(AGENT_LIBS)
tests_unit_test_client_guess_SOURCES = %D%/test_client_guess.c
tests_unit_test_client_guess_LDADD = $(LEAT_THRIFT_LIBS)
tests_unit_test_frame_pace_SOURCES = %D%/test_frame_pace.c
tests_unit_test_frame_pace_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
tests_unit_test_frame_pace_LDADD = $(LEAT_THRIFT_LIBS)
tests_unit_test_frame_server_SOURCES = $(test_events) %D%/test_frame_server.c
tests_unit_test_frame_server_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
tests_unit_test_frame_server_LDADD = $(LEAT_THRIFT_LIBS)
tests_unit_test_put_race_SOURCES = \
	$(test_part) \
	$(test_select) \
	%D%/test_put_race.c
tests_unit_test_put_race_LDADD = $(AGENT_LIBS)
# The library's own files; as a shared library it has a story.
leat_client = client/event_window.c client/leat_client.c
tests_unit_test_event_window_SOURCES = $(leat_client) %D%/test_event_window.c
tests_unit_test_event_window_LDADD = $(CLIENT_LIBS)
tests_unit_test_leat_client_SOURCES = $(leat_client) $(test_rpc) %D%/test_leat_client.c
tests_unit_test_leat_client_LDADD = $(CLIENT_LIBS)
tests_unit_test_rpc_client_SOURCES = $(test_rpc) %D%/test_rpc_client.c
tests_unit_test_rpc_client_LDADD = $(CLIENT_LIBS)
tests_unit_test_rpc_connect_SOURCES = $(test_rpc) %D%/test_rpc_connect.c
tests_unit_test_rpc_connect_LDADD = $(CLIENT_LIBS)
tests_unit_test_choice_SOURCES = %D%/test_choice.c
tests_unit_test_choice_LDADD = $(BASE_LIBS)
tests_unit_test_resolver_SOURCES = %D%/test_resolver.c
tests_unit_test_resolver_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getaddrinfo,--wrap=freeaddrinfo
tests_unit_test_resolver_LDADD = $(BASE_LIBS)
tests_unit_test_batch_cutter_SOURCES = \
	%D%/test_batch_cutter.c tests/support/events.c tests/support/events.h
tests_unit_test_batch_cutter_LDADD = $(CLIENT_LIBS)
tests_unit_test_peer_socket_SOURCES = \
	%D%/test_peer_socket.c tests/support/events.c tests/support/events.h
tests_unit_test_peer_socket_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sendmsg
tests_unit_test_peer_socket_LDADD = $(WIRE_LIBS)
tests_unit_test_connection_pool_SOURCES = %D%/test_connection_pool.c
tests_unit_test_connection_pool_LDADD = $(CLIENT_LIBS)
tests_unit_test_rpc_hosts_SOURCES = $(test_rpc) %D%/test_rpc_hosts.c
tests_unit_test_rpc_hosts_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getaddrinfo
tests_unit_test_rpc_hosts_LDADD = $(CLIENT_LIBS)
tests_unit_test_rpc_probe_SOURCES = \
	$(test_rpc) %D%/test_rpc_probe.c tests/support/deaf_peer.c tests/support/deaf_peer.h
tests_unit_test_rpc_probe_LDADD = $(CLIENT_LIBS)
test_rpc_turmoil = tests/support/rpc_turmoil.c tests/support/rpc_turmoil.h
tests_unit_test_rpc_set_hosts_SOURCES = $(test_rpc) $(test_rpc_turmoil) %D%/test_rpc_set_hosts.c
tests_unit_test_rpc_set_hosts_LDADD = $(CLIENT_LIBS)
tests_unit_test_rpc_settings_SOURCES = %D%/test_rpc_settings.c
tests_unit_test_rpc_settings_LDADD = $(AGENT_LIBS)
tests_unit_test_rpc_stream_SOURCES = $(test_rpc) %D%/test_rpc_stream.c
tests_unit_test_rpc_stream_LDADD = $(CLIENT_LIBS)
tests_unit_test_rpc_threads_SOURCES = \
	$(test_rpc) $(test_rpc_turmoil) %D%/test_rpc_threads.c tests/support/deaf_peer.c \
	tests/support/deaf_peer.h
tests_unit_test_rpc_threads_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getaddrinfo
tests_unit_test_rpc_threads_LDADD = $(CLIENT_LIBS)
nsq_fixture = tests/support/nsq_fixture.c tests/support/nsq_fixture.h
tests_unit_test_nsq_table_SOURCES = $(nsq_fixture) %D%/test_nsq_table.c
tests_unit_test_nsq_table_time_SOURCES = $(nsq_fixture) %D%/test_nsq_table_time.c
tests_unit_test_nsq_table_time_LDADD = $(REGISTRY_LIBS)
tests_unit_test_nsq_table_LDADD = $(REGISTRY_LIBS)
tests_unit_test_nsq_request_SOURCES = %D%/test_nsq_request.c
tests_unit_test_nsq_request_LDADD = libregistry-wire.a $(BASE_LIBS)
tests_unit_test_nsq_wire_SOURCES = %D%/test_nsq_wire.c
tests_unit_test_nsq_wire_LDADD = $(REGISTRY_LIBS)
# A source of which registries are told.
fake_listener = $(test_part) tests/support/fake_listener.c tests/support/fake_listener.h
tests_unit_test_announcer_SOURCES = $(fake_listener) %D%/test_announcer.c
tests_unit_test_announcer_LDADD = $(AGENT_LIBS)
tests_unit_test_namesrv_registration_SOURCES = $(test_part) %D%/test_namesrv_registration.c
tests_unit_test_namesrv_registration_LDADD = $(AGENT_LIBS)
tests_unit_test_registration_SOURCES = $(fake_listener) %D%/test_registration.c
tests_unit_test_registration_LDADD = $(AGENT_LIBS)
tests_unit_test_broker_registration_SOURCES = %D%/test_broker_registration.c
tests_unit_test_broker_registration_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS)
tests_unit_test_broker_registration_LDADD = $(REGISTRY_LIBS)
tests_unit_test_remoting_SOURCES = %D%/test_remoting.c
tests_unit_test_remoting_LDADD = $(REGISTRY_LIBS)
tests_unit_test_topic_route_SOURCES = %D%/test_topic_route.c
tests_unit_test_topic_route_LDADD = $(REGISTRY_LIBS)
tests_unit_test_kv_store_SOURCES = %D%/test_kv_store.c
tests_unit_test_kv_store_LDADD = $(REGISTRY_LIBS)
# The routes with a clock that the test turns.
route_fixture = tests/support/route_fixture.c tests/support/route_fixture.h
tests_unit_test_route_index_SOURCES = $(route_fixture) %D%/test_route_index.c
tests_unit_test_route_index_LDADD = $(REGISTRY_LIBS)
tests_unit_test_route_people_SOURCES = $(route_fixture) %D%/test_route_people.c
tests_unit_test_route_people_LDADD = $(REGISTRY_LIBS)
tests_unit_test_route_roles_SOURCES = $(route_fixture) %D%/test_route_roles.c
tests_unit_test_route_roles_LDADD = $(REGISTRY_LIBS)
tests_unit_test_route_table_SOURCES = $(route_fixture) %D%/test_route_table.c
tests_unit_test_route_table_LDADD = $(REGISTRY_LIBS)
tests_unit_test_registry_text_SOURCES = %D%/test_registry_text.c
tests_unit_test_registry_text_LDADD = $(REGISTRY_LIBS)
tests_unit_test_spillable_channel_SOURCES = \
	$(test_events) \
	$(test_part) \
	%D%/test_spillable_channel.c \
	tests/contract/channel_harness.c \
	tests/contract/channel_harness.h \
	tests/support/folder.c \
	tests/support/folder.h
tests_unit_test_spillable_channel_LDADD = $(AGENT_LIBS)
tests_unit_test_lookup_schedule_SOURCES = %D%/test_lookup_schedule.c
tests_unit_test_lookup_schedule_LDADD = $(DISCOVERY_LIBS)
tests_unit_test_registry_view_SOURCES = %D%/test_registry_view.c
tests_unit_test_registry_view_LDADD = $(DISCOVERY_LIBS)
tests_unit_test_nsq_answer_SOURCES = %D%/test_nsq_answer.c
tests_unit_test_nsq_answer_LDADD = libregistry-wire.a $(BASE_LIBS)
tests_unit_test_thrift_hosts_SOURCES = $(test_part) %D%/test_thrift_hosts.c
tests_unit_test_thrift_hosts_LDADD = $(AGENT_LIBS)
