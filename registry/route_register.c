/* route_register.c - what a broker tells of itself, taken into the table. */
#include "base/clock.h"
#include "base/text_hash.h"
#include "registry/route_table_private.h"

typedef struct {
    RouteTable *table;
    const BrokerRegistration *told;
    RouteBroker *broker;
    RouteNode *node;
    gboolean is_first;     /* nobody held its id */
    gboolean is_new;       /* the node was not there */
    gboolean has_moved;    /* it had another place */
    gboolean is_other;     /* its topics may be others than it last told */
    gboolean route_is_new; /* as clients see the broker */
} Registering;

/* ---- who may have an id ---- */

static RouteNode *
find_holder(const RouteTable *self, const BrokerRegistration *told)
{
    const RouteBroker *broker = route_table_find_broker(self, told->broker);

    return broker != NULL ? (RouteNode *) route_broker_node(broker, told->id) : NULL;
}

static gboolean
may_not_have(const RouteNode *holder, const BrokerRegistration *told)
{
    return holder != NULL && !g_str_equal(holder->address, told->address) &&
           holder->version.state_version > told->version.state_version;
}

/* The newcomer is not listed, and is not told so: that is how it has always been answered. */
static void
refuse(RouteTable *self, const RouteNode *holder, RouteNode *node, const BrokerRegistration *told)
{
    const RouteNode newcomer = {
        .cluster = told->cluster, .address = told->address, .name = told->broker, .id = told->id
    };

    route_table_tell(self, &(RouteEvent){ .kind = ROUTE_REFUSED,
                                          .node = &newcomer,
                                          .other = holder,
                                          .broker = told->broker,
                                          .detail = "who holds its id has a newer state" });
    if (node != NULL)
        route_node_leave(self, node, ROUTE_LEFT, "it may not have the id that it wants");
}

static void
take_over(RouteTable *self, RouteNode *node, RouteNode *holder)
{
    gboolean is_back = g_strcmp0(holder->rival, node->address) == 0;

    route_node_detach(holder);
    if (g_str_equal(holder->address, node->address)) /* its registration in another cluster */
        return;
    g_free(node->rival);
    node->rival = g_strdup(holder->address);
    route_table_tell(self,
                     &(RouteEvent){ .kind = is_back ? ROUTE_TAKEN_OVER_BACK : ROUTE_TAKEN_OVER,
                                    .node = node,
                                    .other = holder,
                                    .broker = node->name });
}

/* ---- the node ---- */

/* One address has one id of one broker. */
static void
place(Registering *self, RouteNode *holder)
{
    RouteNode *node = self->node;
    RouteBroker *old = node->broker;

    if (holder == node && old == self->broker)
        return;
    if (old != NULL)
        route_node_detach(node);
    self->has_moved = !self->is_new && old != NULL;
    g_free(node->name);
    node->name = g_strdup(self->told->broker);
    node->id = self->told->id;
    if (holder != NULL)
        take_over(self->table, node, holder);
    route_node_attach(node, self->broker);
    if (old != NULL && old != self->broker)
        route_broker_settle(self->table, old);
    self->route_is_new = TRUE;
}

static void
update_broker(Registering *self)
{
    const BrokerRegistration *told = self->told;
    RouteBroker *broker = self->broker;
    gboolean acting_master = told->knows_acting_master && told->enable_acting_master;

    if (broker->acting_master == acting_master && g_strcmp0(broker->zone, told->zone) == 0)
        return;
    broker->acting_master = acting_master;
    g_free(broker->zone);
    broker->zone = g_strdup(told->zone);
    self->route_is_new = TRUE;
}

static gboolean
is_same_list(const GPtrArray *a, const GPtrArray *b)
{
    guint n = a != NULL ? a->len : 0;

    if (n != (b != NULL ? b->len : 0))
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (!g_str_equal(g_ptr_array_index(a, i), g_ptr_array_index(b, i)))
            return FALSE;
    return TRUE;
}

static gpointer
copy_text(gconstpointer text, gpointer user G_GNUC_UNUSED)
{
    return g_strdup(text);
}

/* Nothing said of them is no change; an empty list is none. */
static void
update_filter_servers(Registering *self)
{
    GPtrArray *told = self->told->filter_servers;
    RouteNode *node = self->node;

    if (told == NULL || is_same_list(node->filter_servers, told))
        return;
    self->table->n_extra += told->len;
    self->table->n_extra -= node->filter_servers != NULL ? node->filter_servers->len : 0;
    g_clear_pointer(&node->filter_servers, g_ptr_array_unref);
    if (told->len > 0) {
        node->filter_servers = g_ptr_array_copy(told, copy_text, NULL);
        g_ptr_array_set_free_func(node->filter_servers, g_free);
    }
    self->route_is_new = TRUE;
}

static void
update_node(Registering *self, RouteSession *session, gint64 now_us)
{
    const BrokerRegistration *told = self->told;
    RouteTable *table = self->table;
    RouteNode *node = self->node;
    gint64 due_us;

    if (session->generation > node->session->generation) /* what comes late takes nothing away */
        route_node_move_to_session(node, session);
    node->heard_us = now_us;
    node->timeout_us = CLAMP(told->heartbeat_timeout_ms, 0, G_MAXINT64 / 1000) * 1000;
    node->version = told->version;
    if (g_strcmp0(node->ha_address, told->ha_address) != 0) {
        g_free(node->ha_address);
        node->ha_address = g_strdup(told->ha_address);
    }
    due_us = clock_after_us(route_node_due_us(node), 1);
    if (due_us >= table->next_us)
        return;
    table->next_us = due_us;
    route_table_tell(table, &(RouteEvent){ .kind = ROUTE_DUE_EARLIER });
}

