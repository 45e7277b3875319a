/* launch.c - a plan in the formats of launchers: plan --format taskset, slurm, systemd ...
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: takes the ranks from the plan and has ../pci/launch_text.h write them.
 */
#include <stdlib.h>
#include <string.h>

#include "nics.h"

/* The rows of the ranks, in their order: the NPUs in that of the visible devices, then the
 * others; with --rank its row alone. */
typedef struct ranks {
    int32_t *row; /* indices of what api_shown shows */
    int32_t n;
} ranks;

/* Returns 0 without memory; the caller frees out->row. */
static int list_ranks(const api_planned *p, const api_options *options, ranks *out)
{
    const int32_t n_visible = p->facts.visible ? p->facts.n_visible : 0;
    out->n = 0;
    out->row = (int32_t *)calloc((size_t)(p->plan.n_unit + n_visible) + 1, sizeof *out->row);
    if (!out->row)
        return 0;
    if (options->request.has_rank) {
        out->row[out->n++] = api_rank_row(p, options);
        return 1;
    }
    for (int32_t i = 0; i < n_visible; i++)
        for (int32_t k = 0; k < p->plan.n_unit && p->plan.unit[k].rank < 0; k++)
            if (p->plan.unit[k].id == p->facts.visible_id[i])
                out->row[out->n++] = k;
    for (int32_t k = 0; k < p->plan.n_unit; k++)
        if (!p->facts.visible || p->plan.unit[k].rank >= 0)
            out->row[out->n++] = k;
    return 1;
}

int32_t api_most_threads(const cpubind_facts *facts, int32_t n)
{
    const int32_t most = facts->quota < 1000 ? 1 : facts->quota / 1000;
    return facts->quota > 0 && most < n ? most : n;
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

/* Appends why the row of a rank does not fit the format. Returns whether it fits. */
static int check_row(const api_planned *p, const api_options *options, int32_t i, api_text *why)
{
    const api_row row = api_shown(&p->facts, &p->plan, i);
    if (row.problem) {
        api_add(why, "--format %s has a place for each rank, and one rank has no pool: ",
                options->format_word);
        api_explain_row(p, options, &row, why);
        return 0;
    }
    if (row.memory_node >= 0 ||
        strcmp(options->format_word, cpubind_launch_word(CPUBIND_LAUNCH_SLURM_LDOM)) != 0)
        return 1;
    api_add(why, "--format %s names a NUMA node for each rank, and the node of ",
            options->format_word);
    api_add_row(why, &p->facts, &row);
    api_add(why, " is not known; use --format slurm, which has masks of CPUs");
    return 0;
}

int api_has_launch(const api_planned *p, const api_options *options, api_text *why)
{
    ranks list;
    int has = list_ranks(p, options, &list);
    if (!has)
        (void)api_no_room(why);
    has = has && api_is_for_ranks(options->format_word, list.n, why);
    if (has && list.n == 0) {
        api_add(why, "--format %s has a place for each rank, and this process sees no device",
                options->format_word);
        has = 0;
    }
    for (int32_t i = 0; has && i < list.n; i++)
        has = check_row(p, options, list.row[i], why);
    free(list.row);
    return has;
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

void api_put_launch(api_out *to, cpubind_launch_format format, const api_planned *p,
                    const api_options *options)
{
    ranks list;
    const int has_room = list_ranks(p, options, &list);
    cpubind_launch_rank *rank =
        has_room ? (cpubind_launch_rank *)calloc((size_t)list.n + 1, sizeof *rank) : NULL;
    cpubind_launch launch = {rank, list.n};
    to->is_short |= !rank;
    for (int32_t i = 0; rank && i < list.n; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, list.row[i]);
        rank[i] =
            (cpubind_launch_rank){.cpu = row.cpu, .n_cpu = row.n, .node = row.memory_node};
        rank[i].thread = api_role_of(&row, CPUBIND_ROLE_MAIN, &rank[i].n_thread);
        rank[i].most = api_most_threads(&p->facts, rank[i].n_thread);
    }
    if (rank)
        api_put_ranks(to, format, &launch);
    if (rank && list.n == 1 && format == CPUBIND_LAUNCH_ENV)
        api_put_network(to, p, api_shown(&p->facts, &p->plan, list.row[0]).device);
    free(rank);
    free(list.row);
}
