/* test_irq.c - the CPUs that serve an interrupt, in a scratch folder and on this machine
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "../../adapters/linux/kernel/irq.h"
#include "../../cpubind.h"
#include "fault_table.h"
#include "temp_dir.h"

static struct {
    scratch s;
    cpubind_sys sys;
    cpubind_root root;
    cpubind_cpu_sets sets;
    int descriptors;
} f;

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    scratch_make(&f.s);
    f.sys = cpubind_sys_real;
    f.descriptors = open_descriptors();
    f.root = scratch_tree(&f.sys, f.s.dir);
    scratch_file(&f.s, "proc/irq/301/smp_affinity_list", "0-3,64\n");
    scratch_file(&f.s, "proc/irq/301/effective_affinity_list", "2\n");
    return 0;
}

SETUP(tear_down)
{
    cpubind_cpu_sets_free(&f.sets);
    scratch_remove(&f.s);
    close(f.root.fd);
    return open_descriptors() == f.descriptors ? 0 : -1;
}

static int32_t set_of(const char *list)
{
    const int32_t len = (int32_t)strlen(list);
    int32_t set;
    assert_int_equal(cpubind_cpu_sets_of_text(&f.sets, &f.sys, list, len, &set).error, 0);
    return set;
}

static int write_list(int32_t irq, const char *list)
{
    int32_t set = set_of(list); /* may move the table */
    return cpubind_irq_write(&f.root, irq, &f.sets.set[set]).error;
}

/* The content of the file of interrupt 301. */
static void assert_written(const char *text)
{
    char path[SCRATCH_PATH * 2], found[64] = "";
    scratch_path(&f.s, "proc/irq/301/smp_affinity_list", path);
    FILE *file = fopen(path, "re");
    scratch_need(file != NULL, path);
    size_t n = fread(found, 1, sizeof found - 1, file);
    found[n] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

/* == a scratch folder == */

TEST(a_list_is_read_as_a_number_of_a_set)
{
    int32_t set = -7, again = -7, effective = -7;
    assert_int_equal(cpubind_irq_read(&f.root, 301, &f.sets, &set).error, 0);
    assert_string_equal(cpubind_cpu_sets_text(&f.sets, set), "0-3,64");
    assert_int_equal(f.sets.set[set].n, 5);
    assert_int_equal(cpubind_irq_read(&f.root, 301, &f.sets, &again).error, 0);
    assert_int_equal(again, set);
    assert_int_equal(cpubind_irq_read_effective(&f.root, 301, &f.sets, &effective).error, 0);
    assert_string_equal(cpubind_cpu_sets_text(&f.sets, effective), "2");
}

TEST(a_missing_file_or_a_malformed_list_is_an_error)
{
    static const char *const bad[] = {"\n", "", "0-3,2\n", "none\n", "0-65536\n", "ff\n"};
    int32_t set = -7;
    assert_int_equal(cpubind_irq_read(&f.root, 302, &f.sets, &set).error, ENOENT);
    assert_int_equal(cpubind_irq_read(&f.root, -1, &f.sets, &set).error, ENOENT);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        scratch_file(&f.s, "proc/irq/301/smp_affinity_list", bad[i]);
        assert_int_equal(cpubind_irq_read(&f.root, 301, &f.sets, &set).error, EILSEQ);
    }
    assert_int_equal(set, -7);
    assert_int_equal(f.sets.n, 0);
}

TEST(an_empty_effective_list_is_no_set)
{
    int32_t set = -7;
    scratch_file(&f.s, "proc/irq/301/effective_affinity_list", "\n");
    assert_int_equal(cpubind_irq_read_effective(&f.root, 301, &f.sets, &set).error, 0);
    assert_int_equal(set, CPUBIND_CPUSET_NONE);
    set = -7;
    assert_int_equal(cpubind_irq_read_effective(&f.root, 302, &f.sets, &set).error, 0);
    assert_int_equal(set, CPUBIND_CPUSET_NONE);
    scratch_file(&f.s, "proc/irq/301/effective_affinity_list", "x\n");
    assert_int_equal(cpubind_irq_read_effective(&f.root, 301, &f.sets, &set).error, EILSEQ);
}

TEST(a_list_is_written_with_its_line_feed)
{
    scratch_file(&f.s, "proc/irq/301/smp_affinity_list", "");
    assert_int_equal(write_list(301, "1,4-5"), 0);
    assert_written("1,4-5\n");
    assert_int_equal(write_list(302, "1"), ENOENT);
    scratch_folder(&f.s, "proc/irq/303/smp_affinity_list");
    assert_int_equal(write_list(303, "1"), EISDIR);
}

