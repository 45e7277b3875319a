/* test_record.c - the file of a record: its folder, its lock, other files in its place
 * SPDX-License-Identifier: MIT
 *
 * The scratch folder is "/". Some tests need files of another user, which root alone can make;
 * the others play a user who is not the one that owns them.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/file.h>

#include "../support/test.h"
#include "record_samples.h"

#define FOLDER "run/user/1000/cpubind"

static uid_t uid; /* who we are to be */

static uid_t t_geteuid(void)
{
    return uid;
}

static struct {
    scratch s;
    cpubind_sys sys;
    cpubind_root root;
    char folder[64]; /* the usual one, below the scratch folder */
    int descriptors;
} f;

static void path_of(const char *name, char path[SCRATCH_PATH * 2])
{
    snprintf(path, SCRATCH_PATH * 2, "%s/%s", f.s.dir, name);
}

/* As who runs the test. */
SETUP(set_up)
{
    scratch_make(&f.s);
    f.descriptors = open_descriptors();
    uid = geteuid();
    f.sys = cpubind_sys_real;
    f.sys.geteuid = t_geteuid;
    f.root = scratch_tree(&f.sys, f.s.dir);
    if (uid == 0)
        snprintf(f.folder, sizeof f.folder, "run/cpubind");
    else
        snprintf(f.folder, sizeof f.folder, "run/user/%lu/cpubind", (unsigned long)uid);
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, f.folder, path); /* makes what is above it */
    return 0;
}

SETUP(tear_down)
{
    close(f.root.fd);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* A name in the usual folder. */
static const char *in_folder(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", f.folder, name);
    return text;
}

static int is_there(const char *name)
{
    char path[SCRATCH_PATH * 2];
    struct stat st;
    path_of(name, path);
    return lstat(path, &st) == 0;
}

static int n_names(const char *folder)
{
    char path[SCRATCH_PATH * 2];
    int n = -2; /* "." and ".." */
    path_of(folder, path);
    DIR *dir = opendir(path);
    scratch_need(dir != NULL, path);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static cpubind_linux_status open_file(const char *path, int32_t pid, cpubind_record_mode mode,
                                      cpubind_record_file **out, cpubind_linux_fault *why)
{
    return sample_status(cpubind_record_open(&f.root, path, pid, mode, out), why);
}

static cpubind_record_file *open_usual(void)
{
    cpubind_record_file *file = NULL;
    cpubind_linux_fault why = {.what = "?"};
    if (open_file(NULL, SAMPLE_PID, CPUBIND_RECORD_MAKE, &file, &why) != CPUBIND_LINUX_OK)
        fail_msg("%s: %s", why.what, strerror(why.error));
    return file;
}

static void check_refused(const char *path, cpubind_linux_status expected, int error,
                          const char *what)
{
    cpubind_linux_fault why = {0};
    cpubind_record_file *file = (cpubind_record_file *)&why;
    assert_int_equal(open_file(path, SAMPLE_PID, CPUBIND_RECORD_MAKE, &file, &why), expected);
    assert_null(file);
    assert_int_equal(why.error, error);
    assert_string_equal(why.what, what);
}

static void save_sample(cpubind_record_file *file, int32_t npu)
{
    cpubind_record sample;
    sample_make(&sample);
    sample.device = npu;
    assert_int_equal(sample_status(cpubind_record_save(file, &sample), NULL), CPUBIND_LINUX_OK);
    cpubind_record_free(&sample);
}

/* Whether the sample with this NPU is in the file. */
static int holds_sample(cpubind_record_file *file, int32_t npu)
{
    cpubind_record sample, found;
    int same;
    sample_make(&sample);
    sample.device = npu;
    assert_int_equal(sample_status(cpubind_record_load(file, &found), NULL), CPUBIND_LINUX_OK);
    same = sample_same(&sample, &found);
    cpubind_record_free(&sample);
    cpubind_record_free(&found);
    return same;
}

static void check_load_fails(cpubind_record_file *file, cpubind_linux_status expected,
                             int error, const char *what)
{
    cpubind_record found;
    cpubind_linux_fault why = {0};
    memset(&found, 0x5a, sizeof found);
    assert_int_equal(sample_status(cpubind_record_load(file, &found), &why), expected);
    assert_true(sample_is_zero(&found));
    assert_int_equal(why.error, error);
    assert_string_equal(why.what, what);
}

/* == A life ================================================================= */

TEST(a_saved_record_is_loaded_until_it_is_removed)
{
    struct stat st;
    char path[SCRATCH_PATH * 2];
    cpubind_record_file *file = open_usual();
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, ENOENT, "open");
    save_sample(file, 3);
    assert_true(holds_sample(file, 3));
    save_sample(file, 5);
    assert_true(holds_sample(file, 5));
    assert_int_equal(n_names(f.folder), 2); /* the file and its lock */
    path_of(in_folder("4711.record"), path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    cpubind_record_close(file);
    assert_int_equal(n_names(f.folder), 1);

    file = open_usual();
    assert_true(holds_sample(file, 5));
    assert_int_equal(sample_status(cpubind_record_remove(file), NULL), CPUBIND_LINUX_OK);
    assert_int_equal(sample_status(cpubind_record_remove(file), NULL), CPUBIND_LINUX_OK);
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, ENOENT, "open");
    cpubind_record_close(file);
    assert_int_equal(n_names(f.folder), 0);
    cpubind_record_close(NULL);
}

TEST(an_ordinary_user_has_a_folder_of_their_own)
{
    cpubind_record_file *file = NULL;
    if (geteuid() != 0)
        skip();
    file = open_usual();
    assert_string_equal(cpubind_record_path(file), "/run/cpubind/4711.record");
    cpubind_record_close(file);
    uid = 1000;
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, ENOENT, "folder"); /* no /run/user/1000 */
    scratch_folder(&f.s, FOLDER);
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, EPERM, "folder"); /* it is root's */
    char path[SCRATCH_PATH * 2];
    path_of(FOLDER, path);
    scratch_need(chown(path, 1000, 1000) == 0, "chown");
    assert_int_equal(open_file(NULL, 1, CPUBIND_RECORD_WRITE, &file, NULL),
                     CPUBIND_LINUX_ERR_STATE); /* the lock is root's, not his */
    uid = 0;
    assert_int_equal(n_names(FOLDER), 1);
}

