/* doctor_processes.c - which processes use devices; checks of their threads and cpusets
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. Processes have the numbers of the host (npu_processes.h), so in a
 * container the files of a process may not be there.
 */
#include "../text/cgroup.h"
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "doctor_parts.h"

/* == Who uses devices ======================================================= */

/* Keeps the workers with their rows of the plan. */
static void keep_workers(doctor *d, const cpubind_users *list)
{
    d->worker = (doctor_worker *)cpubind_arena_take(d->arena, list->n, sizeof *d->worker);
    d->is_short |= !d->worker;
    for (int32_t i = 0; d->worker && i < list->n; i++) {
        doctor_worker *w = &d->worker[d->n_worker++];
        *w = (doctor_worker){list->row[i].pid, list->row[i].device, -1, d->facts};
        for (int32_t row = 0; d->plan && row < d->plan->n_want; row++)
            if (d->plan->want[row] == w->npu)
                w->row = row;
    }
}

/* Where the users are given, those of devices that this process does not see are left out. */
static void take_users(doctor *d, const cpubind_doctor_bus *bus)
{
    cpubind_users list = {.row = (cpubind_user *)cpubind_arena_take(
                              d->arena, bus->users ? bus->users->n : 0, sizeof *list.row)};
    d->is_short |= !list.row;
    d->workers_input = "proc/*/fd";
    d->workers_answer.state = CPUBIND_INPUT_ABSENT;
    for (int32_t i = 0; list.row && bus->users && i < bus->users->n; i++) {
        const cpubind_user *user = &bus->users->row[i];
        const int32_t device = cpubind_facts_device(d->facts, user->device);
        if (device >= 0)
            list.row[list.n++] = (cpubind_user){user->pid, device};
    }
    d->is_workers_known = bus->users != NULL;
    if (d->is_workers_known)
        keep_workers(d, &list);
}

void doctor_read_workers(doctor *d)
{
    cpubind_users list = {0};
    cpubind_problem problem;
    cpubind_problem_code code;
    d->workers_answer.state = CPUBIND_INPUT_FAILED;
    if (d->is_bus) {
        take_users(d, d->request->bus);
        return;
    }
    if (!d->facts)
        return;
    code = cpubind_listed_users_read(d->source, d->facts, d->arena, &list, &problem);
    d->is_short |= code == CPUBIND_PROBLEM_NO_MEMORY;
    if (code == CPUBIND_PROBLEM_UNREADABLE) {
        d->workers_input = problem.input;
        d->workers_answer = problem.answer;
        return;
    }
    keep_workers(d, &list);
    d->is_workers_known = 1;
    /* Numbers of the host that are not here are those of another pid namespace. */
    for (int32_t i = 0; d->request->is_live && d->is_workers_known && i < d->n_worker; i++) {
        doctor_text name = {.len = 0};
        doctor_add(&name, "proc/%d/task", (int)d->worker[i].pid);
        d->workers_answer = d->source->list(d->source->ctx, name.text);
        d->is_workers_known = d->workers_answer.state == CPUBIND_INPUT_PRESENT;
        d->workers_input = d->is_workers_known ? NULL : doctor_keep(d, name.text);
    }
}

int doctor_has_workers(doctor *d)
{
    if (!d->is_workers_known)
        doctor_gap(d, d->workers_input, d->workers_answer);
    return d->is_workers_known;
}

void doctor_read_pids(doctor *d)
{
    const cpubind_input listing = d->source->list(d->source->ctx, "proc");
    cpubind_piece line;
    d->pid = cpubind_arena_ints(d->arena, listing.len / 2 + 1);
    d->is_short |= !d->pid;
    for (int32_t at = 0; d->pid && doctor_next_line(listing, &at, &line);) {
        const int32_t pid = doctor_number(listing.data, line);
        if (pid > 0)
            d->pid[d->n_pid++] = pid;
    }
}

