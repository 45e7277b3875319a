/* cases.h - tests that are cases of text files
 * SPDX-License-Identifier: MIT
 *
 * Each file of tests/cases is a group; each case of it is a test with its name. The driver of
 * the file, tests/cases/PREFIX.c for PREFIX_NAME.txt, has the verbs. A line is a word, the
 * verb, and what belongs to it:
 *   # ...         says why
 *   case NAME     a case follows
 *   host NAME     a host follows, where cases are about hosts: tests/cases/host.h
 *   VERB ...      is carried out, by the verbs of the driver. It may have lines that belong
 *                 to it: such as start with a blank are its data, and such as start with "> "
 *                 are what must come of it. "> as before": the same as of the last such verb
 *    LINE         data: a line of a file, as *.host has it (adapters/text/host_file.h)
 * With CPUBIND_CASES=write in the environment the lines "> ..." are written anew; git diff
 * shows then what has changed.
 */
#ifndef CPUBIND_TESTS_SUPPORT_CASES_H
#define CPUBIND_TESTS_SUPPORT_CASES_H

#include <glob.h>

#include "said.h"

enum { MAX_CASES = 1024 };

typedef struct step {
    const struct script *script;
    char *verb, *rest; /* the line, cut behind its first word */
    const char *data;  /* its data, ended by NUL; or NULL */
    int32_t data_len;
    int32_t line;    /* of the file, from 1 */
    int32_t at, len; /* in the file: the lines "> ..." behind this one */
    char *got;       /* the lines in their place; NULL: those that are there are right */
} step;

typedef struct script {
    char path[512];
    char *text, *cut; /* as it is, and cut into steps */
    step *step;
    int32_t n;
} script;

/* Decodes the line at `from` to `to`; returns the end. */
static inline char *decode(const char *from, const char *end, char *to)
{
    for (; from < end; from++) {
        if (*from != '\\') {
            *to++ = *from;
        } else if (from + 1 == end) {
            return to; /* no line feed ends it */
        } else if (*++from == 'x') {
            const char digits[] = {from[1], from[2], '\0'};
            *to++ = (char)strtol(digits, NULL, 16);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to++ = '\n';
    return to;
}

/* "NAME = LINE" becomes NAME, and the line the data. */
static inline void split_file(step *now)
{
    char *word = now->data ? NULL : strstr(now->rest, " = ");
    if (!word)
        return;
    now->data = word + 1;
    now->data_len = (int32_t)(decode(word + 3, word + strlen(word), word + 1) - now->data);
    *word = '\0';
    word[1 + now->data_len] = '\0';
}

/* Appends the line at text[at .. end) of the file to its steps. */
static inline void add_line(script *s, int32_t line, int32_t at, int32_t end, char **data)
{
    char *text = s->cut + at;
    step *last = s->n ? &s->step[s->n - 1] : NULL;
    s->cut[end] = '\0';
    if (*text == '\0' || *text == '#')
        return;
    if (*text == ' ' && last) {
        if (!last->data)
            last->data = *data = text;
        *data = decode(text + 1, s->cut + end, *data);
        **data = '\0';
        last->data_len = (int32_t)(*data - last->data);
        last->at = end + 1;
    } else if (*text == '>' && last) {
        last->len = end + 1 - last->at;
    } else {
        step *now = &s->step[s->n++];
        const size_t n = strcspn(text, " ");
        *now = (step){.script = s, .verb = text, .line = line, .at = end + 1};
        now->rest = text[n] ? text + n + 1 : text + n;
        text[n] = '\0';
    }
}

/* The whole file, ended by NUL. */
static inline char *read_whole(const char *path, int32_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0)
        bytes = (char *)calloc((size_t)size + 1, 1);
    if (bytes)
        rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot be read, or is empty\n", path);
        abort();
    }
    (void)fclose(file);
    *len = (int32_t)size;
    return bytes;
}

static inline void read_script(script *s, const char *path)
{
    int32_t len = 0, line = 1, at = 0;
    char *data = NULL;
    *s = (script){.n = 0};
    (void)snprintf(s->path, sizeof s->path, "%s", path);
    s->text = read_whole(path, &len);
    s->cut = read_whole(path, &len);
    s->step = (step *)calloc((size_t)len + 1, sizeof *s->step);
    if (!s->step || s->text[len - 1] != '\n')
        abort();
    for (int32_t end = 0; end < len; end++)
        if (s->text[end] == '\n') {
            add_line(s, line++, at, end, &data);
            at = end + 1;
        }
}

