/* test_file_template.c - escapes are filled in, and no header leads out of the directory. */
#include "agent/sinks/file_template.h"

#include <glib.h>
#include <limits.h>
#include <string.h>

#include "tests/support/event_maker.h"

#define NAME_LIMIT 200

static char *
fill_in(FileTemplate *template, const EventView *event)
{
    g_autoptr(FileTime) time = file_time_new("utc", TRUE);
    GString *path = g_string_new(NULL);

    file_time_choose(time, event, 0);
    file_template_append(template, event, time, path);
    return g_string_free(path, FALSE);
}

static char *
folder_of(const char *directory, MadeEvent *event)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(FileTemplate) template = file_template_parse_directory(directory, &error);

    g_assert_no_error(error);
    return fill_in(template, &event->view);
}

static void
assert_folder(const char *directory, MadeEvent *event, const char *expected)
{
    g_autofree char *path = folder_of(directory, event);

    g_assert_cmpstr(path, ==, expected);
}

static void
assert_base(const char *directory, const char *base, gboolean fixed)
{
    g_autoptr(FileTemplate) template = file_template_parse_directory(directory, NULL);

    g_assert_cmpstr(file_template_base(template), ==, base);
    g_assert_cmpint(file_template_is_fixed(template), ==, fixed);
}

static void
test_the_base_is_what_stands_before_the_first_escape(void)
{
    assert_base("/var/log/leat", "/var/log/leat", TRUE);
    assert_base("/var/log/leat/", "/var/log/leat", TRUE);
    assert_base("/var/log/%{app}/x", "/var/log", FALSE);
    assert_base("/var/log/app-%Y/x", "/var/log", FALSE);
    assert_base("/100%%/%Y", "/100%", FALSE);
    assert_base("%Y", ".", FALSE);
    assert_base("/%Y", "/", FALSE);
    assert_base("logs/../here", "logs/../here", TRUE);
    assert_base("/", "/", TRUE);
}

static void
test_headers_times_and_percent_signs_are_filled_in(void)
{
    g_autoptr(MadeEvent) event = MADE_EVENT("", "app=web", "dc=fra", "timestamp=86400000");

    assert_folder("/x/%{app}", event, "web");
    assert_folder("/x/%{dc}-%{app}/%Y-%m-%d/y%%z", event, "fra-web/1970-01-02/y%z");
    assert_folder("/x/%Y//%m/", event, "1970/01");
    assert_folder("/x", event, "");
}

static void
test_what_is_absent_or_empty_reads_unknown(void)
{
    g_autoptr(MadeEvent) event = MADE_EVENT("", "empty=");

    assert_folder("/x/%{app}", event, "unknown");
    assert_folder("/x/a-%{app}", event, "a-unknown");
    assert_folder("/x/%{empty}", event, "unknown");
    assert_folder("/x/a-%{empty}", event, "a-");
}

static void
test_a_header_is_one_piece_of_a_name(void)
{
    g_autoptr(MadeEvent) event =
        MADE_EVENT("", "up=../../etc/passwd", "dot=.", "dots=..", "hidden=.ssh", "flag=-rf",
                   "line=a\nb\x7f", "latin=caf\xe9", "utf=caf\xc3\xa9", "c1=a\xc2\x85z");

    assert_folder("/x/%{up}", event, "_._.._etc_passwd");
    assert_folder("/x/%{dot}/%{dots}", event, "_/_.");
    assert_folder("/x/.%{dot}", event, "__");
    assert_folder("/x/%{hidden}/%{flag}", event, "_ssh/_rf");
    assert_folder("/x/a%{hidden}%{flag}", event, "a.ssh-rf");
    assert_folder("/x/%{line}", event, "a_b_");
    assert_folder("/x/%{latin}-%{utf}-%{c1}", event, "caf_-caf\xc3\xa9-a_z");
}

static void
test_nul_is_replaced_like_any_control_character(void)
{
    EventHeader header = { byte_span_of_text("app"), byte_span("a\0b", 3) };
    g_autoptr(MadeEvent) event = made_event_new_bytes(&header, 1, byte_span("", 0));

    assert_folder("/x/%{app}", event, "a_b");
}

static void
test_long_values_and_names_are_cut_between_characters(void)
{
    g_autofree char *euros = g_strnfill(9999, 'x');
    g_autofree char *header = NULL;
    g_autofree char *one = NULL;
    g_autofree char *two = NULL;
    g_autoptr(MadeEvent) event = NULL;

    for (gsize i = 0; i + 3 <= 9999; i += 3)
        memcpy(euros + i, "\xe2\x82\xac", 3);
    header = g_strconcat("app=", euros, NULL);
    event = MADE_EVENT("", header);
    one = folder_of("/x/%{app}", event);
    two = folder_of("/x/%{app}%{app}", event);

    g_assert_cmpuint(strlen(one), ==, 159);
    g_assert_cmpuint(strlen(two), ==, 255);
    g_assert_true(g_utf8_validate(two, -1, NULL));
}

static void
test_a_name_keeps_to_its_limit(void)
{
    g_autoptr(FileTemplate) template = file_template_parse_name("%{a}%{a}", NAME_LIMIT, NULL);
    g_autofree char *value = g_strnfill(150, 'v');
    g_autofree char *header = g_strconcat("a=", value, NULL);
    g_autoptr(MadeEvent) event = MADE_EVENT("", header);
    g_autofree char *name = fill_in(template, &event->view);

    g_assert_cmpuint(strlen(name), ==, NAME_LIMIT);
}

