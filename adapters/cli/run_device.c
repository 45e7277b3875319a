/* run_device.c - the place of a process on a host without NPUs: a device, its node, or lists
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing but the memory policy of this process. The rules of --numa-bind and the words
 * of its messages are those of vLLM (config/parallel.py, utils/numa_utils.py) and of SGLang
 * (srt/utils/numa_utils.py), where a user would search for them.
 */
#include "run_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/process_env.h"
#include "../linux/bind/numa_policy.h"
#include "../text/procfs.h"

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
    if (o->forces_lists && !has_lists(o))
        return "--force-lists is about --numa-bind-nodes and --numa-bind-cpus: give one";
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

int cli_choose_run_rank(api_options *o)
{
    api_text why = {"", 0};
    if ((!o->numa_bind && !o->is_auto) || o->request.has_rank || api_names_device(o))
        return API_DONE;
    if (o->has_index && o->request.n_process == 0) {
        o->request.rank = o->request.process;
        o->request.has_rank = 1;
        o->request.process = 0;
        o->has_index = 0;
        return API_DONE;
    }
    for (int i = 0; cpubind_local_ranks[i]; i++) {
        const char *text = getenv(cpubind_local_ranks[i]);
        if (!text || !*text)
            continue;
        if (text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 6 &&
            cpubind_number_parse(text, (int32_t)strlen(text), &o->request.rank, NULL) ==
                CPUBIND_TEXT_OK) {
            o->request.has_rank = 1;
            return API_DONE;
        }
        api_add(&why, "%s=%.40s is not the number of a rank", cpubind_local_ranks[i], text);
        return cli_fail(o, API_USAGE, why.text);
    }
    api_add(&why, "which rank this is is not known: give --index I, or one of");
    for (int i = 0; cpubind_local_ranks[i]; i++)
        api_add(&why, "%s %s", i ? "," : "", cpubind_local_ranks[i]);
    return cli_fail(o, API_USAGE, why.text);
}

/* == NPU or not ============================================================= */

/* Opens the host of --root or --fixture, else this one. */
static int open_host(const api_options *options, api_host *host)
{
    api_text why = {"", 0};
    const int status = cli_open_host(options, host, &why);
    return status == API_DONE ? API_DONE : cli_fail(options, status, why.text);
}

/* Whether the host has NPUs: on the PCI bus, or npu-smi knows some. */
static int has_npus(const cpubind_source *source, api_options *options, int32_t *n_device)
{
    api_topo topo = {0};
    api_planned planned = {0};
    int has = 0;
    api_topo_read(source, options, &topo);
    *n_device = topo.status == CPUBIND_PROBLEM_NONE ? topo.facts.n_bus : 0;
    for (int32_t i = 0; i < *n_device && !has; i++)
        has = topo.facts.bus[i].accelerator.vendor == CPUBIND_VENDOR_ASCEND;
    api_topo_free(&topo);
    if (has)
        return 1;
    api_make(source, &options->request, &planned);
    has = planned.code != CPUBIND_PROBLEM_NO_NPU_SMI;
    api_free_planned(&planned);
    return has;
}

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

/* Refuses an option of NPUs where there are none. */
static int refuse_npu_option(const api_options *options, const cpubind_source *source)
{
    api_text why = {"", 0};
    return api_lacks_npus(source, options, &why) ? cli_fail(options, API_REFUSED, why.text)
                                                 : API_DONE;
}

int cli_find_named(api_options *options)
{
    const int is_other = options->root || options->fixture;
    api_text why = {"", 0};
    api_host host = {0};
    int status = API_DONE;
    if (options->device.n > 0 && is_other)
        status = cli_open_host(options, &host, &why);
    if (status == API_DONE)
        status = api_find_devices(is_other ? &host.source : NULL, options, &why);
    api_close_host(&host);
    return status == API_DONE ? API_DONE : cli_fail(options, status, why.text);
}

int cli_find_device_kind(api_options *options, int *is_on_device)
{
    const char *option;
    const int is_live = !options->root && !options->fixture;
    static api_host host; /* large, and a stack may have 64 KiB; closed at the end */
    int32_t n_device = 0;
    int status = cli_find_named(options);
    if (status != API_DONE)
        return status;
    option = api_npu_option(options);
    *is_on_device =
        api_asks_for_devices(options) || (options->forces_lists && has_lists(options));
    if (*is_on_device || (option && may_have_npus(options) && is_live))
        return API_DONE;
    *is_on_device = options->numa_bind && !option && !may_have_npus(options);
    if (*is_on_device)
        return API_DONE;
    status = open_host(options, &host);
    if (status == API_DONE && option)
        status = refuse_npu_option(options, &host.source);
    else if (status == API_DONE)
        *is_on_device =
            !has_npus(&host.source, options, &n_device) && (n_device > 0 || options->numa_bind);
    api_close_host(&host);
    return status;
}

/* == The place by a plan ==================================================== */

