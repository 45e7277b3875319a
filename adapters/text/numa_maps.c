/* numa_maps.c - /proc/<pid>/numa_maps: bytes of a process by node; other counters
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

#include "scan.h"

enum { ADDRESS_DIGITS = 16 };

/* The pages of a line. */
typedef struct line {
    int32_t page_kb; /* 0: not in the line */
    int32_t mapmax;  /* 0: not in the line */
    int32_t is_huge;
} line;

static const char size_key[] = "kernelpagesize_kB=";
static const char most_key[] = "mapmax=";

/* Reads a number up to INT64_MAX at *at; *at moves past it. */
static cpubind_text_status read_count(const scan_text *in, int32_t *at, int32_t end,
                                      int64_t *out)
{
    const int32_t start = *at;
    int32_t i = start;
    int64_t value = 0;

    for (; i < end && scan_is_digit(in->text[i]); i++) {
        const int64_t digit = in->text[i] - '0';

        if (value > (INT64_MAX - digit) / 10)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
        value = value * 10 + digit;
    }
    if (i == start)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number is missing");
    if (i > start + 1 && in->text[start] == '0')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number has a leading zero");
    if (i < end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, i, "a byte does not belong to a number");
    *out = value;
    *at = i;
    return CPUBIND_TEXT_OK;
}

/* == Words ================================================================== */

/* Steps to the next word of a line, which one blank precedes; returns 0 at the end. */
static int next_word(const scan_text *in, scan_run run, scan_run *word)
{
    const char *blank;

    if (word->end >= run.end)
        return 0;
    word->at = word->end + 1;
    blank = (const char *)memchr(in->text + word->at, ' ', (size_t)(run.end - word->at));
    word->end = blank ? (int32_t)(blank - in->text) : run.end;
    return 1;
}

static int is_pages(const scan_text *in, scan_run word)
{
    return word.end - word.at >= 2 && in->text[word.at] == 'N' &&
           scan_is_digit(in->text[word.at + 1]);
}

/*   pages    = "N" number "=" number */
static cpubind_text_status read_pages(const scan_text *in, scan_run word, int32_t n_node,
                                      int32_t *node, int64_t *count)
{
    int32_t at = word.at + 1;
    const cpubind_text_status status = scan_number(in, &at, word.end, n_node - 1, node);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at == word.end || in->text[at] != '=')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a node has no number of pages");
    at++;
    return read_count(in, &at, word.end, count);
}

/*   size     = "kernelpagesize_kB=" number */
static cpubind_text_status read_size(const scan_text *in, scan_run word, line *said)
{
    const scan_run number = {word.at + (int32_t)(sizeof size_key - 1), word.end};
    int32_t page_kb = 0;
    cpubind_text_status status;

    if (said->page_kb)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at, "the page size occurs twice");
    status = scan_whole_number(in, number, CPUBIND_NUMA_MAPS_MAX_PAGE_KB, &page_kb);
    if (status == CPUBIND_TEXT_OK && page_kb == 0)
        status = scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, number.at, "the page size is 0");
    said->page_kb = page_kb;
    return status;
}

/*   most     = "mapmax=" number */
static cpubind_text_status read_most(const scan_text *in, scan_run word, line *said)
{
    const scan_run number = {word.at + (int32_t)(sizeof most_key - 1), word.end};

    if (said->mapmax)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at, "mapmax occurs twice");
    return scan_whole_number(in, number, INT32_MAX - 1, &said->mapmax);
}

/* == Lines ================================================================== */

/*   line     = address " " policy ...     the end of the policy */
static cpubind_text_status read_start(const scan_text *in, scan_run run, scan_run *policy)
{
    int32_t at = run.at;

    while (at < run.end && scan_hex_value(in->text[at]) >= 0)
        at++;
    if (at == run.at || at - run.at > ADDRESS_DIGITS)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at,
                         "a line does not start with an address");
    if (at == run.end || in->text[at] != ' ')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at,
                         "a blank is missing after the address");
    policy->end = at;
    (void)next_word(in, run, policy);
    if (scan_is_empty(*policy) || in->text[policy->at] < 'a' || in->text[policy->at] > 'z' ||
        SCAN_STARTS(in, *policy, size_key) || SCAN_IS(in, *policy, "huge"))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at + 1, "a line names no policy");
    return CPUBIND_TEXT_OK;
}

