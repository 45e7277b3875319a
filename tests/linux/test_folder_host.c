/* test_folder_host.c - a snapshot folder as a host
 * SPDX-License-Identifier: MIT
 *
 * Every test runs twice: with openat2(2), and with the walk that replaces it on kernels that
 * have none.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "../support/test.h"
#include "temp_dir.h"

typedef struct fixture {
    scratch s;
    cpubind_linux_host *host;
    cpubind_source source;
    cpubind_sys without_openat2;
    const cpubind_sys *sys;
    int descriptors;
} fixture;

static fixture f;

static int no_openat2(int dir, const char *path, int flags)
{
    (void)dir, (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
}

SETUP(set_up)
{
    scratch_make(&f.s);
    f.descriptors = open_descriptors();
    scratch_need(cpubind_linux_open_folder(f.s.dir, f.sys, &f.host, NULL) == CPUBIND_LINUX_OK,
                 "cpubind_linux_open_folder");
    f.source = cpubind_linux_source(f.host);
    return 0;
}

static int set_up_openat2(void **state)
{
    f.sys = NULL;
    return set_up(state);
}

static int set_up_walk(void **state)
{
    f.without_openat2 = cpubind_sys_real;
    f.without_openat2.open_beneath = no_openat2;
    f.sys = &f.without_openat2;
    return set_up(state);
}

/* Also: no test may leave a descriptor or a child behind. */
SETUP(tear_down)
{
    cpubind_linux_close(f.host);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

static cpubind_input get(const char *name)
{
    return f.source.read(f.source.ctx, name);
}

static cpubind_input names_in(const char *name)
{
    return f.source.list(f.source.ctx, name);
}

/* == files == */

TEST(a_file_is_answered_byte_by_byte)
{
    static const char bytes[] = "0-31\n\0\0tail";
    scratch_bytes(&f.s, "sys/devices/system/node/node0/cpulist", bytes, sizeof bytes - 1);
    cpubind_input input = get("sys/devices/system/node/node0/cpulist");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    assert_int_equal(input.len, sizeof bytes - 1);
    assert_memory_equal(input.data, bytes, sizeof bytes - 1);
    assert_int_equal(input.exit_code, 0);
    assert_int_equal(input.error, 0);
    assert_null(input.why);
}

TEST(an_empty_file_is_present_without_data)
{
    scratch_file(&f.s, "env", "");
    assert_true(is_text(get("env"), ""));
}

TEST(a_file_larger_than_any_buffer_is_read_to_its_end)
{
    size_t n = 3000001; /* odd: no buffer ends with it */
    char *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    scratch_bytes(&f.s, "proc/interrupts", bytes, n);
    cpubind_input input = get("proc/interrupts");
    assert_int_equal(input.len, n);
    assert_memory_equal(input.data, bytes, n);
    free(bytes);
}

static void sparse_file(const char *name, off_t size)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, name, path);
    scratch_file(&f.s, name, "");
    scratch_need(truncate(path, size) == 0, path);
}

TEST(a_file_over_the_cap_is_too_long_and_one_at_the_cap_is_not)
{
    sparse_file("at", 64 << 20);
    sparse_file("over", (64 << 20) + 1);
    assert_int_equal(get("at").len, 64 << 20);
    assert_true(is_state(get("over"), CPUBIND_INPUT_TOO_LONG));
}

