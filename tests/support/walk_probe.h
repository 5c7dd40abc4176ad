/* walk_probe.h - runs the walk over written calls and looks at what it found. */
#pragma once

#include "base/event_bytes.h"
#include "tests/support/thrift_writer.h"
#include "thrift/wire/walk.h"

ThriftWriter *walk_probe_begin(WireProtocol protocol, const char *name);

/* By the name in the header. The frame is copied into memory of its exact size, so that a sanitizer
 * sees a read past the end; the copy stays until the next call, as the walk may point into it. */
WalkVerdict walk_probe_bytes(Walk *walk, const guint8 *data, gsize length);
WalkVerdict walk_probe_run(Walk *walk, const ThriftWriter *writer);

EventView walk_probe_event(const Walk *walk, guint index); /* asserts that it is canonical */
void walk_probe_assert_body(const Walk *walk, guint index, ByteSpan body);
void walk_probe_assert_header(const Walk *walk, guint index, ByteSpan key, ByteSpan value);

/* Whole arguments: n usual events with the bodies "body 0", "body 1", ...; one usual event. */
void walk_probe_write_batch(ThriftWriter *writer, guint n_events);
void walk_probe_write_single(ThriftWriter *writer);
/* Fields of every type, nested, under numbers that no struct of ours has. */
void walk_probe_write_unknown_fields(ThriftWriter *writer);
/* The body first, unknown fields, then the headers a=1 and b=2. */
void walk_probe_write_strange_event(ThriftWriter *writer, const char *body);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Walk, walk_clear)
