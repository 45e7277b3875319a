/* status_text.c - what cpubind status has found, as text, as JSON and as lines of changes
 * SPDX-License-Identifier: MIT
 *
 * Prints and formats; reads nothing of the host. JSON-BINDING.md documents the JSON.
 */
#include "status_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../model/vendor.h"
#include "measure_result.h"
#include "output.h"
#include "service_ask.h"

/* == Words ================================================================== */

void cli_status_name(const cpubind_status_device *d, char out[CPUBIND_DEVICE_NAME_SIZE])
{
    cpubind_function_name(d->found, out);
}

static cpubind_vendor_id vendor_of(const cpubind_status_device *d)
{
    return d->found->accelerator.vendor;
}

/* Whether interrupts of the device are bound. */
static int has_irqs(const cpubind_status_device *d)
{
    return cpubind_vendor_of(vendor_of(d))->irqs != NULL;
}

const char *cli_product_of(const cpubind_host_device *device)
{
    return device->accelerator.product ? device->accelerator.product
                                       : cpubind_vendor_word(device->accelerator.vendor);
}

static int32_t count_place(const cpubind_status_worker *w, cpubind_place_kind place)
{
    int32_t n = 0;
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++)
        n += w->thread[role][place];
    return n;
}

/* "258 right", "12/258 elsewhere". */
static void add_threads(api_text *to, const cpubind_status_worker *w)
{
    const int32_t elsewhere = count_place(w, CPUBIND_PLACE_ELSEWHERE);
    const int32_t unbound = count_place(w, CPUBIND_PLACE_UNBOUND);
    const int32_t n = elsewhere + unbound;
    if (w->fault.error)
        api_add(to, "unknown");
    else if (n == 0)
        api_add(to, "%d right", (int)w->n_thread);
    else if (unbound == w->n_thread)
        api_add(to, "%d unbound", (int)n);
    else
        api_add(to, "%d/%d %s", (int)n, (int)w->n_thread,
                elsewhere > 0 ? "elsewhere" : "unbound");
}

/* Why a worker has not been compared. */
static void add_fault(api_text *to, const cli_status *s, const cpubind_status_worker *w)
{
    const api_bound bound = {.pid = w->worker->pid, .is_reading = 1};
    if (w->status != CPUBIND_LINUX_OK)
        (void)api_explain_bind(s->options, &bound, w->status, &w->fault, to);
    else
        words_add_why(to, WORDS_WORKER, w->fault.what, w->fault.error);
}

/* "2 interrupts right on 144-145", "2 interrupts elsewhere on 0-191". */
static void add_irqs(api_text *to, const cpubind_status_device *d)
{
    const char *first = NULL;
    int is_same = 1, is_listed = 1;
    int32_t cpu[64], n = 0;
    if (d->n_irq == 0) {
        api_add(to, "interrupts -");
        return;
    }
    for (int32_t i = 0; i < d->n_irq; i++) {
        const cpubind_status_irq *irq = &d->irq[i];
        first = first ? first : irq->cpus;
        is_same &= irq->cpus && strcmp(first, irq->cpus) == 0;
        is_listed &= irq->place == CPUBIND_PLACE_RIGHT && irq->cpu >= 0;
        for (int32_t k = 0; k <= n && n < 64 && irq->cpu >= 0; k++)
            if (k == n || cpu[k] >= irq->cpu) {
                if (k == n || cpu[k] > irq->cpu) {
                    memmove(cpu + k + 1, cpu + k, (size_t)(n - k) * sizeof *cpu);
                    cpu[k] = irq->cpu;
                    n++;
                }
                break;
            }
    }
    api_add(to, "%d interrupts %s", (int)d->n_irq, cpubind_place_word(d->irq_place));
    if (is_listed) {
        api_add(to, " on ");
        api_add_list(to, cpu, n);
    } else if (is_same && first) {
        api_add(to, " on %s", first);
    }
}

/* == JSON =================================================================== */

static words_value *places_json(const int32_t *count)
{
    words_value *object = words_object();
    for (int place = 0; place < CPUBIND_PLACE_COUNT; place++)
        words_set(object, cpubind_place_word((cpubind_place_kind)place),
                  words_number(count[place]));
    return object;
}

static words_value *threads_json(const cpubind_status_worker *w)
{
    words_value *roles;
    if (w->fault.error)
        return words_null();
    roles = words_object();
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++) {
        int32_t n = 0;
        for (int place = 0; place < CPUBIND_PLACE_COUNT; place++)
            n += w->thread[role][place];
        if (n > 0)
            words_set(roles, cpubind_role_name((cpubind_role)role),
                      places_json(w->thread[role]));
    }
    return roles;
}

