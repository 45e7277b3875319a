/* test_vectors.c - hosts with the plan that they must get, as data
 * SPDX-License-Identifier: MIT
 *
 * Reads every tests/vectors/plan-*.txt, and those of CPUBIND_SHARED/vectors when that folder is
 * there. The format is described at the head of tests/vectors/plan-a2.txt.
 */
#include <stdio.h>

#include <glob.h>

#include "../../cpubind.h"
#include "../support/exact_buffer.h"
#include "../support/lists.h"
#include "../support/test.h"

#define MAX_NODE   1024
#define MAX_DEVICE 64
#define MAX_CPU    8192
#define MAX_LINE   65536

typedef struct list {
    int32_t cpu[MAX_CPU], n;
} list;

typedef struct expected {
    int32_t npu;
    list pool, irq, main, acl, release;
} expected;

typedef struct vector {
    char name[64], type[8], error[32];
    list allowed, running, visible;
    int32_t node_of[CPUBIND_MAX_CPUS], is_online[CPUBIND_MAX_CPUS];
    int32_t node_id[MAX_NODE], n_node;
    int32_t npu[MAX_DEVICE], n_npu;
    int32_t has_running, has_visible, threads, skip, overlap, n_expect;
    list affinity[MAX_DEVICE]; /* from here on all is set when it is read */
    expected expect[MAX_DEVICE];
} vector;

/* Reads the list at *at, and moves *at past it and the blanks around it. */
static void read_list(const char **at, list *out)
{
    const char *start;
    *at += strspn(*at, " ");
    start = *at;
    assert_true(lists_read(&start, NULL) <= MAX_CPU);
    out->n = lists_read(at, out->cpu);
    *at += strspn(*at, " ");
}

static int32_t read_number(const char **at)
{
    char *end;
    long n = strtol(*at, &end, 10);
    assert_ptr_not_equal(end, *at);
    *at = end + strspn(end, " ");
    return (int32_t)n;
}

/* Whether the line starts with `word`; moves *at past it. */
static int32_t is_word(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || ((*at)[n] != ' ' && (*at)[n] != '\0'))
        return 0;
    *at += n;
    while (**at == ' ')
        ++*at;
    return 1;
}

static void read_expect(vector *v, const char *at)
{
    if (is_word(&at, "error")) {
        snprintf(v->error, sizeof v->error, "%s", at);
    } else if (is_word(&at, "skip")) {
        v->skip = 1;
    } else {
        expected *e = &v->expect[v->n_expect++];
        assert_true(is_word(&at, "npu"));
        e->npu = read_number(&at);
        assert_true(is_word(&at, "pool"));
        read_list(&at, &e->pool);
        assert_true(is_word(&at, "irq"));
        read_list(&at, &e->irq);
        assert_true(is_word(&at, "main"));
        read_list(&at, &e->main);
        assert_true(is_word(&at, "acl"));
        read_list(&at, &e->acl);
        assert_true(is_word(&at, "release"));
        read_list(&at, &e->release);
    }
}

static void read_line(vector *v, const char *at)
{
    if (is_word(&at, "host")) {
        snprintf(v->name, sizeof v->name, "%.63s", at);
    } else if (is_word(&at, "type")) {
        snprintf(v->type, sizeof v->type, "%.7s", at);
    } else if (is_word(&at, "allowed")) {
        read_list(&at, &v->allowed);
    } else if (is_word(&at, "node")) {
        list cpus;
        v->node_id[v->n_node] = read_number(&at);
        read_list(&at, &cpus);
        for (int32_t i = 0; i < cpus.n; i++) {
            v->node_of[cpus.cpu[i]] = v->node_id[v->n_node];
            v->is_online[cpus.cpu[i]] = 1;
        }
        v->n_node++;
    } else if (is_word(&at, "npu")) {
        v->npu[v->n_npu] = read_number(&at);
        read_list(&at, &v->affinity[v->n_npu++]);
    } else if (is_word(&at, "running")) {
        v->has_running = 1;
        read_list(&at, &v->running);
    } else if (is_word(&at, "visible")) {
        v->has_visible = 1;
        read_list(&at, &v->visible);
    } else if (is_word(&at, "threads_per_core")) {
        v->threads = read_number(&at);
    } else if (is_word(&at, "expect")) {
        read_expect(v, at);
    } else if (is_word(&at, "overlap")) {
        v->overlap = 1;
    } else {
        fail_msg("%s: unknown line \"%s\"", v->name, at);
    }
}

static int32_t has(const list *l, int32_t value)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->cpu[i] == value)
            return 1;
    return 0;
}

static int32_t has_npu(const vector *v, int32_t id)
{
    for (int32_t d = 0; d < v->n_npu; d++)
        if (v->npu[d] == id)
            return 1;
    return 0;
}

