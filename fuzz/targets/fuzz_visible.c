/* fuzz_visible.c - fuzz target: parse ASCEND_RT_VISIBLE_DEVICES
 * SPDX-License-Identifier: MIT
 *
 * The rules are those of the Ascend runtime, given in adapters/text/procfs.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/procfs.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_visible visible = {(int32_t *)r->array[0].at, r->array[0].cap, r->array[0].n,
                               r->extra[0]};
    const cpubind_text_status status = cpubind_visible_parse(text, len, limit, &visible, fault);
    r->array[0].n = visible.n;
    r->extra[0] = visible.used;
    return status;
}

/* The part of the text that was used holds these ids, possibly with leading zeros. */
static void check_used(const char *text, int32_t len, int32_t used, const int32_t *id,
                       int32_t n, int32_t limit)
{
    int32_t at = 0;
    CHECK(used > 0 && used <= len && n > 0);
    for (int32_t i = 0; i < n; i++) {
        long long value = 0;
        const int32_t start = at;
        for (; at < used && text[at] >= '0' && text[at] <= '9'; at++)
            value = value < limit ? value * 10 + (text[at] - '0') : value;
        CHECK(at > start && value == id[i]);
        CHECK(at == used ? i == n - 1 : text[at++] == ',');
    }
    CHECK(at == used);
}

/* The reader stops before a token that is no id: it is not all digits, or is too large. */
static void check_stop(const char *text, int32_t len, int32_t used, int32_t limit)
{
    long long value = 0;
    int32_t at = used;
    for (; at < len && text[at] >= '0' && text[at] <= '9'; at++)
        value = value < limit ? value * 10 + (text[at] - '0') : value;
    CHECK(used == len || at == used || value >= limit || (at < len && text[at] != ','));
}

static void check_limit(const char *text, int32_t len, int32_t limit)
{
    const fuzz_reader reader = {read, limit, 1, {sizeof(int32_t), 0}};
    fuzz_reading r;
    if (!fuzz_read(&reader, text, len, &r))
        return;
    fuzz_check_list((const int32_t *)r.array[0].at, r.array[0].n, limit);
    check_used(text, len, r.extra[0], (const int32_t *)r.array[0].at, r.array[0].n, limit);
    check_stop(text, len, r.extra[0], limit);
    fuzz_end(&r);
}

static void check_text(const char *text, int32_t len)
{
    cpubind_visible none = {NULL, 0, 0, 0};
    check_limit(text, len, 0);
    check_limit(text, len, 8);
    check_limit(text, len, CPUBIND_MAX_DEVICES);
    CHECK(cpubind_visible_parse(text, len, 8, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_visible_parse(text, len, -1, &none, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(cpubind_visible_parse(text, len, CPUBIND_MAX_DEVICES + 1, &none, NULL) ==
          CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
