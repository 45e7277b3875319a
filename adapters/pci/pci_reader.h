/* pci_reader.h - private to this folder: the state of one reading, and how it asks for inputs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. An input that is absent is a case with
 * a rule; one that cannot be read ends the reading.
 */
#ifndef CPUBIND_PCI_READER_H
#define CPUBIND_PCI_READER_H

#include <string.h>

#include "../text/cpulist.h"
#include "../text/cpumask.h"
#include "../text/procfs.h"
#include "../text/scan.h"
#include "pci_facts.h"

#define INPUT_BUS         "sys/bus/pci/devices"
#define INPUT_NODE_FOLDER "sys/devices/system/node"
#define INPUT_NVIDIA      "proc/driver/nvidia/gpus"

typedef struct pci_reader {
    const cpubind_source *source;
    const cpubind_pci_request *request;
    cpubind_arena *arena;
    cpubind_pci_facts *facts;
    cpubind_pci_fault *fault;
    cpubind_input driven; /* the listing of the NVIDIA driver; ABSENT: no such driver */
    int32_t has_classes;  /* some function has the file `class` */
    int32_t n_node[CPUBIND_FAMILY_COUNT]; /* device files that this process may open */
} pci_reader;

/* pci_nodes.c: nodes, online and allowed CPUs, cores. */
cpubind_pci_status cpubind_priv_pci_read_nodes(pci_reader *r);
cpubind_pci_status cpubind_priv_pci_read_allowed(pci_reader *r);
cpubind_pci_status cpubind_priv_pci_read_ids(pci_reader *r);
/* pci_near.c: the bridges above a function, its node, and the CPUs near it. */
cpubind_pci_status cpubind_priv_pci_read_near(pci_reader *r, cpubind_pci_function *function);
/* pci_sight.c: what this process sees of each device. */
cpubind_pci_status cpubind_priv_pci_read_sight(pci_reader *r);

static inline cpubind_pci_status pci_fail(pci_reader *r, const char *name, cpubind_input answer,
                                          int32_t offset, const char *what)
{
    r->fault->input = name;
    r->fault->answer = answer;
    r->fault->offset = offset;
    r->fault->what = what;
    return CPUBIND_PCI_UNREADABLE;
}

/* An answer with bytes and an absent input are no fault; any other answer is one. */
static inline cpubind_pci_status pci_judge(pci_reader *r, const char *name,
                                           cpubind_input answer)
{
    switch (answer.state) {
    case CPUBIND_INPUT_PRESENT:
    case CPUBIND_INPUT_ABSENT:
        return CPUBIND_PCI_OK;
    case CPUBIND_INPUT_TOO_LONG:
        return pci_fail(r, name, answer, -1, "it is too long");
    case CPUBIND_INPUT_FAILED:
    case CPUBIND_INPUT_TIMEOUT:
        break;
    }
    return pci_fail(r, name, answer, -1, "it could not be read");
}

static inline int pci_is_present(cpubind_input answer)
{
    return answer.state == CPUBIND_INPUT_PRESENT;
}

/* The name "folder/middle/leaf", in the arena; NULL when the arena is full. */
static inline const char *pci_path(pci_reader *r, const char *folder, const char *middle,
                                   const char *leaf)
{
    const char *const part[] = {folder, "/", middle, "/", leaf};
    size_t n = 1;
    char *out;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        n += strlen(part[i]);
    out = (char *)cpubind_arena_take(r->arena, (int32_t)n, 1);
    for (size_t i = 0, at = 0; out && i < sizeof part / sizeof part[0]; i++) {
        memcpy(out + at, part[i], strlen(part[i]) + 1);
        at += strlen(part[i]);
    }
    return out;
}

/* Whether a CPU is online. */
static inline int pci_is_online(const cpubind_pci_facts *f, int32_t cpu)
{
    return cpu < f->n_cpu_id && f->node_of[cpu] >= 0;
}

