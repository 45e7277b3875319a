/* text.c - the rows of the other readers of adapters/text: of programs, names and protocols
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include <stdio.h>

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/text/character.h"
#include "../../adapters/text/host_file.h"
#include "../../adapters/text/host_txt.h"
#include "../../adapters/text/input_name.h"
#include "../../adapters/text/irqbalance_reply.h"
#include "../../adapters/text/lscpu.h"
#include "../../adapters/text/pci_address.h"
#include "../../adapters/text/prometheus.h"
#include "../../adapters/text/slurm_step.h"
#include "readers.h"

/* == Programs =============================================================== */

static void read_lscpu_nodes(reading *r)
{
    cpubind_lscpu_nodes *rows = OUT(r, cpubind_lscpu_nodes);
    ARRAY(r, rows, cpu, cap, n);
    BESIDE(r, rows, node);
    BESIDE(r, rows, core);
    BESIDE(r, rows, socket);
    if (!READ(r, cpubind_lscpu_parse_nodes, rows))
        return;
    check_list(rows->cpu, rows->n, CPUBIND_MAX_CPUS);
    for (int32_t i = 0; i < rows->n; i++) {
        tell(r, "%d", rows->cpu[i]);
        tell_ids(r, "node", rows->node[i], "core", rows->core[i], "socket", rows->socket[i],
                 NULL);
        tell(r, "\n");
    }
}

static void read_lscpu_threads(reading *r)
{
    int32_t *threads = OUT(r, int32_t);
    if (!READ(r, cpubind_lscpu_parse_threads, threads))
        return;
    tell(r, "%d\n", *threads);
    CHECK(*threads >= 1 && *threads <= CPUBIND_MAX_CPUS);
}

static void read_irqbalance(reading *r)
{
    cpubind_int_list *list = OUT(r, cpubind_int_list);
    ARRAY(r, list, out, cap, n);
    if (!READ(r, cpubind_irqbalance_parse, list))
        return;
    for (int32_t i = 0; i < list->n; i++)
        tell_id(r, "", list->out[i]);
}

static void read_slurm_step(reading *r)
{
    cpubind_slurm_step *step = OUT(r, cpubind_slurm_step);
    if (!READ(r, cpubind_slurm_parse_step, step))
        return;
    tell_ids(r, "CPUs", step->n_cpu, "of the job", step->n_job_cpu, "devices", step->n_device,
             "listed", step->n_listed, NULL);
    tell_slice(r, "list", step->list);
    tell(r, "\n");
    CHECK(step->n_listed < 0 ? step->list.len == 0 : step->n_listed <= step->list.len);
}

/* `read slurm_task LOCAL [OWN]` */
static void read_slurm_task(reading *r)
{
    const int32_t local = number_arg(&r->args, 0);
    cpubind_slurm_task *task = OUT(r, cpubind_slurm_task);
    cpubind_slurm_step step;
    if (!came(r, cpubind_slurm_find_task(r->text, r->len, local, *r->args ? r->args : NULL,
                                         given(r, task), r->fault)))
        return;
    tell(r, "place %d, process %d of %d\n", task->place, task->process, task->n_process);
    CHECK(cpubind_slurm_parse_step(r->text, r->len, &step, NULL) == CPUBIND_TEXT_OK);
    CHECK(task->place >= 0 && task->place < step.n_listed);
    CHECK(task->process >= 0 && task->process < task->n_process);
}

/* == Names and addresses ==================================================== */

static void read_pci(reading *r)
{
    cpubind_pci_address *pci = OUT(r, cpubind_pci_address), again;
    char out[CPUBIND_PCI_ADDRESS_MAX];
    int32_t n;
    if (!READ(r, cpubind_pci_parse, pci))
        return;
    n = cpubind_pci_format(out, pci);
    tell(r, "%s\n", out);
    CHECK(n == (int32_t)strlen(out) && n < CPUBIND_PCI_ADDRESS_MAX);
    CHECK(cpubind_pci_parse(out, n, &again, NULL) == CPUBIND_TEXT_OK);
    CHECK(cpubind_pci_compare(pci, &again) == 0);
}

/* Whether the text is the name of an input, and of which board. The name that is made of the
 * numbers of a board is the same name. */
static void read_input_name(reading *r)
{
    static const char of_cpu[] = "sys/devices/system/cpu/cpu%/*";
    char *name = string_copy(r->text, r->len), again[CPUBIND_INPUT_BOARD_MAX];
    const int is_name = cpubind_input_is_name(name);
    cpubind_piece card = {-7, -7}, chip = {-7, -7};
    tell(r, "%s name", is_name ? "a" : "no");
    CHECK(!cpubind_input_is_name(NULL));
    CHECK(!is_name || (r->len > 0 && r->len <= CPUBIND_INPUT_NAME_MAX));
    CHECK(strpbrk(name, "#%*") || cpubind_input_fits(name, name, (int32_t)strlen(name)));
    CHECK(strpbrk(name, "#%*") || !*name || !cpubind_input_fits(name, name, 0));
    if (cpubind_input_fits(name, of_cpu, (int32_t)sizeof of_cpu - 1))
        tell(r, " of a CPU");
    if (cpubind_input_is_board(name, &card, &chip)) {
        const int32_t of_chip = chip.len ? (int32_t)atol(name + chip.at) : -1;
        tell_slice(r, "card", card);
        tell_slice(r, "chip", chip);
        (void)cpubind_input_board_name(again, (int32_t)atol(name + card.at), of_chip);
        CHECK(is_name && strcmp(again, name) == 0);
    } else {
        CHECK(card.at == -7 && chip.at == -7);
    }
    tell(r, "\n");
    free(name);
}