static cpubind_text_status check_word(const scan_text *in, scan_run word, int32_t n_node,
                                      int32_t *last, line *said)
{
    int32_t node = 0;
    int64_t count = 0;
    cpubind_text_status status = CPUBIND_TEXT_OK;

    if (scan_is_empty(word))
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, word.at, "a word is missing");
    if (is_pages(in, word)) {
        status = read_pages(in, word, n_node, &node, &count);
        if (status == CPUBIND_TEXT_OK && node <= *last)
            status =
                scan_fail(in, CPUBIND_TEXT_ERR_ORDER, word.at + 1, "the nodes do not ascend");
        *last = node;
    } else if (SCAN_STARTS(in, word, size_key)) {
        status = read_size(in, word, said);
    } else if (SCAN_STARTS(in, word, most_key)) {
        status = read_most(in, word, said);
    } else if (SCAN_IS(in, word, "huge")) {
        said->is_huge = 1;
    }
    return status;
}

static cpubind_text_status check_line(const scan_text *in, scan_run run, int32_t n_node,
                                      line *said)
{
    const char *nul = (const char *)memchr(in->text + run.at, '\0', (size_t)(run.end - run.at));
    scan_run word = {0, 0};
    int32_t last = -1;
    cpubind_text_status status;

    if (nul)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, (int32_t)(nul - in->text),
                         "a line holds a NUL");
    status = read_start(in, run, &word);
    while (status == CPUBIND_TEXT_OK && next_word(in, run, &word))
        status = check_word(in, word, n_node, &last, said);
    return status;
}

/* The size of a page of the line, in bytes. An entry of a page table has 8 bytes, and the usual
 * huge page replaces one page of entries. */
static int64_t page_bytes(const line *said, int32_t page_kb)
{
    const int64_t base = (int64_t)page_kb * 1024;

    if (said->page_kb)
        return (int64_t)said->page_kb * 1024;
    return said->is_huge ? base * (base / 8) : base;
}

/* Adds the pages of a line that was checked. */
static void add_line(const scan_text *in, scan_run run, int64_t size, int64_t *bytes,
                     int32_t n_node)
{
    scan_run word = {0, 0};

    (void)read_start(in, run, &word);
    while (next_word(in, run, &word)) {
        int32_t node = 0;
        int64_t count = 0;

        if (!is_pages(in, word))
            continue;
        (void)read_pages(in, word, n_node, &node, &count);
        if (count > (INT64_MAX - bytes[node]) / size)
            bytes[node] = INT64_MAX;
        else
            bytes[node] += count * size;
    }
}

/* Reads all lines. With `bytes` NULL they are only checked. */
static cpubind_text_status read_lines(const scan_text *in, int32_t page_kb, int64_t *bytes,
                                      int32_t n_node)
{
    int32_t at = 0;

    while (at < in->len) {
        const char *feed = (const char *)memchr(in->text + at, '\n', (size_t)(in->len - at));
        const scan_run run = {at, feed ? (int32_t)(feed - in->text) : in->len};
        line said = {0, 0, 0};
        cpubind_text_status status;

        if (!feed)
            return scan_fail_cut(in);
        status = check_line(in, run, n_node, &said);
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (bytes)
            add_line(in, run, page_bytes(&said, page_kb), bytes, n_node);
        at = run.end + 1;
    }
    return CPUBIND_TEXT_OK;
}

static int are_sums(const int64_t *bytes, int32_t n_node)
{
    int32_t n_bad = 0;

    if (!bytes || n_node < 1)
        return 0;
    for (int32_t i = 0; i < n_node; i++)
        n_bad += bytes[i] < 0;
    return n_bad == 0;
}

