/* test_folder_writer.c - a snapshot folder is written whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Every test runs twice: with the flags of renameat2(2), and without, as on kernels and file
 * systems that have none.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>

#include "../../adapters/linux/source/folder_writer.h"
#include "../support/test.h"
#include "tree_text.h"

typedef struct fixture {
    scratch s;
    char path[SCRATCH_PATH * 2]; /* of the target, "new" below the scratch folder */
    cpubind_linux_writer *writer;
    cpubind_linux_fault fault;
    cpubind_sys sys;
    int descriptors;
} fixture;

static fixture f;

static int rename_without_flags(int dir, const char *from, const char *to, int flags)
{
    if (!flags)
        return cpubind_sys_real.rename(dir, from, to, 0);
    errno = EINVAL;
    return -1;
}

static int set_up(void)
{
    f.sys.fsync = no_fsync;
    scratch_make(&f.s);
    scratch_path(&f.s, "new", f.path);
    f.writer = NULL;
    f.fault = (cpubind_linux_fault){0};
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(set_up_flags)
{
    f.sys = cpubind_sys_real;
    return set_up();
}

SETUP(set_up_plain)
{
    f.sys = cpubind_sys_real;
    f.sys.rename = rename_without_flags;
    return set_up();
}

/* Also: no test may leave a descriptor behind. */
SETUP(tear_down)
{
    cpubind_linux_writer_close(f.writer);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors ? 0 : -1;
}

static cpubind_linux_status start(int is_replacing)
{
    return cpubind_linux_writer_open(f.path, is_replacing, &f.sys, &f.writer, &f.fault);
}

static cpubind_linux_status put(const char *name, const char *text)
{
    return cpubind_linux_writer_put(f.writer, name, text, (int32_t)strlen(text), &f.fault);
}

static cpubind_linux_status commit(void)
{
    return cpubind_linux_writer_commit(f.writer, &f.fault);
}

static void finish(void)
{
    cpubind_linux_writer_close(f.writer);
    f.writer = NULL;
}

/* Opens, and writes a file. */
static void begin(int is_replacing, const char *name, const char *text)
{
    assert_int_equal(start(is_replacing), CPUBIND_LINUX_OK);
    assert_int_equal(put(name, text), CPUBIND_LINUX_OK);
}

static void commit_and_finish(void)
{
    assert_int_equal(commit(), CPUBIND_LINUX_OK);
    finish();
}

/* Lays a link into the scratch folder, or without one a file. */
static void lay(const char *name, const char *link, const char *text)
{
    if (link)
        scratch_link(&f.s, name, link);
    else
        scratch_file(&f.s, name, text);
}

/* Opens, writes host.txt with this text and commits; the status of the commit. */
static cpubind_linux_status write_host(int is_replacing, const char *text)
{
    cpubind_linux_status status = start(is_replacing);
    if (status == CPUBIND_LINUX_OK)
        status = put("host.txt", text);
    if (status == CPUBIND_LINUX_OK)
        status = commit();
    finish();
    return status;
}

static int is_fault(int error, const char *what)
{
    return f.fault.error == error && f.fault.what && strcmp(f.fault.what, what) == 0;
}

/* Whether a file of the scratch folder holds just this text. */
static int holds(const char *name, const char *text)
{
    char path[SCRATCH_PATH * 2], data[256];
    scratch_path(&f.s, name, path);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t n = fread(data, 1, sizeof data, file);
    fclose(file);
    return n == strlen(text) && memcmp(data, text, n) == 0;
}

static int exists(const char *name)
{
    char path[SCRATCH_PATH * 2];
    struct stat st;
    scratch_path(&f.s, name, path);
    return lstat(path, &st) == 0;
}

/* The one name in the scratch folder with ".tmp" at its end; the test fails for none or two. */
static void find_temp(char name[256])
{
    int n = 0;
    DIR *folder = opendir(f.s.dir);
    scratch_need(folder != NULL, f.s.dir);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t len = strlen(entry->d_name);
        if (len > 4 && strcmp(entry->d_name + len - 4, ".tmp") == 0) {
            snprintf(name, 256, "%s", entry->d_name);
            n++;
        }
    }
    closedir(folder);
    assert_int_equal(n, 1);
}