TEST(a_missing_folder_is_made_when_it_may_be)
{
    cpubind_record_file *file = NULL;
    cpubind_linux_fault why = {0};
    char path[SCRATCH_PATH * 2];
    struct stat st;
    assert_int_equal(open_file(NULL, 1, CPUBIND_RECORD_WRITE, &file, &why),
                     CPUBIND_LINUX_ERR_STATE);
    assert_int_equal(why.error, ENOENT);
    assert_string_equal(why.what, "folder");
    assert_false(is_there(f.folder));
    file = open_usual();
    path_of(f.folder, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    cpubind_record_close(file);
}

TEST(arguments_outside_their_range_are_refused)
{
    cpubind_record_file *file = NULL;
    char path[SCRATCH_PATH * 2];
    assert_int_equal(
        open_file(NULL, CPUBIND_RECORD_DOCTOR - 1, CPUBIND_RECORD_MAKE, &file, NULL),
        CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(
        sample_status(cpubind_record_open(NULL, "x", 1, CPUBIND_RECORD_MAKE, &file), NULL),
        CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(
        sample_status(cpubind_record_open(&f.root, NULL, 1, CPUBIND_RECORD_MAKE, NULL), NULL),
        CPUBIND_LINUX_ERR_ARG);
    static const char *const bad[] = {"", "/", "a/", ".", "..", "/tmp/.", "a/.."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i], CPUBIND_LINUX_ERR_ARG, EINVAL, "argument");
    snprintf(path, sizeof path, "%s/%0221d", f.s.dir, 0);
    check_refused(path, CPUBIND_LINUX_ERR_STATE, ENAMETOOLONG, "name");
    assert_int_equal(n_names(""), 1);
}

TEST(the_longest_name_can_be_saved)
{
    cpubind_record_file *file = NULL;
    char path[SCRATCH_PATH * 2];
    snprintf(path, sizeof path, "%s/%0220d", f.s.dir, 0);
    assert_int_equal(open_file(path, 0, CPUBIND_RECORD_WRITE, &file, NULL), CPUBIND_LINUX_OK);
    assert_string_equal(cpubind_record_path(file), path);
    save_sample(file, 1);
    assert_true(holds_sample(file, 1));
    cpubind_record_close(file);
}

/* == The folder ============================================================= */

/* Also of a path of the caller's own. */
static void check_folder_refused(int error)
{
    char path[SCRATCH_PATH * 2];
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, error, "folder");
    path_of(in_folder("own.record"), path);
    check_refused(path, CPUBIND_LINUX_ERR_STATE, error, "folder");
    path_of(in_folder("/own.record"), path); /* two slashes */
    check_refused(path, CPUBIND_LINUX_ERR_STATE, error, "folder");
}

TEST(a_link_in_place_of_the_folder_is_not_followed)
{
    scratch_folder(&f.s, "elsewhere");
    char path[SCRATCH_PATH * 2];
    path_of("elsewhere", path);
    scratch_link(&f.s, f.folder, path);
    check_folder_refused(EPERM);
    assert_int_equal(n_names("elsewhere"), 0);
}

TEST(a_dangling_link_is_not_followed)
{
    scratch_link(&f.s, f.folder, "nowhere");
    check_folder_refused(EPERM);
    assert_false(is_there(in_folder("../nowhere")));
}

TEST(a_file_in_place_of_the_folder_is_refused)
{
    scratch_file(&f.s, f.folder, "x");
    check_folder_refused(EPERM);
}

TEST(a_folder_that_others_may_write_to_is_refused)
{
    static const mode_t bad[] = {0775, 0757, 0777, 0720, 0702};
    static const mode_t good[] = {0755, 0700, 0711, 0750};
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, f.folder);
    path_of(f.folder, path);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        scratch_need(chmod(path, bad[i]) == 0, "chmod");
        check_folder_refused(EPERM);
        assert_int_equal(n_names(f.folder), 0);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        scratch_need(chmod(path, good[i]) == 0, "chmod");
        cpubind_record_close(open_usual());
    }
}

