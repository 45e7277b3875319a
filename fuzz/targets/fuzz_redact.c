/* fuzz_redact.c - fuzz target: redact an input
 * SPDX-License-Identifier: MIT
 *
 * The first line is the name of an input, a blank, and the name of the host; the rest is the
 * text of that input. The readers must read the same before and after redaction, as
 * adapters/ascend/redact.h promises.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/ascend/npusmi.h"
#include "../../adapters/ascend/redact.h"
#include "../../adapters/text/input_name.h"
#include "../../adapters/text/interrupts.h"
#include "../../adapters/text/lscpu.h"
#include "../../adapters/text/procfs.h"

enum { MAX_ELEMENTS = 256, MAX_CPUS = 2048 };

/* The result of a reader: two arrays, numbers, and the text that the reader does not know. */
typedef struct result {
    cpubind_text_status status;
    cpubind_text_fault fault;
    int32_t n[2];
    int32_t extra[4];
    cpubind_slice unknown;
    union {
        cpubind_npusmi_device device[MAX_ELEMENTS];
        cpubind_npusmi_chip chip[MAX_ELEMENTS];
        cpubind_npusmi_affinity row[MAX_ELEMENTS];
        cpubind_npusmi_board board[MAX_ELEMENTS];
        cpubind_npusmi_card card[MAX_ELEMENTS];
        cpubind_interrupt irq[MAX_ELEMENTS];
        int32_t number[MAX_CPUS];
    } a;
    union {
        cpubind_npusmi_process process[MAX_ELEMENTS];
        int32_t number[MAX_CPUS];
    } b;
} result;

static void read_info(const char *text, int32_t len, result *s)
{
    cpubind_npusmi_info info;
    memset(&info, 0, sizeof info);
    info.device = s->a.device;
    info.process = s->b.process;
    info.cap_device = info.cap_process = MAX_ELEMENTS;
    s->status = cpubind_npusmi_parse_info(text, len, &info, &s->fault);
    s->n[0] = info.n_device;
    s->n[1] = info.n_process;
    s->extra[0] = info.has_process_table;
    s->extra[1] = info.version.at;
    s->extra[2] = info.version.len;
    s->unknown = info.unknown;
}

static void read_topo(const char *text, int32_t len, result *s)
{
    cpubind_npusmi_topo topo;
    memset(&topo, 0, sizeof topo);
    topo.row = s->a.row;
    topo.cpu = s->b.number;
    topo.cap_row = MAX_ELEMENTS;
    topo.cap_cpu = MAX_CPUS;
    s->status = cpubind_npusmi_parse_topo(text, len, &topo, &s->fault);
    s->n[0] = topo.n_row;
    s->n[1] = topo.n_cpu;
    s->extra[0] = topo.has_affinity;
    s->extra[1] = (int32_t)topo.label;
    s->unknown = topo.unknown;
}

static void read_map(const char *text, int32_t len, result *s)
{
    cpubind_npusmi_map map = {s->a.chip, MAX_ELEMENTS, 0, 0, 0, {0, 0}};
    s->status = cpubind_npusmi_parse_map(text, len, &map, &s->fault);
    s->n[0] = map.n_chip;
    s->extra[0] = map.has_logic;
    s->unknown = map.unknown;
}

static void read_list(const char *text, int32_t len, result *s)
{
    cpubind_npusmi_cards cards = {s->a.card, MAX_ELEMENTS, 0, {0, 0}};
    s->status = cpubind_npusmi_parse_list(text, len, &cards, &s->fault);
    s->n[0] = cards.n_card;
    s->unknown = cards.unknown;
}

static void read_board(const char *text, int32_t len, result *s)
{
    cpubind_npusmi_boards boards = {s->a.board, MAX_ELEMENTS, 0, {0, 0}};
    s->status = cpubind_npusmi_parse_board(text, len, &boards, &s->fault);
    s->n[0] = boards.n_board;
    s->unknown = boards.unknown;
}

static int is(const char *input, const char *name)
{
    return strcmp(input, name) == 0;
}

static void read_nodes(const char *text, int32_t len, result *s)
{
    cpubind_lscpu_nodes rows = {.cpu = s->a.number, .node = s->b.number, .cap = MAX_CPUS};
    s->status = cpubind_lscpu_parse_nodes(text, len, &rows, &s->fault);
    s->n[0] = rows.n;
}

static void read_status(const char *text, int32_t len, result *s)
{
    cpubind_int_list list = {s->a.number, MAX_CPUS, 0};
    s->status = cpubind_status_parse(text, len, &list, &s->fault);
    s->n[0] = list.n;
}

