/* test_shared_run.c - one run of npu-smi serves all processes of a host
 * SPDX-License-Identifier: MIT
 *
 * Each test has a /run and a PATH of its own; npu-smi is a script that notes each of its runs.
 * No test may touch the /run of the machine.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/file.h>

#include "fault_table.h"
#include "temp_dir.h"

#define MAP   "cmd/npu-smi-info-m.txt"
#define INFO  "cmd/npu-smi-info.txt"
#define TOPO  "cmd/npu-smi-info-t-topo.txt"
#define BOARD "cmd/npu-smi-info-t-board-i4-c0.txt"

#define N_PROCESSES 16

static struct {
    scratch s;
    char path[4096]; /* PATH as it was */
    char run[64];    /* the folder of this user below "/", "run" or "run/user/UID" */
    int descriptors;
    int n_run; /* how often the folder was opened */
    int may_lack_err;
    cpubind_sys sys;
} f;

static int own_openat(int dir, const char *path, int flags)
{
    const size_t n = strlen(f.run);
    char full[SCRATCH_PATH * 2];
    if (strncmp(path, f.run, n) != 0 || (path[n] != '\0' && path[n] != '/'))
        return openat(dir, path, flags);
    f.n_run++;
    snprintf(full, sizeof full, "%s/run%s", f.s.dir, path + n);
    return open(full, flags);
}

/* Prints its words, one line on stderr, exits with 3; `first` runs before. */
static void make_npusmi(const char *first)
{
    char body[SCRATCH_PATH * 4];
    snprintf(body, sizeof body,
             "%s\necho x >> %s/runs\necho \"out $@\"\necho \"err $@\" >&2\nexit 3", first,
             f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
}

SETUP(set_up)
{
    char path[SCRATCH_PATH + 64];
    const char *old = getenv("PATH");
    memset(&f, 0, sizeof f);
    f.sys = cpubind_sys_real;
    f.sys.openat = own_openat;
    f.sys.fsync = no_fsync;
    fault_next = &f.sys;
    fault_clear();
    snprintf(f.path, sizeof f.path, "%s", old ? old : "/usr/bin:/bin");
    if (geteuid() == 0)
        snprintf(f.run, sizeof f.run, "run");
    else
        snprintf(f.run, sizeof f.run, "run/user/%lu", (unsigned long)geteuid());
    scratch_make(&f.s);
    scratch_folder(&f.s, "run");
    scratch_folder(&f.s, "bin");
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", f.s.dir);
    setenv("PATH", path, 1);
    make_npusmi("");
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    setenv("PATH", f.path, 1);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* The number of lines of a file of the scratch folder. */
static int lines_of(const char *name)
{
    char path[SCRATCH_PATH * 2];
    int n = 0;
    scratch_path(&f.s, name, path);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    for (int c; (c = fgetc(file)) != EOF;)
        n += c == '\n';
    fclose(file);
    return n;
}

static int is_right(cpubind_input input, const char *words)
{
    char out[64], err[64];
    snprintf(out, sizeof out, "out %s\n", words);
    snprintf(err, sizeof err, "err %s\n", words);
    /* Where stderr cannot be read or copied it is left out, and nothing else. */
    return is_text(input, out) && input.exit_code == 3 &&
           (is_err(input, err) || (f.may_lack_err && is_err(input, "")));
}

/* Reads all inputs of npu-smi. Returns how many are right; those that are not must be FAILED
 * with the error of the fault. */
static int read_all(const cpubind_sys *sys, int32_t limit_ms, int is_alone)
{
    static const struct {
        const char *name, *words;
    } asked[] = {{MAP, "info -m"},
                 {INFO, "info"},
                 {TOPO, "info -t topo"},
                 {BOARD, "info -t board -i 4 -c 0"}};
    const cpubind_linux_live live = {.limit_ms = limit_ms, .is_alone = is_alone, .sys = sys};
    cpubind_linux_host *host = NULL;
    int right = 0;
    if (cpubind_linux_open_live(&live, &host, NULL) != CPUBIND_LINUX_OK)
        return 0;
    cpubind_source source = cpubind_linux_source(host);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const cpubind_input input = source.read(source.ctx, asked[i].name);
        if (is_right(input, asked[i].words))
            right++;
        else if (input.state == CPUBIND_INPUT_FAILED)
            assert_int_equal(input.error, fault.error);
        else if (input.state != CPUBIND_INPUT_TIMEOUT)
            right = -1000;
    }
    cpubind_linux_close(host);
    return right;
}

#define READ() read_all(&f.sys, 30000, 0)

/* The path of the file of the outputs, of a board's or of the lock; "" when it is not there. */
static void find_file(const char *end, char path[SCRATCH_PATH * 2])
{
    char link[64], name[160];
    const ssize_t n = readlink("/proc/self/ns/mnt", link, sizeof link - 1);
    scratch_need(n > 6, "/proc/self/ns/mnt");
    link[n - 1] = '\0';
    snprintf(name, sizeof name, "run/cpubind/npu-smi.%s%s", link + strlen("mnt:["), end);
    scratch_path(&f.s, name, path);
    if (access(path, F_OK) != 0)
        path[0] = '\0';
}

/* The bytes of a file; they are freed by the caller. */
static char *slurp(const char *path, size_t *len)
{
    FILE *file = fopen(path, "re");
    char *bytes = malloc(1 << 20);
    scratch_need(file && bytes, path);
    *len = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void spill(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "we");
    scratch_need(file && fwrite(bytes, 1, len, file) == len, path);
    fclose(file);
}

static void forget(void)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "run/cpubind", path);
    (void)nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    scratch_path(&f.s, "runs", path);
    (void)unlink(path);
}

