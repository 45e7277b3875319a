/* doctor_kernel.c - checks of settings of the kernel: AutoNUMA, governors, sleep, offline CPUs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. The files and their values are those of the kernel's documentation:
 * admin-guide/sysctl/kernel.rst, admin-guide/pm/cpufreq.rst, admin-guide/pm/cpuidle.rst and
 * ABI/testing/sysfs-devices-system-cpu.
 */
#include "doctor_parts.h"

#define CPU_FOLDER "sys/devices/system/cpu/"

void doctor_check_autonuma(doctor *d)
{
    static const char input[] = "proc/sys/kernel/numa_balancing";
    cpubind_doctor_finding *f;
    cpubind_input answer;
    if (!doctor_read(d, input, &answer))
        return;
    if (answer.len > 0 && answer.data[0] == '0')
        return;
    f = doctor_find(d);
    f->input = input;
    f->value = doctor_value(d, answer);
    f->evidence = "automatic NUMA balancing is on";
    f->command = "echo 0 >/proc/sys/kernel/numa_balancing";
    cpubind_change *change = doctor_keep_changes(d, f, 1);
    if (change)
        *change = (cpubind_change){.file = input, .value = "0"};
}

/* Appends the CPUs of a file that have another governor than "performance" to `out`. Returns
 * their number, or -1 after doctor_lack. *value is the first other governor. */
static int32_t find_governors(doctor *d, int32_t n, const char **input, const char **value)
{
    static const char good[] = "performance";
    int32_t n_other = 0;
    for (int32_t i = 0; i < n; i++) {
        doctor_text name = {.len = 0};
        cpubind_input answer;
        const char *governor;
        doctor_add(&name, CPU_FOLDER "cpu%d/cpufreq/scaling_governor", (int)d->cpu[i]);
        answer = d->source->read(d->source->ctx, name.text);
        if (answer.state != CPUBIND_INPUT_PRESENT) {
            doctor_lack(d, doctor_keep(d, name.text), answer);
            return n_other;
        }
        governor = doctor_value(d, answer);
        if (doctor_is(governor, (int32_t)strlen(governor), good))
            continue;
        if (n_other == 0) {
            *input = doctor_keep(d, name.text);
            *value = governor;
        }
        d->cpu[n_other++] = d->cpu[i];
    }
    return n_other;
}

/* Reads the online CPUs into d->cpu, as doctor_read_cpus: those of the nodes where cpu/online
 * is not the kernel's. */
static int32_t read_online(doctor *d)
{
    int32_t n = doctor_read_cpus(d, INPUT_ONLINE);
    if (!d->facts || !(d->facts->warnings & CPUBIND_WARNS(ONLINE_DIFFERS)))
        return n;
    n = 0;
    for (int32_t cpu = 0; cpu < d->facts->n_cpu_id; cpu++)
        if (d->facts->node_of[cpu] >= 0)
            d->cpu[n++] = cpu;
    return n;
}

void doctor_check_governor(doctor *d)
{
    const int32_t n = read_online(d);
    const char *input = NULL, *value = NULL;
    const int32_t n_other = find_governors(d, n, &input, &value);
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    if (n_other == 0)
        return;
    doctor_add(&evidence, "the frequency governor of CPUs ");
    doctor_add_cpus(&evidence, d->cpu, n_other);
    doctor_add(&evidence, " is not performance, but %s", value);
    doctor_add(&command, "for i in ");
    if (n_other == n) {
        doctor_add(&command, "/" CPU_FOLDER "cpu*/cpufreq; do echo performance "
                             ">$i/scaling_governor; done");
    } else {
        doctor_add_words(&command, d->cpu, n_other);
        doctor_add(&command, "; do echo performance >/" CPU_FOLDER
                             "cpu$i/cpufreq/scaling_governor; done");
    }
    f = doctor_find(d);
    f->input = input;
    f->value = value;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->cpu = doctor_keep_cpus(d, d->cpu, n_other);
    f->n_cpu = n_other;
    cpubind_change *change = doctor_keep_changes(d, f, n_other);
    for (int32_t i = 0; change && i < n_other; i++) {
        doctor_text name = {.len = 0};
        doctor_add(&name, CPU_FOLDER "cpu%d/cpufreq/scaling_governor", (int)d->cpu[i]);
        change[i] = (cpubind_change){.file = doctor_keep(d, name.text), .value = "performance"};
    }
}

/* A role as one of a set of them. */
#define ROLE(name) (1U << CPUBIND_ROLE_##name)
#define ALL_ROLES  ((1U << CPUBIND_ALL_ROLES) - 1)

/* Keeps of d->cpu those that a row of the plan has in one of the roles. */
static int32_t keep_planned(doctor *d, int32_t n, unsigned roles)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        int is_planned = 0;
        for (int32_t row = 0; row < d->plan->n_want && !is_planned; row++)
            for (int role = 0; role < CPUBIND_ALL_ROLES; role++) {
                const cpubind_cpus has = doctor_role(d, row, (cpubind_role)role);
                is_planned |= (roles >> role & 1) && doctor_has(has.cpu, has.n, d->cpu[i]);
            }
        if (is_planned)
            d->cpu[kept++] = d->cpu[i];
    }
    return kept;
}

