/* doctor_host.c - checks of other users of the planned CPUs: irqbalance, NICs, processes
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. Interrupts are read in /proc/irq, which says where they are now.
 */
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "doctor_parts.h"

/* == Interrupts ============================================================= */

/* Reads the CPUs that serve an interrupt into d->cpu: their number, or -1 after doctor_lack.
 * *out is the file that says so. */
static int32_t read_irq(doctor *d, int32_t irq, doctor_text *out)
{
    cpubind_int_list list = {d->cpu, CPUBIND_MAX_CPUS, 0};
    cpubind_input answer;
    out->len = 0;
    doctor_add(out, "proc/irq/%d/effective_affinity_list", (int)irq);
    answer = d->source->read(d->source->ctx, out->text);
    if (answer.state == CPUBIND_INPUT_PRESENT && answer.len > 1 &&
        cpubind_cpulist_parse(answer.data, answer.len, CPUBIND_MAX_CPUS, &list, NULL) ==
            CPUBIND_TEXT_OK)
        return list.n;
    out->len = 0;
    doctor_add(out, "proc/irq/%d/smp_affinity_list", (int)irq);
    return doctor_read_cpus(d, out->text);
}

/* == irqbalance ============================================================= */

/* The process whose name is irqbalance; -1: none. */
static int32_t find_irqbalance(doctor *d)
{
    for (int32_t i = 0; i < d->n_pid; i++) {
        doctor_text name = {.len = 0};
        doctor_add(&name, "proc/%d/comm", (int)d->pid[i]);
        const cpubind_input comm = d->source->read(d->source->ctx, name.text);
        if (comm.state == CPUBIND_INPUT_PRESENT &&
            cpubind_comm_is(comm.data, comm.len, "irqbalance"))
            return d->pid[i];
    }
    return -1;
}

/* Whether the command line of irqbalance bans an interrupt: "--banirq=201", "-i 201". */
static int is_banned(doctor *d, int32_t pid, int32_t irq)
{
    static const char *const starts[] = {"--banirq=", "-i", ""};
    doctor_text name = {.len = 0};
    cpubind_input line;
    doctor_add(&name, "proc/%d/cmdline", (int)pid);
    line = d->source->read(d->source->ctx, name.text);
    for (int32_t at = 0, len; at < line.len; at += len + 1) {
        const char *end = (const char *)memchr(line.data + at, '\0', (size_t)(line.len - at));
        len = end ? (int32_t)(end - line.data) - at : line.len - at;
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            doctor_text word = {.len = 0};
            doctor_add(&word, "%s%d", starts[i], (int)irq);
            if (doctor_is(line.data + at, len, word.text))
                return 1;
        }
    }
    return 0;
}

/* Whether an interrupt is not where the plan has it, and not banned; *input is the file that
 * says where, and d->cpu has the *n CPUs. */
static int is_astray(doctor *d, const cpubind_irq_goal *irq, int32_t pid, doctor_text *input,
                     int32_t *n)
{
    *n = read_irq(d, irq->irq, input);
    return *n >= 0 && (*n != 1 || d->cpu[0] != irq->cpu) && !is_banned(d, pid, irq->irq);
}

/* irqbalance shall leave these interrupts alone, and each goes to its CPU. */
static void ban_irqs(doctor *d, const cpubind_goal *goal, int32_t pid, doctor_text *evidence,
                     cpubind_doctor_finding *f)
{
    cpubind_change *change = doctor_keep_changes(d, f, 2 * goal->n_irq);
    int32_t *other = cpubind_arena_ints(d->arena, goal->n_irq), n_other = 0;
    f->n_change = 0;
    d->is_short |= !other;
    for (int32_t i = 0; change && other && i < goal->n_irq; i++) {
        const cpubind_irq_goal *irq = &goal->irq[i];
        doctor_text input = {.len = 0}, name = {.len = 0}, value = {.len = 0};
        int32_t n;
        if (!is_astray(d, irq, pid, &input, &n))
            continue;
        if (f->n_change > 0)
            other[n_other++] = irq->irq;
        doctor_add(&name, "proc/irq/%d/smp_affinity_list", (int)irq->irq);
        doctor_add(&value, "%d", (int)irq->cpu);
        change[f->n_change++] =
            (cpubind_change){.kind = CPUBIND_CHANGE_BAN, .pid = pid, .irq = irq->irq};
        change[f->n_change++] = (cpubind_change){.file = doctor_keep(d, name.text),
                                                 .value = doctor_keep(d, value.text),
                                                 .irq_id = &irq->id};
    }
    for (int32_t i = 0; i < n_other; i++)
        doctor_add(evidence, "%s%d", i ? ", " : "; not on their CPUs either: ", (int)other[i]);
}

