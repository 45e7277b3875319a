/* paths.c - the rows of whole paths: from the files of a host to its facts, plans and words
 * SPDX-License-Identifier: MIT
 *
 * Each touches no real host: host.h has the form of the text. What is promised is in facts.h,
 * plan.h, process_goal.h, doctor.h and cpubind_api.h.
 */
#include <inttypes.h>
#include <sanitizer/asan_interface.h>
#include <stdio.h>

#include "../../adapters/api/api.h"
#include "../../adapters/api/cpubind_api.h"
#include "../../adapters/ascend/doctor_inputs.h"
#include "../../adapters/ascend/input_list.h"
#include "../../adapters/ascend/thread_roles.h"
#include "../../adapters/doctor/doctor.h"
#include "../../adapters/model/facts.h"
#include "../../adapters/plan/plan.h"
#include "../../adapters/plan/process_goal.h"
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/input_name.h"
#include "../laws/view_law.h"
#include "host.h"

enum { KIB = 1024, ARENA = 1024 * KIB, MAX_LIST = 512 };

/* Arenas are large, and many: their memory is used again, and poisoned behind their end. */
enum { SLOTS = 4, SLOT = 6 * 1024 * KIB, BEHIND = 4 * KIB };

static char *slot[SLOTS];
static int is_taken[SLOTS];

static cpubind_arena new_arena(size_t size, int fill)
{
    cpubind_arena arena = {NULL, size, 0};
    int i = 0;
    while (i < SLOTS && is_taken[i])
        i++;
    CHECK(i < SLOTS && size <= SLOT);
    is_taken[i] = 1;
    if (!slot[i])
        slot[i] = (char *)filled(SLOT + BEHIND, fill);
    arena.base = slot[i];
    ASAN_UNPOISON_MEMORY_REGION(arena.base, SLOT + BEHIND);
    memset(arena.base, fill, size);
    ASAN_POISON_MEMORY_REGION(arena.base + size, BEHIND);
    return arena;
}

static void free_arena(const cpubind_arena *arena)
{
    for (int i = 0; i < SLOTS; i++)
        is_taken[i] &= slot[i] != arena->base;
}

/* == The request ============================================================ */

typedef struct asked {
    cpubind_request request;
    int32_t npu[MAX_LIST], allowed[MAX_LIST], exclude[MAX_LIST], keep[MAX_LIST];
    size_t arena; /* bytes */
} asked;

/* The list of a value; none where the value is not one. */
static const int32_t *take_list(const char *value, int32_t *list, int32_t limit, int32_t *n)
{
    cpubind_int_list got = {list, MAX_LIST, 0};
    *n = 0;
    if (cpubind_cpulist_parse(value, (int32_t)strlen(value), limit, &got, NULL) !=
        CPUBIND_TEXT_OK)
        return NULL;
    *n = got.n;
    return list;
}

/* A line of the request: a key and a value.
 *   type WORD   strategy auto|0|1|2   overlap 0|1|2   rank N   npus LIST   visible TEXT
 *   allowed LIST   exclude LIST   pci 0|1   rules 0|1   keep LIST|N   processes N   index N
 *   arena KIB */
