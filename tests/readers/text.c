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
#include "../../adapters/text/http.h"
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
    int32_t n_line;
    ARRAY(r, rows, cpu, cap, n);
    BESIDE(r, rows, node);
    BESIDE(r, rows, core);
    BESIDE(r, rows, socket);
    if (!came(r, cpubind_lscpu_parse_nodes(r->text, r->len, given(r, rows), r->fault)))
        return;
    check_list(rows->cpu, rows->n, CPUBIND_MAX_CPUS);
    for (int32_t i = 0; i < rows->n; i++) {
        tell(r, "%d", rows->cpu[i]);
        tell_id(r, "node", rows->node[i]);
        tell_id(r, "core", rows->core[i]);
        tell_id(r, "socket", rows->socket[i]);
        tell(r, "\n");
        CHECK(rows->node[i] < CPUBIND_MAX_CPUS && rows->core[i] < CPUBIND_MAX_CPUS);
        CHECK(rows->socket[i] < CPUBIND_MAX_CPUS);
    }
    n_line = r->text[r->len - 1] != '\n';
    for (int32_t i = 0; i < r->len; i++)
        n_line += r->text[i] == '\n';
    CHECK(rows->n >= 1 && rows->n == n_line - 1);
}

static void read_lscpu_threads(reading *r)
{
    int32_t *threads = OUT(r, int32_t);
    char *copy, number[16];
    const char *at;
    if (!came(r, cpubind_lscpu_parse_threads(r->text, r->len, given(r, threads), r->fault)))
        return;
    tell(r, "%d\n", *threads);
    CHECK(*threads >= 1 && *threads <= CPUBIND_MAX_CPUS);
    /* The key is in the text, and the number is in the text after the key. */
    copy = text_copy(r, 0, r->len);
    at = strstr(copy, "Thread(s) per core");
    (void)snprintf(number, sizeof number, "%d", *threads);
    CHECK(memchr(r->text, '\0', (size_t)r->len) || (at && strstr(at, number)));
    free(copy);
}

/* Each number follows a word IRQ, and each word IRQ has its number. */
static void read_irqbalance(reading *r)
{
    cpubind_int_list *list = OUT(r, cpubind_int_list);
    int32_t found = 0;
    char *copy;
    ARRAY(r, list, out, cap, n);
    if (!came(r, cpubind_irqbalance_parse(r->text, r->len, given(r, list), r->fault)))
        return;
    copy = text_copy(r, 0, r->len);
    for (const char *at = copy; (at = strstr(at, " IRQ ")) != NULL; found++) {
        at += 5;
        CHECK(found < list->n && strtoll(at, NULL, 10) == list->out[found]);
        tell_id(r, "", list->out[found]);
    }
    tell(r, "\n");
    CHECK(found == list->n && strncmp(copy, "SLEEP ", 6) == 0 && strstr(copy, " BANNED "));
    free(copy);
}

static void read_slurm_step(reading *r)
{
    cpubind_slurm_step *step = OUT(r, cpubind_slurm_step);
    if (!came(r, cpubind_slurm_parse_step(r->text, r->len, given(r, step), r->fault)))
        return;
    tell(r, "CPUs %d", step->n_cpu);
    tell_id(r, "of the job", step->n_job_cpu);
    tell_id(r, "devices", step->n_device);
    tell_id(r, "listed", step->n_listed);
    tell_slice(r, "list", step->list);
    tell(r, "\n");
    CHECK(step->n_cpu >= 0);
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
    if (!came(r, cpubind_pci_parse(r->text, r->len, given(r, pci), r->fault)))
        return;
    n = cpubind_pci_format(out, pci);
    tell(r, "%s\n", out);
    CHECK(pci->domain >= 0 && pci->bus >= 0 && pci->bus < 256);
    CHECK(pci->device >= 0 && pci->device < 32 && pci->function >= 0 && pci->function < 8);
    CHECK(n == (int32_t)strlen(out) && n < CPUBIND_PCI_ADDRESS_MAX);
    CHECK(cpubind_pci_parse(out, n, &again, NULL) == CPUBIND_TEXT_OK);
    CHECK(cpubind_pci_compare(pci, &again) == 0);
}

