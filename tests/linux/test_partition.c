/* test_partition.c - a binding with a cpuset, in a tree of cgroups that the test plays
 * SPDX-License-Identifier: MIT
 *
 * The tree is in a temporary folder; the calls of the table below do with it what the kernel
 * does: making a cgroup fills it, a write to one of its files moves a process, enables or
 * refuses. Each call of apply and of restore fails at each of its uses: after apply the process
 * is bound, with a cpuset or, named, without one; or all is as before. A restore without faults
 * puts back all in any case. tests/vm/partition.sh has the real kernel. The masks are real.
 */
#define _GNU_SOURCE
#include "../support/test.h"
#include "fake_host.h"
#include "fault_table.h"
#include "two_cpus.h"

#include "../../adapters/linux/bind/binding.h"

#define GROUP "/a/service"
#define ROOM  512 /* of a path */

static struct {
    cpubind_sys sys;
    worker w;
    stage_goal goal, second;
    char own[32]; /* the name of the own cgroup */
    char before[STAGE_TEXT], now[STAGE_TEXT];
    int wants, is_strict;
    cpubind_item cgroup; /* of the last report; kind THREAD: it had none */
    char should[64];     /* its CPUs */
} f;

/* == The kernel ============================================================= */

/* Joins two parts of a path. */
static const char *join(const char *a, int n, const char *b, char out[ROOM])
{
    const int len = snprintf(out, ROOM, "%.*s/%s", n, a, b);
    scratch_need(len < ROOM, b);
    return out;
}

static const char *path_in(const char *name, char path[ROOM])
{
    return join(on_stage.s.dir, (int)strlen(on_stage.s.dir), name, path);
}

static void put_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    scratch_need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
    close(fd);
}

static const char *get_text(const char *path, char text[256])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, 255);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

/* The path of a file in the folder of another path. */
static const char *beside(const char *path, const char *name, char out[ROOM])
{
    return join(path, (int)(strrchr(path, '/') - path), name, out);
}

static const char *inside(const char *folder, const char *name, char out[ROOM])
{
    return join(folder, (int)strlen(folder), name, out);
}

/* Writes the files of a cgroup, as the kernel shows a new one. */
static void fill_group(const char *folder, const char *controllers)
{
    char path[ROOM];
    put_text(inside(folder, "cgroup.controllers", path), controllers);
    put_text(inside(folder, "cgroup.subtree_control", path), "\n");
    put_text(inside(folder, "cgroup.type", path), "domain\n");
    put_text(inside(folder, "cgroup.procs", path), "");
    put_text(inside(folder, "cgroup.threads", path), "");
}

/* The controller appears in a cgroup, or goes. */
static void set_controller(const char *folder, int is_there)
{
    char path[ROOM], all[32];
    snprintf(all, sizeof all, "%d-%d\n", (int)on_stage.cpu[0], (int)on_stage.cpu[1]);
    put_text(inside(folder, "cgroup.controllers", path), is_there ? "cpuset pids\n" : "pids\n");
    if (is_there && access(inside(folder, "cpuset.cpus", path), F_OK) != 0) {
        put_text(path, "\n");
        put_text(inside(folder, "cpuset.cpus.effective", path), all);
    }
    if (!is_there) {
        unlink(inside(folder, "cpuset.cpus", path));
        unlink(inside(folder, "cpuset.cpus.effective", path));
    }
}

static int count_folders(const char *folder)
{
    DIR *all = opendir(folder);
    struct dirent *entry;
    int n = 0;
    scratch_need(all != NULL, folder);
    while ((entry = readdir(all)) != NULL)
        n += entry->d_type == DT_DIR && entry->d_name[0] != '.';
    closedir(all);
    return n;
}