TEST(a_missing_file_is_absent)
{
    scratch_file(&f.s, "file", "x");
    assert_true(is_state(get("nothing"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("no/such/folder"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("file/below"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in("nothing"), CPUBIND_INPUT_ABSENT));
    assert_true(is_failed(names_in("file"), ENOTDIR, "not a folder"));
}

TEST(anything_but_a_regular_file_fails_and_does_not_hang)
{
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, "folder");
    scratch_path(&f.s, "fifo", path);
    scratch_need(mkfifo(path, 0600) == 0, "mkfifo");
    assert_true(is_failed(get("folder"), EISDIR, "not a regular file"));
    assert_true(is_failed(get("fifo"), EINVAL, "not a regular file"));

    /* A device node, where the test may make one. */
    scratch_path(&f.s, "zero", path);
    if (mknod(path, S_IFCHR | 0666, makedev(1, 5)) == 0) {
        cpubind_input input = get("zero");
        assert_int_equal(input.state, CPUBIND_INPUT_FAILED);
        assert_non_null(input.why);
    }
    /* By way of a descriptor: the path of a socket must be short, the folder's may be long. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int dir = open(f.s.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    scratch_need(fd >= 0 && dir >= 0, "socket");
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket", dir);
    scratch_need(bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    assert_true(is_failed(get("socket"), ENXIO, "open"));
    close(fd);
    close(dir);
}

TEST(a_file_that_may_not_be_read_fails)
{
    char path[SCRATCH_PATH * 2];
    scratch_file(&f.s, "secret", "x");
    scratch_path(&f.s, "secret", path);
    scratch_need(chmod(path, 0) == 0, "chmod");
    if (access(path, R_OK) == 0) /* root reads everything */
        skip();
    assert_true(is_failed(get("secret"), EACCES, "open"));
}

TEST(a_name_that_breaks_the_rules_is_refused)
{
    static const char *const bad[] = {"",       "/",    "/etc/passwd", "..", "../x",
                                      "a/../b", "a/..", "a//b",        "a/", "a\nb",
                                      "\x1f",   "a\tb", "../../.."};
    scratch_file(&f.s, "a/b", "x");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(is_failed(get(bad[i]), EINVAL, "name"));
        assert_true(is_failed(names_in(bad[i]), EINVAL, "name"));
    }
    assert_true(is_failed(get(NULL), EINVAL, "name"));
    char long_name[8192];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    assert_true(is_failed(get(long_name), EINVAL, "name"));
}

TEST(a_name_that_only_looks_odd_is_allowed)
{
    static const char *const good[] = {"...",          "..a",      "a..", ".hidden", "b c",
                                       "0000:01:00.0", "\xc3\xa4", "-",   "a/.../b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        scratch_file(&f.s, good[i], good[i]);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(is_text(get(good[i]), good[i]));
    assert_true(is_text(get("./a/./.../b"), "a/.../b"));
}

/* == links == */

TEST(a_relative_link_that_stays_inside_is_followed)
{
    scratch_file(&f.s, "sys/devices/pci0000:00/0000:01:00.0/vendor", "0x19e5\n");
    scratch_link(&f.s, "sys/bus/pci/devices/0000:01:00.0",
                 "../../../devices/pci0000:00/0000:01:00.0");
    scratch_link(&f.s, "sys/bus/pci/devices/slash",
                 "../../../devices/pci0000:00/0000:01:00.0/");
    scratch_link(&f.s, "sys/class/npu0", "../bus/pci/devices/0000:01:00.0");
    scratch_link(&f.s, "sys/class/file", "npu0/vendor");
    scratch_link(&f.s, "sys/class/here", ".");
    scratch_link(&f.s, "sys/class/up", "..");
    scratch_link(&f.s, "top", "sys/..");
    assert_true(is_text(get("sys/bus/pci/devices/0000:01:00.0/vendor"), "0x19e5\n"));
    assert_true(is_text(get("sys/bus/pci/devices/slash/vendor"), "0x19e5\n"));
    assert_true(is_text(get("sys/class/npu0/vendor"), "0x19e5\n"));
    assert_true(is_text(get("sys/class/file"), "0x19e5\n"));
    assert_true(is_text(get("sys/class/here/here/up/class/file"), "0x19e5\n"));
    assert_true(is_text(names_in("sys/class/npu0"), "vendor\n"));
    assert_true(is_text(names_in("sys/class/up"), "bus\nclass\ndevices\n"));
    assert_true(is_text(names_in("top"), "sys\ntop\n"));
}

TEST(no_link_leads_outside)
{
    static const char why[] = "a symbolic link leads outside the snapshot";
    scratch outside;
    char path[SCRATCH_PATH * 2], up[SCRATCH_PATH * 2];
    scratch_make(&outside);
    scratch_file(&outside, "secret", "a secret");
    const char *base = strrchr(outside.dir, '/') + 1;

    scratch_path(&outside, "secret", path);
    scratch_link(&f.s, "absolute", path);
    scratch_link(&f.s, "deep/absolute_folder", outside.dir);
    snprintf(up, sizeof up, "../%s/secret", base);
    scratch_link(&f.s, "relative", up);
    snprintf(up, sizeof up, "../../%s", base);
    scratch_link(&f.s, "deep/relative_folder", up);
    scratch_link(&f.s, "parent", "..");
    scratch_link(&f.s, "deep/chain", "../relative");
    /* Leaving the folder and coming back is refused too. */
    snprintf(up, sizeof up, "../%s/deep", strrchr(f.s.dir, '/') + 1);
    scratch_link(&f.s, "again", up);

    assert_true(is_failed(get("absolute"), EXDEV, why));
    assert_true(is_failed(get("deep/absolute_folder/secret"), EXDEV, why));
    assert_true(is_failed(get("relative"), EXDEV, why));
    assert_true(is_failed(get("deep/relative_folder/secret"), EXDEV, why));
    assert_true(is_failed(get("deep/chain"), EXDEV, why));
    assert_true(is_failed(names_in("parent"), EXDEV, why));
    assert_true(is_failed(names_in("again"), EXDEV, why));
    assert_true(is_failed(names_in("deep/absolute_folder"), EXDEV, why));
    scratch_remove(&outside);
}

TEST(a_dangling_link_is_absent_and_a_loop_fails)
{
    scratch_link(&f.s, "dangling", "nothing/here");
    scratch_link(&f.s, "loop", "loop");
    scratch_link(&f.s, "ping", "pong");
    scratch_link(&f.s, "pong", "ping");
    scratch_link(&f.s, "growing", "growing/x");
    assert_true(is_state(get("dangling"), CPUBIND_INPUT_ABSENT));
    assert_true(is_failed(get("loop"), ELOOP, "open"));
    assert_true(is_failed(get("ping/x"), ELOOP, "open"));
    assert_true(is_failed(get("growing"), ELOOP, "open"));
}

/* == commands == */

TEST(the_exit_code_of_a_command_is_in_a_file_beside_its_output)
{
    static const struct {
        const char *text;
        int32_t code; /* -1: malformed */
    } cases[] = {{"0", 0},    {"0\n", 0},   {"187\n", 187}, {"255", 255}, {"007", 7},
                 {"256", -1}, {"1000", -1}, {"", -1},       {"\n", -1},   {"-1", -1},
                 {" 1", -1},  {"1 ", -1},   {"1\n\n", -1},  {"0x1", -1},  {"1\n2", -1},
                 {"+1", -1},  {"0000", -1}, {"12a", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "cmd/c%zu.txt", i);
        scratch_file(&f.s, name, "output\n");
        snprintf(name, sizeof name, "cmd/c%zu.exit", i);
        scratch_file(&f.s, name, cases[i].text);
        snprintf(name, sizeof name, "cmd/c%zu.txt", i);
        cpubind_input input = get(name);
        if (cases[i].code < 0) {
            assert_true(is_failed(input, EINVAL, "exit code"));
        } else {
            assert_true(is_text(input, "output\n"));
            assert_int_equal(input.exit_code, cases[i].code);
        }
    }
}

TEST(a_command_without_an_exit_file_exited_0)
{
    scratch_file(&f.s, "cmd/lscpu.txt", "x");
    scratch_file(&f.s, "cmd/only.exit", "3\n");
    assert_true(is_text(get("cmd/lscpu.txt"), "x"));
    assert_int_equal(get("cmd/lscpu.txt").exit_code, 0);
    assert_true(is_state(get("cmd/only.txt"), CPUBIND_INPUT_ABSENT));
}

/* == the driver's files == */

TEST(an_empty_file_stands_for_an_empty_folder)
{
    scratch_file(&f.s, "proc/empty", "");
    scratch_file(&f.s, "proc/full", "x");
    scratch_file(&f.s, "elsewhere", "");
    assert_true(is_text(names_in("proc/empty"), ""));
    assert_true(is_text(get("proc/empty"), ""));
    assert_true(is_failed(names_in("proc/full"), ENOTDIR, "not a folder"));
    assert_true(is_failed(names_in("proc/full/below"), ENOTDIR, "not a folder"));
    assert_true(is_failed(names_in("elsewhere"), ENOTDIR, "not a folder"));
    scratch_link(&f.s, "proc/out", "/etc");
    assert_true(
        is_failed(names_in("proc/out"), EXDEV, "a symbolic link leads outside the snapshot"));
    scratch_link(&f.s, "proc/loop", "loop");
    assert_true(is_failed(names_in("proc/loop"), ELOOP, "open"));
    assert_true(is_state(names_in("proc/none"), CPUBIND_INPUT_ABSENT));
}

TEST(the_link_of_a_virtual_function_is_there)
{
    scratch_file(&f.s, "a/physfn", "");
    scratch_folder(&f.s, "c");
    scratch_folder(&f.s, "d");
    scratch_link(&f.s, "c/physfn", "../d");
    scratch_link(&f.s, "c/other", "../d");
    assert_true(is_text(get("a/physfn"), ""));
    assert_true(is_text(get("c/physfn"), ""));
    assert_true(is_state(get("d/physfn"), CPUBIND_INPUT_ABSENT));
    assert_true(is_failed(get("c/other"), EISDIR, "not a regular file"));
}

TEST(a_device_node_of_a_snapshot_is_a_file)
{
    scratch_file(&f.s, "dev/davinci0", "236:0\n");
    assert_true(is_text(names_in("dev"), "davinci0\n"));
    assert_true(is_text(get("dev/davinci0"), "236:0\n"));
}

static cpubind_sys no_stat;

static int fail_statat(int dir, const char *path, struct stat *out)
{
    (void)dir, (void)path, (void)out;
    errno = EIO;
    return -1;
}

/* The folder may be the root of a live host. A FIFO stands for a node: nothing opens it. */
TEST(a_node_below_a_folder_is_not_opened)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "dev/davinci0", path);
    scratch_need(mkfifo(path, 0600) == 0, "mkfifo");
    assert_true(is_state(get("dev/davinci0"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(get("dev/davinci1"), CPUBIND_INPUT_ABSENT));
}

TEST(a_node_below_a_folder_that_cannot_be_examined_fails)
{
    cpubind_linux_host *host;
    char path[SCRATCH_PATH * 2];
    scratch_file(&f.s, "dev/davinci0", "195:0\n");
    scratch_path(&f.s, "", path);
    no_stat = cpubind_sys_real;
    no_stat.statat = fail_statat;
    assert_int_equal(cpubind_linux_open_folder(path, &no_stat, &host, NULL), CPUBIND_LINUX_OK);
    const cpubind_source source = cpubind_linux_source(host);
    assert_true(is_failed(source.read(source.ctx, "dev/davinci0"), EIO, "stat"));
    cpubind_linux_close(host);
}

TEST(the_stderr_of_a_command_is_in_a_file_beside_its_output)
{
    char long_text[CPUBIND_INPUT_ERR_MAX + 2];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    scratch_file(&f.s, "cmd/a.txt", "");
    scratch_file(&f.s, "cmd/a.exit", "127\n");
    scratch_file(&f.s, "cmd/a.txt.err", "no such library\n");
    assert_true(is_text(get("cmd/a.txt"), ""));
    assert_int_equal(get("cmd/a.txt").exit_code, 127);
    assert_true(is_err(get("cmd/a.txt"), "no such library\n"));

    scratch_file(&f.s, "cmd/late.txt", "");
    scratch_file(&f.s, "cmd/late.exit", "timeout\n");
    scratch_file(&f.s, "cmd/late.txt.err", "waiting");
    assert_true(is_state(get("cmd/late.txt"), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_err(get("cmd/late.txt"), "waiting"));

    scratch_file(&f.s, "cmd/long.txt", "x");
    scratch_file(&f.s, "cmd/long.txt.err", long_text);
    long_text[CPUBIND_INPUT_ERR_MAX] = '\0';
    assert_true(is_err(get("cmd/long.txt"), long_text));

    scratch_file(&f.s, "cmd/none.txt", "x");
    assert_true(is_err(get("cmd/none.txt"), ""));
    scratch_file(&f.s, "cmd/folder.txt", "x");
    scratch_folder(&f.s, "cmd/folder.txt.err");
    assert_true(is_text(get("cmd/folder.txt"), "x"));
    assert_true(is_err(get("cmd/folder.txt"), ""));
    scratch_file(&f.s, "uname", "aarch64\n");
    scratch_file(&f.s, "uname.err", "x");
    assert_true(is_err(get("uname"), ""));
}

TEST(an_exit_file_that_cannot_be_read_fails_the_command)
{
    scratch_file(&f.s, "cmd/a.txt", "x");
    scratch_folder(&f.s, "cmd/a.exit");
    scratch_file(&f.s, "cmd/b.txt", "x");
    scratch_link(&f.s, "cmd/b.exit", "/etc/hostname");
    assert_true(is_failed(get("cmd/a.txt"), EISDIR, "not a regular file"));
    assert_int_equal(get("cmd/b.txt").error, EXDEV);
}

TEST(a_command_that_did_not_end_in_time_is_a_timeout_without_its_output)
{
    static const char *const texts[] = {"timeout", "timeout\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "cmd/c%zu.txt", i);
        scratch_file(&f.s, name, "what was printed until then\n");
        snprintf(name, sizeof name, "cmd/c%zu.exit", i);
        scratch_file(&f.s, name, texts[i]);
        snprintf(name, sizeof name, "cmd/c%zu.txt", i);
        assert_true(is_state(get(name), CPUBIND_INPUT_TIMEOUT));
        assert_true(is_state(get(name), CPUBIND_INPUT_TIMEOUT));
    }
    scratch_file(&f.s, "cmd/empty.txt", "");
    scratch_file(&f.s, "cmd/empty.exit", "timeout\n");
    assert_true(is_state(get("cmd/empty.txt"), CPUBIND_INPUT_TIMEOUT));
    /* Without the file of the output the command is absent. */
    scratch_file(&f.s, "cmd/alone.exit", "timeout\n");
    assert_true(is_state(get("cmd/alone.txt"), CPUBIND_INPUT_ABSENT));
}

TEST(a_word_that_resembles_timeout_is_malformed)
{
    static const char *const texts[] = {"timeout\n\n", "Timeout",  "TIMEOUT",    " timeout",
                                        "timeout ",    "timeou",   "timeouts",   "timeout\r\n",
                                        "timeout 124", "time out", "timeout\n0", "0timeout"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "cmd/c%zu.txt", i);
        scratch_file(&f.s, name, "x");
        snprintf(name, sizeof name, "cmd/c%zu.exit", i);
        scratch_file(&f.s, name, texts[i]);
        snprintf(name, sizeof name, "cmd/c%zu.txt", i);
        assert_true(is_failed(get(name), EINVAL, "exit code"));
    }
    /* A NUL does not end it. */
    scratch_file(&f.s, "cmd/nul.txt", "x");
    scratch_bytes(&f.s, "cmd/nul.exit", "timeout\0", 8);
    assert_true(is_failed(get("cmd/nul.txt"), EINVAL, "exit code"));
}

/* == listings == */

TEST(a_listing_is_in_ascending_byte_order)
{
    static const char *const names[] = {"node10", "node2", "\xc3\xa4", "b",
                                        "B",      ".dot",  "node"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "n/%s", names[i]);
        scratch_file(&f.s, name, "");
    }
    assert_true(is_text(names_in("n"), ".dot\nB\nb\nnode\nnode10\nnode2\n\xc3\xa4\n"));
    assert_true(is_text(names_in("."), "n\n"));
}

TEST(an_empty_folder_is_an_empty_listing)
{
    scratch_folder(&f.s, "n");
    assert_true(is_text(names_in("n"), ""));
}

TEST(a_listing_with_a_name_that_would_be_two_lines_fails)
{
    scratch_file(&f.s, "n/a\nb", "");
    assert_true(is_failed(names_in("n"), EILSEQ, "a name holds a control byte"));
}

TEST(a_long_listing_is_complete)
{
    int n = 3000;
    for (int i = 0; i < n; i++) {
        char name[128];
        snprintf(name, sizeof name, "n/%04d-with-a-name-that-fills-the-first-buffer", i);
        scratch_file(&f.s, name, "");
    }
    cpubind_input input = names_in("n");
    assert_int_equal(input.state, CPUBIND_INPUT_PRESENT);
    for (int i = 0; i < n; i++) {
        char line[128];
        ptrdiff_t len =
            snprintf(line, sizeof line, "%04d-with-a-name-that-fills-the-first-buffer\n", i);
        assert_memory_equal(input.data + i * len, line, (size_t)len);
        assert_int_equal(input.len, len * n);
    }
}

/* As a container runtime hides it; where the test may make and open a device node. */
TEST(a_file_that_dev_null_is_mounted_over_is_absent)
{
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, "proc");
    scratch_path(&f.s, "proc/interrupts", path);
    const int made = mknod(path, S_IFCHR | 0666, makedev(1, 3));
    const int fd = made == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    close(fd);
    assert_true(is_state(get("proc/interrupts"), CPUBIND_INPUT_ABSENT));
}

