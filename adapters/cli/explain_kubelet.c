/* explain_kubelet.c - what kubelet says of a worker's container, held against what it has
 * SPDX-License-Identifier: MIT
 *
 * The cgroup and the open device files are what holds; kubelet's list says what they should be.
 * The ids of a device plugin are compared where they are UUIDs or PCI addresses: those of
 * Ascend's need not name the NPU that a container gets.
 */
#include "explain_kubelet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kubelet/kubelet_call.h"
#include "../text/cpulist.h"
#include "../text/pci_address.h"

enum { LIMIT_MS = 1000 };

/* == Asking ================================================================= */

/* Why there is no answer, in the order in which the call can fail. */
static void explain_silence(cpubind_linux_fault why, const cpubind_kubelet_call *call,
                            api_text *to)
{
    static const struct {
        int error;
        const char *text;
    } reasons[] = {{EACCES, "this user may not open it: run cpubind as root"},
                   {ECONNREFUSED, "nobody listens there: kubelet has ended or is starting"},
                   {ETIMEDOUT, "kubelet has not answered within a second"},
                   {EPROTO, "what listens there does not speak gRPC"},
                   {ENOMSG, "the answer ends too soon"},
                   {EFBIG, "the answer is longer than 4 MiB"}};
    if (why.error == EREMOTEIO) {
        api_add(to, "kubelet refuses, with status %d of gRPC", (int)call->status);
        api_add_quote(to, call->message, (int32_t)strlen(call->message));
        return;
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].error == why.error) {
            api_add(to, "%s", reasons[i].text);
            return;
        }
    api_add(to, "%s: %s", why.what, strerror(why.error));
}

void cli_ask_kubelet(cli_kubelet *out)
{
    cpubind_kubelet_call call = {.path = CPUBIND_KUBELET_SOCKET,
                                 .limit_ms = LIMIT_MS,
                                 .max = CPUBIND_KUBELET_HEAD + CPUBIND_KUBELET_ANSWER_MAX};
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_text_fault fault = {0, NULL};
    const cpubind_linux_fault why = cpubind_kubelet_list(&cpubind_sys_real, &call, &bytes);
    *out = (cli_kubelet){.answer = NULL};
    if (why.error == ENOENT)
        return;
    if (why.error || cpubind_kubelet_answer_read(bytes.data, bytes.len, &out->answer, &fault) !=
                         CPUBIND_TEXT_OK) {
        api_add(&out->why, "what kubelet gave is not known: %s: ", call.path);
        if (why.error)
            explain_silence(why, &call, &out->why);
        else
            api_add(&out->why, "the answer is damaged at byte %d: %s", (int)fault.offset,
                    fault.what);
    }
    cpubind_bytes_free(&bytes);
}

void cli_free_kubelet(cli_kubelet *kubelet)
{
    if (kubelet->answer)
        kubelet__answer__free_unpacked(kubelet->answer, NULL);
    kubelet->answer = NULL;
}

/* == CPUs =================================================================== */

/* What the two have of each other. */
typedef struct comparison {
    const cli_status *s;
    const cli_kubelet *kubelet;
    const cpubind_worker *w;
    const cpubind_status_device *device;
    const Kubelet__Container *own; /* NULL: kubelet does not list it */
    int32_t n_own, n_lack, n_more, n_taken;
    /* CPUs, ascending: that it has to itself by kubelet; of these those that the cgroup lacks;
     * that the cgroup has beyond these, and kubelet gave to nobody; that kubelet gave to
     * another container, the last that was looked at */
    int32_t cpu[CPUBIND_MAX_CPUS], lack[CPUBIND_MAX_CPUS], more[CPUBIND_MAX_CPUS],
        taken[CPUBIND_MAX_CPUS];
} comparison;

/* The CPUs of `a` that are in `b`, or that are not. Returns their number. */
static int32_t pick(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b, int is_in,
                    int32_t *out)
{
    int32_t n = 0;
    for (int32_t i = 0, at = 0; i < n_a; i++)
        if (cpubind_list_has(b, n_b, a[i], &at) == is_in)
            out[n++] = a[i];
    return n;
}