TEST(a_folder_of_another_user_is_refused)
{
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, "own");
    path_of("own/x.record", path);
    uid = geteuid() + 1;
    check_refused(path, CPUBIND_LINUX_ERR_STATE, EPERM, "folder");
    if (geteuid() != 0)
        return;
    uid = 0;
    scratch_folder(&f.s, f.folder);
    path_of(f.folder, path);
    scratch_need(chown(path, 1000, 0) == 0, "chown");
    check_folder_refused(EPERM);
}

TEST(a_sticky_folder_is_allowed_for_a_named_path_alone)
{
    char path[SCRATCH_PATH * 2];
    cpubind_record_file *file = NULL;
    scratch_folder(&f.s, f.folder);
    path_of(f.folder, path);
    scratch_need(chmod(path, 01777) == 0, "chmod");
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, EPERM, "folder");
    path_of(in_folder("own.record"), path);
    assert_int_equal(open_file(path, 0, CPUBIND_RECORD_WRITE, &file, NULL), CPUBIND_LINUX_OK);
    save_sample(file, 2);
    assert_true(holds_sample(file, 2));
    cpubind_record_close(file);
    if (geteuid() != 0)
        return;
    path_of(f.folder, path);
    scratch_need(chown(path, 1000, 0) == 0, "chown"); /* who could put things in the way */
    path_of(in_folder("own.record"), path);
    check_refused(path, CPUBIND_LINUX_ERR_STATE, EPERM, "folder");
}

