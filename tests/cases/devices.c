/* devices.c - hosts, and their devices, bridges, nodes and network cards
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/devices_*.txt. A folder is made of the names of the files, as in a
 * corpus. Besides the verbs of host.h:
 *   on NAME               the host is NAME as its file of cases has it, and nothing is asked
 *   ask WORD=VALUE ...    this is asked, and nothing else: nics=1, cores=1, no_bus=1, own=CPUS,
 *                         named=ADDRESS, class=DIGITS
 *   devices               reads the devices
 *   arena N M             the smallest arena that is enough has N to M bytes; a smaller one
 *                         says so
 *   plan WORD=VALUE ...   plans the devices: rules=near|reference, roles=IRQ,MAIN,ACL,RELEASE
 *   bind WORD=VALUE ...   the CPUs and nodes of rank index=N of a NUMA binding, with nodes=LIST
 *                         of the ranks, and cpus=LIST|LIST: in order, not only ascending
 *   examine WORD=VALUE ...   what doctor finds beside a plan of the devices, and does not know:
 *                         live=1, ms=N that npu-smi took, npu=1 with an NPU that no bus has,
 *                         user=PID of the first device, bus=0 without a plan
 *   nodes                 the device files of the devices and their numbers; what could not be
 *                         read. Each number leads back to its device
 */
#include <inttypes.h>

#include "../../adapters/doctor/doctor.h"
#include "../../adapters/model/facts.h"
#include "../../adapters/pci/device_users.h"
#include "../../adapters/plan/numa_bind.h"
#include "../../adapters/plan/plan.h"
#include "../support/lists.h"
#include "host.h"

static cpubind_pci_request ask;
static cpubind_request request;
static cpubind_pci_address named[4];
static int32_t own[CPUBIND_MAX_CPUS];

/* == What is asked ========================================================== */

static void ask_one(char *word, const char *value)
{
    if (strcmp(word, "nics") == 0) {
        ask.wants_nics = 1;
    } else if (strcmp(word, "cores") == 0) {
        ask.wants_cores = 1;
    } else if (strcmp(word, "no_bus") == 0) {
        ask.no_bus = 1;
    } else if (strcmp(word, "own") == 0) {
        ask.own_cpu = own;
        ask.n_own_cpu = lists_read(&value, own);
    } else if (strcmp(word, "class") == 0) {
        ask.class_digits = (int32_t)strlen(value);
        ask.class_code = (int32_t)strtol(value, NULL, 16);
    } else if (strcmp(word, "named") == 0) {
        cpubind_pci_address *pci = &named[ask.n_named++];
        assert_int_equal(sscanf(value, "%" SCNx32 ":%" SCNx32 ":%" SCNx32 ".%" SCNx32,
                                (uint32_t *)&pci->domain, (uint32_t *)&pci->bus,
                                (uint32_t *)&pci->device, (uint32_t *)&pci->function),
                         4);
        ask.named = named;
    } else {
        fail_msg("%s: nothing is called so that can be asked", word);
    }
}

/* Each WORD=VALUE of a step, whose text is cut for good: a case runs once. */
static void each_word(step *now, void (*take)(char *word, const char *value))
{
    char *rest = now->rest;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = word + strcspn(word, "=");
        assert_int_equal(*value, '=');
        *value++ = '\0';
        take(word, value);
    }
}

static void ask_all(step *now)
{
    ask = (cpubind_pci_request){.n_named = 0};
    each_word(now, ask_one);
}

/* == What there is ========================================================== */

static void say_address(said *s, const cpubind_pci_address *pci)
{
    if (pci->domain >= 0)
        say(s, " %04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
            (unsigned)pci->device, (unsigned)pci->function);
}

static void say_text(said *s, const char *word, const char *text, int32_t len)
{
    if (text)
        say(s, "; %s %.*s", word, (int)len, text);
}

