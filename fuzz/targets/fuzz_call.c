/* fuzz_call.c - fuzz target: the C ABI on a host in memory
 * SPDX-License-Identifier: MIT
 *
 * Checks the promises of cpubind_api.h; touches no real host and binds nothing. The input is a
 * text of entries, as fuzz_host.h explains it; each line before the first entry is an option.
 */
#include "../fuzz_host.h"

#include "../../adapters/api/api.h"
#include "../../adapters/api/cpubind_api.h"

enum { MAX_OPTIONS = 16, N_ROLE = 5 };

static const char *const roles[N_ROLE] = {"pool", "irq", "main", "acl", "release"};

/* JSON of one line: brackets in pairs outside of strings, and no byte that a terminal obeys. */
static void check_json(const char *text)
{
    char open[64];
    int n = 0, in_string = 0;
    CHECK(text && *text == '{');
    for (const char *at = text; *at; at++) {
        CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
        if (in_string && *at == '\\')
            CHECK(*++at);
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string && (*at == '{' || *at == '[')) {
            CHECK(n < (int)sizeof open);
            open[n++] = *at == '{' ? '}' : ']';
        } else if (!in_string && (*at == '}' || *at == ']')) {
            CHECK(n > 0 && open[--n] == *at);
            CHECK(n > 0 || at[1] == '\0');
        }
    }
    CHECK(n == 0 && !in_string);
}

static void check_error(cpb_error *error)
{
    CHECK(error && *cpb_error_code(error) && *cpb_error_text(error));
    CHECK(!strchr(cpb_error_text(error), '\n'));
    CHECK(cpb_error_number(error, "exit") >= 1 && cpb_error_number(error, "exit") <= 3);
    check_json(cpb_error_json(error));
    cpb_error_free(error);
}

static void check_list(const int32_t *cpu, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        CHECK(cpu[i] >= 0 && cpu[i] < CPUBIND_MAX_CPUS && (i == 0 || cpu[i] > cpu[i - 1]));
}

static void check_device(const cpb_plan *plan, int32_t device)
{
    static unsigned long mask[CPUBIND_MAX_CPUS / (8 * sizeof(unsigned long))];
    const int32_t *cpu;
    for (int i = 0; i < N_ROLE; i++) {
        const int32_t n = cpb_plan_cpus(plan, device, roles[i], &cpu);
        const int32_t size = cpb_plan_mask(plan, device, roles[i], mask, sizeof mask);
        const size_t bits = 8 * sizeof(unsigned long);
        int32_t n_set = 0;
        CHECK(n >= 0 && size >= 0 && size <= (int32_t)sizeof mask);
        CHECK(i > 0 || n > 0);
        check_list(cpu, n);
        for (int32_t k = 0; k < size / (int32_t)sizeof *mask; k++)
            for (unsigned long left = mask[k]; left; left &= left - 1)
                n_set++;
        CHECK(n_set == n);
        for (int32_t k = 0; k < n; k++)
            CHECK(mask[(size_t)cpu[k] / bits] >> ((size_t)cpu[k] % bits) & 1);
    }
}

/* A text, or an error. */
static void check_text(char *text, cpb_error *error)
{
    if (text)
        cpb_text_free(text);
    else
        check_error(error);
}

static void check_plan(const cpb_plan *plan)
{
    const int32_t *device;
    const int32_t n = cpb_plan_devices(plan, &device);
    cpb_error *error;
    char *text;
    check_json(cpb_plan_json(plan));
    for (int32_t i = 0; i < n; i++) {
        CHECK(i == 0 || device[i] > device[i - 1]);
        check_device(plan, device[i]);
    }
    for (const api_format *f = api_formats; f->word; f++) {
        error = NULL;
        text = cpb_plan_format(plan, f->word, &error);
        check_text(text, error);
    }
    error = NULL;
    text = cpb_plan_explain(plan, "all", &error);
    check_text(text, error);
}

/* The accelerators with their network cards, or an error. */
static void check_topo(cpb_host *host)
{
    const char *const options[] = {"nics=yes", NULL};
    cpb_error *error = NULL;
    char *text = cpb_host_topo(host, options, &error);
    if (text)
        check_json(text);
    else
        check_error(error);
    cpb_text_free(text);
}

/* Puts the entries; a host takes all that fuzz_host.h takes. */
static void put_entries(cpb_host *host, const memory_host *files)
{
    for (int32_t i = 0; i < files->n; i++) {
        const entry *e = &files->entry[i];
        const int code = e->mark >= '1' && e->mark <= '9' ? e->mark - '0' : 0;
        CHECK(cpb_host_put(host, e->name, e->data, (size_t)e->len, code, NULL) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size, *first;
    const char *options[MAX_OPTIONS + 1] = {NULL};
    memory_host files;
    cpb_error *error = NULL;
    cpb_host *host;
    cpb_plan *plan;
    int n = 0;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    memset(&files, 0, sizeof files);
    first = next_entry(text, end);
    for (const char *at = text; at < first && n < MAX_OPTIONS;) {
        const char *line = line_end(at, first);
        options[n++] = string_of(at, line);
        at = line + (line < first);
    }
    take_entries(&files, first, end);
    host = cpb_host_empty(&error);
    CHECK(host);
    put_entries(host, &files);
    plan = cpb_plan_make(host, options, &error);
    check_topo(host);
    cpb_host_close(host);
    if (plan)
        check_plan(plan);
    else
        check_error(error);
    cpb_plan_free(plan);
    while (n > 0)
        free((void *)options[--n]);
    free_host(&files);
    return 0;
}
