/* test_resolver.c - names to addresses, with a name server that the test plays itself. */
#include "base/resolver.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netdb.h>
#include <string.h>

#include "base/clock.h"

#define SOON_US (10 * G_USEC_PER_SEC)
#define SHORT_US (30 * 1000)

/* ---- the name server ---- */

static GMutex lock; /* guards the rest */
static GCond changed;
static const char *watched; /* name */
static guint n_asked;       /* for that name */
static gboolean silent;     /* it does not answer until it is told to */

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list);
void __real_freeaddrinfo(struct addrinfo *list);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list);
void __wrap_freeaddrinfo(struct addrinfo *list);

static struct addrinfo *
address_new(const char *host, struct addrinfo *next)
{
    struct addrinfo *info = g_new0(struct addrinfo, 1);
    struct sockaddr_in *address = g_new0(struct sockaddr_in, 1);

    address->sin_family = AF_INET;
    g_assert_cmpint(inet_pton(AF_INET, host, &address->sin_addr), ==, 1);
    *info = (struct addrinfo){ .ai_family = AF_INET,
                               .ai_addr = (struct sockaddr *) address,
                               .ai_addrlen = sizeof *address,
                               .ai_next = next };
    return info;
}

/* Names are answered here, figures by the system. */
int
__wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret_list)
{
    int status = EAI_NONAME;

    if (hints->ai_flags & AI_NUMERICHOST) {
        struct addrinfo *list = NULL;

        status = __real_getaddrinfo(node, service, hints, &list);
        if (status == 0) {
            char host[64];

            g_assert_cmpint(getnameinfo(list->ai_addr, list->ai_addrlen, host, sizeof host, NULL, 0,
                                        NI_NUMERICHOST),
                            ==, 0);
            *ret_list = list->ai_family == AF_INET ? address_new(host, NULL) : NULL;
            __real_freeaddrinfo(list);
        }
        return status;
    }
    g_mutex_lock(&lock);
    n_asked += g_strcmp0(node, watched) == 0;
    g_cond_broadcast(&changed);
    while (silent && strcmp(node, "quick") != 0)
        g_cond_wait(&changed, &lock);
    g_mutex_unlock(&lock);
    if (strcmp(node, "unknown") == 0)
        return EAI_NONAME;
    *ret_list = address_new("192.0.2.1", address_new("192.0.2.2", NULL));
    return 0;
}

void
__wrap_freeaddrinfo(struct addrinfo *list)
{
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;

        g_free(list->ai_addr);
        g_free(list);
        list = next;
    }
}

static void
set_silent(gboolean value)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    silent = value;
    g_cond_broadcast(&changed);
}

/* Counts how often this name is asked for from now on. */
static void
watch(const char *name)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    watched = name;
    n_asked = 0;
}

static guint
get_n_asked(void)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    return n_asked;
}

static void
wait_until_asked(void)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    while (n_asked == 0)
        g_cond_wait(&changed, &lock);
}

/* ---- questions ---- */

static GArray *
look_up(const char *host, gint64 wait_us, const gint *stop, GError **error)
{
    g_autoptr(Endpoint) endpoint = endpoint_new(host, 4141);

    return resolver_lookup(endpoint, clock_deadline_us(wait_us), stop, error);
}

