/* test_kv_store.c - the KV configuration, in memory and in its file; and settings as properties. */
#include "registry/kv_store.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/clock.h"
#include "registry/namesrv_properties.h"

typedef struct {
    Loop *loop;
    char *folder;
    char *path; /* in a folder that is not there yet */
} Fixture;

static void
set_up(Fixture *self, gconstpointer user G_GNUC_UNUSED)
{
    self->loop = loop_new(NULL);
    self->folder = g_dir_make_tmp("kv-store-XXXXXX", NULL);
    self->path = g_build_filename(self->folder, "sub", "kvConfig.json", NULL);
}

static void
tear_down(Fixture *self, gconstpointer user G_GNUC_UNUSED)
{
    g_autofree char *sub = g_build_filename(self->folder, "sub", NULL);

    g_unlink(self->path);
    g_rmdir(sub);
    g_assert_cmpint(g_rmdir(self->folder), ==, 0); /* nothing else is left in it */
    loop_free(self->loop);
    g_free(self->folder);
    g_free(self->path);
}

#define UNUSED gconstpointer user G_GNUC_UNUSED
#define PATIENCE_US (20 * G_USEC_PER_SEC)

/* ---- changes ---- */

typedef struct {
    KvChange base;
    gboolean is_done;
    GError *error;
} Change;

static void
on_done(KvChange *change, const GError *error)
{
    Change *self = (Change *) change;

    self->is_done = TRUE;
    self->error = error != NULL ? g_error_copy(error) : NULL;
}

static Change
change_of(KvChangeKind kind, const char *space, const char *key, const char *value)
{
    return (Change){
        .base = { .kind = kind, .space = space, .key = key, .value = value, .done = on_done }
    };
}

static void
wait_for(Fixture *self, const Change *change)
{
    gint64 deadline_us = clock_deadline_us(PATIENCE_US);

    while (!change->is_done && clock_now_us() < deadline_us)
        loop_turn(self->loop, deadline_us);
    g_assert_true(change->is_done);
}

/* Until it is on the disk. */
static gboolean
carry_out(Fixture *self, KvStore *store, Change *change, GError **error)
{
    KvOutcome outcome = kv_store_change(store, &change->base, error);

    if (outcome != KV_HELD)
        return outcome == KV_UNCHANGED;
    wait_for(self, change);
    if (change->error == NULL)
        return TRUE;
    g_propagate_error(error, change->error);
    return FALSE;
}

static gboolean
put(Fixture *self, KvStore *store, const char *space, const char *key, const char *value,
    GError **error)
{
    Change change = change_of(KV_PUT, space, key, value);

    return carry_out(self, store, &change, error);
}

static gboolean delete (Fixture *self, KvStore *store, const char *space, const char *key)
{
    Change change = change_of(KV_DELETE, space, key, NULL);

    return carry_out(self, store, &change, NULL);
}

/* ---- the store ---- */

static void
test_what_was_put_is_there_after_a_restart(Fixture *self, UNUSED)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(KvStore) store = kv_store_open(self->loop, self->path, &error);
    g_autoptr(KvStore) again = NULL;
    g_autofree char *text = NULL;

    g_assert_no_error(error);
    g_assert_true(put(self, store, "n", "k", "v\"\n\xc3\xa4", &error));
    g_assert_true(put(self, store, "n", "gone", "x", &error));
    g_assert_true(delete (self, store, "n", "gone"));
    again = kv_store_open(self->loop, self->path, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(kv_store_get(again, "n", "k"), ==, "v\"\n\xc3\xa4");
    g_assert_null(kv_store_get(again, "n", "gone"));
    g_assert_true(g_file_get_contents(self->path, &text, NULL, NULL));
    g_assert_true(g_str_has_prefix(text, "{\"configTable\":{\"n\":{\"k\":"));
}

static void
test_an_emptied_namespace_stays(Fixture *self, UNUSED)
{
    g_autoptr(KvStore) store = kv_store_open(self->loop, self->path, NULL);

    g_assert_null(kv_store_list(store, "n"));
    g_assert_true(put(self, store, "n", "k", "v", NULL));
    g_assert_true(delete (self, store, "n", "k"));
    g_assert_true(delete (self, store, "nowhere", "k"));

    g_assert_cmpuint(g_hash_table_size(kv_store_list(store, "n")), ==, 0);
    g_assert_null(kv_store_list(store, "nowhere"));
}