/* The bytes of the first character of UTF-8. */
static void read_character(reading *r)
{
    const int32_t n = r->len > 0 ? cpubind_character(r->text, (size_t)r->len) : 0;
    CHECK(n >= 0 && n <= r->len && n <= 4);
    tell(r, "%d\n", n);
}

/* == Hosts ================================================================== */

static void read_host_txt(reading *r)
{
    cpubind_host_txt *about = OUT(r, cpubind_host_txt);
    char *name;
    if (!READ(r, cpubind_host_txt_parse, about))
        return;
#define CPUBIND_X(member, key)                                                                 \
    tell_slice(r, key, about->member);                                                         \
    tell(r, "\n");
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    name = string_copy(r->text + about->name.at, about->name.len);
    CHECK(cpubind_host_txt_is_name(name));
    free(name);
}

enum { MAX_FILES = 4096 };

/* Decodes a host in place; returns its files, or -1 and the fault. */
static int32_t decode_host(char *text, int32_t len, cpubind_host_part *part,
                           cpubind_text_status *status, cpubind_text_fault *fault)
{
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    for (int32_t at = 0, n = 0;; n++) {
        const int32_t before = at;
        *status = cpubind_host_file_next(text, len, &at, &entry, fault);
        if (*status != CPUBIND_TEXT_OK) {
            CHECK(at == before && fault->offset >= before && fault->offset <= len);
            return -1;
        }
        CHECK(at > before && at <= len);
        if (entry.name.len == 0) {
            CHECK(at == len);
            return n;
        }
        CHECK(entry.data.at >= 0 && entry.data.len >= 0 &&
              entry.data.at <= at - entry.data.len);
        CHECK(text[entry.name.at + entry.name.len] == '\0');
        if (n == MAX_FILES)
            return -1;
        part[n] =
            (cpubind_host_part){text + entry.name.at, text + entry.data.at, entry.data.len};
        CHECK(cpubind_input_is_name(part[n].name) && part[n].name[0] != '/');
        CHECK(n == 0 || cpubind_host_file_order(part[n - 1].name, part[n].name) < 0);
    }
}

/* What was decoded is written, and decodes to the same. A text that lacks the first line gets
 * it. */
static void read_host_file(reading *r)
{
    static const char head[] = "cpubind host 1\n";
    static cpubind_host_part part[MAX_FILES], again[MAX_FILES];
    const int32_t n_head = r->len > 0 && *r->text == *head ? 0 : (int32_t)sizeof head - 1;
    const int32_t len = n_head + r->len;
    char *text = (char *)filled((size_t)len, 0), *back;
    cpubind_text_fault fault = {0, NULL};
    cpubind_text_status status;
    int32_t n, n_back;
    memcpy(text, head, (size_t)n_head);
    memcpy(text + n_head, r->text, (size_t)r->len);
    n = decode_host(text, len, part, &status, &fault);
    if (status != CPUBIND_TEXT_OK)
        tell(r, "%s at %d: %s\n", cpubind_text_status_name(status), fault.offset, fault.what);
    if (n >= 0) {
        n_back = (int32_t)cpubind_host_file_write(part, n, NULL);
        back = (char *)filled((size_t)n_back, r->fill);
        CHECK(cpubind_host_file_write(part, n, back) == n_back);
        for (int32_t i = 0; i < n_back; i++)
            CHECK((unsigned char)back[i] >= ' ' || back[i] == '\n' || back[i] == '\t');
        CHECK(decode_host(back, n_back, again, &status, &fault) == n);
        for (int32_t i = 0; i < n; i++) {
            CHECK(strcmp(part[i].name, again[i].name) == 0 && part[i].len == again[i].len);
            CHECK(is_same(part[i].data, again[i].data, (size_t)part[i].len));
            tell(r, "%s \"", part[i].name);
            tell_bytes(r, part[i].data, part[i].len);
            tell(r, "\"\n");
        }
        free(back);
    }
    free(text);
}

/* == Pages of figures ======================================================= */

static void tell_reading(reading *r, const cpubind_prometheus_reading *p)
{
    static const char *const kinds[] = {"absent", "gauge", "counter", "histogram", "summary"};
    tell(r, "%s, %d series, value %.12g", kinds[p->kind], p->n_series, p->value);
    if (p->problem) {
        tell(r, ": %s", p->problem);
        return;
    }
    if (p->kind == CPUBIND_PROMETHEUS_HISTOGRAM)
        tell(r, ", sum %.12g", p->sum);
    CHECK(p->kind != CPUBIND_PROMETHEUS_HISTOGRAM || p->n_bucket > 0);
    CHECK(p->kind != CPUBIND_PROMETHEUS_COUNTER || p->value >= 0);
    for (int32_t i = 0; i < p->n_bucket; i++) {
        const cpubind_prometheus_bucket *b = &p->bucket[i];
        tell(r, "%s%.12g=%.12g", i ? " " : "; up to ", b->bound, b->count);
        CHECK(b->series == p->bucket[0].series && b->count >= 0);
        CHECK(i == 0 || (b[-1].bound < b->bound && b[-1].count <= b->count));
    }
}

