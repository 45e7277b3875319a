/* view_law.c - the law over pairs of views: two processes of a host never take the same CPU
 * SPDX-License-Identifier: MIT
 *
 * The law is that of the contract: when two processes both have a plan, no CPU is in the pools
 * of two different devices, and a device that both plans have has the same pool in both, unless
 * a warning in both plans says that processes can differ. Two processes of one device have the
 * same CPUs for its interrupts, and share no other CPU. A CPU that is kept for the host is kept
 * in every plan, and in no pool. A refusal is allowed, but not of a view in which nothing
 * failed and every NPU can have its CPUs. It must not know how a plan is made.
 */
#include "view_law.h"

#include <stdlib.h>
#include <string.h>

#include "../../adapters/model/accelerators.h"
#include "../../adapters/model/vendor.h"
#include "../../adapters/plan/plan.h"

/* == What excuses a pair ==================================================== */

#define W(name) CPUBIND_WARNS(name)

typedef enum excuse_side {
    IN_BOTH, /* both plans must have a warning of the row */
    IN_ONE,  /* one is enough: the other process sees the host well, and cannot know of it */
    BY_HAND, /* IN_ONE, of a process with facts = npu-smi, as its user says */
    ALONE    /* one has it, and the other has not: where both lack the input, they agree */
} excuse_side;

/* The table of what excuses a pair of plans that would break the law: warnings that say that
 * processes of the host may get the same CPUs, and name the option that settles it. */
static const struct {
    uint64_t warnings;
    excuse_side side;
    const char *why;
} excuses[] = {
    {W(ONLY_LOGIC_IDS), IN_BOTH, "slices by logic ids, which restart in each container"},
    {W(PARTIAL_CPUSET), IN_BOTH, "cpusets that cross each other, and no --scope"},
    {W(NO_ADDRESSES) | W(ORDER_DIFFERS), IN_BOTH, "by logic id in one, by address in another"},
    {W(OVERLAP), IN_BOTH, "overlap = keep gives CPUs twice, as the reference does"},
    {W(DISPUTED), IN_ONE,
     "a device that is at home elsewhere, which the other process does not see"},
    {W(PARTS), IN_ONE,
     "a card in one, a part of it in the other, or parts too small to be cut"},
    {W(NO_MAP), IN_ONE, "--devices is the user's word for what no input tells"},
    {W(NO_CENSUS), IN_ONE, "/sys shows this process no PCI bus"},
    {W(NO_NODES), IN_ONE, "/sys shows this process no node"},
    {W(NO_STATUS), IN_ONE, "/proc does not show this process its CPUs"},
    {W(NO_DISTANCES), IN_ONE, "/sys shows this process no distances between nodes"},
    {W(NO_CORES), ALONE, "/sys shows this process no cores"},
    {W(ONLY_LOGIC_IDS), BY_HAND, "slices by logic ids, with facts = npu-smi"},
};

enum { N_EXCUSE = sizeof excuses / sizeof excuses[0] };

/* == Planning =============================================================== */

enum { ARENA = 8 << 20 };

static void break_plan(view_plan *p, const char *text, int32_t a, int32_t b)
{
    (void)snprintf(p->broken, sizeof p->broken, "%s (%d, %d)", text, a, b);
}

/* Holds what the facts say of an NPU against the host. */
static void check_npu(const host_view *v, const cpubind_host_device *npu, view_plan *out)
{
    const int32_t phy = v->phy[npu->logic];
    const host_npu *truth = &v->host->npu[phy];
    if (npu->phy >= 0 && npu->phy != phy)
        break_plan(out, "the phy id of an NPU is wrong (is, should be)", npu->phy, phy);
    if (npu->pci.domain >= 0 && npu->pci.bus != v->host->function[truth->function].bus)
        break_plan(out, "the bus of an NPU is wrong (is, should be)", npu->pci.bus,
                   v->host->function[truth->function].bus);
}

