/* facts_npus.c - the NPUs by npu-smi, the CPUs near them, and the processes on them
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Joins the tables of npu-smi by their
 * ids. It must not decide which of them are read: facts_read.c does.
 */
#include "ascend_reader.h"

/* == NPUs =================================================================== */

/* What is wrong with an output of npu-smi, by the status of its reader. */
static cpubind_problem_code judge_table(facts_reader *r, const char *name, cpubind_input answer,
                                        cpubind_text_status status,
                                        const cpubind_text_fault *fault)
{
    const cpubind_problem_code code = facts_judge_text(r, name, answer, status, fault);
    if (status != CPUBIND_TEXT_ERR_REFUSED ||
        cpubind_npusmi_find_refusal(answer.data, answer.len, NULL) != CPUBIND_NPUSMI_NO_NPU)
        return code;
    return facts_fail(r, CPUBIND_PROBLEM_NO_RUNNING_DEVICE,
                      "npu-smi finds no NPU on this host");
}

cpubind_host_device cpubind_priv_new_npu(int32_t logic, int32_t card, int32_t chip, int32_t phy)
{
    cpubind_host_device npu = facts_unknown_device();
    npu.accelerator.vendor = CPUBIND_VENDOR_ASCEND;
    npu.logic = npu.number[0] = logic;
    npu.n_number = 1;
    npu.card = card;
    npu.chip = chip;
    npu.phy = phy;
    return npu;
}

cpubind_host_device **cpubind_priv_take_npus(facts_reader *r, int32_t n)
{
    cpubind_host_device *row =
        (cpubind_host_device *)cpubind_arena_take(r->arena, n, sizeof *row);
    cpubind_host_device **list =
        (cpubind_host_device **)cpubind_arena_take(r->arena, row ? n : 0, sizeof *list);
    for (int32_t i = 0; row && list && i < n; i++)
        list[i] = &row[i];
    return row ? list : NULL;
}

int cpubind_priv_insert_npu(cpubind_host_device **list, int32_t *n,
                            const cpubind_host_device *npu)
{
    int32_t at = *n;
    while (at > 0 && list[at - 1]->logic >= npu->logic)
        at--;
    if (at < *n && list[at]->logic == npu->logic)
        return 0;
    for (int32_t i = *n; i > at; i--)
        *list[i] = *list[i - 1];
    *list[at] = *npu;
    ++*n;
    return 1;
}

/* Whether a chip is a part of a card, by its name: "Ascend 910B3vir05_1c_16g". */
static int is_virtual(const char *name, int32_t len)
{
    for (int32_t i = 0; i + 3 < len; i++)
        if (memcmp(name + i, "vir", 3) == 0 && cursor_is_digit(name[i + 3]))
            return 1;
    return 0;
}

/* Takes the NPUs of npu-smi info -m. On a product without logic ids the NPU ID is the logic id.
 * A chip with an empty name could not be queried: its other ids are zeros without meaning. A
 * chip without a logic id is an NPU of the host that no runtime here can use. */
static cpubind_problem_code take_chips(facts_reader *r, cpubind_input answer,
                                       const cpubind_npusmi_rows *map)
{
    cpubind_facts *f = r->facts;
    const cpubind_npusmi_row *chip = map->row;
    const int32_t n = map->n;
    f->device = cpubind_priv_take_npus(r, n);
    if (!f->device)
        return facts_fail_memory(r);
    f->has_phy = 1;
    for (int32_t i = 0; i < n; i++) {
        if (f->type == CPUBIND_TYPE_AUTO && chip[i].name.len > 0)
            f->type = cpubind_type_of_chip(answer.data + chip[i].name.at, chip[i].name.len,
                                           chip[i].phy >= 0);
        if ((map->has_name && chip[i].name.len == 0) || (map->has_logic && chip[i].logic < 0)) {
            f->n_unknown++;
            facts_warn(r, CPUBIND_WARNING_UNKNOWN_CHIP);
            continue;
        }
        cpubind_host_device npu =
            cpubind_priv_new_npu(map->has_logic ? chip[i].logic : chip[i].card, chip[i].card,
                                 chip[i].chip, chip[i].phy);
        npu.is_part = is_virtual(answer.data + chip[i].name.at, chip[i].name.len);
        f->has_phy &= npu.phy >= 0;
        if (!cpubind_priv_insert_npu(f->device, &f->n_device, &npu)) {
            r->problem->device = npu.logic;
            return facts_fail_input(r, INPUT_MAP, answer, chip[i].name.at,
                                    "a logic id occurs twice");
        }
    }
    if (f->n_device == 0)
        return facts_fail_input(r, INPUT_MAP, answer, chip[0].name.at,
                                "no chip could be queried");
    return CPUBIND_PROBLEM_NONE;
}

