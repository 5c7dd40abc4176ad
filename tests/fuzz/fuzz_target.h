/* fuzz_target.h - what libFuzzer and the replay call: one input, checked by assertions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
