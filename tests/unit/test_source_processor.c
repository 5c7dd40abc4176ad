/* test_source_processor.c - which calls reach which virtual method. */
#include "thrift/source_processor.h"

/* ---- a subclass that writes down what it is called with ---- */

#define SPY_TYPE_PROCESSOR (spy_processor_get_type())
G_DECLARE_FINAL_TYPE(SpyProcessor, spy_processor, SPY, PROCESSOR, LeatSourceProcessor)

struct _SpyProcessor {
    LeatSourceProcessor parent_instance;
    GString *calls;
};

G_DEFINE_FINAL_TYPE(SpyProcessor, spy_processor, LEAT_TYPE_SOURCE_PROCESSOR)

static void
spy_append(LeatSourceProcessor *processor, gpointer call)
{
    g_string_append_printf(SPY_PROCESSOR(processor)->calls, "append(%s) ", (const char *) call);
}

static void
spy_append_batch(LeatSourceProcessor *processor, gpointer call)
{
    g_string_append_printf(SPY_PROCESSOR(processor)->calls, "appendBatch(%s) ",
                           (const char *) call);
}

static void
spy_processor_finalize(GObject *object)
{
    g_string_free(SPY_PROCESSOR(object)->calls, TRUE);
    G_OBJECT_CLASS(spy_processor_parent_class)->finalize(object);
}

static void
spy_processor_class_init(SpyProcessorClass *class)
{
    LeatSourceProcessorClass *processor = LEAT_SOURCE_PROCESSOR_CLASS(class);

    G_OBJECT_CLASS(class)->finalize = spy_processor_finalize;
    processor->append = spy_append;
    processor->append_batch = spy_append_batch;
}

static void
spy_processor_init(SpyProcessor *self)
{
    self->calls = g_string_new(NULL);
}

/* ---- stories ---- */

static gboolean
dispatch(SpyProcessor *spy, ByteSpan name, const char *call)
{
    WireMessage message = { .protocol = WIRE_COMPACT, .type = WIRE_CALL, .name = name };

    return source_processor_dispatch(LEAT_SOURCE_PROCESSOR(spy), &message, (gpointer) call);
}

static void
test_append_and_append_batch_reach_the_methods_of_a_subclass(void)
{
    g_autoptr(SpyProcessor) spy = g_object_new(SPY_TYPE_PROCESSOR, NULL);

    g_assert_true(dispatch(spy, byte_span_of_text("append"), "first"));
    g_assert_true(dispatch(spy, byte_span_of_text("appendBatch"), "second"));
    g_assert_true(dispatch(spy, byte_span_of_text("append"), "third"));

    g_assert_cmpstr(spy->calls->str, ==, "append(first) appendBatch(second) append(third) ");
}

static void
test_an_unknown_method_reaches_nobody(void)
{
    g_autoptr(SpyProcessor) spy = g_object_new(SPY_TYPE_PROCESSOR, NULL);

    g_assert_false(dispatch(spy, byte_span_of_text("appendAll"), "x"));
    g_assert_false(dispatch(spy, byte_span_of_text("appen"), "x"));
    g_assert_false(dispatch(spy, byte_span_of_text(""), "x"));

    g_assert_cmpstr(spy->calls->str, ==, "");
}

static void
test_a_name_with_a_nul_is_another_name(void)
{
    g_autoptr(SpyProcessor) spy = g_object_new(SPY_TYPE_PROCESSOR, NULL);

    g_assert_false(dispatch(spy, byte_span("append\0x", 8), "x"));
    g_assert_false(dispatch(spy, byte_span("append\0", 7), "x"));

    g_assert_cmpstr(spy->calls->str, ==, "");
}

static void
test_it_is_the_generated_processor(void)
{
    g_autoptr(SpyProcessor) spy = g_object_new(SPY_TYPE_PROCESSOR, NULL);

    g_assert_true(FLUME_IS_THRIFT_SOURCE_PROTOCOL_PROCESSOR(spy));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    source_processor_prepare_types();
    g_test_add_func("/source-processor/calls-reach-the-methods-of-a-subclass",
                    test_append_and_append_batch_reach_the_methods_of_a_subclass);
    g_test_add_func("/source-processor/unknown-method", test_an_unknown_method_reaches_nobody);
    g_test_add_func("/source-processor/a-name-with-a-nul", test_a_name_with_a_nul_is_another_name);
    g_test_add_func("/source-processor/it-is-the-generated-one",
                    test_it_is_the_generated_processor);
    return g_test_run();
}
