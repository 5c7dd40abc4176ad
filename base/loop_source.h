/* loop_source.h - an epoll loop turned by a GMainContext, beside whatever else that has. */
#pragma once

#include "base/loop.h"

/* Attached to the thread's default main context, whose thread is now the loop's. The loop is
 * borrowed; the id is for g_source_remove. */
guint loop_source_attach(Loop *loop);
