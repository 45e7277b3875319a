/* explain_kubelet.c - what kubelet gave to a worker's container, held against what it has
 * SPDX-License-Identifier: MIT
 *
 * The cgroup and the open device files are what holds; kubelet's files say what they should be.
 * The ids of a device plugin are compared where they are UUIDs or PCI addresses: those of
 * Ascend's need not name the NPU that a container gets.
 */
#include "explain_kubelet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "../text/pci_address.h"

/* == Reading ================================================================ */

/* Reads a file, where it is there. Returns 0 when it cannot be, with the reason in *why. */
static int read_file(const cpubind_source *source, cli_kubelet_file file, words_value **out,
                     api_text *why)
{
    const cpubind_input input = source->read(source->ctx, cli_kubelet_path[file]);
    api_text reason = {"", 0};
    if (input.state == CPUBIND_INPUT_PRESENT)
        *out = cli_kubelet_read(file, input.data, input.len, &reason);
    else if (input.state == CPUBIND_INPUT_FAILED)
        words_add_why(&reason, WORDS_INPUT, input.why, input.error);
    else if (input.state != CPUBIND_INPUT_ABSENT)
        api_add(&reason, "it is too long");
    if (reason.len > 0)
        api_add(why, "/%s: %s", cli_kubelet_path[file], reason.text);
    return reason.len == 0;
}

void cli_read_kubelet(const api_options *options, cli_kubelet *out)
{
    api_host host;
    api_text why = {"", 0};
    int n = 0;
    *out = (cli_kubelet){.is_known = 0};
    if (cli_open_host(options, &host, &why) == API_DONE) {
        for (int file = 0; file < CLI_KUBELET_FILES && why.len == 0; file++)
            n += read_file(&host.source, (cli_kubelet_file)file, &out->state[file], &why) &&
                 out->state[file];
        api_close_host(&host);
    }
    /* It is always there; the others are where there is something to keep. */
    if (why.len == 0 && n > 0 && !out->state[CLI_KUBELET_CPUS])
        api_add(&why, "/%s is not there, and other files of kubelet are",
                cli_kubelet_path[CLI_KUBELET_CPUS]);
    if (why.len > 0)
        api_add(&out->why, "what kubelet gave is not known: %s", why.text);
    out->is_known = why.len == 0 && n > 0;
}

void cli_free_kubelet(const cli_kubelet *kubelet)
{
    for (int file = 0; file < CLI_KUBELET_FILES; file++)
        words_free(kubelet->state[file]);
}

/* == CPUs =================================================================== */

