/* comm.c - whether a thread has a name
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name, the rest what /proc/<pid>/task/<tid>/comm reads.
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

/* A name and its first 15 bytes are the same to the kernel; one byte more or less is not. */
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
    const uint8_t *feed = size ? (const uint8_t *)memchr(data, '\n', size) : NULL;
    const size_t n = feed ? (size_t)(feed - data) : size;
    const size_t rest = feed ? size - n - 1 : 0;
    char *name, *text;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    name = (char *)fuzz_filled(n + 1, 0);
    if (n)
        memcpy(name, data, n);
    text = fuzz_text(data + (feed ? n + 1 : n), rest);
    check_comm(text, (int32_t)rest, name);
    free(name);
    free(text);
    return 0;
}
