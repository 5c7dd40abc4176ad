/* channel_contract.h - the tests of the suite, each run against every variant. */
#pragma once

#include <glib.h>

typedef struct {
    const char *name;
    void (*run)(gconstpointer variant);
} ContractTest;

/* Ended by a NULL name. */
extern const ContractTest channel_put_contract[];
extern const ContractTest channel_take_contract[];
extern const ContractTest channel_thread_contract[];
extern const ContractTest channel_wait_contract[];
