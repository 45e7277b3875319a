/* npusmi.c - a damaged output of npu-smi is refused, or its undamaged rows are read
 * SPDX-License-Identifier: MIT
 *
 * Each output of tests/cases/read_npusmi_*.txt that a reader of tables accepts is damaged in
 * ways whose allowed results are known. What was read are the lines that the reader says; a row
 * is one that begins with "chip", "row", "device", "process", "board" or "card" and its
 * numbers, its key.
 */
#define _GNU_SOURCE
#include "../readers/readers.h"
#include "../support/cases.h"

enum { MAX_ROWS = 512, MAX_DAMAGED = 1 << 14, MAX_CUTS = 300 };

/* What a reader said, line by line. */
typedef struct rows {
    words said;
    cpubind_text_status status;
    const char *row[MAX_ROWS];
    int32_t n;
    int is_open; /* the reader says that rows may be lost */
} rows;

/* An output, and what is read of it as it is. */
static struct {
    const step *from;
    const reader *reader;
    const char *text;
    int32_t len;
    rows whole;
} now;

static rows got;
static int32_t n_read;

static int is_kind(const char *line)
{
    static const char *const kinds[] = {"chip ",    "row ",   "device ",
                                        "process ", "board ", "card "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(line, kinds[i], strlen(kinds[i])) == 0)
            return 1;
    return 0;
}

static void read_rows(rows *r, const char *text, int32_t len)
{
    r->said.len = r->n = 0;
    r->status = read_by_laws(now.reader, "", text, len, &r->said);
    if (r->status != CPUBIND_TEXT_OK)
        return;
    r->is_open = r->said.len > 0 && strstr(r->said.text, " process table, open\n") != NULL;
    for (char *line = r->said.text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        assert_in_range(r->n, 0, MAX_ROWS - 1);
        if (is_kind(line))
            r->row[r->n++] = line;
    }
}

/* The bytes of a row that say which it is: words for which it has numbers. */
static size_t key_of(const char *row)
{
    size_t n = 0;
    while (is_kind(row + n) || (row[n] >= '0' && row[n] <= '9')) {
        n += strcspn(row + n, " ");
        n += row[n] == ' ';
    }
    return n;
}

static int has_row(const rows *r, const char *row, size_t n)
{
    for (int32_t i = 0; i < r->n; i++)
        if (strncmp(r->row[i], row, n) == 0)
            return 1;
    return 0;
}

/* Whether the rows are those of the whole, in any order. */
static int is_same_rows(void)
{
    for (int32_t i = 0; i < got.n; i++)
        if (!has_row(&now.whole, got.row[i], strlen(got.row[i]) + 1))
            return 0;
    return got.n == now.whole.n;
}

/* Whether a row of the whole has this in it. */
static int has_part(const char *part, size_t n)
{
    for (int32_t i = 0; i < now.whole.n; i++)
        if (memmem(now.whole.row[i], strlen(now.whole.row[i]), part, n))
            return 1;
    return 0;
}

/* Whether no row is new. A board whose id is lost may be that of the card before it, but has no
 * address that no board has. */
static int is_known_rows(void)
{
    for (int32_t i = 0; i < got.n; i++) {
        const char *pci = strstr(got.row[i], " pci 0");
        if (strncmp(got.row[i], "board ", 6) != 0
                ? !has_row(&now.whole, got.row[i], key_of(got.row[i]))
                : pci && !has_part(pci, sizeof " pci 0000:c1:00.0" - 1))
            return 0;
    }
    return 1;
}

/* The next row of a kind, or n. */
static int32_t next_of(const rows *r, int32_t from, const char *kind)
{
    while (from < r->n && *r->row[from] != *kind)
        from++;
    return from;
}

/* Whether the rows of each kind are the first of the whole. The last one may be a part, where a
 * name or a list was cut. */
static int is_first_rows(void)
{
    for (int32_t i = 0; i < got.n; i++) {
        const char *row = got.row[i], *other;
        int32_t k = next_of(&now.whole, 0, row);
        for (int32_t j = next_of(&got, 0, row); j < i && k < now.whole.n; j++)
            if (*got.row[j] == *row)
                k = next_of(&now.whole, k + 1, row);
        if (k == now.whole.n)
            return 0;
        other = now.whole.row[k];
        if (strcmp(row, other) != 0 &&
            (next_of(&got, i + 1, row) < got.n || strncmp(row, other, key_of(row)) != 0))
            return 0;
    }
    return 1;
}

static int is_of(const char *name)
{
    return strcmp(now.reader->name, name) == 0;
}

/* A row has all of its ids, so that the order does not matter. */
static int is_keyed(void)
{
    return is_of("npusmi_map") || is_of("npusmi_topo");
}

static void expect_law(int holds, const char *law, int32_t at)
{
    if (got.status != CPUBIND_TEXT_OK || holds)
        return;
    print_error("%s:%d as %s: %s at %d. Whole:\n", now.from->script->path, now.from->line,
                now.reader->name, law, at);
    for (int32_t i = 0; i < now.whole.n; i++)
        print_error("  %s\n", now.whole.row[i]);
    print_error("Damaged:\n");
    for (int32_t i = 0; i < got.n; i++)
        print_error("  %s\n", got.row[i]);
    fail();
}

/* == Damage ================================================================= */

static char damaged[MAX_DAMAGED];

/* The start of the n-th line; the length when there are fewer lines. */
static int32_t line_start(int32_t n)
{
    int32_t at = 0;
    while (n > 0 && at < now.len)
        n -= now.text[at++] == '\n';
    return at;
}

