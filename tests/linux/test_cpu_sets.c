/* test_cpu_sets.c - sets of CPUs are kept once, in whatever form they come
 * SPDX-License-Identifier: MIT
 */

#include <stdio.h>

#include "../../adapters/linux/kernel/cpu_sets.h"
#include "../../cpubind.h"
#include "../support/exact_buffer.h"
#include "fault_table.h"

#define WORD      CPUBIND_WORD_BITS
#define MAX_WORDS (CPUBIND_MAX_CPUS / WORD)

static const cpubind_sys *const sys = &cpubind_sys_real;

/* The number of a set; NONE for a list, mask or text that is none, which must be the error. */
static int32_t number_of(cpubind_linux_fault why, int32_t set)
{
    assert_int_equal(why.error, set == CPUBIND_CPUSET_NONE ? EILSEQ : 0);
    return set;
}

static int32_t of_text(cpubind_cpu_sets *sets, const char *text)
{
    const int32_t len = (int32_t)strlen(text);
    char *exact = edge_text(text, len);
    int32_t set;
    const cpubind_linux_fault why = cpubind_cpu_sets_of_text(sets, sys, exact, len, &set);
    free(exact);
    return number_of(why, set);
}

static int32_t of_list(cpubind_cpu_sets *sets, const int32_t *cpu, int32_t n)
{
    int32_t *exact = edge_ints(n);
    cpubind_linux_fault why;
    int32_t set;
    if (n)
        memcpy(exact, cpu, (size_t)n * sizeof *cpu);
    why = cpubind_cpu_sets_of_list(sets, sys, exact, n, &set);
    free(exact);
    return number_of(why, set);
}

static int32_t of_words(cpubind_cpu_sets *sets, const unsigned long *word, int32_t n)
{
    const size_t size_bytes = (size_t)n * sizeof *word;
    unsigned long *exact = (unsigned long *)malloc(size_bytes ? size_bytes : 1);
    cpubind_linux_fault why;
    int32_t set;
    assert_non_null(exact);
    if (n)
        memcpy(exact, word, size_bytes);
    why = cpubind_cpu_sets_of_words(sets, sys, exact, n, &set);
    free(exact);
    return number_of(why, set);
}

/* A list, a mask and a text are one set. */
TEST(equal_sets_have_one_number)
{
    static const int32_t list[] = {0, 1, 2, 3, 8};
    static const unsigned long word[] = {0x10ful, 0, 0};
    cpubind_cpu_sets sets = {0};
    assert_int_equal(of_text(&sets, "0-3,8"), 0);
    assert_int_equal(of_list(&sets, list, 5), 0);
    for (int32_t n = 1; n <= 3; n++) /* trailing zeros do not make another set */
        assert_int_equal(of_words(&sets, word, n), 0);
    assert_int_equal(of_text(&sets, "0-3,8\n"), 0);
    assert_int_equal(sets.n, 1);
    assert_int_equal(of_text(&sets, "0-3"), 1);
    assert_int_equal(of_text(&sets, "0-3,8"), 0);
    assert_int_equal(sets.n, 2);
    cpubind_cpu_sets_free(&sets);
}

TEST(a_set_has_its_list_its_mask_and_its_text)
{
    cpubind_cpu_sets sets = {0};
    const int32_t at = of_text(&sets, "1,63-65,200");
    const cpubind_cpu_set *set = &sets.set[at];
    static const int32_t cpu[] = {1, 63, 64, 65, 200};
    assert_int_equal(set->n, 5);
    assert_memory_equal(set->cpu, cpu, sizeof cpu);
    assert_string_equal(set->text, "1,63-65,200");
    assert_string_equal(cpubind_cpu_sets_text(&sets, at), "1,63-65,200");
    assert_int_equal(set->n_word, 200 / WORD + 1);
    for (int32_t c = 0; c < set->n_word * WORD; c++) {
        const int is_in = c == 1 || (c >= 63 && c <= 65) || c == 200;
        assert_int_equal(set->word[c / WORD] >> (c % WORD) & 1ul, is_in);
    }
    assert_string_equal(cpubind_cpu_sets_text(&sets, CPUBIND_CPUSET_NONE), "none");
    cpubind_cpu_sets_free(&sets);
}

