/* test_conf.c - rows of a configuration file, the places of their faults, and who may write it
 * SPDX-License-Identifier: MIT
 */
#include "../../adapters/service/conf.h"
#include "../../adapters/service/conf_file.h"
#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"
#include "../support/exact_buffer.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* Appends "KEY|VALUE\n" for each row and "OFFSET: WHAT\n" for each fault. */
static void read_all(const char *text, int32_t len, char *out, size_t size)
{
    char *exact = edge_text(text, len);
    cpubind_conf_row row;
    cpubind_text_fault where;
    cpubind_conf_step step;
    int32_t at = 0;
    size_t n = 0;
    out[0] = '\0';
    while ((step = cpubind_conf_next(exact, len, &at, &row, &where)) != CPUBIND_CONF_END)
        n += (size_t)(step == CPUBIND_CONF_ROW
                          ? snprintf(out + n, size - n, "%.*s|%.*s\n", (int)row.key.len,
                                     exact + row.key.at, (int)row.value.len,
                                     exact + row.value.at)
                          : snprintf(out + n, size - n, "%d: %s\n", (int)where.offset,
                                     where.what));
    assert_int_equal(at, len);
    free(exact);
}

#define KEY_FAULT "a line begins with a key, in small letters, or with #\n"

TEST(rows_and_faults_are_found_line_by_line)
{
    static const struct {
        const char *text, *found;
    } cases[] = {
        {"", ""},
        {"\n\n", ""},
        {"# a = b\n \t# c\r\n", ""},
        {"a = b", "a|b\n"},
        {"a=b\r\nc-d = e f\n", "a|b\nc-d|e f\n"},
        {"a = b # c\nd = e#f\n", "a|b\nd|e#f\n"},
        {"a = \"b # c\" # d\n", "a|b # c\n"},
        {"a = b=c\n", "a|b=c\n"},
        {"a\nb = c\n", "1: \"=\" is expected after the key\nb|c\n"},
        {"a =\n", "3: the value is missing\n"},
        {"a = # b\n", "4: the value is missing\n"},
        {"a = \"\"\n", "4: the value is empty\n"},
        {"a = \"b\n", "4: the closing quote of this value is missing\n"},
        {"a = \"b\" c\n", "8: nothing but a comment may follow a value in quotes\n"},
        {"A = b\n", "0: " KEY_FAULT},
        {"-a = b\n", "0: " KEY_FAULT},
        {"[a]\n", "0: " KEY_FAULT},
        {"a- = b\n", "1: \"=\" is expected after the key\n"},
        {"a_b = c\n", "1: \"=\" is expected after the key\n"},
        {"a = \x01\n# \x7f\n", "4: a line holds a control character\n"
                               "8: a line holds a control character\n"},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        char found[512];
        read_all(cases[i].text, (int32_t)strlen(cases[i].text), found, sizeof found);
        assert_string_equal(found, cases[i].found);
    }
}

TEST(a_nul_is_a_control_character)
{
    char found[128];
    read_all("a = b\0c\n", 8, found, sizeof found);
    assert_string_equal(found, "5: a line holds a control character\n");
}

/* == The file =============================================================== */

static scratch s;
static char path[SCRATCH_PATH * 2];

SETUP(set_up)
{
    scratch_make(&s);
    scratch_file(&s, "conf", "rules = near\n");
    scratch_path(&s, "conf", path);
    scratch_need(chmod(path, 0644) == 0, path);
    fault_clear();
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&s);
    return 0;
}

static cpubind_linux_fault read_file(const char *name, int32_t *len)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    const cpubind_linux_fault why = cpubind_conf_read_file(&fault_table, name, &bytes);
    *len = bytes.len;
    cpubind_bytes_free(&bytes);
    return why;
}

