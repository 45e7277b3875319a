/* quality.c - how good the pools of the rules are: a table over layouts and fixture hosts
 * SPDX-License-Identifier: MIT
 *
 *   quality [FOLDER]       the layouts of layouts.c, and the hosts in FOLDER (fixtures/hosts)
 *
 * The rules: that of the reference with its overlaps resolved, and turns. Exit 1 if turns
 * refuse more devices than the reference on a host, or cut more cores, or have more interrupts
 * off the node of their device.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/plan.h"
#include "../support/fixture_host.h"
#include "layouts.h"

enum { REFERENCE, NEAR, N_RULES };

static const char *const rule_names[N_RULES] = {"reference", "near"};

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "quality: %s failed\n", what);
    exit(2);
}

/* == The table ============================================================== */

typedef struct figures {
    cpubind_quality q;
    int32_t refused; /* devices */
} figures;

typedef struct sums {
    figures of[N_RULES];
    int32_t n_host, n_device, n_worse,
        n_wide; /* wide: a pool of turns on three nodes or more */
} sums;

static void heading(const char *title)
{
    printf("%-40s %-10s %5s %5s %4s %5s %5s %5s %5s %5s %5s %4s\n", title, "", "near%", "far",
           "irq", "cores", "cache", "nodes", "idle", "small", "large", "ref.");
}

static void print_row(const char *name, const char *rule, const figures *f)
{
    const cpubind_quality *q = &f->q;
    printf("%-40.40s %-10s %5d %5d %4d %5d %5d %5d %5d %5d %5d %4d\n", name, rule,
           q->cpus ? (int)((int64_t)q->near_cpus * 100 / q->cpus) : 0, (int)q->far_cpus,
           (int)q->irq_off, (int)q->split_cores, (int)q->split_caches, (int)q->nodes,
           (int)q->idle, (int)q->smallest, (int)q->largest, (int)f->refused);
}

static void add(figures *to, const figures *f)
{
    to->q.cpus += f->q.cpus;
    to->q.near_cpus += f->q.near_cpus;
    to->q.far_cpus += f->q.far_cpus;
    to->q.irq_off += f->q.irq_off;
    to->q.split_cores += f->q.split_cores;
    to->q.split_caches += f->q.split_caches;
    to->q.idle += f->q.idle;
    to->q.nodes = f->q.nodes > to->q.nodes ? f->q.nodes : to->q.nodes;
    to->refused += f->refused;
}

/* What turns promise and another rule does better without refusing more; NULL: nothing. In a
 * container the reference plans for the devices in view alone: fewer pools tell nothing. */
static const char *worse(const figures *near, const figures *other)
{
    if (near->refused != other->refused)
        return near->refused > other->refused ? "refused" : NULL;
    if (near->q.pools > other->q.pools)
        return NULL;
    if (near->q.split_cores > other->q.split_cores)
        return "cores split";
    return near->q.irq_off > other->q.irq_off ? "IRQ CPUs off their node" : NULL;
}

static void print_host(const char *name, const char *what, const figures *of, int32_t n_device,
                       sums *total)
{
    const char *bad = worse(&of[NEAR], &of[REFERENCE]);
    for (int32_t rule = 0; rule < N_RULES; rule++) {
        print_row(rule ? what : name, rule_names[rule], &of[rule]);
        add(&total->of[rule], &of[rule]);
    }
    if (bad)
        printf("  ! near is worse than the reference: %s\n", bad);
    total->n_worse += bad != NULL;
    total->n_wide += of[NEAR].q.nodes >= 3;
    total->n_host++;
    total->n_device += n_device;
}

static void print_sums(const char *what, const sums *total)
{
    char text[64];
    snprintf(text, sizeof text, "%d %s, %d devices", (int)total->n_host, what,
             (int)total->n_device);
    for (int32_t rule = 0; rule < N_RULES; rule++)
        print_row(rule ? "" : text, rule_names[rule], &total->of[rule]);
    printf(
        "pools of turns on three nodes or more: %d hosts; worse in what they promise: %d\n\n",
        (int)total->n_wide, (int)total->n_worse);
}

/* == Layouts ================================================================ */