int doctor_has_pids(doctor *d)
{
    enum { LINUX_EACCES = 13 };
    if (doctor_is_hiding(d)) {
        doctor_gap(d, "proc",
                   (cpubind_input){.state = CPUBIND_INPUT_FAILED, .error = LINUX_EACCES});
        return 0;
    }
    if (d->n_pid == 0)
        doctor_gap(d, "proc", (cpubind_input){.state = CPUBIND_INPUT_ABSENT});
    return d->n_pid > 0;
}

void doctor_set_device(doctor *d, const doctor_worker *w, cpubind_doctor_finding *f)
{
    const cpubind_host_device *device = w->facts->device[w->npu];
    char pci[CPUBIND_PCI_ADDRESS_MAX] = "";
    if (!cpubind_is_listed(device))
        (void)cpubind_pci_format(pci, &device->pci);
    f->device = doctor_name(d, w);
    f->pci = doctor_keep(d, pci);
}

const char *doctor_name(doctor *d, const doctor_worker *w)
{
    const cpubind_host_device *device = w->facts->device[w->npu];
    char name[CPUBIND_DEVICE_NAME_SIZE];
    cpubind_function_name(device, name);
    return doctor_keep(d, name);
}

const char *doctor_option(doctor *d, const doctor_worker *w)
{
    doctor_text option = {.len = 0};
    doctor_add(&option, "--device %s", doctor_name(d, w));
    return doctor_keep(d, option.text);
}

cpubind_doctor_finding *doctor_find_of(doctor *d, const doctor_worker *w,
                                       const doctor_text *evidence, const doctor_text *command)
{
    cpubind_doctor_finding *f = doctor_find(d);
    doctor_set_device(d, w, f);
    f->pid = w->pid;
    f->evidence = doctor_keep_text(d, evidence);
    f->command = doctor_keep_text(d, command);
    return f;
}

void doctor_add_apply(doctor *d, const doctor_worker *w, doctor_text *to)
{
    doctor_add(to, "cpubind apply %s --pid %d", doctor_option(d, w), (int)w->pid);
}

/* == Masks of one CPU ======================================================= */

/* Threads of a process that may use one CPU alone, by CPU. */
typedef struct masks {
    int32_t *count; /* CPUBIND_MAX_CPUS elements */
    int32_t n_thread;
    int32_t cpu, tid; /* the CPU that most threads have alone, and the last of them */
} masks;

/* Reads the CPUs of a thread into d->cpu: their number, or -1: it has ended, or there was a
 * lack. */
static int32_t read_mask(doctor *d, const char *input, cpubind_input *answer)
{
    cpubind_int_list list = {d->cpu, CPUBIND_MAX_CPUS, 0};
    *answer = d->source->read(d->source->ctx, input);
    if (answer->state != CPUBIND_INPUT_PRESENT ||
        cpubind_status_parse(answer->data, answer->len, CPUBIND_MAX_CPUS, &list, NULL) !=
            CPUBIND_TEXT_OK) {
        doctor_lack(d, input, *answer);
        return -1;
    }
    return list.n;
}

/* Whether a thread has CPUs apart from those of the main threads: several of these may be on
 * one CPU. */
static int is_role_thread(const doctor *d, cpubind_input status)
{
    const cpubind_piece field = doctor_field(status, "Name");
    const cpubind_thread_role *role;
    char name[16] = "";
    for (int32_t i = 0; i < field.len && i < 15; i++)
        name[i] = status.data[field.at + i];
    role = cpubind_thread_role_of(name, CPUBIND_THREADS_PRODUCT);
    return role && role->role != CPUBIND_ROLE_MAIN &&
           role->role < (d->plan ? cpubind_plan_n_role(d->plan) : CPUBIND_ROLE_COUNT);
}

/* What threads of a process tell of its mask. */
typedef struct telling {
    const char *of;    /* a library whose start changes masks; NULL: no thread is of one */
    int32_t tid, wide; /* that thread; the first one that has all of the mask and more, or -1 */
    const char *of_wide; /* the CPUs of the latter */
} telling;

