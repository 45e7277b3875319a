/* test_host_users.c - who uses which device, on a host of files
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "../../adapters/host/host_users.h"
#include "../../adapters/linux/source/host_source.h"
#include "../linux/fault_table.h"
#include "../support/test.h"
#include "host_tree.h"

static cpubind_sys sys;
static int no_statx_error;
static cpubind_linux_host *host;
static char memory[1 << 20];
static cpubind_facts facts;
static cpubind_source source;
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
    snprintf(name, sizeof name, "sys/bus/pci/devices/0000:%02x:00.0/drm/renderD%d/dev",
             (unsigned)bus, 128 + minor);
    snprintf(text, sizeof text, "1:%d\n", minor ? 8 : 9);
    scratch_file(&tree.s, name, text);
    snprintf(name, sizeof name, "proc/driver/nvidia/gpus/0000:%02x:00.0/information",
             (unsigned)bus);
    snprintf(text, sizeof text, "Model: \t H100\nDevice Minor: \t %d\n", minor ? 5 : 7);
    scratch_file(&tree.s, name, text);
}

/* Two GPUs, device 0 and 1 by address, whose minor numbers are 1 and 0. */
static int set_up(void **state)
{
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_problem pci_fault;
    (void)state;
    tree_make();
    sys = tree_table();
    scratch_file(&tree.s, "proc/devices",
                 "Character devices:\n  1 nvidia\n  5 nvidia-uvm\n\nBlock devices:\n");
    scratch_file(&tree.s, "sys/devices/system/cpu/online", "0-7\n");
    scratch_file(&tree.s, "sys/devices/system/node/node0/cpulist", "0-7\n");
    put_gpu(0x0a, 1);
    put_gpu(0x0b, 0);
    const cpubind_linux_live live = {
        .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = 1, .sys = &sys};
    scratch_file(&tree.s, "proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n");
    assert_int_equal(cpubind_linux_open_live(&live, &host, NULL), CPUBIND_LINUX_OK);
    source = cpubind_linux_source(host);
    assert_int_equal(cpubind_devices_read(&source, &request, &arena, &facts, &pci_fault),
                     CPUBIND_PROBLEM_NONE);
    assert_int_equal(facts.n_bus, 2);
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

/* The devices of this machine that have the numbers of the files of this host. */
static const char *device_of(const char *path)
{
    static const char *const files[][2] = {
        {"/dev/nvidia1", "/dev/zero"},          {"/dev/nvidia0", "/dev/full"},
        {"/dev/nvidia-uvm", "/dev/tty"},        {"/dev/nvidia-uvm-tools", "/dev/ptmx"},
        {"/dev/nvidiactl", "/dev/null"},        {"/dev/dri/renderD129", "/dev/random"},
        {"/dev/dri/renderD128", "/dev/urandom"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i][0], path) == 0)
            return files[i][1];
    return path;
}

static void open_file_with(int32_t pid, int fd, const char *path, const char *flags)
{
    char name[64], text[64];
    snprintf(name, sizeof name, "proc/%d/fd/%d", (int)pid, fd);
    scratch_link(&tree.s, name, device_of(path));
    snprintf(name, sizeof name, "proc/%d/fdinfo/%d", (int)pid, fd);
    snprintf(text, sizeof text, "pos:\t0\nflags:\t%s\nmnt_id:\t9\nino:\t4\n", flags);
    scratch_file(&tree.s, name, text);
}

static void open_file(int32_t pid, int fd, const char *path)
{
    open_file_with(pid, fd, path, "02100002");
}

/* A process that computes has this file open, too. */
static void add_computing(int32_t pid, const char *environment)
{
    add(pid, environment);
    open_file(pid, 9, "/dev/nvidia-uvm");
}

static void add_child(int32_t pid, int32_t parent, const char *environment)
{
    const tree_process p = {pid, pid, "python3", "0-7", "0::/\n", environment, 0};
    tree_add_of(&p, (tree_birth){parent, 0, 0});
}

/* A fork of a process; code: where its program starts. */
static void add_fork(int32_t pid, int32_t parent, int code, const char *environment)
{
    const tree_process p = {pid, pid, "python3", "0-7", "0::/\n", environment, 0};
    tree_add_of(&p, (tree_birth){parent, 1, code});
    open_file(pid, 9, "/dev/nvidia-uvm");
}

/* Reads who uses devices, and what these processes are. The error is 0, or that of what could
 * not be read. */
