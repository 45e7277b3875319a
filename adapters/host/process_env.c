/* process_env.c - the variables of a process that say which rank it is
 * SPDX-License-Identifier: MIT
 */
#include "process_env.h"

#include <string.h>

#include "../text/procfs.h"

#define LOCAL(launcher, local, job) local,
#define JOB(launcher, local, job)   job,
const char *const cpubind_local_ranks[] = {CPUBIND_RANK_LIST(LOCAL) NULL};
const char *const cpubind_job_ranks[] = {"RANK", "RANK_ID",
                                         CPUBIND_RANK_LIST(JOB) CPUBIND_RANK_LIST(LOCAL) NULL};

int32_t cpubind_env_rank(const cpubind_bytes *environment, const char *const *names,
                         const char **variable)
{
    for (int32_t i = 0; names[i]; i++) {
        const cpubind_piece value =
            cpubind_environ_find(environment->data, environment->len, names[i]);
        int32_t rank;
        if (value.len > 0 &&
            cpubind_number_parse(environment->data + value.at, value.len, &rank, NULL) ==
                CPUBIND_TEXT_OK &&
            rank >= 0) {
            if (variable)
                *variable = names[i];
            return rank;
        }
    }
    if (variable)
        *variable = NULL;
    return -1;
}