static void take_key(asked *a, const char *key, const char *value)
{
    cpubind_request *q = &a->request;
    const int32_t number = (int32_t)(strtoul(value, NULL, 10) & 0xfffff);
    if (strcmp(key, "type") == 0) {
        for (int type = CPUBIND_TYPE_AUTO; type < CPUBIND_TYPE_COUNT; type++)
            if (strcmp(value, cpubind_type_word((cpubind_device_type)type)) == 0)
                q->type = (cpubind_device_type)type;
    } else if (strcmp(key, "strategy") == 0) {
        q->is_auto_strategy = strcmp(value, "auto") == 0;
        q->strategy = (cpubind_strategy)(number % 3);
    } else if (strcmp(key, "overlap") == 0) {
        q->overlap = (cpubind_overlap)(number % 3);
    } else if (strcmp(key, "rank") == 0) {
        q->rank = number;
    } else if (strcmp(key, "allowed") == 0) {
        q->allowed = take_list(value, a->allowed, CPUBIND_MAX_CPUS, &q->n_allowed);
    } else if (strcmp(key, "exclude") == 0) {
        q->exclude = take_list(value, a->exclude, CPUBIND_MAX_CPUS, &q->n_exclude);
    } else if (strcmp(key, "pci") == 0) {
        q->wants_pci = number % 2;
    } else if (strcmp(key, "rules") == 0) {
        q->rules = (cpubind_rules)(number % CPUBIND_RULES_COUNT);
        q->has_rules = 1;
    } else if (strcmp(key, "keep") == 0) {
        q->keep = take_list(value, a->keep, CPUBIND_MAX_CPUS, &q->n_keep);
        q->keep_each = q->n_keep == 1 ? a->keep[0] : 0;
        q->keep = q->n_keep == 1 ? NULL : q->keep;
    } else if (strcmp(key, "processes") == 0) {
        q->n_process = number % 8;
    } else if (strcmp(key, "index") == 0) {
        q->process = number % 8;
    } else if (strcmp(key, "arena") == 0) {
        a->arena = (size_t)(number % (4 * KIB)) * KIB;
    } else if (strcmp(key, "npus") == 0) {
        q->device = take_list(value, a->npu, CPUBIND_MAX_DEVICES, &q->n_device);
        q->device = q->n_device > 0 ? q->device : NULL;
    } else if (strcmp(key, "visible") == 0) {
        q->visible = value;
        q->visible_len = (int32_t)strlen(value);
    }
}

/* `text` is what is before the first entry; the request borrows it. */
static void take_request(asked *a, char *text)
{
    char *line, *value;
    memset(a, 0, sizeof *a);
    a->request.is_auto_strategy = 1;
    a->arena = ARENA;
    while ((line = strsep(&text, "\n")) != NULL)
        if ((value = strchr(line, ' ')) != NULL) {
            *value = '\0';
            take_key(a, line, value + 1);
        }
}

/* == Facts and the plan ===================================================== */

typedef struct outcome {
    cpubind_problem_code code;
    cpubind_problem problem;
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_arena arena;
} outcome;

static void make(text_host *h, const asked *a, size_t size, int fill, outcome *out)
{
    const cpubind_source source = host_source(h);
    memset(out, fill, sizeof *out);
    out->arena = new_arena(size, fill);
    out->code =
        cpubind_facts_read(&source, &a->request, &out->arena, &out->facts, &out->problem);
    if (out->code == CPUBIND_PROBLEM_NONE)
        out->code =
            cpubind_plan_make(&out->facts, &a->request, &out->arena, &out->plan, &out->problem);
    CHECK(out->arena.used <= out->arena.size);
}

/* A problem has a word, an exit status, and a place inside of the input that it names. */
static void tell_problem(reading *r, const cpubind_problem *p)
{
    CHECK(cpubind_problem_exit(p->code) >= 1 && cpubind_problem_exit(p->code) <= 3);
    CHECK(strcmp(cpubind_problem_word(p->code), "none") != 0 && p->what && p->what[0]);
    CHECK(p->device >= -1 && p->other >= -1 && p->cpu >= -1 && p->offset >= -1);
    CHECK(p->offset < 0 || (p->input && p->offset <= p->answer.len));
    CHECK(!p->input || cpubind_input_is_name(p->input));
    CHECK((p->need == 0 && p->have == 0) || p->have < p->need);
    tell(r, "%s: %s", cpubind_problem_word(p->code), p->what);
    tell(r, ", %s", p->input ? p->input : "no input");
    tell_ids(r, "at", p->offset, "device", p->device, "other", p->other, "cpu", p->cpu, NULL);
    tell(r, " need %d have %d\n", p->need, p->have);
}

