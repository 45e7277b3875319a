/* test_source_faults.c - every system call of a source fails, at each of its calls
 * SPDX-License-Identifier: MIT
 *
 * A small scenario is played again and again, with each call of the table failing at its 1st,
 * 2nd, ... use, until there is no such use. Each answer must be the right one, or FAILED with
 * just the error that was injected and a reason.
 * After each run the same descriptors are open and no child is left. (That no memory is left
 * either is for the address sanitizer to see.)
 */
#define _GNU_SOURCE
#include <signal.h>

#include "../support/cmocka_test.h"
#include "temp_dir.h"

typedef enum call {
    CALL_NONE,
    CALL_OPEN,
    CALL_OPENAT,
    CALL_OPEN_BENEATH,
    CALL_READLINKAT,
    CALL_FSTAT,
    CALL_READ,
    CALL_CLOSE,
    CALL_FDOPENDIR,
    CALL_READDIR,
    CALL_CLOSEDIR,
    CALL_UNAME,
    CALL_PIPE,
    CALL_SPAWN,
    CALL_POLL,
    CALL_WAITPID,
    CALL_KILL,
    CALL_MALLOC,
    CALL_REALLOC,
    N_CALLS
} call;

/* The fault of this run: the `nth` use of `which`, and with `forever` all uses from it on. */
static struct {
    call which;
    int nth, error, forever;
    int count[N_CALLS]; /* uses so far */
    size_t read_max;    /* a read gives no more bytes; 0: as many as there are */
} fault;

static int hit(call which)
{
    int n = ++fault.count[which];
    if (fault.which != which || !(fault.forever ? n >= fault.nth : n == fault.nth))
        return 0;
    errno = fault.error;
    return 1;
}

#include "fault_calls.h"

static int t_open_beneath(int dir, const char *path, int flags)
{
    return hit(CALL_OPEN_BENEATH) ? -1 : cpubind_sys_real.open_beneath(dir, path, flags);
}

static ssize_t t_readlinkat(int dir, const char *path, char *text, size_t cap)
{
    return hit(CALL_READLINKAT) ? -1 : cpubind_sys_real.readlinkat(dir, path, text, cap);
}

static ssize_t t_read(int fd, void *data, size_t cap)
{
    if (fault.read_max && cap > fault.read_max)
        cap = fault.read_max;
    return hit(CALL_READ) ? -1 : cpubind_sys_real.read(fd, data, cap);
}

static int t_uname(struct utsname *out)
{
    return hit(CALL_UNAME) ? -1 : cpubind_sys_real.uname(out);
}

static int t_pipe(int fd[2])
{
    return hit(CALL_PIPE) ? -1 : cpubind_sys_real.pipe(fd);
}

static int t_spawn(pid_t *pid, const char *const *argv, char *const *envp, int out)
{
    return hit(CALL_SPAWN) ? fault.error : cpubind_sys_real.spawn(pid, argv, envp, out);
}

static int t_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    return hit(CALL_POLL) ? -1 : cpubind_sys_real.poll(fds, n, timeout_ms);
}

static pid_t t_waitpid(pid_t pid, int *status, int options)
{
    return hit(CALL_WAITPID) ? -1 : cpubind_sys_real.waitpid(pid, status, options);
}

static int t_kill(pid_t pid, int signal)
{
    return hit(CALL_KILL) ? -1 : cpubind_sys_real.kill(pid, signal);
}

static const cpubind_sys table = {
    .open = t_open,
    .openat = t_openat,
    .open_beneath = t_open_beneath,
    .readlinkat = t_readlinkat,
    .fstat = t_fstat,
    .read = t_read,
    .close = t_close,
    .fdopendir = t_fdopendir,
    .readdir = t_readdir,
    .closedir = t_closedir,
    .uname = t_uname,
    .pipe = t_pipe,
    .spawn = t_spawn,
    .poll = t_poll,
    .waitpid = t_waitpid,
    .kill = t_kill,
    .malloc = t_malloc,
    .realloc = t_realloc,
};

/* == the scenario == */

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
#define N_FILES     5 /* the first ones are files and folders, the rest is computed live */

static struct {
    scratch s;
    char path[4096]; /* PATH as it was */
    int descriptors;
    cpubind_sys sys;                /* the table of this run */
    const char *names[N_QUESTIONS]; /* of the questions, for this kind of host */
    question questions[N_QUESTIONS];
    char big[100001];
} f;

