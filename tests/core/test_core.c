/* test_core.c - every public function of cpubind.h, contract by contract
 * SPDX-License-Identifier: MIT
 *
 * Hosts are written as text: lists are separated by blanks, "-" is an empty one, so that
 * "0-23 24-47 -" are three. Every array that the core sees is an allocation of its own of the
 * exact size. CPUBIND_TESTS is the folder tests/ (default "tests").
 */
#include <stdio.h>

#include "../../cpubind.h"
#include "../support/cmocka_test.h"
#include "../support/exact_buffer.h"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

static const cpubind_role_spec FIVE = {{2, 1, 1, 1}};
static const cpubind_role_spec ONE = {{0, 1, 0, 0}};
static const cpubind_role_spec NONE = {{0, 0, 0, 0}};

/* == Lists as text ========================================================== */

/* The numbers of one list; *at then stands behind it. Counts only when out is NULL. */
static int32_t read_list(const char **at, int32_t *out)
{
    int32_t n = 0;
    if (**at == '-')
        ++*at;
    while (**at >= '0' && **at <= '9') {
        char *end;
        long first = strtol(*at, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long i = first; i <= last; i++, n++)
            if (out)
                out[n] = (int32_t)i;
        *at = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* One list in a buffer of its exact size. */
static int32_t *new_list(const char *text, int32_t *out_n)
{
    const char *at = text;
    int32_t *list = edge_ints(*out_n = read_list(&at, NULL));
    at = text;
    (void)read_list(&at, list);
    return list;
}

/* All lists of a text, in two buffers of their exact size. */
typedef struct lists {
    int32_t *cpu, *row, n;
} lists;

static lists new_lists(const char *text)
{
    lists l = {NULL, NULL, 0};
    const char *at = text;
    int32_t total = 0;
    for (; *at; at += *at == ' ', l.n++)
        total += read_list(&at, NULL);
    l.cpu = edge_ints(total);
    l.row = edge_ints(l.n + 1);
    l.row[0] = 0;
    at = text;
    for (int32_t i = 0; i < l.n; i++, at += *at == ' ')
        l.row[i + 1] = l.row[i] + read_list(&at, l.cpu + l.row[i]);
    return l;
}

static void free_lists(lists *l)
{
    free(l->cpu);
    free(l->row);
}

/* A list as text, behind what is in `text` already. */
static void write_list(const int32_t *cpu, int32_t n, char *text, size_t size)
{
    if (n == 0)
        snprintf(text + strlen(text), size - strlen(text), "-");
    for (int32_t i = 0; i < n; i++) {
        int32_t first = cpu[i];
        while (i + 1 < n && cpu[i + 1] == cpu[i] + 1)
            i++;
        snprintf(text + strlen(text), size - strlen(text), first == cpu[i] ? "%s%d" : "%s%d-%d",
                 *text && text[strlen(text) - 1] != ' ' ? "," : "", first, cpu[i]);
    }
}

static void assert_list(const int32_t *cpu, int32_t n, const char *expect)
{
    char text[4096] = "";
    write_list(cpu, n, text, sizeof text);
    assert_string_equal(text, expect);
}

/* "0-47 48-95 ...": n lists of `size` numbers. */
static const char *blocks(int32_t n, int32_t size)
{
    static char text[4096];
    text[0] = '\0';
    for (int32_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d-%d", i ? " " : "",
                 i * size, (i + 1) * size - 1);
    return text;
}

/* == Spans ================================================================== */

static void assert_span(cpubind_span span, int32_t first, int32_t count)
{
    assert_int_equal(span.first, first);
    assert_int_equal(span.count, count);
}

TEST(share_spreads_the_remainder_over_the_first_parts)
{
    static const int32_t expect[][2] = {{0, 3}, {3, 3}, {6, 2}, {8, 2}};
    for (int32_t i = 0; i < 4; i++) {
        cpubind_span s;
        assert_int_equal(cpubind_share(10, 4, i, CPUBIND_REMAINDER_SPREAD, &s), CPUBIND_OK);
        assert_span(s, expect[i][0], expect[i][1]);
    }
}

TEST(share_gives_the_remainder_to_the_last_part)
{
    static const int32_t expect[][2] = {{0, 2}, {2, 2}, {4, 2}, {6, 4}};
    for (int32_t i = 0; i < 4; i++) {
        cpubind_span s;
        assert_int_equal(cpubind_share(10, 4, i, CPUBIND_REMAINDER_LAST, &s), CPUBIND_OK);
        assert_span(s, expect[i][0], expect[i][1]);
    }
}

TEST(share_takes_its_whole_range)
{
    const int32_t most = CPUBIND_MAX_CPUS;
    const int32_t parts = CPUBIND_MAX_DEVICES;
    cpubind_span s;
    assert_int_equal(cpubind_share(0, 1, 0, CPUBIND_REMAINDER_SPREAD, &s), CPUBIND_OK);
    assert_span(s, 0, 0);
    assert_int_equal(cpubind_share(3, 8, 7, CPUBIND_REMAINDER_SPREAD, &s), CPUBIND_OK);
    assert_span(s, 3, 0);
    assert_int_equal(cpubind_share(3, 8, 7, CPUBIND_REMAINDER_LAST, &s), CPUBIND_OK);
    assert_span(s, 0, 3);
    assert_int_equal(cpubind_share(most, 1, 0, CPUBIND_REMAINDER_LAST, &s), CPUBIND_OK);
    assert_span(s, 0, most);
    assert_int_equal(cpubind_share(most, parts, parts - 1, CPUBIND_REMAINDER_SPREAD, &s),
                     CPUBIND_OK);
    assert_span(s, most - 16, 16);
}

TEST(share_refuses_what_is_out_of_range_and_writes_nothing)
{
    static const struct {
        int32_t total, parts, index, rule;
    } bad[] = {
        {-1, 1, 0, 0},
        {CPUBIND_MAX_CPUS + 1, 1, 0, 0},
        {8, 0, 0, 0},
        {8, -1, 0, 0},
        {8, CPUBIND_MAX_DEVICES + 1, 0, 0},
        {8, 2, -1, 0},
        {8, 2, 2, 0},
        {8, 2, 0, 2},
        {8, 2, 0, -1},
        {8, 2, 2, 1},
        {INT32_MIN, 1, 0, 0},
        {INT32_MAX, INT32_MAX, 0, 0},
    };
    cpubind_span s;
    for (int32_t i = 0; i < COUNT(bad); i++) {
        memset(&s, EDGE_FILL, sizeof s);
        assert_int_equal(cpubind_share(bad[i].total, bad[i].parts, bad[i].index,
                                       (cpubind_remainder)bad[i].rule, &s),
                         CPUBIND_ERR_ARG);
        assert_true(edge_untouched(&s.first, 0) && edge_untouched(&s.count, 0));
    }
    assert_int_equal(cpubind_share(8, 2, 0, CPUBIND_REMAINDER_SPREAD, NULL), CPUBIND_ERR_ARG);
}

static void assert_roles(const cpubind_roles *r, int32_t irq, int32_t rest, int32_t acl,
                         int32_t release)
{
    assert_span(r->span[CPUBIND_ROLE_IRQ], 0, irq);
    assert_span(r->span[CPUBIND_ROLE_MAIN], irq, rest);
    assert_span(r->span[CPUBIND_ROLE_ACL], irq + rest, acl);
    assert_span(r->span[CPUBIND_ROLE_RELEASE], irq + rest + acl, release);
}

TEST(roles_tile_the_pool_and_main_takes_what_is_left)
{
    static const cpubind_role_spec no_irq = {{0, 1, 1, 1}};
    static const cpubind_role_spec uneven = {{3, 0, 2, 4}};
    static const cpubind_role_spec whole = {{CPUBIND_MAX_CPUS, 0, 0, 0}};
    cpubind_roles r;
    assert_int_equal(cpubind_split_roles(40, &FIVE, &r), CPUBIND_OK);
    assert_roles(&r, 2, 36, 1, 1);
    assert_int_equal(cpubind_split_roles(40, &no_irq, &r), CPUBIND_OK);
    assert_roles(&r, 0, 38, 1, 1);
    assert_int_equal(cpubind_split_roles(8, &ONE, &r), CPUBIND_OK);
    assert_roles(&r, 0, 8, 0, 0);
    assert_int_equal(cpubind_split_roles(12, &uneven, &r), CPUBIND_OK);
    assert_roles(&r, 3, 3, 2, 4);
    assert_int_equal(cpubind_split_roles(0, &NONE, &r), CPUBIND_OK);
    assert_roles(&r, 0, 0, 0, 0);
    assert_int_equal(cpubind_split_roles(CPUBIND_MAX_CPUS, &whole, &r), CPUBIND_OK);
    assert_roles(&r, CPUBIND_MAX_CPUS, 0, 0, 0);
}

TEST(a_pool_of_the_least_size_is_enough_and_one_less_is_not)
{
    static const cpubind_role_spec huge = {
        {CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS}};
    int32_t *r = edge_ints(8);
    cpubind_roles *roles = (cpubind_roles *)(void *)r;
    assert_int_equal(cpubind_split_roles(4, &FIVE, roles), CPUBIND_ERR_TOO_FEW);
    assert_int_equal(cpubind_split_roles(0, &ONE, roles), CPUBIND_ERR_TOO_FEW);
    assert_int_equal(cpubind_split_roles(CPUBIND_MAX_CPUS, &huge, roles), CPUBIND_ERR_TOO_FEW);
    for (int32_t i = 0; i < 8; i++)
        assert_true(edge_untouched(r, i));
    assert_int_equal(cpubind_split_roles(5, &FIVE, roles), CPUBIND_OK);
    assert_roles(roles, 2, 1, 1, 1);
    free(r);
}

TEST(role_arguments_out_of_range_are_refused_and_nothing_is_written)
{
    static const cpubind_role_spec bad[] = {
        {{-1, 1, 1, 1}},
        {{2, -1, 1, 1}},
        {{2, 1, -1, 1}},
        {{2, 1, 1, -1}},
        {{CPUBIND_MAX_CPUS + 1, 0, 0, 0}},
        {{0, INT32_MAX, 0, 0}},
        {{0, 0, INT32_MAX, 1}},
        {{0, 0, 1, INT32_MAX}},
    };
    int32_t *r = edge_ints(8);
    cpubind_roles *roles = (cpubind_roles *)(void *)r;
    for (int32_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(cpubind_split_roles(40, &bad[i], roles), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_split_roles(-1, &FIVE, roles), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_split_roles(CPUBIND_MAX_CPUS + 1, &FIVE, roles), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_split_roles(40, NULL, roles), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_split_roles(40, &FIVE, NULL), CPUBIND_ERR_ARG);
    for (int32_t i = 0; i < 8; i++)
        assert_true(edge_untouched(r, i));
    free(r);
}

/* == sort_unique ============================================================ */

static void check_sorted(const char *text, const char *expect)
{
    int32_t n;
    int32_t *cpu = new_list(text, &n);
    assert_int_equal(cpubind_sort_unique(cpu, &n), CPUBIND_OK);
    assert_list(cpu, n, expect);
    free(cpu);
}

TEST(sort_unique_sorts_and_drops_repeats)
{
    check_sorted("-", "-");
    check_sorted("7", "7");
    check_sorted("7,7", "7");
    check_sorted("0-9", "0-9");
    check_sorted("9,8,7,6,5,4,3,2,1,0", "0-9");
    check_sorted("5,1,5,1,5,1", "1,5");
    check_sorted("0,0,1", "0-1");
    check_sorted("65535,0,65535", "0,65535");
    check_sorted("40-79,0-39,20-59", "0-79");
}

TEST(sort_unique_takes_65536_elements)
{
    const int32_t most = CPUBIND_MAX_CPUS;
    int32_t *cpu = edge_ints(most);
    int32_t n = most;
    for (int32_t i = 0; i < most; i++)
        cpu[i] = (int32_t)((uint32_t)i * 40503u % 65536u); /* odd factor: each number once */
    assert_int_equal(cpubind_sort_unique(cpu, &n), CPUBIND_OK);
    assert_int_equal(n, most);
    for (int32_t i = 0; i < most; i++)
        assert_int_equal(cpu[i], i);
    for (int32_t i = 0; i < most; i++)
        cpu[i] = (most - 1 - i) / 4;
    assert_int_equal(cpubind_sort_unique(cpu, &n), CPUBIND_OK);
    assert_int_equal(n, most / 4);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(cpu[i], i);
    free(cpu);
}

TEST(sort_unique_refuses_what_is_out_of_range_and_changes_nothing)
{
    static const int32_t outside[] = {-1, CPUBIND_MAX_CPUS, INT32_MIN, INT32_MAX};
    static const int32_t lengths[] = {-1, CPUBIND_MAX_CPUS + 1, INT32_MIN};
    int32_t n = 0;
    for (int32_t i = 0; i < COUNT(outside); i++) {
        int32_t *cpu = new_list("9,3,3,0", &n);
        cpu[3] = outside[i];
        assert_int_equal(cpubind_sort_unique(cpu, &n), CPUBIND_ERR_ARG);
        assert_int_equal(n, 4);
        assert_list(cpu, 3, "9,3,3");
        assert_int_equal(cpu[3], outside[i]);
        free(cpu);
    }
    for (int32_t i = 0; i < COUNT(lengths); i++) {
        int32_t cpu = 7;
        n = lengths[i];
        assert_int_equal(cpubind_sort_unique(&cpu, &n), CPUBIND_ERR_ARG);
        assert_int_equal(n, lengths[i]);
    }
    n = 1;
    assert_int_equal(cpubind_sort_unique(NULL, &n), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_sort_unique(&n, NULL), CPUBIND_ERR_ARG);
    n = 0;
    assert_int_equal(cpubind_sort_unique(NULL, &n), CPUBIND_OK);
    assert_int_equal(n, 0);
}

/* == intersect ============================================================== */

/* The answer in a new buffer, and into each of the arguments. */
static void check_intersect(const char *a_text, const char *b_text, const char *expect)
{
    for (int32_t into = 0; into < 3; into++) {
        int32_t na, nb, n, length = -7;
        int32_t *a = new_list(a_text, &na);
        int32_t *b = new_list(b_text, &nb);
        int32_t *expected = new_list(expect, &n);
        int32_t *fresh = edge_ints(n);
        int32_t *out = into == 0 ? fresh : into == 1 ? a : b;
        cpubind_status status = cpubind_intersect(a, na, b, nb, NULL, 0, &length);
        assert_int_equal(status, n > 0 ? CPUBIND_ERR_SPACE : CPUBIND_OK);
        assert_int_equal(length, n);
        assert_int_equal(cpubind_intersect(a, na, b, nb, out, n, &length), CPUBIND_OK);
        assert_int_equal(length, n);
        assert_list(out, length, expect);
        free(a);
        free(b);
        free(expected);
        free(fresh);
    }
}

TEST(intersect_gives_what_both_lists_have_also_into_one_of_them)
{
    check_intersect("-", "-", "-");
    check_intersect("-", "0-3", "-");
    check_intersect("0-3", "-", "-");
    check_intersect("0-3", "4-7", "-");
    check_intersect("0-3", "0-3", "0-3");
    check_intersect("0-9", "5-14", "5-9");
    check_intersect("5-14", "0-9", "5-9");
    check_intersect("0,2,4,6,8", "1,3,5,7,9", "-");
    check_intersect("0-99", "3,50,99", "3,50,99");
    check_intersect("3,50,99", "0-99", "3,50,99");
    check_intersect("0-1,10-11,20-40", "1-10,19-21,39-50", "1,10,20-21,39-40");
    check_intersect("0,65535", "1,65535", "65535");
}

TEST(intersect_asks_for_space_and_leaves_the_buffer)
{
    int32_t na, nb, n = -7;
    int32_t *a = new_list("0-9", &na);
    int32_t *b = new_list("5-14", &nb);
    int32_t *out = edge_ints(4);
    assert_int_equal(cpubind_intersect(a, na, b, nb, out, 4, &n), CPUBIND_ERR_SPACE);
    assert_int_equal(n, 5);
    for (int32_t i = 0; i < 4; i++)
        assert_true(edge_untouched(out, i));
    free(a);
    free(b);
    free(out);
}

TEST(intersect_refuses_bad_arguments_and_writes_nothing)
{
    const int32_t good[] = {0, 1, 2};
    const int32_t equal[] = {0, 1, 1};
    const int32_t falling[] = {0, 2, 1};
    const int32_t negative[] = {-1, 0, 1};
    const int32_t high[] = {0, 1, CPUBIND_MAX_CPUS};
    int32_t out[3], n;
    struct {
        const int32_t *a;
        int32_t na;
        const int32_t *b;
        int32_t nb;
        int32_t *out;
        int32_t cap;
        int32_t *out_n;
        cpubind_status expect;
    } bad[] = {
        {equal, 3, good, 3, out, 3, &n, CPUBIND_ERR_ORDER},
        {good, 3, equal, 3, out, 3, &n, CPUBIND_ERR_ORDER},
        {falling, 3, good, 3, out, 3, &n, CPUBIND_ERR_ORDER},
        {good, 3, falling, 3, out, 3, &n, CPUBIND_ERR_ORDER},
        {negative, 3, good, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, negative, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {high, 3, good, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, high, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {NULL, 3, good, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, NULL, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {good, -1, good, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, good, -1, out, 3, &n, CPUBIND_ERR_ARG},
        {good, CPUBIND_MAX_CPUS + 1, good, 3, out, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, good, CPUBIND_MAX_CPUS + 1, out, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, good, 3, NULL, 3, &n, CPUBIND_ERR_ARG},
        {good, 3, good, 3, out, -1, &n, CPUBIND_ERR_ARG},
        {good, 3, good, 3, out, 3, NULL, CPUBIND_ERR_ARG},
    };
    memset(out, EDGE_FILL, sizeof out);
    memset(&n, EDGE_FILL, sizeof n);
    for (int32_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(cpubind_intersect(bad[i].a, bad[i].na, bad[i].b, bad[i].nb, bad[i].out,
                                           bad[i].cap, bad[i].out_n),
                         bad[i].expect);
        assert_true(edge_untouched(&n, 0));
        for (int32_t k = 0; k < 3; k++)
            assert_true(edge_untouched(out, k));
    }
}

/* == A host, its devices and a plan, from text ============================== */

typedef struct rig {
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    cpubind_plan plan;
    cpubind_fault fault;
    cpubind_status status;
    int32_t *cpu, *node, *node_id;
    lists affinity;
} rig;

/* node_cpu: one list for each number of node_id. affinity: one list a device, or "". A CPU in
 * no list is on node -1. */
static rig rig_open(const char *allowed, const char *node_id, const char *node_cpu,
                    const char *affinity)
{
    rig r;
    lists nodes = new_lists(node_cpu);
    memset(&r, 0, sizeof r);
    r.cpu = new_list(allowed, &r.host.n_cpu);
    r.node = edge_ints(r.host.n_cpu);
    r.node_id = new_list(node_id, &r.host.n_node);
    assert_int_equal(nodes.n, r.host.n_node);
    for (int32_t i = 0; i < r.host.n_cpu; i++) {
        r.node[i] = -1;
        for (int32_t k = 0; k < nodes.n; k++)
            for (int32_t j = nodes.row[k]; j < nodes.row[k + 1]; j++)
                if (nodes.cpu[j] == r.cpu[i])
                    r.node[i] = r.node_id[k];
    }
    free_lists(&nodes);
    r.affinity = new_lists(affinity);
    r.host.cpu = r.cpu;
    r.host.node = r.node;
    r.host.node_id = r.node_id;
    r.devices.affinity.cpu = r.affinity.cpu;
    r.devices.affinity.row = r.affinity.row;
    r.devices.affinity.n = r.affinity.n;
    r.policy.strategy = CPUBIND_TOPO_AFFINITY;
    r.policy.overlap = CPUBIND_OVERLAP_RESOLVE;
    r.policy.roles = FIVE;
    r.policy.cluster = 8;
    r.policy.spare_node = -1;
    return r;
}

static void rig_drop_plan(rig *r)
{
    free(r->plan.cpu);
    free(r->plan.row);
    free(r->plan.work);
    memset(&r->plan, 0, sizeof r->plan);
}

static void rig_close(rig *r)
{
    rig_drop_plan(r);
    free(r->cpu);
    free(r->node);
    free(r->node_id);
    free_lists(&r->affinity);
}

/* Plan for the devices in `want` (NULL: all) with buffers of exactly these sizes. */
static void rig_plan_into(rig *r, const char *want, int32_t cap_cpu, int32_t cap_work)
{
    int32_t n_want = r->devices.affinity.n;
    int32_t *list = want ? new_list(want, &n_want) : NULL;
    rig_drop_plan(r);
    memset(&r->plan, EDGE_FILL, sizeof r->plan);
    memset(&r->fault, EDGE_FILL, sizeof r->fault);
    r->plan.cap_cpu = cap_cpu;
    r->plan.cap_work = cap_work;
    r->plan.cpu = edge_ints(cap_cpu);
    r->plan.row = edge_ints(n_want + 1);
    r->plan.work = edge_ints(cap_work);
    r->status =
        cpubind_make_plan(&r->host, &r->devices, &r->policy, list, n_want, &r->plan, &r->fault);
    free(list);
}

static int32_t rig_work(const rig *r)
{
    return CPUBIND_PLAN_WORK(r->host.n_cpu, r->host.n_node, r->devices.affinity.n,
                             r->devices.affinity.row ? r->affinity.row[r->affinity.n] : 0);
}

/* ... with buffers that the macros of the header call enough. */
static void rig_plan(rig *r, const char *want)
{
    int32_t n = r->host.n_cpu;
    if (r->policy.overlap == CPUBIND_OVERLAP_KEEP)
        n = CPUBIND_PLAN_CPUS_KEEP(n, r->devices.affinity.n);
    rig_plan_into(r, want, n, rig_work(r));
}

/* The rows of the plan are these lists. */
static void assert_pools(const rig *r, int32_t n, const char *expect)
{
    char text[4096] = "";
    assert_int_equal(r->status, CPUBIND_OK);
    assert_int_equal(r->plan.row[0], 0);
    assert_int_equal(r->plan.row[n], r->plan.n_cpu);
    for (int32_t i = 0; i < n; i++) {
        if (i > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), " ");
        write_list(r->plan.cpu + r->plan.row[i], r->plan.row[i + 1] - r->plan.row[i], text,
                   sizeof text);
    }
    assert_string_equal(text, expect);
}

static void assert_fault(const rig *r, cpubind_status status, int32_t device, int32_t need,
                         int32_t have)
{
    assert_int_equal(r->status, status);
    assert_int_equal(r->fault.device, device);
    assert_int_equal(r->fault.need, need);
    assert_int_equal(r->fault.have, have);
}

/* Whatever went wrong, these fields are as they were. */
static void assert_no_answer(const rig *r)
{
    int32_t strategy = (int32_t)r->plan.strategy;
    int32_t overlap = (int32_t)r->plan.overlap;
    assert_true(edge_untouched(&strategy, 0));
    assert_true(edge_untouched(&overlap, 0));
    assert_true(edge_untouched(&r->plan.n_checked, 0));
    assert_true(edge_untouched(&r->plan.shared.device, 0));
    assert_true(edge_untouched(&r->plan.shared.other, 0));
    assert_true(edge_untouched(&r->plan.shared.cpu, 0));
    assert_true(edge_untouched(&r->plan.shared.need, 0));
    assert_true(edge_untouched(&r->plan.shared.have, 0));
    assert_true(edge_untouched(&r->plan.spare_taken, 0));
}

static int32_t row_has(const rig *r, int32_t row, int32_t cpu)
{
    for (int32_t i = r->plan.row[row]; i < r->plan.row[row + 1]; i++)
        if (r->plan.cpu[i] == cpu)
            return 1;
    return 0;
}

/* == extend ================================================================= */

static void check_extend(const char *allowed, const char *node_id, const char *node_cpu,
                         const char *pool_text, const char *expect)
{
    rig r = rig_open(allowed, node_id, node_cpu, "");
    int32_t n_pool, n, length = -7;
    int32_t *pool = new_list(pool_text, &n_pool);
    int32_t *expected = new_list(expect, &n);
    int32_t *out = edge_ints(n);
    int32_t *small = edge_ints(n - 1);
    assert_int_equal(cpubind_extend(&r.host, pool, n_pool, NULL, 0, &length),
                     CPUBIND_ERR_SPACE);
    assert_int_equal(length, n);
    length = -7;
    assert_int_equal(cpubind_extend(&r.host, pool, n_pool, small, n - 1, &length),
                     CPUBIND_ERR_SPACE);
    assert_int_equal(length, n);
    for (int32_t i = 0; i < n - 1; i++)
        assert_true(edge_untouched(small, i));
    assert_int_equal(cpubind_extend(&r.host, pool, n_pool, out, n, &length), CPUBIND_OK);
    assert_int_equal(length, n);
    assert_list(out, n, expect);
    free(pool);
    free(expected);
    free(out);
    free(small);
    rig_close(&r);
}

TEST(extend_adds_the_next_node_and_wraps_round)
{
    check_extend("0-11", "0-2", "0-3 4-7 8-11", "0-3", "0-7");
    check_extend("0-11", "0-2", "0-3 4-7 8-11", "5", "5,8-11");
    check_extend("0-11", "0-2", "0-3 4-7 8-11", "9-10", "0-3,9-10");
    check_extend("0-11", "0-2", "0,3,6,9 1,4,7,10 2,5,8,11", "0,6", "0-1,4,6-7,10");
}

TEST(extend_takes_allowed_cpus_only)
{
    check_extend("1,3,6-8", "0-2", "0-3 4-7 8-11", "3", "3,6-7");
    check_extend("0-3,8-11", "0-2", "0-3 4-7 8-11", "0-1", "0-1");
}

TEST(extend_on_one_node_adds_that_node)
{
    check_extend("0-7", "0", "0-7", "2", "0-7");
    check_extend("0-7", "3", "0-7", "0-7", "0-7");
}

TEST(extend_follows_node_ids_with_holes)
{
    check_extend("0-11", "0,4,250", "0-3 4-7 8-11", "0", "0,4-7");
    check_extend("0-11", "0,4,250", "0-3 4-7 8-11", "4", "4,8-11");
    check_extend("0-11", "3,4,65535", "0-3 4-7 8-11", "8", "0-3,8");
}

TEST(extend_leaves_a_pool_on_several_nodes)
{
    check_extend("0-11", "0-2", "0-3 4-7 8-11", "3-4", "3-4");
    check_extend("0-11", "0-2", "0-3 4-7 8-11", "0,11", "0,11");
}

static void check_extend_fails(const rig *r, const int32_t *pool, int32_t n_pool,
                               cpubind_status expect)
{
    int32_t out[16], n;
    memset(out, EDGE_FILL, sizeof out);
    memset(&n, EDGE_FILL, sizeof n);
    assert_int_equal(cpubind_extend(&r->host, pool, n_pool, out, 16, &n), expect);
    assert_true(edge_untouched(&n, 0));
    for (int32_t i = 0; i < 16; i++)
        assert_true(edge_untouched(out, i));
}

TEST(extend_refuses_what_it_does_not_know)
{
    rig r = rig_open("0-2,8-11", "0-2", "0-3 4-7 8-11", "");
    const int32_t not_allowed[] = {0, 3};
    const int32_t past_all[] = {12};
    const int32_t zero = 0;
    check_extend_fails(&r, not_allowed, 2, CPUBIND_ERR_UNKNOWN);
    check_extend_fails(&r, past_all, 1, CPUBIND_ERR_UNKNOWN);
    check_extend_fails(&r, NULL, 0, CPUBIND_ERR_EMPTY);
    r.node[0] = 7;
    check_extend_fails(&r, &zero, 1, CPUBIND_ERR_UNKNOWN);
    rig_close(&r);
}

TEST(extend_refuses_a_node_id_below_zero)
{
    rig r = rig_open("0-11", "0-2", "0-3 4-7 8-11", "");
    const int32_t zero = 0;
    r.node[0] = -1;
    check_extend_fails(&r, &zero, 1, CPUBIND_ERR_UNKNOWN);
    rig_close(&r);
}

TEST(extend_refuses_bad_pools_and_outputs)
{
    rig r = rig_open("0-11", "0-2", "0-3 4-7 8-11", "");
    const int32_t good[] = {0, 1};
    const int32_t equal[] = {1, 1};
    const int32_t negative[] = {-1, 1};
    const int32_t high[] = {0, CPUBIND_MAX_CPUS};
    int32_t out[16], n;
    check_extend_fails(&r, equal, 2, CPUBIND_ERR_ORDER);
    check_extend_fails(&r, negative, 2, CPUBIND_ERR_ARG);
    check_extend_fails(&r, high, 2, CPUBIND_ERR_ARG);
    check_extend_fails(&r, good, -1, CPUBIND_ERR_ARG);
    check_extend_fails(&r, NULL, 2, CPUBIND_ERR_ARG);
    check_extend_fails(&r, good, CPUBIND_MAX_CPUS + 1, CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_extend(&r.host, good, 2, NULL, 16, &n), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_extend(&r.host, good, 2, out, -1, &n), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_extend(&r.host, good, 2, out, 16, NULL), CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_extend(NULL, good, 2, out, 16, &n), CPUBIND_ERR_ARG);
    rig_close(&r);
}

/* Calls `check` on hosts with one field spoilt, each with the status that it must give. */
static void with_bad_hosts(void (*check)(const rig *, cpubind_status))
{
    const int32_t equal[] = {0, 1, 1};
    const int32_t negative[] = {-1, 0, 1};
    const int32_t high[] = {0, 1, CPUBIND_MAX_CPUS};
    rig r = rig_open("0-2", "0-2", "0 1 2", "0 1 2");
    const cpubind_host good = r.host;
    const struct {
        cpubind_host host;
        cpubind_status expect;
    } bad[] = {
        {{NULL, good.node, good.node_id, 3, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, NULL, good.node_id, 3, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, NULL, 3, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, good.node_id, -1, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, good.node_id, CPUBIND_MAX_CPUS + 1, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, good.node_id, 3, 0}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, good.node_id, 3, -1}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, good.node_id, 3, CPUBIND_MAX_CPUS + 1}, CPUBIND_ERR_ARG},
        {{equal, good.node, good.node_id, 3, 3}, CPUBIND_ERR_ORDER},
        {{negative, good.node, good.node_id, 3, 3}, CPUBIND_ERR_ARG},
        {{high, good.node, good.node_id, 3, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, equal, 3, 3}, CPUBIND_ERR_ORDER},
        {{good.cpu, good.node, negative, 3, 3}, CPUBIND_ERR_ARG},
        {{good.cpu, good.node, high, 3, 3}, CPUBIND_ERR_ARG},
    };
    for (int32_t i = 0; i < COUNT(bad); i++) {
        r.host = bad[i].host;
        check(&r, bad[i].expect);
    }
    rig_close(&r);
}

static void check_extend_bad_host(const rig *r, cpubind_status expect)
{
    const int32_t zero = 0;
    check_extend_fails(r, &zero, 1, expect);
}

TEST(extend_refuses_bad_hosts)
{
    with_bad_hosts(check_extend_bad_host);
}

/* == check_disjoint ========================================================= */

static cpubind_status disjoint(const char *text, cpubind_fault *fault)
{
    lists l = new_lists(text);
    cpubind_lists view = {l.cpu, l.row, l.n};
    cpubind_status status = cpubind_check_disjoint(&view, fault);
    free_lists(&l);
    return status;
}

TEST(lists_without_a_common_cpu_are_disjoint)
{
    const cpubind_lists unknown = {NULL, NULL, 4};
    const cpubind_lists nothing = {NULL, NULL, 0};
    assert_int_equal(disjoint("", NULL), CPUBIND_OK);
    assert_int_equal(disjoint("0-3", NULL), CPUBIND_OK);
    assert_int_equal(disjoint("- -", NULL), CPUBIND_OK);
    assert_int_equal(disjoint("0-3 4-7 8-11", NULL), CPUBIND_OK);
    assert_int_equal(disjoint("0,2,4 1,3,5 -", NULL), CPUBIND_OK);
    assert_int_equal(cpubind_check_disjoint(&unknown, NULL), CPUBIND_OK);
    assert_int_equal(cpubind_check_disjoint(&nothing, NULL), CPUBIND_OK);
}

TEST(the_first_pair_that_shares_a_cpu_is_named)
{
    static const struct {
        const char *text;
        int32_t device, other, cpu;
    } cases[] = {
        {"0-3 3-7", 1, 0, 3},   {"0-3 4-7 0,6-9", 2, 0, 0}, {"0-3 4-7 6-9", 2, 1, 6},
        {"- 5 - 5 5", 3, 1, 5}, {"0-9 0-9 0-9", 1, 0, 0},   {"1,65535 0,65535", 1, 0, 65535},
    };
    for (int32_t i = 0; i < COUNT(cases); i++) {
        cpubind_fault fault;
        assert_int_equal(disjoint(cases[i].text, NULL), CPUBIND_ERR_OVERLAP);
        assert_int_equal(disjoint(cases[i].text, &fault), CPUBIND_ERR_OVERLAP);
        assert_int_equal(fault.device, cases[i].device);
        assert_int_equal(fault.other, cases[i].other);
        assert_int_equal(fault.cpu, cases[i].cpu);
        assert_int_equal(fault.need, 0);
        assert_int_equal(fault.have, 0);
    }
}

/* Lists with one thing wrong, each with the status that they must give. */
typedef struct bad_lists {
    cpubind_lists lists;
    cpubind_status expect;
} bad_lists;

static const int32_t THREE[] = {0, 1, 2};
static const int32_t FALLING[] = {1, 0, 2};
static const int32_t EQUAL[] = {0, 0, 2};
static const int32_t NEGATIVE[] = {-1, 0, 2};
static const int32_t HIGH[] = {0, 1, CPUBIND_MAX_CPUS};
static const int32_t ROWS[] = {0, 3};
static const int32_t ROWS_LATE[] = {1, 3};
static const int32_t ROWS_BACK[] = {0, 3, 2};
static const int32_t ROWS_HUGE[] = {0, CPUBIND_MAX_CPUS + 1};

static const bad_lists BAD_LISTS[] = {
    {{THREE, ROWS, -1}, CPUBIND_ERR_ARG},
    {{THREE, ROWS, CPUBIND_MAX_DEVICES + 1}, CPUBIND_ERR_ARG},
    {{NULL, NULL, CPUBIND_MAX_DEVICES + 1}, CPUBIND_ERR_ARG},
    {{NULL, ROWS, 1}, CPUBIND_ERR_ARG},
    {{THREE, ROWS_LATE, 1}, CPUBIND_ERR_ARG},
    {{THREE, ROWS_BACK, 2}, CPUBIND_ERR_ARG},
    {{THREE, ROWS_HUGE, 1}, CPUBIND_ERR_ARG},
    {{NEGATIVE, ROWS, 1}, CPUBIND_ERR_ARG},
    {{HIGH, ROWS, 1}, CPUBIND_ERR_ARG},
    {{FALLING, ROWS, 1}, CPUBIND_ERR_ORDER},
    {{EQUAL, ROWS, 1}, CPUBIND_ERR_ORDER},
};

TEST(check_disjoint_refuses_bad_lists)
{
    cpubind_fault fault;
    memset(&fault, EDGE_FILL, sizeof fault);
    assert_int_equal(cpubind_check_disjoint(NULL, &fault), CPUBIND_ERR_ARG);
    for (int32_t i = 0; i < COUNT(BAD_LISTS); i++)
        assert_int_equal(cpubind_check_disjoint(&BAD_LISTS[i].lists, &fault),
                         BAD_LISTS[i].expect);
}

/* == make_plan: global_slice ================================================ */

TEST(a_host_of_640_cpus_is_cut_into_16_slices_of_40)
{
    rig r = rig_open("0-639", "0-15", blocks(16, 40), "");
    cpubind_roles roles;
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    r.devices.affinity.row = NULL;
    r.devices.affinity.n = 16;
    rig_plan(&r, NULL);
    assert_pools(&r, 16, blocks(16, 40));
    assert_int_equal(r.plan.strategy, CPUBIND_GLOBAL_SLICE);
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_NONE);
    assert_int_equal(r.plan.n_checked, 16);
    assert_int_equal(cpubind_split_roles(r.plan.row[1], &FIVE, &roles), CPUBIND_OK);
    assert_roles(&roles, 2, 36, 1, 1);
    rig_plan(&r, "3,15");
    assert_pools(&r, 2, "120-159 600-639");
    rig_close(&r);
}

TEST(slices_need_no_workspace_and_no_affinity_array)
{
    rig r = rig_open("0-10", "0", "0-10", "- -");
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    rig_plan_into(&r, NULL, 11, 0);
    assert_pools(&r, 2, "0-5 6-10");
    assert_int_equal(r.plan.n_work, 0);
    rig_close(&r);
}

TEST(topo_affinity_without_affinity_falls_back_to_slices)
{
    rig r = rig_open("0-9", "0", "0-9", "- -");
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "0-4 5-9");
    assert_int_equal(r.plan.strategy, CPUBIND_GLOBAL_SLICE);
    r.devices.affinity.row = NULL;
    r.devices.affinity.cpu = NULL;
    rig_plan(&r, "1");
    assert_pools(&r, 1, "5-9");
    assert_int_equal(r.plan.strategy, CPUBIND_GLOBAL_SLICE);
    rig_close(&r);
}

TEST(slices_go_by_slot_against_the_total_of_the_host)
{
    static const int32_t phy[] = {2, 3, 12, 13};
    rig r = rig_open("0-639", "0-15", blocks(16, 40), "- - - -");
    r.devices.slot = phy;
    r.devices.total = 16;
    rig_plan(&r, NULL);
    assert_pools(&r, 4, "80-119 120-159 480-519 520-559");
    assert_int_equal(r.plan.n_checked, 16);
    rig_plan(&r, "2");
    assert_pools(&r, 1, "480-519");
    rig_close(&r);
}

TEST(a_slot_outside_the_total_is_unknown)
{
    int32_t slot[] = {0, 4};
    rig r = rig_open("0-39", "0", "0-39", "- -");
    r.devices.slot = slot;
    r.devices.total = 4;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_UNKNOWN, 1, 0, 0);
    assert_no_answer(&r);
    slot[1] = -1;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_UNKNOWN, 1, 0, 0);
    rig_plan(&r, "0");
    assert_pools(&r, 1, "0-9");
    r.devices.slot = NULL;
    r.devices.total = 1;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_UNKNOWN, 1, 0, 0);
    rig_close(&r);
}