/* What the two have of each other. */
typedef struct comparison {
    const cli_status *s;
    const cli_kubelet *kubelet;
    const cpubind_worker *w;
    const cpubind_status_device *device;
    /* What kubelet gave to its container, and to its pod; NULL: nothing, or its name is not
     * known. */
    const words_value *cpus, *devices, *memory, *claims;
    words_value *taken; /* CPUs of the cgroup that kubelet gave to other containers */
    int32_t n_own, n_lack, n_more;
    /* CPUs, ascending: that it has to itself by kubelet; of these those that the cgroup lacks;
     * that the cgroup has beyond these, and kubelet gave to nobody; those of `taken`, of one */
    int32_t cpu[CPUBIND_MAX_CPUS], lack[CPUBIND_MAX_CPUS], more[CPUBIND_MAX_CPUS],
        other[CPUBIND_MAX_CPUS];
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

/* The CPUs of a text that was read as a list; none of NULL. */
static int32_t take_cpus(const words_value *cpus, int32_t *out)
{
    cpubind_int_list list = {out, CPUBIND_MAX_CPUS, 0};
    if (cpus)
        (void)cpubind_cpulist_parse(words_string(cpus), (int32_t)strlen(words_string(cpus)),
                                    CPUBIND_MAX_CPUS, &list, NULL);
    return list.n;
}

/* Whether the container is known by name, as the files have it. */
static int is_named(const comparison *c)
{
    return *c->w->pod.container != '\0';
}

/* What a file has of the container. */
static const words_value *own_of(const comparison *c, cli_kubelet_file file)
{
    const words_value *pod = words_get(c->kubelet->state[file], c->w->pod.uid);
    return is_named(c) ? words_get(pod, c->w->pod.container) : NULL;
}

/* A worker of a pod, which has the names that kubelet's files have not; NULL: there is none. */
static const cpubind_pod *named_pod(const cli_status *s, const char *uid)
{
    for (int32_t i = 0; i < s->status.n_worker; i++) {
        const cpubind_pod *pod = &s->status.worker[i].worker->pod;
        if (*pod->name && strcmp(pod->uid, uid) == 0)
            return pod;
    }
    return NULL;
}

/* Takes the CPUs of the cgroup that another container has alone: they are not `more`. */
static void take_taken(comparison *c, const char *uid, const char *container,
                       const words_value *cpus)
{
    const cpubind_cpus *has = &c->w->allowed;
    const cpubind_pod *pod = named_pod(c->s, uid);
    const int32_t n = pick(c->other, take_cpus(cpus, c->other), has->cpu, has->n, 1, c->other);
    c->n_more = pick(c->more, c->n_more, c->other, n, 0, c->more);
    if (n > 0)
        words_add(c->taken, words_make("uid:s namespace:s pod:s container:s cpus:v", uid,
                                       pod ? pod->space : NULL, pod ? pod->name : NULL,
                                       container, words_list(c->other, n)));
}

/* Containers of a pod that have the same CPUs share those of their pod. */
static void find_taken(comparison *c)
{
    const words_value *pods = c->kubelet->state[CLI_KUBELET_CPUS];
    for (int32_t i = 0; i < words_count(pods); i++) {
        const char *uid = words_key(pods, i);
        const words_value *pod = words_at(pods, i);
        const int is_own = strcmp(uid, c->w->pod.uid) == 0;
        for (int32_t k = 0; k < words_count(pod); k++)
            if (!is_own || !words_equal(words_at(pod, k), c->cpus))
                take_taken(c, uid, words_key(pod, k), words_at(pod, k));
    }
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
    c->n_own = c->n_lack = c->n_more = 0;
    c->taken = words_array();
    c->cpus = own_of(c, CLI_KUBELET_CPUS);
    c->devices = own_of(c, CLI_KUBELET_DEVICES);
    c->memory = own_of(c, CLI_KUBELET_MEMORY);
    c->claims = is_named(c) ? words_get(kubelet->state[CLI_KUBELET_CLAIMS], w->pod.uid) : NULL;
    c->n_own = take_cpus(c->cpus, c->cpu);
    if (!is_named(c) || w->allowed.n == 0) /* not known */
        return c;
    c->n_lack = pick(c->cpu, c->n_own, w->allowed.cpu, w->allowed.n, 0, c->lack);
    if (c->n_own > 0)
        c->n_more = pick(w->allowed.cpu, w->allowed.n, c->cpu, c->n_own, 0, c->more);
    find_taken(c);
    return c;
}

static void free_comparison(comparison *c)
{
    words_free(c->taken);
    free(c);
}

/* == Devices ================================================================ */

/* Whether an id is that of a function: its UUID, of which a device that is shared in time has
 * copies, "GPU-...::2", or its address. */
static int is_id_of(const cpubind_host_device *f, const char *id)
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
    if (c->claims)
        return 0;
    for (int32_t i = 0; i < words_count(c->devices); i++) {
        const words_value *given = words_at(c->devices, i);
        for (int32_t k = 0; k < words_count(words_get(given, "ids")); k++) {
            words_value *id = words_at(words_get(given, "ids"), k);
            int is_known = 0;
            if (cpubind_is_listed(c->device->found) ||
                is_id_of(c->device->found, words_string(id)))
                return 0;
            for (int32_t j = 0; j < f->n_bus; j++)
                is_known |= is_id_of(&f->bus[j], words_string(id));
            if (!is_known)
                return 0;
            n++;
        }
    }
    return n > 0;
}

/* == Sentences ============================================================== */

/* " (node 1)"; nothing without one. */
static void say_nodes(const words_value *given, api_text *to)
{
    const char *nodes = words_string_of(given, "nodes");
    if (*nodes)
        api_add(to, " (node%s %s)", strpbrk(nodes, ",-") ? "s" : "", nodes);
}

/* "a, b", behind another text. */
static void add_texts(const words_value *texts, const char *first, api_text *to)
{
    for (int32_t i = 0; i < words_count(texts); i++)
        api_add(to, "%s%s", i > 0 ? ", " : first, words_string(words_at(texts, i)));
}

static void say_claim(const words_value *claim, api_text *to)
{
    api_add(to, "; by the claim %s/%s", words_string_of(claim, "namespace"),
            words_string_of(claim, "name"));
    for (int32_t i = 0; i < words_count(words_get(claim, "devices")); i++) {
        const words_value *device = words_at(words_get(claim, "devices"), i);
        const words_value *cdi = words_get(device, "cdi");
        add_texts(cdi, i > 0 ? ", " : " ", to);
        if (words_count(cdi) == 0)
            api_add(to, "%s%s of %s", i > 0 ? ", " : " ", words_string_of(device, "device"),
                    words_string_of(device, "driver"));
    }
}