/* == answers == */

TEST(the_first_answer_is_repeated_when_the_file_changes)
{
    scratch_file(&f.s, "file", "first");
    scratch_file(&f.s, "n/one", "");
    cpubind_input file = get("file"), gone = get("gone"), folder = names_in("n");
    assert_true(is_text(file, "first"));
    scratch_file(&f.s, "file", "second");
    scratch_file(&f.s, "gone", "here");
    scratch_file(&f.s, "n/two", "");
    assert_ptr_equal(get("file").data, file.data);
    assert_true(is_text(get("file"), "first"));
    assert_int_equal(get("gone").state, gone.state);
    assert_ptr_equal(names_in("n").data, folder.data);
    assert_true(is_text(names_in("n"), "one\n"));
}

TEST(one_name_may_be_read_as_a_file_and_listed_as_a_folder)
{
    scratch_file(&f.s, "n/one", "");
    assert_true(is_failed(get("n"), EISDIR, "not a regular file"));
    assert_true(is_text(names_in("n"), "one\n"));
    assert_true(is_failed(get("n"), EISDIR, "not a regular file"));
}

TEST(answers_do_not_move_when_thousands_follow)
{
    enum { N = 2000 };
    static const char *first[N];
    char name[64], text[16];
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < N; i++) {
            snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/id", i);
            snprintf(text, sizeof text, "%d\n", i);
            if (pass == 0)
                scratch_file(&f.s, name, text);
            cpubind_input input = get(name);
            assert_true(is_text(input, text));
            if (pass == 0)
                first[i] = input.data;
            assert_ptr_equal(input.data, first[i]);
        }
    }
}

