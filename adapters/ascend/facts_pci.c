/* facts_pci.c - the PCI addresses of the NPUs in view, and the CPUs near each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Joins what npu-smi says with the PCI
 * bus (facts_census.c). It must not decide which inputs are read: facts_read.c does.
 */
#include "ascend_reader.h"
#include "input_list.h"

/* == Addresses ============================================================== */

cpubind_pci_address cpubind_priv_info_address(const facts_reader *r,
                                              const cpubind_host_device *npu)
{
    const cpubind_npusmi_row *device = facts_row_of(&r->ascend->info.device, npu);
    return device ? device->pci : (cpubind_pci_address){.domain = -1};
}

/* Takes the addresses of npu-smi info for the NPUs that have none yet. */
static void take_addresses(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t d = 0; d < f->n_device; d++)
        if (f->device[d]->pci.domain < 0)
            f->device[d]->pci = cpubind_priv_info_address(r, f->device[d]);
}

static int32_t chips_of_card(const cpubind_facts *f, int32_t card)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_device; i++)
        n += f->device[i]->card == card;
    return n;
}

/* Whether a block of npu-smi info -t board has the address of an NPU: the block of its chip, or
 * that of a card with one chip, counted in the block and on this host. */
static int is_board_of(const cpubind_npusmi_row *board, const cpubind_host_device *npu,
                       int32_t n_chip)
{
    return facts_is_row_of(board, npu) &&
           (board->chip >= 0 || (n_chip == 1 && board->n_chip <= 1));
}

/* Takes the address from an answer of `npu-smi info -t board`. A refusal is no problem. */
static cpubind_problem_code take_board(facts_reader *r, cpubind_host_device *npu,
                                       const char *name, cpubind_input answer)
{
    const int32_t n_chip = chips_of_card(r->facts, npu->card) + r->facts->n_unknown;
    cpubind_npusmi_rows boards;
    cpubind_text_fault fault;
    const cpubind_text_status status =
        cpubind_npusmi_parse_board(answer.data, answer.len, r->arena, &boards, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED || status == CPUBIND_TEXT_ERR_MISSING)
        return CPUBIND_PROBLEM_NONE;
    if (facts_judge_text(r, name, answer, status, &fault) != CPUBIND_PROBLEM_NONE)
        return r->problem->code;
    facts_check_exit(r, answer);
    for (int32_t i = 0; i < boards.n && npu->pci.domain < 0; i++)
        if (is_board_of(&boards.row[i], npu, n_chip))
            npu->pci = boards.row[i].pci;
    return CPUBIND_PROBLEM_NONE;
}

/* Asks for the board of the chip, then for that of the card. *is_stuck becomes 1 when npu-smi
 * does not end in time. The first answer that could not be read is kept in *failed. */
