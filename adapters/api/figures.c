/* figures.c - the figures of plans, as text and as JSON
 * SPDX-License-Identifier: MIT
 *
 * Counts nothing: the figures are those of cpubind_measure. RULES.md defines each of them.
 */
#include <string.h>

#include "api.h"

/* (key, words with the noun of a device, number of `q`, unit, whether each NPU has it, whether
 * it is about places) */
#define FIGURE_LIST(X)                                                                         \
    X("near_percent", "CPUs near their %s", percent_of(q), " %", 1, 1)                         \
    X("far", "CPUs on another socket", q->far_cpus, "", 1, 1)                                  \
    X("irq_off_node", "IRQ CPUs off the node of their %s", q->irq_off, "", 1, 1)               \
    X("split_cores", "cores split between %ss", q->split_cores, "", 0, 0)                      \
    X("split_caches", "caches split between %ss", q->split_caches, "", 0, 0)                   \
    X("nodes", "nodes of the widest pool", q->nodes, "", 1, 0)                                 \
    X("idle", "CPUs in no pool", q->idle, "", 0, 0)                                            \
    X("smallest", "CPUs of the smallest pool", q->smallest, "", 0, 0)                          \
    X("largest", "CPUs of the largest pool", q->largest, "", 0, 0)

/* One figure. */
typedef struct figure {
    const char *key, *words, *unit;
    int is_of_npu, is_of_place;
} figure;

static const figure figures[] = {
#define API_X(key, words, number, unit, is_of_npu, is_of_place)                                \
    {key, words, unit, is_of_npu, is_of_place},
    FIGURE_LIST(API_X)
#undef API_X
};

enum { N_FIGURE = sizeof figures / sizeof *figures };

static int32_t percent_of(const cpubind_quality *q)
{
    return q->cpus == 0 ? -1 : (int32_t)((int64_t)q->near_cpus * 100 / q->cpus);
}

/* The number of a figure; -1: not known. */
static int32_t number_of(api_figures of, int32_t i)
{
    const cpubind_quality none = {0};
    const cpubind_quality *q = of.quality ? of.quality : &none;
#define API_X(key, words, number, unit, is_of_npu, is_of_place) number,
    const int32_t numbers[] = {FIGURE_LIST(API_X)};
#undef API_X
    return of.quality && (of.is_placed || !figures[i].is_of_place) ? numbers[i] : -1;
}

/* Whether the CPUs near a device, or its node, are known. */
static int is_placed(const cpubind_candidate *one)
{
    return one->near_cpus.n > 0 || one->node >= 0;
}

api_figures api_figures_of(const cpubind_device_plan *plan)
{
    api_figures of = {&plan->quality, 0};
    for (int32_t i = 0; i < plan->n_candidate; i++)
        of.is_placed |= is_placed(&plan->candidate[i]);
    return of;
}

api_figures api_figures_of_row(const cpubind_device_plan *plan, int32_t row)
{
    api_figures of = {&plan->row_quality[row], 0};
    of.is_placed = is_placed(&plan->candidate[plan->of_device[plan->want[row]]]);
    return of;
}

void api_put_quality(api_out *to, const char *noun, api_figures of)
{
    api_table table = {.n_column = 2};
    const char *at;
    api_cell(&table, "quality");
    api_cell(&table, "%s", "");
    for (int32_t i = 0; i < N_FIGURE; i++) {
        at = strchr(figures[i].words, '%');
        if (at)
            api_cell(&table, "%.*s%s%s", (int)(at - figures[i].words), figures[i].words, noun,
                     at + 2);
        else
            api_cell(&table, "%s", figures[i].words);
        const int32_t number = number_of(of, i);
        if (number < 0)
            api_cell(&table, "-");
        else
            api_cell(&table, "%d%s", (int)number, figures[i].unit);
    }
    api_put_table(to, &table);
}

int32_t api_figure(api_figures of, const char *key)
{
    for (int32_t i = 0; i < N_FIGURE; i++)
        if (strcmp(figures[i].key, key) == 0)
            return number_of(of, i);
    return -1;
}

words_value *api_quality_json(api_figures of, int is_of_npu)
{
    words_value *json = of.quality ? words_object() : words_null();
    for (int32_t i = 0; of.quality && i < N_FIGURE; i++)
        if (!is_of_npu || figures[i].is_of_npu)
            words_set(json, figures[i].key, words_id(number_of(of, i)));
    return json;
}
