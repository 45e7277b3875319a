/* doctor.c - the table of checks, and an examination by all of them
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. A new check is one more row and its
 * function.
 */
#include "doctor.h"

#include "doctor_parts.h"

#define RESTART_WORKERS "start the workers again, all of them with it"
#define APPLY_AGAIN     "cpubind apply for the workers of this cpuset"
#define COMMAND_IS      "COMMAND is the one that starts this worker alone; start it again so"
#define START_CONTAINER "start the container with it, beside its other options"
#define SAME_FACTS      "start the workers again from this shell, or mend the driver"
#define RESTART_HOST    "restart the host"

typedef struct row {
    cpubind_doctor_check check;
    doctor_check_run *run;
    enum {
        ONCE,
        PER_PLAN,
        OF_ALL
    } scope; /* PER_PLAN: for the workers of each plan; OF_ALL:
                                              for those of all devices at once */
} row;

/* clang-format off */
static const row rows[] = {
    {{"one_cpu", CPUBIND_SEVERITY_SEVERE,
      "these threads wait for each other on one CPU, while those of the pool are idle", NULL},
     doctor_check_one_cpu, PER_PLAN},
    {{"omp_proc_bind", CPUBIND_SEVERITY_SEVERE,
      "OpenMP pins each thread by itself, often all of the process to CPU 0, and pins threads "
      "again that cpubind has moved", "start the engine again from this shell"},
     doctor_check_omp, PER_PLAN},
    {{"cpuset_overlap", CPUBIND_SEVERITY_SEVERE,
      "each process cuts pools from its own cpuset, so that two devices get the same CPUs",
      NULL},
     doctor_check_cpuset_overlap, OF_ALL},
    {{"cpuset_far", CPUBIND_SEVERITY_SEVERE,
      "the worker cannot run near its device: each launch crosses to another node",
      APPLY_AGAIN},
     doctor_check_cpuset_far, PER_PLAN},
    {{"cpuset_split", CPUBIND_SEVERITY_MODERATE,
      "the other thread of the core runs work of others, which takes its units and its cache",
      APPLY_AGAIN}, doctor_check_cpuset_split, PER_PLAN},
    {{"cpuset_mems", CPUBIND_SEVERITY_MODERATE,
      "no page of the worker can be on the node of its device: each access crosses nodes",
      APPLY_AGAIN}, doctor_check_cpuset_mems, PER_PLAN},
    {{"engine_binds", CPUBIND_SEVERITY_MODERATE,
      "the engine binds the worker after its warm-up, by its own rules, over what cpubind has "
      "bound", "start the engine again with it, beside its other options"},
     doctor_check_engine, PER_PLAN},
    {{"engine_cores", CPUBIND_SEVERITY_MODERATE,
      "all devices that a process of the engine serves stand still while it waits for a CPU",
      "settings are for all workers of the host: in /etc/cpubind.conf for good"},
     doctor_check_engine_cores, PER_PLAN},
    {{"role_taken", CPUBIND_SEVERITY_SEVERE,
      "the one thread that launches or frees for this device waits while the other one runs",
      NULL}, doctor_check_role_taken, PER_PLAN},
    {{"far_memory", CPUBIND_SEVERITY_MODERATE,
      "each access crosses nodes, with its latency and its bandwidth", NULL},
     doctor_check_far_memory, PER_PLAN},
    {{"shared_memory", CPUBIND_SEVERITY_MODERATE,
      "all workers that share these pages load one node, and cpubind apply leaves them where "
      "they are", "COMMAND is the one that makes the shared table; start it again so"},
     doctor_check_shared_memory, PER_PLAN},
    {{"pinned_memory", CPUBIND_SEVERITY_MODERATE,
      "pinned pages cannot be moved: they stay far until the process ends", COMMAND_IS},
     doctor_check_pinned_memory, PER_PLAN},
    {{"memory_policy", CPUBIND_SEVERITY_MODERATE,
      "new pages come from other nodes for as long as the process runs, also after cpubind "
      "apply has moved the old ones", COMMAND_IS},
     doctor_check_memory_policy, PER_PLAN},
    {{"irqbalance", CPUBIND_SEVERITY_MODERATE,
      "irqbalance moves the interrupts of the NPU away from their CPUs, every ten seconds",
      NULL},
     doctor_check_irqbalance, ONCE},
    {{"nic_interrupts", CPUBIND_SEVERITY_MODERATE,
      "network traffic interrupts the threads of workers", NULL}, doctor_check_nics, ONCE},
    {{"network", CPUBIND_SEVERITY_MODERATE,
      "what a device sends crosses to another node, or waits for what another one sends",
      "start the engine again from this shell, with these devices or cards"},
     doctor_check_network, PER_PLAN},
    {{"autonuma", CPUBIND_SEVERITY_MODERATE,
      "the kernel unmaps pages to see who uses them, and moves memory that was placed; each "
      "page costs a fault", NULL}, doctor_check_autonuma, ONCE},
    {{"offline", CPUBIND_SEVERITY_MODERATE,
      "the pools are cut from fewer CPUs, and a thread whose CPUs are all offline runs "
      "anywhere", NULL}, doctor_check_offline, ONCE},
    {{"governor", CPUBIND_SEVERITY_MODERATE,
      "a CPU that has just been idle starts slowly, so each launch of a kernel takes longer",
      NULL}, doctor_check_governor, ONCE},
    {{"deep_sleep", CPUBIND_SEVERITY_MODERATE,
      "a thread that has slept there starts so much later: engines that wake threads often are "
      "several times slower", "do it at each start of the host, too (tuned has force_latency)"},
     doctor_check_deep_sleep, ONCE},
    {{"isolated", CPUBIND_SEVERITY_SEVERE,
      "the scheduler does not balance isolated CPUs: all main threads of a worker pile up on "
      "one of them", RESTART_HOST}, doctor_check_isolated, ONCE},
    {{"nohz_full", CPUBIND_SEVERITY_MINOR,
      "system calls and interrupts are slower there, and with several threads a CPU nothing is "
      "gained", RESTART_HOST}, doctor_check_nohz_full, ONCE},
    {{"split_cores", CPUBIND_SEVERITY_MODERATE,
      "workers of two devices share the caches and the units of one core", RESTART_WORKERS},
     doctor_check_split, ONCE},
    {{"poor_locality", CPUBIND_SEVERITY_SEVERE,
      "each launch and interrupt of these devices crosses to another node", RESTART_WORKERS},
     doctor_check_locality, ONCE},
    {{"narrow_mask", CPUBIND_SEVERITY_SEVERE,
      "all workers that a launcher leaves one mask share its CPUs, and the others of their "
      "cpuset are idle", "lift it in the launcher, too, for workers to come"},
     doctor_check_mask, PER_PLAN},
    {{"cpu_quota", CPUBIND_SEVERITY_SEVERE,
      "threads beyond the quota use it up together, and then all stand still until the next "
      "period", "or start the engine again with no more threads than that (OMP_NUM_THREADS)"},
     doctor_check_quota, ONCE},
    {{"mixed_rules", CPUBIND_SEVERITY_SEVERE,
      "each of the rules cuts the pools of the whole host in its own way, so that two workers "
      "get the same CPUs", RESTART_WORKERS},
     doctor_check_rules, ONCE},
    {{"wrong_device", CPUBIND_SEVERITY_SEVERE,
      "it runs far from its device, on CPUs that the workers of another one are bound to, too",
      NULL},
     doctor_check_device, PER_PLAN},
    {{"other_accelerators", CPUBIND_SEVERITY_SEVERE,
      "workers of NPUs and workers of the others run on the same CPUs",
      "give the workers of the others -o exclude=LIST with the rest, as the warning of cpubind "
      "plan says"},
     doctor_check_others, ONCE},
    {{"seccomp", CPUBIND_SEVERITY_MODERATE,
      "memory is not placed: pages stay where they are, new ones come from any node",
      START_CONTAINER}, doctor_check_seccomp, ONCE},
    {{"sys_nice", CPUBIND_SEVERITY_MODERATE,
      "cpubind apply is refused for workers of another user, and memory policies may be",
      START_CONTAINER}, doctor_check_sys_nice, ONCE},
    {{"proc_irq", CPUBIND_SEVERITY_MODERATE,
      "interrupts of the NPU are served by any CPU, also by those of other workers",
      "start the container with it, beside its other options, or bind from the host"},
     doctor_check_proc_irq, ONCE},
    {{"hidepid", CPUBIND_SEVERITY_MINOR,
      "faults of these processes are not found, and their threads cannot be bound from here",
      NULL}, doctor_check_hidepid, ONCE},
    {{"npu_smi_slow", CPUBIND_SEVERITY_MINOR,
      "each start of a worker waits for npu-smi, and fails after 20 seconds", SAME_FACTS},
     doctor_check_npusmi_slow, ONCE},
    {{"inputs_differ", CPUBIND_SEVERITY_SEVERE,
      "workers that read one of them plan other pools than those that read the other",
      SAME_FACTS}, doctor_check_inputs_differ, ONCE},
};
/* clang-format on */

