/* cpus.c - which CPUs are allowed, and on which nodes they are
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not know of devices. The files
 * are those of the kernel's sysfs documentation and of proc(5).
 */
#include "../text/cgroup.h"
#include "facts_reader.h"

#define INPUT_STATUS "proc/self/status"
#define INPUT_ONLINE "sys/devices/system/cpu/online"

/* A new mark for each CPU, none of them set; NULL when the arena is full. */
static uint8_t *new_marks(facts_reader *r)
{
    uint8_t *out = (uint8_t *)cpubind_arena_take(r->arena, CPUBIND_MAX_CPUS, 1);
    if (out)
        memset(out, 0, CPUBIND_MAX_CPUS);
    return out;
}

static void mark(uint8_t *marks, const int32_t *cpu, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        marks[cpu[i]] = 1;
}

/* Lists what is marked, in the arena. */
static cpubind_problem_code list_marked(facts_reader *r, const uint8_t *marks, int32_t **out,
                                        int32_t *n)
{
    int32_t cap;
    *out = cpubind_arena_open(r->arena, CPUBIND_MAX_CPUS + 1, &cap);
    *n = 0;
    for (const uint8_t *at = marks, *end = marks + CPUBIND_MAX_CPUS; *n < cap; at++) {
        at = (const uint8_t *)memchr(at, 1, (size_t)(end - at)); /* most have no mark */
        if (!at)
            break;
        (*out)[(*n)++] = (int32_t)(at - marks);
    }
    if (!*out || *n == cap)
        return facts_fail_memory(r);
    cpubind_arena_cut(r->arena, *out + *n);
    return CPUBIND_PROBLEM_NONE;
}

/* == Whose CPUs ============================================================= */

/* Steps to the next variable that the CPU driver of Kubernetes sets for a container with CPUs
 * of its own. */
static int next_dra(cpubind_input env, int32_t *at, cpubind_piece *line, cpubind_piece *value)
{
    cursor_text of;
    cursor c = cursor_open(&of, env.data, env.len, NULL, facts_is_present(env)), rest;
    for (c.at = *at; cursor_line(&c, &rest); *at = c.at) {
        const cursor whole = rest;
        const int is_dra = cursor_takes(&rest, CPUBIND_ENV_PREFIX);
        const cursor name = cursor_cut(&rest, '=');
        if (!is_dra || cursor_is_cut(&rest, &name))
            continue;
        *at = c.at;
        *line = cursor_piece(whole);
        *value = cursor_piece(rest);
        return 1;
    }
    return 0;
}

/* Reads what Slurm gave the step of the process, if it is in one. */
static cpubind_problem_code read_step(facts_reader *r, cpubind_input env)
{
    cpubind_text_fault fault;
    cpubind_text_status status;
    if (!facts_is_present(env))
        return CPUBIND_PROBLEM_NONE;
    status = cpubind_slurm_parse_step(env.data ? env.data : "", env.len, &r->slurm, &fault);
    r->is_in_slurm = status == CPUBIND_TEXT_OK;
    return status == CPUBIND_TEXT_ERR_MISSING || r->facts->is_scope_given
               ? CPUBIND_PROBLEM_NONE
               : facts_judge_text(r, INPUT_ENV, env, status, &fault);
}

/* Finds how many devices the job of this process has here: as many as ranks. One rank may drive
 * all that it sees, a rank that is not below is of another job, and a list of the user is of
 * the devices that count. */
