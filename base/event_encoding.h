/* event_encoding.h - the bytes that every event has. For event_bytes.c and event_check.c only. */
#pragma once

#define HEADERS_FIELD 0x1b /* field 1, map */
#define BODY_FIELD 0x18    /* field 2 after field 1, binary */
#define STRING_TO_STRING 0x88
#define STOP 0x00
