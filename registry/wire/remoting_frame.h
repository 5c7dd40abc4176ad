/* remoting_frame.h - numbers of remoting frames, for those who read and write them. */
#pragma once

/* The kinds of header. */
#define REMOTING_HEADER_JSON 0
#define REMOTING_HEADER_PACKED 1

#define REMOTING_FLAG_ANSWER 1
#define REMOTING_FLAG_ONE_WAY 2