/* Slices are for the A3, and where no affinity is known. */
static int32_t is_slice(const vector *v)
{
    int32_t n = 0;
    for (int32_t d = 0; d < v->n_npu; d++)
        n += v->affinity[d].n;
    return strcmp(v->type, "a3") == 0 || n == 0;
}

static cpubind_policy policy_of(const vector *v, cpubind_overlap overlap)
{
    const cpubind_policy p = {.rule = strcmp(v->type, "950") == 0 ? CPUBIND_RULE_CLUSTER
                                      : is_slice(v)               ? CPUBIND_RULE_SLICE
                                                                  : CPUBIND_RULE_AFFINITY,
                              .overlap = overlap,
                              .cluster = 8 * (v->threads ? v->threads : 1),
                              .n_spare = 1};
    return p;
}

static cpubind_roles roles_of(const vector *v)
{
    const cpubind_roles full = {.count = {2, 1, 1, 1}, .by_id = 1};
    const cpubind_roles bare = {.count = {0, 1, 0, 0}, .by_id = 1};
    return strcmp(v->type, "950") == 0 ? bare : full;
}

static int32_t is_ours(const vector *v, int32_t d)
{
    return has(&v->running, v->npu[d]) && (!v->has_visible || has(&v->visible, v->npu[d]));
}

/* One plan of a vector, in buffers of exact sizes: of all CPUs of its nodes, of which some are
 * allowed; with KEEP of one device, the others hidden. */
typedef struct attempt {
    int32_t *cpu, *node, *owner, *role, *work;
    cpubind_host host;
    cpubind_device device[MAX_DEVICE];
} attempt;

static attempt start(const vector *v)
{
    attempt a;
    int32_t n = 0;
    memset(&a, 0, sizeof a);
    for (int32_t i = 0; i < CPUBIND_MAX_CPUS; i++)
        n += v->is_online[i] != 0;
    a.cpu = edge_ints(n);
    a.node = edge_ints(n);
    for (int32_t i = 0; i < CPUBIND_MAX_CPUS; i++) {
        if (!v->is_online[i])
            continue;
        a.cpu[a.host.n_cpu] = i;
        a.node[a.host.n_cpu++] = v->node_of[i];
    }
    a.host.cpu = a.cpu;
    a.host.node = a.node;
    a.host.n_node = v->node_id[v->n_node - 1] + 1;
    a.owner = edge_ints(a.host.n_cpu);
    a.role = edge_ints(a.host.n_cpu);
    a.work = edge_ints(CPUBIND_WORK(a.host.n_cpu, a.host.n_node, v->n_npu));
    for (int32_t d = 0; d < v->n_npu; d++)
        a.device[d] = (cpubind_device){.home = {v->affinity[d].cpu, v->affinity[d].n},
                                       .allowed = {v->allowed.cpu, v->allowed.n},
                                       .is_hidden = !is_ours(v, d)};
    return a;
}

static void end(attempt *a)
{
    free(a->cpu);
    free(a->node);
    free(a->owner);
    free(a->role);
    free(a->work);
}

static void plan(const vector *v, attempt *a, cpubind_overlap overlap)
{
    const cpubind_policy policy = policy_of(v, overlap);
    assert_int_equal(
        cpubind_plan(&a->host, a->device, v->n_npu, &policy, a->owner, a->work, NULL),
        CPUBIND_OK);
}

static void check_list(const vector *v, const attempt *a, int32_t d, int32_t role,
                       const list *want)
{
    int32_t n = 0, is_good = 1;
    for (int32_t i = 0; i < a->host.n_cpu; i++) {
        if (a->owner[i] != d || (role >= 0 && a->role[i] != role))
            continue;
        is_good &= n < want->n && want->cpu[n] == a->cpu[i];
        n++;
    }
    if (!is_good || n != want->n)
        fail_msg("%s: npu %d, %s is not as expected", v->name, (int)v->npu[d],
                 role < 0 ? "its pool" : cpubind_role_word(role));
}

/* The plan of one device that is ours, as the reference would have it; what is wrong with it,
 * or NULL. */
static const char *plan_one(const vector *v, attempt *a, int32_t d)
{
    const cpubind_roles roles = roles_of(v);
    int32_t n_home = 0;
    for (int32_t e = 0; e < v->n_npu; e++)
        a->device[e].is_hidden = e != d;
    plan(v, a, CPUBIND_OVERLAP_KEEP);
    for (int32_t i = 0; i < v->affinity[d].n; i++)
        n_home += has(&v->allowed, v->affinity[d].cpu[i]);
    if (n_home == 0 && !is_slice(v))
        return "no_local_cpus";
    if (is_slice(v) && v->allowed.n / v->n_npu < 5) /* the smallest slice counts */
        return "too_few_cpus";
    if (cpubind_place(&a->host, a->device, v->n_npu, a->owner, d, &roles, a->role, a->work,
                      NULL) != CPUBIND_OK)
        return "too_few_cpus";
    return NULL;
}