/* Takes the roles of a row, and holds them against its pool. */
static void take_roles(const cpubind_device_plan *plan, int32_t row, int32_t phy,
                       view_plan *out)
{
    const int32_t *cpu = plan->role_cpu + plan->role_row[row];
    const int32_t n = plan->role_row[row + 1] - plan->role_row[row];
    int32_t at = 0, has_memory_node = 0;
    const cpubind_role_spec *roles = phy < HOST_NPUS ? &plan->roles : &plan->other_roles;
    for (int role = 0; role < CPUBIND_ALL_ROLES; role++) {
        const cpubind_span span = plan->role_span[row].span[role];
        if (span.first != at || span.count < roles->count[role])
            break_plan(out, "the roles do not tile the pool (role, phy)", role, phy);
        at += span.count;
    }
    if (at != n)
        break_plan(out, "the roles do not tile the pool (CPUs, phy)", n, phy);
    for (int32_t i = 0; i < n; i++) {
        const int32_t is_irq = i < plan->role_span[row].span[CPUBIND_ROLE_IRQ].count;
        if (cpu[i] < 0 || cpu[i] >= HOST_CPUS || !bits_has(&out->pool[phy], cpu[i]) ||
            bits_has(&out->irq[phy], cpu[i]) || bits_has(&out->part[phy], cpu[i]))
            break_plan(out, "a role has a CPU that is not free in the pool (CPU, phy)", cpu[i],
                       phy);
        else
            bits_add(is_irq ? &out->irq[phy] : &out->part[phy], cpu[i]);
    }
    for (int32_t i = plan->core.row[row]; i < plan->core.row[row + 1]; i++)
        for (int32_t k = 0; k < plan->host.n_cpu; k++)
            has_memory_node |= plan->host.cpu[k] == plan->core.cpu[i] &&
                               plan->host.node[k] == plan->memory_node[row];
    if (!has_memory_node)
        break_plan(out, "memory is on a node without CPUs of the pool (node, phy)",
                   plan->memory_node[row], phy);
}

/* Takes the CPUs of the engine and of CPU workers; none of them is in a pool, or of two of its
 * processes. */
static void take_beside(const cpubind_device_plan *plan, cpu_bits *all, view_plan *out)
{
    for (int32_t i = 0; i < plan->n_beside; i++)
        for (int32_t k = 0; k < plan->beside[i].n_cpu; k++) {
            const int32_t cpu = plan->beside[i].cpu[k];
            if (bits_has(all, cpu))
                break_plan(out, "a CPU beside the devices is another's, too (CPU, process)",
                           cpu, i);
            bits_add(all, cpu);
            bits_add(&out->beside, cpu);
        }
}

/* Takes the CPUs that are kept for the host; none of them is in a pool. */
static void take_kept(const cpubind_device_plan *plan, view_plan *out)
{
    for (int32_t i = 0; i < plan->n_kept; i++) {
        if (plan->kept[i] < 0 || plan->kept[i] >= HOST_CPUS)
            continue;
        bits_add(&out->kept, plan->kept[i]);
        for (int32_t phy = 0; phy < HOST_DEVICES; phy++)
            if (bits_has(&out->pool[phy], plan->kept[i]))
                break_plan(out, "a CPU that is kept is in a pool (CPU, phy)", plan->kept[i],
                           phy);
    }
}

/* The device of a row; -1: an NPU that the view does not have. */
static int32_t device_of(const host_view *v, const cpubind_host_device *npu)
{
    const random_host *h = v->host;
    for (int32_t i = 0; npu->bus >= 0 && i < h->n_function; i++)
        if (h->function[i].gpu >= 0 && h->function[i].bus == npu->pci.bus &&
            h->function[i].function == npu->pci.function)
            return HOST_NPUS + h->function[i].gpu;
    return npu->bus >= 0 || npu->logic < 0 || npu->logic >= v->n_npu ? -1 : v->phy[npu->logic];
}

/* Takes the CPUs of a row. Those of one plan are in one pool. */
static void take_pool(const host_view *v, const cpubind_device_plan *plan, int32_t row,
                      int32_t device, cpu_bits *all, view_plan *out)
{
    for (int32_t i = plan->core.row[row]; i < plan->core.row[row + 1]; i++) {
        const int32_t cpu = plan->core.cpu[i];
        out->has_pool |= 1u << device;
        if (cpu < 0 || cpu >= HOST_CPUS ||
            (!bits_has(&v->allowed, cpu) && !(plan->warnings & W(NO_STATUS)))) {
            break_plan(out, "a CPU that is not allowed is in a pool (CPU, device)", cpu,
                       device);
            continue;
        }
        bits_add(&out->pool[device], cpu);
        if (bits_has(all, cpu) && !v->request.share &&
            !(plan->warnings & (W(OVERLAP) | W(PARTS))))
            break_plan(out, "a CPU is in two pools of one plan (CPU, device)", cpu, device);
        bits_add(all, cpu);
    }
}

