/* test_record_text.c - a state as text: what is written is read back, all else is refused
 * SPDX-License-Identifier: MIT
 */

#include "../../adapters/linux/bind/record_text.h"
#include "../support/cmocka_test.h"
#include "../support/exact_buffer.h"
#include "record_samples.h"

static const cpubind_sys *const sys = &cpubind_sys_real;

/* == Adding ================================================================= */

TEST(threads_stand_in_order_and_keep_their_first_set)
{
    static const int32_t tid[] = {50, 10, 90, 50, 70, 10, 100, 1};
    static const int32_t sorted[] = {1, 10, 50, 70, 90, 100};
    cpubind_record s = {0};
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(cpubind_record_add_thread(&s, sys, tid[i], i), 0);
    assert_int_equal(s.n_thread, 6);
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(s.thread[i].tid, sorted[i]);
    assert_int_equal(cpubind_record_thread_find(s.thread, s.n_thread, 50)->before, 0);
    assert_int_equal(cpubind_record_thread_find(s.thread, s.n_thread, 10)->before, 1);
    assert_int_equal(cpubind_record_thread_find(s.thread, s.n_thread, 1)->before, 7);
    assert_null(cpubind_record_thread_find(s.thread, s.n_thread, 2));
    assert_null(cpubind_record_thread_find(s.thread, s.n_thread, 101));
    cpubind_record_free(&s);
    assert_true(state_is_zero(&s));
    assert_null(cpubind_record_thread_find(s.thread, s.n_thread, 1));
}

TEST(an_interrupt_keeps_the_first_set_that_is_known)
{
    cpubind_record s = {0};
    cpubind_record_irq irq = {9, CPUBIND_IRQ_SQ, 4, CPUBIND_CPUSET_NONE, 0};
    assert_int_equal(cpubind_record_add_irq(&s, sys, &irq), 0);
    irq = (cpubind_record_irq){3, CPUBIND_IRQ_CQ, 5, 2, 0};
    assert_int_equal(cpubind_record_add_irq(&s, sys, &irq), 0);
    irq = (cpubind_record_irq){9, CPUBIND_IRQ_CQ, 6, 1, 0};
    assert_int_equal(cpubind_record_add_irq(&s, sys, &irq), 0);
    irq = (cpubind_record_irq){9, CPUBIND_IRQ_SQ, 7, 3, 0};
    assert_int_equal(cpubind_record_add_irq(&s, sys, &irq), 0);
    assert_int_equal(s.n_irq, 2);
    assert_int_equal(s.irq[0].irq, 3);
    assert_int_equal(s.irq[1].irq, 9);
    assert_int_equal(s.irq[1].kind, CPUBIND_IRQ_SQ);
    assert_int_equal(s.irq[1].cpu, 7);
    assert_int_equal(s.irq[1].before, 1);
    cpubind_record_free(&s);
}

TEST(a_number_that_another_thread_got_is_another_thread)
{
    cpubind_record s = {0};
    cpubind_record_other other = {80, 82, 200, 0, 1};
    assert_int_equal(cpubind_record_add_other(&s, sys, &other), 0);
    other = (cpubind_record_other){80, 82, 100, 2, 1};
    assert_int_equal(cpubind_record_add_other(&s, sys, &other), 0);
    other = (cpubind_record_other){80, 82, 200, 5, 6};
    assert_int_equal(cpubind_record_add_other(&s, sys, &other), 0);
    assert_int_equal(s.n_other, 2);
    assert_int_equal(s.other[0].start, 100);
    assert_int_equal(s.other[1].start, 200);
    assert_int_equal(s.other[1].before, 0);
    assert_int_equal(s.other[1].set, 6);
    cpubind_record_free(&s);
}

