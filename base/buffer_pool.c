/* buffer_pool.c - size classes of idle buffers, last in first out, trimmed by how many were never
 * needed. */
#include "base/buffer_pool.h"

#include <glib.h>
#include <sys/mman.h>

/* Four classes a doubling from SMALLEST on. Larger than LARGEST is never kept. */
#define SMALLEST ((gsize) 256)
#define LARGEST ((gsize) 1 << 31)
#define N_CLASSES (23 * 4 + 1)

/* From here on memory comes straight from the system, so that giving it back really does. */
#define MAP_FROM ((gsize) 128 * 1024)

#define TRIM_INTERVAL_S 2

typedef struct {
    Buffer base;
    guint size_class;
    GList link;
} PooledBuffer;

typedef struct {
    GQueue idle; /* head: last used */
    guint least; /* fewest that were idle since the last trim */
} SizeClass;

struct BufferPool {
    gatomicrefcount refs; /* the owner's, the timer's, one for each buffer that is out */
    gsize max_idle;

    GMutex lock; /* guards the rest */
    gboolean closed;
    gsize idle_bytes;
    GSource *timer; /* NULL while nothing is idle */
    SizeClass classes[N_CLASSES];
};

/* ---- sizes ---- */

static guint
size_class_of(gsize size, gsize *ret_capacity)
{
    guint doubling;
    gsize step;
    gsize steps;

    if (size <= SMALLEST) {
        *ret_capacity = SMALLEST;
        return 0;
    }
    doubling = g_bit_storage(size - 1) - 1; /* 2^doubling < size <= 2^(doubling + 1) */
    g_assert(doubling >= 8);
    step = (gsize) 1 << (doubling - 2);
    steps = (size + step - 1) / step; /* 5 to 8 */
    *ret_capacity = steps * step;
    return (guint) ((doubling - 8) * 4 + steps - 4);
}

gsize
buffer_pool_capacity_for(gsize size)
{
    gsize capacity;

    if (size > LARGEST)
        return size;
    size_class_of(size, &capacity);
    return capacity;
}

/* ---- memory ---- */

/* NULL: there is none. */
static guint8 *
memory_new(gsize capacity)
{
    void *data;

    if (capacity < MAP_FROM)
        return g_try_malloc(capacity);
    data = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data != MAP_FAILED ? data : NULL;
}

static void
memory_free(guint8 *data, gsize capacity)
{
    if (capacity < MAP_FROM)
        g_free(data);
    else
        munmap(data, capacity);
}

static void
pooled_buffer_free(PooledBuffer *self)
{
    memory_free(self->base.data, self->base.capacity);
    g_free(self);
}

static void
free_all(GQueue *buffers)
{
    GList *link;

    while ((link = g_queue_pop_head_link(buffers)))
        pooled_buffer_free(link->data);
}

/* ---- life of the pool ---- */

BufferPool *
buffer_pool_new(gsize max_idle)
{
    BufferPool *self = g_new0(BufferPool, 1);

    g_atomic_ref_count_init(&self->refs);
    self->max_idle = max_idle;
    g_mutex_init(&self->lock);
    for (guint i = 0; i < N_CLASSES; i++)
        g_queue_init(&self->classes[i].idle);
    return self;
}

static void
drop_reference(gpointer data)
{
    BufferPool *self = data;

    if (!g_atomic_ref_count_dec(&self->refs))
        return;
    g_mutex_clear(&self->lock);
    g_free(self);
}

/* Lock held. Moves up to n of the longest idle buffers of a class to gone. */
static void
take_longest_idle(BufferPool *self, SizeClass *size_class, guint n, GQueue *gone)
{
    for (; n > 0 && size_class->idle.length > 0; n--) {
        GList *link = g_queue_pop_tail_link(&size_class->idle);
        PooledBuffer *buffer = link->data;

        self->idle_bytes -= buffer->base.capacity;
        g_queue_push_head_link(gone, link);
    }
    size_class->least = size_class->idle.length;
}

/* Lock held. */
static void
take_all_idle(BufferPool *self, GQueue *gone)
{
    for (guint i = 0; i < N_CLASSES; i++)
        take_longest_idle(self, &self->classes[i], G_MAXUINT, gone);
}

/* Lock held. Returns what to unref. */
static GSource *
forget_timer(BufferPool *self)
{
    GSource *timer = g_steal_pointer(&self->timer);

    if (timer)
        g_source_destroy(timer);
    return timer;
}

void
buffer_pool_unref(BufferPool *self)
{
    GQueue gone = G_QUEUE_INIT;
    GSource *timer;

    g_mutex_lock(&self->lock);
    self->closed = TRUE;
    take_all_idle(self, &gone);
    timer = forget_timer(self);
    g_mutex_unlock(&self->lock);

    g_clear_pointer(&timer, g_source_unref);
    free_all(&gone);
    drop_reference(self);
}

