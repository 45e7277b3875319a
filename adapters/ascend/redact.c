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
#include "../text/scan.h"
#include "doctor_inputs.h"
#include "input_list.h"
#include "npusmi.h"
#include "table_reader.h"
#include "thread_roles.h"

#define INPUT_INFO      "cmd/npu-smi-info.txt"
#define INPUT_LIST      "cmd/npu-smi-info-l.txt"
#define INPUT_STATUS    "proc/self/status"
#define INPUT_PROCESSES "proc/trs_core/proc/" /* how the names of all its files start */
#define INPUT_ENV       "env"
#define INPUT_NPUSMI    "cmd/npu-smi" /* how the names of all its outputs start */

/* A text that is read through `in` and written through `text`. */
typedef struct redactor {
    scan_text in;
    char *text;
} redactor;

static int ends_with_letters(const char *bytes, int32_t len, const char *letters)
{
    const int32_t n = (int32_t)strlen(letters);
    return len >= n && scan_same_letters(bytes + len - n, letters, n);
}

/* Overwrites a run, except blanks, control characters and bars, which form lines and tables.
 * *count grows by one when a byte was changed. */
static void overwrite(const redactor *r, scan_run run, int32_t *count)
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
static int is_refusal(const redactor *r, scan_run line)
{
    const char *text = r->text + line.at;
    const int32_t len = line.end - line.at;
    return scan_starts_with_letters(text, len, "Failed to get") ||
           cpubind_npusmi_find_refusal(text, len, NULL) != CPUBIND_NPUSMI_NONE;
}

/* == The process table ====================================================== */

enum { MAX_CELLS = 16, NAME_CELL = 2, PROCESS_CELLS = 4 };

/* A line with bars. The first bar may be missing. */
typedef struct bar_row {
    scan_run line;
    int32_t n; /* cells that end with a bar; there may be more than are held */
    scan_run cell[MAX_CELLS];
    int32_t rest; /* after the last bar */
} bar_row;

static void split_row(const redactor *r, scan_run line, bar_row *row)
{
    int32_t at = line.at;
    row->line = line;
    row->n = 0;
    at += at < line.end && r->text[at] == '|';
    for (;;) {
        const char *bar = at < line.end
                              ? (const char *)memchr(r->text + at, '|', (size_t)(line.end - at))
                              : NULL;
        const scan_run cell = {at, bar ? (int32_t)(bar - r->text) : line.end};
        if (row->n < MAX_CELLS)
            row->cell[row->n] = cell;
        if (!bar)
            break;
        at = cell.end + 1;
        row->n++;
    }
    row->rest = at;
}

static int is_closed(const bar_row *row)
{
    return row->rest == row->line.end && row->n > 0;
}

static int is_blank(const redactor *r, scan_run run)
{
    return scan_is_empty(scan_trim(&r->in, run));
}

/* Whether a line is a rule: bars inside it do not make it a row. */
static int is_rule(const redactor *r, scan_run line)
{
    const char *text = r->text + line.at;
    return line.end - line.at > 2 && text[0] == '+' && (text[1] == '-' || text[1] == '=') &&
           r->text[line.end - 1] == '+';
}

/* Finds the name of a process, which may hold bars. In a whole row the cells after it are found
 * from the right. In a cut row all that follows the cell before it counts as the name,
 * without the end of a rule. */
static scan_run find_name(const redactor *r, const bar_row *row, int32_t at, int32_t n_cell)
{
    scan_run name = {row->cell[at].at, row->line.end};
    if (!is_closed(row) || row->n < n_cell) {
        name.end -= is_rule(r, row->line);
        return name;
    }
    name.end--;
    for (int32_t i = at + 1; i < n_cell; i++) {
        do
            name.end--;
        while (r->text[name.end] != '|');
    }
    return name;
}

/* Overwrites the words of a row of numbers in no table of the reader, which may be a process
 * below a damaged header; not the health of a device, by which the reader knows one. */