/* Takes the pools of a plan by devices, and checks those laws that need one plan only. */
static void take_pools(const host_view *v, const cpubind_facts *f,
                       const cpubind_device_plan *plan, view_plan *out)
{
    cpu_bits all;
    memset(&all, 0, sizeof all);
    for (int32_t row = 0; row < plan->n_want; row++) {
        const cpubind_host_device *npu = f->device[plan->want[row]];
        const int32_t device = device_of(v, npu);
        if (device < 0) {
            out->n_unknown++;
            continue;
        }
        if (npu->bus < 0)
            check_npu(v, npu, out);
        take_pool(v, plan, row, device, &all, out);
        take_roles(plan, row, device, out);
    }
    take_beside(plan, &all, out);
    take_kept(plan, out);
    out->rank_phy = -1;
    if (plan->rank_row >= 0 && plan->rank_row < plan->n_want) {
        const int32_t logic = f->device[plan->want[plan->rank_row]]->logic;
        out->rank_phy = logic >= 0 && logic < v->n_npu ? v->phy[logic] : -1;
    }
}

/* Plans a host that has GPUs alone, as the command does. */
static cpubind_problem_code plan_gpus(const cpubind_source *source, const cpubind_request *q,
                                      cpubind_arena *arena, cpubind_facts *facts,
                                      cpubind_device_plan *plan, cpubind_problem *problem)
{
    const cpubind_pci_request bus = {.is_plan = 1};
    cpubind_request asked = *q;
    cpubind_problem_code code;
    asked.bus = &bus;
    code = cpubind_facts_read(source, &asked, arena, facts, problem);
    if (code == CPUBIND_PROBLEM_NONE && facts->n_bus == 0)
        return CPUBIND_PROBLEM_NO_RUNNING_DEVICE;
    return code == CPUBIND_PROBLEM_NONE
               ? cpubind_plan_devices(facts, &asked, arena, plan, problem)
               : code;
}

/* What tells the node of a function tells it to topo and to plan alike. */
static void check_nodes(const cpubind_source *source, const cpubind_request *q,
                        const cpubind_facts *f, cpubind_arena *arena, view_plan *out)
{
    const cpubind_pci_request bus = {.is_bus_alone = 1};
    cpubind_request asked = *q;
    cpubind_facts devices;
    cpubind_problem problem;
    asked.bus = &bus;
    if (f->rules != CPUBIND_RULES_NEAR || !f->has_nodes ||
        cpubind_facts_read(source, &asked, arena, &devices, &problem) != CPUBIND_PROBLEM_NONE)
        return;
    for (int32_t i = 0; i < f->n_bus; i++) {
        const cpubind_host_device *here = &f->bus[i];
        const int32_t on_bus = cpubind_facts_on_bus(&devices, &here->pci);
        if (on_bus >= 0 && here->origin != CPUBIND_NODE_ORIGIN_UNKNOWN &&
            here->origin != CPUBIND_NODE_ORIGIN_NPU_SMI &&
            devices.bus[on_bus].node != here->node)
            break_plan(out, "topo names another node (plan, topo)", here->node,
                       devices.bus[on_bus].node);
    }
}

void view_law_plan(const host_view *view, view_plan *out)
{
    static view_source source;
    static char *block;
    cpubind_arena arena = {NULL, ARENA, 0};
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_source seam;
    cpubind_request request = view->request;
    if (!block)
        block = (char *)malloc(ARENA);
    if (!block)
        abort();
    arena.base = block;
    memset(out, 0, sizeof *out);
    view_source_start(&source, view);
    seam = view_source_of(&source);
    request.wants_others = 1;
    out->code = cpubind_facts_read(&seam, &request, &arena, &facts, &out->problem);
    if (out->code == CPUBIND_PROBLEM_NONE)
        out->code = cpubind_plan_make(&facts, &request, &arena, &plan, &out->problem);
    else if (out->code == CPUBIND_PROBLEM_NO_NPU_SMI && view->host->n_npu == 0)
        out->code = plan_gpus(&seam, &request, &arena, &facts, &plan, &out->problem);
    out->has_failed = source.has_failed;
    out->origin = facts.origin;
    out->strategy = facts.strategy;
    if (out->code != CPUBIND_PROBLEM_NONE)
        return;
    out->warnings = plan.warnings;
    take_pools(view, &facts, &plan, out);
    check_nodes(&seam, &request, &facts, &arena, out);
}

/* == Fair views ============================================================= */

