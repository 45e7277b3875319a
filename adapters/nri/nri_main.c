/* nri_main.c - cpubind-nri: an NRI plugin of containerd and CRI-O that asks the service
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: the service says where a container belongs (nri_place.h), and the runtime
 * does what is said. One thread: a runtime calls one plugin at a time. Whatever fails, the
 * container starts; the service binds its processes when they run. NRI.md says what each
 * failure costs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../cpubind.h"
#include "../linux/kernel/files.h"
#include "../service/service.h"
#include "nri_link.h"
#include "nri_place.h"

#define SERVICE_SOCKET "/run/cpubind/service.sock"
#define RUNTIME_SOCKET "/var/run/nri/nri.sock"
#define CGROUPS        "/sys/fs/cgroup"
#define CGROUPS_V1     "/sys/fs/cgroup/cpuset"

#define PLUGIN_SERVICE  "nri.pkg.api.v1alpha1.Plugin"
#define RUNTIME_SERVICE "nri.pkg.api.v1alpha1.Runtime"

/* From one try to reach the runtime to the next: doubled up to the second. */
#define FIRST_WAIT_MS 500
#define MAX_WAIT_MS   30000

/* How long all containers that run may keep a runtime waiting, which waits for 2 s. */
#define SYNCHRONIZE_MS 1000

/* Codes of google.rpc.Code. */
enum { CODE_INVALID = 3, CODE_FAILED_PRECONDITION = 9, CODE_UNIMPLEMENTED = 12 };

/* Bits of a subscription. */
enum { EVENT_CREATE = 1 << 3, EVENT_UPDATE = 1 << 7 };

enum { STATE_STOPPED = 4 }; /* of a container */

/* Containers that run, while a runtime lists them. */
typedef struct synchronizing {
    int64_t until_ms;
    int is_silent; /* the service has not answered: it is asked no more */
    int n_plain, n_right, n_moved, n_left;
    Nri__Update **update;
    int32_t n, cap;
} synchronizing;

typedef struct plugin {
    cpubind_nri_options place;
    cpubind_nri_options running; /* the same for a container that runs: its memory stays, since
                                    the kernel would move all of it while the runtime waits */
    const char *runtime_socket, *index;
    int is_strict, is_journal;
    cpubind_nri_link link;
    int is_registered;
    synchronizing sync;
    cpubind_bytes reply, payload;
    int code; /* of the reply */
    char message[1024];
} plugin;

/* == Lines ================================================================== */

/* Prints a line; the journal reads its importance from the start. */
__attribute__((format(printf, 3, 4))) static void say(const plugin *p, int priority,
                                                      const char *format, ...)
{
    char line[5 * CPUBIND_NRI_LIST_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args); /* NOLINT: va_start is above */
    va_end(args);
    for (char *c = line; *c; c++) /* names come from pods: no line of theirs is one of ours */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    if (p->is_journal)
        fprintf(stderr, "<%d>%s\n", priority, line);
    else
        fprintf(stderr, "cpubind-nri: %s%s\n",
                priority == CPUBIND_SAY_INFO ? "" : "warning: ", line);
}

static void say_fault(const plugin *p, const char *text, cpubind_linux_fault why)
{
    say(p, CPUBIND_SAY_WARNING, "%s: %s: %s", text, why.what, strerror(why.error));
}

/* "pod default/vllm-0, container worker" */
static const char *name_of(const Nri__Pod *pod, const Nri__Container *c)
{
    static char name[1024];
    (void)snprintf(name, sizeof name, "pod %.200s/%.300s, container %.300s",
                   pod ? pod->namespace_ : "?", pod ? pod->name : c->pod_sandbox_id, c->name);
    return name;
}