static void find_job(facts_reader *r, cpubind_input env)
{
    static const char *const names[] = {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_NTASKS_PER_NODE"};
    const cpubind_request *q = r->request;
    cpubind_piece value;
    r->facts->n_job = q->n_job;
    for (size_t i = 0; i < sizeof names / sizeof *names && r->facts->n_job == 0 &&
                       !q->visible && !q->device && facts_is_present(env);
         i++) {
        int32_t n = 0;
        if (cpubind_env_find(env.data, env.len, names[i], &value) != CPUBIND_TEXT_OK ||
            cpubind_number_parse(env.data + value.at, value.len, &n, NULL) != CPUBIND_TEXT_OK ||
            n < 1)
            continue;
        r->facts->n_job = n > 1 && !(q->has_rank && q->rank >= n) ? n : 0;
        r->facts->job_variable = n > 1 ? names[i] : NULL;
        break;
    }
}

void cpubind_priv_take_job(cpubind_facts *f)
{
    for (int32_t i = 0, n = 0; i < f->n_device && f->n_job > 0; i++) {
        n += f->device[i]->is_visible;
        if (!f->device[i]->is_visible || n <= f->n_job)
            continue;
        f->device[i]->is_visible = 0;
        f->warnings |= f->job_variable ? CPUBIND_WARNS(JOB) : 0;
    }
}

cpubind_problem_code cpubind_priv_read_scope(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_piece line, value;
    cpubind_input env;
    int32_t at = 0;
    cpubind_problem_code code;
    f->scope = r->request->device_allowed ? CPUBIND_SCOPE_PER_DEVICE : r->request->scope;
    f->is_scope_given = f->scope != CPUBIND_SCOPE_AUTO;
    if (r->request->device_allowed)
        return CPUBIND_PROBLEM_NONE;
    code = facts_ask(r, INPUT_ENV, &env);
    if (code != CPUBIND_PROBLEM_NONE && f->is_scope_given && r->request->visible) {
        cpubind_problem_clear(r->problem); /* the user has said what it would tell */
        return CPUBIND_PROBLEM_NONE;
    }
    if (code == CPUBIND_PROBLEM_NONE) {
        find_job(r, env);
        code = read_step(r, env);
    }
    if (code != CPUBIND_PROBLEM_NONE || f->is_scope_given)
        return code;
    f->scope = CPUBIND_SCOPE_CPUSET;
    if (next_dra(env, &at, &line, &value)) {
        f->scope = CPUBIND_SCOPE_OWN;
        f->is_scope_given = 1;
    } else if (r->is_in_slurm) {
        const int is_listed = r->slurm.n_listed < 0 || r->slurm.n_listed >= r->slurm.n_device;
        r->step = is_listed ? FACTS_STEP_OWN : FACTS_STEP_TASK;
        f->scope = is_listed ? CPUBIND_SCOPE_OWN : CPUBIND_SCOPE_CPUSET;
        f->is_scope_given = 1;
    }
    return code;
}

/* Holds the allowed CPUs against the number that Slurm gave the step. Where nothing keeps the
 * step to them, they are those of its job, or nobody knows whose they are. */
static cpubind_problem_code judge_step_cpus(facts_reader *r)
{
    if (r->step == FACTS_NO_STEP || r->request->allowed || r->n_allowed <= r->slurm.n_cpu)
        return CPUBIND_PROBLEM_NONE;
    if (r->n_allowed <= r->slurm.n_job_cpu) {
        r->step = FACTS_STEP_JOB;
        r->facts->scope = CPUBIND_SCOPE_CPUSET;
        return CPUBIND_PROBLEM_NONE;
    }
    return facts_fail_variable(r, "SLURM_CPUS_ON_NODE",
                               "the cgroup of the process has more CPUs than Slurm gave the "
                               "step, and whose the others are is not known");
}

cpubind_problem_code cpubind_priv_judge_step(facts_reader *r, int32_t n_visible, int32_t n_host)
{
    const int32_t n_step = r->slurm.n_device;
    if (r->step == FACTS_NO_STEP || r->step == FACTS_STEP_JOB || r->request->visible ||
        n_step < 0 || n_step == (r->step == FACTS_STEP_OWN ? n_visible : n_host))
        return CPUBIND_PROBLEM_NONE;
    return facts_fail_variable(r, "SLURM_GPUS_ON_NODE",
                               "this process sees other devices than those of the step, and "
                               "which CPUs are left to them is not known");
}

/* == The cgroup ============================================================= */

/* A cgroup of the process that has a controller: its own, or one above it up to the mount. */
typedef struct cgroup {
    const char *mount, *path;
    int32_t len; /* -1: there is none, or none more, or this process may not see it */
    int32_t is_version_1;
} cgroup;

#define CGROUPS "sys/fs/cgroup"

/* Finds the cgroup of the process; version 1 has a mount for each controller. */
static cpubind_problem_code find_cgroup(facts_reader *r, const char *controller,
                                        const char *mount, cgroup *out)
{
    cpubind_input text;
    cpubind_cgroup found;
    const cpubind_problem_code code = facts_ask(r, "proc/self/cgroup", &text);
    out->len = -1;
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(text) ||
        cpubind_cgroup_find(text.data, text.len, controller, &found) != CPUBIND_TEXT_OK)
        return code;
    out->mount = found.is_version_1 ? mount : CGROUPS;
    out->path = text.data + found.path.at;
    out->len = found.path.len;
    out->is_version_1 = found.is_version_1;
    return code;
}

