/* advice.c - the advice of each refusal leads on
 * SPDX-License-Identifier: MIT
 *
 * Every fixture is planned with several sets of options. Each option that a refusal names is
 * given in the next plan; an advice that leads back to an earlier refusal is wrong. Every text
 * of a plan with advice is in what a case or a script expects: it is tried somewhere. Those of
 * bind_words.c are about live processes: tests/scenes.
 */
#include <ctype.h>

#include "fixtures.h"

enum { MOST_STEPS = 6, MOST_OPTIONS = 16, WORD = 512, REFUSAL = 4096 };

/* One plan: its options, and the refusals of the plans before it. */
typedef struct attempt {
    char option[MOST_OPTIONS][WORD];
    int n_option;
    char refusal[MOST_STEPS][REFUSAL];
    int n_refusal;
} attempt;

static cpb_host *planned;
static const char *planned_name;
static int n_followed;

static void take_away(attempt *a, const char *key)
{
    const size_t n = strlen(key);
    for (int i = 0; i < a->n_option; i++)
        if (strncmp(a->option[i], key, n) == 0 && a->option[i][n] == '=')
            memmove(a->option[i], a->option[i + 1],
                    sizeof *a->option * (size_t)(--a->n_option - i));
}

static void give(attempt *a, const char *key, const char *value, size_t len)
{
    take_away(a, key);
    assert_in_range(a->n_option, 0, MOST_OPTIONS - 2);
    (void)snprintf(a->option[a->n_option++], WORD, "%s=%.*s", key, (int)len, value);
}

/* The product of a fixture, by its name. */
static const char *type_of(const char *name)
{
    static const char *const types[] = {"a3", "950", "300i"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(name, types[i], strlen(types[i])) == 0)
            return types[i];
    return "a2";
}

static void follow(const attempt *a);

/* Gives the options that name the NPUs and their number, if the refusal asks for them. */
static void follow_names(const attempt *a, const char *refusal)
{
    attempt next = *a;
    if (strstr(refusal, "devices=npuLIST"))
        give(&next, "npus", "0", 1);
    if (strstr(refusal, "device-type="))
        give(&next, "device-type", type_of(planned_name), strlen(type_of(planned_name)));
    if (strstr(refusal, "total="))
        give(&next, "total", "16", 2);
    if (next.n_option > a->n_option)
        follow(&next);
}

/* Gives an option the word that the refusal proposes after `before`. */
static void follow_word(const attempt *a, const char *refusal, const char *before,
                        const char *key, const char *letters)
{
    const char *word = strstr(refusal, before);
    attempt next = *a;
    if (!word || strspn(word + strlen(before), letters) == 0)
        return;
    word += strlen(before);
    give(&next, key, word, strspn(word, letters));
    follow(&next);
}

/* One worker that followed such an advice alone would have the CPUs of others. */
static void expect_for_all(const char *refusal)
{
    static const char *const rules[] = {"strategy=global_slice", "strategy=topo_affinity",
                                        "overlap=resolve", "rules=reference",
                                        "scope=cpuset or"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(refusal, rules[i]) && !strstr(refusal, "all workers of the host"))
            fail_msg("an advice for a single worker: %s", refusal);
}

