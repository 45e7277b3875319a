/* facts_pci.c - the NPUs on the PCI bus, their addresses, and the CPUs near each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. The files are those of the kernel's
 * sysfs-bus-pci documentation. It must not decide which are read: facts_read.c does.
 */
#include "facts_reader.h"
#include "input_list.h"

/* == The census ============================================================= */

/* Counts the NPUs of the host on its PCI bus, which shows all of them in a container too. */
cpubind_problem_code cpubind_priv_read_census(facts_reader *r)
{
    cpubind_input listing = r->source->list(r->source->ctx, INPUT_PCI);
    cpubind_slice name;
    int32_t at = 0;
    while (facts_is_present(listing) && facts_next_name(listing, &at, &name)) {
        int32_t vendor, device;
        cpubind_device_type type;
        cpubind_problem_code code = facts_read_number(
            r, facts_path(r, INPUT_PCI, listing.data, name, "vendor"), -1, &vendor);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        if (!cpubind_is_npu_vendor(vendor))
            continue;
        code = facts_read_number(r, facts_path(r, INPUT_PCI, listing.data, name, "device"), -1,
                                 &device);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        type = cpubind_type_of_pci(device);
        r->facts->n_census += type != CPUBIND_TYPE_AUTO;
        if (r->facts->type == CPUBIND_TYPE_AUTO)
            r->facts->type = type;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* == Addresses ============================================================== */

/* Whether a row of the device table belongs to an NPU. Without npu-smi info -m only its phy id
 * may be known. */
static int is_device_of(const cpubind_npusmi_device *device, const cpubind_npu *npu)
{
    if (npu->card < 0)
        return device->phy >= 0 && device->phy == npu->phy;
    return device->card == npu->card && (device->chip < 0 || device->chip == npu->chip);
}

/* Takes the addresses of npu-smi info for the NPUs that have none yet. */
static void take_addresses(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t d = 0; d < f->n_npu; d++) {
        if (f->npu[d].pci.domain >= 0)
            continue;
        for (int32_t i = 0; i < r->info.n_device; i++)
            if (is_device_of(&r->info.device[i], &f->npu[d]))
                f->npu[d].pci = r->info.device[i].pci;
    }
}

static int32_t chips_of_card(const cpubind_facts *f, int32_t card)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_npu; i++)
        n += f->npu[i].card == card;
    return n;
}

/* Whether a block of npu-smi info -t board has the address of an NPU: the block of its chip, or
 * that of a card with one chip, counted in the block and on this host. */
static int is_board_of(const cpubind_npusmi_board *board, const cpubind_npu *npu,
                       int32_t n_chip)
{
    if (!board->has_pci || board->card != npu->card)
        return 0;
    return board->chip < 0 ? n_chip == 1 && board->n_chip <= 1 : board->chip == npu->chip;
}

/* Takes the address from an answer of `npu-smi info -t board`. A refusal is no problem. */
static cpubind_problem_code take_board(facts_reader *r, cpubind_npu *npu, const char *name,
                                       cpubind_input answer)
{
    const int32_t n_chip = chips_of_card(r->facts, npu->card) + r->facts->n_unknown;
    cpubind_npusmi_boards boards = {NULL, 0, 0, {0, 0}};
    cpubind_text_fault fault;
    cpubind_text_status status =
        cpubind_npusmi_parse_board(answer.data, answer.len, &boards, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED || status == CPUBIND_TEXT_ERR_MISSING)
        return CPUBIND_PROBLEM_NONE;
    if (status != CPUBIND_TEXT_ERR_SPACE)
        return facts_fail_text(r, name, answer, &fault);
    boards.board = (cpubind_npusmi_board *)cpubind_arena_take(r->arena, boards.n_board,
                                                              sizeof *boards.board);
    if (!boards.board)
        return facts_fail_memory(r);
    boards.cap_board = boards.n_board;
    status = cpubind_npusmi_parse_board(answer.data, answer.len, &boards, &fault);
    if (status != CPUBIND_TEXT_OK)
        return facts_fail_text(r, name, answer, &fault);
    facts_check_exit(r, answer);
    for (int32_t i = 0; i < boards.n_board && npu->pci.domain < 0; i++)
        if (is_board_of(&boards.board[i], npu, n_chip))
            npu->pci = boards.board[i].pci;
    return CPUBIND_PROBLEM_NONE;
}