static int walks(int dir, const char *path, int flags)
{
    (void)dir, (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
}

/* What is asked of a folder. The live host is asked the same of that folder below "/". */
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
    memset(&fault, 0, sizeof fault);
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
        f.sys.open_beneath = walks;
    for (int i = 0; i < N_QUESTIONS; i++) {
        static char below_top[N_QUESTIONS][SCRATCH_PATH * 2];
        f.names[i] = f.questions[i].name;
        if (k == KIND_LIVE && i < N_FILES) {
            scratch_path(&f.s, f.questions[i].name, below_top[i]);
            f.names[i] = below_top[i] + 1;
        }
    }
    if (k == KIND_LIVE)
        return cpubind_linux_open_live(0, limit_ms, &f.sys, out, why);
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

/* Plays the scenario with the fault that is set; returns how many answers FAILED with it. Every
 * question is asked twice: the second answer is the first, if that could be remembered. */
static int play(kind k, const cpubind_sys *sys)
{
    int failed = 0;
    cpubind_linux_host *host = NULL;
    cpubind_linux_fault why = {0, NULL};
    memset(fault.count, 0, sizeof fault.count);
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
    return failed;
}

static void set_fault(call which, int nth, int error, int forever)
{
    fault.which = which;
    fault.nth = nth;
    fault.error = error;
    fault.forever = forever;
}

/* Lets `which` fail at each of its uses; at least one answer of all runs must have FAILED with
 * it, or with `harmless` none. How often the clock makes us poll is chance: hence the cap. */
static void fail_each_use(kind k, call which, int error, int harmless)
{
    int failed = 0, runs = 0;
    for (int nth = 1; nth <= 60; nth++) {
        set_fault(which, nth, error, 0);
        failed += play(k, &table);
        if (fault.count[which] < nth)
            break;
        runs++;
    }
    assert_true(runs > 0); /* the scenario does make this call */
    if (harmless)
        assert_int_equal(failed, 0);
    else
        assert_true(failed > 0);
}

/* == each call, at each use == */

TEST(without_a_fault_all_answers_are_right)
{
    assert_int_equal(play(KIND_FOLDER, &table), 0);
    assert_int_equal(play(KIND_WALK, &table), 0);
    assert_int_equal(play(KIND_LIVE, &table), 0);
}

TEST(every_fault_of_a_folder_is_told)
{
    fail_each_use(KIND_FOLDER, CALL_OPEN, EMFILE, 0);
    fail_each_use(KIND_FOLDER, CALL_OPEN_BENEATH, EMFILE, 0);
    fail_each_use(KIND_FOLDER, CALL_OPEN_BENEATH, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_FSTAT, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_READ, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_FDOPENDIR, ENOMEM, 0);
    fail_each_use(KIND_FOLDER, CALL_READDIR, EIO, 0);
    fail_each_use(KIND_FOLDER, CALL_MALLOC, ENOMEM, 0);
    fail_each_use(KIND_FOLDER, CALL_REALLOC, ENOMEM, 0);
}

TEST(every_fault_of_the_walk_is_told)
{
    fail_each_use(KIND_WALK, CALL_OPENAT, EMFILE, 0);
    fail_each_use(KIND_WALK, CALL_READLINKAT, EIO, 0);
    fail_each_use(KIND_WALK, CALL_FSTAT, EIO, 0);
}

TEST(every_fault_of_the_live_host_is_told)
{
    fail_each_use(KIND_LIVE, CALL_OPEN, EMFILE, 0);
    fail_each_use(KIND_LIVE, CALL_OPENAT, EMFILE, 0);
    fail_each_use(KIND_LIVE, CALL_UNAME, EFAULT, 0);
    fail_each_use(KIND_LIVE, CALL_PIPE, EMFILE, 0);
    fail_each_use(KIND_LIVE, CALL_SPAWN, EAGAIN, 0);
    fail_each_use(KIND_LIVE, CALL_SPAWN, ENOMEM, 0);
    fail_each_use(KIND_LIVE, CALL_READ, EIO, 0);
    fail_each_use(KIND_LIVE, CALL_POLL, ENOMEM, 0);
    fail_each_use(KIND_LIVE, CALL_WAITPID, EINVAL, 0);
    fail_each_use(KIND_LIVE, CALL_MALLOC, ENOMEM, 0);
    fail_each_use(KIND_LIVE, CALL_REALLOC, ENOMEM, 0);
}

TEST(an_interrupted_call_is_made_again)
{
    fail_each_use(KIND_FOLDER, CALL_OPEN, EINTR, 1);
    fail_each_use(KIND_FOLDER, CALL_OPEN_BENEATH, EINTR, 1);
    fail_each_use(KIND_FOLDER, CALL_READ, EINTR, 1);
    fail_each_use(KIND_FOLDER, CALL_READDIR, EINTR, 1);
    fail_each_use(KIND_WALK, CALL_OPENAT, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_OPENAT, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_READ, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_POLL, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_WAITPID, EINTR, 1);
}

TEST(a_close_that_fails_harms_nothing)
{
    fail_each_use(KIND_FOLDER, CALL_CLOSE, EIO, 1);
    fail_each_use(KIND_FOLDER, CALL_CLOSEDIR, EINTR, 1);
    fail_each_use(KIND_WALK, CALL_CLOSE, EINTR, 1);
    fail_each_use(KIND_LIVE, CALL_CLOSE, EIO, 1);
}

TEST(a_kernel_without_openat2_or_too_busy_for_it_gets_the_walk)
{
    static const int errors[] = {ENOSYS, EPERM, EAGAIN};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        set_fault(CALL_OPEN_BENEATH, 1, errors[i], 1);
        assert_int_equal(play(KIND_FOLDER, &table), 0);
        fail_each_use(KIND_FOLDER, CALL_OPEN_BENEATH, errors[i], 1);
    }
}

