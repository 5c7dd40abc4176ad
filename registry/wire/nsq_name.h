/* nsq_name.h - what NSQ takes for the name of a topic or of a channel. */
#pragma once

#include <glib.h>

#include "base/span.h"

#define NSQ_NAME_MAX 64

/* 1 to 64 bytes of letters, digits, '.', '_' and '-', then perhaps "#ephemeral". */
gboolean nsq_name_is_valid(ByteSpan name);
/* Of a valid name: nobody misses it once its last producer has unregistered. */
gboolean nsq_name_is_ephemeral(const char *name);
