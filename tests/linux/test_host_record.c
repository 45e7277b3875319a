/* test_host_record.c - the record of the host in memory and as text: written, read, refused
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "../../adapters/linux/bind/host_record.h"
#include "../../cpubind.h"
#include "../support/exact_buffer.h"
#include "fault_table.h"
#include "record_samples.h"

static const cpubind_sys *const sys = &cpubind_sys_real;

static const char good[] = "cpubind-host 1 " CPUBIND_VERSION "\n"
                           "boot b\n"
                           "irq 301 0:1 a 3 0-191\n"
                           "user 4711 12345 72 ban\n"
                           "user 4712 12346 73 -\n"
                           "irq 300 0:1 a 4 0-7\n"
                           "user 4711 12345 72 -\n"
                           "uvb-thread 80 81 77 6\n"
                           "user 4711 12345 1-23 -\n"
                           "kernel-thread 90 78 dev4_sq_task 0-7\n"
                           "user 4711 12345 72-73 -\n"
                           "workqueue dev4_sq_send_wq 0-15\n"
                           "user 4711 12345 72-73 -\n"
                           "irqbalance 900 321\n"
                           "user 4711 12345 - stop\n"
                           "user 4712 12346 - ban\n"
                           "sum 00000000\n";

static cpubind_linux_fault parse(const cpubind_sys *calls, const char *text, size_t len,
                                 cpubind_cpu_sets *sets, cpubind_shared_record *out)
{
    char *exact = edge_text(text, (int32_t)len);
    const cpubind_linux_fault why = cpubind_shared_parse(exact, (int32_t)len, calls, sets, out);
    free(exact);
    return why;
}

/* The text is refused at a line, and the record is all zero. */
static void check_damaged(const char *text, size_t len, const char *what, int32_t line)
{
    static const cpubind_shared_record zero;
    cpubind_shared_record host;
    cpubind_cpu_sets sets = {0};
    const cpubind_linux_fault why = parse(sys, text, len, &sets, &host);
    if (why.error != EILSEQ || why.line != line || strcmp(why.what, what) != 0)
        fail_msg("%d, line %d, %s: %.*s", why.error, (int)why.line, why.what ? why.what : "-",
                 (int)len, text);
    assert_memory_equal(&host, &zero, sizeof host);
    cpubind_cpu_sets_free(&sets);
}

/* The text is read, and written again byte for byte. */
static void check_round(const char *text, size_t len)
{
    cpubind_shared_record host;
    cpubind_cpu_sets sets = {0};
    cpubind_bytes bytes = {NULL, 0, 0};
    assert_int_equal(parse(sys, text, len, &sets, &host).error, 0);
    assert_int_equal(cpubind_shared_format(&host, &sets, sys, &bytes).error, 0);
    assert_int_equal(bytes.len, len);
    assert_memory_equal(bytes.data, text, len);
    cpubind_bytes_free(&bytes);
    cpubind_shared_free(&host);
    cpubind_cpu_sets_free(&sets);
}