enum { N_CHECKS = (int)(sizeof rows / sizeof rows[0]) };

int32_t cpubind_doctor_checks(void)
{
    return N_CHECKS;
}

const cpubind_doctor_check *cpubind_doctor_check_at(int32_t i)
{
    return &rows[i].check;
}

const char *cpubind_severity_word(cpubind_severity severity)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_SEVERITY_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[severity];
}

/* Makes an examination about the devices of one kind: their facts, plan and workers. */
static void enter(doctor *d, const doctor *part)
{
    d->is_bus = part->is_bus;
    d->facts = part->facts;
    d->plan = part->plan;
    d->worker = part->worker;
    d->n_worker = part->n_worker;
    d->is_workers_known = part->is_workers_known;
    d->workers_input = part->workers_input;
    d->workers_answer = part->workers_answer;
}

static void read_part(doctor *d, doctor *part, int32_t is_bus)
{
    *part = *d;
    part->is_bus = is_bus;
    part->facts = is_bus ? d->request->bus->facts : d->request->facts;
    part->plan = is_bus ? d->request->bus->plan : d->request->plan;
    doctor_read_workers(part);
    d->is_short |= part->is_short;
    if (part->is_workers_known)
        d->report->n_worker =
            (d->report->n_worker < 0 ? 0 : d->report->n_worker) + part->n_worker;
}

