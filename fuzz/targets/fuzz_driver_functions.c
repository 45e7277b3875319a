/* fuzz_driver_functions.c - fuzz target: read devdrv_sysfs_bdf_to_devid of a PCI function
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/ascend/driver_files.c.
 */
#include "../fuzz_driver.h"

#include "../../adapters/ascend/driver_files.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_driver_functions list = {(cpubind_driver_function *)r->array[0].at,
                                     r->array[0].cap,
                                     r->array[0].n,
                                     {r->extra[0], r->extra[1]}};
    const cpubind_text_status status = cpubind_driver_parse_functions(text, len, &list, fault);
    (void)limit;
    r->array[0].n = list.n;
    r->extra[0] = list.unknown.at;
    r->extra[1] = list.unknown.len;
    return status;
}

/* Each row is a line of the text, in its order; no udevid occurs twice. */
static void check_rows(const char *text, int32_t len, const cpubind_driver_function *row,
                       int32_t n)
{
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        CHECK(row[i].udevid >= 0 && row[i].udevid < CPUBIND_MAX_DEVICES);
        CHECK(row[i].pci.domain >= -1 && row[i].pci.bus >= 0 && row[i].pci.bus <= 0xff);
        CHECK(row[i].pci.device >= 0 && row[i].pci.device <= 0x1f);
        CHECK(row[i].pci.function >= 0 && row[i].pci.function <= 7);
        CHECK(fuzz_find_row(text, len, &at, row[i].udevid, row[i].udevid));
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(row[i].udevid != row[k].udevid);
    }
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 1, {sizeof(cpubind_driver_function), 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const cpubind_slice unknown = {r.extra[0], r.extra[1]};
        CHECK(len == 0 || text[len - 1] == '\n');
        check_rows(text, len, (const cpubind_driver_function *)r.array[0].at, r.array[0].n);
        fuzz_check_name(text, len, unknown);
        fuzz_end(&r);
    }
    CHECK(cpubind_driver_parse_functions(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
