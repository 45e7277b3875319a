/* test_numa_maps.c - /proc/<pid>/numa_maps, and counters of /proc/vmstat
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/numa_maps.h"

#define N_NODE 8

/* Adds a text in an allocation of its exact size to bytes[n_node], of its exact size too. A
 * failure leaves the sums alone. */
static cpubind_text_status add_to(const char *text, int32_t len, int32_t page_kb,
                                  int64_t *bytes, int32_t n_node, cpubind_text_fault *fault)
{
    const size_t size = (size_t)n_node * sizeof *bytes;
    char *edge = edge_text(text, len);
    int64_t *sums = (int64_t *)malloc(size);
    cpubind_text_status status;

    if (!sums)
        abort();
    memcpy(sums, bytes, size);
    *fault = no_fault;
    status = cpubind_numa_maps_add(edge, len, page_kb, sums, n_node, fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_memory_equal(sums, bytes, size);
        assert_fault(fault, len);
    } else {
        assert_null(fault->what);
    }
    memcpy(bytes, sums, size);
    free(sums);
    free(edge);
    return status;
}

/* Checks that a text that is read from sums of 0 gives these, in kB. */
static void assert_kb(const char *text, int32_t page_kb, const int64_t kb[N_NODE])
{
    int64_t bytes[N_NODE] = {0};
    cpubind_text_fault fault;

    if (add_to(text, (int32_t)strlen(text), page_kb, bytes, N_NODE, &fault) != CPUBIND_TEXT_OK)
        fail_msg("%s at %d of %s", fault.what, fault.offset, text);
    for (int32_t n = 0; n < N_NODE; n++)
        if (bytes[n] != kb[n] * 1024)
            fail_msg("node %d has %lld bytes in %s", n, (long long)bytes[n], text);
}

/* == pages ================================================================== */

/* A worker of 8 lines: 2 + 5 + 1 pages of 4 kB on node 0; 3 of 4 kB, 1 of 2 MB and 2 of 1 GB on
 * node 3; 512 of 4 kB on node 7. */
TEST(pages_of_all_lines_are_added_up_by_node)
{
    static const char text[] =
        "00400000 default file=/opt/tools/worker\\040(deleted) mapped=2 N0=2 "
        "kernelpagesize_kB=4\n"
        "0061b000 prefer:3 file=/opt/tools/worker anon=3 dirty=3 active=1 N3=3 "
        "kernelpagesize_kB=4\n"
        "01c3d000 default heap anon=6 dirty=6 N0=5 N7=1 kernelpagesize_kB=4\n"
        "7f0000000000 bind:3 huge anon=1 dirty=1 N3=1 kernelpagesize_kB=2048\n"
        "7f4000000000 default file=/dev/hugepages/a huge dirty=2 N3=2 "
        "kernelpagesize_kB=1048576\n"
        "7f7f10000000 interleave:0-7 anon=511 dirty=511 mapmax=2 swapcache=1 writeback=1 "
        "N7=511 kernelpagesize_kB=4\n"
        "7ffd2b0f1000 default stack anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n"
        "7ffd2b1f3000 default\n";

    assert_kb(text, 4, (const int64_t[N_NODE]){32, 0, 0, 12 + 2048 + 2097152, 0, 0, 0, 2048});
}