/* Whether the scratch folder holds the target alone, or with `n` 0 nothing. */
static int is_alone(int n)
{
    int found = 0;
    DIR *folder = opendir(f.s.dir);
    scratch_need(folder != NULL, f.s.dir);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        found += strcmp(entry->d_name, "new") == 0 ? 1 : 100;
    }
    closedir(folder);
    return found == n;
}

/* == contents == */

TEST(a_folder_has_the_files_that_were_written_byte_by_byte)
{
    static const char bytes[] = "0-31\n\0\0tail";
    tree_text tree;
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_put(f.writer, "sys/devices/system/node/node0/cpulist",
                                              bytes, sizeof bytes - 1, &f.fault),
                     CPUBIND_LINUX_OK);
    assert_int_equal(put("sys/devices/system/node/online", "0\n"), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_put(f.writer, "env", NULL, 0, NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(put("cmd/...", ""), CPUBIND_LINUX_OK);
    commit_and_finish();

    scratch other;
    scratch_make(&other);
    scratch_bytes(&other, "sys/devices/system/node/node0/cpulist", bytes, sizeof bytes - 1);
    scratch_file(&other, "sys/devices/system/node/online", "0\n");
    scratch_file(&other, "env", "");
    scratch_file(&other, "cmd/...", "");
    tree_text expected;
    tree_of(&other, "", &expected);
    tree_of(&f.s, "new", &tree);
    assert_string_equal(tree.text, expected.text);
    scratch_remove(&other);
    assert_true(is_alone(1));
}

TEST(a_file_larger_than_any_buffer_is_written_to_its_end)
{
    size_t n = 3000001;
    char *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    assert_int_equal(
        cpubind_linux_writer_put(f.writer, "proc/interrupts", bytes, (int32_t)n, NULL),
        CPUBIND_LINUX_OK);
    commit_and_finish();

    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "new/proc/interrupts", path);
    char *again = malloc(n + 1);
    FILE *file = fopen(path, "re");
    scratch_need(again && file, path);
    assert_int_equal(fread(again, 1, n + 1, file), n);
    assert_memory_equal(again, bytes, n);
    fclose(file);
    free(again);
    free(bytes);
}

TEST(a_written_snapshot_is_read_back)
{
    begin(0, "cmd/npu-smi-info.txt", "+---+\n");
    assert_int_equal(put("cmd/npu-smi-info.exit", "3\n"), CPUBIND_LINUX_OK);
    assert_int_equal(put("cmd/npu-smi-info-m.txt", ""), CPUBIND_LINUX_OK);
    assert_int_equal(put("cmd/npu-smi-info-m.exit", "timeout\n"), CPUBIND_LINUX_OK);
    commit_and_finish();
    cpubind_linux_host *host = NULL;
    assert_int_equal(cpubind_linux_open_folder(f.path, NULL, &host, NULL), CPUBIND_LINUX_OK);
    cpubind_source source = cpubind_linux_source(host);
    cpubind_input input = source.read(source.ctx, "cmd/npu-smi-info.txt");
    assert_true(is_text(input, "+---+\n"));
    assert_int_equal(input.exit_code, 3);
    input = source.read(source.ctx, "cmd/npu-smi-info-m.txt");
    assert_true(is_state(input, CPUBIND_INPUT_TIMEOUT));
    cpubind_linux_close(host);
}

TEST(modes_follow_the_umask)
{
    char path[SCRATCH_PATH * 2];
    struct stat st;
    mode_t old = umask(027);
    begin(0, "sys/file", "x");
    assert_int_equal(commit(), CPUBIND_LINUX_OK);
    umask(old);
    static const struct {
        const char *name;
        mode_t mode;
    } cases[] = {{"new", 0750}, {"new/sys", 0750}, {"new/sys/file", 0640}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch_path(&f.s, cases[i].name, path);
        scratch_need(stat(path, &st) == 0, path);
        assert_int_equal(st.st_mode & 07777, cases[i].mode);
    }
}

/* == whole or not at all == */