/* "+cpuset" or "-cpuset" for the cgroups below the folder of a file. */
static int control(const char *file, const char *text)
{
    char path[ROOM], own[ROOM], is[256];
    const int is_on = *text == '+';
    if (!strstr(get_text(beside(file, "cgroup.controllers", path), is), "cpuset")) {
        errno = ENOENT;
        return -1;
    }
    beside(file, f.own, own);
    if (!is_on && access(own, F_OK) == 0 &&
        strstr(get_text(inside(own, "cgroup.subtree_control", path), is), "cpuset")) {
        errno = EBUSY;
        return -1;
    }
    put_text(file, is_on ? "cpuset\n" : "\n");
    if (access(own, F_OK) == 0)
        set_controller(own, is_on);
    return 0;
}

/* The path of a file of the cgroup of the service, or of the own one. */
static const char *file_of(int is_own, const char *file, char path[ROOM])
{
    char folder[ROOM], own[ROOM];
    (void)path_in("sys/fs/cgroup" GROUP, folder);
    return inside(is_own ? inside(folder, f.own, own) : folder, file, path);
}

/* Moves the process to the folder of a file. */
static void migrate(const char *file)
{
    char path[ROOM], tree[ROOM], line[ROOM + 8], pid[32];
    const char *group;
    for (int i = 0; i < 2; i++) /* out of both */
        if (access(file_of(i, "cgroup.threads", path), F_OK) == 0)
            put_text(path, "");
    snprintf(pid, sizeof pid, "%d\n", (int)f.w.pid);
    put_text(beside(file, "cgroup.threads", path), pid);
    group = file + strlen(path_in("sys/fs/cgroup", tree));
    snprintf(line, sizeof line, "0::%.*s\n", (int)(strrchr(group, '/') - group), group);
    snprintf(pid, sizeof pid, "proc/%d/cgroup", (int)f.w.pid);
    put_text(path_in(pid, path), line);
}

/* Where a descriptor leads below the tree; NULL: elsewhere. */
static const char *path_of(int fd, char path[ROOM])
{
    char link[64], tree[ROOM];
    ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, ROOM - 1);
    if (n < 0)
        return NULL;
    path[n] = '\0';
    (void)path_in("sys/fs/cgroup", tree);
    return strncmp(path, tree, strlen(tree)) == 0 ? path : NULL;
}

static ssize_t play_write(int fd, const void *data, size_t len)
{
    char path[ROOM], other[ROOM], text[256];
    const char *name;
    if (!path_of(fd, path))
        return stage_write(fd, data, len);
    name = strrchr(path, '/') + 1;
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)data);
    if (strcmp(name, "cgroup.subtree_control") == 0)
        return control(path, text) < 0 ? -1 : (ssize_t)len;
    if (strcmp(name, "cgroup.procs") == 0 && atoi(text) == (int)f.w.pid)
        migrate(path);
    else
        put_text(path, text);
    if (strcmp(name, "cpuset.cpus") == 0) {
        text[strcspn(text, "\n")] = '\0';
        strcat(text, "\n");
        put_text(path, text);
        put_text(beside(path, "cpuset.cpus.effective", other), text);
    }
    return (ssize_t)len;
}

static int play_openat(int dir, const char *path, int flags)
{
    char own[64];
    snprintf(own, sizeof own, "proc/%d/cgroup", (int)f.w.pid);
    if (strcmp(path, own) == 0 || strncmp(path, "sys/fs/cgroup", 13) == 0)
        return openat(on_stage.dir, path, flags);
    return stage_openat(dir, path, flags);
}

static int play_mkdirat(int dir, const char *name, mode_t mode)
{
    char path[ROOM], own[ROOM], file[ROOM], is[256];
    if (mkdirat(dir, name, mode) < 0)
        return -1;
    if (!path_of(dir, path))
        return 0;
    inside(path, name, own);
    fill_group(own, "pids\n");
    if (strstr(get_text(inside(path, "cgroup.subtree_control", file), is), "cpuset"))
        set_controller(own, 1);
    return 0;
}

