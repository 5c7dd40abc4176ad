/* nsq_json.h - texts as NSQ's programs write them into JSON, byte for byte. */
#pragma once

#include <glib.h>

/* A string with its quotes; '<', '>' and '&' are escaped too. The text is UTF-8. */
void nsq_json_append_text(GString *out, const char *text);
/* ",\"key\":\"text\"", with the comma unless it is the first after a bracket. */
void nsq_json_append_member(GString *out, const char *key, const char *text);
void nsq_json_append_number(GString *out, const char *key, gint64 number);
/* "key": and nothing more. */
void nsq_json_append_key(GString *out, const char *key);
