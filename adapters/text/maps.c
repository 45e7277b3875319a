/* maps.c - /proc/<pid>/maps, smaps, pagemap: the mappings of a process, and its pages
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. It must not take a part of a
 * file name for an address. The formats are those of the kernel's show_map_vma, show_smap and
 * pagemap_read (Documentation/filesystems/proc.rst, admin-guide/mm/pagemap.rst).
 *
 * GRAMMAR of a line
 *   line     = range / flags / other
 *   range    = address "-" address " " *byte LF       start and end, start < end
 *   flags    = "VmFlags:" *( " " flag ) [ " " ] LF    "lo": locked
 *   other    = key ":" *byte LF                       "Rss:         4 kB"
 *   address  = 1*16HEXDIG
 *   flag     = 2letter
 *   key      = letter *( letter / DIGIT / "_" )
 *   byte     = neither LF nor NUL                     a path may have any other
 *
 * A key never looks like a range: a range has a "-" after its digits, a key has none.
 *
 * ENTRY of pagemap, 64 bits
 *   0-54     the frame of a page that is present; 0 for a user who may not know it
 *   56       the process alone maps the page
 *   63       the page is present
 */
#include "maps.h"

#include "scan.h"

enum { ADDRESS_DIGITS = 16 };

#define BIT_PRESENT (UINT64_C(1) << 63)
#define BIT_OWN     (UINT64_C(1) << 56)
#define FRAME_BITS  ((UINT64_C(1) << 55) - 1)

static const char flags_key[] = "VmFlags:";

/*   address  = 1*16HEXDIG           at *at; *at moves past it */
static cpubind_text_status read_address(const scan_text *in, int32_t *at, int32_t end,
                                        uint64_t *out)
{
    const int32_t start = *at;
    uint64_t value = 0;

    for (; *at < end && scan_hex_value(in->text[*at]) >= 0; ++*at)
        value = value << 4 | (uint64_t)scan_hex_value(in->text[*at]);
    if (*at == start || *at - start > ADDRESS_DIGITS)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "an address is missing");
    *out = value;
    return CPUBIND_TEXT_OK;
}

/*   range    = address "-" address " " *byte LF */
static cpubind_text_status read_range(const scan_text *in, scan_run run, cpubind_maps_line *out)
{
    int32_t at = run.at;
    cpubind_text_status status = read_address(in, &at, run.end, &out->start);

    if (status == CPUBIND_TEXT_OK && (at == run.end || in->text[at] != '-'))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "an address has no end");
    at++;
    if (status == CPUBIND_TEXT_OK)
        status = read_address(in, &at, run.end, &out->end);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at == run.end || in->text[at] != ' ')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at,
                         "a blank is missing after the addresses");
    if (out->end <= out->start)
        return scan_fail(in, CPUBIND_TEXT_ERR_ORDER, run.at, "a mapping ends before it starts");
    out->kind = CPUBIND_MAPS_RANGE;
    return CPUBIND_TEXT_OK;
}

/*   flags    = "VmFlags:" *( " " flag ) [ " " ] LF */
static cpubind_text_status read_flags(const scan_text *in, scan_run run, cpubind_maps_line *out)
{
    int32_t at = run.at + (int32_t)(sizeof flags_key - 1);

    out->kind = CPUBIND_MAPS_FLAGS;
    for (; run.end - at >= 3 && in->text[at] == ' '; at += 3) {
        if (!scan_is_letter(in->text[at + 1]) || !scan_is_letter(in->text[at + 2]))
            return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at + 1, "a flag is not two letters");
        if (in->text[at + 1] == 'l' && in->text[at + 2] == 'o')
            out->is_locked = 1;
    }
    if (at < run.end && in->text[at] == ' ')
        at++;
    if (at < run.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a flag is not two letters");
    return CPUBIND_TEXT_OK;
}

/* The length of the key at the start of a line; 0 without a ":" after it. */
static int32_t key_length(const scan_text *in, scan_run run)
{
    int32_t at = run.at;

    while (at < run.end && (scan_is_letter(in->text[at]) || in->text[at] == '_' ||
                            (at > run.at && scan_is_digit(in->text[at]))))
        at++;
    return at < run.end && in->text[at] == ':' ? at - run.at : 0;
}

cpubind_text_status cpubind_maps_line_parse(const char *text, int32_t len,
                                            cpubind_maps_line *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const char *feed;
    cpubind_maps_line line = {CPUBIND_MAPS_OTHER, 0, 0, 0, 0};
    cpubind_text_status status = CPUBIND_TEXT_OK;
    scan_run run = {0, 0};

    if (!scan_is_text(text, len) || len == 0 || !out)
        return scan_fail_arg(fault);
    feed = (const char *)memchr(text, '\n', (size_t)len);
    if (!feed)
        return scan_fail_cut(&in);
    run.end = (int32_t)(feed - text);
    if (memchr(text, '\0', (size_t)run.end))
        return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX,
                         (int32_t)((const char *)memchr(text, '\0', (size_t)run.end) - text),
                         "a line holds a NUL");
    line.len = run.end + 1;
    if (SCAN_STARTS(&in, run, flags_key))
        status = read_flags(&in, run, &line);
    else if (key_length(&in, run) == 0)
        status = read_range(&in, run, &line);
    if (status == CPUBIND_TEXT_OK)
        *out = line;
    return status;
}

/* == pagemap ================================================================ */

cpubind_page cpubind_pagemap_entry(const char *data, int32_t index)
{
    cpubind_page page = {0, 0, 0};
    uint64_t entry;

    memcpy(&entry, data + (size_t)index * CPUBIND_PAGEMAP_ENTRY, sizeof entry);
    if (!(entry & BIT_PRESENT))
        return page;
    page.is_present = 1;
    page.is_own = (entry & BIT_OWN) != 0;
    page.frame = entry & FRAME_BITS;
    return page;
}

int cpubind_pagemap_may_be_huge(const char *data, int32_t index, int32_t n)
{
    const uint64_t first = cpubind_pagemap_entry(data, index).frame;

    if (first % (uint64_t)n != 0)
        return 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_page page = cpubind_pagemap_entry(data, index + i);

        if (!page.is_present || page.frame != (first ? first + (uint64_t)i : 0))
            return 0;
    }
    return 1;
}
