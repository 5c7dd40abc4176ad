/* repeated_field.h - whether a field that the generated decoder keeps comes twice in one struct of
 * a call: there it corrupts its memory. */
#pragma once

#include <glib.h>

#include "thrift/wire/message.h"

/* Looks at as much of the call as can be read. */
gboolean has_repeated_field(const WireMessage *message, const guint8 *data, gsize length);