static words_value *memory_json(const cpubind_status_worker *w)
{
    words_value *nodes;
    if (!w->has_memory)
        return words_null();
    nodes = words_array();
    for (int32_t i = 0; nodes && i < w->n_node; i++)
        words_add(nodes, words_make("node:i bytes:I", (int)w->node[i].node,
                                    (int64_t)w->node[i].bytes));
    return words_make("node:v own_near:I own_away:I nodes:v", words_id(w->memory_node),
                      (int64_t)w->own_near, (int64_t)w->own_away, nodes);
}

static words_value *error_json(const cli_status *s, const cpubind_status_worker *w)
{
    api_text text = {"", 0};
    if (!w->fault.error)
        return words_null();
    add_fault(&text, s, w);
    return words_text(text.text);
}

static words_value *worker_json(const cli_status *whole, const cpubind_status_worker *s)
{
    const cpubind_worker *w = s->worker;
    char bound_to[CPUBIND_DEVICE_NAME_SIZE];
    cpubind_device_name(cpubind_vendor_listed(), w->bound_number, NULL, bound_to);
    return words_make("pid:i name:w program:w container:w pod:v rank:v rank_variable:w "
                      "visible:w index:i processes:i children:i bound:b bound_device:w "
                      "bound_rules:w own_mask:b allowed:v place:s threads:v memory:v error:v",
                      (int)w->pid, w->name, w->program, w->container, cli_pod_json(&w->pod),
                      words_id(w->rank), w->rank_variable, w->visible, (int)w->process,
                      (int)w->n_process, (int)w->n_child, w->is_bound, bound_to, w->bound_rules,
                      w->has_own_mask, words_list(w->allowed.cpu, w->allowed.n),
                      cpubind_place_word(s->place), threads_json(s), memory_json(s),
                      error_json(whole, s));
}

static words_value *irq_json(const cpubind_status_irq *irq)
{
    return words_make("irq:i kind:s cpu:v cpus:w place:s", (int)irq->irq, irq->kind,
                      words_id(irq->cpu), irq->cpus, cpubind_place_word(irq->place));
}

static words_value *workers_json(const cli_status *s, const cpubind_status_device *d)
{
    words_value *workers = words_array();
    for (int32_t i = 0; i < d->n_worker; i++)
        words_add(workers, worker_json(s, &s->status.worker[d->first_worker + i]));
    return workers;
}

/* The name that --device takes, where this process has a number for the device; else null. */
static words_value *name_json(const cpubind_status_device *d)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    cpubind_device_name(vendor_of(d), d->found->n_number == 1 ? d->found->number[0] : -1, NULL,
                        name);
    return words_word(name);
}

static words_value *device_json(const cli_status *s, const cpubind_status_device *d)
{
    const cpubind_host_device *found = d->found;
    const int is_npu = cpubind_is_listed(found);
    words_value *irqs = words_array(), *device;
    for (int32_t i = 0; irqs && i < d->n_irq; i++)
        words_add(irqs, irq_json(&d->irq[i]));
    device =
        words_make("name:v vendor:s product:v pci:v node:v pool:v memory_node:v "
                   "interrupts:v no_interrupts:v workers:v",
                   name_json(d), cpubind_vendor_word(vendor_of(d)),
                   is_npu ? words_null() : words_word(found->accelerator.product),
                   api_pci_json(&found->pci), is_npu ? words_null() : words_id(found->node),
                   words_list(d->pool.cpu, d->pool.n), words_id(d->memory_node), irqs,
                   d->n_irq > 0 || d->no_irq == CPUBIND_IRQ_FOUND
                       ? words_null()
                       : words_text(cpubind_no_irq_word(d->no_irq)),
                   workers_json(s, d));
    if (is_npu)
        words_move(device, api_npu_json(found));
    return device;
}

