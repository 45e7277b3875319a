/* test_device_cases.c - hosts, and their devices, bridges, nodes and network cards
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/pci/cases/NAME.txt. A folder is made of the names of the files, as in a
 * corpus. Besides the verbs of host_cases.h:
 *   ask WORD=VALUE ...    this is asked, and nothing else: nics=1, cores=1, no_bus=1, own=CPUS,
 *                         named=ADDRESS, class=DIGITS
 *   devices               reads the devices
 *   arena N M             the smallest arena that is enough has N to M bytes; a smaller one
 *                         says so
 */
#include <inttypes.h>

#include "../../adapters/model/facts.h"
#include "../support/host_cases.h"
#include "../support/lists.h"

static cpubind_pci_request ask;
static cpubind_pci_address named[4];
static int32_t own[CPUBIND_MAX_CPUS];

/* == What is asked ========================================================== */

static void ask_one(const char *word, const char *value)
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

/* The text of a step is cut for good: a case runs once. */
static void ask_all(step *now)
{
    char *rest = now->rest;
    ask = (cpubind_pci_request){.n_named = 0};
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = word + strcspn(word, "=");
        assert_int_equal(*value, '=');
        *value++ = '\0';
        ask_one(word, value);
    }
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
static void say_sight(said *s, const cpubind_pci_function *f)
{
    static const char *const words[] = {"; sight not known", "; visible", "; hidden"};
    say(s, "%s", words[f->sight]);
    for (int32_t i = 0; i < f->n_number; i++) {
        say(s, "%s%d", i ? "," : " as ", f->number[i]);
        if (f->tile[i] >= 0)
            say(s, " (tile %d)", f->tile[i]);
    }
}

static void say_function(said *s, const cpubind_facts *facts, const cpubind_pci_function *f)
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
    if (f->root_bus != f->pci.bus)
        say(s, "; root bus %02x", (unsigned)f->root_bus);
    if (f->memory_node >= 0)
        say(s, "; memory on node %d", f->memory_node);
    say_text(s, "model", f->model, f->model_len);
    say_text(s, "uuid", f->uuid, f->uuid_len);
    say_text(s, "interface", f->interface, f->interface_len);
    if (f->is_virtual)
        say(s, "; virtual");
    if (f->n_virtual)
        say(s, "; has %d virtual", f->n_virtual);
}

static void say_device(said *s, const cpubind_facts *facts, int32_t i)
{
    const cpubind_pci_function *f = &facts->bus[i];
    say(s, "> %s", cpubind_vendor_word(f->accelerator.vendor));
    if (f->accelerator.product)
        say(s, " %s", f->accelerator.product);
    say_function(s, facts, f);
    say_sight(s, f);
    say(s, "\n");
}

static void say_card(said *s, const cpubind_facts *facts, int32_t i)
{
    say(s, "> card");
    say_function(s, facts, &facts->nic[i]);
    for (int32_t d = 0; d < facts->n_bus; d++)
        say(s, "%s%s", d ? ", " : "; to the devices ",
            cpubind_nearness_word((cpubind_nearness)facts->nearness[d * facts->n_nic + i]));
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
    const cpubind_host *h = &f->host;
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

static void read_devices(step *now)
{
    static char memory[1 << 20];
    static said s;
    const cpubind_source source = {&host, read_input, list_inputs};
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_facts facts;
    cpubind_problem problem;
    s.len = 0;
    host.seen[0] = '\0';
    if (cpubind_devices_read(&source, &ask, &arena, &facts, &problem) != CPUBIND_PROBLEM_NONE) {
        say(&s, "> refused %s %s at %d: %s", cpubind_problem_word(problem.code),
            problem.input ? problem.input : "-", problem.offset, problem.what);
        say_address(&s, &problem.pci);
        say(&s, "\n");
        expect(now, &s);
        return;
    }
    say_host(&s, &facts);
    for (int32_t i = 0; i < facts.n_bus; i++)
        say_device(&s, &facts, i);
    for (int32_t i = 0; i < facts.n_nic; i++)
        say_card(&s, &facts, i);
    for (int32_t i = 0; i < CPUBIND_VENDOR_COUNT; i++)
        if (facts.runtime[i].why)
            say(&s, "> %s: %s\n", facts.runtime[i].word, facts.runtime[i].why);
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++)
        if (facts.warnings >> i & 1u)
            say(&s, "> warns %s\n", cpubind_warning_word((cpubind_warning)i));
    expect(now, &s);
}

static void try_arenas(step *now)
{
    const cpubind_source source = {&host, read_input, list_inputs};
    cpubind_problem_code code = CPUBIND_PROBLEM_NO_MEMORY;
    int32_t least, most;
    size_t size = 0;
    assert_int_equal(sscanf(now->rest, "%" SCNd32 " %" SCNd32, &least, &most), 2);
    for (; code == CPUBIND_PROBLEM_NO_MEMORY; size += 256) {
        cpubind_arena arena = {(char *)malloc(size + 1), size, 0};
        cpubind_facts facts;
        cpubind_problem problem;
        host.seen[0] = '\0';
        code = cpubind_devices_read(&source, &ask, &arena, &facts, &problem);
        free(arena.base);
    }
    assert_int_equal(code, CPUBIND_PROBLEM_NONE);
    assert_in_range(size, least, most);
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

static int run_all(void)
{
    static const verb of_program[] = {{"on", stand_on_folders}, HOST_VERBS,
                                      {"ask", ask_all},         {"devices", read_devices},
                                      {"arena", try_arenas},    {NULL, NULL}};
    return run_cases("device_cases", "pci/cases", of_program, start);
}

TEST_PROGRAM(run_all)
