/* pci_address.c - addresses of PCI functions, as Linux and the tools of vendors print them
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in pci_address.h.
 */
#include "pci_address.h"

#include "cursor.h"

cpubind_pci_address cpubind_priv_cursor_pci(cursor c)
{
    static const struct {
        int32_t max;
        const char *after;
    } part[] = {{INT32_MAX, ":"}, {0xff, ":"}, {0x1f, "."}, {7, ""}};
    int32_t value[4] = {-1, -1, -1, -1};
    cursor bus = c;
    (void)cursor_cut(&bus, ':');
    const cursor rest = cursor_cut(&bus, ':');
    for (int i = rest.end == c.end; i < 4; i++) { /* one colon at most: it has no domain */
        value[i] = (int32_t)cursor_hex(&c, (uint64_t)part[i].max);
        cursor_need(&c, part[i].after, "the text is no PCI address");
    }
    cursor_end(&c, "a byte does not belong to a PCI address");
    return (cpubind_pci_address){value[0], value[1], value[2], value[3]};
}

cpubind_text_status cpubind_pci_parse(const char *text, int32_t len, cpubind_pci_address *out,
                                      cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor c = cursor_open(&of, text, len, fault, out != NULL);
    cpubind_pci_address pci = cpubind_priv_cursor_pci(c);
    if (pci.domain < 0)
        pci.domain = 0;
    if (cursor_ok(&c))
        *out = pci;
    return of.status;
}

/* Writes a value in at least `digits` hexadecimal digits; returns the end. */
static char *write_hex(char *out, int32_t value, int32_t digits)
{
    while (digits < 8 && (uint32_t)value >> (4 * digits) != 0)
        digits++;
    while (digits-- > 0)
        *out++ = "0123456789abcdef"[(uint32_t)value >> (4 * digits) & 15u];
    return out;
}

int32_t cpubind_pci_format(char *out, const cpubind_pci_address *pci)
{
    char *end = write_hex(out, pci->domain, 4);
    *end++ = ':';
    end = write_hex(end, pci->bus, 2);
    *end++ = ':';
    end = write_hex(end, pci->device, 2);
    *end++ = '.';
    end = write_hex(end, pci->function, 1);
    *end = '\0';
    return (int32_t)(end - out);
}
