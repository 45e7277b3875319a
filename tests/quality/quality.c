/* quality.c - how good the pools of three rules are: a table over layouts and fixture hosts
 * SPDX-License-Identifier: MIT
 *
 *   quality [FOLDER]       the layouts of layouts.c, and the hosts in FOLDER (fixtures/hosts)
 *
 * The rules: that of the reference with its overlaps resolved, NEAR, and hwloc_distrib inside
 * each home, which is what an operator would do by hand: the NPUs of a home share its allowed
 * CPUs by whole cores, and other CPUs are idle. A line below the three rules says in which
 * figure NEAR is not the best, and why. Exit 1 if NEAR is worse than another rule in what it
 * promises (rules_worse).
 */
#include <dirent.h>
#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/plan.h"
#include "../support/fixture_host.h"
#include "layouts.h"
#include "rules.h"

enum { REFERENCE, NEAR, DISTRIB, N_RULES };

static const char *const rule_names[N_RULES] = {"reference", "near", "hwloc-distrib"};

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "quality: %s failed\n", what);
    exit(2);
}

/* == hwloc_distrib inside a home ============================================ */

/* CPUs of a home, by their index in host.cpu, core after core. */
typedef struct home {
    int32_t *index;
    int32_t n;
} home;

static int32_t has_cpu(const cpubind_devices *devices, int32_t device, int32_t cpu)
{
    const int32_t *row = devices->affinity.row;
    for (int32_t i = row ? row[device] : 0; row && i < row[device + 1]; i++)
        if (devices->affinity.cpu[i] == cpu)
            return 1;
    return 0;
}

static int32_t core_at(const cpubind_host *host, int32_t index)
{
    return host->core ? host->core[index] : index;
}

/* The allowed CPUs of the affinity; without it those of the node; without both, all. */
static home home_of(const cpubind_host *host, const cpubind_devices *devices, int32_t device)
{
    const int32_t *row = devices->affinity.row;
    const int32_t has_affinity = row && row[device + 1] > row[device];
    const int32_t node = devices->node ? devices->node[device] : -1;
    home h = {(int32_t *)malloc((size_t)host->n_cpu * sizeof(int32_t)), 0};
    must(h.index != NULL, "malloc");
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int32_t at = h.n;
        if (has_affinity ? !has_cpu(devices, device, host->cpu[i])
                         : node >= 0 && host->node[i] != node)
            continue;
        for (; at > 0 && core_at(host, h.index[at - 1]) > core_at(host, i); at--)
            h.index[at] = h.index[at - 1];
        h.index[at] = i;
        h.n++;
    }
    return h;
}

static int32_t is_same_home(const home *a, const home *b)
{
    return a->n == b->n && memcmp(a->index, b->index, (size_t)a->n * sizeof *a->index) == 0;
}

/* A synthetic machine with the cores of a home. cpu_of[PU] is an index in host.cpu, or -1: that
 * CPU of the core is not in the home, and is restricted away. */
static hwloc_topology_t home_topology(const cpubind_host *host, const home *h, int32_t *cpu_of)
{
    int32_t n_core = 0, most = 0, n = 0;
    char text[64];
    hwloc_topology_t topology;
    hwloc_bitmap_t present = hwloc_bitmap_alloc();
    for (int32_t i = 0; i < h->n; i++) {
        const int32_t is_new =
            i == 0 || core_at(host, h->index[i]) != core_at(host, h->index[i - 1]);
        n_core += is_new;
        n = is_new ? 1 : n + 1;
        most = n > most ? n : most;
    }
    for (int32_t i = 0, core = -1; i < h->n; i++) {
        const int32_t is_new =
            i == 0 || core_at(host, h->index[i]) != core_at(host, h->index[i - 1]);
        core += is_new;
        n = is_new ? 0 : n + 1;
        cpu_of[core * most + n] = h->index[i];
        hwloc_bitmap_set(present, (unsigned)(core * most + n));
    }
    snprintf(text, sizeof text, "Core:%" PRId32 " PU:%" PRId32, n_core, most);
    must(present && hwloc_topology_init(&topology) == 0 &&
             hwloc_topology_set_synthetic(topology, text) == 0 &&
             hwloc_topology_load(topology) == 0 &&
             hwloc_topology_restrict(topology, present, 0) == 0,
         "the synthetic topology");
    hwloc_bitmap_free(present);
    return topology;
}