static int play_unlinkat(int dir, const char *name, int flags)
{
    static const char *const files[] = {"cgroup.controllers",   "cgroup.subtree_control",
                                        "cgroup.type",          "cgroup.procs",
                                        "cgroup.threads",       "cpuset.cpus",
                                        "cpuset.cpus.effective"};
    char path[ROOM], own[ROOM], file[ROOM], is[256];
    if (!path_of(dir, path))
        return unlinkat(dir, name, flags);
    inside(path, name, own);
    if (*get_text(inside(own, "cgroup.threads", file), is)) {
        errno = EBUSY;
        return -1;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(inside(own, files[i], file));
    return rmdir(own);
}

/* A cgroup has two links, and one for each below it. Other folders may count none. */
static int play_fstat(int fd, struct stat *out)
{
    char path[ROOM];
    const int result = fstat(fd, out);
    if (result == 0 && S_ISDIR(out->st_mode) && path_of(fd, path))
        out->st_nlink = (nlink_t)(2 + count_folders(path));
    return result;
}

/* == Runs =================================================================== */

/* Masks, what is enabled, who is in the cgroup of the service, what is below it, records. */
static void snapshot(char text[STAGE_TEXT])
{
    char path[ROOM], is[256], name[40], record[STAGE_PATH];
    size_t at;
    snprintf(name, sizeof name, "/%d.record", (int)f.w.pid);
    stage_record_path(name, record);
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    at = strlen(text);
    at += (size_t)snprintf(text + at, STAGE_TEXT - at, "enabled: %s",
                           get_text(file_of(0, "cgroup.subtree_control", path), is));
    at += (size_t)snprintf(text + at, STAGE_TEXT - at, "threads: %s",
                           get_text(file_of(0, "cgroup.threads", path), is));
    snprintf(text + at, STAGE_TEXT - at, "below: %d\n%s",
             count_folders(path_in("sys/fs/cgroup" GROUP, path)),
             access(record, F_OK) == 0 ? "recorded\n" : "");
}

typedef enum step { STEP_APPLY, STEP_SECOND, STEP_VERIFY, STEP_RESTORE } step;

static cpubind_linux_status do_step(const cpubind_sys *sys, step what, cpubind_linux_fault *why)
{
    const cpubind_bind_options options = {.pid = (int32_t)f.w.pid,
                                          .is_reading = what == STEP_VERIFY,
                                          .is_strict = f.is_strict,
                                          .wants_cpuset = f.wants,
                                          .memory = CPUBIND_MEMORY_NONE};
    cpubind_binding *b = NULL;
    cpubind_linux_status status = cpubind_bind_open(&options, sys, &b, why);
    f.cgroup = (cpubind_item){.kind = CPUBIND_ITEM_THREAD};
    if (status != CPUBIND_LINUX_OK)
        return status;
    if (what == STEP_APPLY || what == STEP_SECOND)
        status = cpubind_bind_apply(b, what == STEP_APPLY ? &f.goal.goal : &f.second.goal, why);
    else if (what == STEP_VERIFY)
        status = cpubind_bind_verify(b, NULL, why);
    else
        status = cpubind_bind_restore(b, why);
    for (int32_t i = 0; i < cpubind_bind_report(b)->n; i++)
        if (cpubind_bind_report(b)->item[i].kind == CPUBIND_ITEM_CGROUP)
            f.cgroup = cpubind_bind_report(b)->item[i];
    snprintf(f.should, sizeof f.should, "%.60s", f.cgroup.should ? f.cgroup.should : "");
    cpubind_bind_close(b);
    return status;
}

static void do_well(step what)
{
    cpubind_linux_fault why = {.what = ""};
    const cpubind_linux_status status = do_step(&f.sys, what, &why);
    if (status != CPUBIND_LINUX_OK)
        print_message("%s: %s, %s\n", cpubind_linux_status_name(status), why.what,
                      strerror(why.error));
    assert_int_equal(status, CPUBIND_LINUX_OK);
}

static void assert_is_as_before(void)
{
    snapshot(f.now);
    assert_string_equal(f.now, f.before);
}

static void restore_all(void)
{
    do_well(STEP_RESTORE);
    assert_is_as_before();
}

SETUP(set_up)
{
    char path[ROOM], name[ROOM];
    memset(&f, 0, sizeof f);
    fault_clear();
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    f.sys.openat = play_openat;
    f.sys.write = play_write;
    f.sys.mkdirat = play_mkdirat;
    f.sys.unlinkat = play_unlinkat;
    f.sys.fstat = play_fstat;
    fault_next = &f.sys;
    f.wants = 1;
    worker_start(&f.w, "worker");
    (void)worker_thread_add(&f.w, "acl_thread");
    stage_list(f.w.pid);
    snprintf(f.own, sizeof f.own, "cpubind-%d", (int)f.w.pid);
    scratch_folder(&on_stage.s, "sys/fs/cgroup" GROUP);
    fill_group(path_in("sys/fs/cgroup" GROUP, path), "cpuset pids\n");
    set_controller(path, 1);
    migrate(inside(path, "cgroup.procs", name));
    goal_make(&f.goal, on_stage.cpu[0], on_stage.cpu[1]);
    goal_make(&f.second, on_stage.cpu[1], on_stage.cpu[1]);
    snapshot(f.before);
    return 0;
}

SETUP(tear_down)
{
    worker_end(&f.w);
    stage_remove();
    return has_child() ? -1 : 0;
}

/* == Tests ================================================================== */

TEST(a_process_gets_a_cgroup_of_its_own_and_goes_back)
{
    char path[ROOM], is[256], expected[64];
    do_well(STEP_APPLY);
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_MOVED);
    assert_string_equal(f.cgroup.name, f.own);
    assert_string_equal(f.should, on_stage.before);
    assert_string_equal(get_text(file_of(1, "cgroup.type", path), is), "threaded\n");
    assert_string_equal(get_text(file_of(1, "cgroup.subtree_control", path), is), "cpuset\n");
    snprintf(expected, sizeof expected, "%.60s\n", on_stage.before);
    assert_string_equal(get_text(file_of(1, "cpuset.cpus.effective", path), is), expected);
    snprintf(expected, sizeof expected, "%d\n", (int)f.w.pid);
    assert_string_equal(get_text(file_of(1, "cgroup.threads", path), is), expected);
    do_well(STEP_VERIFY);
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_RIGHT);
    restore_all();
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_MOVED);
}

