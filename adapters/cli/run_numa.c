/* run_numa.c - run --numa-bind: a rank on the node of its device, or on lists
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing but the memory policy of this process. The rules and the words of the
 * messages are those of vLLM (config/parallel.py, utils/numa_utils.py) and of SGLang
 * (srt/utils/numa_utils.py), where a user would search for them.
 */
#include "run_numa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../linux/bind/numa_policy.h"
#include "../plan/numa_bind.h"
#include "../text/procfs.h"
#include "find_device.h"
#include "host_call.h"

static int has_lists(const api_options *o)
{
    return o->n_numa_node > 0 || o->n_numa_cpus > 0;
}

/* == Options ================================================================ */

/* The number of at most six digits that a text begins with; as for numactl it may begin with
 * zeros. */
static int32_t number_at(const char *text)
{
    int32_t value = 0;
    for (int i = 0; i < 6 && text[i] >= '0' && text[i] <= '9'; i++)
        value = 10 * value + (text[i] - '0');
    return value;
}

/* Why a text is no list of CPUs as numactl takes it, or NULL. */
static const char *cpus_fault(const char *text)
{
    static const char syntax[] =
        "numa_bind_cpus entries must use numactl CPU list syntax, for example '0-3' or "
        "'0,2,4-7'";
    const char *at = text;
    if (text[0] == '\0')
        return "numa_bind_cpus entries must not be empty";
    for (;;) {
        size_t n = strspn(at, "0123456789");
        const char *first = at;
        if (n == 0 || n > 6)
            return syntax;
        at += n;
        if (*at == '-') {
            n = strspn(++at, "0123456789");
            if (n == 0 || n > 6)
                return syntax;
            if (number_at(at) < number_at(first)) {
                static char descending[160];
                (void)snprintf(descending, sizeof descending,
                               "numa_bind_cpus ranges must be ascending, but got '%.80s'",
                               text);
                return descending;
            }
            at += n;
        }
        if (*at == '\0')
            return NULL;
        if (*at++ != ',')
            return syntax;
    }
}

const char *cli_numa_conflict(const api_options *o)
{
    if (has_lists(o) && !o->numa_bind)
        return "numa_bind_nodes and numa_bind_cpus require numa_bind=True: give --numa-bind, "
               "too";
    for (int32_t i = 0; i < o->n_numa_node; i++) {
        const char *text = o->numa_node[i];
        if (text[0] == '\0')
            return "numa_bind_nodes must not be empty";
        if (strlen(text) > 4 || text[strspn(text, "0123456789")])
            return "numa_bind_nodes must contain non-negative integers";
    }
    for (int32_t i = 0; i < o->n_numa_cpus; i++)
        if (cpus_fault(o->numa_cpus[i]))
            return cpus_fault(o->numa_cpus[i]);
    if (o->numa_bind && o->has_index && o->request.has_rank)
        return "--index and --rank each say which worker this is; give one";
    return NULL;
}

/* == Lists or the plan ====================================================== */

/* Whether this host may have NPUs: the class of their driver, which containers see, too, or the
 * node of its manager is there. Two names in place of the whole bus. */