TEST(two_wanted_devices_with_one_slot_are_refused)
{
    static const int32_t slot[] = {3, 1, 3};
    static const int32_t lowest[] = {1, 1, 3};
    rig r = rig_open("0-39", "0", "0-39", "- - -");
    r.devices.slot = slot;
    r.devices.total = 4;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_OVERLAP, 2, 0, 0);
    assert_int_equal(r.fault.other, 0);
    assert_int_equal(r.fault.cpu, -1);
    assert_no_answer(&r);
    rig_plan(&r, "0-1");
    assert_pools(&r, 2, "30-39 10-19");
    r.devices.slot = lowest;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_OVERLAP, 1, 0, 0);
    assert_int_equal(r.fault.other, 0);
    rig_close(&r);
}

TEST(slices_too_small_for_the_roles_name_device_need_and_have)
{
    rig r = rig_open("0-18", "0", "0-18", "- - - -");
    rig_plan(&r, "2-3");
    assert_fault(&r, CPUBIND_ERR_TOO_FEW, 2, 5, 4);
    assert_no_answer(&r);
    r.policy.roles = ONE;
    rig_plan(&r, NULL);
    assert_pools(&r, 4, "0-4 5-9 10-14 15-18");
    rig_close(&r);
}

/* == make_plan: topo_affinity =============================================== */