/* Follows each advice of a refusal alone. */
static void follow_all(const attempt *a, const char *refusal)
{
    static const struct {
        const char *words, *key, *value; /* NULL: it is left out */
    } advice[] = {{"strategy=global_slice", "strategy", "global_slice"},
                  {"strategy=topo_affinity", "strategy", "topo_affinity"},
                  {"overlap=resolve", "overlap", "resolve"},
                  {"allowed=LIST", "allowed", "0-191"},
                  {"rules=reference", "rules", "reference"},
                  {"facts=npu-smi", "facts", "npu-smi"},
                  {"facts=driver", "facts", "driver"},
                  {"give visible=LIST", "visible", "0"},
                  {"leave out running", "running", NULL},
                  {"keep fewer for the host", "keep", NULL},
                  {"leave out the setting keep", "keep", NULL},
                  {"let fewer processes drive an NPU", "processes", NULL}};
    expect_for_all(refusal);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        attempt next = *a;
        if (!strstr(refusal, advice[i].words))
            continue;
        if (advice[i].value)
            give(&next, advice[i].key, advice[i].value, strlen(advice[i].value));
        else
            take_away(&next, advice[i].key);
        if (strcmp(advice[i].key, "processes") == 0)
            take_away(&next, "index");
        follow(&next);
    }
    for (int i = 0; strstr(refusal, "is about NPUs alone: leave it out") && i < a->n_option;
         i++) {
        attempt next = *a;
        char key[WORD], named[WORD + 32];
        (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(a->option[i], "="), a->option[i]);
        (void)snprintf(named, sizeof named, "and %s is about", key);
        take_away(&next, key);
        if (strstr(refusal, named))
            follow(&next);
    }
    follow_names(a, refusal);
    follow_word(a, refusal, "scope=", "scope", "cpusethown");
    follow_word(a, refusal, "commas between them: ", "visible", "0123456789,");
}

static void fail_with(const attempt *a, const char *refusal)
{
    char line[REFUSAL] = "";
    for (int i = 0; i < a->n_option; i++)
        (void)snprintf(line + strlen(line), sizeof line - strlen(line), " %s", a->option[i]);
    fail_msg("%s,%s: this refusal came back: %s", planned_name, line, refusal);
}

/* Makes an attempt. After a refusal, follows its advice. */
static void follow(const attempt *a)
{
    const char *options[MOST_OPTIONS + 1] = {NULL};
    cpb_error *error = NULL;
    for (int i = 0; i < a->n_option; i++)
        options[i] = a->option[i];
    cpb_plan *plan = cpb_plan_make(planned, options, &error);
    n_followed++;
    if (!plan) {
        attempt next = *a;
        const char *text = cpb_error_text(error);
        for (int i = 0; i < a->n_refusal; i++)
            if (strcmp(a->refusal[i], text) == 0)
                fail_with(a, text);
        if (a->n_refusal == MOST_STEPS || cpb_error_number(error, "exit") > 3)
            fail_with(a, text);
        (void)snprintf(next.refusal[next.n_refusal++], REFUSAL, "%s", text);
        follow_all(&next, text);
    }
    cpb_error_free(error);
    cpb_plan_free(plan);
}

static void follow_fixture(cpb_host *host, const char *name)
{
    static const char *const options[][2] = {
        {NULL},         {"running=yes"},  {"visible=0-1"},
        {"scope=host"}, {"facts=driver"}, {"allowed=0-7"},
        {"rules=near"}, {"keep=20"},      {"processes=7", "index=6"}};
    planned = host;
    planned_name = name;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        static attempt first;
        memset(&first, 0, sizeof first);
        for (size_t i = 0; i < 2 && options[k][i]; i++)
            (void)snprintf(first.option[first.n_option++], WORD, "%s", options[k][i]);
        follow(&first);
    }
}

TEST(the_advice_of_every_refusal_leads_on)
{
    const int n = each_fixture(follow_fixture);
    assert_true(n > 80);
    assert_true(n_followed * one_in(4) > n * 10);
}

/* == The warning of poor locality =========================================== */

static int n_warned;

/* By near, which the warning advises, each pool without near CPUs has some. */
static void compare_rules(cpb_host *host, const char *name)
{
    static const char *const reference[] = {"rules=reference", NULL};
    cpb_plan *plan = cpb_plan_make(host, reference, NULL), *by_near;
    const int32_t *device;
    if (plan && strstr(cpb_plan_json(plan), "\"poor_locality\"")) {
        by_near = cpb_plan_make(host, NULL, NULL);
        if (!by_near || strstr(cpb_plan_json(by_near), "\"poor_locality\""))
            fail_msg("%s: the advice does not help", name);
        for (int32_t i = 0; i < cpb_plan_devices(plan, &device); i++)
            if (cpb_plan_quality(plan, device[i], "near_percent") == 0 &&
                cpb_plan_quality(by_near, device[i], "near_percent") <= 0)
                fail_msg("%s: device %d has no near CPU by near", name, (int)device[i]);
        cpb_plan_free(by_near);
        n_warned++;
    }
    cpb_plan_free(plan);
}

