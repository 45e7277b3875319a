/* request.c - what is asked of a host: what is wrong with it, and what the environment adds
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "facts_reader.h"

/* Whether a list ascends strictly, from 0 and below `limit`. */
static int is_list(const int32_t *list, int32_t n, int32_t limit)
{
    int32_t last = -1;
    for (int32_t i = 0; i < n; i++) {
        if (list[i] <= last || list[i] >= limit)
            return 0;
        last = list[i];
    }
    return n >= 0 && n <= limit;
}

static int is_among(int32_t value, int32_t n)
{
    return value >= 0 && value < n;
}

static int are_device_lists(const cpubind_request *q)
{
    int32_t last = -1;
    for (int32_t i = 0; i < q->n_device_allowed; i++) {
        const cpubind_device_allowed *row = &q->device_allowed[i];
        if (row->logic <= last || row->logic >= CPUBIND_MAX_DEVICES ||
            (row->n > 0 && !row->cpu) || !is_list(row->cpu, row->n, CPUBIND_MAX_CPUS))
            return 0;
        last = row->logic;
    }
    return q->n_device_allowed > 0;
}

/* What is wrong with the lists of a request, or NULL. */
static const char *find_list_fault(const cpubind_request *q)
{
    if (q->device &&
        (q->n_device == 0 || !is_list(q->device, q->n_device, CPUBIND_MAX_DEVICES)))
        return "the NPUs of the request do not ascend from 0 on, or there are none";
    if (q->allowed && !is_list(q->allowed, q->n_allowed, CPUBIND_MAX_CPUS))
        return "the allowed CPUs of the request do not ascend from 0 on";
    if (q->device_allowed && !are_device_lists(q))
        return "the NPUs with allowed CPUs of the request, or these CPUs, do not ascend from 0 "
               "on";
    if (q->exclude && !is_list(q->exclude, q->n_exclude, CPUBIND_MAX_CPUS))
        return "the excluded CPUs of the request do not ascend from 0 on";
    if (q->keep && !is_list(q->keep, q->n_keep, CPUBIND_MAX_CPUS))
        return "the kept CPUs of the request do not ascend from 0 on";
    return NULL;
}

const char *cpubind_priv_request_fault(const cpubind_request *q)
{
    if (!is_among((int32_t)q->type, CPUBIND_TYPE_COUNT))
        return "the device type of the request is no device type";
    if (!q->is_auto_strategy && !is_among((int32_t)q->strategy, CPUBIND_CLUSTER + 1))
        return "the strategy of the request is no strategy";
    if (!is_among((int32_t)q->overlap, CPUBIND_OVERLAP_REFUSE + 1))
        return "the overlap policy of the request is no policy";
    if (!is_among(q->reach, CPUBIND_REACH_CACHE + 1))
        return "the reach of the request is no reach";
    if (!is_among((int32_t)q->scope, CPUBIND_SCOPE_COUNT))
        return "the scope of the request is no scope";
    if (!is_among((int32_t)q->origin, CPUBIND_ORIGIN_COUNT))
        return "the origin of facts of the request is no origin";
    if (q->has_rank && q->rank < 0)
        return "the rank is negative: the launcher has not set it";
    if (!is_among(q->total, CPUBIND_MAX_DEVICES + 1))
        return "the number of NPUs of the request is out of range";
    if (q->visible && !is_among(q->visible_len, CPUBIND_TEXT_MAX))
        return "the length of the visible devices is out of range";
    if (find_list_fault(q))
        return find_list_fault(q);
    if (!is_among((int32_t)q->rules, CPUBIND_RULES_COUNT))
        return "the rules of the request are no rules";
    if (!is_among(q->keep_each, CPUBIND_MAX_CPUS + 1))
        return "the number of CPUs that are kept of each node is out of range";
    if (!is_among(q->n_process, CPUBIND_MAX_DEVICES + 1))
        return "the number of processes of an NPU is out of range";
    if (!is_among(q->process, q->n_process > 1 ? q->n_process : 1))
        return "the index of this process is not below the number of processes of an NPU";
    return NULL;
}

static int is_same_list(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b)
{
    if (!a || !b)
        return !a && !b;
    return n_a == n_b && (n_a == 0 || memcmp(a, b, (size_t)n_a * sizeof *a) == 0);
}

static int has_same_visible(const cpubind_request *a, const cpubind_request *b)
{
    if (!a->visible || !b->visible)
        return !a->visible && !b->visible;
    return a->visible_len == b->visible_len &&
           memcmp(a->visible, b->visible, (size_t)a->visible_len) == 0;
}