/* Makes an examination about the workers of all devices that are known; notes those that are
 * not. The facts and the plan are those of the first part. */
static void enter_all(doctor *d, const doctor *part, int n_part)
{
    doctor all = part[0];
    int32_t n = 0;
    for (int k = 0; k < n_part; k++) {
        enter(d, &part[k]);
        n += doctor_has_workers(d) ? part[k].n_worker : 0;
    }
    all.worker = (doctor_worker *)cpubind_arena_take(d->arena, n, sizeof *all.worker);
    all.n_worker = 0;
    all.is_workers_known = 1;
    d->is_short |= !all.worker;
    for (int k = 0; all.worker && k < n_part; k++)
        for (int32_t i = 0; part[k].is_workers_known && i < part[k].n_worker; i++)
            all.worker[all.n_worker++] = part[k].worker[i];
    enter(d, &all);
}

cpubind_problem_code cpubind_doctor_examine(const cpubind_doctor_request *request,
                                            cpubind_arena *arena, cpubind_doctor_report *out)
{
    doctor d = {.request = request, .source = request->source, .arena = arena, .report = out};
    doctor part[2];
    int n_part = 0;
    memset(out, 0, sizeof *out);
    out->n_check = N_CHECKS;
    out->n_worker = -1;
    /* One more: the place of a finding that is not kept. */
    out->finding = (cpubind_doctor_finding *)cpubind_arena_take(
        arena, N_CHECKS * CPUBIND_DOCTOR_MAX_FINDINGS + 1, sizeof *out->finding);
    out->unknown =
        (cpubind_doctor_unknown *)cpubind_arena_take(arena, N_CHECKS + 1, sizeof *out->unknown);
    d.cpu = cpubind_arena_ints(arena, CPUBIND_MAX_CPUS);
    if (!out->finding || !out->unknown || !d.cpu)
        return CPUBIND_PROBLEM_NO_MEMORY;
    if (request->facts || !request->bus)
        read_part(&d, &part[n_part++], 0);
    if (request->bus)
        read_part(&d, &part[n_part++], 1);
    doctor_read_pids(&d);
    for (int32_t i = 0; i < N_CHECKS && !d.is_short; i++) {
        d.check = &rows[i].check;
        d.n_found = d.is_unknown = 0;
        for (int k = 0; k < (rows[i].scope == PER_PLAN ? n_part : 1); k++) {
            if (rows[i].scope == OF_ALL)
                enter_all(&d, part, n_part);
            else
                enter(&d, &part[k]);
            rows[i].run(&d);
        }
    }
    return d.is_short ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_NONE;
}
