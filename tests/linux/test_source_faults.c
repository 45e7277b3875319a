/* test_source_faults.c - every system call of a source fails, at each of its uses
 * SPDX-License-Identifier: MIT
 *
 * A few files are read again and again, with the 1st, 2nd, ... use of each call failing, until
 * a run has fewer uses. Each answer must be the right one, or FAILED with the injected error
 * and a reason. A run must not leave a descriptor or a child; the address sanitizer finds
 * memory that is left.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "fault_table.h"
#include "temp_dir.h"

/* == the inputs == */

#define MAP   "cmd/npu-smi-info-m.txt"
#define INFO  "cmd/npu-smi-info.txt"
#define TOPO  "cmd/npu-smi-info-t-topo.txt"
#define BOARD "cmd/npu-smi-info-t-board-i4-c0.txt"

typedef enum kind { KIND_FOLDER, KIND_WALK, KIND_LIVE } kind;

typedef struct question {
    const char *name;
    int32_t is_list, exit_code;
    const char *text; /* the right answer; NULL: absent */
} question;

#define N_QUESTIONS 10
#define N_FILES     5 /* the first 5 are files and folders; the live host computes the rest */

static struct {
    scratch s;
    char path[4096]; /* PATH as it was */
    int descriptors;
    cpubind_sys sys;                /* the table of this run */
    size_t read_max;                /* a read returns no more bytes; 0: no limit */
    const char *names[N_QUESTIONS]; /* of the questions, for this kind of host */
    question questions[N_QUESTIONS];
    char big[100001];
} f;

static ssize_t short_read(int fd, void *data, size_t cap)
{
    return read(fd, data, f.read_max && cap > f.read_max ? f.read_max : cap);
}

