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

static void put_list(api_out *to, const int32_t *list, int32_t n)
{
    for (int32_t i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && list[last + 1] == list[last] + 1; last++)
            ;
        api_put(to, "%s%d", i ? "," : "", (int)list[i]);
        if (last > i)
            api_put(to, "-%d", (int)list[last]);
    }
}

/* The product of a device: "a2", "H100 SXM5"; else the word of its vendor. */
static const char *product_of(const cpubind_host_device *device)
{
    const char *product = device->accelerator.product;
    return product ? product : cpubind_vendor_word(device->accelerator.vendor);
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
static void put_device(api_out *to, const cpubind_facts *f, int32_t i)
{
    const cpubind_host_device *device = f->device[i];
    const int32_t number = device->phy >= 0 ? device->phy : device->logic;
    const char *noun = cpubind_vendor_of(device->accelerator.vendor)->noun;
    api_text pci = {"", 0}, label = {"", 0};
    const int32_t place = place_on_function(f, i);
    if (device->pci.domain >= 0)
        api_add_pci(&pci, &device->pci);
    if (pci.len > 0 && place > 0)
        api_add(&pci, "/%d", (int)place);
    for (noun = noun ? noun : "device"; *noun; noun++)
        api_add(&label, "%c", *noun >= 'a' && *noun <= 'z' ? *noun - 'a' + 'A' : *noun);
    api_add(&label, " %d", (int)number);
    if (pci.len > 0)
        api_put(to, "%s [%s]=", pci.text, label.text);
    else
        api_put(to, "%s=", label.text);
}

static int by_word(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_products(const host_read *h, api_out *to)
{
    const char *word[MAX_PRODUCTS] = {NULL};
    size_t n = 0;
    for (int32_t i = 0; h->facts && i < h->facts->n_device; i++) {
        const char *product = product_of(h->facts->device[i]);
        size_t k = 0;
        while (k < n && strcmp(word[k], product) != 0)
            k++;
        if (k == n && n < MAX_PRODUCTS)
            word[n++] = product;
    }
    qsort(word, n, sizeof *word, by_word);
    for (size_t i = 0; i < n; i++)
        api_put(to, "%s%s", i ? ", " : "", word[i]);
}

static void read_error(const host_read *h, api_out *to)
{
    api_text input = {"", 0};
    if (h->error && h->input)
        api_add_input(&input, h->input);
    api_put(to, "%s%s%s", h->error ? h->error : "", input.len ? ": " : "", input.text);
}

/* Sorts the items of a list by their text, so that the order in which a host numbers its
 * devices makes no difference. */
static void sort_items(api_out *list)
{
    size_t n = 1;
    for (const char *at = list->text; at && *at; at++)
        n += *at == ';';
    char **item = (char **)malloc(n * sizeof *item);
    char *copy = list->text ? strdup(list->text) : NULL, *rest = copy;
    if (n > 1 && item && copy) {
        for (size_t i = 0; i < n; i++)
            item[i] = strsep(&rest, ";");
        qsort(item, n, sizeof *item, by_word);
        list->len = 0;
        for (size_t i = 0; i < n; i++)
            api_put(list, "%s%s", i ? ";" : "", item[i]);
    }
    list->is_short |= !item || (list->text && !copy);
    free(item);
    free(copy);
}

static void read_devices(const host_read *h, api_out *to)
{
    const cpubind_facts *f = h->facts;
    int32_t *node = f ? (int32_t *)malloc(((size_t)f->n_node + 1) * sizeof *node) : NULL;
    to->is_short |= f && !node;
    for (int32_t i = 0; node && i < f->n_device; i++) {
        const cpubind_host_device *d = f->device[i];
        int32_t n = api_nodes_of(f, d->cpu, d->n_cpu, node);
        if (n == 0 && d->node >= 0)
            node[n++] = d->node;
        api_put_text(to, i ? ";" : "");
        put_device(to, f, i);
        api_put(to, "%s on %s ", product_of(d), n == 1 ? "node" : "nodes");
        put_list(to, node, n);
        if (n == 0)
            api_put_text(to, "unknown");
    }
    free(node);
    sort_items(to);
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

static void read_machine(const host_read *h, api_out *to)
{
    const cpubind_input input = read_input(h, "uname");
    const cpubind_piece line = line_of(input, "");
    api_put(to, "%.*s", (int)line.len, line.len ? input.data + line.at : "");
}

/* Appends the class of a version: its first two parts, "5.10" of "5.10.0-136.el8". Returns
 * them. */
static void put_class(api_out *to, const char *text, int32_t len, int32_t part[2])
{
    int32_t at = 0;
    part[0] = part[1] = -1;
    for (int i = 0; i < 2; i++) {
        const int32_t start = at;
        int32_t number = 0;
        for (; at < len && text[at] >= '0' && text[at] <= '9' && at - start < 6; at++)
            number = number * 10 + (text[at] - '0');
        if (at == start)
            break;
        part[i] = number;
        if (at < len && text[at] == '.')
            at++;
    }
    if (part[0] >= 0 && part[1] >= 0)
        api_put(to, "%d.%d", (int)part[0], (int)part[1]);
}

static void read_kernel(const host_read *h, api_out *to)
{
    const cpubind_input input = read_input(h, "proc/sys/kernel/osrelease");
    const cpubind_piece line = line_of(input, "");
    int32_t part[2];
    if (line.len == 0)
        return;
    put_class(to, input.data + line.at, line.len, part);
    if (part[1] >= 0 && (part[0] < 6 || (part[0] == 6 && part[1] < 2)))
        api_put_text(to, " (before 6.2)");
}

static void read_driver(const host_read *h, api_out *to)
{
    const cpubind_input input = read_input(h, "usr/local/Ascend/driver/version.info");
    const cpubind_piece line = line_of(input, "Version=");
    int32_t part[2];
    if (line.len > 0)
        put_class(to, input.data + line.at, line.len, part);
}

static void read_npu_smi(const host_read *h, api_out *to)
{
    const cpubind_input input = read_input(h, "cmd/npu-smi-info.txt");
    int32_t part[2];
    if (input.state != CPUBIND_INPUT_PRESENT)
        return;
    const cpubind_piece version = cpubind_npusmi_version(input.data, input.len);
    if (version.len > 0)
        put_class(to, input.data + version.at, version.len, part);
}

static void read_cgroup(const host_read *h, api_out *to)
{
    const cpubind_input input = read_input(h, "proc/self/cgroup");
    cpubind_cgroup cpuset;
    if (input.state == CPUBIND_INPUT_PRESENT &&
        cpubind_cgroup_find(input.data, input.len, "cpuset", &cpuset) == CPUBIND_TEXT_OK)
        api_put_text(to, cpuset.is_version_1 ? "v1" : "v2");
}

static int32_t count_sockets(const cpubind_facts *f)
{
    int32_t n = 0;
    for (int32_t i = 0, k; f->socket && i < f->n_node; i++, n += k == i - 1) {
        for (k = 0; f->socket[k] != f->socket[i]; k++)
            ;
    }
    return n;
}

static void read_sockets(const host_read *h, api_out *to)
{
    if (h->facts && h->facts->socket)
        api_put(to, "%d", (int)count_sockets(h->facts));
}

static void read_nps(const host_read *h, api_out *to)
{
    const int32_t n = h->facts ? count_sockets(h->facts) : 0;
    if (n > 0 && h->facts->has_nodes && h->facts->n_node % n == 0)
        api_put(to, "%d", (int)(h->facts->n_node / n));
}

/* The CPUs of the largest core; 0: which CPUs share one is not known. */
static int32_t threads_of(const cpubind_facts *f, api_out *to)
{
    int32_t *n = (int32_t *)calloc(CPUBIND_MAX_CPUS, sizeof *n), most = 0;
    to->is_short |= !n;
    for (int32_t i = 0; n && f->core_of && i < f->n_cpu_id; i++)
        if (f->core_of[i] >= 0 && ++n[f->core_of[i]] > most)
            most = n[f->core_of[i]];
    free(n);
    return f->core_of ? most : f->threads;
}

static void read_smt(const host_read *h, api_out *to)
{
    const int32_t n = h->facts ? threads_of(h->facts, to) : 0;
    if (n > 0)
        api_put(to, "%d", (int)n);
}

static void read_cpus(const host_read *h, api_out *to)
{
    if (h->facts)
        api_put(to, "%d", (int)h->facts->n_online);
}

/* Appends the CPUs that are on a node, or, below 0, in the core of the first one. */
static void put_cpus_of(const cpubind_facts *f, int32_t node, api_out *to)
{
    int32_t *cpu = (int32_t *)malloc(((size_t)f->n_cpu_id + 1) * sizeof *cpu), n = 0, core = -1;
    to->is_short |= !cpu;
    for (int32_t i = 0; cpu && i < f->n_cpu_id; i++) {
        if (node < 0 && core < 0)
            core = f->core_of[i];
        if (node >= 0 ? f->node_of[i] == node : core >= 0 && f->core_of[i] == core)
            cpu[n++] = i;
    }
    if (cpu)
        put_list(to, cpu, n);
    free(cpu);
}

static void read_nodes(const host_read *h, api_out *to)
{
    const cpubind_facts *f = h->facts;
    for (int32_t i = 0; f && i < f->n_node; i++) {
        api_put(to, "%snode %d=", i ? ";" : "", (int)f->node_id[i]);
        put_cpus_of(f, f->node_id[i], to);
    }
}

static void read_distances(const host_read *h, api_out *to)
{
    const cpubind_facts *f = h->facts;
    for (int32_t i = 0; f && f->distance && i < f->n_node; i++) {
        api_put(to, "%snode %d=", i ? ";" : "", (int)f->node_id[i]);
        for (int32_t k = 0; k < f->n_node; k++)
            api_put(to, "%s%d", k ? " " : "", (int)f->distance[i * f->n_node + k]);
    }
}

static void read_siblings(const host_read *h, api_out *to)
{
    if (h->facts && h->facts->core_of)
        put_cpus_of(h->facts, -1, to);
}

static void read_allowed(const host_read *h, api_out *to)
{
    if (h->facts && h->facts->n_cpu == h->facts->n_online)
        api_put_text(to, "all");
    else if (h->facts)
        put_list(to, h->facts->cpu, h->facts->n_cpu);
}

static void read_scope(const host_read *h, api_out *to)
{
    if (h->facts)
        api_put_text(to, cpubind_scope_word(h->facts->scope));
}

static void read_rules(const host_read *h, api_out *to)
{
    if (h->plan)
        api_put_text(to, cpubind_rules_word(h->plan->rules));
}

static void read_strategy(const host_read *h, api_out *to)
{
    if (h->plan)
        api_put_text(to, api_strategy_word(h->facts->strategy));
}

static void read_plan(const host_read *h, api_out *to)
{
    for (int32_t i = 0; h->plan && i < h->plan->n_unit; i++) {
        const api_row row = api_shown(h->facts, h->plan, i);
        api_put_text(to, i ? ";" : "");
        put_device(to, h->facts, h->plan->unit[i].device);
        if (row.tile >= 0)
            api_put(to, "tile %d: ", (int)row.tile);
        put_list(to, row.cpu, row.n);
        if (row.n == 0)
            api_put_text(to, "no pool");
        for (int32_t role = 0; row.n > 0 && role < CPUBIND_ALL_ROLES; role++) {
            int32_t n;
            const int32_t *cpu = api_role_of(&row, (cpubind_role)role, &n);
            if (role == CPUBIND_ROLE_MAIN || n == 0)
                continue;
            api_put(to, " %s ", cpubind_role_name((cpubind_role)role));
            put_list(to, cpu, n);
        }
    }
    sort_items(to);
}

static void read_quality(const host_read *h, api_out *to)
{
    static const char *const keys[] = {"near_percent", "far",      "irq_off_node",
                                       "split_caches", "nodes",    "split_cores",
                                       "idle",         "smallest", "largest"};
    for (size_t i = 0; h->plan && i < sizeof keys / sizeof *keys; i++)
        api_put(to, "%s%s=%d", i ? ";" : "", keys[i],
                (int)api_figure(api_figures_of(h->plan), keys[i]));
}

/* == The table ============================================================== */

enum { WORD, LIST };

static const struct {
    const char *name;
    void (*read)(const host_read *h, api_out *to);
    int kind;
} properties[] = {
#define CPUBIND_X(name, kind) {#name, read_##name, kind},
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
    api_out text = {0};
    for (int32_t i = 0; i < CLI_SHAPES; i++) {
        text.len = 0;
        api_put_text(&text, "");
        properties[i].read(h, &text);
        words_set(object, properties[i].name,
                  text.is_short ? NULL : words_text(text.len ? text.text : ""));
    }
    free(text.text);
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

/* == Lists ================================================================== */

/* One item of a list. */
typedef struct item {
    const char *key, *label, *value; /* label NULL: it has none */
    int key_len, label_len, value_len;
} item;

/* Reads the item at *at, which is moved behind it. Returns 0 at the end. A list may come from a
 * corpus of others: an item without "=" is a key without a value. */
static int next_item(const char **at, item *out)
{
    const char *const end = *at + strcspn(*at, ";");
    const char *equal = *at;
    if (!**at)
        return 0;
    while (equal < end && *equal != '=')
        equal++;
    *out = (item){.key = *at, .key_len = (int)(equal - *at), .value = equal};
    if (equal < end)
        out->value = equal + 1;
    out->value_len = (int)(end - out->value);
    for (int i = 0; i + 2 < out->key_len; i++)
        if (out->key[i] == ' ' && out->key[i + 1] == '[') {
            out->label = out->key + i + 2;
            out->label_len = out->key_len - i - 3;
            out->key_len = i;
        }
    *at = *end ? end + 1 : end;
    return 1;
}

/* A value as a number, or as a string. */
static words_value *value_json(const item *one)
{
    api_text text = {"", 0};
    char *end = NULL;
    api_add(&text, "%.*s", one->value_len, one->value);
    const long number = strtol(text.text, &end, 10);
    if (text.len > 0 && text.len < 10 && *end == '\0')
        return number < 0 ? words_null() : words_number(number);
    return words_text(text.text);
}

words_value *cli_shape_json(int32_t property, const char *text)
{
    words_value *object;
    item one;
    if (properties[property].kind != LIST)
        return words_text(text);
    object = words_object();
    while (next_item(&text, &one)) {
        api_text key = {"", 0};
        const int has_label = one.label != NULL;
        api_add(&key, "%.*s%s%.*s%s", one.key_len, one.key, has_label ? " [" : "",
                has_label ? one.label_len : 0, has_label ? one.label : "",
                has_label ? "]" : "");
        words_set(object, key.text, value_json(&one));
    }
    return object;
}

uint32_t cli_shape_differs(const char *const *own, const char *const *other)
{
    uint32_t differs = 0;
    for (int32_t i = 0; i < CLI_SHAPES; i++)
        differs |= own[i] != other[i] ? 1u << i : 0;
    return differs;
}
