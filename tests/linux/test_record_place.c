/* test_record_place.c - one record for a process, and what is swept when processes have ended
 * SPDX-License-Identifier: MIT
 *
 * Review of live hosts, P2 10 and 13. Real processes on a fake host (fake_host.h), whose /run
 * is a temporary folder. Each system call fails at each of its uses: a record that is needed
 * stays, and no second one is made.
 */
#define _GNU_SOURCE
#include "../../adapters/linux/bind/record.h"
#include "fake_host.h"
#include "fault_table.h"
#include "two_cpus.h"

static struct {
    cpubind_sys sys;
    worker w;
    char own[STAGE_PATH], other[STAGE_PATH];
    stage_goal goal;
    int descriptors;
} f;

SETUP(set_up)
{
    if (!stage_make())
        return -1;
    memset(&f, 0, sizeof f);
    f.sys = stage_table();
    fault_next = &f.sys;
    fault_clear();
    worker_start(&f.w, "worker");
    scratch_path(&on_stage.s, "state/own", f.own);
    scratch_path(&on_stage.s, "state/other", f.other);
    goal_make(&f.goal, on_stage.cpu[0], on_stage.cpu[1]);
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    const int n = open_descriptors();
    worker_end(&f.w);
    stage_remove();
    return n == f.descriptors && !has_child() ? 0 : -1;
}

static cpubind_linux_status open_at(const char *path, cpubind_binding **b, char *other_path)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w.pid,
                                      .record_path = path,
                                      .other_path = other_path,
                                      .memory = CPUBIND_MEMORY_NONE};
    return cpubind_bind_open(&how, &fault_table, b, NULL);
}

static cpubind_linux_status apply_at(const char *path)
{
    cpubind_binding *b;
    cpubind_linux_status status = open_at(path, &b, NULL);
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_bind_apply(b, &f.goal.goal, NULL);
    cpubind_bind_close(b);
    return status;
}

static cpubind_linux_status restore_at(const char *path)
{
    cpubind_binding *b;
    cpubind_linux_status status = open_at(path, &b, NULL);
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_bind_restore(b, NULL);
    cpubind_bind_close(b);
    return status;
}

/* The path of a name in the folder of records. */
static const char *in_folder(const char *end)
{
    static char path[STAGE_PATH];
    char name[48];
    snprintf(name, sizeof name, "/%d%s", (int)f.w.pid, end);
    stage_record_path(name, path);
    return path;
}

static int is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    scratch_need(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, path);
    scratch_need(chmod(path, 0600) == 0, path);
}

/* == One record ============================================================= */