/* Counts the chips of cards that npu-smi could not list: as many for each card as the largest
 * other card has. */
static void note_lost_cards(facts_reader *r, cpubind_input answer)
{
    cpubind_facts *f = r->facts;
    const int32_t lost = cpubind_npusmi_count_lost(answer.data, answer.len);
    int32_t n_chip = 0;
    if (lost == 0)
        return;
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->chip >= n_chip)
            n_chip = f->device[i]->chip + 1;
    f->n_unknown += lost * (n_chip < CPUBIND_MAX_DEVICES / lost ? n_chip : 1);
    facts_warn(r, CPUBIND_WARNING_UNKNOWN_CHIP);
}

static cpubind_problem_code read_map(facts_reader *r, cpubind_input answer)
{
    cpubind_text_fault fault;
    cpubind_npusmi_rows map;
    cpubind_problem_code code = judge_table(
        r, INPUT_MAP, answer,
        cpubind_npusmi_parse_map(answer.data, answer.len, r->arena, &map, &fault), &fault);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    facts_check_exit(r, answer);
    facts_note_unknown(r, INPUT_MAP, answer, map.unknown);
    code = take_chips(r, answer, &map);
    if (code == CPUBIND_PROBLEM_NONE)
        note_lost_cards(r, answer);
    return code;
}

/* Why there are no NPUs where npu-smi is not: the bus shows none, or is not there either. */
static const char *why_absent(const facts_reader *r)
{
    return r->facts->n_bus > 0 ? "npu-smi is not on this host"
           : r->facts->has_bus ? CPUBIND_WHY_NO_DEVICE
                               : CPUBIND_WHY_NO_BUS;
}

/* No fault of npu-smi info -m is a problem when the request names the NPUs and the device type,
 * which are all that it would tell. */
cpubind_problem_code cpubind_priv_read_npus(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int can_do_without = r->request->device && r->request->type != CPUBIND_TYPE_AUTO;
    cpubind_input answer;
    cpubind_problem_code code = facts_ask(r, INPUT_MAP, &answer);
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = read_map(r, answer);
    else if (code == CPUBIND_PROBLEM_NONE && !r->request->device)
        return facts_fail(r, CPUBIND_PROBLEM_NO_NPU_SMI, why_absent(r));
    else
        facts_warn(r, CPUBIND_WARNING_NO_MAP);
    if (code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_NO_MEMORY || !can_do_without)
        return code;
    if (answer.state == CPUBIND_INPUT_FAILED) {
        f->unmapped = *r->problem;
        f->unmapped.answer =
            (cpubind_input){.state = answer.state, .error = answer.error, .why = answer.why};
    }
    cpubind_problem_clear(r->problem);
    facts_warn(r, CPUBIND_WARNING_NO_MAP);
    f->n_device = 0;
    f->n_unknown = 0;
    f->has_phy = 0;
    return CPUBIND_PROBLEM_NONE;
}

/* == Affinity =============================================================== */

/* Notes the rows of no NPU of npu-smi info -m, and its NPUs without a row. Chips that it could
 * not query are in no row of it, and are named by another warning. Returns whether there are
 * such rows. */
static int compare(facts_reader *r, const char *input, const cpubind_npusmi_rows *rows)
{
    const cpubind_facts *f = r->facts;
    int is_short = 0;
    for (int32_t i = 0; i < rows->n && f->n_unknown == 0; i++) {
        const cpubind_npusmi_row *row = &rows->row[i];
        cpubind_host_device npu = cpubind_priv_new_npu(-1, row->card, row->chip, row->phy);
        npu.pci = row->pci;
        if (facts_has_npu_of(f, row))
            continue;
        facts_note_difference(r, input, INPUT_MAP, &npu);
        is_short = 1;
    }
    for (int32_t d = 0; d < f->n_device && rows->n > 0; d++)
        if (!facts_row_of(rows, f->device[d]) &&
            (rows->row->card >= 0 || f->device[d]->phy >= 0))
            facts_note_difference(r, INPUT_MAP, input, f->device[d]);
    return is_short;
}

