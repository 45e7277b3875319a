/* test_record_text.c - a record as text: what is written is read back, all else is refused
 * SPDX-License-Identifier: MIT
 */

#include <ctype.h>

#include "../../adapters/linux/bind/record.h"
#include "../support/exact_buffer.h"
#include "fault_table.h"
#include "record_samples.h"

static const cpubind_sys *const sys = &cpubind_sys_real;

/* == Adding ================================================================= */

TEST(threads_are_sorted_and_keep_their_first_set)
{
    static const int32_t tid[] = {50, 10, 90, 50, 70, 10, 100, 1};
    static const int32_t sorted[] = {1, 10, 50, 70, 90, 100};
    cpubind_record s = {0};
    for (int32_t i = 0; i < 8; i++)
        sample_need(cpubind_record_add_thread(&s, sys, tid[i], i));
    assert_int_equal(s.n_thread, 6);
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(s.thread[i].tid, sorted[i]);
    assert_int_equal(cpubind_record_find_thread(s.thread, s.n_thread, 50)->before, 0);
    assert_int_equal(cpubind_record_find_thread(s.thread, s.n_thread, 10)->before, 1);
    assert_int_equal(cpubind_record_find_thread(s.thread, s.n_thread, 1)->before, 7);
    assert_null(cpubind_record_find_thread(s.thread, s.n_thread, 2));
    assert_null(cpubind_record_find_thread(s.thread, s.n_thread, 101));
    cpubind_record_free(&s);
    assert_true(sample_is_zero(&s));
    assert_null(cpubind_record_find_thread(s.thread, s.n_thread, 1));
}

TEST(an_interrupt_gets_its_last_number_and_cpu)
{
    const cpubind_irq_id a = {"f", "a", 9}, b = {"f", "a", 10};
    cpubind_record s = {0};
    cpubind_record_irq irq = {9, b, CPUBIND_IRQ_SQ, 4};
    sample_need(cpubind_record_add_irq(&s, sys, &irq));
    irq = (cpubind_record_irq){13, a, CPUBIND_IRQ_CQ, 5};
    sample_need(cpubind_record_add_irq(&s, sys, &irq));
    irq = (cpubind_record_irq){9, b, CPUBIND_IRQ_CQ, 6};
    sample_need(cpubind_record_add_irq(&s, sys, &irq));
    irq = (cpubind_record_irq){8, b, CPUBIND_IRQ_SQ, 7}; /* it has another number now */
    sample_need(cpubind_record_add_irq(&s, sys, &irq));
    assert_int_equal(s.n_irq, 2);
    assert_int_equal(s.irq[0].irq, 13);
    assert_int_equal(s.irq[1].irq, 8);
    assert_int_equal(s.irq[1].kind, CPUBIND_IRQ_SQ);
    assert_int_equal(s.irq[1].cpu, 7);
    cpubind_record_free(&s);
}

TEST(a_name_is_cut_as_the_kernel_cuts_it)
{
    cpubind_record s = {0};
    sample_need(cpubind_record_add_rule(&s, sys, "123456789012345", 0));
    sample_need(cpubind_record_add_rule(&s, sys, "1234567890123456", 0));
    sample_need(cpubind_record_add_rule(&s, sys, "short", 0));
    assert_string_equal(s.rule[0].name, "123456789012345");
    assert_string_equal(s.rule[1].name, "123456789012345");
    assert_string_equal(s.rule[2].name, "short");
    cpubind_record_free(&s);
}

/* == There and back ========================================================= */

/* The text in a buffer of its exact size; *len its length. */
static char *text_of(const cpubind_record *state, int32_t *len)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    char *text;
    assert_int_equal(sample_status(cpubind_record_format(state, sys, &bytes), NULL),
                     CPUBIND_LINUX_OK);
    *len = bytes.len;
    text = edge_text(bytes.data, bytes.len);
    cpubind_bytes_free(&bytes);
    return text;
}