TEST(the_widest_mask_is_a_set)
{
    static unsigned long word[MAX_WORDS];
    cpubind_cpu_sets sets = {0};
    memset(word, 0xff, sizeof word);
    assert_int_equal(of_words(&sets, word, MAX_WORDS), 0);
    assert_int_equal(sets.set[0].n, CPUBIND_MAX_CPUS);
    assert_int_equal(sets.set[0].cpu[CPUBIND_MAX_CPUS - 1], CPUBIND_MAX_CPUS - 1);
    assert_string_equal(sets.set[0].text, "0-65535");
    assert_int_equal(of_text(&sets, "0-65535"), 0);
    /* one CPU alone, the last */
    assert_int_equal(of_text(&sets, "65535"), 1);
    assert_int_equal(sets.set[1].n_word, MAX_WORDS);
    assert_int_equal(sets.set[1].n, 1);
    /* every second one */
    memset(word, 0x55, sizeof word);
    assert_int_equal(of_words(&sets, word, MAX_WORDS), 2);
    assert_int_equal(sets.set[2].n, CPUBIND_MAX_CPUS / 2);
    assert_int_equal(sets.set[2].cpu[100], 200);
    assert_int_equal(of_text(&sets, sets.set[2].text), 2);
    assert_int_equal(of_list(&sets, sets.set[2].cpu, sets.set[2].n), 2);
    cpubind_cpu_sets_free(&sets);
}

TEST(a_mask_past_the_widest_counts_as_far_as_it_is_zero)
{
    static unsigned long word[MAX_WORDS + 1];
    cpubind_cpu_sets sets = {0};
    word[0] = 5;
    assert_int_equal(of_words(&sets, word, MAX_WORDS + 1), 0);
    assert_string_equal(cpubind_cpu_sets_text(&sets, 0), "0,2");
    word[MAX_WORDS] = 1;
    assert_int_equal(of_words(&sets, word, MAX_WORDS + 1), CPUBIND_CPUSET_NONE);
    assert_int_equal(sets.n, 1);
    cpubind_cpu_sets_free(&sets);
}

TEST(an_empty_or_malformed_set_is_none_and_adds_nothing)
{
    static const char *const texts[] = {"",    "\n",  "3-1",  "1,1",   "2,1",
                                        "1-",  "a",   "-1",   "65536", "0-65536",
                                        "1 2", "0x1", "1,,2", "0-3:2", "1\n2"};
    static const int32_t lists[][3] = {{3, 3, 4},     {3, 2, 4},     {1, 9, 5}, {-1, 0, 1},
                                       {0, 1, 65536}, {0, 70000, 9}, {5, -3, 6}};
    cpubind_cpu_sets sets = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(of_text(&sets, texts[i]), CPUBIND_CPUSET_NONE);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_int_equal(of_list(&sets, lists[i], 3), CPUBIND_CPUSET_NONE);
    assert_int_equal(of_list(&sets, lists[0], 0), CPUBIND_CPUSET_NONE);
    assert_int_equal(sets.n, 0);
    assert_null(sets.set);
    cpubind_cpu_sets_free(&sets);
}

/* The mask of a thread whose CPUs are all offline (review of live hosts, P1 4). */
TEST(an_empty_mask_is_a_set_without_cpus)
{
    static const unsigned long zero[4] = {0};
    cpubind_cpu_sets sets = {0};
    int32_t common = CPUBIND_CPUSET_NONE;
    assert_int_equal(of_text(&sets, "1,70"), 0);
    for (int32_t n = 0; n <= 4; n++)
        assert_int_equal(of_words(&sets, zero, n), 1);
    assert_int_equal(sets.n, 2);
    assert_int_equal(sets.set[1].n, 0);
    assert_string_equal(cpubind_cpu_sets_text(&sets, 1), "none");
    assert_true(cpubind_cpu_sets_is_part(&sets, 1, 0));
    assert_false(cpubind_cpu_sets_is_part(&sets, 0, 1));
    assert_int_equal(of_text(&sets, "70-99"), 2);
    assert_int_equal(cpubind_cpu_sets_common(&sets, sys, 0, 2, &common).error, 0);
    assert_string_equal(cpubind_cpu_sets_text(&sets, common), "70");
    assert_int_equal(of_text(&sets, "0,71"), 4);
    assert_int_equal(cpubind_cpu_sets_common(&sets, sys, 0, 4, &common).error, 0);
    assert_int_equal(common, 1);
    cpubind_cpu_sets_free(&sets);
}

