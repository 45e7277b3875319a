/* explain_pod.c - status --explain POD: why a pod has its CPUs, and whose are beside them
 * SPDX-License-Identifier: MIT
 *
 * Says which CPUs each worker of the pod may use and whether others may, too; what kubelet gave
 * to its container; why its device has the pool that it has, which the explanation of the plan
 * says; and whose pools are on the same nodes. JSON-BINDING.md documents the JSON.
 */
#include <string.h>

#include "../text/cpulist.h"
#include "explain_kubelet.h"

#define WIDTH 80

/* Whether a pod is called so: by its uid, its name, or its namespace and name. */
static int is_called(const cpubind_pod *pod, const char *word)
{
    const size_t n = strlen(pod->space);
    if (!*pod->uid || strcmp(pod->uid, word) == 0)
        return *pod->uid != '\0';
    return *pod->name && (strcmp(pod->name, word) == 0 ||
                          (strncmp(word, pod->space, n) == 0 && word[n] == '/' &&
                           !strcmp(word + n + 1, pod->name)));
}

/* "process 4711 (python3), pod prod/vllm-0/worker (guaranteed)" */
static void add_worker(api_text *to, const cpubind_worker *w)
{
    api_add(to, "process %d (%s)", (int)w->pid, w->program);
    cli_add_pod(to, &w->pod);
}

static void add_device(api_text *to, const cpubind_status_device *d)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    cli_status_name(d, name);
    api_add(to, "%s", name);
}

/* What is said of a pod. */
typedef struct explaining {
    const cli_status *s;
    const char *word; /* of the pod */
    cli_kubelet kubelet;
    words_value *workers;
} explaining;

/* == One value ============================================================== */

static words_value *name_of(const cpubind_status_device *d)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    cli_status_name(d, name);
    return words_text(name);
}

/* Who else may use CPUs of a worker; with the end of a sentence. */
static words_value *find_sharers(const cli_status *s, const cpubind_worker *w, api_text *text)
{
    words_value *all = words_array();
    int is_alone = 1;
    for (int32_t i = 0; i < s->status.n_worker; i++) {
        const cpubind_worker *other = s->status.worker[i].worker;
        const int32_t n = cpubind_list_common(w->allowed.cpu, w->allowed.n, other->allowed.cpu,
                                              other->allowed.n);
        if (n == 0 || other->pid == w->pid)
            continue;
        api_add(text, "%s%d also ", is_alone ? "; of these " : ", ", (int)n);
        add_worker(text, other);
        words_add(all, words_make("pid:i program:s pod:v cpus:i", (int)other->pid,
                                  other->program, cli_pod_json(&other->pod), (int)n));
        is_alone = 0;
    }
    api_add(text, is_alone ? "; no other worker of this host may use one of them." : ".");
    return all;
}

/* Where the threads of a worker are now. */
static void add_place(api_text *to, const cpubind_status_worker *w,
                      const cpubind_status_device *d)
{
    api_add(to, "It drives ");
    add_device(to, d);
    if (w->worker->n_process > 1)
        api_add(to, " with %d others, which have parts of its pool", w->worker->n_process - 1);
    api_add(to, "; its threads are %s.",
            w->place == CPUBIND_PLACE_RIGHT     ? "where the plan has them"
            : w->place == CPUBIND_PLACE_UNBOUND ? "not bound"
            : w->place == CPUBIND_PLACE_UNKNOWN ? "somewhere that cannot be read"
                                                : "elsewhere");
}

/* Why a device has its pool, as plan --explain says; null, and perhaps the reason, where there
 * is no plan. It is asked for by its address, since another device may have its name, but for
 * one with a number of its own, which may share its address. */
static words_value *explain_device(const cli_status *s, const cpubind_status_device *d,
                                   api_text *why)
{
    api_options options = *s->options;
    api_text name = {"", 0};
    words_value *whole, *explain;
    if (cpubind_is_listed(d->found))
        add_device(&name, d);
    else
        api_add_pci(&name, &d->found->pci);
    options.explain = name.text;
    if (!api_explain_json(&s->call->planned, &options, &whole, why))
        return words_null();
    explain = words_share(words_get(whole, "explain"));
    words_free(whole);
    return explain;
}