static void read_interrupts(const char *text, int32_t len, result *s)
{
    cpubind_interrupt_list list = {s->a.irq, MAX_ELEMENTS, 0, 0};
    s->status = cpubind_interrupts_parse(text, len, &list, &s->fault);
    s->n[0] = list.n;
    s->extra[0] = list.n_cpu;
}

/* Calls the reader of an input; the status is OK for an input without a reader. */
static void read_input(const char *input, const char *text, int32_t len, result *s)
{
    cpubind_slice card, chip;
    memset(s, 0, sizeof *s);
    if (is(input, "cmd/npu-smi-info.txt"))
        read_info(text, len, s);
    else if (is(input, "cmd/npu-smi-info-t-topo.txt"))
        read_topo(text, len, s);
    else if (is(input, "cmd/npu-smi-info-m.txt"))
        read_map(text, len, s);
    else if (is(input, "cmd/npu-smi-info-l.txt"))
        read_list(text, len, s);
    else if (is(input, "cmd/lscpu.txt"))
        s->status = cpubind_lscpu_parse_threads(text, len, &s->extra[0], &s->fault);
    else if (is(input, "cmd/lscpu-e.txt"))
        read_nodes(text, len, s);
    else if (is(input, "proc/self/status"))
        read_status(text, len, s);
    else if (is(input, "proc/interrupts"))
        read_interrupts(text, len, s);
    else if (cpubind_input_is_board(input, &card, &chip))
        read_board(text, len, s);
}

static int is_none(const cpubind_redacted *counts)
{
    return counts->host_names == 0 && counts->serial_numbers == 0 && counts->process_names == 0;
}

/* Redaction changes bytes to "x", but no blank, control character or bar; counts the names it
 * changes; and changes nothing in a second call. */
static void check_bytes(const char *input, const char *text, const char *out, int32_t len,
                        const char *host, const cpubind_redacted *counts)
{
    cpubind_redacted again = {0, 0, 0};
    char *twice = fuzz_text(out, (size_t)len);
    int is_changed = 0;
    for (int32_t i = 0; i < len; i++) {
        CHECK(out[i] == text[i] ||
              (out[i] == 'x' && (unsigned char)text[i] > ' ' && text[i] != '|'));
        is_changed |= out[i] != text[i];
    }
    CHECK(counts->host_names >= 0 && counts->serial_numbers >= 0 && counts->process_names >= 0);
    CHECK(is_changed == !is_none(counts));
    cpubind_redact(input, twice, len, host, &again);
    CHECK(fuzz_same(twice, out, (size_t)len) && is_none(&again));
    free(twice);
}

/* The reader gives the same result for the redacted text. A text that cannot be read fails with
 * the same status, but perhaps at another place, unless the name of a host was redacted. Where
 * npu-smi info has names, this holds for what npu-smi prints (tests/ascend/test_redact.c): of a
 * damaged table redaction overwrites what may be a name, and the reader may not see one. */
static void check_reading(const char *input, const char *text, const char *out, int32_t len,
                          int is_strict, const cpubind_redacted *counts)
{
    static result before, after;
    read_input(input, text, len, &before);
    if (before.status != CPUBIND_TEXT_OK && !is_strict)
        return;
    read_input(input, out, len, &after);
    if (!is(input, "cmd/npu-smi-info.txt") || counts->process_names == 0) {
        CHECK(before.status == after.status);
        CHECK(before.status != CPUBIND_TEXT_OK || fuzz_same(&before, &after, sizeof before));
    }
    if (strncmp(input, "cmd/npu-smi", 11) == 0) {
        cpubind_slice a = {-1, -1}, b = {-1, -1};
        CHECK(cpubind_npusmi_find_refusal(text, len, &a) ==
              cpubind_npusmi_find_refusal(out, len, &b));
        CHECK(a.at == b.at && a.len == b.len);
        CHECK(cpubind_npusmi_count_lost(text, len) == cpubind_npusmi_count_lost(out, len));
    }
}

static void check_with(const char *input, const char *text, int32_t len, const char *host)
{
    cpubind_redacted counts = {0, 0, 0};
    char *out = fuzz_text(text, (size_t)len);
    cpubind_redact(input, out, len, host, &counts);
    check_bytes(input, text, out, len, host, &counts);
    check_reading(input, text, out, len, host == NULL, &counts);
    free(out);
}

static void check_text(const char *text, int32_t len, const char *name)
{
    const size_t n = strcspn(name, " ");
    char *input = (char *)fuzz_filled(n + 1, 0);
    memcpy(input, name, n);
    check_with(input, text, len, NULL);
    if (name[n])
        check_with(input, text, len, name + n + 1);
    free(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_text);
}
