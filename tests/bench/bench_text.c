/* bench_text.c - what the readers of text cost, beside memchr over the same bytes, in one run
 * SPDX-License-Identifier: MIT
 *
 *   bench_text        from the top folder: the outputs of npu-smi are those of fixture hosts
 *
 * Prints a table and asserts nothing: see measure.h. No reader allocates; the arrays that they
 * write are taken before a time starts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/ascend/cpubind_ascend.h"
#include "../../adapters/ascend/driver_reader.h"
#include "measure.h"

enum { MAX_ROWS = 2048, MAX_CPUS = 1024 };

/* A text, what stands in it, and the arrays that a reader fills. */
typedef struct input {
    char *text;
    int32_t len;
    int32_t n;   /* what the reader must find: rows, devices, CPUs */
    int32_t sum; /* what the work found, so that it counts as used */
    union {
        cpubind_interrupt irq[MAX_ROWS];
        int32_t cpu[MAX_CPUS];
    } out;
    char block[1 << 14] __attribute__((aligned(16)));
    int32_t more[MAX_CPUS];
} input;

/* == Texts ================================================================== */

/* An input of a fixture host. */
static void open_input(input *in, const char *name, int32_t n)
{
    char line[256];
    (void)snprintf(line, sizeof line, "build/cpubind fixture show %s", name);
    FILE *file = popen(line, "r");
    must(file != NULL, name);
    in->text = (char *)must_alloc(1 << 16);
    in->len = (int32_t)fread(in->text, 1, 1 << 16, file);
    in->n = n;
    must(in->len > 0 && in->len < 1 << 16 && pclose(file) == 0, name);
}

/* lscpu -e=CPU,NODE of n_cpu CPUs on 16 nodes. */
static void make_lscpu(input *in, int32_t n_cpu)
{
    const size_t cap = 16 + 16 * (size_t)n_cpu;
    in->text = (char *)must_alloc(cap);
    in->len = snprintf(in->text, cap, "CPU NODE\n");
    for (int32_t i = 0; i < n_cpu; i++)
        in->len += snprintf(in->text + in->len, cap - (size_t)in->len,
                            "%3" PRId32 " %4" PRId32 "\n", i, i * 16 / n_cpu);
    in->n = n_cpu;
}

enum { N_NPU = 16, N_VECTOR = 18, N_OTHER = 732 };

/* The handler of a row: other devices first, then 18 vectors of each NPU. */
static void name_of(char *name, size_t cap, int32_t row)
{
    const int32_t npu = (row - N_OTHER) / N_VECTOR, vector = (row - N_OTHER) % N_VECTOR;
    if (row < N_OTHER)
        snprintf(name, cap, "nvme%" PRId32 "q%" PRId32, row / 64, row % 64);
    else if (vector == 0)
        snprintf(name, cap, "trs-mbox-%" PRId32 "-0", npu);
    else
        snprintf(name, cap, "%s", vector == 1 ? "sq_send_trigger_irq" : "cq_update_irq");
}

/* /proc/interrupts of n_cpu CPUs, with 732 rows of other devices and 288 of 16 NPUs. */
static void make_interrupts(input *in, int32_t n_cpu)
{
    const int32_t n_row = N_OTHER + N_NPU * N_VECTOR;
    const size_t cap = ((size_t)n_row + 1) * ((size_t)n_cpu * 11 + 80);
    char name[32];
    in->text = (char *)must_alloc(cap);
    in->len = snprintf(in->text, cap, "%5s", "");
    for (int32_t i = 0; i < n_cpu; i++)
        in->len += snprintf(in->text + in->len, cap - (size_t)in->len, "%*sCPU%-8" PRId32,
                            i ? 0 : 7, "", i);
    in->text[in->len++] = '\n';
    for (int32_t row = 0; row < n_row; row++) {
        in->len +=
            snprintf(in->text + in->len, cap - (size_t)in->len, "%5" PRId32 ":", row + 24);
        for (int32_t i = 0; i < n_cpu; i++)
            in->len += snprintf(in->text + in->len, cap - (size_t)in->len, " %10" PRIu32,
                                (row + i) % 7 ? 0 : (uint32_t)row * (uint32_t)(i + 1));
        name_of(name, sizeof name, row);
        in->len += snprintf(in->text + in->len, cap - (size_t)in->len,
                            "   ITS-MSI %5" PRId32 " Edge      %s\n", row, name);
    }
    in->n = n_row;
}

/* == Readers ================================================================ */

