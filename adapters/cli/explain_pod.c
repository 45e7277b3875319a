/* explain_pod.c - status --explain POD: why a pod has its CPUs, and whose are beside them
 * SPDX-License-Identifier: MIT
 *
 * Says which CPUs each worker of the pod may use and whether others may, too; what kubelet gave
 * to its container; why its device has the pool that it has, which the explanation of the plan
 * says; and whose pools are on the same nodes. JSON-POD.md documents the JSON.
 */
#include <stdlib.h>
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

static void put(api_out *to, const api_text *sentence, int32_t indent)
{
    api_put_text(to, indent > 0 ? "  " : "");
    api_put_wrapped(to, sentence->text, indent, indent + 2, WIDTH);
}

/* What a worker may use, and who may use some of that, too. */
static void put_grant(api_out *to, const cli_status *s, const cpubind_status_worker *own)
{
    const cpubind_worker *w = own->worker;
    api_text text = {"", 0};
    int n_other = 0;
    add_worker(&text, w);
    text.text[0] = 'P';
    api_add(&text, ", may use the CPUs ");
    api_add_list(&text, w->allowed.cpu, w->allowed.n);
    if (w->claimed.n > 0) {
        api_add(&text, "; its claim, DRA_CPUSET_*, is ");
        api_add_list(&text, w->claimed.cpu, w->claimed.n);
    }
    for (int32_t i = 0; i < s->status.n_worker; i++) {
        const cpubind_worker *other = s->status.worker[i].worker;
        const int32_t n = cpubind_list_common(w->allowed.cpu, w->allowed.n, other->allowed.cpu,
                                              other->allowed.n);
        if (n == 0 || other->pid == w->pid)
            continue;
        api_add(&text, n_other++ == 0 ? "; of these " : ", ");
        api_add(&text, "%d also ", (int)n);
        add_worker(&text, other);
    }
    api_add(&text, n_other > 0 ? "." : "; no other worker of this host may use one of them.");
    put(to, &text, 0);
}

/* Where its threads are now. */
static void put_place(api_out *to, const cpubind_status_worker *w,
                      const cpubind_status_device *d)
{
    api_text text = {"", 0};
    api_add(&text, "It drives ");
    add_device(&text, d);
    if (w->worker->n_index > 1)
        api_add(&text, " with %d others, which have parts of its pool", w->worker->n_index - 1);
    api_add(&text, "; its threads are %s.",
            w->place == CPUBIND_PLACE_RIGHT     ? "where the plan has them"
            : w->place == CPUBIND_PLACE_UNBOUND ? "not bound"
            : w->place == CPUBIND_PLACE_UNKNOWN ? "somewhere that cannot be read"
                                                : "elsewhere");
    put(to, &text, 2);
}

/* Explains a device as plan --explain does: by its address, since another device may have its
 * name, but for one with a number of its own, which may share its address. As
 * api_explain_json. */
static int explain_device(const cli_status *s, const cpubind_status_device *d,
                          words_value **out, api_text *why)
{
    api_options options = *s->options;
    api_text name = {"", 0};
    if (cpubind_is_listed(d->found))
        add_device(&name, d);
    else
        api_add_pci(&name, &d->found->pci);
    options.explain = name.text;
    return api_explain_json(&s->call->planned, &options, out, why);
}

/* Why the device has its pool. Returns 0 without memory. */
static int put_why(api_out *to, const cli_status *s, const cpubind_status_device *d)
{
    api_text why = {"", 0};
    words_value *explanation;
    if (explain_device(s, d, &explanation, &why))
        api_put_explanation(to, s->options, explanation);
    else if (why.len > 0)
        put(to, &why, 2);
    return !to->is_short;
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

static void put_neighbours(api_out *to, const cli_status *s, const cpubind_status_device *own)
{
    api_text none = {"", 0};
    int n = 0;
    for (int32_t i = 0; i < s->status.n_device; i++) {
        const cpubind_status_device *d = &s->status.device[i];
        api_text text = {"", 0};
        if (d->device == own->device ||
            !are_beside(&s->call->planned.facts, own->pool, d->pool))
            continue;
        api_add(&text, "On its nodes are the CPUs ");
        api_add_list(&text, d->pool.cpu, d->pool.n);
        api_add(&text, " of ");
        add_device(&text, d);
        if (d->n_worker == 0)
            api_add(&text, ", which nobody uses");
        for (int32_t k = 0; k < d->n_worker; k++) {
            api_add(&text, k == 0 ? ": " : "; ");
            add_worker(&text, s->status.worker[d->first_worker + k].worker);
        }
        api_add(&text, ".");
        put(to, &text, 2);
        n++;
    }
    api_add(&none, "No other device has CPUs on its nodes.");
    if (n == 0 && own->pool.n > 0)
        put(to, &none, 2);
}

/* What is said of a pod. */
typedef struct explaining {
    const cli_status *s;
    const char *word; /* of the pod */
    cli_kubelet kubelet;
    api_out out;
    words_value *workers; /* with --json; NULL: memory has run out */
} explaining;

static void put_sentence(void *ctx, const api_text *sentence)
{
    put((api_out *)ctx, sentence, 2);
}

/* Explains the workers of the pod. Returns their number; -1: no memory. */
static int put_workers(explaining *e)
{
    const cpubind_host_status *st = &e->s->status;
    int n = 0;
    for (int32_t i = 0; i < st->n_device; i++) {
        const cpubind_status_device *d = &st->device[i];
        int has_own = 0;
        for (int32_t k = 0; k < d->n_worker; k++) {
            const cpubind_status_worker *w = &st->worker[d->first_worker + k];
            if (!is_called(&w->worker->pod, e->word))
                continue;
            put_grant(&e->out, e->s, w);
            put_place(&e->out, w, d);
            if (!cli_say_kubelet(e->s, &e->kubelet, w->worker, d, put_sentence, &e->out))
                return -1;
            has_own = 1;
            n++;
        }
        if (has_own && !put_why(&e->out, e->s, d))
            return -1;
        if (has_own)
            put_neighbours(&e->out, e->s, d);
    }
    return n;
}

/* == JSON =================================================================== */

static words_value *name_json(const cpubind_status_device *d)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    cli_status_name(d, name);
    return words_text(name);
}