/* The name of a file of a cgroup. */
static const char *name_file(facts_reader *r, const cgroup *at, const char *leaf)
{
    return at->len > 0
               ? facts_path(r, at->mount, at->path, (cpubind_piece){1, at->len - 1}, leaf)
               : facts_named_path(r, "sys/fs", at->mount + sizeof "sys/fs", leaf);
}

/* Reads the CPUs of the cgroup of the process; *n is -1 without any. A cgroup without the file,
 * or a path of the host's that is not mounted in this container, has that of the next above. A
 * launcher may have cut the mask of a task inside of them. */
static cpubind_problem_code read_cgroup(facts_reader *r, int32_t **cpu, int32_t *n)
{
    static const char *const leaf[] = {"cpuset.cpus.effective", "cpuset.effective_cpus"};
    cgroup at;
    cpubind_problem_code code = find_cgroup(r, "cpuset", CGROUPS "/cpuset", &at);
    *n = -1;
    for (; code == CPUBIND_PROBLEM_NONE && *n < 0 && at.len >= 0;
         at.len = at.len > 0 ? cpubind_cgroup_above(at.path, at.len) : -1)
        code = facts_read_cpus(r, name_file(r, &at, leaf[at.is_version_1]),
                               cpubind_cpulist_parse, cpu, n);
    return code;
}

/* Reads a file of a quota. */
static cpubind_problem_code read_numbers(facts_reader *r, const char *name, int32_t number[2],
                                         int32_t *n)
{
    cpubind_input answer;
    cpubind_problem_code code = facts_ask(r, name, &answer);
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(answer))
        return code;
    *n = cpubind_cgroup_quota(answer.data, answer.len, number, *n);
    return facts_check_end(r, name, answer);
}

/* Reads the least quota of the cgroup of the process and of all above, in microseconds of a
 * period: in one file, or by version 1 in two. */
static cpubind_problem_code read_quota(facts_reader *r)
{
    static const char *const leaf[][2] = {{"cpu.max", "cpu.cfs_quota_us"},
                                          {NULL, "cpu.cfs_period_us"}};
    cpubind_facts *f = r->facts;
    cgroup at;
    cpubind_problem_code code = find_cgroup(r, "cpu", CGROUPS "/cpu", &at);
    for (; code == CPUBIND_PROBLEM_NONE && at.len >= 0;
         at.len = at.len > 0 ? cpubind_cgroup_above(at.path, at.len) : -1) {
        int32_t number[2] = {0, 0};
        int64_t quota = 0;
        int32_t n = 0;
        for (int file = 0; code == CPUBIND_PROBLEM_NONE && file <= at.is_version_1; file++)
            code = read_numbers(r, name_file(r, &at, leaf[file][at.is_version_1]), number, &n);
        if (number[1] > 0)
            quota = INT64_C(1000) * number[0] / number[1];
        if (quota == 0 || quota >= (f->quota > 0 ? f->quota : INT32_MAX))
            continue;
        f->quota = (int32_t)quota;
        f->quota_input = name_file(r, &at, leaf[0][at.is_version_1]);
    }
    return code;
}

