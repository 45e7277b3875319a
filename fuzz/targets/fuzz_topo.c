/* fuzz_topo.c - fuzz target: from the files of a host to its accelerators and a plan by near
 * SPDX-License-Identifier: MIT
 *
 * The input is a host in the form of ../fuzz_host.h.
 */
#include "../fuzz_host.h"

#include "../../adapters/model/facts.h"

enum { ARENA = 1 << 20, MAX_PLAN_CPUS = 1 << 14 };

static void check_function(const cpubind_facts *f, const cpubind_pci_function *function)
{
    int32_t bus = function->pci.bus;
    CHECK(function->n_cpu >= 0 && function->n_number >= 0 &&
          function->n_number <= CPUBIND_PCI_NUMBERS);
    for (int32_t i = 0; i < function->n_cpu; i++) {
        CHECK(i == 0 || function->cpu[i - 1] < function->cpu[i]);
        CHECK(f->node_of[function->cpu[i]] >= 0);
    }
    for (int32_t i = 0; i < function->n_bridge; i++) {
        const cpubind_pci_bridge *bridge = &f->bridge[function->bridge[i]];
        CHECK(bridge->pci.domain == function->pci.domain && bridge->secondary == bus);
        CHECK(bridge->pci.bus < bus);
        bus = bridge->pci.bus;
    }
    CHECK(function->root_bus == -1 || function->root_bus == bus);
    CHECK((function->origin == CPUBIND_NODE_ORIGIN_BRIDGE) == (function->via.domain >= 0));
    CHECK(function->origin != CPUBIND_NODE_ORIGIN_UNKNOWN || function->n_cpu == 0);
    CHECK(function->sight == CPUBIND_SIGHT_VISIBLE || function->n_number == 0);
}

/* The core takes the host and the devices as they are. */
static void check_plan(const cpubind_facts *f)
{
    const cpubind_policy policy = {.strategy = CPUBIND_NEAR,
                                   .overlap = CPUBIND_OVERLAP_RESOLVE,
                                   .roles = {.count = {[CPUBIND_ROLE_MAIN] = 1}}};
    cpubind_plan plan = {.cap_cpu = MAX_PLAN_CPUS, .cap_work = 1 << 17};
    cpubind_fault fault;
    cpubind_status status;
    if (f->n_bus == 0 || f->host.n_cpu == 0)
        return;
    plan.cpu = (int32_t *)fuzz_filled(MAX_PLAN_CPUS * sizeof *plan.cpu, FUZZ_FILL);
    plan.row = (int32_t *)fuzz_filled(((size_t)f->n_bus + 1) * sizeof *plan.row, FUZZ_FILL);
    plan.work = (int32_t *)fuzz_filled((size_t)plan.cap_work * sizeof *plan.work, FUZZ_FILL);
    status = cpubind_make_plan(&f->host, &f->devices, &policy, &plan, &fault);
    CHECK(status == CPUBIND_OK || status == CPUBIND_ERR_TOO_FEW ||
          status == CPUBIND_ERR_EMPTY || status == CPUBIND_ERR_SPACE);
    free(plan.cpu);
    free(plan.row);
    free(plan.work);
}

static void check_facts(const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_bus; i++) {
        CHECK(i == 0 || cpubind_pci_compare(&f->bus[i - 1].pci, &f->bus[i].pci) < 0);
        check_function(f, &f->bus[i]);
    }
    for (int32_t i = 0; i < f->n_nic; i++)
        check_function(f, &f->nic[i]);
    for (int32_t i = 0; i < f->n_bus * f->n_nic; i++)
        CHECK(f->nearness[i] >= 0 && f->nearness[i] < CPUBIND_NEARNESS_COUNT);
    check_plan(f);
}

static void check_host(const char *text, int32_t len)
{
    memory_host h;
    cpubind_arena arena;
    const cpubind_pci_request request = {.wants_nics = 1, .wants_cores = 1};
    memset(&h, 0, sizeof h);
    take_entries(&h, next_entry(text, text + len), text + len);
    arena.base = (char *)fuzz_filled(ARENA, FUZZ_FILL);
    for (size_t size = ARENA; size > 0; size = size == ARENA ? (size_t)len * 64 % ARENA : 0) {
        const cpubind_source source = {&h, read_entry, list_entries};
        cpubind_facts facts;
        cpubind_problem fault;
        cpubind_problem_code status;
        arena.size = size;
        arena.used = 0;
        status = cpubind_devices_read(&source, &request, &arena, &facts, &fault);
        CHECK(status != CPUBIND_PROBLEM_UNKNOWN_DEVICE);
        if (status == CPUBIND_PROBLEM_NONE)
            check_facts(&facts);
        else if (status == CPUBIND_PROBLEM_UNREADABLE)
            CHECK(fault.input && fault.what && fault.offset >= -1);
    }
    free(arena.base);
    free_host(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_host);
}
