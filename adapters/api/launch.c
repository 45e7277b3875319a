/* launch.c - a plan in the formats of launchers: plan --format taskset, slurm, systemd ...
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: takes the ranks from the plan and has ../pci/launch_text.h write them.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* Appends the reason if the format has a node for each rank and one rank has none. */
static int check_nodes(const api_planned *p, const api_options *options, api_text *why)
{
    const int needs_nodes =
        strcmp(options->format_word, cpubind_launch_word(CPUBIND_LAUNCH_SLURM_LDOM)) == 0;
    for (int32_t i = 0; needs_nodes && i < p->plan.n_want; i++) {
        if (p->plan.memory_node[i] >= 0)
            continue;
        api_add(why,
                "--format %s names a NUMA node for each rank, and the node of NPU %d is not "
                "known; use --format slurm, which has masks of CPUs",
                options->format_word, (int)p->facts.npu[p->plan.want[i]].logic);
        return 0;
    }
    return 1;
}

int api_is_for_ranks(const char *format, int32_t n_rank, api_text *why)
{
    if (n_rank < 2 || strcmp(format, cpubind_launch_word(CPUBIND_LAUNCH_SYSTEMD)) != 0)
        return 1;
    api_add(why,
            "--format %s writes a drop-in for the unit of one rank, and this plan has %d: say "
            "which with --rank N",
            format, (int)n_rank);
    return 0;
}

int api_has_launch(const api_planned *p, const api_options *options, api_text *why)
{
    const int32_t n_rank = p->facts.visible ? p->facts.n_visible : p->plan.n_want;
    if (!options->request.has_rank && !api_is_for_ranks(options->format_word, n_rank, why))
        return 0;
    if (options->request.has_rank || p->plan.n_poolless == 0)
        return check_nodes(p, options, why);
    api_add(why, "--format %s has a place for each rank, and one rank has no pool: ",
            options->format_word);
    api_explain_problem(&p->plan.poolless[0].problem, &p->facts, options, why);
    return 0;
}

void api_put_ranks(api_out *to, cpubind_launch_format format, const cpubind_launch *launch)
{
    int32_t len = 0;
    char *text;
    (void)!cpubind_launch_write(format, launch, NULL, 0, &len);
    text = (char *)calloc((size_t)len + 1, 1);
    if (text && cpubind_launch_write(format, launch, text, len, &len) == CPUBIND_TEXT_OK)
        api_put_text(to, text);
    else
        to->is_short = 1;
    free(text);
}

static cpubind_launch_rank rank_of(const api_planned *p, int32_t i)
{
    const api_row row = api_row_of(&p->facts, &p->plan, i);
    cpubind_launch_rank rank = {.cpu = row.cpu, .n_cpu = row.n, .node = row.memory_node};
    rank.thread = api_role_of(&row, CPUBIND_ROLE_MAIN, &rank.n_thread);
    return rank;
}

/* The row of the NPU with a logic id, or -1. */
static int32_t row_of(const api_planned *p, int32_t logic)
{
    for (int32_t i = 0; i < p->plan.n_want; i++)
        if (p->facts.npu[p->plan.want[i]].logic == logic)
            return i;
    return -1;
}

void api_put_launch(api_out *to, cpubind_launch_format format, const api_planned *p,
                    const api_options *options)
{
    const int32_t n_rank = p->facts.visible ? p->facts.n_visible : p->plan.n_want;
    cpubind_launch_rank *rank = (cpubind_launch_rank *)calloc((size_t)n_rank + 1, sizeof *rank);
    cpubind_launch launch = {rank, 0};
    if (!rank) {
        to->is_short = 1;
        return;
    }
    if (options->request.has_rank)
        rank[launch.n_rank++] = rank_of(p, p->plan.rank_row);
    for (int32_t i = 0; !options->request.has_rank && i < n_rank; i++) {
        const int32_t row = p->facts.visible ? row_of(p, p->facts.visible_id[i]) : i;
        if (row >= 0)
            rank[launch.n_rank++] = rank_of(p, row);
    }
    api_put_ranks(to, format, &launch);
    free(rank);
}