/* Part `part` of `parts` of a home, in `out`; returns its size. */
static int32_t distributed(const cpubind_host *host, const home *h, unsigned parts,
                           unsigned part, int32_t *out)
{
    int32_t *cpu_of = (int32_t *)malloc((size_t)h->n * (size_t)h->n * sizeof(int32_t) + 1);
    hwloc_bitmap_t *sets = (hwloc_bitmap_t *)calloc(parts, sizeof *sets);
    hwloc_topology_t topology;
    hwloc_obj_t root;
    int32_t n = 0;
    if (h->n == 0) {
        free(cpu_of);
        free(sets);
        return 0;
    }
    must(cpu_of && sets, "malloc");
    topology = home_topology(host, h, cpu_of);
    root = hwloc_get_root_obj(topology);
    must(hwloc_distrib(topology, &root, 1, sets, parts, INT32_MAX, 0) == 0, "hwloc_distrib");
    for (int pu = hwloc_bitmap_first(sets[part]); pu >= 0;
         pu = hwloc_bitmap_next(sets[part], pu))
        out[n++] = host->cpu[cpu_of[pu]];
    for (unsigned i = 0; i < parts; i++)
        hwloc_bitmap_free(sets[i]);
    hwloc_topology_destroy(topology);
    free(cpu_of);
    free(sets);
    return n;
}

/* Pools that are smaller than the minimum count as refused, as those of the core do. */
static rules_pools distribute(const cpubind_host *host, const cpubind_devices *devices,
                              int32_t minimum)
{
    const int32_t n = devices->affinity.n;
    int32_t n_slice = 0;
    rules_pools out = rules_start(host, devices);
    home *homes = (home *)malloc((size_t)n * sizeof *homes);
    int32_t *cpu = (int32_t *)malloc((size_t)host->n_cpu * sizeof *cpu);
    must(homes && cpu, "malloc");
    for (int32_t d = 0; d < n; d++)
        homes[d] = home_of(host, devices, d);
    for (int32_t d = 0; d < n; d++) {
        unsigned parts = 0, part = 0;
        int32_t size;
        for (int32_t other = 0; other < n; other++) {
            part = other == d ? parts : part;
            parts += is_same_home(&homes[d], &homes[other]) != 0;
        }
        if (homes[d].n == host->n_cpu && devices->total > n) { /* no home: a slice */
            parts = (unsigned)devices->total;
            part = (unsigned)(devices->slot ? devices->slot[d] : d);
        }
        size = distributed(host, &homes[d], parts, part, cpu);
        rules_add(&out, cpu, size < minimum ? 0 : size);
        n_slice += parts == (unsigned)devices->total;
    }
    if (n_slice == n)
        out.n_hidden = host->n_cpu - out.row[n];
    for (int32_t d = 0; d < n; d++)
        free(homes[d].index);
    free(homes);
    free(cpu);
    return out;
}

/* == One host =============================================================== */

typedef struct compared {
    rules_figures of[N_RULES];
    int32_t by_step[RULES_STEPS];       /* of NEAR */
    int32_t idle_beside;                /* of NEAR: idle CPUs on sockets that have NPUs */
    int32_t least_width, largest_width; /* allowed CPUs of a core */
} compared;

static int32_t node_index(const cpubind_host *host, int32_t node)
{
    int32_t i = 0;
    while (i < host->n_node && host->node_id[i] != node)
        i++;
    return i;
}

static int32_t is_one_socket(const cpubind_host *host, int32_t node, int32_t other)
{
    const int32_t a = node_index(host, node), b = node_index(host, other);
    if (a == host->n_node || b == host->n_node)
        return 0;
    if (host->socket)
        return host->socket[a] == host->socket[b];
    return !host->distance || host->distance[a * host->n_node + b] < CPUBIND_FAR_DISTANCE;
}