TEST(many_sets_keep_their_numbers_and_their_cpus)
{
    cpubind_cpu_sets sets = {0};
    for (int round = 0; round < 2; round++) {
        for (int32_t i = 0; i < 1000; i++) {
            const int32_t cpu[2] = {i, i * 60 + 1001};
            assert_int_equal(of_list(&sets, cpu, 2), i);
        }
    }
    assert_int_equal(sets.n, 1000);
    for (int32_t i = 0; i < 1000; i++) {
        assert_int_equal(sets.set[i].cpu[0], i);
        assert_int_equal(sets.set[i].cpu[1], i * 60 + 1001);
    }
    cpubind_cpu_sets_free(&sets);
    assert_int_equal(sets.n, 0);
    assert_int_equal(of_text(&sets, "7"), 0); /* and may be used again */
    cpubind_cpu_sets_free(&sets);
}

/* == Memory ================================================================= */

typedef cpubind_linux_fault add(cpubind_cpu_sets *sets, const cpubind_sys *with, int32_t *set);

static cpubind_linux_fault add_text(cpubind_cpu_sets *sets, const cpubind_sys *with,
                                    int32_t *set)
{
    return cpubind_cpu_sets_of_text(sets, with, "100-140,4095", 12, set);
}

static cpubind_linux_fault add_list(cpubind_cpu_sets *sets, const cpubind_sys *with,
                                    int32_t *set)
{
    static const int32_t cpu[] = {9, 65535};
    return cpubind_cpu_sets_of_list(sets, with, cpu, 2, set);
}

static cpubind_linux_fault add_words(cpubind_cpu_sets *sets, const cpubind_sys *with,
                                     int32_t *set)
{
    static const unsigned long word[] = {0, 0xf0};
    return cpubind_cpu_sets_of_words(sets, with, word, 2, set);
}

/* Adds to a table of `n` sets with each use of `which` failing. Returns the number of uses. */
static int fail_each_use(add *adding, int32_t n, call which)
{
    for (int nth = 1;; nth++) {
        cpubind_cpu_sets sets = {0};
        for (int32_t cpu = 0; cpu < n; cpu++)
            assert_int_equal(of_list(&sets, &cpu, 1), cpu);
        fault_set(which, nth, ENOMEM);
        int32_t set;
        cpubind_linux_fault why = adding(&sets, &fault_table, &set);
        if (fault.n_met == 0) {
            assert_int_equal(why.error, 0);
            assert_int_equal(set, n);
            cpubind_cpu_sets_free(&sets);
            return nth - 1;
        }
        assert_int_equal(why.error, ENOMEM);
        assert_string_equal(why.what, "memory");
        assert_int_equal(set, CPUBIND_CPUSET_NONE);
        assert_int_equal(sets.n, n);
        for (int32_t i = 0; i < n; i++)
            assert_int_equal(sets.set[i].cpu[0], i);
        why = adding(&sets, sys, &set); /* the table can still be used */
        assert_int_equal(why.error, 0);
        assert_int_equal(set, n);
        cpubind_cpu_sets_free(&sets);
    }
}

/* With `n` sets in the table, so that its array grows as well, or does not. */
static void fail_each(add *adding, int32_t n, int expected_calls)
{
    assert_int_equal(fail_each_use(adding, n, CALL_malloc) +
                         fail_each_use(adding, n, CALL_realloc),
                     expected_calls);
}

TEST(without_memory_the_table_is_as_it_was)
{
    /* mask, list, text; the array when it is full; for a text first the numbers */
    fail_each(add_words, 0, 4);
    fail_each(add_words, 1, 3);
    fail_each(add_words, 64, 4);
    fail_each(add_list, 0, 4);
    fail_each(add_list, 9, 3);
    fail_each(add_text, 0, 5);
    fail_each(add_text, 64, 5);
}

TEST(a_known_set_needs_no_memory)
{
    cpubind_cpu_sets sets = {0};
    int32_t set = -1;
    assert_int_equal(add_words(&sets, sys, &set).error, 0);
    assert_int_equal(set, 0);
    fault_clear();
    set = -1;
    assert_int_equal(add_words(&sets, &fault_table, &set).error, 0);
    assert_int_equal(set, 0);
    assert_int_equal(fault.count[CALL_malloc] + fault.count[CALL_realloc], 0);
    cpubind_cpu_sets_free(&sets);
}

TEST_FILE(NULL, NULL)