TEST(a_name_is_cut_as_the_kernel_cuts_it)
{
    cpubind_record s = {0};
    assert_int_equal(cpubind_record_add_rule(&s, sys, "123456789012345", 0), 0);
    assert_int_equal(cpubind_record_add_rule(&s, sys, "1234567890123456", 0), 0);
    assert_int_equal(cpubind_record_add_rule(&s, sys, "short", 0), 0);
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
    assert_int_equal(cpubind_priv_record_format(state, sys, &bytes, NULL), CPUBIND_LINUX_OK);
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
    assert_int_equal(cpubind_priv_record_parse(text, len, sys, &back, NULL), CPUBIND_LINUX_OK);
    assert_true(state_same(state, &back));
    again = text_of(&back, &len_again);
    if (len == len_again && memcmp(text, again, (size_t)len) != 0)
        assert_true(state->sets.n > 1); /* groups may come in another order, and no more */
    assert_int_equal(len, len_again);
    cpubind_record_free(&back);
    free(text);
    free(again);
}

TEST(some_of_everything_is_read_back)
{
    cpubind_record s;
    state_sample(&s);
    check_round(&s);
    cpubind_record_free(&s);
    state_begin(&s);
    check_round(&s);
    cpubind_record_free(&s);
}

static uint32_t seed = 20261121;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static int32_t random_set(cpubind_record *s)
{
    int32_t cpu[64], n = 0, at = (int32_t)random_below(1000);
    const int32_t most = 1 + (int32_t)random_below(64);
    const uint32_t step = random_below(8) ? 3 : 1000;
    for (; n < most && at < CPUBIND_MAX_CPUS; at += 1 + (int32_t)random_below(step))
        cpu[n++] = at;
    if (s->sets.n > 0 && random_below(4))
        return (int32_t)random_below((uint32_t)s->sets.n);
    return cpubind_cpu_sets_of_list(&s->sets, sys, cpu, n);
}

static uint64_t random_start(void)
{
    return ((uint64_t)random_below(1u << 31) << 33 | random_below(1u << 31)) >>
           random_below(64);
}

static void random_name(char name[16])
{
    const uint32_t n = 1 + random_below(15);
    memset(name, 0, 16);
    for (uint32_t i = 0; i < n; i++)
        name[i] = (char)(1 + random_below(255));
}

static void random_state(cpubind_record *s)
{
    state_begin(s);
    s->pid = 1 + (int32_t)random_below(4194304);
    s->start = random_start();
    s->npu = (int32_t)random_below(17) - 1;
    s->memory_node = (int32_t)random_below(9) - 1;
    s->before = random_set(s);
    s->main = random_set(s);
    s->uvb = random_below(2) ? random_set(s) : CPUBIND_CPUSET_NONE;
    random_name(s->boot);
    for (uint32_t n = random_below(5); n > 0; n--) {
        char name[16];
        random_name(name);
        assert_int_equal(cpubind_record_add_rule(s, sys, name, random_set(s)), 0);
    }
    for (uint32_t n = random_below(4); n > 0; n--)
        assert_int_equal(cpubind_record_add_ours(s, sys, random_set(s)), 0);
    for (uint32_t n = random_below(300); n > 0; n--)
        assert_int_equal(cpubind_record_add_thread(s, sys, 1 + (int32_t)random_below(1000000),
                                                   random_set(s)),
                         0);
    for (uint32_t n = random_below(9); n > 0; n--) {
        const cpubind_record_other other = {1 + (int32_t)random_below(99),
                                            1 + (int32_t)random_below(9), random_start(),
                                            random_set(s), random_set(s)};
        assert_int_equal(cpubind_record_add_other(s, sys, &other), 0);
    }
    for (uint32_t n = random_below(20); n > 0; n--) {
        const cpubind_record_irq irq = {
            (int32_t)random_below(3000), random_below(2) ? CPUBIND_IRQ_SQ : CPUBIND_IRQ_CQ,
            (int32_t)random_below(65536), random_below(3) ? random_set(s) : CPUBIND_CPUSET_NONE,
            (int32_t)random_below(2)};
        assert_int_equal(cpubind_record_add_irq(s, sys, &irq), 0);
    }
    s->how = (cpubind_irqbalance_how)random_below(3);
    s->irqbalance_pid = s->how ? 1 + (int32_t)random_below(9999) : 0;
    s->irqbalance_start = s->how ? random_start() : 0;
}

