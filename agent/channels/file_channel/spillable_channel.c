/* spillable_channel.c - a file channel that writes late: events are in memory, and the oldest of
 * them on disk when they become too many. */
#include "agent/channels/file_channel/file_channel.h"
#include "agent/channels/file_channel/file_channel_rows.h"

static const OptionSpec spillable_channel_options[] = {
    { .name = "memory-capacity",
      OPTION_AT(COUNT, FileChannel, options.memory_capacity),
      .fallback = "100000",
      .min = 1,
      .help =
          "Events that are in memory only, at the most. A crash loses them; a clean stop writes "
          "them. From three quarters on the oldest are written." },
    { .name = "memory-bytes",
      OPTION_AT(SIZE, FileChannel, options.memory_bytes),
      .fallback = "64MiB",
      .min = 4096,
      .help = "Bytes of memory for them, at the most." },
    FILE_CHANNEL_ROWS("/var/lib/leat/spilled"),
    { 0 },
};

const ChannelType spillable_channel = {
    FILE_CHANNEL_OPERATIONS,
    .base.name = "spillable",
    .base.summary = "Holds events in memory, and in files what memory has no room for.",
    .base.options = spillable_channel_options,
};
