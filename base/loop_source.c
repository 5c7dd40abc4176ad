/* loop_source.c - an epoll loop as a source of a GMainContext: its descriptor, and its next timer.
 */
#include "base/loop_source.h"

#include "base/clock.h"

typedef struct {
    GSource base;
    Loop *loop;
    gpointer tag; /* of the descriptor */
} LoopSource;

static gboolean
prepare(GSource *source, int *ret_timeout_ms)
{
    gint64 due_us = loop_next_due_us(((LoopSource *) source)->loop);

    *ret_timeout_ms = -1;
    if (due_us == CLOCK_NEVER)
        return FALSE;
    *ret_timeout_ms = clock_poll_timeout_ms(due_us);
    return *ret_timeout_ms == 0;
}

static gboolean
check(GSource *source)
{
    LoopSource *self = (LoopSource *) source;

    return g_source_query_unix_fd(source, self->tag) != 0 ||
           loop_next_due_us(self->loop) <= clock_now_us();
}

static gboolean
dispatch(GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED)
{
    loop_turn(((LoopSource *) source)->loop, 0);
    return G_SOURCE_CONTINUE;
}

guint
loop_source_attach(Loop *loop)
{
    static GSourceFuncs functions = { .prepare = prepare, .check = check, .dispatch = dispatch };
    g_autoptr(GSource) source = g_source_new(&functions, sizeof(LoopSource));
    LoopSource *self = (LoopSource *) source;

    self->loop = loop;
    self->tag = g_source_add_unix_fd(source, loop_fd(loop), G_IO_IN);
    return g_source_attach(source, g_main_context_get_thread_default());
}