TEST(the_target_does_not_exist_before_the_commit)
{
    char temp[256], expected[64];
    begin(0, "a/b", "x");
    assert_false(exists("new"));
    find_temp(temp);
    snprintf(expected, sizeof expected, ".new.%ld.0.tmp", (long)getpid());
    assert_string_equal(temp, expected);
}

TEST(without_a_commit_nothing_is_left)
{
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    finish();
    assert_true(is_alone(0));
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    for (int i = 0; i < 200; i++) {
        char name[64];
        snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/topology/id", i);
        assert_int_equal(put(name, "0\n"), CPUBIND_LINUX_OK);
    }
    finish();
    assert_true(is_alone(0));
}

TEST(an_empty_folder_is_written_as_one)
{
    tree_text tree;
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    commit_and_finish();
    tree_of(&f.s, "new", &tree);
    assert_string_equal(tree.text, "");
    assert_true(is_alone(1));
}

TEST(leftovers_of_a_killed_process_do_no_harm)
{
    char name[64];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, ".new.%ld.%d.tmp", (long)getpid(), i);
        scratch_file(&f.s, name, "left");
    }
    assert_int_equal(write_host(0, "name: new\n"), CPUBIND_LINUX_OK);
    assert_true(holds("new/host.txt", "name: new\n"));
    assert_true(holds(name, "left"));
}

/* == an existing target == */

TEST(an_empty_target_is_replaced)
{
    for (int is_replacing = 0; is_replacing < 2; is_replacing++) {
        scratch_folder(&f.s, "new");
        assert_int_equal(write_host(is_replacing, "a"), CPUBIND_LINUX_OK);
        assert_true(holds("new/host.txt", "a"));
        assert_true(is_alone(1));
        scratch_empty(&f.s);
    }
}

TEST(an_empty_target_stays_without_a_commit)
{
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, "new");
    begin(0, "host.txt", "x");
    finish();
    scratch_path(&f.s, "new", path);
    assert_int_equal(rmdir(path), 0);
    assert_true(is_alone(0));
}

TEST(a_target_that_is_no_snapshot_stays)
{
    static const struct {
        const char *name, *link; /* below the scratch folder; NULL: a file */
    } cases[] = {{"new", NULL},
                 {"new", "nothing"},
                 {"new", "."},
                 {"new/file", NULL},
                 {"new/.hidden", NULL},
                 {"new/sub/host.txt", NULL},
                 {"new/host.txt/x", NULL},
                 {"new/host.txt", "/etc/passwd"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tree_text before, after;
        lay(cases[i].name, cases[i].link, "mine");
        tree_of(&f.s, "", &before);
        for (int is_replacing = 0; is_replacing < 2; is_replacing++) {
            f.fault = (cpubind_linux_fault){0};
            assert_int_equal(start(is_replacing), CPUBIND_LINUX_ERR_EXISTS);
            assert_null(f.writer);
            assert_true(is_fault(EEXIST, "exists"));
        }
        tree_of(&f.s, "", &after);
        assert_string_equal(after.text, before.text);
        scratch_empty(&f.s);
    }
}

TEST(a_snapshot_is_replaced_only_on_request)
{
    scratch_file(&f.s, "new/host.txt", "old");
    scratch_file(&f.s, "new/sys/file", "old");
    assert_int_equal(start(0), CPUBIND_LINUX_ERR_EXISTS);
    assert_true(holds("new/host.txt", "old"));
    begin(1, "host.txt", "new");
    assert_true(holds("new/host.txt", "old"));
    commit_and_finish();
    assert_true(holds("new/host.txt", "new"));
    assert_false(exists("new/sys"));
    assert_true(is_alone(1));
}

TEST(a_replaced_snapshot_is_removed_whole_and_no_link_is_followed)
{
    scratch outside;
    char path[SCRATCH_PATH * 2], name[128];
    tree_text before, after;
    scratch_make(&outside);
    scratch_file(&outside, "secret", "a secret");
    scratch_file(&outside, "sub/file", "x");
    tree_of(&outside, "", &before);
    scratch_file(&f.s, "new/host.txt", "old");
    scratch_link(&f.s, "new/out", outside.dir);
    scratch_link(&f.s, "new/sys/out", outside.dir);
    scratch_link(&f.s, "new/sys/up", "../..");
    scratch_path(&outside, "secret", path);
    scratch_link(&f.s, "new/sys/secret", path);
    scratch_link(&f.s, "new/sys/nothing", "nothing");
    scratch_path(&f.s, "new/fifo", path);
    scratch_need(mkfifo(path, 0600) == 0, path);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "new/sys/devices/cpu%d/topology/id", i);
        scratch_file(&f.s, name, "0\n");
    }
    scratch_file(&f.s, "new/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", "deep");
    assert_int_equal(write_host(1, "new"), CPUBIND_LINUX_OK);
    assert_true(is_alone(1));
    tree_of(&f.s, "new", &after);
    assert_true(strncmp(after.text, "host.txt: 3 bytes", 17) == 0);
    assert_ptr_equal(strchr(after.text, '\n'), after.text + after.len - 1);
    tree_of(&outside, "", &after);
    assert_string_equal(after.text, before.text);
    scratch_remove(&outside);
}