/* The pools and roles of a layout by a rule. A pool below the minimum is none. */
static figures measure(const site *s, cpubind_rule rule)
{
    static int32_t owner[LAYOUT_CPUS], role[LAYOUT_CPUS];
    static int32_t work[CPUBIND_WORK(LAYOUT_CPUS, LAYOUT_NODES, LAYOUT_DEVICES)];
    const cpubind_policy policy = {.rule = rule};
    const cpubind_roles roles = {.count = {2, 1, 1, 1}, .by_id = rule != CPUBIND_RULE_TURNS};
    figures f = {.refused = 0};
    must(cpubind_plan(&s->host, s->device, s->n_device, &policy, owner, work, NULL) ==
             CPUBIND_OK,
         "cpubind_plan");
    for (int32_t d = 0; d < s->n_device; d++) {
        if (cpubind_place(&s->host, s->device, s->n_device, owner, d, &roles, role, work,
                          NULL) == CPUBIND_OK)
            continue;
        f.refused++;
        for (int32_t i = 0; i < s->host.n_cpu; i++)
            owner[i] = owner[i] == d ? CPUBIND_NONE : owner[i];
    }
    cpubind_measure(&s->host, s->device, s->n_device, owner, role, &f.q, NULL, work);
    return f;
}

static int32_t print_layouts(void)
{
    static site s;
    sums total;
    memset(&total, 0, sizeof total);
    heading("LAYOUTS");
    for (int32_t i = 0; i < n_layouts; i++) {
        const layout *row = &layouts[i];
        char what[96];
        figures of[N_RULES];
        int32_t n_home = 0;
        layout_build(row, &s);
        for (int32_t d = 0; d < s.n_device; d++)
            n_home += s.device[d].home.n;
        of[REFERENCE] = measure(&s, row->rule == 's' || n_home == 0 ? CPUBIND_RULE_SLICE
                                                                    : CPUBIND_RULE_AFFINITY);
        of[NEAR] = measure(&s, CPUBIND_RULE_TURNS);
        snprintf(what, sizeof what, "  %s%s%s", row->machine, row->allowed ? ", cpuset " : "",
                 row->allowed ? row->allowed : "");
        print_host(row->name, what, of, s.n_device, &total);
    }
    print_sums("layouts", &total);
    return total.n_worse;
}

/* == Fixture hosts ========================================================== */

#define ARENA ((size_t)64 << 20)

static cpubind_arena arena;

/* Plans a host by a rule; returns the problem. */
static cpubind_problem_code plan_host(const char *path, cpubind_rules rules, figures *out,
                                      cpubind_device_plan *plan)
{
    static cpubind_facts facts;
    const cpubind_request request = {.is_auto_strategy = 1, .rules = rules, .has_rules = 1};
    cpubind_linux_host *host = fixture_host(path);
    const cpubind_source source = cpubind_linux_source(host);
    cpubind_problem problem;
    cpubind_problem_code code;
    arena.used = 0;
    code = cpubind_facts_read(&source, &request, &arena, &facts, &problem);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_plan_make(&facts, &request, &arena, plan, &problem);
    must(code != CPUBIND_PROBLEM_NO_MEMORY, "an arena");
    cpubind_linux_close(host);
    memset(out, 0, sizeof *out);
    if (code == CPUBIND_PROBLEM_NONE) {
        out->q = plan->quality;
        out->refused = plan->n_poolless;
    } else {
        out->refused = 1000;
    }
    return code;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_host(const struct dirent *entry)
{
    return strstr(entry->d_name, ".host") != NULL;
}

/* Whether the CPUs near some device are known: else nothing is near, and nothing is far. */
static int has_homes(const cpubind_device_plan *plan)
{
    for (int32_t i = 0; i < plan->claims.n_claimant; i++)
        if (plan->claims.claimant[i].home.n > 0)
            return 1;
    return 0;
}

static int32_t print_fixtures(const char *folder)
{
    static cpubind_device_plan plan;
    struct dirent **entries;
    sums total;
    const int n = scandir(folder, &entries, is_host, by_bytes);
    must(n >= 0, folder);
    memset(&total, 0, sizeof total);
    arena.base = (char *)malloc(ARENA);
    arena.size = ARENA;
    must(arena.base != NULL, "malloc");
    heading("FIXTURE HOSTS");
    for (int i = 0; i < n; i++) {
        char path[1024], what[64];
        figures of[N_RULES];
        cpubind_problem_code code;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        (void)plan_host(path, CPUBIND_RULES_REFERENCE, &of[REFERENCE], &plan);
        code = plan_host(path, CPUBIND_RULES_NEAR, &of[NEAR], &plan);
        *strrchr(entries[i]->d_name, '.') = '\0';
        if (code == CPUBIND_PROBLEM_NONE && has_homes(&plan)) {
            snprintf(what, sizeof what, "  %d CPUs, %d nodes, %d devices", (int)plan.host.n_cpu,
                     (int)plan.host.n_node, (int)plan.n_candidate);
            print_host(entries[i]->d_name, what, of, plan.n_candidate, &total);
        }
        free(entries[i]);
    }
    free(entries);
    free(arena.base);
    print_sums("hosts", &total);
    return total.n_worse;
}

int main(int argc, char **argv)
{
    int32_t n_worse = print_layouts();
    if (argc > 1)
        n_worse += print_fixtures(argv[1]);
    return n_worse > 0;
}