/* ---- trimming ---- */

void
buffer_pool_trim_unused(BufferPool *self)
{
    GQueue gone = G_QUEUE_INIT;

    g_mutex_lock(&self->lock);
    for (guint i = 0; i < N_CLASSES; i++)
        take_longest_idle(self, &self->classes[i], self->classes[i].least, &gone);
    g_mutex_unlock(&self->lock);
    free_all(&gone);
}

static gboolean
trim_at_interval(gpointer data)
{
    BufferPool *self = data;
    GSource *timer = NULL;

    buffer_pool_trim_unused(self);
    g_mutex_lock(&self->lock);
    if (self->idle_bytes == 0)
        timer = forget_timer(self);
    g_mutex_unlock(&self->lock);
    if (!timer)
        return G_SOURCE_CONTINUE;
    g_source_unref(timer);
    return G_SOURCE_REMOVE;
}

/* Lock held: were the source attached later, buffer_pool_unref might have destroyed it before. */
static void
ensure_timer(BufferPool *self)
{
    if (self->timer)
        return;
    self->timer = g_timeout_source_new_seconds(TRIM_INTERVAL_S);
    g_atomic_ref_count_inc(&self->refs);
    g_source_set_callback(self->timer, trim_at_interval, self, drop_reference);
    g_source_set_static_name(self->timer, "buffer-pool-trim");
    g_source_attach(self->timer, NULL);
}

void
buffer_pool_trim(BufferPool *self)
{
    GQueue gone = G_QUEUE_INIT;

    g_mutex_lock(&self->lock);
    take_all_idle(self, &gone);
    g_mutex_unlock(&self->lock);
    free_all(&gone);
}

gsize
buffer_pool_idle_bytes(BufferPool *self)
{
    gsize idle_bytes;

    g_mutex_lock(&self->lock);
    idle_bytes = self->idle_bytes;
    g_mutex_unlock(&self->lock);
    return idle_bytes;
}

/* ---- buffers ---- */

static PooledBuffer *
take_idle(BufferPool *self, guint size_class)
{
    SizeClass *from = &self->classes[size_class];
    PooledBuffer *buffer = NULL;
    GList *link;

    g_mutex_lock(&self->lock);
    link = g_queue_pop_head_link(&from->idle);
    if (link) {
        buffer = link->data;
        self->idle_bytes -= buffer->base.capacity;
        from->least = MIN(from->least, from->idle.length);
    }
    g_mutex_unlock(&self->lock);
    return buffer;
}

static PooledBuffer *
pooled_buffer_new(BufferPool *self, guint size_class, gsize capacity)
{
    guint8 *data = memory_new(capacity);
    PooledBuffer *buffer;

    if (!data) {
        buffer_pool_trim(self);
        data = memory_new(capacity);
    }
    if (!data)
        return NULL;
    buffer = g_new0(PooledBuffer, 1);
    buffer->base.data = data;
    buffer->base.capacity = capacity;
    buffer->base.pool = self;
    buffer->size_class = size_class;
    buffer->link.data = buffer;
    return buffer;
}

Buffer *
buffer_pool_get(BufferPool *self, gsize size)
{
    PooledBuffer *buffer = NULL;
    gsize capacity = size;
    guint size_class = N_CLASSES;

    if (size <= LARGEST) {
        size_class = size_class_of(size, &capacity);
        buffer = take_idle(self, size_class);
    }
    if (!buffer)
        buffer = pooled_buffer_new(self, size_class, capacity);
    if (!buffer)
        return NULL;
    g_atomic_ref_count_inc(&self->refs);
    return &buffer->base;
}

static gboolean
keep_idle(BufferPool *self, PooledBuffer *buffer)
{
    gboolean kept = FALSE;

    if (buffer->size_class == N_CLASSES)
        return FALSE;
    g_mutex_lock(&self->lock);
    if (!self->closed && buffer->base.capacity <= self->max_idle - self->idle_bytes) {
        g_queue_push_head_link(&self->classes[buffer->size_class].idle, &buffer->link);
        self->idle_bytes += buffer->base.capacity;
        ensure_timer(self);
        kept = TRUE;
    }
    g_mutex_unlock(&self->lock);
    return kept;
}

void
buffer_release(Buffer *self)
{
    BufferPool *pool = self->pool;

    if (!pool) {
        g_free(self->data);
        g_free(self);
        return;
    }
    if (!keep_idle(pool, (PooledBuffer *) self))
        pooled_buffer_free((PooledBuffer *) self);
    drop_reference(pool);
}
