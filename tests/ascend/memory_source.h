/* memory_source.h - plans of hosts in memory, for the tests of adapters/ascend
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_ASCEND_MEMORY_SOURCE_H
#define CPUBIND_TESTS_ASCEND_MEMORY_SOURCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/plan.h"
#include "../support/memory_host.h"

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
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_problem_code code;
} attempt;

/* The facts alone. */
static inline attempt read_from(const cpubind_source *source, const cpubind_request *request,
                                size_t size)
{
    attempt a;
    memset(&a, 0, sizeof a);
    a.arena.base = (char *)malloc(size ? size : 1);
    a.arena.size = size;
    assert_non_null(a.arena.base);
    a.code = cpubind_facts_read(source, request, &a.arena, &a.facts, &a.problem);
    return a;
}

static inline attempt read_in(memory_host *h, const cpubind_request *request, size_t size)
{
    const cpubind_source source = {h, read_input, list_inputs};
    return read_from(&source, request, size);
}

static inline attempt try_in(memory_host *h, const cpubind_request *request, size_t size)
{
    attempt a = read_in(h, request, size);
    if (a.code == CPUBIND_PROBLEM_NONE)
        a.code = cpubind_plan_make(&a.facts, request, &a.arena, &a.plan, &a.problem);
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
