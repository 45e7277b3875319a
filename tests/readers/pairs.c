/* pairs.c - rows that need two texts, and those of what is written or kept
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include <stdio.h>

#include "../../adapters/ascend/doctor_inputs.h"
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/host_file.h"
#include "../../adapters/text/prometheus.h"
#include "readers.h"

/* `read common LIST`: how many numbers the text, a list, has in common with the arguments. */
static void read_common(reading *r)
{
    static int32_t cpu[2][CPUBIND_MAX_CPUS];
    cpubind_int_list a = {cpu[0], CPUBIND_MAX_CPUS, 0}, b = {cpu[1], CPUBIND_MAX_CPUS, 0};
    int32_t both = 0, at = 0;
    if (cpubind_cpulist_parse(r->text, r->len, CPUBIND_MAX_CPUS, &a, NULL) != CPUBIND_TEXT_OK ||
        cpubind_cpulist_parse(r->args, (int32_t)strlen(r->args), CPUBIND_MAX_CPUS, &b, NULL) !=
            CPUBIND_TEXT_OK)
        return;
    for (int32_t i = 0; i < a.n; i++) {
        int has = 0;
        for (int32_t k = 0; k < b.n; k++)
            has |= a.out[i] == b.out[k];
        CHECK(cpubind_list_has(b.out, b.n, a.out[i], &at) == has);
        both += has;
    }
    CHECK(cpubind_list_common(a.out, a.n, b.out, b.n) == both);
    CHECK(cpubind_list_common(b.out, b.n, a.out, a.n) == both);
    tell(r, "%d\n", both);
}

/* `read place OFFSET`: the line and the column of a byte, from 1. */
static void read_place(reading *r)
{
    const int32_t offset = number_arg(&r->args, 0);
    const cpubind_position place = cpubind_text_place(r->text, r->len, offset);
    tell(r, "line %d, column %d\n", place.line, place.column);
    CHECK(place.line >= 1 && place.column >= 1 && place.line + place.column <= r->len + 2);
    CHECK(cpubind_text_place(NULL, 0, offset).line == 1);
}

/* `read host_text NAME`: the file of a host that has the text in a file of this name. */
static void read_host_text(reading *r)
{
    const cpubind_host_part part = {r->args, r->text, r->len};
    const int64_t size = cpubind_host_file_write(&part, 1, NULL);
    char *written = (char *)filled((size_t)size, r->fill);
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    int32_t at = 0;
    CHECK(cpubind_host_file_write(&part, 1, written) == size);
    tell(r, "%.*s", (int)size, written);
    CHECK(cpubind_host_file_next(written, (int32_t)size, &at, &entry, NULL) == CPUBIND_TEXT_OK);
    CHECK(strcmp(written + entry.name.at, r->args) == 0 && entry.data.len == r->len);
    CHECK(is_same(written + entry.data.at, r->text, (size_t)r->len));
    free(written);
}

/* `read host_order NAME`: whether a file of this name comes before, with, or after another. */
static void read_host_order(reading *r)
{
    char *name = (char *)filled((size_t)r->len + 1, 0);
    memcpy(name, r->text, (size_t)r->len);
    const int order = cpubind_host_file_order(r->args, name);
    const int back = cpubind_host_file_order(name, r->args);
    CHECK((order < 0) == (back > 0) && (order > 0) == (back < 0));
    tell(r, "%s\n", order < 0 ? "before" : order > 0 ? "after" : "the same");
    free(name);
}

/* `read figures NAME`: what happened from a page to the one behind a line "--". */
static void read_figures(reading *r)
{
    cpubind_prometheus_reading p[2];
    cpubind_prometheus_block block;
    int32_t cut = 0;
    memset(p, r->fill, sizeof p);
    p[0].name = p[1].name = r->args;
    while (cut + 3 <= r->len && memcmp(r->text + cut, "--\n", 3) != 0)
        cut++;
    if (cut + 3 > r->len ||
        cpubind_prometheus_read(r->text, cut, &p[0], 1, NULL) != CPUBIND_TEXT_OK ||
        cpubind_prometheus_read(r->text + cut + 3, r->len - cut - 3, &p[1], 1, NULL) !=
            CPUBIND_TEXT_OK)
        return;
    block = cpubind_prometheus_between(&p[0], &p[1]);
    if (block.problem)
        tell(r, "%s\n", block.problem);
    else if (p[1].n_bucket > 0)
        tell(r, "%.12g, mean %.12g, p50 %s%.12g, p99 %s%.12g\n", block.count, block.mean,
             tell_if(block.p50_is_least, ">="), block.p50, tell_if(block.p99_is_least, ">="),
             block.p99);
    else
        tell(r, "%.12g\n", block.count);
}

/* `read distill NAME`: what a capture keeps of an input that doctor reads. */
static void read_distilled(reading *r)
{
    char *kept = exact_copy(r->text, (size_t)r->len);
    const int32_t n = cpubind_doctor_input_distill(r->args, kept, r->len);
    CHECK(n >= 0 && n <= r->len);
    tell(r, "%d bytes: \"", n);
    tell_bytes(r, kept, n);
    tell(r, "\"\n");
    CHECK(cpubind_doctor_input_distill(r->args, kept, n) <= n);
    free(kept);
}

static const reader rows[] = {
    {"common", read_common, NULL, "cpulist", "list", 256},
    {"place", read_place, "0|5", "env", "proc", 64},
    {"host_text", read_host_text, "env|a b", "env", "host_file", 256},
    {"host_order", read_host_order, NULL, "input_name", "host_file", 64},
    {"distill", read_distilled, NULL, "env", "proc", 512},
    {"figures", read_figures, NULL, "prometheus", "prometheus", 2048},
};

READERS(rows)