static void tell_pools(reading *r, const asked *a, const outcome *out)
{
    const cpubind_device_plan *plan = &out->plan;
    const cpubind_facts *f = &out->facts;
    check_list(plan->want, plan->n_want, f->n_device);
    CHECK(plan->n_want >= 1 && plan->rank_row >= -1 && plan->rank_row < plan->n_want);
    CHECK(plan->rank_row >= 0 || (plan->n_poolless > 0 && !a->request.has_rank));
    CHECK(!a->request.exclude ||
          count_common(a->request.exclude, a->request.n_exclude, f->cpu, f->n_cpu) == 0);
    CHECK(!a->request.allowed ||
          count_common(a->request.allowed, a->request.n_allowed, f->cpu, f->n_cpu) == f->n_cpu);
    tell(r, "rank row %d of %d, warnings %" PRIx64 ", strategy %d overlap %d\n", plan->rank_row,
         plan->total, plan->warnings, (int)plan->core.strategy, (int)plan->core.overlap);
    for (int32_t i = 0; i < plan->n_want; i++) {
        const int32_t *pool = plan->core.cpu + plan->core.row[i];
        const int32_t n = plan->core.row[i + 1] - plan->core.row[i];
        CHECK(n > 0 && count_common(pool, n, f->cpu, f->n_cpu) == n);
        tell(r, "device %d ", plan->want[i]);
        tell_list(r, pool, n, CPUBIND_MAX_CPUS);
        tell(r, "\n");
    }
    CHECK(a->request.overlap == CPUBIND_OVERLAP_KEEP ||
          are_disjoint(plan->core.cpu, plan->core.row, plan->n_want));
    CHECK(count_common(plan->spare, plan->n_spare, f->cpu, f->n_cpu) == plan->n_spare);
    tell(r, "spare ");
    tell_list(r, plan->spare, plan->n_spare, CPUBIND_MAX_CPUS);
    tell(r, "\n");
}

/* The CPUs of a core are on one node, and its number is its lowest CPU; no distance is 0. What
 * is not known because its input cannot be read has a problem. */
static void check_topology(reading *r, const cpubind_facts *f)
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
    tell_problem(r, &f->topology);
}

/* The goal of a process of the rank's device is inside of its pool; interrupts ascend. */
static void tell_goal(reading *r, text_host *h, const outcome *out)
{
    const cpubind_source source = host_source(h);
    const int32_t row = out->plan.rank_row < 0 ? 0 : out->plan.rank_row;
    const int32_t *pool = out->plan.core.cpu + out->plan.core.row[row];
    const int32_t n = out->plan.core.row[row + 1] - out->plan.core.row[row];
    const cpubind_goal_request request = {.facts = &out->facts,
                                          .plan = &out->plan,
                                          .row = row,
                                          .threads = CPUBIND_THREADS_PRODUCT};
    cpubind_arena arena = new_arena(ARENA, r->fill);
    cpubind_goal goal;
    cpubind_problem problem;
    const cpubind_problem_code code =
        cpubind_goal_make(&source, &request, &arena, &goal, &problem);
    CHECK(code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_UNREADABLE);
    CHECK(goal.main.n > 0 && count_common(goal.main.cpu, goal.main.n, pool, n) == goal.main.n);
    for (int32_t i = 0; i < goal.n_rule; i++) {
        const cpubind_cpus *cpus = &goal.rule[i].cpus;
        CHECK(cpus->n > 0 && count_common(cpus->cpu, cpus->n, pool, n) == cpus->n);
    }
    tell(r, "goal of %d rules, %d of the driver, interrupts", goal.n_rule, goal.n_driver);
    for (int32_t i = 0; i < goal.n_irq; i++) {
        const cpubind_irq_goal *irq = &goal.irq[i];
        CHECK(i == 0 || irq[-1].irq < irq->irq);
        CHECK(count_common(&irq->cpu, 1, pool, n) == 1);
        tell(r, " %d:%d", irq->irq, irq->cpu);
    }
    tell(r, "\n");
    free_arena(&arena);
}

/* An arena of the size that was used, or a smaller one, gives the same outcome or NO_MEMORY.
 * The sizes that are tried depend on the input. */
static void check_arenas(text_host *h, const asked *a, const outcome *first, size_t len)
{
    const size_t used = first->arena.used, cut = 1 + len % 61 * 16;
    const size_t size[] = {used, used / 32 * (len % 32), used > cut ? used - cut : 0};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        static outcome less;
        make(h, a, size[i], 0xa5, &less);
        CHECK(less.code == first->code || less.code == CPUBIND_PROBLEM_NO_MEMORY);
        free_arena(&less.arena);
    }
}

static void read_facts(reading *r)
{
    static text_host h;
    static outcome out;
    static asked a;
    char *request;
    host_open(&h, r->text, r->len);
    request = string_copy(r->text, h.head);
    take_request(&a, request);
    make(&h, &a, a.arena, r->fill, &out);
    if (out.code == CPUBIND_PROBLEM_NONE) {
        tell_pools(r, &a, &out);
        check_topology(r, &out.facts);
        tell_goal(r, &h, &out);
    } else {
        CHECK(out.problem.code == out.code);
        tell_problem(r, &out.problem);
    }
    if (!r->is_again)
        check_arenas(&h, &a, &out, (size_t)r->len);
    free_arena(&out.arena);
    host_close(&h);
    free(request);
}

