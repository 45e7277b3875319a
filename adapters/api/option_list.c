/* option_list.c - lists of CPUs and NPUs in options, as taskset takes them; what options name
 * SPDX-License-Identifier: MIT
 *
 * Lenient, since people write these lists; adapters/text reads those of the kernel and of
 * npu-smi strictly. Prints nothing.
 *
 *   list  = item { "," item }
 *   item  = number [ "-" number [ ":" number ] ]     with blanks before and after it
 */
#include <stdlib.h>
#include <string.h>

#include "device_plan.h"

/* A list that is being read. */
typedef struct list_reading {
    const char *text;
    int32_t at;
    int32_t limit;
    int32_t end;   /* one past the largest number */
    uint8_t *bits; /* by number */
} list_reading;

static int is_in(const list_reading *r, int32_t number)
{
    return r->bits[number / 8] >> number % 8 & 1;
}

/* Reads a number up to `most`. Returns why there is none; NULL when there is one. */
static const char *read_one(list_reading *r, int32_t most, int32_t *out)
{
    const int32_t start = r->at;
    int32_t value = 0;
    for (; r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++)
        if (value <= most)
            value = value * 10 + (r->text[r->at] - '0');
    *out = value;
    if (r->at > start && value <= most)
        return NULL;
    if (r->at == start)
        return "a number belongs here";
    r->at = start;
    return "the number is too large";
}

static void skip_blanks(list_reading *r)
{
    r->at += (int32_t)strspn(r->text + r->at, " \t");
}

static const char *read_item(list_reading *r)
{
    int32_t first, last, stride = 1, start;
    const char *fault = read_one(r, r->limit - 1, &first);
    last = first;
    if (!fault && r->text[r->at] == '-') {
        start = ++r->at;
        fault = read_one(r, r->limit - 1, &last);
        if (!fault && last < first) {
            r->at = start;
            return "the range ends before its start";
        }
        if (!fault && r->text[r->at] == ':') {
            start = ++r->at;
            fault = read_one(r, r->limit, &stride);
            if (!fault && stride == 0) {
                r->at = start;
                return "a stride is at least 1";
            }
        }
    }
    for (int32_t i = first; !fault && i <= last; i += stride) {
        r->bits[i / 8] |= (uint8_t)(1 << i % 8);
        r->end = i >= r->end ? i + 1 : r->end;
    }
    return fault;
}

static const char *read_items(list_reading *r)
{
    const char *fault = NULL;
    skip_blanks(r);
    while (!fault && r->text[r->at]) {
        fault = read_item(r);
        skip_blanks(r);
        if (fault || !r->text[r->at])
            return fault;
        if (r->text[r->at] != ',')
            return "this character is no part of a list";
        r->at++;
        skip_blanks(r);
        if (!r->text[r->at])
            return "a number belongs here";
    }
    return fault;
}

const char *api_read_numbers(const char *text, int32_t limit, api_numbers *out, int32_t *at)
{
    list_reading r = {text, 0, limit, 0, (uint8_t *)calloc((size_t)limit / 8 + 1, 1)};
    const char *fault;
    int32_t n = 0;
    free(out->item);
    *out = (api_numbers){NULL, 0};
    *at = 0;
    if (!r.bits)
        return "there is no memory left";
    fault = read_items(&r);
    *at = r.at;
    for (int32_t i = 0; !fault && i < r.end; i++)
        n += is_in(&r, i);
    if (n > 0)
        out->item = (int32_t *)malloc((size_t)n * sizeof *out->item);
    if (n > 0 && !out->item)
        fault = "there is no memory left";
    for (int32_t i = 0; out->item && i < r.end; i++)
        if (is_in(&r, i))
            out->item[out->n++] = i;
    free(r.bits);
    return fault;
}

/* == Devices in options ===================================================== */

int api_asks_for_devices(const api_options *options)
{
    return options->topo.n_named > 0 || options->topo.class_digits > 0;
}

const char *api_npu_option(const api_options *options)
{
    return options->one_npu >= 0           ? "--device"
           : options->request.n_device > 0 ? "--devices"
           : options->npu_option == NULL   ? NULL
                                           : options->npu_option->dashed + 2;
}

int api_names_device(const api_options *options)
{
    return options->one_npu >= 0 || options->device.n > 0;
}

const char *api_device_conflict(const api_options *options)
{
    if (!api_asks_for_devices(options) || !api_npu_option(options))
        return NULL;
    return "pci and class are about devices of any vendor: leave out the options that are "
           "about NPUs";
}
