/* test_advice.c - follow the advice of each refusal of cpubind plan, as long as there is advice
 * SPDX-License-Identifier: MIT
 *
 * Every fixture host is planned with several sets of options. Each option that a refusal names
 * is given in the next run. An advice that leads back to an earlier refusal is wrong.
 */
#include <dirent.h>
#include <jansson.h>

#include "../support/cmocka_test.h"
#include "run_command.h"

#define HOSTS "fixtures/hosts/"

enum { MAX_STEPS = 6, MAX_WORD = 512, MAX_REFUSAL = 4096 };

/* One run of cpubind plan: its options, and the refusals of the runs before it. */
typedef struct attempt {
    char word[2 * MAX_STEPS + 8][MAX_WORD];
    int n_word;
    char refusal[MAX_STEPS][MAX_REFUSAL];
    int n_refusal;
} attempt;

static int n_followed;

static void add_word(attempt *a, const char *word, size_t len)
{
    assert_true(a->n_word < (int)(sizeof a->word / sizeof *a->word) && len < MAX_WORD);
    snprintf(a->word[a->n_word++], MAX_WORD, "%.*s", (int)len, word);
}

static void add_option(attempt *a, const char *option, const char *value)
{
    add_word(a, option, strlen(option));
    add_word(a, value, strlen(value));
}

/* Removes an option of `n` words, itself included. */
static void remove_option(attempt *a, const char *option, int n)
{
    for (int i = 0; i < a->n_word; i++) {
        if (strcmp(a->word[i], option) != 0)
            continue;
        a->n_word -= n;
        memmove(a->word[i], a->word[i + n], sizeof *a->word * (size_t)(a->n_word - i));
    }
}

static command_result run_attempt(const attempt *a)
{
    const char *words[COMMAND_WORDS] = {command_path(), "plan", "--quiet"};
    for (int i = 0; i < a->n_word; i++)
        words[3 + i] = a->word[i];
    return command_run(words);
}

/* The product of a fixture host, by its name. */
static const char *type_of(const attempt *a)
{
    static const char *const types[] = {"a3", "950", "300i"};
    const char *name = a->word[1] + strlen(HOSTS);
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
    if (strstr(refusal, "--npus LIST"))
        add_option(&next, "--npus", "0");
    if (strstr(refusal, "--device-type "))
        add_option(&next, "--device-type", type_of(a));
    if (strstr(refusal, "--total"))
        add_option(&next, "--total", "16");
    if (next.n_word > a->n_word)
        follow(&next);
}

/* Gives --visible or --scope with the word that the refusal proposes after `before`. */
static void follow_word(const attempt *a, const char *refusal, const char *before,
                        const char *option, const char *letters)
{
    const char *word = strstr(refusal, before);
    attempt next = *a;
    if (!word)
        return;
    word += strlen(before);
    add_word(&next, option, strlen(option));
    add_word(&next, word, strspn(word, letters));
    follow(&next);
}

/* Follows each advice of a refusal alone. */
static void follow_all(const attempt *a, const char *refusal)
{
    static const char *const advice[][3] = {
        {"--strategy global_slice", "--strategy", "global_slice"},
        {"--strategy topo_affinity", "--strategy", "topo_affinity"},
        {"--overlap resolve", "--overlap", "resolve"},
        {"--allowed LIST", "--allowed", "0-191"},
        {"--rules reference", "--rules", "reference"},
        {"--facts npu-smi", "--facts", "npu-smi"},
        {"--facts driver", "--facts", "driver"},
        {"give --visible LIST", "--visible", "0"}};
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        attempt next = *a;
        if (!strstr(refusal, advice[i][0]))
            continue;
        add_option(&next, advice[i][1], advice[i][2]);
        follow(&next);
    }
    if (strstr(refusal, "leave out --running")) {
        attempt next = *a;
        remove_option(&next, "--running", 1);
        follow(&next);
    }
    if (strstr(refusal, "keep fewer for the host") || strstr(refusal, "leave out --keep")) {
        attempt next = *a;
        remove_option(&next, "--keep", 2);
        follow(&next);
    }
    if (strstr(refusal, "let fewer processes drive an NPU")) {
        attempt next = *a;
        remove_option(&next, "--processes", 2);
        remove_option(&next, "--index", 2);
        follow(&next);
    }
    follow_names(a, refusal);
    follow_word(a, refusal, "--scope ", "--scope",
                "cpuset"
                "host"
                "own");
    follow_word(a, refusal, "commas between them: ", "--visible", "0123456789,");
}

