/* test_irqbalance_reply.c - the reply of irqbalance to "setup"
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/irqbalance_reply.h"

/* Reads into an array of the exact size. */
static cpubind_text_status parse(const char *text, int32_t len, int32_t *out, int32_t cap,
                                 int32_t *out_n, cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    int32_t *array = edge_ints(cap);
    cpubind_int_list list = {array, cap, 0};
    cpubind_text_status status;

    memset(&list.n, EDGE_FILL, sizeof list.n);
    *fault = no_fault;
    status = cpubind_irqbalance_parse(edge, len, &list, fault);
    *out_n = list.n;
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(array, (size_t)cap * sizeof *array);
        assert_fault(fault, len);
        if (status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(out_n, sizeof *out_n);
    } else {
        memcpy(out, array, (size_t)*out_n * sizeof *out);
    }
    free(array);
    free(edge);
    return status;
}

TEST(banned_interrupts_are_read_in_their_order)
{
    static const struct {
        const char *text;
        int32_t n;
        int32_t irq[4];
    } cases[] = {
        {"SLEEP 10 BANNED 00000000", 0, {0}},
        {"SLEEP 10 BANNED ", 0, {0}},
        {"SLEEP 0 IRQ 0 LOAD 0 DIFF 0 CLASS 0 BANNED ff,00000000\n", 1, {0}},
        {"SLEEP 10 IRQ 301 LOAD 5 DIFF 18446744073709551615 CLASS -1 IRQ 24 LOAD 0 DIFF 0 "
         "CLASS 6 BANNED 0",
         2,
         {301, 24}},
        {"SLEEP 10 IRQ 7 LOAD 0 DIFF 0 IRQ 7 IRQ 2147483647 BANNED 0", 3, {7, 7, INT32_MAX}},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        int32_t out[4], n = 0;
        cpubind_text_fault fault;

        assert_int_equal(parse(cases[i].text, len, out, cases[i].n, &n, &fault),
                         CPUBIND_TEXT_OK);
        assert_int_equal(n, cases[i].n);
        assert_memory_equal(out, cases[i].irq, (size_t)n * sizeof *out);
        if (n > 0) {
            assert_int_equal(parse(cases[i].text, len, out, cases[i].n - 1, &n, &fault),
                             CPUBIND_TEXT_ERR_SPACE);
            assert_int_equal(n, cases[i].n);
        }
    }
}

static cpubind_text_status read_answer(const char *text, int32_t len, cpubind_text_fault *fault)
{
    int32_t out[4], n = 0;

    return parse(text, len, out, 4, &n, fault);
}

TEST(other_answers_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"sleep 10 BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"SLEEP x BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"SLEEP 10  BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"SLEEP 10 LOAD 0 BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"SLEEP 10 IRQ -1 BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"SLEEP 10 IRQ 01 BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"SLEEP 10 IRQ 2147483648 BANNED 0", CPUBIND_TEXT_ERR_RANGE, 13},
        {"SLEEP 10 IRQ 1 LOAD x BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 20},
        {"SLEEP 10 IRQ 1 LOAD - BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 21},
        {"SLEEP 10 IRQ 1 LOAd 1 BANNED 0", CPUBIND_TEXT_ERR_SYNTAX, 15},
        {"SLEEP 10 BANNED 0 IRQ 1", CPUBIND_TEXT_ERR_SYNTAX, 17},
        {"SLEEP 10 BANNED 0x1", CPUBIND_TEXT_ERR_SYNTAX, 17},
    };

    expect_verdicts(read_answer, cases, LENGTH(cases));
}

TEST(an_answer_that_ends_before_the_mask_is_cut)
{
    static const char text[] = "SLEEP 10 IRQ 301 LOAD 5 DIFF 0 CLASS -1 IRQ 24 LOAD 0 BANNED 0";
    int32_t out[4], n = 0;
    cpubind_text_fault fault;

    for (int32_t len = 0; len < (int32_t)strlen(text) - 1; len++)
        assert_int_equal(parse(text, len, out, 4, &n, &fault), CPUBIND_TEXT_ERR_CUT);
}

TEST(bad_arguments_are_refused)
{
    int32_t out[2];
    cpubind_int_list list = {out, 2, 7};
    cpubind_int_list bad[] = {{NULL, 2, 7}, {out, -1, 7}};

    assert_int_equal(cpubind_irqbalance_parse(NULL, 1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_irqbalance_parse("", -1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    for (int32_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(cpubind_irqbalance_parse("", 0, &bad[i], NULL), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(bad[i].n, 7);
    }
    assert_int_equal(cpubind_irqbalance_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(list.n, 7);
}

TEST_FILE(NULL, NULL)