words_value *cli_status_json(const cli_status *s)
{
    const cpubind_host_status *st = &s->status;
    const cpubind_problem_code code = s->call->planned.code;
    words_value *problem = words_null(), *unlisted = words_null(), *devices = words_array(),
                *json;
    for (int32_t i = 0; devices && i < st->n_device; i++)
        words_add(devices, device_json(s, &st->device[i]));
    if (code != CPUBIND_PROBLEM_NONE) {
        api_text text = {"", 0};
        cli_explain_no_plan(s->call, &text);
        problem = words_make("code:s text:s", cpubind_problem_word(code), text.text);
    }
    if (s->unlisted.code != CPUBIND_PROBLEM_NONE)
        unlisted = words_make("input:w text:w", s->unlisted.input, s->unlisted.what);
    json = words_make("cpubind:s right:b devices:v workers:v idle:i interrupts_elsewhere:i "
                      "processes_hidden:i processes_out_of_view:i other_pid_namespace:b "
                      "needs_root:b no_plan:v no_processes:v",
                      CPUBIND_VERSION, cpubind_host_status_is_right(st), devices,
                      places_json(st->count), (int)st->n_idle, (int)st->n_irq_elsewhere,
                      (int)st->n_hidden, (int)st->n_elsewhere, st->is_other_namespace,
                      st->is_hidden_from_user || st->n_unseen > 0, problem, unlisted);
    words_set(json, "warnings", api_warnings_json(s->warned));
    return json;
}

/* == Text =================================================================== */

const words_view cli_status_view[] = {
    {WORDS_TABLE, "devices",
     "name pool% memory_node=node irqs=interrupts product users=workers"},
    {WORDS_TABLE, "devices.workers",
     "^name=device pid name container rank threads memory=memory_near record"},
    {WORDS_BLOCK, "notes", ""},
    {WORDS_BLOCK, "summary", ""},
    {0}};

static void add_line(words_value *lines, const api_text *line)
{
    if (line->len > 0)
        words_add(lines, words_text(line->text));
}

/* "process 4711, npu3: ": what a note is about. */
static api_text about(const cpubind_status_worker *w, const char *device)
{
    api_text line = {"", 0};
    api_add(&line, "process %d, %s: ", (int)w->worker->pid, device);
    return line;
}

/* Adds the roles of the threads that are in a place other than the right one. */
static void note_roles(words_value *notes, const cpubind_status_worker *w, const char *device,
                       cpubind_place_kind place)
{
    api_text line = about(w, device);
    if (count_place(w, place) == 0)
        return;
    api_add(&line, "%s:", cpubind_place_word(place));
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++)
        if (w->thread[role][place] > 0)
            api_add(&line, " %d %s", (int)w->thread[role][place],
                    cpubind_role_name((cpubind_role)role));
    add_line(notes, &line);
}

/* Adds where the threads and the memory of a worker are, where they are not right. */
static void note_places(words_value *notes, const cpubind_status_worker *w, const char *device)
{
    api_text line = about(w, device);
    if (count_place(w, CPUBIND_PLACE_UNBOUND) < w->n_thread)
        for (int place = CPUBIND_PLACE_UNKNOWN; place < CPUBIND_PLACE_COUNT; place++)
            note_roles(notes, w, device, (cpubind_place_kind)place);
    if (w->is_on_other) {
        char name[CPUBIND_DEVICE_NAME_SIZE];
        cpubind_device_name(cpubind_vendor_listed(), w->worker->bound_number, NULL, name);
        api_add(&line, "on record for %s", *name ? name : "another device");
        add_line(notes, &line);
        line = about(w, device);
    }
    if (!cpubind_status_memory_is_away(w) || count_place(w, CPUBIND_PLACE_RIGHT) < w->n_thread)
        return;
    api_add(&line, "memory by node:");
    for (int32_t i = 0; i < w->n_node; i++) {
        api_add(&line, "%s %d has ", i ? "," : "", (int)w->node[i].node);
        words_add_bytes(&line, w->node[i].bytes);
    }
    add_line(notes, &line);
}

/* Adds what the text says of a worker beside its keys. */
static void add_worker_text(words_value *row, words_value *notes, const cli_status *s,
                            const cpubind_status_worker *w, const char *device)
{
    const int64_t own = w->own_near + w->own_away;
    api_text threads = {"", 0}, memory = {"", 0}, line = about(w, device), pod = {"", 0};
    add_threads(&threads, w);
    if (w->has_memory) {
        words_add_bytes(&memory, own);
        if (w->memory_node >= 0 && own > 0)
            api_add(&memory, " %3d%%", (int)(w->own_near * 100 / own));
    }
    words_set(row, "threads", words_text(threads.text));
    words_set(row, "memory", words_word(memory.text));
    words_set(row, "record", words_word(w->worker->is_bound ? "bound" : NULL));
    if (w->worker->n_child > 0) {
        cli_add_children(&line, w->worker->n_child);
        add_line(notes, &line);
        line = about(w, device);
    }
    cli_add_pod(&pod, &w->worker->pod);
    if (pod.len > 0) {
        api_add(&line, "%s", pod.text + 2);
        add_line(notes, &line);
        line = about(w, device);
    }
    if (w->fault.error) {
        add_fault(&line, s, w);
        add_line(notes, &line);
    } else {
        note_places(notes, w, device);
    }
}

