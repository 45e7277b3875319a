/* process_goal.c - from the plan of an NPU to the goal of the process that drives it
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc; binds nothing. The rules are in
 * process_goal.h.
 */
#include "process_goal.h"

#include "driver_files.h"
#include "driver_reader.h"

/* == Words ================================================================== */

/* By code; FOUND first. */
static const struct {
    const char *word, *text;
} no_irqs[] = {{"found", "its interrupts were found"},
#define CPUBIND_X(name, word, text) {word, text},
               CPUBIND_NO_IRQ_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* A number that is no code counts as FOUND. */
static size_t index_of(cpubind_no_irq why)
{
    return (size_t)why < sizeof no_irqs / sizeof no_irqs[0] ? (size_t)why : 0;
}

const char *cpubind_no_irq_word(cpubind_no_irq why)
{
    return no_irqs[index_of(why)].word;
}

const char *cpubind_no_irq_text(cpubind_no_irq why)
{
    return no_irqs[index_of(why)].text;
}

/* == Interrupts of a device ================================================= */

/* The actions that the driver registers, by kind. */
static const char *const action_names[] = {
    [CPUBIND_IRQ_SQ] = "sq_send_trigger_irq",
    [CPUBIND_IRQ_CQ] = "cq_update_irq",
};

/* The kind of an interrupt, by the names of its handlers. */
typedef struct handlers {
    int32_t is_mailbox, is_sq, is_cq;
    int32_t device; /* the number in the name of the mailbox */
} handlers;

static int32_t is_action(const scan_text *in, scan_run name, cpubind_irq_kind kind)
{
    return scan_is(in, name, action_names[kind], (int32_t)strlen(action_names[kind]));
}

static handlers read_handlers(const char *text, const cpubind_interrupt *irq)
{
    const scan_text in = {text, irq->names.at + irq->names.len, NULL};
    handlers found = {0, 0, 0, -1};
    cpubind_slice slice;
    int32_t at = 0;
    while (cpubind_interrupts_next_name(text, irq->names, &at, &slice)) {
        const scan_run name = {slice.at, slice.at + slice.len};
        found.is_mailbox |=
            cpubind_driver_parse_mailbox(text + slice.at, slice.len, &found.device, NULL) ==
            CPUBIND_TEXT_OK;
        found.is_sq |= is_action(&in, name, CPUBIND_IRQ_SQ);
        found.is_cq |= is_action(&in, name, CPUBIND_IRQ_CQ);
    }
    return found;
}

/* A walk over two ascending lists at once: all interrupts, and those of the function. */
typedef struct walk {
    const cpubind_irq_search *search;
    int32_t i, k; /* the next element of `all` and of `msi` */
} walk;

/* The next number that is in both lists, or -1. */
static int32_t next_irq(walk *w, handlers *out)
{
    const cpubind_irq_search *s = w->search;
    while (w->i < s->n_all && w->k < s->n_msi) {
        const cpubind_interrupt *irq = &s->all[w->i];
        if (irq->irq < s->msi[w->k]) {
            w->i++;
        } else if (irq->irq > s->msi[w->k]) {
            w->k++;
        } else {
            *out = read_handlers(s->text, irq);
            w->i++;
            w->k++;
            return irq->irq;
        }
    }
    return -1;
}

static int32_t count_sq(const cpubind_irq_search *search)
{
    walk w = {search, 0, 0};
    handlers found;
    int32_t n = 0;
    while (next_irq(&w, &found) >= 0)
        n += found.is_sq;
    return n;
}

/* Takes the SQ and the CQs of the device, or of all devices of the function; returns how many
 * are SQs. */
static int32_t take_irqs(const cpubind_irq_search *search, int32_t is_all,
                         cpubind_irq_goal *out, int32_t *out_n)
{
    walk w = {search, 0, 0};
    handlers found;
    int32_t irq, n = 0, n_sq = 0, is_its = is_all;
    int32_t n_named[] = {[CPUBIND_IRQ_SQ] = 0, [CPUBIND_IRQ_CQ] = 0}; /* of all devices */
    while ((irq = next_irq(&w, &found)) >= 0) {
        const cpubind_irq_kind kind = found.is_sq ? CPUBIND_IRQ_SQ : CPUBIND_IRQ_CQ;
        if (found.is_mailbox)
            is_its = is_all || found.device == search->device;
        if (is_its && (found.is_sq || found.is_cq)) {
            n_sq += found.is_sq;
            memset(&out[n], 0, sizeof out[n]);
            out[n].irq = irq;
            out[n].kind = kind;
            out[n].cpu = -1;
            memcpy(out[n].id.name, action_names[kind], strlen(action_names[kind]));
            out[n++].id.index = n_named[kind];
        }
        n_named[CPUBIND_IRQ_SQ] += found.is_sq;
        n_named[CPUBIND_IRQ_CQ] += found.is_cq;
    }
    *out_n = n;
    return n_sq;
}

cpubind_no_irq cpubind_goal_irqs(const cpubind_irq_search *search, cpubind_irq_goal *out,
                                 int32_t *out_n)
{
    const int32_t n_sq = count_sq(search);
    *out_n = 0;
    if (n_sq == 0)
        return CPUBIND_IRQ_NO_SQ;
    if (n_sq > 1 && search->device < 0)
        return CPUBIND_IRQ_AMBIGUOUS;
    if (take_irqs(search, n_sq == 1, out, out_n) == 1)
        return CPUBIND_IRQ_FOUND;
    *out_n = 0; /* a device has one SQ: with none or two, the mailboxes are misleading */
    return CPUBIND_IRQ_AMBIGUOUS;
}

/* == Interrupts of a process ================================================ */

/* A goal that is being made. */
typedef struct maker {
    facts_reader r; /* without request and facts: only to ask for inputs and to fail */
    const cpubind_npu *npu;
    const int32_t *cpu; /* of this process, role after role */
    int32_t n_cpu;
    const cpubind_roles *roles; /* spans of cpu */
    cpubind_goal *out;
} maker;

/* Finds the interrupts of the NPU. The SQ gets the first CPU of the irq role, the CQs the
 * second. */
static cpubind_problem_code match_irqs(maker *m, cpubind_input answer, const int32_t *msi,
                                       int32_t n_msi)
{
    const cpubind_span span = m->roles->span[CPUBIND_ROLE_IRQ];
    const int32_t *cpu = m->cpu + span.first;
    const int32_t device = m->npu->phy >= 0 ? m->npu->phy : m->npu->logic;
    cpubind_irq_search search;
    cpubind_interrupt_list all;
    cpubind_problem_code code = cpubind_priv_read_interrupts(&m->r, answer, &all);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    m->out->irq =
        (cpubind_irq_goal *)cpubind_arena_take(m->r.arena, n_msi, sizeof *m->out->irq);
    if (!m->out->irq)
        return facts_fail_memory(&m->r);
    search = (cpubind_irq_search){answer.data, all.irq, all.n, msi, n_msi, device};
    m->out->no_irq = cpubind_goal_irqs(&search, m->out->irq, &m->out->n_irq);
    for (int32_t i = 0; i < m->out->n_irq; i++) {
        cpubind_irq_goal *irq = &m->out->irq[i];
        irq->cpu = cpu[irq->kind == CPUBIND_IRQ_CQ && span.count > 1 ? 1 : 0];
        (void)cpubind_pci_format(irq->id.function, &m->npu->pci);
    }
    return CPUBIND_PROBLEM_NONE;
}

/* The interrupts of the NPU. Without an input that leads to them, none is bound: no_irq says
 * why. */
static cpubind_problem_code find_irqs(maker *m)
{
    const cpubind_source *source = m->r.source;
    cpubind_problem_code code;
    cpubind_input answer;
    const char *name;
    int32_t *msi, n_msi;
    m->out->no_irq = CPUBIND_IRQ_NO_ROLE;
    if (m->roles->span[CPUBIND_ROLE_IRQ].count == 0)
        return CPUBIND_PROBLEM_NONE;
    m->out->no_irq = CPUBIND_IRQ_NO_ADDRESS;
    if (m->npu->pci.domain < 0)
        return CPUBIND_PROBLEM_NONE;
    m->out->no_irq = CPUBIND_IRQ_NO_MSI;
    name = facts_function_path(&m->r, &m->npu->pci, "msi_irqs");
    if (!name)
        return facts_fail_memory(&m->r);
    answer = source->list(source->ctx, name);
    if (!facts_is_present(answer))
        return CPUBIND_PROBLEM_NONE;
    code = cpubind_priv_read_msi(&m->r, answer, &msi, &n_msi);
    if (code != CPUBIND_PROBLEM_NONE || n_msi == 0)
        return code;
    m->out->no_irq = CPUBIND_IRQ_NO_INTERRUPTS;
    answer = source->read(source->ctx, INPUT_INTERRUPTS);
    return facts_is_present(answer) ? match_irqs(m, answer, msi, n_msi) : CPUBIND_PROBLEM_NONE;
}

/* == Threads ================================================================ */

static cpubind_cpus cpus_of_span(const maker *m, cpubind_span span)
{
    const cpubind_cpus cpus = {m->cpu + span.first, span.count};
    return cpus;
}

/* The CPUs of a role; those of main when the pool lacks the role. */
static cpubind_cpus cpus_of_role(const maker *m, cpubind_role role)
{
    const cpubind_span span = m->roles->span[role];
    return cpus_of_span(m, span.count > 0 ? span : m->roles->span[CPUBIND_ROLE_MAIN]);
}

/* The CPUs of all roles, ascending. */
static cpubind_problem_code sort_pool(maker *m, cpubind_cpus *out)
{
    int32_t *cpu = cpubind_arena_ints(m->r.arena, m->n_cpu);
    if (!cpu)
        return facts_fail_memory(&m->r);
    out->cpu = cpu;
    out->n = m->n_cpu;
    if (m->n_cpu > 0)
        memcpy(cpu, m->cpu, (size_t)m->n_cpu * sizeof *cpu);
    return cpubind_sort_unique(cpu, &out->n, NULL) == CPUBIND_OK
               ? CPUBIND_PROBLEM_NONE
               : facts_fail(&m->r, CPUBIND_PROBLEM_BAD_REQUEST, "the plan has no pool");
}

static cpubind_cpus cpus_of_wish(const maker *m, const cpubind_thread_wish *wish,
                                 cpubind_cpus pool)
{
    switch (wish->kind) {
    case CPUBIND_WISH_ROLE:
        return cpus_of_role(m, wish->role);
    case CPUBIND_WISH_POOL:
        return pool;
    case CPUBIND_WISH_LIST:
        break;
    }
    return wish->cpus;
}

static void add_rule(maker *m, const char *name, cpubind_cpus cpus)
{
    cpubind_thread_rule *rule = &m->out->rule[m->out->n_rule++];
    rule->name = name;
    rule->cpus = cpus;
}

/* The rules of the caller, then those for the names that the runtime gives its threads. */
static cpubind_problem_code make_rules(maker *m, const cpubind_thread_wish *wish, int32_t n)
{
    static const char *const thread_names[CPUBIND_ROLE_COUNT] = {
        [CPUBIND_ROLE_ACL] = "acl_thread",
        [CPUBIND_ROLE_RELEASE] = "release_thread",
    };
    cpubind_problem_code code;
    cpubind_cpus pool;
    m->out->rule = (cpubind_thread_rule *)cpubind_arena_take(m->r.arena, n + CPUBIND_ROLE_COUNT,
                                                             sizeof *m->out->rule);
    if (!m->out->rule)
        return facts_fail_memory(&m->r);
    code = sort_pool(m, &pool);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t i = 0; i < n; i++)
        add_rule(m, wish[i].name, cpus_of_wish(m, &wish[i], pool));
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++)
        if (thread_names[role] && m->roles->span[role].count > 0)
            add_rule(m, thread_names[role], cpus_of_role(m, (cpubind_role)role));
    return CPUBIND_PROBLEM_NONE;
}