TEST(a_record_of_another_path_is_found_without_it)
{
    cpubind_binding *b;
    assert_int_equal(apply_at(f.own), CPUBIND_LINUX_OK);
    assert_true(is_there(in_folder(".path")));
    assert_int_equal(open_at(NULL, &b, NULL), CPUBIND_LINUX_OK);
    assert_string_equal(cpubind_bind_record_path(b), f.own);
    assert_int_equal(cpubind_bind_restore(b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
    assert_false(is_there(f.own));
    assert_false(is_there(in_folder(".path")));
    assert_false(is_there(in_folder(".record")));
}

TEST(a_second_record_is_refused)
{
    char path[CPUBIND_PLACE_SIZE];
    cpubind_binding *b;
    assert_int_equal(apply_at(f.own), CPUBIND_LINUX_OK);
    assert_int_equal(open_at(f.other, &b, path), CPUBIND_LINUX_ERR_EXISTS);
    assert_string_equal(path, f.own);
    assert_int_equal(restore_at(f.own), CPUBIND_LINUX_OK);
    assert_int_equal(apply_at(NULL), CPUBIND_LINUX_OK);
    assert_int_equal(open_at(f.other, &b, path), CPUBIND_LINUX_ERR_EXISTS);
    assert_non_null(strstr(in_folder(".record"), path));
    assert_int_equal(restore_at(NULL), CPUBIND_LINUX_OK);
    assert_int_equal(apply_at(f.other), CPUBIND_LINUX_OK);
}

/* A file that is no such text, is stale, or could be another user's, names nothing. */
TEST(a_file_of_another_kind_names_no_record)
{
    static const char *const texts[] = {"",       "\n",    "1",       "1 /\n2", " /x\n",
                                        "x /x\n", "1 x\n", "-1 /x\n", "1 /x"};
    char good[CPUBIND_PLACE_SIZE + 64] = "";
    cpubind_binding *b;
    assert_int_equal(apply_at(f.own), CPUBIND_LINUX_OK);
    FILE *file = fopen(in_folder(".path"), "re");
    scratch_need(file && fgets(good, sizeof good, file) && fclose(file) == 0, "path");
    memmove(good + 1, good, strlen(good) + 1);
    good[0] = '9'; /* of another start */
    for (size_t i = 0; i <= sizeof texts / sizeof *texts; i++) {
        put(in_folder(".path"), i < sizeof texts / sizeof *texts ? texts[i] : good);
        assert_int_equal(open_at(NULL, &b, NULL), CPUBIND_LINUX_OK);
        assert_string_not_equal(cpubind_bind_record_path(b), f.own);
        cpubind_bind_close(b);
    }
    put(in_folder(".path"), good + 1);
    scratch_need(chmod(in_folder(".path"), 0666) == 0, "chmod");
    assert_int_equal(open_at(NULL, &b, NULL), CPUBIND_LINUX_OK);
    assert_string_not_equal(cpubind_bind_record_path(b), f.own);
    cpubind_bind_close(b);
}

/* == Sweeping =============================================================== */

TEST(what_killed_processes_leave_is_swept)
{
    assert_int_equal(apply_at(NULL), CPUBIND_LINUX_OK);
    put(in_folder(".record.lock"), "");
    put(in_folder(".path"), "1 /nowhere\n");
    char temp[STAGE_PATH], name[64];
    snprintf(name, sizeof name, "/.%d.record.1.0.tmp", (int)f.w.pid);
    stage_record_path(name, temp);
    put(temp, "{");
    cpubind_bind_sweep(&fault_table);
    assert_false(is_there(in_folder(".record.lock")));
    assert_false(is_there(in_folder(".path")));
    assert_false(is_there(temp));
    assert_true(is_there(in_folder(".record")));
    worker_end(&f.w);
    char record[STAGE_PATH];
    stage_record_path("", record);
    cpubind_bind_sweep(&fault_table);
    assert_int_not_equal(rmdir(record), -1); /* nothing is left */
    worker_start(&f.w, "worker");
    f.descriptors = open_descriptors();
}

/* A volume that a host and a container share: the container sees none of the processes. */
static ssize_t other_namespace(int dir, const char *path, char *out, size_t size)
{
    static const char link[] = "pid:[4026532999]";
    if (strcmp(path, "proc/self/ns/pid") != 0)
        return fault_table.readlinkat(dir, path, out, size);
    memcpy(out, link, sizeof link - 1);
    return (ssize_t)sizeof link - 1;
}

TEST(a_record_of_another_pid_namespace_is_not_swept)
{
    cpubind_sys other = fault_table;
    char record[STAGE_PATH];
    other.readlinkat = other_namespace;
    assert_int_equal(apply_at(NULL), CPUBIND_LINUX_OK);
    snprintf(record, sizeof record, "%s", in_folder(".record"));
    worker_end(&f.w);
    cpubind_bind_sweep(&other);
    assert_true(is_there(record));
    cpubind_bind_sweep(&fault_table);
    assert_false(is_there(record));
    worker_start(&f.w, "worker");
    f.descriptors = open_descriptors();
}

/* The same number, start and boot: the record is not that of a process of this namespace. */
TEST(a_record_of_another_pid_namespace_is_of_no_process_here)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w.pid, .is_reading = 1};
    cpubind_sys other = fault_table;
    char bound[512], now[512];
    other.readlinkat = other_namespace;
    assert_int_equal(apply_at(NULL), CPUBIND_LINUX_OK);
    (void)mask_text((int32_t)f.w.pid, bound, sizeof bound);
    for (int is_other = 0; is_other < 2; is_other++) {
        cpubind_binding *b;
        assert_int_equal(cpubind_bind_open(&how, is_other ? &other : &fault_table, &b, NULL),
                         CPUBIND_LINUX_OK);
        assert_int_equal(cpubind_bind_is_alive(b), !is_other);
        assert_int_equal(cpubind_bind_verify(b, NULL, NULL), CPUBIND_LINUX_OK);
        assert_int_equal(cpubind_bind_report(b)->has_goal, !is_other);
        assert_int_equal(cpubind_bind_allowed(b).n > 0, !is_other);
        cpubind_bind_close(b);
    }
    const cpubind_bind_options write = {.pid = (int32_t)f.w.pid};
    cpubind_binding *b;
    assert_int_equal(cpubind_bind_open(&write, &other, &b, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_restore(b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
    assert_string_equal(mask_text((int32_t)f.w.pid, now, sizeof now), bound);
}

TEST(what_somebody_works_with_is_not_swept)
{
    cpubind_binding *b;
    assert_int_equal(open_at(NULL, &b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_sweep(&fault_table);
    assert_true(is_there(in_folder(".record.lock")));
    cpubind_bind_close(b);
    assert_false(is_there(in_folder(".record.lock")));
}

/* == Faults ================================================================= */

static void each_fault(int (*run)(void))
{
    static const struct {
        call which;
        int error;
    } faults[] = {{CALL_open, EMFILE},    {CALL_openat, EMFILE},    {CALL_openat, EACCES},
                  {CALL_fstat, EIO},      {CALL_read, EIO},         {CALL_create, ENOSPC},
                  {CALL_write, ENOSPC},   {CALL_rename, EROFS},     {CALL_readlinkat, EACCES},
                  {CALL_unlinkat, EROFS}, {CALL_malloc, ENOMEM},    {CALL_realloc, ENOMEM},
                  {CALL_flock, ENOLCK},   {CALL_fdopendir, EMFILE}, {CALL_readdir, EIO},
                  {CALL_kill, EPERM},     {CALL_close, EIO}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int nth = 1;; nth++) {
            fault_set(faults[i].which, nth, faults[i].error);
            const int is_met = run();
            fault_clear();
            assert_int_equal(open_descriptors(), f.descriptors);
            if (!is_met)
                break;
        }
}

/* Applies with a path: afterwards the process has one record, or none. */
static int apply_with_fault(void)
{
    char text[512];
    const cpubind_linux_status status = apply_at(f.own);
    const int is_met = fault.n_met > 0;
    fault_clear();
    if (status == CPUBIND_LINUX_OK)
        assert_true(is_there(f.own));
    assert_false(is_there(in_folder(".record")));
    if (is_there(f.own))
        assert_int_equal(restore_at(f.own), CPUBIND_LINUX_OK);
    assert_string_not_equal(mask_text((int32_t)f.w.pid, text, sizeof text), "gone");
    assert_false(is_there(f.own));
    return is_met;
}

/* Opens without the path: it is the record of the path, or a failure. */
static int find_with_fault(void)
{
    cpubind_binding *b;
    const cpubind_linux_status status = open_at(NULL, &b, NULL);
    const int is_met = fault.n_met > 0;
    if (status == CPUBIND_LINUX_OK)
        assert_string_equal(cpubind_bind_record_path(b), f.own);
    fault_clear();
    cpubind_bind_close(b);
    assert_true(is_there(f.own));
    return is_met;
}

static int sweep_with_fault(void)
{
    cpubind_bind_sweep(&fault_table);
    assert_true(is_there(in_folder(".record")));
    return fault.n_met > 0;
}

TEST(a_fault_makes_no_second_record)
{
    each_fault(apply_with_fault);
}

TEST(a_fault_finds_the_record_or_fails)
{
    assert_int_equal(apply_at(f.own), CPUBIND_LINUX_OK);
    each_fault(find_with_fault);
}

TEST(a_fault_sweeps_no_record_of_the_living)
{
    assert_int_equal(apply_at(NULL), CPUBIND_LINUX_OK);
    put(in_folder(".record.lock"), "");
    each_fault(sweep_with_fault);
}

static int run_all(void)
{
    scratch_in_memory();
    return run_on_two_cpus("record place", set_up, tear_down);
}

TEST_PROGRAM(run_all)
