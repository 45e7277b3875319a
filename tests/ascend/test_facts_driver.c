/* test_facts_driver.c - the NPUs of a host by the files of its driver, without npu-smi
 * SPDX-License-Identifier: MIT
 */
#include "memory_source.h"

#include "../../adapters/ascend/driver_reader.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* == A host ================================================================= */

enum { N_FUNCTION = 4 };

/* The bus has the functions in this order; their phy ids are 2, 3, 0, 1. */
static const cpubind_pci_address addresses[N_FUNCTION] = {
    {0, 0x01, 0, 0}, {0, 0x02, 0, 0}, {0, 0xc1, 0, 0}, {0, 0xc2, 0, 0}};

#define PCI        "sys/bus/pci/devices/0000:"
#define INTERRUPTS "proc/interrupts"
#define NAMESPACES "proc/uda/namespace_node"
#define PROCESSES  "proc/trs_core/proc/"
#define ROW(irq, names)                                                                        \
    irq ":          7  ITS-PCI-MSI-0000:c1:00.0 " irq " Edge      " names "\n"
#define ROWS(irq, phy)                                                                         \
    ROW(irq "0", "trs-mbox-" phy "-0")                                                         \
    ROW(irq "1", "sq_send_trigger_irq") ROW(irq "2", "trs-mbox-" phy "-1")
#define HEAD      "           CPU0\n"
#define MAILBOXES HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "2") ROWS("13", "3")
#define TABLE(n, mark)                                                                         \
    "ns_id 1 identify 1 root_tgid 1 dev_num " n " namespace 1" mark ", udev list:\n"           \
    "logic_devid udevid\n"
#define OLD_TABLE "c1:00.0 ---> 0\nc2:00.0 ---> 1\n01:00.0 ---> 2\n02:00.0 ---> 3\n"
#define NEW_TABLE                                                                              \
    "bdf      udevid add_id\nc1:00.0  0      0    \nc2:00.0  1      1    \n"                   \
    "01:00.0  2      2    \n02:00.0  3      3    \n"

typedef struct trial {
    memory_host host;
    cpubind_function function[N_FUNCTION];
    cpubind_facts facts;
    cpubind_request request;
    cpubind_problem problem;
    cpubind_arena arena;
    driver_view view;
    cpubind_problem_code code;
} trial;

static trial t; /* that of the test */
static char block[32768];

SETUP(start)
{
    memset(&t, 0, sizeof t);
    for (int32_t i = 0; i < N_FUNCTION; i++) {
        t.function[i].pci = addresses[i];
        t.function[i].n_device = 1;
        t.function[i].phy[0] = t.function[i].phy[1] = -1;
    }
    t.facts.function = t.function;
    t.facts.n_function = N_FUNCTION;
    set(&t.host, INTERRUPTS, MAILBOXES);
    set(&t.host, PCI "01:00.0/msi_irqs/", "120\n121\n122\n");
    set(&t.host, PCI "02:00.0/msi_irqs/", "130\n131\n132\n");
    set(&t.host, PCI "c1:00.0/msi_irqs/", "100\n101\n102\n99\n");
    set(&t.host, PCI "c2:00.0/msi_irqs/", "110\n111\n112\n");
    set(&t.host, "dev/", "davinci0\ndavinci1\ndavinci2\ndavinci3\n");
    set(&t.host, "dev/davinci0", "236:0\n");
    set(&t.host, "dev/davinci1", "236:1\n");
    set(&t.host, "dev/davinci2", "236:2\n");
    set(&t.host, "dev/davinci3", "236:3\n");
    set(&t.host, PROCESSES, "4242-1-dev-3\n4243-2-dev-3\n77-9-dev-0\n");
    return 0;
}

static void read_with(size_t size)
{
    const cpubind_source source = {&t.host, read_input, list_inputs};
    facts_reader r;
    memset(&r, 0, sizeof r);
    t.host.seen[0] = '\0';
    t.arena = (cpubind_arena){block, size, 0};
    cpubind_problem_clear(&t.problem);
    r.source = &source;
    r.request = &t.request;
    r.arena = &t.arena;
    r.facts = &t.facts;
    r.problem = &t.problem;
    t.code = cpubind_priv_read_driver(&r, &t.view);
}

