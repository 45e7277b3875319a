/* test_vectors.c - hosts with the plan that they must get, as data
 * SPDX-License-Identifier: MIT
 *
 * Reads every tests/vectors/plan-*.txt, and those of CPUBIND_SHARED/vectors when that folder is
 * there. The format is described at the head of tests/vectors/plan-a2.txt.
 */
#include <stdio.h>

#include <glob.h>

#include "../../adapters/cpubind_old.h"
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
    int32_t node_of[CPUBIND_MAX_CPUS];
    int32_t node_id[MAX_NODE], n_node;
    int32_t npu[MAX_DEVICE], n_npu;
    list affinity[MAX_DEVICE];
    int32_t has_running, has_visible, threads, skip, overlap;
    expected expect[MAX_DEVICE];
    int32_t n_expect;
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
        for (int32_t i = 0; i < cpus.n; i++)
            v->node_of[cpus.cpu[i]] = v->node_id[v->n_node];
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

static cpubind_policy policy_of(const vector *v, cpubind_overlap overlap)
{
    static const cpubind_role_spec full = {{2, 1, 1, 1}};
    static const cpubind_role_spec bare = {{0, 1, 0, 0}};
    cpubind_policy p;
    p.strategy = strcmp(v->type, "950") == 0  ? CPUBIND_CLUSTER
                 : strcmp(v->type, "a3") == 0 ? CPUBIND_GLOBAL_SLICE
                                              : CPUBIND_TOPO_AFFINITY;
    p.overlap = overlap;
    p.roles = p.strategy == CPUBIND_CLUSTER ? bare : full;
    p.cluster = 8 * (v->threads ? v->threads : 1);
    p.has_spare_node = 1;
    p.spare_node = 0;
    return p;
}

/* The arrays of a vector in exact-size buffers, and one plan of them. */
typedef struct attempt {
    int32_t *node, *aff, *row, *want, n_want;
    cpubind_plan plan;
    cpubind_fault fault;
    cpubind_status status;
} attempt;

static void fill_devices(const vector *v, attempt *a)
{
    int32_t n = 0;
    for (int32_t d = 0; d < v->n_npu; d++)
        n += v->affinity[d].n;
    a->aff = edge_ints(n);
    a->row = edge_ints(v->n_npu + 1);
    n = 0;
    a->row[0] = 0;
    for (int32_t d = 0; d < v->n_npu; d++) {
        for (int32_t i = 0; i < v->affinity[d].n; i++)
            a->aff[n++] = v->affinity[d].cpu[i];
        a->row[d + 1] = n;
    }
    a->want = edge_ints(v->n_npu);
    a->n_want = 0;
    for (int32_t d = 0; d < v->n_npu; d++)
        if (has(&v->running, v->npu[d]) && (!v->has_visible || has(&v->visible, v->npu[d])))
            a->want[a->n_want++] = d;
}

static attempt try(const vector *v, cpubind_overlap overlap)
{
    attempt a;
    cpubind_policy policy = policy_of(v, overlap);
    cpubind_host host = {v->allowed.cpu, NULL, v->node_id, v->allowed.n,
                         v->n_node,      NULL, NULL,       NULL};
    cpubind_devices devices = {{NULL, NULL, v->n_npu}, v->npu, v->n_npu, NULL,
                               {NULL, NULL, 0},        NULL};
    fill_devices(v, &a);
    a.node = edge_ints(v->allowed.n);
    for (int32_t i = 0; i < v->allowed.n; i++)
        a.node[i] = v->node_of[v->allowed.cpu[i]];
    host.node = a.node;
    devices.affinity.cpu = a.aff;
    devices.affinity.row = a.row;
    a.plan.trace = NULL;
    a.plan.want = a.want;
    a.plan.n_want = a.n_want;
    a.plan.cap_cpu = CPUBIND_PLAN_CPUS_KEEP(v->allowed.n, a.n_want);
    a.plan.cap_work = CPUBIND_PLAN_WORK(host.n_cpu, host.n_node, v->n_npu, a.row[v->n_npu]);
    a.plan.cpu = edge_ints(a.plan.cap_cpu);
    a.plan.row = edge_ints(a.n_want + 1);
    a.plan.work = edge_ints(a.plan.cap_work);
    a.status = CPUBIND_ERR_UNKNOWN;
    if (a.n_want > 0)
        a.status = cpubind_make_plan(&host, &devices, &policy, &a.plan, &a.fault);
    return a;
}

