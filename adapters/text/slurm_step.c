/* slurm_step.c - the environment of a step of Slurm: what it was given, and what a task has
 * SPDX-License-Identifier: MIT
 */
#include "slurm_step.h"

#include "cursor.h"

static int32_t read_number(cursor *c)
{
    return (int32_t)cursor_number(c, CPUBIND_MAX_CPUS);
}

/* Reads a list of numbers, *n of them; returns the one at `place`, or the first. */
static int32_t read_list(cursor list, int32_t place, int32_t *n)
{
    int32_t out = 0;
    *n = 0;
    do {
        const int32_t number = read_number(&list);
        if (*n == 0 || *n == place)
            out = number;
        ++*n;
    } while (cursor_takes(&list, ","));
    cursor_end(&list, "this is no list of numbers");
    return out;
}

/* Reads a variable that is one number; -1: it is not set. */
static int32_t read_variable(const cursor *all, const char *name)
{
    cursor value;
    return cursor_variable(*all, name, &value) ? (int32_t)cursor_whole(value, CPUBIND_MAX_CPUS)
                                               : -1;
}

/* Reads the CPUs of the job on node `at` of its nodes, "192(x2),640": -1 is any node, where all
 * have as many. */
static int32_t read_nodes(cursor list, int32_t at)
{
    int32_t out = -1, n = 0;
    do {
        const int32_t n_cpu = read_number(&list);
        int32_t n_node = 1;
        if (cursor_takes(&list, "(x")) {
            n_node = read_number(&list);
            cursor_need(&list, ")", "\")\" is missing");
        }
        if (at < 0 ? n == 0 : n <= at && at - n < n_node)
            out = n_cpu;
        else if (at < 0 && out != n_cpu)
            out = -1;
        n = n < CPUBIND_MAX_CPUS ? n + n_node : n;
    } while (cursor_takes(&list, ","));
    cursor_end(&list, "this is no list of nodes");
    return out;
}

/* Reads the CPUs of the job on this node. */
static int32_t read_job(const cursor *all)
{
    const int32_t n_job = read_variable(all, "SLURM_JOB_NUM_NODES");
    const int32_t n_step = read_variable(all, "SLURM_STEP_NUM_NODES");
    const int32_t at = read_variable(all, "SLURM_NODEID");
    cursor value;
    if (!cursor_variable(*all, "SLURM_JOB_CPUS_PER_NODE", &value))
        return -1;
    return read_nodes(value, n_job == n_step ? at : -1);
}

static void read_step(const cursor *all, cpubind_slurm_step *out)
{
    cursor list;
    *out =
        (cpubind_slurm_step){.n_cpu = read_variable(all, "SLURM_CPUS_ON_NODE"), .n_listed = -1};
    if (out->n_cpu < 0)
        (void)cursor_fail(all, CPUBIND_TEXT_ERR_MISSING, all->end,
                          "there is no SLURM_CPUS_ON_NODE");
    out->n_job_cpu = read_job(all);
    out->n_device = read_variable(all, "SLURM_GPUS_ON_NODE");
    if ((cursor_variable(*all, "SLURM_STEP_GPUS", &list) ||
         cursor_variable(*all, "SLURM_JOB_GPUS", &list)) &&
        !cursor_starts(&list, "NoDevFiles")) {
        out->list = cursor_piece(list);
        (void)read_list(list, 0, &out->n_listed);
    }
}

cpubind_text_status cpubind_slurm_parse_step(const char *text, int32_t len,
                                             cpubind_slurm_step *out, cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor all = cursor_open(&of, text, len, fault, out != NULL);
    cpubind_slurm_step step;
    read_step(&all, &step);
    if (cursor_ok(&all))
        *out = step;
    return of.status;
}

/* == The device of a task =================================================== */

static int32_t read_count(cursor c)
{
    const int32_t n = (int32_t)cursor_whole(c, CPUBIND_MAX_CPUS);
    if (n < 1)
        (void)cursor_bad(&c, "this is no number of tasks");
    return n > 1 ? n : 1;
}

