/* fault.c - wrappers that the linker puts in front of system calls. */
#include "tests/support/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct {
    guint skip;
    guint fail;
    int number;
} Plan;

static Plan plans[N_FAULTS];
static guint hits;
static gboolean half_written;

void
fault_set(Fault fault, guint first, guint n_calls, int number)
{
    plans[fault] = (Plan){ .skip = first, .fail = n_calls, .number = number };
}

void
fault_clear(void)
{
    for (guint i = 0; i < N_FAULTS; i++)
        plans[i] = (Plan){ 0 };
    hits = 0;
    half_written = FALSE;
}

guint
fault_hits(void)
{
    return hits;
}

static gboolean
fails_now(Fault fault)
{
    Plan *plan = &plans[fault];

    if (plan->fail == 0)
        return FALSE;
    if (plan->skip > 0) {
        plan->skip--;
        return FALSE;
    }
    plan->fail--;
    hits++;
    errno = plan->number;
    return TRUE;
}

ssize_t __real_write(int fd, const void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_ftruncate(int fd, off_t length);
int __wrap_ftruncate(int fd, off_t length);
int __real_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags);
int __real_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags);
int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);

ssize_t
__wrap_write(int fd, const void *bytes, size_t length)
{
    Plan *plan = &plans[FAULT_WRITE];

    if (fd == STDOUT_FILENO || fd == STDERR_FILENO)
        return __real_write(fd, bytes, length);
    if (plan->fail > 0 && plan->skip == 0 && !half_written && length > 1) {
        half_written = TRUE;
        return __real_write(fd, bytes, length / 2);
    }
    half_written = FALSE;
    return fails_now(FAULT_WRITE) ? -1 : __real_write(fd, bytes, length);
}

int
__wrap_fdatasync(int fd)
{
    return fails_now(FAULT_FDATASYNC) ? -1 : __real_fdatasync(fd);
}

int
__wrap_ftruncate(int fd, off_t length)
{
    return fails_now(FAULT_FTRUNCATE) ? -1 : __real_ftruncate(fd, length);
}

int
__wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return fails_now(FAULT_RENAMEAT2) ? -1
                                      : __real_renameat2(from_folder, from, to_folder, to, flags);
}

int
__wrap_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails_now(FAULT_LINKAT) ? -1 : __real_linkat(from_folder, from, to_folder, to, flags);
}

int
__wrap_openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;

    if ((flags & O_CREAT) != 0) {
        va_list arguments;

        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
        if (fails_now(FAULT_OPENAT))
            return -1;
    }
    return __real_openat(folder, path, flags, mode);
}
