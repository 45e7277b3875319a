/* fuzz_lscpu_threads.c - fuzz target: read the threads per core from `lscpu`
 * SPDX-License-Identifier: MIT
 *
 * The format is in adapters/text/lscpu.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/lscpu.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    (void)limit;
    return cpubind_lscpu_parse_threads(text, len, &r->extra[0], fault);
}

/* The key is in the text, and the number is in the text after the key. */
static void check_source(const char *text, int32_t len, int32_t threads)
{
    char number[16];
    const size_t n = (size_t)snprintf(number, sizeof number, "%d", (int)threads);
    int32_t at = 0, found = 0;
    CHECK(threads >= 1 && threads <= CPUBIND_MAX_CPUS);
    for (; at + 18 <= len && memcmp(text + at, "Thread(s) per core", 18) != 0; at++)
        continue;
    CHECK(at + 18 <= len);
    for (; (size_t)at + n <= (size_t)len; at++)
        found |= memcmp(text + at, number, n) == 0;
    CHECK(found);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        check_source(text, len, r.extra[0]);
        fuzz_end(&r);
    }
    CHECK(cpubind_lscpu_parse_threads(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