/* Asks for the board of the chip, then for that of the card. *is_stuck becomes 1 when npu-smi
 * does not end in time. */
static cpubind_problem_code read_board(facts_reader *r, cpubind_npu *npu, int *is_stuck)
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
        if (!facts_is_present(answer))
            continue;
        code = take_board(r, npu, name, answer);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether the address of an NPU is not known, and its board can be asked for. */
static int needs_board(const cpubind_npu *npu)
{
    return npu->pci.domain < 0 && npu->card >= 0 && npu->chip >= 0;
}

/* Asks for the board of each NPU whose affinity is not known. Each costs a run of npu-smi. */
static cpubind_problem_code read_boards(facts_reader *r)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int is_stuck = 0;
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < r->facts->n_npu; i++) {
        cpubind_npu *npu = &r->facts->npu[i];
        if (npu->affinity_count == 0 && needs_board(npu))
            code = read_board(r, npu, &is_stuck);
    }
    return code;
}

/* Finds the addresses of the NPUs. For an NPU with an affinity only npu-smi info is used. */
static cpubind_problem_code read_addresses(facts_reader *r)
{
    cpubind_problem_code code;
    if (r->info_status == CPUBIND_TEXT_OK)
        take_addresses(r);
    if (facts_all_have_affinity(r->facts))
        return CPUBIND_PROBLEM_NONE;
    switch (r->info_status) {
    case CPUBIND_TEXT_OK:
        return read_boards(r);
    case CPUBIND_TEXT_ERR_MISSING: /* no table or no answer; not after a timeout */
        code = facts_judge(r, INPUT_INFO, r->info_answer);
        return code == CPUBIND_PROBLEM_NONE ? read_boards(r) : code;
    case CPUBIND_TEXT_ERR_REFUSED: /* npu-smi would refuse each board as well */
        return CPUBIND_PROBLEM_NONE;
    default:
        return facts_fail_text(r, INPUT_INFO, r->info_answer, &r->info_fault);
    }
}

/* Asks for the boards of the running NPUs without an address. A damaged answer is no
 * problem. */
static cpubind_problem_code read_wanted_boards(facts_reader *r)
{
    int is_stuck = 0;
    for (int32_t i = 0; i < r->facts->n_npu; i++) {
        cpubind_npu *npu = &r->facts->npu[i];
        if (!npu->is_running || !needs_board(npu))
            continue;
        if (read_board(r, npu, &is_stuck) == CPUBIND_PROBLEM_NO_MEMORY)
            return CPUBIND_PROBLEM_NO_MEMORY;
        cpubind_problem_clear(r->problem);
    }
    return CPUBIND_PROBLEM_NONE;
}

/* The PCI addresses of the running NPUs, for a caller that binds interrupts. Boards are not
 * asked for when the product has no irq role, nor when npu-smi info hung or refused: npu-smi
 * would hang or refuse again. */
cpubind_problem_code cpubind_priv_read_wanted(facts_reader *r)
{
    const cpubind_product *product = cpubind_product_of(r->facts->type);
    if (r->info_status == CPUBIND_TEXT_OK)
        take_addresses(r);
    if (product->roles.count[CPUBIND_ROLE_IRQ] == 0 ||
        r->info_answer.state == CPUBIND_INPUT_TIMEOUT ||
        r->info_status == CPUBIND_TEXT_ERR_REFUSED)
        return CPUBIND_PROBLEM_NONE;
    return read_wanted_boards(r);
}

/* == Near CPUs ============================================================== */

/* The index of the next online CPU, or n. */
static int32_t next_online(const cpubind_facts *f, const int32_t *cpu, int32_t n, int32_t i)
{
    while (i < n && f->node_of[cpu[i]] < 0)
        i++;
    return i;
}