static void check_pools(const vector *v, attempt *a)
{
    int32_t n = 0;
    for (int32_t d = 0; d < v->n_npu; d++) {
        const expected *e = &v->expect[n];
        if (!is_ours(v, d))
            continue;
        assert_int_equal(e->npu, v->npu[d]);
        assert_null(plan_one(v, a, d));
        check_list(v, a, d, CPUBIND_NONE, &e->pool);
        check_list(v, a, d, CPUBIND_ROLE_IRQ, &e->irq);
        check_list(v, a, d, CPUBIND_ROLE_MAIN, &e->main);
        check_list(v, a, d, CPUBIND_ROLE_ACL, &e->acl);
        check_list(v, a, d, CPUBIND_ROLE_RELEASE, &e->release);
        n++;
    }
    assert_int_equal(n, v->n_expect);
}

/* Without an overlap among all, RESOLVE is the same. */
static void check_resolved(const vector *v, attempt *a)
{
    const cpubind_policy policy = policy_of(v, CPUBIND_OVERLAP_RESOLVE);
    cpubind_report r;
    int32_t n = 0;
    assert_int_equal(
        cpubind_plan(&a->host, a->device, v->n_npu, &policy, a->owner, a->work, &r),
        CPUBIND_OK);
    assert_true(!v->overlap || r.cpu >= 0);
    for (int32_t d = 0; d < v->n_npu && r.cpu < 0; d++)
        if (is_ours(v, d))
            check_list(v, a, d, CPUBIND_NONE, &v->expect[n++].pool);
}

static void check_error(const vector *v, attempt *a)
{
    const char *got = "no_running_npu";
    for (int32_t d = v->n_npu - 1; d >= 0; d--) {
        const char *one = is_ours(v, d) ? plan_one(v, a, d) : NULL;
        if (one && strcmp(got, "no_local_cpus") != 0)
            got = one;
    }
    for (int32_t i = 0; i < v->running.n; i++)
        if (!has_npu(v, v->running.cpu[i]))
            got = "unknown_npu";
    if (strcmp(got, v->error) != 0)
        fail_msg("%s: error %s, not %s", v->name, got, v->error);
}

/* One of ours has no pool; or it is a host on which the command asks for no plan. */
static void check_skipped(const vector *v, attempt *a)
{
    int32_t size[MAX_DEVICE] = {0}, has_all = 1;
    plan(v, a, CPUBIND_OVERLAP_KEEP);
    for (int32_t i = 0; i < a->host.n_cpu; i++)
        if (a->owner[i] >= 0)
            size[a->owner[i]]++;
    for (int32_t d = 0; d < v->n_npu; d++)
        has_all &= size[d] > 0 || !is_ours(v, d);
    if (has_all && v->threads <= 2)
        fail_msg("%s: all have pools", v->name);
}

static void check_vector(const vector *v)
{
    attempt a = start(v);
    if (v->skip)
        check_skipped(v, &a);
    else if (v->error[0])
        check_error(v, &a);
    else {
        check_pools(v, &a);
        check_resolved(v, &a);
    }
    end(&a);
}

static int32_t run_file(const char *path)
{
    vector *v = (vector *)malloc(sizeof *v);
    static char line[MAX_LINE];
    int32_t cases = 0;
    int32_t open = 0;
    FILE *file = fopen(path, "r");
    assert_true(file && v);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        if (line[0] == '\0' && open) {
            check_vector(v);
            cases++;
            open = 0;
        } else if (line[0] != '\0') {
            if (!open)
                memset(v, 0, offsetof(vector, affinity));
            open = 1;
            read_line(v, line);
        }
    }
    fclose(file);
    if (open) {
        check_vector(v);
        cases++;
    }
    free(v);
    return cases;
}

static int32_t run_folder(const char *folder)
{
    char pattern[4096];
    glob_t found;
    int32_t cases = 0;
    snprintf(pattern, sizeof pattern, "%s/plan-*.txt", folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        cases += run_file(found.gl_pathv[i]);
    globfree(&found);
    print_message("%s: %d vectors\n", folder, cases);
    return cases;
}

TEST(the_projects_vectors_hold)
{
    const char *tests = getenv("CPUBIND_TESTS");
    char folder[2048];
    snprintf(folder, sizeof folder, "%.2000s/vectors", tests ? tests : "tests");
    assert_true(run_folder(folder) >= 200);
}

TEST(the_references_vectors_hold)
{
    const char *shared = getenv("CPUBIND_SHARED");
    char folder[2048];
    int32_t cases;
    snprintf(folder, sizeof folder, "%.2000s/vectors", shared ? shared : "../shared");
    cases = run_folder(folder);
    if (cases == 0)
        skip();
    assert_true(cases >= 2000);
}

TEST_FILE(NULL, NULL)
