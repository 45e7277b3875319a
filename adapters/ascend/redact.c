/* redact.c - overwrite names and serial numbers in an input, keeping its length and layout
 * SPDX-License-Identifier: MIT
 *
 * Pure. Names of processes are found by the columns of the reader of tables, which goes on
 * behind a line that it refuses; all else line by line. It must not change a byte that a reader
 * keys on.
 */
#include "redact.h"

#include <stddef.h>
#include <string.h>

#include "../model/products.h"
#include "../model/vendor.h"
#include "../text/cursor.h"
#include "input_list.h"
#include "npusmi.h"
#include "table_reader.h"
#include "thread_roles.h"

/* A text that is read through `all` and written through `text`. */
typedef struct redactor {
    cursor all;
    char *text;
} redactor;

/* Whether n bytes are equal, ASCII letters compared without case. */
static int is_same(const char *a, const char *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (cursor_lower(a[i]) != cursor_lower(b[i]))
            return 0;
    return 1;
}

static int starts_with(const char *bytes, int32_t len, const char *letters)
{
    const int32_t n = (int32_t)strlen(letters);
    return len >= n && is_same(bytes, letters, n);
}

static int ends_with(const char *bytes, int32_t len, const char *letters)
{
    const int32_t n = (int32_t)strlen(letters);
    return len >= n && is_same(bytes + len - n, letters, n);
}

/* Overwrites a run, except blanks, control characters and bars, which form lines and tables.
 * *count grows by one when a byte was changed. */
static void overwrite(const redactor *r, cursor run, int32_t *count)
{
    int is_changed = 0;
    for (int32_t i = run.at; i < run.end; i++) {
        const char c = r->text[i];
        if ((unsigned char)c <= ' ' || c == '|' || c == 'x')
            continue;
        r->text[i] = 'x';
        is_changed = 1;
    }
    *count += is_changed && *count < INT32_MAX;
}

/* Whether npu-smi says in this line that it could not do something. */
static int is_refusal(cursor line)
{
    return cursor_starts_as(&line, "Failed to get") ||
           cpubind_npusmi_find_refusal(line.text + line.at, cursor_len(&line), NULL) !=
               CPUBIND_NPUSMI_NONE;
}

/* == The process table ====================================================== */

/* What follows n cells of a row, whose first bar may be missing. */
static cursor after_cells(cursor row, int32_t n)
{
    (void)cursor_takes(&row, "|");
    while (n-- > 0)
        (void)cursor_cut(&row, '|');
    return row;
}

/* Overwrites the words of a row of numbers in no table of the reader, which may be a process
 * below a damaged header: behind its NPU and pid, where there are four cells. The health of a
 * device stays, by which the reader knows one. */
static void redact_unplaced(const redactor *r, cursor row, int32_t *count)
{
    const cursor last = after_cells(row, 3);
    cursor key = after_cells(row, 0), rest = after_cells(row, 2);
    cursor_skip_blanks(&key);
    if (r->text[row.at] != '|' || !table_starts_with_digit(key) || !cursor_left(&last))
        return;
    while (cursor_left(&rest)) {
        cursor word = cursor_trim(cursor_cut(&rest, '|'));
        const int is_health = cursor_is(word, "OK");
        while (cursor_left(&word) && !cursor_is_letter(r->text[word.at]) &&
               (unsigned char)r->text[word.at] < 0x80)
            word.at++;
        if (!is_health)
            overwrite(r, word, count);
    }
}

/* Overwrites the names of processes in each line of their table, whether it can be read or not:
 * where it cannot, or is no process, all behind the cells before the name, but for the end of a
 * rule. The reader says where the table is, and which cell has the name. */