/* Compares the mask of the process with the cpuset of its cgroup. */
static cpubind_problem_code read_cpuset(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int32_t *exclude = r->request->exclude;
    const int32_t n_exclude = exclude ? r->request->n_exclude : 0;
    int32_t at = 0, at_exclude = 0, n = 0, n_all;
    const cpubind_problem_code code = read_cgroup(r, &f->cpuset, &n_all);
    int is_narrow = 0;
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < n_all; i++) {
        const int32_t cpu = f->cpuset[i];
        if (!facts_is_online(f, cpu))
            continue;
        is_narrow |= !cpubind_list_has(f->cpu, f->n_cpu, cpu, &at) &&
                     !cpubind_list_has(exclude, n_exclude, cpu, &at_exclude);
        f->cpuset[n++] = cpu;
    }
    f->n_cpuset = is_narrow ? n : 0;
    if (is_narrow)
        facts_warn(r, CPUBIND_WARNING_NARROW_MASK);
    return code;
}

/* Reads what the cgroup of the process says of its CPUs besides those that are allowed. It is
 * the process's own: lists of each device are those of others. Where it decides nothing, a file
 * that cannot be read is a warning. */
static cpubind_problem_code judge_cgroup(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int decides =
        !f->is_scope_given && !r->request->allowed && r->n_allowed < f->n_online;
    cpubind_problem_code code;
    if (r->request->device_allowed)
        return CPUBIND_PROBLEM_NONE;
    code = read_quota(r);
    if (code != CPUBIND_PROBLEM_NONE && decides)
        return code;
    /* The static policy of kubelet gives both: these CPUs, and a quota of exactly so many. */
    if (decides && f->quota > 0 && f->quota == 1000 * r->n_allowed) {
        f->scope = CPUBIND_SCOPE_OWN;
        f->is_scope_given = 1;
    }
    if (code == CPUBIND_PROBLEM_NONE && r->is_mask)
        code = read_cpuset(r);
    code = facts_put_off(r, code, &f->unread_cgroup);
    if (f->unread_cgroup.code != CPUBIND_PROBLEM_NONE)
        facts_warn(r, CPUBIND_WARNING_CPU_QUOTA);
    return code;
}

/* == The CPUs of the CPU driver of Kubernetes =============================== */

/* With scope own: takes the CPUs that the variables DRA_CPUSET_* name, all of them together.
 * They are among those of the cgroup; where no cgroup is known, they are among those of the
 * mask, or a launcher has cut the mask inside of them. Anything else contradicts the kernel.
 * No variable that names a CPU changes nothing.
 *   in      is_cgroup: the CPUs of the facts are those of the cgroup, else of the mask */
static cpubind_problem_code take_dra(facts_reader *r, int is_cgroup)
{
    const cpubind_facts *f = r->facts;
    uint8_t *is_own = new_marks(r);
    int32_t at = 0, place = -1, n_own = 0, n_both = 0, *cpu, n;
    cpubind_piece line, value;
    cpubind_input env;
    cpubind_problem_code code = facts_ask(r, INPUT_ENV, &env);
    if (!is_own)
        return facts_fail_memory(r);
    while (code == CPUBIND_PROBLEM_NONE && next_dra(env, &at, &line, &value)) {
        if (value.len == 0)
            continue;
        place = place < 0 ? line.at : place;
        code = facts_read_part(r, INPUT_ENV, env, value, cpubind_cpulist_parse, &cpu, &n);
        mark(is_own, cpu, code == CPUBIND_PROBLEM_NONE ? n : 0);
    }
    if (code != CPUBIND_PROBLEM_NONE || place < 0)
        return code;
    for (int32_t c = 0; c < CPUBIND_MAX_CPUS; c++)
        n_own += is_own[c];
    for (int32_t i = 0; i < f->n_cpu; i++)
        n_both += is_own[f->cpu[i]];
    if (n_both < n_own && (is_cgroup || n_both < f->n_cpu))
        return facts_fail_input(r, INPUT_ENV, env, place,
                                is_cgroup ? "it names CPUs that the cpuset of the cgroup "
                                            "(cpuset.cpus.effective) has not"
                                          : "it names CPUs that Cpus_allowed_list has not");
    return list_marked(r, is_own, &r->facts->cpu, &r->facts->n_cpu);
}

