# Generated code: built into the build tree, never committed; its own library, warnings off.
EXTRA_DIST += %D%/flume.thrift
THRIFT_GENERATED = \
	%D%/gen/flume_flume_types.c \
	%D%/gen/flume_flume_types.h \
	%D%/gen/flume_thrift_source_protocol.c \
	%D%/gen/flume_thrift_source_protocol.h
BUILT_SOURCES += %D%/gen/stamp
CLEANFILES += $(THRIFT_GENERATED) %D%/gen/stamp

%D%/gen/stamp: %D%/flume.thrift
	$(AM_V_GEN)$(MKDIR_P) %D%/gen && $(THRIFT_COMPILER) --gen c_glib -out %D%/gen $(srcdir)/%D%/flume.thrift && touch $@
$(THRIFT_GENERATED): %D%/gen/stamp

noinst_LIBRARIES += libthrift-gen.a libthrift-wire.a libthrift.a
nodist_libthrift_gen_a_SOURCES = $(THRIFT_GENERATED)
libthrift_gen_a_SOURCES =
libthrift_gen_a_CFLAGS = -std=gnu11 -w -O2 $(THRIFT_CFLAGS) $(GLIB_CFLAGS)

libthrift_wire_a_SOURCES = \
	%D%/wire/call.c \
	%D%/wire/call.h \
	%D%/wire/connection.c \
	%D%/wire/connection.h \
	%D%/wire/connection_error.h \
	%D%/wire/message.c \
	%D%/wire/message.h \
	%D%/wire/peer_socket.c \
	%D%/wire/peer_socket.h \
	%D%/wire/reader.c \
	%D%/wire/reader.h \
	%D%/wire/reader_binary.c \
	%D%/wire/reader_compact.c \
	%D%/wire/reply.c \
	%D%/wire/reply.h \
	%D%/wire/walk.c \
	%D%/wire/walk.h \
	%D%/wire/walk_event.c \
	%D%/wire/walk_event.h

libthrift_a_SOURCES = \
	%D%/client_guess.c \
	%D%/client_guess.h \
	%D%/flume_api.h \
	%D%/frame_acceptor.c \
	%D%/frame_call.c \
	%D%/frame_connection.c \
	%D%/frame_loop.c \
	%D%/frame_pace.c \
	%D%/frame_reason.c \
	%D%/frame_receive.c \
	%D%/frame_request.c \
	%D%/frame_server.c \
	%D%/frame_server.h \
	%D%/frame_server_private.h \
	%D%/receive_memory.c \
	%D%/receive_memory.h \
	%D%/source_processor.c \
	%D%/source_processor.h
libthrift_a_CPPFLAGS = $(AM_CPPFLAGS) $(THRIFT_CFLAGS)
# `make all` makes BUILT_SOURCES first; `make leat` in a fresh folder does not.
$(libthrift_a_OBJECTS): | %D%/gen/stamp

WIRE_LIBS = libthrift-wire.a $(BASE_LIBS)
LEAT_THRIFT_LIBS = libthrift.a libthrift-gen.a $(THRIFT_LIBS) $(WIRE_LIBS)
