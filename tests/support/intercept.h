/* intercept.h - one interceptor and one event, for tests. */
#pragma once

#include <glib.h>

#include "agent/core/interceptor.h"
#include "base/batch.h"

/* yaml: options as in "key: a, value: b". */
Interceptor *interceptor_new(const InterceptorType *type, const char *yaml);
void interceptor_free(Interceptor *self);
/* What a user is told about these options; "" if all is well. (transfer full) */
char *interceptor_problems(const InterceptorType *type, const char *yaml);

/* The event afterwards, "(dropped)" if it was; as tests/support/events.h writes it. */
char *intercept(const Interceptor *self, const char *event);
char *intercept_batch(const Interceptor *self, Batch *batch);
/* Of one event with this body. */
char *intercept_body(const Interceptor *self, const void *body, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Interceptor, interceptor_free)

#define assert_intercepts(interceptor, event, text)                    \
    G_STMT_START                                                       \
    {                                                                  \
        g_autofree char *intercepted_ = intercept(interceptor, event); \
        g_assert_cmpstr(intercepted_, ==, text);                       \
    }                                                                  \
    G_STMT_END
