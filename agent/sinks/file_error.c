/* file_error.c - each errno that a file can meet, with what the operator can do about it. */
#include "agent/sinks/file_error.h"

#include <errno.h>

#include "agent/core/sink.h"

typedef struct {
    int number;
    const char *remedy;
} FileRemedy;

static const FileRemedy remedies[] = {
    { ENOSPC, "free space or inodes on its file system" },
    { EDQUOT, "raise the quota of the agent's user or remove files" },
    { EACCES, "give the agent's user the right to read, write and search its folder" },
    { EPERM, "give the agent's user the right to change its folder" },
    { EROFS, "mount its file system for writing" },
    { ENOENT, "see that its folder is not removed while the agent writes there" },
    { ENOTDIR,
      "a file or a symbolic link stands where a folder is needed; move it away (links below "
      "the directory are not followed)" },
    { ELOOP, "a symbolic link stands in its place; move it away" },
    { EMFILE, "lower max-open-files or raise the limit of open files (LimitNOFILE=, ulimit -n)" },
    { ENFILE, "raise the system's limit of open files (fs.file-max)" },
    { EFBIG, "lower roll-size or raise the limit of the file size (LimitFSIZE=, ulimit -f)" },
    { EIO, "look at the disk (dmesg)" },
    { ENAMETOOLONG, "shorten directory, prefix or suffix" },
};

static const char *
remedy_for(int number)
{
    for (gsize i = 0; i < G_N_ELEMENTS(remedies); i++)
        if (remedies[i].number == number)
            return remedies[i].remedy;
    return "look at its folder and file system";
}

static void
set(GError **error, int number, const char *doing, const char *path, const char *remedy)
{
    g_set_error(error, SINK_ERROR, SINK_ERROR_IO, "cannot %s '%s': %s; %s", doing, path,
                g_strerror(number), remedy);
}

void
file_error_set(GError **error, int number, const char *doing, const char *path)
{
    set(error, number, doing, path, remedy_for(number));
}

void
file_error_set_create(GError **error, int number, const char *path)
{
    set(error, number, "make the folder", path,
        number == ENOENT ? "folders cannot be made there; check the path" : remedy_for(number));
}
