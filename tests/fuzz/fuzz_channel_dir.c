/* fuzz_channel_dir.c - whatever stands in the directory of a file channel, the commands and the
 * channel read whole events or say why not, and the channel works on.
 *
 * The input is one file behind the other: a byte that says which, the length in two bytes (little
 * endian), its content. Of the first byte, bits 0 to 3 are 0 for the checkpoint, 15 for a file of
 * somebody else, otherwise the number of a segment; bit 4: the content is the file as it is, else a
 * segment's 96 bytes of head, which become both copies, and its records; bit 5: checksums are put
 * right, since no fuzzer would guess them. */
#include "config.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/builtin.h"
#include "agent/channels/file_channel/checkpoint.h"
#include "agent/channels/file_channel/crc32c.h"
#include "agent/channels/file_channel/little_endian.h"
#include "agent/channels/file_channel/record.h"
#include "agent/commands/channel.h"
#include "base/clock.h"
#include "base/log.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/events.h"
#include "tests/support/test_part.h"

#define FILE_HEADER 3
#define AS_IT_IS 0x10
#define PUT_RIGHT 0x20
#define HEAD_USED 96
#define CHECKSUM_AT 12
/* gcc says it in the first way, clang in the second. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SHADOW_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SHADOW_MEMORY
#endif
#endif
/* What any input may make us allocate. */
#define MAX_MEMORY ((rlim_t) 512 << 20)

/* ---- the directory ---- */

static void
put_checksum_right(guint8 *bytes, gsize length)
{
    if (length < CHECKSUM_AT + 4)
        return;
    put_u32(bytes + CHECKSUM_AT, 0);
    put_u32(bytes + CHECKSUM_AT, crc32c(0, bytes, length));
}

static void
put_records_right(guint8 *bytes, gsize length)
{
    gsize at = 0;

    while (at + RECORD_HEADER_SIZE <= length) {
        guint32 payload = get_u32(bytes + at + 4);
        guint32 crc;

        if (payload > length - at - RECORD_HEADER_SIZE)
            return;
        crc = crc32c(0, bytes + at + RECORD_HEADER_SIZE, payload);
        put_u32(bytes + at, crc32c(crc, bytes + at + 4, RECORD_HEADER_SIZE - 4));
        at += record_size(payload);
    }
}