TEST(a_named_path_is_used_unchanged)
{
    cpubind_record_file *file = NULL;
    char path[SCRATCH_PATH * 2], back[4096];
    scratch_folder(&f.s, "own");
    scratch_need(getcwd(back, sizeof back) != NULL && chdir(f.s.dir) == 0, "chdir");
    static const char *const names[] = {"here.record", "own/a", "./own//b", "own/../c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(open_file(names[i], 0, CPUBIND_RECORD_WRITE, &file, NULL),
                         CPUBIND_LINUX_OK);
        assert_string_equal(cpubind_record_path(file), names[i]);
        save_sample(file, 2);
        cpubind_record_close(file);
        assert_true(is_there(names[i]));
    }
    scratch_need(chdir(back) == 0, "chdir");
    path_of("none/x", path);
    check_refused(path, CPUBIND_LINUX_ERR_STATE, ENOENT, "folder");
    assert_false(is_there("none"));
}

/* == The file =============================================================== */

/* None of these is read; each is replaced by the next save but for a folder. */
static void check_no_file(int error, const char *what)
{
    cpubind_record_file *file = open_usual();
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, error, what);
    save_sample(file, 4);
    assert_true(holds_sample(file, 4));
    cpubind_record_close(file);
}

TEST(a_fifo_is_refused_without_waiting)
{
    char path[SCRATCH_PATH * 2];
    scratch_folder(&f.s, f.folder);
    path_of(in_folder("4711.record"), path);
    scratch_need(mkfifo(path, 0600) == 0, "mkfifo");
    check_no_file(EINVAL, "file");
}

TEST(a_link_is_not_followed_and_its_target_stays)
{
    char path[SCRATCH_PATH * 2];
    scratch_file(&f.s, "precious", "stays");
    path_of("precious", path);
    scratch_link(&f.s, in_folder("4711.record"), path);
    check_no_file(ELOOP, "open");
    FILE *file = fopen(path, "re");
    char text[16] = "";
    scratch_need(file && fgets(text, sizeof text, file), "precious");
    fclose(file);
    assert_string_equal(text, "stays");
}

TEST(a_folder_in_place_of_the_file_stays)
{
    cpubind_record sample;
    cpubind_linux_fault why = {0};
    scratch_folder(&f.s, f.folder);
    scratch_folder(&f.s, in_folder("4711.record"));
    cpubind_record_file *file = open_usual();
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, EISDIR, "file");
    sample_make(&sample);
    assert_int_equal(sample_status(cpubind_record_save(file, &sample), &why),
                     CPUBIND_LINUX_ERR_STATE);
    assert_int_equal(why.error, EISDIR);
    assert_string_equal(why.what, "rename");
    assert_int_equal(sample_status(cpubind_record_remove(file), &why), CPUBIND_LINUX_ERR_STATE);
    assert_string_equal(why.what, "remove");
    cpubind_record_free(&sample);
    cpubind_record_close(file);
    assert_int_equal(n_names(f.folder), 1);
}

TEST(a_file_that_others_may_write_to_is_refused)
{
    char path[SCRATCH_PATH * 2];
    cpubind_record_file *file = open_usual();
    path_of(in_folder("4711.record"), path);
    save_sample(file, 4);
    scratch_need(chmod(path, 0620) == 0, "chmod");
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, EPERM, "file");
    scratch_need(chmod(path, 0602) == 0, "chmod");
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, EPERM, "file");
    scratch_need(chmod(path, 0644) == 0, "chmod");
    assert_true(holds_sample(file, 4));
    uid++; /* and to another user it is one of another user */
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, EPERM, "file");
    cpubind_record_close(file);
}