static void drop(attempt *a)
{
    free(a->node);
    free(a->aff);
    free(a->row);
    free(a->want);
    free(a->plan.cpu);
    free(a->plan.row);
    free(a->plan.work);
}

static void check_span(const vector *v, const int32_t *pool, cpubind_span span,
                       const list *expect)
{
    if (span.count != expect->n ||
        (expect->n > 0 &&
         memcmp(pool + span.first, expect->cpu, (size_t)expect->n * sizeof(int32_t)) != 0))
        fail_msg("%s: a pool or role is not as expected", v->name);
}

static void check_pools(const vector *v, const attempt *a)
{
    cpubind_policy policy = policy_of(v, CPUBIND_OVERLAP_KEEP);
    if (a->status != CPUBIND_OK || a->n_want != v->n_expect)
        fail_msg("%s: %s, %d of %d devices", v->name, cpubind_status_name(a->status), a->n_want,
                 v->n_expect);
    for (int32_t row = 0; row < a->n_want; row++) {
        const expected *e = &v->expect[row];
        const int32_t *pool = a->plan.cpu + a->plan.row[row];
        cpubind_span whole = {0, a->plan.row[row + 1] - a->plan.row[row]};
        cpubind_roles roles;
        assert_int_equal(v->npu[a->want[row]], e->npu);
        assert_int_equal(cpubind_split_roles(whole.count, &policy.roles, &roles, NULL),
                         CPUBIND_OK);
        check_span(v, pool, whole, &e->pool);
        check_span(v, pool, roles.span[CPUBIND_ROLE_IRQ], &e->irq);
        check_span(v, pool, roles.span[CPUBIND_ROLE_MAIN], &e->main);
        check_span(v, pool, roles.span[CPUBIND_ROLE_ACL], &e->acl);
        check_span(v, pool, roles.span[CPUBIND_ROLE_RELEASE], &e->release);
    }
}

/* The pools of this process share a CPU exactly where the vector says so. */
static void check_overlap(const vector *v, const attempt *a)
{
    assert_int_equal(lists_are_disjoint(a->plan.cpu, a->plan.row, a->n_want), !v->overlap);
    assert_true(!v->overlap || a->plan.overlap == CPUBIND_FOUND_PRESENT);
}

static void check_error(const vector *v, const attempt *a)
{
    const char *got = a->n_want == 0                     ? "no_running_npu"
                      : a->status == CPUBIND_ERR_EMPTY   ? "no_local_cpus"
                      : a->status == CPUBIND_ERR_TOO_FEW ? "too_few_cpus"
                      : a->status == CPUBIND_ERR_UNKNOWN ? "unknown_npu"
                                                         : "none";
    if (strcmp(got, v->error) != 0)
        fail_msg("%s: error %s, not %s", v->name, got, v->error);
}

static void check_vector(const vector *v)
{
    attempt keep = try(v, CPUBIND_OVERLAP_KEEP);
    if (v->skip) {
        int32_t odd = v->threads > 2;
        assert_true(odd || keep.status == CPUBIND_ERR_EMPTY ||
                    keep.status == CPUBIND_ERR_SPREAD || keep.status == CPUBIND_ERR_CLUSTERS);
    } else if (v->error[0]) {
        check_error(v, &keep);
    } else {
        attempt resolve = try(v, CPUBIND_OVERLAP_RESOLVE);
        check_pools(v, &keep);
        check_overlap(v, &keep);
        assert_true(resolve.status == CPUBIND_OK || resolve.status == CPUBIND_ERR_TOO_FEW);
        if (resolve.status == CPUBIND_OK)
            assert_true(lists_are_disjoint(resolve.plan.cpu, resolve.plan.row, resolve.n_want));
        if (keep.plan.overlap == CPUBIND_FOUND_NONE) {
            assert_int_equal(resolve.plan.n_cpu, keep.plan.n_cpu);
            assert_memory_equal(resolve.plan.cpu, keep.plan.cpu,
                                (size_t)keep.plan.n_cpu * sizeof(int32_t));
        }
        drop(&resolve);
    }
    drop(&keep);
}

static int32_t run_file(const char *path)
{
    static vector v;
    static char line[MAX_LINE];
    int32_t cases = 0;
    int32_t open = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        if (line[0] == '\0' && open) {
            check_vector(&v);
            cases++;
            open = 0;
        } else if (line[0] != '\0') {
            if (!open)
                memset(&v, 0, sizeof v);
            open = 1;
            read_line(&v, line);
        }
    }
    fclose(file);
    if (open) {
        check_vector(&v);
        cases++;
    }
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
