/* test_maps.c - /proc/<pid>/maps and smaps, entries of pagemap, values in kB
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/maps.h"
#include "../../adapters/text/numa_maps.h"

static cpubind_text_status parse(const char *text, int32_t len, cpubind_maps_line *out,
                                 cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_text_status status;

    *fault = no_fault;
    memset(out, 0x5a, sizeof *out);
    status = cpubind_maps_line_parse(edge, len, out, fault);
    if (status != CPUBIND_TEXT_OK)
        assert_fault(fault, len);
    else
        assert_null(fault->what);
    free(edge);
    return status;
}

/* == lines of maps and smaps ================================================ */

TEST(a_line_is_a_mapping_its_flags_or_another_fact)
{
    static const struct {
        const char *text;
        cpubind_maps_kind kind;
        uint64_t start, end;
        int32_t is_locked;
    } cases[] = {
        {"00400000-0048a000 r-xp 00000000 fd:03 960637   /bin/bash\n", CPUBIND_MAPS_RANGE,
         0x400000, 0x48a000, 0},
        {"7fff-8000 rw-p 00000000 00:00 0 \n", CPUBIND_MAPS_RANGE, 0x7fff, 0x8000, 0},
        {"ffffffffff600000-ffffffffffffffff --xp 0 0 0 [vsyscall]\n", CPUBIND_MAPS_RANGE,
         0xffffffffff600000u, UINT64_MAX, 0},
        {"a-b ---p \xff\t: VmFlags: lo\n", CPUBIND_MAPS_RANGE, 10, 11, 0},
        {"VmFlags: rd wr mr mw me lo ac sd \n", CPUBIND_MAPS_FLAGS, 0, 0, 1},
        {"VmFlags: rd ol wr\n", CPUBIND_MAPS_FLAGS, 0, 0, 0},
        {"VmFlags:\n", CPUBIND_MAPS_FLAGS, 0, 0, 0},
        {"VmFlags: \n", CPUBIND_MAPS_FLAGS, 0, 0, 0},
        {"VmFlags: lo\n", CPUBIND_MAPS_FLAGS, 0, 0, 1},
        {"Rss:                 892 kB\n", CPUBIND_MAPS_OTHER, 0, 0, 0},
        {"Private_Hugetlb:       0 kB\n", CPUBIND_MAPS_OTHER, 0, 0, 0},
        {"THPeligible:    0\n", CPUBIND_MAPS_OTHER, 0, 0, 0},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        cpubind_maps_line line;
        cpubind_text_fault fault;
        const int32_t len = (int32_t)strlen(cases[i].text);

        if (parse(cases[i].text, len, &line, &fault) != CPUBIND_TEXT_OK)
            fail_msg("%s at %d of %s", fault.what, fault.offset, cases[i].text);
        assert_int_equal(line.kind, cases[i].kind);
        assert_int_equal(line.start, cases[i].start);
        assert_int_equal(line.end, cases[i].end);
        assert_int_equal(line.is_locked, cases[i].is_locked);
        assert_int_equal(line.len, len);
        for (int32_t n = 1; n < len; n++) /* no line is read before its end */
            assert_int_equal(parse(cases[i].text, n, &line, &fault), CPUBIND_TEXT_ERR_CUT);
    }
}

static cpubind_text_status read_line(const char *text, int32_t len, cpubind_text_fault *fault)
{
    cpubind_maps_line line;

    return parse(text, len, &line, fault);
}