/* Every second CPU of a host with 8,192 of them: more than 16 KiB. */
TEST(a_long_list_is_written_and_read)
{
    static char text[65536], name[] = "proc/irq/301/smp_affinity_list";
    size_t len = 0;
    int32_t set = -7;
    for (int cpu = 0; cpu < 8192; cpu += 2)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", cpu ? "," : "", cpu);
    assert_true(len > 16384);
    scratch_file(&f.s, name, "");
    assert_int_equal(write_list(301, text), 0);
    struct stat st;
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, name, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, len + 1);
    assert_int_equal(cpubind_irq_read(&f.root, 301, &f.sets, &set).error, 0);
    assert_string_equal(cpubind_cpu_sets_text(&f.sets, set), text);
    assert_int_equal(f.sets.n, 1);
}

/* == faults == */

static int open_flags; /* of the last file that was opened */

static int noting_openat(int dir, const char *path, int flags)
{
    open_flags = flags;
    return openat(dir, path, flags);
}

static ssize_t write_two(int fd, const void *data, size_t len)
{
    return write(fd, data, len < 2 ? len : 2);
}

static int do_read(void)
{
    int32_t set = -7;
    scratch_file(&f.s, "proc/irq/301/smp_affinity_list", "0-3,64\n");
    int error = cpubind_irq_read(&f.root, 301, &f.sets, &set).error;
    assert_true(error ? set == -7 : set >= 0);
    return error;
}

static int do_read_effective(void)
{
    int32_t set = -7;
    int error = cpubind_irq_read_effective(&f.root, 301, &f.sets, &set).error;
    assert_true(error ? set == -7 : set >= 0);
    return error;
}

static int do_write(void)
{
    static unsigned long word = 2;
    static int32_t cpu = 1;
    static char text[] = "1";
    const cpubind_cpu_set set = {&word, 1, &cpu, 1, text};
    scratch_file(&f.s, "proc/irq/301/smp_affinity_list", "0-3\n");
    int error = cpubind_irq_write(&f.root, 301, &set).error;
    assert_written(error ? "0-3\n" : "1\n3\n");
    return error;
}

/* Makes `which` fail at each of its uses. Returns the number of uses. */
static int fail_each(int (*run)(void), call which, int error, int expected)
{
    f.sys = fault_table;
    for (int nth = 1;; nth++) {
        cpubind_cpu_sets_free(&f.sets);
        fault_set(which, nth, error);
        int result = run();
        assert_int_equal(open_descriptors(), f.descriptors + 1);
        if (fault.n_met == 0) {
            assert_int_equal(result, 0);
            return nth - 1;
        }
        assert_int_equal(result, expected);
    }
}

TEST(every_fault_is_reported)
{
    static const int of_open[] = {EACCES, EPERM, EROFS, EMFILE, ENFILE,
                                  ENOMEM, ELOOP, EIO,   ENXIO,  EBUSY};
    static const int of_read[] = {EIO, ENOMEM, EACCES, EPERM, EAGAIN, EINVAL, EISDIR};
    static const int of_write[] = {EIO,    EINVAL, EOVERFLOW, ENOSPC, EPERM, EACCES,
                                   EFAULT, EFBIG,  EBUSY,     ENOMEM, EAGAIN};
    for (size_t i = 0; i < sizeof of_open / sizeof of_open[0]; i++) {
        assert_int_equal(fail_each(do_read, CALL_openat, of_open[i], of_open[i]), 1);
        assert_int_equal(fail_each(do_read_effective, CALL_openat, of_open[i], of_open[i]), 1);
        assert_int_equal(fail_each(do_write, CALL_openat, of_open[i], of_open[i]), 1);
    }
    for (size_t i = 0; i < sizeof of_read / sizeof of_read[0]; i++) {
        assert_int_equal(fail_each(do_read, CALL_read, of_read[i], of_read[i]), 2);
        assert_int_equal(fail_each(do_read, CALL_fstat, of_read[i], of_read[i]), 1);
        assert_int_equal(fail_each(do_read_effective, CALL_read, of_read[i], of_read[i]), 2);
    }
    for (size_t i = 0; i < sizeof of_write / sizeof of_write[0]; i++)
        assert_int_equal(fail_each(do_write, CALL_write, of_write[i], of_write[i]), 1);
    assert_true(fail_each(do_read, CALL_malloc, ENOMEM, ENOMEM) > 0);
    assert_true(fail_each(do_read, CALL_realloc, ENOMEM, ENOMEM) > 0);
    assert_true(fail_each(do_write, CALL_realloc, ENOMEM, ENOMEM) > 0);
}

