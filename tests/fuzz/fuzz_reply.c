/* fuzz_reply.c - any bytes from a server: a reply or none, and its texts lie within the frame. */
#include "thrift/wire/reply.h"

#include <glib.h>

#include "tests/fuzz/fuzz_target.h"

static void
check_within(ByteSpan span, const guint8 *data, gsize length)
{
    if (span.length == 0)
        return;
    g_assert_true(span.data >= data);
    g_assert_cmpuint(span.length, <=, length - (gsize) (span.data - data));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    WireReply reply;

    if (!wire_reply_read(data, size, &reply))
        return 0;
    check_within(reply.message.name, data, size);
    check_within(reply.exception_text, data, size);
    g_assert_true(reply.is_exception || reply.exception_text.length == 0);
    return 0;
}