/* Looks for threads of libraries, and with a mask of n CPUs for a wider one. */
static telling look_for_starter(doctor *d, int32_t pid, const int32_t *cpu, int32_t n)
{
    telling t = {.wide = -1};
    doctor_text folder = {.len = 0};
    cpubind_input listing, status;
    cpubind_piece line;
    doctor_add(&folder, "proc/%d/task", (int)pid);
    listing = d->source->list(d->source->ctx, folder.text);
    for (int32_t at = 0; doctor_next_line(listing, &at, &line);) {
        const int32_t tid = doctor_number(listing.data, line);
        doctor_text input = {.len = 0}, value = {.len = 0};
        cpubind_piece name;
        int32_t n_in = 0;
        doctor_add(&input, "%s/%d/status", folder.text, (int)tid);
        const int32_t n_all = read_mask(d, input.text, &status);
        if (n_all < 0)
            continue;
        name = doctor_field(status, "Name");
        if (!t.of) {
            t.of = cpubind_mask_changer_of(status.data + name.at, name.len);
            t.tid = tid;
        }
        for (int32_t i = 0; i < n; i++)
            n_in += doctor_has(d->cpu, n_all, cpu[i]);
        if (t.wide >= 0 || n_in < n || n_all <= n || n == 0)
            continue;
        t.wide = tid;
        doctor_add_cpus(&value, d->cpu, n_all);
        t.of_wide = doctor_keep(d, value.text);
    }
    return t;
}

/* Appends which library may have set the mask, by one of its threads. */
static void add_starter(doctor_text *evidence, const telling *t)
{
    if (t->of)
        doctor_add(evidence, "; thread %d is of %s", (int)t->tid, t->of);
}

static void count_masks(doctor *d, int32_t pid, masks *m)
{
    doctor_text folder = {.len = 0};
    cpubind_input listing, status;
    cpubind_piece line;
    memset(m->count, 0, CPUBIND_MAX_CPUS * sizeof *m->count);
    m->n_thread = 0;
    m->cpu = m->tid = -1;
    doctor_add(&folder, "proc/%d/task", (int)pid);
    if (!doctor_list(d, folder.text, &listing))
        return;
    for (int32_t at = 0; doctor_next_line(listing, &at, &line);) {
        const int32_t tid = doctor_number(listing.data, line);
        doctor_text input = {.len = 0};
        doctor_add(&input, "%s/%d/status", folder.text, (int)tid);
        const int32_t n = read_mask(d, input.text, &status);
        m->n_thread += n >= 0;
        if (n != 1 || is_role_thread(d, status))
            continue;
        m->count[d->cpu[0]]++;
        if (m->cpu < 0 || m->count[d->cpu[0]] >= m->count[m->cpu]) {
            m->cpu = d->cpu[0];
            m->tid = tid;
        }
    }
}

/* The threads of a finding get the CPUs of the main threads of the plan. */
static void widen_threads(doctor *d, const doctor_worker *w, const masks *m,
                          cpubind_doctor_finding *f)
{
    const int32_t n = m->count[m->cpu];
    doctor_text folder = {.len = 0}, value = {.len = 0};
    cpubind_change *change;
    cpubind_input listing, status;
    cpubind_piece line;
    cpubind_cpus pool;
    if (w->row < 0)
        return;
    pool = doctor_role(d, w->row, CPUBIND_ROLE_MAIN);
    doctor_add_cpus(&value, pool.cpu, pool.n);
    doctor_add(&folder, "proc/%d/task", (int)w->pid);
    listing = d->source->list(d->source->ctx, folder.text);
    change = doctor_keep_changes(d, f, n);
    f->n_change = 0;
    for (int32_t at = 0; change && f->n_change < n && doctor_next_line(listing, &at, &line);) {
        const int32_t tid = doctor_number(listing.data, line);
        doctor_text input = {.len = 0};
        doctor_add(&input, "%s/%d/status", folder.text, (int)tid);
        if (read_mask(d, input.text, &status) != 1 || d->cpu[0] != m->cpu ||
            is_role_thread(d, status))
            continue;
        change[f->n_change++] = (cpubind_change){.kind = CPUBIND_CHANGE_THREAD,
                                                 .value = doctor_keep(d, value.text),
                                                 .pid = w->pid,
                                                 .tid = tid};
    }
}

