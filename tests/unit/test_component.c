/* test_component.c - what every part has: options, metrics that are seen, reports that are counted.
 */
#include "agent/core/component.h"

#include <string.h>

#include "agent/core/component_report.h"
#include "tests/support/test_part.h"

typedef struct {
    Component base;
    guint64 size;
} Toy;

static const OptionSpec toy_options[] = {
    { .name = "size", OPTION_AT(COUNT, Toy, size), .fallback = "3", .help = "How many." },
    { 0 },
};

static void
toy_configure(Component *component, Problems *problems)
{
    if (((Toy *) component)->size > 9)
        component_problem(component, problems, "size", "%d is too many; write 9 at the most", 10);
}

static gboolean
toy_open(Component *component G_GNUC_UNUSED, GError **error)
{
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "no room");
    return FALSE;
}

static const ComponentType toy = {
    .name = "toy",
    .instance_size = sizeof(Toy),
    .options = toy_options,
    .configure = toy_configure,
    .open = toy_open,
};

static void
test_options_are_applied(void)
{
    g_autoptr(Component) plain = test_part_new(&toy, COMPONENT_SELECTOR, "plain", "");
    g_autoptr(Component) sized = test_part_new(&toy, COMPONENT_SELECTOR, "sized", "size: 5");

    g_assert_cmpuint(((Toy *) plain)->size, ==, 3);
    g_assert_cmpuint(((Toy *) sized)->size, ==, 5);
}

static void
test_a_problem_stands_where_the_option_is_written(void)
{
    static const char text[] = "name: x\nsize:  10\n";
    g_autoptr(Problems) problems = problems_new("a.yaml");
    g_autoptr(Problems) ignored = problems_new("a.yaml");
    g_autoptr(YamlNode) node = yaml_tree_parse(text, strlen(text), problems);
    g_autoptr(Component) component =
        component_new(&toy, COMPONENT_SELECTOR, NULL, NULL, "x", "selectors.x", node, ignored);
    g_autofree char *found = NULL;

    component_configure(component, problems);
    found = problems_to_text(problems);

    g_assert_cmpstr(found, ==,
                    "a.yaml:2:8: selectors.x.size: 10 is too many; write 9 at the most\n");
}

static void
test_an_error_of_open_names_the_component(void)
{
    g_autoptr(Component) component = test_part_new(&toy, COMPONENT_SELECTOR, "x", "");
    g_autoptr(GError) error = NULL;

    g_assert_false(component_open(component, &error));

    g_assert_cmpstr(error->message, ==, "selector 'x': no room");
}

static void
count_sets(const GPtrArray *sets, gpointer user)
{
    *(guint *) user = sets->len;
}

static void
test_metrics_are_seen_while_the_component_lives(void)
{
    guint before = 0;
    guint during = 0;
    guint after = 0;
    Component *component;

    components_visit_metrics(count_sets, &before);
    component = test_part_new(&toy, COMPONENT_SELECTOR, "x", "");
    components_visit_metrics(count_sets, &during);
    component_free(component);
    components_visit_metrics(count_sets, &after);

    g_assert_cmpuint(during, ==, before + 1); /* its reports; a selector has no other rows */
    g_assert_cmpuint(after, ==, before);
}

static void
test_every_report_is_counted_and_the_first_of_a_second_is_logged(void)
{
    g_autoptr(Component) component = NULL;

    if (g_test_subprocess()) {
        component = test_part_new(&toy, COMPONENT_SELECTOR, "x", "");
        for (int i = 0; i < 5; i++)
            component_report(component, REPORT_REJECTED, "10.0.0.1:5", "too large");
        component_report(component, REPORT_BAD_CLIENT, NULL, NULL);
        g_assert_cmpuint(metric_get_value(component->reports, 0, REPORT_REJECTED), ==, 5);
        g_usleep(G_USEC_PER_SEC + 1000);
        component_report(component, REPORT_REJECTED, "10.0.0.1:6", "too large");
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);

    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*event rejected selector=x peer=10.0.0.1:5 detail=\"too large\"\n"
                              "*client speaks something else selector=x\n"
                              "*event rejected selector=x peer=10.0.0.1:6 detail=\"too large\" "
                              "left_out=4\n");
}

static void
test_each_topic_of_a_reason_has_lines_of_its_own(void)
{
    g_autoptr(Component) component = NULL;

    if (g_test_subprocess()) {
        component = test_part_new(&toy, COMPONENT_SELECTOR, "x", "");
        for (int i = 0; i < 2; i++) {
            component_report_topic(component, REPORT_BAD_CLIENT, "malformed", NULL, "one");
            component_report_topic(component, REPORT_BAD_CLIENT, "bad-length", NULL, "two");
        }
        g_assert_cmpuint(metric_get_value(component->reports, 0, REPORT_BAD_CLIENT), ==, 4);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);

    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*client speaks something else selector=x detail=one\n"
                              "*client speaks something else selector=x detail=two\n");
    g_test_trap_assert_stderr_unmatched("*detail=one*detail=one*");
}

static void
test_each_host_that_joins_or_leaves_is_logged(void)
{
    g_autoptr(Component) component = NULL;

    if (g_test_subprocess()) {
        component = test_part_new(&toy, COMPONENT_SELECTOR, "x", "");
        for (int i = 0; i < 2; i++) {
            component_report(component, REPORT_HOST_JOINED, "10.0.0.1:5", "1 host now");
            component_report(component, REPORT_HOST_LEFT, "10.0.0.1:5", "0 hosts now");
        }
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);

    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("*host joined*host left*host joined*host left*");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/component/options-are-applied", test_options_are_applied);
    g_test_add_func("/component/a-problem-stands-where-the-option-is-written",
                    test_a_problem_stands_where_the_option_is_written);
    g_test_add_func("/component/an-error-of-open-names-the-component",
                    test_an_error_of_open_names_the_component);
    g_test_add_func("/component/metrics-are-seen-while-it-lives",
                    test_metrics_are_seen_while_the_component_lives);
    g_test_add_func("/component/every-report-is-counted",
                    test_every_report_is_counted_and_the_first_of_a_second_is_logged);
    g_test_add_func("/component/each-topic-has-lines-of-its-own",
                    test_each_topic_of_a_reason_has_lines_of_its_own);
    g_test_add_func("/component/each-host-that-joins-or-leaves-is-logged",
                    test_each_host_that_joins_or_leaves_is_logged);
    return g_test_run();
}
