/* process_goal.c - from the plan of a device to the goal of the process that drives it
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc; binds nothing. The rules are in
 * process_goal.h.
 */
#include "process_goal.h"

#include "../model/facts_reader.h"
#include "network.h"

/* == CPUs and interrupts of a process ======================================= */

cpubind_cpus cpubind_goal_cpus_of_role(const cpubind_goal_pool *pool, cpubind_role role)
{
    const cpubind_span *span = &pool->roles.span[role];
    if (span->count == 0)
        span = &pool->roles.span[CPUBIND_ROLE_MAIN];
    return (cpubind_cpus){pool->cpu + span->first, span->count};
}

cpubind_cpus cpubind_goal_cpus_of_wish(const cpubind_goal_pool *pool, cpubind_cpus ascending,
                                       cpubind_cpus kept, const cpubind_thread_wish *wish)
{
    switch (wish->kind) {
    case CPUBIND_WISH_ROLE:
        return cpubind_goal_cpus_of_role(pool, wish->role);
    case CPUBIND_WISH_POOL:
        return ascending;
    case CPUBIND_WISH_KEEP:
        return kept.n > 0 ? kept : cpubind_goal_cpus_of_role(pool, CPUBIND_ROLE_MAIN);
    case CPUBIND_WISH_LEAVE:
        return (cpubind_cpus){NULL, 0};
    case CPUBIND_WISH_LIST:
        break;
    }
    return wish->cpus;
}

/* A goal that is being made. */
typedef struct maker {
    facts_reader r; /* without request and facts: only to ask for inputs and to fail */
    const cpubind_goal_request *request;
    const cpubind_host_device *device; /* NULL: several, of different vendors perhaps */
    const cpubind_vendor *vendor;
    cpubind_goal_pool its;   /* the CPUs of this process */
    cpubind_cpus pool, kept; /* the same, ascending; those that the plan keeps for the host */
    cpubind_goal *out;
} maker;

/* The CPUs of all roles, ascending. */
static cpubind_problem_code sort_pool(maker *m)
{
    int32_t *cpu = cpubind_arena_ints(m->r.arena, m->its.n_cpu);
    if (!cpu)
        return facts_fail_memory(&m->r);
    m->pool.cpu = cpu;
    m->pool.n = m->its.n_cpu;
    if (m->its.n_cpu > 0)
        memcpy(cpu, m->its.cpu, (size_t)m->its.n_cpu * sizeof *cpu);
    return cpubind_list_sort(cpu, &m->pool.n)
               ? CPUBIND_PROBLEM_NONE
               : facts_fail(&m->r, CPUBIND_PROBLEM_BAD_REQUEST, "the plan has no pool");
}

