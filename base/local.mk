noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	%D%/backoff.c \
	%D%/backoff.h \
	%D%/batch.c \
	%D%/batch.h \
	%D%/batch_builder.c \
	%D%/batch_builder.h \
	%D%/buffer_pool.c \
	%D%/buffer_pool.h \
	%D%/choice.c \
	%D%/choice.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/descriptor_limit.c \
	%D%/descriptor_limit.h \
	%D%/early_stop.c \
	%D%/early_stop.h \
	%D%/endpoint.c \
	%D%/endpoint.h \
	%D%/endpoint_listen.c \
	%D%/event_bytes.c \
	%D%/event_bytes.h \
	%D%/event_check.c \
	%D%/event_encoding.h \
	%D%/event_format.c \
	%D%/event_format.h \
	%D%/event_keys.c \
	%D%/event_keys.h \
	%D%/file_replace.c \
	%D%/file_replace.h \
	%D%/file_text.c \
	%D%/file_text.h \
	%D%/json_writer.c \
	%D%/json_writer.h \
	%D%/log.c \
	%D%/log.h \
	%D%/log_library.c \
	%D%/log_library.h \
	%D%/log_rate.c \
	%D%/log_rate.h \
	%D%/loop.c \
	%D%/loop.h \
	%D%/loop_source.c \
	%D%/loop_source.h \
	%D%/metric.c \
	%D%/metric.h \
	%D%/metric_prometheus.c \
	%D%/option.c \
	%D%/option.h \
	%D%/option_value.c \
	%D%/option_value.h \
	%D%/problems.c \
	%D%/problems.h \
	%D%/quantity.c \
	%D%/quantity.h \
	%D%/regex.c \
	%D%/regex.h \
	%D%/resolver.c \
	%D%/resolver.h \
	%D%/service_notify.c \
	%D%/service_notify.h \
	%D%/silent_thread.c \
	%D%/silent_thread.h \
	%D%/span.h \
	%D%/suggestion.c \
	%D%/suggestion.h \
	%D%/text_hash.c \
	%D%/text_hash.h \
	%D%/text_wrap.c \
	%D%/text_wrap.h \
	%D%/yaml_expand.c \
	%D%/yaml_expand.h \
	%D%/yaml_reader.c \
	%D%/yaml_reader.h \
	%D%/yaml_syntax.c \
	%D%/yaml_syntax.h \
	%D%/yaml_tree.c \
	%D%/yaml_tree.h
if HAVE_SOUP
libbase_a_SOURCES += %D%/http_listener.c %D%/http_listener.h
endif
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS) $(PCRE2_CFLAGS) $(SOUP_CFLAGS)

# What a program needs that links libbase.a.
BASE_LIBS = libbase.a $(GLIB_LIBS) $(YAML_LIBS) $(PCRE2_LIBS)