/* == Allowed CPUs =========================================================== */

/* Joins the CPUs that the caller allows, of all devices. Those that are not online are removed
 * later. */
static cpubind_problem_code join_allowed(facts_reader *r)
{
    const cpubind_request *q = r->request;
    uint8_t *is_allowed = new_marks(r);
    if (!is_allowed)
        return facts_fail_memory(r);
    if (q->device_allowed)
        for (int32_t i = 0; i < q->n_device_allowed; i++)
            mark(is_allowed, q->device_allowed[i].cpu, q->device_allowed[i].n);
    else
        mark(is_allowed, q->allowed, q->n_allowed);
    return list_marked(r, is_allowed, &r->facts->cpu, &r->facts->n_cpu);
}

/* Reads the allowed CPUs of the process; with scope own, and in a step of Slurm, whose launcher
 * cuts the masks of tasks, those of its cgroup. Without proc/self/status n_cpu is -1 until the
 * online CPUs are known. */
static cpubind_problem_code read_allowed(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int is_own = f->scope == CPUBIND_SCOPE_OWN;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int is_cgroup;
    if (r->request->device_allowed || r->request->allowed)
        return join_allowed(r);
    f->n_cpu = -1;
    if (is_own || r->is_in_slurm)
        code = read_cgroup(r, &f->cpu, &f->n_cpu);
    is_cgroup = f->n_cpu >= 0;
    if (code == CPUBIND_PROBLEM_NONE && !is_cgroup)
        code = facts_read_cpus(r, INPUT_STATUS, cpubind_status_parse, &f->cpu, &f->n_cpu);
    r->is_mask = !is_cgroup && f->n_cpu >= 0;
    if (code == CPUBIND_PROBLEM_NONE && f->n_cpu < 0)
        facts_warn(r, CPUBIND_WARNING_NO_STATUS);
    return code == CPUBIND_PROBLEM_NONE && is_own && f->n_cpu >= 0 ? take_dra(r, is_cgroup)
                                                                   : code;
}

static cpubind_problem_code read_online(facts_reader *r)
{
    int32_t *cpu, n;
    const cpubind_problem_code code =
        facts_read_cpus(r, INPUT_ONLINE, cpubind_cpulist_parse, &cpu, &n);
    if (code != CPUBIND_PROBLEM_NONE || n < 0)
        return code;
    r->online = new_marks(r);
    if (!r->online)
        return facts_fail_memory(r);
    mark(r->online, cpu, n);
    return code;
}

/* Records the node of a CPU. */
static void put_on_node(facts_reader *r, int32_t cpu, int32_t node)
{
    cpubind_facts *f = r->facts;
    f->node_of[cpu] = node;
    if (cpu >= f->n_cpu_id)
        f->n_cpu_id = cpu + 1;
}

/* Reads the CPUs of one node, in the folder `name`: from cpulist, on old kernels from cpumap.
 * Each node has one of them, one without CPUs too: without both, its CPUs would count as those
 * of no node, or as offline. A CPU is on one node. */
