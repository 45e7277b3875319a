/* test_procfs.c - small files of /proc and /sys, environments, places in a text
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/procfs.h"

#define STATUS_HEAD                                                                            \
    "Name:\tpython3\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t4242\nThreads:\t7\n"
#define STATUS_TAIL "Mems_allowed_list:\t0-7\nvoluntary_ctxt_switches:\t150\n"
#define STATUS                                                                                 \
    STATUS_HEAD                                                                                \
    "Cpus_allowed:\tff,00000000,0000000f\nCpus_allowed_list:\t0-3,64-71\n" STATUS_TAIL

/* == /proc/<pid>/status ===================================================== */

static cpubind_text_status parse_status(const char *text, int32_t len, int32_t *out,
                                        int32_t cap, int32_t *n, cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    int32_t *array = edge_ints(cap);
    cpubind_int_list list = {array, cap, 0};
    cpubind_text_status status;

    memset(&list.n, EDGE_FILL, sizeof list.n);
    *fault = no_fault;
    status = cpubind_status_parse(edge, len, &list, fault);
    *n = list.n;
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(array, (size_t)cap * sizeof *array);
        assert_fault(fault, len);
        if (status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(n, sizeof *n);
    } else {
        memcpy(out, array, (size_t)*n * sizeof *out);
    }
    free(array);
    free(edge);
    return status;
}

