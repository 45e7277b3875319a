/* test_damaged.c - a damaged output of npu-smi is refused, or its undamaged rows are read
 * SPDX-License-Identifier: MIT
 *
 * Each output that a reader accepts is damaged in ways whose allowed results are known. The
 * result of a reader is written as lines, one a row, and the lines are compared. The texts are
 * those of samples.h and next_tables.txt, and the captures of captures.h if there are any.
 */
#define _POSIX_C_SOURCE 200809L

#include "captures.h"
#include "lines.h"
#include "next_tables.h"
#include "samples.h"

enum { MAX_DAMAGED = 1 << 16, MAX_CUTS = 600, MAX_FLIPS = 300 };

/* The allowed results for a damaged output, reader by reader. */
typedef struct reader_case {
    const char *name;
    write_fn *write;
    int is_whole;  /* 1: a text that lacks a row is never accepted */
    int is_keyed;  /* 1: rows have all of their ids, so that their order does not matter */
    int ends_open; /* 1: without a line feed at its end the last value may be a part of it */
} reader_case;

static const reader_case readers[] = {
    {"map", write_map, 0, 1, 1},   {"topo", write_topo, 1, 1, 0},
    {"info", write_info, 0, 0, 0}, {"board", write_board, 0, 0, 1},
    {"list", write_list, 1, 0, 1}, {"devices", write_devices, 0, 0, 0},
};

static void write_in_time(const reader_case *reader, lines *out, const char *text, int32_t len)
{
    const double start = cpu_seconds();

    out->len = 0;
    out->text[0] = '\0';
    reader->write(out, text, len);
    assert_true(cpu_seconds() - start <= HANG_SECONDS);
}

/* == comparing ============================================================== */

static int32_t count_lines(const lines *a)
{
    int32_t n = 0;

    for (int32_t i = 0; i < a->len; i++)
        n += a->text[i] == '\n';
    return n;
}

/* Whether each line that ends in an address is one of `whole`: a board that was cut may lack
 * its chip and its address, which are lines of their own. */
static int has_no_new_address(const lines *a, const lines *whole)
{
    for (const char *line = a->text, *feed; (feed = strchr(line, '\n')) != NULL;
         line = feed + 1) {
        char copy[128];

        assert_in_range(feed - line, 0, sizeof copy - 2);
        memcpy(copy, line, (size_t)(feed - line) + 1);
        copy[feed - line + 1] = '\0';
        if (strchr(copy, ':') && !strstr(whole->text, copy))
            return 0;
    }
    return 1;
}

static int is_prefix(const lines *a, const lines *whole)
{
    return a->len <= whole->len && memcmp(a->text, whole->text, (size_t)a->len) == 0;
}

