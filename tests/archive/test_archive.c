/* test_archive.c - hosts as one file: the same each time, packed, damaged, too large
 * SPDX-License-Identifier: MIT
 */
#include "../support/test.h"

#include <stdlib.h>
#include <string.h>

#include "../../adapters/archive/archive.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof *(array)))

/* The text of three files, which are given sorted or not. */
static char *make(int is_packed, int is_turned, int32_t *len)
{
    static const char text[] = "Name:\tx\n";
    cpubind_host_part part[] = {{"proc/self/status", text, (int32_t)strlen(text)},
                                {"sys/a", NULL, 0},
                                {"uname", "x", 1}};
    char *out = NULL;
    if (is_turned) {
        const cpubind_host_part kept = part[0];
        part[0] = part[2];
        part[2] = kept;
    }
    assert_true(cpubind_archive_make(part, LENGTH(part), is_packed, &out, len));
    return out;
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
    cpubind_host_part part = {"a", NULL, CPUBIND_ARCHIVE_MAX / 4 - 16};
    int32_t len = 0, n, twice;
    char *packed = NULL, *out, *bomb, *bigger = NULL, *zeros;
    part.data = zeros = (char *)calloc(1, CPUBIND_ARCHIVE_MAX / 4);
    assert_non_null(zeros);
    assert_true(cpubind_archive_make(&part, 1, 1, &packed, &len));
    assert_null(cpubind_archive_unpack(packed, len, &out, &n));
    free(out);
    part.len = CPUBIND_ARCHIVE_MAX / 4;
    assert_false(cpubind_archive_make(&part, 1, 1, &bigger, &twice));
    free(zeros);
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

TEST_FILE(NULL, NULL)
