/* version.h - `leat --version`. */
#pragma once

void version_print(void);