static void redact_unplaced(const redactor *r, const bar_row *row, int32_t *count)
{
    const scan_run key = scan_trim(&r->in, row->cell[0]);
    if (r->text[row->line.at] != '|' || !scan_starts_with_digit(&r->in, key) ||
        row->n + !is_closed(row) < PROCESS_CELLS)
        return;
    for (int32_t i = NAME_CELL; i < MAX_CELLS && i < row->n + !is_closed(row); i++) {
        scan_run word = row->cell[i];
        while (word.at < word.end && !cursor_is_letter(r->text[word.at]) &&
               (unsigned char)r->text[word.at] < 0x80)
            word.at++;
        if (!SCAN_IS(&r->in, scan_trim(&r->in, row->cell[i]), "OK"))
            overwrite(r, word, count);
    }
}

/* Overwrites the names of processes in each line of their table, whether it can be read or not.
 * The reader says where the table is, and which cell has the name. */
static void redact_processes(const redactor *r, int32_t *count)
{
    const scan_text in = {r->text, r->in.len, NULL};
    table t;
    cpubind_priv_table_open(&t, &in, TABLE_INFO);
    for (int32_t last = -1; t.line.next > last;) {
        const table_event event = cpubind_priv_table_next(&t);
        const int32_t name = cpubind_priv_table_place(&t, TABLE_PROCESS);
        bar_row row;
        last = t.start;
        if (event == TABLE_END && t.status == CPUBIND_TEXT_OK)
            return;
        t.status = CPUBIND_TEXT_OK; /* on with the next line */
        t.at_head = event == TABLE_END ? 0 : t.at_head;
        split_row(r, t.line.run, &row);
        if (event == TABLE_HEADER || scan_is_empty(t.line.run))
            continue;
        if (t.section != TABLE_USERS && event != TABLE_RECORD &&
            (t.section != TABLE_ROWS || row.n > t.head->n_cell))
            redact_unplaced(r, &row, count);
        else if (t.section == TABLE_USERS && name >= 0 && row.n >= name &&
                 (r->text[t.line.run.at] == '|' || !is_refusal(r, t.line.run)))
            overwrite(r, find_name(r, &row, name, t.head->n_cell), count);
    }
}

/* == Keys and values ======================================================== */

/* The ends of the keys whose values identify a machine. "VDie ID" and "NDie ID" are ids of
 * dies. */
static const char *const secret_keys[] = {
    "Serial Number", "Serial No", "Serial No.", "SN", "Die ID", "UUID", "GUID", "MAC Address",
};

static int is_secret(const redactor *r, scan_run key)
{
    for (size_t i = 0; i < sizeof secret_keys / sizeof secret_keys[0]; i++)
        if (ends_with_letters(r->text + key.at, key.end - key.at, secret_keys[i]))
            return 1;
    return 0;
}

/*   line = key ":" value / ":" value         the second form continues the value before it */
static void redact_serials(const redactor *r, int32_t *count)
{
    scan_line line = {{0, 0}, 0, 0};
    int is_on = 0;
    while (scan_next_line(&r->in, &line)) {
        const scan_run run = line.run;
        const char *colon =
            scan_is_empty(run)
                ? NULL
                : (const char *)memchr(r->text + run.at, ':', (size_t)(run.end - run.at));
        const int32_t at = colon ? (int32_t)(colon - r->text) : run.end;
        const scan_run before = {run.at, at}, after = {at + 1, run.end};
        if (!colon)
            continue;
        if (!is_blank(r, before))
            is_on = is_secret(r, scan_trim(&r->in, before));
        if (is_on && !SCAN_IS(&r->in, scan_trim(&r->in, after), "NA") && !is_refusal(r, run))
            overwrite(r, after, count);
    }
}

/*   text = "pid " number "(" name ") task_id " rest          the first line of a summary
 * The name may hold brackets and line feeds: it ends at the last ") task_id ". */
static void redact_summary(const redactor *r, int32_t *count)
{
    static const char end[] = ") task_id ";
    const char *open = (const char *)memchr(r->text, '(', (size_t)r->in.len);
    const int32_t n = (int32_t)sizeof end - 1;
    scan_run name = {open ? (int32_t)(open - r->text) + 1 : r->in.len, r->in.len};
    for (int32_t at = r->in.len - n; at >= name.at; at--)
        if (memcmp(r->text + at, end, (size_t)n) == 0) {
            name.end = at;
            break;
        }
    if (open)
        overwrite(r, name, count);
}