/* What kubelet gave. */
static void say_given(const comparison *c, api_text *to)
{
    api_add(to, "Kubelet gave its container ");
    if (c->n_own > 0) {
        api_add(to, "the CPUs ");
        api_add_list(to, c->cpu, c->n_own);
        api_add(to, " alone");
    } else {
        api_add(to, "no CPUs alone");
    }
    if (!c->devices && !c->claims)
        api_add(to, " and no device");
    for (int32_t i = 0; i < words_count(c->devices); i++) {
        const words_value *given = words_at(c->devices, i);
        add_texts(words_get(given, "ids"), "; ", to);
        api_add(to, " of %s", words_string_of(given, "resource"));
        say_nodes(given, to);
    }
    for (int32_t i = 0; i < words_count(c->memory); i++) {
        const words_value *given = words_at(c->memory, i);
        api_add(to, "; ");
        words_add_bytes(to, words_integer_of(given, "bytes"));
        api_add(to, " of %s", words_string_of(given, "type"));
        say_nodes(given, to);
    }
    for (int32_t i = 0; i < words_count(c->claims); i++)
        say_claim(words_at(c->claims, i), to);
    api_add(to, ".");
}

static void say_cpus(const comparison *c, words_value *to)
{
    static const char what_next[] =
        ": a program beside kubelet has written its cpuset, which is what holds. Find it (a "
        "CPU manager, an NRI plugin), then start the pod again.";
    api_text lack = {"", 0}, taken = {"", 0}, more = {"", 0};
    if (c->n_lack > 0) {
        api_add(&lack, "Its cgroup lacks ");
        api_add_list(&lack, c->lack, c->n_lack);
        api_add(&lack, " of these%s", what_next);
        words_add(to, words_text(lack.text));
    }
    for (int32_t i = 0; i < words_count(c->taken); i++) {
        const words_value *other = words_at(c->taken, i);
        const char *space = words_string_of(other, "namespace");
        api_add(&taken, "%s%s, which kubelet gave to %s%s%s/%s alone",
                i == 0 ? "Its cgroup has the CPUs " : ", ", words_string_of(other, "cpus"),
                *space ? space : "pod ", *space ? "/" : "",
                words_string_of(other, *space ? "pod" : "uid"),
                words_string_of(other, "container"));
    }
    if (taken.len > 0) {
        api_add(&taken, ": both use them. Within seconds of the start of a pod that is usual; "
                        "later a program beside kubelet has written a cpuset: find it, then "
                        "start the pods again.");
        words_add(to, words_text(taken.text));
    }
    if (c->n_more > 0) {
        api_add(&more, "Its cgroup also has ");
        api_add_list(&more, c->more, c->n_more);
        api_add(&more, ", which kubelet did not give it%s", what_next);
        words_add(to, words_text(more.text));
    }
}

static void say_devices(const comparison *c, words_value *to)
{
    const int32_t node = c->device->found->node;
    /* Another device may be a network card. */
    const char *told = words_count(c->devices) == 1 && !c->claims
                           ? words_string(words_get(words_at(c->devices, 0), "nodes"))
                           : NULL;
    char name[CPUBIND_DEVICE_NAME_SIZE];
    api_text text = {"", 0};
    cli_status_name(c->device, name);
    if (!c->devices && !c->claims)
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
        words_add(to, words_text(text.text));
    if (!told || node < 0 || strtol(told, NULL, 10) == node)
        return;
    text = (api_text){"", 0};
    api_add(
        &text,
        "Kubelet was told the node %s, and %s is on node %d: kubelet places CPUs by a wrong "
        "node. Have the device plugin mended.",
        told, name, (int)node);
    words_add(to, words_text(text.text));
}

/* Where the two disagree. */
static void say_differences(const comparison *c, words_value *to)
{
    api_text unnamed = {"", 0};
    if (!is_named(c)) {
        api_add(&unnamed,
                "Kubelet's files have containers by names, and that of this one is not "
                "known: /var/log/containers has it.");
        words_add(to, words_text(unnamed.text));
        return;
    }
    say_cpus(c, to);
    say_devices(c, to);
}

/* A copy of an array that was read; an empty one of NULL. */
static words_value *array_of(const words_value *given)
{
    return given ? words_copy(given) : words_array();
}

words_value *cli_kubelet_json(const cli_status *s, const cli_kubelet *kubelet,
                              const cpubind_worker *w, const cpubind_status_device *device)
{
    words_value *differences, *json;
    api_text given = {"", 0};
    comparison *c;
    if (!kubelet->is_known)
        return words_null();
    c = compare(s, kubelet, w, device);
    if (!c)
        return NULL;
    differences = words_array();
    if (is_named(c))
        say_given(c, &given);
    say_differences(c, differences);
    json = words_make(
        "listed:b cpus:v devices:v memory:v claims:v given:w lacks:v more:v taken:V "
        "differences:v",
        c->cpus || c->devices || c->memory, words_list(c->cpu, c->n_own), array_of(c->devices),
        array_of(c->memory), array_of(c->claims), given.text, words_list(c->lack, c->n_lack),
        words_list(c->more, c->n_more), c->taken, differences);
    free_comparison(c);
    return json;
}