/* "p/p/.../p" with n parts, in `name`. */
static void many_parts(char *name, int n)
{
    for (int i = 0; i < n; i++) {
        name[2 * i] = 'p';
        name[2 * i + 1] = '/';
    }
    name[2 * n - 1] = '\0';
}

TEST(a_snapshot_too_deep_to_remove_is_left_and_the_new_one_is_in_place)
{
    char name[512] = "new/", temp[256];
    scratch_file(&f.s, "new/host.txt", "old");
    many_parts(name + 4, 80);
    scratch_file(&f.s, name, "deep");
    assert_int_equal(write_host(1, "new"), CPUBIND_LINUX_OK);
    assert_true(holds("new/host.txt", "new"));
    find_temp(temp);
}

static ino_t mounted; /* a folder that another file system is mounted on, as fstat has it */

static int fstat_of_a_mount(int fd, struct stat *out)
{
    int result = cpubind_sys_real.fstat(fd, out);
    out->st_dev += result == 0 && out->st_ino == mounted;
    return result;
}

TEST(a_mount_in_an_old_snapshot_is_not_touched)
{
    char path[SCRATCH_PATH * 2], temp[256], name[SCRATCH_PATH];
    struct stat st;
    scratch_file(&f.s, "new/host.txt", "old");
    scratch_file(&f.s, "new/mnt/file", "mounted");
    scratch_path(&f.s, "new/mnt", path);
    scratch_need(stat(path, &st) == 0, path);
    mounted = st.st_ino;
    f.sys.fstat = fstat_of_a_mount;
    assert_int_equal(write_host(1, "new"), CPUBIND_LINUX_OK);
    assert_true(holds("new/host.txt", "new"));
    find_temp(temp);
    snprintf(name, sizeof name, "%s/mnt/file", temp);
    assert_true(holds(name, "mounted"));
}

static struct dirent *endless_readdir(DIR *folder)
{
    static struct dirent entry;
    static unsigned n;
    (void)folder;
    snprintf(entry.d_name, sizeof entry.d_name, "%u", n++);
    return &entry;
}

static int n_removed;

static int unlinkat_of_nothing(int dir, const char *path, int flags)
{
    (void)dir, (void)path, (void)flags;
    n_removed++;
    return 0;
}

TEST(an_old_snapshot_with_endless_entries_is_left)
{
    scratch_file(&f.s, "new/host.txt", "old");
    begin(1, "host.txt", "new");
    f.sys.readdir = endless_readdir;
    f.sys.unlinkat = unlinkat_of_nothing;
    n_removed = 0;
    commit_and_finish();
    assert_true(n_removed > 1000000 && n_removed < 1100000);
    assert_true(holds("new/host.txt", "new"));
}

/* == changes by other processes == */