void doctor_check_one_cpu(doctor *d)
{
    masks m = {.count = NULL};
    if (!doctor_has_workers(d))
        return;
    m.count = cpubind_arena_ints(d->arena, CPUBIND_MAX_CPUS);
    d->is_short |= !m.count;
    for (int32_t i = 0; m.count && i < d->n_worker; i++) {
        const doctor_worker *w = &d->worker[i];
        doctor_text evidence = {.of = d}, command = {.of = d}, input = {.len = 0},
                    value = {.len = 0};
        cpubind_doctor_finding *f;
        telling t;
        count_masks(d, w->pid, &m);
        if (m.cpu < 0 || m.count[m.cpu] < 2 ||
            (w->row >= 0 && doctor_role(d, w->row, CPUBIND_ROLE_MAIN).n == 1))
            continue;
        doctor_add(&evidence,
                   "%d of %d threads of process %d, which drives %s, may use "
                   "CPU %d alone",
                   (int)m.count[m.cpu], (int)m.n_thread, (int)w->pid, doctor_name(d, w),
                   (int)m.cpu);
        t = look_for_starter(d, w->pid, NULL, 0);
        add_starter(&evidence, &t);
        doctor_add_apply(d, w, &command);
        doctor_add(&input, "proc/%d/task/%d/status", (int)w->pid, (int)m.tid);
        doctor_add(&value, "Cpus_allowed_list: %d", (int)m.cpu);
        f = doctor_find_of(d, w, &evidence, &command);
        f->tid = m.tid;
        f->input = doctor_keep(d, input.text);
        f->value = doctor_keep(d, value.text);
        f->cpu = doctor_keep_cpus(d, &m.cpu, 1);
        f->n_cpu = 1;
        f->number[0] = (cpubind_doctor_number){"threads", m.count[m.cpu]};
        f->number[1] = (cpubind_doctor_number){"of", m.n_thread};
        widen_threads(d, w, &m, f);
    }
}

/* == Cpusets ================================================================ */

/* A cpuset: the file that has its CPUs or its memory nodes, and these. */
typedef struct cpuset {
    const char *input; /* NULL: the process is in none that is known */
    const char *value;
    const int32_t *cpu;
    int32_t n;
} cpuset;

/* The files that have the list of a cpuset, the effective one first, and the file that is
 * written. */
typedef struct cpuset_files {
    const char *leaf[3], *written;
} cpuset_files;

