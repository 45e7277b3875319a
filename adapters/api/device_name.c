/* device_name.c - the names of devices: read, and found among the devices of a host
 * SPDX-License-Identifier: MIT
 *
 * --device, --devices and --explain take these names, npu= and npus= of calls those of NPUs.
 * Prints nothing.
 *
 *   list    = name { "," name }                   with blanks before and after it
 *   name    = [ noun ] number [ "-" number [ ":" number ] ] | address
 *   noun    = that of the row of a vendor, such as npu or gpu; or device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../model/vendor.h"
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "device_plan.h"

#define NPU "npu"

/* == Reading ================================================================ */

/* Bytes of the noun that a name begins with; *noun is that of the rows, NULL: any device. */
static size_t read_noun(const char *text, const char **noun)
{
    static const char any[] = "device";
    *noun = NULL;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const char *one = cpubind_vendor_of((cpubind_vendor_id)i)->noun;
        if (!one || strncasecmp(text, one, strlen(one)) != 0)
            continue;
        *noun = one;
        return strlen(one);
    }
    return strncasecmp(text, any, sizeof any - 1) == 0 ? sizeof any - 1 : 0;
}

int api_read_name(const char *text, int32_t len, api_name *out)
{
    const int32_t n = (int32_t)read_noun(text, &out->noun);
    out->number = -1;
    if (cpubind_pci_parse(text, len, &out->pci, NULL) == CPUBIND_TEXT_OK)
        return 1;
    return n < len &&
           cpubind_number_parse(text + n, len - n, &out->number, NULL) == CPUBIND_TEXT_OK &&
           out->number >= 0 && out->number < CPUBIND_MAX_DEVICES;
}

static int add_name(api_names *names, api_name name)
{
    api_name *more =
        (api_name *)realloc(names->item, ((size_t)names->n + 1) * sizeof *names->item);
    if (!more)
        return 0;
    names->item = more;
    names->item[names->n++] = name;
    return 1;
}

/* Adds the names of an item of a list. Returns why it is none; *at is the byte at fault. */
static const char *read_item(const char *item, const char *only, api_names *out, int32_t *at)
{
    static const char no_room[] = "there is no memory left";
    const char *fault;
    api_numbers list = {NULL, 0};
    api_name name = {NULL, -1, {0}};
    size_t n;
    if (!only &&
        cpubind_pci_parse(item, (int32_t)strlen(item), &name.pci, NULL) == CPUBIND_TEXT_OK)
        return add_name(out, name) ? NULL : no_room;
    n = read_noun(item, &name.noun);
    if (only && name.noun && strcmp(name.noun, only) != 0)
        return "a number belongs here";
    if (!name.noun)
        name.noun = only;
    fault = api_read_numbers(item + n, CPUBIND_MAX_DEVICES, &list, at);
    *at += (int32_t)n;
    if (!fault && list.n == 0)
        fault = "a number belongs here";
    for (int32_t i = 0; !fault && i < list.n; i++) {
        name.number = list.item[i];
        fault = add_name(out, name) ? NULL : no_room;
    }
    free(list.item);
    return fault;
}

const char *api_read_names(const char *text, const char *only, api_names *out, int32_t *at)
{
    static const char blanks[] = " \t";
    const char *fault = NULL;
    size_t start = strspn(text, blanks);
    *out = (api_names){NULL, 0};
    *at = 0;
    while (!fault && (text[start] || out->n > 0)) {
        const size_t end = start + strcspn(text + start, ",");
        char *item = strndup(text + start, end - start);
        size_t len = item ? strlen(item) : 0;
        while (len > 0 && strchr(blanks, item[len - 1]))
            item[--len] = '\0';
        fault = item ? read_item(item, only, out, at) : "there is no memory left";
        *at += (int32_t)start;
        free(item);
        if (!text[end])
            break;
        start = end + 1 + strspn(text + end + 1, blanks);
    }
    return fault;
}

/* == Which device a name is ================================================= */

int api_is_called(const api_name *name, cpubind_vendor_id vendor, int32_t number, int32_t id,
                  const cpubind_pci_address *pci)
{
    const char *noun = cpubind_vendor_of(vendor)->noun;
    if (name->number < 0)
        return cpubind_pci_compare(&name->pci, pci) == 0;
    if (!name->noun)
        return id == name->number;
    return noun && strcmp(noun, name->noun) == 0 && number == name->number;
}

/* What a name is looked for in. */
typedef struct search {
    api_host own;          /* of a command that binds: this process ... */
    api_process_view view; /* ... and the host with its variables */
    api_planned read;
    cpubind_pci_rank *rank; /* of the devices that are no NPUs */
    int32_t n_rank;
    int32_t n_vendor; /* that the host has devices of */
    int has_npus, has_others;
} search;