TEST(equal_pools_are_shared_also_when_each_device_asks_alone)
{
    rig r = rig_open("144-191", "0-7", blocks(8, 24), "144-167 0-23 144-167 24-47");
    rig_plan(&r, "0");
    assert_pools(&r, 1, "144-167");
    rig_plan(&r, "2");
    assert_pools(&r, 1, "168-191");
    rig_plan(&r, "0,2");
    assert_pools(&r, 2, "144-167 168-191");
    assert_int_equal(r.plan.strategy, CPUBIND_TOPO_AFFINITY);
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_NONE);
    assert_int_equal(r.plan.n_checked, 2);
    rig_close(&r);
}

TEST(the_last_of_equal_pools_gets_the_rest)
{
    rig r = rig_open("0-16", "0", "0-16", "0-3 0-3 0-3");
    rig_plan(&r, NULL);
    assert_pools(&r, 3, "0-4 5-9 10-16");
    rig_close(&r);
}

TEST(hidden_devices_keep_their_cpus_from_us)
{
    rig r = rig_open("0-31", "0-1", "0-15 16-31", "0-15 0-15 0-15 0-15");
    rig_plan(&r, "1");
    assert_pools(&r, 1, "8-15");
    assert_int_equal(r.plan.n_checked, 4);
    rig_close(&r);
}