static const cpuset_files cpu_files = {
    {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"}, "cpuset.cpus"};
static const cpuset_files node_files = {
    {"cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems"}, "cpuset.mems"};

/* The cpuset of a worker: of its cgroup, else of the nearest one above that has a file. */
static cpuset read_cpuset(doctor *d, const doctor_worker *w, const cpuset_files *files)
{
    static const int32_t top = (int32_t)sizeof "sys/fs/cgroup" - 1;
    doctor_text name = {.len = 0}, path = {.len = 0};
    cpuset set = {NULL, NULL, NULL, 0};
    cpubind_input text;
    cpubind_cgroup found;
    doctor_add(&name, "proc/%d/cgroup", (int)w->pid);
    if (!doctor_read(d, name.text, &text) ||
        cpubind_cgroup_find(text.data, text.len, "cpuset", &found) != CPUBIND_TEXT_OK)
        return set;
    doctor_add(&path, "sys/fs/cgroup%s", found.is_version_1 ? "/cpuset" : "");
    doctor_add_bytes(&path, text.data + found.path.at, found.path.len);
    for (; path.len >= top; path.text[path.len] = '\0') {
        for (size_t i = 0; i < sizeof files->leaf / sizeof *files->leaf; i++) {
            cpubind_int_list list = {d->cpu, CPUBIND_MAX_CPUS, 0};
            doctor_text file = {.len = 0};
            doctor_add(&file, "%s/%s", path.text, files->leaf[i]);
            const cpubind_input answer = d->source->read(d->source->ctx, file.text);
            if (answer.state != CPUBIND_INPUT_PRESENT ||
                cpubind_cpulist_parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, NULL) !=
                    CPUBIND_TEXT_OK ||
                list.n == 0)
                continue;
            set.input = doctor_keep(d, file.text);
            set.value = doctor_value(d, answer);
            set.cpu = doctor_keep_cpus(d, d->cpu, list.n);
            set.n = set.cpu ? list.n : 0;
            return set;
        }
        while (path.len > 0 && path.text[--path.len] != '/')
            ;
    }
    return set;
}

static cpuset *read_cpusets(doctor *d, const cpuset_files *files)
{
    cpuset *set;
    if (!doctor_has_workers(d))
        return NULL;
    set = (cpuset *)cpubind_arena_take(d->arena, d->n_worker, sizeof *set);
    d->is_short |= !set;
    for (int32_t i = 0; set && i < d->n_worker; i++)
        set[i] = read_cpuset(d, &d->worker[i], files);
    return set;
}

/* The CPUs of both sets, in d->cpu; their number. */
static int32_t common(doctor *d, const cpuset *a, const cpuset *b)
{
    int32_t n = 0;
    for (int32_t i = 0; i < a->n; i++)
        if (doctor_has(b->cpu, b->n, a->cpu[i]))
            d->cpu[n++] = a->cpu[i];
    return n;
}

/* Finds the first process whose cpuset shares CPUs with that of process i and differs. */
static void check_pair(doctor *d, const cpuset *set, int32_t i)
{
    const doctor_worker *a = &d->worker[i];
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    for (int32_t k = i + 1; k < d->n_worker; k++) {
        const doctor_worker *b = &d->worker[k];
        const int32_t n = common(d, &set[i], &set[k]);
        if (n == 0 || (n == set[i].n && n == set[k].n))
            continue;
        doctor_add(&evidence,
                   "the cpusets of process %d, %s, and of process %d, %s, share CPUs ",
                   (int)a->pid, set[i].value, (int)b->pid, set[k].value);
        doctor_add_cpus(&evidence, d->cpu, n);
        doctor_add(&evidence, " and are not equal");
        doctor_add_apply(d, a, &command);
        doctor_add(&command, " --scope host && ");
        doctor_add_apply(d, b, &command);
        doctor_add(&command, " --scope host");
        f = doctor_find_of(d, a, &evidence, &command);
        f->input = set[i].input;
        f->value = set[i].value;
        f->cpu = doctor_keep_cpus(d, d->cpu, n);
        f->n_cpu = n;
        f->number[0] = (cpubind_doctor_number){"other_pid", b->pid};
        return;
    }
}

void doctor_check_cpuset_overlap(doctor *d)
{
    const cpuset *set = read_cpusets(d, &cpu_files);
    for (int32_t i = 0; set && i < d->n_worker; i++)
        if (d->worker[i].facts->scope != CPUBIND_SCOPE_HOST)
            check_pair(d, set, i);
}

/* Appends the command that writes d->cpu[0 .. n - 1] to a file of the cpuset. */
static void add_write_cpuset(doctor *d, const cpuset *set, int32_t n, const char *file,
                             doctor_text *command)
{
    int32_t len = (int32_t)strlen(set->input);
    while (len > 0 && set->input[len - 1] != '/')
        len--;
    doctor_add(command, "echo ");
    doctor_add_cpus(command, d->cpu, n);
    doctor_add(command, " >/");
    doctor_add_bytes(command, set->input, len);
    doctor_add(command, "%s", file);
}

/* The CPUs near the NPU of a worker, as a set. */
static cpuset near_set(const doctor *d, const doctor_worker *w)
{
    const cpubind_host_device *npu = d->facts->device[w->npu];
    return (cpuset){NULL, NULL, npu->cpu, npu->n_cpu};
}

static int is_same_cpuset(const cpuset *a, const cpuset *b)
{
    return a->input && b->input && doctor_is(a->input, (int32_t)strlen(a->input), b->input);
}

/* The CPUs of cpuset i and those near the NPUs of all its workers, in d->cpu; their number. */
static int32_t join_near(doctor *d, const cpuset *set, int32_t i)
{
    int32_t n = 0;
    for (int32_t cpu = 0; cpu < d->facts->n_cpu_id; cpu++) {
        int is_in = doctor_has(set[i].cpu, set[i].n, cpu);
        for (int32_t k = 0; !is_in && k < d->n_worker; k++) {
            const cpuset near = near_set(d, &d->worker[k]);
            is_in = is_same_cpuset(&set[i], &set[k]) && doctor_has(near.cpu, near.n, cpu);
        }
        if (is_in)
            d->cpu[n++] = cpu;
    }
    return n;
}

void doctor_check_cpuset_far(doctor *d)
{
    const cpuset *set = read_cpusets(d, &cpu_files);
    for (int32_t i = 0; set && i < d->n_worker; i++) {
        const doctor_worker *w = &d->worker[i];
        const cpuset near = near_set(d, w);
        doctor_text evidence = {.of = d}, command = {.of = d};
        cpubind_doctor_finding *f;
        if (set[i].n == 0 || near.n == 0 || common(d, &set[i], &near) > 0)
            continue;
        doctor_add(&evidence, "the cpuset of process %d, %s, has no CPU near %s: ", (int)w->pid,
                   set[i].value, doctor_name(d, w));
        doctor_add_cpus(&evidence, near.cpu, near.n);
        add_write_cpuset(d, &set[i], join_near(d, set, i), cpu_files.written, &command);
        f = doctor_find_of(d, w, &evidence, &command);
        f->input = set[i].input;
        f->value = set[i].value;
        f->cpu = set[i].cpu;
        f->n_cpu = set[i].n;
    }
}

/* Finds cores of which the cpuset has one CPU and not another that is online. */
static void check_split_cpuset(doctor *d, const doctor_worker *w, const cpuset *set)
{
    const cpubind_facts *facts = d->facts;
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    const int32_t *cut;
    int32_t n = 0, n_all = 0;
    for (int32_t i = 0; i < set->n; i++) {
        const int32_t core = cpubind_facts_core(facts, set->cpu[i]);
        for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++)
            if (facts->core_of[cpu] == core && !doctor_has(set->cpu, set->n, cpu) &&
                facts->node_of[cpu] >= 0 && (n == 0 || d->cpu[n - 1] != set->cpu[i]))
                d->cpu[n++] = set->cpu[i];
    }
    if (n == 0)
        return;
    doctor_add(&evidence, "the cpuset of process %d has CPUs ", (int)w->pid);
    doctor_add_cpus(&evidence, d->cpu, n);
    doctor_add(&evidence, ", and not the other CPUs of their cores");
    cut = doctor_keep_cpus(d, d->cpu, n);
    for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++) {
        int is_in = doctor_has(set->cpu, set->n, cpu);
        for (int32_t i = 0; cut && !is_in && i < n; i++)
            is_in = facts->core_of[cpu] >= 0 &&
                    facts->core_of[cpu] == cpubind_facts_core(facts, cut[i]);
        if (is_in)
            d->cpu[n_all++] = cpu;
    }
    add_write_cpuset(d, set, n_all, cpu_files.written, &command);
    f = doctor_find_of(d, w, &evidence, &command);
    f->input = set->input;
    f->value = set->value;
    f->cpu = cut;
    f->n_cpu = n;
}