/* Says where a container was placed, or why it was not. */
static void say_place(const plugin *p, const Nri__Pod *pod, const Nri__Container *c,
                      const cpubind_nri_place *place, int sets_omp)
{
    const char *name = name_of(pod, c);
    char omp[48] = "", mems[2 * CPUBIND_NRI_LIST_SIZE + 32] = "";
    if (*place->granted_mems)
        (void)snprintf(mems, sizeof mems, ", memory nodes %s of %s",
                       *place->mems ? place->mems : "all", place->granted_mems);
    if (sets_omp)
        (void)snprintf(omp, sizeof omp, ", OMP_NUM_THREADS=%d", place->omp);
    if (place->state == CPUBIND_NRI_PLACED)
        say(p, CPUBIND_SAY_INFO, "%s: CPUs %s of %s%s%s", name,
            *place->cpus ? place->cpus : "all",
            *place->granted_cpus ? place->granted_cpus : "all", mems, omp);
    else if (place->state != CPUBIND_NRI_NO_DEVICE)
        say(p, CPUBIND_SAY_WARNING,
            "%s: left where it is: %s; the service binds its workers when they run", name,
            place->why);
}

/* == Replies ================================================================ */

/* Puts a message into a buffer, as its bytes. Returns 0 without memory. */
static int put_message(cpubind_bytes *to, const ProtobufCMessage *message)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    to->len = 0;
    if (size > CPUBIND_NRI_DATA_MAX ||
        cpubind_bytes_reserve(to, &cpubind_sys_real, (int32_t)size + 1).error)
        return 0;
    to->len = (int32_t)protobuf_c_message_pack(message, (uint8_t *)to->data);
    return 1;
}

static void refuse(plugin *p, int code, const char *text)
{
    p->code = code;
    (void)snprintf(p->message, sizeof p->message, "cpubind: %s", text);
}

static void put_reply(plugin *p, const ProtobufCMessage *message)
{
    if (!put_message(&p->payload, message))
        say(p, CPUBIND_SAY_WARNING, "there is no memory for a reply: it is empty");
}

/* The CPUs and nodes of a place as the runtime takes them. */
typedef struct resources {
    Nri__Resources all;
    Nri__Cpu cpu;
} resources;

static void set_resources(resources *r, const cpubind_nri_place *place)
{
    r->all = (Nri__Resources)NRI__RESOURCES__INIT;
    r->cpu = (Nri__Cpu)NRI__CPU__INIT;
    r->all.cpu = &r->cpu;
    r->cpu.cpus = (char *)place->cpus;
    r->cpu.mems = (char *)place->mems;
}

/* A container that gets fewer CPUs. */
typedef struct moved {
    Nri__Update update; /* the first member: a runtime's list has pointers to it */
    Nri__LinuxUpdate linux_part;
    resources r;
    cpubind_nri_place place;
    char id[256];
} moved;

static void set_update(moved *m, const char *id)
{
    set_resources(&m->r, &m->place);
    (void)snprintf(m->id, sizeof m->id, "%s", id);
    m->linux_part = (Nri__LinuxUpdate)NRI__LINUX_UPDATE__INIT;
    m->linux_part.resources = &m->r.all;
    m->update = (Nri__Update)NRI__UPDATE__INIT;
    m->update.container_id = m->id;
    m->update.linux = &m->linux_part;
}

/* == Containers ============================================================= */

static const Nri__Cpu *cpu_of(const Nri__Resources *r)
{
    static const Nri__Cpu none = NRI__CPU__INIT;
    return r && r->cpu ? r->cpu : &none;
}