static void expect_outcome(driver_outcome outcome, const char *input)
{
    read_with(sizeof block);
    if (t.code != CPUBIND_PROBLEM_NONE)
        fail_msg("%s: %s", t.problem.input, t.problem.what);
    if (t.view.outcome != outcome)
        fail_msg("outcome %d: %s: %s", t.view.outcome, t.view.why.input, t.view.why.what);
    if (outcome == DRIVER_COMPLETE)
        return;
    assert_string_equal(t.view.why.input, input);
    assert_non_null(t.view.why.what);
    assert_int_equal(t.view.why.code, CPUBIND_PROBLEM_UNREADABLE);
    assert_int_equal(t.problem.code, CPUBIND_PROBLEM_NONE);
}

static void expect_gap(const char *input)
{
    expect_outcome(DRIVER_GAP, input);
}

static void expect_contradiction(const char *input)
{
    expect_outcome(DRIVER_CONTRADICTION, input);
}

/* The reading fails at an input. */
static void expect_failure(const char *input)
{
    read_with(sizeof block);
    assert_int_equal(t.code, CPUBIND_PROBLEM_UNREADABLE);
    assert_string_equal(t.problem.input, input);
    assert_non_null(t.problem.what);
}

/* The NPUs in view have these phy ids, by ascending logic id from 0, and their functions. */
static void expect_npus(const char *phys)
{
    int32_t n = 0;
    expect_outcome(DRIVER_COMPLETE, NULL);
    for (const char *at = phys; *at; n++) {
        char *end;
        const int32_t phy = (int32_t)strtol(at, &end, 10);
        const cpubind_device *npu = &t.view.npu[n];
        const cpubind_function *function = &t.function[npu->function];
        assert_true(n < t.view.n_npu);
        assert_int_equal(npu->logic, n);
        assert_int_equal(npu->phy, phy);
        assert_int_equal(npu->card, -1);
        assert_int_equal(npu->chip, -1);
        assert_memory_equal(&npu->pci, &function->pci, sizeof npu->pci);
        assert_true(function->phy[0] == phy || function->phy[1] == phy);
        at = end;
    }
    assert_int_equal(t.view.n_npu, n);
}

static void give_root(const char *table)
{
    static const char *const ids[] = {"2\n", "3\n", "0\n", "1\n"};
    static const char *const functions[N_FUNCTION][3] = {
        {PCI "01:00.0/dev_id", PCI "01:00.0/davinci_dev_num",
         PCI "01:00.0/devdrv_sysfs_bdf_to_devid"},
        {PCI "02:00.0/dev_id", PCI "02:00.0/davinci_dev_num",
         PCI "02:00.0/devdrv_sysfs_bdf_to_devid"},
        {PCI "c1:00.0/dev_id", PCI "c1:00.0/davinci_dev_num",
         PCI "c1:00.0/devdrv_sysfs_bdf_to_devid"},
        {PCI "c2:00.0/dev_id", PCI "c2:00.0/davinci_dev_num",
         PCI "c2:00.0/devdrv_sysfs_bdf_to_devid"}};
    for (int32_t i = 0; i < N_FUNCTION; i++) {
        set(&t.host, functions[i][0], ids[i]);
        set(&t.host, functions[i][1], "1\n");
        set(&t.host, functions[i][2], table);
    }
    set(&t.host, NAMESPACES, TABLE("4", "(#)") "0 0\n1 1\n2 2\n3 3\n\n\n");
}

/* == Complete =============================================================== */

TEST(the_files_of_any_user_name_every_npu)
{
    expect_npus("0 1 2 3");
    assert_int_equal(t.view.npu[0].function, 2);
    assert_int_equal(t.view.npu[3].function, 1);
    for (int32_t i = 0; i < N_FUNCTION; i++) {
        assert_int_equal(t.function[i].n_device, 1);
        assert_int_equal(t.function[i].phy[0], (i + 2) % 4);
        assert_int_equal(t.function[i].phy[1], -1);
    }
    assert_true(t.view.has_processes);
    assert_true(t.view.npu[0].is_running && t.view.npu[3].is_running);
    assert_false(t.view.npu[1].is_running || t.view.npu[2].is_running);
    assert_int_equal(t.facts.warnings, 0);
}

TEST(root_reads_the_same_as_another_user)
{
    static const char *const tables[] = {OLD_TABLE, NEW_TABLE};
    for (int32_t i = 0; i < LENGTH(tables); i++) {
        (void)start(NULL);
        give_root(tables[i]);
        expect_npus("0 1 2 3");
    }
}

