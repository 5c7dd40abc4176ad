/* option_value.h - one scalar made into the value of one row; for option.c alone. */
#pragma once

#include <glib.h>

#include "base/option.h"

/* What a user is to write: "a size". */
const char *option_kind_expects(OptionKind kind);

/* Writes the member at target, of a kind that is no list and no REGEX. FALSE, with the member as it
 * was, after adding a problem. */
gboolean option_value_parse(const OptionSpec *spec, const YamlNode *scalar, gpointer target,
                            const char *path, Problems *problems);
/* "'VALUE' WHAT", the value cut short if it is long. Always FALSE. */
gboolean option_value_refuse(const YamlNode *scalar, const char *path, Problems *problems,
                             const char *format, ...) G_GNUC_PRINTF(4, 5);
/* (transfer full) One of ENDPOINTS: with a host and a port to connect to. NULL after adding a
 * problem. */
Endpoint *option_value_parse_endpoint(const YamlNode *scalar, const char *path, Problems *problems);
