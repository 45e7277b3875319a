/* test_device_workers.c - who uses which accelerator, on a host of files
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "../../adapters/host/device_workers.h"
#include "../linux/fault_table.h"
#include "../support/cmocka_test.h"
#include "host_tree.h"

static cpubind_sys sys;
static cpubind_linux_host *host;
static char memory[1 << 20];
static cpubind_pci_facts facts;
static cpubind_device_nodes nodes;
static const cpubind_pci_request request = {.wants_cores = 1};

static void put_gpu(int bus, int minor)
{
    static const struct {
        const char *leaf, *text;
    } leaves[] = {{"class", "0x030200\n"},
                  {"vendor", "0x10de\n"},
                  {"device", "0x2330\n"},
                  {"numa_node", "0\n"},
                  {"local_cpulist", "0-7\n"}};
    char name[128], text[64];
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        snprintf(name, sizeof name, "sys/bus/pci/devices/0000:%02x:00.0/%s", (unsigned)bus,
                 leaves[i].leaf);
        scratch_file(&tree.s, name, leaves[i].text);
    }
    snprintf(name, sizeof name, "sys/bus/pci/devices/0000:%02x:00.0/drm/renderD%d",
             (unsigned)bus, 128 + minor);
    scratch_file(&tree.s, name, "");
    snprintf(name, sizeof name, "proc/driver/nvidia/gpus/0000:%02x:00.0/information",
             (unsigned)bus);
    snprintf(text, sizeof text, "Model: \t H100\nDevice Minor: \t %d\n", minor);
    scratch_file(&tree.s, name, text);
}

/* Two GPUs, device 0 and 1 by address, whose minor numbers are 1 and 0. */
static int set_up(void **state)
{
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_pci_fault pci_fault;
    cpubind_source source;
    (void)state;
    tree_make();
    sys = tree_table();
    scratch_file(&tree.s, "sys/devices/system/cpu/online", "0-7\n");
    scratch_file(&tree.s, "sys/devices/system/node/node0/cpulist", "0-7\n");
    put_gpu(0x0a, 1);
    put_gpu(0x0b, 0);
    const cpubind_linux_live live = {
        .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = 1, .sys = &sys};
    scratch_file(&tree.s, "proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n");
    assert_int_equal(cpubind_linux_open_live(&live, &host, NULL), CPUBIND_LINUX_OK);
    source = cpubind_linux_source(host);
    assert_int_equal(cpubind_pci_read(&source, &request, &arena, &facts, &pci_fault),
                     CPUBIND_PCI_OK);
    assert_int_equal(facts.n_device, 2);
    assert_int_equal(cpubind_device_nodes_read(&source, &facts, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cpubind_linux_close(host);
    tree_remove();
    return 0;
}

static void add(int32_t pid, const char *environment)
{
    const tree_process p = {pid, pid, "python3", "0-7", "0::/\n", environment, 0};
    tree_add(&p);
}

static void open_file(int32_t pid, int fd, const char *path)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/fd/%d", (int)pid, fd);
    scratch_link(&tree.s, name, path);
}

/* A process that computes has this file open, too. */
static void add_computing(int32_t pid, const char *environment)
{
    add(pid, environment);
    open_file(pid, 9, "/dev/nvidia-uvm");
}

static void add_child(int32_t pid, int32_t parent, const char *environment)
{
    char text[128], leaf[32];
    const int n = snprintf(text, sizeof text,
                           "%d (python3) S %d %d %d 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 "
                           "0 0\n",
                           (int)pid, (int)parent, (int)pid, (int)pid, (int)pid);
    add(pid, environment);
    snprintf(leaf, sizeof leaf, "proc/%d/task/%d/stat", (int)pid, (int)pid);
    scratch_need(unlinkat(tree.dir, leaf, 0) == 0, "unlink");
    tree_file(pid, leaf + sizeof "proc/" + (size_t)snprintf(NULL, 0, "%d", (int)pid), text,
              (size_t)n);
}

static cpubind_workers ask(const cpubind_device_question *question)
{
    const int before = open_descriptors();
    cpubind_workers w;
    assert_int_equal(cpubind_device_workers_read(question, &sys, &w, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(open_descriptors(), before);
    return w;
}

static void assert_row(const cpubind_workers *w, int32_t i, int32_t pid, int32_t device)
{
    assert_true(i < w->n);
    assert_int_equal(w->row[i].pid, pid);
    assert_int_equal(w->row[i].npu, device);
    assert_int_equal(w->row[i].fault.error, 0);
}

TEST(a_process_with_files_of_one_device_open_uses_it)
{
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    add_computing(100, "LOCAL_RANK=1 RANK=5 CUDA_VISIBLE_DEVICES=0,1");
    open_file(100, 0, "/dev/null");
    open_file(100, 3, "/dev/nvidiactl");
    open_file(100, 4, "/dev/nvidia1");
    open_file(100, 5, "/dev/nvidia1");
    add_computing(200, "");
    open_file(200, 3, "/dev/dri/renderD128");
    add(400, "CUDA_VISIBLE_DEVICES=0");
    open_file(400, 3, "/dev/nvidia0");
    open_file(400, 4, "/dev/nvidia1");
    open_file(400, 5, "/dev/nvidia-uvm-tools");
    add(300, "LOCAL_RANK=0");
    open_file(300, 3, "/dev/nvidia-uvm");
    open_file(300, 4, "socket:[123]");
    open_file(300, 5, "/home/dev/nvidia0");
    cpubind_workers w = ask(&question);
    assert_int_equal(w.n, 2);
    assert_row(&w, 0, 100, 0);
    assert_row(&w, 1, 200, 1);
    assert_int_equal(w.row[0].rank, 5);
    assert_string_equal(w.row[0].visible, "0,1");
    assert_string_equal(w.row[0].name, "python3");
    assert_int_equal(w.row[0].allowed.n, 8);
    cpubind_workers_free(&w);
}

/* The environment counts before the number of open files; where neither tells, all count. */
TEST(a_process_with_files_of_several_devices_uses_that_of_its_rank)
{
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    static const struct {
        const char *environment;
        int n[2];       /* files of /dev/nvidia1 and of /dev/nvidia0 */
        int32_t device; /* -1: both */
    } cases[] = {
        {"LOCAL_RANK=1", {1, 1}, 1},
        {"LOCAL_RANK=0", {1, 4}, 0},
        {"CUDA_VISIBLE_DEVICES=1", {1, 1}, 1},
        {"LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=1,0", {1, 1}, 1},
        {"LOCAL_RANK=2", {4, 2}, 0},
        {"LOCAL_RANK=x", {1, 3}, 1},
        {"", {3, 2}, -1},
        {"CUDA_VISIBLE_DEVICES=0,1", {1, 1}, -1},
        {"CUDA_VISIBLE_DEVICES=0 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=1", {4, 1}, 0},
        {"CUDA_VISIBLE_DEVICES=0 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=1", {1, 4}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t pid = 100 + (int32_t)i;
        const cpubind_device_question one = {
            .facts = &facts, .request = &request, .nodes = &nodes, .pid = &pid, .n_pid = 1};
        add_computing(pid, cases[i].environment);
        for (int k = 0; k < cases[i].n[0]; k++)
            open_file(pid, 10 + k, "/dev/nvidia1");
        for (int k = 0; k < cases[i].n[1]; k++)
            open_file(pid, 30 + k, "/dev/nvidia0");
        cpubind_workers w = ask(&one);
        assert_int_equal(w.n, cases[i].device < 0 ? 2 : 1);
        assert_row(&w, 0, pid, cases[i].device < 0 ? 0 : cases[i].device);
        if (cases[i].device < 0)
            assert_row(&w, 1, pid, 1);
        cpubind_workers_free(&w);
    }
    cpubind_workers w = ask(&question);
    assert_int_equal(w.n, 12);
    cpubind_workers_free(&w);
}

/* 1 is the parent of all but the last, and may have variables itself. */
TEST(variables_of_its_own_name_the_device_of_a_process_without_open_files)
{
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    static const struct {
        const char *parent, *environment;
        int32_t device; /* -1: none */
    } cases[] = {
        {"HOME=/", "", -1},
        {"HOME=/", "LOCAL_RANK=1", 1},
        {"HOME=/", "SLURM_LOCALID=0", 0},
        {"HOME=/", "LOCAL_RANK=2", -1},
        {"HOME=/", "CUDA_VISIBLE_DEVICES=1", 1},
        {"HOME=/", "CUDA_VISIBLE_DEVICES=0,1", -1},
        {"HOME=/", "CUDA_VISIBLE_DEVICES=", -1},
        {"HOME=/", "CUDA_VISIBLE_DEVICES=\xff\xfe", -1},
        {"HOME=/", "LOCAL_RANK=\xff", -1},
        {"CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=1", 1},
        {"CUDA_VISIBLE_DEVICES=10", "CUDA_VISIBLE_DEVICES=1", 1},
        {"CUDA_VISIBLE_DEVICES=1", "CUDA_VISIBLE_DEVICES=1", -1},
        {"CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=0,1", -1},
        {"CUDA_VISIBLE_DEVICES=1,0", "CUDA_VISIBLE_DEVICES=1,0 LOCAL_RANK=1", 0},
        {"LOCAL_RANK=1", "LOCAL_RANK=1", -1},
        {"LOCAL_RANK=0", "LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=0,1", -1},
        {"HOME=/", "CUDA_VISIBLE_DEVICES=0 SLURM_GPUS_ON_NODE=1 SLURM_STEP_GPUS=1", -1},
        {"HOME=/", "SLURM_LOCALID=0 SLURM_GPUS_ON_NODE=1", -1},
        {"HOME=/", "SLURM_LOCALID=1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=0,1", 1},
        {"HOME=/", "CUDA_VISIBLE_DEVICES=MIG-1 LOCAL_RANK=1", -1},
        {NULL, "LOCAL_RANK=1", -1},
        {"", "LOCAL_RANK=1", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].parent)
            tree_file(1, "environ", cases[i].parent, strlen(cases[i].parent));
        add(100, cases[i].environment);
        cpubind_workers w = ask(&question);
        assert_int_equal(w.n, cases[i].device >= 0);
        if (w.n)
            assert_row(&w, 0, 100, cases[i].device);
        cpubind_workers_free(&w);
        const int32_t pid = 100;
        const cpubind_device_question one = {
            .facts = &facts, .request = &request, .nodes = &nodes, .pid = &pid, .n_pid = 1};
        w = ask(&one);
        assert_int_equal(w.n, 0);
        cpubind_workers_free(&w);
        tear_down(NULL);
        set_up(NULL);
    }
}

TEST(a_variable_of_any_length_is_read_or_names_no_device)
{
    static char text[3 << 20];
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    tree_file(1, "environ", "HOME=/", 7);
    for (size_t n = 64; n < sizeof text; n *= 4) {
        memset(text, '1', n);
        memcpy(text, "CUDA_VISIBLE_DEVICES=", sizeof "CUDA_VISIBLE_DEVICES=" - 1);
        add(100, "");
        tree_file(100, "environ", text, n);
        cpubind_workers w = ask(&question);
        assert_int_equal(w.n, 0);
        cpubind_workers_free(&w);
    }
}

/* The launcher of 200 and 300 names a device, too; 400 is a child of 200. An open file of a
 * device ends what variables say of it. */
TEST(variables_yield_to_children_and_to_open_files)
{
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    cpubind_workers w;
    tree_file(1, "environ", "HOME=/", 7);
    add(100, "CUDA_VISIBLE_DEVICES=1");
    add_child(200, 100, "CUDA_VISIBLE_DEVICES=1 LOCAL_RANK=0");
    add_child(300, 100, "CUDA_VISIBLE_DEVICES=0");
    add_child(400, 200, "CUDA_VISIBLE_DEVICES=1 LOCAL_RANK=0");
    w = ask(&question);
    assert_int_equal(w.n, 2);
    assert_row(&w, 0, 300, 0);
    assert_row(&w, 1, 200, 1);
    cpubind_workers_free(&w);
    open_file(400, 9, "/dev/nvidia-uvm");
    open_file(400, 3, "/dev/nvidia0"); /* device 1 */
    w = ask(&question);
    assert_int_equal(w.n, 2);
    assert_row(&w, 0, 300, 0);
    assert_row(&w, 1, 400, 1);
    cpubind_workers_free(&w);
    open_file(300, 9, "/dev/nvidia-uvm");
    open_file(300, 3, "/dev/nvidia0");
    w = ask(&question);
    assert_int_equal(w.n, 2);
    assert_row(&w, 0, 300, 1);
    assert_row(&w, 1, 400, 1);
    cpubind_workers_free(&w);
}

/* The numbers of /proc are those of this pid namespace, whichever it is. */
TEST(another_pid_namespace_hides_no_process)
{
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    scratch_need(unlinkat(tree.dir, "proc/self/ns/pid", 0) == 0, "unlink");
    scratch_link(&tree.s, "proc/self/ns/pid", "pid:[4026532836]");
    add_computing(100, "");
    open_file(100, 3, "/dev/nvidia0");
    cpubind_workers w = ask(&question);
    assert_int_equal(w.n, 1);
    assert_row(&w, 0, 100, 1);
    assert_false(w.is_other_namespace);
    cpubind_workers_free(&w);
}

/* Each use of each call fails once: the reading ends with a status, or with fewer rows. */
TEST(every_call_that_fails_leaves_no_descriptor_open)
{
    const cpubind_device_question question = {
        .facts = &facts, .request = &request, .nodes = &nodes};
    const int before = open_descriptors();
    tree_file(1, "environ", "HOME=/", 7);
    add(200, "LOCAL_RANK=0");
    add_computing(100, "LOCAL_RANK=1");
    open_file(100, 3, "/dev/nvidia0");
    open_file(100, 4, "/dev/nvidia1");
    fault_next = &sys;
    for (int which = 1; which < N_CALLS; which++) {
        for (int nth = 1;; nth++) {
            cpubind_workers w;
            cpubind_linux_fault why = {0};
            const int error = which == CALL_malloc || which == CALL_realloc ? ENOMEM : EIO;
            fault_set((call)which, nth, error);
            const cpubind_linux_status status =
                cpubind_device_workers_read(&question, &fault_table, &w, &why);
            assert_int_equal(open_descriptors(), before);
            if (status != CPUBIND_LINUX_OK)
                assert_int_equal(why.error, error);
            if (status == CPUBIND_LINUX_OK && !fault.n_met) {
                assert_int_equal(w.n, 2);
                assert_row(&w, 0, 200, 0);
                assert_row(&w, 1, 100, 1);
            }
            cpubind_workers_free(&w);
            if (!fault.n_met)
                break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_process_with_files_of_one_device_open_uses_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_process_with_files_of_several_devices_uses_that_of_its_rank, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            variables_of_its_own_name_the_device_of_a_process_without_open_files, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_variable_of_any_length_is_read_or_names_no_device,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(variables_yield_to_children_and_to_open_files, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_pid_namespace_hides_no_process, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_call_that_fails_leaves_no_descriptor_open, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("device_workers", tests, NULL, NULL);
}
