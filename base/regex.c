/* regex.c - regular expressions over raw bytes, whose searches come to an end.
 *
 * PCRE2 counts the ways that it tries, but begins anew at each byte where a match may begin, so
 * that its limit alone bounds nothing: 32 KiB can take a minute. Here each call of PCRE2 has a
 * bound for all its beginnings together. The first call takes in the whole subject, with a low
 * limit for each beginning; that is enough for nearly every pattern, and lets PCRE2 use what it
 * knows of the subject as a whole. Only where it is not enough, a window of beginnings after the
 * other is searched with the full limit. */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

/* Ways to match that are tried from one beginning. A pattern that goes through a text byte by byte
 * takes one or two for each: enough for 32 KiB. A hopeless search ends after 0.3 ms; interpreted,
 * where the system forbids compiled patterns, after 1.5 ms. */
#define MATCH_LIMIT ((guint32) 1 << 17)

/* The same for one call, over all its beginnings: 0.2 s, or 0.8 s interpreted. */
#define CALL_LIMIT ((guint32) 1 << 26)

/* What PCRE2 does not count is how far it looks ahead from each beginning: beginnings times length
 * of the subject, for one call. Whole subjects up to 1 MiB, and 0.3 s at the worst. */
#define CALL_SPAN ((guint64) 1 << 40)

/* Twice what "([a-z]|,)*" needs for 32 KiB; taken from the system when it is needed. */
#define FIRST_STACK_BYTES ((gsize) 32 * 1024)
#define MAX_STACK_BYTES ((gsize) 4 * 1024 * 1024)
#define MAX_HEAP_KIB 32768 /* in place of the stack, interpreted */

G_DEFINE_QUARK(leat_regex_error, regex_error)

char *
regex_library_version(void)
{
    char *version = g_malloc((gsize) pcre2_config(PCRE2_CONFIG_VERSION, NULL));

    pcre2_config(PCRE2_CONFIG_VERSION, version);
    return version;
}

struct Regex {
    pcre2_code *code;
    char *pattern;
    guint n_groups;
    gboolean is_anchored;     /* a match can only begin where the search does */
    gboolean depends_on_call; /* \G, or a verb: another beginning of a call is another pattern */
};

/* ---- life ---- */

static pcre2_compile_context *
compile_context_new(void)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);

    /* The library's default may know more of them, such as the byte 0x85. */
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    pcre2_set_bsr(context, PCRE2_BSR_ANYCRLF);
    return context;
}

static void
set_syntax_error(GError **error, int code, PCRE2_SIZE offset)
{
    PCRE2_UCHAR text[256];

    pcre2_get_error_message(code, text, sizeof text);
    g_set_error(error, REGEX_ERROR, REGEX_ERROR_SYNTAX, "at char %" G_GSIZE_FORMAT ": %s", offset,
                (const char *) text);
}

Regex *
regex_new(const char *pattern, GError **error)
{
    pcre2_compile_context *context = compile_context_new();
    PCRE2_SIZE offset;
    int problem;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR) pattern, PCRE2_ZERO_TERMINATED,
                                     PCRE2_USE_OFFSET_LIMIT, &problem, &offset, context);
    guint32 options;
    guint32 n_groups;
    Regex *self;

    pcre2_compile_context_free(context);
    if (code == NULL) {
        set_syntax_error(error, problem, offset);
        return NULL;
    }
    /* Fails where memory must not be executed; then patterns are interpreted. */
    (void) pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options);
    pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &n_groups);
    self = g_new0(Regex, 1);
    self->code = code;
    self->pattern = g_strdup(pattern);
    self->n_groups = n_groups;
    self->is_anchored = (options & PCRE2_ANCHORED) != 0;
    self->depends_on_call = strstr(pattern, "\\G") != NULL || strstr(pattern, "(*") != NULL;
    return self;
}

void
regex_free(Regex *self)
{
    if (self == NULL)
        return;
    pcre2_code_free(self->code);
    g_free(self->pattern);
    g_free(self);
}

const char *
regex_pattern(const Regex *self)
{
    return self->pattern;
}

guint
regex_n_groups(const Regex *self)
{
    return self->n_groups;
}

int
regex_group_of_name(const Regex *self, const char *name)
{
    int group = pcre2_substring_number_from_name(self->code, (PCRE2_SPTR) name);

    return group < 0 ? -1 : group;
}

/* ---- a thread's scratch ---- */

typedef struct {
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    pcre2_match_data *data;
    guint n_pairs; /* of offsets that data has room for */
} Scratch;

static void
scratch_free(gpointer user)
{
    Scratch *self = user;

    pcre2_match_data_free(self->data);
    pcre2_jit_stack_free(self->stack);
    pcre2_match_context_free(self->context);
    g_free(self);
}

static Scratch *
scratch_new(void)
{
    Scratch *self = g_new0(Scratch, 1);

    self->context = pcre2_match_context_create(NULL);
    g_assert(self->context != NULL); /* a few bytes, as g_new would */
    self->stack = pcre2_jit_stack_create(FIRST_STACK_BYTES, MAX_STACK_BYTES, NULL);
    pcre2_jit_stack_assign(self->context, NULL, self->stack);
    pcre2_set_heap_limit(self->context, MAX_HEAP_KIB);
    return self;
}