/* == Accelerators of any vendor ============================================= */

static void tell_function(reading *r, const cpubind_facts *f, const cpubind_host_device *p)
{
    char address[CPUBIND_PCI_ADDRESS_MAX];
    int32_t bus = p->pci.bus;
    (void)cpubind_pci_format(address, &p->pci);
    tell(r, "%s ", address);
    tell_list(r, p->cpu, p->n_cpu, CPUBIND_MAX_CPUS);
    tell(r, " origin %d sight %d numbers %d\n", (int)p->origin, (int)p->sight, p->n_number);
    CHECK(p->n_number >= 0 && p->n_number <= CPUBIND_PCI_NUMBERS);
    for (int32_t i = 0; i < p->n_cpu; i++)
        CHECK(f->node_of[p->cpu[i]] >= 0);
    for (int32_t i = 0; i < p->n_bridge; i++) {
        const cpubind_pci_bridge *bridge = &f->bridge[p->bridge[i]];
        CHECK(bridge->pci.domain == p->pci.domain && bridge->secondary == bus);
        CHECK(bridge->pci.bus < bus);
        bus = bridge->pci.bus;
    }
    CHECK(p->root_bus == -1 || p->root_bus == bus);
    CHECK((p->origin == CPUBIND_NODE_ORIGIN_BRIDGE) == (p->via.domain >= 0));
    CHECK(p->origin != CPUBIND_NODE_ORIGIN_UNKNOWN || p->n_cpu == 0);
    CHECK(p->sight == CPUBIND_SIGHT_VISIBLE || p->n_number == 0);
}

static void tell_accelerators(reading *r, const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_bus; i++) {
        CHECK(i == 0 || cpubind_pci_compare(&f->bus[i - 1].pci, &f->bus[i].pci) < 0);
        tell_function(r, f, &f->bus[i]);
    }
    for (int kind = 0; kind < CPUBIND_CARD_KINDS; kind++)
        for (int32_t i = 0; i < f->cards[kind].n; i++)
            tell_function(r, f, &f->cards[kind].at[i]);
}

static void read_accelerators(reading *r)
{
    static text_host h;
    const cpubind_pci_request bus = {.wants_nics = 1, .wants_cores = 1};
    const cpubind_request request = {
        .is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET, .bus = &bus};
    const size_t size[] = {ARENA, (size_t)r->len * 64 % ARENA};
    host_open(&h, r->text, r->len);
    for (int i = 0; i < 2 && size[i] > 0; i++) {
        const cpubind_source source = host_source(&h);
        cpubind_arena arena = new_arena(size[i], r->fill);
        cpubind_facts facts;
        cpubind_problem why;
        const cpubind_problem_code code =
            cpubind_facts_read(&source, &request, &arena, &facts, &why);
        CHECK(code != CPUBIND_PROBLEM_UNKNOWN_DEVICE);
        CHECK(code != CPUBIND_PROBLEM_UNREADABLE ||
              (why.input && why.what && why.offset >= -1));
        tell(r, "%s\n", cpubind_problem_word(code));
        if (code == CPUBIND_PROBLEM_NONE)
            tell_accelerators(r, &facts);
        free_arena(&arena);
    }
    host_close(&h);
}

/* == Doctor ================================================================= */

static void tell_report(reading *r, const cpubind_doctor_report *report)
{
    for (int32_t i = 0; i < report->n_finding; i++) {
        const cpubind_doctor_finding *f = &report->finding[i];
        CHECK(f->evidence && f->evidence[0] && strlen(f->evidence) < 4096);
        CHECK(f->command && f->command[0] && strlen(f->command) < 4096);
        CHECK(f->check->word[0] && f->check->cost[0] && f->pid >= -1);
        CHECK(f->tid >= -1 && strcmp(cpubind_severity_word(f->check->severity), "?") != 0);
        CHECK(!f->input || cpubind_input_is_name(f->input));
        CHECK(i == 0 || report->finding[i - 1].check <= f->check);
        tell(r, "%s: %s; %s ", f->check->word, f->evidence, f->command);
        tell_list(r, f->cpu, f->n_cpu, CPUBIND_MAX_CPUS);
        tell(r, "\n");
    }
    CHECK(report->n_unknown <= report->n_check && report->n_more >= 0);
    for (int32_t i = 0; i < report->n_unknown; i++)
        CHECK(!report->unknown[i].input || report->unknown[i].input[0]);
    tell(r, "%d unknown, %d more\n", report->n_unknown, report->n_more);
}