/* "a:port b:port", or the error. (transfer full) */
static char *
answer_to(const char *host)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) addresses = look_up(host, SOON_US, NULL, &error);
    g_autoptr(GString) text = g_string_new(NULL);

    if (addresses == NULL)
        return g_strdup(error->message);
    for (guint i = 0; i < addresses->len; i++) {
        const ResolvedAddress *address = &g_array_index(addresses, ResolvedAddress, i);
        g_autofree char *one =
            endpoint_text_of_address((const struct sockaddr *) &address->address);

        g_string_append_printf(text, "%s%s", i > 0 ? " " : "", one);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
test_a_name_has_all_its_addresses_in_order_with_the_port(void)
{
    g_autofree char *answer = answer_to("hub");

    g_assert_cmpstr(answer, ==, "192.0.2.1:4141 192.0.2.2:4141");
}

static void
test_figures_are_answered_without_a_name_server(void)
{
    g_autofree char *answer = NULL;

    watch("192.0.2.7");
    answer = answer_to("192.0.2.7");

    g_assert_cmpstr(answer, ==, "192.0.2.7:4141");
    g_assert_cmpuint(get_n_asked(), ==, 0);
}

static void
test_a_name_is_asked_for_again_each_time(void)
{
    watch("again");
    for (guint i = 0; i < 3; i++) {
        g_autofree char *answer = answer_to("again");

        g_assert_nonnull(answer);
    }

    g_assert_cmpuint(get_n_asked(), ==, 3);
}

static void
test_a_failure_is_remembered_for_a_moment(void)
{
    watch("unknown");
    for (guint i = 0; i < 100; i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(look_up("unknown", SOON_US, NULL, &error));
        g_assert_error(error, RESOLVER_ERROR, RESOLVER_ERROR_NOT_FOUND);
        g_assert_nonnull(strstr(error->message, "'unknown'"));
    }

    g_assert_cmpuint(get_n_asked(), <=, 3);
}

static void
test_a_name_server_that_is_silent_is_given_up_at_the_deadline(void)
{
    g_autoptr(GError) error = NULL;

    set_silent(TRUE);
    g_assert_null(look_up("hub", SHORT_US, NULL, &error));
    set_silent(FALSE);

    g_assert_error(error, RESOLVER_ERROR, RESOLVER_ERROR_TIMEOUT);
}

static void
test_one_silent_name_does_not_delay_another(void)
{
    g_autofree char *answer = NULL;

    set_silent(TRUE);
    g_assert_null(look_up("slow", SHORT_US, NULL, NULL)); /* not "hub": it may still be asked for */
    answer = answer_to("quick");
    set_silent(FALSE);

    g_assert_cmpstr(answer, ==, "192.0.2.1:4141 192.0.2.2:4141");
}

static gpointer
look_up_thread(gpointer host)
{
    return answer_to(host);
}

static void
test_who_asks_for_the_same_name_shares_the_answer(void)
{
    GThread *threads[8];

    set_silent(TRUE);
    watch("shared");
    g_assert_null(look_up("shared", SHORT_US, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("asker", look_up_thread, (gpointer) "shared");
    g_assert_null(look_up("shared", SHORT_US, NULL, NULL));
    wait_until_asked();
    g_assert_cmpuint(get_n_asked(), ==, 1);
    set_silent(FALSE);

    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_autofree char *answer = g_thread_join(threads[i]);

        g_assert_cmpstr(answer, ==, "192.0.2.1:4141 192.0.2.2:4141");
    }
}

typedef struct {
    gint stop;
    GError *error;
} Asker;

static gpointer
ask_until_stopped(gpointer user)
{
    Asker *self = user;

    return look_up("stopped", SOON_US, &self->stop, &self->error);
}

static void
test_a_wait_ends_when_it_is_told_to(void)
{
    Asker asker = { 0 };
    GThread *thread;

    set_silent(TRUE);
    watch("stopped");
    thread = g_thread_new("asker", ask_until_stopped, &asker);
    wait_until_asked();
    g_atomic_int_set(&asker.stop, 1);
    resolver_wake();

    g_assert_null(g_thread_join(thread));
    g_assert_error(asker.error, RESOLVER_ERROR, RESOLVER_ERROR_INTERRUPTED);
    g_clear_error(&asker.error);
    set_silent(FALSE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/resolver/" name, function)
    ADD("a-name-has-all-its-addresses-in-order-with-the-port",
        test_a_name_has_all_its_addresses_in_order_with_the_port);
    ADD("figures-are-answered-without-a-name-server",
        test_figures_are_answered_without_a_name_server);
    ADD("a-name-is-asked-for-again-each-time", test_a_name_is_asked_for_again_each_time);
    ADD("a-failure-is-remembered-for-a-moment", test_a_failure_is_remembered_for_a_moment);
    ADD("a-name-server-that-is-silent-is-given-up-at-the-deadline",
        test_a_name_server_that_is_silent_is_given_up_at_the_deadline);
    ADD("one-silent-name-does-not-delay-another", test_one_silent_name_does_not_delay_another);
    ADD("who-asks-for-the-same-name-shares-the-answer",
        test_who_asks_for_the_same_name_shares_the_answer);
    ADD("a-wait-ends-when-it-is-told-to", test_a_wait_ends_when_it_is_told_to);
    return g_test_run();
}