TEST(a_file_of_another_length_is_damaged)
{
    char path[SCRATCH_PATH * 2];
    cpubind_record_file *file = open_usual();
    path_of(in_folder("4711.record"), path);
    save_sample(file, 4);
    struct stat st;
    scratch_need(stat(path, &st) == 0, "stat");
    scratch_need(truncate(path, st.st_size - 2) == 0, "truncate");
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "sum");
    scratch_need(truncate(path, 0) == 0, "truncate");
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "cpubind-record");
    scratch_need(truncate(path, CPUBIND_FILE_MAX + 1) == 0, "truncate");
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EFBIG, "length");
    scratch_need(truncate(path, CPUBIND_FILE_MAX) == 0, "truncate"); /* zeros: no line */
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "cpubind-record");
    save_sample(file, 6); /* and it can be replaced */
    assert_true(holds_sample(file, 6));
    cpubind_record_close(file);
}

static int t_fstat_of_a_small_file(int fd, struct stat *out)
{
    const int result = fstat(fd, out);
    out->st_size = 100;
    return result;
}

/* It has grown since. */
TEST(a_file_is_not_read_past_the_longest)
{
    char path[SCRATCH_PATH * 2];
    cpubind_record_file *file = open_usual();
    path_of(in_folder("4711.record"), path);
    save_sample(file, 4);
    scratch_need(truncate(path, CPUBIND_FILE_MAX + 1) == 0, "truncate");
    f.sys.fstat = t_fstat_of_a_small_file;
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EFBIG, "length");
    cpubind_record_close(file);
}

TEST(a_file_of_another_process_is_damaged)
{
    char path[SCRATCH_PATH * 2];
    cpubind_record_file *file = NULL;
    cpubind_record_file *usual = open_usual();
    save_sample(usual, 4);
    cpubind_record_close(usual);
    char from[SCRATCH_PATH * 2];
    path_of(in_folder("4711.record"), from);
    path_of(in_folder("4712.record"), path);
    scratch_need(rename(from, path) == 0, "rename");
    assert_int_equal(open_file(NULL, 4712, CPUBIND_RECORD_WRITE, &file, NULL),
                     CPUBIND_LINUX_OK);
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "pid");
    cpubind_record_close(file);
    /* under a name of the caller's own it is what it says */
    assert_int_equal(open_file(path, 1, CPUBIND_RECORD_WRITE, &file, NULL), CPUBIND_LINUX_OK);
    assert_true(holds_sample(file, 4));
    cpubind_record_close(file);
}

TEST(an_impossible_record_is_not_saved)
{
    cpubind_record sample;
    cpubind_record_file *file = open_usual();
    save_sample(file, 4);
    sample_make(&sample);
    sample.main = CPUBIND_CPUSET_NONE;
    assert_int_equal(sample_status(cpubind_record_save(file, &sample), NULL),
                     CPUBIND_LINUX_ERR_ARG);
    cpubind_record_free(&sample);
    assert_true(holds_sample(file, 4));
    assert_int_equal(n_names(f.folder), 2);
    cpubind_record_close(file);
}

/* == Names beside it ======================================================== */

TEST(leftovers_of_a_killed_process_do_no_harm)
{
    char name[64];
    scratch_folder(&f.s, f.folder);
    for (int n = 0; n < 5; n++) {
        snprintf(name, sizeof name, ".4711.record.%ld.%d.tmp", (long)getpid(), n);
        scratch_file(&f.s, in_folder(name), "half");
    }
    scratch_file(&f.s, in_folder(".4711.record.77.0.tmp"), "");
    static const char *const stay[] = {".4711.record.tmp",      ".4711.record.7.tmp",
                                       ".4711.record.7..tmp",   ".4711.record.7.0.tmp2",
                                       ".14711.record.7.0.tmp", ".4711.record.x.0.tmp",
                                       ".4711.record7.0.tmp",   "4711.record.7.0.tmp"};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        scratch_file(&f.s, in_folder(stay[i]), "");
    cpubind_record_file *file = open_usual();
    save_sample(file, 4);
    assert_true(holds_sample(file, 4));
    assert_int_equal(n_names(f.folder), 2 + 6 + 8);
    assert_int_equal(sample_status(cpubind_record_remove(file), NULL), CPUBIND_LINUX_OK);
    cpubind_record_close(file);
    assert_int_equal(n_names(f.folder), 8);
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_true(is_there(in_folder(stay[i])));
}