TEST(homes_are_extended_over_holes_in_the_node_ids)
{
    rig r = rig_open("0-23", "0,4,250", "0-7 8-15 16-23", "0-7");
    rig_plan(&r, NULL);
    assert_pools(&r, 1, "0-15");
    for (int32_t i = 0; i < 8; i++)
        r.affinity.cpu[i] = 16 + i;
    rig_plan(&r, NULL);
    assert_pools(&r, 1, "0-7,16-23");
    rig_close(&r);
}

TEST(a_next_node_without_allowed_cpus_adds_nothing)
{
    rig r = rig_open("0-7,16-23", "0-2", "0-7 8-15 16-23", "0-7 8-15");
    rig_plan(&r, "0");
    assert_pools(&r, 1, "0-7");
    rig_plan(&r, "1");
    assert_fault(&r, CPUBIND_ERR_EMPTY, 1, 5, 0);
    rig_close(&r);
}

TEST(a_home_on_several_nodes_is_left_as_it_is)
{
    rig r = rig_open("0-23", "0-2", "0-7 8-15 16-23", "4-11");
    rig_plan(&r, NULL);
    assert_pools(&r, 1, "4-11");
    rig_close(&r);
}

TEST(a_wanted_device_without_a_home_is_named)
{
    rig r = rig_open("0-15", "0-1", "0-15 16-31", "0-15 16-31 -");
    for (int32_t device = 1; device < 3; device++) {
        rig_plan(&r, device == 1 ? "1" : "0,2");
        assert_fault(&r, CPUBIND_ERR_EMPTY, device, 5, 0);
        assert_int_equal(r.fault.other, -1);
        assert_int_equal(r.fault.cpu, -1);
        assert_no_answer(&r);
    }
    rig_plan(&r, "0");
    assert_pools(&r, 1, "0-15");
    rig_close(&r);
}