static void check_round(const cpubind_record *state)
{
    cpubind_record back;
    int32_t len, len_again;
    char *text = text_of(state, &len), *again;
    assert_int_equal(sample_status(cpubind_record_parse(text, len, sys, &back), NULL),
                     CPUBIND_LINUX_OK);
    assert_true(sample_same(state, &back));
    again = text_of(&back, &len_again);
    assert_int_equal(len, len_again);
    assert_memory_equal(text, again, (size_t)len);
    cpubind_record_free(&back);
    free(text);
    free(again);
}

TEST(a_record_with_facts_of_each_kind_is_read_back)
{
    cpubind_record s;
    sample_make(&s);
    check_round(&s);
    cpubind_record_free(&s);
    sample_begin(&s);
    check_round(&s);
    cpubind_record_free(&s);
}

TEST(the_largest_numbers_are_read_back)
{
    cpubind_record s;
    sample_begin(&s);
    s.pid = INT32_MAX;
    s.start = UINT64_MAX;
    s.device = INT32_MAX;
    s.memory_node = INT32_MAX;
    s.memory_left = INT64_MAX;
    s.before = sample_set(&s, "0-65535");
    const cpubind_record_irq irq = {
        INT32_MAX, {"ffffffff:ff:1f.7", "a", INT32_MAX}, CPUBIND_IRQ_CQ, 65535};
    sample_need(cpubind_record_add_thread(&s, sys, INT32_MAX, s.before));
    sample_need(cpubind_record_add_irq(&s, sys, &irq));
    check_round(&s);
    cpubind_record_free(&s);
}

TEST(names_of_any_bytes_are_read_back)
{
    cpubind_record s;
    sample_begin(&s);
    for (int first = 1; first < 256; first += 15) {
        char name[16] = "";
        for (int i = 0; i < 15; i++)
            name[i] = (char)(first + i < 256 ? first + i : 'x');
        sample_need(cpubind_record_add_rule(&s, sys, name, s.main));
    }
    check_round(&s);
    cpubind_record_free(&s);
}

/* Two pages of threads in a hundred masks. */
TEST(threads_of_many_masks_are_read_back)
{
    cpubind_record s;
    sample_begin(&s);
    for (int32_t i = 0; i < 10000; i++) {
        const int32_t cpu = i % 100;
        int32_t set;
        sample_need(cpubind_cpu_sets_of_list(&s.sets, sys, &cpu, 1, &set));
        sample_need(cpubind_record_add_thread(&s, sys, 20000 - i, set));
    }
    check_round(&s);
    assert_string_equal(
        cpubind_cpu_sets_text(
            &s.sets, cpubind_record_find_thread(s.thread, s.n_thread, 20000 - 4242)->before),
        "42");
    cpubind_record_free(&s);
}

TEST(patterns_and_threads_that_are_left_are_read_back)
{
    cpubind_record s;
    char *text;
    int32_t len;
    sample_begin(&s);
    sample_need(cpubind_record_add_rule(&s, sys, "hccl_watchdog_thread*", s.main));
    sample_need(cpubind_record_add_rule(&s, sys, "kv *?", CPUBIND_CPUSET_NONE));
    sample_need(cpubind_record_add_rule(&s, sys, "*******************************", s.main));
    assert_int_equal(cpubind_record_add_rule(&s, sys, "*1234567890123456", s.main).error,
                     EINVAL);
    assert_int_equal(cpubind_record_add_rule(&s, sys, "", s.main).error, EINVAL);
    assert_int_equal(s.n_rule, 3);
    check_round(&s);
    text = text_of(&s, &len);
    assert_non_null(strstr(text, " hccl_watchdog_t\nrule - kv%20*?\nrule "));
    free(text);
    cpubind_record_free(&s);
}

