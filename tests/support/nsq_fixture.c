/* nsq_fixture.c - NSQ's table with a clock that the test turns. */
#include "tests/support/nsq_fixture.h"

#include <string.h>

static void
note_event(const NsqEvent *event, gpointer user)
{
    static const char *const words[] = {
        [NSQ_NODE_JOINED] = "joined",        [NSQ_NODE_LEFT] = "left",
        [NSQ_NODE_SILENT] = "silent",        [NSQ_NODE_HEARD_AGAIN] = "heard",
        [NSQ_REGISTERED] = "registered",     [NSQ_UNREGISTERED] = "unregistered",
        [NSQ_CREATED] = "created",           [NSQ_DELETED] = "deleted",
        [NSQ_TOMBSTONED] = "tombstoned",     [NSQ_TOMBSTONE_LAPSED] = "lapsed",
        [NSQ_PRODUCERS_CHANGED] = "changed",
    };
    GString *events = user;

    g_string_append_printf(events, "%s%s", events->len > 0 ? " " : "", words[event->kind]);
    if (event->topic != NULL)
        g_string_append_printf(events, ":%s", event->topic);
    if (event->channel != NULL)
        g_string_append_printf(events, "/%s", event->channel);
}

static void
set_up(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    const NsqRules rules = { .inactive_us = 300 * SECOND_US,
                             .tombstone_us = 45 * SECOND_US,
                             .max_entries = NSQ_MAX_ENTRIES };

    self->table = nsq_table_new(&rules, NSQ_FIRST_INDEX);
    self->events = g_string_new(NULL);
    self->now_us = NSQ_START_US;
    nsq_table_observe(self->table, note_event, self->events);
}

static void
tear_down(NsqFixture *self, gconstpointer user G_GNUC_UNUSED)
{
    nsq_table_free(self->table);
    g_string_free(self->events, TRUE);
}

NsqNode *
nsq_fixture_join(NsqFixture *self, const char *remote, const char *host)
{
    g_autofree char *body = g_strdup_printf("{\"broadcast_address\":\"%s\",\"tcp_port\":4150,"
                                            "\"http_port\":4151,\"version\":\"1.3.0\"}",
                                            host);
    const char *answer;
    g_autoptr(GError) error = NULL;
    NsqIdentity *identity =
        nsq_identity_parse((const guint8 *) body, strlen(body), remote, &answer, &error);

    g_assert_no_error(error);
    return nsq_table_add_node(self->table, identity, self->now_us);
}

guint
nsq_fixture_visible(const NsqFixture *self, const char *topic_name)
{
    const NsqTopic *topic = nsq_table_find(self->table, topic_name);
    guint n = 0;

    g_assert_nonnull(topic);
    for (NsqProducer *producer = topic->own.first; producer != NULL; producer = producer->next)
        n += nsq_table_producer_is_visible(self->table, producer, self->now_us) ? 1 : 0;
    return n;
}

guint
nsq_fixture_producers(const NsqFixture *self, const char *topic, const char *channel)
{
    GHashTable *channels = nsq_table_channels(self->table, topic);
    const NsqRegistration *registration;

    g_assert_nonnull(channels);
    registration = g_hash_table_lookup(channels, channel);
    g_assert_nonnull(registration);
    return registration->n_producers;
}

gboolean
nsq_fixture_has_channel(const NsqFixture *self, const char *topic, const char *channel)
{
    GHashTable *channels = nsq_table_channels(self->table, topic);

    return channels != NULL && g_hash_table_contains(channels, channel);
}

void
nsq_fixture_assert_events(NsqFixture *self, const char *expected)
{
    g_assert_cmpstr(self->events->str, ==, expected);
    g_string_truncate(self->events, 0);
}

void
nsq_fixture_add(const char *path, void (*test)(NsqFixture *, gconstpointer))
{
    g_autofree char *full = g_strconcat("/nsq-table/", path, NULL);

    g_test_add(full, NsqFixture, NULL, set_up, test, tear_down);
}
