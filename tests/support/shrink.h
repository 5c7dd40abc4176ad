/* shrink.h - a failure of many actions, made one of few. */
#pragma once

#include <glib.h>

/* Whether the run with only these actions fails: action i is in it if bit i is set. */
typedef gboolean (*ShrinkRun)(guint64 actions, gpointer user);

/* Leaves out chunks of the actions (halves, quarters, ..., single ones, any two) as long as the run
 * still fails: without any one or two of what it returns, it does not. */
guint64 shrink_actions(guint64 actions, ShrinkRun fails, gpointer user);