/* Whether each NPU of a node can have the CPUs that its roles need. */
static int32_t has_room_near(const random_host *h, const cpu_bits *cpus, int32_t roles)
{
    int32_t need[HOST_NODES] = {0};
    for (int32_t phy = 0; phy < h->n_npu; phy++)
        if (h->npu[phy].state != NPU_OFF_BUS)
            need[random_host_home(h, phy)] +=
                h->type == CPUBIND_TYPE_950 ? 8 * h->threads : roles;
    for (int32_t i = 0; i < h->n_node; i++)
        if (bits_count_both(&h->node[i].online, cpus) < need[i])
            return 0;
    return 1;
}

/* Removes as many CPUs of each node as may be kept there: the last core of `--keep N` may have
 * a thread more, and the core of the CPU of `--keep LIST` is on one of the nodes. */
static void remove_kept(const random_host *h, const cpubind_request *q, cpu_bits *cpus)
{
    const int32_t most = (q->keep_each + q->n_keep) * h->threads;
    for (int32_t i = 0; i < h->n_node; i++) {
        int32_t n = 0;
        for (int32_t cpu = bits_next(&h->node[i].online, 0); cpu >= 0 && n < most;
             cpu = bits_next(&h->node[i].online, cpu + 1)) {
            n += bits_has(cpus, cpu);
            cpus->word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
        }
    }
}

/* Whether the PCI bus tells a process without an NPU all about those of the host. */
static int32_t has_whole_bus(const random_host *h)
{
    for (int32_t i = 0; i < h->n_function; i++)
        if (h->function[i].n_npu > 0 && h->function[i].node < 0)
            return 0;
    return h->type != CPUBIND_TYPE_950 && !h->has_other_type &&
           (h->type != CPUBIND_TYPE_300I || random_host_has_driver(h));
}

/* Whether a view must have a plan: nothing failed, npu-smi, the driver or the bus names the
 * NPUs, and there are CPUs for all. */
static int32_t is_fair(const host_view *v)
{
    const random_host *h = v->host;
    const cpubind_request *q = &v->request;
    const int32_t driver = random_host_has_driver(h) && !v->masks_interrupts;
    const int32_t n_process = q->n_process > 1 ? q->n_process : 1;
    const int32_t roles = 2 + (3 + q->transfer) * n_process;
    cpu_bits cpus = v->allowed;
    int32_t n_device = h->n_npu;
    if (v->failure != FAILURE_NONE || v->table == TABLE_CUT || q->only_running ||
        q->overlap == CPUBIND_OVERLAP_REFUSE || q->engine.engine || q->workers.is_asked ||
        q->reach != CPUBIND_REACH_SOCKET || (q->device && v->has_visible))
        return 0;
    if (v->n_npu == 0 && (v->gpu_kind || v->gpu_files != ~0u || v->hides_files ||
                          (h->n_npu > 0 && (!has_whole_bus(h) || v->masks_interrupts ||
                                            q->rules != CPUBIND_RULES_NEAR))))
        return 0;
    if (v->n_npu > 0 &&
        (q->origin == CPUBIND_ORIGIN_DRIVER ? !driver : !v->has_npu_smi && !driver))
        return 0;
    if (q->origin == CPUBIND_ORIGIN_NPU_SMI && !v->has_npu_smi)
        return 0;
    for (int32_t i = 0; i < h->n_npu; i++)
        if (h->npu[i].state == NPU_OFF_BUS || h->npu[i].state == NPU_LOST)
            return 0;
    /* A cluster does not grow with what main and transfer need. Where CPUs are offline, cores
     * may look as if they had one thread. */
    if (h->type == CPUBIND_TYPE_950 &&
        (1 + q->transfer) * n_process > 8 * (bits_next(&h->offline, 0) < 0 ? h->threads : 1))
        return 0;
    /* Clusters need the threads of a core. */
    if (h->type == CPUBIND_TYPE_950 && h->lacks == LACKS_SIBLINGS)
        return 0;
    /* A 950 on node 0 takes CPUs of the UVB threads, which keep and refuse do not give. */
    for (int32_t i = 0; i < h->n_npu && q->overlap != CPUBIND_OVERLAP_RESOLVE; i++)
        if (h->type == CPUBIND_TYPE_950 && random_host_home(h, i) == 0)
            return 0;
    /* Clusters need homes; for a function on no node npu-smi alone has them. */
    for (int32_t i = 0; i < h->n_npu && h->type == CPUBIND_TYPE_950; i++)
        if (h->function[h->npu[i].function].node < 0 && !view_has_affinity(v))
            return 0;
    if (q->scope == CPUBIND_SCOPE_HOST && !bits_are_same(&v->allowed, &h->online))
        return 0;
    for (int32_t i = 0; i < q->n_exclude; i++)
        cpus.word[q->exclude[i] / 64] &= ~(UINT64_C(1) << (q->exclude[i] % 64));
    remove_kept(h, q, &cpus);
    for (int32_t i = 0; i < h->n_function; i++)
        n_device += h->function[i].gpu >= 0;
    if (bits_count(&cpus) / n_device < roles)
        return 0;
    return (q->rules == CPUBIND_RULES_NEAR && h->type != CPUBIND_TYPE_950) ||
           has_room_near(h, &cpus, roles);
}