static void create(plugin *p, const uint8_t *data, size_t len)
{
    Nri__CreateRequest *q = nri__create_request__unpack(NULL, len, data);
    Nri__CreateReply reply = NRI__CREATE_REPLY__INIT;
    Nri__Adjustment adjust = NRI__ADJUSTMENT__INIT;
    Nri__LinuxAdjustment linux_part = NRI__LINUX_ADJUSTMENT__INIT;
    Nri__Variable omp = NRI__VARIABLE__INIT, *env[] = {&omp};
    static cpubind_nri_place place;
    char n_omp[16];
    resources r;
    int sets_omp;
    if (!q || !q->container) {
        refuse(p, CODE_INVALID, "CreateContainer names no container");
        if (q)
            nri__create_request__free_unpacked(q, NULL);
        return;
    }
    const Nri__Cpu *cpu = cpu_of(q->container->linux ? q->container->linux->resources : NULL);
    cpubind_nri_find_place(&p->place, q->pod, q->container, cpu->cpus, cpu->mems, &place);
    sets_omp = place.state == CPUBIND_NRI_PLACED && place.omp > 0 &&
               !cpubind_nri_has_variable(q->container, "OMP_NUM_THREADS");
    say_place(p, q->pod, q->container, &place, sets_omp);
    if (place.state == CPUBIND_NRI_PLACED) {
        set_resources(&r, &place);
        linux_part.resources = &r.all;
        adjust.linux = &linux_part;
        (void)snprintf(n_omp, sizeof n_omp, "%d", place.omp);
        omp.key = (char *)"OMP_NUM_THREADS";
        omp.value = n_omp;
        adjust.env = env;
        adjust.n_env = (size_t)sets_omp;
        reply.adjust = &adjust;
    }
    if (place.state == CPUBIND_NRI_REFUSED && p->is_strict)
        refuse(p, CODE_FAILED_PRECONDITION, place.why);
    put_reply(p, &reply.base);
    nri__create_request__free_unpacked(q, NULL);
}

/* The runtime is about to give a container other CPUs: those of its devices among them. */
static void update(plugin *p, const uint8_t *data, size_t len)
{
    Nri__UpdateRequest *q = nri__update_request__unpack(NULL, len, data);
    Nri__UpdateReply reply = NRI__UPDATE_REPLY__INIT;
    static moved one;
    Nri__Update *all[] = {&one.update};
    if (!q || !q->container) {
        refuse(p, CODE_INVALID, "UpdateContainer names no container");
    } else if (*cpu_of(q->linux_resources)->cpus) {
        cpubind_nri_find_place(&p->running, q->pod, q->container,
                               cpu_of(q->linux_resources)->cpus, "", &one.place);
        say_place(p, q->pod, q->container, &one.place, 0);
        set_update(&one, q->container->id);
        reply.update = all;
        reply.n_update = one.place.state == CPUBIND_NRI_PLACED && *one.place.cpus;
    }
    put_reply(p, &reply.base);
    if (q)
        nri__update_request__free_unpacked(q, NULL);
}

/* == Containers that run ==================================================== */

static void clear_sync(plugin *p)
{
    for (int32_t i = 0; i < p->sync.n; i++)
        free(p->sync.update[i]);
    free(p->sync.update);
    p->sync = (synchronizing){.n = 0};
}

static const Nri__Pod *pod_of(const Nri__SynchronizeRequest *q, const Nri__Container *c)
{
    for (size_t i = 0; i < q->n_pods; i++)
        if (strcmp(q->pods[i]->id, c->pod_sandbox_id) == 0)
            return q->pods[i];
    return NULL;
}

/* Finds the place of a container that runs. Its own cgroup says what it may have now. */
static void look_at(plugin *p, const Nri__Pod *pod, const Nri__Container *c)
{
    synchronizing *s = &p->sync;
    moved *m = (moved *)malloc(sizeof *m);
    Nri__Update **all = NULL;
    if (!m) {
        s->n_left++;
        return;
    }
    cpubind_nri_find_place(&p->running, pod, c, "", "", &m->place);
    s->is_silent |= m->place.state == CPUBIND_NRI_SILENT;
    if (m->place.state == CPUBIND_NRI_PLACED && *m->place.cpus)
        all = (Nri__Update **)cpubind_grow(&cpubind_sys_real, s->update, s->n, &s->cap,
                                           sizeof(Nri__Update *));
    s->update = all ? all : s->update;
    say_place(p, pod, c, &m->place, 0);
    if (all) {
        set_update(m, c->id);
        m->update.ignore_failure = 1; /* it may have ended meanwhile */
        s->update[s->n++] = &m->update;
        s->n_moved++;
        return;
    }
    s->n_plain += m->place.state == CPUBIND_NRI_NO_DEVICE;
    s->n_right += m->place.state == CPUBIND_NRI_PLACED;
    s->n_left += m->place.state > CPUBIND_NRI_PLACED;
    free(m);
}

