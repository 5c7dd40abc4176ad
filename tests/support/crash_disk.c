/* crash_disk.c - file calls that are recorded, so that what a crash could leave can be made. */
#include "tests/support/crash_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define SECTOR 512

typedef struct {
    guint64 offset;
    GBytes *bytes; /* NULL: the file was cut to offset */
} Change;

typedef struct {
    GByteArray *now;    /* as every process sees it */
    GByteArray *safe;   /* as of the last sync */
    GPtrArray *changes; /* since then */
} Inode;

static GRecMutex lock;         /* guards the rest */
static GHashTable *open_files; /* descriptor → Inode * */
static GHashTable *names_now;  /* name → Inode * */
static GHashTable *names_safe;
static GPtrArray *inodes;
static void (*crash_hook)(gpointer user);
static gpointer crash_user;
static guint n_calls;
static guint fail_at;
static gboolean fail_for_ever;
static int fail_number;
static guint n_failing_reads;
static int read_number;
static int full_number; /* errno of a full disk, 0: it is not */
static int open_number;
static Inode *pending_inode; /* of the call that is about to be made */
static Change pending;

/* ---- what is there ---- */

static void
change_free(gpointer data)
{
    Change *self = data;

    g_clear_pointer(&self->bytes, g_bytes_unref);
    g_free(self);
}

static Inode *
inode_new(void)
{
    Inode *self = g_new0(Inode, 1);

    self->now = g_byte_array_new();
    self->safe = g_byte_array_new();
    self->changes = g_ptr_array_new_with_free_func(change_free);
    g_ptr_array_add(inodes, self);
    return self;
}

static void
inode_free(gpointer data)
{
    Inode *self = data;

    g_byte_array_unref(self->now);
    g_byte_array_unref(self->safe);
    g_ptr_array_unref(self->changes);
    g_free(self);
}

static void
set_size(GByteArray *bytes, gsize size)
{
    guint old = bytes->len;

    g_byte_array_set_size(bytes, (guint) size);
    if (size > old)
        memset(bytes->data + old, 0, size - old);
}

/* A part of the change, from `from` to `to` of its bytes. */
static void
apply_part(GByteArray *bytes, const Change *change, gsize from, gsize to)
{
    const guint8 *data = g_bytes_get_data(change->bytes, NULL);

    if (change->offset + to > bytes->len)
        set_size(bytes, change->offset + to);
    memcpy(bytes->data + change->offset + from, data + from, to - from);
}

static void
apply(GByteArray *bytes, const Change *change)
{
    if (change->bytes == NULL)
        set_size(bytes, change->offset);
    else
        apply_part(bytes, change, 0, g_bytes_get_size(change->bytes));
}

static Inode *
inode_of(int fd)
{
    return g_hash_table_lookup(open_files, GINT_TO_POINTER(fd));
}

static void
copy_names(GHashTable *from, GHashTable *to)
{
    GHashTableIter iter;
    gpointer name;
    gpointer inode;

    g_hash_table_remove_all(to);
    g_hash_table_iter_init(&iter, from);
    while (g_hash_table_iter_next(&iter, &name, &inode))
        g_hash_table_insert(to, g_strdup(name), inode);
}

void
crash_disk_start(void (*hook)(gpointer user), gpointer user)
{
    open_files = g_hash_table_new(NULL, NULL);
    names_now = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    names_safe = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    inodes = g_ptr_array_new_with_free_func(inode_free);
    crash_hook = hook;
    crash_user = user;
    n_calls = 0;
    fail_number = 0;
    n_failing_reads = 0;
    full_number = 0;
    open_number = 0;
}

void
crash_disk_stop(void)
{
    g_clear_pointer(&open_files, g_hash_table_unref);
    g_clear_pointer(&names_now, g_hash_table_unref);
    g_clear_pointer(&names_safe, g_hash_table_unref);
    g_clear_pointer(&inodes, g_ptr_array_unref);
}

guint
crash_disk_n_calls(void)
{
    return n_calls;
}

void
crash_disk_fail(guint n, gboolean for_ever, int number)
{
    fail_at = n;
    fail_for_ever = for_ever;
    fail_number = number;
}

void
crash_disk_fail_reads(guint n_reads, int number)
{
    g_rec_mutex_lock(&lock);
    n_failing_reads = n_reads;
    read_number = number;
    g_rec_mutex_unlock(&lock);
}

void
crash_disk_fail_opens(int number)
{
    g_rec_mutex_lock(&lock);
    open_number = number;
    g_rec_mutex_unlock(&lock);
}

void
crash_disk_fill(int number)
{
    g_rec_mutex_lock(&lock);
    full_number = number;
    g_rec_mutex_unlock(&lock);
}

/* ---- what could be found ---- */