TEST(random_states_are_read_back)
{
    for (int i = 0; i < 1000; i++) {
        cpubind_record s;
        random_state(&s);
        check_round(&s);
        cpubind_record_free(&s);
    }
}

TEST(the_largest_numbers_are_read_back)
{
    cpubind_record s;
    state_begin(&s);
    s.pid = INT32_MAX;
    s.start = UINT64_MAX;
    s.npu = INT32_MAX;
    s.memory_node = INT32_MAX;
    s.before = state_set(&s, "0-65535");
    const cpubind_record_other other = {INT32_MAX, INT32_MAX, UINT64_MAX, s.before, s.main};
    const cpubind_record_irq irq = {INT32_MAX, CPUBIND_IRQ_CQ, 65535, s.before, 0};
    assert_int_equal(cpubind_record_add_thread(&s, sys, INT32_MAX, s.before), 0);
    assert_int_equal(cpubind_record_add_other(&s, sys, &other), 0);
    assert_int_equal(cpubind_record_add_irq(&s, sys, &irq), 0);
    check_round(&s);
    cpubind_record_free(&s);
}

TEST(names_of_any_bytes_are_read_back)
{
    cpubind_record s;
    state_begin(&s);
    for (int first = 1; first < 256; first += 15) {
        char name[16] = "";
        for (int i = 0; i < 15; i++)
            name[i] = (char)(first + i < 256 ? first + i : 'x');
        assert_int_equal(cpubind_record_add_rule(&s, sys, name, s.main), 0);
    }
    check_round(&s);
    cpubind_record_free(&s);
}

/* Two pages of threads in a hundred masks. */
TEST(threads_of_many_masks_are_read_back)
{
    cpubind_record s;
    state_begin(&s);
    for (int32_t i = 0; i < 10000; i++) {
        const int32_t cpu = i % 100;
        const int32_t set = cpubind_cpu_sets_of_list(&s.sets, sys, &cpu, 1);
        assert_int_equal(cpubind_record_add_thread(&s, sys, 20000 - i, set), 0);
    }
    check_round(&s);
    assert_string_equal(
        cpubind_cpu_sets_text(
            &s.sets, cpubind_record_thread_find(s.thread, s.n_thread, 20000 - 4242)->before),
        "42");
    cpubind_record_free(&s);
}

TEST(what_could_not_be_read_back_is_not_written)
{
    for (int i = 0; i < 17; i++) {
        cpubind_record s;
        cpubind_bytes bytes = {NULL, 0, 0};
        cpubind_linux_fault why = {0, NULL};
        state_sample(&s);
        s.pid = i == 0 ? 0 : s.pid;
        s.before = i == 1 ? CPUBIND_CPUSET_NONE : s.before;
        s.main = i == 2 ? CPUBIND_CPUSET_NONE : s.main;
        s.main = i == 3 ? s.sets.n : s.main;
        s.uvb = i == 4 ? s.sets.n : s.uvb;
        s.rule[0].name[0] = i == 5 ? '\0' : 'a';
        s.rule[1].set = i == 6 ? CPUBIND_CPUSET_NONE : s.rule[1].set;
        s.thread[0].tid = i == 7 ? 0 : s.thread[0].tid;
        s.thread[3].before = i == 8 ? CPUBIND_CPUSET_NONE : s.thread[3].before;
        s.thread[4].tid = i == 9 ? s.thread[3].tid : s.thread[4].tid;
        s.other[0].pid = i == 10 ? -1 : s.other[0].pid;
        s.other[0].set = i == 11 ? CPUBIND_CPUSET_NONE : s.other[0].set;
        s.irq[0].irq = i == 12 ? -1 : s.irq[0].irq;
        s.irq[0].cpu = i == 13 ? CPUBIND_MAX_CPUS : s.irq[0].cpu;
        s.irq[1].irq = i == 14 ? s.irq[0].irq : s.irq[1].irq;
        s.irqbalance_pid = i == 15 ? 0 : s.irqbalance_pid;
        s.thread[5].before = i == 16 ? s.sets.n : s.thread[5].before;
        assert_int_equal(cpubind_priv_record_format(&s, sys, &bytes, &why),
                         CPUBIND_LINUX_ERR_ARG);
        assert_int_equal(why.error, EINVAL);
        assert_string_equal(why.what, "argument");
        cpubind_bytes_free(&bytes);
        cpubind_record_free(&s);
    }
}