/* == Pairs ================================================================== */

static int32_t has_excuse(const law_case *c, int32_t view, int32_t row)
{
    return (c->plan[view].warnings & excuses[row].warnings) != 0 &&
           (excuses[row].side != BY_HAND ||
            c->view[view].request.origin == CPUBIND_ORIGIN_NPU_SMI);
}

/* The row that excuses a pair, or -1. */
static int32_t find_excuse(const law_case *c, int32_t i, int32_t k)
{
    for (int32_t row = 0; row < N_EXCUSE; row++) {
        const int32_t n = has_excuse(c, i, row) + has_excuse(c, k, row);
        if (n >= (excuses[row].side == IN_BOTH ? 2 : 1) &&
            (excuses[row].side != ALONE || n == 1))
            return row;
    }
    return -1;
}

/* Writes how two plans break the law, if they do; returns 1 when they keep it. Devices that
 * share CPUs have the same pools in both. */
static int32_t compare_pools(const view_plan *a, const view_plan *b, int32_t share,
                             int64_t *equal, char *text)
{
    for (int32_t i = 0; i < HOST_DEVICES; i++) {
        for (int32_t k = 0; k < HOST_DEVICES; k++) {
            if (!(a->has_pool >> i & 1u) || !(b->has_pool >> k & 1u))
                continue;
            if (i == k && bits_are_same(&a->pool[i], &b->pool[k])) {
                ++*equal;
            } else if (i == k) {
                (void)snprintf(text, LAW_TEXT / 2, "phy %d has another pool in the other plan",
                               i);
                return 0;
            } else if (!share && bits_count_both(&a->pool[i], &b->pool[k]) > 0) {
                (void)snprintf(text, LAW_TEXT / 2, "phy %d and phy %d share CPUs", i, k);
                return 0;
            }
        }
        if ((a->has_pool >> i & 1u && bits_count_both(&a->pool[i], &b->beside) > 0) ||
            (b->has_pool >> i & 1u && bits_count_both(&b->pool[i], &a->beside) > 0)) {
            (void)snprintf(text, LAW_TEXT / 2,
                           "phy %d and what is beside the devices share CPUs", i);
            return 0;
        }
    }
    return 1;
}

/* The same for two processes, each of one NPU or more, by the CPUs of their roles. */
static int32_t compare_parts(const law_case *c, int32_t i, int32_t k, law_counts *counts,
                             char *text)
{
    const view_plan *a = &c->plan[i], *b = &c->plan[k];
    const int32_t is_same = c->view[i].request.process == c->view[k].request.process;
    if (!bits_are_same(&a->kept, &b->kept)) {
        (void)snprintf(text, LAW_TEXT / 2, "the CPUs that are kept differ");
        return 0;
    }
    for (int32_t phy = 0; phy < HOST_DEVICES; phy++) {
        if (!(a->has_pool & b->has_pool & 1u << phy) ||
            !bits_are_same(&a->pool[phy], &b->pool[phy]))
            continue;
        counts->parts += !is_same;
        if (!bits_are_same(&a->irq[phy], &b->irq[phy]) ||
            (is_same ? !bits_are_same(&a->part[phy], &b->part[phy])
                     : bits_count_both(&a->part[phy], &b->part[phy]) > 0)) {
            (void)snprintf(text, LAW_TEXT / 2, "two processes of phy %d have other roles", phy);
            return 0;
        }
    }
    return 1;
}

/* Writes how two plans of a case break the law, if they do; returns 1 when they keep it. */
static int32_t compare_plans(const law_case *c, int32_t i, int32_t k, law_counts *counts,
                             char *text)
{
    int64_t equal = 0;
    if (!compare_pools(&c->plan[i], &c->plan[k], c->view[i].request.share, &equal, text))
        return 0;
    counts->equal += equal;
    return compare_parts(c, i, k, counts, text);
}