/* Whether the socket of a node has the home of a device, or its node. */
static int32_t has_place(const cpubind_host *host, const cpubind_devices *devices, int32_t node)
{
    for (int32_t d = 0; d < devices->affinity.n; d++) {
        const home h = home_of(host, devices, d);
        int32_t is_there = devices->node && is_one_socket(host, node, devices->node[d]);
        for (int32_t i = 0; i < h.n && h.n < host->n_cpu; i++)
            is_there |= is_one_socket(host, node, host->node[h.index[i]]);
        free(h.index);
        if (is_there)
            return 1;
    }
    return 0;
}

static int32_t count_idle_beside(const cpubind_host *host, const cpubind_devices *devices,
                                 const rules_pools *pools)
{
    int32_t n = 0, place = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int32_t is_idle = 1;
        for (int32_t k = 0; k < pools->row[pools->n] && is_idle; k++)
            is_idle = pools->cpu[k] != host->cpu[i];
        if (i == 0 || host->node[i] != host->node[i - 1])
            place = has_place(host, devices, host->node[i]);
        n += is_idle && place;
    }
    return n;
}

static void find_widths(const cpubind_host *host, compared *out)
{
    out->least_width = host->n_cpu;
    out->largest_width = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int32_t width = 0;
        for (int32_t k = 0; k < host->n_cpu; k++)
            width += core_at(host, k) == core_at(host, i);
        out->least_width = width < out->least_width ? width : out->least_width;
        out->largest_width = width > out->largest_width ? width : out->largest_width;
    }
}

static compared compare(const cpubind_host *host, const cpubind_devices *devices,
                        cpubind_policy policy)
{
    const cpubind_role_spec *roles = &policy.roles;
    int32_t minimum = 0;
    compared c;
    find_widths(host, &c);
    for (int32_t r = 0; r < CPUBIND_ROLE_COUNT; r++)
        minimum += roles->count[r];
    for (int32_t rule = 0; rule < N_RULES; rule++) {
        rules_pools pools;
        if (rule == NEAR)
            policy.strategy = CPUBIND_NEAR;
        pools = rule == DISTRIB ? distribute(host, devices, minimum)
                                : rules_make(host, devices, &policy);
        c.of[rule] = rules_measure(host, devices, roles, &pools);
        if (rule == NEAR) {
            memcpy(c.by_step, pools.by_step, sizeof c.by_step);
            c.idle_beside = count_idle_beside(host, devices, &pools);
        }
        rules_free(&pools);
    }
    return c;
}

/* == The table ============================================================== */

static int32_t near_percent(const rules_figures *f)
{
    return f->n_cpu ? (int32_t)((int64_t)f->near_cpu * 100 / f->n_cpu) : 0;
}

static void heading(const char *title)
{
    printf("%-34s %-13s %5s %5s %4s %4s %5s %4s %5s %5s %4s\n", title, "", "near%", "far",
           "irq", "npu", "split", "idle", "small", "large", "ref.");
}

static void print_figures(const char *name, const char *rule, const rules_figures *f,
                          int is_sum)
{
    printf("%-34.34s %-13s %5" PRId32 " %5" PRId32 " %4" PRId32 " %4" PRId32 " %5" PRId32
           " %4" PRId32,
           name, rule, near_percent(f), f->far, f->irq_off, f->npus_off, f->split, f->idle);
    if (is_sum)
        printf(" %5s %5s %4" PRId32 "\n", "", "", f->refused);
    else
        printf(" %5" PRId32 " %5" PRId32 " %4" PRId32 "\n", f->smallest, f->largest,
               f->refused);
}

/* Why NEAR has CPUs that are not near: the steps of its rule that gave them. */
static void print_steps(const compared *c)
{
    static const struct {
        cpubind_step step;
        const char *what;
    } texts[] = {{CPUBIND_STEP_NEAREST, "of nodes without NPUs, else idle"},
                 {CPUBIND_STEP_MINIMUM, "for pools below the minimum, else idle"},
                 {CPUBIND_STEP_LENT, "lent to pools below the minimum"},
                 {CPUBIND_STEP_SLICE, "cut by slot, since no home is known"}};
    const char *between = ": ";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (c->by_step[texts[i].step] == 0)
            continue;
        printf("%s%" PRId32 " CPUs %s", between, c->by_step[texts[i].step], texts[i].what);
        between = "; ";
    }
    printf("\n");
}

