/* pci_sight.c - what this process sees of each device, by its device files and the variables of
 * the runtimes
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. visible_devices.h has the rules. A
 * runtime is taken to number its devices in the order of their PCI addresses, which the drivers
 * of AMD and Intel do; CUDA does with CUDA_DEVICE_ORDER=PCI_BUS_ID, and otherwise among devices
 * that are equally fast: here, of one device id.
 */
#include "device_users.h"
#include "pci_reader.h"

/* == Device files =========================================================== */

/* Whether a list of names has this one. */
static int has_name(cpubind_input listing, const char *wanted)
{
    cpubind_piece name;
    int32_t at = 0;
    while (facts_next_name(listing, &at, &name))
        if ((size_t)name.len == strlen(wanted) &&
            memcmp(listing.data + name.at, wanted, (size_t)name.len) == 0)
            return 1;
    return 0;
}

/* Whether this process may open some device file. */
static int is_there(void *ctx, const cpubind_vendor_nodes *nodes,
                    const cpubind_vendor_files *bus)
{
    const facts_reader *r = (const facts_reader *)ctx;
    (void)bus;
    return facts_is_present(r->source->list(r->source->ctx, nodes->input));
}

/* Finds the devices without a file that this process may open, where others of their vendor
 * have one: a container leaves them out, or they have another driver, and no runtime of this
 * process sees them. Those whose files are known are left out, too, where others of any vendor,
 * NPUs among them, have one. Where it may open none, nothing is known. */
static cpubind_problem_code read_files(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_device_nodes nodes;
    int has_some = facts_is_present(r->source->list(r->source->ctx, "dev"));
    int32_t *n_own, *n_file;
    if (!has_some && !cpubind_vendor_each_nodes(is_there, r))
        return CPUBIND_PROBLEM_NONE;
    n_own = cpubind_arena_ints(r->arena, f->n_bus);
    n_file = cpubind_arena_ints(r->arena, f->n_bus);
    if (!n_own || !n_file || !cpubind_device_nodes_read(r->source, f, r->arena, &nodes))
        return facts_fail_memory(r);
    memset(n_own, 0, (size_t)f->n_bus * sizeof *n_own);
    memset(n_file, 0, (size_t)f->n_bus * sizeof *n_file);
    for (int32_t i = 0; i < nodes.n; i++) {
        const cpubind_device_node *row = &nodes.row[i];
        cpubind_input listing;
        if (row->bus && row->bus->is_display)
            continue;
        n_file[row->device]++;
        listing = r->source->list(r->source->ctx, row->nodes->input);
        if (!facts_is_present(listing) && listing.state != CPUBIND_INPUT_ABSENT)
            n_own[row->device]++; /* it may be one */
        if (!has_name(listing, row->path + sizeof "//" - 1 + strlen(row->nodes->folder)))
            continue;
        has_some = 1;
        n_own[row->device]++;
        r->pci->n_node[f->bus[row->device].accelerator.vendor]++;
    }
    for (int32_t i = 0; i < f->n_bus; i++)
        if (n_own[i] == 0 &&
            (r->pci->n_node[f->bus[i].accelerator.vendor] > 0 || (has_some && n_file[i] > 0)))
            f->bus[i].is_driven = 0;
    return CPUBIND_PROBLEM_NONE;
}

static int has_vendor(const cpubind_facts *f, cpubind_vendor_id id)
{
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == id)
            return 1;
    return 0;
}

/* Whether a variable, with its value, is one of those that hide devices of a vendor. */
static int hides(const cpubind_vendor *v, const char *text, int32_t len)
{
    for (int i = 0; i < CPUBIND_VENDOR_VARIABLES && v->variable[i]; i++) {
        const int32_t n = (int32_t)strlen(v->variable[i]);
        if (n < len && memcmp(text, v->variable[i], (size_t)n) == 0 && text[n] == '=')
            return 1;
    }
    return 0;
}