static int may_have_npus(const api_options *options)
{
    static const char *const names[] = {"/sys/class/devdrv-class", "/dev/davinci_manager"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (access(names[i], F_OK) == 0 || errno != ENOENT)
            return 1;
    return options->root || options->fixture;
}

void cli_take_numa_address(api_options *o)
{
    if (!o->numa_bind || o->device.n != 1 || o->device.item[0].number >= 0)
        return;
    (void)api_name_function(o, &o->device.item[0].pci, -1);
    o->device.n = 0;
}

int cli_wants_numa(api_options *o, int *is_wanted)
{
    static api_host host; /* large, and a stack may have 64 KiB; closed at the end */
    api_planned read = {0};
    api_text why = {"", 0};
    int status = o->numa_bind ? cli_find_named(o) : API_DONE;
    *is_wanted = o->numa_bind && status == API_DONE &&
                 (api_asks_for_devices(o) || (!api_npu_option(o) && !may_have_npus(o)));
    if (status != API_DONE || !o->numa_bind || *is_wanted ||
        (api_npu_option(o) && !(o->one_npu >= 0 && has_lists(o))))
        return status;
    status = cli_open_host(o, &host, &why);
    if (status == API_DONE) {
        api_read_devices(&host.source, o, &read);
        *is_wanted = !cli_has_npus(&host.source, o, &read);
    }
    api_free_planned(&read);
    api_close_host(&host);
    if (status != API_DONE)
        return cli_fail(o, status, why.text);
    if (!*is_wanted && has_lists(o))
        return cli_fail(
            o, API_REFUSED,
            "on a host with NPUs --numa-bind means the plan, which knows the CPUs of "
            "each role and of the other workers: leave out --numa-bind-nodes and "
            "--numa-bind-cpus; they are taken where --device ADDRESS names the device");
    return API_DONE;
}

/* == The place by numa-bind ================================================= */

/* The lists of the options. */
typedef struct bind_lists {
    int32_t node[API_MAX_NUMA];
    int32_t *cpu; /* free(3) */
    int32_t row[API_MAX_NUMA + 1];
} bind_lists;

static int read_lists(const api_options *o, bind_lists *out)
{
    for (int32_t i = 0; i < o->n_numa_node; i++)
        out->node[i] = number_at(o->numa_node[i]);
    for (int32_t i = 0; i < o->n_numa_cpus; i++) {
        api_numbers list = {NULL, 0};
        api_text why;
        int32_t at = 0;
        const char *fault = api_read_numbers(o->numa_cpus[i], CPUBIND_MAX_CPUS, &list, &at);
        int32_t *more = (int32_t *)realloc(
            out->cpu, ((size_t)out->row[i] + (size_t)list.n + 1) * sizeof *more);
        if (more)
            out->cpu = more;
        if (more && list.n > 0)
            memcpy(more + out->row[i], list.item, (size_t)list.n * sizeof *more);
        out->row[i + 1] = out->row[i] + list.n;
        free(list.item);
        if (more && !fault)
            continue;
        why = (api_text){"", 0};
        if (!more)
            return api_no_room(&why);
        api_add(&why, "--numa-bind-cpus \"%.80s\": %s", o->numa_cpus[i], fault);
        return cli_fail(o, API_USAGE, why.text);
    }
    return API_DONE;
}

static cpubind_numa_bind_status find(const cpubind_numa_asked *asked, cli_numa_place *out,
                                     cpubind_numa_bound *bound)
{
    cpubind_numa_bind_status status = CPUBIND_NUMA_BIND_NO_MEMORY;
    for (size_t size = (size_t)1 << 14; size <= (size_t)1 << 28; size *= 4) {
        free(out->arena.base);
        out->arena = (cpubind_arena){(char *)malloc(size), size, 0};
        if (!out->arena.base)
            return CPUBIND_NUMA_BIND_NO_MEMORY;
        status = cpubind_numa_bind_find(&out->bound->planned.facts, asked, &out->arena, bound);
        if (status != CPUBIND_NUMA_BIND_NO_MEMORY)
            break;
    }
    return status;
}

/* Appends why a rank is not bound. Returns whether that is only a warning: nothing that the
 * user has named is wrong, and the other ranks are bound. */
static int explain(const api_options *o, const cli_numa_place *place,
                   cpubind_numa_bind_status status, const cpubind_numa_bound *bound,
                   api_text *why)
{
    const cpubind_facts *f = &place->bound->planned.facts;
    const int32_t index = o->request.rank;
    switch (status) {
    case CPUBIND_NUMA_BIND_PAST_NODES:
    case CPUBIND_NUMA_BIND_PAST_CPUS:
        api_add(why,
                "GPU index %d exceeds %s size %d. Ensure the binding lists cover every visible "
                "GPU.",
                (int)index,
                status == CPUBIND_NUMA_BIND_PAST_NODES ? "numa_bind_nodes" : "numa_bind_cpus",
                (int)bound->n_rank);
        return 0;
    case CPUBIND_NUMA_BIND_PAST_DEVICES:
        if (bound->n_rank == 0)
            api_add(why, "NUMA binding was requested, but cpubind could not detect the "
                         "GPU-to-NUMA topology automatically: the PCI bus has no accelerator "
                         "that it knows. Pass --numa-bind-nodes explicitly or disable "
                         "--numa-bind.");
        else {
            api_add(why, "index %d is past the %d devices that this process sees", (int)index,
                    (int)bound->n_rank);
            api_add_only_device(f, why);
        }
        return 0;
    case CPUBIND_NUMA_BIND_NO_NODE:
        api_add(why, "--numa-bind-nodes names node %d, and this host has nodes ",
                (int)bound->bad_node);
        api_add_list(why, f->all_node, f->n_all_node);
        return 0;
    case CPUBIND_NUMA_BIND_NO_PLACE:
        api_add(why, "Could not detect NUMA node for GPU %d (", (int)index);
        api_add_pci(why, &f->bus[bound->device].pci);
        api_add(why, "): this rank is not bound, the others are");
        return 1;
    case CPUBIND_NUMA_BIND_NOT_ALLOWED:
        if (o->n_numa_cpus > 0)
            api_add(why, "numa_bind_cpus entry %d", (int)index);
        else
            api_add(why, "NUMA node %d",
                    (int)(bound->device < 0 ? number_at(o->numa_node[index])
                                            : f->bus[bound->device].node));
        api_add(why, " has no CPU cores allowed by the current affinity [");
        api_add_list(why, bound->allowed, bound->n_allowed);
        api_add(why, "], skipping NUMA binding for GPU %d", (int)index);
        return !has_lists(o);
    default:
        (void)api_no_room(why);
        return 0;
    }
}

static int take_bound(const api_options *o, const cpubind_numa_bound *bound,
                      cli_numa_place *out)
{
    int32_t *node = (int32_t *)cpubind_arena_ints(&out->arena, bound->n_node);
    if (!node)
        return cli_fail(o, API_REFUSED, "there is no memory left");
    if (bound->n_node > 0)
        memcpy(node, bound->node, (size_t)bound->n_node * sizeof *node);
    out->node = node;
    out->n_node = bound->n_node;
    out->device = bound->device;
    out->cpu = bound->cpu;
    out->n_cpu = bound->n_cpu;
    if (bound->is_shared && !o->quiet)
        fprintf(stderr, "cpubind: warning: there are more ranks than CPUs on the node: other "
                        "ranks have the CPUs of this one, too\n");
    return API_DONE;
}

static int read_devices(const cpubind_source *source, const api_options *o, cli_numa_place *out)
{
    api_planned *read = &out->bound->planned;
    api_text why = {"", 0};
    cpubind_pci_request asked = o->topo;
    const cpubind_request seen = {.visible = o->request.visible,
                                  .visible_len = o->request.visible_len};
    asked.named = asked.n_named > 0 ? o->pci : NULL;
    api_free_planned(read);
    api_read_asked(source, &asked, &seen, read);
    if (read->code == CPUBIND_PROBLEM_NONE && o->topo.n_named == 1) {
        /* The device that is named, whether or not this process sees it. */
        read->facts.bus[0].sight = CPUBIND_SIGHT_VISIBLE;
        read->facts.bus[0].n_number = 0;
    }
    if (read->code == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    return cli_fail(o, api_judge_devices(read, o, &why), why.text);
}

/* Takes the only device that this process sees of several, whatever the number of the rank: a
 * launcher such as srun --gpus-per-task=1 shows each rank its own.
 *   returns whether there is such a device */
static int take_only_device(api_options *o, const cli_numa_place *place,
                            const cpubind_numa_bound *bound, cpubind_numa_asked *asked)
{
    if (bound->n_rank != 1 || !api_drives_only_device(&place->bound->planned.facts, o))
        return 0;
    if (!o->quiet)
        fprintf(stderr,
                "cpubind: rank %d sees one of the %d devices of the host, and is bound to "
                "it\n",
                (int)asked->index, (int)place->bound->planned.facts.n_bus);
    o->request.rank = asked->index = 0;
    return 1;
}

/* Lists need no device, and the cores only where ranks share a node: a command starts at once
 * on a host with many. */
static int numa_bind(const cpubind_source *source, api_options *o, cli_numa_place *out)
{
    bind_lists lists = {.cpu = NULL};
    cpubind_lists cpus = {NULL, lists.row, o->n_numa_cpus};
    cpubind_numa_asked asked = {.index = o->request.rank,
                                .node = o->n_numa_node ? lists.node : NULL,
                                .n_node = o->n_numa_node,
                                .limits = {o->request.allowed, o->request.n_allowed,
                                           o->request.exclude, o->request.n_exclude}};
    cpubind_numa_bound bound = {.has_rivals = 0};
    cpubind_numa_bind_status found = CPUBIND_NUMA_BIND_NO_MEMORY;
    api_text doubt = {"", 0};
    int status = read_lists(o, &lists);
    cpus.cpu = lists.cpu;
    asked.cpus = o->n_numa_cpus ? &cpus : NULL;
    o->topo.no_bus = has_lists(o) && !api_asks_for_devices(o);
    o->topo.wants_cores = !has_lists(o);
    if (status == API_DONE)
        status = read_devices(source, o, out);
    if (status == API_DONE && !has_lists(o) &&
        api_check_rank_doubt(&out->bound->planned.facts, o, &doubt) != API_DONE)
        status = cli_fail(o, API_REFUSED, doubt.text);
    if (status == API_DONE)
        found = find(&asked, out, &bound);
    if (found == CPUBIND_NUMA_BIND_PAST_DEVICES && take_only_device(o, out, &bound, &asked))
        found = find(&asked, out, &bound);
    if (status == API_DONE && bound.has_rivals && !o->topo.wants_cores) {
        o->topo.wants_cores = 1;
        status = read_devices(source, o, out);
        if (status == API_DONE)
            found = find(&asked, out, &bound);
    }
    if (status == API_DONE && found == CPUBIND_NUMA_BIND_OK)
        status = take_bound(o, &bound, out);
    else if (status == API_DONE) {
        api_text why = {"", 0};
        if (explain(o, out, found, &bound, &why) && !o->is_strict)
            fprintf(stderr, "cpubind: warning: %s\n", why.text);
        else
            status = cli_fail(o, API_REFUSED, why.text);
    }
    free(lists.cpu);
    return status;
}

/* == The goal =============================================================== */

static cpubind_problem_code make_goal(void *ctx, cpubind_arena *arena)
{
    static const cpubind_device_plan none;
    const cli_numa_place *place = (const cli_numa_place *)ctx;
    api_bound *bound = place->bound;
    cpubind_goal_pool pool = {.cpu = place->cpu, .n_cpu = place->n_cpu, .memory_node = -1};
    const cpubind_goal_request request = {.facts = &bound->planned.facts,
                                          .plan = &none,
                                          .row = -1,
                                          .pool = &pool,
                                          .wish = place->options->wish,
                                          .n_wish = place->options->n_wish};
    for (int role = CPUBIND_ROLE_MAIN; role < CPUBIND_ALL_ROLES; role++)
        pool.roles.span[role] = (cpubind_span){role > CPUBIND_ROLE_MAIN ? place->n_cpu : 0,
                                               role == CPUBIND_ROLE_MAIN ? place->n_cpu : 0};
    return cpubind_goal_make(&bound->live.source, &request, arena, &bound->goal,
                             &bound->planned.problem);
}

/* Makes bound->goal of the place. Returns the exit status. */
static int aim(cli_numa_place *place)
{
    api_bound *bound = place->bound;
    const cpubind_facts *f = &bound->planned.facts;
    if (cpubind_with_arena(NULL, &bound->arena, make_goal, place) != CPUBIND_PROBLEM_NONE)
        return cli_no_memory();
    bound->goal.rules = place->device < 0 ? NULL : cpubind_rules_word(CPUBIND_RULES_NEAR);
    if (place->device < 0)
        return API_DONE;
    (void)cpubind_pci_format(bound->goal.pci, &f->bus[place->device].pci);
    bound->product = f->bus[place->device].accelerator.product;
    return API_DONE;
}

int cli_place_numa(api_options *o, api_bound *bound, cli_numa_place *out)
{
    const int is_live = !o->root && !o->fixture;
    api_text why = {"", 0};
    int status = api_prepare_bound(o, bound, !is_live, &why);
    *out = (cli_numa_place){.options = o, .bound = bound, .device = -1};
    if (status == API_DONE && !is_live)
        status = cli_open_host(o, &bound->host, &why);
    if (status != API_DONE)
        return cli_fail(o, status, why.text);
    if (o->n_numa_node > 0 && o->n_numa_cpus > 0 && is_live) {
        const cpubind_cpus own = cpubind_bind_now(bound->binding);
        o->topo.own_cpu = own.n > 0 ? own.cpu : NULL;
        o->topo.n_own_cpu = own.n;
    }
    status = numa_bind(is_live ? &bound->live.source : &bound->host.source, o, out);
    return status == API_DONE && out->n_cpu > 0 ? aim(out) : status;
}

/* == Memory ================================================================= */

int cli_set_numa_policy(const api_options *o, const cli_numa_place *place)
{
    static const char *const words[] = {"hard memory binding", "soft preferred policy",
                                        "CPU-only binding"};
    cpubind_numa_policy policy = o->has_memory ? CPUBIND_POLICY_PREFER : CPUBIND_POLICY_BIND;
    if (place->n_node == 0 || o->memory == CPUBIND_MEMORY_NONE)
        return API_DONE;
    for (; policy != CPUBIND_POLICY_ANY; policy = (cpubind_numa_policy)(policy + 1)) {
        cpubind_linux_fault fault = {0};
        api_text why = {"", 0};
        if (cpubind_numa_policy_set(policy, place->node, place->n_node, NULL, &fault) ==
            CPUBIND_LINUX_OK)
            return API_DONE;
        api_add(&why, "the kernel rejected %s to NUMA node ", words[policy]);
        api_add_list(&why, place->node, place->n_node);
        api_add(&why, " (set_mempolicy: %s)", strerror(fault.error));
        if (o->is_strict)
            return cli_fail(o, API_UNWRITTEN, why.text);
        fprintf(stderr, "cpubind: warning: %s; falling back to %s%s\n", why.text,
                words[policy + 1],
                fault.error == EPERM ? ". Add --cap-add SYS_NICE for full NUMA binding." : "");
    }
    return API_DONE;
}
