noinst_LIBRARIES += libclient.a
libclient_a_SOURCES = \
	%D%/batch_cutter.c \
	%D%/batch_cutter.h \
	%D%/connection_pool.c \
	%D%/connection_pool.h \
	%D%/rpc_client.c \
	%D%/rpc_client.h \
	%D%/rpc_client_private.h \
	%D%/rpc_failure.c \
	%D%/rpc_failure.h \
	%D%/rpc_host.c \
	%D%/rpc_host.h \
	%D%/rpc_stream.c \
	%D%/rpc_stream.h \
	%D%/rpc_submission.c \
	%D%/rpc_submission.h

CLIENT_LIBS = libclient.a $(WIRE_LIBS)
