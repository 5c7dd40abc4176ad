/* broker_group.c - brokers of one name, by id. */
#include "registry/wire/broker_group.h"

#include "registry/wire/broker_group_json.h"

static void
address_clear(BrokerAddress *self)
{
    g_free(self->address);
}

BrokerGroup *
broker_group_new(const char *cluster, const char *broker)
{
    BrokerGroup *self = g_new0(BrokerGroup, 1);

    self->cluster = g_strdup(cluster);
    self->broker = g_strdup(broker);
    self->addresses = g_array_new(FALSE, FALSE, sizeof(BrokerAddress));
    g_array_set_clear_func(self->addresses, (GDestroyNotify) address_clear);
    return self;
}

void
broker_group_free(BrokerGroup *self)
{
    g_free(self->cluster);
    g_free(self->broker);
    g_free(self->zone);
    g_array_unref(self->addresses);
    g_free(self);
}

/* FALSE: *ret_at is where it would be. */
static gboolean
find(const BrokerGroup *self, gint64 id, guint *ret_at)
{
    guint low = 0;
    guint high = self->addresses->len;

    while (low < high) {
        guint middle = low + (high - low) / 2;

        if (g_array_index(self->addresses, BrokerAddress, middle).id < id)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_at = low;
    return low < self->addresses->len &&
           g_array_index(self->addresses, BrokerAddress, low).id == id;
}

void
broker_group_set_address(BrokerGroup *self, gint64 id, const char *address)
{
    BrokerAddress entry = { .id = id, .address = g_strdup(address) };
    guint at;

    if (find(self, id, &at)) {
        g_free(g_array_index(self->addresses, BrokerAddress, at).address);
        g_array_index(self->addresses, BrokerAddress, at) = entry;
    } else {
        g_array_insert_val(self->addresses, at, entry);
    }
}

/* ---- JSON ---- */

/* Of a group that is read; real ones have a handful. */
#define MAX_ADDRESSES 1000

static void
write_addresses(const BrokerGroup *self, Fastjson *json)
{
    fastjson_open(json, "brokerAddrs", '{');
    for (guint i = 0; i < self->addresses->len; i++) {
        const BrokerAddress *address = &g_array_index(self->addresses, BrokerAddress, i);

        fastjson_int_key(json, address->id);
        fastjson_text(json, NULL, address->address);
    }
    fastjson_close(json, '}');
}

void
broker_group_write(const BrokerGroup *self, Fastjson *json)
{
    fastjson_open(json, NULL, '{');
    write_addresses(self, json);
    fastjson_text(json, "brokerName", self->broker);
    fastjson_text(json, "cluster", self->cluster);
    fastjson_bool(json, "enableActingMaster", self->enable_acting_master);
    fastjson_text(json, "zoneName", self->zone);
    fastjson_close(json, '}');
}

static void
read_addresses(JsonReader *reader, gpointer group)
{
    BrokerGroup *self = group;
    g_autoptr(GString) key = g_string_new(NULL);

    if (!json_reader_enter(reader, JSON_OBJECT))
        return;
    while (json_next_key(reader, key)) {
        g_autofree char *address = NULL;
        gint64 id;

        json_read_text(reader, &address);
        if (!g_ascii_string_to_signed(key->str, 10, G_MININT64, G_MAXINT64, &id, NULL))
            json_reader_fail(reader, "the id of a broker is no number");
        else if (address != NULL)
            broker_group_set_address(self, id, address);
        if (self->addresses->len > MAX_ADDRESSES)
            json_reader_fail(reader, "a group has too many brokers");
    }
}

BrokerGroup *
broker_group_read(JsonReader *reader)
{
    static const JsonMember members[] = {
        JSON_MEMBER_BY("brokerAddrs", read_addresses),
        JSON_MEMBER("brokerName", TEXT, BrokerGroup, broker),
        JSON_MEMBER("cluster", TEXT, BrokerGroup, cluster),
        JSON_MEMBER("enableActingMaster", BOOL, BrokerGroup, enable_acting_master),
        JSON_MEMBER("zoneName", TEXT, BrokerGroup, zone),
        { 0 },
    };
    g_autoptr(BrokerGroup) self = broker_group_new("", "");

    json_object_read(reader, members, self);
    return reader->failure == NULL ? g_steal_pointer(&self) : NULL;
}

GString *
broker_group_encode(const BrokerGroup *self)
{
    Fastjson json = { .out = g_string_new(NULL) };

    fastjson_open(&json, NULL, '{');
    fastjson_open(&json, "brokerMemberGroup", '{');
    write_addresses(self, &json);
    fastjson_text(&json, "brokerName", self->broker);
    fastjson_text(&json, "cluster", self->cluster);
    fastjson_close(&json, '}');
    fastjson_close(&json, '}');
    return json.out;
}