/* Whether the name of a process or a thread says what it is for, which checks ask: irqbalance
 * or a thread with a role. */
static int is_known_name(const redactor *r, scan_run run)
{
    char name[16] = "";
    while (run.at < run.end && (r->text[run.at] == ' ' || r->text[run.at] == '\t'))
        run.at++;
    while (run.end > run.at && r->text[run.end - 1] == '\n')
        run.end--;
    if (run.end - run.at >= (int32_t)sizeof name)
        return 0;
    memcpy(name, r->text + run.at, (size_t)(run.end - run.at));
    return SCAN_IS(&r->in, run, "irqbalance") ||
           cpubind_thread_role_of(name, CPUBIND_THREADS_PRODUCT) != NULL;
}

/*   line = "Name:" name */
static void redact_status(const redactor *r, int32_t *count)
{
    static const char key[] = "Name:";
    scan_line line = {{0, 0}, 0, 0};
    while (scan_next_line(&r->in, &line)) {
        scan_run run = line.run;
        if (!SCAN_STARTS(&r->in, run, key))
            continue;
        run.at += (int32_t)(sizeof key - 1);
        if (!is_known_name(r, run))
            overwrite(r, run, count);
    }
}

/*   line = number " (" name ") " rest; the name may hold ")" */
static void redact_stat(const redactor *r, int32_t *count)
{
    const char *open = (const char *)memchr(r->text, '(', (size_t)r->in.len);
    scan_run name = {open ? (int32_t)(open - r->text) + 1 : r->in.len, r->in.len};
    while (name.end > name.at && r->text[name.end - 1] != ')')
        name.end--;
    name.end -= name.end > name.at;
    if (!is_known_name(r, name))
        overwrite(r, name, count);
}

/* The files of a process, or of a thread, that have its name. */
static void redact_process(const redactor *r, const char *input, int32_t *count)
{
    const int32_t n = (int32_t)strlen(input);
    const scan_run whole = {0, r->in.len};
    if (ends_with_letters(input, n, "/status"))
        redact_status(r, count);
    else if (ends_with_letters(input, n, "/stat"))
        redact_stat(r, count);
    else if (ends_with_letters(input, n, "/comm") && !is_known_name(r, whole))
        overwrite(r, whole, count);
}

/* Whether a line sets a variable that hides devices of some vendor. */
static int is_visible_list(const redactor *r, scan_run line)
{
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        for (int k = 0; k < CPUBIND_VENDOR_VARIABLES && v->variable[k]; k++) {
            const int32_t n = (int32_t)strlen(v->variable[k]);
            if (scan_starts(&r->in, line, v->variable[k], n) && line.at + n < line.end &&
                r->text[line.at + n] == '=')
                return 1;
        }
    }
    return 0;
}

/* Overwrites UUIDs in the lists of visible devices, after "GPU-" or "MIG-" up to the comma. */
static void redact_env(const redactor *r, int32_t *count)
{
    scan_line line = {{0, 0}, 0, 0};
    while (scan_next_line(&r->in, &line)) {
        scan_run run = line.run;
        for (const int is_list = is_visible_list(r, run); is_list && run.at < run.end;
             run.at++) {
            const scan_run rest = {run.at + 4, run.end};
            scan_run id = rest;
            if (!SCAN_STARTS(&r->in, run, "GPU-") && !SCAN_STARTS(&r->in, run, "MIG-"))
                continue;
            for (id.end = id.at; id.end < rest.end && r->text[id.end] != ','; id.end++)
                ;
            overwrite(r, id, count);
            run.at = id.end - 1;
        }
    }
}

/* The same of the environment of a process, whose strings end in NUL. */
static void redact_environ(const redactor *r, int32_t *count)
{
    for (int32_t at = 0, n; at < r->in.len; at += n + 1) {
        char *text = r->text + at;
        const char *end = (const char *)memchr(text, '\0', (size_t)(r->in.len - at));
        n = end ? (int32_t)(end - text) : r->in.len - at;
        redact_env(&(redactor){{text, n, NULL}, text}, count);
    }
}