/* Who else may use CPUs of a worker. */
static words_value *sharers_json(const cli_status *s, const cpubind_worker *w)
{
    words_value *all = words_array();
    for (int32_t i = 0; i < s->status.n_worker; i++) {
        const cpubind_worker *other = s->status.worker[i].worker;
        const int32_t n = cpubind_list_common(w->allowed.cpu, w->allowed.n, other->allowed.cpu,
                                              other->allowed.n);
        if (n > 0 && other->pid != w->pid)
            words_add(all, words_make("pid:i program:s pod:v cpus:i", (int)other->pid,
                                      other->program, cli_pod_json(&other->pod), (int)n));
    }
    return all;
}

/* Why a device has its pool; null where there is no plan. */
static words_value *why_json(const cli_status *s, const cpubind_status_device *d)
{
    api_text why = {"", 0};
    words_value *whole, *explain;
    if (!explain_device(s, d, &whole, &why))
        return words_null();
    explain = words_share(words_get(whole, "explain"));
    words_free(whole);
    return explain;
}

static words_value *beside_json(const cli_status *s, const cpubind_status_device *own)
{
    words_value *all = words_array();
    for (int32_t i = 0; i < s->status.n_device; i++) {
        const cpubind_status_device *d = &s->status.device[i];
        words_value *pids;
        if (d->device == own->device ||
            !are_beside(&s->call->planned.facts, own->pool, d->pool))
            continue;
        pids = words_array();
        for (int32_t k = 0; k < d->n_worker; k++)
            words_add(pids, words_number(s->status.worker[d->first_worker + k].worker->pid));
        words_add(all, words_make("device:v pool:v pids:v", name_json(d),
                                  words_list(d->pool.cpu, d->pool.n), pids));
    }
    return all;
}

/* As put_workers. */
static int append_workers(explaining *e)
{
    const cpubind_host_status *st = &e->s->status;
    int n = 0;
    for (int32_t i = 0; i < st->n_device; i++)
        for (int32_t k = 0; k < st->device[i].n_worker; k++) {
            const cpubind_status_device *d = &st->device[i];
            const cpubind_status_worker *own = &st->worker[d->first_worker + k];
            const cpubind_worker *w = own->worker;
            if (!is_called(&w->pod, e->word))
                continue;
            words_add(
                e->workers,
                words_make("pid:i program:s pod:v device:v place:s allowed:v claimed:v pool:v "
                           "shared_with:v kubelet:v why:v beside:v",
                           (int)w->pid, w->program, cli_pod_json(&w->pod), name_json(d),
                           cpubind_place_word(own->place),
                           words_list(w->allowed.cpu, w->allowed.n),
                           words_list(w->claimed.cpu, w->claimed.n),
                           words_list(d->pool.cpu, d->pool.n), sharers_json(e->s, w),
                           cli_kubelet_json(e->s, &e->kubelet, w, d), why_json(e->s, d),
                           beside_json(e->s, d)));
            n++;
        }
    return e->workers ? n : -1;
}

/* == The pod ================================================================ */

/* Prints what was found. Returns the exit status. */
static int print_all(explaining *e)
{
    api_text *why = &e->kubelet.why;
    if (e->s->options->json) {
        words_value *json = words_make("cpubind:s workers:v kubelet_error:w", CPUBIND_VERSION,
                                       e->workers, why->text);
        return cli_print_json(stdout, json) ? API_DONE : cli_no_memory();
    }
    if (why->len > 0) {
        why->text[0] = 'W';
        api_add(why, ".");
        put(&e->out, why, 0);
    }
    return cli_print_out(stdout, &e->out) ? API_DONE : cli_no_memory();
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
    int n, status;
    e = (explaining){.s = s, .word = s->options->explain, .out = cli_out_for(stdout)};
    e.workers = s->options->json ? words_array() : NULL;
    e.word += strncmp(e.word, "pod:", 4) == 0 ? 4 : 0;
    cli_read_kubelet(s->options, &e.kubelet);
    n = s->options->json ? append_workers(&e) : put_workers(&e);
    cli_free_kubelet(&e.kubelet);
    if (n < 0 || e.out.is_short)
        status = cli_no_memory();
    else if (n > 0)
        return print_all(&e);
    else
        status = refuse(&e);
    free(e.out.text);
    words_free(e.workers);
    return status;
}