static cpubind_problem_code read_board(facts_reader *r, cpubind_host_device *npu, int *is_stuck,
                                       cpubind_problem *failed)
{
    const int32_t chips[2] = {npu->chip, -1};
    for (int i = 0; i < 2 && npu->pci.domain < 0 && !*is_stuck; i++) {
        cpubind_problem_code code;
        cpubind_input answer;
        char *name = (char *)cpubind_arena_take(r->arena, CPUBIND_INPUT_BOARD_MAX, 1);
        if (!name)
            return facts_fail_memory(r);
        (void)cpubind_input_board_name(name, npu->card, chips[i]);
        answer = r->source->read(r->source->ctx, name);
        *is_stuck = answer.state == CPUBIND_INPUT_TIMEOUT;
        if (facts_judge(r, name, answer) != CPUBIND_PROBLEM_NONE &&
            failed->code == CPUBIND_PROBLEM_NONE)
            *failed = *r->problem;
        cpubind_problem_clear(r->problem);
        if (!facts_is_present(answer))
            continue;
        code = take_board(r, npu, name, answer);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether the address of an NPU is not known, and its board can be asked for. */
static int needs_board(const cpubind_host_device *npu)
{
    return npu->pci.domain < 0 && npu->card >= 0 && npu->chip >= 0;
}

/* Whether the address of some NPU is needed and not known: to find the CPUs near it in the
 * files of the kernel, or to tell the NPUs in view from those of other containers. */
static int lacks_address(const facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    const int are_all_needed = f->n_census > 0 && f->scope != CPUBIND_SCOPE_OWN;
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->pci.domain < 0 && (are_all_needed || f->device[i]->n_cpu == 0))
            return 1;
    return 0;
}

/* Whether there is a plan without addresses: npu-smi lists the CPUs near each NPU, and all NPUs
 * of the host are in view. Their order may matter all the same: ascend_plan.c looks. */
static int can_do_without(const facts_reader *r)
{
    return facts_all_have_affinity(r->facts) &&
           facts_count_on_bus(r->facts) == r->facts->n_device;
}

/* Asks for the board of each NPU whose address is needed and not known; each costs a run of
 * npu-smi. When one could not be read, and an address is not known for it, that is a problem,
 * but where the addresses of visible NPUs are only wanted. */
static cpubind_problem_code read_boards(facts_reader *r, int are_wanted)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    cpubind_problem failed;
    int is_stuck = 0;
    cpubind_problem_clear(&failed);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < r->facts->n_device; i++) {
        cpubind_host_device *npu = r->facts->device[i];
        if (!needs_board(npu) ||
            (are_wanted ? !npu->is_visible : npu->n_cpu > 0 && r->facts->n_census == 0))
            continue;
        code = read_board(r, npu, &is_stuck, &failed);
        if (code == CPUBIND_PROBLEM_NONE && npu->pci.domain < 0 &&
            failed.code != CPUBIND_PROBLEM_NONE) {
            *r->problem = failed;
            code = failed.code;
        }
        if (!are_wanted || code == CPUBIND_PROBLEM_NO_MEMORY)
            continue;
        cpubind_problem_clear(r->problem);
        code = CPUBIND_PROBLEM_NONE;
    }
    return code;
}

/* Finds the addresses of the NPUs in npu-smi info; where more are needed, on their boards. */
cpubind_problem_code cpubind_priv_read_addresses(facts_reader *r)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    take_addresses(r);
    if (!lacks_address(r))
        return CPUBIND_PROBLEM_NONE;
    switch (r->ascend->info_status) {
    case CPUBIND_TEXT_OK:
        code = read_boards(r, 0);
        break;
    case CPUBIND_TEXT_ERR_MISSING: /* no table or no answer; not after a timeout */
        code = facts_judge(r, INPUT_INFO, r->ascend->info_answer);
        if (code == CPUBIND_PROBLEM_NONE)
            code = read_boards(r, 0);
        break;
    case CPUBIND_TEXT_ERR_REFUSED: /* npu-smi would refuse each board as well */
        if (can_do_without(r))
            code = facts_judge_info(r, r->ascend->info_status);
        break;
    default: /* a damaged table of devices */
        code = read_boards(r, 0);
        if (code == CPUBIND_PROBLEM_NONE && lacks_address(r))
            code = facts_judge_info(r, r->ascend->info_status);
    }
    if (code != CPUBIND_PROBLEM_UNREADABLE || !can_do_without(r))
        return code;
    r->facts->unaddressed = *r->problem;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

/* The PCI addresses of the visible NPUs, for a caller that binds interrupts. Boards are not
 * asked for when the product has no irq role, nor when npu-smi info hung or refused: npu-smi
 * would hang or refuse again. */
cpubind_problem_code cpubind_priv_read_wanted(facts_reader *r)
{
    const cpubind_product *product = cpubind_product_of(r->facts->type);
    take_addresses(r);
    if (product->roles.count[CPUBIND_ROLE_IRQ] == 0 ||
        r->ascend->info_answer.state == CPUBIND_INPUT_TIMEOUT ||
        r->ascend->info_status == CPUBIND_TEXT_ERR_REFUSED)
        return CPUBIND_PROBLEM_NONE;
    return read_boards(r, 1);
}