TEST(a_pool_too_small_for_the_roles_names_device_need_and_have)
{
    rig r = rig_open("0-7", "0", "0-7", "0-7 0-7");
    rig_plan(&r, "1");
    assert_fault(&r, CPUBIND_ERR_TOO_FEW, 1, 5, 4);
    assert_no_answer(&r);
    r.policy.roles = ONE;
    rig_plan(&r, "1");
    assert_pools(&r, 1, "4-7");
    rig_close(&r);
}

TEST(a_node_that_is_not_listed_is_unknown)
{
    static const int32_t unknown[] = {3, -1, 5, INT32_MIN};
    static const int32_t cpus[] = {0, 8, 15};
    for (int32_t i = 0; i < COUNT(unknown); i++) {
        for (int32_t k = 0; k < COUNT(cpus); k++) {
            rig r = rig_open("0-15", "0,4", "0-7 8-15", "0-7");
            r.node[cpus[k]] = unknown[i];
            rig_plan(&r, NULL);
            assert_fault(&r, CPUBIND_ERR_UNKNOWN, -1, 0, 0);
            assert_no_answer(&r);
            r.policy.strategy = CPUBIND_CLUSTER;
            rig_plan(&r, NULL);
            assert_fault(&r, CPUBIND_ERR_UNKNOWN, -1, 0, 0);
            rig_close(&r);
        }
    }
}

TEST(a_host_without_cpus_has_no_pools)
{
    rig r = rig_open("-", "0", "0-7", "0-7");
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_EMPTY, 0, 5, 0);
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_TOO_FEW, 0, 5, 0);
    r.policy.roles = NONE;
    r.host.cpu = NULL;
    r.host.node = NULL;
    rig_plan(&r, NULL);
    assert_pools(&r, 1, "-");
    rig_close(&r);
}

/* Four nodes of 48 with two devices each: each pool is extended onto the next home. */
static rig open_four_nodes(cpubind_overlap overlap)
{
    rig r = rig_open("0-191", "0-3", blocks(4, 48),
                     "0-47 0-47 48-95 48-95 96-143 96-143 144-191 144-191");
    r.policy.overlap = overlap;
    return r;
}

TEST(keep_hands_every_cpu_out_twice_and_says_so)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_KEEP);
    int32_t times[192] = {0};
    rig_plan(&r, NULL);
    assert_pools(&r, 8, "0-47 48-95 48-95 96-143 96-143 144-191 0-47 144-191");
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_PRESENT);
    assert_int_equal(r.plan.n_checked, 8);
    for (int32_t i = 0; i < r.plan.n_cpu; i++)
        times[r.plan.cpu[i]]++;
    for (int32_t i = 0; i < 192; i++)
        assert_int_equal(times[i], 2);
    assert_int_not_equal(r.plan.shared.device, r.plan.shared.other);
    assert_true(row_has(&r, r.plan.shared.device, r.plan.shared.cpu));
    assert_true(row_has(&r, r.plan.shared.other, r.plan.shared.cpu));
    rig_plan(&r, "5");
    assert_pools(&r, 1, "144-191");
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_PRESENT);
    rig_close(&r);
}

TEST(refuse_names_two_devices_and_a_cpu)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_REFUSE);
    cpubind_fault fault;
    rig_plan(&r, "7");
    assert_fault(&r, CPUBIND_ERR_OVERLAP, r.fault.device, 0, 0);
    assert_no_answer(&r);
    fault = r.fault;
    assert_int_not_equal(fault.device, fault.other);
    r.policy.overlap = CPUBIND_OVERLAP_KEEP;
    rig_plan(&r, NULL);
    assert_true(row_has(&r, fault.device, fault.cpu));
    assert_true(row_has(&r, fault.other, fault.cpu));
    rig_close(&r);
}

TEST(resolve_leaves_each_device_half_of_its_home)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    rig_plan(&r, NULL);
    assert_pools(&r, 8, blocks(8, 24));
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_int_equal(r.plan.n_checked, 8);
    rig_plan(&r, "3,6");
    assert_pools(&r, 2, "72-95 144-167");
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_RESOLVED);
    rig_close(&r);
}

