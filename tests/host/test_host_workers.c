/* test_host_workers.c - the workers of a host of files: rows, CPUs, containers, failing calls
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "../linux/fault_table.h"
#include "host_tree.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static cpubind_sys sys;

static int set_up(void **state)
{
    (void)state;
    tree_make();
    sys = tree_table();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove();
    return 0;
}

static cpubind_workers read_rows(const cpubind_user *row, int32_t n)
{
    cpubind_users list = {.row = (cpubind_user *)(uintptr_t)row,
                          .n = n,
                          .driver = cpubind_vendor_of(CPUBIND_VENDOR_ASCEND)};
    cpubind_workers w;
    cpubind_linux_fault why = {0};
    const int before = open_descriptors();
    assert_int_equal(cpubind_workers_read(&list, &sys, &w, &why), CPUBIND_LINUX_OK);
    assert_int_equal(open_descriptors(), before);
    return w;
}

/* Reads process 100 alone. */
static cpubind_workers read_one(void)
{
    const cpubind_user row = {100, 0};
    return read_rows(&row, 1);
}

static void assert_cpus(cpubind_cpus cpus, int32_t first, int32_t n)
{
    assert_int_equal(cpus.n, n);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(cpus.cpu[i], first + i);
}

TEST(test_rows)
{
    static const tree_process all[] = {
        {100, 900, "VLLM::Worker_TP", "0-3", "0::/docker/" ID "\n", "RANK=3 LOCAL_RANK=1", 0},
        {200, 800, "python3", "0-3", "0::/\n", "ASCEND_RT_VISIBLE_DEVICES=2,3 X=1", 0},
        {300, 800, "a) b\nc", "0-3", "0::/\n", NULL, 0},
    };
    static const cpubind_user row[] = {{100, 0}, {200, 0}, {300, 0}, {200, 1}, {400, 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tree_add(&all[i]);
    scratch_link(&tree.s, "proc/100/exe", "/usr/bin/python3.10 (deleted)");
    cpubind_workers w = read_rows(row, 5);
    assert_int_equal(w.n, 4); /* 400 has ended */
    assert_int_equal(w.n_ended, 1);
    assert_int_equal(w.row[0].pid, 200); /* by start, then pid */
    assert_int_equal(w.row[1].pid, 300);
    assert_int_equal(w.row[2].pid, 100);
    for (int32_t i = 0; i < 3; i++) {
        assert_int_equal(w.row[i].index, i);
        assert_int_equal(w.row[i].n_index, 3);
        assert_int_equal(w.row[i].fault.error, 0);
        assert_cpus(w.row[i].allowed, 0, 4);
        assert_false(w.row[i].is_bound);
        assert_false(w.row[i].has_own_mask);
    }
    assert_int_equal(w.row[3].pid, 200);
    assert_int_equal(w.row[3].device, 1);
    assert_int_equal(w.row[3].n_index, 1);
    assert_string_equal(w.row[2].name, "VLLM::Worker_TP");
    assert_string_equal(w.row[2].program, "python3.10");
    assert_string_equal(w.row[2].container, "0123456789ab");
    assert_int_equal(w.row[2].rank, 3);
    assert_string_equal(w.row[2].rank_variable, "RANK");
    assert_int_equal(w.row[2].environ_error, 0);
    assert_string_equal(w.row[0].visible, "2,3");
    assert_string_equal(w.row[0].container, "");
    assert_int_equal(w.row[0].rank, -1);
    assert_null(w.row[0].rank_variable);
    assert_string_equal(w.row[1].name, "a) b?c");
    assert_int_equal(w.row[1].environ_error, ENOENT);
    cpubind_workers_free(&w);
    assert_int_equal(w.n, 0);
}

/* A process that has ended or is hidden, and processes of another pid namespace. */
TEST(test_processes_not_there)
{
    static const cpubind_user row[] = {{100, 0}, {200, 0}, {300, 0}};
    const tree_process zombie = {100, 5, "dead", "0", "0::/\n", "", 'Z'};
    tree_add(&zombie);
    tree.hidden = 200;
    cpubind_workers w = read_rows(row, 3);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.n_ended, 2);
    assert_int_equal(w.row[0].pid, 200);
    assert_int_equal(w.row[0].fault.error, EPERM);
    assert_string_equal(w.row[0].fault.what, "hidden");
    cpubind_workers_free(&w);
}

TEST(test_other_namespace)
{
    static const cpubind_user row[] = {{100, 0}, {200, 0}, {300, 0}};
    static const tree_process all[] = {{100, 5, "own", "0-1", "0::/\n", "", 0},
                                       {200, 6, "other", "0-1", "0::/\n", "", 0}};
    scratch_need(unlinkat(tree.dir, "proc/self/ns/pid", 0) == 0, "unlink");
    scratch_link(&tree.s, "proc/self/ns/pid", "pid:[4026532836]");
    tree_add(&all[0]);
    tree_add(&all[1]);
    scratch_link(&tree.s, "proc/100/fd/3", "/dev/null");
    scratch_link(&tree.s, "proc/100/fd/17", "/dev/davinci_manager");
    scratch_link(&tree.s, "proc/200/fd/17", "/dev/davinci_manager2");
    cpubind_workers w = read_rows(row, 3);
    assert_true(w.is_other_namespace);
    assert_int_equal(w.n, 3);
    for (int32_t i = 0; i < 3; i++) {
        const int is_own = w.row[i].pid == 100;
        assert_int_equal(w.row[i].fault.error, is_own ? 0 : ESRCH);
        if (!is_own)
            assert_string_equal(w.row[i].fault.what, "pid namespace");
    }
    cpubind_workers_free(&w);
}

/* Whose CPUs count: the cgroup's where the mask lacks some of them. */
TEST(test_allowed)
{
    static const struct {
        const char *cgroup, *file, *text, *mask;
        int32_t first, n;
        int is_cpuset;
    } cases[] = {
        {"0::/a/b\n", "sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-7\n", "2", 0, 8, 1},
        {"0::/a/b\n", "sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n", "2", 0, 8, 1},
        {"0::/a/b/\n", "sys/fs/cgroup/cpuset.cpus.effective", "0-7\n", "0-7", 0, 8, 0},
        /* It was written since the mask was. */
        {"0::/a/b\n", "sys/fs/cgroup/a/b/cpuset.cpus.effective", "4-5\n", "0-7", 4, 2, 0},
        /* That of cpubind's own cgroup is not what the process may have. */
        {"0::/a/cpubind-7\n", "sys/fs/cgroup/a/cpuset.cpus.effective", "0-7\n", "4", 0, 8, 1},
        /* The tree is that of other mounts: a container sees its own cgroups alone. */
        {"5:cpuset:/c/d\n", "sys/fs/cgroup/cpuset/cpuset.cpus", "4-7\n", "1", 1, 1, 0},
        {"5:cpuset:/k\n0::/k\n", "sys/fs/cgroup/cpuset/k/cpuset.cpus", "4-7\n", "4", 4, 4, 1},
        {"0::/k\n5:cpuset:/k\n", "sys/fs/cgroup/cpuset/cpuset.effective_cpus", "4-7\n", "4", 4,
         4, 1},
        {"0::/k\n", "sys/fs/cgroup/k/cpuset.cpus.effective", "\n", "4", 4, 1, 0},
        {"0::/k\n", "sys/fs/cgroup/k/cpuset.cpus.effective", "junk\n", "4", 4, 1, 0},
        {"0::/../k\n", "sys/fs/cgroup/cpuset.cpus.effective", "0-7\n", "4", 4, 1, 0},
        {"", "sys/fs/cgroup/cpuset.cpus.effective", "0-7\n", "4", 4, 1, 0},
        {NULL, "sys/fs/cgroup/cpuset.cpus.effective", "0-7\n", "4", 4, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tree_process p = {100, 5, "w", cases[i].mask, cases[i].cgroup, "", 0};
        tree_remove();
        tree_make();
        tree_add(&p);
        scratch_file(&tree.s, "sys/fs/cgroup/a/b/cgroup.procs", "100\n");
        scratch_file(&tree.s, "sys/fs/cgroup/k/cgroup.procs", "100\n");
        scratch_file(&tree.s, "sys/fs/cgroup/cpuset/k/cgroup.procs", "100\n");
        scratch_file(&tree.s, cases[i].file, cases[i].text);
        cpubind_workers w = read_one();
        assert_int_equal(w.row[0].fault.error, 0);
        assert_cpus(w.row[0].allowed, cases[i].first, cases[i].n);
        assert_int_equal(w.row[0].has_own_mask, cases[i].is_cpuset);
        cpubind_workers_free(&w);
    }
}

/* Where cgroups are hidden, those that the process sees count, when it is in them. */
TEST(test_hidden_cgroups)
{
    static const struct {
        const char *cgroup, *procs;
        int is_version_1;
        int32_t n;
    } cases[] = {
        {"0::/../../kubepods-x.slice/y\n", "7\n100\n", 0, 4},
        {"0::/../../kubepods-x.slice/y\n", "7\n1001\n", 0, 2},
        {"0::/../../kubepods-x.slice/y\n", "2100\n", 0, 2},
        {"0::/../../kubepods-x.slice/y\n", "", 0, 2},
        {"5:cpuset:/kubepods/x/y\n", "100\n", 1, 4},
        {"5:cpuset:/kubepods/x/y\n", "99\n", 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tree_process p = {100, 5, "w", "4-5", cases[i].cgroup, "", 0};
        const char *folder = cases[i].is_version_1 ? "/cpuset" : "";
        char name[128];
        tree_remove();
        tree_make();
        tree_add(&p);
        snprintf(name, sizeof name, "sys/fs/cgroup%s/cgroup.procs", folder);
        scratch_file(&tree.s, name, "1\n");
        snprintf(name, sizeof name, "sys/fs/cgroup%s/cpuset.cpus.effective", folder);
        scratch_file(&tree.s, name, "0-63\n");
        snprintf(name, sizeof name, "proc/100/root/sys/fs/cgroup%s/cgroup.procs", folder);
        scratch_file(&tree.s, name, cases[i].procs);
        snprintf(name, sizeof name, "proc/100/root/sys/fs/cgroup%s/cpuset.%s", folder,
                 cases[i].is_version_1 ? "effective_cpus" : "cpus.effective");
        scratch_file(&tree.s, name, "4-7\n");
        cpubind_workers w = read_one();
        assert_int_equal(w.row[0].fault.error, 0);
        assert_cpus(w.row[0].allowed, 4, cases[i].n);
        cpubind_workers_free(&w);
    }
}

/* The pod by the cgroup, its names by the log of its container; without these the uid alone. */
TEST(test_pods)
{
#define UID  "01234567-89ab-cdef-0123-456789abcdef"
#define UID_ "01234567_89ab_cdef_0123_456789abcdef"
    const tree_process p = {100,
                            5,
                            "w",
                            "0-3",
                            "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID
                            ".scope\n",
                            "",
                            0};
    const tree_process plain = {100, 5, "w", "0-3", "0::/docker/" ID "\n", "", 0};
    tree_add(&p);
    cpubind_workers w = read_one();
    assert_string_equal(w.row[0].pod.uid, UID);
    assert_string_equal(w.row[0].pod.runtime, "containerd");
    assert_int_equal(w.row[0].pod.qos, CPUBIND_QOS_GUARANTEED);
    assert_string_equal(w.row[0].pod.name, "");
    assert_int_equal(w.row[0].pod.names_error, 0);
    cpubind_workers_free(&w);
    scratch_file(&tree.s, "var/log/containers/junk", "");
    scratch_file(&tree.s, "var/log/containers/vllm-0_prod_other-1" ID ".log", "");
    scratch_file(&tree.s, "var/log/containers/vllm-0_prod_worker-" ID ".log", "");
    w = read_one();
    assert_string_equal(w.row[0].pod.name, "vllm-0");
    assert_string_equal(w.row[0].pod.space, "prod");
    assert_string_equal(w.row[0].pod.container, "worker");
    cpubind_workers_free(&w);
    scratch_need(unlinkat(tree.dir, "proc/100/cgroup", 0) == 0, "unlink");
    tree_add(&plain);
    w = read_one();
    assert_string_equal(w.row[0].pod.uid, "");
    assert_string_equal(w.row[0].pod.name, "");
    cpubind_workers_free(&w);
}

/* A process without a status, with a damaged one, with a damaged stat: an error of its row. */
TEST(test_damaged_files)
{
    const tree_process p = {100, 5, "w", NULL, "0::/\n", "", 0};
    tree_add(&p);
    cpubind_workers w = read_one();
    assert_int_equal(w.n, 1);
    assert_int_equal(w.row[0].fault.error, ENOENT);
    cpubind_workers_free(&w);
    tree_file(100, "status", "Cpus_allowed_list:\t3-1\n", 23);
    w = read_one();
    assert_int_equal(w.row[0].fault.error, EILSEQ);
    assert_string_equal(w.row[0].fault.what, "read status");
    assert_string_equal(w.row[0].name, "w");
    cpubind_workers_free(&w);
    tree_file(100, "stat", "100 (w", 6);
    w = read_one();
    assert_int_equal(w.row[0].fault.error, EILSEQ);
    cpubind_workers_free(&w);
}

/* The list of a driver lacks what was forked from a process since it has opened a device. */
TEST(test_forks)
{
    static const struct {
        int32_t pid;
        char state;
        tree_birth birth;
    } all[] = {{100, 0, {1, 0, 9}},     {101, 0, {100, 1, 9}},  {102, 0, {101, 1, 9}},
               {103, 0, {102, 0, 10}},  {104, 0, {103, 1, 10}}, /* of a program */
               {105, 0, {1, 1, 9}},                             /* nobody's */
               {106, 'Z', {100, 1, 9}}, {107, 0, {100, 1, 11}}};
    cpubind_user row[] = {{100, 3}, {102, 3}, {105, 3}};
    cpubind_users list = {
        .row = row, .n = 3, .driver = cpubind_vendor_of(CPUBIND_VENDOR_ASCEND)};
    cpubind_workers w;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tree_process p = {all[i].pid, all[i].pid, "w", "0", "0::/\n", "", all[i].state};
        tree_add_of(&p, all[i].birth);
    }
    assert_int_equal(cpubind_workers_read(&list, &sys, &w, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(list.n, 3);
    assert_int_equal(w.n, 2);
    assert_int_equal(w.row[0].pid, 100);
    assert_int_equal(w.row[0].n_child, 2);
    assert_int_equal(w.row[1].pid, 105);
    assert_int_equal(w.row[1].n_child, 0);
    assert_int_equal(w.n_child, 2);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(w.child[i].pid, 101 + i);
        assert_int_equal(w.child[i].parent, 100);
        assert_int_equal(w.child[i].device, 3);
        assert_int_equal(w.child[i].start, 101 + i);
    }
    cpubind_workers_free(&w);
}

static void change_process(void)
{
    const tree_process other = {100, 77, "new", "0", "0::/\n", "", 0};
    tree_stat(&other);
}

/* Another process has the pid before the reading has ended: the worker has ended. */
TEST(test_pid_is_taken)
{
    const tree_process p = {100, 5, "w", "0", "0::/\n", "A=1", 0};
    cpubind_user row = {100, 0};
    cpubind_users list = {
        .row = &row, .n = 1, .driver = cpubind_vendor_of(CPUBIND_VENDOR_ASCEND)};
    cpubind_workers w;
    tree_add(&p);
    fault_next = &sys;
    fault_set(CALL_readlinkat, 2, ENOENT); /* of exe, after the first stat */
    fault.on_fault = change_process;
    assert_int_equal(cpubind_workers_read(&list, &fault_table, &w, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(w.n, 0);
    assert_int_equal(w.n_ended, 1);
    cpubind_workers_free(&w);
}

/* Each use of each call fails once, of a process of a pod: the reading ends with a status, or
 * the row has a fault, or it has all that it needs, but for an environment or names of the pod
 * that are said to be not known; no descriptor stays open. */
TEST(test_every_call_fails)
{
    const tree_process p = {100, 5, "w", "1", "0::/kubepods/pod" UID "/" ID "\n", "RANK=2", 0};
    cpubind_user row = {100, 0};
    cpubind_users list = {
        .row = &row, .n = 1, .driver = cpubind_vendor_of(CPUBIND_VENDOR_ASCEND)};
    const int before = open_descriptors();
    tree_add(&p);
    scratch_file(&tree.s, "sys/fs/cgroup/kubepods/pod" UID "/" ID "/cpuset.cpus.effective",
                 "0-3\n");
    scratch_file(&tree.s, "var/log/containers/vllm-0_prod_worker-" ID ".log", "");
    fault_next = &sys;
    for (int which = 1; which < N_CALLS; which++) {
        for (int nth = 1;; nth++) {
            cpubind_workers w;
            cpubind_linux_fault why = {0};
            const int error = which == CALL_malloc || which == CALL_realloc ? ENOMEM : EMFILE;
            fault_set((call)which, nth, error);
            const cpubind_linux_status status =
                cpubind_workers_read(&list, &fault_table, &w, &why);
            assert_int_equal(open_descriptors(), before);
            if (error == ENOMEM && fault.n_met) {
                assert_int_equal(status, CPUBIND_LINUX_ERR_MEMORY);
                assert_int_equal(w.n, 0);
            } else if (status != CPUBIND_LINUX_OK) {
                assert_int_equal(status, CPUBIND_LINUX_ERR_OPEN);
                assert_int_equal(why.error, EMFILE);
            } else if (w.n != 1 ||
                       (!w.row[0].fault.error &&
                        (w.row[0].allowed.n != 4 ||
                         (!*w.row[0].pod.name && w.row[0].pod.names_error != EMFILE) ||
                         (w.row[0].rank != 2 && w.row[0].environ_error != EMFILE)))) {
                fail_msg("%s, use %d: %d rows", call_name[which], nth, (int)w.n);
            }
            cpubind_workers_free(&w);
            if (!fault.n_met)
                break;
        }
    }
}

TEST_FILE(set_up, tear_down)
