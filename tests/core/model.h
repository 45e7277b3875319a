/* model.h - THE RULE of cpubind.h a second time
 * SPDX-License-Identifier: MIT
 *
 * Written from the lines of THE RULE: devices take single cores, one by one, and every question
 * is a loop over all of them. No houses, lots or kinds; nodes and caches are not kept (lines 3
 * and 4), so that it tells how many CPUs a device gets, and not which.
 */
#ifndef CPUBIND_TESTS_CORE_MODEL_H
#define CPUBIND_TESTS_CORE_MODEL_H

#include "odd_host.h"

enum { MODEL_FAR = 1 << 20, MODEL_LOST = 1 << 24, NOBODY = -1 };

typedef struct model {
    const cpubind_host *h;
    const cpubind_device *d;
    int32_t n_device, n_core;
    int32_t core_of[HOST_CPUS];
    int32_t width[HOST_CPUS], node[HOST_CPUS], is_homed[HOST_CPUS], owner[HOST_CPUS];
    uint8_t may[HOST_DEVICES][HOST_CPUS], home[HOST_DEVICES][HOST_CPUS]; /* by core */
    uint8_t claim[HOST_DEVICES][HOST_CPUS];
    int32_t distance[HOST_DEVICES][HOST_NODES];
    int32_t size[HOST_DEVICES], floor[HOST_DEVICES], is_elsewhere[HOST_DEVICES];
    int32_t taken, disputed, is_tight; /* tight: whole cores were too few */
} model;

static inline int32_t model_has(cpubind_list list, int32_t id)
{
    for (int32_t i = 0; i < list.n; i++)
        if (list.cpu[i] == id)
            return 1;
    return 0;
}

static inline int32_t model_may(const model *m, int32_t d, int32_t i)
{
    return m->d[d].allowed.cpu == NULL || model_has(m->d[d].allowed, m->h->cpu[i]);
}

static inline int32_t model_weight(const model *m, int32_t d)
{
    return m->d[d].weight == 0 ? 1 : m->d[d].weight;
}

static inline int32_t model_apart(const cpubind_host *h, int32_t a, int32_t b)
{
    const int32_t steps = h->distance ? h->distance[a * h->n_node + b] : 1;
    const int32_t is_far =
        h->socket ? h->socket[a] != h->socket[b] : h->distance && steps >= 20;
    return a == b ? 0 : steps + (is_far ? MODEL_FAR : 0);
}

static inline int32_t model_is_one(const model *m, int32_t i, int32_t k)
{
    const cpubind_host *h = m->h;
    if (h->core == NULL || h->core[i] != h->core[k] || h->node[i] != h->node[k])
        return 0;
    for (int32_t d = 0; d < m->n_device; d++)
        if (model_may(m, d, i) != model_may(m, d, k))
            return 0;
    return 1;
}

static inline void model_find_cores(model *m)
{
    for (int32_t i = 0; i < m->h->n_cpu; i++) {
        int32_t k = 0;
        while (k < i && !model_is_one(m, i, k))
            k++;
        m->core_of[i] = k < i ? m->core_of[k] : m->n_core++;
        m->node[m->core_of[i]] = m->h->node[i];
        m->width[m->core_of[i]]++;
    }
}

static inline void model_find_homes(model *m, cpubind_reach reach)
{
    for (int32_t d = 0; d < m->n_device; d++) {
        const int32_t is_anywhere = m->d[d].is_anywhere;
        for (int32_t a = 0; a < m->h->n_node; a++)
            m->distance[d][a] = MODEL_LOST;
        for (int32_t i = 0; i < m->h->n_cpu; i++) {
            const int32_t c = m->core_of[i];
            const int32_t is_near = !is_anywhere && model_has(m->d[d].home, m->h->cpu[i]);
            for (int32_t a = 0; is_near && a < m->h->n_node; a++)
                if (model_apart(m->h, m->h->node[i], a) < m->distance[d][a])
                    m->distance[d][a] = model_apart(m->h, m->h->node[i], a);
            m->may[d][c] |= model_may(m, d, i) != 0;
            m->home[d][c] |= is_near != 0;
        }
        for (int32_t c = 0; c < m->n_core; c++) {
            m->home[d][c] &= m->may[d][c];
            if (reach == CPUBIND_REACH_HOME && !is_anywhere)
                m->may[d][c] = m->home[d][c];
            m->is_homed[c] |= m->home[d][c];
        }
    }
}