TEST(the_advice_of_poor_locality_helps)
{
    (void)each_fixture(compare_rules);
    assert_true(n_warned * one_in(4) > 20);
}

/* == Every text with advice is tried somewhere ============================== */

/* All files of a pattern, one after the other. */
static char *texts_of(const char *const *patterns)
{
    size_t len = 0;
    char *all = (char *)calloc(1, 1 << 24);
    assert_non_null(all);
    for (; *patterns; patterns++) {
        glob_t found;
        if (glob(*patterns, 0, NULL, &found) != 0)
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++) {
            FILE *file = fopen(found.gl_pathv[i], "re");
            assert_non_null(file);
            len += fread(all + len, 1, (1 << 24) - 1 - len, file);
            (void)fclose(file);
        }
        globfree(&found);
    }
    return all;
}

/* Copies the next string of a source, neighbours joined; NULL at its end. */
static const char *next_string(const char *at, char *out, size_t size)
{
    size_t n = 0;
    while (*at && *at != '"')
        if (at[0] == '/' && at[1] == '*')
            at = strstr(at, "*/") + 2;
        else
            at += *at == '\'' && at[1] != '\0' && at[2] == '\'' ? 3 : 1;
    if (!*at)
        return NULL;
    while (*at == '"') {
        for (at++; *at != '"'; at++) {
            at += *at == '\\';
            assert_true(n < size - 1);
            out[n++] = *at;
        }
        at++;
        for (const char *next = at; isspace((unsigned char)*next); next++)
            at = next[1] == '"' ? next + 1 : at;
    }
    out[n] = '\0';
    return at;
}

/* The clause of a text that has the first option it names; NULL: it names none. */
static const char *advice_of(char *text)
{
    char *option = text, *from;
    while (*option && strncmp(option, "-o ", 3) != 0 &&
           (strncmp(option, "--", 2) != 0 || !islower((unsigned char)option[2])))
        option++;
    if (!*option)
        option = strstr(text, "cpubind restore");
    if (!option)
        return NULL;
    for (from = option; from > text && !strchr(";,:(%", from[-1]); from--)
        ;
    from += from > text && from[-1] == '%'; /* the letter of what is filled in */
    from += strspn(from, " ");
    option[strcspn(option, ";,:()%")] = '\0';
    return from;
}

/* Takes out what tells options of the command from those of a call: "-o ", dashes, and the
 * blank before a value. */
static char *without_dashes(char *text)
{
    char *to = text;
    for (const char *at = text; *at;)
        if (strncmp(at, "-o ", 3) == 0 || strncmp(at, "--", 2) == 0)
            at += at[1] == 'o' ? 3 : 2;
        else
            *to++ = (char)(*at == '=' ? ' ' : *at), at++;
    *to = '\0';
    return text;
}

TEST(every_text_with_advice_is_tried)
{
    static const char *const sources[] = {"adapters/api/problem_words.c",
                                          "adapters/api/warning_words.c", NULL};
    static const char *const tests[] = {"tests/*/*.txt", "tests/*/*/*.txt", "tests/*/*.sh",
                                        "tests/api/*.c", NULL};
    char *source = texts_of(sources), *tried = texts_of(tests), text[4096];
    int n_text = 0, n_missing = 0;
    (void)without_dashes(tried);
    for (const char *at = source; (at = next_string(at, text, sizeof text)) != NULL;) {
        const char *advice = advice_of(text);
        if (!advice)
            continue;
        n_text++;
        if (strstr(tried, without_dashes(memmove(text, advice, strlen(advice) + 1))))
            continue;
        print_message("# no test has the words \"%s\"\n", text);
        n_missing++;
    }
    free(source);
    free(tried);
    assert_true(n_text > 40);
    assert_int_equal(n_missing, 0);
}

TEST_FILE(NULL, NULL)