TEST(a_record_that_could_not_be_read_back_is_not_written)
{
    for (int i = 0; i < 17; i++) {
        cpubind_record s;
        cpubind_bytes bytes = {NULL, 0, 0};
        cpubind_linux_fault why = {0};
        sample_make(&s);
        s.pid = i == 0 ? 0 : s.pid;
        s.before = i == 1 ? CPUBIND_CPUSET_NONE : s.before;
        s.main = i == 2 ? CPUBIND_CPUSET_NONE : s.main;
        s.main = i == 3 ? s.sets.n : s.main;
        s.polling = i == 4 ? s.sets.n : s.polling;
        s.rule[0].name[0] = i == 5 ? '\0' : 'a';
        s.rule[1].set = i == 6 ? s.sets.n : s.rule[1].set;
        s.thread[0].tid = i == 7 ? 0 : s.thread[0].tid;
        s.thread[3].before = i == 8 ? CPUBIND_CPUSET_NONE : s.thread[3].before;
        s.thread[4].tid = i == 9 ? s.thread[3].tid : s.thread[4].tid;
        s.irq[0].irq = i == 12 ? -1 : s.irq[0].irq;
        s.irq[0].cpu = i == 13 ? CPUBIND_MAX_CPUS : s.irq[0].cpu;
        s.irq[1].id = i == 14 ? s.irq[0].id : s.irq[1].id;
        s.irq[0].id.index = i == 10 ? -1 : s.irq[0].id.index;
        s.irq[1].id.name[0] = i == 11 ? '\0' : s.irq[1].id.name[0];
        s.irq[0].id.function[2] = i == 15 ? '/' : s.irq[0].id.function[2];
        s.thread[5].before = i == 16 ? s.sets.n : s.thread[5].before;
        assert_int_equal(sample_status(cpubind_record_format(&s, sys, &bytes), &why),
                         CPUBIND_LINUX_ERR_ARG);
        assert_int_equal(why.error, EINVAL);
        assert_string_equal(why.what, "argument");
        cpubind_bytes_free(&bytes);
        cpubind_record_free(&s);
    }
}

/* == Other texts ============================================================ */

static cpubind_linux_status parse(const char *text, size_t len, cpubind_record *out,
                                  cpubind_linux_fault *why)
{
    char *exact = edge_text(text, (int32_t)len);
    const cpubind_linux_fault found = cpubind_record_parse(exact, (int32_t)len, sys, out);
    free(exact);
    return sample_status(found, why);
}

static const char good[] = "cpubind-record 5 " CPUBIND_VERSION "\n"
                           "process 4711 12345\n"
                           "boot b\n"
                           "before 0-191\n"
                           "main 74-93\n"
                           "npu 3\n"
                           "memory 2\n"
                           "uvb 9\n"
                           "rule 94 acl\n"
                           "rule 95 a%20b%ff%25\n"
                           "placed 74-93\n"
                           "placed 94\n"
                           "thread 4711 0-7\n"
                           "thread 4712 0-7\n"
                           "irq 301 sq 72 0:1 a 3\n"
                           "irq 300 cq 73 0:1 a 4\n"
                           "sum 00000000\n";

static void check_damaged(const char *text, size_t len, const char *what, int32_t at_line)
{
    cpubind_record s;
    cpubind_linux_fault why = {0};
    memset(&s, 0x5a, sizeof s);
    if (parse(text, len, &s, &why) != CPUBIND_LINUX_ERR_DAMAGED)
        fail_msg("not refused: %.*s", (int)len, text);
    assert_int_equal(why.error, EILSEQ);
    assert_true(sample_is_zero(&s));
    assert_string_equal(why.what, what);
    if (why.line != at_line)
        fail_msg("line %d, not %d: %.*s", (int)why.line, (int)at_line, (int)len, text);
}

