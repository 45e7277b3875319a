/* test_process_goal.c - the goal of the process of one NPU: threads, memory, interrupts
 * SPDX-License-Identifier: MIT
 */
#include "memory_source.h"

#include "../../adapters/ascend/thread_roles.h"
#include "../../adapters/plan/process_goal.h"
#include "../../adapters/text/text.h"
#include "../support/exact_buffer.h"
#include "../support/said.h"

enum { GOAL_TEXT = 1024 };

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* == A plan ================================================================= */

/* Two NPUs of 8 CPUs each, the first one on node 5, the second on node 3, at two functions. */
typedef struct planned {
    cpubind_device npu[2];
    int32_t node_of[16], cpu[16], row[3], want[2], memory_node[2];
    cpubind_roles span[2];
    cpubind_facts facts;
    cpubind_device_plan plan;
    memory_host host;
    cpubind_arena arena;
    cpubind_threads threads;
    cpubind_goal goal;
    cpubind_problem problem;
} planned;

static planned p; /* that of the test */
static char memory[16384];

#define MSI_A      "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/"
#define MSI_B      "sys/bus/pci/devices/10002:0a:1f.7/msi_irqs/"
#define INTERRUPTS "proc/interrupts"
#define HEAD       "           CPU0       CPU1\n"
#define ROW(irq, names)                                                                        \
    irq ":          7         11  ITS-PCI-MSI-0000:c1:00.0 " irq " Edge      " names "\n"

/* The interrupts of a device with two completion queues. */
#define DEVICE(mailbox, m, sq, c0, c1)                                                         \
    ROW(m, mailbox)                                                                            \
    ROW(sq, "sq_send_trigger_irq") ROW(c0, "cq_update_irq") ROW(c1, "cq_update_irq")

SETUP(start)
{
    memset(&p, 0, sizeof p);
    for (int32_t i = 0; i < 16; i++) {
        p.cpu[i] = (i + 8) % 16; /* 8-15, then 0-7 */
        p.node_of[i] = i < 8 ? 3 : 5;
    }
    p.row[1] = 8;
    p.row[2] = 16;
    p.want[1] = 1;
    p.npu[0] = (cpubind_device){.bus = -1,
                                .vendor = CPUBIND_VENDOR_ASCEND,
                                .logic = 0,
                                .card = 2,
                                .phy = 4,
                                .pci = {0, 0xc1, 0, 0}};
    p.npu[1] = (cpubind_device){.bus = -1,
                                .vendor = CPUBIND_VENDOR_ASCEND,
                                .logic = 1,
                                .card = 6,
                                .phy = 5,
                                .pci = {0x10002, 0x0a, 0x1f, 7}};
    p.facts.device = p.npu;
    p.facts.n_device = 2;
    p.facts.node_of = p.node_of;
    p.facts.n_cpu_id = 16;
    p.plan.core.cpu = p.cpu;
    p.plan.core.row = p.row;
    p.plan.role_cpu = p.cpu;
    p.plan.role_row = p.row;
    p.plan.role_span = p.span;
    p.plan.memory_node = p.memory_node;
    p.memory_node[0] = 5;
    p.memory_node[1] = 3;
    p.plan.want = p.want;
    p.plan.n_want = 2;
    p.plan.roles = (cpubind_role_spec){{2, 1, 1, 1}};
    set(&p.host, MSI_A, "100\n101\n98\n99\n");
    set(&p.host, MSI_B, "7\n");
    set(&p.host, INTERRUPTS,
        HEAD ROW(" 5", "sq_send_trigger_irq") ROW(" 7", "sq_send_trigger_irq")
            DEVICE("trs-mbox-4-0", "98", "99", "100", "101")
                ROW("102", "cq_update_irq") "IPI0: 1 2 Rescheduling interrupts\n");
    return 0;
}

static cpubind_problem_code make(int32_t row, const cpubind_thread_wish *wish, int32_t n_wish)
{
    const cpubind_source source = {&p.host, read_input, list_inputs};
    const cpubind_goal_request request = {.facts = &p.facts,
                                          .plan = &p.plan,
                                          .row = row,
                                          .wish = wish,
                                          .n_wish = n_wish,
                                          .threads = p.threads};
    p.arena = (cpubind_arena){memory, sizeof memory, 0};
    for (int32_t i = 0; i < p.plan.n_want; i++)
        assert_int_equal(
            cpubind_split_roles(p.row[i + 1] - p.row[i], &p.plan.roles, &p.span[i], NULL),
            CPUBIND_OK);
    memset(&p.goal, EDGE_FILL, sizeof p.goal);
    return cpubind_goal_make(&source, &request, &p.arena, &p.goal, &p.problem);
}

static void made(int32_t row, const cpubind_thread_wish *wish, int32_t n_wish)
{
    assert_int_equal(make(row, wish, n_wish), CPUBIND_PROBLEM_NONE);
}

