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

int api_is_called(const api_name *name, const api_name *its, int32_t id)
{
    if (name->number < 0)
        return cpubind_pci_compare(&name->pci, &its->pci) == 0;
    if (!name->noun)
        return id == name->number;
    return its->noun && strcmp(its->noun, name->noun) == 0 && its->number == name->number;
}

api_name api_name_with(const cpubind_host_device *device, int32_t number)
{
    const char *noun = cpubind_vendor_of(device->accelerator.vendor)->noun;
    return (api_name){noun, noun ? number : -1, device->pci};
}

api_name api_name_of(const cpubind_host_device *device)
{
    if (cpubind_is_listed(device))
        return (api_name){NPU, device->logic, device->pci};
    return api_name_with(device, device->n_number == 1 ? device->number[0] : -1);
}

void api_add_names(api_text *to, const api_name *name, int32_t n)
{
    for (int32_t i = 0, k; i < n; i = k) {
        k = i + 1;
        api_add(to, i > 0 ? ", " : "");
        if (name[i].number < 0) {
            api_add_pci(to, &name[i].pci);
            continue;
        }
        while (k < n && api_is_called(&(api_name){name[i].noun, name[k - 1].number + 1, {0}},
                                      &name[k], -1))
            k++;
        api_add(to, "%s%d", name[i].noun, (int)name[i].number);
        if (k - i > 1)
            api_add(to, "-%d", (int)name[k - 1].number);
    }
}

/* What a name is looked for in. */
typedef struct search {
    api_host own;          /* of a command that binds: this process ... */
    api_process_view view; /* ... and the host with its variables */
    api_planned read;
    api_name *name; /* of all that this process sees: first the NPUs, then by rank ... */
    cpubind_pci_rank *rank; /* ... the functions of the bus that are none, and their tiles */
    int32_t n_name;
    int32_t n_vendor; /* that the host has devices of */
    int has_npus, has_others;
} search;

/* Names what the process sees. */
static int name_seen(search *s, api_text *why)
{
    const cpubind_facts *f = &s->read.facts;
    const size_t most = (size_t)f->n_bus * CPUBIND_PCI_NUMBERS + 1;
    int32_t n = 0;
    s->rank = (cpubind_pci_rank *)malloc(most * sizeof *s->rank);
    s->name = (api_name *)malloc((most + (size_t)f->n_listed) * sizeof *s->name);
    if (!s->rank || !s->name)
        return api_no_room(why);
    for (; n < f->n_listed; n++)
        s->name[n] = api_name_of(f->device[n]);
    s->n_name = n + cpubind_pci_ranks(f, s->rank);
    for (; n < s->n_name; n++) {
        const cpubind_pci_rank *rank = &s->rank[n - f->n_listed];
        const cpubind_host_device *device = &f->bus[rank->device];
        s->name[n] = api_name_with(device, cpubind_pci_number(device, rank->tile));
    }
    return API_DONE;
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
    for (int32_t i = 0; i < f->n_bus; i++)
        s->n_vendor += n[f->bus[i].accelerator.vendor]++ == 0;
    s->has_npus = n[CPUBIND_VENDOR_ASCEND] > 0;
    s->has_others = s->n_vendor > s->has_npus;
    f->has_listed = s->has_npus;
    return name_seen(s, why);
}

static void close_search(search *s)
{
    api_free_planned(&s->read);
    api_close_host(&s->own);
    free(s->name);
    free(s->rank);
}

static int is_npu(const search *s, int32_t i)
{
    return i < s->read.facts.n_listed;
}

static void add_asked(const api_name *name, api_text *to)
{
    if (name->noun || name->number < 0)
        api_add_names(to, name, 1);
    else
        api_add(to, "device %d", (int)name->number);
}

/* Says that a name is that of no device. */
static int refuse(const search *s, const api_name *name, api_text *why)
{
    api_add(why, "there is no ");
    add_asked(name, why);
    if (s->n_name == 0)
        return words_fail(API_REFUSED, why, " here: the PCI bus shows this process no device");
    api_add(why, " here; this process sees ");
    api_add_names(why, s->name, s->n_name);
    return API_REFUSED;
}

/* Says which devices a name may be. */
static int refuse_several(const search *s, const api_name *name, api_text *why)
{
    api_text names = {"", 0};
    for (int32_t i = 0; i < s->n_name; i++) {
        const api_name *its = &s->name[i];
        if (name->number < 0 ? !is_npu(s, i) : its->number < 0)
            continue;
        if (!api_is_called(name, its, its->number))
            continue;
        api_add(&names, names.len > 0 ? ", " : "");
        api_add_names(&names, its, 1);
        if (is_npu(s, i))
            continue;
        api_add(&names, " (");
        api_add_pci(&names, &its->pci);
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

/* Finds the device of a name. An address is that of an NPU, else of any function; the number of
 * an NPU is taken as it is: the plan says whether there is one. */
static int find(const search *s, const api_name *name, found *out, api_text *why)
{
    const int32_t n_npu = s->read.facts.n_listed;
    const int is_pci = name->number < 0;
    int32_t n = 0;
    *out = (found){name->number, {.domain = -1}, -1};
    if (!is_pci && (name->noun ? strcmp(name->noun, NPU) == 0 : !s->has_others))
        return API_DONE;
    if (is_pci)
        *out = (found){-1, name->pci, -1};
    for (int32_t i = is_pci ? 0 : n_npu; i < (is_pci ? n_npu : s->n_name); i++) {
        if (!api_is_called(name, &s->name[i], i - n_npu))
            continue;
        *out = is_pci ? (found){s->name[i].number, name->pci, -1}
                      : (found){-1, s->name[i].pci, s->rank[i - n_npu].tile};
        n++;
    }
    if (n > 1 || (!is_pci && !name->noun && s->n_vendor > 1))
        return refuse_several(s, name, why);
    return n == 1 || is_pci ? API_DONE : refuse(s, name, why);
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
    for (int32_t i = 0; is_npu(s, i); i++)
        if (s->name[i].number == logic)
            return s->name[i].pci;
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
    search s = {.n_name = 0};
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
    search s = {.n_name = 0};
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
    api_text why = {"", 0};
    search s = {.n_name = 0};
    if (open_search(source, o, &s, &why) == API_DONE && s.n_name > 0)
        api_add_names(to, s.name, s.n_name);
    else
        api_add(to, "a PCI address");
    close_search(&s);
}
