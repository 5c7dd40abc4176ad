/* test_buffer_pool.c - sizes, reuse, bounds, and giving back. */
#include "base/buffer_pool.h"

#include <glib.h>
#include <string.h>

static void
test_a_size_class_holds_its_size_and_wastes_a_quarter_at_most(void)
{
    for (gsize size = 257; size < ((gsize) 1 << 31); size += 1 + size / 7) {
        gsize capacity = buffer_pool_capacity_for(size);

        g_assert_cmpuint(capacity, >=, size);
        g_assert_cmpuint(capacity, <=, size + size / 4);
        g_assert_cmpuint(buffer_pool_capacity_for(capacity), ==, capacity);
    }
    g_assert_cmpuint(buffer_pool_capacity_for(0), ==, 256);
    g_assert_cmpuint(buffer_pool_capacity_for((gsize) 1 << 31), ==, (gsize) 1 << 31);
    g_assert_cmpuint(buffer_pool_capacity_for(((gsize) 1 << 31) + 1), ==, ((gsize) 1 << 31) + 1);
}

static void
test_a_released_buffer_is_the_next_of_its_class(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(16 << 20);
    Buffer *first = buffer_pool_get(pool, 355000);
    guint8 *data = first->data;
    g_autoptr(Buffer) second = NULL;

    memset(first->data, 1, first->capacity);
    buffer_release(first);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, buffer_pool_capacity_for(355000));
    second = buffer_pool_get(pool, 350000);

    g_assert_true(second->data == data);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 0);
}

static void
test_idle_bytes_stay_within_their_bound(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1000);
    Buffer *buffers[4];

    for (guint i = 0; i < 4; i++)
        buffers[i] = buffer_pool_get(pool, 320);
    for (guint i = 0; i < 4; i++)
        buffer_release(buffers[i]);

    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 960);
}

static void
test_trimming_frees_what_is_idle(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    g_autoptr(Buffer) used = buffer_pool_get(pool, 1000);

    buffer_release(buffer_pool_get(pool, 1000));
    buffer_release(buffer_pool_get(pool, 200000));
    buffer_pool_trim(pool);

    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 0);
    memset(used->data, 1, used->capacity); /* a sanitizer would see it if this were freed, too */
}

static void
test_only_what_was_idle_all_the_time_is_unused(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);

    buffer_release(buffer_pool_get(pool, 1000));
    buffer_release(buffer_pool_get(pool, 200000));
    buffer_pool_trim_unused(pool);
    g_assert_cmpuint(buffer_pool_idle_bytes(pool), >, 200000);
    buffer_release(buffer_pool_get(pool, 1000));
    buffer_pool_trim_unused(pool);

    g_assert_cmpuint(buffer_pool_idle_bytes(pool), ==, 1024);
}

static void
test_a_buffer_outlives_its_pool(void)
{
    BufferPool *pool = buffer_pool_new(1 << 20);
    Buffer *buffer = buffer_pool_get(pool, 1000);

    buffer_release(buffer_pool_get(pool, 5000));
    buffer_pool_unref(pool);
    memset(buffer->data, 1, buffer->capacity);
    buffer_release(buffer);
}

static gboolean
set_flag(gpointer flag)
{
    *(gboolean *) flag = TRUE;
    return G_SOURCE_REMOVE;
}

static void
test_what_is_idle_goes_back_to_the_system_by_itself(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    gboolean too_late = FALSE;
    guint guard = g_timeout_add_seconds(20, set_flag, &too_late);

    buffer_release(buffer_pool_get(pool, 1000));
    buffer_release(buffer_pool_get(pool, 200000));
    while (!too_late && buffer_pool_idle_bytes(pool) > 0)
        g_main_context_iteration(NULL, TRUE);

    g_assert_false(too_late);
    g_source_remove(guard);
    g_assert_false(g_main_context_iteration(NULL, FALSE));
}

static gpointer
get_and_release(gpointer pool)
{
    for (guint i = 0; i < 20000; i++) {
        Buffer *buffer = buffer_pool_get(pool, 300 + i % 5 * 1000);

        buffer->data[0] = (guint8) i;
        buffer->data[buffer->capacity - 1] = (guint8) i;
        buffer_release(buffer);
    }
    return NULL;
}

static void
test_threads_share_a_pool(void)
{
    g_autoptr(BufferPool) pool = buffer_pool_new(1 << 20);
    GThread *threads[4];

    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("user", get_and_release, pool);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        g_thread_join(threads[i]);

    g_assert_cmpuint(buffer_pool_idle_bytes(pool), <=, 1 << 20);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/buffer-pool/a-size-class-holds-its-size-and-wastes-a-quarter-at-most",
                    test_a_size_class_holds_its_size_and_wastes_a_quarter_at_most);
    g_test_add_func("/buffer-pool/a-released-buffer-is-the-next-of-its-class",
                    test_a_released_buffer_is_the_next_of_its_class);
    g_test_add_func("/buffer-pool/idle-bytes-stay-within-their-bound",
                    test_idle_bytes_stay_within_their_bound);
    g_test_add_func("/buffer-pool/trimming-frees-what-is-idle", test_trimming_frees_what_is_idle);
    g_test_add_func("/buffer-pool/only-what-was-idle-all-the-time-is-unused",
                    test_only_what_was_idle_all_the_time_is_unused);
    g_test_add_func("/buffer-pool/a-buffer-outlives-its-pool", test_a_buffer_outlives_its_pool);
    g_test_add_func("/buffer-pool/what-is-idle-goes-back-to-the-system-by-itself",
                    test_what_is_idle_goes_back_to_the_system_by_itself);
    g_test_add_func("/buffer-pool/threads-share-a-pool", test_threads_share_a_pool);
    return g_test_run();
}
