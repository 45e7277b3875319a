/* launch.c - a plan in the formats of launchers: plan --format taskset, slurm, systemd ...
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: takes the ranks from the plan and has ../pci/launch_text.h write them.
 */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

/* Appends the reason if the format has a node for each rank and one rank has none. */
static int check_nodes(const cli_planned *p, const cli_options *options, cli_text *why)
{
    const int needs_nodes =
        strcmp(options->format->word, cpubind_launch_word(CPUBIND_LAUNCH_SLURM_LDOM)) == 0;
    for (int32_t i = 0; needs_nodes && i < p->plan.n_want; i++) {
        if (p->plan.memory_node[i] >= 0)
            continue;
        cli_add(why,
                "--format %s names a NUMA node for each rank, and the node of NPU %d is not "
                "known; use --format slurm, which has masks of CPUs",
                options->format->word, (int)p->facts.npu[p->plan.want[i]].logic);
        return 0;
    }
    return 1;
}

int cli_has_launch(const cli_planned *p, const cli_options *options, cli_text *why)
{
    if (options->request.has_rank || p->plan.n_poolless == 0)
        return check_nodes(p, options, why);
    cli_add(why, "--format %s has a place for each rank, and one rank has no pool: ",
            options->format->word);
    cli_explain_problem(&p->plan.poolless[0].problem, &p->facts, options, why);
    return 0;
}

int cli_print_ranks(FILE *out, cpubind_launch_format format, const cpubind_launch *launch)
{
    int32_t cap = 0, len = 0;
    char *text;
    int good;
    if (cpubind_launch_write(format, launch, NULL, 0, &len) != CPUBIND_TEXT_ERR_SPACE)
        return 0;
    cap = len;
    text = (char *)malloc((size_t)cap);
    good = text && cpubind_launch_write(format, launch, text, cap, &len) == CPUBIND_TEXT_OK;
    if (good)
        fwrite(text, 1, (size_t)len, out);
    free(text);
    return good;
}

static cpubind_launch_rank rank_of(const cli_planned *p, int32_t i)
{
    const cli_row row = cli_row_of(&p->facts, &p->plan, i);
    cpubind_launch_rank rank = {.cpu = row.cpu, .n_cpu = row.n, .node = row.memory_node};
    rank.thread = cli_role_of(&row, CPUBIND_ROLE_MAIN, &rank.n_thread);
    return rank;
}

/* The row of the NPU with a logic id, or -1. */
static int32_t row_of(const cli_planned *p, int32_t logic)
{
    for (int32_t i = 0; i < p->plan.n_want; i++)
        if (p->facts.npu[p->plan.want[i]].logic == logic)
            return i;
    return -1;
}

int cli_print_launch(FILE *out, cpubind_launch_format format, const cli_planned *p,
                     const cli_options *options)
{
    const int32_t n_rank = p->facts.visible ? p->facts.n_visible : p->plan.n_want;
    cpubind_launch_rank *rank = (cpubind_launch_rank *)calloc((size_t)n_rank + 1, sizeof *rank);
    cpubind_launch launch = {rank, 0};
    int good;
    if (!rank)
        return 0;
    if (options->request.has_rank)
        rank[launch.n_rank++] = rank_of(p, p->plan.rank_row);
    for (int32_t i = 0; !options->request.has_rank && i < n_rank; i++) {
        const int32_t row = p->facts.visible ? row_of(p, p->facts.visible_id[i]) : i;
        if (row >= 0)
            rank[launch.n_rank++] = rank_of(p, row);
    }
    good = cli_print_ranks(out, format, &launch);
    free(rank);
    return good;
}