static const cpubind_host_device *function_of(const search *s, int32_t rank)
{
    return &s->read.facts.bus[s->rank[rank].device];
}

static int32_t number_of(const search *s, int32_t rank)
{
    return cpubind_pci_number(function_of(s, rank), s->rank[rank].tile);
}

/* A process that binds another one names devices as it sees them itself, whichever host they
 * are read from. */
static int open_search(const cpubind_source *source, const api_options *o, search *s,
                       api_text *why)
{
    const cpubind_pci_request all = {.named = NULL};
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    cpubind_facts *f = &s->read.facts;
    cpubind_source seen;
    const int is_own = (o->command & API_LIVE) != 0;
    const int status = is_own ? api_open_live(0, 0, &s->own, why) : API_DONE;
    if (status != API_DONE)
        return status;
    s->view =
        (api_process_view){.host = source ? source : &s->own.source, .process = &s->own.source};
    seen = is_own ? api_process_source(&s->view) : *source;
    api_read_asked(&seen, &all, NULL, &s->read);
    if (s->read.code != CPUBIND_PROBLEM_NONE)
        return api_judge_devices(&s->read, NULL, why);
    s->rank = (cpubind_pci_rank *)malloc(((size_t)f->n_bus * CPUBIND_PCI_NUMBERS + 1) *
                                         sizeof *s->rank);
    if (!s->rank)
        return api_no_room(why);
    for (int32_t i = 0; i < f->n_bus; i++)
        s->n_vendor += n[f->bus[i].accelerator.vendor]++ == 0;
    s->has_npus = n[CPUBIND_VENDOR_ASCEND] > 0;
    s->has_others = s->n_vendor > s->has_npus;
    f->has_listed = s->has_npus;
    s->n_rank = cpubind_pci_ranks(f, s->rank);
    return API_DONE;
}

static void close_search(search *s)
{
    api_free_planned(&s->read);
    api_close_host(&s->own);
    free(s->rank);
}

/* Appends "npu0-3": devices of one noun whose numbers follow each other. */
static void add_run(api_text *to, const char *noun, int32_t first, int32_t last)
{
    api_add(to, "%s%s%d", to->len > 0 ? ", " : "", noun, (int)first);
    if (last > first)
        api_add(to, "-%d", (int)last);
}

/* Appends the names of all devices that this process sees. */
static void add_all(const search *s, api_text *to)
{
    cpubind_host_device *const *npu = s->read.facts.device;
    for (int32_t i = 0, k; i < s->read.facts.n_listed; i = k) {
        for (k = i + 1; k < s->read.facts.n_listed && npu[k]->logic == npu[k - 1]->logic + 1;)
            k++;
        add_run(to, NPU, npu[i]->logic, npu[k - 1]->logic);
    }
    for (int32_t i = 0, k; i < s->n_rank; i = k) {
        const cpubind_vendor_id vendor = function_of(s, i)->accelerator.vendor;
        const char *noun = cpubind_vendor_of(vendor)->noun;
        k = i + 1;
        if (!noun || number_of(s, i) < 0) {
            api_add(to, "%s", to->len > 0 ? ", " : "");
            api_add_pci(to, &function_of(s, i)->pci);
            continue;
        }
        while (k < s->n_rank && function_of(s, k)->accelerator.vendor == vendor &&
               number_of(s, k) == number_of(s, k - 1) + 1)
            k++;
        add_run(to, noun, number_of(s, i), number_of(s, k - 1));
    }
}

static void add_asked(const api_name *name, api_text *to)
{
    if (name->number < 0)
        api_add_pci(to, &name->pci);
    else
        api_add(to, "%s%d", name->noun ? name->noun : "device ", (int)name->number);
}

/* Says that a name is that of no device. */
static int refuse(const search *s, const api_name *name, api_text *why)
{
    api_text all = {"", 0};
    add_all(s, &all);
    api_add(why, "there is no ");
    add_asked(name, why);
    if (all.len > 0)
        api_add(why, " here; this process sees %s", all.text);
    else
        api_add(why, " here: the PCI bus shows this process no device");
    return API_REFUSED;
}