TEST(names_of_the_caller_are_copied)
{
    char name[] = "file";
    scratch_file(&f.s, "file", "x");
    assert_true(is_text(get(name), "x"));
    memset(name, '#', sizeof name - 1);
    assert_true(is_text(get("file"), "x"));
    assert_true(is_state(get(name), CPUBIND_INPUT_ABSENT));
}

TEST(a_change_of_the_working_folder_is_harmless)
{
    char old[4096];
    cpubind_linux_host *host = NULL;
    scratch_file(&f.s, "sub/file", "x");
    scratch_need(getcwd(old, sizeof old) && chdir(f.s.dir) == 0, "chdir");
    assert_int_equal(cpubind_linux_open_folder("sub", f.sys, &host, NULL), CPUBIND_LINUX_OK);
    scratch_need(chdir("/") == 0, "chdir");
    cpubind_source source = cpubind_linux_source(host);
    assert_true(is_text(source.read(source.ctx, "file"), "x"));
    cpubind_linux_close(host);
    scratch_need(chdir(old) == 0, "chdir");
}

/* == open == */

TEST(a_folder_that_cannot_be_opened_says_why)
{
    char path[SCRATCH_PATH * 2];
    cpubind_linux_fault fault = {0};
    cpubind_linux_host *host = f.host;
    scratch_path(&f.s, "nothing", path);
    assert_int_equal(cpubind_linux_open_folder(path, f.sys, &host, &fault),
                     CPUBIND_LINUX_ERR_OPEN);
    assert_int_equal(fault.error, ENOENT);
    assert_string_equal(fault.what, "open");
    assert_null(host);

    scratch_file(&f.s, "file", "x");
    scratch_path(&f.s, "file", path);
    assert_int_equal(cpubind_linux_open_folder(path, f.sys, &host, &fault),
                     CPUBIND_LINUX_ERR_OPEN);
    assert_int_equal(fault.error, ENOTDIR);
}