/* Finds an interrupt of a worker's NPU that is not where the plan has it and is not banned. */
static void check_irqs(doctor *d, const doctor_worker *w, int32_t pid)
{
    const cpubind_goal_request request = {.facts = d->facts, .plan = d->plan, .row = w->row};
    cpubind_goal goal;
    cpubind_problem problem;
    cpubind_problem_code code;
    cpubind_problem_clear(&problem);
    code = cpubind_goal_make(d->source, &request, d->arena, &goal, &problem);
    d->is_short |= code == CPUBIND_PROBLEM_NO_MEMORY;
    if (code != CPUBIND_PROBLEM_NONE || goal.n_irq == 0) {
        doctor_lack(d, "proc/interrupts", problem.answer);
        return;
    }
    for (int32_t i = 0; i < goal.n_irq; i++) {
        const cpubind_irq_goal *irq = &goal.irq[i];
        doctor_text input = {.len = 0}, value = {.len = 0}, evidence = {.of = d},
                    command = {.of = d};
        cpubind_doctor_finding *f;
        int32_t n;
        if (!is_astray(d, irq, pid, &input, &n))
            continue;
        doctor_add_cpus(&value, d->cpu, n);
        doctor_add(&evidence,
                   "irqbalance runs, process %d, and interrupt %d of %s is on CPU "
                   "%s, not on %d",
                   (int)pid, (int)irq->irq, doctor_name(d, w), value.text, (int)irq->cpu);
        doctor_add_apply(d, w, &command);
        doctor_add(&command, " -o irqbalance=ban");
        f = doctor_find(d);
        doctor_set_device(d, w, f);
        f->pid = pid;
        f->command = doctor_keep_text(d, &command);
        f->input = doctor_keep(d, input.text);
        f->value = doctor_keep(d, value.text);
        f->cpu = doctor_keep_cpus(d, d->cpu, n);
        f->n_cpu = n;
        ban_irqs(d, &goal, pid, &evidence, f);
        f->evidence = doctor_keep_text(d, &evidence);
        f->number[0] = (cpubind_doctor_number){"irq", irq->irq};
        return;
    }
}

void doctor_check_irqbalance(doctor *d)
{
    int32_t pid;
    if (d->is_bus) /* whose interrupts are not bound */
        return;
    if (!doctor_has_workers(d) || !doctor_has_plan(d) || !doctor_has_pids(d))
        return;
    pid = find_irqbalance(d);
    for (int32_t i = 0; pid >= 0 && i < d->n_worker; i++)
        if (d->worker[i].row >= 0)
            check_irqs(d, &d->worker[i], pid);
}

/* == NICs =================================================================== */

static int is_in_some_pool(const doctor *d, int32_t cpu)
{
    for (int32_t row = 0; row < d->plan->n_want; row++) {
        const int32_t *at = d->plan->core.row + row;
        if (doctor_has(d->plan->core.cpu + at[0], at[1] - at[0], cpu))
            return 1;
    }
    return 0;
}

static int is_for_interrupts(const doctor *d, int32_t cpu)
{
    for (int32_t row = 0; row < d->plan->n_want; row++) {
        const cpubind_cpus irq = doctor_role(d, row, CPUBIND_ROLE_IRQ);
        if (doctor_has(irq.cpu, irq.n, cpu))
            return 1;
    }
    return 0;
}

/* The CPUs that are for no thread of a worker, in d->cpu; their number. These are the CPUs of
 * no pool, if the plan has all NPUs of the host, else those of irq. */
static int32_t list_spare(doctor *d)
{
    const cpubind_device_plan *plan = d->plan;
    const cpubind_facts *facts = d->facts;
    const int is_whole =
        plan->n_hidden == 0 && plan->n_candidate <= plan->n_want && plan->total <= plan->n_want;
    int32_t n = 0;
    for (int32_t i = 0; is_whole && i < facts->n_cpu; i++)
        if (!is_in_some_pool(d, facts->cpu[i]))
            d->cpu[n++] = facts->cpu[i];
    for (int32_t i = 0, is_none = n == 0; is_none && i < facts->n_cpu; i++)
        if (is_for_interrupts(d, facts->cpu[i]))
            d->cpu[n++] = facts->cpu[i];
    return n;
}

/* The interrupts of a NIC that are on CPUs for threads, in `irq`; their number. */
static int32_t find_nic_irqs(doctor *d, cpubind_input listing, int32_t *irq, doctor_text *first,
                             doctor_text *value)
{
    cpubind_piece line;
    int32_t n_irq = 0;
    for (int32_t at = 0; doctor_next_line(listing, &at, &line);) {
        const int32_t number = doctor_number(listing.data, line);
        doctor_text input = {.len = 0};
        int is_on = 0;
        const int32_t n = number < 0 ? -1 : read_irq(d, number, &input);
        for (int32_t i = 0; i < n; i++)
            is_on |= is_in_some_pool(d, d->cpu[i]) && !is_for_interrupts(d, d->cpu[i]);
        if (!is_on)
            continue;
        if (n_irq == 0) {
            *first = input;
            doctor_add_cpus(value, d->cpu, n);
        }
        irq[n_irq++] = number;
    }
    return n_irq;
}

