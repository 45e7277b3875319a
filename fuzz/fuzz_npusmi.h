/* fuzz_npusmi.h - a law that the targets of npu-smi share
 * SPDX-License-Identifier: MIT
 *
 * The promises of the readers are in adapters/ascend/npusmi.h.
 */
#ifndef CPUBIND_FUZZ_NPUSMI_H
#define CPUBIND_FUZZ_NPUSMI_H

#include "../adapters/ascend/npusmi.h"
#include "fuzz.h"

/* A PCI address has all its numbers, each in its range, or none. */
static inline void fuzz_check_pci(const cpubind_pci_address *pci)
{
    if (pci->domain < 0)
        CHECK(pci->domain == -1 && pci->bus == -1 && pci->device == -1 && pci->function == -1);
    else
        CHECK(pci->bus >= 0 && pci->bus < 256 && pci->device >= 0 && pci->device < 32 &&
              pci->function >= 0 && pci->function < 8);
}

#endif /* CPUBIND_FUZZ_NPUSMI_H */