/* Examines the host in an arena of `size` bytes. */
static void examine(reading *r, text_host *h, int is_live, size_t size)
{
    const cpubind_source source = host_source(h);
    const cpubind_request request = {.is_auto_strategy = 1, .wants_pci = 1};
    cpubind_arena arena = new_arena(2 * ARENA, r->fill), own = new_arena(size, r->fill);
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_doctor_report report;
    const int has_facts =
        cpubind_facts_read(&source, &request, &arena, &facts, &problem) == CPUBIND_PROBLEM_NONE;
    const int has_plan = has_facts && cpubind_plan_make(&facts, &request, &arena, &plan,
                                                        &problem) == CPUBIND_PROBLEM_NONE;
    const cpubind_doctor_request request_of = {.source = &source,
                                               .request = &request,
                                               .facts = has_facts ? &facts : NULL,
                                               .plan = has_plan ? &plan : NULL,
                                               .is_live = is_live,
                                               .npu_smi_ms = is_live ? 6000 : -1};
    const cpubind_problem_code code = cpubind_doctor_examine(&request_of, &own, &report);
    CHECK(code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_NO_MEMORY);
    CHECK(own.used <= own.size);
    tell(r, "%s\n", cpubind_problem_word(code));
    if (code == CPUBIND_PROBLEM_NONE)
        tell_report(r, &report);
    free_arena(&arena);
    free_arena(&own);
}

/* An odd number of lines before the first entry is a live host. */
static void read_doctor(reading *r)
{
    static text_host h;
    int is_live = 0;
    host_open(&h, r->text, r->len);
    for (int32_t i = 0; i < h.head; i++)
        is_live ^= r->text[i] == '\n';
    examine(r, &h, is_live, (size_t)2 * ARENA);
    examine(r, &h, is_live, (300 + (size_t)r->len % KIB) * KIB);
    host_close(&h);
}

/* == The C ABI ============================================================== */

/* JSON of one line: brackets in pairs outside of strings, and no byte that a terminal obeys. */
static void check_json(const char *text)
{
    char open[64];
    int n = 0, in_string = 0;
    CHECK(text && *text == '{');
    for (const char *at = text; *at; at++) {
        CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
        if (in_string && *at == '\\') {
            CHECK(*++at);
        } else if (*at == '"') {
            in_string = !in_string;
        } else if (!in_string && (*at == '{' || *at == '[')) {
            CHECK(n < (int)sizeof open);
            open[n++] = *at == '{' ? '}' : ']';
        } else if (!in_string && (*at == '}' || *at == ']')) {
            CHECK(n > 0 && open[--n] == *at);
            CHECK(n > 0 || at[1] == '\0');
        }
    }
    CHECK(n == 0 && !in_string);
}

/* A text that was asked for, or the error that is there in its place. */
static void tell_text(reading *r, char *text, cpb_error *error)
{
    CHECK(text || error);
    if (text)
        tell(r, "%s\n", text);
    if (error) {
        CHECK(*cpb_error_code(error) && *cpb_error_text(error));
        CHECK(!strchr(cpb_error_text(error), '\n'));
        CHECK(cpb_error_number(error, "exit") >= 1 && cpb_error_number(error, "exit") <= 3);
        check_json(cpb_error_json(error));
        tell(r, "%s\n", cpb_error_json(error));
        cpb_error_free(error);
    }
    cpb_text_free(text);
}

/* The mask of each role has the CPUs of its list. */
static void check_masks(const cpb_plan *plan, int32_t device)
{
    static const char *const roles[] = {"pool", "irq", "main", "acl", "release"};
    static unsigned long mask[CPUBIND_MAX_CPUS / (8 * sizeof(unsigned long))];
    const size_t bits = 8 * sizeof *mask;
    for (int i = 0; i < 5; i++) {
        const int32_t *cpu;
        const int32_t n = cpb_plan_cpus(plan, device, roles[i], &cpu);
        const int32_t size = cpb_plan_mask(plan, device, roles[i], mask, sizeof mask);
        int32_t n_set = 0;
        CHECK(n >= (i == 0) && size >= 0 && size <= (int32_t)sizeof mask);
        check_list(cpu, n, CPUBIND_MAX_CPUS);
        for (int32_t k = 0; k < size / (int32_t)sizeof *mask; k++)
            for (unsigned long left = mask[k]; left; left &= left - 1)
                n_set++;
        CHECK(n_set == n);
        for (int32_t k = 0; k < n; k++)
            CHECK(mask[(size_t)cpu[k] / bits] >> ((size_t)cpu[k] % bits) & 1);
    }
}

