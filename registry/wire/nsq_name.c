/* nsq_name.c - what NSQ takes for the name of a topic or of a channel. */
#include "registry/wire/nsq_name.h"

#include <string.h>

#define EPHEMERAL "#ephemeral"

static gboolean
ends_ephemeral(ByteSpan name)
{
    gsize length = strlen(EPHEMERAL);

    return name.length >= length &&
           memcmp(name.data + name.length - length, EPHEMERAL, length) == 0;
}

static gboolean
is_part_of_name(guint8 byte)
{
    return g_ascii_isalnum((char) byte) || byte == '.' || byte == '_' || byte == '-';
}

gboolean
nsq_name_is_valid(ByteSpan name)
{
    if (name.length == 0 || name.length > NSQ_NAME_MAX)
        return FALSE;
    if (ends_ephemeral(name))
        name.length -= strlen(EPHEMERAL);
    for (gsize i = 0; i < name.length; i++)
        if (!is_part_of_name(name.data[i]))
            return FALSE;
    return name.length > 0;
}

gboolean
nsq_name_is_ephemeral(const char *name)
{
    return ends_ephemeral(byte_span_of_text(name));
}