static int32_t take_cpus(const Kubelet__Container *container, int32_t *out)
{
    for (size_t i = 0; i < container->n_cpus; i++)
        out[i] = (int32_t)container->cpus[i];
    return (int32_t)container->n_cpus;
}

/* Hears the CPUs of the cgroup, c->taken, that kubelet gave to another container. */
typedef void hear_taken(void *ctx, const comparison *c, const Kubelet__Pod *pod,
                        const Kubelet__Container *container);

static void find_taken(comparison *c, hear_taken *hear, void *ctx)
{
    for (size_t i = 0; i < c->kubelet->answer->n_pods; i++) {
        const Kubelet__Pod *pod = c->kubelet->answer->pods[i];
        for (size_t k = 0; k < pod->n_containers; k++) {
            const Kubelet__Container *other = pod->containers[k];
            if (other == c->own)
                continue;
            c->n_taken = pick(c->taken, take_cpus(other, c->taken), c->w->allowed.cpu,
                              c->w->allowed.n, 1, c->taken);
            if (c->n_taken > 0)
                hear(ctx, c, pod, other);
        }
    }
}

/* Drops them from those that nobody has. */
static void drop_taken(void *ctx, const comparison *c, const Kubelet__Pod *pod,
                       const Kubelet__Container *container)
{
    comparison *writes = (comparison *)ctx;
    (void)pod;
    (void)container;
    writes->n_more = pick(c->more, c->n_more, c->taken, c->n_taken, 0, writes->more);
}

/* Compares. Returns NULL without memory; the caller frees the result. */
static comparison *compare(const cli_status *s, const cli_kubelet *kubelet,
                           const cpubind_worker *w, const cpubind_status_device *device)
{
    comparison *c = (comparison *)malloc(sizeof *c);
    if (!c)
        return NULL;
    c->s = s;
    c->kubelet = kubelet;
    c->w = w;
    c->device = device;
    c->n_own = c->n_lack = c->n_more = c->n_taken = 0;
    c->own = *w->pod.name ? cpubind_kubelet_find(kubelet->answer, w->pod.space, w->pod.name,
                                                 w->pod.container)
                          : NULL;
    if (!c->own)
        return c;
    c->n_own = take_cpus(c->own, c->cpu);
    if (w->allowed.n == 0) /* not known */
        return c;
    c->n_lack = pick(c->cpu, c->n_own, w->allowed.cpu, w->allowed.n, 0, c->lack);
    if (c->n_own > 0)
        c->n_more = pick(w->allowed.cpu, w->allowed.n, c->cpu, c->n_own, 0, c->more);
    find_taken(c, drop_taken, c);
    return c;
}

/* == Devices ================================================================ */

/* The node of the device by the kernel; negative: not known. */
static int32_t node_of(const comparison *c)
{
    const cpubind_viewed *listed = c->device->listed;
    if (!listed)
        return c->device->function->node;
    return listed->function >= 0 ? c->s->call->planned.facts.bus[listed->function].node : -1;
}

/* Whether an id is that of a function: its UUID, of which a device that is shared in time has
 * copies, "GPU-...::2", or its address. */
static int is_id_of(const cpubind_pci_function *f, const char *id)
{
    const char *copy = strstr(id, "::");
    const size_t n = copy ? (size_t)(copy - id) : strlen(id);
    char pci[CPUBIND_PCI_ADDRESS_MAX];
    (void)cpubind_pci_format(pci, &f->pci);
    return (f->uuid && (size_t)f->uuid_len == n && memcmp(f->uuid, id, n) == 0) ||
           (strlen(pci) == n && memcmp(pci, id, n) == 0);
}

