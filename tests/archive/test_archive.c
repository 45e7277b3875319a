/* test_archive.c - tar archives: written, read again, damaged, cut off, too large
 * SPDX-License-Identifier: MIT
 */
#include "../support/cmocka_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/archive/archive.h"
#include "../../adapters/text/tar.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof *(array)))

enum { AT_SUM = 148 };

static char long_name[400]; /* of a cgroup in a container */

/* An archive of three files, sorted or not. */
static char *make(int is_packed, int is_turned, int32_t *len)
{
    static char one[] = "proc/self/status", two[] = "sys/a", text[] = "Name:\tx\n";
    cpubind_archive_file file[] = {
        {one, text, (int32_t)strlen(text)}, {two, NULL, 0}, {long_name, text, 1}};
    char *out = NULL;
    memset(long_name, 'n', sizeof long_name - 1);
    memcpy(long_name, "sys/fs/", 7);
    if (is_turned) {
        const cpubind_archive_file kept = file[0];
        file[0] = file[2];
        file[2] = kept;
    }
    assert_true(cpubind_archive_make(file, LENGTH(file), "x/", 86400, is_packed, &out, len));
    return out;
}

static void set_sum(char *block)
{
    unsigned sum = 0;
    memset(block + AT_SUM, ' ', 8);
    for (int i = 0; i < CPUBIND_TAR_BLOCK; i++)
        sum += (unsigned char)block[i];
    (void)snprintf(block + AT_SUM, 8, "%06o", sum & 0777777u);
}

TEST(files_are_read_as_they_were_written)
{
    int32_t len, at = 0;
    char *text = make(0, 0, &len);
    static cpubind_tar_entry entry;
    assert_int_equal(cpubind_tar_next(text, len, &at, &entry, NULL), CPUBIND_TEXT_OK);
    assert_string_equal(entry.name, "x/proc/self/status");
    assert_int_equal(entry.data.len, 8);
    assert_memory_equal(text + entry.data.at, "Name:\tx\n", 8);
    assert_int_equal(cpubind_tar_next(text, len, &at, &entry, NULL), CPUBIND_TEXT_OK);
    assert_string_equal(entry.name, "x/sys/a");
    assert_int_equal(entry.data.len, 0);
    assert_int_equal(cpubind_tar_next(text, len, &at, &entry, NULL), CPUBIND_TEXT_OK);
    assert_string_equal(entry.name + 2, long_name);
    assert_int_equal(cpubind_tar_next(text, len, &at, &entry, NULL), CPUBIND_TEXT_OK);
    assert_string_equal(entry.name, "");
    assert_int_equal(at, len);
    free(text);
}

TEST(equal_files_give_equal_bytes)
{
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        int32_t n, m;
        char *a = make(is_packed, 0, &n), *b = make(is_packed, 1, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, (size_t)n);
        assert_int_equal(cpubind_archive_is_packed(a, n), is_packed);
        free(a);
        free(b);
    }
}

/* An archive that is cut off anywhere is refused, in a buffer of the exact size. */
TEST(an_archive_that_is_cut_off_is_refused)
{
    int32_t len;
    char *text = make(0, 0, &len);
    for (int32_t n = 0; n < len - 2 * CPUBIND_TAR_BLOCK; n += n % 512 == 511 ? 1 : 73) {
        char *exact = (char *)malloc((size_t)n + 1);
        static cpubind_tar_entry entry;
        cpubind_text_fault fault = {-1, NULL};
        cpubind_text_status status = CPUBIND_TEXT_OK;
        memcpy(exact, text, (size_t)n);
        for (int32_t at = 0; status == CPUBIND_TEXT_OK;) {
            status = cpubind_tar_next(exact, n, &at, &entry, &fault);
            assert_true(status != CPUBIND_TEXT_OK || entry.name[0] != '\0');
        }
        assert_true(fault.what && fault.offset >= 0 && fault.offset <= n);
        free(exact);
    }
    free(text);
}

