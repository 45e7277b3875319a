/* pci_address.h - addresses of PCI functions, as Linux and the tools of vendors print them
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   address = [ domain ":" ] bus ":" device "." function     hexadecimal, either case
 *   domain  = 1*8HEXDIG      below 2^31; 0 when it is not written
 *   bus = 1*HEXDIG           0 .. ff
 *   device = 1*HEXDIG        0 .. 1f
 *   function = 1*HEXDIG      0 .. 7
 * Linux writes four digits of a domain or more, and two of a bus and a device.
 */
#ifndef CPUBIND_TEXT_PCI_ADDRESS_H
#define CPUBIND_TEXT_PCI_ADDRESS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The address of a PCI function; domain -1: it is not known. */
typedef struct cpubind_pci_address {
    int32_t domain, bus, device, function;
} cpubind_pci_address;

/* Reads an address.
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE
 *   cost    O(len) */
cpubind_text_status cpubind_pci_parse(const char *text, int32_t len, cpubind_pci_address *out,
                                      cpubind_text_fault *fault);

/* Room for an address with its NUL: 8 digits of a domain, then ":c1:00.0". */
#define CPUBIND_PCI_ADDRESS_MAX 17

/* Writes an address as /sys names the function, "0000:c1:00.0", ended by NUL.
 *   in      domain, bus, device, function >= 0
 *   out     out[0 .. CPUBIND_PCI_ADDRESS_MAX - 1]; the length is returned */
int32_t cpubind_pci_format(char *out, const cpubind_pci_address *pci);

/* Orders two addresses: below 0, 0, above 0. */
static inline int32_t cpubind_pci_compare(const cpubind_pci_address *a,
                                          const cpubind_pci_address *b)
{
    if (a->domain != b->domain)
        return a->domain < b->domain ? -1 : 1;
    return (a->bus - b->bus) * 256 + (a->device - b->device) * 8 + (a->function - b->function);
}

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_PCI_ADDRESS_H */