/* The overlap, the rank, the kept CPUs and the processes of an NPU are of the plan alone. */
int32_t cpubind_facts_serve(const cpubind_request *read, const cpubind_request *request)
{
    const cpubind_request *a = read, *b = request;
    return a->type == b->type && a->is_auto_strategy == b->is_auto_strategy &&
           a->strategy == b->strategy && a->only_running == b->only_running &&
           a->n_job == b->n_job && a->total == b->total && a->scope == b->scope &&
           a->origin == b->origin && a->rules == b->rules && a->has_rules == b->has_rules &&
           a->wants_pci == b->wants_pci && a->wants_others == b->wants_others &&
           a->bus == b->bus && is_same_list(a->device, a->n_device, b->device, b->n_device) &&
           is_same_list(a->allowed, a->n_allowed, b->allowed, b->n_allowed) &&
           is_same_list(a->exclude, a->n_exclude, b->exclude, b->n_exclude) &&
           !a->device_allowed && !b->device_allowed && has_same_visible(a, b) &&
           !cpubind_priv_request_fault(b);
}

#define CPUBIND_X(name, word) word,
static const char *const origins[] = {CPUBIND_ORIGIN_LIST(CPUBIND_X)};
static const char *const rules_words[] = {CPUBIND_RULES_LIST(CPUBIND_X)};
#undef CPUBIND_X

const char *cpubind_origin_word(cpubind_origin origin)
{
    return (size_t)origin < CPUBIND_ORIGIN_COUNT ? origins[origin] : "?";
}

const char *cpubind_rules_word(cpubind_rules rules)
{
    return (size_t)rules < CPUBIND_RULES_COUNT ? rules_words[rules] : "?";
}

/* Whether a text is this word. */
static int is_word(const char *text, int32_t len, const char *word)
{
    return strlen(word) == (size_t)len && memcmp(text, word, (size_t)len) == 0;
}

/* The number of the word that a variable of the environment has, among n; n: it is none of
 * them. An empty variable counts as not set. */
static int find_word(const cpubind_source *source, const char *name, const char *const *words,
                     int n, int without)
{
    const cpubind_input env = source->read(source->ctx, INPUT_ENV);
    cpubind_piece word;
    int i = 0;
    if (!facts_is_present(env) ||
        cpubind_env_find(env.data, env.len, name, &word) != CPUBIND_TEXT_OK || word.len == 0)
        return without;
    while (i < n && !is_word(env.data + word.at, word.len, words[i]))
        i++;
    return i;
}

cpubind_rules cpubind_rules_asked(const cpubind_source *source, const cpubind_request *request)
{
    return request->has_rules
               ? request->rules
               : (cpubind_rules)find_word(source, "CPUBIND_RULES", rules_words,
                                          CPUBIND_RULES_COUNT, (int)request->rules);
}

cpubind_problem_code cpubind_priv_read_rules(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_request *q = r->request;
    cpubind_input env;
    const cpubind_problem_code code =
        q->has_rules ? CPUBIND_PROBLEM_NONE : facts_ask(r, INPUT_ENV, &env);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    f->rules = cpubind_rules_asked(r->source, q);
    if (f->rules < CPUBIND_RULES_COUNT)
        return CPUBIND_PROBLEM_NONE;
    f->rules = CPUBIND_RULES_DEFAULT;
    return facts_fail_variable(r, "CPUBIND_RULES",
                               "CPUBIND_RULES is neither reference nor near");
}

cpubind_problem_code cpubind_priv_check_strategy(facts_reader *r)
{
    const cpubind_request *q = r->request;
    if (r->facts->rules == CPUBIND_RULES_NEAR && !q->is_auto_strategy &&
        q->strategy != CPUBIND_TOPO_AFFINITY)
        return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                          "the rules near cut no slices and no clusters: leave the strategy to "
                          "the device type, or use -o rules=reference for all workers of "
                          "the host");
    return CPUBIND_PROBLEM_NONE;
}

cpubind_origin cpubind_origin_asked(const cpubind_source *source,
                                    const cpubind_request *request)
{
    return request->origin != CPUBIND_ORIGIN_AUTO
               ? request->origin
               : (cpubind_origin)find_word(source, "CPUBIND_FACTS", origins,
                                           CPUBIND_ORIGIN_COUNT, CPUBIND_ORIGIN_AUTO);
}

cpubind_problem_code cpubind_priv_read_origin(facts_reader *r)
{
    r->request->origin = cpubind_origin_asked(r->source, r->request);
    if (r->request->origin < CPUBIND_ORIGIN_COUNT)
        return CPUBIND_PROBLEM_NONE;
    return facts_fail_variable(r, "CPUBIND_FACTS",
                               "CPUBIND_FACTS is neither auto, driver nor npu-smi");
}
