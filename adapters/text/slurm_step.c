/* slurm_step.c - the environment of a step of Slurm: what it was given, and what a task has
 * SPDX-License-Identifier: MIT
 */
#include "slurm_step.h"

#include "procfs.h"
#include "scan.h"

/* Reads 1*DIGIT at *at, not above CPUBIND_MAX_CPUS, and moves past it. */
static cpubind_text_status read_number(const scan_text *in, scan_run *run, int32_t *out)
{
    const int32_t start = run->at;
    *out = 0;
    for (; scan_starts_with_digit(in, *run); run->at++) {
        *out = 10 * *out + (in->text[run->at] - '0');
        if (*out > CPUBIND_MAX_CPUS)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    }
    return run->at > start
               ? CPUBIND_TEXT_OK
               : scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number is missing");
}

static int takes_word(const scan_text *in, scan_run *run, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    const int takes =
        run->end - run->at >= n && memcmp(in->text + run->at, word, (size_t)n) == 0;
    run->at += takes ? n : 0;
    return takes;
}

/* Reads a list of numbers, *n of them; *out is the one at `place`, or the first. */
static cpubind_text_status read_list(const scan_text *in, scan_run run, int32_t place,
                                     int32_t *n, int32_t *out)
{
    cpubind_text_status status;
    int32_t number;
    *n = *out = 0;
    do {
        status = read_number(in, &run, &number);
        if (*n == 0 || *n == place)
            *out = number;
        ++*n;
    } while (status == CPUBIND_TEXT_OK && takes_word(in, &run, ","));
    if (status == CPUBIND_TEXT_OK && run.at < run.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at, "this is no list of numbers");
    return status;
}

/* The value of a variable; at is -1 where it is not set. */
static scan_run value_of(const scan_text *in, const char *name)
{
    const scan_run none = {-1, -1};
    cpubind_piece value;
    if (cpubind_env_find(in->text, in->len, name, &value) != CPUBIND_TEXT_OK)
        return none;
    return (scan_run){value.at, value.at + value.len};
}

/* Reads a variable that is one number; -1: it is not set. */
static cpubind_text_status read_variable(const scan_text *in, const char *name, int32_t *out)
{
    scan_run run = value_of(in, name);
    cpubind_text_status status;
    *out = -1;
    if (run.at < 0)
        return CPUBIND_TEXT_OK;
    status = read_number(in, &run, out);
    return status == CPUBIND_TEXT_OK && run.at < run.end
               ? scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at, "this is no number")
               : status;
}

/* Reads the CPUs of the job on node `at` of its nodes, "192(x2),640": -1 is any node, where all
 * have as many. */
static cpubind_text_status read_nodes(const scan_text *in, scan_run run, int32_t at,
                                      int32_t *out)
{
    int32_t n_cpu, n_node, n = 0;
    *out = -1;
    do {
        cpubind_text_status status = read_number(in, &run, &n_cpu);
        n_node = 1;
        if (status == CPUBIND_TEXT_OK && takes_word(in, &run, "(x")) {
            status = read_number(in, &run, &n_node);
            if (status == CPUBIND_TEXT_OK && !takes_word(in, &run, ")"))
                status = scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at, "\")\" is missing");
        }
        if (status != CPUBIND_TEXT_OK)
            return status;
        if (at < 0 ? n == 0 : n <= at && at - n < n_node)
            *out = n_cpu;
        else if (at < 0 && *out != n_cpu)
            *out = -1;
        n = n < CPUBIND_MAX_CPUS ? n + n_node : n;
    } while (takes_word(in, &run, ","));
    return run.at < run.end
               ? scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at, "this is no list of nodes")
               : CPUBIND_TEXT_OK;
}

/* Reads the CPUs of the job on this node. */
static cpubind_text_status read_job(const scan_text *in, int32_t *out)
{
    const scan_run run = value_of(in, "SLURM_JOB_CPUS_PER_NODE");
    int32_t n_job, n_step, at;
    cpubind_text_status status = read_variable(in, "SLURM_JOB_NUM_NODES", &n_job);
    if (status == CPUBIND_TEXT_OK)
        status = read_variable(in, "SLURM_STEP_NUM_NODES", &n_step);
    if (status == CPUBIND_TEXT_OK)
        status = read_variable(in, "SLURM_NODEID", &at);
    *out = -1;
    if (status != CPUBIND_TEXT_OK || run.at < 0)
        return status;
    return read_nodes(in, run, n_job == n_step ? at : -1, out);
}

cpubind_text_status cpubind_slurm_parse_step(const char *text, int32_t len,
                                             cpubind_slurm_step *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_slurm_step step = {.n_listed = -1};
    cpubind_text_status status;
    scan_run list;
    int32_t first;
    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    status = read_variable(&in, "SLURM_CPUS_ON_NODE", &step.n_cpu);
    if (status == CPUBIND_TEXT_OK && step.n_cpu < 0)
        return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, len, "there is no SLURM_CPUS_ON_NODE");
    if (status == CPUBIND_TEXT_OK)
        status = read_job(&in, &step.n_job_cpu);
    if (status == CPUBIND_TEXT_OK)
        status = read_variable(&in, "SLURM_GPUS_ON_NODE", &step.n_device);
    list = value_of(&in, "SLURM_STEP_GPUS");
    if (list.at < 0)
        list = value_of(&in, "SLURM_JOB_GPUS");
    if (status == CPUBIND_TEXT_OK && list.at >= 0 && !takes_word(&in, &list, "NoDevFiles")) {
        step.list = scan_slice(list);
        status = read_list(&in, list, 0, &step.n_listed, &first);
    }
    if (status == CPUBIND_TEXT_OK)
        *out = step;
    return status;
}