TEST(each_line_of_a_text_is_read)
{
    char text[2048];
    const size_t len = sample_edit(good, text, sizeof text, "sum", "sum");
    cpubind_record s;
    assert_int_equal(parse(text, len, &s, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(s.pid, 4711);
    assert_int_equal(s.start, 12345);
    assert_string_equal(s.boot, "b");
    assert_int_equal(s.device, 3);
    assert_int_equal(s.memory_node, 2);
    assert_string_equal(cpubind_cpu_sets_text(&s.sets, s.before), "0-191");
    assert_string_equal(cpubind_cpu_sets_text(&s.sets, s.main), "74-93");
    assert_string_equal(cpubind_cpu_sets_text(&s.sets, s.polling), "9");
    assert_int_equal(s.n_rule, 2);
    assert_string_equal(s.rule[1].name, "a b\xff%");
    assert_int_equal(s.n_placed, 2);
    assert_int_equal(s.placed[1], s.rule[0].set);
    assert_int_equal(s.n_thread, 2);
    assert_int_equal(s.thread[1].tid, 4712);
    assert_int_equal(s.thread[0].before, s.thread[1].before);
    assert_int_equal(s.n_irq, 2);
    assert_int_equal(s.irq[0].irq, 301);
    assert_int_equal(s.irq[1].id.index, 4);
    assert_int_equal(s.irq[1].kind, CPUBIND_IRQ_CQ);
    assert_int_equal(s.irq[1].cpu, 73);
    assert_string_equal(s.irq[1].id.function, "0:1");
    check_round(&s);
    cpubind_record_free(&s);
}

/* Records of an earlier build have no such line. */
TEST(the_rules_of_a_plan_are_kept)
{
    static const char *const words[] = {"near", "reference", "a_later_rule"};
    char text[2048], to[64];
    cpubind_record s;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(to, sizeof to, "npu 3\nrules %s\n", words[i]);
        const size_t len = sample_edit(good, text, sizeof text, "npu 3\n", to);
        assert_int_equal(parse(text, len, &s, NULL), CPUBIND_LINUX_OK);
        assert_string_equal(s.rules, words[i]);
        check_round(&s);
        cpubind_record_free(&s);
    }
    assert_int_equal(parse(text, sample_edit(good, text, sizeof text, "sum", "sum"), &s, NULL),
                     CPUBIND_LINUX_OK);
    assert_string_equal(s.rules, "");
    cpubind_record_free(&s);
}

TEST(the_shortest_text_has_four_lines_after_the_first)
{
    static const char text[] = "cpubind-record 3 9.9.9\nprocess 1 0\nbefore 0\nmain 0\n"
                               "sum 19f2a9e6\n"; /* as `crc32` of zlib has it */
    cpubind_record s;
    assert_int_equal(parse(text, sizeof text - 1, &s, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(s.device, -1);
    assert_int_equal(s.memory_node, -1);
    assert_int_equal(s.polling, CPUBIND_CPUSET_NONE);
    assert_string_equal(s.boot, "");
    assert_int_equal(s.n_rule + s.n_placed + s.n_thread + s.n_irq, 0);
    check_round(&s);
    cpubind_record_free(&s);
}

/* Places of a number in `good`: from, the line around it, the word that is named, its line. */
TEST(a_number_outside_its_range_is_damage)
{
    static const struct {
        const char *from, *format, *what, *too_large;
        int32_t line, least;
    } numbers[] = {
        {"process 4711", "process %s", "process", "2147483648", 2, 1},
        {"12345", "%s", "process", "18446744073709551616", 2, 0},
        {"npu 3", "npu %s", "npu", "2147483648", 6, 0},
        {"memory 2", "memory %s", "memory", "4294967296", 7, 0},
        {"thread 4711", "thread %s", "thread", "4294972007", 13, 1},
        {"irq 301", "irq %s", "irq", "4294967597", 15, 0},
        {"sq 72", "sq %s", "irq", "65536", 15, 0},
        {"a 3", "a %s", "irq", "2147483648", 15, 0},
    };
    static const char *const bad[] = {
        "-1",  "1.0", "1e0", "01", "+1",   "0x1",
        "1 1", "",    "\t1", "1 ", " 1",   "1-",
        "00",  "1\r", "x",   "-",  "null", "99999999999999999999999999999999"};
    char to[128], text[2048];
    for (size_t m = 0; m < sizeof numbers / sizeof *numbers; m++) {
        size_t len;
        for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
            const char *value = i < sizeof bad / sizeof *bad ? bad[i] : numbers[m].too_large;
            snprintf(to, sizeof to, numbers[m].format, value);
            len = sample_edit(good, text, sizeof text, numbers[m].from, to);
            check_damaged(text, len, numbers[m].what, numbers[m].line);
        }
        snprintf(to, sizeof to, numbers[m].format, "0");
        len = sample_edit(good, text, sizeof text, numbers[m].from, to);
        if (numbers[m].least == 1) {
            check_damaged(text, len, numbers[m].what, numbers[m].line);
        } else {
            cpubind_record s;
            assert_int_equal(parse(text, len, &s, NULL), CPUBIND_LINUX_OK);
            cpubind_record_free(&s);
        }
    }
}

TEST(an_impossible_line_is_damage)
{
    static const struct {
        const char *from, *to, *what;
        int32_t line;
    } edits[] = {
        /* the first line */
        {"cpubind-record 5", "cpubind-record 1", "form", 1},
        {"cpubind-record 5", "cpubind-record 2", "form", 1},
        {"cpubind-record 5", "cpubind-record 6", "form", 1},
        {"cpubind-record 5", "cpubind-record 53", "form", 1},
        {"cpubind-record 5", "cpubind-record", "form", 1},
        {"cpubind-record 5 " CPUBIND_VERSION "", "cpubind-record 5", "cpubind-record", 1},
        {"5 " CPUBIND_VERSION "", "5 " CPUBIND_VERSION " x", "cpubind-record", 1},
        {"cpubind-record", "cpubind-rec", "cpubind-record", 1},
        {"cpubind-record", " cpubind-record", "cpubind-record", 1},
        {"cpubind-record", "\ncpubind-record", "cpubind-record", 1},
        {"cpubind-record 5", "{\"cpubind\": \"0.1.0\", \"format\": 2", "format", 1},
        /* missing */
        {"process 4711 12345\n", "", "process", 2},
        {"before 0-191\n", "", "before", 4},
        {"boot b\n", "memory 3 4\nboot b\n", "before", 3},
        {"boot b\n", "unknown 3 4\nboot b\n", "line", 3},
        {"main 74-93\n", "", "main", 5},
        {"main", "cgroup 1 new a\nmain", "cgroup", 5},
        {"main", "cgroup 1 new\nmain", "cgroup", 5},
        {"main", "cgroup 1 old /\nmain", "cgroup", 5},
        {"main", "cgroup - new /\nmain", "cgroup", 5},
        {"main", "cgroup 1 new /\ncgroup 1 new /\nmain", "cgroup", 6},
        {"process 4711 12345", "process 4711", "process", 2},
        {"thread 4711 0-7", "thread 4711", "thread", 13},
        {"0:1 a 3", "0:1 a", "irq", 15},
        {"0:1 a 3", "0:1 a ", "irq", 15},
        {"irq 300 cq 73 0:1 a 4", "irq 301", "irq", 16},
        {"npu 3", "npu", "line", 6},
        {"npu 3", "npu ", "npu", 6},
        /* doubled */
        {"process 4711 12345\n", "process 4711 12345\nprocess 4711 12345\n", "process", 3},
        {"boot b\n", "boot b\nboot b\n", "boot", 4},
        {"npu 3\n", "npu 3\nnpu 3\n", "npu", 7},
        {"npu 3\n", "npu 3\nrules near\nrules near\n", "rules", 8},
        {"npu 3\n", "npu 3\nrules \n", "rules", 7},
        {"npu 3\n", "npu 3\nrules a_word_of_16_byt\n", "rules", 7},
        {"npu 3\n", "rules near\nnpu 3\n", "npu", 7},
        {"npu 3\n", "pci 0000:c1:00.0\npci 0000:c1:00.0\n", "pci", 7},
        {"placed 94\n", "placed 94\nplaced 74-93\n", "placed", 13},
        {"thread 4712", "thread 4711", "thread", 14},
        {"a 4", "a 3", "irq", 16},
        /* out of order */
        {"boot b\nbefore 0-191\n", "before 0-191\nboot b\n", "boot", 4},
        {"npu 3\nmemory 2\n", "memory 2\nnpu 3\n", "npu", 7},
        {"npu 3\n", "pci 0000:c1:00.0\nnpu 3\n", "npu", 7},
        {"thread 4711 0-7\n", "irq 5 sq 1 0:1 a 0\nthread 4711 0-7\n", "thread", 14},
        {"thread 4712", "thread 4710", "thread", 14},
        {"a 4", "a 2", "irq", 16},
        {"0:1 a 4", "0:0 a 4", "irq", 16},
        /* no line of a record */
        {"npu 3", "device 3", "line", 6},
        {"npu 3", "", "line", 6},
        {"npu 3", "Npu 3", "line", 6},
        {"npu 3", " npu 3", "line", 6},
        {"npu 3", "npu\t3", "line", 6},
        {"npu 3\n", "npu 3\r\n", "npu", 6},
        {"npu 3\n", "npu 3\n\n", "line", 7},
        {"npu 3", "npu 3 ", "npu", 6},
        {"npu 3", "npu  3", "npu", 6},
        {"npu 3", "# npu 3", "line", 6},
        {"memory 2", "memory 2 3", "memory", 7},
        /* memory that was left, and why */
        {"memory 2\n", "left 4096 time\nmemory 2\n", "memory", 8},
        {"memory 2\n", "left 4096 time\nleft 4096 time\n", "left", 8},
        {"memory 2\n", "left 0 time\n", "left", 7},
        {"memory 2\n", "left -1 time\n", "left", 7},
        {"memory 2\n", "left 9223372036854775808 time\n", "left", 7},
        {"memory 2\n", "left 4096\n", "left", 7},
        {"memory 2\n", "left 4096 times\n", "left", 7},
        {"memory 2\n", "left 4096 time 1\n", "left", 7},
        {"memory 2\n", "left time 4096\n", "left", 7},
        /* no address as the kernel writes it */
        {"npu 3", "pci 3", "pci", 6},
        {"npu 3", "pci c1:00.0", "pci", 6},
        {"npu 3", "pci 0000:C1:00.0", "pci", 6},
        {"npu 3", "pci 0000:c1:0.0", "pci", 6},
        {"npu 3", "pci 0000:c1:00.8", "pci", 6},
        {"npu 3", "pci 0000:c1:00.0 x", "pci", 6},
        {"npu 3", "pci 100000000:c1:00.0", "pci", 6},
        /* no list */
        {"before 0-191", "before 191-0", "before", 4},
        {"before 0-191", "before -", "before", 4},
        {"before 0-191", "before 0-65536", "before", 4},
        {"before 0-191", "before 0,1", "before", 4},
        {"before 0-191", "before 0-1,2", "before", 4},
        {"before 0-191", "before 00-191", "before", 4},
        {"before 0-191", "before 0-191,", "before", 4},
        {"main 74-93", "main 0-1x", "main", 5},
        {"uvb 9", "uvb -", "uvb", 8},
        {"rule 94", "rule x", "rule", 9},
        {"placed 94", "placed 9,4", "placed", 12},
        {"4712 0-7", "4712 none", "thread", 14},
        /* no name, no word */
        {"acl", "", "rule", 9},
        {"acl", "1234567890123456", "rule", 9},
        {"acl", "a%00", "rule", 9},
        {"acl", "a%2", "rule", 9},
        {"acl", "a%", "rule", 9},
        {"acl", "a%2x", "rule", 9},
        {"acl", "a%FF", "rule", 9},
        {"acl", "%61cl", "rule", 9},
        {"acl", "a b", "rule", 9},
        {"acl", "a\tb", "rule", 9},
        {"acl", "\xc3\xa4", "rule", 9},
        {"acl", "a\x7f", "rule", 9},
        {"boot b", "boot 1234567890123456789012345678901234567890123456789012345678901234",
         "boot", 3},
        {"sq 72", "dq 72", "irq", 15},
        {"sq 72", "sqq 72", "irq", 15},
        {"sq 72", "s 72", "irq", 15},
        {"a 3", "a 3 -", "irq", 15},
        {"a 3", "a 3 - -", "irq", 15},
        {"0:1 a 3", "0/1 a 3", "irq", 15},
        {"0:1 a 3", ".. a 3", "irq", 15},
        {"0:1 a 3", "0:1 . 3", "irq", 15},
        {"0:1 a 3", "0:1 a/b 3", "irq", 15},
        {"0:1 a 3", "0:1  3", "irq", 15},
        {"0:1 a 3", "12345678901234567890 a 3", "irq", 15},
        {"0:1 a 3", "0:1 12345678901234567890123456789012 3", "irq", 15},
    };
    char text[2048];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const size_t len = sample_edit(good, text, sizeof text, edits[i].from, edits[i].to);
        check_damaged(text, len, edits[i].what, edits[i].line);
    }
}

TEST(a_pid_namespace_is_read_back)
{
    static const struct {
        const char *line, *what;
    } bad[] = {{"namespace 0\n", "namespace"},
               {"namespace 04026532001\n", "namespace"},
               {"namespace 18446744073709551616\n", "namespace"},
               {"namespace\n", "line"},
               {"namespace 4026532001 1\n", "namespace"}};
    char text[2048], with[64];
    cpubind_record s;
    cpubind_bytes bytes = {0};
    size_t len =
        sample_edit(good, text, sizeof text, "boot b\n", "boot b\nnamespace 4026532001\n");
    assert_int_equal(parse(text, len, &s, NULL), CPUBIND_LINUX_OK);
    assert_true(s.pid_namespace == 4026532001u);
    assert_int_equal(cpubind_record_format(&s, sys, &bytes).error, 0);
    assert_non_null(strstr(bytes.data, "\nboot b\nnamespace 4026532001\nbefore "));
    cpubind_bytes_free(&bytes);
    cpubind_record_free(&s);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(with, sizeof with, "boot b\n%s", bad[i].line);
        len = sample_edit(good, text, sizeof text, "boot b\n", with);
        check_damaged(text, len, bad[i].what, 4);
    }
}

