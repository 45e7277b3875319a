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

#include "cursor.h"

#define BIT_PRESENT (UINT64_C(1) << 63)
#define BIT_OWN     (UINT64_C(1) << 56)
#define FRAME_BITS  ((UINT64_C(1) << 55) - 1)

/*   range    = address "-" address " " *byte LF */
static void read_range(cursor line, cpubind_maps_line *out)
{
    const int32_t start = line.at;
    out->kind = CPUBIND_MAPS_RANGE;
    out->start = cursor_hex(&line, UINT64_MAX);
    cursor_need(&line, "-", "an address has no end");
    out->end = cursor_hex(&line, UINT64_MAX);
    cursor_need(&line, " ", "a blank is missing after the addresses");
    if (out->end <= out->start)
        (void)cursor_fail(&line, CPUBIND_TEXT_ERR_ORDER, start,
                          "a mapping ends before it starts");
}

/*   flags    = "VmFlags:" *( " " flag ) [ " " ] LF */
static void read_flags(cursor line, cpubind_maps_line *out)
{
    out->kind = CPUBIND_MAPS_FLAGS;
    while (cursor_takes(&line, " ") && cursor_left(&line)) {
        const cursor all = cursor_span(&line, cursor_is_letter);
        if (cursor_len(&all) != 2)
            (void)cursor_bad(&all, "a flag is not two letters");
        out->is_locked |= cursor_is(all, "lo");
    }
    cursor_end(&line, "a flag is not two letters");
}

static int is_key(char c)
{
    return cursor_is_letter(c) || cursor_is_digit(c) || c == '_';
}

cpubind_text_status cpubind_maps_line_parse(const char *text, int32_t len,
                                            cpubind_maps_line *out, cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, len > 0 && out), line = c;
    cpubind_maps_line read = {CPUBIND_MAPS_OTHER, 0, 0, 0, 0};
    if (cursor_whole_line(&c, &line)) {
        cursor_no_nul(line);
        cursor key = line;
        const int is_word = !cursor_is_digit((char)cursor_next(&key));
        (void)cursor_span(&key, is_key);
        if (cursor_takes(&line, "VmFlags:"))
            read_flags(line, &read);
        else if (!is_word || key.at == line.at || cursor_next(&key) != ':')
            read_range(line, &read);
    }
    read.len = c.at;
    if (cursor_ok(&c))
        *out = read;
    return of.status;
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
