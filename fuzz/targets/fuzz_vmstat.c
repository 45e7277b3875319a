/* fuzz_vmstat.c - a counter of /proc/vmstat
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name of the counter, the rest the file.
 */
#include "../fuzz.h"

#include "../../adapters/text/numa_maps.h"

/* Where the first line "NAME " starts, or -1. */
static int32_t find_line(const char *text, int32_t len, const char *name)
{
    const int32_t n = (int32_t)strlen(name);
    for (int32_t at = 0; at + n < len; at++)
        if ((at == 0 || text[at - 1] == '\n') && memcmp(text + at, name, (size_t)n) == 0 &&
            text[at + n] == ' ')
            return at;
    return -1;
}

static void check_vmstat(const char *text, int32_t len, const char *name)
{
    cpubind_text_fault fault = {-7, NULL};
    int64_t value = -7;
    const cpubind_text_status status = cpubind_vmstat_find(text, len, name, &value, &fault);
    const int32_t at = find_line(text, len, name);
    CHECK(status != CPUBIND_TEXT_ERR_SPACE && status != CPUBIND_TEXT_ERR_ORDER);
    CHECK(cpubind_vmstat_find(text, len, name, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    if (name[0] == '\0') {
        CHECK(status == CPUBIND_TEXT_ERR_ARG && value == -7);
        return;
    }
    CHECK((status == CPUBIND_TEXT_ERR_MISSING) == (at < 0));
    if (status == CPUBIND_TEXT_OK) {
        char line[32];
        const int n = snprintf(line, sizeof line, " %lld\n", (long long)value);
        const int32_t number = at + (int32_t)strlen(name);
        CHECK(fault.offset == -7 && !fault.what && value >= 0);
        CHECK(number + n <= len && memcmp(text + number, line, (size_t)n) == 0);
    } else {
        CHECK(value == -7 && fault.offset >= 0 && fault.offset <= len && fault.what);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_vmstat);
}
