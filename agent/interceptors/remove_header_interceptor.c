/* remove_header_interceptor.c - takes headers off by name, list or pattern. */
#include "agent/core/interceptor.h"
#include "agent/interceptors/event_search.h"

typedef struct {
    Interceptor base;
    char *with_name;
    GStrv from_list;
    Regex *matching;
    Regex *matching_whole; /* matching, from the first byte of a key to its last */
} RemoveHeaderInterceptor;

static const OptionSpec remove_header_options[] = {
    { .name = "with-name",
      OPTION_AT(STRING, RemoveHeaderInterceptor, with_name),
      .fallback_text = "none",
      .example = "secret",
      .shown = TRUE,
      .help = "A header to remove." },
    { .name = "from-list",
      OPTION_AT(NAMES, RemoveHeaderInterceptor, from_list),
      .fallback_text = "none",
      .example = "[secret, token]",
      .help = "Headers to remove." },
    { .name = "matching",
      OPTION_AT(REGEX, RemoveHeaderInterceptor, matching),
      .fallback_text = "none",
      .example = "x-.*",
      .help = "Remove the headers whose whole name matches." },
    { 0 },
};

static void
remove_header_configure(Component *component, Problems *problems)
{
    RemoveHeaderInterceptor *self = (RemoveHeaderInterceptor *) component;
    g_autofree char *whole = NULL;
    g_autoptr(GError) error = NULL;

    if (self->matching != NULL) {
        whole = g_strdup_printf("\\A(?:%s)\\z", regex_pattern(self->matching));
        self->matching_whole = regex_new(whole, &error);
        if (self->matching_whole == NULL)
            component_problem(component, problems, "matching", "cannot match a whole name: %s",
                              error->message);
    } else if (self->with_name == NULL && self->from_list == NULL &&
               yaml_node_get(component->node, "matching") == NULL) {
        component_problem(component, problems, "with-name",
                          "nothing would be removed; give with-name, from-list or matching");
    }
}

static void
remove_header_finalize(Component *component)
{
    g_clear_pointer(&((RemoveHeaderInterceptor *) component)->matching_whole, regex_free);
}

typedef struct {
    const RemoveHeaderInterceptor *interceptor;
    EventEdit *event;
} Matching;

static gboolean
is_matching(const EventHeader *header, gconstpointer user)
{
    const Matching *self = user;
    EventSearch search;

    event_search_init(&search, &self->interceptor->base, self->event,
                      self->interceptor->matching_whole, header->key);
    return event_search_next(&search) == REGEX_FOUND;
}

static void
remove_header_intercept(const Interceptor *base, EventEdit *event)
{
    const RemoveHeaderInterceptor *self = (const RemoveHeaderInterceptor *) base;

    if (self->with_name != NULL)
        event_edit_remove_header(event, byte_span_of_text(self->with_name));
    for (char **name = self->from_list; name != NULL && *name != NULL; name++)
        event_edit_remove_header(event, byte_span_of_text(*name));
    if (self->matching_whole != NULL)
        event_edit_remove_headers(event, is_matching, &(Matching){ self, event });
}

const InterceptorType remove_header_interceptor = {
    .base = {
        .name = "remove-header",
        .summary = "Takes headers off an event, by name or by pattern.",
        .instance_size = sizeof(RemoveHeaderInterceptor),
        .options = remove_header_options,
        .configure = remove_header_configure,
        .finalize = remove_header_finalize,
    },
    .intercept = remove_header_intercept,
};