TEST(another_goal_changes_its_cpus)
{
    char path[ROOM], is[256], expected[16];
    do_well(STEP_APPLY);
    f.wants = 0; /* what has one keeps it */
    do_well(STEP_SECOND);
    snprintf(expected, sizeof expected, "%d\n", (int)on_stage.cpu[1]);
    assert_string_equal(get_text(file_of(1, "cpuset.cpus", path), is), expected);
    do_well(STEP_VERIFY);
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_RIGHT);
    restore_all();
}

TEST(without_the_option_there_is_none)
{
    f.wants = 0;
    do_well(STEP_APPLY);
    assert_int_equal(f.cgroup.kind, CPUBIND_ITEM_THREAD);
    restore_all();
}

TEST(what_somebody_else_has_changed_is_left)
{
    char path[ROOM], text[16];
    do_well(STEP_APPLY);
    snprintf(text, sizeof text, "%d\n", (int)on_stage.cpu[1] + 1);
    put_text(file_of(1, "cpuset.cpus", path), text);
    do_well(STEP_RESTORE);
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_KEPT);
    assert_string_equal(f.cgroup.what, "changed");
    assert_non_null(cpubind_cgroup_sentence(f.cgroup.what));
    assert_int_equal(access(file_of(1, "cpuset.cpus", path), F_OK), 0);
}

/* Runs a step of a process whose cgroup lacks something; it is bound by masks alone. */
static void need_reason(const char *word)
{
    cpubind_linux_fault why = {.what = ""};
    do_well(STEP_APPLY);
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_SKIPPED);
    assert_string_equal(f.cgroup.what, word);
    assert_non_null(cpubind_cgroup_sentence(word));
    restore_all();
    f.is_strict = 1;
    assert_int_equal(do_step(&f.sys, STEP_APPLY, &why), CPUBIND_LINUX_ERR_REFUSED);
    assert_string_equal(why.what, word);
    assert_is_as_before();
    f.is_strict = 0;
}