/* Whether all lines of `a` but the last are those that `whole` starts with. */
static int is_prefix_but_last(const lines *a, const lines *whole)
{
    int32_t n = a->len;

    while (n > 0 && a->text[n - 1] == '\n')
        n--;
    while (n > 0 && a->text[n - 1] != '\n')
        n--;
    return n <= whole->len && memcmp(a->text, whole->text, (size_t)n) == 0;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines in order of their text. */
static void sort_lines(const lines *a, lines *out)
{
    static char copy[MAX_LINES];
    static char *line[MAX_LINES / 8];
    size_t n = 0;

    memcpy(copy, a->text, (size_t)a->len + 1);
    for (char *rest = copy, *feed; (feed = strchr(rest, '\n')) != NULL; rest = feed + 1) {
        *feed = '\0';
        line[n++] = rest;
    }
    qsort(line, n, sizeof *line, compare_lines);
    out->len = 0;
    for (size_t i = 0; i < n; i++)
        add(out, "%s\n", line[i]);
}

static int are_same_rows(const lines *a, const lines *b)
{
    static lines sorted_a, sorted_b;

    sort_lines(a, &sorted_a);
    sort_lines(b, &sorted_b);
    return sorted_a.len == sorted_b.len &&
           memcmp(sorted_a.text, sorted_b.text, (size_t)sorted_a.len) == 0;
}

/* == the texts ============================================================== */

typedef struct accepted {
    const char *name;
    const char *text;
    int32_t len;
    const reader_case *reader;
    lines whole; /* the result for the undamaged text */
} accepted;

typedef int check_fn(const accepted *from);

static int n_accepted, n_broken;

static void check_text(const char *name, const char *text, int32_t len, check_fn *check)
{
    static accepted from;

    for (int32_t i = 0; i < LENGTH(readers); i++) {
        from.name = name;
        from.text = text;
        from.len = len;
        from.reader = &readers[i];
        write_in_time(from.reader, &from.whole, text, len);
        if (from.whole.status != CPUBIND_TEXT_OK)
            continue;
        n_accepted++;
        n_broken += !check(&from);
    }
}

static void check_captures(check_fn *check)
{
    DIR *folder = open_captures();
    const char *file;

    while (folder && (file = next_capture(folder)) != NULL) {
        int32_t len = 0;
        char *text = read_capture(file, &len);

        if (len < MAX_DAMAGED / 2)
            check_text(file, text, len, check);
        free(text);
    }
    if (folder)
        (void)closedir(folder);
}

static check_fn *next_check; /* of each table of next_tables.txt */

static void check_next_table(const next_table *next)
{
    if (strcmp(next->status, "OK") == 0)
        check_text(next->name, next->text, (int32_t)strlen(next->text), next_check);
}

static void check_all(check_fn *check)
{
    n_accepted = n_broken = 0;
    for (int32_t i = 0; i < LENGTH(samples); i++)
        check_text("a sample", samples[i].text, samples[i].len, check);
    next_check = check;
    each_next_table(check_next_table);
    check_captures(check);
    assert_int_equal(n_broken, 0);
    assert_in_range(n_accepted, 12, INT32_MAX);
}

/* Prints the failure; returns 0. */
static int broken(const accepted *from, const char *law, int32_t at, const lines *got)
{
    print_error("%s as %s, %s at %d:\n-- whole\n%s-- damaged\n%s", from->name,
                from->reader->name, law, at, from->whole.text, got->text);
    return 0;
}

/* == damage ================================================================= */

static lines got;

static int crs_change_nothing(const accepted *from)
{
    static char text[MAX_DAMAGED];
    int32_t len = 0;

    for (int32_t i = 0; i < from->len; i++) {
        if (from->text[i] == '\n' && (i == 0 || from->text[i - 1] != '\r'))
            text[len++] = '\r';
        text[len++] = from->text[i];
    }
    write_in_time(from->reader, &got, text, len);
    if (got.status == CPUBIND_TEXT_OK && got.len == from->whole.len &&
        is_prefix(&got, &from->whole))
        return 1;
    return broken(from, "CRs", 0, &got);
}

static int has_bytes(const accepted *from, const char *two)
{
    for (int32_t i = 0; i + 1 < from->len; i++)
        if (from->text[i] == two[0] && from->text[i + 1] == two[1])
            return 1;
    return 0;
}

/* Whether this result is allowed for a cut text, by the rules for cuts in the headers. */
static int is_part(const accepted *from, const lines *part, int is_open)
{
    if (from->reader->write == write_board)
        return has_no_new_address(part, &from->whole);
    if (from->reader->write == write_list) /* the count of the last card may be cut off */
        return is_prefix_but_last(part, &from->whole);
    if (from->reader->write == write_info && !has_bytes(from, "+=")) /* a name has bars */
        return is_prefix_but_last(part, &from->whole);
    return from->reader->ends_open && is_open ? is_prefix_but_last(part, &from->whole)
                                              : is_prefix(part, &from->whole);
}

static int a_cut_text_gives_whole_rows(const accepted *from)
{
    const int32_t step = from->len / MAX_CUTS + 1;

    for (int32_t cut = 0; cut < from->len; cut += step) {
        const int is_open = cut > 0 && from->text[cut - 1] != '\n';

        write_in_time(from->reader, &got, from->text, cut);
        if (got.status != CPUBIND_TEXT_OK)
            continue;
        if (from->reader->is_whole && count_lines(&got) != count_lines(&from->whole))
            return broken(from, "a row is lost by a cut", cut, &got);
        if (!is_part(from, &got, is_open))
            return broken(from, "a row is changed by a cut", cut, &got);
    }
    return 1;
}

/* The start of the n-th line; the length when there are fewer lines. */
static int32_t line_start(const accepted *from, int32_t n)
{
    int32_t at = 0;

    while (n > 0 && at < from->len)
        n -= from->text[at++] == '\n';
    return at;
}

static int32_t lines_of_text(const accepted *from)
{
    int32_t n = 0;

    while (line_start(from, n) < from->len)
        n++;
    return n;
}

/* The text with line a in the place of line b, and b in the place of a. */
static int32_t swap_lines(const accepted *from, int32_t a, int32_t b, char *out)
{
    const int32_t n = lines_of_text(from);
    int32_t len = 0;

    for (int32_t i = 0; i < n; i++) {
        const int32_t line = i == a ? b : i == b ? a : i;
        const int32_t start = line_start(from, line), end = line_start(from, line + 1);

        memcpy(out + len, from->text + start, (size_t)(end - start));
        len += end - start;
        if (end > start && from->text[end - 1] != '\n')
            out[len++] = '\n';
    }
    return len;
}

static int swapped_lines_lose_nothing(const accepted *from)
{
    static char text[MAX_DAMAGED];
    const int32_t n = lines_of_text(from);

    if (!from->reader->is_keyed || n > 64)
        return 1;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++) {
            const int32_t len = swap_lines(from, a, b, text);

            write_in_time(from->reader, &got, text, len);
            if (got.status == CPUBIND_TEXT_OK && !are_same_rows(&got, &from->whole))
                return broken(from, "lines swapped", a, &got);
        }
    return 1;
}