/* The name of the input `leaf` of a function; NULL when the arena is full. */
static inline const char *pci_function_path(pci_reader *r, const cpubind_pci_address *pci,
                                            const char *leaf)
{
    char address[CPUBIND_PCI_ADDRESS_MAX];
    (void)cpubind_pci_format(address, pci);
    return pci_path(r, INPUT_BUS, address, leaf);
}

/* Asks for an input. */
static inline cpubind_pci_status pci_ask(pci_reader *r, const char *name, cpubind_input *out)
{
    if (!name)
        return CPUBIND_PCI_NO_MEMORY;
    *out = r->source->read(r->source->ctx, name);
    return pci_judge(r, name, *out);
}

/* Fails a file of the kernel without the line feed at its end: the rest was lost. */
static inline cpubind_pci_status pci_check_end(pci_reader *r, const char *name,
                                               cpubind_input answer)
{
    int32_t len = answer.len;
    while (len > 0 && answer.data[len - 1] == '\0')
        len--;
    if (len > 0 && answer.data[len - 1] == '\n')
        return CPUBIND_PCI_OK;
    return pci_fail(r, name, answer, answer.len,
                    "the text does not end in a line feed: it is cut");
}

/* Reads the number in a small file; `without` when there is no such file. */
static inline cpubind_pci_status pci_read_number(pci_reader *r, const char *name,
                                                 int32_t without, int32_t *out)
{
    cpubind_input answer;
    cpubind_text_fault fault;
    const cpubind_pci_status status = pci_ask(r, name, &answer);
    *out = without;
    if (status != CPUBIND_PCI_OK || !pci_is_present(answer))
        return status;
    if (cpubind_number_parse(answer.data, answer.len, out, &fault) != CPUBIND_TEXT_OK)
        return pci_fail(r, name, answer, fault.offset, fault.what);
    return pci_check_end(r, name, answer);
}

/* A parser of CPUs: of a list, "0-3", or of a mask, "0000000f". */
typedef cpubind_text_status pci_parse_cpus(const char *text, int32_t len, int32_t limit,
                                           cpubind_int_list *list, cpubind_text_fault *fault);

/* Reads CPUs in the arena. *out_n is -1 when there is no such file. */
static inline cpubind_pci_status pci_read_cpus(pci_reader *r, const char *name,
                                               pci_parse_cpus *parse, int32_t **out,
                                               int32_t *out_n)
{
    cpubind_input answer;
    cpubind_text_fault fault;
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_status read;
    cpubind_pci_status status = pci_ask(r, name, &answer);
    *out = NULL;
    *out_n = -1;
    if (status != CPUBIND_PCI_OK || !pci_is_present(answer))
        return status;
    read = parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, &fault);
    if (read == CPUBIND_TEXT_ERR_SPACE) {
        list.cap = list.n;
        list.out = cpubind_arena_ints(r->arena, list.cap);
        if (!list.out)
            return CPUBIND_PCI_NO_MEMORY;
        read = parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, &fault);
    }
    if (read != CPUBIND_TEXT_OK)
        return pci_fail(r, name, answer, fault.offset, fault.what);
    *out = list.out;
    *out_n = list.n;
    return pci_check_end(r, name, answer);
}

/* Steps to the next name of a listing; returns 0 at its end. */
static inline int pci_next_name(cpubind_input listing, int32_t *at, cpubind_slice *out)
{
    const scan_text in = {listing.data, listing.len, NULL};
    scan_line line = {{0, 0}, *at, 0};
    if (!pci_is_present(listing) || !scan_next_line(&in, &line))
        return 0;
    *at = line.next;
    *out = scan_slice(line.run);
    return 1;
}

static inline int32_t pci_count_names(cpubind_input listing)
{
    cpubind_slice name;
    int32_t at = 0, n = 0;
    while (pci_next_name(listing, &at, &name))
        n++;
    return n;
}

/* The index of a node in facts->all_node; -1: there is none. */
static inline int32_t pci_node_index(const cpubind_pci_facts *f, int32_t node)
{
    for (int32_t i = 0; i < f->n_all_node; i++)
        if (f->all_node[i] == node)
            return i;
    return -1;
}

#endif /* CPUBIND_PCI_READER_H */