/* Each thread keeps one until it ends, with room for the groups of whatever it last searched. */
static Scratch *
scratch_of_thread(const Regex *regex)
{
    static GPrivate private = G_PRIVATE_INIT(scratch_free);
    Scratch *self = g_private_get(&private);

    if (self == NULL) {
        self = scratch_new();
        g_private_set(&private, self);
    }
    if (self->n_pairs <= regex->n_groups) {
        pcre2_match_data_free(self->data);
        self->data = pcre2_match_data_create(regex->n_groups + 1, NULL);
        self->n_pairs = self->data != NULL ? regex->n_groups + 1 : 0;
    }
    return self;
}

/* ---- searching ---- */

void
regex_search_init(RegexSearch *self, const Regex *regex, ByteSpan subject, RegexMayGoOn may_go_on,
                  gpointer user)
{
    *self = (RegexSearch){
        .regex = regex,
        .subject = subject.length > 0 ? subject : byte_span("", 0),
        .may_go_on = may_go_on,
        .user = user,
    };
}

/* One call of PCRE2, for matches that begin at one of `width` bytes. */
static int
match_within(const RegexSearch *self, Scratch *scratch, gsize from, gsize width, guint32 limit)
{
    gsize last = from + width > self->subject.length ? PCRE2_UNSET : from + width - 1;

    pcre2_set_match_limit(scratch->context, limit);
    pcre2_set_offset_limit(scratch->context, last);
    return pcre2_match(self->regex->code, self->subject.data, self->subject.length, from, 0,
                       scratch->data, scratch->context);
}

static gboolean
may_go_on(const RegexSearch *self)
{
    return self->may_go_on == NULL || self->may_go_on(self->user);
}

/* Says that the caller had enough, as PCRE2's errors say other things. */
#define STOPPED PCRE2_ERROR_CALLOUT

/* With the full limit for each beginning, and for that with few of them at a time. */
static int
match_thoroughly(const RegexSearch *self, Scratch *scratch, gsize from, gsize width)
{
    gsize end = from + width;

    while (from < end) {
        gsize n = MIN(end - from, CALL_LIMIT / MATCH_LIMIT);
        int code = may_go_on(self) ? match_within(self, scratch, from, n, MATCH_LIMIT) : STOPPED;

        if (code != PCRE2_ERROR_NOMATCH)
            return code;
        from += n;
    }
    return PCRE2_ERROR_NOMATCH;
}

/* How many beginnings one call may have; PCRE2 must see them all where the pattern could tell. */
static gsize
width_of_call(const RegexSearch *self, gsize n_left)
{
    guint64 most = CALL_SPAN / MAX(self->subject.length, 1);

    if (self->regex->is_anchored || self->regex->depends_on_call)
        return n_left;
    return MIN(n_left, MAX(most, 1));
}

static int
match_from(const RegexSearch *self, Scratch *scratch, gsize from)
{
    const Regex *regex = self->regex;
    gsize end = self->subject.length + 1; /* an empty match may begin behind the last byte */

    while (from < end) {
        gsize width = width_of_call(self, end - from);
        gsize n_beginnings = regex->is_anchored ? 1 : width;
        guint32 limit = (guint32) MAX(MIN(MATCH_LIMIT, CALL_LIMIT / MAX(n_beginnings, 1)), 1);
        int code = may_go_on(self) ? match_within(self, scratch, from, width, limit) : STOPPED;

        if (code == PCRE2_ERROR_MATCHLIMIT && limit < MATCH_LIMIT && !regex->depends_on_call)
            code = match_thoroughly(self, scratch, from, width);
        if (code != PCRE2_ERROR_NOMATCH)
            return code;
        from += width;
    }
    return PCRE2_ERROR_NOMATCH;
}

static RegexResult
give_up(RegexSearch *self, int code)
{
    self->from = self->subject.length + 1;
    self->groups = NULL;
    switch (code) {
    case STOPPED:
        self->why = "it took too long";
        break;
    case PCRE2_ERROR_MATCHLIMIT:
        self->why = "there are too many ways to match; look for repeats within repeats";
        break;
    case PCRE2_ERROR_JIT_STACKLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        self->why = "it needs too much memory; look for repeats of alternatives";
        break;
    default: /* of text that must be UTF-8, for a pattern that asks for it */
        self->why = "the bytes are not what the pattern is for";
        break;
    }
    return REGEX_GAVE_UP;
}

RegexResult
regex_search_next(RegexSearch *self)
{
    Scratch *scratch = scratch_of_thread(self->regex);
    int code = match_from(self, scratch, self->from);
    const gsize *groups;

    self->groups = NULL;
    if (code == PCRE2_ERROR_NOMATCH) {
        self->from = self->subject.length + 1;
        return REGEX_NOT_FOUND;
    }
    if (code < 0)
        return give_up(self, code);
    groups = pcre2_get_ovector_pointer(scratch->data);
    self->groups = groups;
    self->n_groups = (guint) code;
    /* Behind an empty match a byte is passed over, or it would be found for ever. */
    self->from = groups[1] > groups[0] ? groups[1] : MAX(groups[0], groups[1]) + 1;
    return REGEX_FOUND;
}

gboolean
regex_search_group(const RegexSearch *self, guint group, ByteSpan *ret_bytes)
{
    const gsize *pair = self->groups + (gsize) 2 * group;

    if (self->groups == NULL || group >= self->n_groups || pair[0] == PCRE2_UNSET)
        return FALSE;
    *ret_bytes = byte_span(self->subject.data + pair[0], pair[1] - pair[0]);
    return TRUE;
}