/* A repeated row is refused; noise and rows of processes may be repeated. */
static int a_repeated_line_adds_no_device(const accepted *from)
{
    static char text[MAX_DAMAGED];
    const int32_t n = lines_of_text(from);

    for (int32_t i = 0; i < n; i++) {
        const int32_t start = line_start(from, i), end = line_start(from, i + 1);
        const char *device = "\ndevice";
        int32_t before = 0, after = 0;

        if (end == from->len && from->text[end - 1] != '\n')
            break;
        memcpy(text, from->text, (size_t)end);
        memcpy(text + end, from->text + start, (size_t)(from->len - start));
        write_in_time(from->reader, &got, text, from->len + end - start);
        if (got.status != CPUBIND_TEXT_OK)
            continue;
        for (const char *p = from->whole.text; (p = strstr(p, device)) != NULL; p++)
            before++;
        for (const char *p = got.text; (p = strstr(p, device)) != NULL; p++)
            after++;
        if (before != after || (from->reader->is_keyed && !are_same_rows(&got, &from->whole)))
            return broken(from, "a line repeated", i, &got);
    }
    return 1;
}

static int is_keys(const accepted *from)
{
    return from->reader->write == write_board || from->reader->write == write_list;
}

/* A changed byte may change a number; it must not remove a row. */
static int a_changed_byte_loses_no_row(const accepted *from)
{
    static const char bytes[] = "\0x|9 ";
    static char text[MAX_DAMAGED];
    const int32_t step = from->len / MAX_FLIPS + 1;
    const int32_t rows = count_lines(&from->whole);

    /* Where columns are one blank apart, and where no TAB starts a line, two lines without a
     * line feed look like one. */
    if (!has_bytes(from, is_keys(from) ? "\n\t" : "  "))
        return 1;
    memcpy(text, from->text, (size_t)from->len);
    for (int32_t at = 0; at < from->len; at += step)
        for (int32_t i = 0; i < (int32_t)sizeof bytes - 1; i++) {
            text[at] = bytes[i];
            write_in_time(from->reader, &got, text, from->len);
            text[at] = from->text[at];
            if (got.status == CPUBIND_TEXT_OK && count_lines(&got) < rows)
                return broken(from, "a row is lost by a byte", at, &got);
        }
    return 1;
}

/* == rows lost, joined, changed ============================================== */

/* Results of damage that are not the values of the whole text: refused, the same, or one of
 * those that only another input tells (see "cuts" in npusmi.h). */
static int32_t n_refused, n_same, n_told;

/* Whether the start of a line, up to this many fields, starts a line of the whole. */
static int has_key(const lines *whole, const char *line, const char *feed, int n_field)
{
    char key[128];
    int32_t n = 0;

    while (line + n < feed && (line[n] != ' ' || --n_field > 0))
        n++;
    assert_in_range(n, 1, sizeof key - 3);
    key[0] = '\n';
    memcpy(key + 1, line, (size_t)n);
    key[n + 1] = line[n];
    key[n + 2] = '\0';
    return strncmp(whole->text, key + 1, (size_t)n + 1) == 0 ||
           strstr(whole->text, key) != NULL;
}

/* Whether each line has the ids of a line of the whole: rows are lost and none is new. */
static int has_no_new_row(const lines *a, const accepted *from)
{
    for (const char *line = a->text, *feed; (feed = strchr(line, '\n')) != NULL;
         line = feed + 1)
        if (!has_key(&from->whole, line, feed, 2))
            return 0;
    return 1;
}

