/* choices_json.c - which devices a job should ask for, as rows of the report of topo
 * SPDX-License-Identifier: MIT
 *
 * JSON.md documents the keys; ../plan/choose.h has the rule.
 */
#include <stdlib.h>

#include "../model/vendor.h"
#include "../plan/choose.h"
#include "device_plan.h"

static words_value *name_value(const cpubind_facts *f, const cpubind_chosen *one)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    if (one->number < 0)
        return api_pci_json(&f->bus[one->row].pci);
    cpubind_device_name(f->bus[one->row].accelerator.vendor, one->number, NULL, name);
    return words_text(name);
}

/* Adds a value to a list that lacks it. */
static void add_once(words_value *list, words_value *value)
{
    for (int32_t i = 0; i < words_count(list); i++)
        if (words_equal(words_at(list, i), value)) {
            words_free(value);
            return;
        }
    words_add(list, value);
}

/* "CUDA_VISIBLE_DEVICES=2,3", of devices of one vendor whose numbers are those of the host: no
 * variable has chosen some of them before. */
static words_value *setting_value(const cpubind_facts *f, const cpubind_choice *choice)
{
    const cpubind_vendor_id vendor = f->bus[choice->device[0].row].accelerator.vendor;
    const char *variable = cpubind_vendor_of(vendor)->variable[0];
    api_text text = {"", 0};
    api_add(&text, "%s", variable ? variable : "");
    for (int32_t i = 0; i < choice->n; i++) {
        const cpubind_chosen *one = &choice->device[i];
        if (!variable || one->number < 0 || f->runtime[vendor].variable[0] ||
            f->bus[one->row].accelerator.vendor != vendor)
            return words_null();
        api_add(&text, "%c%d", i ? ',' : '=', (int)one->number);
    }
    return words_text(text.text);
}

static words_value *choice_value(const cpubind_facts *f, const char *by,
                                 const cpubind_choice *choice)
{
    words_value *names = words_array(), *nodes = words_array(), *nics = words_array();
    for (int32_t i = 0; i < choice->n; i++) {
        const cpubind_host_device *device = &f->bus[choice->device[i].row];
        const cpubind_host_device *nic =
            cpubind_facts_nearest(f, choice->device[i].row, CPUBIND_NIC);
        words_add(names, name_value(f, &choice->device[i]));
        if (api_place_of(f, device)->node >= 0)
            add_once(nodes, words_id(api_place_of(f, device)->node));
        if (nic)
            add_once(nics, api_pci_json(&nic->pci));
    }
    return words_make("by:s devices:v together:s nodes:v nics:v set:v", by, names,
                      choice->n > 1 ? cpubind_together_word(choice->together) : NULL, nodes,
                      nics, setting_value(f, choice));
}

/* The arguments of choose. */
typedef struct choosing {
    const cpubind_facts *facts;
    int32_t n, n_there;
    cpubind_choice near, lowest;
} choosing;

static cpubind_problem_code choose(void *ctx, cpubind_arena *arena)
{
    choosing *c = (choosing *)ctx;
    c->n_there = cpubind_choose(c->facts, c->n, arena, &c->near, &c->lowest);
    return c->n_there < 0 ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_NONE;
}

int api_add_choices(words_value *report, const cpubind_facts *f, int32_t n, api_text *why)
{
    choosing c = {.facts = f, .n = n};
    cpubind_arena arena = {NULL, 0, 0};
    words_value *choices;
    if (cpubind_with_arena(NULL, &arena, choose, &c) != CPUBIND_PROBLEM_NONE) {
        free(arena.base);
        return api_no_room(why);
    }
    if (c.n_there < n) {
        free(arena.base);
        return words_fail(API_REFUSED, why, "this process sees %d devices: %d are asked for",
                          (int)c.n_there, (int)n);
    }
    choices = words_array();
    words_add(choices, choice_value(f, "nearest", &c.near));
    words_add(choices, choice_value(f, "lowest", &c.lowest));
    words_set(report, "choices", choices);
    free(arena.base);
    return API_DONE;
}