/* The interrupts go to the n_spare CPUs in d->cpu. */
static void move_irqs(doctor *d, const int32_t *irq, int32_t n, int32_t n_spare,
                      cpubind_doctor_finding *f)
{
    cpubind_change *change = doctor_keep_changes(d, f, n);
    doctor_text value = {.len = 0};
    doctor_add_cpus(&value, d->cpu, n_spare);
    for (int32_t i = 0; change && i < n; i++) {
        doctor_text name = {.len = 0};
        doctor_add(&name, "proc/irq/%d/smp_affinity_list", (int)irq[i]);
        change[i] = (cpubind_change){.file = doctor_keep(d, name.text),
                                     .value = doctor_keep(d, value.text)};
    }
}

static void check_nic(doctor *d, const char *nic, int32_t len)
{
    doctor_text folder = {.len = 0}, input = {.len = 0}, value = {.len = 0};
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    cpubind_input listing;
    int32_t *irq, n, n_spare;
    doctor_add(&folder, "sys/class/net/");
    doctor_add_bytes(&folder, nic, len);
    doctor_add(&folder, "/device/msi_irqs");
    listing = d->source->list(d->source->ctx, folder.text);
    if (listing.state != CPUBIND_INPUT_PRESENT)
        return; /* a device without interrupts of its own */
    irq = cpubind_arena_ints(d->arena, listing.len / 2 + 1);
    d->is_short |= !irq;
    n = irq ? find_nic_irqs(d, listing, irq, &input, &value) : 0;
    n_spare = n > 0 ? list_spare(d) : 0;
    if (n_spare == 0)
        return;
    doctor_add(&evidence, "interrupts of the NIC ");
    doctor_add_bytes(&evidence, nic, len);
    doctor_add(&evidence, " are on CPUs of workers: %d, the first is %d", (int)n, (int)irq[0]);
    doctor_add(&command, "for i in ");
    doctor_add_words(&command, irq, n);
    doctor_add(&command, "; do echo ");
    doctor_add_cpus(&command, d->cpu, n_spare);
    doctor_add(&command, " >/proc/irq/$i/smp_affinity_list; done");
    f = doctor_find(d);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->input = doctor_keep(d, input.text);
    f->value = doctor_keep(d, value.text);
    f->number[0] = (cpubind_doctor_number){"irq", irq[0]};
    f->number[1] = (cpubind_doctor_number){"irqs", n};
    move_irqs(d, irq, n, n_spare, f);
}

void doctor_check_nics(doctor *d)
{
    cpubind_input listing;
    cpubind_piece line;
    if (d->request->moves_nics || !doctor_has_plan(d) ||
        !doctor_list(d, "sys/class/net", &listing))
        return;
    for (int32_t at = 0; doctor_next_line(listing, &at, &line);)
        check_nic(d, listing.data + line.at, line.len);
}

/* == Other processes on the ACL or release CPU ============================== */

/* A CPU that a worker has for one thread. */
typedef struct single {
    int32_t cpu;
    cpubind_role role;
    const doctor_worker *worker;
} single;

typedef struct singles {
    single *item;
    int32_t n;
} singles;

static singles list_singles(doctor *d)
{
    static const cpubind_role roles[] = {CPUBIND_ROLE_ACL, CPUBIND_ROLE_RELEASE};
    singles s = {(single *)cpubind_arena_take(d->arena, 2 * d->n_worker, sizeof *s.item), 0};
    d->is_short |= !s.item;
    for (int32_t i = 0; s.item && i < d->n_worker; i++)
        for (int k = 0; k < 2 && d->worker[i].row >= 0; k++) {
            const cpubind_cpus cpus = doctor_role(d, d->worker[i].row, roles[k]);
            if (cpus.n == 1)
                s.item[s.n++] = (single){cpus.cpu[0], roles[k], &d->worker[i]};
        }
    return s;
}

/* The CPU of a list that a thread ran on last, if the thread is one of a program; else NULL. */
static const single *find_single(const singles *s, const cpubind_stat *stat)
{
    for (int32_t i = 0; !(stat->flags & CPUBIND_STAT_KTHREAD) && i < s->n; i++)
        if (s->item[i].cpu == stat->cpu)
            return &s->item[i];
    return NULL;
}

/* Whether `pid` drives the NPU of a worker, as the worker itself does. */
static const doctor_worker *worker_of(const doctor *d, int32_t pid)
{
    for (int32_t i = 0; i < d->n_worker; i++)
        if (d->worker[i].pid == pid)
            return &d->worker[i];
    return NULL;
}