/* Writes the file with the lines that were got. */
static inline void write_script(const script *s)
{
    FILE *file = fopen(s->path, "wb");
    int32_t at = 0;
    if (!file)
        abort();
    for (int32_t i = 0; i < s->n; i++) {
        const step *now = &s->step[i];
        if (!now->got)
            continue;
        (void)fprintf(file, "%.*s%s", now->at - at, s->text + at, now->got);
        at = now->at + now->len;
    }
    (void)fputs(s->text + at, file);
    if (fclose(file) != 0)
        abort();
}

static inline void drop_script(script *s)
{
    for (int32_t i = 0; i < s->n; i++)
        free(s->step[i].got);
    free(s->text);
    free(s->cut);
    free(s->step);
}

static said before; /* what has come of the last verb */

/* What must come of a verb. */
static inline void expect(step *now, const said *s)
{
    const int is_same = s->len > 0 && strcmp(s->text, before.text) == 0;
    const char *text = is_same ? "> as before\n" : s->text;
    const size_t len = strlen(text);
    if (s->len > 0)
        before = *s;
    if ((size_t)now->len == len && memcmp(now->script->text + now->at, text, len) == 0)
        return;
    now->got = strdup(text);
    if (!getenv("CPUBIND_CASES"))
        fail_msg("%s:%d: %s %s\nit is\n%snot\n%.*s", now->script->path, now->line, now->verb,
                 now->rest, text, now->len, now->script->text + now->at);
}

/* A verb of the driver. */
typedef struct verb {
    const char *word;
    void (*carry_out)(step *now);
} verb;

static const verb *verbs; /* of the driver, up to one without a word */
static void (*start_case)(void);

static inline const verb *verb_of(const step *now)
{
    const verb *v = verbs;
    while (v->word && strcmp(v->word, now->verb) != 0)
        v++;
    return v->word ? v : NULL;
}

/* Whether the line starts something else than a verb. */
static inline int is_head(const step *now)
{
    return strcmp(now->verb, "case") == 0 || strcmp(now->verb, "host") == 0;
}

/* *state: the step that names the case. */
static inline void run_case(void **state)
{
    step *now = (step *)*state;
    const step *end = now->script->step + now->script->n;
    before.len = 0;
    before.text[0] = '\0';
    start_case();
    for (now++; now < end && !is_head(now); now++) {
        const verb *v = verb_of(now);
        if (!v)
            fail_msg("%s:%d: %s?", now->script->path, now->line, now->verb);
        v->carry_out(now);
    }
}

/* == Groups ================================================================= */

/* Before and after all of them, where a driver sets them. */
static CMFixtureFunction before_all, after_all;

/* Finds the groups of a pattern of files: cases/NAME for tests/cases/NAME.txt. */
static inline void list_case_files(const char *pattern, void (*found)(const char *group))
{
    char path[512];
    glob_t files;
    (void)snprintf(path, sizeof path, "tests/cases/%s.txt", pattern);
    if (glob(path, 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *file = files.gl_pathv[i] + strlen("tests/");
        (void)snprintf(path, sizeof path, "%.*s", (int)strcspn(file, "."), file);
        found(path);
    }
    globfree(&files);
}

/* Runs the cases of a group, and the tests of the driver. `start`: before each case. */
static inline int run_case_file(const char *group, const verb *of_driver, void (*start)(void))
{
    static struct CMUnitTest tests[MAX_CASES];
    static script s;
    char path[512];
    size_t n = 0;
    int result;
    verbs = of_driver;
    start_case = start;
    (void)snprintf(path, sizeof path, "tests/%s.txt", group);
    read_script(&s, path);
    for (int32_t i = 0; i < s.n && n < MAX_CASES; i++)
        if (strcmp(s.step[i].verb, "case") == 0)
            tests[n++] = (struct CMUnitTest){s.step[i].rest, run_case, NULL, NULL, &s.step[i]};
    for (size_t i = 0; i < tests_of_file.n && n < MAX_CASES; i++)
        tests[n++] = tests_of_file.test[i];
    assert_in_range(n, 0, MAX_CASES - 1);
    print_message("# %s\n", group);
    result = _cmocka_run_group_tests(group, tests, n, before_all, after_all);
    if (getenv("CPUBIND_CASES"))
        write_script(&s);
    drop_script(&s);
    return result;
}

/* The last line of a driver: the files tests/cases/PATTERN.txt have its verbs. */
#define TEST_CASES(pattern, of_driver, start)                                                  \
    static void list_cases(void (*found)(const char *group))                                   \
    {                                                                                          \
        list_case_files(pattern, found);                                                       \
    }                                                                                          \
    static int run_cases(const char *group)                                                    \
    {                                                                                          \
        return run_case_file(group, of_driver, start);                                         \
    }                                                                                          \
    TEST_SOURCE(list_cases, run_cases)

#endif