TEST(a_text_that_does_not_match_its_sum_is_damage)
{
    static const char *const sums[] = {
        "", " ", " 0000000\n", " 00000000", " 00000000\n", " 000000000\n", " 00000000 \n"};
    char text[2048], other[2048 + 16];
    const size_t len = sample_edit(good, text, sizeof text, "sum", "sum");
    const size_t before = len - strlen(" 00000000\n");
    for (size_t at = 0; at < len; at++) {
        cpubind_record s;
        memcpy(other, text, len);
        other[at] = (char)(other[at] ^ 1);
        assert_int_equal(parse(other, len, &s, NULL), CPUBIND_LINUX_ERR_DAMAGED);
    }
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        snprintf(other, sizeof other, "%.*s%s", (int)before, text, sums[i]);
        check_damaged(other, strlen(other), "sum", 17);
    }
    snprintf(other, sizeof other, "%s%s", text, "x");
    check_damaged(other, len + 1, "end", 18);
    snprintf(other, sizeof other, "%s%s", text, text + before - strlen("sum"));
    check_damaged(other, strlen(other), "end", 18);
    for (size_t at = before; at < len; at++) /* no upper-case digits */
        other[at] = (char)toupper((unsigned char)text[at]);
    memcpy(other, text, before);
    if (memcmp(other, text, len) != 0)
        check_damaged(other, len, "sum", 17);
}

