/* walk_speed.c - events a second that one core walks: in place, written anew, and from binary. */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/support/thrift_writer.h"
#include "thrift/wire/walk.h"

#define N_EVENTS 1000
#define N_FRAMES 16     /* more than fit into a core's own cache */
#define CPU_SECONDS 1.0 /* of this process: others may use the machine */

typedef struct {
    const char *name;
    WireProtocol protocol;
    gboolean body_first;
} Shape;

static const Shape shapes[] = {
    { "compact, in place", WIRE_COMPACT, FALSE },
    { "compact, fields in another order", WIRE_COMPACT, TRUE },
    { "binary", WIRE_BINARY, FALSE },
    { 0 },
};

static void
write_event(ThriftWriter *writer, const Shape *shape)
{
    static const char *const texts[] = { "host", "web-17.fra.example", "application",
                                         "web-17.fra.example" };
    char body[300];

    memset(body, 'x', sizeof body);
    thrift_writer_open(writer);
    if (shape->body_first)
        thrift_writer_body(writer, byte_span(body, sizeof body));
    thrift_writer_headers(writer, G_N_ELEMENTS(texts), texts);
    if (!shape->body_first)
        thrift_writer_body(writer, byte_span(body, sizeof body));
    thrift_writer_stop(writer);
}

static ThriftWriter *
write_frame(const Shape *shape)
{
    ThriftWriter *writer = thrift_writer_new(shape->protocol);

    thrift_writer_begin_call(writer, "appendBatch", WIRE_CALL, 1);
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, N_EVENTS);
    for (guint i = 0; i < N_EVENTS; i++)
        write_event(writer, shape);
    thrift_writer_stop(writer);
    return writer;
}

static void
walk_frame(Walk *walk, const ThriftWriter *frame)
{
    WireMessage message;

    g_assert_true(wire_message_read(frame->bytes->data, frame->bytes->len, &message));
    g_assert_cmpint(walk_append_batch(walk, &message, frame->bytes->data, frame->bytes->len), ==,
                    WALK_GOOD);
    g_assert_cmpuint(walk->n_events, ==, N_EVENTS);
}

static double
cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static double
events_per_second(const Shape *shape, gsize *ret_frame_length)
{
    ThriftWriter *frames[N_FRAMES];
    double start;
    double used;
    guint64 n_walked = 0;
    Walk walk;

    walk_init(&walk);
    for (guint i = 0; i < N_FRAMES; i++)
        frames[i] = write_frame(shape);
    *ret_frame_length = frames[0]->bytes->len;
    for (guint i = 0; i < N_FRAMES; i++)
        walk_frame(&walk, frames[i]);

    start = cpu_seconds();
    do {
        for (guint i = 0; i < N_FRAMES; i++)
            walk_frame(&walk, frames[i]);
        n_walked += N_FRAMES * N_EVENTS;
        used = cpu_seconds() - start;
    } while (used < CPU_SECONDS);

    for (guint i = 0; i < N_FRAMES; i++)
        thrift_writer_free(frames[i]);
    walk_clear(&walk);
    return (double) n_walked / used;
}

int
main(void)
{
    for (const Shape *shape = shapes; shape->name; shape++) {
        gsize frame_length;
        double rate = events_per_second(shape, &frame_length);

        printf("%-34s %6.1f M events/s, %5.1f GB/s of frames\n", shape->name, rate / 1e6,
               rate / N_EVENTS * (double) frame_length / 1e9);
    }
    return 0;
}