TEST(a_target_that_appears_before_the_commit_stays)
{
    static const struct {
        const char *name, *link; /* below the scratch folder; NULL: a file */
    } cases[] = {{"new", NULL}, {"new", "nothing"}, {"new", "."}, {"new/host.txt", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tree_text before, after;
        lay(cases[i].name, cases[i].link, "theirs");
        tree_of(&f.s, "", &before);
        scratch_empty(&f.s);

        begin(1, "host.txt", "ours");
        lay(cases[i].name, cases[i].link, "theirs");
        assert_int_equal(commit(), CPUBIND_LINUX_ERR_EXISTS);
        assert_true(is_fault(EEXIST, "exists"));
        finish();
        tree_of(&f.s, "", &after);
        assert_string_equal(after.text, before.text);
        scratch_empty(&f.s);
    }
}

/* Without the flags rename(2) replaces an empty folder, and nothing else. */
TEST(an_empty_target_made_meanwhile_stays_where_the_kernel_has_the_flags)
{
    int has_flags = f.sys.rename == cpubind_sys_real.rename;
    begin(0, "host.txt", "ours");
    scratch_folder(&f.s, "new");
    assert_int_equal(commit(), has_flags ? CPUBIND_LINUX_ERR_EXISTS : CPUBIND_LINUX_OK);
    finish();
    assert_int_equal(exists("new/host.txt"), !has_flags);
    assert_true(is_alone(1));
}

TEST(an_empty_target_filled_meanwhile_stays)
{
    scratch_folder(&f.s, "new");
    begin(1, "host.txt", "ours");
    scratch_file(&f.s, "new/host.txt", "theirs");
    assert_int_equal(commit(), CPUBIND_LINUX_ERR_EXISTS);
    finish();
    assert_true(holds("new/host.txt", "theirs"));
    assert_true(is_alone(1));
}

TEST(another_snapshot_at_the_target_stays)
{
    char from[SCRATCH_PATH * 2];
    scratch_file(&f.s, "new/host.txt", "old");
    scratch_file(&f.s, "other/host.txt", "theirs");
    begin(1, "host.txt", "ours");
    scratch_path(&f.s, "away", from);
    scratch_need(rename(f.path, from) == 0, "rename");
    scratch_path(&f.s, "other", from);
    scratch_need(rename(from, f.path) == 0, "rename");
    assert_int_equal(commit(), CPUBIND_LINUX_ERR_EXISTS);
    finish();
    assert_true(holds("new/host.txt", "theirs"));
    assert_true(holds("away/host.txt", "old"));
}

TEST(a_file_at_the_target_stays)
{
    char from[SCRATCH_PATH * 2];
    scratch_file(&f.s, "new/host.txt", "old");
    begin(1, "host.txt", "ours");
    scratch_path(&f.s, "away", from);
    scratch_need(rename(f.path, from) == 0, "rename");
    scratch_file(&f.s, "new", "theirs");
    assert_int_equal(commit(), CPUBIND_LINUX_ERR_EXISTS);
    finish();
    assert_true(holds("new", "theirs"));
}

TEST(a_target_removed_meanwhile_is_no_failure)
{
    static const char *const names[] = {"new/host.txt", "new"};
    char path[SCRATCH_PATH * 2];
    scratch_file(&f.s, "new/host.txt", "old");
    begin(1, "host.txt", "ours");
    for (int i = 0; i < 2; i++) {
        scratch_path(&f.s, names[i], path);
        scratch_need(remove(path) == 0, path);
    }
    commit_and_finish();
    assert_true(holds("new/host.txt", "ours"));
    assert_true(is_alone(1));
}

TEST(of_two_writers_the_first_commit_wins)
{
    cpubind_linux_writer *other = NULL;
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_open(f.path, 0, &f.sys, &other, NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(put("host.txt", "first"), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_put(other, "host.txt", "second", 6, NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(commit(), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_commit(other, &f.fault), CPUBIND_LINUX_ERR_EXISTS);
    cpubind_linux_writer_close(other);
    finish();
    assert_true(holds("new/host.txt", "first"));
    assert_true(is_alone(1));
}

/* == names of files == */

TEST(a_name_that_breaks_the_rules_is_refused_and_writes_nothing)
{
    static const char *const bad[] = {"",      "/",     "/x",     "..",   "../x", "a/../x",
                                      "a/..",  "a//x",  "a/",     ".",    "./x",  "a/./x",
                                      "a/.",   "a\nb",  "a\tb",   "\x01", "x/",   "/..",
                                      "a/b/.", "../..", ".//../x"};
    tree_text tree;
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        f.fault = (cpubind_linux_fault){0};
        assert_int_equal(put(bad[i], "x"), CPUBIND_LINUX_ERR_ARG);
        assert_true(is_fault(EINVAL, "name"));
    }
    assert_int_equal(cpubind_linux_writer_put(f.writer, NULL, "x", 1, &f.fault),
                     CPUBIND_LINUX_ERR_ARG);
    commit_and_finish();
    tree_of(&f.s, "", &tree);
    assert_string_equal(tree.text, "new/\n");
}

TEST(a_name_that_only_looks_odd_is_written)
{
    static const char *const good[] = {"...",          "..a",      "a..", ".hidden", "b c",
                                       "0000:01:00.0", "\xc3\xa4", "-",   "a/.../b", "\x7f"};
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(put(good[i], good[i]), CPUBIND_LINUX_OK);
    assert_int_equal(commit(), CPUBIND_LINUX_OK);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "new/%s", good[i]);
        assert_true(holds(name, good[i]));
    }
}

TEST(a_link_put_into_the_new_folder_is_not_followed)
{
    static const char *const names[] = {"folder/new", "folder/sub/new", "file", "dangling",
                                        "deep/folder/new"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        scratch outside;
        char temp[256], name[SCRATCH_PATH], path[SCRATCH_PATH * 2];
        tree_text before, after;
        scratch_make(&outside);
        scratch_file(&outside, "file", "theirs");
        tree_of(&outside, "", &before);
        begin(0, "deep/other", "x");
        find_temp(temp);
        snprintf(name, sizeof name, "%s/folder", temp);
        scratch_link(&f.s, name, outside.dir);
        snprintf(name, sizeof name, "%s/deep/folder", temp);
        scratch_link(&f.s, name, outside.dir);
        snprintf(name, sizeof name, "%s/file", temp);
        scratch_path(&outside, "file", path);
        scratch_link(&f.s, name, path);
        snprintf(name, sizeof name, "%s/dangling", temp);
        scratch_path(&outside, "made", path);
        scratch_link(&f.s, name, path);
        assert_int_equal(put(names[i], "ours"), CPUBIND_LINUX_ERR_WRITE);
        assert_int_equal(f.fault.error, EEXIST);
        finish();
        assert_true(is_alone(0));
        tree_of(&outside, "", &after);
        assert_string_equal(after.text, before.text);
        scratch_remove(&outside);
    }
}

TEST(a_name_is_written_once_and_is_a_file_or_a_folder)
{
    static const struct {
        const char *name, *what;
    } cases[] = {{"a/b", "create"}, {"a/b/c", "open"}, {"a", "create"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(0, "a/b", "first");
        assert_int_equal(put(cases[i].name, "second"), CPUBIND_LINUX_ERR_WRITE);
        assert_true(is_fault(EEXIST, cases[i].what));
        /* From then on every call fails in the same way. */
        f.fault = (cpubind_linux_fault){0};
        assert_int_equal(put("other", "x"), CPUBIND_LINUX_ERR_WRITE);
        assert_true(is_fault(EEXIST, cases[i].what));
        assert_int_equal(commit(), CPUBIND_LINUX_ERR_WRITE);
        assert_true(is_fault(EEXIST, cases[i].what));
        finish();
        assert_true(is_alone(0));
    }
}

TEST(the_longest_part_is_written_and_a_longer_one_is_not)
{
    static const char *const ends[] = {"", "/x"};
    char part[257], name[300];
    memset(part, 'a', sizeof part - 1);
    part[256] = '\0';
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(name, sizeof name, "%s%s", part + 1, ends[i]);
        assert_int_equal(start(0), CPUBIND_LINUX_OK);
        assert_int_equal(put(name, "x"), CPUBIND_LINUX_OK);
        finish();
        snprintf(name, sizeof name, "%s%s", part, ends[i]);
        assert_int_equal(start(0), CPUBIND_LINUX_OK);
        assert_int_equal(put(name, "x"), CPUBIND_LINUX_ERR_WRITE);
        assert_true(is_fault(ENAMETOOLONG, "name"));
        finish();
    }
    assert_true(is_alone(0));
}

TEST(sixty_four_parts_are_written_and_one_more_is_not)
{
    char name[256];
    many_parts(name, 64);
    assert_int_equal(start(0), CPUBIND_LINUX_OK);
    assert_int_equal(put(name, "deep"), CPUBIND_LINUX_OK);
    many_parts(name, 65);
    assert_int_equal(put(name, "x"), CPUBIND_LINUX_ERR_WRITE);
    assert_true(is_fault(ENAMETOOLONG, "name"));
    finish();
    assert_true(is_alone(0)); /* the deep folder was removed */
}

/* == paths of targets == */

TEST(a_target_may_have_the_longest_name)
{
    char base[256];
    memset(base, 'a', 255);
    base[255] = '\0';
    /* A character of two bytes at every place where a name might be cut. */
    for (int at = 1; at + 1 < 255; at += 2)
        memcpy(base + at, "\xc3\xa4", 2);
    scratch_path(&f.s, base, f.path);
    assert_int_equal(write_host(0, "x"), CPUBIND_LINUX_OK);
    assert_int_equal(start(1), CPUBIND_LINUX_OK);
    char temp[256];
    find_temp(temp);
    const char *dot = strchr(temp + 1, '.');
    assert_true(dot > temp + 100);
    assert_int_equal((unsigned char)dot[-1], 0xa4); /* a whole character before the cut */
    finish();

    scratch_path(&f.s, "", f.path);
    memset(f.path + strlen(f.path), 'b', 256);
    f.path[strlen(f.s.dir) + 257] = '\0';
    assert_int_equal(start(0), CPUBIND_LINUX_ERR_OPEN);
    assert_int_equal(f.fault.error, ENAMETOOLONG);
}

TEST(a_relative_path_is_resolved_at_open)
{
    static const char *const paths[] = {"new", "./new", "new///", "sub/../new",
                                        "sub//..//new/"};
    char old[4096];
    scratch_need(getcwd(old, sizeof old) != NULL, "getcwd");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        scratch_folder(&f.s, "sub");
        scratch_need(chdir(f.s.dir) == 0, "chdir");
        snprintf(f.path, sizeof f.path, "%s", paths[i]);
        cpubind_linux_status status = start(0);
        scratch_need(chdir("/") == 0, "chdir");
        assert_int_equal(status, CPUBIND_LINUX_OK);
        assert_int_equal(put("host.txt", "x"), CPUBIND_LINUX_OK);
        commit_and_finish();
        assert_true(holds("new/host.txt", "x"));
        scratch_empty(&f.s);
    }
    scratch_need(chdir(old) == 0, "chdir");
}

