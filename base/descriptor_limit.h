/* descriptor_limit.h - as many open files as the system lets this process have. */
#pragma once

#include <glib.h>

/* The soft limit becomes the hard one. */
gboolean descriptor_limit_raise(GError **error);