/* Where the idle CPUs of NEAR are, and at what price another rule has fewer. */
static void print_why_idle(const compared *c, int32_t best)
{
    const int32_t apart = c->of[NEAR].idle - c->idle_beside;
    printf(": %" PRId32 " on sockets without NPUs", apart);
    if (c->idle_beside)
        printf(", %" PRId32 " on others", c->idle_beside);
    printf("; %s has %" PRId32 " far CPUs\n", rule_names[best], c->of[best].far);
}

/* Why the smallest pool of another rule is larger. */
static void print_why_small(const compared *c, int32_t best)
{
    if (c->of[best].far > c->of[NEAR].far)
        printf(": with %" PRId32 " far CPUs", c->of[best].far);
    else if (c->of[best].near_cpu < c->of[NEAR].near_cpu)
        printf(": with %" PRId32 " CPUs of a home elsewhere",
               c->of[NEAR].near_cpu - c->of[best].near_cpu);
    else if (c->least_width < c->largest_width)
        printf(": shares count cores, of %" PRId32 " to %" PRId32 " CPUs", c->least_width,
               c->largest_width);
    printf("%s\n", c->of[best].split > c->of[NEAR].split ? ", and splits cores" : "");
}

/* The figures that have a best value without being promises. `sign`: 1: more is better. */
enum { N_JUDGED = 4 };

typedef struct judged {
    const char *name;
    int32_t sign;
    int32_t value[N_RULES];
} judged;

/* The rule whose value is the best, of those that refuse no more than NEAR; NEAR if none is
 * better. */
static int32_t best_of(const judged *j, const compared *c)
{
    int32_t best = NEAR;
    for (int32_t rule = 0; rule < N_RULES; rule++)
        if (c->of[rule].refused <= c->of[NEAR].refused &&
            (j->value[rule] - j->value[best]) * j->sign > 0)
            best = rule;
    return best;
}

/* Prints a line for each figure in which NEAR is not the best, and why. */
static void print_reasons(const compared *c, int32_t *n_behind)
{
    judged figures[N_JUDGED] = {
        {"near %", 1, {0}}, {"far", -1, {0}}, {"idle", -1, {0}}, {"smallest", 1, {0}}};
    for (int32_t rule = 0; rule < N_RULES; rule++) {
        figures[0].value[rule] = near_percent(&c->of[rule]);
        figures[1].value[rule] = c->of[rule].far;
        figures[2].value[rule] = c->of[rule].idle;
        figures[3].value[rule] = c->of[rule].smallest;
    }
    for (int32_t i = 0; i < N_JUDGED; i++) {
        const int32_t best = best_of(&figures[i], c);
        if (best == NEAR)
            continue;
        n_behind[i]++;
        printf("  * %s %" PRId32 ", %s %" PRId32, figures[i].name, figures[i].value[NEAR],
               rule_names[best], figures[i].value[best]);
        if (i < 2)
            print_steps(c);
        else if (i == 2)
            print_why_idle(c, best);
        else
            print_why_small(c, best);
    }
}

typedef struct sums {
    rules_figures of[N_RULES];
    int32_t n_host, n_npu, n_worse;
    int32_t n_behind[N_JUDGED]; /* hosts on which NEAR is not the best in a figure */
} sums;

static void add_figures(rules_figures *to, const rules_figures *f)
{
    to->n_cpu += f->n_cpu;
    to->near_cpu += f->near_cpu;
    to->far += f->far;
    to->irq_off += f->irq_off;
    to->npus_off += f->npus_off;
    to->split += f->split;
    to->idle += f->idle;
    to->refused += f->refused;
}

/* Three lines for a host, and those of print_reasons. */
static void print_host(const char *const *names, const compared *c, int32_t n_npu, sums *total)
{
    for (int32_t rule = 0; rule < N_RULES; rule++) {
        print_figures(names[rule], rule_names[rule], &c->of[rule], 0);
        add_figures(&total->of[rule], &c->of[rule]);
    }
    print_reasons(c, total->n_behind);
    total->n_host++;
    total->n_npu += n_npu;
    for (int32_t rule = 0; rule < N_RULES; rule++) {
        const char *worse = rule == NEAR ? NULL : rules_worse(&c->of[NEAR], &c->of[rule]);
        if (worse)
            printf("  ! near is worse than %s: %s\n", rule_names[rule], worse);
        total->n_worse += worse != NULL;
    }
}

