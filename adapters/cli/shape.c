/* shape.c - the shape of a host: its properties, and which of two shapes differ
 * SPDX-License-Identifier: MIT
 *
 * Reads nothing itself: facts, plan and findings come from the rooms that make them.
 */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "../ascend/npusmi.h"
#include "../doctor/doctor.h"
#include "../model/vendor.h"
#include "../text/cgroup.h"
#include "capture_doctor.h"
#include "output.h"
#include "status_text.h"

enum { MAX_PRODUCTS = 16 };

/* What the properties of a host are read from. */
typedef struct host_read {
    const cpubind_source *source;
    const cpubind_facts *facts;      /* NULL: they could not be read */
    const cpubind_device_plan *plan; /* NULL: there is none */
    const char *error;               /* the code of the reason for that; else NULL */
    const char *input;               /* that is at fault; NULL: none */
} host_read;

/* == Reading ================================================================ */

/* A text as value, which frees it. */
static words_value *value_of(api_out *text)
{
    words_value *value = text->is_short ? NULL : words_text(text->len ? text->text : "");
    free(text->text);
    return value;
}

/* A number above 0 as text; else "". */
static words_value *number_text(int32_t number)
{
    api_text text = {"", 0};
    if (number > 0)
        api_add(&text, "%d", (int)number);
    return words_text(text.text);
}

static void put_list(api_out *to, const int32_t *list, int32_t n)
{
    words_value *text = words_list(list, n);
    if (words_is(text, WORDS_TEXT))
        api_put_text(to, words_string(text));
    to->is_short |= !text;
    words_free(text);
}

/* An object with its keys in order, so that the order in which a host numbers its devices makes
 * no difference. Frees the former. */
static words_value *sorted(words_value *object)
{
    words_value *out = words_object();
    const char *last = "";
    for (int32_t n = words_count(object); n > 0; n--) {
        const char *next = NULL;
        for (int32_t i = 0; i < words_count(object); i++) {
            const char *key = words_key(object, i);
            if (strcmp(key, last) > 0 && (!next || strcmp(key, next) < 0))
                next = key;
        }
        words_set(out, next, words_share(words_get(object, next)));
        last = next;
    }
    words_free(object);
    return out;
}

/* Which of the devices of its PCI function device i is, from 0 on. */
static int32_t place_on_function(const cpubind_facts *f, int32_t i)
{
    int32_t n = 0;
    for (int32_t k = 0; k < i; k++)
        n += cpubind_pci_compare(&f->device[k]->pci, &f->device[i]->pci) == 0;
    return n;
}

/* Appends the key of a device: its address, of several at one with a number, and as label its
 * number, which says it; without an address the number. */
static void add_device(api_text *to, const cpubind_facts *f, int32_t i)
{
    const cpubind_host_device *device = f->device[i];
    const int32_t number = device->phy >= 0 ? device->phy : device->logic;
    const char *noun = cpubind_vendor_of(device->accelerator.vendor)->noun;
    const int32_t place = place_on_function(f, i);
    const int has_address = device->pci.domain >= 0;
    if (has_address) {
        api_add_pci(to, &device->pci);
        if (place > 0)
            api_add(to, "/%d", (int)place);
        api_add(to, " [");
    }
    for (noun = noun ? noun : "device"; *noun; noun++)
        api_add(to, "%c", *noun >= 'a' && *noun <= 'z' ? *noun - 'a' + 'A' : *noun);
    api_add(to, " %d%s", (int)number, has_address ? "]" : "");
}