/* Line 1. */
static inline void model_claim(model *m, cpubind_reach reach)
{
    const int32_t limit = reach == CPUBIND_REACH_HOST ? MODEL_LOST : MODEL_FAR;
    uint8_t is_claimed[HOST_CPUS] = {0};
    for (int32_t c = 0; c < m->n_core; c++) {
        int32_t best = limit;
        for (int32_t d = 0; d < m->n_device; d++)
            if (m->may[d][c] && m->distance[d][m->node[c]] < best)
                best = m->distance[d][m->node[c]];
        for (int32_t d = 0; d < m->n_device; d++) {
            m->claim[d][c] = m->is_homed[c] ? m->home[d][c]
                                            : m->may[d][c] && best < limit &&
                                                  m->distance[d][m->node[c]] == best;
            is_claimed[c] |= m->claim[d][c];
        }
    }
    for (int32_t d = 0; d < m->n_device; d++) {
        const int32_t is_anywhere = m->d[d].is_anywhere;
        m->is_elsewhere[d] = !is_anywhere;
        for (int32_t c = 0; c < m->n_core; c++)
            if (m->claim[d][c])
                m->is_elsewhere[d] = 0;
        for (int32_t c = 0; c < m->n_core; c++)
            m->claim[d][c] |=
                m->may[d][c] && (is_anywhere || (m->is_elsewhere[d] && !is_claimed[c]));
    }
}

static inline int32_t model_is_alike(const model *m, int32_t a, int32_t b)
{
    if (m->width[a] != m->width[b])
        return 0;
    for (int32_t d = 0; d < m->n_device; d++)
        if (m->claim[d][a] != m->claim[d][b] || m->home[d][a] != m->home[d][b])
            return 0;
    return 1;
}

/* Line 2, by single cores. */
static inline void model_take_turns(model *m)
{
    static int32_t rivals[HOST_CPUS], kind[HOST_CPUS], left[HOST_CPUS];
    memset(left, 0, sizeof left);
    for (int32_t c = 0; c < m->n_core; c++) {
        m->owner[c] = NOBODY;
        rivals[c] = 0;
        for (int32_t d = 0; d < m->n_device; d++)
            rivals[c] += m->claim[d][c] * model_weight(m, d);
        for (kind[c] = 0; kind[c] < c && !model_is_alike(m, kind[c], c);)
            kind[c]++;
        left[kind[c]] += m->width[c];
    }
    for (;;) {
        int32_t who = NOBODY, what = NOBODY;
        for (int32_t d = 0; d < m->n_device; d++) {
            const cpubind_device *one = &m->d[d];
            int32_t best = NOBODY;
            if (one->most && m->size[d] >= one->most)
                continue;
            if (who != NOBODY) {
                const int32_t lacks = m->size[d] < one->minimum;
                const int32_t other = m->size[who] < m->d[who].minimum;
                if (lacks != other ? other
                                   : (int64_t)m->size[d] * model_weight(m, who) >=
                                         (int64_t)m->size[who] * model_weight(m, d))
                    continue;
            }
            for (int32_t c = 0; c < m->n_core; c++) {
                if (m->owner[c] != NOBODY || !m->claim[d][c])
                    continue;
                if (best == NOBODY ||
                    (rivals[c] != rivals[best]           ? rivals[c] < rivals[best]
                     : m->home[d][c] != m->home[d][best] ? m->home[d][c]
                                                         : left[kind[c]] > left[kind[best]]))
                    best = c;
            }
            if (best != NOBODY) {
                who = d;
                what = best;
            }
        }
        if (who == NOBODY)
            return;
        m->owner[what] = who;
        m->size[who] += m->width[what];
        left[kind[what]] -= m->width[what];
    }
}

/* Line 5. */
typedef enum model_want { MODEL_MINIMUM, MODEL_FLOOR, MODEL_LAST } model_want;

static inline int32_t model_is_hidden_guest(const model *m, int32_t d)
{
    return m->is_elsewhere[d] && m->d[d].is_hidden;
}

static inline void model_set_floors(model *m, int32_t guests)
{
    for (int32_t d = 0; d < m->n_device; d++) {
        const cpubind_device *one = &m->d[d];
        const int32_t is_guest = m->is_elsewhere[d] && !one->is_hidden && guests;
        int64_t all = 0, among = 0;
        int32_t floor;
        for (int32_t c = 0; c < m->n_core; c++)
            all += m->may[d][c] ? m->width[c] : 0;
        for (int32_t e = 0; e < m->n_device; e++) {
            int32_t c = 0;
            while (c < m->n_core && !(m->may[d][c] && m->may[e][c]))
                c++;
            if (c < m->n_core && !(is_guest && model_is_hidden_guest(m, e)))
                among += model_weight(m, e);
        }
        floor = among == 0 ? 0 : (int32_t)(all * model_weight(m, d) / (2 * among));
        if (!m->is_elsewhere[d] && floor > one->minimum + 7)
            floor = one->minimum + 7;
        if (one->most && floor > one->most)
            floor = one->most;
        m->floor[d] = floor < one->minimum ? one->minimum : floor;
    }
}

static inline int32_t model_goal(const model *m, int32_t d, model_want want)
{
    return want == MODEL_FLOOR ? m->floor[d] : m->d[d].minimum;
}

