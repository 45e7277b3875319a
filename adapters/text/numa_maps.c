/* numa_maps.c - /proc/<pid>/numa_maps: bytes of a process by node
 * SPDX-License-Identifier: MIT
 *
 * Bytes to numbers. Pure: no I/O, no malloc, no errno, no locale. It must not take a part of a
 * file name for pages. The formats are those of the kernel's show_numa_map.
 *
 * GRAMMAR of /proc/<pid>/numa_maps
 *   lines    = *line
 *   line     = address " " policy *( " " word ) LF
 *   address  = 1*16HEXDIG
 *   policy   = letter *byte              lower case: "default", "bind:0-1", "prefer=static:3";
 *                                        neither "huge" nor a size
 *   word     = pages / size / most / "huge" / other
 *   pages    = "N" number "=" number     a node, and the pages on it; nodes ascend
 *   size     = "kernelpagesize_kB=" number           at most once; of all pages of the line
 *   most     = "mapmax=" number                      at most once; processes that map the page
 *                                                    of the line that most of them map
 *   other    = 1*byte                    any other word: "heap", "anon=3",
 *                                        "file=/a\040b", "(many):0-1" of "prefer (many):0-1"
 *   number   = "0" / ( "1".."9" *DIGIT )
 *   byte     = neither a blank, LF nor NUL
 *
 * There is one blank between two words and none in a word: the kernel prints a blank, TAB, LF
 * or "=" of a path as \040 and so on, and any other byte as it is, CR too. So no name of a file
 * looks like pages. The name of a policy may have a blank, and new policies are added: a policy
 * is skipped.
 */
#include "numa_maps.h"

#include "cursor.h"

/* Sums stop at the top. */
static int64_t add_up(int64_t sum, int64_t more)
{
    return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

/*   line     = address " " policy ...     moves past the policy */
static void read_start(cursor *c, cpubind_numa_line *out)
{
    cursor policy;
    out->start = cursor_hex(c, UINT64_MAX);
    cursor_need(c, " ", "a blank is missing after the address");
    policy = cursor_cut(c, ' ');
    if (cursor_next(&policy) < 'a' || cursor_next(&policy) > 'z' ||
        cursor_starts(&policy, "kernelpagesize_kB=") || cursor_is(policy, "huge"))
        (void)cursor_bad(&policy, "a line names no policy");
}

/* Reads what a line says of all its pages; *page_kb: the size of one. */
static void read_words(cursor words, int32_t *page_kb, cpubind_numa_line *out)
{
    int32_t kb = 0;
    while (cursor_left(&words)) {
        cursor word = cursor_cut(&words, ' ');
        int32_t *number = NULL;
        if (word.at == word.end)
            (void)cursor_bad(&word, "a word is missing");
        else if (cursor_is(word, "huge"))
            out->is_huge = 1;
        else if (cursor_takes(&word, "kernelpagesize_kB="))
            number = &kb;
        else if (cursor_takes(&word, "mapmax="))
            number = &out->mapmax;
        if (!number)
            continue;
        if (*number)
            (void)cursor_bad(&word, "the page size or mapmax occurs twice");
        *number = (int32_t)cursor_whole(word, INT32_MAX - 1);
        if (kb > CPUBIND_NUMA_MAPS_MAX_PAGE_KB || *number == 0)
            (void)cursor_bad(&word, "no page has this size, or is mapped by so many");
    }
    /* An entry of a page table has 8 bytes, and the usual huge page replaces a page of them. */
    *page_kb = kb ? kb : out->is_huge ? *page_kb * (*page_kb * 1024 / 8) : *page_kb;
    out->mapmax = out->mapmax ? out->mapmax : 1;
}

/*   pages    = "N" number "=" number     nodes ascend */
static void add_pages(cursor words, const cpubind_numa_nodes *to, cpubind_numa_line *out)
{
    int32_t last = -1;
    while (cursor_left(&words)) {
        cursor word = cursor_cut(&words, ' ');
        if (!cursor_takes(&word, "N") || !cursor_is_digit((char)cursor_next(&word)))
            continue;
        const int32_t start = word.at;
        const int32_t node = (int32_t)cursor_number(&word, (uint64_t)to->n - 1);
        if (node <= last)
            (void)cursor_fail(&word, CPUBIND_TEXT_ERR_ORDER, start, "the nodes do not ascend");
        last = node;
        cursor_need(&word, "=", "a node has no number of pages");
        const int64_t count = (int64_t)cursor_whole(word, INT64_MAX);
        const int64_t bytes =
            count > INT64_MAX / out->page_bytes ? INT64_MAX : count * out->page_bytes;
        if (!cursor_ok(&words))
            return;
        to->bytes[node] = add_up(to->bytes[node], bytes);
        out->total = add_up(out->total, bytes);
        out->home += node == to->home ? bytes : 0;
    }
}

cpubind_text_status cpubind_numa_maps_line_parse(const char *text, int32_t len, int32_t page_kb,
                                                 const cpubind_numa_nodes *to,
                                                 cpubind_numa_line *out,
                                                 cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault,
                           len > 0 && page_kb >= 1 &&
                               page_kb <= CPUBIND_NUMA_MAPS_MAX_BASE_KB && to && out);
    cursor line = c;
    cpubind_numa_line read = {0};
    if (cursor_whole_line(&c, &line)) {
        cursor_no_nul(line);
        read_start(&line, &read);
        read_words(line, &page_kb, &read);
        read.page_bytes = (int64_t)page_kb * 1024;
        read.len = c.at;
        add_pages(line, to, &read);
    }
    if (cursor_ok(&c))
        *out = read;
    return of.status;
}