TEST(short_reads_change_nothing)
{
    static const size_t sizes[] = {1, 7, 4096};
    set_fault(CALL_NONE, 0, 0, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fault.read_max = sizes[i];
        assert_int_equal(play(KIND_FOLDER, &table), 0);
        assert_int_equal(play(KIND_LIVE, &table), 0);
    }
}

/* == calls that lie or do not come back == */

static off_t said_size;

static int lying_fstat(int fd, struct stat *out)
{
    int result = cpubind_sys_real.fstat(fd, out);
    out->st_size = said_size;
    return result;
}

TEST(the_size_of_a_file_may_be_a_lie)
{
    static const off_t sizes[] = {0, -1, 1, 4096, 65536, (off_t)1 << 40};
    cpubind_sys sys = table;
    sys.fstat = lying_fstat;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        said_size = sizes[i];
        assert_int_equal(play(KIND_FOLDER, &sys), 0);
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
    cpubind_sys sys = table;
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
    static const int widths[] = {8, 250}; /* meets the cap of names; that of bytes */
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        cpubind_linux_host *host = NULL;
        cpubind_sys sys = table;
        sys.readdir = endless_readdir;
        name_width = widths[i];
        assert_int_equal(open_kind(KIND_FOLDER, &sys, 1, &host, NULL), CPUBIND_LINUX_OK);
        cpubind_source source = cpubind_linux_source(host);
        assert_true(is_state(source.list(source.ctx, "sys"), CPUBIND_INPUT_TOO_LONG));
        cpubind_linux_close(host);
    }
}

static ssize_t sees_no_link(int dir, const char *path, char *text, size_t cap)
{
    (void)dir, (void)path, (void)text, (void)cap;
    errno = EINVAL;
    return -1;
}