/* A file of form 1 is read while there is no other one. */
TEST(a_file_of_form_1_is_read_where_there_is_no_other)
{
    static const char form1[] =
        "{\"cpubind\": \"0.1.0\", \"format\": 1,\n \"boot\": \"b\", \"pid\": 4711, \"start\": "
        "12345,\n \"npu\": 3, \"before\": \"0-191\",\n \"goal\": {\"main\": \"74-93\", "
        "\"memory_node\": null, \"uvb\": null, \"rules\": []},\n \"ours\": [],\n \"threads\": "
        "[],\n \"others\": [],\n \"irqs\": [],\n \"irqbalance\": null}\n";
    cpubind_record_file *file = open_usual();
    cpubind_record r;
    char path[SCRATCH_PATH * 2];
    scratch_file(&f.s, in_folder("4711.json"), "{\"cpubind\": \"0.1.0\"}");
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "format");
    scratch_file(&f.s, in_folder("4711.json"), form1);
    assert_int_equal(sample_status(cpubind_record_load(file, &r), NULL), CPUBIND_LINUX_OK);
    assert_non_null(r.host);
    assert_int_equal(r.device, 3);
    cpubind_record_free(&r);
    save_sample(file, 4);
    assert_true(holds_sample(file, 4));
    assert_int_equal(sample_status(cpubind_record_remove(file), NULL), CPUBIND_LINUX_OK);
    assert_true(is_there(in_folder("4711.json")));
    scratch_file(&f.s, in_folder("4711.json"), "cpubind-record 6 0.3.0\n");
    check_load_fails(file, CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "form");
    assert_string_equal(cpubind_record_form(file), "6 0.3.0");
    cpubind_record_close(file);
    path_of(in_folder("own.record"), path); /* a file of the caller's own has no other name */
    assert_int_equal(open_file(path, SAMPLE_PID, CPUBIND_RECORD_WRITE, &file, NULL),
                     CPUBIND_LINUX_OK);
    check_load_fails(file, CPUBIND_LINUX_ERR_STATE, ENOENT, "open");
    scratch_file(&f.s, in_folder("own.record"), form1);
    assert_int_equal(sample_status(cpubind_record_load(file, &r), NULL), CPUBIND_LINUX_OK);
    cpubind_record_free(&r);
    cpubind_record_close(file);
}