/* Whether an input is a file of the driver of some vendor, about one of its devices. */
static int is_driver_file(const char *input)
{
    const int32_t len = (int32_t)strlen(input);
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const char *folder = cpubind_vendor_of((cpubind_vendor_id)i)->driver.folder;
        if (folder && scan_starts_with_letters(input, len, folder) &&
            input[strlen(folder)] == '/')
            return 1;
    }
    return 0;
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
        if (scan_starts_with_letters(h.at, h.len, word_starts[i]))
            return 1;
    if (cpubind_is_chip_word(h.at, h.len) || ends_with_letters(h.at, h.len, "_irq") ||
        ends_with_letters(h.at, h.len, "-usage"))
        return 1;
    while (n > 0 && cursor_is_digit(h.at[n - 1]))
        n--;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const int32_t len = (int32_t)strlen(words[i]);
        if ((len == h.len || len == n) && scan_same_letters(h.at, words[i], len))
            return 1;
    }
    return 0;
}

/* Whether a name reads as a number of the formats: PCI address, mask, hexadecimal id. */
static int is_number(host_name h)
{
    int32_t i = scan_starts_with_letters(h.at, h.len, "0x") ? 2 : 0;
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
static int find_host(const redactor *r, scan_run line, host_name name, scan_run *out)
{
    for (int32_t at = line.at; line.end - at >= name.len; at++) {
        const int32_t end = at + name.len;
        if (cursor_lower(r->text[at]) != cursor_lower(name.at[0]) ||
            (at > 0 && is_word_byte(r->text[at - 1])) ||
            (end < line.end && is_word_byte(r->text[end])) ||
            !scan_same_letters(r->text + at, name.at, name.len))
            continue;
        out->at = at;
        out->end = skip_domain(r, end, line.end);
        return 1;
    }
    return 0;
}

static void redact_host(const redactor *r, host_name name, int is_npusmi, int32_t *count)
{
    scan_line line = {{0, 0}, 0, 0};
    while (name.len > 0 && scan_next_line(&r->in, &line)) {
        scan_run left = line.run, found;
        if (!find_host(r, left, name, &found) || (is_npusmi && is_refusal(r, line.run)))
            continue;
        do {
            overwrite(r, found, count);
            left.at = found.end;
        } while (find_host(r, left, name, &found));
    }
}

/* == All of it ============================================================== */

static int is_input(const char *input, const char *name)
{
    const size_t n = strlen(name);
    return strlen(input) == n && memcmp(input, name, n) == 0;
}

/* Process names and serial numbers first: their places are found by words that may be the name
 * of the host. */
void cpubind_redact(const char *input, char *text, int32_t len, const char *host,
                    cpubind_redacted *counts)
{
    const redactor r = {{text, len, NULL}, text};
    const int32_t n_input = (int32_t)strlen(input);
    cpubind_piece card, chip;
    if (!text || len <= 0)
        return;
    if (is_input(input, INPUT_INFO))
        redact_processes(&r, &counts->process_names);
    else if (scan_starts_with_letters(input, n_input, INPUT_PROCESSES))
        redact_summary(&r, &counts->process_names);
    else if (is_input(input, INPUT_STATUS))
        redact_status(&r, &counts->process_names);
    else if (cpubind_doctor_input_has(input) && ends_with_letters(input, n_input, "/environ"))
        redact_environ(&r, &counts->serial_numbers);
    else if (cpubind_doctor_input_has(input) &&
             scan_starts_with_letters(input, n_input, "proc/"))
        redact_process(&r, input, &counts->process_names);
    else if (is_input(input, INPUT_ENV))
        redact_env(&r, &counts->serial_numbers);
    else if (is_driver_file(input) || is_input(input, INPUT_LIST) ||
             cpubind_input_is_board(input, &card, &chip))
        redact_serials(&r, &counts->serial_numbers);
    redact_host(&r, choose_name(host),
                scan_starts_with_letters(input, n_input, INPUT_NPUSMI) &&
                    !ends_with_letters(input, n_input, ".err"),
                &counts->host_names);
}