/* == Text of others ========================================================= */

static cpubind_linux_status parse(const char *text, size_t len, cpubind_record *out,
                                  cpubind_linux_fault *why)
{
    char *exact = edge_text(text, (int32_t)len);
    const cpubind_linux_status status =
        cpubind_priv_record_parse(exact, (int32_t)len, sys, out, why);
    free(exact);
    return status;
}

/* Another layout, another order, more members, escapes. */
static const char foreign[] =
    " {\"extra\": {\"a\": [1.5e-3, -0, [], {}, [[{\"b\": \"\\u00e4\\\"\"}]], true, "
    "false]},\t\r\n"
    "\"irqs\":[ "
    "],\"ours\":[\"2\",\"2\"],\"others\":[],\"irqbalance\":null,\"threads\":[{\"tids\":[9,7],"
    "\"x\":null,"
    "\"before\":\"0-3\"},{\"tids\":[],\"before\":\"1\"},{\"before\":\"0-3\",\"tids\":[8]}],"
    "\"goal\":{\"rules\":[{\"cpus\":\"2\",\"name\":\"a\\u0042\\n\xc3\xa4\\/\"}],\"uvb\":null,"
    "\"memory_node\":null,\"main\":\"1,3\"},\"before\":\"0-3\",\"npu\":0,"
    "\"start\":0,\"pid\":7,\"boot\":\"\",\"format\":1,\"cpubind\":\"9.9.9\"}\n";