/* map_gpu counts the devices of the host, or where devices are constrained those of the step:
 * both are the same where the step has the first devices of the host. */
static int32_t read_map(cursor map, int32_t local, const cpubind_slurm_step *step)
{
    int32_t n, n_listed, place;
    (void)read_list(map, 0, &n);
    place = read_list(map, local % n, &n);
    const int32_t last = read_list(cursor_at(&map, step->list), step->n_listed - 1, &n_listed);
    if (last != step->n_listed - 1 || place > last)
        (void)cursor_fail(&map, CPUBIND_TEXT_ERR_RANGE, map.at,
                          "map_gpu names a device that is not known: the step has other ones "
                          "than the first of the host; use --gpus-per-task");
    return place;
}

/* Reads how tasks are bound, and finds the part of one. Returns 1: each has its own devices. */
static int read_bind(const cursor *all, int32_t local, const cpubind_slurm_step *step,
                     cpubind_slurm_task *out)
{
    cursor c;
    *out = (cpubind_slurm_task){local, 1, 0};
    if (!cursor_variable(*all, "SLURMD_TRES_BIND", &c) || !cursor_takes(&c, "gpu:"))
        return 0;
    (void)cursor_takes(&c, "verbose,");
    if (cursor_starts(&c, "closest") || cursor_starts(&c, "none"))
        return 0;
    if (cursor_takes(&c, "single:")) {
        const int32_t each = read_count(c);
        *out = (cpubind_slurm_task){local / each, each, local % each};
    } else if (cursor_takes(&c, "per_task:")) {
        if (read_count(c) > 1)
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_RANGE, c.at,
                              "a task has several devices, and a process is bound to one: "
                              "start one task for each");
    } else if (cursor_takes(&c, "map_gpu:")) {
        out->place = read_map(c, local, step);
    } else {
        (void)cursor_bad(&c, "this way to bind tasks to devices is not known");
    }
    return 1;
}

/* Holds the list of the task itself against its place. */
static void compare_own(const cursor *all, const char *own, int is_bound, int32_t place,
                        const cpubind_slurm_step *step)
{
    cursor_text of;
    const cursor task = cursor_open(&of, own, (int32_t)strlen(own), NULL, 1);
    const cursor list = cursor_at(all, step->list);
    int32_t n, n_listed;
    const int32_t is = read_list(task, 0, &n), first = read_list(list, 0, &n_listed);
    const int32_t should = read_list(list, place, &n_listed);
    if (!cursor_ok(&task) ||
        !(is_bound ? n == 1 && (is == should || is == first) : n == n_listed))
        (void)cursor_fail(all, CPUBIND_TEXT_ERR_RANGE, list.at,
                          "SLURM_STEP_GPUS of the task has other devices than that of the step "
                          "and SLURMD_TRES_BIND give it");
}

cpubind_text_status cpubind_slurm_find_task(const char *text, int32_t len, int32_t local,
                                            const char *own, cpubind_slurm_task *out,
                                            cpubind_text_fault *fault)
{
    cursor_text of;
    const cursor all = cursor_open(&of, text, len, fault, out && local >= 0);
    cpubind_slurm_step step;
    cpubind_slurm_task task;
    read_step(&all, &step);
    if (step.n_listed < 1 || step.n_listed != step.n_device)
        (void)cursor_fail(&all, CPUBIND_TEXT_ERR_MISSING, all.end,
                          "SLURM_STEP_GPUS does not list all devices of the step");
    const int is_bound = read_bind(&all, local, &step, &task);
    if (task.place >= step.n_listed)
        (void)cursor_fail(&all, CPUBIND_TEXT_ERR_RANGE, step.list.at,
                          "the step has more tasks than devices: let tasks share them with "
                          "--gpu-bind=single:N");
    if (own && *own)
        compare_own(&all, own, is_bound, task.place, &step);
    if (cursor_ok(&all))
        *out = task;
    return of.status;
}