/* ---- its topics ---- */

/* The lowest of the slaves, if they are of 5.x: an older one does not know what it is. */
static gboolean
is_prime_slave(const Registering *self)
{
    return self->told->knows_acting_master && self->told->id != MASTER_ID &&
           g_ptr_array_index(self->broker->nodes, 0) == self->node;
}

/* The topic itself, or that it is there. */
static gboolean
is_to_be_taken(const Registering *self, const char *name)
{
    const RouteTopic *topic = route_table_find(self->table, name);

    return self->is_first || self->is_other || topic == NULL ||
           route_offer_find(self->table, topic, self->broker) == NULL;
}

static void
drop_topics_not_told(const Registering *self)
{
    g_autoptr(GHashTable) told = g_hash_table_new(text_hash, g_str_equal);
    RouteOffer *next;

    for (guint i = 0; i < self->told->topics->len; i++)
        g_hash_table_add(told, ((BrokerTopic *) g_ptr_array_index(self->told->topics, i))->name);
    for (RouteOffer *offer = self->broker->first; offer != NULL; offer = next) {
        next = offer->next_of_broker;
        if (!g_hash_table_contains(told, offer->topic->name))
            route_offer_drop(self->table, offer, FALSE);
    }
}

static void
take_mappings(const Registering *self)
{
    for (guint i = 0; i < self->told->mappings->len; i++) {
        const QueueMapping *mapping = g_ptr_array_index(self->told->mappings, i);
        RouteTopic *topic = (RouteTopic *) route_table_find(self->table, mapping->topic);
        const char *known;

        if (topic == NULL)
            continue;
        if (topic->mappings == NULL)
            topic->mappings = g_hash_table_new_full(text_hash, g_str_equal, g_free, g_free);
        known = g_hash_table_lookup(topic->mappings, mapping->broker);
        if (g_strcmp0(known, mapping->json) == 0)
            continue;
        self->table->n_extra += route_room_of_mapping(mapping->json);
        self->table->n_extra -= route_room_of_mapping(known);
        g_hash_table_replace(topic->mappings, g_strdup(mapping->broker), g_strdup(mapping->json));
        route_table_changed(self->table, topic);
    }
}

static void
take_topics(const Registering *self)
{
    gboolean acts = self->told->id != MASTER_ID && self->broker->acting_master;

    if (self->table->rules.drop_topics && self->told->mappings->len == 0)
        drop_topics_not_told(self);
    for (guint i = 0; i < self->told->topics->len; i++) {
        const BrokerTopic *topic = g_ptr_array_index(self->told->topics, i);
        const RouteQueue data = {
            .read_queues = topic->read_queues,
            .write_queues = topic->write_queues,
            .perm = acts ? topic->perm & ~QUEUE_PERM_WRITE : topic->perm,
            .sys_flag = topic->sys_flag,
        };

        if (is_to_be_taken(self, topic->name))
            route_offer_set(self->table, topic->name, self->broker, &data, self->is_new);
    }
    if (self->is_other || self->is_first)
        take_mappings(self);
}

/* ---- all of it ---- */

static void
tell_place(const Registering *self)
{
    if (self->is_new)
        route_table_tell(self->table, &(RouteEvent){ .kind = ROUTE_JOINED,
                                                     .node = self->node,
                                                     .broker = self->node->name,
                                                     .n_topics = self->told->topics->len });
    else if (self->has_moved)
        route_table_tell(
            self->table,
            &(RouteEvent){ .kind = ROUTE_MOVED, .node = self->node, .broker = self->node->name });
    if (self->route_is_new)
        route_table_changed_by_broker(self->table, self->broker);
}

static RouteMaster
master_of(const RouteNode *node)
{
    const RouteNode *master = route_broker_node(node->broker, MASTER_ID);

    if (node->id == MASTER_ID || master == NULL)
        return (RouteMaster){ NULL, NULL };
    return (RouteMaster){ .address = master->address, .ha_address = master->ha_address };
}

RouteOutcome
route_table_register(RouteTable *self, RouteSession *session, const BrokerRegistration *told,
                     gint64 now_us, RouteMaster *ret_master)
{
    RouteNode *holder = find_holder(self, told);
    RouteNode *node = route_table_find_node(self, told->cluster, told->address);
    Registering registering = { .table = self, .told = told, .is_first = holder == NULL };
    RouteOutcome outcome = route_room_check(self, told);

    *ret_master = (RouteMaster){ NULL, NULL };
    if (outcome != ROUTE_ACCEPTED)
        return outcome;
    if (may_not_have(holder, told)) {
        refuse(self, holder, node, told);
        return ROUTE_ACCEPTED;
    }
    if (holder == NULL && told->topics->len == 1)
        return ROUTE_NOT_WHOLE;
    registering.is_new = node == NULL;
    registering.is_other = node == NULL || !data_version_equal(&node->version, &told->version);
    registering.broker = route_table_ensure_broker(self, told->broker, told->cluster);
    registering.node = node != NULL ? node : route_node_add(self, session, told);
    place(&registering, holder);
    update_broker(&registering);
    update_filter_servers(&registering);
    update_node(&registering, session, now_us);
    if (told->id == MASTER_ID || is_prime_slave(&registering))
        take_topics(&registering);
    tell_place(&registering);
    *ret_master = master_of(registering.node);
    return ROUTE_ACCEPTED;
}
