/* test_kv_store.c - the KV configuration, in memory and in its file; and settings as properties. */
#include "registry/kv_store.h"

#include <glib/gstdio.h>
#include <string.h>

#include "registry/namesrv_properties.h"

typedef struct {
    char *folder;
    char *path; /* in a folder that is not there yet */
} Fixture;

static void
set_up(Fixture *self, gconstpointer user G_GNUC_UNUSED)
{
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
    g_free(self->folder);
    g_free(self->path);
}

#define UNUSED gconstpointer user G_GNUC_UNUSED

static void
test_what_was_put_is_there_after_a_restart(Fixture *self, UNUSED)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(KvStore) store = kv_store_open(self->path, &error);
    g_autoptr(KvStore) again = NULL;
    g_autofree char *text = NULL;

    g_assert_no_error(error);
    g_assert_true(kv_store_put(store, "n", "k", "v\"\n\xc3\xa4", &error));
    g_assert_true(kv_store_put(store, "n", "gone", "x", &error));
    g_assert_true(kv_store_delete(store, "n", "gone", &error));
    again = kv_store_open(self->path, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(kv_store_get(again, "n", "k"), ==, "v\"\n\xc3\xa4");
    g_assert_null(kv_store_get(again, "n", "gone"));
    g_assert_true(g_file_get_contents(self->path, &text, NULL, NULL));
    g_assert_true(g_str_has_prefix(text, "{\"configTable\":{\"n\":{\"k\":"));
}

static void
test_an_emptied_namespace_stays(Fixture *self, UNUSED)
{
    g_autoptr(KvStore) store = kv_store_open(self->path, NULL);

    g_assert_null(kv_store_list(store, "n"));
    g_assert_true(kv_store_put(store, "n", "k", "v", NULL));
    g_assert_true(kv_store_delete(store, "n", "k", NULL));
    g_assert_true(kv_store_delete(store, "nowhere", "k", NULL));

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

    g_assert_null(kv_store_open(self->path, &error));
    g_assert_nonnull(strstr(error->message, self->path));
    g_assert_nonnull(strstr(error->message, "mend it or move it away"));
}

static void
test_what_cannot_be_saved_is_not_kept(Fixture *self, UNUSED)
{
    g_autofree char *path = g_build_filename(self->folder, "file", "kv", NULL);
    g_autofree char *file = g_build_filename(self->folder, "file", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(KvStore) store = kv_store_open(path, &error);

    g_assert_no_error(error);
    g_assert_true(g_file_set_contents(file, "no folder", -1, NULL));

    g_assert_false(kv_store_put(store, "n", "k", "v", &error));
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
    g_assert_null(kv_store_list(store, "n"));
    g_unlink(file);
}

static void
test_it_is_full_some_time(Fixture *self, UNUSED)
{
    g_autoptr(KvStore) store = kv_store_open(self->path, NULL);
    g_autofree char *value = g_strnfill(KV_STORE_MAX_BYTES * 3 / 4, 'x');
    g_autoptr(GError) error = NULL;

    g_assert_true(kv_store_put(store, "n", "k", value, NULL));
    g_assert_false(kv_store_put(store, "n", "l", value, &error));

    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC);
    g_assert_null(kv_store_get(store, "n", "l"));
    g_assert_true(kv_store_put(store, "n", "k", value, NULL)); /* in the place of the first */
}

static void
test_small_entries_fill_it_too(Fixture *self, UNUSED)
{
    g_autofree char *value = g_strnfill(KV_STORE_MAX_BYTES - 600, 'x');
    g_autoptr(KvStore) store = kv_store_open(self->path, NULL);

    g_assert_true(kv_store_put(store, "n", "k", value, NULL));

    g_assert_false(kv_store_put(store, "n", "l", "", NULL));
    g_assert_false(kv_store_put(store, "m", "l", NULL, NULL));
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