/* The CPUs from..to. */
static void expect_cpus(cpubind_cpus cpus, int32_t from, int32_t to)
{
    assert_int_equal(cpus.n, to - from + 1);
    for (int32_t i = 0; i < cpus.n; i++)
        assert_int_equal(cpus.cpu[i], from + i);
}

/* == What was made, as text ================================================= */

static const char *const irq_kinds[] = {"sq", "cq", "mailbox"};

/* "8-9,12"; nothing for none. */
static void say_cpus(said *text, cpubind_cpus cpus)
{
    if (cpus.n > 0)
        say_list(text, cpus.cpu, cpus.n);
}

/* The parts of a goal, each with its name before it and "; " behind it. */
static const char *goal_text(void)
{
    static said text;
    const cpubind_goal *g = &p.goal;
    text.len = 0;
    say(&text, "npu %d; main ", g->device);
    say_cpus(&text, g->main);
    say(&text, "; rules");
    for (int32_t i = 0; i < g->n_rule; i++) {
        say(&text, "%s %s %s", i ? "," : "", g->rule[i].name, g->rule[i].is_left ? "left" : "");
        say_cpus(&text, g->rule[i].cpus);
    }
    say(&text, "; node %d; irqs", g->memory_node);
    for (int32_t i = 0; i < g->n_irq; i++) {
        char function[CPUBIND_IRQ_FUNCTION_SIZE + 2];
        say(&text, "%s %d %s %d", i ? "," : "", g->irq[i].irq, irq_kinds[g->irq[i].kind],
            g->irq[i].cpu);
        snprintf(function, sizeof function, "/%s/", g->irq[i].id.function);
        assert_true(strstr(MSI_A MSI_B, function) != NULL);
    }
    if (g->n_irq == 0 || g->no_irq != CPUBIND_IRQ_FOUND)
        say(&text, " %s", cpubind_no_irq_word(g->no_irq));
    say(&text, "; driver");
    for (int32_t i = 0; i < g->n_driver; i++) {
        say(&text, "%s %s ", i ? "," : "", g->driver[i].name);
        say_cpus(&text, g->driver[i].cpus);
    }
    say(&text, g->polling.n ? "; uvb " : "; uvb");
    say_cpus(&text, g->polling);
    say(&text, "; ");
    return text.text;
}

/* Makes a goal that has these parts: "main 10-13; node 5". */
static void expect(int32_t row, const cpubind_thread_wish *wish, int32_t n_wish,
                   const char *parts)
{
    made(row, wish, n_wish);
    for (const char *part = parts, *end; *part; part = end + (*end ? 2 : 0)) {
        char whole[GOAL_TEXT];
        end = strstr(part, "; ") ? strstr(part, "; ") : part + strlen(part);
        snprintf(whole, sizeof whole, "%.*s; ", (int)(end - part), part);
        if (!strstr(goal_text(), whole))
            fail_msg("\"%s\" is no part of \"%s\"", whole, goal_text());
    }
}

/* == Threads and memory ===================================================== */

TEST(a_full_pool_has_all_roles)
{
    expect(0, NULL, 0,
           "npu 0; main 10-13; rules acl_thread 14, release_thread 15; node 5; uvb");
    expect(1, NULL, 0, "npu 1; main 2-5; rules acl_thread 6, release_thread 7; node 3");
}

/* The row of a plan is not the index of an NPU: hidden NPUs have no row. */
TEST(the_npu_of_a_row_is_the_npu_of_the_plan)
{
    p.want[0] = 1;
    p.plan.n_want = 1;
    expect(0, NULL, 0, "npu 1; main 10-13; irqs 7 sq 8");
}