static void
write_bytes(const char *folder, const char *name, const guint8 *bytes, gsize length)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    g_assert_true(g_file_set_contents_full(path, (const char *) bytes, (gssize) length,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
write_segment(const char *folder, guint8 how, guint8 *bytes, gsize length)
{
    g_autofree char *name = segment_name(how & 15);
    gsize head = MIN(length, HEAD_USED);
    g_autofree guint8 *file = NULL;

    if (how & AS_IT_IS) {
        write_bytes(folder, name, bytes, length);
        return;
    }
    if (how & PUT_RIGHT) {
        put_checksum_right(bytes, head);
        put_records_right(bytes + head, length - head);
    }
    file = g_malloc0(SEGMENT_HEAD_SIZE + length - head);
    memcpy(file, bytes, head);
    memcpy(file + SEGMENT_HEAD_COPY, bytes, head);
    memcpy(file + SEGMENT_HEAD_SIZE, bytes + head, length - head);
    write_bytes(folder, name, file, SEGMENT_HEAD_SIZE + length - head);
}

static void
write_file(const char *folder, guint8 how, guint8 *bytes, gsize length)
{
    if ((how & 15) == 0 && (how & PUT_RIGHT))
        put_checksum_right(bytes, length);
    if ((how & 15) == 0)
        write_bytes(folder, CHECKPOINT_NAME, bytes, length);
    else if ((how & 15) == 15)
        write_bytes(folder, "README", bytes, length);
    else
        write_segment(folder, how, bytes, length);
}

static char *
make_folder(const uint8_t *data, size_t size)
{
    const char *where = g_access("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir();
    char *folder = g_build_filename(where, "leat-fuzz-XXXXXX", NULL);

    g_assert_nonnull(g_mkdtemp(folder));
    while (size >= FILE_HEADER) {
        gsize length = MIN(size - FILE_HEADER, data[1] | (gsize) data[2] << 8);
        g_autofree guint8 *bytes = g_malloc(length + 1); /* an empty one is not NULL */

        memcpy(bytes, data + FILE_HEADER, length);
        write_file(folder, data[0], bytes, length);
        data += FILE_HEADER + length;
        size -= FILE_HEADER + length;
    }
    return folder;
}

static void
remove_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        g_unlink(path);
    }
    g_rmdir(folder);
}

/* ---- who reads it ---- */

static void
check_commands(const char *path)
{
    g_autoptr(ChannelFolder) folder = channel_folder_open(path, NULL);
    FILE *nowhere;
    ChannelProgress progress;
    ChannelTotals totals;

    if (folder == NULL)
        return;
    channel_progress_init(&progress, FALSE);
    totals = channel_folder_verify(folder, &progress);
    g_assert_true(totals.n_lost == 0 || folder->n_damages > 0);
    nowhere = fopen("/dev/null", "w");
    channel_folder_cat(folder, EVENT_FORMAT_JSON, nowhere, &progress);
    fclose(nowhere);
}

static void
check_lease(const Lease *lease)
{
    for (guint i = 0; i < lease->slices->len; i++) {
        const BatchSlice *slice = &g_array_index(lease->slices, BatchSlice, i);

        for (guint k = 0; k < slice->count; k++) {
            ByteSpan event = batch_span(slice->batch, slice->first + k, 1);

            g_assert_cmpuint(event_bytes_check(event.data, event.length), ==, event.length);
        }
    }
}

/* Everything that is there by the deadline of each take. */
static guint64
drain(Channel *channel, guint64 max_events, gint64 deadline_us)
{
    const TakeLimits limits = { .max_events = 7, .max_bytes = G_MAXSIZE };
    guint64 n_events = 0;
    Lease *lease;

    while (n_events < max_events && (lease = channel_take(channel, &limits, deadline_us)) != NULL) {
        check_lease(lease);
        n_events += lease->n_events;
        lease_commit(lease, lease->n_events);
        lease_rollback(lease);
    }
    return n_events;
}

/* Nothing is left behind but what is compressed, and all behind it, where it cannot be read. */
static gboolean
is_drained(Channel *channel)
{
#ifdef HAVE_ZSTD
    g_assert_cmpuint(channel_n_events(channel), ==, 0);
#endif
    return channel_n_events(channel) == 0;
}

static void
ignore_done(Ticket *ticket)
{
    g_assert_no_error(ticket->error);
}

static Channel *
open_channel(const char *path, GError **error)
{
    g_autofree char *yaml =
        g_strdup_printf("directory: %s\nreserve: 0B\nsegment-size: 64KiB\n", path);
    Channel *channel =
        (Channel *) test_part_new(&file_channel.base, COMPONENT_CHANNEL, "fuzzed", yaml);

    if (component_open(&channel->base, error))
        return channel;
    component_free(&channel->base);
    return NULL;
}

/* What is left is given, then what is put, and nothing of it again. */
static void
check_channel(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Batch) batch = batch_of_numbers(0, 3);
    Ticket ticket = { .done = ignore_done };
    Channel *channel = open_channel(path, &error);

    if (channel == NULL)
        return;
    drain(channel, G_MAXUINT64, clock_now_us());
    if (!is_drained(channel)) {
        test_part_free(&channel->base);
        return;
    }
    g_assert_cmpint(channel_put(channel, batch, &ticket, &error), !=, PUT_FAILED);
    g_assert_cmpuint(drain(channel, 3, clock_deadline_us(10 * G_USEC_PER_SEC)), ==, 3);
    g_assert_cmpuint(channel_n_events(channel), ==, 0);
    test_part_free(&channel->base);

    channel = open_channel(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(drain(channel, G_MAXUINT64, clock_now_us()), ==, 0);
    g_assert_cmpuint(channel_n_events(channel), ==, 0);
    test_part_free(&channel->base);
}

/* An input that makes us allocate more than that ends the program. */
static void
set_up_once(void)
{
    static gboolean is_set_up;

    if (is_set_up)
        return;
    is_set_up = TRUE;
    log_init(LOG_FORMAT_TEXT, LOG_AT_ERROR);
#ifndef HAS_SHADOW_MEMORY
    setrlimit(RLIMIT_DATA, &(struct rlimit){ MAX_MEMORY, MAX_MEMORY });
#endif
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *folder = NULL;

    set_up_once();
    folder = make_folder(data, size);
    check_commands(folder);
    check_channel(folder);
    remove_folder(folder);
    return 0;
}
