/* fuzz_vmstat.c - fuzz target: find a counter of /proc/vmstat
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name of the counter; the rest is the content of the file,
 * with a line "NAME value" for each counter.
 */
#include "../fuzz.h"

#include "../../adapters/text/numa_maps.h"

static void check_vmstat(const char *text, int32_t len, const char *name)
{
    cpubind_text_fault fault = {-7, NULL};
    int64_t value = -7;
    const cpubind_text_status status = cpubind_vmstat_find(text, len, name, &value, &fault);
    const int32_t at = fuzz_find_line(text, len, name, ' ');
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
        CHECK(value == -7);
        fuzz_check_fault(&fault, len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_vmstat);
}