/* What is wrong with a request, or NULL. */
static const char *find_fault(const cpubind_goal_request *q)
{
    if (q->row < 0 || q->row >= q->plan->n_want)
        return "the row of the request is no row of the plan";
    if (q->n_process < 0 || q->n_process > CPUBIND_MAX_DEVICES ||
        (q->n_process > 1 && (q->process < 0 || q->process >= q->n_process)))
        return "the process of the request is none of its NPU";
    if (q->n_wish < 0 || (q->n_wish > 0 && !q->wish))
        return "the wishes of the request are not there";
    for (int32_t i = 0; i < q->n_wish; i++) {
        const cpubind_thread_wish *wish = &q->wish[i];
        if (!wish->name)
            return "a wish names no thread";
        if (wish->kind == CPUBIND_WISH_LIST &&
            (wish->cpus.n < 0 || wish->cpus.n > CPUBIND_MAX_CPUS ||
             (wish->cpus.n > 0 && !wish->cpus.cpu)))
            return "the CPUs of a wish are not there";
        if (wish->kind == CPUBIND_WISH_ROLE && (uint32_t)wish->role >= CPUBIND_ROLE_COUNT)
            return "the role of a wish is no role";
    }
    return NULL;
}

cpubind_problem_code cpubind_goal_make(const cpubind_source *source,
                                       const cpubind_goal_request *request,
                                       cpubind_arena *arena, cpubind_goal *out,
                                       cpubind_problem *problem)
{
    const cpubind_facts *facts = request->facts;
    const cpubind_ascend_plan *plan = request->plan;
    const int32_t row = request->row;
    cpubind_problem_code code;
    cpubind_part part;
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
    m.npu = &facts->npu[plan->want[row]];
    m.cpu = plan->role_cpu + plan->role_row[row];
    m.n_cpu = plan->role_row[row + 1] - plan->role_row[row];
    m.roles = &plan->role_span[row];
    if (request->n_process > 1) {
        code = cpubind_ascend_place_process(facts, plan, row, request->n_process,
                                            request->process, arena, &part, problem);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        m.cpu = part.cpu;
        m.n_cpu = part.n;
        m.roles = &part.roles;
    }
    m.out = out;
    out->npu = m.npu->logic;
    out->main = cpus_of_role(&m, CPUBIND_ROLE_MAIN);
    out->memory_node = plan->memory_node[row];
    out->uvb.cpu = plan->spare;
    out->uvb.n = plan->n_spare;
    code = make_rules(&m, request->wish, request->n_wish);
    return code == CPUBIND_PROBLEM_NONE ? find_irqs(&m) : code;
}