static void redact_processes(const redactor *r, int32_t *count)
{
    table t;
    cpubind_priv_table_open(&t, r->text, cursor_len(&r->all), TABLE_INFO, NULL);
    for (int32_t last = -1; t.all.at > last;) {
        const table_event event = cpubind_priv_table_next(&t);
        const int32_t place = cpubind_priv_table_place(&t, TABLE_PROCESS);
        cursor name;
        last = t.start;
        if (event == TABLE_END && t.of.status == CPUBIND_TEXT_OK)
            return;
        t.of.status = CPUBIND_TEXT_OK; /* on with the next line */
        t.at_head = event == TABLE_END ? 0 : t.at_head;
        if (event == TABLE_HEADER || table_is_empty(t.line))
            continue;
        if (t.section != TABLE_USERS && event != TABLE_RECORD &&
            (t.section != TABLE_ROWS || t.n_cell > t.head->n_cell))
            redact_unplaced(r, t.line, count);
        if (t.section != TABLE_USERS || place < 0 ||
            (!cursor_starts(&t.line, "|") && is_refusal(t.line)))
            continue;
        name = event == TABLE_RECORD ? t.value[TABLE_PROCESS] : after_cells(t.line, place);
        if (event == TABLE_RULE)
            (void)cursor_drops(&name, "+");
        overwrite(r, name, count);
    }
}

/* == Keys and values ======================================================== */

/* The ends of the keys whose values identify a machine. "VDie ID" and "NDie ID" are ids of
 * dies. */
static const char *const secret_keys[] = {
    "Serial Number", "Serial No", "Serial No.", "SN", "Die ID", "UUID", "GUID", "MAC Address",
};

static int is_secret(cursor key)
{
    for (size_t i = 0; i < sizeof secret_keys / sizeof secret_keys[0]; i++)
        if (ends_with(key.text + key.at, cursor_len(&key), secret_keys[i]))
            return 1;
    return 0;
}

/*   line = key ":" value / ":" value         the second form continues the value before it */
static void redact_serials(const redactor *r, int32_t *count)
{
    cursor all = r->all, line;
    int is_on = 0;
    while (cursor_bare_line(&all, &line)) {
        cursor after = line;
        const cursor key = cursor_cut(&after, ':');
        if (key.end == line.end)
            continue;
        if (!table_is_empty(cursor_trim(key)))
            is_on = is_secret(cursor_trim(key));
        if (is_on && !cursor_is(cursor_trim(after), "NA") && !is_refusal(line))
            overwrite(r, after, count);
    }
}

/*   text = "pid " number "(" name ") task_id " rest          the first line of a summary
 * The name may hold brackets and line feeds: it ends at the last ") task_id ". */
static void redact_summary(const redactor *r, int32_t *count)
{
    cursor name = r->all, end;
    (void)cursor_cut(&name, '(');
    for (end = name; cursor_left(&end); end.at++)
        if (cursor_starts(&end, ") task_id "))
            name.end = end.at;
    overwrite(r, name, count);
}

/* Whether the name of a process or a thread says what it is for, which checks ask: irqbalance,
 * a thread of a library that changes masks when it starts, or one with a role. */
static int is_known_name(cursor run)
{
    char name[16] = "";
    while (cursor_takes(&run, " ") || cursor_takes(&run, "\t"))
        ;
    while (cursor_drops(&run, "\n"))
        ;
    if (cursor_len(&run) >= (int32_t)sizeof name)
        return 0;
    memcpy(name, run.text + run.at, (size_t)cursor_len(&run));
    return cursor_is(run, "irqbalance") ||
           cpubind_mask_changer_of(name, cursor_len(&run)) != NULL ||
           cpubind_thread_role_of(name, CPUBIND_THREADS_PRODUCT) != NULL;
}

/*   line = "Name:" name */
static void redact_status(const redactor *r, int32_t *count)
{
    cursor all = r->all, line;
    while (cursor_bare_line(&all, &line))
        if (cursor_takes(&line, "Name:") && !is_known_name(line))
            overwrite(r, line, count);
}

/*   line = number " (" name ") " rest; the name may hold ")" */
static void redact_stat(const redactor *r, int32_t *count)
{
    cursor name = r->all;
    (void)cursor_cut(&name, '(');
    while (cursor_left(&name) && !cursor_drops(&name, ")"))
        name.end--;
    if (!is_known_name(name))
        overwrite(r, name, count);
}

