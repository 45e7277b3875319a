/* pci_address.c - addresses of PCI functions, as Linux and the tools of vendors print them
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in pci_address.h.
 */
#include "pci_address.h"

#include "scan.h"

/* How many colons a text has. */
static int32_t count_colons(const char *text, int32_t len)
{
    int32_t n = 0;
    for (int32_t i = 0; i < len; i++)
        n += text[i] == ':';
    return n;
}

cpubind_text_status cpubind_pci_parse(const char *text, int32_t len, cpubind_pci_address *out,
                                      cpubind_text_fault *fault)
{
    static const struct {
        int32_t max;
        char before;
    } part[] = {{INT32_MAX, 0}, {0xff, ':'}, {0x1f, ':'}, {7, '.'}};
    const scan_text in = {text, len, fault};
    int32_t value[4] = {0, 0, 0, 0};
    int32_t at = 0, first;
    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    first = count_colons(text, len) == 1;
    for (int32_t i = first; i < 4; i++) {
        cpubind_text_status status;
        if (i > first && (at == len || text[at] != part[i].before))
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at, "the text is no PCI address");
        at += i > first;
        status = scan_hex(&in, &at, len, part[i].max, &value[i]);
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    if (at != len)
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at,
                         "a byte does not belong to a PCI address");
    out->domain = value[0];
    out->bus = value[1];
    out->device = value[2];
    out->function = value[3];
    return CPUBIND_TEXT_OK;
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
