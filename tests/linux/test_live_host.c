/* test_live_host.c - the live host, with stand-ins for its commands
 * SPDX-License-Identifier: MIT
 *
 * Each test has a PATH of its own whose first folder holds the stand-ins. Limits are short
 * where the limit is what is tested, and generous where it must not be met.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "../support/test.h"
#include "temp_dir.h"

#define MAP  "cmd/npu-smi-info-m.txt"
#define INFO "cmd/npu-smi-info.txt"
#define TOPO "cmd/npu-smi-info-t-topo.txt"

#define SHORT_MS    300   /* nothing but the limit happens in it */
#define MEDIUM_MS   1500  /* something must happen first, on a busy machine too */
#define GENEROUS_MS 30000 /* must not be met */

typedef struct fixture {
    scratch s;
    cpubind_linux_host *host;
    cpubind_source source;
    char path[4096]; /* PATH as it was */
    int descriptors;
} fixture;

static fixture f;

/* PATH is the scratch folder and then that of the system, which has sh and cat. */
SETUP(set_up)
{
    char path[SCRATCH_PATH + 4200];
    const char *old = getenv("PATH");
    snprintf(f.path, sizeof f.path, "%s", old ? old : "/usr/bin:/bin");
    scratch_make(&f.s);
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", f.s.dir);
    scratch_folder(&f.s, "bin");
    setenv("PATH", path, 1);
    f.host = NULL;
    f.descriptors = open_descriptors();
    return 0;
}

/* Also: no test may leave a descriptor or a child behind. */
SETUP(tear_down)
{
    cpubind_linux_close(f.host);
    setenv("PATH", f.path, 1);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* Opens the host of process `pid`, with these system calls. Nothing is shared with others: that
 * is what test_shared_run.c tests. */
static cpubind_linux_status open_live(int32_t pid, int32_t limit_ms, const cpubind_sys *sys,
                                      cpubind_linux_host **out, cpubind_linux_fault *fault)
{
    const cpubind_linux_live live = {
        .pid = pid, .limit_ms = limit_ms, .is_alone = 1, .sys = sys};
    return cpubind_linux_open_live(&live, out, fault);
}

static void open_host(int32_t limit_ms)
{
    scratch_need(open_live(0, limit_ms, NULL, &f.host, NULL) == CPUBIND_LINUX_OK,
                 "cpubind_linux_open_live");
    f.source = cpubind_linux_source(f.host);
}

static void close_host(void)
{
    cpubind_linux_close(f.host);
    f.host = NULL;
}

static cpubind_input get(const char *name)
{
    return f.source.read(f.source.ctx, name);
}

static cpubind_input names_in(const char *name)
{
    return f.source.list(f.source.ctx, name);
}

/* The answer of `npu-smi info -m` when npu-smi is a script with this body; its other commands
 * print nothing. */
static cpubind_input with_script(int32_t limit_ms, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, "[ \"$2\" = -m ] || exit 0\n%s", body);
    scratch_script(&f.s, "bin/npu-smi", text);
    open_host(limit_ms);
    return get(MAP);
}