static cpubind_problem_code read_node(facts_reader *r, cpubind_input listing,
                                      cpubind_piece name, int32_t node)
{
    const char *list = facts_path(r, INPUT_NODES, listing.data, name, "cpulist"), *path = list;
    int32_t *cpu, n;
    cpubind_problem_code code = facts_read_cpus(r, path, cpubind_cpulist_parse, &cpu, &n);
    if (code == CPUBIND_PROBLEM_NONE && n < 0) {
        path = facts_path(r, INPUT_NODES, listing.data, name, "cpumap");
        code = facts_read_cpus(r, path, cpubind_cpumask_parse, &cpu, &n);
    }
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (n < 0)
        return facts_fail_input(r, list, (cpubind_input){.state = CPUBIND_INPUT_ABSENT}, -1,
                                "the node is there, and the list of its CPUs is not");
    for (int32_t i = 0; i < n; i++) {
        if (r->facts->node_of[cpu[i]] >= 0) {
            r->problem->cpu = cpu[i];
            return facts_fail_input(r, path, r->source->read(r->source->ctx, path), 0,
                                    "a CPU of it is on another node, too");
        }
        put_on_node(r, cpu[i], node);
    }
    return code;
}

cpubind_problem_code cpubind_priv_read_rows(facts_reader *r, cpubind_input answer,
                                            cpubind_lscpu_nodes *rows)
{
    cpubind_text_fault fault;
    *rows = (cpubind_lscpu_nodes){.cap = facts_count_names(answer)};
    rows->cpu = cpubind_arena_ints(r->arena, rows->cap);
    rows->node = cpubind_arena_ints(r->arena, rows->cap);
    rows->core = cpubind_arena_ints(r->arena, rows->cap);
    rows->socket = cpubind_arena_ints(r->arena, rows->cap);
    if (!rows->cpu || !rows->node || !rows->core || !rows->socket)
        return facts_fail_memory(r);
    return facts_judge_text(r, INPUT_LSCPU_E, answer,
                            cpubind_lscpu_parse_nodes(answer.data, answer.len, rows, &fault),
                            &fault);
}

/* Takes the node of each CPU from the rows of `lscpu -e`. */
static cpubind_problem_code read_node_rows(facts_reader *r, cpubind_input answer)
{
    cpubind_lscpu_nodes rows;
    const cpubind_problem_code code = cpubind_priv_read_rows(r, answer, &rows);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t i = 0; i < rows.n; i++)
        if (rows.node[i] >= 0 && (!r->online || r->online[rows.cpu[i]]))
            put_on_node(r, rows.cpu[i], rows.node[i]);
    if (r->facts->n_cpu_id > 0)
        facts_warn(r, CPUBIND_WARNING_NODE_MAP);
    return CPUBIND_PROBLEM_NONE;
}

/* == What is online ========================================================= */

/* Reads the file in which the kernel says whether a CPU is online.
 *   out     *word: 0 offline, 1 online; `without` where it is not there */
static cpubind_problem_code read_cpu(facts_reader *r, int32_t cpu, int32_t without,
                                     int32_t *word)
{
    const char *name = facts_numbered_path(r, INPUT_CPUS, "cpu", cpu, "online");
    const cpubind_problem_code code = facts_read_number(r, name, without, word);
    if (code == CPUBIND_PROBLEM_NONE && (*word < -1 || *word > 1))
        return facts_fail_input(r, name, (cpubind_input){.state = CPUBIND_INPUT_ABSENT}, -1,
                                "it is neither 0 nor 1");
    return code;
}

/* Holds cpu/online against the nodes, which list online CPUs (before Linux 4.15 offline ones,
 * too). A container may have a made one (lxcfs): numbers from 0 on, as many as it has CPUs.
 * Where a CPU that it lacks is online by two words of the kernel, the file is passed over. Old
 * kernels have no such file: a CPU is online but where its own file says otherwise. */