static cpubind_linux_status read_users(const cpubind_users_question *question,
                                       const cpubind_sys *with, cpubind_workers *out,
                                       cpubind_linux_fault *why)
{
    char name[CPUBIND_DEVICE_INPUT_SIZE];
    cpubind_users users;
    const cpubind_problem problem = cpubind_users_find(question, with, name, &users);
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    *out = (cpubind_workers){.n = 0};
    if (problem.code == CPUBIND_PROBLEM_NO_MEMORY)
        status = cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", why);
    else if (problem.code != CPUBIND_PROBLEM_NONE)
        status = cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, problem.answer.error, "find", why);
    else
        status = cpubind_workers_read(&users, with, out, why);
    free(users.row);
    return status;
}

static cpubind_workers ask(const cpubind_users_question *question)
{
    const int before = open_descriptors();
    cpubind_workers w;
    assert_int_equal(read_users(question, &sys, &w, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(open_descriptors(), before);
    return w;
}

static void assert_row(const cpubind_workers *w, int32_t i, int32_t pid, int32_t device)
{
    assert_true(i < w->n);
    assert_int_equal(w->row[i].pid, pid);
    assert_int_equal(w->row[i].device, device);
    assert_int_equal(w->row[i].fault.error, 0);
}

TEST(a_process_with_files_of_one_device_open_uses_it)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
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

/* What a file is called counts for nothing, nor does a descriptor that takes no right. */
TEST(only_an_open_device_of_the_number_counts)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
    char name[SCRATCH_PATH * 2];
    scratch_file(&tree.s, "own/dev/nvidia1", "");
    snprintf(name, sizeof name, "%s/own/dev/fifo", tree.s.dir);
    scratch_need(mkfifo(name, 0600) == 0, "mkfifo");
    for (int32_t pid = 100; pid < 107; pid++)
        add_computing(pid, "");
    snprintf(name, sizeof name, "%s/own/dev/nvidia1", tree.s.dir);
    open_file(100, 3, name); /* a plain file */
    snprintf(name, sizeof name, "%s/own/dev/fifo", tree.s.dir);
    open_file(101, 3, name);
    open_file(102, 3, "/dev/nvidia1 (deleted)");
    open_file(103, 3, "/dev/nvidiactl");                 /* another number */
    open_file_with(104, 3, "/dev/nvidia1", "012000000"); /* O_PATH */
    open_file(105, 3, "/dev");
    open_file(106, 0, "/dev/nvidia1"); /* as stdin */
    cpubind_workers w = ask(&question);
    assert_int_equal(w.n, 1);
    assert_row(&w, 0, 106, 0);
    cpubind_workers_free(&w);
}

static int no_statx(int dir, const char *path, struct stat *out)
{
    (void)dir, (void)path, (void)out;
    errno = no_statx_error;
    return -1;
}

/* An old kernel, and a filter of an old container, have no statx(2); a process may close a
 * file, and a security module may hide one. */
TEST(a_refused_look_at_a_file_is_no_device)
{
    static const struct {
        int error, n;
    } cases[] = {{ENOSYS, 1}, {EPERM, 1}, {ENOENT, 0}, {EACCES, 0}, {ENOTCONN, 0}};
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
    add_computing(100, "");
    open_file(100, 3, "/dev/nvidia1");
    sys.statat_known = no_statx;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        no_statx_error = cases[i].error;
        cpubind_workers w = ask(&question);
        assert_int_equal(w.n, cases[i].n);
        cpubind_workers_free(&w);
    }
}

/* The environment counts before the number of open files; where neither tells, all count. */
TEST(a_process_with_files_of_several_devices_uses_that_of_its_rank)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
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
        const cpubind_users_question one = {
            .source = &source, .facts = &facts, .request = &request, .pid = &pid, .n_pid = 1};
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
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
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
        const cpubind_users_question one = {
            .source = &source, .facts = &facts, .request = &request, .pid = &pid, .n_pid = 1};
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
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
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
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
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

