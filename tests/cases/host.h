/* host.h - hosts in memory, and the verbs of cases that make one
 * SPDX-License-Identifier: MIT
 *
 *   host NAME [= OTHER]   in a file of cases, outside of them: a host, with the files of OTHER
 *                         and those that follow
 *   on NAME               the host is NAME as its file of cases has it
 *   file NAME             the data are those of an input; a NAME that ends in "/" is the list
 *                         of a folder
 *   file NAME = LINE      an input of one line
 *   pci ADDRESS LEAF=TEXT ...   files of a function of the PCI bus, of one line each
 *   folders               a folder without a list has the names of the files that are in it
 *   replace NAME = FROM => TO   a text in an input, where it is first; replace_all: everywhere
 *   append NAME           the data follow an input
 *   gone NAME             the host has no such input
 *   fails NAME STATE [N]  reading it fails: failed (with errno N), timeout, too_long, absent
 *   exits NAME            the command ends with status 1
 *   nul                   a NUL follows each file of /sys, as some kernels have it
 *   well                  nothing fails any more
 *   seen TEXT             the last verb has asked for an input with TEXT in its name
 *   unseen TEXT           it has not
 */
#ifndef CPUBIND_TESTS_CASES_HOST_H
#define CPUBIND_TESTS_CASES_HOST_H

#include "../../adapters/source.h"
#include "../support/cases.h"

enum { MAX_INPUTS = 192 };

typedef struct entry {
    const char *name, *text; /* a listing when the name ends in "/" */
} entry;

typedef struct memory_host {
    const char *name;
    entry entry[MAX_INPUTS];
    int32_t n;
    const char *failing; /* name of the input that fails, or NULL */
    const char *exits_1; /* name of the command that exits with 1, or NULL */
    cpubind_input_state state;
    int32_t error; /* of the failing input; 0: EIO */
    int32_t has_nul, has_folders;
    char seen[1 << 16]; /* names of the inputs that were asked for, each followed by a blank */
} memory_host;

static memory_host host; /* that of the case */

/* An arena, empty, that is larger by so many bytes; the first has none. */
static inline void grow(cpubind_arena *arena, size_t bytes)
{
    const size_t size = arena->base ? arena->size + bytes : 0;
    assert_in_range(size, 0, 1 << 20);
    free(arena->base);
    *arena = (cpubind_arena){(char *)malloc(size + 1), size, 0};
}

static const char *const input_states[] = {"absent", "present", "failed", "timeout",
                                           "too_long"};

/* == Its source ============================================================= */

static inline cpubind_input answer(const memory_host *h, const char *name, int is_list)
{
    cpubind_input input = {.state = CPUBIND_INPUT_ABSENT};
    const size_t n = strlen(name);
    if (h->failing && strcmp(h->failing, name) == 0) {
        input.state = h->state;
        input.error = h->error ? h->error : 5;
        input.why = "read";
        return input;
    }
    for (int32_t i = 0; i < h->n; i++) {
        const entry *e = &h->entry[i];
        const int is_folder = e->name[strlen(e->name) - 1] == '/';
        if (is_folder != is_list || strncmp(e->name, name, n) != 0 ||
            strlen(e->name) != n + (size_t)is_folder)
            continue;
        input.state = CPUBIND_INPUT_PRESENT;
        input.len = (int32_t)strlen(e->text);
        input.len += h->has_nul && input.len > 0 && strncmp(name, "sys/", 4) == 0;
        input.data = input.len > 0 ? e->text : NULL;
        input.exit_code = h->exits_1 && strcmp(h->exits_1, name) == 0;
        return input;
    }
    return input;
}

static inline cpubind_input read_input(void *ctx, const char *name)
{
    memory_host *h = (memory_host *)ctx;
    assert_true(strlen(h->seen) + strlen(name) + 2 < sizeof h->seen);
    strcat(strcat(h->seen, name), " ");
    return answer(h, name, 0);
}

