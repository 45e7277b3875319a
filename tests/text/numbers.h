/* numbers.h - parsers of CPUs against vectors, shared by the tests of lists and of masks
 * SPDX-License-Identifier: MIT
 *
 * A vector is a line of fields: text, limit, status, then the numbers, or the offset of the
 * fault.
 */
#ifndef CPUBIND_TESTS_TEXT_NUMBERS_H
#define CPUBIND_TESTS_TEXT_NUMBERS_H

#include "text_test.h"

enum { MAX_NUMBERS = 64 };

/* cpubind_cpulist_parse or cpubind_cpumask_parse. */
typedef cpubind_text_status parse_fn(const char *text, int32_t len, int32_t limit,
                                     cpubind_int_list *list, cpubind_text_fault *fault);

/* One parse into an array of exactly list->cap numbers, which are copied to list->out; on
 * failure nothing may be written. */
static inline cpubind_text_status parse_edge(parse_fn *parse, const char *text, int32_t len,
                                             int32_t limit, cpubind_int_list *list,
                                             cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_int_list exact = {edge_ints(list->cap), list->cap, 0};
    cpubind_text_status status;

    memset(&exact.n, EDGE_FILL, sizeof exact.n);
    *fault = no_fault;
    status = parse(edge, len, limit, &exact, fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(exact.out, (size_t)exact.cap * sizeof *exact.out);
        assert_fault(fault, len);
        if (status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(&exact.n, sizeof exact.n);
    } else {
        assert_null(fault->what);
        memcpy(list->out, exact.out, (size_t)exact.n * sizeof *exact.out);
    }
    list->n = exact.n;
    free(exact.out);
    free(edge);
    return status;
}

/* Checks a vector that is read: its numbers, their count, and ERR_SPACE with room for one
 * number less. */
static inline int32_t check_numbers(parse_fn *parse, char **field, int32_t len,
                                    int32_t *expected)
{
    int32_t got[MAX_NUMBERS];
    const int32_t want = read_numbers(field[3], expected, MAX_NUMBERS);
    const int32_t limit = (int32_t)strtol(field[1], NULL, 10);
    cpubind_int_list list = {got, want, -1};
    cpubind_text_fault fault;

    if (parse_edge(parse, field[0], len, limit, &list, &fault) != CPUBIND_TEXT_OK ||
        list.n != want)
        fail_msg("\"%s\" is not read", field[0]);
    if (want > 0) {
        assert_memory_equal(got, expected, (size_t)want * sizeof *got);
        list.cap = want - 1;
        assert_int_equal(parse_edge(parse, field[0], len, limit, &list, &fault),
                         CPUBIND_TEXT_ERR_SPACE);
        assert_int_equal(list.n, want);
    }
    return want;
}

/* Checks a vector that is refused: its status and its place. */
static inline void check_refused(parse_fn *parse, char **field, int32_t len)
{
    int32_t got[MAX_NUMBERS];
    cpubind_int_list list = {got, MAX_NUMBERS, -1};
    cpubind_text_fault fault;
    const cpubind_text_status status =
        parse_edge(parse, field[0], len, (int32_t)strtol(field[1], NULL, 10), &list, &fault);

    if (strcmp(cpubind_text_status_name(status), field[2]) != 0 ||
        fault.offset != strtol(field[3], NULL, 10))
        fail_msg("\"%s\": %s at %d, not %s at %s", field[0], cpubind_text_status_name(status),
                 fault.offset, field[2], field[3]);
}

#endif