/* Whether two pools have CPUs on one node. */
static int are_beside(const cpubind_facts *f, cpubind_cpus a, cpubind_cpus b)
{
    for (int32_t i = 0; i < a.n; i++)
        for (int32_t k = 0; k < b.n; k++)
            if (f->node_of[a.cpu[i]] == f->node_of[b.cpu[k]])
                return 1;
    return 0;
}

/* The devices with CPUs on the nodes of a pool, and their workers. */
static words_value *find_beside(const cli_status *s, const cpubind_status_device *own)
{
    words_value *all = words_array();
    for (int32_t i = 0; i < s->status.n_device; i++) {
        const cpubind_status_device *d = &s->status.device[i];
        api_text text = {"", 0};
        words_value *pids;
        if (d->device == own->device ||
            !are_beside(&s->call->planned.facts, own->pool, d->pool))
            continue;
        pids = words_array();
        api_add(&text, "On its nodes are the CPUs ");
        api_add_list(&text, d->pool.cpu, d->pool.n);
        api_add(&text, " of ");
        add_device(&text, d);
        if (d->n_worker == 0)
            api_add(&text, ", which nobody uses");
        for (int32_t k = 0; k < d->n_worker; k++) {
            const cpubind_worker *w = s->status.worker[d->first_worker + k].worker;
            words_add(pids, words_number(w->pid));
            api_add(&text, k == 0 ? ": " : "; ");
            add_worker(&text, w);
        }
        api_add(&text, ".");
        words_add(all, words_make("device:v pool:v pids:v text:s", name_of(d),
                                  words_list(d->pool.cpu, d->pool.n), pids, text.text));
    }
    return all;
}

static words_value *explain_worker(const explaining *e, const cpubind_status_worker *own,
                                   const cpubind_status_device *d)
{
    const cpubind_worker *w = own->worker;
    api_text may = {"", 0}, place = {"", 0};
    words_value *text = words_array(), *shared;
    add_worker(&may, w);
    may.text[0] = 'P';
    api_add(&may, ", may use the CPUs ");
    api_add_list(&may, w->allowed.cpu, w->allowed.n);
    if (w->claimed.n > 0) {
        api_add(&may, "; its claim, DRA_CPUSET_*, is ");
        api_add_list(&may, w->claimed.cpu, w->claimed.n);
    }
    shared = find_sharers(e->s, w, &may);
    add_place(&place, own, d);
    words_add(text, words_text(may.text));
    words_add(text, words_text(place.text));
    return words_make("pid:i program:s pod:v device:v place:s allowed:v claimed:v pool:v "
                      "shared_with:v text:v kubelet:v",
                      (int)w->pid, w->program, cli_pod_json(&w->pod), name_of(d),
                      cpubind_place_word(own->place), words_list(w->allowed.cpu, w->allowed.n),
                      words_list(w->claimed.cpu, w->claimed.n),
                      words_list(d->pool.cpu, d->pool.n), shared, text,
                      cli_kubelet_json(e->s, &e->kubelet, w, d));
}

/* Explains the workers of the pod that drive a device; what is so of it they share. */
static void explain_workers(explaining *e, const cpubind_status_device *d)
{
    api_text why = {"", 0};
    words_value *of_device = NULL;
    for (int32_t k = 0; k < d->n_worker; k++) {
        const cpubind_status_worker *w = &e->s->status.worker[d->first_worker + k];
        words_value *worker;
        if (!is_called(&w->worker->pod, e->word))
            continue;
        if (!of_device)
            of_device = words_make("why:v why_error:w beside:v", explain_device(e->s, d, &why),
                                   why.text, find_beside(e->s, d));
        worker = explain_worker(e, w, d);
        words_move(worker, words_copy(of_device));
        words_add(e->workers, worker);
    }
    words_free(of_device);
}

/* == Its sentences ========================================================== */

static void put(api_out *to, const char *sentence, int32_t indent)
{
    api_put_text(to, indent > 0 ? "  " : "");
    api_put_wrapped(to, sentence, indent, indent + 2, WIDTH);
}