/* == Sleep ================================================================== */

/* From so many microseconds on a state of sleep is deep: in the tables of intel_idle C1E takes
 * 20 at most, C6 of servers 130 to 290. Where that is so, engines that wake threads often were
 * 4 to 8 times slower (gVisor, pull request 14526). What the firmware says of other CPUs, to
 * other drivers, is many times what they take: of no use here. */
enum { DEEP_SLEEP = 100, MAX_STATES = 10 };

/* A deep state of the CPUs, by that of one of them. */
typedef struct deep_state {
    int32_t number[MAX_STATES], n;
    const char *input, *latency, *name; /* of the first */
} deep_state;

static void read_state(doctor *d, const char *folder, int32_t state, const char *file,
                       cpubind_input *answer, doctor_text *input)
{
    doctor_add(input, "%s%d/%s", folder, (int)state, file);
    *answer = d->source->read(d->source->ctx, input->text);
}

/* Finds the deep states of a CPU; 0 after doctor_lack. */
static int read_states(doctor *d, int32_t cpu, deep_state *deep)
{
    doctor_text folder = {.len = 0};
    doctor_add(&folder, CPU_FOLDER "cpu%d/cpuidle/state", (int)cpu);
    for (int32_t state = 0; state < MAX_STATES; state++) {
        doctor_text input = {.len = 0}, name = {.len = 0};
        cpubind_input answer, its_name;
        const char *latency;
        read_state(d, folder.text, state, "latency", &answer, &input);
        if (answer.state == CPUBIND_INPUT_ABSENT && state > 0)
            break;
        if (answer.state != CPUBIND_INPUT_PRESENT) {
            doctor_lack(d, doctor_keep(d, input.text), answer);
            return 0;
        }
        latency = doctor_value(d, answer);
        if (doctor_number(latency, (cpubind_piece){0, (int32_t)strlen(latency)}) < DEEP_SLEEP)
            continue;
        if (deep->n == 0) {
            read_state(d, folder.text, state, "name", &its_name, &name);
            deep->input = doctor_keep(d, input.text);
            deep->latency = latency;
            deep->name = its_name.state == CPUBIND_INPUT_PRESENT ? doctor_value(d, its_name)
                                                                 : "a deep state";
        }
        deep->number[deep->n++] = state;
    }
    return 1;
}

/* Whether a CPU may go into one of the deep states; -1 after doctor_lack. */
static int may_sleep(doctor *d, int32_t cpu, const deep_state *deep)
{
    doctor_text folder = {.len = 0};
    int may = 0;
    doctor_add(&folder, CPU_FOLDER "cpu%d/cpuidle/state", (int)cpu);
    for (int32_t i = 0; i < deep->n && !may; i++) {
        doctor_text input = {.len = 0};
        cpubind_input answer;
        read_state(d, folder.text, deep->number[i], "disable", &answer, &input);
        if (answer.state != CPUBIND_INPUT_PRESENT) {
            doctor_lack(d, doctor_keep(d, input.text), answer);
            return -1;
        }
        may = answer.len > 0 && answer.data[0] == '0';
    }
    return may;
}

void doctor_check_deep_sleep(doctor *d)
{
    doctor_text evidence = {.of = d}, command = {.of = d};
    deep_state deep = {.n = 0};
    cpubind_doctor_finding *f;
    cpubind_input driver;
    int32_t n, n_awake = 0;
    const char *name;
    if (!doctor_has_plan(d) || !doctor_read(d, CPU_FOLDER "cpuidle/current_driver", &driver))
        return;
    name = doctor_value(d, driver);
    if (!doctor_is(name, (int32_t)strlen(name), "intel_idle"))
        return;
    n = read_online(d);
    n = n > 0 ? keep_planned(d, n, ALL_ROLES) : 0;
    if (n == 0 || !read_states(d, d->cpu[0], &deep) || deep.n == 0)
        return;
    for (int32_t i = 0; i < n; i++) {
        const int may = may_sleep(d, d->cpu[i], &deep);
        if (may < 0)
            return;
        if (may)
            d->cpu[n_awake++] = d->cpu[i];
    }
    if (n_awake == 0)
        return;
    doctor_add(&evidence, "CPUs ");
    doctor_add_cpus(&evidence, d->cpu, n_awake);
    doctor_add(&evidence, " of pools may sleep in %s, from which they wake after %s us",
               deep.name, deep.latency);
    doctor_add(&command, "for i in ");
    doctor_add_words(&command, d->cpu, n_awake);
    doctor_add(&command, "; do for s in ");
    doctor_add_words(&command, deep.number, deep.n);
    doctor_add(&command,
               "; do echo 1 >/" CPU_FOLDER "cpu$i/cpuidle/state$s/disable; done; done");
    f = doctor_find(d);
    f->input = deep.input;
    f->value = deep.latency;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->cpu = doctor_keep_cpus(d, d->cpu, n_awake);
    f->n_cpu = n_awake;
}