/* == One run serves all == */

TEST(sixteen_processes_at_once_run_each_command_once)
{
    pid_t pid[N_PROCESSES];
    make_npusmi("sleep 0.3");
    for (int i = 0; i < N_PROCESSES; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            _exit(READ() == 4 ? 0 : 1);
    }
    for (int i = 0; i < N_PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(lines_of("runs"), 4);
}

TEST(a_process_that_runs_alone_neither_takes_nor_keeps)
{
    assert_int_equal(read_all(&f.sys, 30000, 1), 4);
    assert_int_equal(f.n_run, 0);
    assert_int_equal(READ(), 4);
    assert_int_equal(lines_of("runs"), 8);
    assert_int_equal(read_all(&f.sys, 30000, 1), 4);
    assert_int_equal(lines_of("runs"), 12);
}

/* The lock of a holder that is killed half way is free at once. */
TEST(a_holder_that_is_killed_frees_the_lock)
{
    char first[SCRATCH_PATH * 4], path[SCRATCH_PATH * 2];
    snprintf(first, sizeof first, "[ -e %s/second ] || { echo $$ >> %s/begun; exec sleep 30; }",
             f.s.dir, f.s.dir);
    make_npusmi(first);
    pid_t holder = fork();
    if (holder == 0)
        _exit(READ() == 4 ? 0 : 1);
    while (lines_of("begun") < 3)
        usleep(10000);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    scratch_file(&f.s, "second", "");
    const int64_t begun = clock_ms();
    assert_int_equal(READ(), 4);
    assert_true(clock_ms() - begun < 20000);
    assert_int_equal(lines_of("runs"), 4);
    scratch_path(&f.s, "begun", path);
    FILE *file = fopen(path, "re");
    for (long pid; file && fscanf(file, "%ld", &pid) == 1;)
        kill((pid_t)pid, SIGKILL);
    if (file)
        fclose(file);
}

TEST(a_lock_is_waited_for_no_longer_than_a_command_may_take)
{
    char path[SCRATCH_PATH * 2];
    assert_int_equal(READ(), 4);
    find_file(".lock", path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(READ(), 4); /* reading needs no lock */
    find_file("", path);
    assert_int_equal(unlink(path), 0);
    find_file(".i4-c0", path);
    assert_int_equal(unlink(path), 0);
    const int64_t begun = clock_ms();
    assert_int_equal(read_all(&f.sys, 2000, 0), 4);
    assert_true(clock_ms() - begun >= 2000);
    assert_int_equal(lines_of("runs"), 8);
    close(fd);
}

/* == What is not taken == */

/* The layout of shared_run.c: 8 bytes, the sum of what follows, the time. */
static void set_age(const char *path, int64_t age_ms)
{
    size_t len;
    char *bytes = slurp(path, &len);
    int64_t time_ms = clock_ms() - age_ms;
    uint64_t sum = 0xcbf29ce484222325u;
    memcpy(bytes + 16, &time_ms, sizeof time_ms);
    for (size_t i = 16; i < len; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    memcpy(bytes + 8, &sum, sizeof sum);
    spill(path, bytes, len);
    free(bytes);
}

TEST(an_old_output_is_not_taken)
{
    static const struct {
        int64_t age_ms;
        int runs;
    } cases[] = {{2000, 4}, {6000, 8}, {-3600000, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[SCRATCH_PATH * 2];
        forget();
        assert_int_equal(READ(), 4);
        find_file("", path);
        set_age(path, cases[i].age_ms);
        find_file(".i4-c0", path);
        set_age(path, cases[i].age_ms);
        assert_int_equal(READ(), 4);
        assert_int_equal(lines_of("runs"), cases[i].runs);
        assert_int_equal(READ(), 4); /* written anew */
        assert_int_equal(lines_of("runs"), cases[i].runs);
    }
}

TEST(a_damaged_file_is_ignored_and_written_anew)
{
    char path[SCRATCH_PATH * 2];
    size_t len;
    assert_int_equal(READ(), 4);
    find_file("", path);
    char *bytes = slurp(path, &len);
    const size_t step = len / 12;
    for (size_t at = 0; at < len; at += step) {
        bytes[at] ^= 0x20;
        spill(path, bytes, len);
        bytes[at] ^= 0x20;
        const int before = lines_of("runs");
        assert_int_equal(READ(), 4);
        assert_int_equal(lines_of("runs"), before + 3);
        spill(path, bytes, at); /* a file that is cut */
        assert_int_equal(READ(), 4);
        assert_int_equal(lines_of("runs"), before + 6);
    }
    free(bytes);
}

TEST(another_program_or_library_path_is_another_view)
{
    assert_int_equal(READ(), 4);
    make_npusmi("true");
    assert_int_equal(READ(), 4);
    assert_int_equal(lines_of("runs"), 8);
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    const int right = READ();
    unsetenv("LD_LIBRARY_PATH");
    assert_int_equal(right, 4);
    assert_int_equal(lines_of("runs"), 12);
}

TEST(a_command_that_hangs_is_not_kept)
{
    char path[SCRATCH_PATH * 2];
    make_npusmi("[ \"$2\" = -m ] && exec sleep 30");
    assert_int_equal(read_all(&f.sys, 1000, 0), 3);
    find_file("", path);
    assert_string_equal(path, "");
    make_npusmi("");
    assert_int_equal(READ(), 4);
}

TEST(a_command_that_a_signal_has_ended_is_not_kept)
{
    char path[SCRATCH_PATH * 2];
    make_npusmi("[ \"$2\" = -m ] && kill -KILL $$");
    assert_true(READ() < 0); /* that one is not right */
    find_file("", path);
    assert_string_equal(path, "");
}

/* == Where it is off == */

TEST(a_folder_that_others_may_write_to_is_not_used)
{
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, "run/cpubind");
    scratch_path(&f.s, "run/cpubind", path);
    assert_int_equal(chmod(path, 0777), 0);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(READ(), 4);
        assert_int_equal(lines_of("runs"), 4 * i);
    }
    assert_int_equal(rmdir(path), 0); /* nothing was written */
}

TEST(a_link_in_place_of_the_folder_or_a_file_is_not_followed)
{
    char path[SCRATCH_PATH * 2], other[SCRATCH_PATH * 2];
    scratch_folder(&f.s, "elsewhere");
    scratch_link(&f.s, "run/cpubind", "../elsewhere");
    assert_int_equal(READ(), 4);
    scratch_path(&f.s, "elsewhere", path);
    assert_int_equal(rmdir(path), 0);
    scratch_path(&f.s, "run/cpubind", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(READ(), 4);
    find_file("", path);
    scratch_path(&f.s, "moved", other);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(READ(), 4);
    assert_int_equal(lines_of("runs"), 4 + 4 + 3); /* the board's file is sound */
}

TEST(without_a_run_folder_npu_smi_runs)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "run", path);
    assert_int_equal(rmdir(path), 0);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(READ(), 4);
        assert_int_equal(lines_of("runs"), 4 * i);
    }
}

