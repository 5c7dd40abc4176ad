/* json_escape.c - the escapes of one letter that JSON has. */
#include "registry/wire/json_escape.h"

const char *
json_short_escape(gunichar c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\b':
        return "\\b";
    case '\t':
        return "\\t";
    case '\n':
        return "\\n";
    case '\f':
        return "\\f";
    case '\r':
        return "\\r";
    default:
        return NULL;
    }
}
