/* fuzz_comm.c - fuzz target: does a thread have a name, or one that fits a pattern
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name, and the pattern; the rest is the content of
 * /proc/<pid>/task/<tid>/comm. The kernel cuts a name to 15 bytes (proc_pid_comm(5)).
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

/* The first 15 bytes of a name have the name; one byte less, or another last byte, has not. */
static void check_comm(const char *text, int32_t len, const char *name)
{
    const size_t whole = strlen(name);
    const int32_t kept = whole < 15 ? (int32_t)whole : 15;
    char *comm = fuzz_text(name, (size_t)kept);
    const int is = cpubind_comm_is(text, len, name);
    CHECK(is == 0 || is == 1);
    if (memchr(name, '\n', whole) == NULL && kept > 0) {
        CHECK(cpubind_comm_is(comm, kept, name) == 1);
        CHECK(cpubind_comm_is(comm, kept - 1, name) == 0);
        comm[kept - 1] ^= 1;
        CHECK(cpubind_comm_is(comm, kept, name) == 0);
    }
    CHECK(cpubind_comm_is(text, len, NULL) == 0);
    CHECK(cpubind_comm_is(text, -1, name) == 0);
    CHECK(cpubind_comm_is(NULL, 1, name) == 0);
    free(comm);
}

/* The same answer from a table: whether the rest of the pattern fits the rest of the name. */
static int fits(const char *pattern, const char *name)
{
    char rest[CPUBIND_PATTERN_SIZE + 1][17] = {{0}};
    const size_t n = strlen(name);
    size_t i = strlen(pattern);
    rest[i][n] = 1;
    while (i-- > 0)
        for (size_t k = n + 1; k-- > 0;)
            rest[i][k] = pattern[i] == '*'
                             ? (char)(rest[i + 1][k] || (k < n && rest[i][k + 1]))
                             : (char)(k < n && (pattern[i] == '?' || pattern[i] == name[k]) &&
                                      rest[i + 1][k + 1]);
    return rest[0][0];
}

static void check_pattern(const char *text, int32_t len, const char *name)
{
    char pattern[CPUBIND_PATTERN_SIZE], again[CPUBIND_PATTERN_SIZE], comm[16] = "";
    size_t n_star = 0, whole = strlen(name);
    memcpy(comm, text, len < 15 ? (size_t)len : 15);
    for (size_t i = 0; i < whole; i++)
        n_star += name[i] == '*';
    if (!cpubind_pattern_make(name, pattern)) {
        CHECK(whole == 0 || n_star > 0);
        return;
    }
    CHECK(strlen(pattern) < CPUBIND_PATTERN_SIZE);
    CHECK(strncmp(pattern, name, strlen(pattern)) == 0);
    CHECK(cpubind_pattern_make(pattern, again) && strcmp(pattern, again) == 0);
    CHECK(cpubind_pattern_matches(pattern, comm) == fits(pattern, comm));
    if (n_star == 0 && !strchr(name, '?') && !strchr(comm, '\n'))
        CHECK(cpubind_pattern_matches(pattern, comm) ==
              cpubind_comm_is(comm, (int32_t)strlen(comm), name));
}

static void check_both(const char *text, int32_t len, const char *name)
{
    check_comm(text, len, name);
    check_pattern(text, len, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_both);
}