/* A container has the node of the NPU that it may open, and the whole bus. */
TEST(a_container_numbers_the_npus_that_it_may_open_from_0)
{
    set(&t.host, "dev/", "davinci1\ndavinci3\n");
    expect_npus("1 3");
    assert_int_equal(t.function[2].phy[0], 0);
    give_root(OLD_TABLE);
    set(&t.host, NAMESPACES,
        TABLE("4", "") "0 0\n1 1\n2 2\n3 3\n\n\n" TABLE("2", "(#)") "0 1\n1 3\n\n\n");
    expect_npus("1 3");
}

TEST(the_own_table_is_enough_without_device_nodes)
{
    take_away(&t.host, "dev/");
    set(&t.host, NAMESPACES, TABLE("2", "(#)") "1 1\n0 3\n\n\n");
    expect_npus("3 1");
}

TEST(the_minor_number_of_a_node_is_the_device_whatever_its_name)
{
    set(&t.host, "dev/", "davinci0\ndavinci1\ndavinci12\ndavinci_manager\nnull\n");
    set(&t.host, "dev/davinci0", "236:2\n");
    set(&t.host, "dev/davinci1", "236:1\n");
    set(&t.host, "dev/davinci12", "236:2\n");
    expect_npus("1 2");
}

TEST(two_npus_of_one_function_are_both_named)
{
    static const char *const tables[] = {
        NULL, "01:00.0 ---> 2\n01:00.0 ---> 3\n02:00.0 ---> 0\n02:00.0 ---> 1\n",
        "bdf udevid add_id\n01:00.0 2 2\n01:00.0 3 3\n02:00.0 0 0\n02:00.0 1 1\n"};
    for (int32_t i = 0; i < LENGTH(tables); i++) {
        (void)start(NULL);
        t.facts.n_function = 2;
        set(&t.host, INTERRUPTS,
            HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "3") ROWS("13", "2"));
        set(&t.host, PCI "01:00.0/msi_irqs/", "120\n121\n122\n130\n131\n132\n");
        set(&t.host, PCI "02:00.0/msi_irqs/", "100\n101\n102\n110\n111\n112\n");
        if (tables[i]) {
            set(&t.host, PCI "01:00.0/davinci_dev_num", "2\n");
            set(&t.host, PCI "01:00.0/dev_id", "3\n");
            set(&t.host, PCI "01:00.0/devdrv_sysfs_bdf_to_devid", tables[i]);
        }
        expect_npus("0 1 2 3");
        assert_int_equal(t.function[0].n_device, 2);
        assert_int_equal(t.function[0].phy[0], 2);
        assert_int_equal(t.function[0].phy[1], 3);
    }
}

TEST(an_address_of_two_domains_is_told_apart_by_its_mailbox)
{
    t.function[3].pci = (cpubind_pci_address){1, 0xc1, 0, 0};
    set(&t.host, "sys/bus/pci/devices/0001:c1:00.0/msi_irqs/", "110\n111\n112\n");
    expect_npus("0 1 2 3");
    give_root("c1:00.0 ---> 0\nc1:00.0 ---> 1\n01:00.0 ---> 2\n02:00.0 ---> 3\n");
    expect_npus("0 1 2 3");
    give_root("0000:c1:00.0 ---> 0\n0001:c1:00.0 ---> 1\n01:00.0 ---> 2\n02:00.0 ---> 3\n");
    expect_npus("0 1 2 3");
    give_root("0000:c1:00.0 ---> 1\n0001:c1:00.0 ---> 0\n01:00.0 ---> 2\n02:00.0 ---> 3\n");
    expect_contradiction(PCI "01:00.0/devdrv_sysfs_bdf_to_devid");
}

/* The driver prints nothing when it does not know a number, and a user who is not root gets no
 * answer. */
TEST(an_empty_or_forbidden_cross_check_says_nothing)
{
    static const char *const names[] = {PCI "01:00.0/dev_id", PCI "01:00.0/davinci_dev_num",
                                        PCI "01:00.0/devdrv_sysfs_bdf_to_devid", NAMESPACES};
    for (int32_t i = 0; i < LENGTH(names); i++) {
        (void)start(NULL);
        give_root(OLD_TABLE);
        if (i < 3) {
            set(&t.host, names[i], "");
            expect_npus("0 1 2 3");
        }
        t.host.failing = names[i];
        t.host.state = CPUBIND_INPUT_FAILED;
        t.host.error = 13;
        expect_npus("0 1 2 3");
        t.host.error = 1;
        expect_npus("0 1 2 3");
    }
}

