/* memory_source.h - hosts in memory, and plans of them, for the tests of adapters/ascend
 * SPDX-License-Identifier: MIT
 *
 * A host is a table of inputs. Its source can be made to fail for one of them.
 */
#ifndef CPUBIND_TESTS_ASCEND_MEMORY_SOURCE_H
#define CPUBIND_TESTS_ASCEND_MEMORY_SOURCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/plan.h"
#include "../support/cmocka_test.h"

#define MAX_INPUTS 96

typedef struct entry {
    const char *name, *text; /* a listing when the name ends in "/" */
} entry;

/* A host in memory, and which of its answers fail. */
typedef struct memory_host {
    entry entry[MAX_INPUTS];
    int32_t n;
    const char *failing; /* name of the input that fails, or NULL */
    const char *exits_1; /* name of the command that exits with 1, or NULL */
    cpubind_input_state state;
    int32_t error;      /* of the failing input; 0: EIO */
    int32_t asked;      /* inputs asked for so far */
    char seen[1 << 16]; /* their names, each followed by a blank */
} memory_host;

static inline cpubind_input absent(void)
{
    cpubind_input none;
    memset(&none, 0, sizeof none);
    return none;
}

static inline cpubind_input answer(memory_host *h, const char *name, int is_list)
{
    cpubind_input input = absent();
    size_t n = strlen(name);
    h->asked++;
    if (h->failing && strcmp(h->failing, name) == 0) {
        input.state = h->state;
        input.error = h->error ? h->error : 5;
        input.why = "read";
        return input;
    }
    for (int32_t i = 0; i < h->n; i++) {
        const entry *e = &h->entry[i];
        int folder = e->name[strlen(e->name) - 1] == '/';
        if (folder != is_list || strncmp(e->name, name, n) != 0 ||
            strlen(e->name) != n + (size_t)folder)
            continue;
        input.state = CPUBIND_INPUT_PRESENT;
        input.len = (int32_t)strlen(e->text);
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

static inline cpubind_input list_inputs(void *ctx, const char *name)
{
    return answer((memory_host *)ctx, name, 1);
}

static inline void set(memory_host *h, const char *name, const char *text)
{
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->entry[i].name, name) == 0) {
            h->entry[i].text = text;
            return;
        }
    assert_true(h->n < MAX_INPUTS);
    h->entry[h->n].name = name;
    h->entry[h->n++].text = text;
}

static inline void take_away(memory_host *h, const char *name)
{
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->entry[i].name, name) == 0)
            h->entry[i] = h->entry[--h->n];
}

static inline cpubind_request ask_nothing(void)
{
    cpubind_request request;
    memset(&request, 0, sizeof request);
    request.is_auto_strategy = 1;
    return request;
}

/* The same by the rules reference. */
static inline cpubind_request ask_reference(void)
{
    cpubind_request request = ask_nothing();
    request.rules = CPUBIND_RULES_REFERENCE;
    request.has_rules = 1;
    return request;
}

/* One run over a host, in an arena of its own. */
typedef struct attempt {
    cpubind_arena arena;
    cpubind_facts facts;
    cpubind_ascend_plan plan;
    cpubind_problem problem;
    cpubind_problem_code code;
} attempt;

static inline attempt try_in(memory_host *h, const cpubind_request *request, size_t size)
{
    cpubind_source source = {h, read_input, list_inputs};
    attempt a;
    memset(&a, 0, sizeof a);
    a.arena.base = (char *)malloc(size ? size : 1);
    a.arena.size = size;
    assert_non_null(a.arena.base);
    a.code = cpubind_facts_read(&source, request, &a.arena, &a.facts, &a.problem);
    if (a.code == CPUBIND_PROBLEM_NONE)
        a.code = cpubind_ascend_make_plan(&a.facts, request, &a.arena, &a.plan, &a.problem);
    assert_true(a.arena.used <= a.arena.size);
    return a;
}

static inline attempt try(memory_host *h, const cpubind_request *request)
{
    return try_in(h, request, (size_t)4 << 20);
}

static inline void drop(attempt *a)
{
    free(a->arena.base);
}

static inline void expect_code(memory_host *h, const cpubind_request *request,
                               cpubind_problem_code code)
{
    attempt a = try(h, request);
    if (a.code != code)
        fail_msg("%s (%s), not %s", cpubind_problem_word(a.code),
                 a.problem.what ? a.problem.what : "", cpubind_problem_word(code));
    drop(&a);
}

static inline int has_warning(const attempt *a, cpubind_warning warning)
{
    return (a->plan.warnings >> warning & 1u) != 0;
}

/* The pool of a row is the run from..to. */
static inline void expect_run(const attempt *a, int32_t row, int32_t from, int32_t to)
{
    const int32_t *cpu = a->plan.core.cpu + a->plan.core.row[row];
    int32_t n = a->plan.core.row[row + 1] - a->plan.core.row[row];
    assert_int_equal(n, to - from + 1);
    assert_int_equal(cpu[0], from);
    assert_int_equal(cpu[n - 1], to);
}

#endif