static void add_device_text(words_value *row, words_value *notes, const cli_status *s,
                            const cpubind_status_device *d)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    api_text irqs = {"", 0};
    cli_status_name(d, name);
    words_set(row, "name", words_text(name));
    if (has_irqs(d) && d->n_irq > 0)
        add_irqs(&irqs, d);
    words_set(row, "irqs", words_word(irqs.text));
    if (!cpubind_is_listed(d->found) && !has_irqs(d))
        words_set(row, "product", words_text(cli_product_of(d->found)));
    words_set(row, "users", d->n_worker ? words_number(d->n_worker) : words_text("idle"));
    for (int32_t i = 0; i < d->n_worker; i++)
        add_worker_text(words_at(words_get(row, "workers"), i), notes, s,
                        &s->status.worker[d->first_worker + i], name);
}

/* Adds what could not be seen, and why. */
static void add_gaps(words_value *lines, const cli_status *s)
{
    const cpubind_host_status *st = &s->status;
    const cpubind_problem *why = &s->unlisted;
    api_text unseen = {"", 0}, line = {"", 0};
    if (st->is_hidden_from_user)
        words_add(lines, words_text("memory, environment or records of other users are not "
                                    "seen; as root they are"));
    cli_explain_unseen(st->n_unseen, &unseen);
    add_line(lines, &unseen);
    if (st->is_other_namespace)
        words_add(lines, words_text("the driver numbers processes as the host does, and this "
                                    "is another pid namespace"));
    if (st->n_hidden > 0)
        api_add(&line, "npu-smi hides the numbers of %d processes", (int)st->n_hidden);
    add_line(lines, &line);
    line = (api_text){"", 0};
    if (st->n_elsewhere > 0)
        api_add(&line, "%d processes use devices that are not in view here",
                (int)st->n_elsewhere);
    add_line(lines, &line);
    line = (api_text){"", 0};
    if (why->code != CPUBIND_PROBLEM_NONE) {
        api_add(&line, "who runs is not known: ");
        api_add_input(&line, why->input ? why->input : "the host");
        api_add(&line, ": %s", why->what ? why->what : "unreadable");
    }
    add_line(lines, &line);
}

/* Whether a worker before this one is bound by the same rules. */
static int has_same_before(const cpubind_host_status *st, int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (strcmp(st->worker[k].worker->bound_rules, st->worker[i].worker->bound_rules) == 0)
            return 1;
    return 0;
}

/* "; 8 by the rules near, 2 by reference" of those that are bound. */
static void add_rules(api_text *to, const cpubind_host_status *st)
{
    const char *before = "; ", *words = " by the rules ";
    for (int32_t i = 0; i < st->n_worker; i++) {
        const char *word = st->worker[i].worker->bound_rules;
        int n = 0;
        if (!*word || has_same_before(st, i))
            continue;
        for (int32_t k = i; k < st->n_worker; k++)
            n += strcmp(st->worker[k].worker->bound_rules, word) == 0;
        api_add(to, "%s%d%s%s", before, n, words, word);
        before = ", ";
        words = " by ";
    }
}

static void add_summary(words_value *lines, const cpubind_host_status *st)
{
    const char *comma = ": ";
    api_text line = {"", 0};
    api_add(&line, "%d devices, %d idle; %d workers", (int)st->n_device, (int)st->n_idle,
            (int)st->n_worker);
    for (int place = 0; place < CPUBIND_PLACE_COUNT; place++) {
        if (st->count[place] == 0)
            continue;
        api_add(&line, "%s%d %s", comma, (int)st->count[place],
                cpubind_place_word((cpubind_place_kind)place));
        comma = ", ";
    }
    if (st->n_irq_elsewhere > 0)
        api_add(&line, "; %d interrupts elsewhere", (int)st->n_irq_elsewhere);
    add_rules(&line, st);
    add_line(lines, &line);
}