static cpubind_problem_code check_online(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const size_t used = r->arena->used;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    uint8_t *is_off;
    int32_t n = 0, *said = NULL, n_said = -2, at = 0;
    is_off = new_marks(r);
    if (!is_off)
        return facts_fail_memory(r);
    for (int32_t cpu = 0; code == CPUBIND_PROBLEM_NONE && cpu < f->n_cpu_id; cpu++) {
        int32_t word = 0;
        if (f->node_of[cpu] < 0 || (r->online && r->online[cpu]))
            continue;
        if (r->online && n_said == -2) /* the CPUs that the kernel lets this process run on */
            code = facts_read_cpus(r, INPUT_STATUS, cpubind_status_parse, &said, &n_said);
        if (code == CPUBIND_PROBLEM_NONE)
            code = read_cpu(
                r, cpu, !r->online || cpubind_list_has(said, n_said, cpu, &at) ? 1 : -1, &word);
        is_off[cpu] = word == 0 ? 2 : word < 0;
        n += r->online && word == 1;
    }
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (is_off[cpu] > (n > 0))
            f->node_of[cpu] = -1;
    while (f->n_cpu_id > 0 && f->node_of[f->n_cpu_id - 1] < 0)
        f->n_cpu_id--;
    if (n > 0) {
        facts_warn(r, CPUBIND_WARNING_ONLINE_DIFFERS);
        r->online = NULL;
    }
    r->arena->used = used;
    return code;
}

static cpubind_problem_code read_nodes(facts_reader *r)
{
    cpubind_input listing = r->source->list(r->source->ctx, INPUT_NODES);
    cpubind_input answer;
    cpubind_piece name;
    int32_t at = 0;
    cpubind_problem_code code = facts_judge(r, INPUT_NODES, listing);
    while (code == CPUBIND_PROBLEM_NONE && facts_next_name(listing, &at, &name)) {
        const int32_t node = facts_number_after("node", listing.data, name);
        code = node < 0 ? code : read_node(r, listing, name, node);
    }
    if (code == CPUBIND_PROBLEM_NONE)
        code = check_online(r);
    if (code != CPUBIND_PROBLEM_NONE || r->facts->n_cpu_id > 0)
        return code;
    code = facts_ask(r, INPUT_LSCPU_E, &answer);
    return code == CPUBIND_PROBLEM_NONE && facts_has_answered(answer)
               ? read_node_rows(r, answer)
               : code;
}

/* Without known nodes every CPU counts as one of node 0: those that are allowed and online, by
 * cpu/online or by their own file; where no input says which are allowed, those of
 * cpu/online. */