/* The number in a file of the scratch folder; -1 without it. */
static long number_in(const char *name)
{
    char path[SCRATCH_PATH * 2];
    long number = -1;
    scratch_path(&f.s, name, path);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%ld", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* Whether the process is gone, or will be in a moment: a zombie that init has not reaped yet
 * counts as gone. */
static int is_gone(long pid)
{
    for (int tries = 0; tries < 200; tries++) {
        char path[64], line[256] = "";
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        FILE *file = fopen(path, "re");
        if (!file)
            return 1;
        char *got = fgets(line, sizeof line, file);
        fclose(file);
        if (!got || strstr(line, ") Z ") || strstr(line, ") X "))
            return 1;
        usleep(10000);
    }
    return 0;
}

/* == answers of commands == */

TEST(the_output_of_a_command_is_its_answer)
{
    scratch_script(&f.s, "bin/npu-smi", "echo \"$#: $@\"");
    scratch_script(&f.s, "bin/lscpu", "echo \"lscpu $#: $@\"");
    open_host(GENEROUS_MS);
    assert_true(is_text(get(TOPO), "3: info -t topo\n"));
    assert_true(is_text(get(MAP), "2: info -m\n"));
    assert_true(is_text(get(INFO), "1: info\n"));
    assert_true(is_text(get("cmd/lscpu-e.txt"), "lscpu 1: -e=CPU,NODE\n"));
    assert_true(is_text(get("cmd/lscpu.txt"), "lscpu 0: \n"));
}

TEST(the_exit_code_comes_with_the_output)
{
    cpubind_input input = with_script(GENEROUS_MS, "echo 'ret is -8005'; exit 187");
    assert_true(is_text(input, "ret is -8005\n"));
    assert_int_equal(input.exit_code, 187);
    assert_int_equal(get(MAP).exit_code, 187);
}

TEST(an_end_by_signal_is_128_and_its_number)
{
    cpubind_input input = with_script(GENEROUS_MS, "echo begun; kill -SEGV $$");
    assert_true(is_text(input, "begun\n"));
    assert_int_equal(input.exit_code, 128 + SIGSEGV);
}

TEST(a_command_that_is_not_on_the_path_is_absent)
{
    char path[SCRATCH_PATH * 3];
    snprintf(path, sizeof path, "%s/bin:%s/no/such/folder", f.s.dir, f.s.dir);
    setenv("PATH", path, 1);
    open_host(GENEROUS_MS);
    assert_true(is_state(get(MAP), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("cmd/lscpu.txt"), CPUBIND_INPUT_ABSENT));
}

/* Commands that somebody has put into the current folder do not run (live.md, P3). */
TEST(only_absolute_folders_of_the_path_are_searched)
{
    static const char *const elsewhere[] = {":/no/such",  "/no/such:", "/no/such::/no", "",
                                            ".",          "bin",       "./bin:../bin",  ":",
                                            "/no/such:.", "bin:/no"};
    char old[1024], path[SCRATCH_PATH * 3], bin[SCRATCH_PATH * 2];
    scratch_path(&f.s, "bin", bin);
    scratch_script(&f.s, "bin/npu-smi", "echo wrong >>\"$0.ran\"; echo wrong");
    scratch_script(&f.s, "bin/bin/npu-smi", "echo wrong >>\"$0.ran\"; echo wrong");
    scratch_script(&f.s, "right/npu-smi", "echo right");
    scratch_need(getcwd(old, sizeof old) != NULL && chdir(bin) == 0, bin);
    for (size_t i = 0; i < 2 * sizeof elsewhere / sizeof *elsewhere; i++) {
        const char *wrong = elsewhere[i / 2];
        if (i % 2)
            snprintf(path, sizeof path, "%s:%s/right", wrong, f.s.dir);
        else
            snprintf(path, sizeof path, "%s", wrong);
        setenv("PATH", path, 1);
        open_host(GENEROUS_MS);
        if (i % 2)
            assert_true(is_text(get(MAP), "right\n"));
        else
            assert_true(is_state(get(MAP), CPUBIND_INPUT_ABSENT));
        close_host();
    }
    assert_int_equal(access("npu-smi.ran", F_OK), -1);
    assert_int_equal(access("bin/npu-smi.ran", F_OK), -1);
    scratch_need(chdir(old) == 0, old);
}

TEST(a_command_that_exits_127_is_not_absent)
{
    cpubind_input input = with_script(GENEROUS_MS, "exit 127");
    assert_true(is_text(input, ""));
    assert_int_equal(input.exit_code, 127);
}

TEST(a_command_that_may_not_be_executed_fails)
{
    scratch_file(&f.s, "bin/npu-smi", "#!/bin/sh\n");
    open_host(GENEROUS_MS);
    assert_true(is_failed(get(MAP), EACCES, "exec"));
}

TEST(a_file_that_is_no_program_is_not_run_by_a_shell)
{
    char path[SCRATCH_PATH * 2];
    scratch_file(&f.s, "bin/npu-smi", "echo from a shell\n");
    scratch_path(&f.s, "bin/npu-smi", path);
    scratch_need(chmod(path, 0755) == 0, "chmod");
    open_host(GENEROUS_MS);
    assert_true(is_failed(get(MAP), ENOEXEC, "exec"));
}

TEST(a_long_output_is_complete)
{
    cpubind_input input = with_script(GENEROUS_MS, "yes 0123456789abcde | head -n 65536");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    assert_int_equal(input.len, 1 << 20);
    for (int32_t i = 0; i < input.len; i += 16)
        assert_memory_equal(input.data + i, "0123456789abcde\n", 16);
}

TEST(only_the_commands_of_the_list_run)
{
    open_host(GENEROUS_MS);
    assert_true(is_state(get("cmd/ls.txt"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("cmd/npu-smi"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in("cmd"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in("cmd/x"), CPUBIND_INPUT_ABSENT));
}

/* == boards == */

TEST(a_board_is_queried_by_card_and_chip)
{
    scratch_script(&f.s, "bin/npu-smi", "echo \"$#: $@\"; [ \"$5\" != 4 ] || exit 215");
    open_host(GENEROUS_MS);
    assert_true(
        is_text(get("cmd/npu-smi-info-t-board-i0-c1.txt"), "7: info -t board -i 0 -c 1\n"));
    assert_true(
        is_text(get("cmd/npu-smi-info-t-board-i33792.txt"), "5: info -t board -i 33792\n"));
    assert_true(is_text(get("cmd/npu-smi-info-t-board-i2147483647-c2147483647.txt"),
                        "7: info -t board -i 2147483647 -c 2147483647\n"));
    cpubind_input input = get("cmd/npu-smi-info-t-board-i4.txt");
    assert_true(is_text(input, "5: info -t board -i 4\n"));
    assert_int_equal(input.exit_code, 215);
}

/* The number of lines that a stand-in has written to its log. */
static int runs(void)
{
    char path[SCRATCH_PATH * 2];
    int n = 0;
    scratch_path(&f.s, "npu-smi.log", path);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    for (int c; (c = fgetc(file)) != EOF;)
        n += c == '\n';
    fclose(file);
    return n;
}

static void log_runs(void)
{
    char body[SCRATCH_PATH * 2];
    snprintf(body, sizeof body, "echo \"$@\" >> %s/npu-smi.log; echo \"$@\"", f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
}

TEST(a_malformed_name_of_a_board_runs_nothing)
{
    static const char *const names[] = {"cmd/npu-smi-info-t-board.txt",
                                        "cmd/npu-smi-info-t-board-i.txt",
                                        "cmd/npu-smi-info-t-board-i01.txt",
                                        "cmd/npu-smi-info-t-board-i-1.txt",
                                        "cmd/npu-smi-info-t-board-i2147483648.txt",
                                        "cmd/npu-smi-info-t-board-i0-c.txt",
                                        "cmd/npu-smi-info-t-board-i0 -c1.txt",
                                        "cmd/npu-smi-info-t-board-i0-c1",
                                        "cmd/npu-smi-info-t-board-i0-c1.txt.txt",
                                        "cmd/npu-smi-info-t-board-i0;id.txt",
                                        "cmd/npu-smi-info-t-board-i0/../x.txt"};
    log_runs();
    open_host(GENEROUS_MS);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_not_equal(get(names[i]).state, CPUBIND_INPUT_PRESENT);
    assert_true(is_state(names_in("cmd/npu-smi-info-t-board-i0.txt"), CPUBIND_INPUT_ABSENT));
    assert_int_equal(runs(), 0);
}

TEST(a_board_is_queried_once_and_alone)
{
    log_runs();
    open_host(GENEROUS_MS);
    for (int i = 0; i < 3; i++)
        assert_true(
            is_text(get("cmd/npu-smi-info-t-board-i4-c0.txt"), "info -t board -i 4 -c 0\n"));
    assert_int_equal(runs(), 1);
    assert_true(is_text(get("cmd/npu-smi-info-t-board-i4.txt"), "info -t board -i 4\n"));
    assert_int_equal(runs(), 2);
    assert_true(
        is_text(get("cmd/npu-smi-info-t-board-i4-c0.txt"), "info -t board -i 4 -c 0\n"));
    assert_true(is_text(get(MAP), "info -m\n"));
    assert_int_equal(runs(), 2 + 3); /* the three of the list run side by side */
}

TEST(a_board_without_npu_smi_is_absent)
{
    char path[SCRATCH_PATH * 3];
    snprintf(path, sizeof path, "%s/bin", f.s.dir);
    setenv("PATH", path, 1);
    open_host(GENEROUS_MS);
    assert_true(is_state(get("cmd/npu-smi-info-t-board-i0.txt"), CPUBIND_INPUT_ABSENT));
}

/* The killed command has ended: another card may answer. */
TEST(a_board_command_that_hangs_is_killed_and_another_may_run)
{
    scratch_script(&f.s, "bin/npu-smi", "[ \"$5\" = 0 ] && exec sleep 30; echo \"$@\"");
    open_host(MEDIUM_MS);
    assert_true(is_state(get("cmd/npu-smi-info-t-board-i0-c0.txt"), CPUBIND_INPUT_TIMEOUT));
    assert_false(has_child());
    assert_true(
        is_text(get("cmd/npu-smi-info-t-board-i1-c0.txt"), "info -t board -i 1 -c 0\n"));
}

/* == the environment of a command == */

TEST(a_command_gets_the_c_locale_and_the_rest_of_the_environment)
{
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setenv("LANG", "de_DE.UTF-8", 1);
    setenv("LANGUAGE", "de", 1);
    setenv("CPUBIND_TEST", "kept", 1);
    cpubind_input input = with_script(
        GENEROUS_MS, "env | grep -E '^(LC_ALL|LANG|LANGUAGE|CPUBIND_TEST)=' | LC_ALL=C sort");
    assert_true(is_text(input, "CPUBIND_TEST=kept\nLANG=C\nLC_ALL=C\n"));
    assert_string_equal(getenv("LC_ALL"), "de_DE.UTF-8");
    unsetenv("LC_ALL");
    unsetenv("LANG");
    unsetenv("LANGUAGE");
    unsetenv("CPUBIND_TEST");
}

TEST(stdin_is_empty_and_stderr_is_no_part_of_the_output)
{
    cpubind_input input = with_script(GENEROUS_MS, "cat; echo out; echo err >&2");
    assert_true(is_text(input, "out\n"));
    assert_true(is_err(input, "err\n"));
}

/* == stderr == */

TEST(the_stderr_of_each_command_comes_with_its_answer)
{
    scratch_script(&f.s, "bin/npu-smi", "echo \"$#\"; echo \"no $@\" >&2; exit 3");
    open_host(GENEROUS_MS);
    assert_true(is_err(get(TOPO), "no info -t topo\n"));
    assert_true(is_err(get(MAP), "no info -m\n"));
    assert_true(is_err(get(INFO), "no info\n"));
    assert_true(is_err(get("cmd/npu-smi-info-t-board-i4.txt"), "no info -t board -i 4\n"));
    assert_true(is_text(get(INFO), "1\n"));
    assert_ptr_equal(get(INFO).err, get(INFO).err);
    assert_true(is_err(get("uname"), ""));
    assert_true(is_state(get(MAP ".err"), CPUBIND_INPUT_ABSENT)); /* no input of its own */
}

TEST(of_a_long_stderr_the_first_4_kib_are_kept)
{
    cpubind_input input = with_script(GENEROUS_MS, "yes 0123456789abcde | head -n 65536 >&2\n"
                                                   "echo out");
    assert_true(is_text(input, "out\n"));
    assert_int_equal(input.err_len, CPUBIND_INPUT_ERR_MAX);
    for (int32_t i = 0; i < input.err_len; i += 16)
        assert_memory_equal(input.err + i, "0123456789abcde\n", 16);
}

/* A reader of one pipe alone would wait for it while the command waits for the other. */
TEST(two_full_pipes_do_not_block_each_other)
{
    cpubind_input input =
        with_script(GENEROUS_MS, "for i in 1 2 3 4; do head -c 1000000 /dev/zero >&2\n"
                                 "head -c 1000000 /dev/zero; done");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    assert_int_equal(input.len, 4000000);
    assert_int_equal(input.err_len, CPUBIND_INPUT_ERR_MAX);
}

TEST(an_endless_stderr_has_the_time_limit)
{
    cpubind_input input = with_script(SHORT_MS, "exec cat /dev/zero >&2");
    assert_true(is_state(input, CPUBIND_INPUT_TIMEOUT));
    assert_int_equal(input.err_len, CPUBIND_INPUT_ERR_MAX);
}

TEST(a_command_that_hangs_keeps_what_it_said_on_stderr)
{
    cpubind_input input = with_script(MEDIUM_MS, "echo waiting >&2; exec sleep 30");
    assert_true(is_state(input, CPUBIND_INPUT_TIMEOUT));
    assert_true(is_err(input, "waiting\n"));
}

TEST(closing_stderr_is_no_failure)
{
    cpubind_input input = with_script(GENEROUS_MS, "exec 2>&-; echo x");
    assert_true(is_text(input, "x\n"));
    assert_true(is_err(input, ""));
}

TEST(a_grandchild_that_holds_stderr_is_not_waited_for)
{
    char body[SCRATCH_PATH * 2];
    snprintf(body, sizeof body, "sleep 30 >/dev/null & echo $! > %s/child; echo done", f.s.dir);
    int64_t begun = clock_ms();
    cpubind_input input = with_script(GENEROUS_MS, body);
    assert_true(clock_ms() - begun < 10000);
    assert_true(is_text(input, "done\n"));
    assert_true(number_in("child") > 0);
    kill((pid_t)number_in("child"), SIGKILL);
}

TEST(a_command_inherits_no_descriptor)
{
    int inherited = 0; /* descriptors that a CI runner has left open */
    for (int fd = 3; fd < 1024; fd++) {
        int flags = fcntl(fd, F_GETFD);
        inherited += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    cpubind_input input = with_script(GENEROUS_MS, "exec ls /proc/self/fd");
    int lines = 0;
    for (int32_t i = 0; i < input.len; i++)
        lines += input.data[i] == '\n';
    assert_int_equal(lines, 3 + inherited + 1); /* the last is the folder that ls reads */
}

static void on_interrupt(int signal)
{
    (void)signal;
}

TEST(signals_are_default_in_the_child_and_unchanged_in_the_caller)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt}, ignore = {.sa_handler = SIG_IGN};
    struct sigaction old_interrupt, old_pipe, now;
    sigset_t block, old_mask, mask;
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    sigprocmask(SIG_BLOCK, &block, &old_mask);
    sigaction(SIGINT, &interrupt, &old_interrupt);
    sigaction(SIGPIPE, &ignore, &old_pipe);

    /* Signals 1 .. 31; glibc starts its children with its own two, 32 and 33, ignored. */
    cpubind_input input =
        with_script(GENEROUS_MS,
                    "exec grep -cE '^Sig(Blk|Ign):[[:space:]].{8}[08]0{7}$' /proc/self/status");
    int good = is_text(input, "2\n");

    sigaction(SIGINT, &old_interrupt, &now);
    assert_ptr_equal(now.sa_handler, on_interrupt);
    sigaction(SIGPIPE, &old_pipe, &now);
    assert_ptr_equal(now.sa_handler, SIG_IGN);
    sigprocmask(SIG_SETMASK, &old_mask, &mask);
    assert_int_equal(sigismember(&mask, SIGTERM), 1);
    sigaction(SIGCHLD, NULL, &now);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
    assert_true(good);
}

TEST(a_caller_who_ignores_sigchld_gets_a_failure)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGCHLD, &ignore, &old);
    cpubind_input input = with_script(GENEROUS_MS, "echo lost");
    sigaction(SIGCHLD, &old, NULL);
    assert_true(is_failed(input, ECHILD, "waitpid"));
}

TEST(children_of_the_caller_are_not_reaped)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(42);
    assert_true(is_text(with_script(GENEROUS_MS, "sleep 0.1; echo x"), "x\n"));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 42);
}

