# Whole-process stories, each of them a test of `make check`, run by pytest. Stories may need leat and nothing else.
TESTS += %D%/stories.tap

integration_files = \
	%D%/client_library.py \
	%D%/conftest.py \
	%D%/cut_link.py \
	%D%/fake_registry.py \
	%D%/far_end.py \
	%D%/files.py \
	%D%/flume_api.py \
	%D%/leat.py \
	%D%/registry.py \
	%D%/remoting.py \
	%D%/side_by_side.py \
	%D%/stories.tap \
	%D%/tap.py \
	%D%/test_adding_a_part.py \
	%D%/test_announced_tiers.py \
	%D%/test_channel_tools.py \
	%D%/test_check.py \
	%D%/test_client_library.py \
	%D%/test_commands.py \
	%D%/test_describe.py \
	%D%/test_discovery.py \
	%D%/test_discovery_routes.py \
	%D%/test_examples.py \
	%D%/test_file_channel_ledger.py \
	%D%/test_file_sink.py \
	%D%/test_file_sink_outage.py \
	%D%/test_lifecycle.py \
	%D%/test_logs.py \
	%D%/test_lookup.py \
	%D%/test_metrics.py \
	%D%/test_namesrv_life.py \
	%D%/test_namesrv_requests.py \
	%D%/test_namesrv_tcp.py \
	%D%/test_readme.py \
	%D%/test_registration.py \
	%D%/test_registration_namesrv.py \
	%D%/test_registry_http.py \
	%D%/test_registry_life.py \
	%D%/test_registry_stop.py \
	%D%/test_registry_tcp.py \
	%D%/test_routing.py \
	%D%/test_send.py \
	%D%/test_send_hosts.py \
	%D%/test_sequence.py \
	%D%/test_shutdown.py \
	%D%/test_slow_patterns.py \
	%D%/test_spillable_channel.py \
	%D%/test_thrift_source_answers.py \
	%D%/test_thrift_source_clients.py \
	%D%/test_thrift_source_memory.py \
	%D%/test_thrift_source_soak.py \
	%D%/test_thrift_source_traffic.py \
	%D%/test_tiers.py \
	%D%/test_tiers_dip.py \
	%D%/test_tiers_faults.py \
	%D%/test_tiers_poison.py \
	%D%/test_tiers_stop.py \
	%D%/thrift_agent.py \
	%D%/tiers.py \
	%D%/wire.py

EXTRA_DIST += $(integration_files)