/* What the process sees of a device: the numbers of its runtime, of a tile with the tile. */
static void say_sight(said *s, const cpubind_host_device *f)
{
    static const char *const words[] = {"; sight not known", "; visible", "; hidden"};
    say(s, "%s", words[f->sight]);
    for (int32_t i = 0; i < f->n_number; i++) {
        say(s, "%s%d", i ? "," : " as ", f->number[i]);
        if (f->tile[i] >= 0)
            say(s, " (tile %d)", f->tile[i]);
    }
}

static void say_function(said *s, const cpubind_facts *facts, const cpubind_host_device *f)
{
    say_address(s, &f->pci);
    say(s, "; node %d", f->node);
    if (f->origin != CPUBIND_NODE_ORIGIN_UNKNOWN)
        say(s, " by %s", cpubind_node_origin_word(f->origin));
    say_address(s, &f->via);
    if (f->numa_node != f->node)
        say(s, ", of the kernel %d", f->numa_node);
    if (f->n_cpu > 0) {
        say(s, " near ");
        say_list(s, f->cpu, f->n_cpu);
    }
    for (int32_t i = 0; i < f->n_bridge; i++) {
        say(s, i ? "" : "; below");
        say_address(s, &facts->bridge[f->bridge[i]].pci);
    }
    if (f->root_bus >= 0 && f->root_bus != f->pci.bus)
        say(s, "; root bus %02x", (unsigned)f->root_bus);
    if (f->memory_node >= 0)
        say(s, "; memory on node %d", f->memory_node);
    say_text(s, "model", f->model, f->model_len);
    say_text(s, "uuid", f->uuid, f->uuid_len);
    say_text(s, "interface", cpubind_card_name(f).at, cpubind_card_name(f).len);
    if (f->is_virtual)
        say(s, "; virtual");
    if (f->n_virtual)
        say(s, "; has %d virtual", f->n_virtual);
}

static void say_device(said *s, const cpubind_facts *facts, int32_t i)
{
    const cpubind_host_device *f = &facts->bus[i];
    say(s, "> %s", cpubind_vendor_word(f->accelerator.vendor));
    if (f->accelerator.product)
        say(s, " %s", f->accelerator.product);
    say_function(s, facts, f);
    say_sight(s, f);
    say(s, "\n");
}

static void say_card(said *s, const cpubind_facts *facts, const cpubind_host_device *card)
{
    say(s, "> card");
    say_function(s, facts, card);
    for (int32_t d = 0; d < facts->n_bus; d++)
        say(s, "%s%s", d ? ", " : "; to the devices ",
            cpubind_nearness_word(cpubind_nearness_of(&facts->bus[d], card)));
    say(s, "\n");
}

static void say_numbers(said *s, const char *word, const int32_t *number, int32_t n)
{
    if (!number)
        return;
    say(s, "; %s", word);
    for (int32_t i = 0; i < n; i++)
        say(s, " %d", number[i]);
}

/* What a plan is made of. */
static void say_host(said *s, const cpubind_facts *f)
{
    const cpubind_topology *h = &f->host;
    say(s, "> cpus ");
    say_list(s, h->cpu, h->n_cpu);
    if (!f->has_nodes)
        say(s, "; no nodes");
    say_numbers(s, "on nodes", h->node, h->n_cpu);
    say_numbers(s, "cores", h->core, h->n_cpu);
    say_numbers(s, "sockets", h->socket, h->n_node);
    say_numbers(s, "distances", h->distance, h->n_node * h->n_node);
    if (f->n_all_node != f->n_node)
        say_numbers(s, "all nodes", f->all_node, f->n_all_node);
    if (f->n_node > 1 && !f->distance)
        say(s, "; no distances");
    if (!f->core_of)
        say(s, "; no cores");
    say(s, "\n");
}

/* Reads the host into an arena. */
static cpubind_problem_code read_host(cpubind_arena *arena, cpubind_facts *facts,
                                      cpubind_problem *problem)
{
    const cpubind_source source = source_of_host();
    cpubind_request asked = request;
    asked.is_auto_strategy = asked.has_rules = 1;
    asked.scope = CPUBIND_SCOPE_CPUSET;
    asked.bus = &ask;
    return cpubind_facts_read(&source, &asked, arena, facts, problem);
}