static void tell_plan(reading *r, const cpb_plan *plan)
{
    const int32_t *device;
    const int32_t n = cpb_plan_devices(plan, &device);
    cpb_error *error = NULL;
    char *text;
    check_json(cpb_plan_json(plan));
    tell(r, "%s\n", cpb_plan_json(plan));
    check_list(device, n, INT32_MAX);
    for (int32_t i = 0; i < n; i++)
        check_masks(plan, device[i]);
    for (const api_format *f = api_formats; f->word; f++) {
        text = cpb_plan_format(plan, f->word, &error);
        tell_text(r, text, error);
        error = NULL;
    }
    text = cpb_plan_explain(plan, "all", &error);
    tell_text(r, text, error);
}

/* Each line before the first entry is an option. */
static void read_call(reading *r)
{
    static text_host h;
    static const char *const topo[] = {"nics=yes", NULL};
    const char *options[17] = {NULL};
    cpb_error *error = NULL;
    cpb_host *host = cpb_host_empty(&error);
    cpb_plan *plan;
    char *lines, *rest, *text;
    host_open(&h, r->text, r->len);
    lines = rest = string_copy(r->text, h.head > 0 ? h.head - 1 : 0);
    for (int n = 0; n < 16 && h.head > 0 && rest; n++)
        options[n] = strsep(&rest, "\n");
    for (int32_t i = 0; i < h.n; i++) {
        const host_entry *e = &h.entry[i];
        const int code = e->mark >= '1' && e->mark <= '9' ? e->mark - '0' : 0;
        CHECK(cpb_host_put(host, e->name, e->data, (size_t)e->len, code, NULL) == 0);
    }
    plan = cpb_plan_make(host, options, &error);
    if (plan)
        tell_plan(r, plan);
    else
        tell_text(r, NULL, error);
    error = NULL;
    text = cpb_host_topo(host, topo, &error);
    if (text)
        check_json(text);
    tell_text(r, text, error);
    cpb_plan_free(plan);
    cpb_host_close(host);
    host_close(&h);
    free(lines);
}

/* == The walk over the inputs of a host ===================================== */

/* `read input_list NAME`: whether the name is a known input. */
static void read_input_list(reading *r)
{
    const int is_known = cpubind_input_list_has(r->args);
    tell(r, "%s\n", is_known ? "known" : "not known");
    CHECK(!cpubind_input_list_has(NULL) && (!is_known || cpubind_input_is_name(r->args)));
    CHECK(is_known || (!cpubind_doctor_input_has(r->args) &&
                       cpubind_input_secret_of(r->args) == CPUBIND_SECRET_NONE));
}

/* A host in which any input may be there: it depends on its name. The text is the listing of
 * every folder; most vendors are known ones. */
static cpubind_input answer(const reading *r, const char *name, int is_list)
{
    static const char *const texts[] = {"0x19e5\n", "0x20e9\n", "0x8086\n", "?", "0x020000\n"};
    uint32_t hash = (uint32_t)r->len + (uint32_t)is_list;
    cpubind_input input;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    memset(&input, 0, sizeof input);
    CHECK(cpubind_input_is_name(name));
    input.state = hash % 8 < 4 ? CPUBIND_INPUT_PRESENT : (cpubind_input_state)(hash % 5);
    if (input.state != CPUBIND_INPUT_PRESENT)
        return input;
    input.data = is_list ? r->text : texts[hash / 8 % 5];
    input.len = is_list ? r->len : (int32_t)strlen(input.data);
    return input;
}

static cpubind_input read_any(void *ctx, const char *name)
{
    return answer((const reading *)ctx, name, 0);
}

static cpubind_input list_any(void *ctx, const char *name)
{
    return answer((const reading *)ctx, name, 1);
}