static cpubind_problem_code assume_one_node(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    facts_warn(r, CPUBIND_WARNING_NO_NODES);
    for (int32_t cpu = 0; f->n_cpu < 0 && r->online && cpu < CPUBIND_MAX_CPUS; cpu++)
        if (r->online[cpu])
            put_on_node(r, cpu, 0);
    for (int32_t i = 0; i < f->n_cpu; i++) {
        int32_t word = 1;
        if (r->online && !r->online[f->cpu[i]]) {
            const cpubind_problem_code code = read_cpu(r, f->cpu[i], 0, &word);
            if (code != CPUBIND_PROBLEM_NONE)
                return code;
            if (word == 1)
                facts_warn(r, CPUBIND_WARNING_ONLINE_DIFFERS);
        }
        if (word == 1)
            put_on_node(r, f->cpu[i], 0);
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether the kernel says of a CPU without a node that it is online: in cpu/online, or, where
 * that was passed over, in the file of the CPU. */
static int is_named_online(facts_reader *r, int32_t cpu)
{
    int32_t word = 0;
    if (r->online)
        return r->online[cpu];
    if (!(r->facts->warnings & CPUBIND_WARNS(ONLINE_DIFFERS)))
        return 0;
    return read_cpu(r, cpu, 0, &word) != CPUBIND_PROBLEM_NONE || word != 0;
}

/* Finds the node of each allowed CPU, and removes the CPUs that are excluded or offline. */
static cpubind_problem_code place_cpus(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const int32_t n_exclude = r->request->exclude ? r->request->n_exclude : 0;
    int32_t n = 0, at = 0, n_excluded = 0;
    for (int32_t i = 0; i < f->n_cpu; i++) {
        const int32_t node = f->node_of[f->cpu[i]];
        if (cpubind_list_has(r->request->exclude, n_exclude, f->cpu[i], &at)) {
            n_excluded += node >= 0;
            continue;
        }
        if (node < 0 && is_named_online(r, f->cpu[i])) {
            /* the listing of nodes lacks its node, which other processes of the host know */
            r->problem->cpu = f->cpu[i];
            return facts_fail_input(r, INPUT_NODES,
                                    (cpubind_input){.state = CPUBIND_INPUT_ABSENT}, -1,
                                    "an online CPU is on no node of it");
        }
        if (node < 0) {
            facts_warn(r, CPUBIND_WARNING_OFFLINE);
            continue;
        }
        f->cpu[n++] = f->cpu[i];
    }
    for (int32_t i = 0; i < n_exclude; i++)
        if (f->node_of[r->request->exclude[i]] < 0)
            facts_warn(r, CPUBIND_WARNING_NO_SUCH_CPU);
    f->n_cpu = n;
    r->n_allowed = n + n_excluded;
    return CPUBIND_PROBLEM_NONE;
}

/* Warns when a part of them is not allowed, and whose the allowed
 * ones are was not said. */
static cpubind_problem_code check_part(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_problem_code code = judge_cgroup(r);
    if (r->n_allowed < f->n_online && !f->is_scope_given)
        facts_warn(r, CPUBIND_WARNING_PARTIAL_CPUSET);
    return code;
}

cpubind_problem_code cpubind_priv_require_cpus(facts_reader *r)
{
    if (r->facts->n_cpu > 0)
        return CPUBIND_PROBLEM_NONE;
    if (r->n_allowed > 0)
        return facts_fail(r, CPUBIND_PROBLEM_TOO_FEW_CPUS,
                          "every allowed CPU that is online is excluded");
    if (!r->request->allowed && !r->request->device_allowed)
        r->problem->input = INPUT_STATUS;
    if (!r->online && r->facts->n_cpu_id == 0)
        return facts_fail_input(
            r, INPUT_ONLINE, (cpubind_input){.state = CPUBIND_INPUT_ABSENT}, -1,
            "no input names a CPU of the host: neither this one, nor the nodes below "
            "/sys/devices/system/node, nor proc/self/status");
    return facts_fail(r, CPUBIND_PROBLEM_TOO_FEW_CPUS, "no allowed CPU is online");
}

/* Reads the nodes, or makes one of all CPUs. Without a list of allowed CPUs every CPU on a node
 * is allowed. */
static cpubind_problem_code find_nodes(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    uint8_t *is_node = new_marks(r), *is_online = new_marks(r);
    cpubind_problem_code code = is_node && is_online ? read_nodes(r) : facts_fail_memory(r);
    if (code == CPUBIND_PROBLEM_NONE && f->n_cpu_id == 0)
        code = assume_one_node(r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    is_node[0] = f->n_cpu_id == 0;
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (f->node_of[cpu] >= 0) {
            is_node[f->node_of[cpu]] = 1;
            is_online[cpu] = 1;
            f->n_online++;
        }
    code = list_marked(r, is_node, &f->node_id, &f->n_node);
    return code == CPUBIND_PROBLEM_NONE && f->n_cpu < 0
               ? list_marked(r, is_online, &f->cpu, &f->n_cpu)
               : code;
}

cpubind_problem_code cpubind_priv_read_cpus(facts_reader *r)
{
    static cpubind_problem_code (*const steps[])(facts_reader *) = {
        read_allowed, read_online, find_nodes, place_cpus, judge_step_cpus, check_part};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    r->facts->node_of = cpubind_arena_ints(r->arena, CPUBIND_MAX_CPUS);
    if (!r->facts->node_of)
        return facts_fail_memory(r);
    memset(r->facts->node_of, -1, CPUBIND_MAX_CPUS * sizeof(int32_t));
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE; i++)
        code = steps[i](r);
    return code;
}
