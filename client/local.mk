noinst_LIBRARIES += libclient.a
libclient_a_SOURCES = \
	%D%/batch_cutter.c \
	%D%/batch_cutter.h \
	%D%/connection_pool.c \
	%D%/connection_pool.h \
	%D%/rpc_client.c \
	%D%/rpc_client.h \
	%D%/rpc_client_private.h \
	%D%/rpc_connect.c \
	%D%/rpc_failure.c \
	%D%/rpc_failure.h \
	%D%/rpc_host.c \
	%D%/rpc_host.h \
	%D%/rpc_hosts.c \
	%D%/rpc_probe.c \
	%D%/rpc_probe.h \
	%D%/rpc_settings.c \
	%D%/rpc_settings.h \
	%D%/rpc_stream.c \
	%D%/rpc_stream.h \
	%D%/rpc_submission.c \
	%D%/rpc_submission.h

CLIENT_LIBS = libclient.a $(WIRE_LIBS)

# Hosts that registries tell of: in the agent alone.
noinst_LIBRARIES += libdiscovery.a
libdiscovery_a_SOURCES = \
	%D%/discovery/discovery.c \
	%D%/discovery/discovery.h \
	%D%/discovery/discovery_settings.c \
	%D%/discovery/discovery_settings.h \
	%D%/discovery/found_client.c \
	%D%/discovery/found_client.h \
	%D%/discovery/found_hosts.c \
	%D%/discovery/found_hosts.h \
	%D%/discovery/frame_exchange.c \
	%D%/discovery/frame_exchange.h \
	%D%/discovery/http_fetch.h \
	%D%/discovery/io_limit.c \
	%D%/discovery/io_limit.h \
	%D%/discovery/lookup.h \
	%D%/discovery/lookup_schedule.c \
	%D%/discovery/lookup_schedule.h \
	%D%/discovery/nsq_lookup.c \
	%D%/discovery/registry_port.c \
	%D%/discovery/registry_port.h \
	%D%/discovery/registry_view.c \
	%D%/discovery/registry_view.h \
	%D%/discovery/remoting_ask.c \
	%D%/discovery/remoting_ask.h \
	%D%/discovery/route_lookup.c
if HAVE_SOUP
libdiscovery_a_SOURCES += %D%/discovery/http_fetch.c
else
libdiscovery_a_SOURCES += %D%/discovery/http_fetch_none.c
endif
libdiscovery_a_CPPFLAGS = $(AM_CPPFLAGS) $(SOUP_CFLAGS)

DISCOVERY_LIBS = libdiscovery.a $(CLIENT_LIBS) libregistry-wire.a $(BASE_LIBS) $(SOUP_LIBS)

# The client as a library for applications. It compiles what it needs once more, since that must be
# position-independent and hidden; the agent's own libraries stay static.
lib_LTLIBRARIES += libleat-client.la
libleat_client_la_SOURCES = \
	%D%/event_window.c \
	%D%/event_window.h \
	%D%/leat_client.c \
	$(libclient_a_SOURCES) \
	base/backoff.c \
	base/batch.c \
	base/buffer_pool.c \
	base/choice.c \
	base/clock.c \
	base/endpoint.c \
	base/event_bytes.c \
	base/event_check.c \
	base/event_keys.c \
	base/file_text.c \
	base/option_value.c \
	base/problems.c \
	base/quantity.c \
	base/resolver.c \
	base/silent_thread.c \
	base/suggestion.c \
	base/text_hash.c \
	thrift/wire/call.c \
	thrift/wire/connection.c \
	thrift/wire/message.c \
	thrift/wire/peer_socket.c \
	thrift/wire/reader.c \
	thrift/wire/reader_binary.c \
	thrift/wire/reader_compact.c \
	thrift/wire/reply.c \
	thrift/wire/walk.c \
	thrift/wire/walk_event.c
libleat_client_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -ffunction-sections -fdata-sections
# nodelete: names of error domains stay in GLib, and a look-up of a name may outlive the client.
libleat_client_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--gc-sections -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/%D%/libleat-client.map
libleat_client_la_LIBADD = $(CLIENT_GLIB_LIBS)
EXTRA_libleat_client_la_DEPENDENCIES = $(srcdir)/%D%/libleat-client.map
EXTRA_DIST += %D%/libleat-client.map

leatincludedir = $(includedir)/leat
leatinclude_HEADERS = %D%/leat/client.h
pkgconfig_DATA = %D%/leat-client.pc