enum { MEMORY = 4 << 20 };

static char *memory;
static cpubind_arena whole_arena;
static cpubind_facts facts;
static cpubind_problem problem;
static said got;

static void say_refused(const cpubind_problem *p)
{
    say(&got, "> refused %s %s at %d: %s", cpubind_problem_word(p->code),
        p->input ? p->input : "-", p->offset, p->what);
    say_address(&got, &p->pci);
    say(&got, "\n");
}

/* Reads the host. Returns 0 when it cannot be read, which is said. */
static int has_facts(void)
{
    memory = memory ? memory : (char *)malloc(MEMORY);
    assert_non_null(memory);
    whole_arena = (cpubind_arena){memory, MEMORY, 0};
    got.len = 0;
    got.text[0] = '\0';
    if (read_host(&whole_arena, &facts, &problem) == CPUBIND_PROBLEM_NONE)
        return 1;
    say_refused(&problem);
    return 0;
}

static void read_devices(step *now)
{
    const int is_read = has_facts();
    if (is_read)
        say_host(&got, &facts);
    for (int32_t i = 0; is_read && i < facts.n_bus; i++)
        say_device(&got, &facts, i);
    for (int32_t i = 0; is_read && i < facts.cards[CPUBIND_NIC].n; i++)
        say_card(&got, &facts, &facts.cards[CPUBIND_NIC].at[i]);
    for (int32_t i = 0; is_read && i < CPUBIND_VENDOR_COUNT; i++)
        if (facts.runtime[i].why)
            say(&got, "> %s: %s\n", facts.runtime[i].word, facts.runtime[i].why);
    for (int i = 0; is_read && i < CPUBIND_WARNING_COUNT; i++)
        if (facts.warnings >> i & 1u)
            say(&got, "> warns %s\n", cpubind_warning_word((cpubind_warning)i));
    expect(now, &got);
}

static void try_arenas(step *now)
{
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_problem_code code;
    int32_t least, most;
    assert_int_equal(sscanf(now->rest, "%" SCNd32 " %" SCNd32, &least, &most), 2);
    do {
        grow(&arena, 256);
        code = read_host(&arena, &facts, &problem);
    } while (code == CPUBIND_PROBLEM_NO_MEMORY);
    free(arena.base);
    assert_int_equal(code, CPUBIND_PROBLEM_NONE);
    assert_in_range(arena.size, least, most);
}

/* == Plans ================================================================== */

static cpubind_role_spec roles;

static void ask_of_plan(char *word, const char *value)
{
    if (strcmp(word, "rules") == 0)
        request.rules = *value == 'n' ? CPUBIND_RULES_NEAR : CPUBIND_RULES_REFERENCE;
    assert_true(strcmp(word, "roles") != 0 ||
                sscanf(value, "%d,%d,%d,%d", &roles.count[0], &roles.count[1], &roles.count[2],
                       &roles.count[3]) == 4);
    if (strcmp(word, "roles") == 0)
        request.roles = &roles;
}

static void say_unit(const cpubind_unit *unit)
{
    say(&got, "> rank %d:", unit->rank);
    say_address(&got, &facts.device[unit->device]->pci);
    if (unit->tile >= 0)
        say(&got, " tile %d", unit->tile);
    if (unit->problem.code != CPUBIND_PROBLEM_NONE) {
        say(&got, ": %s; needs %d\n", cpubind_problem_word(unit->problem.code),
            unit->problem.need);
        return;
    }
    say(&got, ": pool ");
    say_list(&got, unit->cpu, unit->n_cpu);
    say(&got, " roles");
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        say(&got, " ");
        say_list(&got, unit->role_cpu + unit->roles.span[role].first,
                 unit->roles.span[role].count);
    }
    say(&got, " memory %d\n", unit->memory_node);
}