static void fail_with(const attempt *a, const char *refusal)
{
    char line[MAX_REFUSAL] = "";
    for (int i = 0; i < a->n_word; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s", a->word[i]);
    fail_msg("cpubind plan%s: this refusal came back: %s", line, refusal);
}

/* Runs an attempt. After a refusal, follows its advice. */
static void follow(const attempt *a)
{
    command_result r = run_attempt(a);
    n_followed++;
    if (r.status != 0) {
        attempt next = *a;
        if (r.status > 3)
            fail_with(a, r.err);
        for (int i = 0; i < a->n_refusal; i++)
            if (strcmp(a->refusal[i], r.err) == 0)
                fail_with(a, r.err);
        if (a->n_refusal == MAX_STEPS)
            fail_with(a, r.err);
        snprintf(next.refusal[next.n_refusal++], MAX_REFUSAL, "%s", r.err);
        follow_all(&next, r.err);
    }
    command_free(&r);
}

TEST(the_advice_of_every_refusal_leads_on)
{
    static const char *const options[][5] = {{NULL},
                                             {"--running", NULL},
                                             {"--visible", "0-1", NULL},
                                             {"--scope", "host", NULL},
                                             {"--facts", "driver", NULL},
                                             {"--allowed", "0-7", NULL},
                                             {"--rules", "near", NULL},
                                             {"--keep", "20", NULL},
                                             {"--processes", "7", "--index", "6", NULL}};
    struct dirent **host;
    const int n = scandir(HOSTS, &host, NULL, alphasort);
    assert_true(n > 80);
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; host[i]->d_name[0] != '.' && k < sizeof options / sizeof *options;
             k++) {
            static attempt first;
            char path[MAX_WORD];
            memset(&first, 0, sizeof first);
            snprintf(path, sizeof path, HOSTS "%s", host[i]->d_name);
            add_option(&first, "--root", path);
            for (int j = 0; options[k][j]; j++)
                add_word(&first, options[k][j], strlen(options[k][j]));
            follow(&first);
        }
        free(host[i]);
    }
    free(host);
    assert_true(n_followed > n);
}

/* Runs cpubind plan for a host, by the rules of the host or by near. */
static json_t *plan_of(const char *host, int is_near)
{
    const char *words[] = {command_path(), "plan", "--json",
                           "--root",       host,   is_near ? "--rules" : NULL,
                           "near",         NULL};
    command_result r = command_run(words);
    json_t *plan = json_loads(r.out, 0, NULL);
    assert_non_null(plan);
    command_free(&r);
    return plan;
}

static int has_warning(const json_t *plan, const char *code)
{
    const json_t *warnings = json_object_get(plan, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(warnings, i), "code")),
                   code) == 0)
            return 1;
    return 0;
}

/* Whether an NPU has a pool without near CPUs (1), or with such (2); 0: no pool, not known. */
static int nearness(const json_t *plan, size_t i)
{
    const json_t *npu = json_array_get(json_object_get(plan, "npus"), i);
    const json_t *percent = json_object_get(json_object_get(npu, "quality"), "near_percent");
    return !json_is_integer(percent) ? 0 : json_integer_value(percent) == 0 ? 1 : 2;
}

/* By near, which the warning advises, each of these pools has near CPUs. */
TEST(the_advice_of_poor_locality_helps)
{
    struct dirent **host;
    const int n = scandir(HOSTS, &host, NULL, alphasort);
    int n_warned = 0;
    for (int i = 0; i < n; i++) {
        char path[MAX_WORD];
        json_t *plan, *by_near;
        snprintf(path, sizeof path, HOSTS "%s", host[i]->d_name);
        free(host[i]);
        if (strstr(path, "/."))
            continue;
        plan = plan_of(path, 0);
        if (has_warning(plan, "poor_locality")) {
            by_near = plan_of(path, 1);
            assert_false(has_warning(by_near, "poor_locality"));
            for (size_t k = 0; k < json_array_size(json_object_get(plan, "npus")); k++)
                assert_true(nearness(plan, k) != 1 || nearness(by_near, k) == 2);
            json_decref(by_near);
            n_warned++;
        }
        json_decref(plan);
    }
    free(host);
    assert_true(n_warned > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_advice_of_every_refusal_leads_on),
        cmocka_unit_test(the_advice_of_poor_locality_helps),
    };
    return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