/* Makes an NPU of each row, for a host without npu-smi info -m. Its card or its phy id, which
 * the row names, is its only known id. That is the logic id where the rows are of the NPUs
 * 0 .. n - 1, as on a host with all cards in view. */
static cpubind_problem_code npus_from_rows(facts_reader *r, const cpubind_npusmi_rows *topo)
{
    cpubind_facts *f = r->facts;
    f->device = cpubind_priv_take_npus(r, topo->n);
    if (!f->device)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < topo->n; i++) {
        const cpubind_npusmi_row *row = &topo->row[i];
        const cpubind_host_device npu = row->card < 0
                                            ? cpubind_priv_new_npu(row->phy, -1, -1, row->phy)
                                            : cpubind_priv_new_npu(row->card, row->card, 0, -1);
        (void)cpubind_priv_insert_npu(f->device, &f->n_device, &npu);
    }
    if (f->device[f->n_device - 1]->logic != f->n_device - 1)
        f->n_device = 0;
    f->has_phy = f->n_device > 0 && topo->row->phy >= 0;
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code take_rows(facts_reader *r, const cpubind_npusmi_rows *topo)
{
    cpubind_facts *f = r->facts;
    if (f->n_device > 0)
        (void)compare(r, INPUT_TOPO, topo);
    else if (npus_from_rows(r, topo) != CPUBIND_PROBLEM_NONE)
        return CPUBIND_PROBLEM_NO_MEMORY;
    for (int32_t d = 0; d < f->n_device; d++) {
        const cpubind_npusmi_row *row = facts_row_of(topo, f->device[d]);
        if (!row)
            continue;
        f->device[d]->cpu = row->cpu;
        f->device[d]->n_cpu = row->n_cpu;
        f->has_affinity |= row->n_cpu > 0;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether the refusal means that this device has no topology to print; its affinity is unknown
 * then, which is no fault. */
static int is_unsupported(cpubind_input answer)
{
    switch (cpubind_npusmi_find_refusal(answer.data, answer.len, NULL)) {
    case CPUBIND_NPUSMI_NOT_SUPPORTED:
    case CPUBIND_NPUSMI_VM:
    case CPUBIND_NPUSMI_QUERY:
    case CPUBIND_NPUSMI_PARAMETER:
    case CPUBIND_NPUSMI_USAGE:
        return 1;
    default:
        return 0;
    }
}

/* Moves the problem of the reading to *unanswered, but for a want of memory. */
static cpubind_problem_code hand_out(facts_reader *r, cpubind_problem *unanswered)
{
    if (r->problem->code == CPUBIND_PROBLEM_NO_MEMORY)
        return CPUBIND_PROBLEM_NO_MEMORY;
    *unanswered = *r->problem;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

/* Reads the rows of the topology, in the arena. */
static cpubind_problem_code parse_topo(facts_reader *r, cpubind_input answer,
                                       cpubind_npusmi_rows *topo)
{
    cpubind_text_fault fault;
    const cpubind_text_status status =
        cpubind_npusmi_parse_topo(answer.data, answer.len, r->arena, topo, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED && is_unsupported(answer))
        return CPUBIND_PROBLEM_NONE;
    if (status != CPUBIND_TEXT_OK)
        return judge_table(r, INPUT_TOPO, answer, status, &fault);
    facts_check_exit(r, answer);
    facts_note_unknown(r, INPUT_TOPO, answer, topo->unknown);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_read_topo(facts_reader *r, cpubind_problem *unanswered)
{
    cpubind_npusmi_rows topo = {.n = 0};
    cpubind_input answer;
    cpubind_problem_code code = facts_ask(r, INPUT_TOPO, &answer);
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = parse_topo(r, answer, &topo);
    if (code != CPUBIND_PROBLEM_NONE)
        return hand_out(r, unanswered);
    return topo.n > 0 ? take_rows(r, &topo) : CPUBIND_PROBLEM_NONE;
}

/* == Who runs =============================================================== */

static cpubind_host_device *find_npu(cpubind_facts *f, int32_t logic)
{
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->logic == logic)
            return f->device[i];
    return NULL;
}

/* Marks the NPUs that the caller named. Without npu-smi info -m they are the only known
 * NPUs. */
cpubind_problem_code cpubind_priv_name_npus(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_request *q = r->request;
    if (f->n_device == 0) {
        f->device = cpubind_priv_take_npus(r, q->n_device);
        if (!f->device)
            return facts_fail_memory(r);
        f->has_only_named = 1;
        for (int32_t i = 0; i < q->n_device; i++)
            *f->device[f->n_device++] = cpubind_priv_new_npu(q->device[i], -1, -1, -1);
    }
    for (int32_t i = 0; i < q->n_device; i++) {
        cpubind_host_device *npu = find_npu(f, q->device[i]);
        if (!npu) {
            r->problem->device = q->device[i];
            return facts_fail(r, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
                              "there is no NPU with this logic id");
        }
        npu->is_named = 1;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether an output of npu-smi info that may lack devices has all that npu-smi info -m names.
 * Where nothing names them, it must not announce more. */
static int has_all_devices(const facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    if (f->n_device == 0 || f->has_only_named)
        return r->ascend->info.is_open < 2;
    for (int32_t d = 0; d < f->n_device; d++)
        if (!facts_row_of(&r->ascend->info.device, f->device[d]))
            return 0;
    return 1;
}

/* Reads the tables. Where nothing ends that of the devices, npu-smi info -m must name no
 * more. */
static cpubind_problem_code parse_info(facts_reader *r)
{
    const cpubind_input *answer = &r->ascend->info_answer;
    cpubind_npusmi_info *info = &r->ascend->info;
    ascend_reading *a = r->ascend;
    a->info_status =
        cpubind_npusmi_parse_info(answer->data, answer->len, r->arena, info, &a->info_fault);
    if (a->info_status == CPUBIND_TEXT_ERR_SPACE)
        return facts_fail_memory(r);
    if (a->info_status == CPUBIND_TEXT_OK && info->is_open && !has_all_devices(r)) {
        const int is_cut = info->process_status == CPUBIND_TEXT_OK;
        const cpubind_text_fault cut = {
            answer->len,
            "nothing follows the last device, and npu-smi info -m does not name the same"};
        a->info_status = is_cut ? CPUBIND_TEXT_ERR_CUT : info->process_status;
        a->info_fault = is_cut ? cut : info->process_fault;
        info->device.n = 0;
    }
    a->process_status =
        a->info_status == CPUBIND_TEXT_OK ? info->process_status : a->info_status;
    if (a->process_status != a->info_status)
        a->info_fault = info->process_fault;
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_read_info(facts_reader *r)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    r->ascend->has_read_processes = 1;
    r->ascend->info_answer = r->source->read(r->source->ctx, INPUT_INFO);
    if (facts_is_present(r->ascend->info_answer))
        code = parse_info(r);
    if (code != CPUBIND_PROBLEM_NONE || r->ascend->info_status != CPUBIND_TEXT_OK)
        return code;
    facts_check_exit(r, r->ascend->info_answer);
    facts_note_unknown(r, INPUT_INFO, r->ascend->info_answer, r->ascend->info.device.unknown);
    if (r->facts->n_device > 0 && r->facts->device[0]->card >= 0)
        r->ascend->is_map_short = compare(r, INPUT_INFO, &r->ascend->info.device);
    return code;
}

/* Marks the NPUs with a process, and notes the processes of no NPU of npu-smi info -m. */
static void take_processes(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_npusmi_rows *process = &r->ascend->info.process;
    for (int32_t i = 0; i < f->n_device; i++)
        f->device[i]->is_running |= facts_row_of(process, f->device[i]) != NULL;
    for (int32_t p = 0; p < process->n && f->n_unknown == 0 && !f->has_only_named; p++) {
        const cpubind_npusmi_row *row = &process->row[p];
        const cpubind_host_device npu = cpubind_priv_new_npu(-1, row->card, row->chip, -1);
        if (facts_has_npu_of(f, row))
            continue;
        facts_note_difference(r, INPUT_INFO, INPUT_MAP, &npu);
        r->ascend->is_map_short = 1;
    }
}

/* Takes the process table of npu-smi info. */
static cpubind_problem_code read_processes(facts_reader *r)
{
    if (!facts_is_present(r->ascend->info_answer))
        return facts_judge(r, INPUT_INFO, r->ascend->info_answer);
    if (r->ascend->process_status != CPUBIND_TEXT_OK)
        return judge_table(r, INPUT_INFO, r->ascend->info_answer, r->ascend->process_status,
                           &r->ascend->info_fault);
    r->facts->has_processes = r->ascend->info.has_process_table;
    take_processes(r);
    return CPUBIND_PROBLEM_NONE;
}

/* Finds out which NPUs run. That is a condition of the plan only when the request says so: else
 * a table that cannot be read is a warning. */
cpubind_problem_code cpubind_priv_read_running(facts_reader *r)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (!r->ascend->has_read_processes)
        return code;
    if (r->facts->origin == CPUBIND_ORIGIN_NPU_SMI)
        code = read_processes(r);
    if (r->request->only_running)
        return code;
    r->facts->unread_processes = *r->problem;
    cpubind_problem_clear(r->problem);
    if (!r->facts->has_processes && !r->request->device)
        facts_warn(r, CPUBIND_WARNING_NO_PROCESSES);
    return CPUBIND_PROBLEM_NONE;
}

/* == Visible devices ======================================================== */

static cpubind_problem_code find_visible(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_input answer;
    cpubind_piece value;
    cpubind_problem_code code;
    if (r->request->visible) {
        f->visible = r->request->visible;
        f->visible_len = r->request->visible_len;
        return CPUBIND_PROBLEM_NONE;
    }
    code = facts_ask(r, INPUT_ENV, &answer);
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer) &&
        cpubind_env_find(answer.data, answer.len, "ASCEND_RT_VISIBLE_DEVICES", &value) ==
            CPUBIND_TEXT_OK) {
        f->visible = answer.data + value.at;
        f->visible_len = value.len;
    }
    return code;
}

/* Marks the visible NPUs: those of the variable, else those that the request names, else
 * all. */
static void mark_visible(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_device; i++)
        f->device[i]->is_visible =
            !f->visible && (!r->request->device || f->device[i]->is_named);
    for (int32_t i = 0; f->visible && i < f->n_visible; i++) {
        cpubind_host_device *npu = find_npu(f, f->visible_id[i]);
        if (npu)
            npu->is_visible = !r->request->device || npu->is_named;
    }
}

static cpubind_problem_code parse_visible(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_text_fault fault = {0, "no NPU is visible"};
    cpubind_text_status status;
    cpubind_visible visible = {NULL, 0, 0, 0};
    int32_t last = f->n_device > 0 ? f->device[f->n_device - 1]->logic : -1;
    int32_t limit = last < CPUBIND_MAX_DEVICES ? last + 1 : CPUBIND_MAX_DEVICES;
    f->visible_id = cpubind_arena_ints(r->arena, limit);
    if (!f->visible_id)
        return facts_fail_memory(r);
    visible.id = f->visible_id;
    visible.cap = limit;
    status = cpubind_visible_parse(f->visible, f->visible_len, limit, &visible, &fault);
    if (status != CPUBIND_TEXT_OK)
        return facts_fail(r, CPUBIND_PROBLEM_NO_RUNNING_DEVICE, fault.what);
    f->n_visible = visible.n;
    if (visible.used < f->visible_len)
        facts_warn(r, CPUBIND_WARNING_VISIBLE_TAIL);
    return CPUBIND_PROBLEM_NONE;
}

/* == Visible devices by physical ids ======================================== */

/* ASCEND_VISIBLE_DEVICES of the Ascend container runtime and of MindIE: the physical ids of the
 * devices that a container was given.
 *   value  = item *( "," item )      blanks around an item do not count
 *   item   = id / id "-" id / NAME "-" id       ids of both forms ascend; "0-3", "Ascend910-2"
 * It says nothing of the NPUs that are here when it is empty, "void", "none" or "all", and
 * where ASCEND_RUNTIME_OPTIONS has VIRTUAL: then its ids are of virtual devices. */
#define INPUT_PHYSICAL "ASCEND_VISIBLE_DEVICES"
#define INPUT_OPTIONS  "ASCEND_RUNTIME_OPTIONS"

static int is_of_model(char c)
{
    return cursor_is_digit(c) || (c >= 'A' && c <= 'Z');
}

/* Reads an item; returns 0 when it is none. */
static int read_item(cursor item, int32_t *first, int32_t *last)
{
    cursor id = item, head = cursor_cut(&id, '-');
    const int is_range = head.end < item.end;
    if (!cursor_is_number(is_range ? id : item, CPUBIND_MAX_DEVICES - 1, last))
        return 0;
    *first = *last;
    if (!is_range)
        return 1;
    if (!cursor_takes(&head, "Ascend"))
        return cursor_is_number(head, (uint64_t)*last, first);
    (void)cursor_span(&head, is_of_model);
    return !cursor_left(&head);
}

/* The devices that a variable names by numbers of the host. */
typedef struct naming {
    cpubind_input env;
    cpubind_piece value;
    uint8_t *is_named; /* by number */
    int32_t n;
    int32_t *logic;             /* of the NPUs in view with these numbers, and ... */
    int32_t n_logic, n_unknown; /* ... of those whose number is not known */
} naming;

static cpubind_problem_code fail_naming(facts_reader *r, const naming *named, int32_t at,
                                        const char *what)
{
    return facts_fail_input(r, INPUT_ENV, named->env, at, what);
}

/* Reads the numbers of a variable. */
static cpubind_problem_code read_naming(facts_reader *r, naming *named)
{
    cursor_text of;
    cursor all = cursor_open(&of, named->env.data, named->env.len, NULL, 1);
    all = cursor_at(&all, named->value);
    named->is_named = (uint8_t *)cpubind_arena_take(r->arena, CPUBIND_MAX_DEVICES, 1);
    named->logic = cpubind_arena_ints(r->arena, r->facts->n_device);
    if (!named->is_named || !named->logic)
        return facts_fail_memory(r);
    memset(named->is_named, 0, CPUBIND_MAX_DEVICES);
    while (cursor_left(&all)) {
        const cursor item = cursor_trim(cursor_cut(&all, ','));
        int32_t first, last;
        if (!read_item(item, &first, &last))
            return fail_naming(r, named, item.at,
                               "this is neither a physical id, a range such as 0-3, nor a "
                               "name such as Ascend910-2");
        for (int32_t id = first; id <= last; id++) {
            named->n += !named->is_named[id];
            named->is_named[id] = 1;
        }
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Lists an NPU in view, if its number is named, or not known. */
static void list_named(naming *named, const cpubind_host_device *npu, int32_t number)
{
    named->n_unknown += number < 0;
    if (number < 0 || (number < CPUBIND_MAX_DEVICES && named->is_named[number]))
        named->logic[named->n_logic++] = npu->logic;
}

/* Makes the listed NPUs the visible ones; ASCEND_RT_VISIBLE_DEVICES may name fewer, and no
 * other. */
static cpubind_problem_code take_named(facts_reader *r, const naming *named, const char *what)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0, at = 0; f->visible && i < f->n_visible; i++, at = 0) {
        if (!find_npu(f, f->visible_id[i]) ||
            cpubind_list_has(named->logic, named->n_logic, f->visible_id[i], &at))
            continue;
        r->problem->device = f->visible_id[i];
        return fail_naming(r, named, named->value.at, what);
    }
    if (f->visible)
        return CPUBIND_PROBLEM_NONE;
    f->visible = named->env.data + named->value.at;
    f->visible_len = named->value.len;
    f->visible_id = named->logic;
    f->n_visible = named->n_logic;
    return CPUBIND_PROBLEM_NONE;
}

/* Whether the value names devices that may be here. */
static int names_devices(cpubind_input env, cpubind_piece value)
{
    static const char *const none[] = {"", "void", "none", "all"};
    cursor_text of;
    const cursor all = cursor_open(&of, env.data, env.len, NULL, 1);
    cpubind_piece options;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (cursor_is(cursor_at(&all, value), none[i]))
            return 0;
    return cpubind_env_find(env.data, env.len, INPUT_OPTIONS, &options) != CPUBIND_TEXT_OK ||
           !cursor_holds(cursor_at(&all, options), "VIRTUAL");
}

/* Makes the NPUs with the named ids the visible ones, where they are a part of those in view.
 * In a container they are all of them, as its runtime has seen to. */
static cpubind_problem_code choose_physical(facts_reader *r, const naming *named)
{
    const cpubind_facts *f = r->facts;
    const int32_t n = named->n_logic - named->n_unknown;
    if (f->visible)
        return take_named(r, named,
                          "these physical ids lack that of an NPU that "
                          "ASCEND_RT_VISIBLE_DEVICES names: the two variables differ");
    if (n == f->n_device ||
        (named->n_unknown > 0 && (named->n == f->n_device || r->request->device)))
        return CPUBIND_PROBLEM_NONE;
    if (named->n_unknown > 0)
        return fail_naming(
            r, named, named->value.at,
            "it names physical ids, and those of the NPUs here are not known: set "
            "ASCEND_RT_VISIBLE_DEVICES to logic ids, too");
    return n > 0 ? take_named(r, named, NULL)
                 : fail_naming(r, named, named->value.at,
                               "no NPU that this process sees has one of these physical ids");
}

/* Reads the physical ids. --visible is the user's word, and counts alone. */
static cpubind_problem_code apply_physical(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    naming named = {.n = 0};
    cpubind_problem_code code;
    if (r->request->visible || f->n_device == 0 || f->has_only_named)
        return CPUBIND_PROBLEM_NONE;
    code = facts_ask(r, INPUT_ENV, &named.env);
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(named.env) ||
        cpubind_env_find(named.env.data, named.env.len, INPUT_PHYSICAL, &named.value) !=
            CPUBIND_TEXT_OK ||
        !names_devices(named.env, named.value))
        return code;
    code = read_naming(r, &named);
    for (int32_t i = 0; i < f->n_device && code == CPUBIND_PROBLEM_NONE; i++)
        list_named(&named, f->device[i], f->device[i]->phy);
    return code == CPUBIND_PROBLEM_NONE ? choose_physical(r, &named) : code;
}