TEST(without_overlap_the_three_policies_agree)
{
    rig r = rig_open("0-191", "0-7", blocks(8, 24), "0-23 0-23 48-71 96-119");
    for (int32_t overlap = 0; overlap < 3; overlap++) {
        r.policy.overlap = (cpubind_overlap)overlap;
        rig_plan(&r, NULL);
        assert_pools(&r, 4, "0-23 24-47 48-95 96-143");
        assert_int_equal(r.plan.overlap, CPUBIND_FOUND_NONE);
        assert_int_equal(r.plan.n_checked, 4);
    }
    rig_close(&r);
}

/* Nodes of alternating CPUs: a home of two neighbours lies on both and is not extended. */
static rig open_unextended(const char *allowed, const char *affinity)
{
    rig r = rig_open(allowed, "0-1", "- -", affinity);
    for (int32_t i = 0; i < r.host.n_cpu; i++)
        r.node[i] = r.cpu[i] % 2;
    r.policy.roles = NONE;
    return r;
}

TEST(resolve_gives_shared_cpus_to_the_poorer_device)
{
    rig r = open_unextended("0-19", "0-19 10-19");
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "0-9 10-19");
    rig_close(&r);
    r = open_unextended("0-19", "0-15 10-19"); /* 10 alone, 6 shared, 4 alone */
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "0-9 10-19");
    rig_close(&r);
}

TEST(resolve_moves_cpus_along_a_chain_of_devices)
{
    rig r = open_unextended("0-23", "0-7 4-11 8-15 12-19 16-23");
    /* Each shares 4 with the next; the ends have 4 alone: 24 CPUs for 5 devices. */
    rig_plan(&r, NULL);
    assert_int_equal(r.status, CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, 24);
    for (int32_t d = 0; d < 5; d++)
        assert_true(r.plan.row[d + 1] - r.plan.row[d] >= 4);
    rig_close(&r);
    /* 12 CPUs of device 0 alone, then 2 shared with each next: all shared ones must move. */
    r = open_unextended("0-17", "0-13 12-15 14-17 16-17");
    rig_plan(&r, NULL);
    assert_pools(&r, 4, "0-11 12-13 14-15 16-17");
    rig_close(&r);
}

TEST(resolve_extends_only_onto_cpus_that_are_nobodys_home)
{
    rig r = rig_open("0-23", "0-2", "0-7 8-15 16-23", "0-7 8-11");
    /* Device 0 may take 12-15, device 1 takes 16-23; 8-11 are at home with device 1. */
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "0-7,12-15 8-11,16-23");
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_int_equal(r.plan.shared.cpu, 8);
    rig_close(&r);
}

TEST(resolve_may_leave_a_device_too_few)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    r.policy.roles.count[CPUBIND_ROLE_MAIN] = 21; /* 25 needed, 24 there */
    rig_plan(&r, "6");
    assert_fault(&r, CPUBIND_ERR_TOO_FEW, 6, 25, 24);
    assert_no_answer(&r);
    rig_close(&r);
}

/* == make_plan: cluster ===================================================== */

static rig open_clusters(const char *affinity, int32_t cluster)
{
    rig r = rig_open("0-63", "0-1", "0-31 32-63", affinity);
    r.policy.strategy = CPUBIND_CLUSTER;
    r.policy.roles = ONE;
    r.policy.cluster = cluster;
    r.policy.spare_node = 0;
    return r;
}

TEST(clusters_are_cut_in_ascending_order_of_devices)
{
    rig r = open_clusters("32-63 32-63", 8);
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "32-39 40-47");
    assert_int_equal(r.plan.strategy, CPUBIND_CLUSTER);
    assert_int_equal(r.plan.overlap, CPUBIND_FOUND_NONE);
    assert_int_equal(r.plan.n_checked, 2);
    assert_int_equal(r.plan.spare_taken, 0);
    r.policy.cluster = 16;
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "32-47 48-63");
    r.policy.cluster = 1;
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "32 33");
    rig_close(&r);
}

TEST(clusters_are_cut_from_the_node_and_not_from_the_home)
{
    rig r = open_clusters("60-63 40", 8);
    rig_plan(&r, NULL);
    assert_pools(&r, 2, "32-39 40-47");
    rig_close(&r);
    r = rig_open("0-63", "0-1", "0-15,32-47 16-31,48-63", "48");
    r.policy.strategy = CPUBIND_CLUSTER;
    r.policy.cluster = 20;
    rig_plan(&r, NULL);
    assert_pools(&r, 1, "16-31,48-51");
    rig_close(&r);
}

TEST(hidden_devices_take_clusters)
{
    rig r = open_clusters("32-63 32-63 - 32-63", 8);
    rig_plan(&r, "3");
    assert_pools(&r, 1, "48-55");
    assert_int_equal(r.plan.n_checked, 3);
    rig_plan(&r, "2");
    assert_fault(&r, CPUBIND_ERR_EMPTY, 2, 1, 0);
    rig_close(&r);
}

TEST(too_few_whole_clusters_name_device_need_and_have)
{
    rig r = open_clusters("32-63 32-63 32-63 32-63 32-63", 8);
    rig_plan(&r, "0");
    assert_fault(&r, CPUBIND_ERR_CLUSTERS, 4, 40, 32);
    assert_no_answer(&r);
    r.policy.cluster = 33;
    rig_plan(&r, "0");
    assert_fault(&r, CPUBIND_ERR_CLUSTERS, 0, 33, 32);
    rig_close(&r);
}

TEST(a_cluster_smaller_than_the_roles_is_too_few)
{
    rig r = open_clusters("32-63", 4);
    r.policy.roles = FIVE;
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_TOO_FEW, 0, 5, 4);
    rig_close(&r);
}

TEST(a_home_on_two_nodes_cannot_have_clusters_and_hidden_it_is_ignored)
{
    rig r = open_clusters("30-33 32-63", 8);
    rig_plan(&r, NULL);
    assert_fault(&r, CPUBIND_ERR_SPREAD, 0, 0, 0);
    assert_no_answer(&r);
    rig_plan(&r, "1");
    assert_pools(&r, 1, "32-39");
    rig_close(&r);
}

TEST(the_spare_node_is_whole_unless_overlap_is_resolved)
{
    rig r = open_clusters("0-31 32-63 0-31", 8);
    for (int32_t overlap = CPUBIND_OVERLAP_KEEP; overlap <= CPUBIND_OVERLAP_REFUSE; overlap++) {
        r.policy.overlap = (cpubind_overlap)overlap;
        rig_plan(&r, NULL);
        assert_fault(&r, CPUBIND_ERR_CLUSTERS, 0, 8, 0);
    }
    r.policy.overlap = CPUBIND_OVERLAP_RESOLVE;
    rig_plan(&r, NULL);
    assert_pools(&r, 3, "0-7 32-39 8-15");
    assert_int_equal(r.plan.spare_taken, 16);
    r.policy.spare_node = -1;
    r.policy.overlap = CPUBIND_OVERLAP_KEEP;
    rig_plan(&r, NULL);
    assert_pools(&r, 3, "0-7 32-39 8-15");
    assert_int_equal(r.plan.spare_taken, 0);
    rig_close(&r);
}

/* == make_plan: buffers and arguments ======================================= */

TEST(a_workspace_one_too_small_is_answered_with_its_size)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    int32_t need = rig_work(&r);
    for (int32_t strategy = CPUBIND_TOPO_AFFINITY; strategy <= CPUBIND_CLUSTER; strategy++) {
        r.policy.strategy = (cpubind_strategy)strategy;
        rig_plan_into(&r, NULL, 192, need - 1);
        assert_fault(&r, CPUBIND_ERR_SPACE, -1, 0, 0);
        assert_int_equal(r.plan.n_work, need);
        assert_int_equal(r.plan.n_cpu, 0);
        assert_no_answer(&r);
        rig_plan_into(&r, NULL, 192, 0);
        assert_int_equal(r.status, CPUBIND_ERR_SPACE);
        assert_int_equal(r.plan.n_work, need);
        rig_plan_into(&r, NULL, 192, need);
        assert_int_equal(r.status, CPUBIND_OK);
        assert_int_equal(r.plan.n_work, need);
    }
    rig_close(&r);
}

/* ... and with a buffer of exactly that length all is well. */
static void check_space(rig *r, const char *want, int32_t n)
{
    rig_plan_into(r, want, n - 1, rig_work(r));
    assert_fault(r, CPUBIND_ERR_SPACE, -1, 0, 0);
    assert_int_equal(r->plan.n_cpu, n);
    assert_no_answer(r);
    rig_plan_into(r, want, 0, rig_work(r));
    assert_int_equal(r->status, CPUBIND_ERR_SPACE);
    assert_int_equal(r->plan.n_cpu, n);
    rig_plan_into(r, want, n, rig_work(r));
    assert_int_equal(r->status, CPUBIND_OK);
    assert_int_equal(r->plan.n_cpu, n);
}

TEST(a_cpu_buffer_one_too_small_is_answered_with_its_length)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    check_space(&r, NULL, 192);
    check_space(&r, "2,7", 48);
    r.policy.overlap = CPUBIND_OVERLAP_KEEP;
    check_space(&r, NULL, 384);
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    check_space(&r, NULL, 192);
    check_space(&r, "0-2", 72);
    r.policy.strategy = CPUBIND_CLUSTER;
    check_space(&r, NULL, 64);
    rig_close(&r);
}

TEST(a_plan_may_be_made_without_a_fault)
{
    rig r = rig_open("0-7", "0", "0-7", "0-7 9");
    rig_plan(&r, "0");
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, NULL, 2, &r.plan, NULL),
                     CPUBIND_ERR_EMPTY);
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, NULL, 2, &r.plan, NULL),
                     CPUBIND_ERR_TOO_FEW);
    rig_close(&r);
}

