/* route_node.c - the processes of a broker: their ids, their sessions, how they leave. */
#include "base/clock.h"
#include "base/text_hash.h"
#include "registry/route_table_private.h"

guint
route_node_hash(gconstpointer data)
{
    const RouteNode *node = data;

    return text_hash(node->cluster) * 31 + text_hash(node->address);
}

gboolean
route_node_equal(gconstpointer a, gconstpointer b)
{
    const RouteNode *one = a, *other = b;

    return g_str_equal(one->address, other->address) && g_str_equal(one->cluster, other->cluster);
}

gint64
route_node_due_us(const RouteNode *node)
{
    return clock_after_us(node->heard_us, node->timeout_us);
}

void
route_node_move_to_session(RouteNode *node, RouteSession *session)
{
    if (node->session != NULL)
        g_queue_unlink(&node->session->nodes, &node->of_session);
    node->session = session;
    g_queue_push_tail_link(&session->nodes, &node->of_session);
}

RouteNode *
route_node_add(RouteTable *self, RouteSession *session, const BrokerRegistration *registration)
{
    RouteNode *node = g_new0(RouteNode, 1);

    node->cluster = g_strdup(registration->cluster);
    node->address = g_strdup(registration->address);
    node->of_session.data = node;
    route_node_move_to_session(node, session);
    g_hash_table_add(self->nodes, node);
    return node;
}

static void
node_free(RouteNode *node)
{
    g_free(node->cluster);
    g_free(node->address);
    g_free(node->name);
    g_free(node->ha_address);
    g_free(node->rival);
    g_clear_pointer(&node->filter_servers, g_ptr_array_unref);
    g_free(node);
}

/* ---- ids ---- */

void
route_node_attach(RouteNode *node, RouteBroker *broker)
{
    guint at = 0;

    while (at < broker->nodes->len &&
           ((RouteNode *) g_ptr_array_index(broker->nodes, at))->id < node->id)
        at++;
    g_ptr_array_insert(broker->nodes, (int) at, node);
    node->broker = broker;
}

void
route_node_detach(RouteNode *node)
{
    g_ptr_array_remove(node->broker->nodes, node);
    node->broker = NULL;
}

/* ---- the end ---- */

static void
drop_broker(RouteTable *self, RouteBroker *broker)
{
    while (broker->first != NULL)
        route_offer_drop(self, broker->first, TRUE);
    for (guint i = 0; i < broker->clusters->len; i++) {
        const char *cluster = g_ptr_array_index(broker->clusters, i);
        GHashTable *names = g_hash_table_lookup(self->clusters, cluster);

        g_hash_table_remove(names, broker->name);
        if (g_hash_table_size(names) == 0)
            g_hash_table_remove(self->clusters, cluster);
    }
    self->n_extra -= broker->clusters->len - 1;
    g_hash_table_remove(self->brokers, broker->name);
}

static void
stop_writing(RouteTable *self, RouteBroker *broker)
{
    for (RouteOffer *offer = broker->first; offer != NULL; offer = offer->next_of_broker)
        route_offer_set_perm(self, offer, offer->perm & ~QUEUE_PERM_WRITE, TRUE);
}

void
route_broker_settle(RouteTable *self, RouteBroker *broker)
{
    if (broker->nodes->len == 0) {
        drop_broker(self, broker);
        return;
    }
    if (broker->acting_master && route_broker_node(broker, MASTER_ID) == NULL)
        stop_writing(self, broker);
    route_table_changed_by_broker(self, broker);
}

void
route_node_leave(RouteTable *self, RouteNode *node, RouteEventKind kind, const char *why)
{
    RouteBroker *broker = node->broker;
    gboolean is_last = broker != NULL && broker->nodes->len == 1;

    route_table_tell(self, &(RouteEvent){ .kind = kind,
                                          .node = node,
                                          .broker = node->name,
                                          .detail = why,
                                          .n_topics = is_last ? broker->n_offers : 0 });
    if (broker != NULL) {
        route_node_detach(node);
        route_broker_settle(self, broker);
    }
    g_queue_unlink(&node->session->nodes, &node->of_session);
    g_hash_table_remove(self->nodes, node);
    self->n_extra -= node->filter_servers != NULL ? node->filter_servers->len : 0;
    node_free(node);
}

void
route_table_unregister(RouteTable *self, RouteSession *session, const char *cluster,
                       const char *broker, const char *address)
{
    RouteNode *node = route_table_find_node(self, cluster, address);
    g_autofree char *other = NULL;

    if (node == NULL || !g_str_equal(node->name, broker))
        return;
    if (session != node->session)
        other = g_strdup_printf("unregistered by %s", session->peer);
    if (session->generation < node->session->generation)
        route_table_tell(self,
                         &(RouteEvent){ .kind = ROUTE_STALE,
                                        .node = node,
                                        .broker = node->name,
                                        .detail = "a newer connection has registered it since" });
    else
        route_node_leave(self, node, ROUTE_LEFT, other != NULL ? other : "it unregistered");
}

/* ---- sessions ---- */

RouteSession *
route_table_open_session(RouteTable *self, const char *peer, gpointer owner)
{
    RouteSession *session = g_new0(RouteSession, 1);

    session->generation = ++self->last_generation;
    session->peer = g_strdup(peer);
    session->owner = owner;
    return session;
}

void
route_table_close_session(RouteTable *self, RouteSession *session, const char *why)
{
    while (session->nodes.head != NULL)
        route_node_leave(self, session->nodes.head->data, ROUTE_LEFT, why);
    g_free(session->peer);
    g_free(session);
}

/* ---- time ---- */

const DataVersion *
route_table_hear(RouteTable *self, const char *cluster, const char *address, gint64 now_us)
{
    RouteNode *node = route_table_find_node(self, cluster, address);

    if (node == NULL)
        return NULL;
    node->heard_us = now_us;
    return &node->version;
}

/* Nodes have different patience, and all of them beat much more often than one of them expires: one
 * look at all, once in the shortest patience, costs less than to keep them in order at each beat.
 */
GPtrArray *
route_table_advance(RouteTable *self, gint64 now_us)
{
    g_autoptr(GPtrArray) expired = g_ptr_array_new();
    GPtrArray *sessions = NULL;
    GHashTableIter iter;
    gpointer node;

    self->next_us = CLOCK_NEVER;
    g_hash_table_iter_init(&iter, self->nodes);
    while (g_hash_table_iter_next(&iter, &node, NULL)) {
        if (route_node_due_us(node) < now_us)
            g_ptr_array_add(expired, node);
        else /* one more: it is there at the very moment */
            self->next_us = MIN(self->next_us, clock_after_us(route_node_due_us(node), 1));
    }
    for (guint i = 0; i < expired->len; i++) {
        RouteSession *session = ((RouteNode *) g_ptr_array_index(expired, i))->session;

        route_node_leave(self, g_ptr_array_index(expired, i), ROUTE_EXPIRED, "it was not heard");
        if (session->nodes.head != NULL)
            continue;
        if (sessions == NULL)
            sessions = g_ptr_array_new();
        g_ptr_array_add(sessions, session);
    }
    return sessions;
}

gint64
route_table_next_us(const RouteTable *self)
{
    return self->next_us;
}