/* The ranks of the plan, and the pools of the devices: of one with tiles the whole. */
static void make_plan(step *now)
{
    cpubind_device_plan plan;
    request = (cpubind_request){.rules = CPUBIND_RULES_NEAR};
    each_word(now, ask_of_plan);
    ask.is_plan = 1;
    if (has_facts() && cpubind_plan_devices(&facts, &request, &whole_arena, &plan, &problem) ==
                           CPUBIND_PROBLEM_NONE) {
        say(&got, "> %d pools, %d near cpus; hidden %d\n", plan.quality.pools,
            plan.quality.near_cpus, plan.n_hidden);
        for (int32_t row = 0; row < plan.n_want; row++) {
            say(&got, "> pool of");
            say_address(&got, &facts.device[plan.want[row]]->pci);
            say(&got, ": ");
            say_list(&got, plan.core.cpu + plan.core.row[row],
                     plan.core.row[row + 1] - plan.core.row[row]);
            say(&got, "\n");
        }
        for (int32_t i = 0; i < plan.n_unit; i++)
            say_unit(&plan.unit[i]);
    } else if (got.len == 0) {
        say_refused(&problem);
    }
    expect(now, &got);
}

/* == NUMA binding =========================================================== */

static cpubind_numa_asked asked;
static cpubind_lists cpus;
static int32_t rank_node[64], rank_cpu[256], rank_row[64];

static void ask_of_binding(char *word, const char *value)
{
    if (strcmp(word, "index") == 0) {
        asked.index = (int32_t)strtol(value, NULL, 10);
    } else if (strcmp(word, "nodes") == 0) {
        for (asked.node = rank_node; *value; value += *value == ',') {
            char *end;
            rank_node[asked.n_node++] = (int32_t)strtol(value, &end, 10);
            value = end;
        }
    } else {
        cpus = (cpubind_lists){rank_cpu, rank_row, 0};
        for (asked.cpus = &cpus; *value; value += *value == '|') {
            const int32_t n = lists_read(&value, rank_cpu + rank_row[cpus.n]);
            rank_row[cpus.n + 1] = rank_row[cpus.n] + n;
            cpus.n++;
        }
    }
}

static void bind_rank(step *now)
{
#define WORD(name, text) #name,
    static const char *const words[] = {CPUBIND_NUMA_BIND_LIST(WORD)};
#undef WORD
    cpubind_numa_bound bound;
    cpubind_numa_bind_status status;
    asked = (cpubind_numa_asked){.index = 0};
    each_word(now, ask_of_binding);
    if (has_facts()) {
        cpubind_arena arena = {NULL, 0, 0};
        do {
            grow(&arena, 61);
            status = cpubind_numa_bind_find(&facts, &asked, &arena, &bound);
        } while (status == CPUBIND_NUMA_BIND_NO_MEMORY);
        free(arena.base);
        status = cpubind_numa_bind_find(&facts, &asked, &whole_arena, &bound);
        if (status != CPUBIND_NUMA_BIND_OK) {
            say(&got, "> %s of %d ranks; node %d\n", words[status], bound.n_rank,
                status == CPUBIND_NUMA_BIND_NO_NODE ? bound.bad_node : -1);
        } else {
            say(&got, "> ");
            say_list(&got, bound.cpu, bound.n_cpu);
            say(&got, " on ");
            say_list(&got, bound.node, bound.n_node);
            say(&got, "; device %d; denied %d%s%s\n", bound.device, bound.n_denied,
                bound.has_rivals ? "; has rivals" : "", bound.is_shared ? "; shared" : "");
        }
    }
    expect(now, &got);
}

/* == Doctor ================================================================= */

static cpubind_doctor_request doctor;
static cpubind_user user;
static int32_t n_npu, has_bus;

static void ask_of_doctor(char *word, const char *value)
{
    const int32_t number = (int32_t)strtol(value, NULL, 10);
    if (strcmp(word, "live") == 0)
        doctor.is_live = number;
    else if (strcmp(word, "ms") == 0)
        doctor.npu_smi_ms = number;
    else if (strcmp(word, "npu") == 0)
        n_npu = number;
    else if (strcmp(word, "bus") == 0)
        has_bus = number;
    else
        user.pid = number;
}