static int is_told_by_another_input(const accepted *from)
{
    if (from->reader->write == write_topo)
        return 0;
    if (from->reader->write == write_board)
        return has_no_new_address(&got, &from->whole) || count_lines(&got) == 1;
    if (from->reader->write == write_list)
        return count_lines(&got) == count_lines(&from->whole);
    return has_no_new_row(&got, from);
}

static int count_result(const accepted *from, const char *law, int32_t at)
{
    if (got.status != CPUBIND_TEXT_OK)
        n_refused++;
    else if (are_same_rows(&got, &from->whole))
        n_same++;
    else if (is_told_by_another_input(from))
        n_told++;
    else
        return broken(from, law, at, &got);
    return 1;
}

static int a_lost_line_adds_nothing(const accepted *from)
{
    static char text[MAX_DAMAGED];
    const int32_t n = lines_of_text(from);

    for (int32_t i = 0; i < n; i++) {
        const int32_t start = line_start(from, i), end = line_start(from, i + 1);

        memcpy(text, from->text, (size_t)start);
        memcpy(text + start, from->text + end, (size_t)(from->len - end));
        write_in_time(from->reader, &got, text, from->len - (end - start));
        if (!count_result(from, "a line lost", i))
            return 0;
    }
    return 1;
}

/* Two lines without the line feed between them, or with a blank in its place. Outputs of keys
 * start with a TAB. */
static int joined_lines_add_nothing(const accepted *from)
{
    static char text[MAX_DAMAGED];
    const int32_t n = lines_of_text(from);

    if (!has_bytes(from, is_keys(from) ? "\n\t" : "  "))
        return 1;
    for (int32_t i = 1; i < n; i++) {
        const int32_t start = line_start(from, i);

        memcpy(text, from->text, (size_t)from->len);
        text[start - 1] = ' ';
        write_in_time(from->reader, &got, text, from->len);
        if (!count_result(from, "lines joined by a blank", i))
            return 0;
        memmove(text + start - 1, text + start, (size_t)(from->len - start));
        write_in_time(from->reader, &got, text, from->len - 1);
        if (!count_result(from, "lines joined", i))
            return 0;
    }
    return 1;
}

/* A digit that is another digit changes no number of rows. Whether the new number is the right
 * one, only another input tells. */
static int a_changed_digit_keeps_the_rows(const accepted *from)
{
    static char text[MAX_DAMAGED];
    const int32_t step = from->len / MAX_FLIPS + 1;

    memcpy(text, from->text, (size_t)from->len);
    for (int32_t at = 0; at < from->len; at += step) {
        if (text[at] < '0' || text[at] > '9')
            continue;
        text[at] = (char)(text[at] == '9' ? '0' : text[at] + 1);
        write_in_time(from->reader, &got, text, from->len);
        text[at] = from->text[at];
        if (got.status != CPUBIND_TEXT_OK)
            n_refused++;
        else if (are_same_rows(&got, &from->whole))
            n_same++;
        else if (count_lines(&got) == count_lines(&from->whole))
            n_told++;
        else
            return broken(from, "a digit changed", at, &got);
    }
    return 1;
}

/* Checks all texts, and prints how often each result came. */
static void check_and_count(const char *law, check_fn *check)
{
    n_refused = n_same = n_told = 0;
    check_all(check);
    print_message("%s: %d refused, %d the same, %d told by another input alone\n", law,
                  n_refused, n_same, n_told);
}

TEST(a_lost_line_is_refused_or_only_loses)
{
    check_and_count("lost lines", a_lost_line_adds_nothing);
}

TEST(joined_lines_are_refused_or_only_lose)
{
    check_and_count("joined lines", joined_lines_add_nothing);
}

TEST(a_changed_digit_is_refused_or_keeps_the_rows)
{
    check_and_count("changed digits", a_changed_digit_keeps_the_rows);
}

TEST(a_text_with_crs_reads_the_same)
{
    check_all(crs_change_nothing);
}

TEST(a_cut_text_is_refused_or_gives_whole_rows)
{
    check_all(a_cut_text_gives_whole_rows);
}

TEST(swapped_lines_are_refused_or_lose_nothing)
{
    check_all(swapped_lines_lose_nothing);
}

TEST(a_repeated_row_is_refused)
{
    check_all(a_repeated_line_adds_no_device);
}

TEST(a_changed_byte_is_refused_or_loses_no_row)
{
    check_all(a_changed_byte_loses_no_row);
}

TEST_FILE(NULL, NULL)
