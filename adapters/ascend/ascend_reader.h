/* ascend_reader.h - private to this folder: the state of one reading of NPUs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Included by facts*.c and
 * driver_reader.h alone.
 */
#ifndef CPUBIND_ASCEND_ASCEND_READER_H
#define CPUBIND_ASCEND_ASCEND_READER_H

#include "../model/facts_reader.h"
#include "npusmi.h"

#define INPUT_MAP  "cmd/npu-smi-info-m.txt"
#define INPUT_INFO "cmd/npu-smi-info.txt"
#define INPUT_TOPO "cmd/npu-smi-info-t-topo.txt"

/* Why the driver's files do not name the NPUs, where *r->problem says so and is no fault. */
typedef enum driver_outcome {
    DRIVER_COMPLETE = 0, /* it is one, or they name them */
    DRIVER_GAP,          /* something that is needed is not there: npu-smi may know it */
    DRIVER_CONTRADICTION /* two inputs disagree: npu-smi decides, with a warning */
} driver_outcome;

typedef struct ascend_reading {
    cpubind_input info_answer;          /* npu-smi info; ABSENT when it was not asked for */
    cpubind_text_status info_status;    /* of its devices; ERR_MISSING without an answer */
    cpubind_text_status process_status; /* of its processes; ERR_MISSING without an answer */
    cpubind_text_fault info_fault;
    cpubind_npusmi_info info;   /* its devices are none where they are not known */
    int32_t has_read_processes; /* the process table was asked for */
    int32_t is_map_short;       /* npu-smi info names an NPU that npu-smi info -m lacks */
    driver_outcome outcome;
} ascend_reading;

/* == The steps ============================================================== */

/* Only facts_read.c calls them: it decides which are needed, and in which order. */

/* facts_census.c: the product when the bus has only one, else AUTO; the NPUs of facts->type;
 * which of them the NPUs in view are; the CPUs near each; node 0 for the hidden ones that are
 * on no node; for slices, what is known of all that. */
cpubind_device_type cpubind_priv_type_on_bus(const facts_reader *r);
cpubind_problem_code cpubind_priv_choose_functions(facts_reader *r);
void cpubind_priv_attach_functions(facts_reader *r);
cpubind_problem_code cpubind_priv_read_homes(facts_reader *r);
cpubind_problem_code cpubind_priv_take_node_0(facts_reader *r, int of_hidden_alone);
cpubind_problem_code cpubind_priv_read_locality(facts_reader *r);

/* facts_npus.c: an NPU with its ids, of which everything else is not known; room for n of them,
 * NULL when the arena is full; one of them put into its place by its logic id, 0 when that is
 * there already. */
cpubind_host_device cpubind_priv_new_npu(int32_t logic, int32_t card, int32_t chip,
                                         int32_t phy);
cpubind_host_device **cpubind_priv_take_npus(facts_reader *r, int32_t n);
int cpubind_priv_insert_npu(cpubind_host_device **list, int32_t *n,
                            const cpubind_host_device *npu);

/* facts_npus.c: npu-smi info -m; -t topo; info; the NPUs that the request names; who runs; the
 * visible devices. When npu-smi info -t topo cannot be read, that is no problem of the step: it
 * is handed out in *unanswered, for the kernel may know the same. npu-smi info is read into
 * r->ascend->info alone, and no fault of it is a problem yet. */
cpubind_problem_code cpubind_priv_read_npus(facts_reader *r);
cpubind_problem_code cpubind_priv_read_topo(facts_reader *r, cpubind_problem *unanswered);
cpubind_problem_code cpubind_priv_read_info(facts_reader *r);
cpubind_problem_code cpubind_priv_name_npus(facts_reader *r);
cpubind_problem_code cpubind_priv_read_running(facts_reader *r);
cpubind_problem_code cpubind_priv_read_visible(facts_reader *r);

/* facts_pci.c: the addresses of the NPUs in view, by npu-smi, and that of one by npu-smi info;
 * the lists of CPUs near them,
 * chosen between the kernel and npu-smi; the addresses that a caller wants for interrupts. */
cpubind_problem_code cpubind_priv_read_addresses(facts_reader *r);
cpubind_pci_address cpubind_priv_info_address(const facts_reader *r,
                                              const cpubind_host_device *npu);
void cpubind_priv_take_near(facts_reader *r);
cpubind_problem_code cpubind_priv_read_wanted(facts_reader *r);

/* == Helpers ================================================================ */