static void redact_comm(const redactor *r, int32_t *count)
{
    if (!is_known_name(r->all))
        overwrite(r, r->all, count);
}

/* Whether a line sets a variable that hides devices of some vendor. */
static int is_visible_list(cursor line)
{
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        for (int k = 0; k < CPUBIND_VENDOR_VARIABLES && v->variable[k]; k++) {
            cursor rest = line;
            if (cursor_takes(&rest, v->variable[k]) && cursor_takes(&rest, "="))
                return 1;
        }
    }
    return 0;
}

/* Overwrites UUIDs in the lists of visible devices, after "GPU-" or "MIG-" up to the comma.
 *   in      end: of each variable, a line feed or a NUL */
static void redact_env(const redactor *r, char end, int32_t *count)
{
    for (cursor all = r->all; cursor_left(&all);) {
        cursor variable = cursor_cut(&all, end);
        const int is_list = is_visible_list(variable);
        while (is_list && cursor_left(&variable))
            if (cursor_takes(&variable, "GPU-") || cursor_takes(&variable, "MIG-"))
                overwrite(r, cursor_cut(&variable, ','), count);
            else
                variable.at++;
    }
}

/* == The name of the host =================================================== */

enum { HOST_MAX = 255, HEX_MAX = 10 };

typedef struct host_name {
    const char *at;
    int32_t len;
} host_name;

static int is_word_byte(char c)
{
    return cursor_is_letter(c) || cursor_is_digit(c) || c == '_' || c == '-';
}

/* Words by which readers and rules recognise lines and columns. */
static const char *const words[] = {
    "aarch64", "affinity", "arm64",   "bus",     "bus-id",    "card",
    "chip",    "core",     "count",   "cpu",     "cpus",      "device",
    "edge",    "found",    "id",      "in",      "info",      "level",
    "logic",   "mcu",      "msi",     "msix",    "na",        "name",
    "nic",     "no",       "node",    "npu",     "npu-smi",   "cpus_allowed_list",
    "number",  "numa",     "pci",     "pcie",    "per",       "phy",
    "phy-id",  "pid",      "process", "product", "processes", "running",
    "serial",  "slot",     "socket",  "thread",  "total",     "type",
    "vendor",  "x86_64",
};

/* How other words of the formats start: chip names, interrupts of the driver. */
static const char *const word_starts[] = {"ascend", "trs-mbox", "msix_"};

static int is_format_word(host_name h)
{
    int32_t n = h.len;
    for (size_t i = 0; i < sizeof word_starts / sizeof word_starts[0]; i++)
        if (starts_with(h.at, h.len, word_starts[i]))
            return 1;
    if (cpubind_is_chip_word(h.at, h.len) || ends_with(h.at, h.len, "_irq") ||
        ends_with(h.at, h.len, "-usage"))
        return 1;
    while (n > 0 && cursor_is_digit(h.at[n - 1]))
        n--;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const int32_t len = (int32_t)strlen(words[i]);
        if ((len == h.len || len == n) && is_same(h.at, words[i], len))
            return 1;
    }
    return 0;
}

/* Whether a name reads as a number of the formats: PCI address, mask, hexadecimal id. */
static int is_number(host_name h)
{
    int32_t i = starts_with(h.at, h.len, "0x") ? 2 : 0;
    if (i == 0 && h.len > HEX_MAX)
        return 0;
    while (i < h.len && (cursor_hex_value(h.at[i]) >= 0 || !cursor_is_letter(h.at[i])))
        i++;
    return i == h.len;
}

/* Whether a name can be told from the words of the formats. */
static int is_telling(host_name h)
{
    int32_t n_letter = 0, n_other = 0;
    if (h.len < 2 || h.len > HOST_MAX)
        return 0;
    for (int32_t i = 0; i < h.len; i++) {
        if (!is_word_byte(h.at[i]) && h.at[i] != '.')
            return 0;
        n_letter += cursor_is_letter(h.at[i]);
        n_other += cursor_lower(h.at[i]) != 'x';
    }
    return n_letter > 0 && n_other > 0 && !is_number(h) && !is_format_word(h);
}

