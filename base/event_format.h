/* event_format.h - one event as text: a line, or a JSON object that loses nothing.
 *
 * text              the body
 * headers-and-text  {key=value, key2=value2} body
 * json              {"headers":{"key":"value"},"body":"..."}; a header whose key or value is not
 *                   UTF-8 goes into "headers_base64" (both in base64), such a body into
 *                   "body_base64" instead of "body": nothing is lost
 *
 * Each record ends in a newline. text and headers-and-text write bodies as they are, newlines
 * inside included. */
#pragma once

#include <glib.h>

#include "base/event_bytes.h"

typedef enum { EVENT_FORMAT_TEXT, EVENT_FORMAT_JSON, EVENT_FORMAT_HEADERS_AND_TEXT } EventFormat;
extern const char *const event_format_names[]; /* in this order, NULL-terminated */

void event_format_append(EventFormat format, const EventView *event, GString *out);