/* The runtime lists what runs, in several calls where that is much: those that have more CPUs
 * than those of their devices are moved. */
static void synchronize(plugin *p, const uint8_t *data, size_t len)
{
    Nri__SynchronizeRequest *q = nri__synchronize_request__unpack(NULL, len, data);
    Nri__SynchronizeReply reply = NRI__SYNCHRONIZE_REPLY__INIT;
    synchronizing *s = &p->sync;
    char devices[CPUBIND_NRI_LIST_SIZE];
    const char *what;
    if (!q) {
        refuse(p, CODE_INVALID, "Synchronize makes no sense");
        return;
    }
    if (s->until_ms == 0)
        s->until_ms = cpubind_now_ms() + SYNCHRONIZE_MS;
    for (size_t i = 0; i < q->n_containers; i++) {
        const Nri__Container *c = q->containers[i];
        if (c->state >= STATE_STOPPED)
            continue;
        if (cpubind_nri_devices(c, devices, &what) && !*devices)
            s->n_plain++;
        else if (s->is_silent || cpubind_now_ms() >= s->until_ms)
            s->n_left++;
        else
            look_at(p, pod_of(q, c), c);
    }
    reply.more = q->more;
    if (!q->more) {
        say(p, s->n_left > 0 ? CPUBIND_SAY_WARNING : CPUBIND_SAY_INFO,
            "containers that run: %d on the CPUs of their devices, %d moved there, %d left to "
            "the service%s, %d without devices",
            s->n_right, s->n_moved, s->n_left, s->is_silent ? ", which does not answer" : "",
            s->n_plain);
        reply.update = s->update;
        reply.n_update = (size_t)s->n;
    }
    put_reply(p, &reply.base);
    if (!q->more)
        clear_sync(p);
    nri__synchronize_request__free_unpacked(q, NULL);
}

/* == Calls ================================================================== */

static void configure(plugin *p, const uint8_t *data, size_t len)
{
    Nri__ConfigureRequest *q = nri__configure_request__unpack(NULL, len, data);
    Nri__ConfigureReply reply = NRI__CONFIGURE_REPLY__INIT;
    if (!q) {
        refuse(p, CODE_INVALID, "Configure makes no sense");
        return;
    }
    say(p, CPUBIND_SAY_INFO, "%.100s %.100s calls this plugin", q->runtime_name,
        q->runtime_version);
    if (q->request_timeout > 0 && q->request_timeout <= CPUBIND_NRI_ASK_MS)
        say(p, CPUBIND_SAY_WARNING,
            "the runtime waits for %d ms alone (plugin_request_timeout): it gives up this "
            "plugin when the service is late",
            (int)q->request_timeout);
    p->is_registered = 1;
    reply.events = EVENT_CREATE | EVENT_UPDATE;
    put_reply(p, &reply.base);
    nri__configure_request__free_unpacked(q, NULL);
}

static void shut_down(plugin *p, const uint8_t *data, size_t len)
{
    (void)data;
    (void)len;
    say(p, CPUBIND_SAY_INFO, "the runtime ends");
}

/* What a runtime may call. An event that is not subscribed has an empty reply. */
static const struct {
    const char *method;
    void (*handle)(plugin *p, const uint8_t *data, size_t len);
} calls[] = {{"Configure", configure},    {"Synchronize", synchronize},
             {"CreateContainer", create}, {"UpdateContainer", update},
             {"StopContainer", NULL},     {"StateChange", NULL},
             {"Shutdown", shut_down}};

static void handle(plugin *p, const Nri__Call *call)
{
    if (strcmp(call->service, PLUGIN_SERVICE) == 0)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            if (strcmp(call->method, calls[i].method) == 0) {
                if (calls[i].handle)
                    calls[i].handle(p, call->payload.data, call->payload.len);
                return;
            }
    refuse(p, CODE_UNIMPLEMENTED, "this plugin has no such call");
}