/* Whether each id of kubelet names a device of this host, and none the worker's. */
static int has_others_alone(const comparison *c)
{
    const cpubind_facts *f = &c->s->call->planned.facts;
    int n = 0;
    if (c->own->n_claims > 0)
        return 0;
    for (size_t i = 0; i < c->own->n_devices; i++)
        for (size_t k = 0; k < c->own->devices[i]->n_ids; k++) {
            const char *id = c->own->devices[i]->ids[k];
            int is_known = 0;
            if (!c->device->function || is_id_of(c->device->function, id))
                return 0;
            for (int32_t j = 0; j < f->n_bus; j++)
                is_known |= is_id_of(&f->bus[j], id);
            if (!is_known)
                return 0;
            n++;
        }
    return n > 0;
}

/* The nodes of devices or of memory, ascending. Returns their number. */
static int32_t take_nodes(const Kubelet__Topology *topology, int32_t node[CPUBIND_MAX_NODES])
{
    int32_t n = 0;
    for (size_t i = 0; topology && i < topology->n_nodes; i++) {
        const int32_t id = (int32_t)topology->nodes[i]->id;
        int32_t at = 0;
        if (cpubind_list_has(node, n, id, &at))
            continue;
        memmove(node + at + 1, node + at, (size_t)(n - at) * sizeof *node);
        node[at] = id;
        n++;
    }
    return n;
}

/* " (node 1)"; nothing without one. */
static void say_nodes(const Kubelet__Topology *topology, api_text *to)
{
    int32_t node[CPUBIND_MAX_NODES];
    const int32_t n = take_nodes(topology, node);
    if (n == 0)
        return;
    api_add(to, n == 1 ? " (node " : " (nodes ");
    api_add_list(to, node, n);
    api_add(to, ")");
}

/* == Sentences ============================================================== */

static void say_claim(const Kubelet__Claim *claim, api_text *to)
{
    int n = 0;
    api_add(to, "; by the claim %s/%s", claim->space, claim->name);
    for (size_t i = 0; i < claim->n_claimed; i++) {
        const Kubelet__Claimed *d = claim->claimed[i];
        for (size_t k = 0; k < d->n_cdi; k++)
            api_add(to, "%s%s", n++ == 0 ? " " : ", ", d->cdi[k]->name);
        if (d->n_cdi == 0)
            api_add(to, "%s%s of %s", n++ == 0 ? " " : ", ", d->device, d->driver);
    }
}

/* What kubelet gave. */
static void say_given(const comparison *c, api_text *to)
{
    const Kubelet__Container *own = c->own;
    api_add(to, "Kubelet gave its container ");
    if (c->n_own > 0) {
        api_add(to, "the CPUs ");
        api_add_list(to, c->cpu, c->n_own);
        api_add(to, " alone");
    } else {
        api_add(to, "no CPUs alone");
    }
    if (own->n_devices + own->n_claims == 0)
        api_add(to, " and no device");
    for (size_t i = 0; i < own->n_devices; i++) {
        const Kubelet__Devices *d = own->devices[i];
        api_add(to, "; ");
        for (size_t k = 0; k < d->n_ids; k++)
            api_add(to, "%s%s", k > 0 ? ", " : "", d->ids[k]);
        api_add(to, " of %s", d->resource);
        say_nodes(d->topology, to);
    }
    for (size_t i = 0; i < own->n_memory; i++) {
        api_add(to, "; ");
        cli_add_bytes(to, (int64_t)own->memory[i]->bytes);
        api_add(to, " of %s", own->memory[i]->type);
        say_nodes(own->memory[i]->topology, to);
    }
    for (size_t i = 0; i < own->n_claims; i++)
        say_claim(own->claims[i], to);
    api_add(to, ".");
}

static void add_taken(void *ctx, const comparison *c, const Kubelet__Pod *pod,
                      const Kubelet__Container *container)
{
    api_text *to = (api_text *)ctx;
    api_add(to, to->len == 0 ? "Its cgroup has the CPUs " : ", ");
    api_add_list(to, c->taken, c->n_taken);
    api_add(to, ", which kubelet gave to %s/%s/%s alone", pod->space, pod->name,
            container->name);
}