void doctor_check_cpuset_split(doctor *d)
{
    const cpuset *set = read_cpusets(d, &cpu_files);
    for (int32_t i = 0; set && i < d->n_worker; i++) {
        int is_done = set[i].n == 0;
        for (int32_t k = 0; k < i; k++)
            is_done |= is_same_cpuset(&set[k], &set[i]);
        if (!is_done && doctor_has_cores(d))
            check_split_cpuset(d, &d->worker[i], &set[i]);
    }
}

/* Finds that the mask of this process is narrower than its cpuset; both plans have the same. */
static void check_own_mask(doctor *d)
{
    const cpubind_facts *facts = d->facts;
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    if (!doctor_has_cgroup(d) || facts->n_cpuset == 0 || d->n_found > 0)
        return;
    doctor_add(&evidence, "the mask of this process, ");
    doctor_add_cpus(&evidence, facts->cpu, facts->n_cpu);
    doctor_add(&evidence, ", is narrower than the cpuset of its cgroup, ");
    doctor_add_cpus(&evidence, facts->cpuset, facts->n_cpuset);
    doctor_add(&command, "taskset -cp ");
    doctor_add_cpus(&command, facts->cpuset, facts->n_cpuset);
    doctor_add(&command, " $$");
    f = doctor_find(d);
    f->input = INPUT_STATUS;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->cpu = doctor_keep_cpus(d, facts->cpuset, facts->n_cpuset);
    f->n_cpu = facts->n_cpuset;
}