/* The part of the host's name to search for: up to its first dot, or else the whole name; len 0
 * when neither can be told from the formats. */
static host_name choose_name(const char *host)
{
    host_name name = {host, 0};
    size_t n = host ? strlen(host) : 0;
    const char *dot = n > 0 ? (const char *)memchr(host, '.', n) : NULL;
    if (n > HOST_MAX)
        return name;
    name.len = dot ? (int32_t)(dot - host) : (int32_t)n;
    if (!is_telling(name))
        name.len = (int32_t)n;
    if (!is_telling(name))
        name.len = 0;
    return name;
}

int cpubind_redact_finds(const char *host)
{
    return choose_name(host).len > 0;
}

/* The end of the domain that starts at `at`. */
static int32_t skip_domain(const redactor *r, int32_t at, int32_t end)
{
    while (end - at >= 2 && r->text[at] == '.' && is_word_byte(r->text[at + 1])) {
        at++;
        while (at < end && is_word_byte(r->text[at]))
            at++;
    }
    return at;
}

/* Finds the next place of the name in a line, with its domain; returns 0 when there is none. */
static int find_host(const redactor *r, cursor line, host_name name, cursor *out)
{
    for (int32_t at = line.at; line.end - at >= name.len; at++) {
        const int32_t end = at + name.len;
        if (cursor_lower(r->text[at]) != cursor_lower(name.at[0]) ||
            (at > 0 && is_word_byte(r->text[at - 1])) ||
            (end < line.end && is_word_byte(r->text[end])) ||
            !is_same(r->text + at, name.at, name.len))
            continue;
        *out = table_from(line, at);
        out->end = skip_domain(r, end, line.end);
        return 1;
    }
    return 0;
}

static void redact_host(const redactor *r, host_name name, int is_npusmi, int32_t *count)
{
    cursor all = r->all, line, found;
    while (name.len > 0 && cursor_bare_line(&all, &line)) {
        const int is_kept = is_npusmi && is_refusal(line);
        for (; !is_kept && find_host(r, line, name, &found); line.at = found.end)
            overwrite(r, found, count);
    }
}

/* == All of it ============================================================== */

static void redact_secret(const redactor *r, cpubind_input_secret secret,
                          cpubind_redacted *counts)
{
    switch (secret) {
    case CPUBIND_SECRET_TABLES:
        redact_processes(r, &counts->process_names);
        break;
    case CPUBIND_SECRET_SUMMARY:
        redact_summary(r, &counts->process_names);
        break;
    case CPUBIND_SECRET_STATUS:
        redact_status(r, &counts->process_names);
        break;
    case CPUBIND_SECRET_STAT:
        redact_stat(r, &counts->process_names);
        break;
    case CPUBIND_SECRET_COMM:
        redact_comm(r, &counts->process_names);
        break;
    case CPUBIND_SECRET_SERIALS:
        redact_serials(r, &counts->serial_numbers);
        break;
    case CPUBIND_SECRET_ENV:
        redact_env(r, '\n', &counts->serial_numbers);
        break;
    case CPUBIND_SECRET_ENVIRON:
        redact_env(r, '\0', &counts->serial_numbers);
        break;
    default:
        break;
    }
}

/* Process names and serial numbers first: their places are found by words that may be the name
 * of the host. */
void cpubind_redact(const char *input, char *text, int32_t len, const char *host,
                    cpubind_redacted *counts)
{
    cursor_text of;
    const redactor r = {cursor_open(&of, text, len, NULL, 1), text};
    const int32_t n_input = (int32_t)strlen(input);
    const int is_npusmi =
        starts_with(input, n_input, "cmd/npu-smi") && !ends_with(input, n_input, ".err");
    if (!cursor_left(&r.all))
        return;
    redact_secret(&r, cpubind_input_secret_of(input), counts);
    redact_host(&r, choose_name(host), is_npusmi, &counts->host_names);
}