/* Those of an array; NULL has none. The first one may be a heading. */
static void put_all(api_out *to, const words_value *sentences, int32_t first_indent)
{
    for (int32_t i = 0; i < words_count(sentences); i++)
        put(to, words_string(words_at(sentences, i)), i == 0 ? first_indent : 2);
}

/* What is so of a device: why it has its pool, and who is beside it. */
static void put_device(api_out *to, const api_options *options, const words_value *worker)
{
    const words_value *beside = words_get(worker, "beside");
    const char *why_error = words_string_of(worker, "why_error");
    if (words_is(words_get(worker, "why"), WORDS_OBJECT))
        api_put_explanation(to, options, words_make("explain:V", words_get(worker, "why")));
    else if (*why_error)
        put(to, why_error, 2);
    for (int32_t i = 0; i < words_count(beside); i++)
        put(to, words_string_of(words_at(beside, i), "text"), 2);
    if (words_count(beside) == 0 && *words_string_of(worker, "pool"))
        put(to, "No other device has CPUs on its nodes.", 2);
}

static void put_workers(api_out *to, const api_options *options, const words_value *workers)
{
    for (int32_t i = 0; i < words_count(workers); i++) {
        const words_value *worker = words_at(workers, i), *next = words_at(workers, i + 1);
        const words_value *kubelet = words_get(worker, "kubelet");
        put_all(to, words_get(worker, "text"), 0);
        if (*words_string_of(kubelet, "given"))
            put(to, words_string_of(kubelet, "given"), 2);
        put_all(to, words_get(kubelet, "differences"), 2);
        if (!next || !words_equal(words_get(worker, "device"), words_get(next, "device")))
            put_device(to, options, worker);
    }
}

/* == The pod ================================================================ */

/* Prints what was found. Returns the exit status. */
static int print_all(explaining *e)
{
    api_text *why = &e->kubelet.why;
    words_value *json = words_make("cpubind:s workers:V kubelet_error:w", CPUBIND_VERSION,
                                   e->workers, why->text);
    api_out out = cli_out_for(stdout);
    int is_printed;
    if (e->s->options->json || !words_is_whole(json)) {
        is_printed = cli_print_json(stdout, json);
    } else {
        put_workers(&out, e->s->options, e->workers);
        if (why->len > 0) {
            why->text[0] = 'W';
            api_add(why, ".");
            put(&out, why->text, 0);
        }
        words_free(json);
        is_printed = cli_print_out(stdout, &out);
    }
    return is_printed ? API_DONE : cli_no_memory();
}

/* Refuses a pod without a worker here. Returns the exit status. */
static int refuse(const explaining *e)
{
    api_text why = {"", 0};
    int n_pod = 0;
    api_add(&why, "no worker of this host is in a pod %s", e->word);
    for (int32_t i = 0; i < e->s->status.n_worker; i++) {
        const cpubind_worker *w = e->s->status.worker[i].worker;
        if (!*w->pod.uid)
            continue;
        api_add(&why, n_pod++ == 0 ? "; there are workers in " : ", ");
        if (*w->pod.name)
            api_add(&why, "%s/%s", w->pod.space, w->pod.name);
        else
            api_add(&why, "%s", w->pod.uid);
    }
    if (n_pod == 0)
        api_add(&why, ", or in any other");
    return cli_fail(e->s->options, API_REFUSED, why.text);
}

int cli_explain_pod(const cli_status *s)
{
    static explaining e;
    int status;
    e = (explaining){.s = s, .word = s->options->explain, .workers = words_array()};
    e.word += strncmp(e.word, "pod:", 4) == 0 ? 4 : 0;
    cli_read_kubelet(s->options, &e.kubelet);
    for (int32_t i = 0; i < s->status.n_device; i++)
        explain_workers(&e, &s->status.device[i]);
    cli_free_kubelet(&e.kubelet);
    status = e.workers && words_count(e.workers) == 0 ? refuse(&e) : print_all(&e);
    words_free(e.workers);
    return status;
}
