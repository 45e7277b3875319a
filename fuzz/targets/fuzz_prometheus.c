/* fuzz_prometheus.c - fuzz target: read one name of a page of figures, and compare two readings
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name, as cpubind_prometheus_reading has it; the rest is
 * the page. The format is in adapters/text/prometheus.c.
 */
#include "../fuzz.h"

#include "../../adapters/text/prometheus.h"

/* A number is that of the C library, which reads hexadecimal ones and more words as well. */
static void check_number(const char *text)
{
    double value = -7;
    int32_t len = -7;
    char *end;
    const double right = strtod(text, &end);
    const cpubind_text_status status =
        cpubind_decimal_parse(text, (int32_t)strlen(text), &value, &len, NULL);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(value == -7 && len == -7);
        return;
    }
    CHECK(len > 0 && len <= end - text);
    if (len == end - text && right == right && right - right == 0) {
        const double off = value > right ? value - right : right - value;
        CHECK(off <= (right < 0 ? -right : right) * 1e-14 + 5e-324);
    }
}

static void check_reading(const cpubind_prometheus_reading *r)
{
    CHECK(r->n_bucket >= 0 && r->n_bucket <= CPUBIND_PROMETHEUS_BUCKETS);
    CHECK(r->kind != CPUBIND_PROMETHEUS_ABSENT || (r->n_series == 0 && r->n_bucket == 0));
    if (r->problem)
        return;
    CHECK(r->kind != CPUBIND_PROMETHEUS_HISTOGRAM || r->n_bucket > 0);
    CHECK(r->kind != CPUBIND_PROMETHEUS_COUNTER || r->value >= 0);
    for (int32_t i = 0; i < r->n_bucket; i++) {
        CHECK(r->bucket[i].series == r->bucket[0].series && r->bucket[i].count >= 0);
        CHECK(i == 0 || (r->bucket[i - 1].bound < r->bucket[i].bound &&
                         r->bucket[i - 1].count <= r->bucket[i].count));
    }
}

/* The block from a program that has observed nothing to this reading. */
static void check_block(const cpubind_prometheus_reading *after)
{
    cpubind_prometheus_reading before = *after;
    cpubind_prometheus_block block = cpubind_prometheus_between(after, after);
    CHECK(block.problem || block.count == 0);
    before.value = before.sum = 0;
    for (int32_t i = 0; i < before.n_bucket; i++)
        before.bucket[i].count = 0;
    block = cpubind_prometheus_between(&before, after);
    if (block.problem || after->n_bucket == 0)
        return;
    CHECK(block.count == after->value && block.count > 0);
    CHECK(block.p50 <= block.p99 && block.p50_is_least <= block.p99_is_least);
    CHECK(block.p99 <= after->bucket[after->n_bucket - 2].bound);
    block = cpubind_prometheus_between(after, &before);
    CHECK(block.problem);
}

static void check_page(const char *text, int32_t len, const char *name)
{
    cpubind_prometheus_reading r[2];
    cpubind_text_fault fault = {-7, NULL};
    memset(r, FUZZ_FILL, sizeof r);
    r[0].name = r[1].name = name;
    check_number(name);
    const cpubind_text_status status = cpubind_prometheus_read(text, len, r, 2, &fault);
    CHECK(cpubind_prometheus_read(text, len, NULL, 1, NULL) == CPUBIND_TEXT_ERR_ARG);
    if (cpubind_prometheus_name_check(name, NULL) != CPUBIND_TEXT_OK) {
        CHECK(status == CPUBIND_TEXT_ERR_ARG);
        return;
    }
    CHECK(cpubind_prometheus_read(text, len, NULL, 0, NULL) == status);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(fuzz_holds_only(&r[0].kind, sizeof r[0].kind, FUZZ_FILL));
        fuzz_check_fault(&fault, len);
        return;
    }
    CHECK(fault.offset == -7 && (len == 0 || text[len - 1] == '\n'));
    CHECK(r[0].kind == r[1].kind && r[0].n_series == r[1].n_series);
    check_reading(&r[0]);
    check_block(&r[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_page);
}
