/* view_texts.c - the texts that a view shows: npu-smi's tables, /proc, the driver's files
 * SPDX-License-Identifier: MIT
 *
 * The formats come from the driver's source and from captured outputs. It must not use the
 * readers that it feeds. A view is made and read some ten thousand times a second, so text is
 * copied piece by piece, and format strings are for short names alone.
 */
#include "view_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* == Writing ================================================================ */

static void put_bytes(view_source *s, const char *bytes, size_t n)
{
    if (n > (size_t)(VIEW_ROOM - s->used))
        abort();
    memcpy(s->room + s->used, bytes, n);
    s->used += (int32_t)n;
}

void view_put(view_source *s, const char *text)
{
    put_bytes(s, text, strlen(text));
}

static int32_t write_number(char *out, int32_t value)
{
    char digits[12];
    int32_t n = 0, len = 0;
    uint32_t rest = (uint32_t)(value < 0 ? -value : value);
    do
        digits[n++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        out[len++] = '-';
    while (n > 0)
        out[len++] = digits[--n];
    out[len] = '\0';
    return len;
}

void view_put_number(view_source *s, int32_t value)
{
    char text[16];
    put_bytes(s, text, (size_t)write_number(text, value));
}

/* Adds blanks up to `width` bytes from `start` on. */
static void pad(view_source *s, int32_t start, int32_t width)
{
    static const char blanks[] = "                                ";
    if (s->used - start < width)
        put_bytes(s, blanks, (size_t)(width - (s->used - start)));
}

static void put_cell(view_source *s, const char *text, int32_t width)
{
    const int32_t start = s->used;
    view_put(s, text);
    pad(s, start, width);
}

/* A text and a number, together `width` bytes at least. */
static void put_number_cell(view_source *s, const char *before, int32_t value, int32_t width)
{
    const int32_t start = s->used;
    view_put(s, before);
    view_put_number(s, value);
    pad(s, start, width);
}

int32_t view_write_list(char *out, const cpu_bits *set)
{
    int32_t len = 0;
    for (int32_t cpu = bits_next(set, 0); cpu >= 0; cpu = bits_next(set, cpu + 1)) {
        const int32_t first = cpu;
        while (cpu + 1 < HOST_CPUS && bits_has(set, cpu + 1))
            cpu++;
        if (len > 0)
            out[len++] = ',';
        len += write_number(out + len, first);
        if (cpu > first) {
            out[len++] = '-';
            len += write_number(out + len, cpu);
        }
    }
    out[len] = '\0';
    return len;
}

static void put_list(view_source *s, const cpu_bits *set)
{
    char text[HOST_CPUS * 4];
    put_bytes(s, text, (size_t)view_write_list(text, set));
}

void view_put_line(view_source *s, const cpu_bits *set)
{
    put_list(s, set);
    view_put(s, "\n");
}

/* == npu-smi info -m ======================================================== */

int32_t view_has(const host_view *view, int32_t phy)
{
    return view->host->npu[phy].state == NPU_ALIVE && (view->open >> phy & 1u) != 0;
}

int32_t view_count_visible(const host_view *view)
{
    int32_t n = 1;
    for (const char *at = view->visible; *at; at++)
        n += *at == ',' && at[1] != 'x';
    return view->has_visible ? n : view->n_npu;
}

/* The NPU ID: on a 950 it is the logic id. */
static int32_t card_of(const host_view *v, int32_t logic)
{
    return v->host->type == CPUBIND_TYPE_950 ? logic : v->host->npu[v->phy[logic]].card;
}

static int32_t chip_of(const host_view *v, int32_t logic)
{
    return v->host->npu[v->phy[logic]].chip;
}

/* The logic ids in the order of npu-smi: by card, then by chip. Returns their number. */
static int32_t order_of_cards(const host_view *v, int32_t *logic)
{
    for (int32_t n = 0; n < v->n_npu; n++) {
        const int32_t key = card_of(v, n) * 64 + chip_of(v, n);
        int32_t i = n;
        for (; i > 0 && card_of(v, logic[i - 1]) * 64 + chip_of(v, logic[i - 1]) > key; i--)
            logic[i] = logic[i - 1];
        logic[i] = n;
    }
    return v->n_npu;
}

/* Whether this is the last chip of its card in the table. */
static int32_t ends_card(const host_view *v, const int32_t *logic, int32_t i, int32_t n)
{
    return i + 1 == n || card_of(v, logic[i + 1]) != card_of(v, logic[i]);
}

static const char *name_of_chip(const random_host *h)
{
    static const char *const names[CPUBIND_TYPE_COUNT] = {[CPUBIND_TYPE_A2] = "Ascend 910B3",
                                                          [CPUBIND_TYPE_A3] = "Ascend910",
                                                          [CPUBIND_TYPE_300I] = "Ascend 310P3",
                                                          [CPUBIND_TYPE_950] = "Ascend950PR"};
    return names[h->type];
}

static void put_map_row(view_source *s, int32_t card, int32_t slot, int32_t chip, int32_t logic,
                        int32_t phy, const char *name)
{
    const cpubind_device_type type = s->view->host->type;
    view_put(s, "\t");
    put_number_cell(s, "", card, 31);
    if (type == CPUBIND_TYPE_950)
        put_number_cell(s, "", slot, 31);
    put_number_cell(s, "", chip, 31);
    if (type != CPUBIND_TYPE_950)
        logic < 0 ? put_cell(s, "-", 31) : put_number_cell(s, "", logic, 31);
    if (type == CPUBIND_TYPE_950 || type == CPUBIND_TYPE_A3)
        phy < 0 ? put_cell(s, "-", 31) : put_number_cell(s, "", phy, 31);
    view_put(s, name);
    view_put(s, "\n");
}

/* npu-smi on the host names a card whose chips it cannot list before the header, and prints two
 * rows of controllers for it. */
static int32_t lost_card(const host_view *v)
{
    for (int32_t phy = 0; phy < v->host->n_npu && !v->is_container; phy++)
        if (v->host->npu[phy].state == NPU_LOST)
            return v->host->npu[phy].card;
    return -1;
}

void view_make_map(view_source *s)
{
    static const char *const columns[][5] = {
        {"NPU ID", "Chip ID", "Chip Logic ID"},
        {"NPU ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID"},
        {"NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID"}};
    const host_view *v = s->view;
    const int32_t lost = lost_card(v), kind = v->host->type == CPUBIND_TYPE_950  ? 2
                                              : v->host->type == CPUBIND_TYPE_A3 ? 1
                                                                                 : 0;
    int32_t logic[HOST_NPUS];
    const int32_t n = order_of_cards(v, logic);
    if (lost >= 0) {
        view_put(s, "Failed to get chip number of card");
        view_put_number(s, lost);
        view_put(s, ".\n");
    }
    view_put(s, "\t");
    for (int32_t i = 0; columns[kind][i]; i++)
        put_cell(s, columns[kind][i], 31);
    view_put(s, "Chip Name                     \n");
    for (int32_t i = 0; i < n; i++) {
        const int32_t card = card_of(v, logic[i]), chip = chip_of(v, logic[i]);
        const int32_t phy = v->phy[logic[i]];
        put_map_row(s, card, phy + 1, chip, logic[i], phy, name_of_chip(v->host));
        if (kind != 2 && ends_card(v, logic, i, n))
            put_map_row(s, card, 0, chip + 1, -1, -1, "Mcu                           ");
    }
    for (int32_t i = 0; lost >= 0 && i < 2; i++)
        put_map_row(s, lost, 0, 0, -1, -1, i == 0 ? "Mcu     " : "3559    ");
}

/* == npu-smi info =========================================================== */

#define RULE_2                                                                                 \
    "+===========================+===============+===========================================" \
    "="                                                                                        \
    "========+\n"
#define RULE_1                                                                                 \
    "+---------------------------+---------------+-------------------------------------------" \
    "-"                                                                                        \
    "--------+\n"

static void put_address(view_source *s, const host_function *function)
{
    if (!s->view->host->has_buses || !function) {
        put_cell(s, "NA", 14);
        return;
    }
    for (int32_t i = 0; function->name[i]; i++) {
        const char c = function->name[i];
        const char upper = (char)(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
        put_bytes(s, &upper, 1);
    }
    view_put(s, "  ");
}

static const host_function *function_of(const host_view *v, int32_t phy)
{
    const int32_t i = v->host->npu[phy].function;
    return i < 0 ? NULL : &v->host->function[i];
}

static void put_device(view_source *s, int32_t logic)
{
    const host_view *v = s->view;
    const cpubind_device_type type = v->host->type;
    const int32_t is_wide = type == CPUBIND_TYPE_950, phy = v->phy[logic];
    view_put(s, "| ");
    put_number_cell(s, "", card_of(v, logic), is_wide ? 7 : 6);
    view_put(s, is_wide ? "| Ascend950PR      " : "910B3               ");
    view_put(s, "| OK            | 83.7        41                0    / 0             |\n| ");
    if (!is_wide)
        put_number_cell(s, "", chip_of(v, logic), 6);
    if (type == CPUBIND_TYPE_A3)
        put_number_cell(s, "", phy, 20);
    else if (type == CPUBIND_TYPE_300I)
        put_number_cell(s, "", logic, 20);
    else
        view_put(s, is_wide ? "       |                  " : "                    ");
    view_put(s, "| ");
    put_address(s, function_of(v, phy));
    view_put(s, "| 0           0    / 0          60792/ 65536         |\n");
}

static void put_devices(view_source *s, const int32_t *logic, int32_t n)
{
    static const char *const heads[CPUBIND_TYPE_COUNT] = {
        [CPUBIND_TYPE_A2] =
            "| NPU   Name                | Health        | Power(W)    Temp(C) |\n"
            "| Chip                      | Bus-Id        | AICore(%)   HBM(MB) |\n",
        [CPUBIND_TYPE_A3] =
            "| NPU   Name                | Health        | Power(W)    Temp(C) |\n"
            "| Chip  Phy-ID              | Bus-Id        | AICore(%)   HBM(MB) |\n",
        [CPUBIND_TYPE_300I] =
            "| NPU   Name                | Health        | Power(W)    Temp(C) |\n"
            "| Chip  Device              | Bus-Id        | AICore(%)   Memory  |\n",
        [CPUBIND_TYPE_950] =
            "| NPU ID | Name             | Health        | Power(W)    Temp(C) |\n"
            "|        |                  | Bus-Id        | NPU Util(%) HBM(MB) |\n"};
    view_put(s, RULE_1
             "| npu-smi 25.2.0                   Version: 25.2.0             |\n" RULE_1);
    view_put(s, heads[s->view->host->type]);
    view_put(s, RULE_2);
    for (int32_t i = 0; i < n; i++) {
        put_device(s, logic[i]);
        view_put(s, ends_card(s->view, logic, i, n) ? RULE_2 : RULE_1);
    }
}

static int32_t runs(const host_view *v, int32_t logic)
{
    return (int32_t)(v->running >> v->phy[logic] & 1u);
}

static void put_process(view_source *s, int32_t logic)
{
    const int32_t has_chip = s->view->host->type != CPUBIND_TYPE_950;
    view_put(s, "| ");
    put_number_cell(s, "", card_of(s->view, logic), 8);
    if (has_chip)
        put_number_cell(s, "", chip_of(s->view, logic), 18);
    put_number_cell(s, "| ", 70000 + s->view->phy[logic], 16);
    view_put(s, "| VLLMWorker_TP            | 57344                   |");
    view_put(s, s->view->table == TABLE_WIDE ? " NA                      |\n" : "\n");
}

static void put_processes(view_source *s, const int32_t *logic, int32_t n)
{
    const host_view *v = s->view;
    int32_t n_row = 0;
    view_put(s, RULE_1);
    view_put(s, v->host->type == CPUBIND_TYPE_950 ? "| NPU ID                    "
                                                  : "| NPU     Chip              ");
    view_put(s, "| Process id    | Process name             | Process memory(MB)      |");
    view_put(s, v->table == TABLE_WIDE ? " Process id in container |\n" RULE_2 : "\n" RULE_2);
    for (int32_t i = 0; i < n; i++) {
        if (runs(v, logic[i])) {
            put_process(s, logic[i]);
            n_row++;
        }
        if (!ends_card(v, logic, i, n))
            continue;
        if (n_row == 0) {
            view_put(s, "| No running processes found in NPU ");
            put_number_cell(s, "", card_of(v, logic[i]), 7);
            view_put(s, "|\n");
        }
        view_put(s, RULE_2);
        n_row = 0;
    }
}

void view_make_info(view_source *s)
{
    int32_t logic[HOST_NPUS];
    const int32_t n = order_of_cards(s->view, logic), start = s->used;
    put_devices(s, logic, n);
    if (s->view->table != TABLE_NONE)
        put_processes(s, logic, n);
    if (s->view->table == TABLE_CUT)
        s->used = start + (s->used - start) * s->view->cut / 256;
}

/* == npu-smi info -t topo =================================================== */

enum { AFFINITY_MAX = 31 }; /* bytes of a list; npu-smi fails with a longer one */

/* The label of a row, "NPU0" or "Phy-ID0". */
static void put_label(view_source *s, int32_t logic)
{
    if (s->view->host->type == CPUBIND_TYPE_A3)
        put_number_cell(s, "Phy-ID", s->view->phy[logic], 11);
    else
        put_number_cell(s, "NPU", card_of(s->view, logic), 11);
}

/* Whether the topology has a row for this chip: one a card, but one a chip on A3. */
static int32_t has_row(const host_view *v, const int32_t *logic, int32_t i, int32_t n)
{
    return v->host->type == CPUBIND_TYPE_A3 || ends_card(v, logic, i, n);
}

int32_t view_has_affinity(const host_view *v)
{
    char text[HOST_CPUS * 4];
    if (!v->has_npu_smi || v->host->is_vm || !v->host->has_column)
        return 0;
    for (int32_t i = 0; i < v->n_npu; i++)
        if (view_write_list(text, &v->host->node[random_host_home(v->host, v->phy[i])].online) >
            AFFINITY_MAX)
            return 0;
    return 1;
}

void view_make_topo(view_source *s)
{
    const host_view *v = s->view;
    int32_t logic[HOST_NPUS];
    const int32_t n = order_of_cards(v, logic);
    if (v->host->is_vm) {
        view_put(s, "This command cannot be executed on a VM.\n");
        return;
    }
    if (v->host->has_column && !view_has_affinity(v)) {
        view_put(s, "Failed to query \"topo\" info.\n");
        return;
    }
    view_put(s, "\t   ");
    for (int32_t i = 0; i < n; i++)
        if (has_row(v, logic, i, n))
            put_label(s, logic[i]);
    view_put(s, v->host->has_column ? "CPU Affinity\n" : "\n");
    for (int32_t i = 0; i < n; i++) {
        if (!has_row(v, logic, i, n))
            continue;
        put_label(s, logic[i]);
        for (int32_t k = 0; k < n; k++)
            if (has_row(v, logic, k, n))
                view_put(s, k == i ? "X          " : "HCCS       ");
        if (v->host->has_column)
            put_list(s, &v->host->node[random_host_home(v->host, v->phy[logic[i]])].online);
        view_put(s, "\n");
    }
    view_put(s, "\nLegend:\n\n  X    = Self\n  HCCS = Connection traversing HCCS.\n");
}

/* npu-smi info -t board of a chip: its block with its address. */
int32_t view_make_board(view_source *s, int32_t card, int32_t chip)
{
    const host_view *v = s->view;
    for (int32_t i = 0; i < v->n_npu; i++) {
        if (card_of(v, i) != card || chip_of(v, i) != chip)
            continue;
        put_number_cell(s, "\tNPU ID                         : ", card, 0);
        put_number_cell(s, "\n\tChip ID                        : ", chip, 0);
        view_put(s, "\n\tPCIe Bus Info                  : ");
        view_put(s, function_of(v, v->phy[i]) ? function_of(v, v->phy[i])->name : "NA");
        view_put(s, "\n");
        return 1;
    }
    return 0;
}

/* == /proc and the environment ============================================== */

void view_make_status(view_source *s)
{
    cpu_bits set = s->view->allowed;
    for (int32_t w = 0; w < HOST_CPUS / 64 && s->view->lists_offline; w++)
        set.word[w] |= s->view->host->offline.word[w];
    view_put(s, "Name:\tpython3\nCpus_allowed_list:\t");
    put_list(s, &set);
    view_put(s, "\nMems_allowed_list:\t0\n");
}

void view_make_env(view_source *s)
{
    view_put(s, "PATH=/bin\n");
    if (s->view->has_visible) {
        view_put(s, "ASCEND_RT_VISIBLE_DEVICES=");
        view_put(s, s->view->visible);
        view_put(s, "\n");
    }
    for (int32_t i = 0; s->view->gpu_kind && i < 3; i++) {
        static const char *const names[] = {
            "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=", "ZE_AFFINITY_MASK="};
        view_put(s, names[i]);
        view_put(s, s->view->gpu_visible);
        view_put(s, "\n");
    }
    if (s->view->has_dra) {
        view_put(s, "DRA_CPUSET_0=");
        view_put_line(s, &s->view->cgroup);
    }
    /* The default needs no variable. */
    if (!s->view->request.has_rules &&
        (s->view->request.rules != CPUBIND_RULES_DEFAULT || s->view->cut % 8 < 4)) {
        view_put(s, "CPUBIND_RULES=");
        view_put(s, cpubind_rules_word(s->view->request.rules));
        view_put(s, "\n");
    }
}

static void put_interrupt(view_source *s, int32_t irq, const char *before, int32_t id)
{
#define ZEROS_4  "          0          0          0          0"
#define ZEROS_16 ZEROS_4 ZEROS_4 ZEROS_4 ZEROS_4
    static const char zeros[] = ZEROS_16 ZEROS_16 ZEROS_16 ZEROS_16;
    view_put_number(s, irq);
    view_put(s, ":");
    for (int32_t left = bits_count(&s->view->host->online); left > 0; left -= 64)
        put_bytes(s, zeros, (size_t)(left < 64 ? left : 64) * 11);
    view_put(s, "   ITS-MSI 524288 Edge      ");
    view_put(s, before);
    if (id >= 0) {
        view_put_number(s, id);
        view_put(s, "-0");
    }
    view_put(s, "\n");
}

/* Two vectors of each NPU that works: the mailbox and one of the scheduler. */
void view_make_interrupts(view_source *s)
{
    const random_host *h = s->view->host;
    view_put(s, "     ");
    for (int32_t cpu = bits_next(&h->online, 0); cpu >= 0; cpu = bits_next(&h->online, cpu + 1))
        put_number_cell(s, "CPU", cpu, 11);
    view_put(s, "\n");
    for (int32_t i = 0; i < h->n_function; i++) {
        const host_function *function = &h->function[i];
        for (int32_t k = 0; k < function->n_npu; k++) {
            const int32_t irq = function->irq + 4 * k, phy = function->first + k;
            if (h->npu[phy].state != NPU_ALIVE)
                continue;
            if (h->has_mailbox)
                put_interrupt(s, irq, "trs-mbox-", phy);
            put_interrupt(s, irq + 1, h->is_vm ? "msix_inject" : "sq_send_trigger_irq", -1);
        }
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

enum { NAMES = 64, NAME = 32 };

/* Names in ascending byte order, one a line. */
static void put_names(view_source *s, char (*names)[NAME], int32_t n)
{
    qsort(names, (size_t)n, sizeof *names, compare_names);
    for (int32_t i = 0; i < n; i++) {
        view_put(s, names[i]);
        view_put(s, "\n");
    }
}

void view_list_processes(view_source *s)
{
    char names[NAMES][NAME];
    int32_t n = 0;
    for (int32_t phy = 0; phy < s->view->host->n_npu; phy++)
        if ((s->view->running >> phy & 1u) && s->view->host->npu[phy].state == NPU_ALIVE)
            (void)snprintf(names[n++], NAME, "%d-0-dev-%d", 70000 + phy, phy);
    put_names(s, names, n);
}

/* The table of one mount namespace. */
static void put_namespace(view_source *s, const host_view *v, int32_t id, const char *mark,
                          int32_t is_all)
{
    int32_t n = 0;
    for (int32_t phy = 0; phy < v->host->n_npu; phy++)
        n += is_all ? v->host->npu[phy].state == NPU_ALIVE : view_has(v, phy);
    put_number_cell(s, "ns_id ", id, 0);
    put_number_cell(s, " identify 4026531840 root_tgid 1 dev_num ", n, 0);
    view_put(s, " namespace 00000000e1a2b3c4");
    view_put(s, mark);
    view_put(s, ", udev list:\nlogic_devid udevid\n");
    n = 0;
    for (int32_t phy = 0; phy < v->host->n_npu; phy++) {
        if (is_all ? v->host->npu[phy].state != NPU_ALIVE : !view_has(v, phy))
            continue;
        put_number_cell(s, "       ", n++, 0);
        put_number_cell(s, "        ", phy, 0);
        view_put(s, "\n");
    }
    view_put(s, "\n\n");
}

/* /proc/uda/namespace_node: the table of the host, and that of the container. */
void view_make_namespaces(view_source *s)
{
    const host_view *v = s->view;
    put_namespace(s, v, 128, v->is_container ? "" : "(#)", 1);
    if (v->is_container)
        put_namespace(s, v, 3, "(#)", 0);
}

/* == /sys and /dev ========================================================== */

void view_list_nodes(view_source *s)
{
    char names[NAMES][NAME];
    int32_t n = 0;
    for (int32_t i = 0; i < s->view->host->n_node; i++)
        (void)snprintf(names[n++], NAME, "node%d", s->view->host->node[i].id);
    (void)snprintf(names[n++], NAME, "has_cpu");
    (void)snprintf(names[n++], NAME, "online");
    (void)snprintf(names[n++], NAME, "possible");
    put_names(s, names, n);
}

void view_list_functions(view_source *s)
{
    for (int32_t i = 0; i < s->view->host->n_function; i++) {
        view_put(s, s->view->host->function[i].name);
        view_put(s, "\n");
    }
}

void view_list_vectors(view_source *s, const host_function *function)
{
    const int32_t n = function->n_npu > 0 ? 4 * function->n_npu : 2;
    for (int32_t i = 0; i < n; i++) {
        view_put_number(s, function->irq + i);
        view_put(s, "\n");
    }
}

/* The number in the name of a device node: the phy id, or on a 950 the logic id of the host. */
static int32_t node_number(const random_host *h, int32_t phy)
{
    int32_t n = 0;
    if (h->type != CPUBIND_TYPE_950)
        return phy;
    for (int32_t i = 0; i < phy; i++)
        n += h->npu[i].state == NPU_ALIVE;
    return n;
}

/* The device nodes of the NPUs of the host, or of those that this process can open. */
void view_list_device_nodes(view_source *s, int32_t is_all)
{
    const host_view *v = s->view;
    char names[NAMES][NAME];
    int32_t n = 0;
    for (int32_t phy = 0; phy < v->host->n_npu; phy++)
        if (is_all ? v->host->npu[phy].state == NPU_ALIVE : view_has(v, phy))
            (void)snprintf(names[n++], NAME, "davinci%d", node_number(v->host, phy));
    put_names(s, names, n);
}

int32_t view_make_device_node(view_source *s, const char *name, int32_t is_all)
{
    const host_view *v = s->view;
    for (int32_t phy = 0; phy < v->host->n_npu; phy++) {
        char expected[NAME];
        (void)snprintf(expected, sizeof expected, "davinci%d", node_number(v->host, phy));
        if (strcmp(name, expected) != 0 ||
            !(is_all ? v->host->npu[phy].state == NPU_ALIVE : view_has(v, phy)))
            continue;
        put_number_cell(s, "236:", phy, 0);
        view_put(s, "\n");
        return 1;
    }
    return 0;
}