static int no_openat2(int dir, const char *path, int flags)
{
    (void)dir, (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
}

/* The inputs of a folder. The live host reads the same files by their path from "/". */
static const question asked[N_QUESTIONS] = {
    {"sys/node/cpulist", 0, 0, "0-3\n"},
    {"proc/interrupts", 0, 0, f.big},
    {"sys/bus/dev0/vendor", 0, 0, "0x19e5\n"},
    {"sys/none", 0, 0, NULL},
    {"sys", 1, 0, "bus\ndevices\nnode\n"},
    {MAP, 0, 3, "info -m\n"},
    {INFO, 0, 3, "info\n"},
    {TOPO, 0, 3, "info -t topo\n"},
    {BOARD, 0, 3, "info -t board -i 4 -c 0\n"},
    {"uname", 0, 0, NULL}, /* the text is set below */
};

SETUP(set_up)
{
    char path[SCRATCH_PATH + 64];
    const char *old = getenv("PATH");
    struct utsname system;
    static char machine[sizeof system.machine + 1];
    static cpubind_sys next;
    next = cpubind_sys_real;
    next.read = short_read;
    fault_next = &next;
    fault_clear();
    f.read_max = 0;
    snprintf(f.path, sizeof f.path, "%s", old ? old : "/usr/bin:/bin");
    scratch_make(&f.s);
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", f.s.dir);
    setenv("PATH", path, 1);
    memset(f.big, 'x', sizeof f.big - 1);
    uname(&system);
    snprintf(machine, sizeof machine, "%s\n", system.machine);

    memcpy(f.questions, asked, sizeof asked);
    f.questions[N_QUESTIONS - 1].text = machine;
    scratch_link(&f.s, "sys/bus/dev0", "../devices/pci/dev0");
    scratch_file(&f.s, "sys/devices/pci/dev0/vendor", "0x19e5\n");
    for (int i = 0; i < N_QUESTIONS; i++)
        if (f.questions[i].text && !f.questions[i].is_list && i != 2)
            scratch_file(&f.s, f.questions[i].name, f.questions[i].text);
    scratch_file(&f.s, "cmd/npu-smi-info-m.exit", "3\n");
    scratch_file(&f.s, "cmd/npu-smi-info.exit", "3\n");
    scratch_file(&f.s, "cmd/npu-smi-info-t-topo.exit", "3");
    scratch_file(&f.s, "cmd/npu-smi-info-t-board-i4-c0.exit", "3\n");
    scratch_script(&f.s, "bin/npu-smi", "echo \"$@\"; exit 3");
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    setenv("PATH", f.path, 1);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

static cpubind_linux_status open_kind(kind k, const cpubind_sys *sys, int32_t limit_ms,
                                      cpubind_linux_host **out, cpubind_linux_fault *why)
{
    f.sys = *sys;
    if (k == KIND_WALK)
        f.sys.open_beneath = no_openat2;
    for (int i = 0; i < N_QUESTIONS; i++) {
        static char below_top[N_QUESTIONS][SCRATCH_PATH * 2];
        f.names[i] = f.questions[i].name;
        if (k == KIND_LIVE && i < N_FILES) {
            scratch_path(&f.s, f.questions[i].name, below_top[i]);
            f.names[i] = below_top[i] + 1;
        }
    }
    /* test_shared_run.c injects the faults of what a host shares with others. */
    const cpubind_linux_live live = {.limit_ms = limit_ms, .is_alone = 1, .sys = &f.sys};
    if (k == KIND_LIVE)
        return cpubind_linux_open_live(&live, out, why);
    return cpubind_linux_open_folder(f.s.dir, &f.sys, out, why);
}

static int is_right(cpubind_input input, const question *q)
{
    if (!q->text)
        return is_state(input, CPUBIND_INPUT_ABSENT);
    return is_text(input, q->text) && input.exit_code == q->exit_code;
}

static cpubind_input ask(cpubind_source source, int i)
{
    return f.questions[i].is_list ? source.list(source.ctx, f.names[i])
                                  : source.read(source.ctx, f.names[i]);
}

/* Reads all inputs with the fault that is set. Returns how many answers FAILED with it. Each
 * input is read twice: the second answer must be the first one, unless memory for the cache was
 * missing. */
static int read_all(kind k, const cpubind_sys *sys)
{
    int failed = 0;
    cpubind_linux_host *host = NULL;
    cpubind_linux_fault why = {0};
    if (open_kind(k, sys, 30000, &host, &why) != CPUBIND_LINUX_OK) {
        assert_null(host);
        assert_int_equal(why.error, fault.error);
        assert_non_null(why.what);
        failed = 1;
    }
    for (int i = 0; host && i < N_QUESTIONS; i++) {
        cpubind_source source = cpubind_linux_source(host);
        cpubind_input input = ask(source, i);
        if (!is_right(input, &f.questions[i])) {
            assert_int_equal(input.state, CPUBIND_INPUT_FAILED);
            assert_int_equal(input.error, fault.error);
            assert_true(input.why && is_failed(input, fault.error, input.why));
            failed++;
        }
        cpubind_input again = ask(source, i);
        if (input.state != CPUBIND_INPUT_FAILED || input.error != ENOMEM) {
            assert_int_equal(again.state, input.state);
            assert_ptr_equal(again.data, input.data);
        }
    }
    cpubind_linux_close(host);
    assert_int_equal(open_descriptors(), f.descriptors);
    assert_false(has_child());
    fault_assert_only(CALLS(CALL_open, CALL_openat, CALL_open_beneath, CALL_readlinkat,
                            CALL_fstat, CALL_read, CALL_close, CALL_fdopendir, CALL_readdir,
                            CALL_closedir, CALL_uname, CALL_pipe, CALL_spawn, CALL_poll,
                            CALL_waitpid, CALL_kill, CALL_malloc, CALL_realloc));
    return failed;
}

/* Runs with the 1st, 2nd, ... use of `which` failing. At least one answer of all runs must have
 * FAILED, or none if `harmless`. The limit is there because the number of polls is random. */
static void fail_each_use(kind k, call which, int error, int harmless)
{
    int failed = 0, runs = 0;
    for (int nth = 1; nth <= 60; nth++) {
        fault_set(which, nth, error);
        failed += read_all(k, &fault_table);
        if (fault.n_met == 0)
            break;
        runs++;
    }
    assert_true(runs > 0); /* the source makes this call */
    if (harmless)
        assert_int_equal(failed, 0);
    else
        assert_true(failed > 0);
}

/* == each call, at each use == */

TEST(without_a_fault_all_answers_are_right)
{
    assert_int_equal(read_all(KIND_FOLDER, &fault_table), 0);
    assert_int_equal(read_all(KIND_WALK, &fault_table), 0);
    assert_int_equal(read_all(KIND_LIVE, &fault_table), 0);
}

TEST(every_fault_of_a_folder_is_reported)
{
    fail_each_use(KIND_FOLDER, CALL_open, EMFILE, 0);
    fail_each_use(KIND_FOLDER, CALL_open_beneath, EMFILE, 0);
    fail_each_use(KIND_FOLDER, CALL_open_beneath, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_fstat, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_read, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_fdopendir, ENOMEM, 0);
    fail_each_use(KIND_FOLDER, CALL_readdir, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_readdir, EOVERFLOW, 0); /* 32 bits without large files */
    fail_each_use(KIND_LIVE, CALL_readdir, ENOTDIR, 0);
    fail_each_use(KIND_FOLDER, CALL_malloc, ENOMEM, 0);
    fail_each_use(KIND_FOLDER, CALL_realloc, ENOMEM, 0);
}

TEST(every_fault_of_a_host_without_openat2_is_reported)
{
    fail_each_use(KIND_WALK, CALL_openat, EMFILE, 0);
    fail_each_use(KIND_WALK, CALL_readlinkat, EIO, 0);
    fail_each_use(KIND_WALK, CALL_fstat, EIO, 0);
}

TEST(every_fault_of_the_live_host_is_reported)
{
    fail_each_use(KIND_LIVE, CALL_open, EMFILE, 0);
    fail_each_use(KIND_LIVE, CALL_openat, EMFILE, 0);
    fail_each_use(KIND_LIVE, CALL_uname, EFAULT, 0);
    fail_each_use(KIND_LIVE, CALL_pipe, EMFILE, 0);
    fail_each_use(KIND_LIVE, CALL_spawn, EAGAIN, 0);
    fail_each_use(KIND_LIVE, CALL_spawn, ENOMEM, 0);
    fail_each_use(KIND_LIVE, CALL_read, EIO, 0);
    fail_each_use(KIND_LIVE, CALL_poll, ENOMEM, 0);
    fail_each_use(KIND_LIVE, CALL_waitpid, EINVAL, 0);
    fail_each_use(KIND_LIVE, CALL_malloc, ENOMEM, 0);
    fail_each_use(KIND_LIVE, CALL_realloc, ENOMEM, 0);
}

TEST(an_interrupted_call_is_repeated)
{
    fail_each_use(KIND_FOLDER, CALL_open, EINTR, 1);
    fail_each_use(KIND_FOLDER, CALL_open_beneath, EINTR, 1);
    fail_each_use(KIND_FOLDER, CALL_read, EINTR, 1);
    fail_each_use(KIND_FOLDER, CALL_readdir, EINTR, 1);
    fail_each_use(KIND_WALK, CALL_openat, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_openat, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_read, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_poll, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_waitpid, EINTR, 1);
}

TEST(a_close_that_fails_harms_nothing)
{
    fail_each_use(KIND_FOLDER, CALL_close, EIO, 1);
    fail_each_use(KIND_FOLDER, CALL_closedir, EINTR, 1);
    fail_each_use(KIND_WALK, CALL_close, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_close, EIO, 1);
}

TEST(without_openat2_each_part_of_a_path_is_opened)
{
    static const int errors[] = {ENOSYS, EPERM, EAGAIN};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        fault_set(CALL_open_beneath, 1, errors[i]);
        fault.forever = 1;
        assert_int_equal(read_all(KIND_FOLDER, &fault_table), 0);
        fail_each_use(KIND_FOLDER, CALL_open_beneath, errors[i], 1);
    }
}

TEST(short_reads_change_nothing)
{
    static const size_t sizes[] = {1, 7, 4096};
    fault_clear();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        f.read_max = sizes[i];
        assert_int_equal(read_all(KIND_FOLDER, &fault_table), 0);
        assert_int_equal(read_all(KIND_LIVE, &fault_table), 0);
    }
}

