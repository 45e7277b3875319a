/* views.c - the law over pairs of views of random hosts
 * SPDX-License-Identifier: MIT
 *
 * CPUBIND_PAIRS says how many pairs (20,000 without it), CPUBIND_SEED where the random bytes
 * start, CPUBIND_FAILURES how many broken laws are shown, CPUBIND_SAVE a file for the bytes of
 * the last one. A broken law is printed with the host, the views and the seed that makes it
 * again.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../support/test.h"
#include "view_law.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The bytes of a case, from its seed. */
static void fill(uint64_t seed, uint8_t *bytes)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int32_t i = 0; i < 4; i++)
        (void)next_random(&state);
    for (int32_t i = 0; i < LAW_BYTES; i++)
        bytes[i] = (uint8_t)(next_random(&state) >> 32);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

/* Keeps the bytes of a broken case, an input of the fuzz target, in the file CPUBIND_SAVE. */
static void save(const uint8_t *bytes)
{
    const char *name = getenv("CPUBIND_SAVE");
    FILE *file = name ? fopen(name, "wb") : NULL;
    if (!file)
        return;
    (void)fwrite(bytes, 1, LAW_BYTES, file);
    (void)fclose(file);
}

TEST(no_two_views_of_a_host_share_a_cpu)
{
    static law_case c;
    static law_counts counts;
    uint8_t bytes[LAW_BYTES];
    const uint64_t n = number_of("CPUBIND_PAIRS", rounds(20000)),
                   most = number_of("CPUBIND_FAILURES", 1);
    uint64_t seed = number_of("CPUBIND_SEED", 1), failures = 0;
    const clock_t start = clock();

    for (; (uint64_t)counts.pairs < n; seed++) {
        fill(seed, bytes);
        if (view_law_check(bytes, sizeof bytes, &c, &counts))
            continue;
        if (++failures <= most) {
            view_law_shrink(bytes, &c);
            save(bytes);
            (void)printf("# CPUBIND_SEED=%" PRIu64 " CPUBIND_PAIRS=1\n", seed);
            view_law_print(stdout, &c);
        }
        if (failures == most)
            break;
    }
    view_law_print_counts(stdout, &counts);
    (void)printf("# %.0f pairs a second\n",
                 (double)counts.pairs * CLOCKS_PER_SEC / (double)(clock() - start + 1));
    assert_int_equal(failures, 0);
}

/* One process of a host knows less. 38628: npu-smi info fails, so that it sees no GPU by its
 * address. 40262: it is not told the cores, of which CPU workers have whole ones, by the
 * reference too. 87542: its NPU is elsewhere, and so is the engine, beside shared pools. */
TEST(what_one_process_does_not_see_keeps_its_cpus)
{
    static const uint64_t seeds[] = {38628, 40262, 87542};
    static law_counts counts;
    static law_case c;
    uint8_t bytes[LAW_BYTES];
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        fill(seeds[i], bytes);
        assert_true(view_law_check(bytes, sizeof bytes, &c, &counts));
    }
}

/* == Known plans ============================================================ */

/* Hosts with nodes of 24 CPUs and plans that were made by hand from the contract. */
static const struct known_host {
    const char *name;
    uint8_t type; /* the byte that chooses the product */
    uint8_t is_duo;
    int32_t n_node, n_card;
    const char *pool[HOST_NPUS]; /* by phy id */
} known_hosts[] = {
    {"a2, a card a node", 0, 0, 4, 4, {"0-23", "24-47", "48-71", "72-95"}},
    {"a2, a card on every second node: the next node is added", 0, 0, 4, 2, {"0-47", "48-95"}},
    {"a2, two cards a node: each has a half of its home",
     0,
     0,
     2,
     4,
     {"0-11", "12-23", "24-35", "36-47"}},
    {"a2, two cards a node of four",
     0,
     0,
     4,
     8,
     {"0-11", "12-23", "24-35", "36-47", "48-59", "60-71", "72-83", "84-95"}},
    {"a3, slices", 1, 0, 2, 3, {"0-7", "8-15", "16-23", "24-31", "32-39", "40-47"}},
    {"300I Duo, two NPUs a function", 2, 1, 2, 2, {"0-11", "12-23", "24-35", "36-47"}},
    {"950, a cluster of 8 each", 3, 0, 2, 2, {"0-7", "24-31"}},
};