static void examine(step *now)
{
    static cpubind_host_device npu = {.accelerator.vendor = CPUBIND_VENDOR_ASCEND,
                                      .pci = {.domain = -1},
                                      .bus = -1,
                                      .n_number = 1};
    static cpubind_host_device *its = &npu;
    const cpubind_source source = source_of_host();
    cpubind_facts listed;
    cpubind_device_plan plan;
    cpubind_doctor_report report;
    const cpubind_users users = {.row = &user, .n = 1};
    cpubind_doctor_bus bus = {.facts = &facts, .plan = &plan};
    request = (cpubind_request){.is_auto_strategy = 1, .rules = CPUBIND_RULES_NEAR};
    doctor = (cpubind_doctor_request){.source = &source, .request = &request, .npu_smi_ms = -1};
    user = (cpubind_user){.device = 0};
    n_npu = 0;
    has_bus = 1;
    each_word(now, ask_of_doctor);
    bus.users = user.pid ? &users : NULL;
    ask.is_plan = has_bus;
    if (has_facts() && has_bus &&
        cpubind_plan_devices(&facts, &request, &whole_arena, &plan, &problem) ==
            CPUBIND_PROBLEM_NONE)
        doctor.bus = &bus;
    listed = facts;
    listed.device = &its;
    listed.n_device = listed.n_listed = listed.has_phy = 1;
    doctor.facts = n_npu ? &listed : NULL;
    got.len = 0;
    assert_int_equal(cpubind_doctor_examine(&doctor, &whole_arena, &report),
                     CPUBIND_PROBLEM_NONE);
    for (int32_t i = 0; i < report.n_finding; i++)
        say(&got, "> %s: %s\n>   %s\n", report.finding[i].check->word,
            report.finding[i].evidence, report.finding[i].command);
    say(&got, "> not known:");
    for (int32_t i = 0; i < report.n_unknown; i++)
        say(&got, " %s", report.unknown[i].check->word);
    say(&got, "\n");
    expect(now, &got);
}

/* == Device files =========================================================== */

static void tell_nodes(step *now)
{
    cpubind_device_nodes nodes;
    if (has_facts()) {
        const cpubind_source source = source_of_host();
        assert_true(cpubind_device_nodes_read(&source, &facts, &whole_arena, &nodes));
        if (!cpubind_device_numbers_read(&source, &facts, &nodes))
            say(&got, "> failed %s\n", nodes.failed);
        for (int32_t i = 0; i < nodes.n; i++) {
            const cpubind_device_node *row = &nodes.row[i];
            say(&got, "> %s", row->path);
            say_address(&got, &facts.bus[row->device].pci);
            say(&got, " is %d:%d\n", row->major, row->minor);
            assert_true(row->major < 0 || cpubind_device_of_number(&nodes, row->major,
                                                                   row->minor) == row->device);
            assert_int_equal(cpubind_device_of_number(&nodes, row->major, 4711), -1);
        }
        for (int32_t i = 0; i < CPUBIND_VENDOR_COUNT; i++)
            if (nodes.compute_major[i] >= 0) {
                say(&got, "> %s computes by %d:%d\n", cpubind_vendor_word((cpubind_vendor_id)i),
                    nodes.compute_major[i], nodes.compute_minor[i]);
                assert_int_equal(cpubind_device_of_number(&nodes, nodes.compute_major[i],
                                                          nodes.compute_minor[i]),
                                 -1);
            }
    }
    expect(now, &got);
}

static void start(void)
{
    ask = (cpubind_pci_request){.n_named = 0};
}

static void stand_on_folders(step *now)
{
    stand_on(now);
    host.has_folders = 1;
    start();
}

static const verb of_driver[] = {
    {"on", stand_on_folders}, HOST_VERBS,
    {"ask", ask_all},         {"devices", read_devices},
    {"arena", try_arenas},    {"plan", make_plan},
    {"bind", bind_rank},      {"examine", examine},
    {"nodes", tell_nodes},    {NULL, NULL},
};

TEST_CASES("devices_*", of_driver, start)
