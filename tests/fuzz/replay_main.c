/* replay_main.c - runs every file of a corpus through a fuzz target, one TAP line each. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* NULL if the folder cannot be read. */
static GPtrArray *
list_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    GPtrArray *paths;
    const char *name;

    if (dir == NULL)
        return NULL;
    paths = g_ptr_array_new_with_free_func(g_free);
    while ((name = g_dir_read_name(dir)) != NULL)
        g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(paths, compare_names);
    return paths;
}

static gboolean
replay_file(const char *path)
{
    g_autofree char *content = NULL;
    g_autofree guint8 *exact = NULL;
    gsize length;

    if (!g_file_get_contents(path, &content, &length, NULL))
        return FALSE;
    /* No NUL behind it, so that a sanitizer sees a read past the end. */
    exact = g_memdup2(content, length);
    LLVMFuzzerTestOneInput(exact, length);
    return TRUE;
}

/* An empty corpus is a mistake in the build, not a success. */
static guint
replay_folder(const char *folder, guint n_done)
{
    g_autoptr(GPtrArray) paths = list_folder(folder);

    if (paths == NULL || paths->len == 0)
        printf("not ok %u - %s has no files\n", ++n_done, folder);
    for (guint i = 0; paths != NULL && i < paths->len; i++) {
        const char *path = g_ptr_array_index(paths, i);
        g_autofree char *name = g_path_get_basename(path);
        gboolean ok;

        printf("# %s\n", path); /* the last line of a run that crashes */
        fflush(stdout);
        ok = replay_file(path);
        printf("%s %u - %s\n", ok ? "ok" : "not ok", ++n_done, name);
    }
    return n_done;
}

int
main(int argc, char **argv)
{
    guint n_done = 0;

    for (int i = 1; i < argc; i++)
        n_done = replay_folder(argv[i], n_done);
    if (argc == 1)
        n_done = replay_folder(TEST_SOURCE_DIR "/tests/fuzz/corpus/" FUZZ_CORPUS, n_done);
    printf("1..%u\n", n_done);
    return EXIT_SUCCESS;
}