TEST(every_cut_text_is_damage)
{
    char text[2048];
    const size_t whole = sample_edit(good, text, sizeof text, "sum", "sum");
    const size_t first = strcspn(text, "\n") + 1;
    int32_t at_line = 1;
    for (size_t len = 0; len < whole; len++) {
        cpubind_record s;
        cpubind_linux_fault why = {0};
        assert_int_equal(parse(text, len, &s, &why), CPUBIND_LINUX_ERR_DAMAGED);
        assert_int_equal(why.error, EILSEQ);
        assert_string_equal(why.what, len < first ? "cpubind-record" : "sum");
        assert_int_equal(why.line, at_line);
        assert_true(sample_is_zero(&s));
        at_line += text[len] == '\n';
    }
}

/* == Memory ================================================================= */

/* Reads a text with each use of `which` failing. Returns the number of uses. */
static int fail_each_parse(call which)
{
    char text[2048];
    const int32_t len = (int32_t)sample_edit(good, text, sizeof text, "sum", "sum");
    for (int nth = 1;; nth++) {
        cpubind_record s;
        cpubind_linux_fault why = {0};
        fault_set(which, nth, ENOMEM);
        cpubind_linux_status status =
            sample_status(cpubind_record_parse(text, len, &fault_table, &s), &why);
        if (fault.n_met == 0) {
            assert_int_equal(status, CPUBIND_LINUX_OK);
            cpubind_record_free(&s);
            return nth - 1;
        }
        assert_int_equal(status, CPUBIND_LINUX_ERR_MEMORY);
        assert_int_equal(why.error, ENOMEM);
        assert_int_equal(why.line, 0);
        assert_true(sample_is_zero(&s));
    }
}