/* The mask of a worker: of its main thread; none where one_cpu mends it. */
static cpuset read_own_mask(doctor *d, const doctor_worker *w)
{
    doctor_text name = {.len = 0}, value = {.len = 0};
    cpubind_input answer;
    cpuset mask = {NULL, NULL, NULL, 0};
    for (int32_t i = 0; i < d->report->n_finding; i++)
        if (d->report->finding[i].pid == w->pid && d->report->finding[i].n_change > 0)
            return mask;
    doctor_add(&name, "proc/%d/task/%d/status", (int)w->pid, (int)w->pid);
    mask.n = read_mask(d, name.text, &answer);
    if (mask.n <= 0)
        return (cpuset){NULL, NULL, NULL, 0};
    doctor_add_cpus(&value, d->cpu, mask.n);
    mask.cpu = doctor_keep_cpus(d, d->cpu, mask.n);
    mask.input = doctor_keep(d, name.text);
    mask.value = doctor_keep(d, value.text);
    return mask;
}

/* Whether the main thread of a worker has the CPUs that the plan has for it. */
static int is_as_planned(const doctor *d, const doctor_worker *w, const cpuset *mask)
{
    const cpubind_cpus pool =
        w->row < 0 ? (cpubind_cpus){NULL, 0} : doctor_role(d, w->row, CPUBIND_ROLE_MAIN);
    for (int32_t i = 0; i < mask->n && i < pool.n; i++)
        if (pool.cpu[i] != mask->cpu[i])
            return 0;
    return mask->n == pool.n;
}

/* Finds the workers of other devices that have the mask of worker i, where it is narrower than
 * its cpuset and no earlier worker has it: no plan gives two devices the same CPUs, but a
 * launcher does, and a library that leaves its main thread with less than other threads. */