/* A pair with disjoint cpusets may give one NPU two pools. */
static int32_t may_differ(const host_view *a, const host_view *b)
{
    return !bits_are_same(&a->allowed, &b->allowed);
}

static int check_pair(law_case *c, int32_t i, int32_t k, law_counts *counts)
{
    const view_plan *a = &c->plan[i], *b = &c->plan[k];
    char text[LAW_TEXT / 2];
    int32_t excuse;
    counts->pairs++;
    if (a->code != CPUBIND_PROBLEM_NONE || b->code != CPUBIND_PROBLEM_NONE)
        return 1;
    counts->both++;
    counts->by_near += c->view[i].request.rules == CPUBIND_RULES_NEAR;
    if (compare_plans(c, i, k, counts, text))
        return 1;
    excuse = find_excuse(c, i, k);
    if (excuse >= 0) {
        counts->excused[excuse]++;
        return 1;
    }
    if (strstr(text, "another pool") && may_differ(&c->view[i], &c->view[k]))
        return 1;
    (void)snprintf(c->broken, LAW_TEXT, "views %c and %c: %s", 'A' + i, 'A' + k, text);
    c->is_broken = 1u << i | 1u << k;
    return 0;
}

static void check_view(law_case *c, int32_t i, law_counts *counts)
{
    const view_plan *plan = &c->plan[i];
    const int32_t fair = is_fair(&c->view[i]);
    counts->views++;
    counts->fair += fair;
    c->is_broken = 1u << i;
    counts->mixed += plan->has_pool >> HOST_NPUS != 0;
    counts->gpus_alone += plan->has_pool != 0 && c->view[i].n_npu == 0;
    counts->by_driver +=
        plan->code == CPUBIND_PROBLEM_NONE && plan->origin == CPUBIND_ORIGIN_DRIVER;
    if (plan->code != CPUBIND_PROBLEM_NONE)
        counts->refused[fair][plan->code % 32]++;
    if (plan->broken[0])
        (void)snprintf(c->broken, LAW_TEXT, "view %c: %s", 'A' + i, plan->broken);
    else if (fair && plan->code != CPUBIND_PROBLEM_NONE)
        (void)snprintf(c->broken, LAW_TEXT, "view %c is refused for no good reason", 'A' + i);
}

int view_law_hold(law_case *c, law_counts *counts)
{
    law_counts unused = {0};
    if (!counts)
        counts = &unused;
    c->broken[0] = '\0';
    counts->cases++;
    for (int32_t i = 0; i < LAW_VIEWS; i++) {
        view_law_plan(&c->view[i], &c->plan[i]);
        check_view(c, i, counts);
        for (int32_t k = 0; k < i && !c->broken[0]; k++)
            (void)check_pair(c, k, i, counts);
        if (c->broken[0])
            return 0;
    }
    return 1;
}

int view_law_check(const uint8_t *bytes, size_t len, law_case *out, law_counts *counts)
{
    random_views_make(bytes, len, &out->host, out->view);
    return view_law_hold(out, counts);
}

/* == Smaller cases ========================================================== */

/* Whether the bytes still break the same law: the text of it without its numbers. */
static int is_same_law(const char *a, const char *b)
{
    static const char *const kinds[] = {"share CPUs", "another pool", "refused",  "not allowed",
                                        "two pools",  "phy id",       "bus of",   "other roles",
                                        "kept",       "tile",         "not free", "memory"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(a, kinds[i]))
            return strstr(b, kinds[i]) != NULL;
    return b[0] != '\0';
}

void view_law_shrink(uint8_t *bytes, law_case *work)
{
    char broken[LAW_TEXT];
    int32_t is_smaller = 1;
    (void)view_law_check(bytes, LAW_BYTES, work, NULL);
    memcpy(broken, work->broken, sizeof broken);
    for (int32_t round = 0; is_smaller && round < 8; round++) {
        is_smaller = 0;
        for (int32_t i = 0; i < LAW_BYTES; i++) {
            const uint8_t before = bytes[i];
            const uint8_t tries[] = {0, 1, (uint8_t)(before / 2), (uint8_t)(before - 1)};
            for (size_t t = 0; t < sizeof tries && bytes[i] == before; t++) {
                if (tries[t] >= before)
                    continue;
                bytes[i] = tries[t];
                if (view_law_check(bytes, LAW_BYTES, work, NULL) ||
                    !is_same_law(broken, work->broken))
                    bytes[i] = before;
                else
                    is_smaller = 1;
            }
        }
    }
    (void)view_law_check(bytes, LAW_BYTES, work, NULL);
}

