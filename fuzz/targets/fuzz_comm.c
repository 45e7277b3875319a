/* fuzz_comm.c - fuzz target: does a thread have a name
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name; the rest is the content of
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_comm);
}
