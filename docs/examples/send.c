/* send.c - sends each line of standard input as an event; what was not acknowledged is sent again.
 *
 *     cc -o send send.c $(pkg-config --cflags --libs leat-client)
 *     ./send hub1:4141,hub2:4141 < /var/log/syslog */
#define _POSIX_C_SOURCE 200809L /* getline, with -std=c11 too */
#include <leat/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BATCH 1000

/* False if it gives up. */
static bool
send_all(LeatClient *client, const LeatEvent *events, size_t n_events)
{
    for (int n_failures = 0; n_failures < 10; n_failures++) {
        g_autoptr(GError) error = NULL;
        size_t n_done;

        if (leat_client_append_batch(client, events, n_events, &n_done, &error))
            return true;
        fprintf(stderr, "%zu of %zu acknowledged: %s\n", n_done, n_events, error->message);
        if (error->code == LEAT_ERROR_EVENT)
            n_done++; /* it would fail for ever */
        else
            sleep(1);
        events += n_done;
        n_events -= n_done;
    }
    return false;
}

int
main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:4141";
    const char *const options[] = { "hosts", hosts, "batch-size", "1000", NULL };
    static const LeatHeader headers[] = { { "app", "send" } };
    static char *lines[BATCH];
    static size_t sizes[BATCH];
    static LeatEvent events[BATCH];
    GError *error = NULL;
    LeatClient *client = leat_client_new(options, &error);
    bool ok = client != NULL;
    ssize_t size = 0;

    if (!ok)
        fprintf(stderr, "%s\n", error->message);
    while (ok && size >= 0) {
        size_t n = 0;

        for (; n < BATCH && (size = getline(&lines[n], &sizes[n], stdin)) >= 0; n++)
            events[n] = (LeatEvent){ lines[n], size - (lines[n][size - 1] == '\n'), headers, 1 };
        ok = send_all(client, events, n);
    }
    leat_client_free(client);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