/* What a process was forked with is not its own: it belongs to its parent. */
TEST(a_fork_belongs_to_the_user_that_it_was_forked_from)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
    static const struct {
        int32_t pid, parent;
    } children[] = {{110, 100}, {111, 100}, {112, 100}, {205, 200}};
    add_computing(100, "");
    open_file(100, 3, "/dev/nvidia1");
    add_fork(110, 100, 0, ""); /* a fork, and a fork of it */
    open_file(110, 3, "/dev/nvidia1");
    add_fork(111, 110, 0, "");
    open_file(111, 3, "/dev/nvidia1");
    add_fork(112, 113, 0, ""); /* the fork between them has closed the device */
    open_file(112, 3, "/dev/nvidia1");
    add_fork(113, 100, 0, "");
    add_fork(120, 1, 0, ""); /* its parent has ended */
    open_file(120, 3, "/dev/nvidia1");
    add_fork(121, 99, 0, ""); /* its parent has ended, and was not reaped by anyone */
    open_file(121, 3, "/dev/nvidia1");
    add_child(130, 100, ""); /* it has executed a program */
    open_file(130, 9, "/dev/nvidia-uvm");
    open_file(130, 3, "/dev/nvidia1");
    add_fork(131, 130, 0, ""); /* and a fork of that, on another device alone */
    open_file(131, 3, "/dev/nvidia0");
    const tree_process other = {200, 200, "w", "0-7", "0::/\n", "", 0};
    tree_add_of(&other, (tree_birth){1, 0, 7});
    open_file(200, 9, "/dev/nvidia-uvm");
    open_file(200, 3, "/dev/nvidia1");
    add_fork(205, 200, 7, "");
    open_file(205, 3, "/dev/nvidia1");
    add_fork(206, 200, 8, ""); /* its parent has executed a program since */
    open_file(206, 3, "/dev/nvidia1");
    cpubind_workers w = ask(&question);
    static const int32_t workers[] = {100, 120, 121, 130, 200, 206, 131};
    assert_int_equal(w.n, sizeof workers / sizeof *workers);
    for (int32_t i = 0; i < w.n; i++)
        assert_row(&w, i, workers[i], i == 6);
    assert_int_equal(w.row[0].n_index, 6);
    assert_int_equal(w.n_child, sizeof children / sizeof *children);
    for (int32_t i = 0; i < w.n_child; i++) {
        assert_int_equal(w.child[i].pid, children[i].pid);
        assert_int_equal(w.child[i].parent, children[i].parent);
        assert_int_equal(w.child[i].device, 0);
        assert_int_equal(w.child[i].start, children[i].pid);
    }
    assert_int_equal(w.row[0].n_child, 3);
    assert_int_equal(w.row[3].n_child, 0);
    assert_int_equal(w.row[4].n_child, 1);
    cpubind_workers_free(&w);
}

/* The numbers of /proc are those of this pid namespace, whichever it is. */
TEST(another_pid_namespace_hides_no_process)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
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

static int refuse_error;
static const char *refused_leaf;

static int refuse_open(int dir, const char *path, int flags)
{
    const char *leaf = strrchr(path, '/');
    if (!leaf || strcmp(leaf + 1, refused_leaf) != 0)
        return tree_openat(dir, path, flags);
    errno = refuse_error;
    return -1;
}

/* A process may end, and another user may not look into it; what this process cannot do tells
 * nothing of the others, and ends the reading. */
TEST(what_could_not_be_read_is_not_an_empty_list)
{
    static const struct {
        const char *leaf;
        int error;
        cpubind_linux_status status;
    } cases[] = {
        {"fd", ENOENT, CPUBIND_LINUX_OK},         {"fd", ESRCH, CPUBIND_LINUX_OK},
        {"fd", EACCES, CPUBIND_LINUX_OK},         {"fd", EPERM, CPUBIND_LINUX_OK},
        {"fd", EMFILE, CPUBIND_LINUX_ERR_OPEN},   {"fd", ENFILE, CPUBIND_LINUX_ERR_OPEN},
        {"fd", ENOMEM, CPUBIND_LINUX_ERR_MEMORY}, {"3", EACCES, CPUBIND_LINUX_OK},
        {"3", EMFILE, CPUBIND_LINUX_ERR_OPEN}};
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
    add_computing(100, "");
    open_file(100, 3, "/dev/nvidia1");
    sys.openat = refuse_open;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_linux_fault why = cpubind_no_fault;
        cpubind_workers w;
        refused_leaf = cases[i].leaf;
        refuse_error = cases[i].error;
        assert_int_equal(read_users(&question, &sys, &w, &why), cases[i].status);
        assert_int_equal(w.n, 0);
        if (cases[i].status != CPUBIND_LINUX_OK)
            assert_int_equal(why.error, cases[i].error);
        cpubind_workers_free(&w);
    }
    sys.openat = tree_openat;
    sys.statat_known = no_statx;
    no_statx_error = ENOMEM;
    cpubind_workers w;
    assert_int_equal(read_users(&question, &sys, &w, NULL), CPUBIND_LINUX_ERR_MEMORY);
}

static int32_t n_looked;

static int count_look(int dir, const char *path, struct stat *out)
{
    n_looked++;
    return tree_table().statat_known(dir, path, out);
}

/* Asks, and returns the devices in use; *n_look: descriptors that were looked at. */
static int32_t ask_watching(cpubind_strangers *known, int32_t *n_look)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request, .strangers = known};
    cpubind_workers w;
    int32_t n;
    n_looked = 0;
    sys.statat_known = count_look;
    w = ask(&question);
    n = w.n;
    cpubind_workers_free(&w);
    *n_look = n_looked;
    return n;
}