/* Puts the list of the request in place of the variables of a runtime. */
static cpubind_problem_code replace_visible(facts_reader *r, const cpubind_vendor *v,
                                            cpubind_input *env)
{
    const cpubind_pci_request *q = r->pci->request;
    const int32_t n_old = facts_is_present(*env) ? env->len : 0;
    const size_t n_name = strlen(v->variable[0]);
    char *text = (char *)cpubind_arena_take(
        r->arena, n_old + (int32_t)n_name + q->visible_len + 2, sizeof *text);
    int32_t n = (int32_t)n_name;
    if (!text)
        return facts_fail_memory(r);
    memcpy(text, v->variable[0], n_name);
    text[n++] = '=';
    memcpy(text + n, q->visible, (size_t)q->visible_len);
    n += q->visible_len;
    text[n++] = '\n';
    for (int32_t at = 0, len; at < n_old; at += len) {
        const char *end = (const char *)memchr(env->data + at, '\n', (size_t)(n_old - at));
        len = end ? (int32_t)(end - env->data) - at + 1 : n_old - at;
        if (hides(v, env->data + at, len))
            continue;
        memcpy(text + n, env->data + at, (size_t)len);
        n += len;
    }
    *env = (cpubind_input){.state = CPUBIND_INPUT_PRESENT, .data = text, .len = n};
    return CPUBIND_PROBLEM_NONE;
}

/* Whether an entry of a list is a range of numbers, such as 0-1. A UUID is none. */
static int has_range(const char *text, int32_t len)
{
    int is_number = 0; /* of the entry there have been digits alone */
    for (int32_t i = 0; i < len; i++) {
        if (text[i] == '-' && is_number)
            return 1;
        is_number = text[i] >= '0' && text[i] <= '9' &&
                    (is_number || i == 0 || text[i - 1] == ',' || text[i - 1] == ' ');
    }
    return 0;
}

/* Takes the list of visible devices of the request as that of the only runtime of the host. */
static cpubind_problem_code take_visible(facts_reader *r, cpubind_input *env)
{
    const cpubind_vendor *only = NULL;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        if (!has_vendor(r->facts, (cpubind_vendor_id)i))
            continue;
        if (v->users) /* the list is of these */
            return CPUBIND_PROBLEM_NONE;
        if (!v->see)
            continue;
        if (only)
            return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                              "a list of visible devices is of one runtime, and this host has "
                              "devices of several: set their variables in place of it");
        only = v;
    }
    if (only && has_range(r->pci->request->visible, r->pci->request->visible_len))
        return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                          "the list of visible devices has a range, of which the runtime of "
                          "these devices reads the first number at most");
    if (only || r->facts->n_bus == 0)
        return only ? replace_visible(r, only, env) : CPUBIND_PROBLEM_NONE;
    return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                      "which variable has the list of visible devices is not known of the "
                      "devices of this host");
}

cpubind_problem_code cpubind_priv_pci_read_sight(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_input env;
    cpubind_problem_code status = facts_ask(r, "env", &env);
    if (status == CPUBIND_PROBLEM_NONE && r->pci->request->visible)
        status = take_visible(r, &env);
    if (status == CPUBIND_PROBLEM_NONE)
        status = read_files(r);
    for (int i = 0; status == CPUBIND_PROBLEM_NONE && i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        f->runtime[i].value_len[0] = f->runtime[i].value_len[1] = -1;
        f->runtime[i].n_file = r->pci->n_node[i];
        if (!v->see || !has_vendor(f, (cpubind_vendor_id)i))
            continue;
        f->runtime[i].word = v->runtime;
        status = v->see(r, env);
    }
    for (int32_t i = 0; i < f->n_bus; i++)
        if (!f->bus[i].is_driven && !cpubind_vendor_of(f->bus[i].accelerator.vendor)->see)
            f->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
    return status;
}
