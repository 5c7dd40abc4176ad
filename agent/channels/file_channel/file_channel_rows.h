/* file_channel_rows.h - what the types of file and spillable channel have in common. */
#pragma once

#include "agent/channels/file_channel/file_channel.h"

extern const char *const file_channel_sync_names[];

#define FILE_CHANNEL_ROWS(a_directory)                                                             \
    { .name = "directory",                                                                         \
      OPTION_AT(PATH, FileChannel, options.directory),                                             \
      .required = TRUE,                                                                            \
      .example = (a_directory),                                                                    \
      .help = "Where the events are; no other channel may use it. Made if it is not there." },     \
        { .name = "byte-capacity",                                                                 \
          OPTION_AT(SIZE, FileChannel, base.byte_capacity),                                        \
          .fallback = "10GiB",                                                                     \
          .min = 4096,                                                                             \
          .help = "Bytes that the events may take on the disk at the most. The files may take a "  \
                  "quarter and three segments more, for what is delivered but not yet removed." }, \
        { .name = "segment-size",                                                                  \
          OPTION_AT(SIZE, FileChannel, options.segment_size),                                      \
          .fallback = "128MiB",                                                                    \
          .min = SEGMENT_MIN_SIZE,                                                                 \
          .max = SEGMENT_MAX_SIZE / 2,                                                             \
          .help = "Size of one file; it is removed when every event in it has been delivered." },  \
        { .name = "reserve",                                                                       \
          OPTION_AT(SIZE, FileChannel, options.reserve),                                           \
          .fallback = "512MiB",                                                                    \
          .help =                                                                                  \
              "Free space on the disk below which puts are refused; takes go on. 0 is none." },    \
        { .name = "sync",                                                                          \
          OPTION_AT(CHOICE, FileChannel, options.sync),                                            \
          .choices = file_channel_sync_names,                                                      \
          .fallback = "always",                                                                    \
          .help =                                                                                  \
              "When events are forced to the disk: always is before they are acknowledged, and "   \
              "survives a power cut; interval and never survive a crash of the process only." },   \
        { .name = "sync-interval",                                                                 \
          OPTION_AT(DURATION, FileChannel, options.sync_interval_us),                              \
          .fallback = "1s",                                                                        \
          .min = 1000,                                                                             \
          .help = "How often events are forced to the disk with sync: interval." },                \
        { .name = "compression",                                                                   \
          OPTION_AT(CHOICE, FileChannel, options.compression),                                     \
          .choices = record_compression_names,                                                     \
          .fallback = "none",                                                                      \
          .help = "How each put is compressed in the files." },                                    \
    {                                                                                              \
        .name = "cache", OPTION_AT(SIZE, FileChannel, options.cache_bytes), .fallback = "64MiB",   \
        .help = "Memory for the latest events, so that a sink that keeps up never reads the disk." \
    }

#define FILE_CHANNEL_OPERATIONS                                                                  \
    .base.instance_size = sizeof(FileChannel), .base.configure = file_channel_configure,         \
    .base.metrics = file_channel_metrics, .base.open = file_channel_open,                        \
    .base.close = file_channel_close, .base.finalize = file_channel_finalize, .durable = TRUE,   \
    .put = file_channel_put, .put_cancel = file_channel_put_cancel, .take = file_channel_take,   \
    .commit = file_channel_commit, .rollback = file_channel_rollback, .wake = file_channel_wake, \
    .n_events = file_channel_n_events, .trouble = file_channel_trouble,                          \
    .keeps_in = file_channel_keeps_in