static inline int32_t model_can_spare(const model *m, int32_t from, int32_t d, int32_t w,
                                      model_want want)
{
    const int32_t lacks = m->d[from].minimum - m->size[from];
    const int32_t mine = m->d[d].minimum - m->size[d];
    if (want == MODEL_LAST)
        return lacks > mine || (lacks > 0 && lacks == mine && from > d);
    if (want == MODEL_FLOOR && m->size[from] - w < m->size[d] + w)
        return 0;
    if (want == MODEL_FLOOR && m->is_elsewhere[d] && m->d[from].is_hidden)
        return 0;
    return m->size[from] - w >= model_goal(m, from, want);
}

static inline int32_t model_is_better(const model *m, int32_t d, int32_t a, int32_t b)
{
    const int32_t from = m->owner[a], other = m->owner[b];
    const int32_t near_a = m->distance[d][m->node[a]], near_b = m->distance[d][m->node[b]];
    if ((from == NOBODY) != (other == NOBODY))
        return from == NOBODY;
    if (from == NOBODY)
        return near_a < near_b;
    if ((m->size[from] - m->width[a] >= m->floor[from]) !=
        (m->size[other] - m->width[b] >= m->floor[other]))
        return m->size[from] - m->width[a] >= m->floor[from];
    if (m->is_elsewhere[d] && m->d[from].is_hidden != m->d[other].is_hidden)
        return !m->d[from].is_hidden;
    if (m->is_homed[a] != m->is_homed[b])
        return m->is_homed[a] < m->is_homed[b];
    return near_a != near_b ? near_a < near_b : m->size[from] >= m->size[other];
}

static inline int32_t model_find(const model *m, int32_t d, model_want want)
{
    int32_t best = NOBODY;
    for (int32_t c = 0; c < m->n_core; c++) {
        const int32_t from = m->owner[c];
        if (from == d || !m->may[d][c] ||
            (from != NOBODY && !model_can_spare(m, from, d, m->width[c], want)))
            continue;
        if (best == NOBODY || model_is_better(m, d, c, best))
            best = c;
    }
    return best;
}

static inline int32_t model_serve(model *m, int32_t guests, model_want want)
{
    for (;;) {
        int32_t who = NOBODY, what = NOBODY, least = 0, is_below = 0;
        for (int32_t d = 0; d < m->n_device; d++) {
            const int32_t lacks = model_goal(m, d, want) - m->size[d];
            const int32_t order = want == MODEL_FLOOR ? m->size[d] : lacks;
            int32_t core;
            if (lacks <= 0 || m->is_elsewhere[d] != guests || model_is_hidden_guest(m, d))
                continue;
            is_below = 1;
            core = who != NOBODY && order >= least ? NOBODY : model_find(m, d, want);
            if (core == NOBODY)
                continue;
            who = d;
            what = core;
            least = order;
        }
        if (who == NOBODY)
            return is_below;
        if (m->owner[what] != NOBODY) {
            const int32_t from = m->owner[what];
            m->size[from] -= m->width[what];
            m->taken += m->width[what];
            if (guests && m->d[from].is_hidden)
                m->disputed += m->width[what];
        }
        m->owner[what] = who;
        m->size[who] += m->width[what];
    }
}

/* Each CPU becomes a core of its own. */
static inline void model_cut_cores(model *m)
{
    const model whole = *m;
    m->n_core = m->h->n_cpu;
    for (int32_t i = 0; i < m->n_core; i++) {
        const int32_t c = whole.core_of[i];
        m->core_of[i] = i;
        m->width[i] = 1;
        m->node[i] = whole.node[c];
        m->owner[i] = whole.owner[c];
        m->is_homed[i] = whole.is_homed[c];
        for (int32_t d = 0; d < m->n_device; d++) {
            m->may[d][i] = whole.may[d][c];
            m->home[d][i] = whole.home[d][c];
            m->claim[d][i] = whole.claim[d][c];
        }
    }
}

static inline void model_plan(const cpubind_host *h, const cpubind_device *d, int32_t n_device,
                              cpubind_reach reach, model *m)
{
    memset(m, 0, sizeof *m);
    m->h = h;
    m->d = d;
    m->n_device = n_device;
    model_find_cores(m);
    model_find_homes(m, reach);
    model_claim(m, reach);
    model_take_turns(m);
    for (int32_t guests = 0; guests < 2; guests++) {
        int32_t is_below;
        model_set_floors(m, guests);
        is_below = model_serve(m, guests, MODEL_MINIMUM);
        if (!m->is_tight)
            (void)model_serve(m, guests, MODEL_FLOOR);
        if (!is_below)
            continue;
        if (!m->is_tight)
            model_cut_cores(m);
        m->is_tight = 1;
        (void)model_serve(m, guests, MODEL_MINIMUM);
        (void)model_serve(m, guests, MODEL_LAST);
    }
}

#endif