static void make_known_host(const struct known_host *known, law_case *c)
{
    uint8_t bytes[LAW_BYTES] = {0};
    bytes[0] = known->type;
    bytes[1] = known->is_duo;
    bytes[8] = (uint8_t)(known->n_card - 1);
    bytes[9] = 1;  /* nodes of 24 cores, */
    bytes[10] = 5; /* however many NPUs there are */
    bytes[15] = (uint8_t)(known->n_node - 1);
    random_views_make(bytes, sizeof bytes, &c->host, c->view);
    assert_int_equal(c->host.n_node, known->n_node);
    assert_int_equal(c->host.n_npu, known->n_card * c->host.npus_per_card);
}

TEST(the_bare_host_has_the_plan_of_the_contract)
{
    static law_case c;
    for (size_t i = 0; i < sizeof known_hosts / sizeof known_hosts[0]; i++) {
        const struct known_host *known = &known_hosts[i];
        make_known_host(known, &c);
        for (int origin = 0; origin < CPUBIND_ORIGIN_COUNT; origin++) {
            const int is_driver = origin == CPUBIND_ORIGIN_DRIVER;
            if (is_driver && c.host.type == CPUBIND_TYPE_950)
                continue;
            c.view[0].request.origin = (cpubind_origin)origin;
            view_law_plan(&c.view[0], &c.plan[0]);
            if (c.plan[0].code != CPUBIND_PROBLEM_NONE)
                fail_msg("%s: %s", known->name, c.plan[0].problem.what);
            for (int32_t phy = 0; phy < c.host.n_npu; phy++) {
                char text[HOST_CPUS * 4];
                (void)view_write_list(text, &c.plan[0].pool[phy]);
                if (strcmp(text, known->pool[phy]) != 0)
                    fail_msg("%s: phy %d has %s, not %s", known->name, phy, text,
                             known->pool[phy]);
            }
        }
    }
}

/* == Known pairs ============================================================ */

/* Makes a view a container with these NPUs. */
static void contain(law_case *c, int32_t i, uint32_t open)
{
    host_view *v = &c->view[i];
    v->is_container = 1;
    v->open = open;
    v->n_npu = 0;
    for (int32_t phy = 0; phy < c->host.n_npu; phy++)
        if (view_has(v, phy))
            v->phy[v->n_npu++] = phy;
}

static void set_origin(law_case *c, int32_t i, cpubind_origin origin)
{
    c->view[i].request.origin = origin;
}

static void expect_law(law_case *c)
{
    if (view_law_hold(c, NULL))
        return;
    view_law_print(stdout, c);
    fail();
}

static const struct known_host two_a2 = {"a2", 0, 0, 1, 2, {NULL}};
static const struct known_host two_a3 = {"a3", 1, 0, 1, 3, {NULL}};
static const struct known_host two_duos = {"300I Duo", 2, 1, 1, 2, {NULL}};

/* Without mailboxes the NPUs of a function are known to a process that sees them alone. */
TEST(hidden_functions_of_a_duo_have_two_npus)
{
    static law_case c;
    make_known_host(&two_duos, &c);
    c.host.has_mailbox = 0;
    contain(&c, 1, 3);
    contain(&c, 2, 12);
    expect_law(&c);
    set_origin(&c, 1, CPUBIND_ORIGIN_NPU_SMI);
    c.host.has_mailbox = 1;
    expect_law(&c);
}

/* A container of today has an empty /proc/interrupts; its host plans by the driver's files. */
TEST(a_container_without_interrupts_has_the_plan_of_the_host)
{
    static const struct known_host *const hosts[] = {&two_a2, &two_a3, &two_duos};
    static law_case c;
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        for (int is_slices = 0; is_slices < 2; is_slices++) {
            make_known_host(hosts[i], &c);
            contain(&c, 1, 3);
            contain(&c, 2, c.host.npus_per_card == 2 ? 12 : 2);
            for (int32_t k = 0; k < LAW_VIEWS; k++) {
                c.view[k].masks_interrupts = c.view[k].is_container;
                c.view[k].request.is_auto_strategy = !is_slices;
                c.view[k].request.strategy = CPUBIND_GLOBAL_SLICE;
            }
            expect_law(&c);
        }
}