/* A visited name is a known input, or a folder that could not be listed. */
static int visit(void *ctx, const char *name, cpubind_input input)
{
    reading *r = (reading *)ctx;
    CHECK(input.state != CPUBIND_INPUT_ABSENT && cpubind_input_is_name(name));
    CHECK(cpubind_input_list_has(name) ||
          (input.state != CPUBIND_INPUT_PRESENT && answer(r, name, 1).state == input.state));
    tell(r, "%s\n", name);
    return r->said.len > 1 << 16;
}

/* The names that are visited, of the first 64 KiB. */
static void read_walk(reading *r)
{
    const cpubind_source source = {r, read_any, list_any};
    (void)cpubind_input_list_each(&source, visit, r);
}

/* == Interrupts of a device ================================================= */

enum { MAX_MSI = 512 };

/* Interrupts ascend. With mailboxes there are the same, and between them mailboxes. */
static void tell_irqs(reading *r, cpubind_irq_search *search)
{
    static const char *const kinds[] = {"sq", "cq", "mailbox"};
    const size_t size = ((size_t)search->n_msi + 1) * sizeof(cpubind_irq_goal);
    cpubind_irq_goal *irq = (cpubind_irq_goal *)filled(size, r->fill);
    cpubind_irq_goal *all = (cpubind_irq_goal *)filled(size, r->fill);
    int32_t n, n_all, k = 0;
    const cpubind_no_irq why = cpubind_ascend_irqs(search, irq, &n);
    search->wants_mailbox = 1;
    CHECK(cpubind_ascend_irqs(search, all, &n_all) == why);
    CHECK((why == CPUBIND_IRQ_FOUND) == (n > 0));
    for (int32_t i = 0; i < n_all; i++) {
        const int is_mailbox = all[i].kind == CPUBIND_IRQ_MAILBOX;
        CHECK(i == 0 || all[i - 1].irq < all[i].irq);
        CHECK(is_mailbox ? strncmp(all[i].id.name, "trs-mbox-", 9) == 0
                         : k < n && is_same(&all[i], &irq[k], sizeof *all));
        k += !is_mailbox;
        tell(r, "%d %s\n", all[i].irq, kinds[all[i].kind]);
    }
    CHECK(k == n);
    tell(r, "%s\n", cpubind_no_irq_word(why));
    free(irq);
    free(all);
}

/* `read process_goal DEVICE|- MSI`: the interrupts of a device among the numbers in its
 * msi_irqs, a list; the text is /proc/interrupts. */
static void read_irqs(reading *r)
{
    int32_t msi[MAX_MSI], n_msi = 0;
    const char *blank = strchr(r->args, ' ');
    const int32_t device = number_arg(&r->args, -1);
    cpubind_interrupt_list all = {NULL, 0, 0, 0};
    if (blank)
        (void)take_list(blank + 1, msi, CPUBIND_MAX_CPUS, &n_msi);
    (void)cpubind_interrupts_parse(r->text, r->len, &all, NULL);
    all.cap = all.n;
    all.irq = (cpubind_interrupt *)filled((size_t)all.n * sizeof *all.irq, r->fill);
    if (cpubind_interrupts_parse(r->text, r->len, &all, NULL) == CPUBIND_TEXT_OK) {
        cpubind_irq_search search = {r->text, all.irq, all.n, msi, n_msi, device, 0};
        tell_irqs(r, &search);
    }
    free(all.irq);
}

/* == Views of one host ====================================================== */

/* The text is the random bytes of a case (tests/laws/random_host.h). No two processes of a
 * host share a CPU. */
static void read_views(reading *r)
{
    static law_case c;
    const int is_kept = view_law_check((const uint8_t *)r->text, (size_t)r->len, &c, NULL);
    if (!is_kept)
        view_law_print(stderr, &c);
    CHECK(is_kept);
}

static const reader rows[] = {
    {"facts", read_facts, "", NULL, "facts", 24576},
    {"topo", read_accelerators, "", NULL, "topo", 24576},
    {"doctor", read_doctor, "", NULL, "facts", 24576},
    {"call", read_call, "", NULL, "call", 24576},
    {"input_list", read_input_list, NULL, NULL, "input_list", 1024},
    {"input_walk", read_walk, NULL, "input_list", "input_list", 1024},
    {"process_goal", read_irqs, NULL, NULL, "proc", 4096},
    {"views", read_views, "", NULL, "plan", 256},
};

READERS(rows)
