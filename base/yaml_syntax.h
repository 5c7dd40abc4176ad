/* yaml_syntax.h - libyaml's complaint about a text, put into words; for yaml_reader alone. */
#pragma once

#include <glib.h>
#include <yaml.h>

#include "base/problems.h"

/* parser has just failed on text. */
void yaml_syntax_problem(const yaml_parser_t *parser, const char *text, gsize length,
                         Problems *problems);