TEST(without_memory_no_text_is_read_half)
{
    /* 8 sets of 4 each, and the arrays */
    assert_true(fail_each_parse(CALL_malloc) + fail_each_parse(CALL_realloc) > 20);
}

/* Writes a record with each use of `which` failing. Returns the number of uses. */
static int fail_each_format(const cpubind_record *s, call which)
{
    for (int nth = 1;; nth++) {
        cpubind_bytes bytes = {NULL, 0, 0};
        fault_set(which, nth, ENOMEM);
        cpubind_linux_status status =
            sample_status(cpubind_record_format(s, &fault_table, &bytes), NULL);
        cpubind_bytes_free(&bytes);
        if (fault.n_met == 0) {
            assert_int_equal(status, CPUBIND_LINUX_OK);
            return nth - 1;
        }
        assert_int_equal(status, CPUBIND_LINUX_ERR_MEMORY);
    }
}

TEST(without_memory_no_text_is_written)
{
    cpubind_record s;
    sample_make(&s);
    for (int32_t tid = 10000; tid < 20000; tid++)
        sample_need(cpubind_record_add_thread(&s, sys, tid, s.main));
    /* the text, the chains */
    assert_true(fail_each_format(&s, CALL_malloc) + fail_each_format(&s, CALL_realloc) >= 2);
    cpubind_record_free(&s);
}

TEST(without_memory_nothing_is_added)
{
    const cpubind_sys *failing = &fault_table;
    const cpubind_record_irq irq = {1, {"f", "a", 0}, CPUBIND_IRQ_SQ, 1};
    cpubind_record s = {0};
    for (int i = 0; i < 4; i++) {
        fault_set(CALL_realloc, 1, ENOMEM);
        const cpubind_linux_fault why = i == 0   ? cpubind_record_add_rule(&s, failing, "a", 0)
                                        : i == 1 ? cpubind_record_add_thread(&s, failing, 1, 0)
                                        : i == 2 ? cpubind_record_add_placed(&s, failing, 0)
                                                 : cpubind_record_add_irq(&s, failing, &irq);
        assert_int_equal(why.error, ENOMEM);
        assert_true(sample_is_zero(&s));
    }
}

TEST_FILE(NULL, NULL)