static inline int is_later_part(const char *part, size_t n, const char *last, size_t n_last)
{
    const int order = memcmp(part, last, n < n_last ? n : n_last);
    return order > 0 || (order == 0 && n > n_last);
}

/* The next parts of the names below a folder, each once, in ascending order. */
static inline cpubind_input list_parts(const memory_host *h, const char *folder)
{
    static char listing[1 << 16];
    static size_t used;
    const size_t n = strlen(folder);
    cpubind_input input = {.state = CPUBIND_INPUT_ABSENT};
    const char *last = "", *next;
    size_t n_last = 0, n_next = 0;
    if (used > sizeof listing / 2)
        used = 0; /* a reader looks at the last answers alone */
    input.data = listing + used;
    do {
        next = NULL;
        for (int32_t i = 0; i < h->n; i++) {
            if (strncmp(h->entry[i].name, folder, n) != 0 || h->entry[i].name[n] != '/')
                continue;
            const char *part = h->entry[i].name + n + 1;
            const size_t n_part = strcspn(part, "/");
            if (!is_later_part(part, n_part, last, n_last) ||
                (next && !is_later_part(next, n_next, part, n_part)))
                continue;
            next = part;
            n_next = n_part;
        }
        if (next) {
            assert_true(used + n_next + 1 < sizeof listing);
            memcpy(listing + used, next, n_next);
            listing[used + n_next] = '\n';
            used += n_next + 1;
            last = next;
            n_last = n_next;
        }
    } while (next);
    input.len = (int32_t)(listing + used - input.data);
    input.state = input.len ? CPUBIND_INPUT_PRESENT : CPUBIND_INPUT_ABSENT;
    return input;
}

static inline cpubind_input list_inputs(void *ctx, const char *name)
{
    const memory_host *h = (const memory_host *)ctx;
    const cpubind_input input = answer(h, name, 1);
    return h->has_folders && input.state == CPUBIND_INPUT_ABSENT ? list_parts(h, name) : input;
}

/* The host, of which nothing was asked so far. */
static inline cpubind_source source_of_host(void)
{
    host.seen[0] = '\0';
    return (cpubind_source){&host, read_input, list_inputs};
}

/* == Its inputs ============================================================= */

static inline entry *find_entry(const char *name)
{
    for (int32_t i = 0; i < host.n; i++)
        if (strcmp(host.entry[i].name, name) == 0)
            return &host.entry[i];
    return NULL;
}

static inline void set_input(const char *name, const char *text)
{
    entry *e = find_entry(name);
    if (!e) {
        assert_true(host.n < MAX_INPUTS);
        e = &host.entry[host.n++];
        e->name = name;
    }
    e->text = text;
}

static inline void put_file(step *now)
{
    split_file(now);
    set_input(now->rest, now->data ? now->data : "");
}

static char composed[1 << 17]; /* names and texts that a case has made */
static size_t n_composed;

