/* lines.h - what the readers of npu-smi read, as lines: one a row, to compare
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_ASCEND_LINES_H
#define CPUBIND_TESTS_ASCEND_LINES_H

#include "../text/readers.h"

#include <inttypes.h>

enum { MAX_LINES = 1 << 17 };

typedef struct lines {
    cpubind_text_status status;
    cpubind_text_fault fault;
    cpubind_slice unknown;
    int32_t len;
    char text[MAX_LINES];
} lines;

static inline void add(lines *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void add(lines *out, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(out->text + out->len, (size_t)(MAX_LINES - out->len), format, arguments);
    va_end(arguments);
    assert_in_range(n, 0, MAX_LINES - out->len - 1);
    out->len += n;
}

static inline void add_slice(lines *out, const reading *r, cpubind_slice slice)
{
    add(out, " \"%.*s\"", (int)slice.len, r->text + slice.at);
}

static inline void add_pci(lines *out, const cpubind_pci_address *pci)
{
    add(out, " %" PRId32 ":%" PRId32 ":%" PRId32 ".%" PRId32, pci->domain, pci->bus,
        pci->device, pci->function);
}

static inline void write_map(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_map(&r, text, len);
    out->fault = r.fault;
    out->unknown = r.unknown;
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.n_chip; i++) {
        add(out, "chip %" PRId32 ".%" PRId32 " %" PRId32 " %" PRId32, r.chip[i].card,
            r.chip[i].chip, r.chip[i].logic, r.chip[i].phy);
        add_slice(out, &r, r.chip[i].name);
        add(out, "\n");
    }
    end_reading(&r);
}

static inline void write_topo(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_topo(&r, text, len);
    out->fault = r.fault;
    out->unknown = r.unknown;
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.topo.n_row; i++) {
        const cpubind_npusmi_affinity *row = &r.topo.row[i];

        add(out, "row %d %" PRId32, (int)r.topo.label, row->id);
        for (int32_t k = 0; k < row->count; k++)
            add(out, " %" PRId32, r.topo.cpu[row->first + k]);
        add(out, "\n");
    }
    end_reading(&r);
}

static inline void add_device(lines *out, const reading *r, const cpubind_npusmi_device *device)
{
    add(out, "device %" PRId32 ".%" PRId32 " %" PRId32 " %" PRId32, device->card, device->chip,
        device->logic, device->phy);
    add_slice(out, r, device->name);
    add_slice(out, r, device->health);
    add_pci(out, &device->pci);
    add(out, "\n");
}

/* The devices alone, whatever the processes are. */
static inline void write_devices(lines *out, const char *text, int32_t len)
{
    static cpubind_npusmi_device device[CPUBIND_MAX_DEVICES];
    cpubind_npusmi_info info = {.device = device, .cap_device = CPUBIND_MAX_DEVICES};
    reading r;

    start_reading(&r, text, len);
    out->status = cpubind_npusmi_parse_devices(r.text, len, &info, &out->fault);
    out->unknown = info.unknown;
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < info.n_device; i++)
        add_device(out, &r, &device[i]);
    end_reading(&r);
}

static inline void write_info(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_info(&r, text, len);
    out->fault = r.fault;
    out->unknown = r.unknown;
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.info.n_device; i++)
        add_device(out, &r, &r.info.device[i]);
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.info.n_process; i++) {
        const cpubind_npusmi_process *process = &r.info.process[i];

        add(out, "process %" PRId32 ".%" PRId32 " %" PRId32 " %" PRId32, process->card,
            process->chip, process->pid, process->container_pid);
        add_slice(out, &r, process->name);
        add(out, "\n");
    }
    end_reading(&r);
}

static inline void write_board(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_board(&r, text, len);
    out->fault = r.fault;
    out->unknown = r.unknown;
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.n_board; i++) {
        add(out, "board %" PRId32 ".%" PRId32, r.board[i].card, r.board[i].chip);
        if (r.board[i].has_pci)
            add_pci(out, &r.board[i].pci);
        add(out, "\n");
    }
    end_reading(&r);
}

static inline void write_list(lines *out, const char *text, int32_t len)
{
    reading r;

    out->status = read_list(&r, text, len);
    out->fault = r.fault;
    out->unknown = r.unknown;
    for (int32_t i = 0; out->status == CPUBIND_TEXT_OK && i < r.n_card; i++)
        add(out, "card %" PRId32 " %" PRId32 "\n", r.card[i].card, r.card[i].n_chip);
    end_reading(&r);
}

typedef void write_fn(lines *out, const char *text, int32_t len);

#endif