TEST(a_fault_is_filled_on_failure_only)
{
    rig r = rig_open("0-7", "0", "0-7", "0-7");
    rig_plan(&r, NULL);
    assert_int_equal(r.status, CPUBIND_OK);
    assert_true(edge_untouched(&r.fault.device, 0));
    assert_true(edge_untouched(&r.fault.other, 0));
    assert_true(edge_untouched(&r.fault.cpu, 0));
    assert_true(edge_untouched(&r.fault.need, 0));
    assert_true(edge_untouched(&r.fault.have, 0));
    rig_close(&r);
}

/* The arguments of a plan, one of them spoilt; the plan must stay as it was. */
static void check_refused(const rig *r, const cpubind_policy *policy, const int32_t *want,
                          int32_t n_want, cpubind_status expect)
{
    int32_t cpu[3], row[4], work[512];
    cpubind_plan plan, before;
    cpubind_fault fault;
    memset(cpu, EDGE_FILL, sizeof cpu);
    memset(row, EDGE_FILL, sizeof row);
    memset(work, EDGE_FILL, sizeof work);
    memset(&plan, EDGE_FILL, sizeof plan);
    plan.cpu = cpu;
    plan.row = row;
    plan.work = work;
    plan.cap_cpu = COUNT(cpu);
    plan.cap_work = COUNT(work);
    memcpy(&before, &plan, sizeof plan);
    assert_int_equal(
        cpubind_make_plan(&r->host, &r->devices, policy, want, n_want, &plan, &fault), expect);
    assert_memory_equal(&plan, &before, sizeof plan);
    assert_int_equal(fault.device, -1);
    assert_int_equal(fault.other, -1);
    assert_int_equal(fault.cpu, -1);
    for (int32_t i = 0; i < COUNT(cpu); i++)
        assert_true(edge_untouched(cpu, i) && edge_untouched(row, i));
    for (int32_t i = 0; i < COUNT(work); i++)
        assert_true(edge_untouched(work, i));
}

static void check_plan_bad_host(const rig *r, cpubind_status expect)
{
    for (int32_t strategy = CPUBIND_TOPO_AFFINITY; strategy <= CPUBIND_CLUSTER; strategy++) {
        cpubind_policy policy = r->policy;
        policy.strategy = (cpubind_strategy)strategy;
        check_refused(r, &policy, NULL, 3, expect);
    }
}

TEST(slices_read_no_nodes)
{
    const int32_t equal[] = {0, 1, 1};
    rig r = rig_open("0-2", "0-2", "0 1 2", "0 1 2");
    r.policy.strategy = CPUBIND_GLOBAL_SLICE;
    memset(&r.policy.roles, 0, sizeof r.policy.roles);
    r.host.node = NULL;
    r.host.node_id = NULL;
    r.host.n_node = 0;
    rig_plan(&r, NULL);
    assert_pools(&r, 3, "0 1 2");
    r.host.cpu = equal;
    check_refused(&r, &r.policy, NULL, 3, CPUBIND_ERR_ORDER);
    r.host.n_cpu = -1;
    check_refused(&r, &r.policy, NULL, 3, CPUBIND_ERR_ARG);
    r.host.n_cpu = 0;
    rig_close(&r);
}

TEST(a_plan_refuses_bad_hosts)
{
    with_bad_hosts(check_plan_bad_host);
}

TEST(a_plan_refuses_bad_affinities_and_totals)
{
    rig r = rig_open("0-2", "0", "0-2", "0-2");
    for (int32_t i = 0; i < COUNT(BAD_LISTS); i++) {
        r.devices.affinity = BAD_LISTS[i].lists;
        check_refused(&r, &r.policy, NULL, BAD_LISTS[i].lists.n, BAD_LISTS[i].expect);
    }
    r.devices.affinity.cpu = r.affinity.cpu;
    r.devices.affinity.row = r.affinity.row;
    r.devices.affinity.n = 1;
    r.devices.total = -1;
    check_refused(&r, &r.policy, NULL, 1, CPUBIND_ERR_ARG);
    r.devices.total = CPUBIND_MAX_DEVICES + 1;
    check_refused(&r, &r.policy, NULL, 1, CPUBIND_ERR_ARG);
    rig_close(&r);
}

TEST(a_plan_refuses_bad_policies)
{
    rig r = rig_open("0-2", "0", "0-2", "0-2");
    cpubind_policy bad[11];
    for (int32_t i = 0; i < COUNT(bad); i++)
        bad[i] = r.policy;
    bad[0].strategy = (cpubind_strategy)3;
    bad[1].strategy = (cpubind_strategy)-1;
    bad[2].overlap = (cpubind_overlap)3;
    bad[3].overlap = (cpubind_overlap)-1;
    bad[4].roles.count[CPUBIND_ROLE_IRQ] = -1;
    bad[5].roles.count[CPUBIND_ROLE_MAIN] = CPUBIND_MAX_CPUS + 1;
    bad[6].roles.count[CPUBIND_ROLE_ACL] = INT32_MIN;
    bad[7].roles.count[CPUBIND_ROLE_RELEASE] = INT32_MAX;
    for (int32_t i = 8; i < 11; i++)
        bad[i].strategy = CPUBIND_CLUSTER;
    bad[8].cluster = 0;
    bad[9].cluster = -1;
    bad[10].cluster = CPUBIND_MAX_CPUS + 1;
    for (int32_t i = 0; i < COUNT(bad); i++)
        check_refused(&r, &bad[i], NULL, 1, CPUBIND_ERR_ARG);
    check_refused(&r, NULL, NULL, 1, CPUBIND_ERR_ARG);
    rig_close(&r);
}

TEST(a_plan_refuses_bad_lists_of_wanted_devices)
{
    static const int32_t twice[] = {1, 1};
    static const int32_t back[] = {1, 0};
    static const int32_t below[] = {-1, 0};
    static const int32_t past[] = {0, 3};
    static const int32_t many[] = {0, 1, 2, 3};
    rig r = rig_open("0-2", "0", "0-2", "0 1 2");
    check_refused(&r, &r.policy, NULL, 0, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, NULL, -1, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, NULL, 2, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, NULL, 4, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, many, 0, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, many, 4, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, twice, 2, CPUBIND_ERR_ORDER);
    check_refused(&r, &r.policy, back, 2, CPUBIND_ERR_ORDER);
    check_refused(&r, &r.policy, below, 2, CPUBIND_ERR_ARG);
    check_refused(&r, &r.policy, past, 2, CPUBIND_ERR_ARG);
    r.devices.affinity.n = 0;
    check_refused(&r, &r.policy, NULL, 0, CPUBIND_ERR_ARG);
    rig_close(&r);
}

