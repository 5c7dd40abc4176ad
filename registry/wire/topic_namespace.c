/* topic_namespace.c - names of topics in a namespace. */
#include "registry/wire/topic_namespace.h"

#include <string.h>

/* Topics that brokers and their clients make for themselves. */
static const char *const system_topics[] = {
    "TBW102",
    "BenchmarkTest",
    "SELF_TEST_TOPIC",
    "OFFSET_MOVED_EVENT",
    "SCHEDULE_TOPIC_XXXX",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "RMQ_SYS_TRACE_TOPIC",
    NULL,
};

static const char *const group_prefixes[] = { "%RETRY%", "%DLQ%" };

/* prefix, namespace, separator and rest, unless the rest has them already. */
static char *
join(const char *prefix, const char *name_space, char separator, const char *rest)
{
    gsize length = strlen(name_space);

    if (strncmp(rest, name_space, length) == 0 && rest[length] == separator)
        return g_strconcat(prefix, rest, NULL);
    return g_strdup_printf("%s%s%c%s", prefix, name_space, separator, rest);
}

static gboolean
is_none(const char *name_space)
{
    return name_space == NULL || *name_space == '\0';
}

char *
nsq_topic_in_namespace(const char *name_space, const char *topic)
{
    return is_none(name_space) ? g_strdup(topic) : join("", name_space, '.', topic);
}

char *
broker_topic_in_namespace(const char *name_space, const char *topic)
{
    if (is_none(name_space) || g_strv_contains(system_topics, topic) ||
        g_str_has_prefix(topic, "rmq_sys_"))
        return g_strdup(topic);
    for (gsize i = 0; i < G_N_ELEMENTS(group_prefixes); i++)
        if (g_str_has_prefix(topic, group_prefixes[i]))
            return join(group_prefixes[i], name_space, '%', topic + strlen(group_prefixes[i]));
    return join("", name_space, '%', topic);
}

gboolean
broker_topic_is_valid(const char *topic)
{
    gsize length = strspn(topic, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-%|");

    return length > 0 && length <= BROKER_TOPIC_MAX && topic[length] == '\0';
}