/* Where two NPUs share CPUs, their order must not depend on an output that failed. */
TEST(a_failed_table_of_addresses_changes_no_order)
{
    static const view_failure failures[] = {FAILURE_ERROR, FAILURE_TIMEOUT, FAILURE_TOO_LONG,
                                            FAILURE_EMPTY, FAILURE_CUT};
    static law_case c;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        for (int has_mailbox = 0; has_mailbox < 2; has_mailbox++) {
            uint8_t bytes[LAW_BYTES] = {0};
            bytes[8] = 1;  /* two cards, */
            bytes[29] = 1; /* whose addresses descend */
            random_views_make(bytes, sizeof bytes, &c.host, c.view);
            assert_true(c.host.npu[1].function < c.host.npu[0].function);
            c.host.has_mailbox = has_mailbox;
            contain(&c, 1, 1);
            contain(&c, 2, 2);
            set_origin(&c, 3, CPUBIND_ORIGIN_NPU_SMI);
            c.view[3].failure = failures[i];
            c.view[3].cut = 200;
            (void)snprintf(c.view[3].failing, VIEW_NAME, "cmd/npu-smi-info.txt");
            expect_law(&c);
        }
}

/* A card that the bus has lost leaves a gap in the phy ids. */
TEST(a_card_off_the_bus_is_no_reason_to_share)
{
    static law_case c;
    for (int has_mailbox = 0; has_mailbox < 2; has_mailbox++)
        for (int origin = 0; origin < CPUBIND_ORIGIN_COUNT; origin++) {
            uint8_t bytes[LAW_BYTES] = {0};
            bytes[0] = 1;  /* a3, */
            bytes[8] = 2;  /* three cards, */
            bytes[25] = 5; /* of which the first */
            bytes[27] = 2; /* is off the bus */
            random_views_make(bytes, sizeof bytes, &c.host, c.view);
            assert_int_equal(c.host.npu[0].state, NPU_OFF_BUS);
            c.host.has_mailbox = has_mailbox;
            contain(&c, 1, 12);
            contain(&c, 2, 48);
            set_origin(&c, 3, (cpubind_origin)origin);
            expect_law(&c);
        }
}

/* A process without the PCI bus says so. */
TEST(a_process_without_the_pci_bus_says_so)
{
    static law_case c;
    for (int is_slices = 0; is_slices < 2; is_slices++) {
        make_known_host(&two_a2, &c);
        contain(&c, 1, 2);
        c.view[1].failure = FAILURE_EMPTY;
        (void)snprintf(c.view[1].failing, VIEW_NAME, "sys/bus/pci/devices");
        for (int32_t k = 0; k < LAW_VIEWS; k++) {
            c.view[k].request.is_auto_strategy = !is_slices;
            c.view[k].request.strategy = CPUBIND_GLOBAL_SLICE;
        }
        expect_law(&c);
    }
}

/* Makes an A2 with two NPUs and two GPUs, of AMD or of Intel, whose second one is a virtual
 * function; the GPUs are on node 0, or on another one, which has no CPUs. All views are bare
 * hosts with the rules near. */
static void make_mixed_host(law_case *c, int is_virtual, int is_far, int n_node)
{
    uint8_t bytes[LAW_BYTES] = {0};
    bytes[8] = 1;  /* two cards, */
    bytes[58] = 3; /* GPUs, */
    bytes[59] = 1; /* two of them, */
    bytes[60] = is_virtual ? 2 : 0;
    bytes[61] = is_virtual ? 7 : 0;
    bytes[62] = bytes[63] = is_far ? 2 : 0; /* on node 1 */
    bytes[14] = is_far ? 15 : 0;            /* without CPUs, */
    bytes[15] = (uint8_t)(n_node - 1);
    bytes[55] = 1;              /* that are sockets */
    bytes[HOST_BYTES + 18] = 1; /* the rules near */
    random_views_make(bytes, sizeof bytes, &c->host, c->view);
    assert_int_equal(c->host.n_npu, 2);
    assert_int_equal(c->host.function[3].gpu, 1);
    assert_int_equal(c->host.function[3].is_virtual, is_virtual);
    assert_int_equal(c->view[0].request.rules, CPUBIND_RULES_NEAR);
}