TEST(a_plan_refuses_missing_buffers)
{
    rig r = rig_open("0-2", "0", "0-2", "0-2");
    cpubind_plan good, bad[5];
    r.policy.roles = ONE;
    rig_plan(&r, NULL);
    assert_pools(&r, 1, "0-2");
    good = r.plan;
    for (int32_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].row = NULL;
    bad[1].cpu = NULL;
    bad[2].work = NULL;
    bad[3].cap_cpu = -1;
    bad[4].cap_work = -1;
    for (int32_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(
            cpubind_make_plan(&r.host, &r.devices, &r.policy, NULL, 1, &bad[i], NULL),
            CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_make_plan(&r.host, &r.devices, &r.policy, NULL, 1, NULL, NULL),
                     CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_make_plan(&r.host, NULL, &r.policy, NULL, 1, &good, NULL),
                     CPUBIND_ERR_ARG);
    assert_int_equal(cpubind_make_plan(NULL, &r.devices, &r.policy, NULL, 1, &good, NULL),
                     CPUBIND_ERR_ARG);
    rig_close(&r);
}

/* Three devices on one CPU: the first two get nothing, and need no room. */
TEST(an_empty_pool_needs_no_cpu_buffer)
{
    rig r = rig_open("0", "0", "0", "0 0 0");
    static const int32_t first = 0;
    r.policy.roles = NONE;
    rig_plan(&r, NULL);
    assert_pools(&r, 3, "- - 0");
    free(r.plan.cpu);
    r.plan.cpu = NULL;
    r.plan.cap_cpu = 0;
    assert_int_equal(
        cpubind_make_plan(&r.host, &r.devices, &r.policy, &first, 1, &r.plan, NULL),
        CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, 0);
    assert_int_equal(r.plan.row[1], 0);
    rig_close(&r);
}

TEST(a_plan_does_not_depend_on_what_the_buffers_held)
{
    rig r = open_four_nodes(CPUBIND_OVERLAP_RESOLVE);
    rig_plan(&r, NULL);
    for (int32_t fill = 0; fill < 256; fill += 51) {
        memset(r.plan.cpu, fill, (size_t)r.plan.cap_cpu * sizeof(int32_t));
        memset(r.plan.row, fill, 9 * sizeof(int32_t));
        memset(r.plan.work, fill, (size_t)r.plan.cap_work * sizeof(int32_t));
        r.status = cpubind_make_plan(&r.host, &r.devices, &r.policy, NULL, 8, &r.plan, NULL);
        assert_pools(&r, 8, blocks(8, 24));
    }
    rig_close(&r);
}

/* == Text and version ======================================================= */

TEST(every_status_has_its_name_number_and_text)
{
    static const struct {
        cpubind_status status;
        int32_t number;
        const char *name;
    } codes[] = {
        {CPUBIND_OK, 0, "OK"},
        {CPUBIND_ERR_ARG, -1, "ERR_ARG"},
        {CPUBIND_ERR_ORDER, -2, "ERR_ORDER"},
        {CPUBIND_ERR_SPACE, -3, "ERR_SPACE"},
        {CPUBIND_ERR_EMPTY, -4, "ERR_EMPTY"},
        {CPUBIND_ERR_TOO_FEW, -5, "ERR_TOO_FEW"},
        {CPUBIND_ERR_UNKNOWN, -6, "ERR_UNKNOWN"},
        {CPUBIND_ERR_OVERLAP, -7, "ERR_OVERLAP"},
        {CPUBIND_ERR_SPREAD, -8, "ERR_SPREAD"},
        {CPUBIND_ERR_CLUSTERS, -9, "ERR_CLUSTERS"},
    };
#define CPUBIND_X(name, value, text) +1
    const int32_t n = 0 CPUBIND_STATUS_LIST(CPUBIND_X);
#undef CPUBIND_X
    assert_int_equal(n, COUNT(codes));
    for (int32_t i = 0; i < COUNT(codes); i++) {
        const char *text = cpubind_status_text(codes[i].status);
        assert_int_equal(codes[i].status, codes[i].number);
        assert_string_equal(cpubind_status_name(codes[i].status), codes[i].name);
        assert_true(strlen(text) > 0 && text[strlen(text) - 1] != '.');
        assert_string_not_equal(text, cpubind_status_text((cpubind_status)1));
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(text, cpubind_status_text(codes[k].status));
    }
}

TEST(a_number_that_is_no_status_is_a_question_mark)
{
    static const int32_t numbers[] = {1, -10, -100, INT32_MIN, INT32_MAX};
    for (int32_t i = 0; i < COUNT(numbers); i++) {
        assert_string_equal(cpubind_status_name((cpubind_status)numbers[i]), "?");
        assert_true(strlen(cpubind_status_text((cpubind_status)numbers[i])) > 0);
    }
}

TEST(every_role_has_a_word_and_a_letter)
{
    static const struct {
        cpubind_role role;
        int32_t number;
        const char *word;
        char letter;
    } roles[] = {
        {CPUBIND_ROLE_IRQ, 0, "irq", 'i'}, {CPUBIND_ROLE_MAIN, 1, "main", 'm'},
        {CPUBIND_ROLE_ACL, 2, "acl", 'a'}, {CPUBIND_ROLE_RELEASE, 3, "release", 'r'},
        {CPUBIND_ROLE_COUNT, 4, "?", '?'}, {(cpubind_role)-1, -1, "?", '?'},
        {(cpubind_role)5, 5, "?", '?'},
    };
    for (int32_t i = 0; i < COUNT(roles); i++) {
        assert_int_equal((int32_t)roles[i].role, roles[i].number);
        assert_string_equal(cpubind_role_word(roles[i].role), roles[i].word);
        assert_int_equal(cpubind_role_letter(roles[i].role), roles[i].letter);
    }
}

TEST(the_version_is_one_in_code_macros_and_title_line)
{
    const char *tests = getenv("CPUBIND_TESTS");
    char path[2048], line[256], expect[64];
    FILE *file;
    assert_int_equal(cpubind_version(), CPUBIND_VERSION_HEX);
    assert_int_equal(CPUBIND_VERSION_HEX, CPUBIND_VERSION_MAJOR << 16 |
                                              CPUBIND_VERSION_MINOR << 8 |
                                              CPUBIND_VERSION_PATCH);
    snprintf(expect, sizeof expect, "%d.%d.%d", CPUBIND_VERSION_MAJOR, CPUBIND_VERSION_MINOR,
             CPUBIND_VERSION_PATCH);
    assert_string_equal(CPUBIND_VERSION, expect);
    snprintf(path, sizeof path, "%.2000s/../cpubind.h", tests ? tests : "tests");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(expect, sizeof expect, "/* cpubind.h - v%s - ", CPUBIND_VERSION);
    assert_memory_equal(line, expect, strlen(expect));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_spreads_the_remainder_over_the_first_parts),
        cmocka_unit_test(share_gives_the_remainder_to_the_last_part),
        cmocka_unit_test(share_takes_its_whole_range),
        cmocka_unit_test(share_refuses_what_is_out_of_range_and_writes_nothing),
        cmocka_unit_test(roles_tile_the_pool_and_main_takes_what_is_left),
        cmocka_unit_test(a_pool_of_the_least_size_is_enough_and_one_less_is_not),
        cmocka_unit_test(role_arguments_out_of_range_are_refused_and_nothing_is_written),
        cmocka_unit_test(sort_unique_sorts_and_drops_repeats),
        cmocka_unit_test(sort_unique_takes_65536_elements),
        cmocka_unit_test(sort_unique_refuses_what_is_out_of_range_and_changes_nothing),
        cmocka_unit_test(intersect_gives_what_both_lists_have_also_into_one_of_them),
        cmocka_unit_test(intersect_asks_for_space_and_leaves_the_buffer),
        cmocka_unit_test(intersect_refuses_bad_arguments_and_writes_nothing),
        cmocka_unit_test(extend_adds_the_next_node_and_wraps_round),
        cmocka_unit_test(extend_takes_allowed_cpus_only),
        cmocka_unit_test(extend_on_one_node_adds_that_node),
        cmocka_unit_test(extend_follows_node_ids_with_holes),
        cmocka_unit_test(extend_leaves_a_pool_on_several_nodes),
        cmocka_unit_test(extend_refuses_what_it_does_not_know),
        cmocka_unit_test(extend_refuses_a_node_id_below_zero),
        cmocka_unit_test(extend_refuses_bad_pools_and_outputs),
        cmocka_unit_test(extend_refuses_bad_hosts),
        cmocka_unit_test(lists_without_a_common_cpu_are_disjoint),
        cmocka_unit_test(the_first_pair_that_shares_a_cpu_is_named),
        cmocka_unit_test(check_disjoint_refuses_bad_lists),
        cmocka_unit_test(a_host_of_640_cpus_is_cut_into_16_slices_of_40),
        cmocka_unit_test(slices_need_no_workspace_and_no_affinity_array),
        cmocka_unit_test(topo_affinity_without_affinity_falls_back_to_slices),
        cmocka_unit_test(slices_go_by_slot_against_the_total_of_the_host),
        cmocka_unit_test(a_slot_outside_the_total_is_unknown),
        cmocka_unit_test(two_wanted_devices_with_one_slot_are_refused),
        cmocka_unit_test(slices_too_small_for_the_roles_name_device_need_and_have),
        cmocka_unit_test(equal_pools_are_shared_also_when_each_device_asks_alone),
        cmocka_unit_test(the_last_of_equal_pools_gets_the_rest),
        cmocka_unit_test(hidden_devices_keep_their_cpus_from_us),
        cmocka_unit_test(homes_are_extended_over_holes_in_the_node_ids),
        cmocka_unit_test(a_next_node_without_allowed_cpus_adds_nothing),
        cmocka_unit_test(a_home_on_several_nodes_is_left_as_it_is),
        cmocka_unit_test(a_wanted_device_without_a_home_is_named),
        cmocka_unit_test(a_pool_too_small_for_the_roles_names_device_need_and_have),
        cmocka_unit_test(a_node_that_is_not_listed_is_unknown),
        cmocka_unit_test(a_host_without_cpus_has_no_pools),
        cmocka_unit_test(keep_hands_every_cpu_out_twice_and_says_so),
        cmocka_unit_test(refuse_names_two_devices_and_a_cpu),
        cmocka_unit_test(resolve_leaves_each_device_half_of_its_home),
        cmocka_unit_test(without_overlap_the_three_policies_agree),
        cmocka_unit_test(resolve_gives_shared_cpus_to_the_poorer_device),
        cmocka_unit_test(resolve_moves_cpus_along_a_chain_of_devices),
        cmocka_unit_test(resolve_extends_only_onto_cpus_that_are_nobodys_home),
        cmocka_unit_test(resolve_may_leave_a_device_too_few),
        cmocka_unit_test(clusters_are_cut_in_ascending_order_of_devices),
        cmocka_unit_test(clusters_are_cut_from_the_node_and_not_from_the_home),
        cmocka_unit_test(hidden_devices_take_clusters),
        cmocka_unit_test(too_few_whole_clusters_name_device_need_and_have),
        cmocka_unit_test(a_cluster_smaller_than_the_roles_is_too_few),
        cmocka_unit_test(a_home_on_two_nodes_cannot_have_clusters_and_hidden_it_is_ignored),
        cmocka_unit_test(the_spare_node_is_whole_unless_overlap_is_resolved),
        cmocka_unit_test(a_workspace_one_too_small_is_answered_with_its_size),
        cmocka_unit_test(a_cpu_buffer_one_too_small_is_answered_with_its_length),
        cmocka_unit_test(a_plan_may_be_made_without_a_fault),
        cmocka_unit_test(a_fault_is_filled_on_failure_only),
        cmocka_unit_test(slices_read_no_nodes),
        cmocka_unit_test(a_plan_refuses_bad_hosts),
        cmocka_unit_test(a_plan_refuses_bad_affinities_and_totals),
        cmocka_unit_test(a_plan_refuses_bad_policies),
        cmocka_unit_test(a_plan_refuses_bad_lists_of_wanted_devices),
        cmocka_unit_test(a_plan_refuses_missing_buffers),
        cmocka_unit_test(an_empty_pool_needs_no_cpu_buffer),
        cmocka_unit_test(a_plan_does_not_depend_on_what_the_buffers_held),
        cmocka_unit_test(every_status_has_its_name_number_and_text),
        cmocka_unit_test(a_number_that_is_no_status_is_a_question_mark),
        cmocka_unit_test(every_role_has_a_word_and_a_letter),
        cmocka_unit_test(the_version_is_one_in_code_macros_and_title_line),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