TEST(other_lines_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {" 4-5 r\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"4 5 r\n", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"4-\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"4-5\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"4-5r\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"4-00000000000000005 r\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"5-5 r\n", CPUBIND_TEXT_ERR_ORDER, 0},
        {"5-4 r\n", CPUBIND_TEXT_ERR_ORDER, 0},
        {"Rss 5\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"VmFlags: l\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"VmFlags: lox\n", CPUBIND_TEXT_ERR_SYNTAX, 11},
        {"VmFlags: 12\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"VmFlags:lo\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
    };
    cpubind_maps_line line;
    cpubind_text_fault fault;

    expect_verdicts(read_line, cases, LENGTH(cases));
    assert_int_equal(parse("4-5 r\0\n", 7, &line, &fault), CPUBIND_TEXT_ERR_SYNTAX);
    assert_int_equal(fault.offset, 5);
    assert_int_equal(cpubind_maps_line_parse("4-5 r\n", 0, &line, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_maps_line_parse("4-5 r\n", -1, &line, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_maps_line_parse("4-5 r\n", 6, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_maps_line_parse(NULL, 6, &line, NULL), CPUBIND_TEXT_ERR_ARG);
}

/* == pagemap ================================================================ */

#define PRESENT (UINT64_C(1) << 63)
#define OWN     (UINT64_C(1) << 56)

TEST(an_entry_says_whether_a_page_is_present_and_own)
{
    const uint64_t entries[] = {0, PRESENT, PRESENT | OWN | 7, OWN | 7, UINT64_MAX};
    char *data = edge_text((const char *)entries, sizeof entries);
    static const struct {
        int32_t is_present, is_own;
        uint64_t frame;
    } expected[] = {
        {0, 0, 0}, {1, 0, 0}, {1, 1, 7}, {0, 0, 0}, {1, 1, (UINT64_C(1) << 55) - 1}};

    for (int32_t i = 0; i < LENGTH(expected); i++) {
        const cpubind_page page = cpubind_pagemap_entry(data, i);

        assert_int_equal(page.is_present, expected[i].is_present);
        assert_int_equal(page.is_own, expected[i].is_own);
        assert_int_equal(page.frame, expected[i].frame);
    }
    free(data);
}

TEST(a_huge_page_has_a_run_of_frames_or_hidden_ones)
{
    uint64_t entries[10];
    const char *data = (const char *)entries;

    for (int i = 0; i < 10; i++)
        entries[i] = PRESENT | (uint64_t)(15 + i);
    assert_true(cpubind_pagemap_may_be_huge(data, 1, 8)); /* frames 16 to 23 */
    assert_false(cpubind_pagemap_may_be_huge(data, 0, 8));
    assert_false(cpubind_pagemap_may_be_huge(data, 2, 8));
    entries[8] = PRESENT | 99;
    assert_false(cpubind_pagemap_may_be_huge(data, 1, 8));
    entries[8] = 0;
    assert_false(cpubind_pagemap_may_be_huge(data, 1, 8));
    for (int i = 0; i < 10; i++)
        entries[i] = PRESENT; /* hidden */
    assert_true(cpubind_pagemap_may_be_huge(data, 1, 8));
}

/* == one line of numa_maps ================================================== */

TEST(a_line_of_numa_maps_has_its_start_its_sums_and_its_sharers)
{
    static const struct {
        const char *text;
        cpubind_numa_line line;
    } cases[] = {
        {"7f00 default anon=3 N0=1 N3=2 kernelpagesize_kB=4\n",
         {0x7f00, 12288, 8192, 4096, 1, 0, 0}},
        {"7f00 default file=/mapmax=9 mapmax=17 N0=1 kernelpagesize_kB=64\nx",
         {0x7f00, 65536, 0, 65536, 17, 0, 0}},
        {"fffffffffffff000 bind:3 huge N3=2 kernelpagesize_kB=2048\n",
         {0xfffffffffffff000u, 4194304, 4194304, 2097152, 1, 1, 0}},
        {"0 default\n", {0, 0, 0, 4096, 1, 0, 0}},
        {"0 default N3=1 N2000=4\n", {0, 20480, 4096, 4096, 1, 0, 0}},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *edge = edge_text(cases[i].text, len);
        cpubind_text_fault fault = no_fault;
        cpubind_numa_line line, expected = cases[i].line;

        expected.len = (int32_t)(strchr(cases[i].text, '\n') - cases[i].text) + 1;
        memset(&line, 0, sizeof line);
        if (cpubind_numa_maps_line_parse(edge, len, 4, 3, &line, &fault) != CPUBIND_TEXT_OK)
            fail_msg("%s at %d of %s", fault.what, fault.offset, cases[i].text);
        assert_int_equal(line.start, expected.start);
        assert_int_equal(line.total, expected.total);
        assert_int_equal(line.home, expected.home);
        assert_int_equal(line.page_bytes, expected.page_bytes);
        assert_int_equal(line.mapmax, expected.mapmax);
        assert_int_equal(line.is_huge, expected.is_huge);
        assert_int_equal(line.len, expected.len);
        free(edge);
    }
}

static cpubind_text_status read_numa_line(const char *text, int32_t len,
                                          cpubind_text_fault *fault)
{
    cpubind_numa_line line;

    return cpubind_numa_maps_line_parse(text, len, 4, 0, &line, fault);
}

TEST(a_wrong_line_of_numa_maps_is_refused)
{
    static const verdict cases[] = {
        {"7f default mapmax=\n", CPUBIND_TEXT_ERR_SYNTAX, 18},
        {"7f default mapmax=x\n", CPUBIND_TEXT_ERR_SYNTAX, 18},
        {"7f default mapmax=2147483648\n", CPUBIND_TEXT_ERR_RANGE, 18},
        {"7f default mapmax=2 mapmax=2\n", CPUBIND_TEXT_ERR_SYNTAX, 20},
        {"7f default N0=1", CPUBIND_TEXT_ERR_CUT, 15},
        {"x\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
    };
    cpubind_numa_line line;

    expect_verdicts(read_numa_line, cases, LENGTH(cases));
    assert_int_equal(cpubind_numa_maps_line_parse("7f default\n", 11, 0, 0, &line, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_line_parse("7f default\n", 0, 4, 0, &line, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_line_parse("7f default\n", 11, 4, 0, NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

/* == values in kB =========================================================== */

static const char meminfo[] = "Node 3 MemTotal:       131072 kB\n"
                              "Node 3 MemFree:         1234 kB\n"
                              "Node 3 Active(file):      56 kB\n"
                              "Node 3 HugePages_Free:     0\n";

TEST(a_value_is_found_by_its_whole_name)
{
    static const struct {
        const char *text, *name;
        int64_t kb; /* or minus a status */
        cpubind_text_status status;
    } cases[] = {
        {meminfo, "MemFree", 1234, CPUBIND_TEXT_OK},
        {meminfo, "Active(file)", 56, CPUBIND_TEXT_OK},
        {meminfo, "HugePages_Free", 0, CPUBIND_TEXT_OK},
        {meminfo, "Mem", -7, CPUBIND_TEXT_ERR_MISSING},
        {meminfo, "Node", -7, CPUBIND_TEXT_ERR_MISSING},
        {"Name:\tVmLck: 5\nVmLck:\t      12 kB\n", "VmLck", 12, CPUBIND_TEXT_OK},
        {"MemFree: 9223372036854775807 kB\n", "MemFree", INT64_MAX, CPUBIND_TEXT_OK},
        {"MemFree: 9223372036854775808 kB\n", "MemFree", -7, CPUBIND_TEXT_ERR_RANGE},
        {"MemFree: x kB\n", "MemFree", -7, CPUBIND_TEXT_ERR_SYNTAX},
        {"MemFree:\n", "MemFree", -7, CPUBIND_TEXT_ERR_SYNTAX},
        {"MemFree: 5", "MemFree", -7, CPUBIND_TEXT_ERR_CUT},
        {"", "MemFree", -7, CPUBIND_TEXT_ERR_MISSING},
        {"MemFree: 1\n", "", -7, CPUBIND_TEXT_ERR_ARG},
        {"MemFree: 1\n", NULL, -7, CPUBIND_TEXT_ERR_ARG},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *edge = edge_text(cases[i].text, len);
        cpubind_text_fault fault = no_fault;
        int64_t kb = -7;

        if (cpubind_kb_find(edge, len, cases[i].name, &kb, &fault) != cases[i].status ||
            kb != cases[i].kb)
            fail_msg("case %d: %lld", i, (long long)kb);
        free(edge);
    }
    assert_int_equal(cpubind_kb_find("a: 1\n", 5, "a", NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