/* Answers a request of the runtime. */
static cpubind_linux_fault answer(plugin *p, const cpubind_nri_call *m)
{
    Nri__Call *call = nri__call__unpack(NULL, (size_t)m->len, (const uint8_t *)m->data);
    Nri__Reply reply = NRI__REPLY__INIT;
    Nri__Status status = NRI__STATUS__INIT;
    p->payload.len = 0;
    p->code = 0;
    if (!call)
        return cpubind_fault_of(EPROTO, "a request makes no sense");
    handle(p, call);
    nri__call__free_unpacked(call, NULL);
    status.code = p->code;
    status.message = p->message;
    if (p->code)
        reply.status = &status;
    reply.payload = (ProtobufCBinaryData){(size_t)p->payload.len, (uint8_t *)p->payload.data};
    if (!put_message(&p->reply, &reply.base))
        return cpubind_fault_of(ENOMEM, "memory");
    return cpubind_nri_link_send(&p->link, m->connection, m->stream, CPUBIND_NRI_RESPONSE,
                                 &p->reply);
}

/* Asks the runtime to call this plugin. */
static cpubind_linux_fault register_plugin(plugin *p)
{
    Nri__RegisterRequest request = NRI__REGISTER_REQUEST__INIT;
    Nri__Call call = NRI__CALL__INIT;
    request.plugin_name = (char *)"cpubind";
    request.plugin_idx = (char *)p->index;
    call.service = (char *)RUNTIME_SERVICE;
    call.method = (char *)"RegisterPlugin";
    if (!put_message(&p->payload, &request.base))
        return cpubind_fault_of(ENOMEM, "memory");
    call.payload = (ProtobufCBinaryData){(size_t)p->payload.len, (uint8_t *)p->payload.data};
    if (!put_message(&p->reply, &call.base))
        return cpubind_fault_of(ENOMEM, "memory");
    return cpubind_nri_link_send(&p->link, CPUBIND_NRI_RUNTIME, 1, CPUBIND_NRI_REQUEST,
                                 &p->reply);
}

/* Reads what the runtime says to the registration. */
static cpubind_linux_fault take_registered(plugin *p, const cpubind_nri_call *m)
{
    Nri__Reply *reply = nri__reply__unpack(NULL, (size_t)m->len, (const uint8_t *)m->data);
    cpubind_linux_fault why = cpubind_no_fault;
    if (!reply)
        return cpubind_fault_of(EPROTO, "a response makes no sense");
    if (reply->status && reply->status->code) {
        say(p, CPUBIND_SAY_WARNING, "the runtime refuses this plugin: %.300s",
            reply->status->message);
        why = cpubind_fault_of(ECONNREFUSED, "registration");
    }
    nri__reply__free_unpacked(reply, NULL);
    return why;
}

/* Serves a runtime until the connection ends. */
static cpubind_linux_fault serve(plugin *p)
{
    cpubind_nri_call m;
    cpubind_linux_fault why = cpubind_nri_link_open(&p->link, p->runtime_socket);
    p->is_registered = 0;
    if (!why.error)
        why = register_plugin(p);
    while (!why.error) {
        why = cpubind_nri_link_take(&p->link, &m);
        if (why.error)
            break;
        if (m.connection == CPUBIND_NRI_PLUGIN && m.type == CPUBIND_NRI_REQUEST)
            why = answer(p, &m);
        else if (m.connection == CPUBIND_NRI_RUNTIME && m.type == CPUBIND_NRI_RESPONSE)
            why = take_registered(p, &m);
        else
            why = cpubind_fault_of(EPROTO, "a message came over the wrong connection");
    }
    cpubind_nri_link_close(&p->link);
    clear_sync(p);
    return why;
}

/* == The whole ============================================================== */

