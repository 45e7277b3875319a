/* test_launch_text.c - the formats of launchers: each row, ranges, masks, buffers of any size
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/pci/launch_text.h"
#include "../support/test.h"

static const int32_t first[] = {0, 1, 2, 3, 8}, second[] = {4, 6, 63, 64};
static const cpubind_launch_rank two_ranks[] = {{first, 5, first + 1, 3, 0},
                                                {second, 4, second, 4, 3}};

static void expect(cpubind_launch_format format, const cpubind_launch *launch,
                   const char *wanted)
{
    const int32_t n = (int32_t)strlen(wanted);
    char *text = (char *)malloc((size_t)n + 1);
    assert_non_null(text);
    for (int32_t cap = 0; cap <= n; cap++) {
        int32_t len = -1;
        memset(text, '#', (size_t)n + 1);
        assert_int_equal(cpubind_launch_write(format, launch, text, cap, &len),
                         cap < n ? CPUBIND_TEXT_ERR_SPACE : CPUBIND_TEXT_OK);
        assert_int_equal(len, n);
        assert_int_equal(text[cap], '#');
    }
    assert_memory_equal(text, wanted, (size_t)n);
    free(text);
}

TEST(each_format_has_its_text)
{
    static const char *const texts[CPUBIND_LAUNCH_COUNT] = {
        [CPUBIND_LAUNCH_TASKSET] = "-c 0-3,8\n-c 4,6,63-64\n",
        [CPUBIND_LAUNCH_NUMACTL] = "--physcpubind=0-3,8 --membind=0\n"
                                   "--physcpubind=4,6,63-64 --membind=3\n",
        [CPUBIND_LAUNCH_CPUSET] = "0-3,8\n4,6,63-64\n",
        [CPUBIND_LAUNCH_OMP_PLACES] = "{1}:3\n{4},{6},{63}:2\n",
        [CPUBIND_LAUNCH_GOMP] = "1-3\n4,6,63-64\n",
        [CPUBIND_LAUNCH_KMP] = "granularity=fine,explicit,proclist=[1-3]\n"
                               "granularity=fine,explicit,proclist=[4,6,63-64]\n",
        [CPUBIND_LAUNCH_VLLM_OMP] = "1-3|4,6,63-64\n",
        [CPUBIND_LAUNCH_SGLANG_OMP] = "1-3|4,6,63-64\n",
        [CPUBIND_LAUNCH_SYSTEMD] = "[Service]\nAllowedCPUs=0-3,8\nNUMAPolicy=bind\nNUMAMask=0\n"
                                   "[Service]\nAllowedCPUs=4,6,63-64\nNUMAPolicy=bind\n"
                                   "NUMAMask=3\n",
        [CPUBIND_LAUNCH_SLURM] =
            "--cpu-bind=mask_cpu:0x10f,0x18000000000000050 --mem-bind=map_mem:0,3\n",
        [CPUBIND_LAUNCH_SLURM_LDOM] = "--cpu-bind=map_ldom:0,3\n",
        [CPUBIND_LAUNCH_ENV] = "VLLM_CPU_OMP_THREADS_BIND=1-3|4,6,63-64\n"
                               "SGLANG_CPU_OMP_THREADS_BIND=1-3|4,6,63-64\n",
    };
    const cpubind_launch launch = {two_ranks, 2};
    for (int i = 0; i < CPUBIND_LAUNCH_COUNT; i++)
        expect((cpubind_launch_format)i, &launch, texts[i]);
}

TEST(a_single_rank_has_the_variables_of_openmp)
{
    expect(CPUBIND_LAUNCH_ENV, &(cpubind_launch){two_ranks, 1},
           "VLLM_CPU_OMP_THREADS_BIND=1-3\nSGLANG_CPU_OMP_THREADS_BIND=1-3\n"
           "OMP_NUM_THREADS=3\nOMP_PROC_BIND=close\nOMP_PLACES={1}:3\n");
}

/* Without a node there is no policy; where each rank must have a node, there is no text. */
TEST(a_rank_without_a_node_has_no_policy)
{
    const cpubind_launch_rank rank = {first, 5, first, 5, -1};
    const cpubind_launch launch = {&rank, 1};
    int32_t len = 0;
    expect(CPUBIND_LAUNCH_NUMACTL, &launch, "--physcpubind=0-3,8\n");
    expect(CPUBIND_LAUNCH_SYSTEMD, &launch, "[Service]\nAllowedCPUs=0-3,8\n");
    expect(CPUBIND_LAUNCH_SLURM, &launch, "--cpu-bind=mask_cpu:0x10f\n");
    assert_int_equal(cpubind_launch_write(CPUBIND_LAUNCH_SLURM_LDOM, &launch, NULL, 0, &len),
                     CPUBIND_TEXT_ERR_MISSING);
}

TEST(ranks_without_cpus_are_refused)
{
    const cpubind_launch_rank empty = {first, 0, first, 1, 0}, idle = {first, 1, first, 0, 0};
    int32_t len = 0;
    assert_int_equal(
        cpubind_launch_write(CPUBIND_LAUNCH_GOMP, &(cpubind_launch){&empty, 1}, NULL, 0, &len),
        CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(
        cpubind_launch_write(CPUBIND_LAUNCH_GOMP, &(cpubind_launch){&idle, 1}, NULL, 0, &len),
        CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(
        cpubind_launch_write(CPUBIND_LAUNCH_GOMP, &(cpubind_launch){&empty, 0}, NULL, 0, &len),
        CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_launch_write(CPUBIND_LAUNCH_COUNT, &(cpubind_launch){two_ranks, 1},
                                          NULL, 0, &len),
                     CPUBIND_TEXT_ERR_ARG);
    assert_string_equal(cpubind_launch_word(CPUBIND_LAUNCH_COUNT), "?");
}

TEST(a_line_of_gres_conf_names_file_and_cores)
{
    const cpubind_gres gres = {"h100", 4, "/dev/nvidia0", first, 5};
    const cpubind_gres bare = {NULL, 0, "/dev/davinci7", NULL, 0};
    char text[128];
    int32_t len = 0;
    assert_int_equal(cpubind_gres_write("gpu", &gres, text, sizeof text, &len),
                     CPUBIND_TEXT_OK);
    assert_memory_equal(text, "Name=gpu Type=h100 File=/dev/nvidia0 Cores=0-3,8\n", 49);
    assert_int_equal(len, 49);
    assert_int_equal(cpubind_gres_write("npu", &bare, text, sizeof text, &len),
                     CPUBIND_TEXT_OK);
    assert_memory_equal(text, "Name=npu File=/dev/davinci7\n", 28);
    assert_int_equal(len, 28);
    assert_int_equal(cpubind_gres_write("npu", &bare, text, 27, &len), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(len, 28);
}

TEST_FILE(NULL, NULL)