TEST(an_interrupted_call_is_repeated_and_a_list_is_one_write)
{
    cpubind_sys next = cpubind_sys_real;
    next.openat = noting_openat;
    fault_next = &next;
    assert_int_equal(fail_each(do_read, CALL_openat, EINTR, 0), 1);
    assert_int_equal(fail_each(do_read, CALL_read, EINTR, 0), 2);
    assert_int_equal(fail_each(do_write, CALL_openat, EINTR, 0), 1);
    assert_int_equal(fail_each(do_write, CALL_write, EINTR, 0), 1);
    fault_clear();
    assert_int_equal(do_write(), 0);
    assert_int_equal(fault.count[CALL_write], 1);
    assert_int_equal(open_flags & O_ACCMODE, O_WRONLY);
    assert_int_equal(open_flags & (O_CREAT | O_TRUNC | O_APPEND), 0);
    fault_next = &cpubind_sys_real;
}

/* The first part of a list is a list too: the error is reported and the rest not written. */
TEST(a_short_write_is_an_error)
{
    cpubind_sys next = cpubind_sys_real;
    next.write = write_two;
    fault_next = &next;
    f.sys = fault_table;
    fault_clear();
    scratch_file(&f.s, "proc/irq/301/smp_affinity_list", "");
    assert_int_equal(write_list(301, "1,4-5"), EIO);
    assert_int_equal(fault.count[CALL_write], 1);
    assert_written("1,");
    fault_next = &cpubind_sys_real;
}

/* == this machine == */

/* An interrupt of more than one CPU that can be moved to `cpu`, or -1. */
static int32_t find_movable(const cpubind_root *root, int32_t *before)
{
    DIR *folder = opendir("/proc/irq");
    int32_t found = -1;
    for (const struct dirent *entry; folder && found < 0 && (entry = readdir(folder));) {
        int32_t irq = (int32_t)strtol(entry->d_name, NULL, 10);
        cpubind_root tree = *root;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
            cpubind_irq_read(&tree, irq, &f.sets, before).error != 0 ||
            f.sets.set[*before].n < 2)
            continue;
        if (cpubind_irq_write(&tree, irq, &f.sets.set[*before]).error == 0)
            found = irq;
    }
    if (folder)
        closedir(folder);
    return found;
}

TEST(an_interrupt_of_this_machine_is_moved_and_restored)
{
    int32_t before = -1, now = -1, effective = -7;
    if (geteuid() != 0) {
        print_message("skipped: only root moves interrupts\n");
        skip();
    }
    cpubind_root root = scratch_tree(&f.sys, "/");
    int32_t irq = find_movable(&root, &before);
    if (irq < 0) {
        close(root.fd);
        print_message("skipped: no interrupt of this machine can be moved\n");
        skip();
    }
    int32_t last = f.sets.set[before].cpu[f.sets.set[before].n - 1];
    int32_t one, far;
    assert_int_equal(cpubind_cpu_sets_of_list(&f.sets, &f.sys, &last, 1, &one).error, 0);
    int error = cpubind_irq_write(&root, irq, &f.sets.set[one]).error;
    int error_of_read = cpubind_irq_read(&root, irq, &f.sets, &now).error;
    int error_of_effective = cpubind_irq_read_effective(&root, irq, &f.sets, &effective).error;
    int error_of_undo = cpubind_irq_write(&root, irq, &f.sets.set[before]).error;
    print_message("interrupt %d: from %s to %s\n", (int)irq,
                  cpubind_cpu_sets_text(&f.sets, before), cpubind_cpu_sets_text(&f.sets, one));
    assert_int_equal(error, 0);
    assert_int_equal(error_of_read, 0);
    assert_int_equal(error_of_effective, 0);
    assert_int_equal(error_of_undo, 0);
    assert_int_equal(now, one);
    assert_true(effective >= CPUBIND_CPUSET_NONE);
    assert_int_equal(cpubind_irq_read(&root, irq, &f.sets, &now).error, 0);
    assert_int_equal(now, before);
    static const int32_t none = CPUBIND_MAX_CPUS - 1; /* no machine here has that CPU */
    assert_int_equal(cpubind_cpu_sets_of_list(&f.sets, &f.sys, &none, 1, &far).error, 0);
    assert_int_not_equal(cpubind_irq_write(&root, irq, &f.sets.set[far]).error, 0);
    assert_int_equal(cpubind_irq_read(&root, irq, &f.sets, &now).error, 0);
    assert_int_equal(now, before);
    close(root.fd);
}

TEST_FILE(set_up, tear_down)