TEST(a_table_without_a_mark_says_nothing)
{
    set(&t.host, NAMESPACES, TABLE("1", "") "0 2\n\n\n");
    expect_npus("0 1 2 3");
    take_away(&t.host, "dev/");
    expect_gap("dev");
}

TEST(several_namespaces_with_one_device_are_no_contradiction)
{
    set(&t.host, "dev/", "davinci1\n");
    set(&t.host, NAMESPACES,
        TABLE("2", "") "0 0\n1 1\n\n\n" TABLE("1", "(#)") "0 1\n\n\n" TABLE("1", "") "0 1\n");
    expect_npus("1");
}

/* Names the mailboxes by the folders of the interrupts alone, as in a container whose runtime
 * hides /proc/interrupts. */
static void hide_interrupts(void)
{
    take_away(&t.host, INTERRUPTS);
    set(&t.host, "proc/irq/99/", "smp_affinity\n");
    set(&t.host, "proc/irq/100/", "smp_affinity\ntrs-mbox-0-0\n");
    set(&t.host, "proc/irq/110/", "trs-mbox-1-0\n");
    set(&t.host, "proc/irq/120/", "trs-mbox-2-0\n");
    set(&t.host, "proc/irq/130/", "trs-mbox-3-0\n");
}

TEST(the_folders_of_interrupts_name_the_npus_that_proc_interrupts_names)
{
    cpubind_function by_interrupts[N_FUNCTION];
    for (int32_t is_root = 0; is_root < 2; is_root++) {
        (void)start(NULL);
        if (is_root)
            give_root(NEW_TABLE);
        expect_npus("0 1 2 3");
        memcpy(by_interrupts, t.function, sizeof by_interrupts);
        (void)start(NULL);
        if (is_root)
            give_root(NEW_TABLE);
        hide_interrupts();
        expect_npus("0 1 2 3");
        assert_memory_equal(t.function, by_interrupts, sizeof by_interrupts);
    }
}

TEST(the_folders_of_interrupts_name_both_npus_of_a_function)
{
    for (int32_t is_known = 0; is_known < 2; is_known++) {
        (void)start(NULL);
        t.facts.n_function = 2;
        hide_interrupts();
        set(&t.host, PCI "01:00.0/msi_irqs/", "120\n121\n122\n130\n131\n132\n");
        set(&t.host, PCI "02:00.0/msi_irqs/", "100\n101\n102\n110\n111\n112\n");
        t.facts.type = is_known ? CPUBIND_TYPE_A2 : CPUBIND_TYPE_300I;
        if (is_known) {
            set(&t.host, PCI "01:00.0/davinci_dev_num", "2\n");
            set(&t.host, PCI "02:00.0/davinci_dev_num", "2\n");
        }
        expect_npus("0 1 2 3");
        assert_int_equal(t.function[0].phy[0], 2);
        assert_int_equal(t.function[0].phy[1], 3);
    }
}

TEST(folders_of_interrupts_that_lack_a_mailbox_or_fail_are_not_passed_over)
{
    hide_interrupts();
    take_away(&t.host, "proc/irq/130/");
    expect_gap(INTERRUPTS);
    (void)start(NULL);
    hide_interrupts();
    set(&t.host, "proc/irq/130/", "trs-mbox-116-0\n");
    expect_gap("proc/irq/130");
    (void)start(NULL);
    hide_interrupts();
    set(&t.host, "proc/irq/130/", "trs-mbox-2-0\n");
    expect_contradiction(INTERRUPTS);
    (void)start(NULL);
    hide_interrupts();
    t.host.failing = "proc/irq/130";
    t.host.state = CPUBIND_INPUT_FAILED;
    expect_failure("proc/irq/130");
}

/* == Running ================================================================ */

/* The pid is one of the host: an entry counts whether or not this process can see it. */
TEST(an_entry_counts_whichever_process_it_names)
{
    set(&t.host, PROCESSES, "2147483647-9223372036854775807-dev-1\n1-0-dev-9\n5-1-dev-116\n");
    expect_outcome(DRIVER_COMPLETE, NULL);
    assert_true(t.view.npu[1].is_running);
    assert_false(t.view.npu[0].is_running);
    assert_int_equal(t.facts.warnings, 0);
}

