/* fault.h - makes one kind of system call fail from some call on; the program links with --wrap. */
#pragma once

#include <glib.h>

typedef enum {
    FAULT_WRITE, /* half of the bytes are written by the call before the one that fails */
    FAULT_FDATASYNC,
    FAULT_FTRUNCATE,
    FAULT_RENAMEAT2,
    FAULT_LINKAT,
    FAULT_OPENAT, /* calls that create a file */
    N_FAULTS,
} Fault;

/* The call number first (from 0) and n_calls - 1 more fail with this errno. */
void fault_set(Fault fault, guint first, guint n_calls, int number);
void fault_clear(void);
/* Calls that have failed since the last clear. */
guint fault_hits(void);