/* Says which devices a name may be. */
static int refuse_several(const search *s, const api_name *name, api_text *why)
{
    const cpubind_facts *npus = &s->read.facts;
    api_text names = {"", 0};
    for (int32_t i = 0; i < s->read.facts.n_listed; i++)
        if (name->number < 0 ? cpubind_pci_compare(&npus->device[i]->pci, &name->pci) == 0
                             : !name->noun && npus->device[i]->logic == name->number)
            add_run(&names, NPU, npus->device[i]->logic, -1);
    for (int32_t k = 0; k < s->n_rank; k++) {
        const cpubind_host_device *device = function_of(s, k);
        const char *noun = cpubind_vendor_of(device->accelerator.vendor)->noun;
        if (name->number < 0 || !noun || number_of(s, k) != name->number ||
            (name->noun && strcmp(name->noun, noun) != 0))
            continue;
        add_run(&names, noun, name->number, -1);
        api_add(&names, " (");
        api_add_pci(&names, &device->pci);
        api_add(&names, ")");
    }
    if (names.len == 0)
        return refuse(s, name, why);
    add_asked(name, why);
    return words_fail(API_REFUSED, why, " may be %s: name it in full, or by its address",
                      names.text);
}

/* A device that was found: an NPU by its logic id, a function of the bus, or a tile of one. */
typedef struct found {
    int32_t npu; /* or -1 */
    cpubind_pci_address pci;
    int32_t tile; /* or -1 */
} found;

/* An address is that of an NPU, else of any function. */
static int find_address(const search *s, const api_name *name, found *out, api_text *why)
{
    const cpubind_facts *npus = &s->read.facts;
    int32_t n = 0;
    *out = (found){-1, name->pci, -1};
    for (int32_t i = 0; i < s->read.facts.n_listed; i++)
        if (cpubind_pci_compare(&npus->device[i]->pci, &name->pci) == 0) {
            out->npu = npus->device[i]->logic;
            n++;
        }
    return n > 1 ? refuse_several(s, name, why) : API_DONE;
}

static int find(const search *s, const api_name *name, found *out, api_text *why)
{
    int32_t n = 0;
    if (name->number < 0)
        return find_address(s, name, out, why);
    *out = (found){name->number, {.domain = -1}, -1};
    if (name->noun ? strcmp(name->noun, NPU) == 0 : !s->has_others)
        return API_DONE;
    for (int32_t k = 0; k < s->n_rank; k++) {
        const cpubind_host_device *device = function_of(s, k);
        if (!api_is_called(name, device->accelerator.vendor, number_of(s, k), k, &device->pci))
            continue;
        *out = (found){-1, device->pci, s->rank[k].tile};
        n++;
    }
    if (n > 1 || (!name->noun && s->n_vendor > 1))
        return refuse_several(s, name, why);
    return n == 1 ? API_DONE : refuse(s, name, why);
}

/* == What the options name ================================================== */

int api_name_function(api_options *o, const cpubind_pci_address *pci, int32_t tile)
{
    if (o->topo.n_named == API_MAX_PCI)
        return 0;
    o->pci[o->topo.n_named] = *pci;
    o->tile[o->topo.n_named++] = tile;
    return 1;
}

int api_take_npus(api_options *o)
{
    const int32_t n = o->device.n;
    int32_t *npu;
    for (int32_t i = 0; i < n; i++)
        if (!o->device.item[i].noun || strcmp(o->device.item[i].noun, NPU) != 0)
            return 1;
    if (n == 0 || o->command == API_TOPO) /* which is about functions of the bus */
        return 1;
    o->device.n = 0;
    if (o->command & API_LIVE) {
        o->one_npu = o->device.item[0].number;
        (void)snprintf(o->npu_text, sizeof o->npu_text, "%d", (int)o->one_npu);
        return 1;
    }
    npu = (int32_t *)realloc(o->npus.item, (size_t)n * sizeof *npu);
    if (!npu)
        return 0;
    o->npus = (api_numbers){npu, n};
    for (int32_t i = 0; i < n; i++)
        npu[i] = o->device.item[i].number;
    (void)!cpubind_list_sort(npu, &o->npus.n);
    o->request.device = npu;
    o->request.n_device = o->npus.n;
    return 1;
}

/* The address of an NPU; domain -1: it is not known. */
static cpubind_pci_address address_of(const search *s, int32_t logic)
{
    const cpubind_facts *npus = &s->read.facts;
    for (int32_t i = 0; i < s->read.facts.n_listed; i++)
        if (npus->device[i]->logic == logic)
            return npus->device[i]->pci;
    return (cpubind_pci_address){.domain = -1};
}

/* Takes what was found as functions of the bus, the NPUs too. */
static int take_functions(api_options *o, const search *s, const found *one, api_text *why)
{
    for (int32_t i = 0; i < o->device.n; i++) {
        const cpubind_pci_address pci = one[i].npu < 0 ? one[i].pci : address_of(s, one[i].npu);
        if (pci.domain < 0)
            return refuse(s, &(api_name){NPU, one[i].npu, pci}, why);
        if (!api_name_function(o, &pci, one[i].tile))
            return words_fail(API_REFUSED, why, "more than %d devices are named", API_MAX_PCI);
    }
    return API_DONE;
}

