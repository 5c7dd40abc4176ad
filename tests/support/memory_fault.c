/* memory_fault.c - wrappers that the linker puts in front of allocations that may fail. */
#include "tests/support/memory_fault.h"

#include <errno.h>
#include <sys/mman.h>

static guint n_to_skip;
static guint n_to_fail;
static guint n_hits;

void
memory_fault_set(guint n_skipped, guint n_failing)
{
    n_to_skip = n_skipped;
    n_to_fail = n_failing;
    n_hits = 0;
}

void
memory_fault_clear(void)
{
    n_to_fail = 0;
}

guint
memory_fault_hits(void)
{
    return n_hits;
}

static gboolean
fails_now(void)
{
    if (n_to_fail == 0)
        return FALSE;
    if (n_to_skip > 0) {
        n_to_skip--;
        return FALSE;
    }
    n_to_fail--;
    n_hits++;
    return TRUE;
}

gpointer __real_g_try_malloc(gsize size);
gpointer __wrap_g_try_malloc(gsize size);
gpointer __real_g_try_malloc0(gsize size);
gpointer __wrap_g_try_malloc0(gsize size);
gpointer __real_g_try_realloc(gpointer memory, gsize size);
gpointer __wrap_g_try_realloc(gpointer memory, gsize size);
void *__real_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset);

gpointer
__wrap_g_try_malloc(gsize size)
{
    return fails_now() ? NULL : __real_g_try_malloc(size);
}

gpointer
__wrap_g_try_malloc0(gsize size)
{
    return fails_now() ? NULL : __real_g_try_malloc0(size);
}

gpointer
__wrap_g_try_realloc(gpointer memory, gsize size)
{
    return fails_now() ? NULL : __real_g_try_realloc(memory, size);
}

void *
__wrap_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!fails_now())
        return __real_mmap(where, size, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}