TEST(processes_with_a_file_are_listed)
{
    static const char *const names[] = {
        "12.record", "3.record",          "4711.record",       "4711.json",
        "80.json",   "2147483647.record", "2147483648.record", "99999999999.record",
        "0.record",  "05.record",         "-5.record",         "x.record",
        ".record",   "6.record.lock",     ".6.record.1.0.tmp", "7.recor",
        "8.recordx", "6.json.lock",       "8.jsonx",           "9"};
    static const int32_t expected[] = {3, 12, 80, 4711, INT32_MAX};
    cpubind_ids pids = {(int32_t *)names, -1, -1};
    assert_int_equal(sample_status(cpubind_record_list(&f.root, &pids), NULL),
                     CPUBIND_LINUX_OK);
    assert_null(pids.id); /* no folder */
    assert_int_equal(pids.n, 0);
    scratch_folder(&f.s, f.folder);
    assert_int_equal(sample_status(cpubind_record_list(&f.root, &pids), NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(pids.n, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        scratch_file(&f.s, in_folder(names[i]), "");
    assert_int_equal(sample_status(cpubind_record_list(&f.root, &pids), NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(pids.n, 5);
    assert_memory_equal(pids.id, expected, sizeof expected);
    free(pids.id);
    char path[SCRATCH_PATH * 2];
    cpubind_linux_fault why = {0};
    path_of(f.folder, path);
    scratch_need(chmod(path, 0777) == 0, "chmod");
    assert_int_equal(sample_status(cpubind_record_list(&f.root, &pids), &why),
                     CPUBIND_LINUX_ERR_STATE);
    assert_int_equal(why.error, EPERM);
    assert_null(pids.id);
    assert_int_equal(pids.n, 0);
}

/* == The lock =============================================================== */

TEST(a_second_opening_is_busy_at_once)
{
    cpubind_record_file *first = open_usual(), *other = NULL;
    for (int i = 0; i < 3; i++)
        check_refused(NULL, CPUBIND_LINUX_ERR_BUSY, EWOULDBLOCK, "lock");
    assert_int_equal(
        sample_status(cpubind_record_open(&f.root, NULL, 4712, CPUBIND_RECORD_WRITE, &other),
                      NULL),
        CPUBIND_LINUX_OK); /* of another process */
    cpubind_record_close(other);
    save_sample(first, 1);
    cpubind_record_close(first);
    cpubind_record_close(open_usual());
    assert_int_equal(n_names(f.folder), 1);
}

TEST(the_kernel_releases_the_lock_of_a_killed_process)
{
    int ready[2];
    char byte;
    scratch_need(pipe(ready) == 0, "pipe");
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        (void)open_usual();
        (void)!write(ready[1], "x", 1);
        pause();
        _exit(0);
    }
    scratch_need(read(ready[0], &byte, 1) == 1, "read");
    check_refused(NULL, CPUBIND_LINUX_ERR_BUSY, EWOULDBLOCK, "lock");
    kill(pid, SIGKILL);
    scratch_need(waitpid(pid, NULL, 0) == pid, "waitpid");
    assert_true(is_there(in_folder("4711.record.lock")));
    cpubind_record_close(open_usual());
    assert_false(is_there(in_folder("4711.record.lock")));
    close(ready[0]);
    close(ready[1]);
}

TEST(a_lock_file_must_be_a_regular_file_of_this_user)
{
    char path[SCRATCH_PATH * 2];
    const char *const name = "4711.record.lock";
    scratch_folder(&f.s, f.folder);
    path_of(in_folder(name), path);
    scratch_file(&f.s, "precious", "stays");
    scratch_link(&f.s, in_folder(name), "../precious");
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, ELOOP, "lock");
    scratch_need(unlink(path) == 0 && mkfifo(path, 0600) == 0, "mkfifo");
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, EPERM, "lock");
    scratch_need(unlink(path) == 0 && mkdir(path, 0700) == 0, "mkdir");
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, EISDIR, "lock");
    scratch_need(rmdir(path) == 0, "rmdir");
    cpubind_record_close(open_usual());
}

/* In /tmp anybody may make one, where fs.protected_hardlinks is 0. */
TEST(a_lock_file_with_another_name_is_left_alone)
{
    const char *const name = "1 2 watch, of another file of this user";
    char path[SCRATCH_PATH * 2], precious[SCRATCH_PATH * 2], text[64] = "";
    cpubind_record_file *file;
    scratch_folder(&f.s, f.folder);
    scratch_file(&f.s, "precious", name);
    path_of("precious", precious);
    path_of(in_folder("4711.record.lock"), path);
    scratch_need(link(precious, path) == 0, "link");
    check_refused(NULL, CPUBIND_LINUX_ERR_STATE, EPERM, "lock");
    assert_int_equal(open_file(NULL, SAMPLE_PID, CPUBIND_RECORD_READ, &file, NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_record_read_holder(file).pid, 0); /* it gets no signal */
    cpubind_record_close(file);
    const int fd = open(precious, O_RDONLY | O_CLOEXEC);
    scratch_need(fd >= 0 && read(fd, text, sizeof text - 1) > 0, "read");
    close(fd);
    assert_string_equal(text, name);
    scratch_need(unlink(path) == 0, "unlink");
    cpubind_record_close(open_usual());
}

static int n_flock, most_steals;

/* Who had the lock has removed its file just before; someone new may have made one. */
static int t_flock_of_a_removed_file(int fd, int operation)
{
    char path[SCRATCH_PATH * 2];
    path_of(in_folder("4711.record.lock"), path);
    if (n_flock++ < most_steals) {
        scratch_need(unlink(path) == 0, "unlink");
        if (n_flock % 2)
            scratch_file(&f.s, in_folder("4711.record.lock"), "");
    }
    return flock(fd, operation);
}

TEST(a_lock_on_a_removed_file_does_not_count)
{
    cpubind_record_file *file = NULL;
    f.sys.flock = t_flock_of_a_removed_file;
    n_flock = 0;
    most_steals = 7;
    file = open_usual();
    assert_int_equal(n_flock, 8);
    check_refused(NULL, CPUBIND_LINUX_ERR_BUSY, EWOULDBLOCK, "lock"); /* it is the real one */
    cpubind_record_close(file);
    n_flock = 0;
    most_steals = 1000000;
    check_refused(NULL, CPUBIND_LINUX_ERR_BUSY, EWOULDBLOCK, "lock"); /* not for ever */
}

/* Opens and closes again and again; while it is open no other process has the mark. */
static int child_turns(int turns)
{
    const char *const mark = in_folder("mark");
    char path[SCRATCH_PATH * 2];
    path_of(mark, path);
    while (turns > 0) {
        cpubind_record_file *file = NULL;
        cpubind_linux_fault why = {0};
        cpubind_linux_status status =
            open_file(NULL, SAMPLE_PID, CPUBIND_RECORD_MAKE, &file, &why);
        if (status == CPUBIND_LINUX_ERR_BUSY)
            continue;
        if (status != CPUBIND_LINUX_OK)
            return 2;
        const int fd = open(path, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
            return 3;
        if (turns % 4 == 0)
            save_sample(file, turns);
        if (turns % 8 == 0 &&
            sample_status(cpubind_record_remove(file), NULL) != CPUBIND_LINUX_OK)
            return 4;
        close(fd);
        if (unlink(path) != 0)
            return 5;
        cpubind_record_close(file);
        turns--;
    }
    return 0;
}

TEST(of_many_processes_one_holds_the_lock)
{
    enum { CHILDREN = 6, TURNS = 200 };
    pid_t child[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = fork();
        scratch_need(child[i] >= 0, "fork");
        if (child[i] == 0)
            _exit(child_turns(TURNS));
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        scratch_need(waitpid(child[i], &status, 0) == child[i], "waitpid");
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_false(is_there(in_folder("4711.record.lock")));
}

/* A reader beside a writer that is killed again and again sees a whole file each time. */
TEST(a_killed_writer_leaves_a_whole_file)
{
    cpubind_record_file *file = open_usual();
    save_sample(file, 0);
    cpubind_record_close(file);
    for (int i = 0; i < 100; i++) {
        const pid_t pid = fork();
        scratch_need(pid >= 0, "fork");
        if (pid == 0) {
            file = open_usual();
            for (int32_t npu = 0;; npu = (npu + 1) % 16)
                save_sample(file, npu);
        }
        usleep((useconds_t)(i * 53 % 4000));
        kill(pid, SIGKILL);
        scratch_need(waitpid(pid, NULL, 0) == pid, "waitpid");
        cpubind_record found;
        file = open_usual();
        assert_int_equal(sample_status(cpubind_record_load(file, &found), NULL),
                         CPUBIND_LINUX_OK);
        const int32_t npu = found.device;
        cpubind_record_free(&found);
        assert_true(holds_sample(file, npu));
        cpubind_record_close(file);
    }
    file = open_usual();
    assert_int_equal(sample_status(cpubind_record_remove(file), NULL), CPUBIND_LINUX_OK);
    cpubind_record_close(file);
    assert_int_equal(n_names(f.folder), 0); /* and nothing of the writers is left */
}

static int run_all(void)
{
    scratch_in_memory();
    return run_registered("state", set_up, tear_down);
}

TEST_PROGRAM(run_all)