TEST(a_folder_without_a_name_of_its_own_is_refused)
{
    static const char *const bad[] = {"",   "/",   "//",   ".",   "..",
                                      "./", "a/.", "a/..", "../", "/."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(f.path, sizeof f.path, "%s", bad[i]);
        f.fault = (cpubind_linux_fault){0};
        assert_int_equal(start(1), CPUBIND_LINUX_ERR_ARG);
        assert_true(is_fault(EINVAL, "argument"));
        assert_null(f.writer);
    }
}

TEST(a_parent_that_cannot_be_opened_says_why)
{
    scratch_file(&f.s, "file", "x");
    snprintf(f.path, sizeof f.path, "%s/nothing/new", f.s.dir);
    assert_int_equal(start(0), CPUBIND_LINUX_ERR_OPEN);
    assert_true(is_fault(ENOENT, "open"));
    snprintf(f.path, sizeof f.path, "%s/file/new", f.s.dir);
    assert_int_equal(start(0), CPUBIND_LINUX_ERR_OPEN);
    assert_true(is_fault(ENOTDIR, "open"));
}

/* Runs in a child that is an ordinary user; returns its result. */
static int play_as_nobody(void (*play)(void))
{
    int status = 0;
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        play();
        _exit(0);
    }
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_where_one_may_not(void)
{
    if (start(0) != CPUBIND_LINUX_ERR_WRITE || !is_fault(EACCES, "make folder"))
        _exit(1);
}

