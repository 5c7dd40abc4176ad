noinst_LIBRARIES += libagent.a
libagent_a_SOURCES = \
	%D%/agent.c \
	%D%/agent.h \
	%D%/agent_config.c \
	%D%/agent_config.h \
	%D%/agent_config_check.c \
	%D%/agent_config_check.h \
	%D%/agent_config_sinks.c \
	%D%/agent_config_sinks.h \
	%D%/agent_part.c \
	%D%/agent_part.h \
	%D%/agent_process.c \
	%D%/agent_process.h \
	%D%/agent_route.c \
	%D%/agent_route.h \
	%D%/agent_stop.c \
	%D%/agent_stop.h \
	%D%/builtin.c \
	%D%/builtin.h \
	%D%/channels/file_channel/checkpoint.c \
	%D%/channels/file_channel/checkpoint.h \
	%D%/channels/file_channel/compression.h \
	%D%/channels/file_channel/consumption.c \
	%D%/channels/file_channel/consumption.h \
	%D%/channels/file_channel/crc32c.c \
	%D%/channels/file_channel/crc32c.h \
	%D%/channels/file_channel/file_channel.c \
	%D%/channels/file_channel/file_channel.h \
	%D%/channels/file_channel/file_channel_log.c \
	%D%/channels/file_channel/file_channel_log.h \
	%D%/channels/file_channel/file_channel_put.c \
	%D%/channels/file_channel/file_channel_take.c \
	%D%/channels/file_channel/file_channel_writer.c \
	%D%/channels/file_channel/file_ops.c \
	%D%/channels/file_channel/file_ops.h \
	%D%/channels/file_channel/little_endian.h \
	%D%/channels/file_channel/log_ranges.c \
	%D%/channels/file_channel/log_ranges.h \
	%D%/channels/file_channel/log_reader.c \
	%D%/channels/file_channel/log_reader.h \
	%D%/channels/file_channel/log_run.c \
	%D%/channels/file_channel/log_run.h \
	%D%/channels/file_channel/log_writer.c \
	%D%/channels/file_channel/log_writer.h \
	%D%/channels/file_channel/record.c \
	%D%/channels/file_channel/record.h \
	%D%/channels/file_channel/recovery.c \
	%D%/channels/file_channel/recovery.h \
	%D%/channels/file_channel/recovery_heads.c \
	%D%/channels/file_channel/recovery_heads.h \
	%D%/channels/file_channel/run_cache.c \
	%D%/channels/file_channel/run_cache.h \
	%D%/channels/file_channel/segment.c \
	%D%/channels/file_channel/segment.h \
	%D%/channels/file_channel/segment_dir.c \
	%D%/channels/file_channel/segment_dir.h \
	%D%/channels/file_channel/segment_list.c \
	%D%/channels/file_channel/segment_list.h \
	%D%/channels/file_channel/segment_reader.c \
	%D%/channels/file_channel/segment_reader.h \
	%D%/channels/file_channel/seq_set.c \
	%D%/channels/file_channel/seq_set.h \
	%D%/channels/memory_channel.c \
	%D%/channels/memory_queue.c \
	%D%/channels/memory_queue.h \
	%D%/commands/channel.c \
	%D%/commands/channel.h \
	%D%/commands/channel_cat.c \
	%D%/commands/channel_folder.c \
	%D%/commands/channel_folder.h \
	%D%/commands/channel_inspect.c \
	%D%/commands/channel_verify.c \
	%D%/commands/channel_walk.c \
	%D%/commands/channel_walk.h \
	%D%/commands/check.c \
	%D%/commands/command.c \
	%D%/commands/command.h \
	%D%/commands/describe.c \
	%D%/commands/describe.h \
	%D%/commands/describe_man.c \
	%D%/commands/describe_schema.c \
	%D%/commands/describe_schema_rows.c \
	%D%/commands/describe_schema_rows.h \
	%D%/commands/describe_words.c \
	%D%/commands/describe_yaml.c \
	%D%/commands/line_reader.c \
	%D%/commands/line_reader.h \
	%D%/commands/progress.c \
	%D%/commands/progress.h \
	%D%/commands/run.c \
	%D%/commands/send.c \
	%D%/commands/send_lines.c \
	%D%/commands/send_lines.h \
	%D%/commands/version.c \
	%D%/commands/version.h \
	%D%/core/channel.c \
	%D%/core/channel.h \
	%D%/core/channel_processor.c \
	%D%/core/channel_processor.h \
	%D%/core/component.c \
	%D%/core/component.h \
	%D%/core/component_report.c \
	%D%/core/component_report.h \
	%D%/core/dead_letter.c \
	%D%/core/dead_letter.h \
	%D%/core/event_edit.c \
	%D%/core/event_edit.h \
	%D%/core/interceptor.h \
	%D%/core/interceptor_chain.c \
	%D%/core/interceptor_chain.h \
	%D%/core/poison.c \
	%D%/core/poison.h \
	%D%/core/put_state.c \
	%D%/core/put_state.h \
	%D%/core/route.c \
	%D%/core/route.h \
	%D%/core/selector.c \
	%D%/core/selector.h \
	%D%/core/sink.c \
	%D%/core/sink.h \
	%D%/core/sink_group.c \
	%D%/core/sink_group.h \
	%D%/core/sink_leases.c \
	%D%/core/sink_leases.h \
	%D%/core/sink_runner.c \
	%D%/core/sink_runner.h \
	%D%/core/sink_search.c \
	%D%/core/sink_search.h \
	%D%/core/sink_worker.c \
	%D%/core/sink_worker.h \
	%D%/core/source.c \
	%D%/core/source.h \
	%D%/core/source_put.c \
	%D%/core/source_runner.c \
	%D%/core/source_runner.h \
	%D%/core/take_waiters.c \
	%D%/core/take_waiters.h \
	%D%/flume_metrics.c \
	%D%/flume_metrics.h \
	%D%/http_server.h \
	%D%/http_service.c \
	%D%/http_service.h \
	%D%/interceptors/host_interceptor.c \
	%D%/interceptors/regex_extractor_interceptor.c \
	%D%/interceptors/regex_filter_interceptor.c \
	%D%/interceptors/regex_search.c \
	%D%/interceptors/regex_search.h \
	%D%/interceptors/remove_header_interceptor.c \
	%D%/interceptors/replacement.c \
	%D%/interceptors/replacement.h \
	%D%/interceptors/search_replace_interceptor.c \
	%D%/interceptors/static_interceptor.c \
	%D%/interceptors/time_pattern.c \
	%D%/interceptors/time_pattern.h \
	%D%/interceptors/timestamp_interceptor.c \
	%D%/interceptors/uuid_interceptor.c \
	%D%/selectors/load_balance_selector.c \
	%D%/selectors/multiplexing_selector.c \
	%D%/selectors/replicating_selector.c \
	%D%/service_notify.c \
	%D%/service_notify.h \
	%D%/sinks/file_codec.c \
	%D%/sinks/file_codec.h \
	%D%/sinks/file_delivery.c \
	%D%/sinks/file_delivery.h \
	%D%/sinks/file_directory.c \
	%D%/sinks/file_directory.h \
	%D%/sinks/file_error.c \
	%D%/sinks/file_error.h \
	%D%/sinks/file_pool.c \
	%D%/sinks/file_pool.h \
	%D%/sinks/file_recovery.c \
	%D%/sinks/file_recovery.h \
	%D%/sinks/file_rules.h \
	%D%/sinks/file_sink.c \
	%D%/sinks/file_template.c \
	%D%/sinks/file_template.h \
	%D%/sinks/file_time.c \
	%D%/sinks/file_time.h \
	%D%/sinks/file_writer.c \
	%D%/sinks/file_writer.h \
	%D%/sinks/logger_sink.c \
	%D%/sinks/null_sink.c \
	%D%/sinks/thrift_sink.c \
	%D%/sources/sequence_source.c \
	%D%/sources/thrift_source.c \
	%D%/topology_canvas.c \
	%D%/topology_canvas.h \
	%D%/topology_dot.c \
	%D%/topology_draw.c \
	%D%/topology_label.c \
	%D%/topology_label.h \
	%D%/topology_layout.c \
	%D%/topology_layout.h
if HAVE_SOUP
libagent_a_SOURCES += %D%/http_listener.c %D%/http_listener.h %D%/http_server.c
else
libagent_a_SOURCES += %D%/http_server_none.c
endif
if HAVE_ZLIB
libagent_a_SOURCES += %D%/sinks/file_gzip.c
endif
if HAVE_ZSTD
libagent_a_SOURCES += %D%/channels/file_channel/compression_zstd.c %D%/sinks/file_zstd.c
else
libagent_a_SOURCES += %D%/channels/file_channel/compression_none.c
endif

libagent_a_CPPFLAGS = $(AM_CPPFLAGS) $(SOUP_CFLAGS) $(YAML_CFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)

AGENT_LIBS = libagent.a libclient.a $(LEAT_THRIFT_LIBS) $(SOUP_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)

bin_PROGRAMS += leat
leat_SOURCES = %D%/main.c
leat_LDADD = $(AGENT_LIBS)
