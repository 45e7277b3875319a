/* explain_pod.c - status --explain POD: why a pod has its CPUs, and whose are beside them
 * SPDX-License-Identifier: MIT
 *
 * Says what kubelet gave to each worker of the pod and whether others have that, too; why its
 * device has the pool that it has, which the explanation of the plan says; and whose pools are
 * on the same nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "output.h"
#include "status_text.h"

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

/* Why the device has its pool, as plan --explain says it. Returns 0 without memory. */
static int put_why(api_out *to, const cli_status *s, const cpubind_status_device *d)
{
    api_options options = *s->options;
    api_text name = {"", 0}, why = {"", 0};
    add_device(&name, d);
    options.explain = name.text;
    options.json = 0;
    if (!api_put_why(to, &s->call->planned, &options, &why) && why.len > 0)
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

/* Explains the workers of a pod. Returns their number; -1: no memory. */
static int put_workers(api_out *to, const cli_status *s, const char *word)
{
    int n = 0;
    for (int32_t i = 0; i < s->status.n_device; i++) {
        const cpubind_status_device *d = &s->status.device[i];
        int has_own = 0;
        for (int32_t k = 0; k < d->n_worker; k++) {
            const cpubind_status_worker *w = &s->status.worker[d->first_worker + k];
            if (!is_called(&w->worker->pod, word))
                continue;
            put_grant(to, s, w);
            put_place(to, w, d);
            has_own = 1;
            n++;
        }
        if (has_own && !put_why(to, s, d))
            return -1;
        if (has_own)
            put_neighbours(to, s, d);
    }
    return n;
}

int cli_explain_pod(const cli_status *s)
{
    const char *word = s->options->explain;
    api_out to = cli_out_for(stdout);
    api_text why = {"", 0};
    int n, n_pod = 0;
    word += strncmp(word, "pod:", 4) == 0 ? 4 : 0;
    n = put_workers(&to, s, word);
    if (n < 0 || to.is_short) {
        free(to.text);
        return cli_no_memory();
    }
    if (n > 0)
        return cli_print_out(stdout, &to) ? API_DONE : cli_no_memory();
    free(to.text);
    api_add(&why, "no worker of this host is in a pod %s", word);
    for (int32_t i = 0; i < s->status.n_worker; i++) {
        const cpubind_worker *w = s->status.worker[i].worker;
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
    return cli_fail(s->options, API_REFUSED, why.text);
}