TEST(it_works_with_the_standard_files_closed)
{
    scratch_script(&f.s, "bin/npu-smi", "cat; echo \"$@\"; echo err >&2");
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        close(0);
        close(1);
        close(2);
        open_host(GENEROUS_MS);
        int good = is_text(get(MAP), "info -m\n") && is_text(get(INFO), "info\n") &&
                   is_text(get(TOPO), "info -t topo\n") && is_err(get(MAP), "err\n") &&
                   is_err(get(INFO), "err\n") && is_err(get(TOPO), "err\n");
        cpubind_linux_close(f.host);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* == in parallel, once == */

TEST(npu_smi_commands_run_in_parallel)
{
    /* Each waits until all three have begun: one after the other they would never end. */
    char body[SCRATCH_PATH * 3];
    snprintf(
        body, sizeof body,
        "touch %s/begun.$$; while [ $(ls %s | grep -c begun) -lt 3 ]; do sleep 0.02; done\n"
        "echo \"$@\"",
        f.s.dir, f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
    open_host(GENEROUS_MS);
    assert_true(is_text(get(INFO), "info\n"));
    assert_true(is_text(get(MAP), "info -m\n"));
    assert_true(is_text(get(TOPO), "info -t topo\n"));
}

TEST(a_command_runs_once_and_only_when_its_input_is_read)
{
    char body[SCRATCH_PATH * 2];
    snprintf(body, sizeof body, "echo x >> %s/npu-smi.log", f.s.dir);
    scratch_script(&f.s, "bin/npu-smi", body);
    snprintf(body, sizeof body, "echo x >> %s/lscpu.log", f.s.dir);
    scratch_script(&f.s, "bin/lscpu", body);
    open_host(GENEROUS_MS);

    struct stat st;
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "npu-smi.log", path);
    assert_int_equal(stat(path, &st), -1); /* no command runs before its input is read */
    for (int i = 0; i < 2; i++) {
        get(MAP);
        get(TOPO);
        get(INFO);
    }
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 3 * 2);
    scratch_path(&f.s, "lscpu.log", path);
    assert_int_equal(stat(path, &st), -1);
    get("cmd/lscpu.txt");
    get("cmd/lscpu.txt");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 2);
}