static void
tear(GByteArray *bytes, const Change *change, GRand *rand)
{
    gsize length = g_bytes_get_size(change->bytes);

    if (g_rand_boolean(rand) && change->offset + length > bytes->len)
        set_size(bytes, change->offset + length); /* the size, but not yet the data */
    for (gsize from = 0; from < length;) {
        gsize to = MIN(length, from + SECTOR - (change->offset + from) % SECTOR);

        if (g_rand_boolean(rand))
            apply_part(bytes, change, from, to);
        from = to;
    }
}

static void
apply_perhaps(GByteArray *bytes, const Change *change, GRand *rand)
{
    switch (g_rand_int_range(rand, 0, 3)) {
    case 0:
        apply(bytes, change);
        break;
    case 1:
        if (change->bytes != NULL)
            tear(bytes, change, rand);
        break;
    default:
        break;
    }
}

static GByteArray *
content(const Inode *inode, CrashKind kind, GRand *rand)
{
    const GByteArray *base = kind == CRASH_KILL ? inode->now : inode->safe;
    GByteArray *bytes = g_byte_array_new();

    g_byte_array_append(bytes, base->data, base->len);
    for (guint i = 0; kind == CRASH_POWER && i < inode->changes->len; i++)
        apply_perhaps(bytes, g_ptr_array_index(inode->changes, i), rand);
    if (inode != pending_inode || pending.bytes == NULL)
        return bytes;
    if (kind == CRASH_KILL)
        apply_part(bytes, &pending, 0,
                   (gsize) g_rand_int_range(rand, 0, (gint32) g_bytes_get_size(pending.bytes) + 1));
    else
        apply_perhaps(bytes, &pending, rand);
    return bytes;
}

static void
leave_file(const char *into, const char *name, const Inode *inode, CrashKind kind, GRand *rand)
{
    g_autofree char *path = g_build_filename(into, name, NULL);
    g_autoptr(GByteArray) bytes = content(inode, kind, rand);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(file_ops_system.truncate(fd, bytes->len), ==, 0);
    if (bytes->len > 0) {
        struct iovec part = { .iov_base = bytes->data, .iov_len = bytes->len };

        g_assert_true(file_write_all(&file_ops_system, fd, &part, 1, 0));
    }
    file_ops_system.close(fd);
}

void
crash_disk_leave(CrashKind kind, GRand *rand, const char *into)
{
    GHashTableIter iter;
    gpointer name;
    gpointer inode;

    g_rec_mutex_lock(&lock);
    g_hash_table_iter_init(&iter, names_now);
    while (g_hash_table_iter_next(&iter, &name, &inode))
        if (kind == CRASH_KILL || g_hash_table_lookup(names_safe, name) == inode ||
            g_rand_boolean(rand))
            leave_file(into, name, inode, kind, rand);
    g_hash_table_iter_init(&iter, names_safe);
    while (kind == CRASH_POWER && g_hash_table_iter_next(&iter, &name, &inode))
        if (g_hash_table_lookup(names_now, name) != inode && g_rand_boolean(rand))
            leave_file(into, name, inode, kind, rand);
    g_rec_mutex_unlock(&lock);
}

/* ---- the calls ---- */

/* Before a call. FALSE: it fails. */
static gboolean
begin(Inode *inode, guint64 offset, GBytes *bytes)
{
    gboolean fails =
        fail_number != 0 && (n_calls == fail_at || (fail_for_ever && n_calls > fail_at));

    pending_inode = inode;
    pending = (Change){ offset, bytes };
    if (crash_hook != NULL)
        crash_hook(crash_user);
    pending_inode = NULL;
    n_calls++;
    if (fails)
        errno = fail_number;
    return !fails;
}

static void
remember(Inode *inode, guint64 offset, GBytes *bytes)
{
    Change *change = g_new0(Change, 1);

    *change = (Change){ offset, bytes != NULL ? g_bytes_ref(bytes) : NULL };
    apply(inode->now, change);
    g_ptr_array_add(inode->changes, change);
}

static int
crash_open(int folder, const char *name, int flags, mode_t mode)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);
    int refusal, fd;
    Inode *inode;

    if ((flags & (O_CREAT | O_TRUNC)) != 0 && !begin(NULL, 0, NULL))
        return -1;
    refusal = (flags & O_CREAT) != 0 ? full_number : 0;
    refusal = (flags & O_ACCMODE) == O_RDONLY ? open_number : refusal;
    if (refusal != 0) {
        errno = refusal;
        return -1;
    }
    fd = file_ops_system.open(folder, name, flags, mode);
    if (fd < 0)
        return -1;
    inode = g_hash_table_lookup(names_now, name);
    if (inode == NULL) {
        inode = inode_new();
        g_hash_table_insert(names_now, g_strdup(name), inode);
    }
    if ((flags & O_TRUNC) != 0)
        remember(inode, 0, NULL);
    g_hash_table_insert(open_files, GINT_TO_POINTER(fd), inode);
    return fd;
}