static void
test_a_broken_file_is_an_error_that_says_what_to_do(Fixture *self, UNUSED)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *sub = g_path_get_dirname(self->path);

    g_assert_cmpint(g_mkdir(sub, 0755), ==, 0);
    g_assert_true(g_file_set_contents(self->path, "{\"configTable\":{\"n\":", -1, NULL));

    g_assert_null(kv_store_open(self->loop, self->path, &error));
    g_assert_nonnull(strstr(error->message, self->path));
    g_assert_nonnull(strstr(error->message, "mend it or move it away"));
}

static void
test_what_cannot_be_saved_is_not_kept(Fixture *self, UNUSED)
{
    g_autofree char *path = g_build_filename(self->folder, "file", "kv", NULL);
    g_autofree char *file = g_build_filename(self->folder, "file", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(KvStore) store = kv_store_open(self->loop, path, &error);

    g_assert_no_error(error);
    g_assert_true(g_file_set_contents(file, "no folder", -1, NULL));

    g_assert_false(put(self, store, "n", "k", "v", &error));
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
    g_assert_null(kv_store_list(store, "n"));
    g_unlink(file);
}

static void
test_what_comes_while_it_is_written_shares_the_next_write_and_is_seen_when_it_is_on_the_disk(
    Fixture *self, UNUSED)
{
    g_autoptr(KvStore) store = kv_store_open(self->loop, self->path, NULL);
    Change first = change_of(KV_PUT, "n", "k", "1"), second = change_of(KV_PUT, "n", "k", "2");
    Change again = change_of(KV_PUT, "n", "k", "2"), gone = change_of(KV_DELETE, "m", "k", NULL);
    g_autofree char *text = NULL;

    g_assert_cmpint(kv_store_change(store, &first.base, NULL), ==, KV_HELD);
    g_assert_cmpint(kv_store_change(store, &second.base, NULL), ==, KV_HELD);
    g_assert_cmpint(kv_store_change(store, &again.base, NULL), ==, KV_HELD);
    g_assert_cmpint(kv_store_change(store, &gone.base, NULL), ==, KV_HELD);
    g_assert_null(kv_store_get(store, "n", "k"));
    wait_for(self, &first);
    g_assert_cmpstr(kv_store_get(store, "n", "k"), ==, "1");
    g_assert_false(second.is_done);
    kv_store_settle(store, clock_deadline_us(PATIENCE_US));

    g_assert_true(second.is_done && again.is_done && gone.is_done);
    g_assert_true(second.base.is_change && !again.base.is_change && !gone.base.is_change);
    g_assert_cmpstr(kv_store_get(store, "n", "k"), ==, "2");
    g_assert_null(kv_store_list(store, "m"));
    g_assert_true(g_file_get_contents(self->path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "{\"configTable\":{\"n\":{\"k\":\"2\"}}}");
}

static void
test_a_write_that_fails_takes_all_back_that_is_under_way(Fixture *self, UNUSED)
{
    g_autofree char *path = g_build_filename(self->folder, "kv", NULL);
    g_autofree char *temporary = g_strconcat(path, ".new", NULL);
    g_autoptr(KvStore) store = kv_store_open(self->loop, path, NULL);
    Change first = change_of(KV_PUT, "n", "k", "2"), second = change_of(KV_PUT, "m", "k", "3");

    g_assert_true(put(self, store, "n", "k", "1", NULL));
    g_assert_cmpint(g_mkdir(temporary, 0755), ==, 0); /* in the way of the next write */
    g_assert_cmpint(kv_store_change(store, &first.base, NULL), ==, KV_HELD);
    g_assert_cmpint(kv_store_change(store, &second.base, NULL), ==, KV_HELD);
    wait_for(self, &first);

    g_assert_error(first.error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
    g_assert_error(second.error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
    g_assert_cmpstr(kv_store_get(store, "n", "k"), ==, "1");
    g_assert_null(kv_store_list(store, "m"));
    g_assert_cmpint(g_rmdir(temporary), ==, 0);
    g_assert_true(put(self, store, "m", "k", "4", NULL));
    g_clear_error(&first.error);
    g_clear_error(&second.error);
    g_unlink(path);
}

static void
test_a_store_that_ends_tells_those_who_wait(Fixture *self, UNUSED)
{
    KvStore *store = kv_store_open(self->loop, self->path, NULL);
    Change changes[] = { change_of(KV_PUT, "n", "k", "1"), change_of(KV_PUT, "n", "k", "2") };
    gint64 deadline_us = clock_deadline_us(PATIENCE_US);

    for (guint i = 0; i < G_N_ELEMENTS(changes); i++)
        g_assert_cmpint(kv_store_change(store, &changes[i].base, NULL), ==, KV_HELD);
    kv_store_free(store);

    for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_assert_error(changes[i].error, KV_STORE_ERROR, KV_STORE_ERROR_BUSY);
        g_clear_error(&changes[i].error);
    }
    /* What is under way ends whole. */
    while (!g_file_test(self->path, G_FILE_TEST_EXISTS) && clock_now_us() < deadline_us)
        g_thread_yield();
    g_assert_true(g_file_test(self->path, G_FILE_TEST_EXISTS));
}

static void
test_no_more_changes_wait_than_fit(Fixture *self, UNUSED)
{
    g_autoptr(KvStore) store = kv_store_open(self->loop, self->path, NULL);
    g_autofree char *value = g_strnfill(KV_STORE_MAX_BYTES * 3 / 4, 'x');
    Change first = change_of(KV_PUT, "n", "k", value), second = change_of(KV_PUT, "n", "k", NULL);
    Change third = change_of(KV_PUT, "n", "k", value);
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(kv_store_change(store, &first.base, NULL), ==, KV_HELD);
    g_assert_cmpint(kv_store_change(store, &second.base, NULL), ==, KV_HELD);
    g_assert_cmpint(kv_store_change(store, &third.base, &error), ==, KV_REFUSED);

    g_assert_error(error, KV_STORE_ERROR, KV_STORE_ERROR_BUSY);
    kv_store_settle(store, clock_deadline_us(PATIENCE_US));
    g_assert_true(second.is_done && first.error == NULL && second.error == NULL);
    g_assert_true(put(self, store, "n", "k", value, NULL));
}

static void
test_it_is_full_some_time(Fixture *self, UNUSED)
{
    g_autoptr(KvStore) store = kv_store_open(self->loop, self->path, NULL);
    g_autofree char *value = g_strnfill(KV_STORE_MAX_BYTES * 3 / 4, 'x');
    g_autoptr(GError) error = NULL;

    g_assert_true(put(self, store, "n", "k", value, NULL));
    g_assert_false(put(self, store, "n", "l", value, &error));

    g_assert_error(error, KV_STORE_ERROR, KV_STORE_ERROR_FULL);
    g_assert_null(kv_store_get(store, "n", "l"));
    g_assert_true(put(self, store, "n", "k", value, NULL)); /* in the place of the first */
}

static void
test_small_entries_fill_it_too(Fixture *self, UNUSED)
{
    g_autofree char *value = g_strnfill(KV_STORE_MAX_BYTES - 600, 'x');
    g_autoptr(KvStore) store = kv_store_open(self->loop, self->path, NULL);

    g_assert_true(put(self, store, "n", "k", value, NULL));

    g_assert_false(put(self, store, "n", "l", "", NULL));
    g_assert_false(put(self, store, "m", "l", NULL, NULL));
}

/* ---- properties ---- */

static void
note(const char *key, const char *value, const char *property G_GNUC_UNUSED, int line G_GNUC_UNUSED,
     gpointer user)
{
    g_string_append_printf(user, "%s=%s|", key, value);
}

static void
note_odd(const char *property, const char *why, int line, gpointer user)
{
    g_string_append_printf(user, "?%d:%s %s|", line, property, why);
}

static void
note_wrong(const char *property, const char *what, int line, gpointer user)
{
    g_string_append_printf(user, "!%d:%s: %s|", line, property, what);
}

static gboolean
read_properties(const char *text, GString *seen, int *ret_line)
{
    const PropertiesReader reader = {
        .option = note, .odd = note_odd, .wrong = note_wrong, .user = seen
    };

    return namesrv_properties_read(text, &reader, ret_line);
}

static void
test_a_file_of_properties_is_read_as_java_reads_it(void)
{
    g_autoptr(GString) seen = g_string_new(NULL);
    int line;

    g_assert_true(read_properties("# comment\n! comment\r\n\n"
                                  "  listenPort = 9877 \r\n"
                                  "bindAddress:127.0.0.1\n"
                                  "kvConfigPath /a\\ b/\\u006bv\\\n"
                                  "   .json\n"
                                  "orderMessageEnable=TRUE\n"
                                  "supportActingMaster=false\n"
                                  "scanNotActiveBrokerInterval=2500\n"
                                  "needWaitForService=true\n"
                                  "clusterTest=true\n",
                                  seen, &line));

    g_assert_cmpstr(seen->str, ==,
                    "kv-config-path=/a b/kv.json|order-topics=true|acting-master=false|"
                    "scan-interval=2500ms|?12:clusterTest has no effect here|listen=127.0.0.1:9877|"
                    "wait-for-service=45s|");
}

static void
test_a_wrong_value_is_told_by_its_line_and_leaves_the_others(void)
{
    g_autoptr(GString) seen = g_string_new(NULL);
    int line;

    g_assert_true(read_properties("listenPort=abc\n"
                                  "scanNotActiveBrokerInterval=5s\n"
                                  "orderMessageEnable=yes\n"
                                  "bindAddress=::1\n",
                                  seen, &line));

    g_assert_cmpstr(
        seen->str, ==,
        "!1:listenPort: 'abc' is no number from 0 to 65535; write digits and nothing else|"
        "!2:scanNotActiveBrokerInterval: '5s' is no number from 0 to 2147483647; write digits and "
        "nothing else|"
        "?3:orderMessageEnable is 'yes', which counts as false; write true or false|"
        "order-topics=false|listen=[::1]:9876|");
}

static void
test_a_bad_property_is_named_by_its_line(void)
{
    g_autoptr(GString) seen = g_string_new(NULL);
    int line;

    g_assert_false(read_properties("a=b\nc=\\u00zz\n", seen, &line));

    g_assert_cmpint(line, ==, 2);
}

static void
test_settings_may_be_changed_but_for_those_that_open_files(void)
{
    char path[] = "/kv";
    char host[] = "";
    Endpoint listen = { host, 9876 };
    NamesrvSettings settings = { .listen = &listen, .kv_config_path = path, .list_topics = TRUE };
    g_autoptr(GString) text = NULL;

    g_assert_cmpint(namesrv_properties_update(&settings, "enableTopicList=false\nwhatever=1\n"), ==,
                    PROPERTIES_UPDATED);
    g_assert_cmpint(
        namesrv_properties_update(&settings, "enableTopicList=true\nkvConfigPath=/etc/x\n"), ==,
        PROPERTIES_FORBIDDEN);
    g_assert_cmpint(namesrv_properties_update(&settings, "enableTopicList=\\u"), ==,
                    PROPERTIES_UNREADABLE);

    g_assert_false(settings.list_topics);
    text = namesrv_properties_write(&settings, 4711);
    g_assert_true(g_str_has_prefix(text->str, "bindAddress=0.0.0.0\ndeleteTopic"));
    g_assert_nonnull(
        strstr(text->str, "\nenableTopicList=false\nkvConfigPath=/kv\nlistenPort=4711\n"));
    g_assert_true(g_str_has_suffix(text->str, "\nwaitSecondsForService=45\n"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add("/kv-store/" #name, Fixture, NULL, set_up, test_##name, tear_down)
    ADD(what_was_put_is_there_after_a_restart);
    ADD(an_emptied_namespace_stays);
    ADD(a_broken_file_is_an_error_that_says_what_to_do);
    ADD(what_cannot_be_saved_is_not_kept);
    ADD(what_comes_while_it_is_written_shares_the_next_write_and_is_seen_when_it_is_on_the_disk);
    ADD(a_write_that_fails_takes_all_back_that_is_under_way);
    ADD(a_store_that_ends_tells_those_who_wait);
    ADD(no_more_changes_wait_than_fit);
    ADD(it_is_full_some_time);
    ADD(small_entries_fill_it_too);
#undef ADD
    g_test_add_func("/properties/read", test_a_file_of_properties_is_read_as_java_reads_it);
    g_test_add_func("/properties/wrong-values",
                    test_a_wrong_value_is_told_by_its_line_and_leaves_the_others);
    g_test_add_func("/properties/bad", test_a_bad_property_is_named_by_its_line);
    g_test_add_func("/properties/change",
                    test_settings_may_be_changed_but_for_those_that_open_files);
    return g_test_run();
}