TEST(a_file_that_others_may_write_is_not_read)
{
    char path[SCRATCH_PATH * 2];
    assert_int_equal(READ(), 4);
    find_file("", path);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(READ(), 4);
    assert_int_equal(lines_of("runs"), 7);
}

/* == Faults == */

/* Each use of a call fails, with an empty folder and with one that holds the outputs. The
 * answers are right, or FAILED with that error when the call serves the commands themselves. */
static void fail_each_use(call which, int error, int is_harmless)
{
    for (int warm = 0; warm < 2; warm++)
        for (int nth = 1; nth <= 120; nth++) {
            forget();
            fault_clear();
            if (warm)
                assert_int_equal(READ(), 4);
            fault_set(which, nth, error);
            const int right = read_all(&fault_table, 30000, 0);
            const int n_met = fault.n_met;
            fault_clear();
            assert_true(right >= 0);
            if (is_harmless)
                assert_int_equal(right, 4);
            assert_int_equal(open_descriptors(), f.descriptors);
            assert_false(has_child());
            assert_int_equal(READ(), 4); /* nothing bad was kept */
            if (n_met == 0)
                break;
        }
}

TEST(a_fault_of_the_sharing_harms_no_answer)
{
    static const struct {
        call which;
        int error;
    } cases[] = {{CALL_readlinkat, EACCES}, {CALL_statat, EIO},    {CALL_accessat, EIO},
                 {CALL_geteuid, EPERM},     {CALL_mkdirat, EROFS}, {CALL_create, ENOSPC},
                 {CALL_write, ENOSPC},      {CALL_fsync, EIO},     {CALL_rename, EIO},
                 {CALL_unlinkat, EIO},      {CALL_flock, ENOLCK},  {CALL_fstat, EIO},
                 {CALL_flock, EINTR},       {CALL_close, EIO}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fail_each_use(cases[i].which, cases[i].error, 1);
}

TEST(a_fault_of_both_is_reported_or_harmless)
{
    f.may_lack_err = 1;
    fail_each_use(CALL_openat, EMFILE, 0);
    fail_each_use(CALL_read, EIO, 0);
    fail_each_use(CALL_malloc, ENOMEM, 0);
    fail_each_use(CALL_realloc, ENOMEM, 0);
}

TEST_FILE(set_up, tear_down)