cpubind_text_status cpubind_numa_maps_add(const char *text, int32_t len, int32_t page_kb,
                                          int64_t *bytes, int32_t n_node,
                                          cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_text_status status;

    if (!scan_is_text(text, len) || !are_sums(bytes, n_node) || page_kb < 1 ||
        page_kb > CPUBIND_NUMA_MAPS_MAX_BASE_KB)
        return scan_fail_arg(fault);
    status = read_lines(&in, page_kb, NULL, n_node);
    return status == CPUBIND_TEXT_OK ? read_lines(&in, page_kb, bytes, n_node) : status;
}

/* Sums that stop at the top. */
static int64_t add_pages(int64_t sum, int64_t count, int64_t size)
{
    return count > (INT64_MAX - sum) / size ? INT64_MAX : sum + count * size;
}

cpubind_text_status cpubind_numa_maps_line_parse(const char *text, int32_t len, int32_t page_kb,
                                                 int32_t node, cpubind_numa_line *out,
                                                 cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const char *feed;
    cpubind_numa_line sums = {0, 0, 0, 0, 0, 0, 0};
    line said = {0, 0, 0};
    scan_run run = {0, 0}, word = {0, 0};
    cpubind_text_status status;

    if (!scan_is_text(text, len) || len == 0 || page_kb < 1 ||
        page_kb > CPUBIND_NUMA_MAPS_MAX_BASE_KB || !out)
        return scan_fail_arg(fault);
    feed = (const char *)memchr(text, '\n', (size_t)len);
    if (!feed)
        return scan_fail_cut(&in);
    run.end = (int32_t)(feed - text);
    status = check_line(&in, run, INT32_MAX, &said);
    if (status != CPUBIND_TEXT_OK)
        return status;
    for (int32_t i = 0; scan_hex_value(text[i]) >= 0; i++)
        sums.start = sums.start << 4 | (uint64_t)scan_hex_value(text[i]);
    sums.page_bytes = page_bytes(&said, page_kb);
    sums.mapmax = said.mapmax ? said.mapmax : 1;
    sums.is_huge = said.is_huge;
    sums.len = run.end + 1;
    (void)read_start(&in, run, &word);
    while (next_word(&in, run, &word)) {
        int32_t on = 0;
        int64_t count = 0;

        if (!is_pages(&in, word))
            continue;
        (void)read_pages(&in, word, INT32_MAX, &on, &count);
        sums.total = add_pages(sums.total, count, sums.page_bytes);
        if (on == node)
            sums.home = add_pages(0, count, sums.page_bytes);
    }
    *out = sums;
    return CPUBIND_TEXT_OK;
}

/* == Values of a name ======================================================= */

cpubind_text_status cpubind_kb_find(const char *text, int32_t len, const char *name,
                                    int64_t *out_kb, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const int32_t n = name && strlen(name) < CPUBIND_TEXT_MAX ? (int32_t)strlen(name) : 0;
    if (!scan_is_text(text, len) || n == 0 || !out_kb)
        return scan_fail_arg(fault);
    for (int32_t at = 0; at < len;) {
        const char *feed = (const char *)memchr(text + at, '\n', (size_t)(len - at));
        const int32_t end = feed ? (int32_t)(feed - text) : len;
        scan_run word = scan_word(&in, at, end);

        if (SCAN_IS(&in, word, "Node")) /* and its number */
            word = scan_word(&in, scan_word(&in, word.end, end).end, end);
        at = end + 1;
        if (word.end - word.at != n + 1 || !scan_starts(&in, word, name, n) ||
            text[word.end - 1] != ':')
            continue;
        if (!feed)
            return scan_fail_cut(&in);
        word = scan_word(&in, word.end, end);
        return read_count(&in, &word.at, word.end, out_kb);
    }
    return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, len, "no line has this name");
}