static void find_feeds(void *ctx)
{
    input *in = (input *)ctx;
    const char *at = in->text, *end = in->text + in->len;
    while ((at = (const char *)memchr(at, '\n', (size_t)(end - at))) != NULL) {
        in->sum++;
        at++;
    }
}

static void read_info(void *ctx)
{
    input *in = (input *)ctx;
    cpubind_arena arena = {in->block, sizeof in->block, 0};
    cpubind_npusmi_info info;
    must(cpubind_npusmi_parse_info(in->text, in->len, &arena, &info, NULL) == CPUBIND_TEXT_OK &&
             info.device.n == in->n && info.process.n == in->n,
         "cpubind_npusmi_parse_info");
}

static void read_map(void *ctx)
{
    input *in = (input *)ctx;
    cpubind_arena arena = {in->block, sizeof in->block, 0};
    cpubind_npusmi_rows map;
    must(cpubind_npusmi_parse_map(in->text, in->len, &arena, &map, NULL) == CPUBIND_TEXT_OK &&
             map.n == in->n,
         "cpubind_npusmi_parse_map");
}

static void read_topo(void *ctx)
{
    input *in = (input *)ctx;
    cpubind_arena arena = {in->block, sizeof in->block, 0};
    cpubind_npusmi_rows topo;
    must(cpubind_npusmi_parse_topo(in->text, in->len, &arena, &topo, NULL) == CPUBIND_TEXT_OK &&
             topo.n == in->n,
         "cpubind_npusmi_parse_topo");
}

static void read_nodes(void *ctx)
{
    input *in = (input *)ctx;
    cpubind_lscpu_nodes rows = {.cpu = in->out.cpu, .node = in->more, .cap = MAX_CPUS};
    must(cpubind_lscpu_parse_nodes(in->text, in->len, &rows, NULL) == CPUBIND_TEXT_OK &&
             rows.n == in->n,
         "cpubind_lscpu_parse_nodes");
}

static void read_status(void *ctx)
{
    input *in = (input *)ctx;
    cpubind_int_list list = {in->out.cpu, MAX_CPUS, 0};
    must(cpubind_status_parse(in->text, in->len, MAX_CPUS, &list, NULL) == CPUBIND_TEXT_OK &&
             list.n == in->n,
         "cpubind_status_parse");
}

static int starts(const input *in, cpubind_piece name, const char *with)
{
    const size_t n = strlen(with);
    return (size_t)name.len >= n && memcmp(in->text + name.at, with, n) == 0;
}

/* Reads the rows, and finds those of the NPUs by the names of their handlers. */
static void find_npu_irqs(void *ctx)
{
    input *in = (input *)ctx;
    cpubind_piece name;
    cpubind_interrupt_list list = {in->out.irq, MAX_ROWS, 0, 0};
    int32_t found = 0;
    must(cpubind_interrupts_parse(in->text, in->len, &list, NULL) == CPUBIND_TEXT_OK &&
             list.n == in->n,
         "cpubind_interrupts_parse");
    for (int32_t i = 0; i < list.n; i++)
        for (int32_t at = 0;
             cpubind_interrupts_next_name(in->text, in->out.irq[i].names, &at, &name);)
            found += starts(in, name, "sq_send_trigger_irq") ||
                     starts(in, name, "cq_update_irq") || starts(in, name, "trs-mbox-");
    must(found == N_NPU * N_VECTOR, "finding the interrupts of 16 NPUs");
}

/* == The NPUs of a host ===================================================== */

/* An input of a host whose NPU i has PCI bus i and the device node davinci<i>. */
static cpubind_input answer(void *ctx, const char *name, int is_list)
{
    static char texts[2][1024]; /* a listing is read while files are */
    char *text = texts[is_list];
    const input *in = (const input *)ctx;
    cpubind_input found = {.state = CPUBIND_INPUT_PRESENT, .data = text};
    int i, n = 0;
    if (!is_list && strcmp(name, INPUT_INTERRUPTS) == 0)
        return (cpubind_input){
            .state = CPUBIND_INPUT_PRESENT, .data = in->text, .len = in->len};
    if (is_list && sscanf(name, INPUT_PCI "/0000:%x:00.0/msi_irqs", (unsigned *)&i) == 1)
        for (int k = 0; k < N_VECTOR; k++)
            n += snprintf(text + n, sizeof texts[0] - (size_t)n, "%d\n",
                          24 + N_OTHER + i * N_VECTOR + k);
    else if (is_list && strcmp(name, "dev") == 0)
        for (i = 0; i < N_NPU; i++)
            n += snprintf(text + n, sizeof texts[0] - (size_t)n, "davinci%d\n", i);
    else if (!is_list && sscanf(name, "dev/davinci%d", &i) == 1)
        n = snprintf(text, sizeof texts[0], "236:%d\n", i);
    else
        found.state = CPUBIND_INPUT_ABSENT;
    found.len = n;
    return found;
}