TEST(another_layout_is_read)
{
    cpubind_record s;
    assert_int_equal(parse(foreign, sizeof foreign - 1, &s, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(s.pid, 7);
    assert_int_equal(s.npu, 0);
    assert_int_equal(s.memory_node, -1);
    assert_int_equal(s.uvb, CPUBIND_CPUSET_NONE);
    assert_int_equal(s.how, CPUBIND_IRQBALANCE_LEAVE);
    assert_string_equal(cpubind_cpu_sets_text(&s.sets, s.main), "1,3");
    assert_int_equal(s.n_thread, 3);
    for (int32_t i = 0; i < 3; i++) {
        assert_int_equal(s.thread[i].tid, 7 + i);
        assert_int_equal(s.thread[i].before, s.before);
    }
    assert_int_equal(s.n_ours, 1);
    assert_int_equal(s.ours[0], s.rule[0].set);
    assert_int_equal(s.n_rule, 1);
    assert_string_equal(s.rule[0].name, "aB\n\xe4/");
    check_round(&s);
    cpubind_record_free(&s);
}

static const char good[] =
    "{\"cpubind\": \"0.1.0\", \"format\": 1, \"boot\": \"b\", \"pid\": 4711, \"start\": 12345, "
    "\"npu\": 3, \"before\": \"0-191\", \"goal\": {\"main\": \"74-93\", \"memory_node\": 2, "
    "\"rules\": [{\"name\": \"acl\", \"cpus\": \"94\"}], \"uvb\": \"9\"}, "
    "\"ours\": [\"74-93\", \"94\"], "
    "\"threads\": [{\"before\": \"0-7\", \"tids\": [4711, 4712]}], "
    "\"others\": [{\"pid\": 80, \"tid\": 81, \"start\": 77, \"before\": \"6\", "
    "\"set\": \"1-23\"}], \"irqs\": [{\"irq\": 301, \"kind\": \"sq\", \"cpu\": 72, "
    "\"before\": null, \"banned\": 0}], \"irqbalance\": {\"pid\": 900, \"start\": 321, "
    "\"how\": \"ban\"}}";

/* `good` with one text replaced. */
static size_t edit(char *out, size_t size, const char *from, const char *to)
{
    const char *at = strstr(good, from);
    scratch_need(at != NULL, from);
    return (size_t)snprintf(out, size, "%.*s%s%s", (int)(at - good), good, to,
                            at + strlen(from));
}

static void check_damaged(const char *text, size_t len, const char *what)
{
    cpubind_record s;
    cpubind_linux_fault why = {0, NULL};
    memset(&s, 0x5a, sizeof s);
    assert_int_equal(parse(text, len, &s, &why), CPUBIND_LINUX_ERR_DAMAGED);
    assert_int_equal(why.error, EILSEQ);
    assert_true(state_is_zero(&s));
    if (what)
        assert_string_equal(why.what, what);
    else
        assert_non_null(why.what);
}

TEST(a_number_outside_its_range_is_damage)
{
    static const struct {
        const char *from, *format, *what;
        int least_is_one; /* else 0 is good */
    } members[] = {
        {"4711, \"start\"", "%s, \"start\"", "pid", 1},
        {"[4711, 4712]", "[4711, %s]", "tids", 1},
        {"\"pid\": 80", "\"pid\": %s", "pid", 1},
        {"\"tid\": 81", "\"tid\": %s", "tid", 1},
        {"\"pid\": 900", "\"pid\": %s", "pid", 1},
        {"\"npu\": 3", "\"npu\": %s", "npu", 0},
        {"\"memory_node\": 2", "\"memory_node\": %s", "memory_node", 0},
        {"\"irq\": 301", "\"irq\": %s", "irq", 0},
        {"\"cpu\": 72", "\"cpu\": %s", "cpu", 0},
        {"\"start\": 12345", "\"start\": %s", "start", 0},
        {"\"start\": 77", "\"start\": %s", "start", 0},
        {"\"start\": 321", "\"start\": %s", "start", 0},
        {"\"format\": 1", "\"format\": %s", "format", 1},
    };
    static const char *const bad[] = {"-1",
                                      "1.0",
                                      "1e0",
                                      "01",
                                      "+1",
                                      "0x1",
                                      "1 1",
                                      "",
                                      "18446744073709551616",
                                      "99999999999999999999999999999999",
                                      "\"1\"",
                                      "true",
                                      "[1]",
                                      "{}",
                                      "1-",
                                      "Infinity"};
    char to[128], text[2048];
    for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            snprintf(to, sizeof to, members[m].format, bad[i]);
            check_damaged(text, edit(text, sizeof text, members[m].from, to), NULL);
        }
        snprintf(to, sizeof to, members[m].format, "-1");
        check_damaged(text, edit(text, sizeof text, members[m].from, to), members[m].what);
        snprintf(to, sizeof to, members[m].format, "0");
        const size_t len = edit(text, sizeof text, members[m].from, to);
        cpubind_record s;
        if (members[m].least_is_one) {
            check_damaged(text, len, members[m].what);
        } else {
            assert_int_equal(parse(text, len, &s, NULL), CPUBIND_LINUX_OK);
            cpubind_record_free(&s);
        }
    }
}