TEST(a_command_that_hangs_does_not_harm_the_others)
{
    scratch_script(&f.s, "bin/npu-smi", "[ \"$2\" = -t ] && exec sleep 30; echo \"$@\"");
    open_host(MEDIUM_MS);
    assert_true(is_state(get(TOPO), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(get(MAP), "info -m\n"));
    assert_true(is_text(get(INFO), "info\n"));
}

/* == limits == */

TEST(a_command_that_hangs_is_killed_in_time)
{
    int64_t begun = clock_ms();
    cpubind_input input = with_script(SHORT_MS, "exec sleep 30");
    assert_true(is_state(input, CPUBIND_INPUT_TIMEOUT));
    assert_true(clock_ms() - begun >= SHORT_MS);
    assert_true(clock_ms() - begun < 10000);
}

TEST(output_before_a_timeout_is_discarded)
{
    assert_true(
        is_state(with_script(SHORT_MS, "echo half; exec sleep 30"), CPUBIND_INPUT_TIMEOUT));
}

TEST(a_command_that_ignores_sigterm_is_killed_with_its_whole_group)
{
    char body[SCRATCH_PATH * 3];
    snprintf(body, sizeof body,
             "trap '' TERM INT HUP; sleep 30 & echo $! > %s/child; echo $$ > %s/self\n"
             "while :; do sleep 1; done",
             f.s.dir, f.s.dir);
    assert_true(is_state(with_script(MEDIUM_MS, body), CPUBIND_INPUT_TIMEOUT));
    assert_true(number_in("self") > 0);
    assert_true(is_gone(number_in("self")));
    assert_true(number_in("child") > 0);
    assert_true(is_gone(number_in("child")));
}

TEST(a_command_that_closes_stdout_still_has_the_time_limit)
{
    assert_true(
        is_state(with_script(SHORT_MS, "echo x; exec >&-; sleep 30"), CPUBIND_INPUT_TIMEOUT));
}

TEST(closing_stdout_early_is_no_failure)
{
    cpubind_input input = with_script(GENEROUS_MS, "echo x; exec >&-; sleep 0.2; exit 7");
    assert_true(is_text(input, "x\n"));
    assert_int_equal(input.exit_code, 7);
}

TEST(an_endless_output_is_too_long)
{
    assert_true(
        is_state(with_script(GENEROUS_MS, "exec cat /dev/zero"), CPUBIND_INPUT_TOO_LONG));
}

TEST(an_output_at_the_cap_is_not_too_long)
{
    cpubind_input input = with_script(GENEROUS_MS, "head -c 16777216 /dev/zero");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    assert_int_equal(input.len, 16 << 20);
}

TEST(an_output_one_byte_over_the_cap_is_too_long)
{
    assert_true(is_state(with_script(GENEROUS_MS, "head -c 16777217 /dev/zero"),
                         CPUBIND_INPUT_TOO_LONG));
}

TEST(a_grandchild_that_holds_the_pipe_is_not_waited_for)
{
    char body[SCRATCH_PATH * 2];
    snprintf(body, sizeof body, "sleep 30 & echo $! > %s/child; echo done; exit 3", f.s.dir);
    int64_t begun = clock_ms();
    cpubind_input input = with_script(GENEROUS_MS, body);
    assert_true(clock_ms() - begun < 10000);
    assert_true(is_text(input, "done\n"));
    assert_int_equal(input.exit_code, 3);
    /* The grandchild still runs: it is not part of the answer. */
    long child = number_in("child");
    assert_true(child > 0);
    assert_int_equal(kill((pid_t)child, 0), 0);
    kill((pid_t)child, SIGKILL);
}

/* == files, environment, machine == */

TEST(files_of_proc_are_read_to_their_end)
{
    open_host(GENEROUS_MS);
    cpubind_input input = get("proc/self/status");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    assert_non_null(memmem(input.data, (size_t)input.len, "\nCpus_allowed_list:\t", 20));
    assert_int_equal(input.data[input.len - 1], '\n');
    assert_true(is_state(get("proc/no-such-file"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("proc/version/below"), CPUBIND_INPUT_ABSENT));
    assert_true(is_failed(get("proc/self"), EISDIR, "not a regular file"));
    assert_true(is_failed(get("dev/null"), EINVAL, "not a regular file"));
    assert_true(is_failed(get("../etc/passwd"), EINVAL, "name"));
}

TEST(folders_of_proc_are_listed)
{
    char self[32];
    open_host(GENEROUS_MS);
    snprintf(self, sizeof self, "%ld", (long)getpid());
    cpubind_input input = names_in("proc/self/task");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    assert_true(has_line(input, self));
    assert_true(is_failed(names_in("proc/version"), ENOTDIR, "not a folder"));
}

TEST(links_of_the_live_host_lead_where_they_lead)
{
    char name[SCRATCH_PATH * 2];
    scratch_file(&f.s, "file", "x");
    scratch_path(&f.s, "file", name);
    scratch_link(&f.s, "absolute", name);
    scratch_path(&f.s, "absolute", name);
    open_host(GENEROUS_MS);
    assert_true(is_text(get(name + 1), "x"));
}

TEST(the_environment_has_a_line_for_each_variable_that_is_set)
{
    static const struct {
        const char *value, *line; /* NULL: unset; FAILED */
    } cases[] = {{"0,2", "ASCEND_RT_VISIBLE_DEVICES=0,2\n"},
                 {"", "ASCEND_RT_VISIBLE_DEVICES=\n"},
                 {NULL, ""},
                 {"0\nPATH=x", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].value)
            setenv("ASCEND_RT_VISIBLE_DEVICES", cases[i].value, 1);
        else
            unsetenv("ASCEND_RT_VISIBLE_DEVICES");
        open_host(GENEROUS_MS);
        cpubind_input input = get("env");
        int good = cases[i].line ? is_text(input, cases[i].line)
                                 : is_failed(input, EILSEQ, "a value holds a line feed");
        close_host();
        assert_true(good);
    }
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
}

TEST(variables_of_a_cpuset_follow_sorted)
{
    setenv("DRA_CPUSET_B", "2-3", 1);
    setenv("DRA_CPUSET_A_1", "0-1", 1);
    setenv("DRA_CPUSET_", "", 1);
    setenv("DRA_CPUSETS", "no", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1", 1);
    setenv("CPUBIND_RULES", "near", 1);
    open_host(GENEROUS_MS);
    int good = is_text(get("env"), "CPUBIND_RULES=near\nASCEND_RT_VISIBLE_DEVICES=1\n"
                                   "DRA_CPUSET_=\nDRA_CPUSET_A_1=0-1\nDRA_CPUSET_B=2-3\n");
    cpubind_linux_close(f.host);
    setenv("DRA_CPUSET_B", "2\n3", 1);
    open_host(GENEROUS_MS);
    int refused = is_failed(get("env"), EILSEQ, "a value holds a line feed");
    unsetenv("DRA_CPUSET_B");
    unsetenv("DRA_CPUSET_A_1");
    unsetenv("DRA_CPUSET_");
    unsetenv("DRA_CPUSETS");
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    unsetenv("CPUBIND_RULES");
    assert_true(good);
    assert_true(refused);
}

/* A child with an environment and a cgroup of its own is asked for, from here. */
TEST(the_environment_and_the_cgroup_are_those_of_the_process)
{
    int ready[2];
    char letter, cgroup[64], text[4096] = "";
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        static char first[] = "DRA_CPUSET_Z=5", second[] = "DRA_CPUSET_X=4", name[] = "sh",
                    option[] = "-c", body[] = "echo; kill -STOP $$";
        char *const words[] = {name, option, body, NULL};
        char *const variables[] = {first, second, NULL};
        dup2(ready[1], 1);
        execve("/bin/sh", words, variables);
        _exit(127);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &letter, 1), 1);
    scratch_need(open_live(pid, GENEROUS_MS, NULL, &f.host, NULL) == CPUBIND_LINUX_OK,
                 "cpubind_linux_open_live");
    f.source = cpubind_linux_source(f.host);
    int good = is_text(get("env"), "DRA_CPUSET_X=4\nDRA_CPUSET_Z=5\n");
    snprintf(cgroup, sizeof cgroup, "/proc/%ld/cgroup", (long)pid);
    FILE *file = fopen(cgroup, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    int same = !file || is_text(get("proc/self/cgroup"), text);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    assert_true(good);
    assert_true(same);
}

/* == device nodes == */

/* A /dev in the scratch folder, whose files stand for nodes: 236:<number of the name>. */
static struct {
    cpubind_sys sys;
    int is_opened;       /* something below dev was opened */
    const char *refused; /* a node that this process may not open */
    const char *missing; /* a node that is gone since the folder was listed */
    const char *plain;   /* a node that is a regular file */
    const char *root;    /* of another process, which has this /dev; ends in a slash */
    const char *cgroup, *environment; /* of another process; NULL: as they are */
    int stat_error, access_error;
} nodes;

static int nodes_openat(int dir, const char *path, int flags)
{
    char full[SCRATCH_PATH * 2];
    const char *own = nodes.root && strncmp(path, nodes.root, strlen(nodes.root)) == 0
                          ? path + strlen(nodes.root)
                          : path;
    const char *end = strrchr(path, '/');
    if (nodes.cgroup && end &&
        (strcmp(path, "proc/self/cgroup") == 0 || strcmp(end, "/environ") == 0 ||
         strcmp(end, "/cgroup") == 0)) {
        const int is_other = strcmp(path, "proc/self/cgroup") != 0;
        const char *text = strcmp(end, "/environ") == 0 ? nodes.environment
                           : is_other                   ? nodes.cgroup
                                                        : "0::/job1/task0\n";
        errno = ENOENT;
        if (!*text)
            return -1;
        scratch_file(&f.s, "other", text);
        scratch_path(&f.s, "other", full);
        return open(full, flags);
    }
    const int is_folder =
        strcmp(own, "dev") == 0 || strcmp(own, "dev/dri") == 0 || strcmp(own, "dev/accel") == 0;
    if (strncmp(own, "dev/", 4) == 0 && !is_folder)
        nodes.is_opened = 1;
    if (!is_folder || (nodes.root && own == path))
        return openat(dir, path, flags);
    scratch_path(&f.s, own, full);
    return open(full, flags);
}

static int nodes_statat(int dir, const char *path, struct stat *out)
{
    static const char digits[] = "0123456789";
    const size_t n_root = nodes.root ? strlen(nodes.root) : 0;
    (void)dir;
    memset(out, 0, sizeof *out);
    errno = nodes.stat_error ? nodes.stat_error : ENOENT;
    if (nodes.stat_error || (nodes.root && strncmp(path, nodes.root, n_root) != 0) ||
        strncmp(path + n_root, "dev/", 4) != 0 ||
        (nodes.missing && strcmp(path, nodes.missing) == 0))
        return -1;
    out->st_mode =
        nodes.plain && strcmp(path, nodes.plain) == 0 ? S_IFREG | 0660 : S_IFCHR | 0660;
    out->st_rdev = makedev(236, (unsigned)atoi(path + n_root + strcspn(path + n_root, digits)));
    return 0;
}

static int nodes_accessat(int dir, const char *path, int mode)
{
    (void)dir;
    errno = nodes.access_error ? nodes.access_error : EACCES;
    return mode != (R_OK | W_OK) || nodes.access_error ||
                   (nodes.refused && strcmp(path, nodes.refused) == 0)
               ? -1
               : 0;
}

/*   in      pid, root: of another process; 0, NULL: this one */
static void open_nodes_of(pid_t pid, const char *root)
{
    static const char *const names[] = {"davinci0",  "davinci1",        "davinci10", "davinci2",
                                        "davinci03", "davinci_manager", "davinci",   "null",
                                        "vdavinci7", "davinci2x",       "nvidia1",   "nvidia0",
                                        "nvidiactl", "dri/renderD128",  "dri/card0"};
    char name[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "dev/%s", names[i]);
        scratch_file(&f.s, name, "");
    }
    memset(&nodes, 0, sizeof nodes);
    nodes.root = root;
    nodes.sys = cpubind_sys_real;
    nodes.sys.openat = nodes_openat;
    nodes.sys.statat = nodes_statat;
    nodes.sys.accessat = nodes_accessat;
    scratch_need(open_live(pid, 1000, &nodes.sys, &f.host, NULL) == CPUBIND_LINUX_OK,
                 "cpubind_linux_open_live");
    f.source = cpubind_linux_source(f.host);
}