/* Checks that functions, some of which may be NPUs, go with the command and its options. */
static int check_functions(const api_options *o, const search *s, int32_t n_npu, api_text *why)
{
    if (!(o->command & (API_PLAN | API_TOPO | API_STATUS)) && n_npu > 0)
        return words_fail(API_USAGE, why,
                          "NPUs and other devices are named: name those of one kind");
    if (o->command & (API_CAPTURE | API_CASE) && s->has_npus)
        return words_fail(
            API_USAGE, why,
            "a host with NPUs is captured with the plan of these: leave out the names "
            "of other devices");
    if (n_npu == o->device.n || !api_npu_option(o))
        return API_DONE;
    return words_fail(API_USAGE, why,
                      "%s is about NPUs alone, and other devices are named: leave it out",
                      api_npu_option(o));
}

/* Takes what was found, as NPUs where all are. */
static int take(api_options *o, const search *s, const found *one, int32_t n_npu, api_text *why)
{
    if (n_npu < o->device.n || o->command == API_TOPO) {
        const int status = check_functions(o, s, n_npu, why);
        return status == API_DONE ? take_functions(o, s, one, why) : status;
    }
    for (int32_t i = 0; i < n_npu; i++)
        o->device.item[i] = (api_name){NPU, one[i].npu, one[i].pci};
    return api_take_npus(o) ? API_DONE : api_no_room(why);
}

int api_find_devices(const cpubind_source *source, api_options *o, api_text *why)
{
    search s = {.n_rank = 0};
    found *one;
    int32_t n_npu = 0;
    int status;
    if (o->device.n == 0)
        return API_DONE;
    one = (found *)malloc((size_t)o->device.n * sizeof *one);
    status = one ? open_search(source, o, &s, why) : api_no_room(why);
    for (int32_t i = 0; status == API_DONE && i < o->device.n; i++) {
        status = find(&s, &o->device.item[i], &one[i], why);
        n_npu += status == API_DONE && one[i].npu >= 0;
    }
    if (status == API_DONE)
        status = take(o, &s, one, n_npu, why);
    o->device.n = 0;
    free(one);
    close_search(&s);
    return status;
}

/* The device of a name, where it is best known: of the bus, or as npu-smi lists it; or NULL. */
static const cpubind_host_device *device_of(const search *s, const found *one)
{
    const cpubind_facts *f = &s->read.facts;
    const cpubind_pci_address pci = one->npu < 0 ? one->pci : address_of(s, one->npu);
    const int32_t row = pci.domain < 0 ? -1 : cpubind_facts_on_bus(f, &pci);
    for (int32_t i = 0; row < 0 && i < f->n_listed; i++)
        if (f->device[i]->logic == one->npu)
            return f->device[i];
    return row < 0 ? NULL : api_place_of(f, &f->bus[row]);
}

int api_find_near(const cpubind_source *source, const char *device, api_near *out,
                  api_text *why)
{
    const api_options options = {.command = API_TOPO};
    const cpubind_host_device *its;
    search s = {.n_rank = 0};
    api_name name;
    found one;
    int status;
    if (!device || !api_read_name(device, (int32_t)strlen(device), &name))
        return words_fail(API_USAGE, why,
                          "name a device, such as npu3, gpu0 or its PCI address, "
                          "0000:c1:00.0");
    status = open_search(source, &options, &s, why);
    one = (found){-1, name.pci, -1}; /* where an address has several NPUs, all are there */
    if (status == API_DONE && name.number >= 0)
        status = find(&s, &name, &one, why);
    its = status == API_DONE ? device_of(&s, &one) : NULL;
    if (status == API_DONE && !its)
        status = refuse(&s, &name, why);
    if (its) {
        *out = (api_near){(int32_t *)malloc((size_t)its->n_cpu * sizeof *out->cpu + 1),
                          its->n_cpu, its->node};
        if (out->cpu && its->n_cpu > 0)
            memcpy(out->cpu, its->cpu, (size_t)its->n_cpu * sizeof *out->cpu);
        status = out->cpu ? API_DONE : api_no_room(why);
    }
    close_search(&s);
    return status;
}

void api_add_devices(const cpubind_source *source, const api_options *o, api_text *to)
{
    api_text why = {"", 0}, all = {"", 0};
    search s = {.n_rank = 0};
    if (open_search(source, o, &s, &why) == API_DONE)
        add_all(&s, &all);
    api_add(to, "%s", all.len > 0 ? all.text : "a PCI address");
    close_search(&s);
}