static int32_t put_line(int32_t len, int32_t line)
{
    const int32_t start = line_start(line), n = line_start(line + 1) - start;
    memcpy(damaged + len, now.text + start, (size_t)n);
    return len + n;
}

static void add_crs(void)
{
    int32_t len = 0;
    for (int32_t i = 0; i < now.len; i++) {
        if (now.text[i] == '\n' && (i == 0 || now.text[i - 1] != '\r'))
            damaged[len++] = '\r';
        damaged[len++] = now.text[i];
    }
    read_rows(&got, damaged, len);
    expect_law(is_same_rows(), "CRs change a row", 0);
    assert_int_equal(got.status, CPUBIND_TEXT_OK);
}

static void cut(void)
{
    for (int32_t at = 0; at < now.len; at += now.len / MAX_CUTS + 1) {
        read_rows(&got, now.text, at);
        expect_law(is_of("npusmi_board") ? is_known_rows() : is_first_rows(),
                   "a cut changes a row", at);
        expect_law(got.n == now.whole.n || !is_of("npusmi_topo"), "a cut loses a row", at);
    }
}

static void damage_lines(void)
{
    int32_t n = 0, len;
    while (line_start(n) < now.len)
        n++;
    for (int32_t i = 0; i + 1 < n; i++) {
        const int32_t start = line_start(i), end = line_start(i + 1);
        /* lost */
        memcpy(damaged, now.text, (size_t)start);
        memcpy(damaged + start, now.text + end, (size_t)(now.len - end));
        read_rows(&got, damaged, now.len - (end - start));
        expect_law(is_of("npusmi_topo") ? is_same_rows() : is_known_rows(), "a lost line adds",
                   i);
        /* repeated */
        memcpy(damaged, now.text, (size_t)end);
        memcpy(damaged + end, now.text + start, (size_t)(now.len - start));
        read_rows(&got, damaged, now.len + end - start);
        expect_law(is_keyed() ? is_same_rows() : is_known_rows(), "a repeated line adds", i);
        /* before another one */
        for (int32_t k = i + 1; is_keyed() && k < n && n < 64; k++) {
            len = 0;
            for (int32_t line = 0; line < n; line++) {
                len = put_line(len, line == i ? k : line == k ? i : line);
                if (damaged[len - 1] != '\n')
                    damaged[len++] = '\n';
            }
            read_rows(&got, damaged, len);
            expect_law(is_same_rows(), "swapped lines change a row", i);
        }
    }
}

/* Where columns are one blank apart, and where no TAB starts a line, two lines without a line
 * feed look like one. */
static int shows_lines(void)
{
    const int is_keys = is_of("npusmi_board");
    return memmem(now.text, (size_t)now.len, is_keys ? "\n\t" : "  ", 2) != NULL;
}

static void join_lines(void)
{
    for (int32_t i = 1; line_start(i) < now.len; i++) {
        const int32_t start = line_start(i);
        memcpy(damaged, now.text, (size_t)now.len);
        damaged[start - 1] = ' ';
        read_rows(&got, damaged, now.len);
        expect_law(is_of("npusmi_topo") ? is_same_rows() : is_known_rows(),
                   "a joined line adds", i);
        memmove(damaged + start - 1, damaged + start, (size_t)(now.len - start));
        read_rows(&got, damaged, now.len - 1);
        expect_law(is_of("npusmi_topo") ? is_same_rows() : is_known_rows(),
                   "a joined line adds", i);
    }
}

/* A changed byte may change a number; it must not remove a row, unless the reader says so. A
 * board whose address or whose chip has lost its key is none. */
static void change_bytes(void)
{
    static const char bytes[] = "\0x|9 ";
    memcpy(damaged, now.text, (size_t)now.len);
    for (int32_t at = 0; at < now.len; at += now.len / MAX_CUTS + 1) {
        damaged[at] = bytes[at % (int32_t)(sizeof bytes - 1)];
        read_rows(&got, damaged, now.len);
        expect_law(got.n >= now.whole.n || got.is_open || is_of("npusmi_board"),
                   "a changed byte loses a row", at);
        damaged[at] = now.text[at];
    }
}

/* == The outputs ============================================================ */

static void check_text(const reader *row)
{
    now.reader = row;
    read_rows(&now.whole, now.text, now.len);
    if (now.whole.status != CPUBIND_TEXT_OK || now.len > MAX_DAMAGED / 2 - 256)
        return;
    n_read++;
    add_crs();
    cut();
    damage_lines();
    if (shows_lines()) {
        join_lines();
        change_bytes();
    }
}

static void check_file(const char *path)
{
    static const char *const readers[] = {"npusmi_map", "npusmi_topo", "npusmi_info",
                                          "npusmi_board"};
    script s;
    int32_t n = 0;
    read_script(&s, path);
    n_read = 0;
    for (int32_t i = 0; i < s.n; i++) {
        split_file(&s.step[i]);
        if (strcmp(s.step[i].verb, "read") != 0 || !s.step[i].data || n++ % one_in(3) > 0)
            continue;
        now.from = &s.step[i];
        now.text = s.step[i].data;
        now.len = s.step[i].data_len;
        for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
            check_text(find_reader(readers[k]));
    }
    drop_script(&s);
    assert_in_range(n_read * one_in(3), 10, INT32_MAX);
}

TEST(damaged_outputs_of_each_family)
{
    check_file("tests/cases/read_npusmi_samples.txt");
}

TEST(damaged_outputs_of_a_later_npu_smi)
{
    check_file("tests/cases/read_npusmi_next.txt");
}

TEST(damaged_outputs_of_boards)
{
    check_file("tests/cases/read_npusmi_boards.txt");
}

TEST_FILE(NULL, NULL)