static void print_sums(const char *what, const sums *total)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRId32 " %s, %" PRId32 " NPUs", total->n_host, what,
             total->n_npu);
    for (int32_t rule = 0; rule < N_RULES; rule++)
        print_figures(rule ? "" : text, rule_names[rule], &total->of[rule], 1);
    printf("near is not the best on so many of them: near %% %" PRId32 ", far %" PRId32
           ", idle %" PRId32 ", smallest %" PRId32 "\n",
           total->n_behind[0], total->n_behind[1], total->n_behind[2], total->n_behind[3]);
    printf("near is worse than another rule in what it promises: %" PRId32 "\n\n",
           total->n_worse);
}

/* == Layouts ================================================================ */

static int32_t print_layouts(void)
{
    static site s;
    sums total;
    memset(&total, 0, sizeof total);
    heading("LAYOUTS");
    for (int32_t i = 0; i < n_layouts; i++) {
        const layout *row = &layouts[i];
        const cpubind_policy policy = {.strategy = row->rule == 's' ? CPUBIND_GLOBAL_SLICE
                                                                    : CPUBIND_TOPO_AFFINITY,
                                       .roles = {{2, 1, 1, 1}}};
        char place[64], homes[64];
        const char *const names[N_RULES] = {row->name, place, homes};
        compared c;
        layout_build(row, &s);
        snprintf(place, sizeof place, "  %s%s%s", row->machine, row->allowed ? ", cpuset " : "",
                 row->allowed ? row->allowed : "");
        snprintf(homes, sizeof homes, "  %s", row->homes);
        c = compare(&s.host, &s.devices, policy);
        print_host(names, &c, s.devices.affinity.n, &total);
    }
    print_sums("layouts", &total);
    return total.n_worse;
}

/* == Fixture hosts ========================================================== */

#define ARENA ((size_t)64 << 20)

/* A host, planned by one rule. */
typedef struct planned {
    cpubind_arena arena;
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_problem_code code;
} planned;

static void plan_host(const char *path, cpubind_rules rules, planned *out)
{
    const cpubind_request request = {.is_auto_strategy = 1, .rules = rules, .has_rules = 1};
    cpubind_linux_host *host = fixture_host(path);
    const cpubind_source source = cpubind_linux_source(host);
    out->arena.used = 0;
    out->code = cpubind_facts_read(&source, &request, &out->arena, &out->facts, &out->problem);
    if (out->code == CPUBIND_PROBLEM_NONE)
        out->code =
            cpubind_plan_make(&out->facts, &request, &out->arena, &out->plan, &out->problem);
    must(out->code != CPUBIND_PROBLEM_NO_MEMORY, "an arena");
    cpubind_linux_close(host);
}

/* Whether the figures of the plan of the adapters are those of the core. The facts for slices
 * hold no homes. */
static int32_t is_same(const planned *p, const rules_figures *f)
{
    const cpubind_quality *q = &p->plan.quality;
    if (p->code != CPUBIND_PROBLEM_NONE || !p->facts.has_affinity)
        return 1;
    return q->n_cpu == f->n_cpu && q->near_cpu == f->near_cpu && q->far_cpu == f->far &&
           q->split_cores == f->split && q->idle == f->idle && q->smallest == f->smallest &&
           q->largest == f->largest && q->n_pool_off_node + f->refused == f->npus_off;
}

/* Hosts that are not in the table, by the reason. */
typedef struct left_out {
    char text[4096];
    int32_t n;
} left_out;

static void leave_out(left_out *list, const char *name, const char *code)
{
    const size_t len = strlen(list->text);
    snprintf(list->text + len, sizeof list->text - len, "%s%s%s%s", list->n++ ? ", " : "", name,
             *code ? ": " : "", code);
}