TEST(an_empty_text_adds_nothing)
{
    int64_t bytes[1] = {77};
    cpubind_text_fault fault;

    assert_int_equal(add_to("", 0, 4, bytes, 1, &fault), CPUBIND_TEXT_OK);
    assert_int_equal(bytes[0], 77);
    assert_int_equal(cpubind_numa_maps_add(NULL, 0, 4, bytes, 1, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(bytes[0], 77);
}

/* The file is read in blocks: a sum keeps its earlier bytes. */
TEST(sums_continue_from_block_to_block)
{
    static const char block[] = "7f00 default N1=2 kernelpagesize_kB=64\n";
    int64_t bytes[3] = {5, 7, 9};
    cpubind_text_fault fault;

    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(add_to(block, LENGTH(block) - 1, 4, bytes, 3, &fault),
                         CPUBIND_TEXT_OK);
    assert_int_equal(bytes[0], 5);
    assert_int_equal(bytes[1], 7 + 3 * 2 * 64 * 1024);
    assert_int_equal(bytes[2], 9);
}

/* Linux 3.10 does not print the size: pages of the kernel then, and a huge one is 512 of 4 kB
 * or 8,192 of 64 kB. */
TEST(lines_without_a_size_have_that_of_the_kernel)
{
    assert_kb("7f00 default anon=3 N2=3\n", 4, (const int64_t[N_NODE]){0, 0, 12});
    assert_kb("7f00 default anon=3 N2=3\n", 64, (const int64_t[N_NODE]){0, 0, 192});
    assert_kb("7f00 default huge anon=3 N2=3\n", 4, (const int64_t[N_NODE]){0, 0, 3 * 2048});
    assert_kb("7f00 default huge N2=1\n", 64, (const int64_t[N_NODE]){0, 0, 524288});
    assert_kb("7f00 default huge N2=1 kernelpagesize_kB=16\n", 64,
              (const int64_t[N_NODE]){0, 0, 16});
    assert_kb("7f00 default stack:4711 N2=1\n", 4, (const int64_t[N_NODE]){0, 0, 4});
}

/* The size of a line holds for pages before and after it. */
TEST(the_size_may_be_anywhere_in_a_line)
{
    assert_kb("7f00 default kernelpagesize_kB=2048 huge N1=1 N6=2\n", 4,
              (const int64_t[N_NODE]){0, 2048, 0, 0, 0, 0, 4096});
}

TEST(any_policy_is_accepted)
{
    static const char *const policies[] = {
        "default",
        "local",
        "prefer:1",
        "prefer=1",
        "prefer=relative:3",
        "prefer (many):0-1",
        "bind:0-1,3",
        "bind=static:0",
        "interleave:0-3",
        "interleave=static|balancing:0-3",
        "weighted interleave:0-7",
        "unknown",
        "bind:0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,4",
    };

    for (int32_t i = 0; i < LENGTH(policies); i++) {
        char line[256];

        snprintf(line, sizeof line, "7f00 %s anon=1 N5=1 kernelpagesize_kB=4\n", policies[i]);
        assert_kb(line, 4, (const int64_t[N_NODE]){0, 0, 0, 0, 0, 4});
    }
}

/* The kernel escapes blanks, tabs, line feeds and "=" of a path, and nothing else. */
TEST(no_name_of_a_file_is_read_as_pages)
{
    static const char *const paths[] = {
        "file=/a\\040N0\\0759",
        "file=/N0",
        "file=N0\\0751",
        "file=/a\rN0",
        "file=/\xc3\xa9/\x01\x7f",
        "file=/\\012N0\\0751\\012",
        "file=",
        "file=/huge",
    };

    for (int32_t i = 0; i < LENGTH(paths); i++) {
        char line[256];

        snprintf(line, sizeof line, "7f00 default %s mapped=1 N4=1 kernelpagesize_kB=4\n",
                 paths[i]);
        assert_kb(line, 4, (const int64_t[N_NODE]){0, 0, 0, 0, 4});
    }
}

/* New kernels may print more words. */
TEST(words_of_no_known_name_are_left_out)
{
    assert_kb("7f00 default vma=9 Node=3 N= N hugely kernelpagesize=8 N1=1 "
              "kernelpagesize_kB=4\n",
              4, (const int64_t[N_NODE]){0, 4});
}

/* == numbers ================================================================ */

/* 9223372036854775807 is INT64_MAX; 2^53 pages of 1 kB are 2^63 bytes. */
TEST(a_sum_does_not_wrap)
{
    static const struct {
        const char *text;
        int64_t before, after;
    } cases[] = {
        {"0 d N0=9223372036854775807 kernelpagesize_kB=16777216\n", 0, INT64_MAX},
        {"0 d N0=9007199254740992 kernelpagesize_kB=1\n", 0, INT64_MAX},
        {"0 d N0=9007199254740991 kernelpagesize_kB=1\n", 0, INT64_MAX - 1023},
        {"0 d N0=9007199254740991 kernelpagesize_kB=1\n", 1023, INT64_MAX},
        {"0 d N0=9007199254740991 kernelpagesize_kB=1\n", 1024, INT64_MAX},
        {"0 d N0=1 kernelpagesize_kB=1\n", INT64_MAX, INT64_MAX},
        {"0 d N0=0 kernelpagesize_kB=1\n", INT64_MAX, INT64_MAX},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        int64_t bytes = cases[i].before;
        cpubind_text_fault fault;

        assert_int_equal(
            add_to(cases[i].text, (int32_t)strlen(cases[i].text), 4, &bytes, 1, &fault),
            CPUBIND_TEXT_OK);
        assert_int_equal(bytes, cases[i].after);
    }
}

TEST(the_last_node_is_read_and_the_next_refused)
{
    static const char text[] = "0 default N1023=1 kernelpagesize_kB=4\n";
    int64_t bytes[1024] = {0};
    cpubind_text_fault fault;

    assert_int_equal(add_to(text, LENGTH(text) - 1, 4, bytes, 1023, &fault),
                     CPUBIND_TEXT_ERR_RANGE);
    assert_int_equal(fault.offset, 11);
    assert_int_equal(add_to(text, LENGTH(text) - 1, 4, bytes, 1024, &fault), CPUBIND_TEXT_OK);
    assert_int_equal(bytes[1023], 4096);
}

/* == faults ================================================================= */

static cpubind_text_status read_line(const char *text, int32_t len, cpubind_text_fault *fault)
{
    int64_t bytes[N_NODE] = {1, 2, 3, 4, 5, 6, 7, 8};

    return add_to(text, len, 4, bytes, N_NODE, fault);
}

TEST(other_lines_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {" 7f default\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"xyz default\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"00112233445566778 default\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"7f\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"7f-8f default\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"7f\tdefault\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"7f \n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"7f  default\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"7f N0=1\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"7f huge N0=1\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"7f kernelpagesize_kB=4\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"7f default \n", CPUBIND_TEXT_ERR_SYNTAX, 11},
        {"7f default  N0=1\n", CPUBIND_TEXT_ERR_SYNTAX, 11},
        {"7f default N0\n", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"7f default N0:1\n", CPUBIND_TEXT_ERR_SYNTAX, 13},
        {"7f default N0=\n", CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"7f default N0= 1\n", CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"7f default N0=x\n", CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"7f default N0=-1\n", CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"7f default N0=01\n", CPUBIND_TEXT_ERR_SYNTAX, 14},
        {"7f default N0=1x\n", CPUBIND_TEXT_ERR_SYNTAX, 15},
        {"7f default N0=1\r\n", CPUBIND_TEXT_ERR_SYNTAX, 15},
        {"7f default N01=1\n", CPUBIND_TEXT_ERR_SYNTAX, 12},
        {"7f default N8=1\n", CPUBIND_TEXT_ERR_RANGE, 12},
        {"7f default N99999999999999999999=1\n", CPUBIND_TEXT_ERR_RANGE, 12},
        {"7f default N0=9223372036854775808\n", CPUBIND_TEXT_ERR_RANGE, 14},
        {"7f default N0=99999999999999999999999999\n", CPUBIND_TEXT_ERR_RANGE, 14},
        {"7f default N1=1 N1=1\n", CPUBIND_TEXT_ERR_ORDER, 17},
        {"7f default N1=1 N0=1\n", CPUBIND_TEXT_ERR_ORDER, 17},
        {"7f default kernelpagesize_kB=\n", CPUBIND_TEXT_ERR_SYNTAX, 29},
        {"7f default kernelpagesize_kB=0\n", CPUBIND_TEXT_ERR_SYNTAX, 29},
        {"7f default kernelpagesize_kB=4k\n", CPUBIND_TEXT_ERR_SYNTAX, 30},
        {"7f default kernelpagesize_kB=16777217\n", CPUBIND_TEXT_ERR_RANGE, 29},
        {"7f default kernelpagesize_kB=4 kernelpagesize_kB=4\n", CPUBIND_TEXT_ERR_SYNTAX, 31},
        {"7f default N0=1\n7f default N0=1", CPUBIND_TEXT_ERR_CUT, 31},
        {"7f default N0=1\nx\n", CPUBIND_TEXT_ERR_SYNTAX, 16},
        {"7", CPUBIND_TEXT_ERR_CUT, 1},
    };

    expect_verdicts(read_line, cases, LENGTH(cases));
}

TEST(a_nul_is_refused)
{
    static const char text[] = "7f default file=/a\0b N0=1\n";
    int64_t bytes[1] = {0};
    cpubind_text_fault fault;

    assert_int_equal(add_to(text, LENGTH(text) - 1, 4, bytes, 1, &fault),
                     CPUBIND_TEXT_ERR_SYNTAX);
    assert_int_equal(fault.offset, 18);
}

/* Nothing of a good line is added when a later line is bad. */
TEST(every_prefix_is_whole_lines_or_a_fault)
{
    static const char text[] = "7f00 prefer (many):0-1 file=/a N0=2 N1=3 kernelpagesize_kB=4\n"
                               "8f00 default N1=1 kernelpagesize_kB=4\n";
    const int32_t first = 61, len = LENGTH(text) - 1;

    assert_int_equal(text[first - 1], '\n');
    for (int32_t n = 0; n <= len; n++) {
        int64_t bytes[2] = {0, 0};
        cpubind_text_fault fault;
        const cpubind_text_status status = add_to(text, n, 4, bytes, 2, &fault);

        assert_int_equal(status, n == 0 || n == first || n == len ? CPUBIND_TEXT_OK
                                                                  : CPUBIND_TEXT_ERR_CUT);
        assert_int_equal(bytes[0], n >= first && !status ? 8192 : 0);
        assert_int_equal(bytes[1], status || n < first ? 0 : n < len ? 12288 : 16384);
    }
}

TEST(arguments_outside_their_range_are_refused)
{
    static const char text[] = "7f default\n";
    int64_t bytes[2] = {0, -1};
    cpubind_text_fault fault = no_fault;

    assert_int_equal(cpubind_numa_maps_add(NULL, 1, 4, bytes, 1, &fault), CPUBIND_TEXT_ERR_ARG);
    assert_non_null(fault.what);
    assert_int_equal(cpubind_numa_maps_add(text, -1, 4, bytes, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, CPUBIND_TEXT_MAX + 1, 4, bytes, 1, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, 11, 0, bytes, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, 11, 1025, bytes, 1, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, 11, 4, NULL, 1, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, 11, 4, bytes, 0, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, 11, 4, bytes, 2, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_numa_maps_add(text, 11, 1024, bytes, 1, NULL), CPUBIND_TEXT_OK);
}

/* 16 MB: no line end, many lines, one long line of words, of blanks, of nodes. */
TEST(time_is_linear_whatever_the_text_is)
{
    static const char *const pieces[] = {
        "a", " ", "7f default N0=1 kernelpagesize_kB=4\n", "7f default\n", " x", "\n", "N0=1 "};
    const int32_t len = 1 << 24;
    char *text = (char *)malloc((size_t)len);

    assert_non_null(text);
    for (int32_t i = 0; i < LENGTH(pieces); i++) {
        const size_t n = strlen(pieces[i]);
        int64_t bytes[1] = {0};
        double begun;

        memcpy(text, "7f default ", 11);
        for (int32_t at = 11; at < len; at += (int32_t)n)
            memcpy(text + at, pieces[i], n < (size_t)(len - at) ? n : (size_t)(len - at));
        begun = cpu_seconds();
        (void)cpubind_numa_maps_add(text, len, 4, bytes, 1, NULL);
        assert_true(cpu_seconds() - begun < HANG_SECONDS * 4);
    }
    free(text);
}

/* == /proc/vmstat =========================================================== */

static const char vmstat[] = "nr_free_pages 81920\n"
                             "pgmigrate_success_more 1\n"
                             "pgmigrate_success 1234567890123\n"
                             "pgmigrate_fail 0\n"
                             "pgmigrate_success 7\n";

static cpubind_text_status find(const char *text, int32_t len, const char *name, int64_t *out,
                                cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_text_status status;

    *fault = no_fault;
    *out = -7;
    status = cpubind_vmstat_find(edge, len, name, out, fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_fault(fault, len);
        assert_int_equal(*out, -7);
    }
    free(edge);
    return status;
}

TEST(a_counter_is_found_by_its_whole_name)
{
    cpubind_text_fault fault;
    int64_t value;

    assert_int_equal(find(vmstat, LENGTH(vmstat) - 1, "pgmigrate_success", &value, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(value, 1234567890123);
    assert_int_equal(find(vmstat, LENGTH(vmstat) - 1, "nr_free_pages", &value, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(value, 81920);
    assert_int_equal(find(vmstat, LENGTH(vmstat) - 1, "pgmigrate_fail", &value, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(value, 0);
    assert_int_equal(find(vmstat, LENGTH(vmstat) - 1, "pgmigrate", &value, &fault),
                     CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(fault.offset, LENGTH(vmstat) - 1);
}

static cpubind_text_status read_counter(const char *text, int32_t len,
                                        cpubind_text_fault *fault)
{
    int64_t value;

    return find(text, len, "ab", &value, fault);
}

TEST(a_wrong_counter_is_refused_where_it_goes_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"ab", CPUBIND_TEXT_ERR_MISSING, 2},
        {"ab\n", CPUBIND_TEXT_ERR_MISSING, 3},
        {"ab:1\n", CPUBIND_TEXT_ERR_MISSING, 5},
        {" ab 1\n", CPUBIND_TEXT_ERR_MISSING, 6},
        {"ab 1", CPUBIND_TEXT_ERR_CUT, 4},
        {"ab ", CPUBIND_TEXT_ERR_CUT, 3},
        {"ab \n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"x\nab -1\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"ab 1 \n", CPUBIND_TEXT_ERR_SYNTAX, 4},
        {"ab 01\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"ab  1\n", CPUBIND_TEXT_ERR_SYNTAX, 3},
        {"ab 9223372036854775808\n", CPUBIND_TEXT_ERR_RANGE, 3},
    };
    int64_t value;
    cpubind_text_fault fault;

    expect_verdicts(read_counter, cases, LENGTH(cases));
    assert_int_equal(find("ab 9223372036854775807\n", 23, "ab", &value, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(value, INT64_MAX);
}

TEST(a_counter_needs_a_name_and_a_place)
{
    int64_t value = 3;

    assert_int_equal(cpubind_vmstat_find(NULL, 1, "a", &value, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_vmstat_find("a 1\n", -1, "a", &value, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_vmstat_find("a 1\n", 4, "", &value, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_vmstat_find("a 1\n", 4, NULL, &value, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_vmstat_find("a 1\n", 4, "a", NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(value, 3);
}

TEST_FILE(NULL, NULL)