static int
crash_close(int fd)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    g_hash_table_remove(open_files, GINT_TO_POINTER(fd));
    return file_ops_system.close(fd);
}

static GBytes *
joined(const struct iovec *parts, int n_parts)
{
    GByteArray *bytes = g_byte_array_new();

    for (int i = 0; i < n_parts; i++)
        g_byte_array_append(bytes, parts[i].iov_base, (guint) parts[i].iov_len);
    return g_byte_array_free_to_bytes(bytes);
}

static ssize_t
crash_pwritev(int fd, const struct iovec *parts, int n_parts, off_t offset)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);
    g_autoptr(GBytes) bytes = joined(parts, n_parts);
    g_autoptr(GBytes) half = g_bytes_new_from_bytes(bytes, 0, g_bytes_get_size(bytes) / 2);
    Inode *inode = inode_of(fd);
    ssize_t written;

    if (!begin(inode, (guint64) offset, bytes)) {
        /* Half of it is there all the same. */
        struct iovec part = { (void *) g_bytes_get_data(half, NULL), g_bytes_get_size(half) };
        int number = errno;

        if (part.iov_len > 0 && file_ops_system.pwritev(fd, &part, 1, offset) > 0)
            remember(inode, (guint64) offset, half);
        errno = number;
        return -1;
    }
    written = file_ops_system.pwritev(fd, parts, n_parts, offset);
    if (written > 0)
        remember(inode, (guint64) offset, bytes);
    return written;
}

static int
crash_fdatasync(int fd)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);
    Inode *inode = inode_of(fd);

    if (!begin(NULL, 0, NULL)) {
        g_ptr_array_set_size(inode->changes, 0); /* the system has dropped them, and says so once */
        return -1;
    }
    g_byte_array_set_size(inode->safe, 0);
    g_byte_array_append(inode->safe, inode->now->data, inode->now->len);
    g_ptr_array_set_size(inode->changes, 0);
    return 0;
}

static int
crash_fsync(int fd)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    if (inode_of(fd) != NULL)
        return crash_fdatasync(fd);
    if (!begin(NULL, 0, NULL))
        return -1;
    copy_names(names_now, names_safe);
    return 0;
}

static int
crash_preallocate(int fd, off_t length)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    return begin(NULL, 0, NULL) ? file_ops_system.preallocate(fd, length) : -1;
}

static int
crash_truncate(int fd, off_t length)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    if (!begin(NULL, 0, NULL) || file_ops_system.truncate(fd, length) != 0)
        return -1;
    remember(inode_of(fd), (guint64) length, NULL);
    return 0;
}

static int
crash_rename(int folder, const char *from, const char *to)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    if (!begin(NULL, 0, NULL) || file_ops_system.rename(folder, from, to) != 0)
        return -1;
    g_hash_table_insert(names_now, g_strdup(to), g_hash_table_lookup(names_now, from));
    g_hash_table_remove(names_now, from);
    return 0;
}

static int
crash_link(int folder, const char *from, const char *to)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    if (!begin(NULL, 0, NULL) || file_ops_system.link(folder, from, to) != 0)
        return -1;
    g_hash_table_insert(names_now, g_strdup(to), g_hash_table_lookup(names_now, from));
    return 0;
}

static int
crash_unlink(int folder, const char *name)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    if (!begin(NULL, 0, NULL) || file_ops_system.unlink(folder, name) != 0)
        return -1;
    g_hash_table_remove(names_now, name);
    return 0;
}

static ssize_t
crash_pread(int fd, void *bytes, size_t length, off_t offset)
{
    g_autoptr(GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new(&lock);

    if (n_failing_reads > 0) {
        n_failing_reads--;
        errno = read_number;
        return -1;
    }
    return file_ops_system.pread(fd, bytes, length, offset);
}

static int
crash_size(int fd, guint64 *ret_bytes)
{
    return file_ops_system.size(fd, ret_bytes);
}

static int
crash_free_bytes(int folder, guint64 *ret_bytes)
{
    return file_ops_system.free_bytes(folder, ret_bytes);
}

const FileOps crash_disk_ops = {
    .open = crash_open,
    .close = crash_close,
    .pread = crash_pread,
    .pwritev = crash_pwritev,
    .fdatasync = crash_fdatasync,
    .fsync = crash_fsync,
    .preallocate = crash_preallocate,
    .truncate = crash_truncate,
    .size = crash_size,
    .rename = crash_rename,
    .link = crash_link,
    .unlink = crash_unlink,
    .free_bytes = crash_free_bytes,
};