/* Whether an ascending list holds every online CPU of a host with several nodes. The kernel
 * prints such a list for a function that is on no node. */
static int is_everywhere(const cpubind_facts *f, const int32_t *cpu, int32_t n)
{
    int32_t i = 0;
    for (int32_t id = 0; id < f->n_cpu_id; id++) {
        if (f->node_of[id] < 0)
            continue;
        i = next_online(f, cpu, n, i);
        if (i == n || cpu[i++] != id)
            return 0;
    }
    return f->n_node > 1;
}

/* Lists the CPUs of near->node, in the arena. */
static cpubind_problem_code list_node(facts_reader *r, facts_near *near)
{
    const cpubind_facts *f = r->facts;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        near->n += f->node_of[cpu] == near->node;
    near->cpu = cpubind_arena_ints(r->arena, near->n);
    if (!near->cpu)
        return facts_fail_memory(r);
    near->n = 0;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (f->node_of[cpu] == near->node)
            near->cpu[near->n++] = cpu;
    return CPUBIND_PROBLEM_NONE;
}

/* Reads an input whose absence or failure is no problem. */
static cpubind_input peek(facts_reader *r, const char *path)
{
    return r->source->read(r->source->ctx, path);
}

/* Reads the CPUs of local_cpulist; without that file those of the node, if nodes are known. */
static cpubind_problem_code list_near(facts_reader *r, const char *path, facts_near *near)
{
    const cpubind_facts *f = r->facts;
    const cpubind_input answer = peek(r, path);
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (facts_is_present(answer)) {
        code = facts_read_list(r, path, answer, &near->cpu, &near->n);
        if (code == CPUBIND_PROBLEM_NONE && is_everywhere(f, near->cpu, near->n))
            near->n = 0;
    } else if (near->node >= 0 && !(f->warnings & 1u << CPUBIND_WARNING_NO_NODES)) {
        code = list_node(r, near);
    }
    return code;
}

/* Reads numa_node and local_cpulist of the PCI function of an NPU. For a function on no node,
 * local_cpulist holds all CPUs and tells nothing. */
static cpubind_problem_code read_function(facts_reader *r, const cpubind_pci_address *pci,
                                          facts_near *near)
{
    const char *node = facts_function_path(r, pci, "numa_node");
    const char *list = facts_function_path(r, pci, "local_cpulist");
    cpubind_text_fault fault;
    cpubind_input answer;
    near->node = FACTS_NODE_UNKNOWN;
    if (!node || !list)
        return facts_fail_memory(r);
    answer = peek(r, node);
    if (facts_is_present(answer) &&
        cpubind_number_parse(answer.data, answer.len, &near->node, &fault) != CPUBIND_TEXT_OK)
        return facts_fail_text(r, node, answer, &fault);
    return near->node == FACTS_NODE_NONE ? CPUBIND_PROBLEM_NONE : list_near(r, list, near);
}

/* Whether two ascending lists hold the same online CPUs. */
static int are_same(const cpubind_facts *f, const int32_t *a, int32_t n_a, const int32_t *b,
                    int32_t n_b)
{
    int32_t i = next_online(f, a, n_a, 0), k = next_online(f, b, n_b, 0);
    while (i < n_a && k < n_b && a[i] == b[k]) {
        i = next_online(f, a, n_a, i + 1);
        k = next_online(f, b, n_b, k + 1);
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

/* Compares the lists of the kernel and of npu-smi for an NPU; UNKNOWN when npu-smi has none. */
static cpubind_locality compare(const cpubind_facts *f, const cpubind_npu *npu,
                                const facts_near *near)
{
    const int32_t n = npu->affinity_count;
    const int32_t *cpu;
    if (n == 0)
        return CPUBIND_LOCALITY_UNKNOWN;
    cpu = f->affinity + npu->affinity_first;
    if (near->node == FACTS_NODE_NONE && is_node_0(f, cpu, n))
        return CPUBIND_LOCALITY_NO_NODE;
    if (near->n == 0)
        return CPUBIND_LOCALITY_UNKNOWN;
    return are_same(f, cpu, n, near->cpu, near->n) ? CPUBIND_LOCALITY_SAME
                                                   : CPUBIND_LOCALITY_DIFFERS;
}

static int32_t count_with(const cpubind_facts *f, cpubind_locality locality)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_npu; i++)
        n += f->npu[i].locality == locality;
    return n;
}