/* The grammar of input_name.h a second time, part by part. */
static int is_name(const char *name)
{
    for (const char *part = name;; part++) {
        const size_t n = strcspn(part, "/");
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)part[i] < ' ')
                return 0;
        if (n == 0 || (n == 2 && part[0] == '.' && part[1] == '.'))
            return 0;
        part += n;
        if (!*part)
            return strlen(name) <= CPUBIND_INPUT_NAME_MAX;
    }
}

/* A number without a leading zero, up to the largest int32_t; -1 without one. */
static int64_t take_number(const char **at)
{
    const char *start = *at;
    int64_t value = 0;
    for (; **at >= '0' && **at <= '9' && value <= INT32_MAX; ++*at)
        value = value * 10 + (**at - '0');
    return *at == start || value > INT32_MAX || (*start == '0' && *at > start + 1) ? -1 : value;
}

/* The grammar of a board's name, word by word. */
static int is_board(const char *name, int64_t *card, int64_t *chip)
{
    static const char start[] = "cmd/npu-smi-info-t-board-i";
    *chip = -1;
    if (strncmp(name, start, sizeof start - 1) != 0)
        return 0;
    name += sizeof start - 1;
    *card = take_number(&name);
    if (strncmp(name, "-c", 2) == 0) {
        name += 2;
        *chip = take_number(&name);
        if (*chip < 0)
            return 0;
    }
    return *card >= 0 && strcmp(name, ".txt") == 0;
}

/* Whether the text is the name of an input, and of which board. The name that is made of the
 * numbers of a board is the same name. */
