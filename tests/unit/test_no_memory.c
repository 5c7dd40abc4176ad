/* test_no_memory.c - the memory for what came in runs out: that is an answer, not the end, wherever
 * it happens. */
#include <string.h>

#include "agent/builtin.h"
#include "agent/core/channel.h"
#include "agent/core/interceptor_chain.h"
#include "agent/core/route.h"
#include "base/batch_builder.h"
#include "tests/support/events.h"
#include "tests/support/intercept.h"
#include "tests/support/memory_fault.h"
#include "tests/support/select.h"
#include "tests/support/walk_probe.h"

/* TRUE: it went well. FALSE: it said that there is no memory. */
typedef gboolean (*Attempt)(gconstpointer what);

/* Lets memory run out at the first allocation, then at the second, and so on; returns how many
 * there are. Some can be done without. */
static guint
fail_everywhere(Attempt attempt, gconstpointer what)
{
    guint n_allocations = 0;
    gboolean went_well;

    do {
        memory_fault_set(n_allocations, G_MAXUINT);
        went_well = attempt(what);
        memory_fault_clear();
        g_assert_true(went_well || memory_fault_hits() > 0);
        n_allocations++;
    } while (memory_fault_hits() > 0);
    return n_allocations - 1;
}

/* ---- buffers ---- */

static void
test_a_buffer_for_which_there_is_no_memory_is_none(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);

    memory_fault_set(0, 4);
    g_assert_null(buffer_pool_get(pool, 1000));
    g_assert_null(buffer_pool_get(pool, 1000 * 1000));
    memory_fault_clear();

    buffer_release(buffer_pool_get(pool, 1000));
}

static void
test_what_idles_is_given_back_before_a_buffer_is_refused(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    g_autoptr(Buffer) buffer = NULL;

    buffer_release(buffer_pool_get(pool, 300 * 1000));
    memory_fault_set(0, 1);
    buffer = buffer_pool_get(pool, 1000 * 1000);
    memory_fault_clear();

    g_assert_nonnull(buffer);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 0);
}

/* ---- batches ---- */

static gboolean
try_to_build(gconstpointer what)
{
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    g_autoptr(Batch) batch = NULL;

    for (guint i = 0; i < 100; i++)
        batch_builder_add_slice(builder, (Batch *) what, 0, 1);
    batch = batch_builder_try_finish(builder);
    return batch != NULL && batch->n_events == 100;
}

static void
test_a_batch_that_cannot_be_built_is_none(void)
{
    g_autoptr(Batch) batch = batch_of_size(1, 1000);

    g_assert_cmpuint(fail_everywhere(try_to_build, batch), >, 10);
}

static void
test_a_builder_is_good_again_after_it_has_failed(void)
{
    g_autoptr(Batch) event = batch_of("event", NULL);
    g_autoptr(BatchBuilder) builder = batch_builder_new(0, 0);
    g_autoptr(Batch) batch = NULL;
    g_autofree char *text = NULL;

    memory_fault_set(0, 1);
    batch_builder_add_slice(builder, event, 0, 1);
    batch_builder_add_slice(builder, event, 0, 1);
    g_assert_null(batch_builder_try_finish(builder));
    batch_builder_add_slice(builder, event, 0, 1);
    batch = batch_builder_try_finish(builder);
    text = batch_to_text(batch);

    g_assert_cmpstr(text, ==, "event");
}

/* ---- frames ---- */

static gboolean
try_to_walk(gconstpointer writer)
{
    g_auto(Walk) walk = { 0 };
    WalkVerdict verdict;

    walk_init(&walk);
    verdict = walk_probe_run(&walk, writer);
    g_assert_true(verdict == WALK_GOOD || verdict == WALK_NO_MEMORY);
    return verdict == WALK_GOOD;
}

static guint
fail_everywhere_in_a_walk(WireProtocol protocol, void (*write)(ThriftWriter *writer))
{
    g_autoptr(ThriftWriter) writer = walk_probe_begin(protocol, "appendBatch");

    write(writer);
    thrift_writer_stop(writer);
    return fail_everywhere(try_to_walk, writer);
}

static void
write_many_events(ThriftWriter *writer)
{
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, 1000);
    for (guint i = 0; i < 1000; i++)
        thrift_writer_event(writer, "body");
}

