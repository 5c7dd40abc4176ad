/* route_offer.c - a topic at a broker: in the lists of both, and in one set. */
#include "registry/route_table_private.h"

guint
route_offer_hash(gconstpointer data)
{
    const RouteOffer *offer = data;
    guint64 mixed = (guint64) (gsize) offer->topic * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) ^
                    (guint64) (gsize) offer->broker;

    mixed *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
    return (guint) (mixed >> 32);
}

gboolean
route_offer_equal(gconstpointer a, gconstpointer b)
{
    const RouteOffer *one = a, *other = b;

    return one->topic == other->topic && one->broker == other->broker;
}

RouteOffer *
route_offer_find(const RouteTable *self, const RouteTopic *topic, const RouteBroker *broker)
{
    return g_hash_table_lookup(self->offers, &(RouteOffer){ .topic = (RouteTopic *) topic,
                                                            .broker = (RouteBroker *) broker });
}

const char *
route_perm_to_text(gint32 perm)
{
    static const char *const texts[] = { "---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx" };

    G_STATIC_ASSERT(QUEUE_PERM_READ == 4 && QUEUE_PERM_WRITE == 2 && QUEUE_PERM_INHERIT == 1);
    return texts[perm & 7];
}

/* ---- both lists ---- */

static void
append_to_topic(RouteTopic *topic, RouteOffer *offer)
{
    offer->previous = topic->last;
    if (topic->last != NULL)
        topic->last->next = offer;
    else
        topic->first = offer;
    topic->last = offer;
    topic->n_offers++;
}

static void
take_from_topic(RouteTopic *topic, RouteOffer *offer)
{
    if (offer->previous != NULL)
        offer->previous->next = offer->next;
    else
        topic->first = offer->next;
    if (offer->next != NULL)
        offer->next->previous = offer->previous;
    else
        topic->last = offer->previous;
    topic->n_offers--;
}

static void
prepend_to_broker(RouteBroker *broker, RouteOffer *offer)
{
    offer->next_of_broker = broker->first;
    if (broker->first != NULL)
        broker->first->previous_of_broker = offer;
    broker->first = offer;
    broker->n_offers++;
}

static void
take_from_broker(RouteBroker *broker, RouteOffer *offer)
{
    if (offer->previous_of_broker != NULL)
        offer->previous_of_broker->next_of_broker = offer->next_of_broker;
    else
        broker->first = offer->next_of_broker;
    if (offer->next_of_broker != NULL)
        offer->next_of_broker->previous_of_broker = offer->previous_of_broker;
    broker->n_offers--;
}

/* ---- telling ---- */

static void
tell_offer(RouteTable *self, RouteEventKind kind, const RouteOffer *offer, const char *detail,
           gboolean is_part)
{
    route_table_tell(self, &(RouteEvent){ .kind = kind,
                                          .broker = offer->broker->name,
                                          .topic = offer->topic->name,
                                          .detail = detail,
                                          .is_part = is_part });
}

static void
tell_resized(RouteTable *self, const RouteOffer *offer, gboolean is_part)
{
    g_autofree char *detail =
        g_strdup_printf("read queues %d, write queues %d, permission %s", offer->read_queues,
                        offer->write_queues, route_perm_to_text(offer->perm));

    tell_offer(self, ROUTE_RESIZED, offer, detail, is_part);
}

/* ---- changes ---- */

static gboolean
is_same(const RouteOffer *offer, const RouteQueue *data)
{
    return offer->read_queues == data->read_queues && offer->write_queues == data->write_queues &&
           offer->perm == data->perm && offer->sys_flag == data->sys_flag;
}

static void
fill(RouteOffer *offer, const RouteQueue *data)
{
    offer->read_queues = data->read_queues;
    offer->write_queues = data->write_queues;
    offer->perm = data->perm;
    offer->sys_flag = data->sys_flag;
}

/* Whether it is the template, and nobody could write to it before. */
static gboolean
is_closed_template(const RouteTable *self, const char *topic)
{
    return g_str_equal(topic, ROUTE_TEMPLATE_TOPIC) && !route_table_creates_topics(self);
}

static void
check_template(RouteTable *self, const RouteOffer *offer, gboolean was_closed)
{
    if (was_closed && route_table_creates_topics(self))
        tell_offer(self, ROUTE_CREATES_ITSELF, offer, NULL, FALSE);
}

void
route_offer_set(RouteTable *self, const char *name, RouteBroker *broker, const RouteQueue *data,
                gboolean is_part)
{
    gboolean was_closed = is_closed_template(self, name);
    RouteTopic *topic = route_table_ensure_topic(self, name);
    RouteOffer *offer = route_offer_find(self, topic, broker);
    gboolean is_new = offer == NULL;

    if (!is_new && is_same(offer, data))
        return;
    if (is_new) {
        offer = g_new0(RouteOffer, 1);
        offer->topic = topic;
        offer->broker = broker;
        append_to_topic(topic, offer);
        prepend_to_broker(broker, offer);
        g_hash_table_add(self->offers, offer);
    }
    fill(offer, data);
    if (is_new)
        tell_offer(self, ROUTE_OFFERED, offer, NULL, is_part);
    else
        tell_resized(self, offer, is_part);
    check_template(self, offer, was_closed);
    route_table_changed(self, topic);
}

gboolean
route_offer_set_perm(RouteTable *self, RouteOffer *offer, gint32 perm, gboolean is_part)
{
    gboolean was_closed = is_closed_template(self, offer->topic->name);

    if (offer->perm == perm)
        return FALSE;
    offer->perm = perm;
    tell_resized(self, offer, is_part);
    check_template(self, offer, was_closed);
    route_table_changed(self, offer->topic);
    return TRUE;
}

static void
forget_mappings(RouteTable *self, const RouteTopic *topic)
{
    GHashTableIter iter;
    gpointer json;

    if (topic->mappings == NULL)
        return;
    g_hash_table_iter_init(&iter, topic->mappings);
    while (g_hash_table_iter_next(&iter, NULL, &json))
        self->n_extra -= route_room_of_mapping(json);
}

void
route_offer_drop(RouteTable *self, RouteOffer *offer, gboolean is_part)
{
    RouteTopic *topic = offer->topic;

    tell_offer(self, ROUTE_WITHDRAWN, offer, NULL, is_part);
    take_from_topic(topic, offer);
    take_from_broker(offer->broker, offer);
    g_hash_table_remove(self->offers, offer);
    g_free(offer);
    route_table_changed(self, topic);
    if (topic->first != NULL)
        return;
    forget_mappings(self, topic);
    g_hash_table_remove(self->topics, topic->name);
}