/* Makes a view a container with these GPUs and no NPU. */
static void contain_gpus(law_case *c, int32_t i, uint32_t files)
{
    contain(c, i, 0);
    c->view[i].has_npu_smi = 0;
    c->view[i].table = TABLE_NONE;
    c->view[i].gpu_files = files;
}

/* Each of these containers has a plan, and the pools that the host gives its devices. */
TEST(containers_of_one_kind_of_device_have_the_pools_of_the_host)
{
    static law_case c;
    make_mixed_host(&c, 0, 0, 1);
    contain_gpus(&c, 1, 1);
    contain_gpus(&c, 2, 2);
    contain(&c, 3, 2);
    c.view[3].gpu_files = 0;
    for (int masks = 0; masks < 2; masks++) {
        for (int32_t i = 1; i < LAW_VIEWS; i++)
            c.view[i].masks_interrupts = masks;
        expect_law(&c);
        for (int32_t i = 0; i < LAW_VIEWS; i++)
            assert_int_equal(c.plan[i].code, CPUBIND_PROBLEM_NONE);
        assert_int_equal(c.plan[1].has_pool, 1u << HOST_NPUS);
        assert_int_equal(c.plan[2].has_pool, 2u << HOST_NPUS);
        assert_true(c.plan[3].has_pool & 2u);
    }
}

/* What a container of GPUs does not know of the NPUs is no reason to guess. */
TEST(a_container_of_gpus_does_not_guess_the_npus)
{
    static law_case c;
    host_view *view = &c.view[1];
    for (int how = 0; how < 5; how++) {
        make_mixed_host(&c, 0, 0, how == 4 ? 2 : 1);
        contain_gpus(&c, 1, 1);
        view->hides_files = how == 0; /* nothing tells that it may open no NPU */
        if (how == 1)
            view->request.origin = CPUBIND_ORIGIN_NPU_SMI;
        if (how == 2)
            view->request.rules = CPUBIND_RULES_REFERENCE;
        for (int i = 0; i < 2 && how == 3; i++) /* clusters are of NPUs alone */
            c.host.function[i].device = 0xd806;
        for (int i = 0; i < 2 && how == 4; i++) /* npu-smi alone has the CPUs near them */
            c.host.function[i].node = -1;
        view_law_plan(view, &c.plan[1]);
        assert_int_equal(c.plan[1].code, CPUBIND_PROBLEM_NO_NPU_SMI);
    }
}

/* A virtual function beside a physical one has no share, whether its runtime tells that this
 * process does not see it, or nothing is known. */
TEST(a_virtual_gpu_changes_no_pool)
{
    static law_case c;
    make_mixed_host(&c, 1, 0, 1);
    c.view[1].gpu_kind = "odd";
    (void)snprintf(c.view[1].gpu_visible, VIEW_VISIBLE, ",x");
    expect_law(&c);
    assert_int_equal(c.plan[1].code, CPUBIND_PROBLEM_NONE);
}