TEST(a_request_that_is_wrong_is_refused)
{
    const cpubind_thread_wish nameless = {.kind = CPUBIND_WISH_POOL};
    const cpubind_thread_wish listless = {
        .name = "worker", .kind = CPUBIND_WISH_LIST, .cpus = {NULL, 2}};
    const cpubind_thread_wish huge = {
        .name = "worker", .kind = CPUBIND_WISH_LIST, .cpus = {NULL, INT32_MAX}};
    const cpubind_thread_wish roleless = {
        .name = "worker", .kind = CPUBIND_WISH_ROLE, .role = CPUBIND_ROLE_COUNT};
    const cpubind_thread_wish vain = {.name = "*1234567890123456", .kind = CPUBIND_WISH_POOL};
    assert_int_equal(make(0, &vain, 1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(-1, NULL, 0), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(p.plan.n_want, NULL, 0), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(0, NULL, 1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(0, &nameless, -1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(0, &nameless, 1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(0, &listless, 1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(0, &huge, 1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_int_equal(make(0, &roleless, 1), CPUBIND_PROBLEM_BAD_REQUEST);
    assert_non_null(p.problem.what);
}

TEST(memory_goes_to_the_node_of_the_plan)
{
    p.memory_node[0] = 6;
    expect(0, NULL, 0, "node 6");
    expect(1, NULL, 0, "node 3");
    p.memory_node[0] = -1;
    expect(0, NULL, 0, "node -1");
}

/* By home the CPUs of the roles do not ascend; the list of the whole pool does. */
TEST(a_wish_for_the_pool_has_its_cpus_in_order)
{
    static const int32_t by_home[] = {12, 13, 8, 9, 10, 11, 14, 15};
    const cpubind_thread_wish wish = {.name = "data", .kind = CPUBIND_WISH_POOL};
    memcpy(p.cpu, by_home, sizeof by_home);
    expect(0, &wish, 1,
           "main 8-11; rules data 8-15, acl_thread 14, release_thread 15; irqs 99 sq 12, 100 "
           "cq 13, 101 cq 13");
}

TEST(a_950_has_main_and_uvb_threads_and_no_interrupts)
{
    static int32_t spare[] = {1, 2, 3};
    p.plan.roles = (cpubind_role_spec){{0, 1, 0, 0}};
    p.plan.spare = spare;
    p.plan.n_spare = 3;
    expect(0, NULL, 0, "main 8-15; rules; node 5; irqs no_role; uvb 1-3");
    assert_int_equal(p.host.asked, 0);
}

TEST(wishes_come_before_the_built_in_rules)
{
    static const int32_t list[] = {3, 9};
    const cpubind_thread_wish wishes[] = {
        {.name = "acl_thread", .role = CPUBIND_ROLE_MAIN},
        {.name = "kv_transfer_worker_0", .kind = CPUBIND_WISH_LIST, .cpus = {list, 2}},
        {.name = "RT_RECYCLE", .role = CPUBIND_ROLE_RELEASE},
        {.name = "hccl_watchdog_t", .role = CPUBIND_ROLE_ACL},
        {.name = "store", .role = CPUBIND_ROLE_IRQ},
        {.name = "data", .kind = CPUBIND_WISH_POOL}};
    expect(0, wishes, LENGTH(wishes),
           "rules acl_thread 10-13, kv_transfer_worker_0 3,9, RT_RECYCLE 15, hccl_watchdog_t "
           "14, store 8-9, data 8-15, acl_thread 14, release_thread 15");
    assert_ptr_equal(p.goal.rule[1].cpus.cpu, list);
}

TEST(a_role_that_the_pool_lacks_is_main)
{
    static const cpubind_role lacking[] = {CPUBIND_ROLE_ACL, CPUBIND_ROLE_RELEASE,
                                           CPUBIND_ROLE_IRQ};
    p.plan.roles = (cpubind_role_spec){{0, 1, 0, 0}};
    p.row[1] = 7; /* so that a wrong row of main would be seen */
    for (int32_t i = 0; i < LENGTH(lacking); i++) {
        const cpubind_thread_wish wish = {.name = "worker", .role = lacking[i]};
        expect(0, &wish, 1, "rules worker 8-14");
    }
}

/* Without interrupt CPUs the pool starts with main; the other roles stay. */
TEST(a_pool_without_interrupt_cpus_keeps_its_rules)
{
    p.plan.roles = (cpubind_role_spec){{0, 1, 1, 1}};
    expect(1, NULL, 0, "main 0-5; rules acl_thread 6, release_thread 7; irqs no_role");
}

TEST(the_rows_of_the_product_follow_those_of_the_reference)
{
    p.threads = CPUBIND_THREADS_PRODUCT;
    expect(0, NULL, 0,
           "rules acl_thread 14, release_thread 15, hccl_watchdog* 15, hcclComm_watchd 15, "
           "RT_RECYCLE* 15; irqs 98 mailbox 9, 99 sq 8, 100 cq 9, 101 cq 9; "
           "driver dev4_sq_task 8-9, dev4_sq_send_wq 8-9, dev4_sq_fair_wq 8-9"); /* phy id 4 */
    assert_int_equal(p.goal.driver[0].named, CPUBIND_NAMED_KERNEL);
    assert_int_equal(p.goal.driver[1].named, CPUBIND_NAMED_QUEUE);
    assert_string_equal(p.goal.irq[0].id.name, "trs-mbox-4-0");
    assert_int_equal(p.goal.irq[0].id.index, 0);
}

TEST(the_reference_leaves_the_driver_alone)
{
    expect(0, NULL, 0,
           "rules acl_thread 14, release_thread 15; irqs 99 sq 8, 100 cq 9, 101 cq 9; driver");
}

TEST(the_driver_is_left_without_a_phy_id_and_without_interrupt_cpus)
{
    p.threads = CPUBIND_THREADS_PRODUCT;
    p.npu[0].phy = -1;
    expect(0, NULL, 0, "driver");
    p.npu[0].phy = 4;
    p.plan.roles = (cpubind_role_spec){{0, 1, 1, 1}};
    expect(0, NULL, 0,
           "rules acl_thread 14, release_thread 15, hccl_watchdog* 15, hcclComm_watchd 15, "
           "RT_RECYCLE* 15; driver");
    p.plan.roles = (cpubind_role_spec){{0, 1, 0, 0}}; /* a 950: all threads are main */
    expect(0, NULL, 0, "rules; driver");
}

TEST(a_wish_may_leave_threads_and_what_is_the_drivers)
{
    static const int32_t list[] = {3, 9};
    const cpubind_thread_wish wishes[] = {
        {.name = "hccl_*", .kind = CPUBIND_WISH_LEAVE},
        {.name = "dev*_sq_task", .kind = CPUBIND_WISH_LEAVE},
        {.name = "dev?_sq_send_wq", .kind = CPUBIND_WISH_LIST, .cpus = {list, 2}},
        {.name = "trs-mbox-*", .kind = CPUBIND_WISH_LIST, .cpus = {list, 2}},
        {.name = "cq_update_irq", .kind = CPUBIND_WISH_LEAVE},
        {.name = "*", .kind = CPUBIND_WISH_LEAVE}}; /* threads of the process alone */
    p.threads = CPUBIND_THREADS_PRODUCT;
    expect(0, wishes, LENGTH(wishes),
           "rules hccl_* left, dev*_sq_task left, dev?_sq_send_wq 3,9, trs-mbox-* 3,9, "
           "cq_update_irq left, * left, acl_thread 14, release_thread 15, hccl_watchdog* 15, "
           "hcclComm_watchd 15, RT_RECYCLE* 15; irqs 98 mailbox 3, 99 sq 8; driver "
           "dev4_sq_send_wq 3,9, dev4_sq_fair_wq 8-9");
    assert_ptr_equal(p.goal.driver[0].cpus.cpu, list);
}

TEST(interrupts_may_all_be_left)
{
    const cpubind_thread_wish wishes[] = {
        {.name = "sq_send_trigger_irq", .kind = CPUBIND_WISH_LEAVE},
        {.name = "cq_*", .kind = CPUBIND_WISH_LEAVE}};
    expect(0, wishes, LENGTH(wishes), "irqs found");
}

TEST(kept_cpus_near_the_memory_come_first)
{
    static int32_t kept[] = {0, 1, 9};
    const cpubind_thread_wish wish = {.name = "mooncake*", .kind = CPUBIND_WISH_KEEP};
    p.plan.kept = kept;
    p.plan.n_kept = 3;
    expect(0, &wish, 1, "rules mooncake* 9, acl_thread 14, release_thread 15");
    expect(1, &wish, 1, "rules mooncake* 0-1, acl_thread 6, release_thread 7");
    p.memory_node[0] = 7; /* none of them is near */
    kept[2] = 2;
    expect(0, &wish, 1, "rules mooncake* 0-2, acl_thread 14, release_thread 15");
    p.plan.n_kept = 0;
    expect(0, &wish, 1, "rules mooncake* 10-13, acl_thread 14, release_thread 15");
}

/* == Interrupts ============================================================= */

/* The listing is in the order of bytes, "100" before "98". */
TEST(the_sq_goes_to_the_first_cpu_and_every_cq_to_the_second)
{
    expect(0, NULL, 0, "irqs 99 sq 8, 100 cq 9, 101 cq 9");
}

TEST(one_interrupt_cpu_serves_both_kinds)
{
    p.plan.roles.count[CPUBIND_ROLE_IRQ] = 1;
    expect(0, NULL, 0, "irqs 99 sq 8, 100 cq 8, 101 cq 8");
}

TEST(the_largest_interrupt_number_is_one_of_the_device)
{
    set(&p.host, MSI_B, "7\n2147483647\n2147483648\n");
    set(&p.host, INTERRUPTS,
        HEAD ROW("7", "cq_update_irq") ROW("2147483647", "sq_send_trigger_irq"));
    expect(1, NULL, 0, "irqs 7 cq 1, 2147483647 sq 0");
}

TEST(interrupts_of_other_functions_are_left_alone)
{
    expect(1, NULL, 0, "irqs 7 sq 0");
}

#define TWO_DEVICES                                                                            \
    HEAD DEVICE("trs-mbox-4-0", "40", "41", "42", "43") ROW("44", "func_cq_irq")               \
        DEVICE("trs-mbox-5-0", "45", "46", "47", "48")

/* Both chips of a card can be behind one function: 4 and 5 are phy ids, 0 and 1 logic ids. */
TEST(two_devices_of_one_function_are_distinguished_by_their_mailbox)
{
    p.npu[1].pci = p.npu[0].pci;
    set(&p.host, MSI_A, "40\n41\n42\n43\n44\n45\n46\n47\n48\n");
    set(&p.host, INTERRUPTS, TWO_DEVICES);
    expect(0, NULL, 0, "irqs 41 sq 8, 42 cq 9, 43 cq 9");
    expect(1, NULL, 0, "irqs 46 sq 0, 47 cq 1, 48 cq 1");
    p.npu[0].logic = 5; /* a phy id that is known is taken before a logic id */
    p.npu[0].phy = 4;
    expect(0, NULL, 0, "irqs 41 sq 8, 42 cq 9, 43 cq 9");
    p.npu[0].phy = -1;
    expect(0, NULL, 0, "irqs 46 sq 8, 47 cq 9, 48 cq 9");
    p.npu[0].logic = 3;
    expect(0, NULL, 0, "irqs ambiguous");
    p.npu[0].logic = -1;
    expect(0, NULL, 0, "irqs ambiguous");
}

TEST(a_missing_input_leaves_the_interrupts_and_is_named)
{
    set(&p.host, INTERRUPTS, HEAD ROW("99", "cq_update_irq"));
    expect(0, NULL, 0, "irqs no_sq");
    take_away(&p.host, INTERRUPTS);
    expect(0, NULL, 0, "irqs no_interrupts");
    set(&p.host, MSI_A, "lost+found\n-1\n0x10\n99999999999\n2147483648\n007\n");
    expect(0, NULL, 0, "irqs no_msi");
    take_away(&p.host, MSI_A);
    expect(0, NULL, 0, "irqs no_msi");
    p.npu[0].pci.domain = -1;
    expect(0, NULL, 0, "main 10-13; rules acl_thread 14, release_thread 15; irqs no_address");
}

/* A file that this user may not read is as good as none. */
TEST(interrupts_that_cannot_be_read_are_named)
{
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TOO_LONG,
                                                 CPUBIND_INPUT_TIMEOUT};
    for (int32_t i = 0; i < LENGTH(states); i++) {
        p.host.state = states[i];
        p.host.failing = INTERRUPTS;
        expect(0, NULL, 0, "irqs no_interrupts");
        p.host.failing = "sys/bus/pci/devices/0000:c1:00.0/msi_irqs";
        expect(0, NULL, 0, "irqs no_msi");
    }
}

TEST(damaged_interrupts_have_their_place)
{
    static const struct {
        const char *text;
        int32_t offset;
    } cases[] = {{"no table\n", 0},
                 {HEAD "99: 1\n", 32},
                 {HEAD ROW("99", "sq_send_trigger_irq") "100: 1 2  GICv3", -1}, /* its end */
                 {"", 0}};
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        set(&p.host, INTERRUPTS, cases[i].text);
        assert_int_equal(make(0, NULL, 0), CPUBIND_PROBLEM_UNREADABLE);
        assert_int_equal(p.problem.code, CPUBIND_PROBLEM_UNREADABLE);
        assert_string_equal(p.problem.input, INTERRUPTS);
        if (p.problem.offset != (cases[i].offset < 0 ? len : cases[i].offset))
            fail_msg("\"%s\": byte %d: %s", cases[i].text, p.problem.offset, p.problem.what);
        assert_int_equal(p.problem.answer.len, len);
    }
}

/* A header and no row, as on a host whose interrupts are all without a number. */
TEST(interrupts_without_rows_have_no_sq)
{
    set(&p.host, INTERRUPTS, HEAD);
    expect(0, NULL, 0, "irqs no_sq");
}

/* Every arena that is too small gives NO_MEMORY; the first that is large enough, the goal. */
TEST(an_arena_that_is_too_small_is_reported)
{
    const cpubind_thread_wish wish = {.name = "worker", .kind = CPUBIND_WISH_POOL};
    const cpubind_source source = {&p.host, read_input, list_inputs};
    const cpubind_goal_request request = {
        .facts = &p.facts, .plan = &p.plan, .wish = &wish, .n_wish = 1};
    size_t used;
    made(0, &wish, 1);
    used = p.arena.used;
    for (size_t size = 0; size <= used; size++) {
        char *block = (char *)malloc(size ? size : 1);
        cpubind_problem_code code;
        assert_non_null(block);
        p.arena = (cpubind_arena){block, size, 0};
        code = cpubind_goal_make(&source, &request, &p.arena, &p.goal, &p.problem);
        assert_int_equal(code, size < used ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_NONE);
        assert_int_equal(p.problem.code, code);
        p.host.seen[0] = '\0';
        free(block);
    }
}

/* == Interrupts of one function ============================================= */

static int32_t with_mailboxes;

/* The names in the rows 10, 11, ... of a function, and the interrupts found there: "10 12" with
 * the SQ marked "s", "s10 12". NULL: nothing, for this reason. */
typedef struct function {
    const char *names[8];
    int32_t device;
    const char *found;
    cpubind_no_irq why;
} function;

/* Whether a list joined with ", " has a name. */
static int has_name(const char *names, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = names; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
        if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ','))
            return 1;
    return 0;
}

/* The id of an interrupt: its name, and how many of the function before it have that name. */
static void check_id(const function *f, const int32_t *msi, const cpubind_irq_goal *irq)
{
    const char *name = irq->kind == CPUBIND_IRQ_SQ   ? "sq_send_trigger_irq"
                       : irq->kind == CPUBIND_IRQ_CQ ? "cq_update_irq"
                                                     : irq->id.name;
    assert_true(has_name(f->names[irq->irq - 10], name));
    int32_t index = 0;
    for (int32_t i = 0; msi[i] < irq->irq; i++)
        index += msi[i] >= 10 && has_name(f->names[msi[i] - 10], name);
    assert_string_equal(irq->id.name, name);
    assert_int_equal(irq->id.index, index);
    assert_string_equal(irq->id.function, "");
}

static cpubind_no_irq find(const function *f, const int32_t *msi, int32_t n_msi, char *found,
                           size_t cap)
{
    char text[1024] = HEAD;
    cpubind_interrupt all[8];
    const size_t size = (size_t)n_msi * sizeof(cpubind_irq_goal);
    cpubind_irq_goal *out = (cpubind_irq_goal *)malloc(size ? size : 1);
    cpubind_interrupt_list list = {all, 8, 0, 0};
    int32_t n = -1;
    cpubind_irq_search search;
    cpubind_no_irq why;
    assert_non_null(out);
    for (int32_t i = 0; i < 8 && f->names[i]; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%d: 0 0 GICv3 %d Edge      %s\n", 10 + i, 32 + i, f->names[i]);
    assert_int_equal(cpubind_interrupts_parse(text, (int32_t)strlen(text), &list, NULL),
                     CPUBIND_TEXT_OK);
    search = (cpubind_irq_search){text, all, list.n, msi, n_msi, f->device, with_mailboxes};
    why = cpubind_ascend_irqs(&search, out, &n);
    found[0] = '\0';
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(out[i].cpu, -1);
        check_id(f, msi, &out[i]);
        snprintf(found + strlen(found), cap - strlen(found), "%s%s%d", i ? " " : "",
                 out[i].kind == CPUBIND_IRQ_SQ ? "s" : "", out[i].irq);
    }
    free(out);
    return why;
}

static void check_functions(const function *cases, int32_t n_case, const int32_t *msi,
                            int32_t n_msi)
{
    for (int32_t i = 0; i < n_case; i++) {
        char found[256];
        const cpubind_no_irq why = find(&cases[i], msi, n_msi, found, sizeof found);
        if (why != cases[i].why || strcmp(found, cases[i].found ? cases[i].found : "") != 0)
            fail_msg("case %d: %s, \"%s\"", i, cpubind_no_irq_word(why), found);
    }
}

#define SQ   "sq_send_trigger_irq"
#define CQ   "cq_update_irq"
#define BOX0 "trs-mbox-0-0"
#define BOX1 "trs-mbox-1-0"

static const int32_t all_of_them[] = {10, 11, 12, 13, 14, 15, 16, 17};

TEST(one_sq_is_the_devices_whatever_its_mailbox_is_called)
{
    static const function cases[] = {
        {{BOX0, SQ, CQ, CQ}, 0, "s11 12 13", CPUBIND_IRQ_FOUND},
        {{BOX0, SQ, CQ, CQ}, 7, "s11 12 13", CPUBIND_IRQ_FOUND},
        {{BOX0, SQ, CQ, CQ}, -1, "s11 12 13", CPUBIND_IRQ_FOUND},
        {{CQ, CQ, SQ}, 3, "10 11 s12", CPUBIND_IRQ_FOUND},
        {{SQ}, 3, "s10", CPUBIND_IRQ_FOUND},
        {{BOX0, CQ, BOX1, SQ, CQ}, 0, "11 s13 14", CPUBIND_IRQ_FOUND}};
    check_functions(cases, LENGTH(cases), all_of_them, LENGTH(all_of_them));
}

TEST(a_device_has_the_rows_from_its_mailbox_to_the_next)
{
    static const function cases[] = {
        {{BOX0, SQ, CQ, BOX1, SQ, CQ, CQ}, 0, "s11 12", CPUBIND_IRQ_FOUND},
        {{BOX0, SQ, CQ, BOX1, SQ, CQ, CQ}, 1, "s14 15 16", CPUBIND_IRQ_FOUND},
        {{BOX1, SQ, CQ, BOX0, SQ, CQ, CQ}, 0, "s14 15 16", CPUBIND_IRQ_FOUND},
        /* a mailbox of its own for each of its schedulers */
        {{BOX0, SQ, "trs-mbox-0-1", CQ, BOX1, SQ, CQ}, 0, "s11 13", CPUBIND_IRQ_FOUND},
        /* in two places */
        {{BOX0, SQ, BOX1, SQ, CQ, BOX0, CQ}, 0, "s11 16", CPUBIND_IRQ_FOUND},
        {{"trs-mbox-1-0", SQ, "trs-mbox-10-0", SQ}, 1, "s11", CPUBIND_IRQ_FOUND},
        {{"trs-mbox-1-0", SQ, "trs-mbox-10-0", SQ}, 10, "s13", CPUBIND_IRQ_FOUND}};
    check_functions(cases, LENGTH(cases), all_of_them, LENGTH(all_of_them));
}

TEST(mailboxes_are_those_of_the_device)
{
    static const function cases[] = {
        {{"trs-mbox-3-0", "sq_send_trigger_irq", "cq_update_irq"}, 3, "10 s11 12", 0},
        /* the only mailbox of a function with one SQ, whatever its number is */
        {{"trs-mbox-9-0", "sq_send_trigger_irq", "cq_update_irq"}, 3, "10 s11 12", 0},
        {{"trs-mbox-9-0", "sq_send_trigger_irq", "cq_update_irq"}, -1, "10 s11 12", 0},
        {{"trs-mbox-9-0", "trs-mbox-3-0", "sq_send_trigger_irq"}, 3, "11 s12", 0},
        {{"trs-mbox-3-0", "trs-mbox-3-1", "sq_send_trigger_irq"}, 3, "10 11 s12", 0},
        {{"trs-mbox-3-0", "trs-mbox-3-0", "sq_send_trigger_irq"}, 3, "10 11 s12", 0},
        {{"trs-mbox-3-0", "sq_send_trigger_irq", "trs-mbox-4-0", "sq_send_trigger_irq"},
         4,
         "12 s13",
         0},
        {{"trs-mbox-3-0, sq_send_trigger_irq", "cq_update_irq"}, 3, "s10 11", 0},
        {{"trs-mbox-x-0", "sq_send_trigger_irq"}, 3, "s11", 0},
    };
    with_mailboxes = 1;
    check_functions(cases, LENGTH(cases), (const int32_t[]){10, 11, 12, 13}, 4);
    with_mailboxes = 0;
}

TEST(devices_without_distinct_mailboxes_are_ambiguous)
{
    static const function cases[] = {
        {{BOX0, SQ, CQ, BOX1, SQ, CQ}, 2, NULL, CPUBIND_IRQ_AMBIGUOUS},
        {{BOX0, SQ, CQ, BOX1, SQ, CQ}, -1, NULL, CPUBIND_IRQ_AMBIGUOUS},
        {{SQ, CQ, SQ, CQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS},
        /* the second device has no mailbox: its SQ would pass for the first one's */
        {{BOX0, SQ, CQ, SQ, CQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS},
        /* its mailbox, and two SQs of other devices */
        {{BOX0, CQ, BOX1, SQ, "trs-mbox-2-0", SQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS},
        /* names that only resemble a mailbox */
        {{"trs-mbox-0", SQ, "trs-mbox-1", SQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS},
        {{"trs-mbox--0", SQ, "trs-mbox-00-0", SQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS},
        {{"my-trs-mbox-0-0", SQ, "trs-mbox-0x-0", SQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS},
        {{"trs-mbox-4294967296-0", SQ, BOX1, SQ}, 0, NULL, CPUBIND_IRQ_AMBIGUOUS}};
    check_functions(cases, LENGTH(cases), all_of_them, LENGTH(all_of_them));
}

TEST(names_are_compared_whole)
{
    static const function cases[] = {
        {{BOX0, "sq_send_trigger_irq0", CQ}, 0, NULL, CPUBIND_IRQ_NO_SQ},
        {{BOX0, "sq_send_trigger", CQ}, 0, NULL, CPUBIND_IRQ_NO_SQ},
        {{BOX0, "old sq_send_trigger_irq", CQ}, 0, NULL, CPUBIND_IRQ_NO_SQ},
        {{BOX0, "SQ_SEND_TRIGGER_IRQ", CQ}, 0, NULL, CPUBIND_IRQ_NO_SQ},
        {{SQ, "cq_update_bind_thread_irq", "func_cq_irq", "cq_update_irq2", CQ},
         0,
         "s10 14",
         CPUBIND_IRQ_FOUND}};
    check_functions(cases, LENGTH(cases), all_of_them, LENGTH(all_of_them));
}

/* The kernel joins the names of handlers that share an interrupt with ", ". */
TEST(shared_handlers_each_count)
{
    static const function cases[] = {
        {{"eth0-rx, " SQ, CQ ", eth0-tx"}, 0, "s10 11", CPUBIND_IRQ_FOUND},
        {{BOX0 ", " SQ, CQ, BOX1 ", " SQ, CQ}, 0, "s10 11", CPUBIND_IRQ_FOUND},
        {{BOX0 ", " SQ, CQ, SQ ", " BOX1, CQ}, 1, "s12 13", CPUBIND_IRQ_FOUND},
        {{CQ ", " SQ, CQ ", " CQ}, 0, "s10 11", CPUBIND_IRQ_FOUND}};
    check_functions(cases, LENGTH(cases), all_of_them, LENGTH(all_of_them));
}

TEST(only_interrupts_of_the_function_count)
{
    static const int32_t second[] = {2, 13, 14, 15, 900}, none[] = {9, 18};
    static const function whole[] = {
        {{BOX0, SQ, CQ, BOX1, SQ, CQ}, 0, "s14 15", CPUBIND_IRQ_FOUND}};
    static const function others[] = {{{BOX0, SQ, CQ}, 0, NULL, CPUBIND_IRQ_NO_SQ}};
    check_functions(whole, 1, second, LENGTH(second));
    check_functions(others, 1, none, LENGTH(none));
    check_functions(others, 1, NULL, 0);
}

/* == Words ================================================================== */

TEST(every_reason_has_a_word)
{
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_FOUND), "found");
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_NO_ROLE), "no_role");
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_NO_ADDRESS), "no_address");
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_NO_MSI), "no_msi");
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_NO_INTERRUPTS), "no_interrupts");
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_NO_SQ), "no_sq");
    assert_string_equal(cpubind_no_irq_word(CPUBIND_IRQ_AMBIGUOUS), "ambiguous");
    for (int why = CPUBIND_IRQ_FOUND; why <= CPUBIND_IRQ_AMBIGUOUS; why++) {
        const char *text = cpubind_no_irq_text((cpubind_no_irq)why);
        assert_true(strlen(text) > 10 && text[strlen(text) - 1] != '.');
        for (int other = CPUBIND_IRQ_FOUND; other < why; other++)
            assert_string_not_equal(text, cpubind_no_irq_text((cpubind_no_irq)other));
    }
}

