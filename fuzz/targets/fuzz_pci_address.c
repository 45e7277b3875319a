/* fuzz_pci_address.c - fuzz target: read the address of a PCI function
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/text/pci_address.h.
 */
#include "../fuzz.h"

#include "../../adapters/text/pci_address.h"

static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_pci_address pci;
    memset(&pci, FUZZ_FILL, sizeof pci);
    const cpubind_text_status status = cpubind_pci_parse(text, len, &pci, fault);
    (void)limit;
    if (status != CPUBIND_TEXT_OK) {
        CHECK(fuzz_holds_only(&pci, sizeof pci, FUZZ_FILL));
        return status;
    }
    r->extra[0] = pci.domain;
    r->extra[1] = pci.bus << 8 | pci.device << 3 | pci.function;
    return status;
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {read, 0, 0, {0, 0}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const int32_t rest = r.extra[1];
        const cpubind_pci_address pci = {r.extra[0], rest >> 8, rest >> 3 & 31, rest & 7};
        cpubind_pci_address again;
        char out[CPUBIND_PCI_ADDRESS_MAX];
        const int32_t n = cpubind_pci_format(out, &pci);
        CHECK(pci.domain >= 0 && rest >= 0 && rest <= 0xffff);
        CHECK(n == (int32_t)strlen(out) && n < CPUBIND_PCI_ADDRESS_MAX);
        CHECK(cpubind_pci_parse(out, n, &again, NULL) == CPUBIND_TEXT_OK);
        CHECK(cpubind_pci_compare(&pci, &again) == 0);
        fuzz_end(&r);
    }
    CHECK(cpubind_pci_parse(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