TEST(a_name_that_is_no_process_is_passed_over_and_named)
{
    set(&t.host, PROCESSES, "1-0-dev-1\nfoo) bar-3-dev-2\n99999999999-0-dev-3\n");
    expect_outcome(DRIVER_COMPLETE, NULL);
    assert_true(t.view.npu[1].is_running);
    assert_false(t.view.npu[2].is_running || t.view.npu[3].is_running);
    assert_int_equal(t.facts.warnings, 1u << CPUBIND_WARNING_UNKNOWN_TEXT);
    assert_string_equal(t.facts.unknown_input, "proc/trs_core/proc");
    assert_int_equal(t.facts.unknown.len, strlen("foo) bar-3-dev-2"));
    assert_memory_equal(t.facts.unknown_answer.data + t.facts.unknown.at, "foo) bar", 8);
}

TEST(no_list_of_processes_is_no_gap)
{
    take_away(&t.host, PROCESSES);
    expect_outcome(DRIVER_COMPLETE, NULL);
    assert_false(t.view.has_processes);
    (void)start(NULL);
    t.host.failing = "proc/trs_core/proc";
    t.host.state = CPUBIND_INPUT_FAILED;
    expect_outcome(DRIVER_COMPLETE, NULL);
    assert_false(t.view.has_processes);
    t.request.only_running = 1;
    expect_failure("proc/trs_core/proc");
}

/* == Gaps =================================================================== */

TEST(a_host_without_an_npu_on_its_bus_has_a_gap)
{
    t.facts.n_function = 0;
    expect_gap("sys/bus/pci/devices");
}

TEST(missing_files_are_gaps)
{
    static const struct {
        const char *name, *input;
    } cases[] = {{INTERRUPTS, INTERRUPTS},
                 {PCI "c1:00.0/msi_irqs/", PCI "c1:00.0/msi_irqs"},
                 {"dev/", "dev"}};
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        (void)start(NULL);
        take_away(&t.host, cases[i].name);
        expect_gap(cases[i].input);
    }
}

TEST(npus_without_a_mailbox_are_gaps)
{
    static const char *const texts[] = {
        HEAD,                                                 /* a 950, a VM */
        HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "2"), /* not started */
        HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "2") ROWS("13", "116"), /* virtual */
        MAILBOXES ROW("140", "trs-mbox-4-0"), /* not on the bus */
        HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "2") ROW("130", "trs-mbox-3-0")
            ROW("131", "trs-mbox-4-0"), /* one function has two NPUs, the others one */
    };
    for (int32_t i = 0; i < LENGTH(texts); i++) {
        (void)start(NULL);
        set(&t.host, INTERRUPTS, texts[i]);
        expect_gap(INTERRUPTS);
        assert_int_equal(t.function[2].phy[0], -1);
    }
}

TEST(an_npu_that_has_not_started_is_a_gap_for_root)
{
    give_root(OLD_TABLE);
    set(&t.host, PCI "02:00.0/davinci_dev_num", "2\n");
    expect_gap(PCI "02:00.0/davinci_dev_num");
}

TEST(virtual_npus_in_view_are_a_gap)
{
    set(&t.host, "dev/", "davinci116\n");
    set(&t.host, "dev/davinci116", "236:116\n");
    expect_gap("dev");
    assert_int_equal(t.function[2].phy[0], 0);
    take_away(&t.host, "dev/");
    set(&t.host, NAMESPACES, TABLE("1", "(#)") "0 116\n");
    expect_gap(NAMESPACES);
}

TEST(a_process_that_may_open_no_npu_has_a_gap)
{
    set(&t.host, "dev/", "");
    expect_gap("dev");
}

/* == Contradictions ========================================================= */

TEST(mailboxes_that_disagree_are_contradictions)
{
    static const char *const texts[] = {
        HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "2") ROWS("13", "2"),
        HEAD ROWS("10", "0") ROWS("11", "1") ROWS("12", "2") ROW("130", "trs-mbox-3-0")
            ROW("131", "trs-mbox-4-0") ROW("132", "trs-mbox-5-0"),
    };
    for (int32_t i = 0; i < LENGTH(texts); i++) {
        (void)start(NULL);
        set(&t.host, INTERRUPTS, texts[i]);
        expect_contradiction(INTERRUPTS);
    }
    (void)start(NULL);
    set(&t.host, PCI "c2:00.0/msi_irqs/", "100\n110\n111\n112\n");
    expect_contradiction(PCI "c2:00.0/msi_irqs");
}

