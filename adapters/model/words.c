/* words.c - the words of problems and warnings
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rows are in facts.h, and MESSAGES.md documents the words.
 */
#include "facts.h"

#include <string.h>

/* By code; NONE comes first. */
static const struct {
    const char *word;
    int32_t exit;
} problems[] = {{"none", 0},
#define CPUBIND_X(name, word, exit) {word, exit},
                CPUBIND_PROBLEM_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* By number. */
static const struct {
    const char *word, *code;
} warnings[] = {
#define CPUBIND_X(name, word, code) {word, code},
    CPUBIND_WARNING_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* A number that is no code counts as NONE. */
static size_t index_of(cpubind_problem_code code)
{
    return (size_t)code < sizeof problems / sizeof problems[0] ? (size_t)code : 0;
}

const char *cpubind_problem_word(cpubind_problem_code code)
{
    return problems[index_of(code)].word;
}

int32_t cpubind_problem_exit(cpubind_problem_code code)
{
    return problems[index_of(code)].exit;
}

_Static_assert(CPUBIND_WARNING_COUNT <= 64, "a plan has its warnings in 64 bits");

const char *cpubind_warning_word(cpubind_warning warning)
{
    return (size_t)warning < CPUBIND_WARNING_COUNT ? warnings[warning].word : "?";
}

const char *cpubind_warning_code(cpubind_warning warning)
{
    return (size_t)warning < CPUBIND_WARNING_COUNT ? warnings[warning].code : "?";
}

#define CPUBIND_X(name, word) word,
static const char *const scopes[] = {CPUBIND_SCOPE_LIST(CPUBIND_X) "per_npu"};
#undef CPUBIND_X

const char *cpubind_scope_word(cpubind_scope scope)
{
    return (size_t)scope < sizeof scopes / sizeof scopes[0] ? scopes[scope] : "?";
}

void cpubind_problem_clear(cpubind_problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->offset = -1;
    problem->device = -1;
    problem->other = -1;
    problem->cpu = -1;
    problem->pci.domain = -1;
}
