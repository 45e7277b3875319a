/* fuzz_facts.c - fuzz target: from the files of a host to its facts, its plan and a goal
 * SPDX-License-Identifier: MIT
 *
 * Checks the promises of facts.h, ascend_plan.h and process_goal.h on a host in
 * memory; touches no real host. The input is a text of entries, as fuzz_host.h explains it. The
 * lines before the first entry are the request, a key and a value each:
 *   type WORD   strategy auto|0|1|2   overlap 0|1|2   rank N   npus LIST   visible TEXT
 *   allowed LIST   exclude LIST   pci 0|1   rules 0|1   keep LIST|N   processes N   index N
 *   arena KIB
 */
#include "../fuzz_host.h"

#include "../../adapters/model/facts.h"
#include "../../adapters/plan/plan.h"
#include "../../adapters/plan/process_goal.h"
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/procfs.h"

enum { MAX_NPUS = 64, MAX_LIST = 512, ARENA_KIB = 1024 };

/* == The request ============================================================ */

typedef struct asked {
    cpubind_request request;
    int32_t npu[MAX_NPUS];
    int32_t allowed[MAX_LIST], exclude[MAX_LIST], keep[MAX_LIST];
    size_t arena; /* bytes */
} asked;

static int32_t small_number(const char *value, const char *end, int32_t below)
{
    int32_t number = 0;
    for (; value < end && *value >= '0' && *value <= '9' && number < below; value++)
        number = number * 10 + (*value - '0');
    return number % below;
}

