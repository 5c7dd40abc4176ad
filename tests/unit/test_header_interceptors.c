/* test_header_interceptors.c - timestamp, host, static, uuid, remove-header. */
#include <glib.h>

#include "agent/builtin.h"
#include "base/clock.h"
#include "tests/support/intercept.h"

/* The value behind "key=" at the start of an event's text. */
static char *
first_value(const char *event)
{
    const char *value = strchr(event, '=') + 1;

    return g_strndup(value, strcspn(value, ",:"));
}

/* ---- timestamp ---- */

static void
test_timestamp_writes_the_milliseconds_of_now(void)
{
    g_autoptr(Interceptor) timestamp = interceptor_new(&timestamp_interceptor, "");
    gint64 before_ms = clock_wall_us() / 1000;
    g_autofree char *event = intercept(timestamp, "body");
    g_autofree char *value = first_value(event);

    g_assert_true(g_str_has_prefix(event, "timestamp="));
    g_assert_cmpint(g_ascii_strtoll(value, NULL, 10), >=, before_ms);
    g_assert_cmpint(g_ascii_strtoll(value, NULL, 10), <=, clock_wall_us() / 1000);
}

static void
test_timestamp_replaces_or_preserves_what_is_there(void)
{
    g_autoptr(Interceptor) replaces = interceptor_new(&timestamp_interceptor, "");
    g_autoptr(Interceptor) preserves =
        interceptor_new(&timestamp_interceptor, "header-name: at, preserve-existing: true");
    g_autofree char *event = intercept(replaces, "timestamp=1:body");

    g_assert_cmpstr(event, !=, "timestamp=1:body");
    assert_intercepts(preserves, "at=1:body", "at=1:body");
}

/* ---- host ---- */

static void
test_host_writes_an_address_of_this_machine(void)
{
    g_autoptr(Interceptor) host = interceptor_new(&host_interceptor, "");
    g_autofree char *event = intercept(host, "body");
    g_autofree char *value = first_value(event);

    g_assert_true(g_str_has_prefix(event, "host="));
    g_assert_true(g_hostname_is_ip_address(value) || strchr(event, '%') != NULL);
}

static void
test_host_writes_the_host_name_if_asked_to(void)
{
    g_autoptr(Interceptor) host =
        interceptor_new(&host_interceptor, "use-ip: false, host-header: name");
    g_autofree char *expected = g_strdup_printf("name=%s:body", g_get_host_name());

    assert_intercepts(host, "name=old:body", expected);
}

static void
test_host_preserves_what_is_there_if_asked_to(void)
{
    g_autoptr(Interceptor) host = interceptor_new(&host_interceptor, "preserve-existing: yes");

    assert_intercepts(host, "host=edge:body", "host=edge:body");
}

/* ---- static ---- */

static void
test_static_writes_its_header_and_preserves_by_default(void)
{
    g_autoptr(Interceptor) plain = interceptor_new(&static_interceptor, "");
    g_autoptr(Interceptor) replaces =
        interceptor_new(&static_interceptor, "key: dc, value: fra, preserve-existing: false");

    assert_intercepts(plain, "body", "key=value:body");
    assert_intercepts(plain, "key=mine:body", "key=mine:body");
    assert_intercepts(replaces, "a=1,dc=ber,b=2:body", "a=1,dc=fra,b=2:body");
}

/* ---- uuid ---- */

static void
test_uuid_differs_for_each_event_and_preserves_by_default(void)
{
    g_autoptr(Interceptor) uuid = interceptor_new(&uuid_interceptor, "prefix: edge-");
    g_autofree char *first = intercept(uuid, "body");
    g_autofree char *second = intercept(uuid, "body");
    g_autofree char *value = first_value(first);

    g_assert_cmpstr(first, !=, second);
    g_assert_true(g_str_has_prefix(value, "edge-"));
    g_assert_true(g_uuid_string_is_valid(value + strlen("edge-")));
    assert_intercepts(uuid, "id=mine:body", "id=mine:body");
}

/* ---- remove-header ---- */

static void
test_remove_header_takes_off_what_it_names(void)
{
    g_autoptr(Interceptor) by_name = interceptor_new(&remove_header_interceptor, "with-name: b");
    g_autoptr(Interceptor) by_list =
        interceptor_new(&remove_header_interceptor, "from-list: [c, a, none]");

    assert_intercepts(by_name, "a=1,b=2,c=3:body", "a=1,c=3:body");
    assert_intercepts(by_list, "a=1,b=2,c=3:body", "b=2:body");
}

static void
test_remove_header_matches_whole_names(void)
{
    g_autoptr(Interceptor) by_pattern =
        interceptor_new(&remove_header_interceptor, "matching: 'x|xy|se.*et'");

    assert_intercepts(by_pattern, "x=1,xy=2,xyz=3,secret=4,secrets=5:body", "xyz=3,secrets=5:body");
}

#define N_MANY 200000

static Batch *
batch_of_many_headers(void)
{
    g_autofree EventHeader *headers = g_new(EventHeader, N_MANY);
    g_autofree char *keys = g_malloc(8 * N_MANY);

    for (guint i = 0; i < N_MANY; i++) {
        char *key = keys + 8 * i;

        headers[i].key = byte_span(key, (gsize) g_snprintf(key, 8, "k%u", i));
        headers[i].value = byte_span_of_text("v");
    }
    return batch_new_single(headers, N_MANY, byte_span_of_text("body"));
}

/* A loop of a source does it: what takes a minute holds up all other clients. */
static void
test_remove_header_removes_very_many_in_no_time(void)
{
    g_autoptr(Interceptor) by_pattern =
        interceptor_new(&remove_header_interceptor, "matching: 'k.*'");
    g_autoptr(Batch) batch = batch_of_many_headers();
    gint64 begin_us = clock_now_us();
    g_autofree char *event = intercept_batch(by_pattern, batch);

    g_assert_cmpstr(event, ==, "body");
    g_assert_cmpint(clock_now_us() - begin_us, <, 10 * G_USEC_PER_SEC);
}

static void
test_remove_header_must_be_told_what_to_remove(void)
{
    g_autofree char *none = interceptor_problems(&remove_header_interceptor, "");
    g_autofree char *bad = interceptor_problems(&remove_header_interceptor, "matching: '('");

    g_assert_nonnull(strstr(none, "nothing would be removed"));
    g_assert_nonnull(strstr(bad, "matching"));
    g_assert_null(strstr(bad, "nothing would be removed"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timestamp/now", test_timestamp_writes_the_milliseconds_of_now);
    g_test_add_func("/timestamp/existing", test_timestamp_replaces_or_preserves_what_is_there);
    g_test_add_func("/host/address", test_host_writes_an_address_of_this_machine);
    g_test_add_func("/host/name", test_host_writes_the_host_name_if_asked_to);
    g_test_add_func("/host/existing", test_host_preserves_what_is_there_if_asked_to);
    g_test_add_func("/static/header", test_static_writes_its_header_and_preserves_by_default);
    g_test_add_func("/uuid/differs", test_uuid_differs_for_each_event_and_preserves_by_default);
    g_test_add_func("/remove-header/named", test_remove_header_takes_off_what_it_names);
    g_test_add_func("/remove-header/matching", test_remove_header_matches_whole_names);
    g_test_add_func("/remove-header/very-many", test_remove_header_removes_very_many_in_no_time);
    g_test_add_func("/remove-header/nothing-to-do", test_remove_header_must_be_told_what_to_remove);
    return g_test_run();
}
