/* test_slurm_step.c - the environment of a step of Slurm, and the device of a task
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/slurm_step.h"

/* The environments are those of tasks of Slurm 22.05. */
#define STEP "HOME=/\nSLURM_CPUS_ON_NODE=16\nSLURM_GPUS_ON_NODE=3\nSLURM_STEP_GPUS=4,5,7\n"

TEST(a_step_has_cpus_and_devices)
{
    static const struct {
        const char *env;
        int32_t n_cpu, n_job_cpu, n_device, n_listed;
    } rows[] = {
        {STEP, 16, -1, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192\n", 16, 192, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192(x8)\n", 16, 192, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192,96(x2)\n", 16, -1, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192(x2),192\n", 16, 192, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192,96(x2),8\nSLURM_JOB_NUM_NODES=4\n"
              "SLURM_STEP_NUM_NODES=4\nSLURM_NODEID=2\n",
         16, 96, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192,96(x2),8\nSLURM_JOB_NUM_NODES=4\n"
              "SLURM_STEP_NUM_NODES=2\nSLURM_NODEID=1\n",
         16, -1, 3, 3},
        {STEP "SLURM_JOB_CPUS_PER_NODE=192\nSLURM_JOB_NUM_NODES=4\nSLURM_STEP_NUM_NODES=4\n"
              "SLURM_NODEID=3\n",
         16, -1, 3, 3},
        {"SLURM_CPUS_ON_NODE=4\n", 4, -1, -1, -1},
        {"SLURM_CPUS_ON_NODE=4\nSLURM_GPUS_ON_NODE=2\nSLURM_STEP_GPUS=NoDevFiles\n", 4, -1, 2,
         -1},
        {"SLURM_CPUS_ON_NODE=4\nSLURM_GPUS_ON_NODE=2\nSLURM_JOB_GPUS=0,1\n", 4, -1, 2, 2},
        {"SLURM_CPUS_ON_NODE=4\nSLURM_GPUS_ON_NODE=4\nSLURM_STEP_GPUS=3\nSLURM_JOB_GPUS=0,1\n",
         4, -1, 4, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int32_t len = (int32_t)strlen(rows[i].env);
        char *env = edge_text(rows[i].env, len);
        cpubind_slurm_step step;
        assert_int_equal(cpubind_slurm_parse_step(env, len, &step, NULL), CPUBIND_TEXT_OK);
        assert_int_equal(step.n_cpu, rows[i].n_cpu);
        assert_int_equal(step.n_job_cpu, rows[i].n_job_cpu);
        assert_int_equal(step.n_device, rows[i].n_device);
        assert_int_equal(step.n_listed, rows[i].n_listed);
        free(env);
    }
}

TEST(a_value_that_makes_no_sense_is_an_error_at_its_place)
{
    static const struct {
        const char *env, *at;
        cpubind_text_status status;
    } rows[] = {
        {"", "", CPUBIND_TEXT_ERR_MISSING},
        {"SLURM_STEP_GPUS=0\n", "", CPUBIND_TEXT_ERR_MISSING},
        {"SLURM_CPUS_ON_NODE=\n", "\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"SLURM_CPUS_ON_NODE=4x\n", "x\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"SLURM_CPUS_ON_NODE=99999999999\n", "99999999999\n", CPUBIND_TEXT_ERR_RANGE},
        {STEP "SLURM_JOB_CPUS_PER_NODE=8(x2\n", "\n", CPUBIND_TEXT_ERR_SYNTAX},
        {STEP "SLURM_JOB_CPUS_PER_NODE=8;\n", ";\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"SLURM_CPUS_ON_NODE=4\nSLURM_STEP_GPUS=0,\n", "\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"SLURM_CPUS_ON_NODE=4\nSLURM_STEP_GPUS=0-3\n", "-3\n", CPUBIND_TEXT_ERR_SYNTAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int32_t len = (int32_t)strlen(rows[i].env);
        char *env = edge_text(rows[i].env, len);
        cpubind_text_fault fault = no_fault;
        cpubind_slurm_step step;
        memset(&step, EDGE_FILL, sizeof step);
        assert_int_equal(cpubind_slurm_parse_step(env, len, &step, &fault), rows[i].status);
        assert_untouched(&step, sizeof step);
        assert_int_equal(fault.offset, len - (int32_t)strlen(rows[i].at));
        free(env);
    }
    assert_int_equal(cpubind_slurm_parse_step(STEP, 4, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST(a_task_has_the_device_that_slurm_binds_it_to)
{
    static const struct {
        const char *bind;
        int32_t local;
        const char *own;
        int32_t place, n_process, process; /* place -1: it is refused */
    } rows[] = {
        {"", 0, "4,5,7", 0, 1, 0},
        {"", 2, NULL, 2, 1, 0},
        {"", 3, NULL, -1, 1, 0},
        {"", 1, "5", -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:none\n", 1, "", 1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:closest\n", 1, "4,5,7", 1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:closest\n", 1, "4,5", -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:per_task:1\n", 2, "7", 2, 1, 0},
        {"SLURMD_TRES_BIND=gpu:verbose,per_task:1\n", 2, "7", 2, 1, 0},
        {"SLURMD_TRES_BIND=gpu:per_task:1\n", 2, "4", 2, 1, 0}, /* devices are constrained */
        {"SLURMD_TRES_BIND=gpu:per_task:1\n", 2, "5", -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:per_task:1\n", 2, "x", -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:per_task:2\n", 0, "4,5", -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:single:2\n", 3, "5", 1, 2, 1},
        {"SLURMD_TRES_BIND=gpu:single:2\n", 6, NULL, -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:single:0\n", 0, NULL, -1, 1, 0},
        {"SLURMD_TRES_BIND=gpu:map_gpu:4\n", 0, "4", -1, 1,
         0}, /* of the host, or of the step? */
        {"SLURMD_TRES_BIND=gpu:mask_gpu:0x1\n", 0, "4", -1, 1, 0},
        {"SLURMD_TRES_BIND=gres:none\n", 1, NULL, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char env[256];
        cpubind_slurm_task task = {-7, -7, -7};
        cpubind_text_fault fault = no_fault;
        cpubind_text_status status;
        const int32_t len = snprintf(env, sizeof env, "%s%s", rows[i].bind, STEP);
        status = cpubind_slurm_find_task(env, len, rows[i].local, rows[i].own, &task, &fault);
        assert_int_equal(status == CPUBIND_TEXT_OK, rows[i].place >= 0);
        if (status != CPUBIND_TEXT_OK) {
            assert_int_equal(task.place, -7);
            assert_fault(&fault, len);
            continue;
        }
        assert_int_equal(task.place, rows[i].place);
        assert_int_equal(task.n_process, rows[i].n_process);
        assert_int_equal(task.process, rows[i].process);
    }
}

TEST(map_gpu_counts_where_both_ways_to_count_agree)
{
    static const char env[] = "SLURM_CPUS_ON_NODE=8\nSLURM_GPUS_ON_NODE=3\nSLURM_STEP_GPUS="
                              "0,1,2\nSLURMD_TRES_BIND=gpu:map_gpu:2,0\n";
    static const int32_t places[] = {2, 0, 2};
    static const char *const owns[] = {"2", "0", "2"};
    for (int32_t i = 0; i < 3; i++) {
        cpubind_slurm_task task;
        assert_int_equal(
            cpubind_slurm_find_task(env, (int32_t)strlen(env), i, owns[i], &task, NULL),
            CPUBIND_TEXT_OK);
        assert_int_equal(task.place, places[i]);
    }
}

TEST(a_step_whose_devices_are_not_listed_has_no_device_for_a_task)
{
    static const char *const envs[] = {"SLURM_CPUS_ON_NODE=8\n",
                                       "SLURM_CPUS_ON_NODE=8\nSLURM_GPUS_ON_NODE=3\n",
                                       "SLURM_CPUS_ON_NODE=8\nSLURM_GPUS_ON_NODE=3\n"
                                       "SLURM_STEP_GPUS=4\n"};
    cpubind_slurm_task task;
    for (int32_t i = 0; i < LENGTH(envs); i++)
        assert_int_equal(
            cpubind_slurm_find_task(envs[i], (int32_t)strlen(envs[i]), 0, NULL, &task, NULL),
            CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(cpubind_slurm_find_task(STEP, 4, -1, NULL, &task, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_slurm_find_task(STEP, 4, 0, NULL, NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