/* == Printing =============================================================== */

static void print_set(FILE *out, const char *before, const cpu_bits *set)
{
    char text[HOST_CPUS * 4];
    (void)view_write_list(text, set);
    (void)fprintf(out, "%s%s", before, text);
}

static void print_host(FILE *out, const random_host *h)
{
    static const char *const states[] = {"", " silent", " lost", " off the bus"};
    static const char *const lacks[] = {"", ", no distances", ", no lists of siblings",
                                        ", odd distances"};
    (void)fprintf(out, "host: %s, %d threads a core, %d nodes a socket%s%s%s%s%s%s\n",
                  cpubind_type_word(h->type), h->threads, h->socket_nodes, lacks[h->lacks],
                  h->is_vm ? ", vm" : "", h->has_mailbox ? ", mailboxes" : "",
                  h->has_driver ? ", driver files" : "",
                  h->has_column ? ", affinity column" : "", h->has_buses ? "" : ", no Bus-Id");
    for (int32_t i = 0; i < h->n_node; i++) {
        (void)fprintf(out, "  node %d:", h->node[i].id);
        print_set(out, " ", &h->node[i].online);
        (void)fprintf(out, "\n");
    }
    if (bits_next(&h->offline, 0) >= 0) {
        print_set(out, "  offline: ", &h->offline);
        (void)fprintf(out, "\n");
    }
    for (int32_t i = 0; i < h->n_function; i++) {
        const host_function *f = &h->function[i];
        (void)fprintf(out, "  %s %04x:%04x node %d%s", f->name, (unsigned)f->vendor,
                      (unsigned)f->device, f->node < 0 ? -1 : h->node[f->node].id,
                      f->is_virtual ? " virtual" : "");
        for (int32_t k = 0; k < f->n_npu; k++)
            (void)fprintf(out, "  phy %d card %d chip %d%s", f->first + k,
                          h->npu[f->first + k].card, h->npu[f->first + k].chip,
                          states[h->npu[f->first + k].state]);
        (void)fprintf(out, "\n");
    }
}

static void print_view(FILE *out, char name, const host_view *v)
{
    static const char *const tables[] = {"whole", "wide", "none", "cut"};
    static const char *const failures[] = {"",         "fails",  "hangs",     "is too long",
                                           "is empty", "is cut", "is absent", "is odd"};
    const cpubind_request *q = &v->request;
    (void)fprintf(out, "view %c: %s%s%s, phy", name, v->is_container ? "container" : "host",
                  v->is_root ? " as root" : "",
                  v->masks_interrupts ? " with masked interrupts" : "");
    for (int32_t i = 0; i < v->n_npu; i++)
        (void)fprintf(out, " %d", v->phy[i]);
    print_set(out, ", allowed ", &v->allowed);
    (void)fprintf(out, "%s, npu-smi %s, table %s, running %x",
                  v->lists_offline ? " and offline" : "", v->has_npu_smi ? "there" : "absent",
                  tables[v->table], (unsigned)v->running);
    if (v->has_visible)
        (void)fprintf(out, ", visible \"%s\"", v->visible);
    if (v->gpu_kind)
        (void)fprintf(out, ", GPUs %s \"%s\"", v->gpu_kind, v->gpu_visible);
    (void)fprintf(out, ", files of GPUs %x%s", (unsigned)v->gpu_files & ((1u << HOST_GPUS) - 1),
                  v->hides_files ? " not told" : "");
    if (v->failure != FAILURE_NONE)
        (void)fprintf(out, ", %s %s at %d/256", v->failing, failures[v->failure], v->cut);
    (void)fprintf(out, "\n   -o facts=%s --scope %s%s -o overlap=%d",
                  cpubind_origin_word(q->origin), cpubind_scope_word(q->scope),
                  v->has_dra ? " (DRA)" : "", (int)q->overlap);
    if (!q->is_auto_strategy)
        (void)fprintf(out, " -o strategy=%d", (int)q->strategy);
    (void)fprintf(out, " --rules %s%s", cpubind_rules_word(q->rules),
                  q->has_rules ? "" : " (environment)");
    if (q->keep_each > 0)
        (void)fprintf(out, " --keep %d", q->keep_each);
    if (q->n_keep > 0)
        (void)fprintf(out, " --keep %d,", q->keep[0]);
    if (q->transfer > 0)
        (void)fprintf(out, " -o transfer=%d", q->transfer);
    if (q->engine.engine > 0)
        (void)fprintf(out, " -o engine=%d -o tp=%d -o dp=%d", q->engine.engine, q->engine.tp,
                      q->engine.dp);
    if (q->workers.is_asked)
        (void)fprintf(out, " --cpu-workers %d of %d nodes, reserve %d", q->workers.n_worker,
                      q->workers.n_node, q->workers.reserve);
    if (q->reach != CPUBIND_REACH_SOCKET || q->share)
        (void)fprintf(out, " --reach %d -o share=%d", (int)q->reach, q->share);
    if (q->n_process > 1)
        (void)fprintf(out, " --processes %d --index %d", q->n_process, q->process);
    if (q->type != CPUBIND_TYPE_AUTO)
        (void)fprintf(out, " -o device-type=%s", cpubind_type_word(q->type));
    for (int32_t i = 0; i < q->n_device; i++)
        (void)fprintf(out, "%s%d", i ? ",npu" : " --devices npu", q->device[i]);
    if (q->has_rank)
        (void)fprintf(out, " --rank %d", q->rank);
    if (q->total > 0)
        (void)fprintf(out, " -o total=%d", q->total);
    (void)fprintf(out, "%s%s%s%s\n", q->only_running ? " --running" : "",
                  q->allowed ? " --allowed" : "", q->exclude ? " --exclude" : "",
                  q->wants_pci ? " wants_pci" : "");
}

