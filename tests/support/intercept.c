/* intercept.c - one interceptor and one event, for tests. */
#include "tests/support/intercept.h"

#include "agent/core/interceptor_chain.h"
#include "tests/support/events.h"
#include "tests/support/test_part.h"

Interceptor *
interceptor_new(const InterceptorType *type, const char *yaml)
{
    g_autofree char *text = g_strdup_printf("{ %s }", yaml);

    return (Interceptor *) test_part_open(&type->base, COMPONENT_INTERCEPTOR, "tested", text);
}

void
interceptor_free(Interceptor *self)
{
    test_part_free(&self->base);
}

char *
interceptor_problems(const InterceptorType *type, const char *yaml)
{
    g_autofree char *text = g_strdup_printf("{ %s }", yaml);

    return test_part_problems(&type->base, COMPONENT_INTERCEPTOR, text);
}

char *
intercept_batch(const Interceptor *self, Batch *batch)
{
    g_autoptr(GPtrArray) chain = g_ptr_array_new();
    g_autoptr(Batch) left = NULL;
    guint n_dropped;

    g_ptr_array_add(chain, (gpointer) self);
    left = interceptor_chain_run(chain, batch, (BatchLimit){ 0 }, NULL, &n_dropped, NULL);
    return n_dropped > 0 ? g_strdup("(dropped)") : batch_to_text(left);
}

char *
intercept(const Interceptor *self, const char *event)
{
    g_autoptr(Batch) batch = batch_of(event, NULL);

    return intercept_batch(self, batch);
}

char *
intercept_body(const Interceptor *self, const void *body, gsize length)
{
    g_autoptr(Batch) batch = batch_new_single(NULL, 0, byte_span(body, length));

    return intercept_batch(self, batch);
}
