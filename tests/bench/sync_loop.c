/* sync_loop.c - appends a frame to a file and syncs it, again and again: what a channel on disk is
 * measured against. Prints one line of JSON like loadgen's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/load_frame.h"

static G_NORETURN void
die(const char *path)
{
    fprintf(stderr, "sync_loop: %s: %s\n", path, g_strerror(errno));
    exit(1);
}

int
main(int argc, char **argv)
{
    const LoadShape shape = { .batch = 1000, .body = 300, .headers = 2 };
    g_autoptr(GByteArray) frame = load_frame_new(&shape);
    gint64 start_us = clock_now_us();
    gint64 stop_us;
    guint64 n_frames = 0;
    int fd;

    if (argc != 3) {
        fprintf(stderr, "usage: sync_loop FILE SECONDS\n");
        return 2;
    }
    stop_us = start_us + (gint64) (g_ascii_strtod(argv[2], NULL) * G_USEC_PER_SEC);
    fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        die(argv[1]);
    for (; clock_now_us() < stop_us; n_frames++)
        if (write(fd, frame->data, frame->len) != (gssize) frame->len || fdatasync(fd) != 0)
            die(argv[1]);
    printf("{\"events\": %" G_GUINT64_FORMAT ", \"bytes\": %" G_GUINT64_FORMAT
           ", \"start\": %.6f, \"end\": %.6f}\n",
           n_frames * shape.batch, n_frames * frame->len, (double) start_us / G_USEC_PER_SEC,
           (double) clock_now_us() / G_USEC_PER_SEC);
    return 0;
}