TEST(a_file_that_others_may_write_to_is_refused)
{
    static const struct {
        mode_t mode;
        int error;
    } cases[] = {{0600, 0}, {0644, 0}, {0444, 0}, {0664, EPERM}, {0646, EPERM}, {0666, EPERM}};
    int32_t len;
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        scratch_need(chmod(path, cases[i].mode) == 0, path);
        assert_int_equal(read_file(path, &len).error, cases[i].error);
        assert_int_equal(len, cases[i].error ? 0 : 13);
    }
}

TEST(a_file_of_another_user_is_refused)
{
    int32_t len;
    if (geteuid() != 0)
        skip();
    scratch_need(chown(path, 4711, 4711) == 0, path);
    assert_string_equal(read_file(path, &len).what, "owner");
}

TEST(only_a_regular_file_of_a_bounded_length_is_read)
{
    char other[SCRATCH_PATH * 2], *large = (char *)calloc(1, CPUBIND_CONF_MAX + 1);
    int32_t len;
    assert_int_equal(read_file(s.dir, &len).error, EISDIR);
    scratch_path(&s, "fifo", other);
    scratch_need(mkfifo(other, 0600) == 0, other);
    assert_int_equal(read_file(other, &len).error, EINVAL);
    scratch_bytes(&s, "large", large, CPUBIND_CONF_MAX + 1);
    scratch_path(&s, "large", other);
    scratch_need(chmod(other, 0600) == 0, other);
    assert_int_equal(read_file(other, &len).error, EFBIG);
    scratch_path(&s, "none", other);
    assert_int_equal(read_file(other, &len).error, ENOENT);
    free(large);
}

TEST(each_call_may_fail)
{
    static const call calls[] = {CALL_open, CALL_openat, CALL_fstat,
                                 CALL_read, CALL_malloc, CALL_realloc};
    const int before = open_descriptors();
    int n_failed = 0;
    for (int32_t i = 0; i < LENGTH(calls); i++) {
        int32_t len;
        fault_set(calls[i], 1,
                  calls[i] == CALL_malloc || calls[i] == CALL_realloc ? ENOMEM : EIO);
        n_failed += read_file(path, &len).error != 0;
        assert_int_equal(fault.n_met > 0, fault.count[calls[i]] > 0);
        assert_int_equal(open_descriptors(), before);
    }
    assert_true(n_failed >= 4);
}

static int n_line; /* that are still to be written */

/* Somebody writes a line while the reader waits. The time of the change is later than that of
 * the reader, so that this test depends on no clock. */
static int poll_while_others_write(struct pollfd *wait, nfds_t n, int ms)
{
    const struct timespec at = {(time_t)(4000000000 + n_line), 0}, both[2] = {at, at};
    const int fd = n_line > 0 ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    (void)wait;
    (void)n;
    assert_int_equal(ms, 100);
    if (n_line-- <= 0)
        return 0;
    scratch_need(fd >= 0 && write(fd, "# a line\n", 9) == 9, path);
    close(fd);
    scratch_need(utimensat(AT_FDCWD, path, both, 0) == 0, path);
    return 0;
}

static cpubind_linux_fault read_while_others_write(int lines, int32_t *len)
{
    cpubind_sys sys = cpubind_sys_real;
    const struct timespec at = {4000001000, 0}, both[2] = {at, at};
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault why;
    sys.poll = poll_while_others_write;
    n_line = lines;
    scratch_need(utimensat(AT_FDCWD, path, both, 0) == 0, path);
    why = cpubind_conf_read_file(&sys, path, &bytes);
    *len = bytes.len;
    cpubind_bytes_free(&bytes);
    return why;
}

TEST(a_file_that_is_being_written_is_not_taken)
{
    int32_t len;
    assert_int_equal(read_while_others_write(0, &len).error, 0);
    assert_int_equal(len, 13);
    assert_int_equal(read_while_others_write(5, &len).error, 0);
    assert_int_equal(len, 13 + 5 * 9);
    const cpubind_linux_fault why = read_while_others_write(1000, &len);
    assert_int_equal(why.error, EAGAIN);
    assert_string_equal(why.what, "writer");
}

TEST_FILE(set_up, tear_down)