/* Whether the n CPUs of d->cpu are all of the pool of a row. */
static int is_in_pool(const doctor *d, int32_t row, int32_t n)
{
    const int32_t *at = d->plan->core.row + row;
    for (int32_t i = 0; i < n; i++)
        if (!doctor_has(d->plan->core.cpu + at[0], at[1] - at[0], d->cpu[i]))
            return 0;
    return 1;
}

/* Finds a thread that runs on the CPU, or that may run nowhere but in the pool. Returns whether
 * it was found. */
static int check_thread(doctor *d, const doctor_text *folder, char state, const single *s,
                        int32_t pid)
{
    const doctor_worker *other = worker_of(d, pid);
    cpubind_int_list list = {d->cpu, CPUBIND_MAX_CPUS, 0};
    doctor_text input = {.len = 0}, evidence = {.of = d}, command = {.of = d},
                value = {.len = 0};
    cpubind_doctor_finding *f;
    cpubind_input status;
    cpubind_piece name, tid;
    doctor_add(&input, "%s/status", folder->text);
    status = d->source->read(d->source->ctx, input.text);
    if (status.state != CPUBIND_INPUT_PRESENT ||
        cpubind_status_parse(status.data, status.len, CPUBIND_MAX_CPUS, &list, NULL) !=
            CPUBIND_TEXT_OK) {
        doctor_lack(d, input.text, status);
        return 0;
    }
    /* A thread that sleeps since its mask was narrowed has the CPU of before in its stat. */
    if (state != 'R' &&
        (!is_in_pool(d, s->worker->row, list.n) || !doctor_has(d->cpu, list.n, s->cpu)))
        return 0;
    name = doctor_field(status, "Name");
    tid = doctor_field(status, "Pid");
    doctor_add_cpus(&value, d->cpu, list.n);
    doctor_add(&evidence, "process %d, ", (int)pid);
    doctor_add_bytes(&evidence, status.data + name.at, name.len);
    doctor_add(&evidence, ", is on CPU %d, the %s CPU of %s, which process %d drives",
               (int)s->cpu, cpubind_role_name(s->role), doctor_name(d, s->worker),
               (int)s->worker->pid);
    if (other) {
        doctor_add_apply(d, other, &command);
    } else {
        const int32_t n_spare = list_spare(d);
        doctor_add(&command, "taskset -acp ");
        doctor_add_cpus(&command, d->cpu, n_spare);
        doctor_add(&command, " %d", (int)pid);
    }
    f = doctor_find(d);
    doctor_set_device(d, s->worker, f);
    f->pid = pid;
    f->tid = doctor_number(status.data, tid);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->input = doctor_keep(d, input.text);
    f->value = doctor_keep(d, value.text);
    f->cpu = doctor_keep_cpus(d, &s->cpu, 1);
    f->n_cpu = 1;
    return 1;
}

/* Finds the first thread of a process that is on such a CPU. */
static void check_process(doctor *d, const singles *s, int32_t pid)
{
    const doctor_worker *own = worker_of(d, pid);
    doctor_text folder = {.len = 0};
    cpubind_input listing;
    cpubind_piece line;
    doctor_add(&folder, "proc/%d/task", (int)pid);
    listing = d->source->list(d->source->ctx, folder.text);
    for (int32_t at = 0; doctor_next_line(listing, &at, &line);) {
        doctor_text thread = folder, input;
        cpubind_input answer;
        cpubind_stat stat;
        const single *on = NULL;
        doctor_add(&thread, "/");
        doctor_add_bytes(&thread, listing.data + line.at, line.len);
        input = thread;
        doctor_add(&input, "/stat");
        answer = d->source->read(d->source->ctx, input.text);
        if (answer.state == CPUBIND_INPUT_PRESENT &&
            cpubind_stat_parse(answer.data, answer.len, &stat, NULL) == CPUBIND_TEXT_OK)
            on = find_single(s, &stat);
        if (on && (!own || own->npu != on->worker->npu) &&
            check_thread(d, &thread, stat.state, on, pid))
            return;
    }
}

void doctor_check_role_taken(doctor *d)
{
    const cpubind_input status = d->source->read(d->source->ctx, INPUT_STATUS);
    int32_t self = -1; /* the process that examines runs on some CPU, and ends soon */
    singles s;
    if (!doctor_has_workers(d) || !doctor_has_plan(d) || !doctor_has_pids(d))
        return;
    if (status.state == CPUBIND_INPUT_PRESENT)
        self = doctor_number(status.data, doctor_field(status, "Pid"));
    s = list_singles(d);
    for (int32_t i = 0; s.n > 0 && i < d->n_pid; i++)
        if (d->pid[i] != self)
            check_process(d, &s, d->pid[i]);
}
