/* fuzz_slurm_step.c - fuzz target: the environment of a step of Slurm, and the device of a task
 * SPDX-License-Identifier: MIT
 */
#include "../fuzz.h"

#include "../../adapters/text/slurm_step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int32_t len = (int32_t)size;
    char *text = fuzz_text((const char *)data, size);
    cpubind_text_fault fault = {-1, NULL};
    cpubind_slurm_step step;
    cpubind_slurm_task task;
    if (cpubind_slurm_parse_step(text, len, &step, &fault) == CPUBIND_TEXT_OK) {
        CHECK(step.n_cpu >= 0 && step.n_job_cpu >= -1 && step.n_device >= -1);
        CHECK(step.list.at >= 0 && step.list.len >= 0 && step.list.at + step.list.len <= len);
        CHECK(step.n_listed < 0 ? step.list.len == 0 : step.n_listed <= step.list.len);
    } else {
        fuzz_check_fault(&fault, len);
        step.n_listed = -1;
    }
    for (int32_t local = 0; local < 5; local++) {
        const char *own = local % 2 == 0 ? NULL : "1";
        if (cpubind_slurm_find_task(text, len, local, own, &task, &fault) != CPUBIND_TEXT_OK) {
            fuzz_check_fault(&fault, len);
            continue;
        }
        CHECK(task.place >= 0 && task.place < step.n_listed);
        CHECK(task.process >= 0 && task.process < task.n_process);
    }
    free(text);
    return 0;
}