/* The kept CPUs near the memory of the process; all of them when none is near. */
static cpubind_problem_code choose_kept(maker *m)
{
    const cpubind_device_plan *plan = m->request->plan;
    const int32_t node = m->its.memory_node;
    int32_t *cpu = cpubind_arena_ints(m->r.arena, plan->n_kept);
    if (!cpu)
        return facts_fail_memory(&m->r);
    m->kept.cpu = cpu;
    for (int32_t i = 0; node >= 0 && i < plan->n_kept; i++)
        if (m->request->facts->node_of[plan->kept[i]] == node)
            cpu[m->kept.n++] = plan->kept[i];
    for (int32_t i = 0, is_far = m->kept.n == 0; is_far && i < plan->n_kept; i++)
        cpu[m->kept.n++] = plan->kept[i];
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_cpus cpus_of_wish(const maker *m, const cpubind_thread_wish *wish)
{
    return cpubind_goal_cpus_of_wish(&m->its, m->pool, m->kept, wish);
}

/* The first wish that a name of the driver fits, or NULL. A name that is longer than that of a
 * thread counts with as many bytes as a thread keeps. */
static const cpubind_thread_wish *find_wish(const maker *m, const char *name)
{
    char pattern[CPUBIND_PATTERN_SIZE], kept[CPUBIND_PATTERN_SIZE];
    if (!cpubind_pattern_make(name, kept))
        return NULL;
    for (int32_t i = 0; i < m->request->n_wish; i++) {
        const cpubind_thread_wish *wish = &m->request->wish[i];
        if (*wish->name != '*' && *wish->name != '?' &&
            cpubind_pattern_make(wish->name, pattern) && cpubind_pattern_matches(pattern, kept))
            return wish;
    }
    return NULL;
}

/* Chooses the CPU of an interrupt: that of its turn. Returns 0 when the interrupt is left. */
static int32_t choose_irq_cpu(const maker *m, int32_t turn, cpubind_irq_goal *irq)
{
    const cpubind_thread_wish *wish = find_wish(m, irq->id.name);
    const cpubind_cpus cpus =
        wish ? cpus_of_wish(m, wish) : cpubind_goal_cpus_of_role(&m->its, CPUBIND_ROLE_IRQ);
    const int32_t place = wish && irq->kind != CPUBIND_IRQ_NIC ? 0 : turn;
    irq->cpu = cpus.n > 0 ? cpus.cpu[place % cpus.n] : -1;
    return !wish || wish->kind != CPUBIND_WISH_LEAVE;
}

/* Finds the interrupts of the device. */
static cpubind_problem_code match_irqs(maker *m, cpubind_input answer, const int32_t *msi,
                                       int32_t n_msi)
{
    const int32_t device = m->device->phy >= 0 ? m->device->phy : m->device->logic;
    cpubind_irq_search search;
    cpubind_interrupt_list all;
    int32_t n = 0;
    cpubind_problem_code code = cpubind_priv_read_interrupts(&m->r, answer, &all);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    m->out->irq =
        (cpubind_irq_goal *)cpubind_arena_take(m->r.arena, n_msi, sizeof *m->out->irq);
    if (!m->out->irq)
        return facts_fail_memory(&m->r);
    search = (cpubind_irq_search){answer.data,
                                  all.irq,
                                  all.n,
                                  msi,
                                  n_msi,
                                  device,
                                  m->request->threads == CPUBIND_THREADS_PRODUCT};
    m->out->no_irq = m->vendor->irqs(&search, m->out->irq, &m->out->n_irq);
    for (int32_t i = 0; i < m->out->n_irq; i++) {
        cpubind_irq_goal irq = m->out->irq[i];
        (void)cpubind_pci_format(irq.id.function, &m->device->pci);
        if (choose_irq_cpu(m, irq.kind != CPUBIND_IRQ_SQ, &irq))
            m->out->irq[n++] = irq;
    }
    m->out->n_irq = n;
    return CPUBIND_PROBLEM_NONE;
}

/* The interrupts of the device. Without an input that leads to them, none is bound: no_irq says
 * why. */
static cpubind_problem_code find_irqs(maker *m)
{
    cpubind_problem_code code;
    cpubind_input answer;
    const char *name;
    int32_t *msi, n_msi;
    m->out->no_irq = CPUBIND_IRQ_NO_ROLE;
    if (!m->device || !m->vendor->irqs || m->its.roles.span[CPUBIND_ROLE_IRQ].count == 0)
        return CPUBIND_PROBLEM_NONE;
    m->out->no_irq = CPUBIND_IRQ_NO_ADDRESS;
    if (m->device->pci.domain < 0)
        return CPUBIND_PROBLEM_NONE;
    name = facts_function_path(&m->r, &m->device->pci, "msi_irqs");
    if (!name)
        return facts_fail_memory(&m->r);
    answer = m->r.source->list(m->r.source->ctx, name);
    m->out->no_irq =
        answer.state > CPUBIND_INPUT_PRESENT ? CPUBIND_IRQ_UNREAD : CPUBIND_IRQ_NO_MSI;
    if (!facts_is_present(answer))
        return CPUBIND_PROBLEM_NONE;
    code = cpubind_priv_read_msi(&m->r, answer, &msi, &n_msi);
    if (code != CPUBIND_PROBLEM_NONE || n_msi == 0)
        return code;
    m->out->no_irq = CPUBIND_IRQ_NO_INTERRUPTS;
    answer = m->r.source->read(m->r.source->ctx, INPUT_INTERRUPTS);
    return facts_is_present(answer) ? match_irqs(m, answer, msi, n_msi) : CPUBIND_PROBLEM_NONE;
}

/* == Interrupts of network cards ============================================ */

/* The interrupts of the host, and whose those of a card are. */
typedef struct card_irqs {
    const char *text;
    cpubind_interrupt_list all;
    int32_t n_device, device; /* that share the card; which of them this one is */
} card_irqs;

/* Writes the name of an interrupt into a goal. Returns 0 where a record could not have it. */
static int name_irq(const card_irqs *c, int32_t irq, cpubind_irq_goal *out)
{
    cpubind_piece name = {0, 0};
    int32_t i = 0, at = 0;
    memset(out, 0, sizeof *out);
    while (i < c->all.n && c->all.irq[i].irq != irq)
        i++;
    if (i == c->all.n ||
        !cpubind_interrupts_next_name(c->text, c->all.irq[i].names, &at, &name))
        return 0;
    *out = (cpubind_irq_goal){.irq = irq, .kind = CPUBIND_IRQ_NIC, .cpu = -1};
    if (name.len <= 0 || name.len >= CPUBIND_IRQ_NAME_SIZE || c->text[name.at] == '.' ||
        memchr(c->text + name.at, '/', (size_t)name.len))
        return 0;
    memcpy(out->id.name, c->text + name.at, (size_t)name.len);
    return 1;
}

/* Adds an interrupt to the goal by its number. */
static void add_irq(cpubind_goal *goal, const cpubind_irq_goal *irq)
{
    int32_t at = goal->n_irq++;
    for (; at > 0 && goal->irq[at - 1].irq > irq->irq; at--)
        goal->irq[at] = goal->irq[at - 1];
    goal->irq[at] = *irq;
}

/* Adds the interrupts of a card. Devices that share it take them in turns, and each gives its
 * CPUs to them in turns. */
static cpubind_problem_code add_card(maker *m, const card_irqs *c,
                                     const cpubind_host_device *nic)
{
    const char *path = facts_function_path(&m->r, &nic->pci, "msi_irqs");
    cpubind_input listing;
    cpubind_irq_goal *irq, one;
    cpubind_problem_code code;
    int32_t *msi, n_msi;
    if (!path)
        return facts_fail_memory(&m->r);
    listing = m->r.source->list(m->r.source->ctx, path);
    if (listing.state > CPUBIND_INPUT_PRESENT)
        m->out->no_irq = CPUBIND_IRQ_NIC_UNREAD;
    if (!facts_is_present(listing))
        return CPUBIND_PROBLEM_NONE;
    code = cpubind_priv_read_msi(&m->r, listing, &msi, &n_msi);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    irq =
        (cpubind_irq_goal *)cpubind_arena_take(m->r.arena, m->out->n_irq + n_msi, sizeof *irq);
    if (!irq)
        return facts_fail_memory(&m->r);
    if (m->out->n_irq > 0)
        memcpy(irq, m->out->irq, (size_t)m->out->n_irq * sizeof *irq);
    m->out->irq = irq;
    for (int32_t k = 0; k < n_msi; k++) {
        cpubind_irq_goal before;
        if (k % c->n_device != c->device || !name_irq(c, msi[k], &one))
            continue;
        for (int32_t i = 0; i < k; i++)
            one.id.index += name_irq(c, msi[i], &before) &&
                            memcmp(before.id.name, one.id.name, sizeof one.id.name) == 0;
        (void)cpubind_pci_format(one.id.function, &nic->pci);
        if (choose_irq_cpu(m, k / c->n_device, &one))
            add_irq(m->out, &one);
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Adds the interrupts of the network cards of the device. What cannot be read of them is said,
 * and keeps nobody from binding the rest. */
static cpubind_problem_code find_nic_irqs(maker *m)
{
    cpubind_network network;
    const cpubind_given *nics = &network.given[CPUBIND_NIC];
    card_irqs c = {NULL, {0}, 0, 0};
    cpubind_input answer;
    cpubind_problem_code code;
    int32_t row;
    if (!m->request->moves_nics || !m->device || m->device->pci.domain < 0)
        return CPUBIND_PROBLEM_NONE;
    code = cpubind_network_read(m->r.source, m->request->facts, m->r.arena, &network,
                                m->r.problem);
    answer = m->r.source->read(m->r.source->ctx, INPUT_INTERRUPTS);
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = cpubind_priv_read_interrupts(&m->r, answer, &c.all);
    if (code == CPUBIND_PROBLEM_NO_MEMORY)
        return code;
    cpubind_problem_clear(m->r.problem);
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(answer)) {
        m->out->no_irq = CPUBIND_IRQ_NIC_UNREAD;
        return CPUBIND_PROBLEM_NONE;
    }
    c.text = answer.data;
    row = cpubind_facts_on_bus(&network.facts, &m->device->pci);
    for (int32_t k = 0; row >= 0 && k < nics->cards.n; k++) {
        if (!cpubind_network_has(nics, row, k))
            continue;
        c.n_device = nics->n_device[k];
        c.device = 0;
        for (int32_t i = 0; i < row; i++)
            c.device += network.facts.bus[i].parent < 0 && cpubind_network_has(nics, i, k);
        c.device %= c.n_device;
        code = add_card(m, &c, &nics->cards.at[k]);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* == Threads ================================================================ */

static void add_rule(maker *m, const char *name, cpubind_cpus cpus, int32_t is_left)
{
    cpubind_thread_rule *rule = &m->out->rule[m->out->n_rule++];
    rule->name = name;
    rule->cpus = cpus;
    rule->is_left = is_left;
}

static int32_t is_wanted(const maker *m, const cpubind_thread_role *row)
{
    return (row->is_reference || m->request->threads == CPUBIND_THREADS_PRODUCT) &&
           m->its.roles.span[row->role].count > 0;
}

/* The rule of a row of a table. A row of main needs none. */
static void add_row(maker *m, const cpubind_thread_role *row)
{
    if (row->named == CPUBIND_NAMED_THREAD && row->role != CPUBIND_ROLE_MAIN &&
        is_wanted(m, row))
        add_rule(m, row->pattern, cpubind_goal_cpus_of_role(&m->its, row->role), 0);
}

/* The rules of the caller, then those of the tables. */
static cpubind_problem_code make_rules(maker *m)
{
    const cpubind_goal_request *q = m->request;
    const cpubind_thread_role *row;
    int32_t n_mover = 0;
    while (cpubind_thread_mover_at(n_mover))
        n_mover++;
    m->out->rule = (cpubind_thread_rule *)cpubind_arena_take(
        m->r.arena, q->n_wish + m->vendor->n_thread + n_mover, sizeof *m->out->rule);
    if (!m->out->rule)
        return facts_fail_memory(&m->r);
    for (int32_t i = 0; i < q->n_wish; i++)
        add_rule(m, q->wish[i].name, cpus_of_wish(m, &q->wish[i]),
                 q->wish[i].kind == CPUBIND_WISH_LEAVE);
    for (int32_t i = 0; i < m->vendor->n_thread; i++)
        add_row(m, &m->vendor->thread[i]);
    for (int32_t i = 0; (row = cpubind_thread_mover_at(i)) != NULL; i++)
        add_row(m, row);
    return CPUBIND_PROBLEM_NONE;
}

/* The kernel threads and work queues of the driver for this device. */
static cpubind_problem_code find_driver(maker *m)
{
    const int32_t n = m->device && m->device->phy >= 0 ? m->vendor->n_thread : 0;
    m->out->driver =
        (cpubind_driver_goal *)cpubind_arena_take(m->r.arena, n, sizeof *m->out->driver);
    if (!m->out->driver)
        return facts_fail_memory(&m->r);
    for (int32_t i = 0; i < n; i++) {
        const cpubind_thread_role *row = &m->vendor->thread[i];
        cpubind_driver_goal *goal = &m->out->driver[m->out->n_driver];
        const cpubind_thread_wish *wish;
        if ((row->named != CPUBIND_NAMED_KERNEL && row->named != CPUBIND_NAMED_QUEUE) ||
            !is_wanted(m, row))
            continue;
        goal->named = row->named;
        cpubind_thread_role_name(row, m->device->phy, goal->name, (int32_t)sizeof goal->name);
        wish = find_wish(m, goal->name);
        goal->cpus =
            wish ? cpus_of_wish(m, wish) : cpubind_goal_cpus_of_role(&m->its, row->role);
        m->out->n_driver += !wish || wish->kind != CPUBIND_WISH_LEAVE;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* What is wrong with a request, or NULL. */
static const char *find_fault(const cpubind_goal_request *q)
{
    if (q->row < (q->pool ? -1 : 0) || q->row >= q->plan->n_want)
        return "the row of the request is no row of the plan";
    if (q->n_process < 0 || q->n_process > CPUBIND_MAX_DEVICES ||
        (q->n_process > 1 && (q->process < 0 || q->process >= q->n_process)))
        return "the process of the request is none of its device";
    if (q->n_wish < 0 || (q->n_wish > 0 && !q->wish))
        return "the wishes of the request are not there";
    for (int32_t i = 0; i < q->n_wish; i++) {
        const cpubind_thread_wish *wish = &q->wish[i];
        char pattern[CPUBIND_PATTERN_SIZE];
        if (!wish->name || !cpubind_pattern_make(wish->name, pattern))
            return "a wish names no thread";
        if (wish->kind == CPUBIND_WISH_LIST &&
            (wish->cpus.n < 0 || wish->cpus.n > CPUBIND_MAX_CPUS ||
             (wish->cpus.n > 0 && !wish->cpus.cpu)))
            return "the CPUs of a wish are not there";
        if (wish->kind == CPUBIND_WISH_ROLE && (uint32_t)wish->role >= CPUBIND_ALL_ROLES)
            return "the role of a wish is no role";
    }
    return NULL;
}

/* Takes the CPUs of the row: the part of this process, or, where it cannot be cut for so many,
 * all of them. */
static cpubind_problem_code take_row(maker *m)
{
    const cpubind_goal_request *q = m->request;
    const cpubind_device_plan *plan = q->plan;
    cpubind_problem_code code;
    cpubind_part part;
    m->its = (cpubind_goal_pool){plan->role_cpu + plan->role_row[q->row],
                                 plan->role_row[q->row + 1] - plan->role_row[q->row],
                                 plan->role_span[q->row],
                                 cpubind_plan_memory_node(q->facts, plan, q->row)};
    if (q->n_process < 2)
        return CPUBIND_PROBLEM_NONE;
    code = cpubind_plan_place_process(q->facts, plan, q->row, q->n_process, q->process,
                                      m->r.arena, &part, m->r.problem);
    m->out->is_shared = code == CPUBIND_PROBLEM_TOO_FEW_CPUS;
    if (m->out->is_shared)
        cpubind_problem_clear(m->r.problem);
    else if (code != CPUBIND_PROBLEM_NONE)
        return code;
    else
        m->its = (cpubind_goal_pool){part.cpu, part.n, part.roles, m->its.memory_node};
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_goal_make(const cpubind_source *source,
                                       const cpubind_goal_request *request,
                                       cpubind_arena *arena, cpubind_goal *out,
                                       cpubind_problem *problem)
{
    const cpubind_device_plan *plan = request->plan;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int is_found;
    maker m;
    memset(&m, 0, sizeof m);
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(problem);
    m.r.source = source;
    m.r.arena = arena;
    m.r.problem = problem;
    problem->code = CPUBIND_PROBLEM_BAD_REQUEST;
    problem->what = find_fault(request);
    if (problem->what)
        return problem->code;
    cpubind_problem_clear(problem);
    m.request = request;
    m.out = out;
    if (request->row >= 0)
        m.device = request->facts->device[plan->want[request->row]];
    m.vendor =
        cpubind_vendor_of(m.device ? m.device->accelerator.vendor : CPUBIND_VENDOR_OTHER);
    is_found = m.device && cpubind_is_listed(m.device);
    if (m.device && !is_found)
        (void)cpubind_pci_format(out->pci, &m.device->pci);
    if (request->pool)
        m.its = *request->pool;
    else
        code = take_row(&m);
    out->device = is_found ? m.device->logic : -1;
    out->rules = cpubind_rules_word(plan->rules);
    out->main = cpubind_goal_cpus_of_role(&m.its, CPUBIND_ROLE_MAIN);
    out->memory_node = m.its.memory_node;
    if (m.device) {
        out->polling = (cpubind_cpus){plan->spare, plan->n_spare};
        out->polling_name = m.vendor->polling;
    }
    if (code == CPUBIND_PROBLEM_NONE)
        code = sort_pool(&m);
    if (code == CPUBIND_PROBLEM_NONE)
        code = choose_kept(&m);
    if (code == CPUBIND_PROBLEM_NONE)
        code = make_rules(&m);
    if (code == CPUBIND_PROBLEM_NONE)
        code = find_driver(&m);
    if (code == CPUBIND_PROBLEM_NONE)
        code = find_irqs(&m);
    return code == CPUBIND_PROBLEM_NONE ? find_nic_irqs(&m) : code;
}