static cpubind_input read_answer(void *ctx, const char *name)
{
    return answer(ctx, name, 0);
}

static cpubind_input list_answer(void *ctx, const char *name)
{
    return answer(ctx, name, 1);
}

/* Reads the NPUs of a host from the files of its driver. */
static void find_npus(void *ctx)
{
    static char block[1 << 20];
    static cpubind_host_device function[N_NPU];
    const cpubind_source source = {ctx, read_answer, list_answer};
    cpubind_request request = {.rank = 0};
    cpubind_arena arena = {block, sizeof block, 0};
    static int32_t npu[N_NPU];
    cpubind_facts facts = {
        .bus = function, .counted = npu, .n_bus = N_NPU, .n_counted = N_NPU, .n_census = N_NPU};
    cpubind_problem problem = {.code = CPUBIND_PROBLEM_NONE};
    ascend_reading ascend = {.outcome = DRIVER_COMPLETE};
    facts_reader r = {.source = &source,
                      .request = &request,
                      .arena = &arena,
                      .facts = &facts,
                      .problem = &problem,
                      .ascend = &ascend};
    for (int32_t i = 0; i < N_NPU; i++)
        npu[i] = i, function[i].pci = (cpubind_pci_address){0, i, 0, 0};
    must(cpubind_priv_read_mailboxes(&r) == CPUBIND_PROBLEM_NONE &&
             cpubind_priv_read_view(&r) == CPUBIND_PROBLEM_NONE && facts.n_device == N_NPU,
         "cpubind_priv_read_view");
}

/* == The tables ============================================================= */

/* goal: MB/s, or 0. */
static void rate_row(const char *name, work_function work, double goal, input *in)
{
    const double ns = measure(work, in), feeds = measure(find_feeds, in);
    const double rate = (double)in->len / ns * 1e3;
    printf("  %-34s %8" PRId32 " %10.1f %8.0f ", name, in->len, ns, rate);
    if (goal > 0)
        printf("%6.0f %5s", goal, rate >= goal ? "yes" : "no");
    else
        printf("%6s %5s", "", "");
    printf("  %.2f of memchr\n", ns / feeds);
    free(in->text);
    memset(in, 0, sizeof *in);
}

static void bench_outputs(input *in)
{
    printf("\n%-36s %8s %10s %8s %6s %5s  %s\n", "readers of text", "bytes", "ns", "MB/s",
           "goal", "met", "beside");
    open_input(in, "a3-640cpu-16npu cmd/npu-smi-info.txt", 16);
    rate_row("npu-smi info, 16 NPUs", read_info, 200, in);
    open_input(in, "a3-640cpu-16npu cmd/npu-smi-info-m.txt", 16);
    rate_row("npu-smi info -m, 16 NPUs", read_map, 200, in);
    open_input(in, "a2-192cpu-8npu cmd/npu-smi-info-t-topo.txt", 8);
    rate_row("npu-smi info -t topo, 8 NPUs", read_topo, 200, in);
    open_input(in, "a3-640cpu-16npu cmd/npu-smi-info-t-topo.txt", 16);
    rate_row("npu-smi info -t topo, 16 NPUs", read_topo, 200, in);
    make_lscpu(in, 640);
    rate_row("lscpu -e=CPU,NODE, 640 CPUs", read_nodes, 0, in);
    open_input(in, "a2-192cpu-8npu proc/self/status", 192);
    rate_row("/proc/<pid>/status, 192 CPUs", read_status, 0, in);
}

static void bench_interrupts(input *in)
{
    measure_of feeds = {0, "memchr"};
    double ns;
    make_interrupts(in, 1152);
    heading("/proc/interrupts of 1,152 CPUs");
    feeds.ns = measure(find_feeds, in);
    ns = measure(find_npu_irqs, in);
    row("the interrupts of 16 NPUs, by name", ns, 3e6, &feeds, 1);
    row("16 NPUs, by the files of the driver", measure(find_npus, in), 3e6, &feeds, 1);
    row("memchr of every line feed", feeds.ns, 0, NULL, 0);
    printf("  %-42s %12" PRId32 " %10s %5s  bytes, %" PRId32 " rows\n", "the text", in->len, "",
           "", in->n);
    free(in->text);
}

int main(void)
{
    static input in;
    bench_outputs(&in);
    bench_interrupts(&in);
    return 0;
}