static void read_input_name(reading *r)
{
    char *name = text_copy(r, 0, r->len), again[CPUBIND_INPUT_BOARD_MAX];
    cpubind_slice card = {-7, -7}, chip = {-7, -7};
    int64_t card_number, chip_number;
    const int has_board = is_board(name, &card_number, &chip_number);
    CHECK(cpubind_input_is_name(name) == is_name(name) && !cpubind_input_is_name(NULL));
    CHECK(cpubind_input_is_board(name, &card, &chip) == has_board);
    tell(r, "%s", is_name(name) ? "a name" : "no name");
    if (has_board) {
        tell_slice(r, "card", card);
        tell_slice(r, "chip", chip);
        CHECK((chip.len > 0) == (chip_number >= 0));
        CHECK(cpubind_input_board_name(again, (int32_t)card_number, (int32_t)chip_number) ==
              (int32_t)strlen(name));
        CHECK(strcmp(again, name) == 0);
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

/* A value is in one line, without control characters. Written in the usual order, the values
 * are read again. */
static void read_host_txt(reading *r)
{
    cpubind_host_txt *about = OUT(r, cpubind_host_txt), again;
    words written = {NULL, 0, 0};
    char *name;
    if (!came(r, cpubind_host_txt_parse(r->text, r->len, given(r, about), r->fault)))
        return;
#define CPUBIND_X(member, key)                                                                 \
    tell_slice(r, key, about->member);                                                         \
    tell(r, "\n");                                                                             \
    CHECK(about->member.len > 0);                                                              \
    for (int32_t i = 0; i < about->member.len; i++)                                            \
        CHECK((unsigned char)r->text[about->member.at + i] >= ' ');                            \
    add_words(&written, key ": %.*s\n", about->member.len, r->text + about->member.at);
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    CHECK(cpubind_host_txt_parse(written.text, written.len, &again, NULL) == CPUBIND_TEXT_OK);
#define CPUBIND_X(member, key)                                                                 \
    CHECK(again.member.len == about->member.len &&                                             \
          is_same(written.text + again.member.at, r->text + about->member.at,                  \
                  (size_t)again.member.len));
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    name = text_copy(r, about->name.at, about->name.len);
    CHECK(cpubind_host_txt_is_name(name));
    free(name);
    free(written.text);
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
    CHECK(p->n_bucket >= 0 && p->n_bucket <= CPUBIND_PROMETHEUS_BUCKETS);
    CHECK(p->kind != CPUBIND_PROMETHEUS_ABSENT || (p->n_series == 0 && p->n_bucket == 0));
    if (p->problem) {
        tell(r, ": %s\n", p->problem);
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
    tell(r, "\n");
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
        tell(r, "from nothing: %s\n", block.problem);
        return;
    }
    tell(r, "from nothing: %.12g", block.count);
    if (after->n_bucket > 0) {
        tell(r, ", mean %.12g, p50 %s%.12g, p99 %s%.12g", block.mean,
             tell_if(block.p50_is_least, ">="), block.p50, tell_if(block.p99_is_least, ">="),
             block.p99);
        CHECK(block.count == after->value && block.count > 0);
        CHECK(block.p50 <= block.p99 && block.p50_is_least <= block.p99_is_least);
        CHECK(block.p99 <= after->bucket[after->n_bucket - 2].bound);
        CHECK(cpubind_prometheus_between(after, &before).problem);
    }
    tell(r, "\n");
}

/* `read prometheus NAME`. It may be asked for twice at once. */
static void read_prometheus(reading *r)
{
    cpubind_prometheus_reading *p = (cpubind_prometheus_reading *)reading_out(r, 2 * sizeof *p);
    cpubind_text_status status;
    p[0].name = p[1].name = r->args;
    status = cpubind_prometheus_read(r->text, r->len, given(r, p), 2, r->fault);
    CHECK((cpubind_prometheus_name_check(r->args, NULL) == CPUBIND_TEXT_OK) ||
          status == CPUBIND_TEXT_ERR_ARG);
    if (!came(r, status))
        return;
    CHECK(r->len == 0 || r->text[r->len - 1] == '\n');
    CHECK(p[0].kind == p[1].kind && p[0].n_series == p[1].n_series);
    tell_reading(r, p);
    tell_block(r, p);
}

static void read_metric_name(reading *r)
{
    char *name = text_copy(r, 0, r->len);
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
    copy = text_copy(r, 0, r->len);
    right = strtod(copy, &end);
    CHECK(out->len > 0 && out->len <= end - copy);
    if (out->len == end - copy && right == right && right - right == 0) {
        const double off = out->value > right ? out->value - right : right - out->value;
        CHECK(off <= (right < 0 ? -right : right) * 1e-14 + 5e-324);
    }
    tell(r, "%.12g, %d bytes\n", out->value, out->len);
    free(copy);
}

/* == HTTP =================================================================== */

static void read_url(reading *r)
{
    cpubind_http_url *url = OUT(r, cpubind_http_url);
    if (!came(r, cpubind_http_url_parse(r->text, r->len, given(r, url), r->fault)))
        return;
    tell_slice(r, "host", url->host);
    tell(r, " port %d", url->port);
    tell_slice(r, "path", url->path);
    tell(r, "\n");
    CHECK(url->port > 0 && url->port < 65536 && url->host.len > 0 && url->host.at >= 7);
    CHECK(url->path.at >= url->host.at + url->host.len && memcmp(r->text, "http://", 7) == 0);
    CHECK(url->path.at + url->path.len == r->len);
    CHECK(url->path.len == 0 || r->text[url->path.at] == '/');
    for (int32_t i = 0; i < r->len; i++)
        CHECK(r->text[i] > ' ' && r->text[i] < 0x7f);
}

/* A head is read from no fewer bytes than it has, and reads the same with any after it. */
static void read_http(reading *r)
{
    cpubind_http_head *head = OUT(r, cpubind_http_head), again;
    const cpubind_text_status status =
        cpubind_http_head_parse(r->text, r->len, given(r, head), r->fault);
    CHECK(status != CPUBIND_TEXT_ERR_CUT || !r->fault || r->fault->offset == r->len);
    if (!came(r, status))
        return;
    tell(r, "status %d, head of %d bytes,", head->status, head->len);
    tell_id(r, "page of", head->page_len);
    tell_name(r, "location", head->location);
    tell(r, "%s\n", tell_if(head->is_coded, " coded"));
    CHECK(head->status >= 100 && head->status <= 599);
    CHECK(head->len > 0 && head->len <= r->len && r->text[head->len - 1] == '\n');
    CHECK(head->location.at + head->location.len <= head->len);
    memset(&again, r->fill, sizeof again);
    CHECK(cpubind_http_head_parse(r->text, head->len, &again, NULL) == CPUBIND_TEXT_OK);
    CHECK(is_same(&again, head, sizeof again));
    CHECK(cpubind_http_head_parse(r->text, head->len - 1, &again, NULL) ==
          CPUBIND_TEXT_ERR_CUT);
}

const reader text_readers[] = {
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
    {"url", read_url, "", NULL, "http", 128},
    {"http", read_http, "", NULL, "http", 512},
    {NULL, NULL, NULL, NULL, NULL, 0},
};