/* == wrong results, and commands that do not end == */

static off_t false_size;

static int false_fstat(int fd, struct stat *out)
{
    int result = cpubind_sys_real.fstat(fd, out);
    out->st_size = false_size;
    return result;
}

TEST(a_wrong_size_of_a_file_changes_nothing)
{
    static const off_t sizes[] = {0, -1, 1, 4096, 65536, (off_t)1 << 40};
    cpubind_sys sys = fault_table;
    sys.fstat = false_fstat;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        false_size = sizes[i];
        assert_int_equal(read_all(KIND_FOLDER, &sys), 0);
    }
}

static ssize_t endless_read(int fd, void *data, size_t cap)
{
    (void)fd, (void)data;
    return (ssize_t)cap;
}

TEST(a_file_that_never_ends_is_too_long)
{
    cpubind_linux_host *host = NULL;
    cpubind_sys sys = fault_table;
    sys.read = endless_read;
    assert_int_equal(open_kind(KIND_FOLDER, &sys, 1, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_state(source.read(source.ctx, "uname"), CPUBIND_INPUT_TOO_LONG));
    assert_true(is_state(source.read(source.ctx, MAP), CPUBIND_INPUT_TOO_LONG));
    cpubind_linux_close(host);
}

static int name_width;

static struct dirent *endless_readdir(DIR *folder)
{
    static struct dirent entry;
    static int n;
    (void)folder;
    snprintf(entry.d_name, sizeof entry.d_name, "%0*d", name_width, n++);
    return &entry;
}

TEST(a_folder_that_never_ends_is_too_long)
{
    static const int widths[] = {8, 250}; /* reaches the limit of names; that of bytes */
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        cpubind_linux_host *host = NULL;
        cpubind_sys sys = fault_table;
        sys.readdir = endless_readdir;
        name_width = widths[i];
        assert_int_equal(open_kind(KIND_FOLDER, &sys, 1, &host, NULL), CPUBIND_LINUX_OK);
        cpubind_source source = cpubind_linux_source(host);
        assert_true(is_state(source.list(source.ctx, "sys"), CPUBIND_INPUT_TOO_LONG));
        cpubind_linux_close(host);
    }
}

