/* file_format.h - one event as one record of a file.
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

typedef enum { FILE_FORMAT_TEXT, FILE_FORMAT_JSON, FILE_FORMAT_HEADERS_AND_TEXT } FileFormat;
extern const char *const file_format_names[]; /* in this order, NULL-terminated */

void file_format_append(FileFormat format, const EventView *event, GString *out);