/* == CPUs that are offline, isolated ======================================== */

/* Whether the second threads of cores are off by a setting, so that their CPUs are offline. */
static int is_smt_off(const doctor *d)
{
    const cpubind_input control = d->source->read(d->source->ctx, CPU_FOLDER "smt/control");
    return control.state == CPUBIND_INPUT_PRESENT &&
           ((control.len >= 3 && memcmp(control.data, "off", 3) == 0) ||
            (control.len >= 5 && memcmp(control.data, "force", 5) == 0));
}

void doctor_check_offline(doctor *d)
{
    static const char present_input[] = CPU_FOLDER "present";
    const int32_t n_online = read_online(d);
    const int32_t *online = n_online < 0 ? NULL : doctor_keep_cpus(d, d->cpu, n_online);
    const int32_t n_present = online ? doctor_read_cpus(d, present_input) : -1;
    doctor_text evidence = {.of = d}, command = {.of = d}, value = {.len = 0};
    cpubind_doctor_finding *f;
    int32_t n = 0;
    for (int32_t i = 0; i < n_present; i++)
        if (!doctor_has(online, n_online, d->cpu[i]))
            d->cpu[n++] = d->cpu[i];
    if (n == 0 || is_smt_off(d))
        return;
    doctor_add(&evidence, "CPUs ");
    doctor_add_cpus(&evidence, d->cpu, n);
    doctor_add(&evidence, " are offline");
    doctor_add_cpus(&value, online, n_online);
    doctor_add(&command, "for i in ");
    doctor_add_words(&command, d->cpu, n);
    doctor_add(&command, "; do echo 1 >/" CPU_FOLDER "cpu$i/online; done");
    f = doctor_find(d);
    f->input = INPUT_ONLINE;
    f->value = doctor_keep(d, value.text);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->cpu = doctor_keep_cpus(d, d->cpu, n);
    f->n_cpu = n;
}

/* How a host changes its boot line: Debian and its children have update-grub, the family of Red
 * Hat, openEuler with it, has grubby. Without etc/os-release the command asks which. */
static void add_remove_parameter(doctor *d, const char *parameter, doctor_text *to)
{
    static const char *const debians[] = {"debian", "ubuntu"};
    const cpubind_input release = d->source->read(d->source->ctx, "etc/os-release");
    const int is_known = release.state == CPUBIND_INPUT_PRESENT && release.len > 0;
    cpubind_piece line;
    int is_debian = 0;
    for (int32_t at = 0; is_known && doctor_next_line(release, &at, &line);) {
        const char *bytes = release.data + line.at;
        if (line.len < 3 || memcmp(bytes, "ID", 2) != 0 || (bytes[2] != '=' && bytes[2] != '_'))
            continue;
        for (size_t k = 0; k < sizeof debians / sizeof *debians; k++)
            for (int32_t i = 0; i + 6 <= line.len; i++)
                is_debian |= memcmp(bytes + i, debians[k], 6) == 0;
    }
    if (!is_known)
        doctor_add(to, "if command -v grubby >/dev/null; then ");
    if (!is_debian)
        doctor_add(to, "grubby --update-kernel=ALL --remove-args=%s", parameter);
    if (!is_known)
        doctor_add(to, "; else ");
    if (is_debian || !is_known)
        doctor_add(to, "sed -i 's| *%s=[^ \"]*||g' /etc/default/grub && update-grub",
                   parameter);
    if (!is_known)
        doctor_add(to, "; fi");
}

/* Finds CPUs of a parameter of the kernel's command line that interrupts or many threads are
 * planned for. */
static void check_parameter(doctor *d, const char *input, const char *parameter)
{
    doctor_text evidence = {.of = d}, command = {.of = d};
    cpubind_doctor_finding *f;
    cpubind_input answer;
    int32_t n;
    if (!doctor_has_plan(d) || !doctor_read(d, input, &answer))
        return;
    /* Some kernels print "(null)" for an empty list. */
    if (answer.len > 0 && (answer.data[0] == '(' || answer.data[0] == ' '))
        return;
    n = doctor_read_cpus(d, input);
    n = n > 0 ? keep_planned(d, n, ROLE(IRQ) | ROLE(MAIN)) : 0;
    if (n == 0)
        return;
    doctor_add(&evidence, "CPUs ");
    doctor_add_cpus(&evidence, d->cpu, n);
    doctor_add(&evidence, " are in %s= and are planned for interrupts or main threads",
               parameter);
    add_remove_parameter(d, parameter, &command);
    f = doctor_find(d);
    f->input = input;
    f->value = doctor_value(d, answer);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->cpu = doctor_keep_cpus(d, d->cpu, n);
    f->n_cpu = n;
}

void doctor_check_isolated(doctor *d)
{
    check_parameter(d, CPU_FOLDER "isolated", "isolcpus");
}

void doctor_check_nohz_full(doctor *d)
{
    check_parameter(d, CPU_FOLDER "nohz_full", "nohz_full");
}