/* == The lists of near CPUs ================================================= */

/* Whether two ascending lists hold the same online CPUs. */
static int are_same(const cpubind_facts *f, const int32_t *a, int32_t n_a, const int32_t *b,
                    int32_t n_b)
{
    int32_t i = facts_next_online(f, a, n_a, 0), k = facts_next_online(f, b, n_b, 0);
    while (i < n_a && k < n_b && a[i] == b[k]) {
        i = facts_next_online(f, a, n_a, i + 1);
        k = facts_next_online(f, b, n_b, k + 1);
    }
    return i == n_a && k == n_b;
}

/* Whether all online CPUs of a list are on node 0 of a host with several nodes. */
static int is_node_0(const cpubind_facts *f, const int32_t *cpu, int32_t n)
{
    int32_t n_online = 0;
    for (int32_t i = 0; i < n; i++) {
        if (f->node_of[cpu[i]] > 0)
            return 0;
        n_online += f->node_of[cpu[i]] == 0;
    }
    return n_online > 0 && f->n_node > 1;
}

/* Compares the lists of the kernel and of npu-smi for an NPU. */
static cpubind_locality compare(const cpubind_facts *f, const cpubind_host_device *npu)
{
    const int32_t n = npu->n_cpu;
    const cpubind_host_device *function;
    const int32_t *cpu;
    if (npu->function < 0)
        return CPUBIND_LOCALITY_UNKNOWN;
    function = &f->bus[npu->function];
    if (n == 0)
        return function->n_cpu > 0 ? CPUBIND_LOCALITY_TAKEN : CPUBIND_LOCALITY_UNKNOWN;
    cpu = npu->cpu;
    if (function->numa_node == -1 && is_node_0(f, cpu, n) &&
        (function->origin == CPUBIND_NODE_ORIGIN_UNKNOWN ||
         function->origin == CPUBIND_NODE_ORIGIN_NPU_SMI))
        return CPUBIND_LOCALITY_NO_NODE;
    if (function->n_cpu == 0)
        return CPUBIND_LOCALITY_UNKNOWN;
    return are_same(f, cpu, n, function->cpu, function->n_cpu) ? CPUBIND_LOCALITY_SAME
                                                               : CPUBIND_LOCALITY_DIFFERS;
}

/* Whether the list of an NPU is taken from the kernel: npu-smi has none, or the two differ and
 * the kernel has one for every NPU of the host. Other processes of the host may not see this
 * NPU, and take the list of the kernel for it. */
static int is_kernels(const cpubind_host_device *npu, int is_complete)
{
    return npu->locality == CPUBIND_LOCALITY_TAKEN ||
           (npu->locality == CPUBIND_LOCALITY_DIFFERS && is_complete);
}

static void warn_of(facts_reader *r, cpubind_locality locality, cpubind_warning warning)
{
    for (int32_t i = 0; i < r->facts->n_device; i++)
        if (r->facts->device[i]->locality == locality)
            facts_warn(r, warning);
}

void cpubind_priv_take_near(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int is_complete = f->n_census > 0 && facts_is_kernel_complete(f);
    f->has_affinity = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        cpubind_host_device *npu = f->device[i];
        npu->locality = compare(f, npu);
        if (is_kernels(npu, is_complete)) {
            npu->cpu = f->bus[npu->function].cpu;
            npu->n_cpu = f->bus[npu->function].n_cpu;
        }
        f->has_affinity |= npu->n_cpu > 0;
    }
    if (f->origin == CPUBIND_ORIGIN_NPU_SMI)
        warn_of(r, CPUBIND_LOCALITY_TAKEN, CPUBIND_WARNING_PCI_AFFINITY);
    warn_of(r, CPUBIND_LOCALITY_DIFFERS, CPUBIND_WARNING_AFFINITY_DIFFERS);
    warn_of(r, CPUBIND_LOCALITY_NO_NODE, CPUBIND_WARNING_NO_NUMA_NODE);
}