/* Marks the NPUs whose list is taken from the kernel. Returns the length of all lists. */
static int32_t choose_lists(facts_reader *r)
{
    int32_t total = 0;
    for (int32_t i = 0; i < r->facts->n_npu; i++) {
        cpubind_npu *npu = &r->facts->npu[i];
        if (npu->affinity_count == 0 && r->near[i].n > 0)
            npu->locality = CPUBIND_LOCALITY_TAKEN;
        total += npu->locality == CPUBIND_LOCALITY_TAKEN ? r->near[i].n : npu->affinity_count;
    }
    return total;
}

/* Puts all lists in one array: those of npu-smi, and those of the kernel for the other NPUs. */
static cpubind_problem_code join_lists(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t total = choose_lists(r), *all;
    if (count_with(f, CPUBIND_LOCALITY_TAKEN) == 0)
        return CPUBIND_PROBLEM_NONE;
    all = cpubind_arena_ints(r->arena, total);
    if (!all)
        return facts_fail_memory(r);
    total = 0;
    for (int32_t i = 0; i < f->n_npu; i++) {
        cpubind_npu *npu = &f->npu[i];
        const int is_taken = npu->locality == CPUBIND_LOCALITY_TAKEN;
        const int32_t n = is_taken ? r->near[i].n : npu->affinity_count;
        if (n > 0)
            memcpy(all + total, is_taken ? r->near[i].cpu : f->affinity + npu->affinity_first,
                   (size_t)n * sizeof *all);
        npu->affinity_first = total;
        npu->affinity_count = n;
        total += n;
    }
    f->affinity = all;
    f->has_affinity = total > 0;
    return CPUBIND_PROBLEM_NONE;
}

/* Reads the kernel's list for one NPU. A damaged file is a problem only if npu-smi has no
 * list. */
static cpubind_problem_code read_near(facts_reader *r, cpubind_npu *npu, facts_near *near)
{
    cpubind_problem_code code = read_function(r, &npu->pci, near);
    if (code == CPUBIND_PROBLEM_NONE) {
        npu->locality = compare(r->facts, npu, near);
    } else if (code == CPUBIND_PROBLEM_UNREADABLE && npu->affinity_count > 0) {
        cpubind_problem_clear(r->problem);
        code = CPUBIND_PROBLEM_NONE;
    }
    return code;
}

cpubind_problem_code cpubind_priv_read_near(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    r->near = (facts_near *)cpubind_arena_take(r->arena, f->n_npu, sizeof *r->near);
    if (!r->near)
        return facts_fail_memory(r);
    memset(r->near, 0, (size_t)f->n_npu * sizeof *r->near);
    if (f->n_npu > 0)
        code = read_addresses(r);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < f->n_npu; i++)
        if (f->npu[i].pci.domain >= 0)
            code = read_near(r, &f->npu[i], &r->near[i]);
    return code;
}

cpubind_problem_code cpubind_priv_take_near(facts_reader *r)
{
    const cpubind_problem_code code = join_lists(r);
    if (count_with(r->facts, CPUBIND_LOCALITY_TAKEN) > 0)
        facts_warn(r, CPUBIND_WARNING_PCI_AFFINITY);
    if (count_with(r->facts, CPUBIND_LOCALITY_DIFFERS) > 0)
        facts_warn(r, CPUBIND_WARNING_AFFINITY_DIFFERS);
    if (count_with(r->facts, CPUBIND_LOCALITY_NO_NODE) > 0)
        facts_warn(r, CPUBIND_WARNING_NO_NUMA_NODE);
    return code;
}