static void print_plan(FILE *out, const view_plan *p)
{
    if (p->code != CPUBIND_PROBLEM_NONE) {
        (void)fprintf(out, "   refused: %s: %s (%s) npu %d need %d have %d\n",
                      cpubind_problem_word(p->code), p->problem.what ? p->problem.what : "",
                      p->problem.input ? p->problem.input : "-", p->problem.device,
                      p->problem.need, p->problem.have);
        return;
    }
    (void)fprintf(out, "   plan by %s, strategy %d:", cpubind_origin_word(p->origin),
                  (int)p->strategy);
    for (int32_t i = 0; i < HOST_DEVICES; i++)
        if (p->has_pool >> i & 1u) {
            (void)fprintf(out, "  phy %d", i);
            print_set(out, " ", &p->pool[i]);
        }
    (void)fprintf(out, "\n   warnings:");
    for (int32_t i = 0; i < CPUBIND_WARNING_COUNT; i++)
        if (p->warnings >> i & 1u)
            (void)fprintf(out, " %s", cpubind_warning_word((cpubind_warning)i));
    (void)fprintf(out, "\n");
}

void view_law_print_view(FILE *out, const law_case *c, int32_t i)
{
    print_view(out, (char)('A' + i), &c->view[i]);
    print_plan(out, &c->plan[i]);
}

void view_law_print(FILE *out, const law_case *c)
{
    (void)fprintf(out, "%s\n", c->broken);
    print_host(out, &c->host);
    for (int32_t i = 0; i < LAW_VIEWS; i++)
        if (c->is_broken >> i & 1u)
            view_law_print_view(out, c, i);
}

void view_law_print_counts(FILE *out, const law_counts *counts)
{
    (void)fprintf(out,
                  "# %lld hosts, %lld views (%lld must have a plan, %lld by the driver), "
                  "%lld pairs, %lld with two plans (%lld by near), %lld equal pools "
                  "(%lld of two processes), %lld plans with GPUs, %lld without an NPU\n",
                  (long long)counts->cases, (long long)counts->views, (long long)counts->fair,
                  (long long)counts->by_driver, (long long)counts->pairs,
                  (long long)counts->both, (long long)counts->by_near, (long long)counts->equal,
                  (long long)counts->parts, (long long)counts->mixed,
                  (long long)counts->gpus_alone);
    for (int32_t i = 0; i < N_EXCUSE; i++)
        if (counts->excused[i] > 0)
            (void)fprintf(out, "#   excused: %s: %lld pairs\n", excuses[i].why,
                          (long long)counts->excused[i]);
    for (int32_t fair = 0; fair < 2; fair++)
        for (int32_t i = 0; i < 32; i++)
            if (counts->refused[fair][i] > 0)
                (void)fprintf(out, "#   refused%s: %s: %lld views\n",
                              fair ? " for no good reason" : "",
                              cpubind_problem_word((cpubind_problem_code)i),
                              (long long)counts->refused[fair][i]);
}