TEST(a_number_past_its_type_does_not_wrap)
{
    static const char *const edits[][3] = {
        {"\"pid\": 4711", "\"pid\": 2147483648", "pid"},
        {"\"pid\": 4711", "\"pid\": 4294967297", "pid"},
        {"[4711, 4712]", "[4711, 4294972008]", "tids"},
        {"\"cpu\": 72", "\"cpu\": 65536", "cpu"},
        {"\"irq\": 301", "\"irq\": 4294967597", "irq"},
        {"\"npu\": 3", "\"npu\": 2147483648", "npu"},
        {"\"start\": 77", "\"start\": 18446744073709551616", "start"},
        {"\"format\": 1", "\"format\": 2", "format"},
    };
    char text[2048];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        check_damaged(text, edit(text, sizeof text, edits[i][0], edits[i][1]), edits[i][2]);
}

TEST(what_is_impossible_is_damage)
{
    static const char *const edits[][3] = {
        /* twice */
        {"[4711, 4712]", "[4711, 4711]", "threads"},
        {"[4711, 4712]}", "[4711, 4712]}, {\"before\": \"1\", \"tids\": [4712]}", "threads"},
        {"\"banned\": 0}",
         "\"banned\": 0}, {\"irq\": 301, \"kind\": \"cq\", \"cpu\": 1, "
         "\"before\": null, \"banned\": 1}",
         "irqs"},
        {"\"1-23\"}",
         "\"1-23\"}, {\"pid\": 80, \"tid\": 81, \"start\": 77, "
         "\"before\": \"6\", \"set\": \"1\"}",
         "others"},
        {"\"npu\": 3", "\"npu\": 3, \"npu\": 3", "npu"},
        {"\"kind\": \"sq\"", "\"kind\": \"sq\", \"kind\": \"sq\"", "kind"},
        /* missing */
        {"\"cpubind\": \"0.1.0\", ", "", "cpubind"},
        {"\"format\": 1, ", "", "format"},
        {"\"boot\": \"b\", ", "", "boot"},
        {"\"pid\": 4711, ", "", "pid"},
        {"\"start\": 12345, ", "", "start"},
        {"\"npu\": 3, ", "", "npu"},
        {"\"before\": \"0-191\", ", "", "before"},
        {"\"main\": \"74-93\", ", "", "main"},
        {"\"memory_node\": 2, ", "", "memory_node"},
        {", \"uvb\": \"9\"", "", "uvb"},
        {"\"before\": \"0-7\", ", "", "before"},
        {", \"tids\": [4711, 4712]", "", "tids"},
        {", \"set\": \"1-23\"", "", "set"},
        {", \"before\": null", "", "before"},
        {", \"banned\": 0", "", "banned"},
        {"\"banned\": 0", "\"banned\": 2", "banned"},
        {"\"banned\": 0", "\"banned\": true", "banned"},
        {", \"how\": \"ban\"", "", "how"},
        {"\"name\": \"acl\", ", "", "name"},
        {", \"cpus\": \"94\"", "", "cpus"},
        {"\"irqs\"", "\"irq s\"", "irqs"},
        {"\"ours\"", "\"hours\"", "ours"},
        {"[\"74-93\", \"94\"]", "\"74-93\"", "ours"},
        {"[\"74-93\", \"94\"]", "[\"74-93\", null]", "ours"},
        /* other types */
        {"\"0.1.0\"", "1", "cpubind"},
        {"\"b\"", "null", "boot"},
        {"\"0-191\"", "null", "before"},
        {"\"0-191\"", "[0, 1]", "before"},
        {"\"74-93\"", "7", "main"},
        {"\"0-7\"", "null", "before"},
        {"\"94\"", "null", "cpus"},
        {"\"acl\"", "7", "name"},
        {"\"6\"", "null", "before"},
        {"\"9\"", "9", "uvb"},
        {"\"sq\"", "null", "kind"},
        {"[4711, 4712]", "4711", "tids"},
        {"[4711, 4712]", "[[4711]]", "tids"},
        {"[4711, 4712]", "[4711,]", "tids"},
        {"[4711, 4712]", "[4711 4712]", "tids"},
        {"[4711, 4712]", "[null]", "tids"},
        {"\"irqs\": [", "\"irqs\": [3, ", "irqs"},
        {"{\"pid\": 900", "[{\"pid\": 900", "irqbalance"},
        /* no list, no name, no word */
        {"\"0-191\"", "\"\"", "before"},
        {"\"0-191\"", "\"191-0\"", "before"},
        {"\"0-191\"", "\"0-65536\"", "before"},
        {"\"0-191\"", "\"0-1 \"", "before"},
        {"\"0-191\"", "\"\\u0030\"", "before"},
        {"\"acl\"", "\"\"", "name"},
        {"\"acl\"", "\"1234567890123456\"", "name"},
        {"\"acl\"", "\"a\\u0000\"", "name"},
        {"\"acl\"", "\"\\u0100\"", "name"},
        {"\"acl\"", "\"\xc4\x80\"", "name"},
        {"\"acl\"", "\"\xff\"", "name"},
        {"\"acl\"", "\"a\xc3\"", "name"},
        {"\"acl\"", "\"\\x\"", "name"},
        {"\"acl\"", "\"\\u12\"", "name"},
        {"\"acl\"", "\"a\nb\"", "name"},
        {"\"sq\"", "\"dq\"", "kind"},
        {"\"sq\"", "\"sqq\"", "kind"},
        {"\"ban\"", "\"leave\"", "how"},
        /* no JSON */
        {"\"npu\": 3", "\"npu\" 3", NULL},
        {"\"npu\": 3,", "\"npu\": 3", NULL},
        {"\"npu\": 3,", "\"npu\": 3,,", NULL},
        {"\"npu\": 3", "npu: 3", NULL},
        {"\"npu\": 3", "\"x\": nul, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": , \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": [1, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": [}, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": {1: 2}, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": 1., \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": 1e, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": -, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": 00, \"npu\": 3", NULL},
        {"\"npu\": 3", "\"x\": \"\t\", \"npu\": 3", NULL},
        {"\"ban\"}}", "\"ban\"}}}", "end"},
        {"\"ban\"}}", "\"ban\"}} x", "end"},
        {"{\"cpubind\"", "[{\"cpubind\"", "state"},
    };
    char text[2048];
    cpubind_record s;
    assert_int_equal(parse(good, sizeof good - 1, &s, NULL), CPUBIND_LINUX_OK);
    cpubind_record_free(&s);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        check_damaged(text, edit(text, sizeof text, edits[i][0], edits[i][1]), edits[i][2]);
}