static int is_word(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* Parses a list for the request; the request has no list if the text is not one. */
static void take_list(const char *value, const char *end, int32_t *list, const int32_t **out,
                      int32_t *n)
{
    cpubind_int_list cpus = {list, MAX_LIST, 0};
    const int is_list = cpubind_cpulist_parse(value, (int32_t)(end - value), CPUBIND_MAX_CPUS,
                                              &cpus, NULL) == CPUBIND_TEXT_OK;
    *out = is_list ? list : NULL;
    *n = is_list ? cpus.n : 0;
}

/* One line of the request, about the rules; returns 0 for another line. */
static int take_rules(asked *a, const char *at, const char *blank, const char *end)
{
    const char *value = blank + 1;
    cpubind_request *q = &a->request;
    if (is_word(at, blank, "rules")) {
        q->rules = (cpubind_rules)small_number(value, end, CPUBIND_RULES_COUNT);
        q->has_rules = 1;
    } else if (is_word(at, blank, "keep")) {
        take_list(value, end, a->keep, &q->keep, &q->n_keep);
        if (q->n_keep == 1) {
            q->keep_each = q->keep[0];
            q->keep = NULL;
        }
    } else if (is_word(at, blank, "processes")) {
        q->n_process = small_number(value, end, 8);
    } else if (is_word(at, blank, "index")) {
        q->process = small_number(value, end, 8);
    } else {
        return 0;
    }
    return 1;
}

/* One line of the request. */
static void take_key(asked *a, const char *at, const char *end)
{
    const char *blank = (const char *)memchr(at, ' ', (size_t)(end - at));
    const char *value = blank ? blank + 1 : end;
    cpubind_request *q = &a->request;
    if (!blank || take_rules(a, at, blank, end))
        return;
    if (is_word(at, blank, "type")) {
        for (int type = CPUBIND_TYPE_AUTO; type < CPUBIND_TYPE_COUNT; type++)
            if (is_word(value, end, cpubind_type_word((cpubind_device_type)type)))
                q->type = (cpubind_device_type)type;
    } else if (is_word(at, blank, "strategy")) {
        q->is_auto_strategy = is_word(value, end, "auto");
        q->strategy = (cpubind_strategy)small_number(value, end, 3);
    } else if (is_word(at, blank, "overlap")) {
        q->overlap = (cpubind_overlap)small_number(value, end, 3);
    } else if (is_word(at, blank, "rank")) {
        q->rank = small_number(value, end, 1 << 20);
    } else if (is_word(at, blank, "allowed")) {
        take_list(value, end, a->allowed, &q->allowed, &q->n_allowed);
    } else if (is_word(at, blank, "exclude")) {
        take_list(value, end, a->exclude, &q->exclude, &q->n_exclude);
    } else if (is_word(at, blank, "pci")) {
        q->wants_pci = small_number(value, end, 2);
    } else if (is_word(at, blank, "arena")) {
        a->arena = (size_t)small_number(value, end, 4 * ARENA_KIB) * 1024;
    } else if (is_word(at, blank, "visible")) {
        q->visible = value;
        q->visible_len = (int32_t)(end - value);
    } else if (is_word(at, blank, "npus")) {
        cpubind_int_list npus = {a->npu, MAX_NPUS, 0};
        const int is_list =
            cpubind_cpulist_parse(value, (int32_t)(end - value), CPUBIND_MAX_DEVICES, &npus,
                                  NULL) == CPUBIND_TEXT_OK &&
            npus.n > 0;
        if (is_list)
            q->device = a->npu;
        q->n_device = is_list ? npus.n : 0;
    }
}

static void take_request(asked *a, const char *at, const char *end)
{
    memset(a, 0, sizeof *a);
    a->request.is_auto_strategy = 1;
    a->arena = ARENA_KIB * (size_t)1024;
    while (at < end) {
        const char *stop = line_end(at, end);
        take_key(a, at, stop);
        at = stop + (stop < end);
    }
    if (!a->request.device)
        a->request.n_device = 0;
}

/* == Laws =================================================================== */

typedef struct outcome {
    cpubind_problem_code code;
    cpubind_problem problem;
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_arena arena;
} outcome;

static void make(memory_host *h, const asked *a, int fill, outcome *out)
{
    const cpubind_source source = {h, read_entry, list_entries};
    memset(out, fill, sizeof *out);
    out->arena.base = (char *)fuzz_filled(a->arena, fill);
    out->arena.size = a->arena;
    out->arena.used = 0;
    out->code =
        cpubind_facts_read(&source, &a->request, &out->arena, &out->facts, &out->problem);
    if (out->code == CPUBIND_PROBLEM_NONE)
        out->code =
            cpubind_plan_make(&out->facts, &a->request, &out->arena, &out->plan, &out->problem);
    CHECK(out->arena.used <= out->arena.size);
}

/* A problem has a word, an exit status, and a place inside the input that it names. */
static void check_problem(const cpubind_problem *p)
{
    CHECK(strcmp(cpubind_problem_word(p->code), "none") != 0);
    CHECK(cpubind_problem_exit(p->code) >= 1 && cpubind_problem_exit(p->code) <= 3);
    CHECK(p->what && p->what[0] != '\0');
    CHECK(p->device >= -1 && p->other >= -1 && p->cpu >= -1);
    CHECK(p->offset >= -1);
    if (p->offset >= 0)
        CHECK(p->input && p->offset <= p->answer.len);
    if (p->input)
        CHECK(cpubind_input_is_name(p->input));
    if (p->need != 0 || p->have != 0)
        CHECK(p->have < p->need);
}

static void check_problem_same(const cpubind_problem *a, const cpubind_problem *b)
{
    CHECK(a->code == b->code && a->offset == b->offset && a->what == b->what);
    CHECK(a->device == b->device && a->other == b->other && a->cpu == b->cpu);
    CHECK(a->need == b->need && a->have == b->have);
    CHECK((a->input == NULL) == (b->input == NULL));
    if (a->input && b->input)
        CHECK(strcmp(a->input, b->input) == 0);
}

/* The request allows these CPUs; without a list in the request, proc/self/status does. */
static void check_allowed(memory_host *h, const cpubind_request *q, const int32_t *cpu,
                          int32_t n)
{
    const cpubind_input status = read_entry(h, "proc/self/status");
    cpubind_int_list allowed = {NULL, CPUBIND_MAX_CPUS, 0};
    CHECK(!q->exclude || fuzz_count_both(q->exclude, q->n_exclude, cpu, n) == 0);
    if (q->allowed) {
        CHECK(fuzz_count_both(q->allowed, q->n_allowed, cpu, n) == n);
        return;
    }
    if (status.state != CPUBIND_INPUT_PRESENT)
        return;
    allowed.out = (int32_t *)fuzz_filled(CPUBIND_MAX_CPUS * sizeof *allowed.out, FUZZ_FILL);
    CHECK(cpubind_status_parse(status.data, status.len, &allowed, NULL) == CPUBIND_TEXT_OK);
    CHECK(fuzz_count_both(allowed.out, allowed.n, cpu, n) == n);
    free(allowed.out);
}

static void check_pools(memory_host *h, const asked *a, const outcome *out)
{
    const cpubind_device_plan *plan = &out->plan;
    CHECK(plan->n_want >= 1 && plan->rank_row >= -1 && plan->rank_row < plan->n_want);
    CHECK(plan->rank_row >= 0 || (plan->n_poolless > 0 && !a->request.has_rank));
    fuzz_check_list(plan->want, plan->n_want, out->facts.n_device);
    for (int32_t i = 0; i < plan->n_want; i++) {
        const int32_t *pool = plan->core.cpu + plan->core.row[i];
        const int32_t n = plan->core.row[i + 1] - plan->core.row[i];
        cpubind_roles roles;
        CHECK(n > 0 && cpubind_split_roles(n, &plan->roles, &roles, NULL) == CPUBIND_OK);
        fuzz_check_list(pool, n, CPUBIND_MAX_CPUS);
        CHECK(fuzz_count_both(pool, n, out->facts.cpu, out->facts.n_cpu) == n);
    }
    check_allowed(h, &a->request, out->facts.cpu, out->facts.n_cpu);
    CHECK(fuzz_count_both(plan->spare, plan->n_spare, out->facts.cpu, out->facts.n_cpu) ==
          plan->n_spare);
    if (a->request.overlap != CPUBIND_OVERLAP_KEEP)
        CHECK(fuzz_are_disjoint(plan->core.cpu, plan->core.row, plan->n_want));
    fuzz_check_list(plan->spare, plan->n_spare, CPUBIND_MAX_CPUS);
    CHECK(plan->warnings >> CPUBIND_WARNING_COUNT == 0);
    for (int w = 0; w < CPUBIND_WARNING_COUNT; w++)
        CHECK(strcmp(cpubind_warning_word((cpubind_warning)w), "?") != 0);
}

/* The goal of the rank's NPU is inside the pool of that NPU; interrupts ascend. By the
 * reference the first two CPUs serve them, and a role is one CPU; by near those near the NPU
 * do, and a role may have the whole of its core. */
static void check_goal(memory_host *h, const outcome *out)
{
    const cpubind_source source = {h, read_entry, list_entries};
    const int32_t row = out->plan.rank_row < 0 ? 0 : out->plan.rank_row;
    const int32_t *pool = out->plan.core.cpu + out->plan.core.row[row];
    const int32_t n = out->plan.core.row[row + 1] - out->plan.core.row[row];
    const int is_near = out->plan.rules == CPUBIND_RULES_NEAR;
    const size_t size = (size_t)ARENA_KIB << 10;
    cpubind_arena arena = {(char *)fuzz_filled(size, FUZZ_FILL), size, 0};
    cpubind_goal goal;
    cpubind_problem problem;
    const cpubind_goal_request request = {.facts = &out->facts,
                                          .plan = &out->plan,
                                          .row = row,
                                          .threads = CPUBIND_THREADS_PRODUCT};
    const cpubind_problem_code code =
        cpubind_goal_make(&source, &request, &arena, &goal, &problem);
    CHECK(code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_UNREADABLE);
    CHECK(code == problem.code && goal.device == out->facts.device[out->plan.want[row]].logic);
    CHECK(goal.main.n > 0 &&
          fuzz_count_both(goal.main.cpu, goal.main.n, pool, n) == goal.main.n);
    for (int32_t i = 0; i < goal.n_rule; i++)
        CHECK((is_near ? goal.rule[i].cpus.n >= 1 : goal.rule[i].cpus.n == 1) &&
              fuzz_count_both(goal.rule[i].cpus.cpu, goal.rule[i].cpus.n, pool, n) ==
                  goal.rule[i].cpus.n);
    for (int32_t i = 0; i < goal.n_driver; i++)
        CHECK(goal.driver[i].cpus.n > 0 &&
              fuzz_count_both(goal.driver[i].cpus.cpu, goal.driver[i].cpus.n, pool, n) ==
                  goal.driver[i].cpus.n);
    for (int32_t i = 0; i < goal.n_irq; i++) {
        CHECK(i == 0 || goal.irq[i - 1].irq < goal.irq[i].irq);
        CHECK(is_near ? fuzz_count_both(&goal.irq[i].cpu, 1, pool, n) == 1
                      : goal.irq[i].cpu == pool[goal.irq[i].kind != CPUBIND_IRQ_SQ]);
    }
    CHECK((goal.n_irq > 0) == (goal.no_irq == CPUBIND_IRQ_FOUND) ||
          code == CPUBIND_PROBLEM_UNREADABLE);
    free(arena.base);
}

static void check_plans_same(const outcome *a, const outcome *b)
{
    const cpubind_plan *x = &a->plan.core, *y = &b->plan.core;
    const size_t n = (size_t)a->plan.n_want;
    CHECK(a->plan.n_want == b->plan.n_want && a->plan.rank_row == b->plan.rank_row);
    CHECK(a->plan.total == b->plan.total && a->plan.warnings == b->plan.warnings);
    CHECK(a->plan.n_spare == b->plan.n_spare);
    CHECK(x->n_cpu == y->n_cpu && x->overlap == y->overlap && x->strategy == y->strategy);
    CHECK(fuzz_same(a->plan.want, b->plan.want, n * sizeof(int32_t)));
    CHECK(fuzz_same(x->row, y->row, (n + 1) * sizeof(int32_t)));
    CHECK(fuzz_same(x->cpu, y->cpu, (size_t)x->n_cpu * sizeof(int32_t)));
}

static void check_arena_of(memory_host *h, const asked *a, const outcome *first, size_t size)
{
    static outcome r;
    asked less = *a;
    less.arena = size;
    make(h, &less, FUZZ_OTHER, &r);
    CHECK(r.code == first->code ||
          (r.code == CPUBIND_PROBLEM_NO_MEMORY && size < first->arena.size));
    if (r.code != CPUBIND_PROBLEM_NONE)
        check_problem(&r.problem);
    free(r.arena.base);
}

/* An arena of the same size gives the same outcome; a smaller one gives the same outcome or
 * NO_MEMORY: more may be needed than is used in the end. The sizes that are tried depend on the
 * input. */
static void check_arena(memory_host *h, const asked *a, const outcome *first, size_t size)
{
    const size_t used = first->arena.used, cut = 1 + size % 61 * 16;
    check_arena_of(h, a, first, first->arena.size);
    check_arena_of(h, a, first, used);
    check_arena_of(h, a, first, used / 32 * (size % 32));
    check_arena_of(h, a, first, used > cut ? used - cut : 0);
}

static int is_count(int32_t count, int32_t known)
{
    return count == known || count == -1;
}

/* The CPUs of a core are on one node, and its number is its lowest CPU; no distance is 0. What
 * is not known because its input cannot be read has a problem. */
static void check_topology(const cpubind_facts *f)
{
    for (int32_t cpu = 0; f->core_of && cpu < f->n_cpu_id; cpu++) {
        const int32_t core = f->core_of[cpu];
        CHECK((core < 0) == (f->node_of[cpu] < 0) && core <= cpu);
        CHECK(core < 0 || (f->core_of[core] == core && f->node_of[core] == f->node_of[cpu]));
    }
    for (int32_t i = 0; f->socket && i < f->n_node; i++)
        CHECK(f->socket[i] >= 0);
    for (int32_t i = 0; f->distance && i < f->n_node * f->n_node; i++)
        CHECK(f->distance[i] > 0);
    if (f->topology.code == CPUBIND_PROBLEM_NONE)
        return;
    CHECK(!f->core_of || !f->socket || !f->distance);
    check_problem(&f->topology);
}

/* The counts of a host do not depend on the content of the memory, agree with the facts of a
 * plan, and in a smaller arena are the same or unknown. */
static void check_counts(memory_host *h, const asked *a, const outcome *out, size_t size)
{
    const cpubind_source source = {h, read_entry, list_entries};
    const cpubind_facts *f = &out->facts;
    const size_t most = out->arena.used + ((size_t)ARENA_KIB << 10);
    const size_t room[2] = {most, size % 2 ? most : most / 64 * (size / 2 % 64)};
    cpubind_host_counts counts[2];
    for (int i = 0; i < 2; i++) {
        const int fill = i ? FUZZ_OTHER : FUZZ_FILL;
        cpubind_arena arena = {(char *)fuzz_filled(room[i], fill), room[i], 0};
        counts[i] = cpubind_host_counts_read(&source, &arena);
        CHECK(arena.used == 0);
        free(arena.base);
    }
    CHECK(is_count(counts[1].cpus, counts[0].cpus));
    CHECK(is_count(counts[1].nodes, counts[0].nodes));
    CHECK(is_count(counts[1].npus, counts[0].npus));
    CHECK(room[1] < most || memcmp(&counts[0], &counts[1], sizeof *counts) == 0);
    CHECK(counts[0].cpus >= -1 && counts[0].nodes >= -1 && counts[0].npus >= -1);
    CHECK(counts[0].cpus != 0 && counts[0].nodes != 0);
    if (out->code != CPUBIND_PROBLEM_NONE)
        return;
    if (!(f->warnings & 1u << CPUBIND_WARNING_ONLINE_DIFFERS)) { /* counts are by cpu/online */
        CHECK(counts[0].cpus >= f->n_cpu || counts[0].cpus == -1 || a->request.allowed);
        CHECK(counts[0].nodes == f->n_node || f->warnings & 1u << CPUBIND_WARNING_NO_NODES);
    }
    if (f->origin == CPUBIND_ORIGIN_NPU_SMI && !(f->warnings & 1u << CPUBIND_WARNING_NO_MAP))
        CHECK(counts[0].npus == f->n_device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static memory_host h;
    static outcome first, again;
    asked a;
    const char *entries, *end;
    char *text;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    text = fuzz_text(data, size);
    end = text + size;
    entries = next_entry(text, end);
    memset(&h, 0, sizeof h);
    take_request(&a, text, entries);
    take_entries(&h, entries, end);
    make(&h, &a, FUZZ_FILL, &first);
    make(&h, &a, FUZZ_OTHER, &again);
    CHECK(first.code == again.code);
    if (first.code == CPUBIND_PROBLEM_NONE) {
        check_pools(&h, &a, &first);
        check_topology(&first.facts);
        check_plans_same(&first, &again);
        check_goal(&h, &first);
    } else {
        CHECK(first.problem.code == first.code);
        check_problem(&first.problem);
        check_problem_same(&first.problem, &again.problem);
    }
    check_arena(&h, &a, &first, size);
    check_counts(&h, &a, &first, size);
    free(first.arena.base);
    free(again.arena.base);
    free_host(&h);
    free(text);
    return 0;
}