TEST(arguments_are_checked)
{
    cpubind_linux_host *host = f.host;
    cpubind_linux_fault fault = {0};
    assert_int_equal(cpubind_linux_open_folder(NULL, NULL, &host, &fault),
                     CPUBIND_LINUX_ERR_ARG);
    assert_null(host);
    assert_int_equal(fault.error, EINVAL);
    assert_non_null(fault.what);
    assert_int_equal(cpubind_linux_open_folder("/", NULL, NULL, NULL), CPUBIND_LINUX_ERR_ARG);
    cpubind_linux_close(NULL);
}

TEST(every_status_has_a_name_and_a_text)
{
    assert_string_equal(cpubind_linux_status_name(CPUBIND_LINUX_ERR_OPEN), "ERR_OPEN");
    assert_string_equal(cpubind_linux_status_text(CPUBIND_LINUX_OK), "success");
    assert_string_equal(cpubind_linux_status_name((cpubind_linux_status)7), "?");
    assert_string_equal(cpubind_linux_status_text((cpubind_linux_status)7), "?");
}

static int run_all(void)
{
    const int failed = run_registered("folder (openat2)", set_up_openat2, tear_down);

    return failed + run_registered("folder (walk)", set_up_walk, tear_down);
}

TEST_PROGRAM(run_all)
