# The second program. Its tables, formats and TCP need nothing more than base/; HTTP, and so the program, needs libsoup.
noinst_LIBRARIES += libregistry-wire.a libregistry.a
libregistry_wire_a_SOURCES = \
	%D%/wire/broker_body.c \
	%D%/wire/broker_body.h \
	%D%/wire/broker_group.c \
	%D%/wire/broker_group.h \
	%D%/wire/broker_group_json.h \
	%D%/wire/broker_packed_body.c \
	%D%/wire/broker_registration.c \
	%D%/wire/broker_registration.h \
	%D%/wire/broker_registration_decode.c \
	%D%/wire/cluster_info.c \
	%D%/wire/cluster_info.h \
	%D%/wire/crc32.c \
	%D%/wire/crc32.h \
	%D%/wire/data_version.c \
	%D%/wire/data_version.h \
	%D%/wire/data_version_json.h \
	%D%/wire/fastjson.c \
	%D%/wire/fastjson.h \
	%D%/wire/inflate.h \
	%D%/wire/json_escape.c \
	%D%/wire/json_escape.h \
	%D%/wire/json_object.c \
	%D%/wire/json_object.h \
	%D%/wire/json_reader.c \
	%D%/wire/json_reader.h \
	%D%/wire/json_value.c \
	%D%/wire/json_value.h \
	%D%/wire/kv_table.c \
	%D%/wire/kv_table.h \
	%D%/wire/namesrv_codes.h \
	%D%/wire/namesrv_watch.h \
	%D%/wire/nsq_answer.c \
	%D%/wire/nsq_answer.h \
	%D%/wire/nsq_command.c \
	%D%/wire/nsq_command.h \
	%D%/wire/nsq_identity.c \
	%D%/wire/nsq_identity.h \
	%D%/wire/nsq_json.c \
	%D%/wire/nsq_json.h \
	%D%/wire/nsq_name.c \
	%D%/wire/nsq_name.h \
	%D%/wire/nsq_request.c \
	%D%/wire/nsq_request.h \
	%D%/wire/queue_mapping.c \
	%D%/wire/queue_mapping.h \
	%D%/wire/remoting_command.c \
	%D%/wire/remoting_command.h \
	%D%/wire/remoting_decode.c \
	%D%/wire/remoting_frame.h \
	%D%/wire/topic_list.c \
	%D%/wire/topic_list.h \
	%D%/wire/topic_namespace.c \
	%D%/wire/topic_namespace.h \
	%D%/wire/topic_route.c \
	%D%/wire/topic_route.h
if HAVE_ZLIB
libregistry_wire_a_SOURCES += %D%/wire/inflate_zlib.c
else
libregistry_wire_a_SOURCES += %D%/wire/inflate_none.c
endif
libregistry_wire_a_CPPFLAGS = $(AM_CPPFLAGS) $(ZLIB_CFLAGS)
libregistry_a_SOURCES = \
	%D%/command_line.c \
	%D%/command_line.h \
	%D%/command_line_files.c \
	%D%/command_line_private.h \
	%D%/file_saver.c \
	%D%/file_saver.h \
	%D%/go_duration.c \
	%D%/go_duration.h \
	%D%/html_table.c \
	%D%/html_table.h \
	%D%/http_query.c \
	%D%/http_query.h \
	%D%/kv_store.c \
	%D%/kv_store.h \
	%D%/namesrv_admin.c \
	%D%/namesrv_brokers.c \
	%D%/namesrv_kv.c \
	%D%/namesrv_lookups.c \
	%D%/namesrv_properties.c \
	%D%/namesrv_properties.h \
	%D%/namesrv_requests.c \
	%D%/namesrv_server.c \
	%D%/namesrv_server.h \
	%D%/namesrv_server_private.h \
	%D%/namesrv_service.c \
	%D%/namesrv_service.h \
	%D%/namesrv_settings.h \
	%D%/namesrv_waiters.c \
	%D%/nsq_commands.c \
	%D%/nsq_journal.c \
	%D%/nsq_journal.h \
	%D%/nsq_page.c \
	%D%/nsq_page.h \
	%D%/nsq_producer.c \
	%D%/nsq_report.c \
	%D%/nsq_report.h \
	%D%/nsq_room.c \
	%D%/nsq_server.c \
	%D%/nsq_server.h \
	%D%/nsq_server_private.h \
	%D%/nsq_table.c \
	%D%/nsq_table.h \
	%D%/nsq_table_private.h \
	%D%/nsq_table_time.c \
	%D%/properties_reader.c \
	%D%/properties_reader.h \
	%D%/refusals.c \
	%D%/refusals.h \
	%D%/registry_config.c \
	%D%/registry_config.h \
	%D%/route_journal.c \
	%D%/route_journal.h \
	%D%/route_node.c \
	%D%/route_offer.c \
	%D%/route_page.c \
	%D%/route_page.h \
	%D%/route_register.c \
	%D%/route_report.c \
	%D%/route_report.h \
	%D%/route_room.c \
	%D%/route_table.c \
	%D%/route_table.h \
	%D%/route_table_private.h \
	%D%/tcp_connection.c \
	%D%/tcp_server.c \
	%D%/tcp_server.h \
	%D%/tcp_server_private.h \
	%D%/toml_reader.c \
	%D%/toml_reader.h \
	%D%/topic_watch.c \
	%D%/topic_watch.h

REGISTRY_LIBS = libregistry.a libregistry-wire.a $(BASE_LIBS) $(ZLIB_LIBS)

if HAVE_SOUP
bin_PROGRAMS += leat-registry
leat_registry_SOURCES = \
	%D%/http_server.c \
	%D%/http_server.h \
	%D%/http_unread.c \
	%D%/http_unread.h \
	%D%/http_watch.c \
	%D%/http_watch.h \
	%D%/main.c \
	%D%/nsq_http.c \
	%D%/nsq_http.h \
	%D%/nsq_service.c \
	%D%/nsq_service.h \
	%D%/pages.c \
	%D%/pages.h \
	%D%/registry_process.c \
	%D%/registry_process.h
leat_registry_CPPFLAGS = $(AM_CPPFLAGS) $(SOUP_CFLAGS) $(YAML_CFLAGS)
leat_registry_LDADD = $(REGISTRY_LIBS) $(SOUP_LIBS)
endif