static void check_mask(doctor *d, const cpuset *mask, const cpuset *set, int32_t i)
{
    const doctor_worker *w = &d->worker[i];
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    telling t;
    int32_t n = 0;
    doctor_add(&evidence, "process %d", (int)w->pid);
    doctor_add_apply(d, w, &command);
    for (int32_t k = 0; k < d->n_worker && mask[i].n < set[i].n; k++) {
        if (d->worker[k].npu == w->npu || mask[k].n != mask[i].n ||
            common(d, &mask[i], &mask[k]) != mask[i].n)
            continue;
        if (k < i)
            return;
        doctor_add(&evidence, ", %d", (int)d->worker[k].pid);
        doctor_add(&command, " && ");
        doctor_add_apply(d, &d->worker[k], &command);
        n++;
    }
    if (mask[i].n == 0 || mask[i].n >= set[i].n || (n == 0 && is_as_planned(d, w, &mask[i])))
        return;
    t = look_for_starter(d, w->pid, mask[i].cpu, mask[i].n);
    if (n > 0)
        doctor_add(&evidence, " have one mask, %s, which is narrower than the cpuset, %s",
                   mask[i].value, set[i].value);
    else if (t.of && t.wide >= 0)
        doctor_add(&evidence, " has the mask %s, and its thread %d may use %s", mask[i].value,
                   (int)t.wide, t.of_wide);
    else
        return;
    add_starter(&evidence, &t);
    f = doctor_find_of(d, w, &evidence, &command);
    f->input = mask[i].input;
    f->value = mask[i].value;
    f->cpu = mask[i].cpu;
    f->n_cpu = mask[i].n;
    f->number[0] = (cpubind_doctor_number){"workers", n + 1};
}

void doctor_check_mask(doctor *d)
{
    const cpuset *set = read_cpusets(d, &cpu_files);
    cpuset *mask = (cpuset *)cpubind_arena_take(d->arena, d->n_worker, sizeof *mask);
    const int is_shared = d->plan && d->plan->core.overlap == CPUBIND_FOUND_SHARED;
    check_own_mask(d);
    d->is_short |= !mask;
    if (is_shared) /* so it is as it should be */
        return;
    for (int32_t i = 0; set && mask && i < d->n_worker; i++)
        mask[i] = read_own_mask(d, &d->worker[i]);
    for (int32_t i = 0; set && mask && i < d->n_worker; i++)
        check_mask(d, mask, set, i);
}

/* The nodes of cpuset i and those that the plan has for all its workers, in d->cpu; their
 * number. */
static int32_t join_nodes(doctor *d, const cpuset *set, int32_t i)
{
    int32_t n = 0;
    for (int32_t node = 0; node < CPUBIND_MAX_CPUS; node++) {
        int is_in = doctor_has(set[i].cpu, set[i].n, node);
        for (int32_t k = 0; !is_in && k < d->n_worker; k++)
            is_in = d->worker[k].row >= 0 && is_same_cpuset(&set[i], &set[k]) &&
                    d->plan->memory_node[d->worker[k].row] == node;
        if (is_in)
            d->cpu[n++] = node;
    }
    return n;
}

void doctor_check_cpuset_mems(doctor *d)
{
    const cpuset *set = doctor_has_plan(d) ? read_cpusets(d, &node_files) : NULL;
    for (int32_t i = 0; set && i < d->n_worker; i++) {
        const doctor_worker *w = &d->worker[i];
        const int32_t node = w->row >= 0 ? d->plan->memory_node[w->row] : -1;
        doctor_text evidence = {.of = d}, command = {.of = d};
        cpubind_doctor_finding *f;
        if (set[i].n == 0 || node < 0 || doctor_has(set[i].cpu, set[i].n, node))
            continue;
        doctor_add(&evidence,
                   "the memory nodes of the cpuset of process %d, %s, lack node %d, that of "
                   "%s",
                   (int)w->pid, set[i].value, (int)node, doctor_name(d, w));
        add_write_cpuset(d, &set[i], join_nodes(d, set, i), node_files.written, &command);
        f = doctor_find_of(d, w, &evidence, &command);
        f->input = set[i].input;
        f->value = set[i].value;
        f->number[0] = (cpubind_doctor_number){"node", node};
    }
}