/* The only node with CPUs is the nearest one, also for who reads no distance. */
TEST(a_gpu_on_a_node_without_cpus_needs_no_distance)
{
    static law_case c;
    make_mixed_host(&c, 0, 1, 2);
    assert_int_equal(bits_next(&c.host.node[1].online, 0), -1);
    c.view[1].failure = FAILURE_ABSENT;
    (void)snprintf(c.view[1].failing, VIEW_NAME, "sys/devices/system/node/node*/distance");
    expect_law(&c);
    assert_int_equal(c.plan[0].code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(c.plan[1].code, CPUBIND_PROBLEM_NONE);
}

/* == Laws of one view ======================================================= */

enum { VIEWS = 1000 };

/* Whether a plan is refused for one NPU, which may depend on whether it runs. */
static int is_about_one_npu(const view_plan *p)
{
    return p->code == CPUBIND_PROBLEM_TOO_FEW_CPUS ||
           p->code == CPUBIND_PROBLEM_NO_LOCAL_CPUS || p->code == CPUBIND_PROBLEM_SKIPPED;
}

/* Views 0 and 1 of a case, which differ in what must not matter, have the same pools. */
static void expect_same_pools(law_case *c, uint64_t seed)
{
    const view_plan *a = &c->plan[0], *b = &c->plan[1];
    if (is_about_one_npu(a) || is_about_one_npu(b))
        return;
    if (a->code == b->code && a->has_pool == b->has_pool &&
        memcmp(a->pool, b->pool, sizeof a->pool) == 0)
        return;
    (void)snprintf(c->broken, sizeof c->broken, "seed %" PRIu64, seed);
    c->is_broken = 3;
    view_law_print(stdout, c);
    fail();
}

/* A process table that is whole or absent changes no pool. */
TEST(a_plan_does_not_depend_on_who_runs)
{
    static law_case c;
    uint8_t bytes[LAW_BYTES];
    for (uint64_t seed = 1; seed <= rounds(VIEWS); seed++) {
        host_view *view = &c.view[seed % LAW_VIEWS];
        fill(seed, bytes);
        random_views_make(bytes, sizeof bytes, &c.host, c.view);
        view->request.only_running = 0;
        view->failure = FAILURE_NONE;
        view->table = TABLE_WHOLE;
        c.view[0] = *view;
        view_law_plan(&c.view[0], &c.plan[0]);
        for (int i = 0; i < 3; i++) {
            static const view_table tables[] = {TABLE_WIDE, TABLE_NONE, TABLE_WHOLE};
            c.view[1] = c.view[0];
            c.view[1].table = tables[i];
            c.view[1].running = ~c.view[0].running * 5;
            view_law_plan(&c.view[1], &c.plan[1]);
            expect_same_pools(&c, seed);
        }
    }
}

/* Each rank drives another NPU, while workers start one by one. */
TEST(ranks_drive_different_npus)
{
    static law_case c;
    uint8_t bytes[LAW_BYTES];
    for (uint64_t seed = 1; seed <= rounds(VIEWS); seed++) {
        host_view *view = &c.view[seed % LAW_VIEWS];
        uint32_t driven = 0;
        int32_t n = 0;
        fill(seed, bytes);
        random_views_make(bytes, sizeof bytes, &c.host, c.view);
        view->failure = FAILURE_NONE;
        view->request.device = NULL;
        view->request.n_device = view->request.only_running = 0;
        view->request.has_rank = 1;
        for (int32_t rank = 0; rank < view_count_visible(view); rank++) {
            view->request.rank = rank;
            view->running = driven;
            view_law_plan(view, &c.plan[0]);
            if (c.plan[0].code != CPUBIND_PROBLEM_NONE)
                continue;
            n++;
            driven |= 1u << c.plan[0].rank_phy;
            if (c.plan[0].rank_phy < 0 || __builtin_popcount(driven) != n)
                fail_msg("seed %" PRIu64 ": rank %d drives phy %d", seed, rank,
                         c.plan[0].rank_phy);
        }
    }
}

static int has_gpu(const random_host *h)
{
    int n = 0;
    for (int32_t i = 0; i < h->n_function; i++)
        n += h->function[i].gpu >= 0;
    return n > 0;
}

/* For a process with all NPUs of a host that has no other devices, --scope own is --scope
 * cpuset, but for the order of NPUs that share CPUs: own needs no addresses, and orders by
 * logic id. */
TEST(own_is_cpuset_where_every_npu_is_visible)
{
    static law_case c;
    uint8_t bytes[LAW_BYTES];
    int32_t n = 0;
    for (uint64_t seed = 1; seed <= rounds(VIEWS); seed++) {
        host_view *view = &c.view[0];
        fill(seed, bytes);
        random_views_make(bytes, sizeof bytes, &c.host, c.view);
        view->failure = FAILURE_NONE;
        view->table = TABLE_WHOLE;
        view->has_visible = view->has_dra = view->request.only_running = 0;
        view->request.device = NULL;
        view->request.n_device = 0;
        if (view->n_npu < c.host.n_npu || has_gpu(&c.host))
            continue;
        view->request.scope = CPUBIND_SCOPE_CPUSET;
        view_law_plan(view, &c.plan[0]);
        if (c.plan[0].warnings & (CPUBIND_WARNS(ORDER_DIFFERS) | CPUBIND_WARNS(NO_ADDRESSES)))
            continue;
        c.view[1] = *view;
        c.view[1].request.scope = CPUBIND_SCOPE_OWN;
        view_law_plan(&c.view[1], &c.plan[1]);
        expect_same_pools(&c, seed);
        n++;
    }
    assert_true((uint64_t)n > rounds(VIEWS) / 8);
}

TEST_FILE(NULL, NULL)