TEST(a_link_that_appears_during_the_walk_is_not_followed)
{
    cpubind_linux_host *host = NULL;
    cpubind_sys sys = table;
    sys.readlinkat = sees_no_link;
    scratch_link(&f.s, "file", "/etc/passwd");
    scratch_link(&f.s, "etc", "/etc");
    assert_int_equal(open_kind(KIND_WALK, &sys, 1, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_failed(source.read(source.ctx, "file"), ELOOP, "open"));
    assert_int_not_equal(source.read(source.ctx, "etc/passwd").state, CPUBIND_INPUT_PRESENT);
    assert_int_not_equal(source.list(source.ctx, "etc").state, CPUBIND_INPUT_PRESENT);
    cpubind_linux_close(host);
}

/* Ends the stand-in whose pid is in the file `path`, and waits until it can be reaped. */
static void end_stand_in(const char *path)
{
    long pid = 0;
    siginfo_t info;
    FILE *file = fopen(path, "re");
    scratch_need(file && fscanf(file, "%ld", &pid) == 1 && pid > 0, path);
    fclose(file);
    kill((pid_t)pid, SIGKILL);
    waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
}

/* A command that outlives its SIGKILL, as one that hangs in a driver does. It ends after all;
 * then closing reaps it. */
TEST(a_command_that_cannot_be_killed_does_not_hold_us)
{
    cpubind_linux_host *host = NULL;
    char body[SCRATCH_PATH * 2], path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "pid", path);
    snprintf(body, sizeof body,
             "[ \"$2\" = -m ] || exec echo x\necho $$ > %s/pid\nexec sleep 30", f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
    set_fault(CALL_KILL, 1, EPERM, 1);
    memset(fault.count, 0, sizeof fault.count);
    int64_t begun = clock_ms();
    assert_int_equal(open_kind(KIND_LIVE, &table, 1000, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_state(source.read(source.ctx, MAP), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(source.read(source.ctx, INFO), "x\n"));
    assert_true(clock_ms() - begun >= 2000); /* the limit, and the time to die in */
    assert_true(clock_ms() - begun < 15000);
    assert_true(fault.count[CALL_KILL] > 0);
    end_stand_in(path);
    cpubind_linux_close(host);
    assert_false(has_child());
}

/* Every other board would hang beside it. */
TEST(a_board_that_cannot_be_killed_is_the_last_one)
{
    cpubind_linux_host *host = NULL;
    char body[SCRATCH_PATH * 2], path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "pid", path);
    snprintf(body, sizeof body,
             "[ \"$3\" = board ] || exec echo x\n[ \"$5\" = 4 ] || exec echo \"$@\"\n"
             "echo $$ > %s/pid\nexec sleep 30",
             f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
    set_fault(CALL_KILL, 1, EPERM, 1);
    memset(fault.count, 0, sizeof fault.count);
    assert_int_equal(open_kind(KIND_LIVE, &table, 1000, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_text(source.read(source.ctx, "cmd/npu-smi-info-t-board-i1.txt"),
                        "info -t board -i 1\n"));
    assert_true(is_state(source.read(source.ctx, BOARD), CPUBIND_INPUT_TIMEOUT));
    int spawned = fault.count[CALL_SPAWN];
    assert_true(is_state(source.read(source.ctx, "cmd/npu-smi-info-t-board-i2.txt"),
                         CPUBIND_INPUT_TIMEOUT));
    assert_true(is_state(source.read(source.ctx, BOARD), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(source.read(source.ctx, "cmd/npu-smi-info-t-board-i1.txt"),
                        "info -t board -i 1\n"));
    assert_int_equal(fault.count[CALL_SPAWN], spawned);
    assert_true(is_text(source.read(source.ctx, MAP), "x\n"));
    end_stand_in(path);
    cpubind_linux_close(host);
    assert_false(has_child());
}

TEST(a_poll_that_always_fails_ends_the_commands)
{
    cpubind_linux_host *host = NULL;
    scratch_script(&f.s, "bin/npu-smi", "exec sleep 30");
    set_fault(CALL_POLL, 1, ENOMEM, 1);
    assert_int_equal(open_kind(KIND_LIVE, &table, 30000, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_failed(source.read(source.ctx, MAP), ENOMEM, "poll"));
    assert_true(is_failed(source.read(source.ctx, INFO), ENOMEM, "poll"));
    cpubind_linux_close(host);
    assert_false(has_child());
}

TEST(an_answer_without_memory_to_remember_it_may_come_later)
{
    cpubind_linux_host *host = NULL;
    set_fault(CALL_NONE, 0, 0, 0);
    assert_int_equal(open_kind(KIND_FOLDER, &table, 1, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    memset(fault.count, 0, sizeof fault.count);
    set_fault(CALL_MALLOC, 1, ENOMEM, 0);
    assert_true(is_failed(source.read(source.ctx, "sys/node/cpulist"), ENOMEM, "memory"));
    assert_true(is_text(source.read(source.ctx, "sys/node/cpulist"), "0-3\n"));
    cpubind_linux_close(host);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(without_a_fault_all_answers_are_right),
        EACH(every_fault_of_a_folder_is_told),
        EACH(every_fault_of_the_walk_is_told),
        EACH(every_fault_of_the_live_host_is_told),
        EACH(an_interrupted_call_is_made_again),
        EACH(a_close_that_fails_harms_nothing),
        EACH(a_kernel_without_openat2_or_too_busy_for_it_gets_the_walk),
        EACH(short_reads_change_nothing),
        EACH(the_size_of_a_file_may_be_a_lie),
        EACH(a_file_that_never_ends_is_too_long),
        EACH(a_folder_that_never_ends_is_too_long),
        EACH(a_link_that_appears_during_the_walk_is_not_followed),
        EACH(a_command_that_cannot_be_killed_does_not_hold_us),
        EACH(a_board_that_cannot_be_killed_is_the_last_one),
        EACH(a_poll_that_always_fails_ends_the_commands),
        EACH(an_answer_without_memory_to_remember_it_may_come_later),
    };
    return cmocka_run_group_tests_name("source_faults", tests, NULL, NULL);
}
