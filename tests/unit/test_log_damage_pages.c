/* test_log_damage_pages.c - a page of a segment that the disk cannot read costs the records that
 * have a part in it. The rows of docs/file-channel-format.md. */
#include <errno.h>

#include "agent/builtin.h"
#include "agent/channels/file_channel/file_channel.h"
#include "agent/commands/channel.h"
#include "base/clock.h"
#include "tests/support/log_maker.h"
#include "tests/support/test_part.h"

#define BAD_PAGE 12288
#define PAGE_BYTES 4096
/* A read that fails is tried again so often. */
#define MAX_TAKES 20

/* As the system does it: short before the page, and an error in it. */
static ssize_t
pread_around_page(int fd, void *bytes, size_t length, off_t offset)
{
    if (offset < BAD_PAGE)
        length = MIN(length, (size_t) (BAD_PAGE - offset));
    if (offset < BAD_PAGE || offset >= BAD_PAGE + PAGE_BYTES)
        return file_ops_system.pread(fd, bytes, length, offset);
    errno = EIO;
    return -1;
}

static FileOps
ops_with_bad_page(void)
{
    FileOps ops = file_ops_system;

    ops.pread = pread_around_page;
    return ops;
}

/* The page stands within the second record. */
static LogMaker *
log_around_page(void)
{
    LogMaker *log = log_maker_new();

    log_maker_roll(log);
    log_maker_put(log, 700);
    log_maker_put(log, 1000);
    log_maker_put(log, 5);
    g_assert_cmpuint(log_maker_record(log, 1).offset, <, BAD_PAGE);
    g_assert_cmpuint(log_maker_record(log, 2).offset, >, BAD_PAGE + PAGE_BYTES);
    return log;
}

static void
test_readers_pass_over_a_page_that_cannot_be_read(void)
{
    g_autoptr(LogMaker) log = log_around_page();
    g_autoptr(ChannelFolder) folder = channel_folder_open(log->path, NULL);
    const FileOps ops = ops_with_bad_page();
    ChannelProgress progress;
    ChannelTotals totals;

    folder->dir.ops = &ops;
    channel_progress_init(&progress, FALSE);
    totals = channel_folder_verify(folder, &progress);

    g_assert_cmpuint(totals.n_events, ==, 705);
    g_assert_cmpuint(totals.n_lost, ==, 1000);
    g_assert_cmpuint(folder->n_damages, ==, 2);
}

static guint
take(Channel *channel)
{
    const TakeLimits limits = { .max_events = 10000, .max_bytes = G_MAXSIZE };
    g_autoptr(Lease) lease = NULL;
    guint n_events;

    for (guint i = 0; lease == NULL && i < MAX_TAKES; i++)
        lease = channel_take(channel, &limits, clock_now_us());
    g_assert_nonnull(lease);
    n_events = lease->n_events;
    lease_commit(lease, n_events);
    return n_events;
}

static void
test_start_keeps_what_stands_around_a_page_that_cannot_be_read(void)
{
    g_autoptr(LogMaker) log = log_around_page();
    g_autofree char *yaml = g_strdup_printf("directory: %s\nreserve: 0B\n", log->path);
    Component *component = test_part_new(&file_channel.base, COMPONENT_CHANNEL, "recovered", yaml);
    const FileOps ops = ops_with_bad_page();
    Channel *channel = (Channel *) component;
    g_autoptr(GError) error = NULL;

    ((FileChannel *) component)->ops = &ops;
    component_open(component, &error);
    g_assert_no_error(error);

    g_assert_cmpuint(metric_get(component->part_metrics, FILE_CHANNEL_LOST), ==, 1000);
    g_assert_cmpuint(channel_n_events(channel), ==, 705);
    g_assert_cmpuint(take(channel), ==, 700);
    g_assert_cmpuint(take(channel), ==, 5);
    test_part_free(component);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log-damage/page", test_readers_pass_over_a_page_that_cannot_be_read);
    g_test_add_func("/log-damage/page-start",
                    test_start_keeps_what_stands_around_a_page_that_cannot_be_read);
    return g_test_run();
}
