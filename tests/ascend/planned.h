/* planned.h - a host in memory, what is asked of it, and the plan that was made of it last
 * SPDX-License-Identifier: MIT
 *
 * A test has one of each; `start` gives them before it, and drop_plan is called after it.
 */
#ifndef CPUBIND_TESTS_ASCEND_PLANNED_H
#define CPUBIND_TESTS_ASCEND_PLANNED_H

#include "memory_source.h"

static memory_host host;
static cpubind_request ask;
static attempt got;

static inline int start(memory_host h, cpubind_request request)
{
    host = h;
    ask = request;
    return 0;
}

static inline int drop_plan(void **state)
{
    (void)state;
    drop(&got);
    memset(&got, 0, sizeof got);
    return 0;
}

/* == The host and the request =============================================== */

static inline void put(const char *name, const char *text)
{
    set(&host, name, text);
}

static inline void lose(const char *name)
{
    take_away(&host, name);
}

static inline void fail_input(const char *name, cpubind_input_state state)
{
    host.failing = name;
    host.state = state;
}

static inline void ask_npus(const int32_t *npu, int32_t n)
{
    ask.npu = npu;
    ask.n_npu = n;
}

static inline void ask_strategy(cpubind_strategy strategy)
{
    ask.is_auto_strategy = 0;
    ask.strategy = strategy;
}

/* == The plan =============================================================== */

/* Whatever comes of it. */
static inline void try_plan(void)
{
    drop(&got);
    got = try(&host, &ask);
}

static inline void refuse(cpubind_problem_code code)
{
    try_plan();
    if (got.code != code)
        fail_msg("%s (%s), not %s", cpubind_problem_word(got.code),
                 got.problem.what ? got.problem.what : "", cpubind_problem_word(code));
}

static inline void refuse_input(cpubind_problem_code code, const char *input)
{
    refuse(code);
    assert_string_equal(got.problem.input, input);
}

static inline void plan(void)
{
    refuse(CPUBIND_PROBLEM_NONE);
}

/* The pools of the first rows, as "8-15 0-7". */
static inline void expect_pools(const char *pools)
{
    int32_t row = 0;

    for (const char *at = pools; *at; row++) {
        char *end;
        const long from = strtol(at, &end, 10),
                   to = *end == '-' ? strtol(end + 1, &end, 10) : from;

        expect_run(&got, row, (int32_t)from, (int32_t)to);
        at = end + (*end == ' ');
    }
}

static inline void plan_pools(const char *pools)
{
    plan();
    expect_pools(pools);
}

static inline void expect_warning(cpubind_warning warning)
{
    assert_true(has_warning(&got, warning));
}

static inline void expect_no_warning(cpubind_warning warning)
{
    assert_false(has_warning(&got, warning));
}

/* Inputs that were asked for: the name is one of them, or a part of one. */
static inline void expect_seen(const char *name)
{
    assert_non_null(strstr(host.seen, name));
}

static inline void expect_unseen(const char *name)
{
    assert_null(strstr(host.seen, name));
}

#endif
