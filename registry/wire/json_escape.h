/* json_escape.h - the escapes of one letter that JSON has, for those who write as peers write. */
#pragma once

#include <glib.h>

const char *json_short_escape(gunichar c); /* NULL: it has none */