TEST(every_cut_text_is_damage)
{
    for (size_t len = 0; len < sizeof good - 1; len++)
        check_damaged(good, len, NULL);
}

/* `n` arrays in one another, and nothing else. */
static size_t nested(char *text, size_t size, int n)
{
    char to[1024];
    size_t at = (size_t)snprintf(to, sizeof to, "\"x\": ");
    memset(to + at, '[', (size_t)n);
    memset(to + at + n, ']', (size_t)n);
    snprintf(to + at + 2 * n, sizeof to - at - 2 * (size_t)n, ", \"npu\": 3");
    return edit(text, size, "\"npu\": 3", to);
}

TEST(values_nest_as_deep_as_is_said)
{
    char text[4096];
    cpubind_record s;
    assert_int_equal(parse(text, nested(text, sizeof text, 64), &s, NULL), CPUBIND_LINUX_OK);
    cpubind_record_free(&s);
    check_damaged(text, nested(text, sizeof text, 65), NULL);
    check_damaged(text, nested(text, sizeof text, 200), NULL);
}

/* == Memory ================================================================= */

static int n_call, fail_at;

static void *t_malloc(size_t size_bytes)
{
    return ++n_call == fail_at ? NULL : malloc(size_bytes);
}

static void *t_realloc(void *old, size_t size_bytes)
{
    return ++n_call == fail_at ? NULL : realloc(old, size_bytes);
}

static cpubind_sys failing_sys(void)
{
    cpubind_sys failing = cpubind_sys_real;
    failing.malloc = t_malloc;
    failing.realloc = t_realloc;
    return failing;
}