/* == The device of a task =================================================== */

static cpubind_text_status read_count(const scan_text *in, scan_run run, int32_t *out)
{
    const cpubind_text_status status = read_number(in, &run, out);
    return status == CPUBIND_TEXT_OK && (run.at < run.end || *out < 1)
               ? scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at, "this is no number of tasks")
               : status;
}

/* map_gpu counts the devices of the host, or where devices are constrained those of the step:
 * both are the same where the step has the first devices of the host. */
static cpubind_text_status read_map(const scan_text *in, scan_run run, int32_t local,
                                    const cpubind_slurm_step *step, int32_t *place)
{
    const scan_run list = {step->list.at, step->list.at + step->list.len};
    int32_t n, last;
    cpubind_text_status status = read_list(in, run, 0, &n, place);
    if (status == CPUBIND_TEXT_OK)
        status = read_list(in, run, local % n, &n, place);
    if (status == CPUBIND_TEXT_OK)
        status = read_list(in, list, step->n_listed - 1, &n, &last);
    if (status == CPUBIND_TEXT_OK && (last != step->n_listed - 1 || *place > last))
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, run.at,
                         "map_gpu names a device that is not known: the step has other ones "
                         "than the first of the host; use --gpus-per-task");
    return status;
}

/* Reads how tasks are bound, and finds the part of one; *is_bound: each has its own devices. */
static cpubind_text_status read_bind(const scan_text *in, scan_run run, int32_t local,
                                     const cpubind_slurm_step *step, cpubind_slurm_task *out,
                                     int *is_bound)
{
    int32_t each = 1;
    cpubind_text_status status = CPUBIND_TEXT_OK;
    *out = (cpubind_slurm_task){local, 1, 0};
    *is_bound = 0;
    if (run.at < 0 || !takes_word(in, &run, "gpu:"))
        return status;
    (void)takes_word(in, &run, "verbose,");
    *is_bound = 1;
    if (takes_word(in, &run, "single:")) {
        status = read_count(in, run, &each);
        if (status == CPUBIND_TEXT_OK)
            *out = (cpubind_slurm_task){local / each, each, local % each};
    } else if (takes_word(in, &run, "per_task:")) {
        status = read_count(in, run, &each);
        if (status == CPUBIND_TEXT_OK && each > 1)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, run.at,
                             "a task has several devices, and a process is bound to one: start "
                             "one task for each");
    } else if (takes_word(in, &run, "map_gpu:")) {
        status = read_map(in, run, local, step, &out->place);
    } else if (takes_word(in, &run, "closest") || takes_word(in, &run, "none")) {
        *is_bound = 0;
    } else {
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, run.at,
                         "this way to bind tasks to devices is not known");
    }
    return status;
}

/* Holds the list of the task itself against its place. */
static cpubind_text_status compare_own(const scan_text *in, const char *own, int is_bound,
                                       int32_t place, const cpubind_slurm_step *step)
{
    const scan_text task = {own, (int32_t)strlen(own), NULL};
    const scan_run list = {step->list.at, step->list.at + step->list.len};
    int32_t n, is, n_listed, first, should;
    if (read_list(&task, (scan_run){0, task.len}, 0, &n, &is) == CPUBIND_TEXT_OK &&
        read_list(in, list, 0, &n_listed, &first) == CPUBIND_TEXT_OK &&
        read_list(in, list, place, &n_listed, &should) == CPUBIND_TEXT_OK &&
        (is_bound ? n == 1 && (is == should || is == first) : n == n_listed))
        return CPUBIND_TEXT_OK;
    return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, list.at,
                     "SLURM_STEP_GPUS of the task has other devices than that of the step and "
                     "SLURMD_TRES_BIND give it");
}

cpubind_text_status cpubind_slurm_find_task(const char *text, int32_t len, int32_t local,
                                            const char *own, cpubind_slurm_task *out,
                                            cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_slurm_step step;
    cpubind_slurm_task task;
    int is_bound;
    cpubind_text_status status;
    if (!out || local < 0)
        return scan_fail_arg(fault);
    status = cpubind_slurm_parse_step(text, len, &step, fault);
    if (status != CPUBIND_TEXT_OK)
        return status;
    if (step.n_listed < 1 || step.n_listed != step.n_device)
        return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, len,
                         "SLURM_STEP_GPUS does not list all devices of the step");
    status = read_bind(&in, value_of(&in, "SLURMD_TRES_BIND"), local, &step, &task, &is_bound);
    if (status == CPUBIND_TEXT_OK && task.place >= step.n_listed)
        return scan_fail(&in, CPUBIND_TEXT_ERR_RANGE, step.list.at,
                         "the step has more tasks than devices: let tasks share them with "
                         "--gpu-bind=single:N");
    if (status == CPUBIND_TEXT_OK && own && *own)
        status = compare_own(&in, own, is_bound, task.place, &step);
    if (status == CPUBIND_TEXT_OK)
        *out = task;
    return status;
}