static void print_left_out(const left_out *list, const char *why)
{
    size_t column = (size_t)printf("%" PRId32 " hosts %s:", list->n, why);
    for (const char *at = list->text; *at;) {
        const size_t len = strcspn(at, " ");
        column += len + 1;
        if (column > 98)
            column = (size_t)printf("\n ") + len;
        printf(" %.*s", (int)len, at);
        at += len + (at[len] == ' ');
    }
    printf("\n");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_host(const struct dirent *entry)
{
    return strstr(entry->d_name, ".host") != NULL;
}

/* What the fixture hosts come to. */
typedef struct fixtures {
    planned by_rule[CPUBIND_RULES_COUNT];
    left_out refused, clusters, homeless;
    sums total;
} fixtures;

static void print_fixture(const char *folder, const char *name, fixtures *f)
{
    planned *reference = &f->by_rule[CPUBIND_RULES_REFERENCE];
    planned *near = &f->by_rule[CPUBIND_RULES_NEAR];
    cpubind_policy policy = {.strategy = CPUBIND_TOPO_AFFINITY};
    char path[1024], shape[64], word[64] = "";
    const char *const names[N_RULES] = {name, shape, word};
    compared c;
    snprintf(path, sizeof path, "%s/%s.host", folder, name);
    for (int32_t rule = 0; rule < CPUBIND_RULES_COUNT; rule++)
        plan_host(path, (cpubind_rules)rule, &f->by_rule[rule]);
    if (near->code != CPUBIND_PROBLEM_NONE) {
        /* near reads more: an input that only near needs may be unreadable. */
        if (reference->code == CPUBIND_PROBLEM_NONE && cpubind_problem_exit(near->code) == 1) {
            printf("%s\n  ! near refuses it, and the reference does not\n", name);
            f->total.n_worse++;
        }
        leave_out(&f->refused, name, cpubind_problem_word(near->code));
        return;
    }
    if (near->plan.core.strategy == CPUBIND_CLUSTER) {
        leave_out(&f->clusters, name, "");
        return;
    }
    policy.strategy = reference->facts.strategy;
    policy.roles = near->plan.roles;
    c = compare(&near->plan.host, &near->plan.devices, policy);
    if (c.of[NEAR].near_cpu == 0 && !rules_worse(&c.of[NEAR], &c.of[REFERENCE])) {
        leave_out(&f->homeless, name, "");
        return;
    }
    snprintf(shape, sizeof shape, "  %" PRId32 " CPUs, %" PRId32 " nodes, %" PRId32 " NPUs",
             near->plan.host.n_cpu, near->plan.host.n_node, near->plan.n_candidate);
    if (reference->code != CPUBIND_PROBLEM_NONE)
        snprintf(word, sizeof word, "  reference: %s", cpubind_problem_word(reference->code));
    print_host(names, &c, near->plan.n_candidate, &f->total);
    for (int32_t rule = 0; rule < CPUBIND_RULES_COUNT; rule++) {
        const int32_t column = rule == CPUBIND_RULES_NEAR ? NEAR : REFERENCE;
        if (!is_same(&f->by_rule[rule], &c.of[column])) {
            printf("  ! the figures of the plan of %s are others\n", rule_names[column]);
            f->total.n_worse++;
        }
    }
}

static int32_t print_fixtures(const char *folder)
{
    static fixtures f;
    struct dirent **entries;
    int n = scandir(folder, &entries, is_host, by_bytes);
    must(n >= 0, folder);
    for (int32_t rule = 0; rule < CPUBIND_RULES_COUNT; rule++) {
        f.by_rule[rule].arena.size = ARENA;
        f.by_rule[rule].arena.base = (char *)malloc(ARENA);
        must(f.by_rule[rule].arena.base != NULL, "malloc");
    }
    heading("FIXTURE HOSTS");
    for (int i = 0; i < n; i++) {
        *strrchr(entries[i]->d_name, '.') = '\0';
        print_fixture(folder, entries[i]->d_name, &f);
        free(entries[i]);
    }
    free(entries);
    for (int32_t rule = 0; rule < CPUBIND_RULES_COUNT; rule++)
        free(f.by_rule[rule].arena.base);
    print_sums("hosts", &f.total);
    print_left_out(&f.clusters, "have clusters under both rules");
    print_left_out(&f.homeless, "have slices under both rules, since no home is known");
    print_left_out(&f.refused, "have no plan under near");
    return f.total.n_worse;
}

int main(int argc, char **argv)
{
    int32_t n_worse = print_layouts();
    if (argc > 1)
        n_worse += print_fixtures(argv[1]);
    return n_worse > 0;
}
