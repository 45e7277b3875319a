/* doctor_engines.c - checks of what engines and the environments of their workers bind
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source. The facts about engines are those of vllm-ascend
 * (enable_cpu_binding, on by default on ARM), of vLLM (--numa-bind) and of SGLang
 * (SGLANG_SET_CPU_AFFINITY, which its images for ROCm set).
 */
#include "../text/counters.h"
#include "../text/procfs.h"
#include "doctor_parts.h"

/* == Variables that pin ===================================================== */

static int is_false(const char *text, cpubind_piece value)
{
    static const char *const words[] = {"false", "FALSE", "False", "0", "none", "disabled", ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (doctor_is(text + value.at, value.len, words[i]))
            return 1;
    return 0;
}

void doctor_check_omp(doctor *d)
{
    /* A variable, and the command after which it pins nothing. */
    static const char *const variables[][2] = {{"OMP_PROC_BIND", "export OMP_PROC_BIND=false"},
                                               {"GOMP_CPU_AFFINITY", "unset GOMP_CPU_AFFINITY"},
                                               {"KMP_AFFINITY", "unset KMP_AFFINITY"}};
    for (int32_t i = 0; doctor_has_workers(d) && i < d->n_worker; i++) {
        const doctor_worker *w = &d->worker[i];
        doctor_text name = {.len = 0}, evidence = {.of = d}, command = {.of = d},
                    text = {.len = 0};
        cpubind_input environ;
        doctor_add(&name, "proc/%d/environ", (int)w->pid);
        if (!doctor_read(d, name.text, &environ))
            continue;
        for (size_t k = 0; k < sizeof variables / sizeof *variables; k++) {
            const cpubind_piece value =
                cpubind_environ_find(environ.data, environ.len, variables[k][0]);
            if (value.len < 0 || is_false(environ.data, value))
                continue;
            doctor_add(&text, "%s%s=", text.len ? " " : "", variables[k][0]);
            doctor_add_bytes(&text, environ.data + value.at, value.len);
            doctor_add(&command, "%s%s", command.len ? "; " : "", variables[k][1]);
        }
        if (text.len == 0)
            continue;
        doctor_add(&evidence, "process %d, which drives %s, was started with %s", (int)w->pid,
                   doctor_name(d, w), text.text);
        cpubind_doctor_finding *f = doctor_find_of(d, w, &evidence, &command);
        f->input = doctor_keep(d, name.text);
        f->value = doctor_keep(d, text.text);
    }
}

/* == Engines that bind ====================================================== */

/* From so much on a process of an engine waits too long: in per cent of the time that it wanted
 * to run, after so much of that. */
enum { MAX_PARENTS = 16, LONG_WAIT = 10, SECOND_NS = 1000000000 };

/* The parent of a process; -1: not known. */
static int32_t parent_of(doctor *d, int32_t pid)
{
    doctor_text name = {.len = 0};
    cpubind_input answer;
    cpubind_stat stat;
    doctor_add(&name, "proc/%d/stat", (int)pid);
    if (!doctor_read(d, name.text, &answer))
        return -1;
    if (cpubind_stat_parse(answer.data, answer.len, &stat, NULL) != CPUBIND_TEXT_OK) {
        doctor_lack(d, name.text, answer);
        return -1;
    }
    return stat.ppid;
}

/* The place after `word` in bytes, in letters as written; NULL: it is not there. */
static const char *after(const char *bytes, int32_t len, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    for (int32_t i = 0; i + n <= len; i++)
        if (memcmp(bytes + i, word, (size_t)n) == 0)
            return bytes + i + n;
    return NULL;
}

/* What the command lines of a worker and of the processes above it say. */
typedef struct engine {
    int32_t vllm, sglang; /* the uppermost process of it; 0: none */
    int32_t numa_bind;    /* the process that has --numa-bind; 0: none */
    int32_t is_off;       /* enable_cpu_binding is false */
} engine;

static void read_engine(const char *bytes, int32_t len, int32_t pid, engine *e)
{
    const char *value = after(bytes, len, "enable_cpu_binding");
    const char *end = bytes + len;
    for (int32_t at = 0, n; at < len; at += n + 1) {
        const char *stop = (const char *)memchr(bytes + at, '\0', (size_t)(len - at));
        int32_t named;
        n = stop ? (int32_t)(stop - bytes) - at : len - at;
        named = cpubind_engine_named(bytes + at, n);
        if (doctor_is(bytes + at, n, "--numa-bind"))
            e->numa_bind = pid;
        if (named == CPUBIND_ENGINE_VLLM)
            e->vllm = pid;
        if (named == CPUBIND_ENGINE_SGLANG)
            e->sglang = pid;
    }
    if (!value)
        return;
    while (value < end && (*value == '"' || *value == '\'' || *value == ':' || *value == ' ' ||
                           *value == '=' || *value == '\\' || *value == '\0'))
        value++;
    e->is_off = value < end && (*value == 'f' || *value == 'F' || *value == '0');
}

/* Whether the running check has found a fault of this process. */
static int is_found(const doctor *d, int32_t pid)
{
    const cpubind_doctor_report *report = d->report;
    for (int32_t i = 0; i < report->n_finding; i++)
        if (report->finding[i].check == d->check && report->finding[i].pid == pid)
            return 1;
    return 0;
}

/* Reads the command line of a process; 0 after doctor_lack. */
static int read_process(doctor *d, int32_t pid, engine *e)
{
    doctor_text name = {.len = 0};
    cpubind_input answer;
    doctor_add(&name, "proc/%d/cmdline", (int)pid);
    if (!doctor_read(d, name.text, &answer))
        return 0;
    read_engine(answer.data, answer.len, pid, e);
    return 1;
}

/* Reads the command lines of a worker and of the processes above it; 0 after doctor_lack. */
static int read_engines(doctor *d, const doctor_worker *w, engine *e)
{
    int32_t pid = w->pid;
    for (int32_t i = 0; pid > 0 && i < MAX_PARENTS; i++, pid = parent_of(d, pid))
        if (!read_process(d, pid, e))
            return 0;
    return pid >= 0;
}

/* vLLM, of which vllm-ascend is a part: by a word of its command line, or for want of one. */
static void find_vllm(doctor *d, const engine *e)
{
    doctor_text evidence = {.of = d}, command = {.of = d}, input = {.len = 0};
    const int32_t pid = e->numa_bind ? e->numa_bind : e->vllm;
    cpubind_doctor_finding *f;
    if (is_found(d, pid))
        return;
    doctor_add(&input, "proc/%d/cmdline", (int)pid);
    if (e->numa_bind)
        doctor_add(&evidence, "vLLM binds its workers too: process %d has --numa-bind",
                   (int)pid);
    else
        doctor_add(&evidence,
                   "vllm-ascend binds its workers too: process %d has no "
                   "enable_cpu_binding=false, and it is on by default",
                   (int)pid);
    doctor_add(&command, "vllm serve MODEL%s", e->numa_bind ? " --no-numa-bind" : "");
    if (!d->is_bus)
        doctor_add(&command, " --additional-config '{\"enable_cpu_binding\": false}'");
    f = doctor_find(d);
    f->pid = pid;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = doctor_keep_text(d, &command);
    f->input = doctor_keep(d, input.text);
}

/* SGLang, by a variable of its uppermost process, which its workers have from there. */
static void find_sglang(doctor *d, int32_t pid)
{
    static const char variable[] = "SGLANG_SET_CPU_AFFINITY";
    doctor_text evidence = {.of = d}, input = {.len = 0};
    cpubind_doctor_finding *f;
    cpubind_input environ;
    cpubind_piece value;
    doctor_add(&input, "proc/%d/environ", (int)pid);
    if (is_found(d, pid) || !doctor_read(d, input.text, &environ))
        return;
    value = cpubind_environ_find(environ.data, environ.len, variable);
    if (value.len < 0 || is_false(environ.data, value))
        return;
    doctor_add(&evidence,
               "SGLang binds its workers too: process %d was started with %s=", (int)pid,
               variable);
    doctor_add_bytes(&evidence, environ.data + value.at, value.len);
    f = doctor_find(d);
    f->pid = pid;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = "export SGLANG_SET_CPU_AFFINITY=0";
    f->input = doctor_keep(d, input.text);
}

/* Whether vllm-ascend binds on this host: on ARM alone. */
static int has_ascend_binding(const doctor *d)
{
    const cpubind_input machine = d->source->read(d->source->ctx, "uname");
    return !d->is_bus && (machine.state != CPUBIND_INPUT_PRESENT ||
                          after(machine.data, machine.len, "aarch64"));
}

void doctor_check_engine(doctor *d)
{
    const int is_ascend = has_ascend_binding(d);
    for (int32_t i = 0; doctor_has_workers(d) && i < d->n_worker; i++) {
        engine e = {0, 0, 0, 0};
        if (!read_engines(d, &d->worker[i], &e))
            continue;
        if (e.vllm && (e.numa_bind || (is_ascend && !e.is_off)))
            find_vllm(d, &e);
        if (e.sglang)
            find_sglang(d, e.sglang);
    }
}

/* == CPUs for the engine ==================================================== */

/* Too few cores in the plan, where the settings name the engine. */
static void find_few_cores(doctor *d)
{
    doctor_text evidence = {.of = d};
    cpubind_doctor_finding *f;
    int32_t need = 0, have = 0;
    if (!d->plan || !(d->plan->warnings & CPUBIND_WARNS(ENGINE_CORES)))
        return;
    for (int32_t i = 0; i < d->plan->n_beside; i++) {
        const cpubind_beside *one = &d->plan->beside[i];
        need += one->kind == CPUBIND_BESIDE_WORKER ? 0 : one->n_core;
        have += one->kind == CPUBIND_BESIDE_WORKER ? 0 : one->n_has;
    }
    if (need == 0)
        return;
    doctor_add(&evidence,
               "the engine needs %d cores beside its workers, and has %d in the plan",
               (int)need, (int)have);
    f = doctor_find(d);
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = "cpubind plan";
    f->number[0] = (cpubind_doctor_number){"need", need};
    f->number[1] = (cpubind_doctor_number){"have", have};
}

/* A process of an engine above worker w that waits for its CPUs. */
static void judge_wait(doctor *d, const engine *e, int32_t pid)
{
    doctor_text input = {.len = 0}, evidence = {.of = d};
    cpubind_input answer;
    cpubind_schedstat had;
    cpubind_doctor_finding *f;
    int percent;
    doctor_add(&input, "proc/%d/schedstat", (int)pid);
    if (is_found(d, pid) || !doctor_read(d, input.text, &answer))
        return;
    if (cpubind_schedstat_parse(answer.data, answer.len, &had, NULL) != CPUBIND_TEXT_OK) {
        doctor_lack(d, input.text, answer);
        return;
    }
    if (had.run_ns < SECOND_NS || had.wait_ns / LONG_WAIT < (had.run_ns + had.wait_ns) / 100)
        return;
    percent = (int)(had.wait_ns / ((had.run_ns + had.wait_ns) / 100));
    doctor_add(&evidence, "process %d of %s has waited for a CPU for %d percent of its time",
               (int)pid, e->vllm ? "vLLM" : "SGLang", percent);
    f = doctor_find(d);
    f->pid = pid;
    f->evidence = doctor_keep_text(d, &evidence);
    f->command = "cpubind apply --all -o engine=auto";
    f->input = doctor_keep(d, input.text);
    f->number[0] = (cpubind_doctor_number){"percent", percent};
}

void doctor_check_engine_cores(doctor *d)
{
    find_few_cores(d);
    for (int32_t i = 0; doctor_has_workers(d) && i < d->n_worker; i++) {
        int32_t pid = parent_of(d, d->worker[i].pid);
        for (int32_t k = 0; pid > 0 && k < MAX_PARENTS; k++, pid = parent_of(d, pid)) {
            engine e = {0, 0, 0, 0};
            if (!read_process(d, pid, &e))
                break;
            if (e.vllm || e.sglang)
                judge_wait(d, &e, pid);
        }
    }
}