TEST(what_is_missing_is_named)
{
    char path[ROOM], other[ROOM], name[64], line[64];
    set_controller(path_in("sys/fs/cgroup" GROUP, path), 0);
    need_reason("controller");
    set_controller(path, 1);

    inside(path, "other", other);
    scratch_need(mkdir(other, 0755) == 0, other);
    snapshot(f.before);
    need_reason("other cgroups");
    scratch_need(rmdir(other) == 0, other);
    snapshot(f.before);

    f.goal.rule[0].is_left = 1;
    need_reason("leave");
    f.goal.rule[0].is_left = 0;

    snprintf(name, sizeof name, "proc/%d/cgroup", (int)f.w.pid);
    put_text(path_in(name, other), "4:cpuset:/a/service\n0::/\n");
    need_reason("version 1");
    put_text(other, "0::/../b\n");
    need_reason("outside");
    put_text(other, "1:name=systemd:/\n");
    need_reason("no cgroup");
    snprintf(line, sizeof line, "0::%s\n", GROUP);
    put_text(other, line);
}

/* The controller was enabled before, and stays so. */
TEST(what_was_enabled_stays_enabled)
{
    char path[ROOM];
    put_text(file_of(0, "cgroup.subtree_control", path), "cpuset\n");
    snapshot(f.before);
    do_well(STEP_APPLY);
    assert_int_equal(f.cgroup.result, CPUBIND_ITEM_MOVED);
    restore_all();
}

/* One use of one call fails in one step. Returns 0 when there are fewer uses. */
static int fail_once(call which, int nth, int error, step what)
{
    cpubind_linux_fault why = {.what = ""};
    cpubind_linux_status status;
    if (what != STEP_APPLY)
        do_well(STEP_APPLY);
    fault_set(which, nth, error);
    status = do_step(&fault_table, what, &why);
    if (fault.n_met == 0) {
        fault_clear();
        do_well(STEP_RESTORE);
        return 0;
    }
    fault_clear();
    if (status == CPUBIND_LINUX_OK && what == STEP_APPLY) {
        char path[ROOM];
        const int is_in = access(file_of(1, "cpuset.cpus", path), F_OK) == 0;
        if (f.cgroup.kind == CPUBIND_ITEM_CGROUP)
            assert_int_equal(f.cgroup.result == CPUBIND_ITEM_MOVED, is_in);
        do_well(STEP_VERIFY);
        assert_int_equal(f.cgroup.kind == CPUBIND_ITEM_CGROUP, is_in);
    } else if (status != CPUBIND_LINUX_OK && status != CPUBIND_LINUX_ERR_UNDONE &&
               what == STEP_APPLY) {
        snapshot(f.now);
        if (strcmp(f.now, f.before) != 0)
            print_message("%s, use %d, %s: %s\n", call_name[which], nth, strerror(error),
                          why.what);
        assert_string_equal(f.now, f.before);
    } else if (status == CPUBIND_LINUX_OK && what == STEP_RESTORE) {
        assert_is_as_before();
    }
    do_well(STEP_RESTORE);
    snapshot(f.now);
    if (strcmp(f.now, f.before) != 0)
        print_message("restored after %s, use %d, %s\n", call_name[which], nth,
                      strerror(error));
    assert_string_equal(f.now, f.before);
    return 1;
}

