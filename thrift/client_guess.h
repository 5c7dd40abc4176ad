/* client_guess.h - what a client that does not speak framed Thrift speaks instead, in words for the
 * operator. */
#pragma once

#include <glib.h>

/* Enough to tell everything that can be told. */
#define CLIENT_GUESS_BYTES 16

/* data is the first that a client ever sent. A static sentence that says what it seems to be and
 * what to change, NULL if nothing comes to mind. */
const char *client_guess(const guint8 *data, gsize length);