TEST(each_line_of_a_text_is_read)
{
    char text[1024];
    const size_t len = sample_edit(good, text, sizeof text, "boot b", "boot b");
    cpubind_shared_record host;
    cpubind_cpu_sets sets = {0};
    assert_int_equal(parse(sys, text, len, &sets, &host).error, 0);
    assert_string_equal(host.boot, "b");
    assert_int_equal(host.n_entry, 6);
    assert_int_equal(host.entry[0].number, 301);
    assert_string_equal(host.entry[0].id.function, "0:1");
    assert_string_equal(host.entry[0].id.name, "a");
    assert_int_equal(host.entry[0].id.index, 3);
    assert_string_equal(cpubind_cpu_sets_text(&sets, host.entry[0].before), "0-191");
    assert_int_equal(host.entry[0].n_user, 2);
    assert_int_equal(host.entry[0].user[0].action, CPUBIND_IRQBALANCE_BAN);
    assert_int_equal(host.entry[0].user[1].pid, 4712);
    assert_int_equal(host.entry[0].user[1].start, 12346);
    assert_true(cpubind_shared_is_given(&host.entry[0], host.entry[0].user[1].set));
    assert_false(cpubind_shared_is_given(&host.entry[0], host.entry[0].before));
    assert_int_equal(host.entry[2].kind, CPUBIND_ITEM_POLLING);
    assert_int_equal(host.entry[2].pid, 80);
    assert_int_equal(host.entry[2].number, 81);
    assert_int_equal(host.entry[2].start, 77);
    assert_int_equal(host.entry[3].kind, CPUBIND_ITEM_KERNEL);
    assert_int_equal(host.entry[3].number, 90);
    assert_int_equal(host.entry[3].pid, 90);
    assert_int_equal(host.entry[3].start, 78);
    assert_string_equal(host.entry[3].id.name, "dev4_sq_task");
    assert_int_equal(host.entry[4].kind, CPUBIND_ITEM_WORKQUEUE);
    assert_string_equal(host.entry[4].id.name, "dev4_sq_send_wq");
    assert_string_equal(cpubind_cpu_sets_text(&sets, host.entry[4].before), "0-15");
    assert_int_equal(host.entry[5].kind, CPUBIND_ITEM_IRQBALANCE);
    assert_int_equal(host.entry[5].user[0].set, CPUBIND_CPUSET_NONE);
    assert_int_equal(host.entry[5].user[0].action, CPUBIND_IRQBALANCE_STOP);
    cpubind_shared_free(&host);
    cpubind_cpu_sets_free(&sets);
}

TEST(a_text_is_written_as_it_was_read)
{
    static const char *const edits[][2] = {
        {"boot b\n", "boot b\n"},
        {"boot b\n", ""},
        {"boot b", "boot a%20b%ff"},
        {"irq 301", "irq 2147483647"},
        {"a 3", "a 0"},
        {"user 4711 12345 72 ban", "user 2147483647 18446744073709551615 0-65535 ban"},
        {"user 4712 12346 73 -\n", ""},
        {"kernel-thread 90 78 dev4_sq_task 0-7\nuser 4711 12345 72-73 -\n", ""},
        {"dev4_sq_task", "a%20b"},
        {"irqbalance", "workqueue dev4_x 0\nuser 1 2 3 -\nirqbalance"},
        {"user 4712 12346 73 -", "user 4711 12345 73 -"}, /* it was moved for 72 before */
    };
    static const char none[] = "cpubind-host 1 9.9.9\nsum 0\n";
    char text[1024];
    size_t len;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        len = sample_edit(good, text, sizeof text, edits[i][0], edits[i][1]);
        check_round(text, len);
    }
    snprintf(text, sizeof text, "%s", none);
    cpubind_shared_record host;
    cpubind_cpu_sets sets = {0};
    len = sample_seal(text, sizeof text);
    assert_int_equal(parse(sys, text, len, &sets, &host).error, 0);
    assert_int_equal(host.n_entry, 0);
    cpubind_shared_free(&host);
}