/* == From a host ============================================================ */

/* Two dies behind two functions, planned by slices, which need no address for the plan. */
TEST(a_plan_that_asked_for_addresses_leads_to_interrupts)
{
    static const int32_t both[] = {0, 1};
    memory_host h;
    cpubind_request request = ask_reference();
    attempt a;
    cpubind_goal_request asked;
    cpubind_goal goal;
    cpubind_problem problem;
    const cpubind_source source = {&h, read_input, list_inputs};
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-19\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-9\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "10-19\n");
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t1        0         0               0             Ascend910\n"
        "\t1        1         1               1             Ascend910\n");
    set(&h, "cmd/npu-smi-info.txt",
        "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"
        "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 1     Ascend910           | OK            | 160.1       36                   |\n"
        "| 0     0                   | 0000:9D:00.0  | 0           0    / 0             |\n"
        "| 1     Ascend910           | OK            | -           36                   |\n"
        "| 1     1                   | 0000:9F:00.0  | 0           0    / 0             |\n");
    set(&h, "sys/bus/pci/devices/0000:9f:00.0/msi_irqs/", "1000\n1001\n999\n");
    set(&h, INTERRUPTS,
        HEAD ROW("999", "trs-mbox-1-0") ROW("1000", SQ) ROW("1001", CQ) ROW("1002", CQ));
    request.device = both;
    request.n_device = 2;
    request.wants_pci = 1;
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    asked = (cpubind_goal_request){.facts = &a.facts, .plan = &a.plan, .row = 1};
    assert_int_equal(cpubind_goal_make(&source, &asked, &a.arena, &goal, &problem),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(goal.device, 1);
    expect_cpus(goal.main, 12, 17);
    assert_int_equal(goal.memory_node, 1);
    assert_int_equal(goal.n_irq, 2);
    assert_int_equal(goal.irq[0].irq, 1000);
    assert_int_equal(goal.irq[0].cpu, 10);
    assert_int_equal(goal.irq[1].irq, 1001);
    assert_int_equal(goal.irq[1].cpu, 11);
    /* 10 CPUs: the processes share the two of interrupts; the last has the rest of the eight */
    for (asked.n_process = 2; asked.process < 2; asked.process++) {
        const int32_t first = 12 + 4 * asked.process;
        assert_int_equal(cpubind_goal_make(&source, &asked, &a.arena, &goal, &problem),
                         CPUBIND_PROBLEM_NONE);
        expect_cpus(goal.main, first, first + 1);
        expect_cpus(goal.rule[0].cpus, first + 2, first + 2);
        expect_cpus(goal.rule[1].cpus, first + 3, first + 3);
        assert_int_equal(goal.irq[0].cpu, 10);
        assert_int_equal(goal.irq[1].cpu, 11);
    }
    assert_int_equal(cpubind_goal_make(&source, &asked, &a.arena, &goal, &problem),
                     CPUBIND_PROBLEM_BAD_REQUEST);
    asked.process = 0;
    asked.n_process = 3;                         /* of one CPU less than three need */
    for (; asked.process < 3; asked.process++) { /* all of them have all of it */
        assert_int_equal(goal.is_shared, 0);
        assert_int_equal(cpubind_goal_make(&source, &asked, &a.arena, &goal, &problem),
                         CPUBIND_PROBLEM_NONE);
        assert_int_equal(goal.is_shared, 1);
        expect_cpus(goal.main, 12, 17);
        expect_cpus(goal.rule[0].cpus, 18, 18);
        goal.is_shared = 0;
    }
    drop(&a);
}

TEST_FILE(start, NULL)