int cli_take_device_pool(const api_options *o, cli_run_place *out)
{
    const int32_t rank =
        api_rank_of(&out->devices.topo.facts, out->devices.planned.plan.n_unit, o);
    const cpubind_unit *pool = rank < 0 ? NULL : &out->devices.planned.plan.unit[rank];
    api_text why = {"", 0};
    if (!pool) {
        api_add(&why, "rank %d is none of the %d devices that the process sees",
                (int)o->request.rank, (int)out->devices.planned.plan.n_unit);
        api_add_only_device(&out->devices.topo.facts, &why);
        return cli_fail(o, API_REFUSED, why.text);
    }
    if (pool->n_cpu == 0) {
        api_explain_device(&out->devices, rank, o, &why);
        return cli_fail(o, API_REFUSED, why.text);
    }
    out->rank = rank;
    out->device = pool->on_bus;
    out->cpu = pool->cpu;
    out->n_cpu = pool->n_cpu;
    out->role_cpu = pool->role_cpu;
    out->roles = pool->roles;
    out->one_node = pool->memory_node;
    out->node = &out->one_node;
    out->n_node = pool->memory_node >= 0;
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

static cpubind_numa_bind_status find(const cpubind_numa_asked *asked, cli_run_place *out,
                                     cpubind_numa_bound *bound)
{
    cpubind_numa_bind_status status = CPUBIND_NUMA_BIND_NO_MEMORY;
    for (size_t size = (size_t)1 << 14; size <= (size_t)1 << 28; size *= 4) {
        free(out->arena.base);
        out->arena = (cpubind_arena){(char *)malloc(size), size, 0};
        if (!out->arena.base)
            return CPUBIND_NUMA_BIND_NO_MEMORY;
        status = cpubind_numa_bind_find(&out->devices.topo.facts, asked, &out->arena, bound);
        if (status != CPUBIND_NUMA_BIND_NO_MEMORY)
            break;
    }
    return status;
}

/* Appends why a rank is not bound. Returns whether that is only a warning: nothing that the
 * user has named is wrong, and the other ranks are bound. */
static int explain(const api_options *o, const cli_run_place *place,
                   cpubind_numa_bind_status status, const cpubind_numa_bound *bound,
                   api_text *why)
{
    const cpubind_facts *f = &place->devices.topo.facts;
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

static int take_bound(const api_options *o, const cpubind_numa_bound *bound, cli_run_place *out)
{
    int32_t *node = (int32_t *)cpubind_arena_ints(&out->arena, bound->n_node);
    if (!node)
        return cli_fail(o, API_REFUSED, "there is no memory left");
    if (bound->n_node > 0)
        memcpy(node, bound->node, (size_t)bound->n_node * sizeof *node);
    out->node = node;
    out->n_node = bound->n_node;
    out->device = bound->device;
    out->cpu = out->role_cpu = bound->cpu;
    out->n_cpu = bound->n_cpu;
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++)
        out->roles.span[role] = (cpubind_span){role > CPUBIND_ROLE_MAIN ? bound->n_cpu : 0,
                                               role == CPUBIND_ROLE_MAIN ? bound->n_cpu : 0};
    if (bound->is_shared && !o->quiet)
        fprintf(stderr, "cpubind: warning: there are more ranks than CPUs on the node: other "
                        "ranks have the CPUs of this one, too\n");
    return API_DONE;
}

static int read_topo(const cpubind_source *source, const api_options *o, cli_run_place *out)
{
    api_topo *topo = &out->devices.topo;
    api_text why = {"", 0};
    cpubind_pci_request asked = o->topo;
    asked.named = asked.n_named > 0 ? o->pci : NULL;
    asked.visible = o->request.visible;
    asked.visible_len = o->request.visible_len;
    api_topo_free(topo);
    api_topo_ask(source, &asked, topo);
    if (topo->status == CPUBIND_PROBLEM_NONE && o->topo.n_named == 1) {
        /* The device that is named, whether or not this process sees it. */
        topo->facts.bus[0].sight = CPUBIND_SIGHT_VISIBLE;
        topo->facts.bus[0].n_number = 0;
    }
    if (topo->status == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    return cli_fail(o, api_topo_judge(topo, o, &why), why.text);
}

/* Takes the only device that this process sees of several, whatever the number of the rank: a
 * launcher such as srun --gpus-per-task=1 shows each rank its own.
 *   returns whether there is such a device */
static int take_only_device(api_options *o, const cli_run_place *place,
                            const cpubind_numa_bound *bound, cpubind_numa_asked *asked)
{
    if (bound->n_rank != 1 || !api_drives_only_device(&place->devices.topo.facts, o))
        return 0;
    if (!o->quiet)
        fprintf(stderr,
                "cpubind: rank %d sees one of the %d devices of the host, and is bound to "
                "it\n",
                (int)asked->index, (int)place->devices.topo.facts.n_bus);
    o->request.rank = asked->index = 0;
    return 1;
}

/* Lists need no device, and the cores only where ranks share a node: a command starts at once
 * on a host with many. */
static int numa_bind(const cpubind_source *source, api_options *o, cli_run_place *out)
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
        status = read_topo(source, o, out);
    if (status == API_DONE && !has_lists(o) &&
        api_check_rank_doubt(&out->devices.topo.facts, o, &doubt) != API_DONE)
        status = cli_fail(o, API_REFUSED, doubt.text);
    if (status == API_DONE)
        found = find(&asked, out, &bound);
    if (found == CPUBIND_NUMA_BIND_PAST_DEVICES && take_only_device(o, out, &bound, &asked))
        found = find(&asked, out, &bound);
    if (status == API_DONE && bound.has_rivals && !o->topo.wants_cores) {
        o->topo.wants_cores = 1;
        status = read_topo(source, o, out);
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

int cli_make_place_goal(const api_options *o, cli_run_place *place, api_bound *bound)
{
    const cpubind_unit pool = {.cpu = place->cpu,
                               .n_cpu = place->n_cpu,
                               .role_cpu = place->role_cpu,
                               .roles = place->roles};
    free(place->rule);
    place->rule = (cpubind_thread_rule *)calloc((size_t)o->n_wish + 1, sizeof *place->rule);
    if (!place->rule)
        return cli_no_memory();
    api_device_goal(o, &pool,
                    place->device < 0 ? NULL
                                      : cpubind_rules_word(api_device_rules(&place->devices)),
                    place->device < 0 ? NULL : &place->devices.topo.facts.bus[place->device],
                    place->rule, bound);
    return API_DONE;
}

/* A host of --root has other allowed CPUs than this process: those of this process count. */
static int limit_to_own(api_options *o, const api_bound *bound)
{
    static int32_t cpus[CPUBIND_MAX_CPUS];
    const cpubind_source *source = &bound->live.source;
    cpubind_int_list list = {cpus, CPUBIND_MAX_CPUS, 0};
    cpubind_input status;
    if ((!o->root && !o->fixture) || o->request.allowed)
        return API_DONE;
    status = source->read(source->ctx, "proc/self/status");
    if (status.state != CPUBIND_INPUT_PRESENT ||
        cpubind_status_parse(status.data, status.len, &list, NULL) != CPUBIND_TEXT_OK)
        return cli_fail(o, API_UNREADABLE,
                        "the CPUs that the process may use are not known; name them with "
                        "--allowed LIST");
    o->request.allowed = cpus;
    o->request.n_allowed = list.n;
    return API_DONE;
}

static int find_place(api_options *o, api_bound *bound, cli_run_place *out)
{
    const int is_live = !o->root && !o->fixture;
    const cpubind_source *source = is_live ? &bound->live.source : &bound->host.source;
    api_text why = {"", 0};
    int status = is_live ? API_DONE : open_host(o, &bound->host);
    if (status != API_DONE)
        return status;
    if (o->numa_bind) {
        status = numa_bind(source, o, out);
    } else {
        const int is_named = o->topo.n_named == 1 || !o->request.has_rank;
        status = api_make_devices(source, o, is_named ? o->pci : NULL, &out->devices, &why);
        if (status == API_DONE)
            status = api_check_rank_doubt(&out->devices.topo.facts, o, &why);
        status =
            status == API_DONE ? cli_take_device_pool(o, out) : cli_fail(o, status, why.text);
        api_keep_doubt(&out->devices, &bound->planned);
    }
    return status;
}

int cli_find_run_place(api_options *options, api_bound *bound, cli_run_place *out)
{
    api_text why = {"", 0};
    int status = api_open_live(0, 0, &bound->live, &why);
    if (status != API_DONE)
        return cli_fail(options, status, why.text);
    out->rank = options->request.rank;
    out->device = -1;
    status = limit_to_own(options, bound);
    if (options->n_numa_node > 0 && options->n_numa_cpus > 0 && !options->root &&
        !options->fixture) {
        const cpubind_cpus own = cpubind_bind_now(bound->binding);
        options->topo.own_cpu = own.n > 0 ? own.cpu : NULL;
        options->topo.n_own_cpu = own.n;
    }
    if (status == API_DONE)
        status = find_place(options, bound, out);
    if (status != API_DONE)
        return status;
    return cli_make_place_goal(options, out, bound);
}

void cli_free_run_place(cli_run_place *place)
{
    api_free_devices(&place->devices);
    free(place->arena.base);
    free(place->rule);
    memset(place, 0, sizeof *place);
}

/* == Memory ================================================================= */

int cli_set_run_policy(const api_options *o, const cli_run_place *place)
{
    static const char *const words[] = {"hard memory binding", "soft preferred policy",
                                        "CPU-only binding"};
    cpubind_numa_policy policy =
        o->numa_bind && !o->has_memory ? CPUBIND_POLICY_BIND : CPUBIND_POLICY_PREFER;
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