static inline const char *compose(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline const char *compose(const char *format, ...)
{
    char *text = composed + n_composed;
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(text, sizeof composed - n_composed, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && n_composed + (size_t)n < sizeof composed);
    n_composed += (size_t)n + 1;
    return text;
}

static inline void put_function(step *now)
{
    char words[1024], *rest = words;
    (void)snprintf(words, sizeof words, "%s", now->rest);
    const char *address = strtok_r(rest, " ", &rest);
    for (char *leaf; (leaf = strtok_r(rest, " ", &rest)) != NULL;) {
        char *text = leaf + strcspn(leaf, "=");
        assert_int_equal(*text, '=');
        *text++ = '\0';
        set_input(compose("sys/bus/pci/devices/%s/%s", address, leaf), compose("%s\n", text));
    }
}

static inline void use_folders(step *now)
{
    (void)now;
    host.has_folders = 1;
}

/* The input of a verb; the text of it may be changed in place. */
static inline entry *input_of(const step *now, const char *name)
{
    entry *e = find_entry(name);
    if (!e)
        fail_msg("%s:%d: the host has no %s", now->script->path, now->line, name);
    return e;
}

/* The escapes of data, in place. */
static inline char *undo_escapes(char *text)
{
    char *end = decode(text, text + strlen(text), text);
    end[-1] = '\0';
    return text;
}

static inline void replace_text(step *now)
{
    char words[2048], *from, *to;
    (void)snprintf(words, sizeof words, "%s", now->rest);
    from = strstr(words, " = ");
    to = from ? strstr(from + 3, " =>") : NULL;
    if (!to)
        fail_msg("%s:%d: a line is NAME = FROM => TO", now->script->path, now->line);
    *from = *to = '\0';
    from = undo_escapes(from + 3);
    to = undo_escapes(to + 3 + (to[3] == ' '));
    entry *e = input_of(now, words);
    const char *rest = e->text, *at = strstr(rest, from), *text = "";
    if (!at)
        fail_msg("%s:%d: there is no \"%s\"", now->script->path, now->line, from);
    do {
        text = compose("%s%.*s%s", text, (int)(at - rest), rest, to);
        rest = at + strlen(from);
    } while (strcmp(now->verb, "replace_all") == 0 && (at = strstr(rest, from)) != NULL);
    e->text = compose("%s%s", text, rest);
}

static inline void append_text(step *now)
{
    entry *e = input_of(now, now->rest);
    e->text = compose("%s%s", e->text, now->data);
}

static inline void take_file(step *now)
{
    entry *e = find_entry(now->rest);
    if (e)
        *e = host.entry[--host.n];
}

static inline void fail_file(step *now)
{
    static char name[256];
    char state[16] = "";
    host.error = 0;
    assert_in_range(sscanf(now->rest, "%255s %15s %d", name, state, &host.error), 2, 3);
    host.failing = name;
    for (int i = 0; i <= CPUBIND_INPUT_TOO_LONG; i++)
        if (strcmp(input_states[i], state) == 0)
            host.state = (cpubind_input_state)i;
}

static inline void end_command(step *now)
{
    host.exits_1 = now->rest;
}

static inline void end_in_nul(step *now)
{
    (void)now;
    host.has_nul = 1;
}

static inline void make_well(step *now)
{
    (void)now;
    host.failing = host.exits_1 = NULL;
}

static inline void look_for(step *now)
{
    if ((strstr(host.seen, now->rest) != NULL) != (*now->verb == 's'))
        fail_msg("%s:%d: asked for: %s", now->script->path, now->line, host.seen);
}

/* == Hosts ================================================================== */

/* Makes the host that a line "host NAME [= OTHER]" starts. */
static inline void make_host(const script *s, const char *name)
{
    const size_t n = strlen(name);
    int32_t i = 0;
    while (i < s->n &&
           (strcmp(s->step[i].verb, "host") != 0 || strncmp(s->step[i].rest, name, n) != 0 ||
            (s->step[i].rest[n] != '\0' && s->step[i].rest[n] != ' ')))
        i++;
    if (i == s->n)
        fail_msg("%s: there is no host %s", s->path, name);
    if (strncmp(s->step[i].rest + n, " = ", 3) == 0)
        make_host(s, s->step[i].rest + n + 3);
    else
        memset(&host, 0, sizeof host);
    host.name = name;
    while (++i < s->n && !is_head(&s->step[i]))
        verb_of(&s->step[i])->carry_out(&s->step[i]);
}

static inline void stand_on(step *now)
{
    n_composed = 0;
    make_host(now->script, now->rest);
}

#define HOST_VERBS                                                                             \
    {"file", put_file}, {"pci", put_function}, {"folders", use_folders},                       \
        {"replace", replace_text}, {"replace_all", replace_text}, {"append", append_text},     \
        {"gone", take_file}, {"fails", fail_file}, {"exits", end_command},                     \
        {"nul", end_in_nul}, {"well", make_well}, {"seen", look_for},                          \
    {                                                                                          \
        "unseen", look_for                                                                     \
    }

#endif