static int by_word(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static words_value *read_products(const host_read *h)
{
    const char *word[MAX_PRODUCTS] = {NULL};
    api_out text = {0};
    size_t n = 0;
    for (int32_t i = 0; h->facts && i < h->facts->n_device; i++) {
        const char *product = cli_product_of(h->facts->device[i]);
        size_t k = 0;
        while (k < n && strcmp(word[k], product) != 0)
            k++;
        if (k == n && n < MAX_PRODUCTS)
            word[n++] = product;
    }
    qsort(word, n, sizeof *word, by_word);
    for (size_t i = 0; i < n; i++)
        api_put(&text, "%s%s", i ? ", " : "", word[i]);
    return value_of(&text);
}

static words_value *read_error(const host_read *h)
{
    api_text text = {"", 0};
    if (h->error)
        api_add(&text, "%s%s", h->error, h->input ? ": " : "");
    if (h->error && h->input)
        api_add_input(&text, h->input);
    return words_text(text.text);
}

static words_value *read_devices(const host_read *h)
{
    const cpubind_facts *f = h->facts;
    int32_t *node = f ? (int32_t *)malloc(((size_t)f->n_node + 1) * sizeof *node) : NULL;
    words_value *devices = f && !node ? NULL : words_object();
    for (int32_t i = 0; node && i < f->n_device; i++) {
        const cpubind_host_device *d = f->device[i];
        int32_t n = api_nodes_of(f, d->cpu, d->n_cpu, node);
        api_text key = {"", 0};
        api_out text = {0};
        if (n == 0 && d->node >= 0)
            node[n++] = d->node;
        add_device(&key, f, i);
        api_put(&text, "%s on %s ", cli_product_of(d), n == 1 ? "node" : "nodes");
        put_list(&text, node, n);
        if (n == 0)
            api_put_text(&text, "unknown");
        words_set(devices, key.text, value_of(&text));
    }
    free(node);
    return sorted(devices);
}

/* The first line of an input, or its line that starts with `key`, without the key. */
static cpubind_piece line_of(cpubind_input input, const char *key)
{
    const size_t n = strlen(key);
    cpubind_piece line = {0, 0};
    for (int32_t at = 0; input.state == CPUBIND_INPUT_PRESENT && at < input.len;
         at += line.len + 1) {
        const char *end = (const char *)memchr(input.data + at, '\n', (size_t)(input.len - at));
        line = (cpubind_piece){at, (end ? (int32_t)(end - input.data) : input.len) - at};
        if ((size_t)line.len >= n && strncmp(input.data + at, key, n) == 0)
            return (cpubind_piece){line.at + (int32_t)n, line.len - (int32_t)n};
    }
    return (cpubind_piece){0, 0};
}

static cpubind_input read_input(const host_read *h, const char *name)
{
    return h->source->read(h->source->ctx, name);
}

static words_value *read_machine(const host_read *h)
{
    const cpubind_input input = read_input(h, "uname");
    const cpubind_piece line = line_of(input, "");
    return words_text_of(line.len ? input.data + line.at : "", (size_t)line.len);
}

/* The class of the version at a piece of an input: its first two parts, "5.10" of
 * "5.10.0-136.el8"; "" where there is none. */
static words_value *class_of(cpubind_input input, cpubind_piece piece, int is_kernel)
{
    api_text text = {"", 0};
    int32_t part[2] = {-1, -1}, at = 0;
    for (int i = 0; i < 2; i++) {
        const int32_t start = at;
        int32_t number = 0;
        for (; at < piece.len && at - start < 6; at++) {
            const char digit = input.data[piece.at + at];
            if (digit < '0' || digit > '9')
                break;
            number = number * 10 + (digit - '0');
        }
        if (at == start)
            break;
        part[i] = number;
        at += at < piece.len && input.data[piece.at + at] == '.';
    }
    if (part[1] >= 0)
        api_add(&text, "%d.%d", (int)part[0], (int)part[1]);
    if (is_kernel && part[1] >= 0 && (part[0] < 6 || (part[0] == 6 && part[1] < 2)))
        api_add(&text, " (before 6.2)");
    return words_text(text.text);
}

static words_value *read_kernel(const host_read *h)
{
    const cpubind_input input = read_input(h, "proc/sys/kernel/osrelease");
    return class_of(input, line_of(input, ""), 1);
}

static words_value *read_driver(const host_read *h)
{
    const cpubind_input input = read_input(h, "usr/local/Ascend/driver/version.info");
    return class_of(input, line_of(input, "Version="), 0);
}

static words_value *read_npu_smi(const host_read *h)
{
    const cpubind_input input = read_input(h, "cmd/npu-smi-info.txt");
    cpubind_piece version = {0, 0};
    if (input.state == CPUBIND_INPUT_PRESENT)
        version = cpubind_npusmi_version(input.data, input.len);
    return class_of(input, version, 0);
}

static words_value *read_cgroup(const host_read *h)
{
    const cpubind_input input = read_input(h, "proc/self/cgroup");
    cpubind_cgroup cpuset;
    if (input.state != CPUBIND_INPUT_PRESENT ||
        cpubind_cgroup_find(input.data, input.len, "cpuset", &cpuset) != CPUBIND_TEXT_OK)
        return words_text("");
    return words_text(cpuset.is_version_1 ? "v1" : "v2");
}

static int32_t count_sockets(const cpubind_facts *f)
{
    int32_t n = 0;
    for (int32_t i = 0, k; f && f->socket && i < f->n_node; i++, n += k == i - 1) {
        for (k = 0; f->socket[k] != f->socket[i]; k++)
            ;
    }
    return n;
}

static words_value *read_sockets(const host_read *h)
{
    return number_text(count_sockets(h->facts));
}

static words_value *read_nps(const host_read *h)
{
    const int32_t n = count_sockets(h->facts);
    const int is_even = n > 0 && h->facts->has_nodes && h->facts->n_node % n == 0;
    return number_text(is_even ? h->facts->n_node / n : 0);
}

/* The CPUs of the largest core; "": which CPUs share one is not known. */
static words_value *read_smt(const host_read *h)
{
    const cpubind_facts *f = h->facts;
    int32_t *n, most = 0;
    if (!f || !f->core_of)
        return number_text(f ? f->threads : 0);
    n = (int32_t *)calloc(CPUBIND_MAX_CPUS, sizeof *n);
    for (int32_t i = 0; n && i < f->n_cpu_id; i++)
        if (f->core_of[i] >= 0 && ++n[f->core_of[i]] > most)
            most = n[f->core_of[i]];
    free(n);
    return n ? number_text(most) : NULL;
}

static words_value *read_cpus(const host_read *h)
{
    return number_text(h->facts ? h->facts->n_online : 0);
}

/* The CPUs that are on a node, or, below 0, in the core of the first one. */
static words_value *cpus_of(const cpubind_facts *f, int32_t node)
{
    int32_t *cpu = (int32_t *)malloc(((size_t)f->n_cpu_id + 1) * sizeof *cpu), n = 0, core = -1;
    api_out text = {.is_short = !cpu};
    for (int32_t i = 0; cpu && i < f->n_cpu_id; i++) {
        if (node < 0 && core < 0)
            core = f->core_of[i];
        if (node >= 0 ? f->node_of[i] == node : core >= 0 && f->core_of[i] == core)
            cpu[n++] = i;
    }
    if (cpu)
        put_list(&text, cpu, n);
    free(cpu);
    return value_of(&text);
}

static void set_node(words_value *object, int32_t node, words_value *value)
{
    api_text key = {"", 0};
    api_add(&key, "node %d", (int)node);
    words_set(object, key.text, value);
}

static words_value *read_nodes(const host_read *h)
{
    const cpubind_facts *f = h->facts;
    words_value *nodes = words_object();
    for (int32_t i = 0; f && i < f->n_node; i++)
        set_node(nodes, f->node_id[i], cpus_of(f, f->node_id[i]));
    return nodes;
}

static words_value *read_distances(const host_read *h)
{
    const cpubind_facts *f = h->facts;
    words_value *nodes = words_object();
    for (int32_t i = 0; f && f->distance && i < f->n_node; i++) {
        api_out text = {0};
        for (int32_t k = 0; k < f->n_node; k++)
            api_put(&text, "%s%d", k ? " " : "", (int)f->distance[i * f->n_node + k]);
        set_node(nodes, f->node_id[i], value_of(&text));
    }
    return nodes;
}

static words_value *read_siblings(const host_read *h)
{
    return h->facts && h->facts->core_of ? cpus_of(h->facts, -1) : words_text("");
}

static words_value *read_allowed(const host_read *h)
{
    api_out text = {0};
    if (h->facts && h->facts->n_cpu == h->facts->n_online)
        api_put_text(&text, "all");
    else if (h->facts)
        put_list(&text, h->facts->cpu, h->facts->n_cpu);
    return value_of(&text);
}

static words_value *read_scope(const host_read *h)
{
    return words_text(h->facts ? cpubind_scope_word(h->facts->scope) : "");
}

static words_value *read_rules(const host_read *h)
{
    return words_text(h->plan ? cpubind_rules_word(h->plan->rules) : "");
}

static words_value *read_strategy(const host_read *h)
{
    return words_text(h->plan ? api_strategy_word(h->facts->strategy) : "");
}

/* "24-29,36-41 irq 24-25 acl 28 release 29". */
static words_value *roles_of(const api_row *row)
{
    api_out text = {0};
    put_list(&text, row->cpu, row->n);
    if (row->n == 0)
        api_put_text(&text, "no pool");
    for (int32_t role = 0; row->n > 0 && role < CPUBIND_ALL_ROLES; role++) {
        int32_t n;
        const int32_t *cpu = api_role_of(row, (cpubind_role)role, &n);
        if (role == CPUBIND_ROLE_MAIN || n == 0)
            continue;
        api_put(&text, " %s ", cpubind_role_name((cpubind_role)role));
        put_list(&text, cpu, n);
    }
    return value_of(&text);
}

static words_value *read_plan(const host_read *h)
{
    words_value *plan = words_object();
    for (int32_t i = 0; h->plan && i < h->plan->n_unit; i++) {
        const api_row row = api_shown(h->facts, h->plan, i);
        api_text key = {"", 0};
        add_device(&key, h->facts, h->plan->unit[i].device);
        if (row.tile >= 0)
            api_add(&key, " tile %d", (int)row.tile);
        words_set(plan, key.text, roles_of(&row));
    }
    return sorted(plan);
}

static words_value *read_quality(const host_read *h)
{
    static const char *const keys[] = {"near_percent", "far",      "irq_off_node",
                                       "split_caches", "nodes",    "split_cores",
                                       "idle",         "smallest", "largest"};
    words_value *quality = words_object();
    for (size_t i = 0; h->plan && i < sizeof keys / sizeof *keys; i++)
        words_set(quality, keys[i], words_id(api_figure(api_figures_of(h->plan), keys[i])));
    return quality;
}

/* == The table ============================================================== */

static const struct {
    const char *name;
    words_value *(*read)(const host_read *h);
} properties[] = {
#define CPUBIND_X(name) {#name, read_##name},
    CLI_SHAPE_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const char *cli_shape_name(int32_t property)
{
    return properties[property].name;
}

/* == A whole shape ========================================================== */

/* Adds the word of a check, once. */
static void add_check(words_value *words, const cpubind_doctor_check *check)
{
    const words_value *last = words_at(words, words_count(words) - 1);
    if (words_count(words) == 0 || strcmp(words_string(last), check->word) != 0)
        words_add(words, words_text(check->word));
}

/* Adds what doctor finds, but for what it says of single processes and threads. */
static void add_findings(const cli_examination *e, words_value *shape)
{
    words_value *found = words_array(), *unknown = words_array();
    for (int32_t i = 0; i < e->report.n_finding; i++)
        if (e->report.finding[i].pid < 0 && e->report.finding[i].tid < 0)
            add_check(found, e->report.finding[i].check);
    for (int32_t i = 0; i < e->report.n_unknown; i++)
        add_check(unknown, e->report.unknown[i].check);
    words_set(shape, "found", found);
    words_set(shape, "unknown", unknown);
}

static words_value *properties_json(const host_read *h)
{
    words_value *object = words_object();
    for (int32_t i = 0; i < CLI_SHAPES; i++)
        words_set(object, properties[i].name, properties[i].read(h));
    return object;
}

static int get_ready(cli_shape_reader *reader)
{
    char word[] = "plan", *argv[] = {word, NULL};
    api_text why = {"", 0};
    if (!reader->is_ready) {
        reader->is_ready = cli_parse(1, argv, API_CASE, &reader->options, &why);
        reader->options.request.wants_pci = 1;
    }
    return reader->is_ready;
}

words_value *cli_read_shape(cli_shape_reader *reader, const cpubind_source *source)
{
    api_planned *const planned = &reader->planned;
    cpubind_doctor_bus bus = {.facts = &planned->facts};
    host_read h = {.source = source};
    api_text why = {"", 0};
    words_value *shape = NULL;
    cli_examination e = {
        .request = {.source = source, .request = &reader->options.request, .npu_smi_ms = -1}};
    int status;
    if (!get_ready(reader))
        return NULL;
    status = api_plan(source, &reader->options, planned, &why);
    h.facts = planned->has_facts ? &planned->facts : NULL;
    if (planned->code != CPUBIND_PROBLEM_NONE) {
        h.error = cpubind_problem_word(planned->code);
        h.input = planned->problem.input;
        if (why.len == 0)
            api_explain(planned, &reader->options, &why);
    } else if (status != API_DONE) {
        h.error = api_status_word(status);
    } else if (api_check_pools(planned, &reader->options, &why) != API_DONE) {
        h.error = cpubind_problem_word(CPUBIND_PROBLEM_NO_LOCAL_CPUS);
    } else {
        h.plan = &planned->plan;
    }
    if (status == API_DONE && api_is_of_bus(planned, &reader->options)) {
        bus.plan = h.plan;
        e.request.bus = &bus;
    } else {
        e.request.facts = h.facts;
        e.request.plan = h.plan;
    }
    if (cli_examine(&e, &reader->arena))
        shape = words_make("properties:v why:v", properties_json(&h),
                           h.error ? words_text(why.text) : words_null());
    if (shape)
        add_findings(&e, shape);
    if (words_is_whole(shape))
        return shape;
    words_free(shape);
    return NULL;
}

void cli_free_shape_reader(cli_shape_reader *reader)
{
    if (reader->is_ready)
        api_free_options(&reader->options);
    api_free_planned(&reader->planned);
    free(reader->arena.base);
    *reader = (cli_shape_reader){.is_ready = 0};
}

uint32_t cli_shape_differs(const char *const *own, const char *const *other)
{
    uint32_t differs = 0;
    for (int32_t i = 0; i < CLI_SHAPES; i++)
        differs |= own[i] != other[i] ? 1u << i : 0;
    return differs;
}
