/* fuzz_npusmi_topo.c - fuzz target: parse the output of `npu-smi info -t topo`
 * SPDX-License-Identifier: MIT
 *
 * The promises of the reader are in adapters/ascend/npusmi.h.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/npusmi.h"

/* extra: label, has_affinity, offset and length of unknown. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_npusmi_topo topo;
    cpubind_text_status status;
    (void)limit;
    topo.row = (cpubind_npusmi_affinity *)r->array[0].at;
    topo.cap_row = r->array[0].cap;
    topo.cpu = (int32_t *)r->array[1].at;
    topo.cap_cpu = r->array[1].cap;
    topo.n_row = r->array[0].n;
    topo.n_cpu = r->array[1].n;
    memcpy(&topo.label, &r->extra[0], sizeof topo.label);
    topo.has_affinity = r->extra[1];
    topo.unknown.at = r->extra[2];
    topo.unknown.len = r->extra[3];
    status = cpubind_npusmi_parse_topo(text, len, &topo, fault);
    r->array[0].n = topo.n_row;
    r->array[1].n = topo.n_cpu;
    memcpy(&r->extra[0], &topo.label, sizeof topo.label);
    r->extra[1] = topo.has_affinity;
    r->extra[2] = topo.unknown.at;
    r->extra[3] = topo.unknown.len;
    return status;
}

static void check_rows(const fuzz_reading *r)
{
    const cpubind_npusmi_affinity *row = (const cpubind_npusmi_affinity *)r->array[0].at;
    const int32_t *cpu = (const int32_t *)r->array[1].at;
    int32_t next = 0;
    CHECK(r->array[0].n >= 1);
    CHECK(r->extra[0] == CPUBIND_NPUSMI_LABEL_CARD || r->extra[0] == CPUBIND_NPUSMI_LABEL_PHY);
    CHECK(r->extra[1] == 0 || r->extra[1] == 1);
    for (int32_t i = 0; i < r->array[0].n; i++) {
        CHECK(row[i].id >= 0 && row[i].first == next && row[i].count >= 0);
        CHECK(r->extra[1] || row[i].count == 0);
        next += row[i].count;
        CHECK(next <= r->array[1].n);
        if (row[i].count > 0)
            fuzz_check_list(cpu + row[i].first, row[i].count, CPUBIND_MAX_CPUS);
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(row[i].id != row[k].id);
    }
    CHECK(next == r->array[1].n);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 2, {sizeof(cpubind_npusmi_affinity), sizeof(int32_t)}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const cpubind_slice unknown = {r.extra[2], r.extra[3]};
        check_rows(&r);
        fuzz_check_name(text, len, unknown);
        fuzz_end(&r);
    }
    CHECK(cpubind_npusmi_parse_topo(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