static ssize_t no_link(int dir, const char *path, char *text, size_t cap)
{
    (void)dir, (void)path, (void)text, (void)cap;
    errno = EINVAL;
    return -1;
}

TEST(a_link_that_appears_while_a_path_is_opened_is_not_followed)
{
    cpubind_linux_host *host = NULL;
    cpubind_sys sys = fault_table;
    sys.readlinkat = no_link;
    scratch_link(&f.s, "file", "/etc/passwd");
    scratch_link(&f.s, "etc", "/etc");
    assert_int_equal(open_kind(KIND_WALK, &sys, 1, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_failed(source.read(source.ctx, "file"), ELOOP, "open"));
    assert_int_not_equal(source.read(source.ctx, "etc/passwd").state, CPUBIND_INPUT_PRESENT);
    assert_int_not_equal(source.list(source.ctx, "etc").state, CPUBIND_INPUT_PRESENT);
    cpubind_linux_close(host);
}

/* Kills the fake command whose pid is in the file `path`, and waits until it is a zombie. */
static void end_fake_command(const char *path)
{
    long pid = 0;
    siginfo_t info;
    FILE *file = fopen(path, "re");
    scratch_need(file && fscanf(file, "%ld", &pid) == 1 && pid > 0, path);
    fclose(file);
    kill((pid_t)pid, SIGKILL);
    waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
}

/* A command that hangs in a driver does not end on SIGKILL. The source must stop waiting,
 * and must reap the command when the source is closed. */
TEST(a_command_that_cannot_be_killed_does_not_block_the_source)
{
    cpubind_linux_host *host = NULL;
    char body[SCRATCH_PATH * 2], path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "pid", path);
    snprintf(body, sizeof body,
             "[ \"$2\" = -m ] || exec echo x\necho $$ > %s/pid\nexec sleep 30", f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
    fault_set(CALL_kill, 1, EPERM);
    fault.forever = 1;
    int64_t begun = clock_ms();
    assert_int_equal(open_kind(KIND_LIVE, &fault_table, 1000, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_state(source.read(source.ctx, MAP), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(source.read(source.ctx, INFO), "x\n"));
    assert_true(clock_ms() - begun >= 2000); /* the limit, and the time to end after a signal */
    assert_true(clock_ms() - begun < 15000);
    assert_true(fault.count[CALL_kill] > 0);
    end_fake_command(path);
    cpubind_linux_close(host);
    assert_false(has_child());
}

/* The commands for the other boards would hang in the same driver. */
TEST(after_a_board_that_cannot_be_killed_no_other_is_asked)
{
    cpubind_linux_host *host = NULL;
    char body[SCRATCH_PATH * 2], path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "pid", path);
    snprintf(body, sizeof body,
             "[ \"$3\" = board ] || exec echo x\n[ \"$5\" = 4 ] || exec echo \"$@\"\n"
             "echo $$ > %s/pid\nexec sleep 30",
             f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
    fault_set(CALL_kill, 1, EPERM);
    fault.forever = 1;
    assert_int_equal(open_kind(KIND_LIVE, &fault_table, 1000, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_text(source.read(source.ctx, "cmd/npu-smi-info-t-board-i1.txt"),
                        "info -t board -i 1\n"));
    assert_true(is_state(source.read(source.ctx, BOARD), CPUBIND_INPUT_TIMEOUT));
    int spawned = fault.count[CALL_spawn];
    assert_true(is_state(source.read(source.ctx, "cmd/npu-smi-info-t-board-i2.txt"),
                         CPUBIND_INPUT_TIMEOUT));
    assert_true(is_state(source.read(source.ctx, BOARD), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(source.read(source.ctx, "cmd/npu-smi-info-t-board-i1.txt"),
                        "info -t board -i 1\n"));
    assert_int_equal(fault.count[CALL_spawn], spawned);
    assert_true(is_text(source.read(source.ctx, MAP), "x\n"));
    end_fake_command(path);
    cpubind_linux_close(host);
    assert_false(has_child());
}

TEST(a_poll_that_always_fails_ends_the_commands)
{
    cpubind_linux_host *host = NULL;
    scratch_script(&f.s, "bin/npu-smi", "exec sleep 30");
    fault_set(CALL_poll, 1, ENOMEM);
    fault.forever = 1;
    assert_int_equal(open_kind(KIND_LIVE, &fault_table, 30000, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_failed(source.read(source.ctx, MAP), ENOMEM, "poll"));
    assert_true(is_failed(source.read(source.ctx, INFO), ENOMEM, "poll"));
    cpubind_linux_close(host);
    assert_false(has_child());
}

TEST(an_answer_without_memory_is_not_cached)
{
    cpubind_linux_host *host = NULL;
    fault_clear();
    assert_int_equal(open_kind(KIND_FOLDER, &fault_table, 1, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    fault_set(CALL_malloc, 1, ENOMEM);
    assert_true(is_failed(source.read(source.ctx, "sys/node/cpulist"), ENOMEM, "memory"));
    assert_true(is_text(source.read(source.ctx, "sys/node/cpulist"), "0-3\n"));
    cpubind_linux_close(host);
}

TEST_FILE(set_up, tear_down)