static void
write_an_event_with_many_headers(ThriftWriter *writer)
{
    const char *texts[2 * 100];
    char keys[100][8];

    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_snprintf(keys[i], sizeof keys[i], "k%u", i % 60);
        texts[2 * i] = keys[i];
        texts[2 * i + 1] = "value";
    }
    thrift_writer_field(writer, WIRE_TYPE_LIST, 1);
    thrift_writer_list(writer, WIRE_TYPE_STRUCT, 1);
    thrift_writer_open(writer);
    thrift_writer_headers(writer, G_N_ELEMENTS(texts), texts);
    thrift_writer_body(writer, byte_span_of_text("body"));
    thrift_writer_stop(writer);
}

static void
test_a_frame_that_cannot_be_walked_is_not_called_malformed(void)
{
    g_assert_cmpuint(fail_everywhere_in_a_walk(WIRE_COMPACT, write_many_events), ==, 4);
    g_assert_cmpuint(fail_everywhere_in_a_walk(WIRE_BINARY, write_many_events), ==, 5);
    g_assert_cmpuint(fail_everywhere_in_a_walk(WIRE_COMPACT, write_an_event_with_many_headers), >=,
                     3);
    g_assert_cmpuint(fail_everywhere_in_a_walk(WIRE_BINARY, write_an_event_with_many_headers), >=,
                     3);
}

/* ---- puts ---- */

typedef struct {
    GPtrArray *chain;
    Batch *batch;
} Interception;

static gboolean
try_to_intercept(gconstpointer what)
{
    const Interception *self = what;
    g_autoptr(GError) error = NULL;
    guint n_dropped;
    g_autoptr(Batch) left = interceptor_chain_run(self->chain, self->batch, (BatchLimit){ 0 }, NULL,
                                                  &n_dropped, &error);

    if (left == NULL)
        g_assert_error(error, CHANNEL_ERROR, CHANNEL_ERROR_NO_MEMORY);
    return left != NULL;
}

static void
assert_chain_fails_everywhere(const InterceptorType *type, const char *yaml)
{
    g_autoptr(Batch) batch = batch_of_size(50, 2000);
    Interception interception = { g_ptr_array_new_with_free_func((GDestroyNotify) interceptor_free),
                                  batch };

    g_ptr_array_add(interception.chain, interceptor_new(type, yaml));

    g_assert_cmpuint(fail_everywhere(try_to_intercept, &interception), >, 3);
    g_ptr_array_unref(interception.chain);
}

static void
test_what_interceptors_cannot_write_anew_is_refused(void)
{
    g_autofree char *value = g_strnfill(5000, 'v');
    g_autofree char *header = g_strdup_printf("key: k, value: %s", value);

    assert_chain_fails_everywhere(&static_interceptor, header);
    assert_chain_fails_everywhere(&search_replace_interceptor,
                                  "search-pattern: '[^!]', replace-string: '$0$0'");
}

typedef struct {
    Selector *selector;
    Batch *batch;
} Routing;

static gboolean
try_to_route(gconstpointer what)
{
    const Routing *self = what;
    g_auto(Route) route = { 0 };

    return route_init(&route, self->selector, self->batch);
}

static void
test_what_cannot_be_parted_among_channels_is_refused(void)
{
    g_autoptr(Selector) selector =
        selector_new(&multiplexing_selector, "a b | c",
                     "header: kind, mapping: {web: [a], db: [a, b]}, optional: {web: [c]}", NULL);
    g_autoptr(Batch) batch = batch_of("kind=web:1", "kind=db:2", "kind=web:3", NULL);
    Routing routing = { selector, batch };

    g_assert_cmpuint(fail_everywhere(try_to_route, &routing), >, 5);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/no-memory/buffer", test_a_buffer_for_which_there_is_no_memory_is_none);
    g_test_add_func("/no-memory/idle-buffers",
                    test_what_idles_is_given_back_before_a_buffer_is_refused);
    g_test_add_func("/no-memory/batch", test_a_batch_that_cannot_be_built_is_none);
    g_test_add_func("/no-memory/builder", test_a_builder_is_good_again_after_it_has_failed);
    g_test_add_func("/no-memory/walk", test_a_frame_that_cannot_be_walked_is_not_called_malformed);
    g_test_add_func("/no-memory/interceptors", test_what_interceptors_cannot_write_anew_is_refused);
    g_test_add_func("/no-memory/route", test_what_cannot_be_parted_among_channels_is_refused);
    return g_test_run();
}