/* A header of which one field is changed: its place, the bytes, and what is said. */
TEST(an_entry_that_no_host_has_is_refused)
{
    static const struct {
        int32_t at, n;
        const char *bytes, *what;
    } faults[] = {
        {156, 1, "2", "it is a link"},
        {156, 1, "1", "it is a link"},
        {156, 1, "3", "it is no file and no folder"},
        {156, 1, "6", "it is no file and no folder"},
        {156, 1, "S", "it is no file and no folder"},
        {0, 1, "/", "absolute"},
        {0, 8, "../proc/", "\"..\""},
        {0, 7, "x/../y", "\"..\""},
        {0, 3, "..", "\"..\""},
        {0, 1, "", "empty"},
        {0, 5, "x//y", "empty part"},
        {0, 4, "x\ny", "control character"},
        {124, 12, "77777777777", "cut off"},
        {124, 12, "0000000x000", "no octal number"},
        {124, 12, "\200\0\0\0\0\0\0\0\0\0\0\1", "no octal number"},
        {257, 5, "USTAR", "no header of a tar archive"},
        {257, 5, "\0\0\0\0\0", "no header of a tar archive"},
    };
    for (int32_t i = 0; i < LENGTH(faults); i++) {
        int32_t len, at = 0;
        char *text = make(0, 0, &len);
        static cpubind_tar_entry entry;
        cpubind_text_fault fault = {-1, ""};
        memcpy(text + faults[i].at, faults[i].bytes, (size_t)faults[i].n);
        set_sum(text);
        assert_int_not_equal(cpubind_tar_next(text, len, &at, &entry, &fault), CPUBIND_TEXT_OK);
        if (!strstr(fault.what, faults[i].what))
            fail_msg("%s, not %s", fault.what, faults[i].what);
        assert_int_equal(fault.offset, 0);
        free(text);
    }
}

TEST(a_damaged_header_and_bytes_after_the_end_are_refused)
{
    static cpubind_tar_entry entry;
    cpubind_text_fault fault = {-1, ""};
    int32_t len, at = 0;
    char *text = make(0, 0, &len);
    text[7] ^= 1;
    assert_int_equal(cpubind_tar_next(text, len, &at, &entry, &fault), CPUBIND_TEXT_ERR_SYNTAX);
    assert_non_null(strstr(fault.what, "sum of the header"));
    text[7] ^= 1;
    text[len - 1] = 'x';
    while (cpubind_tar_next(text, len, &at, &entry, &fault) == CPUBIND_TEXT_OK)
        assert_int_not_equal(entry.name[0], '\0');
    assert_non_null(strstr(fault.what, "follow the end"));
    free(text);
}

TEST(what_gzip_packed_is_unpacked_or_refused)
{
    int32_t len, n, m;
    char *packed = make(1, 0, &len), *plain = make(0, 0, &n), *out;
    assert_null(cpubind_archive_unpack(packed, len, &out, &m));
    assert_int_equal(m, n);
    assert_memory_equal(out, plain, (size_t)n);
    free(out);
    for (int32_t cut = 2; cut < len; cut++) {
        assert_non_null(cpubind_archive_unpack(packed, cut, &out, &m));
        assert_null(out);
    }
    packed[len / 2] ^= 0x10;
    assert_non_null(cpubind_archive_unpack(packed, len, &out, &m));
    packed[len / 2] ^= 0x10;
    packed = (char *)realloc(packed, (size_t)len + 1);
    packed[len] = '\0';
    assert_non_null(
        strstr(cpubind_archive_unpack(packed, len + 1, &out, &m), "follow the end"));
    free(packed);
    free(plain);
}

/* 120 KiB that unpack to more than 128 MiB. */
TEST(a_bomb_is_refused)
{
    static char name[] = "a";
    cpubind_archive_file file = {name, NULL, CPUBIND_ARCHIVE_MAX - 16384};
    int32_t len = 0, n, twice;
    char *packed = NULL, *out, *bomb, *bigger = NULL;
    file.data = (char *)calloc(1, (size_t)file.len);
    assert_non_null(file.data);
    assert_true(cpubind_archive_make(&file, 1, "", 0, 1, &packed, &len));
    assert_null(cpubind_archive_unpack(packed, len, &out, &n));
    free(out);
    file.len = CPUBIND_ARCHIVE_MAX;
    assert_false(cpubind_archive_make(&file, 1, "", 0, 1, &bigger, &twice));
    free(file.data);
    free(packed);
    /* A stored block of zeros, again and again: 128 MiB and more of them. */
    const int32_t blocks = CPUBIND_ARCHIVE_MAX / 65535 + 2;
    const size_t size = 10 + (size_t)blocks * (5 + 65535);
    static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    bomb = (char *)calloc(1, size);
    assert_non_null(bomb);
    memcpy(bomb, head, sizeof head);
    for (int32_t i = 0; i < blocks; i++)
        memcpy(bomb + 10 + (size_t)i * (5 + 65535), "\0\377\377\0\0", 5);
    assert_non_null(
        strstr(cpubind_archive_unpack(bomb, (int32_t)size, &out, &n), "more than 128 MiB"));
    assert_null(out);
    free(bomb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_they_were_written),
        cmocka_unit_test(equal_files_give_equal_bytes),
        cmocka_unit_test(an_archive_that_is_cut_off_is_refused),
        cmocka_unit_test(an_entry_that_no_host_has_is_refused),
        cmocka_unit_test(a_damaged_header_and_bytes_after_the_end_are_refused),
        cmocka_unit_test(what_gzip_packed_is_unpacked_or_refused),
        cmocka_unit_test(a_bomb_is_refused),
    };
    return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