/* NPU i of the bus. */
static inline cpubind_host_device *facts_npu(const cpubind_facts *f, int32_t i)
{
    return &f->bus[f->counted[i]];
}

/* Whether a function has a phy id, by the driver's mailboxes. */
static inline int facts_has_phy(const cpubind_host_device *function, int32_t phy)
{
    for (int32_t i = 0; i < CPUBIND_FUNCTION_DEVICES; i++)
        if (phy >= 0 && function->phys[i] == phy)
            return 1;
    return 0;
}

/* Whether the kernel names the CPUs near every NPU of the host, some on a node without CPUs.
 * Every process of the host reads the same there. */
static inline int facts_is_kernel_complete(const cpubind_facts *f)
{
    int32_t n_cpu = 0;
    for (int32_t i = 0; i < f->n_counted; i++) {
        if (!facts_is_near_known(f, facts_npu(f, i)))
            return 0;
        n_cpu += facts_npu(f, i)->n_cpu;
    }
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->function < 0)
            return 0;
    return n_cpu > 0;
}

/* Whether npu-smi lists the CPUs near the NPUs in view of a function. */
static inline int facts_has_lists(const facts_reader *r, int32_t function)
{
    const cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->function == function && f->device[i]->n_cpu == 0)
            return 0;
    return 1;
}

/* Whether a row of npu-smi is of an NPU: by card and chip where both have them, a row without a
 * chip of all NPUs of its card; else by the phy id. */
static inline int facts_is_row_of(const cpubind_npusmi_row *row, const cpubind_host_device *npu)
{
    if (row->card < 0 || npu->card < 0)
        return row->phy >= 0 && row->phy == npu->phy;
    return row->card == npu->card && (row->chip < 0 || row->chip == npu->chip);
}

/* The row of an NPU in view; NULL: there is none. */
static inline const cpubind_npusmi_row *facts_row_of(const cpubind_npusmi_rows *rows,
                                                     const cpubind_host_device *npu)
{
    for (int32_t i = 0; i < rows->n; i++)
        if (facts_is_row_of(&rows->row[i], npu))
            return &rows->row[i];
    return NULL;
}

/* Whether a row is of an NPU in view. */
static inline int facts_has_npu_of(const cpubind_facts *f, const cpubind_npusmi_row *row)
{
    for (int32_t i = 0; i < f->n_device; i++)
        if (facts_is_row_of(row, f->device[i]))
            return 1;
    return 0;
}

/* What is wrong with npu-smi info, by the status of one of its tables. */
static inline cpubind_problem_code facts_judge_info(facts_reader *r, cpubind_text_status status)
{
    return facts_judge_text(r, INPUT_INFO, r->ascend->info_answer, status,
                            &r->ascend->info_fault);
}

/* Whether the CPUs near every NPU are known. */
static inline int facts_all_have_affinity(const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->n_cpu == 0)
            return 0;
    return 1;
}

/* Notes that input `has` names an NPU that input `lacks` does not. */
static inline void facts_note_difference(facts_reader *r, const char *has, const char *lacks,
                                         const cpubind_host_device *npu)
{
    cpubind_facts *f = r->facts;
    facts_warn(r, CPUBIND_WARNING_INPUTS_DIFFER);
    if (f->n_difference < CPUBIND_MAX_DIFFERENCES) {
        cpubind_difference *difference = &f->difference[f->n_difference];
        difference->has = has;
        difference->lacks = lacks;
        difference->card = npu->card;
        difference->chip = npu->chip;
        difference->phy = npu->phy;
        difference->pci = npu->pci;
    }
    f->n_difference++;
}

/* Notes the text that a reader has passed over; the first one is kept. */
static inline void facts_note_unknown(facts_reader *r, const char *name, cpubind_input answer,
                                      cpubind_piece unknown)
{
    cpubind_facts *f = r->facts;
    if (unknown.len == 0)
        return;
    facts_warn(r, CPUBIND_WARNING_UNKNOWN_TEXT);
    if (f->unknown_input)
        return;
    f->unknown_input = name;
    f->unknown_answer = answer;
    f->unknown = unknown;
}

/* Warns when npu-smi answered with an exit status other than 0; the answer is used. */
static inline void facts_check_exit(facts_reader *r, cpubind_input answer)
{
    if (answer.exit_code != 0)
        facts_warn(r, CPUBIND_WARNING_EXIT_CODE);
}

#endif /* CPUBIND_ASCEND_ASCEND_READER_H */