/* Makes all strangers older, or their last look. */
static void pass_ms(cpubind_strangers *known, int64_t age_ms, int64_t look_ms)
{
    for (int32_t i = 0; i < known->n; i++) {
        known->row[i].seen_ms -= age_ms;
        known->row[i].looked_ms -= look_ms;
    }
}

/* A stranger is looked at again after an eighth of its age, at most after 15 s. */
TEST(a_stranger_is_looked_at_seldom)
{
    cpubind_strangers known = {.n = 0};
    char path[SCRATCH_PATH * 2];
    int32_t n_look, n_first;
    add(100, "HOME=/");
    open_file(100, 3, "/dev/nvidiactl");
    assert_int_equal(ask_watching(&known, &n_first), 0);
    assert_true(n_first > 0);
    assert_int_equal(known.n, 1);
    pass_ms(&known, 1000, 1000); /* a new one, at the next look of a watch */
    assert_int_equal(ask_watching(&known, &n_look), 0);
    assert_int_equal(n_look, n_first);
    pass_ms(&known, 79000, 1000);
    open_file(100, 9, "/dev/nvidia-uvm");
    open_file(100, 4, "/dev/nvidia0");
    assert_int_equal(ask_watching(&known, &n_look), 0); /* 1 s of 10 */
    assert_int_equal(n_look, 0);
    assert_int_equal(known.n, 1);
    pass_ms(&known, 1000000, 13000);
    assert_int_equal(ask_watching(&known, &n_look), 0); /* 14 s of 15 */
    assert_int_equal(n_look, 0);
    pass_ms(&known, 1000, 1000);
    assert_int_equal(ask_watching(&known, &n_look), 1);
    assert_int_equal(known.n, 0);
    scratch_path(&tree.s, "proc/100/fd/4", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ask_watching(&known, &n_look), 0);
    pass_ms(&known, 1000000, 0);
    assert_int_equal(ask_watching(&known, &n_look), 0);
    assert_int_equal(n_look, 0);
    known.row[0].inode++; /* another process has the number now */
    pass_ms(&known, 0, 15000);
    assert_int_equal(ask_watching(&known, &n_look), 0);
    open_file(100, 4, "/dev/nvidia0");
    assert_int_equal(ask_watching(&known, &n_look), 1);
    free(known.row);
}

/* Whether the rows are those of a reading without a fault. */
static int is_whole(const cpubind_workers *w)
{
    return w->n == 2 && w->row[0].pid == 200 && w->row[0].device == 0 && w->row[1].pid == 100 &&
           w->row[1].device == 1 && w->row[1].n_child == 1;
}

/* Each use of each call fails once: the reading ends with the error, or says it in a row, or it
 * is whole; no descriptor stays open. */
TEST(every_call_that_fails_is_said_or_does_no_harm)
{
    const cpubind_users_question question = {
        .source = &source, .facts = &facts, .request = &request};
    const int before = open_descriptors();
    tree_file(1, "environ", "HOME=/", 7);
    add(200, "LOCAL_RANK=0");
    add_computing(100, "LOCAL_RANK=1");
    open_file(100, 3, "/dev/nvidia0");
    open_file(100, 4, "/dev/nvidia1");
    add_fork(101, 100, 0, "LOCAL_RANK=1");
    open_file(101, 3, "/dev/nvidia0");
    open_file(101, 4, "/dev/nvidia1");
    fault_next = &sys;
    for (int which = 1; which < N_CALLS; which++) {
        for (int nth = 1;; nth++) {
            cpubind_workers w;
            cpubind_linux_fault why = {0};
            const int error = which == CALL_malloc || which == CALL_realloc ? ENOMEM : EMFILE;
            fault_set((call)which, nth, error);
            const cpubind_linux_status status = read_users(&question, &fault_table, &w, &why);
            int is_said = status != CPUBIND_LINUX_OK;
            assert_int_equal(open_descriptors(), before);
            if (is_said)
                assert_int_equal(why.error, error);
            for (int32_t i = 0; i < w.n; i++)
                is_said |= w.row[i].fault.error == error;
            /* A file that cannot be looked at is no device. */
            if (!is_said && !is_whole(&w) && !(which == CALL_statat_known && fault.n_met))
                fail_msg("%s, use %d: %d rows", call_name[which], nth, (int)w.n);
            cpubind_workers_free(&w);
            if (!fault.n_met)
                break;
        }
    }
}

TEST_FILE(set_up, tear_down)