static void say_cpus(comparison *c, cli_hear_sentence *hear, void *ctx)
{
    static const char what_next[] =
        ": a program beside kubelet has written its cpuset, which is what holds. Find it (a "
        "CPU manager, an NRI plugin), then start the pod again.";
    api_text lack = {"", 0}, taken = {"", 0}, more = {"", 0};
    if (c->n_lack > 0) {
        api_add(&lack, "Its cgroup lacks ");
        api_add_list(&lack, c->lack, c->n_lack);
        api_add(&lack, " of these%s", what_next);
        hear(ctx, &lack);
    }
    find_taken(c, add_taken, &taken);
    if (taken.len > 0) {
        api_add(&taken, ": both use them. Within seconds of the start of a pod that is usual; "
                        "later a program beside kubelet has written a cpuset: find it, then "
                        "start the pods again.");
        hear(ctx, &taken);
    }
    if (c->n_more > 0) {
        api_add(&more, "Its cgroup also has ");
        api_add_list(&more, c->more, c->n_more);
        api_add(&more, ", which kubelet did not give it%s", what_next);
        hear(ctx, &more);
    }
}

static void say_devices(const comparison *c, cli_hear_sentence *hear, void *ctx)
{
    const Kubelet__Container *own = c->own;
    const int32_t node = node_of(c);
    /* Another device may be a network card. */
    const Kubelet__Topology *topology =
        own->n_devices == 1 && own->n_claims == 0 ? own->devices[0]->topology : NULL;
    int32_t told[CPUBIND_MAX_NODES];
    const int32_t n_told = take_nodes(topology, told);
    char name[CPUBIND_DEVICE_NAME_SIZE];
    api_text text = {"", 0};
    int32_t at = 0;
    cli_status_name(c->device, name);
    if (own->n_devices + own->n_claims == 0)
        api_add(&text,
                "Kubelet does not know that it has %s: the container is privileged or mounts "
                "the device file, and the same device can be given to another pod. Let the pod "
                "request it.",
                name);
    else if (has_others_alone(c))
        api_add(&text,
                "None of the devices that kubelet gave it is %s, which its process has open: "
                "two pods can have one device. See what the device plugin and the runtime of "
                "containers do with its ids.",
                name);
    if (text.len > 0)
        hear(ctx, &text);
    if (n_told == 0 || node < 0 || cpubind_list_has(told, n_told, node, &at))
        return;
    text = (api_text){"", 0};
    api_add(&text, "Kubelet was told the node ");
    api_add_list(&text, told, n_told);
    api_add(
        &text,
        ", and %s is on node %d: kubelet places CPUs by a wrong node. Have the device plugin "
        "mended.",
        name, (int)node);
    hear(ctx, &text);
}

static void say_unlisted(const comparison *c, cli_hear_sentence *hear, void *ctx)
{
    api_text text = {"", 0};
    if (*c->w->pod.name)
        api_add(&text, "Kubelet does not list its container: it is starting or ending, or "
                       "kubelet did not start it.");
    else
        api_add(&text,
                "Kubelet lists containers by names, and those of this one are not known: "
                "/var/log/containers has them.");
    hear(ctx, &text);
}

/* Where the two disagree. */
static void say_differences(comparison *c, cli_hear_sentence *hear, void *ctx)
{
    if (!c->own) {
        say_unlisted(c, hear, ctx);
        return;
    }
    say_cpus(c, hear, ctx);
    say_devices(c, hear, ctx);
}

int cli_say_kubelet(const cli_status *s, const cli_kubelet *kubelet, const cpubind_worker *w,
                    const cpubind_status_device *device, cli_hear_sentence *hear, void *ctx)
{
    api_text given = {"", 0};
    comparison *c;
    if (!kubelet->answer)
        return 1;
    c = compare(s, kubelet, w, device);
    if (!c)
        return 0;
    if (c->own) {
        say_given(c, &given);
        hear(ctx, &given);
    }
    say_differences(c, hear, ctx);
    free(c);
    return 1;
}

/* == JSON =================================================================== */