TEST(allowed_cpus_are_read_from_their_line)
{
    const int32_t expected[] = {0, 1, 2, 3, 64, 65, 66, 67, 68, 69, 70, 71};
    int32_t out[12], n = 0;
    cpubind_text_fault fault;

    assert_int_equal(parse_status(STATUS, (int32_t)strlen(STATUS), out, 12, &n, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(n, 12);
    assert_memory_equal(out, expected, sizeof expected);
    assert_int_equal(parse_status(STATUS, (int32_t)strlen(STATUS), out, 11, &n, &fault),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(n, 12);
}

static cpubind_text_status read_list_of_status(const char *text, int32_t len,
                                               cpubind_text_fault *fault)
{
    int32_t out[8], n = 0;

    return parse_status(text, len, out, 8, &n, fault);
}

TEST(faults_of_the_list_are_counted_in_the_whole_text)
{
    static const verdict cases[] = {
        {"Cpus_allowed_list:\t0-3,2\n", CPUBIND_TEXT_ERR_ORDER, 23},
        {"A:\t1\nCpus_allowed_list:\t0-3 5\n", CPUBIND_TEXT_ERR_SYNTAX, 27},
        {"A:\t1\nCpus_allowed_list:\t65536\n", CPUBIND_TEXT_ERR_RANGE, 24},
        {"Cpus_allowed_list:0-3\n", CPUBIND_TEXT_ERR_SYNTAX, 18},
        {"Cpus_allowed_list:\n", CPUBIND_TEXT_ERR_SYNTAX, 18},
        {"Cpus_allowed_list:\t 0-3\n", CPUBIND_TEXT_ERR_SYNTAX, 19},
        {"Cpus_allowed_list:\t0-3\r\n", CPUBIND_TEXT_ERR_SYNTAX, 22},
        {"Cpus_allowed_list:\t0\nCpus_allowed_list:\t0\n", CPUBIND_TEXT_ERR_SYNTAX, 21},
        {"Cpus_allowed_list:\t0-1", CPUBIND_TEXT_ERR_CUT, 22},
        {"xCpus_allowed_list:\t0-1\n", CPUBIND_TEXT_ERR_MISSING, 24},
        {"Cpus_allowed:\tff\n", CPUBIND_TEXT_ERR_MISSING, 17},
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
    };

    expect_verdicts(read_list_of_status, cases, LENGTH(cases));
}

TEST(an_empty_list_is_no_cpu)
{
    static const char text[] = "Cpus_allowed_list:\t\n";
    int32_t out[1], n = 0;
    cpubind_text_fault fault;

    assert_int_equal(parse_status(text, (int32_t)strlen(text), out, 0, &n, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(n, 0);
}

TEST(every_prefix_of_a_status_is_whole_or_a_fault)
{
    const int32_t end = (int32_t)strlen(STATUS), line = (int32_t)strlen(STATUS_TAIL);
    int32_t out[12], n = 0;
    cpubind_text_fault fault;

    for (int32_t len = 0; len <= end; len++)
        assert_int_equal(parse_status(STATUS, len, out, 12, &n, &fault) == CPUBIND_TEXT_OK,
                         len >= end - line);
}

/* == numbers ================================================================ */

TEST(numbers_of_sysfs_are_read)
{
    static const struct {
        const char *text;
        int32_t len, value;
    } cases[] = {
        {"0", 1, 0},
        {"-1\n", 3, -1},
        {"128\n", 4, 128},
        {"2147483647", 10, INT32_MAX},
        {"0x19e5\n", 7, 0x19e5},
        {"0xD802\n", 7, 0xd802},
        {"0x0", 3, 0},
        {"0x00000001", 10, 1},
        {"0x7fffffff\n\0\0", 13, INT32_MAX},
        {"7\0\0", 3, 7},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        char *edge = edge_text(cases[i].text, cases[i].len);
        int32_t value = 99;

        assert_int_equal(cpubind_number_parse(edge, cases[i].len, &value, NULL),
                         CPUBIND_TEXT_OK);
        assert_int_equal(value, cases[i].value);
        free(edge);
    }
}

static cpubind_text_status read_number(const char *text, int32_t len, cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    int32_t value = 99;
    const cpubind_text_status status = cpubind_number_parse(edge, len, &value, fault);

    assert_fault(fault, len);
    assert_int_equal(value, 99);
    free(edge);
    return status;
}

TEST(other_numbers_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"x", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"-", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"-2\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"-0", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"+1", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"010", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"1 ", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"1\n2", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"1\n\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"0x", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"0xg", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"0X1", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"0x80000000", CPUBIND_TEXT_ERR_RANGE, 2},
        {"0x000000001", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"2147483648", CPUBIND_TEXT_ERR_RANGE, 0},
        {"99999999999999999999", CPUBIND_TEXT_ERR_RANGE, 0},
        {"-0x1", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"--1", CPUBIND_TEXT_ERR_SYNTAX, 1},
    };

    expect_verdicts(read_number, cases, LENGTH(cases));
}

/* == the environment ======================================================== */

TEST(the_first_variable_of_a_name_counts)
{
    static const char text[] = "PATH=/bin\nXRANK=9\nRANK=3\nRANK=4\nEMPTY=\nLAST=a=b c";
    char *edge = edge_text(text, (int32_t)strlen(text));
    const int32_t len = (int32_t)strlen(text);
    cpubind_slice value = {-1, -1};

    assert_int_equal(cpubind_env_find(edge, len, "RANK", &value), CPUBIND_TEXT_OK);
    assert_int_equal(value.at, 23);
    assert_int_equal(value.len, 1);
    assert_int_equal(cpubind_env_find(edge, len, "EMPTY", &value), CPUBIND_TEXT_OK);
    assert_int_equal(value.len, 0);
    assert_int_equal(cpubind_env_find(edge, len, "LAST", &value), CPUBIND_TEXT_OK);
    assert_int_equal(value.len, 5);
    assert_memory_equal(edge + value.at, "a=b c", 5);
    value.at = value.len = -1;
    assert_int_equal(cpubind_env_find(edge, len, "RAN", &value), CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(cpubind_env_find(edge, len, "LASTLONGERTHANTEXT", &value),
                     CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(cpubind_env_find(NULL, 0, "RANK", &value), CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(value.at, -1);
    free(edge);
}

TEST(names_that_no_variable_has_are_bad_arguments)
{
    cpubind_slice value = {-1, -1};

    assert_int_equal(cpubind_env_find("A=1", 3, "", &value), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_env_find("A=1", 3, NULL, &value), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_env_find("A=1", 3, "A=", &value), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_env_find("A=1", 3, "A", NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_env_find(NULL, 3, "A", &value), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_env_find("A=1", -1, "A", &value), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(value.at, -1);
}

/* == ASCEND_RT_VISIBLE_DEVICES ============================================== */

TEST(visible_devices_are_read_up_to_the_first_bad_token)
{
    static const struct {
        const char *text;
        int32_t n_device, n, used;
        int32_t id[4];
    } cases[] = {
        {"0", 8, 1, 1, {0}},
        {"0,2,5", 8, 3, 5, {0, 2, 5}},
        {"1,3,8", 8, 2, 4, {1, 3}},
        {"1, 2,3", 8, 1, 2, {1}},
        {"1,,2", 8, 1, 2, {1}},
        {"1,", 8, 1, 2, {1}},
        {"1,2x", 8, 1, 2, {1}},
        {"01,2", 8, 2, 4, {1, 2}},
        {"3,99999999999999999999", 8, 1, 2, {3}},
        {"0,1\n", 8, 1, 2, {0}},
        {"2,x,1", 8, 1, 2, {2}},
        {"0-3", 8, 0, 0, {0}},
        {"", 8, 0, 0, {0}},
        {"8", 8, 0, 0, {0}},
        {" 1", 8, 0, 0, {0}},
        {"-1", 8, 0, 0, {0}},
        {"0", 0, 0, 0, {0}},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *edge = edge_text(cases[i].text, len);
        cpubind_visible out = {edge_ints(cases[i].n), cases[i].n, -1, -1};
        cpubind_text_fault fault = no_fault;
        const cpubind_text_status status =
            cpubind_visible_parse(edge, len, cases[i].n_device, &out, &fault);

        if (cases[i].n == 0) {
            assert_int_equal(status, CPUBIND_TEXT_ERR_MISSING);
            assert_fault(&fault, len);
            assert_int_equal(out.n, -1);
            assert_int_equal(out.used, -1);
        } else {
            assert_int_equal(status, CPUBIND_TEXT_OK);
            assert_int_equal(out.n, cases[i].n);
            assert_int_equal(out.used, cases[i].used);
            assert_memory_equal(out.id, cases[i].id, (size_t)out.n * sizeof *out.id);
        }
        free(out.id);
        free(edge);
    }
}

TEST(visible_devices_must_ascend)
{
    static const struct {
        const char *text;
        int32_t n_device, cap;
        cpubind_text_status status;
        int32_t offset, n;
    } cases[] = {
        {"2,1", 8, 4, CPUBIND_TEXT_ERR_ORDER, 2, -1},
        {"1,2,2", 8, 4, CPUBIND_TEXT_ERR_ORDER, 4, -1},
        {"1,2,3", 8, 2, CPUBIND_TEXT_ERR_SPACE, 0, 3},
        {"1", -1, 4, CPUBIND_TEXT_ERR_ARG, 0, -1},
        {"1", CPUBIND_MAX_DEVICES + 1, 4, CPUBIND_TEXT_ERR_ARG, 0, -1},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        int32_t id[4] = {9, 9, 9, 9};
        cpubind_visible out = {id, cases[i].cap, -1, -1};
        cpubind_text_fault fault = no_fault;

        assert_int_equal(cpubind_visible_parse(cases[i].text, (int32_t)strlen(cases[i].text),
                                               cases[i].n_device, &out, &fault),
                         cases[i].status);
        assert_int_equal(fault.offset, cases[i].offset);
        assert_int_equal(out.n, cases[i].n);
        assert_int_equal(out.used, -1);
        assert_int_equal(id[0], 9);
    }
}

/* == comm =================================================================== */

static int comm_is(const char *comm, const char *name)
{
    const int32_t len = (int32_t)strlen(comm);
    char *edge = edge_text(comm, len);
    const int answer = cpubind_comm_is(edge, len, name);

    free(edge);
    return answer;
}

TEST(a_thread_has_its_name_or_the_first_15_bytes_of_it)
{
    static const struct {
        const char *comm, *name;
        int is;
    } cases[] = {
        {"acl_thread\n", "acl_thread", 1},
        {"acl_thread", "acl_thread", 1},
        {"uvb_poll_window\n", "uvb_poll_window_thread", 1},
        {"dev10_sq_send_w", "dev10_sq_send_wq", 1},
        {"dev10_sq_send_wq\n", "dev10_sq_send_wq", 1},
        {"dev10_sq_send_w\n", "dev10_sq_send_w", 1},
        {"name with blank\n", "name with blanks", 1},
        {"\n", "", 1},
        {"", "", 1},
        {"a\n\n", "a\n", 1},
        {"acl_thread\n", "acl_threads", 0},
        {"acl_thread\n", "acl_threa", 0},
        {"acl_thread\n\n", "acl_thread", 0},
        {"acl_thread ", "acl_thread", 0},
        {"ACL_thread\n", "acl_thread", 0},
        {"dev10_sq_send_x\n", "dev10_sq_send_wq", 0},
        {"dev1_sq_send_wq\n", "dev10_sq_send_wq", 0},
        {"uvb_poll_windo\n", "uvb_poll_window_thread", 0},
        {"uvb_poll_window_\n", "uvb_poll_window_thread", 0},
        {"\n", "acl_thread", 0},
        {"acl_thread\n", "", 0},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++)
        if (comm_is(cases[i].comm, cases[i].name) != cases[i].is)
            fail_msg("\"%s\" is %s\"%s\"", cases[i].comm, cases[i].is ? "not " : "",
                     cases[i].name);
    assert_int_equal(cpubind_comm_is("acl\0thread\n", 11, "acl"), 0);
    assert_int_equal(cpubind_comm_is(NULL, 0, "a"), 0);
    assert_int_equal(cpubind_comm_is("a", -1, "a"), 0);
    assert_int_equal(cpubind_comm_is("a", 1, NULL), 0);
}

/* == Patterns of names ====================================================== */

static int pattern_fits(const char *text, const char *name)
{
    char pattern[CPUBIND_PATTERN_SIZE];
    return cpubind_pattern_make(text, pattern) && cpubind_pattern_matches(pattern, name);
}

TEST(a_pattern_fits_the_names_that_the_kernel_keeps)
{
    static const struct {
        const char *pattern, *name;
        int is;
    } cases[] = {
        {"acl_thread", "acl_thread", 1},
        {"acl_thread", "acl_thread2", 0},
        {"acl_thread", "acl_threa", 0},
        {"acl_thread", "Acl_thread", 0},
        {"acl*", "acl", 1},
        {"acl*", "acl_thread", 1},
        {"acl*", "ac", 0},
        {"*", "", 1},
        {"*", "python3.11", 1},
        {"**", "", 1},
        {"?", "", 0},
        {"?", "a", 1},
        {"a?c", "abc", 1},
        {"a?c", "ac", 0},
        {"*thread", "release_thread", 1},
        {"*thread", "thread_release", 0},
        {"*a*b*", "xxaxxbxx", 1},
        {"*a*b*", "xxbxxaxx", 0},
        {"*aab", "aaaaab", 1},
        {"dev*_sq_task", "dev10_sq_task", 1},
        {"dev*_sq_task", "dev10_sq_taskx", 0},
        /* 15 bytes are kept */
        {"hccl_watchdog_thread", "hccl_watchdog_t", 1},
        {"hccl_watchdog_thread*", "hccl_watchdog_t", 1},
        {"hccl_watchdog_t*", "hccl_watchdog_t", 1},
        {"hccl_watchdog_thread", "hccl_watchdog_", 0},
        {"???????????????????", "hccl_watchdog_t", 1},
        {"???????????????????", "hccl_watchdog_", 0},
        /* no classes, no escapes */
        {"[a-z]", "a", 0},
        {"[a-z]", "[a-z]", 1},
        {"a\\*", "a\\b", 1},
        {"a\\*", "a*", 0},
        {"a*b", "a*b", 1},
        /* bytes, not characters; a character may be cut */
        {"caf\xc3\xa9", "caf\xc3\xa9", 1},
        {"caf?", "caf\xc3\xa9", 0},
        {"caf??", "caf\xc3\xa9", 1},
        {"\xe5\xbc\x95\xe6\x93\x8e\xe6\xa0\xb8\xe5\xbf\x83\xe7\xba\xbf\xe7\xa8\x8b",
         "\xe5\xbc\x95\xe6\x93\x8e\xe6\xa0\xb8\xe5\xbf\x83\xe7\xba\xbf", 1},
        {"a\nb*", "a\nbc", 1},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++)
        if (pattern_fits(cases[i].pattern, cases[i].name) != cases[i].is)
            fail_msg("\"%s\" %s\"%s\"", cases[i].pattern,
                     cases[i].is ? "does not fit " : "fits ", cases[i].name);
}

TEST(a_pattern_that_fits_no_name_is_refused)
{
    static const char *const bad[] = {"", "*1234567890123456", "12345678901234*67",
                                      "a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*",
                                      "********************************"};
    static const char *const good[] = {"*", "*123456789012345", "1234567890123456*",
                                       "12345678901234*5", "*******************************"};
    char pattern[CPUBIND_PATTERN_SIZE], again[CPUBIND_PATTERN_SIZE];
    for (int32_t i = 0; i < LENGTH(bad); i++)
        if (cpubind_pattern_make(bad[i], pattern))
            fail_msg("\"%s\" is taken", bad[i]);
    for (int32_t i = 0; i < LENGTH(good); i++) {
        assert_true(cpubind_pattern_make(good[i], pattern));
        assert_true(cpubind_pattern_make(pattern, again));
        assert_string_equal(again, pattern);
    }
    assert_true(cpubind_pattern_make("1234567890123456*", pattern));
    assert_string_equal(pattern, "123456789012345");
}

/* == /proc/<pid>/stat ======================================================= */

/* Fields 5 to 22, with 20 and 22 named, and the fields that follow them. */
#define STAT_5_19 " 900 900 0 -1 4194560 301 5512 2 0 15 8 101 44 -2 19"
#define STAT_REST " 271642624 6120 18446744073709551615 1 1 0 0 0 0 -1 4096 2 0\n"

static cpubind_text_status parse_stat(const char *text, int32_t len, cpubind_stat *out,
                                      cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_text_status status;

    memset(out, EDGE_FILL, sizeof *out);
    *fault = no_fault;
    status = cpubind_stat_parse(edge, len, out, fault);
    if (status != CPUBIND_TEXT_OK) {
        assert_untouched(out, sizeof *out);
        assert_fault(fault, len);
    } else {
        assert_null(fault->what);
    }
    free(edge);
    return status;
}

TEST(a_stat_gives_name_state_parent_threads_and_start)
{
    static const struct {
        const char *text, *name;
        int32_t pid, ppid, n_threads;
        uint64_t start;
        char letter;
    } cases[] = {
        {"900 (irqbalance) T 1" STAT_5_19 " 2 0 321" STAT_REST, "irqbalance", 900, 1, 2, 321,
         'T'},
        {"7 () Z 0" STAT_5_19 " 0 0 0\n", "", 7, 0, 0, 0, 'Z'},
        {"7 (a b) R 1" STAT_5_19 " 1 0 5\n", "a b", 7, 1, 1, 5, 'R'},
        {"7 (a) S 2 (b)) R 1" STAT_5_19 " 1 0 5\n", "a) S 2 (b)", 7, 1, 1, 5, 'R'},
        {"7 ()) R 1" STAT_5_19 " 1 0 5\n", ")", 7, 1, 1, 5, 'R'},
        {"7 (() R 1" STAT_5_19 " 1 0 5\n", "(", 7, 1, 1, 5, 'R'},
        {"7 (a\nb\n) t 1" STAT_5_19 " 1 0 5\n", "a\nb\n", 7, 1, 1, 5, 't'},
        {"2147483647 (\xff) S 2147483647" STAT_5_19
         " 2147483647 0 18446744073709551615" STAT_REST,
         "\xff", INT32_MAX, INT32_MAX, INT32_MAX, UINT64_MAX, 'S'},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const char *text = cases[i].text;
        cpubind_stat out;
        cpubind_text_fault fault;

        assert_int_equal(parse_stat(text, (int32_t)strlen(text), &out, &fault),
                         CPUBIND_TEXT_OK);
        assert_int_equal(out.pid, cases[i].pid);
        assert_int_equal(out.name.len, strlen(cases[i].name));
        assert_memory_equal(text + out.name.at, cases[i].name, strlen(cases[i].name));
        assert_int_equal(out.state, cases[i].letter);
        assert_int_equal(out.ppid, cases[i].ppid);
        assert_int_equal(out.n_threads, cases[i].n_threads);
        assert_true(out.start == cases[i].start);
    }
}

/* Field 9, as Linux 6.18 prints it of kthreadd and of a shell. */
TEST(a_stat_has_the_flags_of_the_kernel)
{
    static const struct {
        const char *text;
        uint32_t flags;
        int32_t group, session;
    } cases[] = {
        {"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5\n", 2129984, 0, 0},
        {"7 (sh) S 1 7 6 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5\n", 4194304, 7, 6},
        {"7 (a) S 1 -1 -1 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 5\n", 64, 0, 0},
        {"7 (a) S 1 2147483648 5 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 5\n", 64, 0, 5}};
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        cpubind_stat out;
        cpubind_text_fault fault;
        assert_int_equal(
            parse_stat(cases[i].text, (int32_t)strlen(cases[i].text), &out, &fault),
            CPUBIND_TEXT_OK);
        assert_int_equal(out.flags, cases[i].flags);
        assert_int_equal(out.group, cases[i].group);
        assert_int_equal(out.session, cases[i].session);
        assert_int_equal((out.flags & CPUBIND_STAT_KTHREAD) != 0, i == 0);
    }
}

TEST(every_prefix_of_a_stat_is_cut)
{
    static const char text[] = "7 (a) S 2 (b)) R 1" STAT_5_19 " 1 0 5" STAT_REST;
    cpubind_stat out;
    cpubind_text_fault fault;

    for (int32_t len = 0; len < (int32_t)strlen(text); len++) {
        const cpubind_text_status status = parse_stat(text, len, &out, &fault);

        /* Just before ")) R" the name is "a", and " (b" after it is no number. */
        if (status != CPUBIND_TEXT_ERR_CUT)
            assert_true(status == CPUBIND_TEXT_ERR_SYNTAX && len > 10 && len < 14);
    }
}

static cpubind_text_status read_stat(const char *text, int32_t len, cpubind_text_fault *fault)
{
    cpubind_stat out;

    return parse_stat(text, len, &out, fault);
}

TEST(other_stats_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"(a) S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"-7 (a) S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"07 (a) S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"2147483648 (a) S 1\n", CPUBIND_TEXT_ERR_RANGE, 0},
        {"7(a) S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 1},
        {"7 a S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"7 (a S 1\n", CPUBIND_TEXT_ERR_CUT, 9},
        {"7 (a)S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"7 (a) 3 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"7 (a) @ 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"7 (a) [ 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6},
        {"7 (a) SS 1\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {"7 (a) S -1\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"7 (a) S 1\n", CPUBIND_TEXT_ERR_SYNTAX, 9},
        {"7 (a) S 1  2\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"7 (a) S 1 -\n", CPUBIND_TEXT_ERR_SYNTAX, 11},
        {"7 (a) S 1 x\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"7 (a) S 2147483648 0\n", CPUBIND_TEXT_ERR_RANGE, 8},
        {"7 (a) S 1 18446744073709551616\n", CPUBIND_TEXT_ERR_RANGE, 10},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2147483648 0 5\n", CPUBIND_TEXT_ERR_RANGE,
         40},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 -5\n", CPUBIND_TEXT_ERR_SYNTAX, 44},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 18446744073709551616\n",
         CPUBIND_TEXT_ERR_RANGE, 44},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0\n", CPUBIND_TEXT_ERR_SYNTAX, 43},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5\n\n", CPUBIND_TEXT_ERR_SYNTAX, 46},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5 x\n", CPUBIND_TEXT_ERR_SYNTAX, 46},
        {"7 (a) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 5 \n", CPUBIND_TEXT_ERR_SYNTAX, 46},
    };

    expect_verdicts(read_stat, cases, LENGTH(cases));
    assert_int_equal(cpubind_stat_parse(NULL, 1, &(cpubind_stat){0}, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_stat_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

/* == text.h ================================================================= */

TEST(a_place_counts_lines_and_bytes_from_one)
{
    static const struct {
        int32_t offset, line, column;
    } cases[] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {4, 3, 1}, {6, 3, 3}, {99, 3, 3}, {-5, 1, 1}};
    char *edge = edge_text("ab\n\nxy", 6);

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const cpubind_place place = cpubind_text_place(edge, 6, cases[i].offset);

        assert_int_equal(place.line, cases[i].line);
        assert_int_equal(place.column, cases[i].column);
    }
    assert_int_equal(cpubind_text_place(NULL, 0, 0).line, 1);
    free(edge);
}

TEST(every_status_has_a_name_and_a_sentence)
{
    for (int32_t code = -107; code <= -100; code++) {
        assert_memory_equal(cpubind_text_status_name((cpubind_text_status)code), "ERR_", 4);
        assert_true(strlen(cpubind_text_status_text((cpubind_text_status)code)) > 10);
    }
    assert_string_equal(cpubind_text_status_name(CPUBIND_TEXT_OK), "OK");
    assert_string_equal(cpubind_text_status_name((cpubind_text_status)-1), "?");
    assert_string_equal(cpubind_text_status_text((cpubind_text_status)-108), "?");
}

TEST(bad_arguments_are_refused)
{
    int32_t out[2], n = 7;
    cpubind_int_list list = {out, 2, 7}, no_array = {NULL, 2, 7};

    assert_int_equal(cpubind_status_parse(NULL, 1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_status_parse("", 0, &no_array, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_status_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(list.n, 7);
    assert_int_equal(no_array.n, 7);
    assert_int_equal(cpubind_number_parse("1", 1, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_number_parse(NULL, 1, &n, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(n, 7);
}

TEST_FILE(NULL, NULL)