static void read_where_one_may_not(void)
{
    if (start(1) != CPUBIND_LINUX_ERR_OPEN || !is_fault(EACCES, "open"))
        _exit(1);
}

TEST(a_missing_right_is_reported)
{
    scratch_need(chmod(f.s.dir, 0555) == 0, "chmod");
    assert_int_equal(play_as_nobody(write_where_one_may_not), 0);
    scratch_need(chmod(f.s.dir, 0755) == 0, "chmod");
    scratch_file(&f.s, "new/host.txt", "x");
    scratch_need(chmod(f.path, 0) == 0, "chmod");
    assert_int_equal(play_as_nobody(read_where_one_may_not), 0);
    scratch_need(chmod(f.path, 0755) == 0, "chmod");
}

/* == a full disk == */

/* A limit on the size of files acts like a full disk: the kernel stops writing there. */
TEST(a_file_that_does_not_fit_fails_and_nothing_is_left)
{
    static char bytes[3000];
    struct rlimit old, small;
    scratch_file(&f.s, "new/host.txt", "old");
    scratch_need(getrlimit(RLIMIT_FSIZE, &old) == 0, "getrlimit");
    small = (struct rlimit){1000, old.rlim_max};
    sighandler_t handler = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(start(1), CPUBIND_LINUX_OK);
    scratch_need(setrlimit(RLIMIT_FSIZE, &small) == 0, "setrlimit");
    cpubind_linux_status fits = cpubind_linux_writer_put(f.writer, "a", bytes, 1000, NULL);
    cpubind_linux_status status =
        cpubind_linux_writer_put(f.writer, "b", bytes, 3000, &f.fault);
    scratch_need(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit");
    signal(SIGXFSZ, handler);
    assert_int_equal(fits, CPUBIND_LINUX_OK);
    assert_int_equal(status, CPUBIND_LINUX_ERR_WRITE);
    assert_true(is_fault(EFBIG, "write"));
    assert_int_equal(commit(), CPUBIND_LINUX_ERR_WRITE);
    finish();
    assert_true(holds("new/host.txt", "old"));
    assert_true(is_alone(1));
}

/* == arguments == */

TEST(arguments_are_checked)
{
    cpubind_linux_writer *writer = f.writer;
    assert_int_equal(cpubind_linux_writer_open(NULL, 0, NULL, &writer, &f.fault),
                     CPUBIND_LINUX_ERR_ARG);
    assert_true(is_fault(EINVAL, "argument"));
    assert_null(writer);
    assert_int_equal(cpubind_linux_writer_open(f.path, 0, NULL, NULL, NULL),
                     CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(cpubind_linux_writer_put(NULL, "a", "x", 1, NULL), CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(cpubind_linux_writer_commit(NULL, NULL), CPUBIND_LINUX_ERR_ARG);
    cpubind_linux_writer_close(NULL);

    assert_int_equal(cpubind_linux_writer_open(f.path, 0, NULL, &f.writer, NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_put(f.writer, "a", "x", -1, NULL),
                     CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(cpubind_linux_writer_put(f.writer, "a", NULL, 1, NULL),
                     CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(commit(), CPUBIND_LINUX_OK);
    assert_int_equal(put("a", "x"), CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(commit(), CPUBIND_LINUX_ERR_ARG);
    finish();
    assert_true(is_alone(1));
}

TEST(the_codes_have_their_numbers)
{
    assert_int_equal(CPUBIND_LINUX_ERR_EXISTS, -203);
    assert_int_equal(CPUBIND_LINUX_ERR_WRITE, -204);
    assert_string_equal(cpubind_linux_status_name(CPUBIND_LINUX_ERR_EXISTS), "ERR_EXISTS");
    assert_string_equal(cpubind_linux_status_name(CPUBIND_LINUX_ERR_WRITE), "ERR_WRITE");
}

static int run_all(void)
{
    const int failed = run_registered("write (renameat2)", set_up_flags, tear_down);

    return failed + run_registered("write (rename)", set_up_plain, tear_down);
}

TEST_PROGRAM(run_all)