/* Whatever the bytes: as many parts as the template has, each a name, none of them special. */
static void
test_random_values_never_leave_the_directory(void)
{
    static const char likely[] = "./-\0\n\\~a\x80\xc3\xe2\xf0\xff";
    guint8 value[400];

    for (int round = 0; round < 20000; round++) {
        EventHeader header = { byte_span_of_text("v"), { value, g_test_rand_int_range(0, 12) } };
        g_autoptr(MadeEvent) event = NULL;
        g_autofree char *path = NULL;
        g_auto(GStrv) parts = NULL;

        if (round % 100 == 0)
            header.value.length = sizeof(value);
        for (gsize i = 0; i < header.value.length; i++)
            value[i] = (guint8) likely[g_test_rand_int_range(0, sizeof(likely) - 1)];
        event = made_event_new_bytes(&header, 1, byte_span("", 0));
        path = folder_of("/x/%{v}/.%{v}/%{v}%{v}", event);
        parts = g_strsplit(path, "/", -1);

        g_assert_cmpuint(g_strv_length(parts), ==, 3);
        g_assert_true(g_utf8_validate(path, -1, NULL));
        for (guint i = 0; i < 3; i++) {
            g_assert_cmpstr(parts[i], !=, "");
            g_assert_cmpstr(parts[i], !=, ".");
            g_assert_cmpstr(parts[i], !=, "..");
            g_assert_cmpuint(strlen(parts[i]), <=, NAME_MAX);
        }
    }
}

static void
assert_refused(FileTemplate *template, GError *error, const char *word)
{
    g_assert_null(template);
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, word));
    g_error_free(error);
}

static void
test_what_is_no_escape_is_refused_with_what_to_write(void)
{
    static const struct {
        const char *text;
        const char *word;
    } rows[] = {
        { "/x/%q", "%Y" },      { "/x/%", "%Y" },           { "/x/%{", "'}'" },
        { "/x/%{}", "'}'" },    { "/x/%D", "%m-%d-%y" },    { "/x/%c", "%Y-%m-%d" },
        { "/x/%[IP]", "host" }, { "/x/%{a}/../b", "'..'" }, { "/x/%{a}/./b", "'.'" },
        { "", "folder" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        GError *error = NULL;
        FileTemplate *template = file_template_parse_directory(rows[i].text, &error);

        assert_refused(template, error, rows[i].word);
    }
}

static void
test_a_name_is_not_a_path(void)
{
    GError *error = NULL;
    FileTemplate *template = file_template_parse_name("a/b", NAME_LIMIT, &error);

    assert_refused(template, error, "directory");
}

/* The patterns that recovery looks with know every name that was ever given. */
static void
assert_pattern_matches(const char *directory, MadeEvent *event, gboolean others)
{
    g_autoptr(FileTemplate) template = file_template_parse_directory(directory, NULL);
    g_autofree char *path = fill_in(template, &event->view);
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    g_autoptr(GPtrArray) patterns = file_template_patterns(template);

    g_assert_cmpuint(patterns->len, ==, g_strv_length(parts));
    for (guint i = 0; i < patterns->len; i++) {
        g_autofree char *whole = g_strdup_printf("^%s$", (char *) g_ptr_array_index(patterns, i));

        g_assert_true(g_regex_match_simple(whole, parts[i], G_REGEX_RAW, 0));
        g_assert_cmpint(g_regex_match_simple(whole, "something else", G_REGEX_RAW, 0), ==, others);
    }
}

static void
test_patterns_match_what_was_filled_in_and_nothing_else(void)
{
    g_autofree char *value = g_strnfill(1000, 'v');
    g_autofree char *header = g_strconcat("long=", value, NULL);
    g_autoptr(MadeEvent) event = MADE_EVENT("", "app=a.b*c", "dot=.", header);

    assert_pattern_matches("/x/app-%{app}", event, FALSE);
    assert_pattern_matches("/x/%{app}.d/%Y+%m", event, FALSE);
    assert_pattern_matches("/x/app-%{long}%{long}-end", event, FALSE);
    assert_pattern_matches("/x/%{long}%{long}-end", event, TRUE);
    assert_pattern_matches("/x/.%{dot}", event, TRUE);
    assert_pattern_matches("/x/%{app}/%{long}", event, TRUE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-template/base", test_the_base_is_what_stands_before_the_first_escape);
    g_test_add_func("/file-template/fill-in", test_headers_times_and_percent_signs_are_filled_in);
    g_test_add_func("/file-template/unknown", test_what_is_absent_or_empty_reads_unknown);
    g_test_add_func("/file-template/one-piece", test_a_header_is_one_piece_of_a_name);
    g_test_add_func("/file-template/nul", test_nul_is_replaced_like_any_control_character);
    g_test_add_func("/file-template/long", test_long_values_and_names_are_cut_between_characters);
    g_test_add_func("/file-template/limit", test_a_name_keeps_to_its_limit);
    g_test_add_func("/file-template/random", test_random_values_never_leave_the_directory);
    g_test_add_func("/file-template/refused", test_what_is_no_escape_is_refused_with_what_to_write);
    g_test_add_func("/file-template/not-a-path", test_a_name_is_not_a_path);
    g_test_add_func("/file-template/patterns",
                    test_patterns_match_what_was_filled_in_and_nothing_else);
    return g_test_run();
}