TEST(without_memory_no_text_is_read_half)
{
    const cpubind_sys failing = failing_sys();
    int failures = 0;
    for (fail_at = 1;; fail_at++) {
        cpubind_record s;
        cpubind_linux_fault why = {0, NULL};
        n_call = 0;
        cpubind_linux_status status =
            cpubind_priv_record_parse(good, (int32_t)sizeof good - 1, &failing, &s, &why);
        if (n_call < fail_at) {
            assert_int_equal(status, CPUBIND_LINUX_OK);
            cpubind_record_free(&s);
            break;
        }
        assert_int_equal(status, CPUBIND_LINUX_ERR_MEMORY);
        assert_int_equal(why.error, ENOMEM);
        assert_true(state_is_zero(&s));
        failures++;
    }
    assert_true(failures > 20); /* 8 sets of 4 each, and the arrays */
}

TEST(without_memory_no_text_is_written)
{
    const cpubind_sys failing = failing_sys();
    cpubind_record s;
    int failures = 0;
    state_sample(&s);
    for (fail_at = 1;; fail_at++) {
        cpubind_bytes bytes = {NULL, 0, 0};
        n_call = 0;
        cpubind_linux_status status = cpubind_priv_record_format(&s, &failing, &bytes, NULL);
        cpubind_bytes_free(&bytes);
        if (n_call < fail_at) {
            assert_int_equal(status, CPUBIND_LINUX_OK);
            break;
        }
        assert_int_equal(status, CPUBIND_LINUX_ERR_MEMORY);
        failures++;
    }
    assert_true(failures >= 2); /* the text, the chains */
    cpubind_record_free(&s);
}

TEST(without_memory_nothing_is_added)
{
    const cpubind_sys failing = failing_sys();
    const cpubind_record_other other = {1, 1, 1, 0, 0};
    const cpubind_record_irq irq = {1, CPUBIND_IRQ_SQ, 1, 0, 0};
    cpubind_record s = {0};
    for (int i = 0; i < 5; i++) {
        n_call = 0;
        fail_at = 1;
        assert_int_equal(i == 0   ? cpubind_record_add_rule(&s, &failing, "a", 0)
                         : i == 1 ? cpubind_record_add_thread(&s, &failing, 1, 0)
                         : i == 2 ? cpubind_record_add_other(&s, &failing, &other)
                         : i == 3 ? cpubind_record_add_ours(&s, &failing, 0)
                                  : cpubind_record_add_irq(&s, &failing, &irq),
                         ENOMEM);
        assert_true(state_is_zero(&s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_stand_in_order_and_keep_their_first_set),
        cmocka_unit_test(an_interrupt_keeps_the_first_set_that_is_known),
        cmocka_unit_test(a_number_that_another_thread_got_is_another_thread),
        cmocka_unit_test(a_name_is_cut_as_the_kernel_cuts_it),
        cmocka_unit_test(some_of_everything_is_read_back),
        cmocka_unit_test(random_states_are_read_back),
        cmocka_unit_test(the_largest_numbers_are_read_back),
        cmocka_unit_test(names_of_any_bytes_are_read_back),
        cmocka_unit_test(threads_of_many_masks_are_read_back),
        cmocka_unit_test(what_could_not_be_read_back_is_not_written),
        cmocka_unit_test(another_layout_is_read),
        cmocka_unit_test(a_number_outside_its_range_is_damage),
        cmocka_unit_test(a_number_past_its_type_does_not_wrap),
        cmocka_unit_test(what_is_impossible_is_damage),
        cmocka_unit_test(every_cut_text_is_damage),
        cmocka_unit_test(values_nest_as_deep_as_is_said),
        cmocka_unit_test(without_memory_no_text_is_read_half),
        cmocka_unit_test(without_memory_no_text_is_written),
        cmocka_unit_test(without_memory_nothing_is_added),
    };
    return cmocka_run_group_tests_name("state_text", tests, NULL, NULL);
}
