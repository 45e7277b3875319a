/* test_damaged.c - a damaged output of npu-smi is refused, or its undamaged rows are read
 * SPDX-License-Identifier: MIT
 *
 * Each output that a reader accepts is damaged in ways whose allowed results are known. The
 * result of a reader is written as lines, one a row, and the lines are compared. The texts are
 * those of samples.h, and the captures of captures.h if there are any.
 */
#define _POSIX_C_SOURCE 200809L

#include "../text/readers.h"
#include "captures.h"
#include "samples.h"

#include <inttypes.h>

enum { MAX_LINES = 1 << 17, MAX_DAMAGED = 1 << 16, MAX_CUTS = 1200, MAX_FLIPS = 600 };

/* == what was read, as lines ================================================ */

typedef struct lines {
    cpubind_text_status status;
    int32_t len;
    char text[MAX_LINES];
} lines;

static void add(lines *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(lines *out, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(out->text + out->len, (size_t)(MAX_LINES - out->len), format, arguments);
    va_end(arguments);
    assert_in_range(n, 0, MAX_LINES - out->len - 1);
    out->len += n;
}

static void add_slice(lines *out, const reading *r, cpubind_slice slice)
{
    add(out, " \"%.*s\"", (int)slice.len, r->text + slice.at);
}

static void add_pci(lines *out, const cpubind_pci_address *pci)
{
    add(out, " %" PRId32 ":%" PRId32 ":%" PRId32 ".%" PRId32, pci->domain, pci->bus,
        pci->device, pci->function);
}

static void write_map(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_map(&r, text, len);
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.n_chip; i++) {
        add(out, "chip %" PRId32 ".%" PRId32 " %" PRId32 " %" PRId32, r.chip[i].card,
            r.chip[i].chip, r.chip[i].logic, r.chip[i].phy);
        add_slice(out, &r, r.chip[i].name);
        add(out, "\n");
    }
    end_reading(&r);
}

static void write_topo(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_topo(&r, text, len);
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.topo.n_row; i++) {
        const cpubind_npusmi_affinity *row = &r.topo.row[i];

        add(out, "row %d %" PRId32, (int)r.topo.label, row->id);
        for (int32_t k = 0; k < row->count; k++)
            add(out, " %" PRId32, r.topo.cpu[row->first + k]);
        add(out, "\n");
    }
    end_reading(&r);
}

static void write_info(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_info(&r, text, len);
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.info.n_device; i++) {
        const cpubind_npusmi_device *device = &r.info.device[i];

        add(out, "device %" PRId32 ".%" PRId32 " %" PRId32 " %" PRId32, device->card,
            device->chip, device->logic, device->phy);
        add_slice(out, &r, device->name);
        add_slice(out, &r, device->health);
        add_pci(out, &device->pci);
        add(out, "\n");
    }
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.info.n_process; i++) {
        const cpubind_npusmi_process *process = &r.info.process[i];

        add(out, "process %" PRId32 ".%" PRId32 " %" PRId32 " %" PRId32, process->card,
            process->chip, process->pid, process->container_pid);
        add_slice(out, &r, process->name);
        add(out, "\n");
    }
    end_reading(&r);
}

static void write_board(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_board(&r, text, len);
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.n_board; i++) {
        add(out, "board %" PRId32 ".%" PRId32, r.board[i].card, r.board[i].chip);
        if (r.board[i].has_pci)
            add_pci(out, &r.board[i].pci);
        add(out, "\n");
    }
    end_reading(&r);
}

static void write_list(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_list(&r, text, len);
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.n_card; i++)
        add(out, "card %" PRId32 " %" PRId32 "\n", r.card[i].card, r.card[i].n_chip);
    end_reading(&r);
}

typedef void write_fn(lines *out, const char *text, int32_t len);

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
    {"list", write_list, 1, 0, 1},
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

static void check_all(check_fn *check)
{
    n_accepted = n_broken = 0;
    for (int32_t i = 0; i < LENGTH(samples); i++)
        check_text("a sample", samples[i].text, samples[i].len, check);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_with_crs_reads_the_same),
        cmocka_unit_test(a_cut_text_is_refused_or_gives_whole_rows),
        cmocka_unit_test(swapped_lines_are_refused_or_lose_nothing),
        cmocka_unit_test(a_repeated_row_is_refused),
        cmocka_unit_test(a_changed_byte_is_refused_or_loses_no_row),
    };

    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