static void open_with_nodes(void)
{
    open_nodes_of(0, NULL);
}

TEST(nodes_that_this_process_may_open_are_listed_and_never_opened)
{
    open_with_nodes();
    assert_true(is_text(names_in("dev"), "davinci0\ndavinci1\ndavinci10\ndavinci2\n"));
    assert_true(is_text(get("dev/davinci10"), "236:10\n"));
    assert_true(is_failed(get("dev/davinci03"), EINVAL, "not a regular file"));
    assert_true(is_failed(get("dev/davinci_manager"), EINVAL, "not a regular file"));
    assert_true(is_failed(get("dev/null"), EINVAL, "not a regular file"));
    assert_false(nodes.is_opened);
}

TEST(nodes_of_other_accelerators_have_folders_of_their_own)
{
    open_with_nodes();
    assert_true(is_text(names_in("dev/nvidia"), "nvidia0\nnvidia1\n"));
    assert_true(is_text(names_in("dev/dri"), "renderD128\n"));
    assert_true(is_state(names_in("dev/accel"), CPUBIND_INPUT_ABSENT));
    assert_true(is_text(get("dev/nvidia/nvidia1"), "236:1\n"));
    assert_true(is_text(get("dev/dri/renderD128"), "236:128\n"));
    assert_true(is_failed(get("dev/nvidia/nvidiactl"), EINVAL, "not a regular file"));
    assert_true(is_failed(get("dev/nvidia1"), EINVAL, "not a regular file"));
    assert_true(is_failed(get("dev/dri/card0"), EINVAL, "not a regular file"));
    assert_false(nodes.is_opened);
}