static void fail_each(step what)
{
    static const struct {
        call which;
        int error;
    } faults[] = {{CALL_openat, EMFILE},  {CALL_openat, EACCES},     {CALL_openat, ENOENT},
                  {CALL_write, EIO},      {CALL_write, EINVAL},      {CALL_write, EOPNOTSUPP},
                  {CALL_read, EIO},       {CALL_mkdirat, EROFS},     {CALL_mkdirat, EEXIST},
                  {CALL_unlinkat, EPERM}, {CALL_fstat, EOVERFLOW},   {CALL_malloc, ENOMEM},
                  {CALL_realloc, ENOMEM}, {CALL_setaffinity, EPERM}, {CALL_getaffinity, EPERM}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        /* ENOENT may say that the process has ended: what is left of it is put back then */
        for (int nth = 1; (what == STEP_APPLY || faults[i].error != ENOENT) &&
                          fail_once(faults[i].which, nth, faults[i].error, what);
             nth++)
            continue;
}

TEST(apply_does_all_or_nothing_whatever_fails)
{
    fail_each(STEP_APPLY);
}

TEST(another_goal_leaves_all_that_restore_needs)
{
    fail_each(STEP_SECOND);
}

TEST(restore_recovers_from_a_fault)
{
    fail_each(STEP_RESTORE);
}

/* The system calls of a call of a watch without events, at rest. */
static int count_at_rest(int n_call[N_CALLS])
{
    const cpubind_bind_options options = {
        .pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE, .wants_cpuset = f.wants};
    cpubind_binding *b = NULL;
    cpubind_linux_fault why = {.what = ""};
    int n = 0;
    fault_clear();
    assert_int_equal(cpubind_bind_open(&options, &fault_table, &b, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_apply(b, &f.goal.goal, &why), CPUBIND_LINUX_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cpubind_bind_again(b, &why), CPUBIND_LINUX_OK);
    b->busy_end_ms = 0; /* nothing was born for ten seconds */
    fault_clear();
    assert_int_equal(cpubind_bind_again(b, &why), CPUBIND_LINUX_OK);
    memcpy(n_call, fault.count, sizeof fault.count);
    assert_int_equal(cpubind_bind_restore(b, &why), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
    for (int which = 1; which < N_CALLS; which++)
        n += n_call[which];
    return n;
}

TEST(a_watch_at_rest_looks_at_no_thread)
{
    int n_call[N_CALLS], n_thread, n_mask, n_cpuset;
    for (int i = 0; i < 30; i++)
        (void)worker_thread_add(&f.w, "pt_autograd");
    snapshot(f.before);
    f.wants = 0;
    n_mask = count_at_rest(n_call);
    n_thread = n_call[CALL_getaffinity];
    assert_true(n_thread >= 32);
    f.wants = 1;
    n_cpuset = count_at_rest(n_call);
    print_message("%d threads, without events: %d calls by masks, %d with a cpuset\n", n_thread,
                  n_mask, n_cpuset);
    assert_int_equal(n_call[CALL_getaffinity], 0);
    assert_int_equal(n_call[CALL_readdir], 0);
    assert_true(n_cpuset < 10);
    assert_is_as_before();
}

/* What is born is looked at in the next call, and then for ten seconds. */
TEST(a_watch_sees_births)
{
    const cpubind_bind_options options = {
        .pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE, .wants_cpuset = 1};
    cpubind_binding *b = NULL;
    cpubind_linux_fault why = {.what = ""};
    char list[64];
    int32_t tid;
    assert_int_equal(cpubind_bind_open(&options, &f.sys, &b, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_apply(b, &f.goal.goal, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_again(b, &why), CPUBIND_LINUX_OK);
    b->busy_end_ms = 0;
    tid = worker_thread_add(&f.w, "release_thread");
    assert_int_equal(cpubind_bind_again(b, &why), CPUBIND_LINUX_OK);
    (void)masks_of(f.w.pid, f.now, STAGE_TEXT);
    snprintf(list, sizeof list, "%d %d\n", (int)tid, (int)on_stage.cpu[1]);
    assert_non_null(strstr(f.now, list));
    assert_true(b->busy_end_ms > 0);
    assert_int_equal(cpubind_bind_restore(b, &why), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
}

static int run_all(void)
{
    return run_on_two_cpus("partition", set_up, tear_down);
}

TEST_PROGRAM(run_all)
