/* interceptor.h - looks at one event on its way from the source, and may edit or drop it.
 *
 * Immutable once opened, since several threads call it at once. */
#pragma once

#include "agent/core/component.h"
#include "agent/core/event_edit.h"

typedef struct {
    Component base;
} Interceptor;

typedef struct {
    ComponentType base;
    void (*intercept)(const Interceptor *self, EventEdit *event);
} InterceptorType;

static inline const InterceptorType *
interceptor_type(const Interceptor *self)
{
    return (const InterceptorType *) self->base.type;
}