/* Those of NPUs are read as this process has them: so the numbers of the driver are. */
TEST(nodes_of_other_accelerators_are_those_of_the_process)
{
    char root[64];
    snprintf(root, sizeof root, "proc/%ld/root/", (long)getpid());
    open_nodes_of(getpid(), root);
    assert_true(is_text(names_in("dev/nvidia"), "nvidia0\nnvidia1\n"));
    assert_true(is_text(get("dev/dri/renderD128"), "236:128\n"));
    assert_true(is_state(names_in("dev"), CPUBIND_INPUT_ABSENT));
    assert_false(nodes.is_opened);
}

TEST(a_device_cgroup_refuses_nodes)
{
    open_with_nodes();
    nodes.access_error = EPERM;
    assert_true(is_state(names_in("dev/nvidia"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("dev/dri/renderD128"), CPUBIND_INPUT_ABSENT));
}

/* Slurm gives each task a device cgroup, of which access(2) of this process knows nothing. An
 * empty text stands for a file that cannot be read. */
TEST(the_nodes_of_a_process_of_slurm_in_another_cgroup_are_not_known)
{
    static const struct {
        const char *cgroup, *environment;
        cpubind_input_state state;
    } cases[] = {{"0::/job1/task0\n", "SLURM_STEP_GPUS=0", CPUBIND_INPUT_PRESENT},
                 {"0::/job1/task1\n", "SLURM_STEP_GPUS=0", CPUBIND_INPUT_ABSENT},
                 {"0::/job1/task1\n", "SLURM_JOB_GPUS=0", CPUBIND_INPUT_ABSENT},
                 {"0::/job1\n", "SLURM_GPUS_ON_NODE=2", CPUBIND_INPUT_ABSENT},
                 {"0::/job1/task1\n", "SLURM_LOCALID=0", CPUBIND_INPUT_PRESENT},
                 {"0::/job1/task1\n", "", CPUBIND_INPUT_ABSENT},
                 {"", "SLURM_STEP_GPUS=0", CPUBIND_INPUT_ABSENT}};
    char root[64];
    snprintf(root, sizeof root, "proc/%ld/root/", (long)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_nodes_of(getpid(), root);
        nodes.cgroup = cases[i].cgroup;
        nodes.environment = cases[i].environment;
        assert_int_equal(names_in("dev/nvidia").state, cases[i].state);
        assert_int_equal(get("dev/dri/renderD128").state, cases[i].state);
        close_host();
    }
}

TEST(a_node_that_this_process_may_not_open_is_absent)
{
    open_with_nodes();
    nodes.refused = "dev/davinci1";
    nodes.missing = "dev/davinci0";
    nodes.plain = "dev/davinci2";
    assert_true(is_text(names_in("dev"), "davinci10\n"));
    assert_true(is_state(get("dev/davinci0"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("dev/davinci1"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("dev/davinci2"), CPUBIND_INPUT_ABSENT));
    assert_false(nodes.is_opened);
}

TEST(without_a_node_the_list_is_absent)
{
    open_with_nodes();
    nodes.access_error = EPERM;
    assert_true(is_state(names_in("dev"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("dev/davinci1"), CPUBIND_INPUT_ABSENT));
}

TEST(a_node_that_cannot_be_examined_fails)
{
    open_with_nodes();
    nodes.access_error = EIO;
    assert_true(is_failed(names_in("dev"), EIO, "access"));
    assert_true(is_failed(get("dev/davinci1"), EIO, "access"));
    nodes.stat_error = ENOMEM;
    assert_true(is_failed(get("dev/davinci2"), ENOMEM, "stat"));
}

TEST(a_value_over_the_limit_is_too_long)
{
    char *value = malloc(100001);
    assert_non_null(value);
    memset(value, '1', 100000);
    value[100000] = '\0';
    setenv("ASCEND_RT_VISIBLE_DEVICES", value, 1);
    open_host(GENEROUS_MS);
    assert_true(is_state(get("env"), CPUBIND_INPUT_TOO_LONG));
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    free(value);
}

TEST(the_machine_is_one_line)
{
    struct utsname system;
    char line[sizeof system.machine + 2];
    uname(&system);
    snprintf(line, sizeof line, "%s\n", system.machine);
    open_host(GENEROUS_MS);
    assert_true(is_text(get("uname"), line));
    assert_true(is_state(names_in("uname"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in("env"), CPUBIND_INPUT_ABSENT));
}

TEST(arguments_are_checked)
{
    static const int32_t bad[] = {0, -1, INT32_MIN, CPUBIND_LIVE_LIMIT_MAX_MS + 1};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cpubind_linux_fault fault = {0};
        assert_int_equal(open_live(0, bad[i], NULL, &f.host, &fault), CPUBIND_LINUX_ERR_ARG);
        assert_null(f.host);
        assert_int_equal(fault.error, EINVAL);
    }
    assert_int_equal(open_live(0, 1, NULL, NULL, NULL), CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(open_live(-1, 1, NULL, &f.host, NULL), CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(cpubind_linux_open_live(NULL, &f.host, NULL), CPUBIND_LINUX_OK);
}

TEST_FILE(set_up, tear_down)