int cli_print_status(const cli_status *s)
{
    words_value *report = cli_status_json(s), *notes = words_array(), *summary = words_array();
    for (int32_t i = 0; i < s->status.n_device; i++)
        add_device_text(words_at(words_get(report, "devices"), i), notes, s,
                        &s->status.device[i]);
    add_summary(summary, &s->status);
    add_gaps(summary, s);
    cli_note_service(summary, s->options);
    cli_note_last_measure(summary, s->options);
    words_set(report, "notes", notes);
    words_set(report, "summary", summary);
    return cli_print_text(cli_status_view, report, s->options->columns);
}

/* == Changes ================================================================ */

/* Appends a line that is to be compared; the key is what comes before its second ": ". */
static int keep(cli_changes *to, const api_text *line)
{
    char **lines = (char **)realloc(to->line, (size_t)(to->n + 1) * sizeof *lines);
    if (!lines)
        return 0;
    to->line = lines;
    lines[to->n] = strdup(line->text);
    return lines[to->n] && ++to->n > 0;
}

static int keep_device(cli_changes *to, const cli_status *s, const cpubind_status_device *d)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    api_text line = {"", 0};
    int good;
    cli_status_name(d, name);
    api_add(&line, "%s: %s: ", name, has_irqs(d) ? "interrupts" : "pool");
    if (has_irqs(d))
        add_irqs(&line, d);
    else
        api_add_list(&line, d->pool.cpu, d->pool.n);
    if (d->n_worker == 0)
        api_add(&line, s->unlisted.code ? "; who runs is not known" : "; idle");
    good = keep(to, &line);
    for (int32_t i = 0; good && i < d->n_worker; i++) {
        const cpubind_status_worker *w = &s->status.worker[d->first_worker + i];
        line = (api_text){"", 0};
        api_add(&line, "%s: process %d: %s, %s", name, (int)w->worker->pid, w->worker->name,
                cpubind_place_word(w->place));
        for (int place = CPUBIND_PLACE_UNBOUND; place < CPUBIND_PLACE_COUNT; place++)
            if (count_place(w, (cpubind_place_kind)place) > 0)
                api_add(&line, ", %d threads %s",
                        (int)count_place(w, (cpubind_place_kind)place),
                        cpubind_place_word((cpubind_place_kind)place));
        if (cpubind_status_memory_is_away(w))
            api_add(&line, ", memory on other nodes");
        api_add(&line, w->worker->is_bound ? ", bound" : ", not bound");
        if (w->fault.error) {
            api_add(&line, "; ");
            add_fault(&line, s, w);
        }
        good = keep(to, &line);
    }
    return good;
}

/* The bytes of a line before its second ": ". */
static size_t key_of(const char *line)
{
    const char *colon = strstr(line, ": ");
    colon = colon ? strstr(colon + 1, ": ") : NULL;
    return colon ? (size_t)(colon - line) : strlen(line);
}

/* The line of a list with the key of a line, or NULL. */
static const char *find(const cli_changes *list, const char *line)
{
    const size_t n = key_of(line);
    for (int32_t i = 0; i < list->n; i++)
        if (key_of(list->line[i]) == n && strncmp(list->line[i], line, n) == 0)
            return list->line[i];
    return NULL;
}

void cli_free_changes(cli_changes *changes)
{
    for (int32_t i = 0; i < changes->n; i++)
        free(changes->line[i]);
    free(changes->line);
    *changes = (cli_changes){NULL, 0};
}

int cli_print_changes(FILE *out, const cli_status *s, cli_changes *last, int32_t *n_changed)
{
    const time_t now = time(NULL);
    cli_changes lines = {NULL, 0};
    struct tm utc;
    char at[32] = "";
    int good = 1;
    *n_changed = 0;
    if (gmtime_r(&now, &utc))
        (void)strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    for (int32_t i = 0; good && i < s->status.n_device; i++)
        good = keep_device(&lines, s, &s->status.device[i]);
    for (int32_t i = 0; i < lines.n; i++) {
        const char *before = find(last, lines.line[i]);
        if (before && strcmp(before, lines.line[i]) == 0)
            continue;
        ++*n_changed;
        if (out)
            fprintf(out, "%s %s\n", at, lines.line[i]);
    }
    for (int32_t i = 0; i < last->n; i++) {
        if (find(&lines, last->line[i]))
            continue;
        ++*n_changed;
        if (out)
            fprintf(out, "%s %.*s: ended\n", at, (int)key_of(last->line[i]), last->line[i]);
    }
    cli_free_changes(last);
    *last = lines;
    return good;
}
