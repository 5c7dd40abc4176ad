/* client_guess.c - openings by which other protocols are known. */
#include "thrift/client_guess.h"

#include <string.h>

#include "base/span.h"

typedef struct {
    const char *opening;
    gsize length;
    const char *guess;
} Opening;

#define OPENING(bytes, text)                                             \
    {                                                                    \
        .opening = (bytes), .length = sizeof(bytes) - 1, .guess = (text) \
    }

#define HTTP_GUESS                                                                         \
    "the client speaks HTTP; this is the port of a Thrift source, the metrics page is at " \
    "'agent: http'"
#define UNFRAMED_GUESS \
    "the client speaks Thrift without framing; wrap its transport in TFramedTransport"

/* The first that matches. Framed Thrift begins with its length, at most some megabytes, so that
 * none of these can be the beginning of it except where a length is short and senseless. */
static const Opening openings[] = {
    OPENING("\x16\x03", "the client speaks TLS; turn TLS off in the client, or put a TLS proxy "
                        "before this source"),
    OPENING("GET ", HTTP_GUESS),
    OPENING("HEAD", HTTP_GUESS),
    OPENING("POST", HTTP_GUESS),
    OPENING("PUT ", HTTP_GUESS),
    OPENING("PRI ", HTTP_GUESS),
    OPENING("OPTI", HTTP_GUESS),
    OPENING("CONN", HTTP_GUESS),
    OPENING("\x80\x01", UNFRAMED_GUESS),
    OPENING("\x82\x21", UNFRAMED_GUESS),
    OPENING("\x82\x81", UNFRAMED_GUESS),
    OPENING("\0\0\0\6append", UNFRAMED_GUESS),
    OPENING("\0\0\0\13appendBatch", UNFRAMED_GUESS),
    OPENING("\1\0\0\0", "the client wants SASL (Kerberos); turn it off in the client"),
    /* Avro's netty framing: a serial number, then the number of buffers, below 2^24. */
    OPENING("\0\0\0\1\0", "the client speaks Avro; use a Thrift client (Flume: type = thrift)"),
};

static gboolean
is_text(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isprint(data[i]) && !g_ascii_isspace(data[i]))
            return FALSE;
    return length >= 4;
}

static const char *
guess_from_first_frame(const guint8 *frame, gsize length)
{
    if (length >= 2 && frame[0] == '[' && frame[1] == '1')
        return "the client speaks Thrift's JSON protocol; use TCompactProtocol or TBinaryProtocol";
    if (length >= 2 && frame[0] == 0x0f && frame[1] == 0xff)
        return "the client speaks Thrift's header transport; use TFramedTransport";
    return NULL;
}

const char *
client_guess(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < G_N_ELEMENTS(openings); i++)
        if (length >= openings[i].length &&
            memcmp(data, openings[i].opening, openings[i].length) == 0)
            return openings[i].guess;
    if (is_text(data, MIN(length, CLIENT_GUESS_BYTES)))
        return "the client sends plain text; use a Thrift client with TFramedTransport";
    return length > 4 ? guess_from_first_frame(data + 4, length - 4) : NULL;
}