/* == Visible devices in a step of Slurm ===================================== */

/* The place of an NPU among all of the host, by ascending physical ids; -1: not known. */
static int32_t place_on_host(const cpubind_facts *f, int32_t npu, int32_t n_host)
{
    int32_t place = 0;
    if (f->n_device == n_host)
        return npu;
    if (f->device[npu]->phy < 0)
        return -1;
    for (int32_t i = 0; i < f->n_census; i++)
        for (int32_t k = 0; k < facts_npu(f, i)->n_device; k++) {
            if (facts_npu(f, i)->phys[k] < 0)
                return -1;
            place += facts_npu(f, i)->phys[k] < f->device[npu]->phy;
        }
    return place;
}

/* Takes the devices of SLURM_STEP_GPUS: places in gres.conf, which has all NPUs of the host in
 * the order of their physical ids. Where a device cgroup leaves this task fewer, its list has
 * the first ones of the step in place of them, and what it may open counts. */
static cpubind_problem_code apply_step(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    const int32_t n_bus = facts_count_on_bus(f);
    naming named = {.value = r->slurm.list};
    cpubind_problem_code code;
    if (!r->is_in_slurm || r->slurm.n_listed < 1 || r->request->visible || f->n_device == 0 ||
        f->has_only_named ||
        (r->slurm.n_listed < r->slurm.n_device && f->n_device == r->slurm.n_listed))
        return CPUBIND_PROBLEM_NONE;
    code = facts_ask(r, INPUT_ENV, &named.env);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_naming(r, &named);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t i = 0; i < f->n_device; i++)
        list_named(&named, f->device[i], place_on_host(f, i, n_bus > 0 ? n_bus : f->n_device));
    if (named.n_logic != named.n)
        return fail_naming(
            r, &named, named.value.at,
            "SLURM_STEP_GPUS names other NPUs than this process may open (/dev/davinci*)");
    return take_named(r, &named,
                      "SLURM_STEP_GPUS lacks an NPU that "
                      "ASCEND_RT_VISIBLE_DEVICES names: the two variables differ");
}

cpubind_problem_code cpubind_priv_read_visible(facts_reader *r)
{
    const int32_t n_bus = facts_count_on_bus(r->facts);
    int32_t n_visible = 0;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (r->facts->n_device > 0) /* else the variables are of no NPU that is here */
        code = find_visible(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->visible)
        code = parse_visible(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = apply_physical(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = apply_step(r);
    mark_visible(r);
    for (int32_t i = 0; i < r->facts->n_device; i++)
        n_visible += r->facts->device[i]->is_visible;
    if (!r->request->bus || r->request->bus->is_host) /* else those of other jobs are listed */
        cpubind_priv_take_job(r->facts);
    return code == CPUBIND_PROBLEM_NONE && r->facts->n_device > 0
               ? cpubind_priv_judge_step(r, n_visible, n_bus > 0 ? n_bus : r->facts->n_device)
               : code;
}