TEST(an_impossible_line_is_damage)
{
    static const struct {
        const char *from, *to, *what;
        int32_t line;
    } edits[] = {
        {"cpubind-host 1", "cpubind-host 2", "form", 1},
        {"cpubind-host 1", "cpubind-host", "form", 1},
        {"cpubind-host 1 " CPUBIND_VERSION "", "cpubind-host 1", "cpubind-host", 1},
        {"cpubind-host", "cpubind-record", "cpubind-host", 1},
        {"1 " CPUBIND_VERSION "", "1 " CPUBIND_VERSION " x", "cpubind-host", 1},
        {"boot b\n", "boot b\nboot b\n", "boot", 3},
        {"boot b\n", "process 4711 12345\n", "line", 2},
        {"boot b\n", "\n", "line", 2},
        {"boot b\n", "user 1 1 1 -\n", "user", 2},
        {"boot b\n", "boot b\nuser 1 1 1 -\n", "user", 3},
        {"irq 301", "irq -1", "irq", 3},
        {"irq 301", "irq 2147483648", "irq", 3},
        {"irq 301", "irq 0301", "irq", 3},
        {"0:1 a 3", "../1 a 3", "irq", 3},
        {"0:1 a 3", "0/1 a 3", "irq", 3},
        {"0:1 a 3", "0:1 a/b 3", "irq", 3},
        {"0:1 a 3", "0:1 a -3", "irq", 3},
        {"0:1 a 3", "0:1 a 5", "irq", 6}, /* out of order */
        {"0:1 a 4", "0:1 a 3", "irq", 6}, /* doubled */
        {"0-191", "191-0", "irq", 3},
        {"0-191", "-", "irq", 3},
        {"0-191", "0-191 x", "irq", 3},
        {"0-191", "", "irq", 3},
        {"user 4711 12345 72 ban\nuser 4712 12346 73 -\n", "", "irq", 4}, /* without a user */
        {"user 4711", "user 0", "user", 4},
        {"user 4711", "user 4294967296", "user", 4},
        {"12345", "18446744073709551616", "user", 4},
        {"72 ban", "72 stop", "user", 4},
        {"72 ban", "- ban", "user", 4},
        {"72 ban", "72 leave", "user", 4},
        {"72 ban", "72", "user", 4},
        {"72 ban", "72 ban ", "user", 4},
        {"72 ban", "72,73 ban", "user", 4},
        {"uvb-thread 80", "uvb-thread 0", "uvb-thread", 8},
        {"80 81", "80 0", "uvb-thread", 8},
        {"77 6", "77 -", "uvb-thread", 8},
        {"77 6", "77", "uvb-thread", 8},
        {"1-23 -", "1-23 ban", "user", 9},
        {"1-23 -", "1-23 stop", "user", 9},
        {"kernel-thread 90", "kernel-thread 0", "kernel-thread", 10},
        {"90 78", "90", "kernel-thread", 10},
        {"dev4_sq_task", "a/b", "kernel-thread", 10},
        {"dev4_sq_task 0-7", "dev4_sq_task -", "kernel-thread", 10},
        {"72-73 -\nworkqueue", "72-73 ban\nworkqueue", "user", 11},
        {"dev4_sq_send_wq", ".", "workqueue", 12},
        {"dev4_sq_send_wq", "12345678901234567890123456789012", "workqueue", 12},
        {"0-15", "-", "workqueue", 12},
        {"irqbalance 900", "workqueue dev4_sq_send_wq 1\nirqbalance 900", "workqueue", 14},
        {"irqbalance 900", "irqbalance 0", "irqbalance", 14},
        {"900 321", "900 -1", "irqbalance", 14},
        {"900 321", "900 321 0-7", "irqbalance", 14},
        {"- stop", "- -", "user", 15},
        {"- stop", "5 stop", "user", 15},
        {"user 4711 12345 - stop\nuser 4712 12346 - ban\n", "", "sum", 15},
        {"irqbalance 900 321\n", "irq 1 z z 0 0\n", "irq", 14},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        check_damaged(text, sample_edit(good, text, sizeof text, edits[i].from, edits[i].to),
                      edits[i].what, edits[i].line);
}

TEST(a_text_that_is_cut_or_changed_is_damage)
{
    char text[1024], other[1026];
    const size_t len = sample_edit(good, text, sizeof text, "boot b", "boot b");
    cpubind_shared_record host;
    cpubind_cpu_sets sets = {0};
    for (size_t at = 0; at < len; at++) {
        memcpy(other, text, len);
        other[at] = (char)(other[at] ^ 1);
        assert_int_equal(parse(sys, other, len, &sets, &host).error, EILSEQ);
        assert_int_equal(parse(sys, text, at, &sets, &host).error, EILSEQ);
    }
    cpubind_cpu_sets_free(&sets);
    memcpy(other, text, len);
    other[len] = 'x';
    check_damaged(other, len + 1, "end", 18);
}

TEST(a_record_that_could_not_be_read_back_is_not_written)
{
    char text[1024];
    const size_t len = sample_edit(good, text, sizeof text, "boot b", "boot b");
    for (int i = 0; i < 16; i++) {
        cpubind_shared_record host;
        cpubind_cpu_sets sets = {0};
        cpubind_bytes bytes = {NULL, 0, 0};
        assert_int_equal(parse(sys, text, len, &sets, &host).error, 0);
        cpubind_shared_entry *e = host.entry;
        const int32_t n_user = e[1].n_user;
        e[0].number = i == 0 ? -1 : e[0].number;
        e[0].id.name[0] = i == 1 ? '/' : e[0].id.name[0];
        e[0].before = i == 2 ? CPUBIND_CPUSET_NONE : e[0].before;
        e[0].before = i == 3 ? sets.n : e[0].before;
        e[0].user[0].pid = i == 4 ? 0 : e[0].user[0].pid;
        e[0].user[0].set = i == 5 ? CPUBIND_CPUSET_NONE : e[0].user[0].set;
        e[0].user[0].action = i == 6 ? CPUBIND_IRQBALANCE_STOP : e[0].user[0].action;
        e[1].id.index = i == 7 ? 3 : e[1].id.index;
        e[1].n_user = i == 8 ? 0 : n_user;
        e[2].pid = i == 9 ? 0 : e[2].pid;
        e[5].number = i == 10 ? 0 : e[5].number;
        e[5].user[0].action = i == 11 ? CPUBIND_IRQBALANCE_LEAVE : e[5].user[0].action;
        e[3].pid = i == 12 ? 91 : e[3].pid;
        e[3].id.name[0] = i == 13 ? '\0' : e[3].id.name[0];
        e[4].id.name[4] = i == 14 ? '/' : e[4].id.name[4];
        e[4].user[0].action = i == 15 ? CPUBIND_IRQBALANCE_BAN : e[4].user[0].action;
        assert_int_equal(cpubind_shared_format(&host, &sets, sys, &bytes).error, EINVAL);
        e[1].n_user = n_user;
        cpubind_bytes_free(&bytes);
        cpubind_shared_free(&host);
        cpubind_cpu_sets_free(&sets);
    }
}

TEST(without_memory_nothing_is_read_or_written)
{
    static const cpubind_shared_record zero;
    static const call calls[] = {CALL_malloc, CALL_realloc};
    char text[1024];
    const size_t len = sample_edit(good, text, sizeof text, "boot b", "boot b");
    for (int i = 0; i < 4; i++) {
        int n_failed = 0;
        for (int nth = 1; nth < 1000; nth++) {
            cpubind_shared_record host;
            cpubind_cpu_sets sets = {0};
            cpubind_bytes bytes = {NULL, 0, 0};
            cpubind_linux_fault why;
            if (i < 2)
                fault_set(calls[i], nth, ENOMEM);
            else
                fault_clear();
            why = parse(&fault_table, text, len, &sets, &host);
            if (why.error)
                assert_memory_equal(&host, &zero, sizeof host);
            if (i >= 2) {
                fault_set(calls[i - 2], nth, ENOMEM);
                why = cpubind_shared_format(&host, &sets, &fault_table, &bytes);
            }
            cpubind_bytes_free(&bytes);
            cpubind_shared_free(&host);
            cpubind_cpu_sets_free(&sets);
            if (fault.n_met == 0)
                break;
            assert_int_equal(why.error, ENOMEM);
            n_failed++;
        }
        fault_clear();
        assert_true(n_failed > 0 || i == 0 || i == 2);
    }
}

TEST_FILE(NULL, NULL)
