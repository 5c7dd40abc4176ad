/* folder.c - temporary folders of tests. */
#include "tests/support/folder.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define IN_MEMORY "/dev/shm"

char *
folder_make(void)
{
    gboolean in_memory = g_access(IN_MEMORY, W_OK) == 0;
    char *path =
        g_build_filename(in_memory ? IN_MEMORY : g_get_tmp_dir(), "leat-test-XXXXXX", NULL);

    g_assert_nonnull(g_mkdtemp(path));
    return path;
}

void
folder_remove(const char *path)
{
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    const char *name;

    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
        g_autofree char *file = g_build_filename(path, name, NULL);

        g_unlink(file);
    }
    g_rmdir(path);
}