/* From a program that has observed nothing to this reading. */
static void tell_block(reading *r, const cpubind_prometheus_reading *after)
{
    cpubind_prometheus_reading before = *after;
    cpubind_prometheus_block block = cpubind_prometheus_between(after, after);
    CHECK(block.problem || block.count == 0);
    before.value = before.sum = 0;
    for (int32_t i = 0; i < before.n_bucket; i++)
        before.bucket[i].count = 0;
    block = cpubind_prometheus_between(&before, after);
    if (block.problem) {
        tell(r, "\nfrom nothing: %s\n", block.problem);
        return;
    }
    tell(r, "\nfrom nothing: %.12g", block.count);
    if (after->n_bucket > 0) {
        tell(r, ", mean %.12g, p50 %s%.12g, p99 %s%.12g", block.mean,
             tell_if(block.p50_is_least, ">="), block.p50, tell_if(block.p99_is_least, ">="),
             block.p99);
        CHECK(block.count == after->value && block.count > 0);
        CHECK(block.p50 <= block.p99 && block.p50_is_least <= block.p99_is_least);
        CHECK(block.p99 <= after->bucket[after->n_bucket - 2].bound);
        CHECK(cpubind_prometheus_between(after, &before).problem);
    }
}

/* `read prometheus NAME`. It may be asked for twice at once. */
static void read_prometheus(reading *r)
{
    cpubind_prometheus_reading *p =
        (cpubind_prometheus_reading *)filled(2 * sizeof *p, r->fill);
    cpubind_text_status status;
    p[0].name = p[1].name = r->args;
    status = cpubind_prometheus_read(r->text, r->len, given(r, p), 2, r->fault);
    CHECK((cpubind_prometheus_name_check(r->args, NULL) == CPUBIND_TEXT_OK) ||
          status == CPUBIND_TEXT_ERR_ARG);
    if (came(r, status)) {
        CHECK(r->len == 0 || r->text[r->len - 1] == '\n');
        CHECK(p[0].kind == p[1].kind && p[0].n_series == p[1].n_series);
        tell_reading(r, p);
        tell_block(r, p);
    }
    free(p);
}

static void read_metric_name(reading *r)
{
    char *name = string_copy(r->text, r->len);
    cpubind_text_fault fault = {-7, NULL};
    const cpubind_text_status status = cpubind_prometheus_name_check(name, &fault);
    if (status != CPUBIND_TEXT_OK)
        tell_fault(r, status, &fault, 0);
    else
        tell(r, "a name\n");
    free(name);
}

typedef struct decimal {
    double value;
    int32_t len;
} decimal;

/* A number is that of the C library, which reads hexadecimal ones and more words as well. */
static void read_decimal(reading *r)
{
    decimal *out = OUT(r, decimal);
    double *value = given(r, &out->value), right;
    char *copy, *end;
    if (!came(r, cpubind_decimal_parse(r->text, r->len, value, &out->len, r->fault)))
        return;
    copy = string_copy(r->text, r->len);
    right = strtod(copy, &end);
    CHECK(out->len > 0 && out->len <= end - copy);
    if (out->len == end - copy && right == right && right - right == 0) {
        const double off = out->value > right ? out->value - right : right - out->value;
        CHECK(off <= (right < 0 ? -right : right) * 1e-14 + 5e-324);
    }
    tell(r, "%.12g, %d bytes\n", out->value, out->len);
    free(copy);
}

static const reader rows[] = {
    {"lscpu_nodes", read_lscpu_nodes, "", NULL, "lscpu", 1024},
    {"lscpu_threads", read_lscpu_threads, "", NULL, "lscpu", 1024},
    {"irqbalance_reply", read_irqbalance, "", NULL, "irqbalance_reply", 1024},
    {"slurm_step", read_slurm_step, "", NULL, "slurm_step", 512},
    {"slurm_task", read_slurm_task, "0|1 1|2|3 1|4", "slurm_step", "slurm_step", 512},
    {"pci_address", read_pci, "", NULL, "pci_address", 32},
    {"input_name", read_input_name, "", NULL, "proc", 4100},
    {"character", read_character, "", "input_name", "proc", 4100},
    {"host_txt", read_host_txt, "", NULL, "host_txt", 1024},
    {"host_file", read_host_file, "", NULL, "host_file", 4096},
    {"prometheus", read_prometheus, NULL, NULL, "prometheus", 2048},
    {"metric_name", read_metric_name, "", "decimal", "prometheus", 64},
    {"decimal", read_decimal, "", NULL, "prometheus", 64},
};

READERS(rows)
