/* figures.c - the figures of plans, as text and as JSON
 * SPDX-License-Identifier: MIT
 *
 * Counts nothing: the figures are those of cpubind_measure. RULES.md defines each of them.
 */
#include <string.h>

#include "api.h"

/* (key, words with "*" for the noun of a device or NULL, number of `q`, whether each NPU has
 * it, whether it is about places) */
#define FIGURE_LIST(X)                                                                         \
    X("near_percent", NULL, percent_of(q), 1, 1)                                               \
    X("far", NULL, q->far_cpus, 1, 1)                                                          \
    X("irq_off_node", "IRQ CPUs off the node of their *", q->irq_off, 1, 1)                    \
    X("split_cores", "cores split between *s", q->split_cores, 0, 0)                           \
    X("split_caches", "caches split between *s", q->split_caches, 0, 0)                        \
    X("nodes", NULL, q->nodes, 1, 0)                                                           \
    X("idle", "CPUs in no pool", q->idle, 0, 0)                                                \
    X("smallest", NULL, q->smallest, 0, 0)                                                     \
    X("largest", NULL, q->largest, 0, 0)

/* One figure. */
typedef struct figure {
    const char *key, *words;
    int is_of_npu, is_of_place;
} figure;

static const figure figures[] = {
#define API_X(key, words, number, is_of_npu, is_of_place) {key, words, is_of_npu, is_of_place},
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
#define API_X(key, words, number, is_of_npu, is_of_place) number,
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

const char *api_finding_word(cpubind_finding finding)
{
    static const char *const words[] = {[CPUBIND_FOUND_NONE] = "none",
                                        [CPUBIND_FOUND_RESOLVED] = "resolved",
                                        [CPUBIND_FOUND_PRESENT] = "present",
                                        [CPUBIND_FOUND_SHARED] = "shared"};
    return words[finding];
}

void api_add_figures(api_text *to, const char *noun, const cpubind_device_plan *plan)
{
    const api_figures of = api_figures_of(plan);
    const cpubind_quality *q = of.quality;
    if (api_figure(of, "near_percent") >= 0)
        api_add(to, "%d %% of CPUs near their %s; %d on another socket", (int)percent_of(q),
                noun, (int)q->far_cpus);
    else
        api_add(to, "which CPUs are near is not known");
    api_add(to, "; pools of %d", (int)q->smallest);
    if (q->largest > q->smallest)
        api_add(to, " to %d", (int)q->largest);
    api_add(to, q->largest == 1 ? " CPU" : " CPUs");
    for (int32_t i = 0; i < N_FIGURE; i++) {
        const int32_t number = number_of(of, i);
        const int n = figures[i].words ? (int)strcspn(figures[i].words, "*") : 0;
        if (n == 0 || number <= 0)
            continue;
        api_add(to, "; %.*s", n, figures[i].words);
        if (figures[i].words[n])
            api_add(to, "%s%s", noun, figures[i].words + n + 1);
        api_add(to, ": %d", (int)number);
    }
    if (plan->core.overlap != CPUBIND_FOUND_NONE)
        api_add(to, "; overlap %s", api_finding_word(plan->core.overlap));
}