/* Says why there is no runtime, unless that was said last. */
static void say_end(const plugin *p, cpubind_linux_fault why)
{
    static cpubind_linux_fault said;
    if (p->is_registered || why.error != said.error) {
        if (why.error == ENOENT || why.error == ECONNREFUSED)
            say(p, CPUBIND_SAY_WARNING,
                "no runtime calls this plugin: %s: %s; containerd 1.7 does when NRI is turned "
                "on in its settings",
                p->runtime_socket, strerror(why.error));
        else if (why.error == ENOTCONN)
            say(p, CPUBIND_SAY_WARNING, "the runtime has closed the connection");
        else
            say_fault(p, "the connection with the runtime has ended", why);
    }
    said = why;
}

static void run(plugin *p)
{
    int wait_ms = FIRST_WAIT_MS;
    for (;;) {
        say_end(p, serve(p));
        if (p->is_registered)
            wait_ms = FIRST_WAIT_MS;
        (void)cpubind_sys_real.poll(NULL, 0, wait_ms);
        wait_ms = wait_ms < MAX_WAIT_MS / 2 ? 2 * wait_ms : MAX_WAIT_MS;
    }
}

static const char help[] =
    "usage: cpubind-nri [OPTION ...]\n"
    "\n"
    "An NRI plugin of containerd and CRI-O: asks the cpubind service which CPUs and memory\n"
    "nodes of those that a container may have are near its devices, before the container\n"
    "starts. Whatever fails, the container starts, and the service binds its workers.\n"
    "\n"
    "  --service PATH   the socket of the service; " SERVICE_SOCKET "\n"
    "  --runtime PATH   the socket of the runtime; " RUNTIME_SOCKET "\n"
    "  --index NN       two digits: the place among the plugins of the runtime; 90\n"
    "  --cgroups PATH   the folder of all cgroups with cpusets; " CGROUPS ",\n"
    "                   or " CGROUPS_V1 " where that is there\n"
    "  --keep-mems      leave the memory nodes of containers as they are\n"
    "  --strict         refuse a container that the service gives no CPUs; one that it does\n"
    "                   not answer for starts\n"
    "  --help, --version\n";

static int usage(const char *what)
{
    fprintf(stderr, "cpubind-nri: %s; --help shows the options\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"service", required_argument, NULL, 's'},
                                            {"runtime", required_argument, NULL, 'r'},
                                            {"index", required_argument, NULL, 'i'},
                                            {"cgroups", required_argument, NULL, 'c'},
                                            {"keep-mems", no_argument, NULL, 'k'},
                                            {"strict", no_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    static plugin p = {.place = {.service = SERVICE_SOCKET},
                       .runtime_socket = RUNTIME_SOCKET,
                       .index = "90",
                       .link = {.fd = -1}};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 's':
            p.place.service = optarg;
            break;
        case 'r':
            p.runtime_socket = optarg;
            break;
        case 'i':
            if (strlen(optarg) != 2 || strspn(optarg, "0123456789") != 2)
                return usage("--index is two digits, such as 90");
            p.index = optarg;
            break;
        case 'c':
            p.place.cgroups = optarg;
            break;
        case 'k':
            p.place.keeps_mems = 1;
            break;
        case 't':
            p.is_strict = 1;
            break;
        case 'h':
            return fputs(help, stdout) < 0 || fflush(stdout) != 0;
        case 'v':
            return printf("cpubind-nri %s\n", CPUBIND_VERSION) < 0 || fflush(stdout) != 0;
        default:
            return 2;
        }
    if (optind < argc)
        return usage("it takes options alone");
    if (p.place.service[0] != '/')
        return usage("--service is a path that begins with /");
    if (!p.place.cgroups)
        p.place.cgroups = access(CGROUPS_V1, F_OK) == 0 ? CGROUPS_V1 : CGROUPS;
    p.running = p.place;
    p.running.keeps_mems = 1;
    p.is_journal =
        cpubind_service_is_journal(&cpubind_sys_real, fileno(stderr), getenv("JOURNAL_STREAM"));
    run(&p);
}