TEST(cross_checks_that_disagree_are_contradictions)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        {PCI "c1:00.0/dev_id", "1\n"},
        {PCI "c1:00.0/davinci_dev_num", "0\n"},
        {PCI "01:00.0/devdrv_sysfs_bdf_to_devid",
         "c1:00.0 ---> 1\nc2:00.0 ---> 0\n01:00.0 ---> 2\n02:00.0 ---> 3\n"},
        {PCI "01:00.0/devdrv_sysfs_bdf_to_devid", "c1:00.0 ---> 0\nc2:00.0 ---> 1\n"},
        {PCI "01:00.0/devdrv_sysfs_bdf_to_devid", "bdf udevid add_id\n"},
        {NAMESPACES, TABLE("4", "(#)") "0 0\n1 2\n2 1\n3 3\n"},
        {NAMESPACES, TABLE("3", "(#)") "0 0\n1 1\n2 2\n"},
        {NAMESPACES, TABLE("4", "(#)") "0 0\n1 1\n2 2\n4 3\n"},
        {NAMESPACES, TABLE("0", "(#)") "\n"},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        (void)start(NULL);
        give_root(OLD_TABLE);
        set(&t.host, cases[i].name, cases[i].text);
        expect_contradiction(cases[i].name);
    }
}

TEST(a_node_without_an_npu_on_the_bus_is_a_contradiction)
{
    set(&t.host, "dev/davinci3", "236:7\n");
    expect_contradiction("dev");
    (void)start(NULL);
    set(&t.host, "dev/davinci3", "237:3\n");
    expect_contradiction("dev/davinci3");
}

/* == Failures =============================================================== */

TEST(a_file_that_cannot_be_read_is_a_failure)
{
    static const char *const names[] = {
        INTERRUPTS,
        PCI "c1:00.0/msi_irqs",
        PCI "c1:00.0/dev_id",
        PCI "c1:00.0/davinci_dev_num",
        PCI "01:00.0/devdrv_sysfs_bdf_to_devid",
        "dev",
        "dev/davinci2",
        NAMESPACES,
    };
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                                 CPUBIND_INPUT_TOO_LONG};
    for (int32_t i = 0; i < LENGTH(names); i++)
        for (int32_t k = 0; k < LENGTH(states); k++) {
            (void)start(NULL);
            give_root(OLD_TABLE);
            t.host.failing = names[i];
            t.host.state = states[k];
            expect_failure(names[i]);
        }
}

/* What any user must be able to read is no right of root. */
TEST(a_refusal_of_a_file_for_all_users_is_a_failure)
{
    static const char *const names[] = {INTERRUPTS, PCI "c1:00.0/msi_irqs", "dev"};
    for (int32_t i = 0; i < LENGTH(names); i++) {
        (void)start(NULL);
        t.host.failing = names[i];
        t.host.state = CPUBIND_INPUT_FAILED;
        t.host.error = 13;
        expect_failure(names[i]);
    }
}

TEST(a_damaged_file_is_a_failure_with_its_place)
{
    static const struct {
        const char *name, *text;
        int32_t offset;
    } cases[] = {
        {INTERRUPTS, "", 0},
        {INTERRUPTS, HEAD "100: x\n", (int32_t)sizeof HEAD - 1 + 5},
        {INTERRUPTS, HEAD "100:          7  GICv3", (int32_t)sizeof HEAD - 1 + 22},
        {PCI "c1:00.0/dev_id", "x\n", 0},
        {PCI "c1:00.0/davinci_dev_num", "1x\n", 1},
        {PCI "01:00.0/devdrv_sysfs_bdf_to_devid", "c1:00.0 -> 0\n", 0},
        {"dev/davinci1", "236\n", 3},
        {NAMESPACES, TABLE("2", "(#)") "0 0\n", (int32_t)sizeof(TABLE("2", "(#)") "0 0\n") - 1},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        (void)start(NULL);
        give_root(OLD_TABLE);
        set(&t.host, cases[i].name, cases[i].text);
        expect_failure(cases[i].name);
        assert_int_equal(t.problem.offset, cases[i].offset);
    }
}

TEST(a_node_that_is_listed_and_not_there_is_a_failure)
{
    take_away(&t.host, "dev/davinci2");
    expect_failure("dev/davinci2");
}

TEST(an_arena_that_is_too_small_is_reported)
{
    size_t size = 0;
    give_root(NEW_TABLE);
    for (;; size += 16) {
        read_with(size);
        if (t.code == CPUBIND_PROBLEM_NONE)
            break;
        assert_int_equal(t.code, CPUBIND_PROBLEM_NO_MEMORY);
    }
    assert_int_equal(t.view.outcome, DRIVER_COMPLETE);
    assert_int_equal(t.view.n_npu, 4);
    assert_in_range(size, 1024, 16384);
}

TEST_FILE(start, NULL)