static json_t *nodes_json(const Kubelet__Topology *topology)
{
    int32_t node[CPUBIND_MAX_NODES];
    return cli_list_json(node, take_nodes(topology, node));
}

static json_t *devices_json(const Kubelet__Container *own)
{
    json_t *devices = json_array();
    for (size_t i = 0; own && devices && i < own->n_devices; i++) {
        const Kubelet__Devices *d = own->devices[i];
        json_t *ids = json_array();
        for (size_t k = 0; ids && k < d->n_ids; k++)
            ids = cli_json_append(ids, cli_json_text(d->ids[k]));
        devices = cli_json_append(devices, json_pack("{s:o, s:o, s:o}", "resource",
                                                     cli_json_text(d->resource), "ids", ids,
                                                     "nodes", nodes_json(d->topology)));
    }
    return devices;
}

static json_t *memory_json(const Kubelet__Container *own)
{
    json_t *memory = json_array();
    for (size_t i = 0; own && memory && i < own->n_memory; i++)
        memory = cli_json_append(memory, json_pack("{s:o, s:I, s:o}", "type",
                                                   cli_json_text(own->memory[i]->type), "bytes",
                                                   (json_int_t)own->memory[i]->bytes, "nodes",
                                                   nodes_json(own->memory[i]->topology)));
    return memory;
}

static json_t *claimed_json(const Kubelet__Claim *claim)
{
    json_t *all = json_array();
    for (size_t i = 0; all && i < claim->n_claimed; i++) {
        const Kubelet__Claimed *d = claim->claimed[i];
        json_t *cdi = json_array();
        for (size_t k = 0; cdi && k < d->n_cdi; k++)
            cdi = cli_json_append(cdi, cli_json_text(d->cdi[k]->name));
        all = cli_json_append(all,
                              json_pack("{s:o, s:o, s:o}", "driver", cli_json_text(d->driver),
                                        "device", cli_json_text(d->device), "cdi", cdi));
    }
    return all;
}

static json_t *claims_json(const Kubelet__Container *own)
{
    json_t *claims = json_array();
    for (size_t i = 0; own && claims && i < own->n_claims; i++)
        claims = cli_json_append(claims, json_pack("{s:o, s:o, s:o}", "namespace",
                                                   cli_json_text(own->claims[i]->space), "name",
                                                   cli_json_text(own->claims[i]->name),
                                                   "devices", claimed_json(own->claims[i])));
    return claims;
}

static void append_taken(void *ctx, const comparison *c, const Kubelet__Pod *pod,
                         const Kubelet__Container *container)
{
    json_t **all = (json_t **)ctx;
    if (*all)
        *all = cli_json_append(*all, json_pack("{s:o, s:o, s:o, s:o}", "namespace",
                                               cli_json_text(pod->space), "pod",
                                               cli_json_text(pod->name), "container",
                                               cli_json_text(container->name), "cpus",
                                               cli_list_json(c->taken, c->n_taken)));
}

static void append_sentence(void *ctx, const api_text *sentence)
{
    json_t **all = (json_t **)ctx;
    if (*all)
        *all = cli_json_append(*all, cli_json_text(sentence->text));
}

json_t *cli_kubelet_json(const cli_status *s, const cli_kubelet *kubelet,
                         const cpubind_worker *w, const cpubind_status_device *device)
{
    json_t *taken, *text, *json;
    comparison *c;
    if (!kubelet->answer)
        return json_null();
    c = compare(s, kubelet, w, device);
    if (!c)
        return NULL;
    taken = json_array();
    text = json_array();
    if (c->own)
        find_taken(c, append_taken, &taken);
    say_differences(c, append_sentence, &text);
    json = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "listed", c->own != NULL,
                     "cpus", cli_list_json(c->cpu, c->n_own), "devices", devices_json(c->own),
                     "memory", memory_json(c->own), "claims", claims_json(c->own), "lacks",
                     cli_list_json(c->lack, c->n_lack), "more",
                     cli_list_json(c->more, c->n_more), "taken", taken, "differences", text);
    free(c);
    return json;
}
