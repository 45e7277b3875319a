/* test_host_txt.c - host.txt: five lines, each once, and the places of faults
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/host_txt.h"

#define GOOD                                                                                   \
    "name: a2-1\nproduct: Atlas 800I A2\norigin: synthetic\nnpu-smi: 25.2.0\nnotes: why: it "  \
    "is\n"

/* Reads a text from a buffer of its exact size. */
static cpubind_text_status read(const char *text, int32_t len, cpubind_host_txt *about,
                                cpubind_text_fault *fault)
{
    char *exact = edge_text(text, len);
    cpubind_text_status status = cpubind_host_txt_parse(exact, len, about, fault);
    free(exact);
    return status;
}

static void expect_slice(const char *text, cpubind_slice slice, const char *value)
{
    assert_int_equal(slice.len, strlen(value));
    assert_memory_equal(text + slice.at, value, strlen(value));
}

TEST(the_values_are_those_of_the_lines)
{
    static const char *const texts[] = {
        GOOD,
        "notes: why: it is\norigin: synthetic\nname: a2-1\nnpu-smi: 25.2.0\nproduct: Atlas "
        "800I A2"};
    for (int32_t i = 0; i < LENGTH(texts); i++) {
        cpubind_host_txt about;
        cpubind_text_fault fault = no_fault;
        assert_int_equal(read(texts[i], (int32_t)strlen(texts[i]), &about, &fault),
                         CPUBIND_TEXT_OK);
        assert_int_equal(fault.offset, no_fault.offset);
        expect_slice(texts[i], about.name, "a2-1");
        expect_slice(texts[i], about.product, "Atlas 800I A2");
        expect_slice(texts[i], about.origin, "synthetic");
        expect_slice(texts[i], about.npu_smi, "25.2.0");
        expect_slice(texts[i], about.notes, "why: it is");
    }
}

static cpubind_text_status read_host(const char *text, int32_t len, cpubind_text_fault *fault)
{
    cpubind_host_txt about;
    memset(&about, EDGE_FILL, sizeof about);
    const cpubind_text_status status = read(text, len, &about, fault);
    assert_non_null(fault->what);
    assert_true(edge_untouched(&about.name.at, 0) && edge_untouched(&about.notes.len, 0));
    return status;
}

TEST(other_texts_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"name: a\n", CPUBIND_TEXT_ERR_MISSING, 8},
        {GOOD "\n", CPUBIND_TEXT_ERR_SYNTAX, (int32_t)sizeof GOOD - 1},
        {GOOD "cann: 8\n", CPUBIND_TEXT_ERR_SYNTAX, (int32_t)sizeof GOOD - 1},
        {GOOD "name: b\n", CPUBIND_TEXT_ERR_SYNTAX, (int32_t)sizeof GOOD - 1},
        {"name:a\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"name : a\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {" name: a\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"Name: a\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"name: \n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"name: a b\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"name: .a\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"name: a/b\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"name: a\r\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"product: a\tb\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"origin: Captured\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"origin: capture\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"notes: ", CPUBIND_TEXT_ERR_SYNTAX, 7},
    };
    expect_verdicts(read_host, cases, LENGTH(cases));
}

TEST(a_nul_is_a_control_character)
{
    cpubind_host_txt about;
    cpubind_text_fault fault = no_fault;
    assert_int_equal(read("name: a\0b\n", 10, &about, &fault), CPUBIND_TEXT_ERR_SYNTAX);
    assert_int_equal(fault.offset, 7);
    assert_int_equal(cpubind_host_txt_parse(NULL, 1, &about, &fault), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_host_txt_parse("", -1, &about, &fault), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_host_txt_parse("", 0, NULL, &fault), CPUBIND_TEXT_ERR_ARG);
}

TEST(names_are_letters_digits_and_three_signs)
{
    static const char *const good[] = {"a", "0", "Z9", "a-", "a.b_c-d", "950-ub"};
    static const char *const bad[] = {"",    "-a",  ".",   "..",      "_a",
                                      "a b", "a/b", "a\n", "\xc3\xa4"};
    char longest[CPUBIND_HOST_TXT_NAME_MAX + 2];
    for (int32_t i = 0; i < LENGTH(good); i++)
        assert_true(cpubind_host_txt_is_name(good[i]));
    for (int32_t i = 0; i < LENGTH(bad); i++)
        assert_false(cpubind_host_txt_is_name(bad[i]));
    memset(longest, 'a', sizeof longest);
    longest[CPUBIND_HOST_TXT_NAME_MAX + 1] = '\0';
    assert_false(cpubind_host_txt_is_name(longest));
    assert_true(cpubind_host_txt_is_name(longest + 1));
}

TEST_FILE(NULL, NULL)
