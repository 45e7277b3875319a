/* ascend.c - the rows of the readers of adapters/ascend
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header there.
 */
#include "../../adapters/ascend/driver_files.h"
#include "../../adapters/ascend/input_list.h"
#include "../../adapters/ascend/npusmi.h"
#include "../../adapters/ascend/redact.h"
#include "readers.h"

static void tell_unknown(reading *r, cpubind_piece unknown)
{
    if (unknown.len == 0 || r->wants_places)
        return;
    tell(r, "not known:");
    tell_name(r, "", unknown);
}

/* == npu-smi ================================================================ */

static void read_map(reading *r)
{
    cpubind_npusmi_rows *map = OUT(r, cpubind_npusmi_rows);
    if (!READ_IN_ARENA(r, cpubind_npusmi_parse_map, map))
        return;
    CHECK(map->n >= 1 && map->n <= CPUBIND_MAX_DEVICES);
    tell(r, "%d chips%s%s\n", map->n, tell_if(map->has_logic, ", logic ids"),
         tell_if(map->has_name, ", names"));
    for (int32_t i = 0; i < map->n; i++) {
        const cpubind_npusmi_row *chip = &map->row[i];
        CHECK(chip->card >= 0 && chip->chip >= 0);
        tell(r, "chip %d.%d", chip->card, chip->chip);
        tell_ids(r, "logic", chip->logic, "phy", chip->phy, NULL);
        tell_name(r, "name", chip->name);
        tell(r, "\n");
        CHECK(map->has_logic || chip->logic < 0);
        CHECK(map->has_name || chip->name.len == 0);
        CHECK(i == 0 || chip->name.at > chip[-1].name.at);
        for (int32_t k = 0; k < i && k < 64; k++) {
            const cpubind_npusmi_row *other = &map->row[k];
            CHECK(chip->card != other->card || chip->chip != other->chip);
            CHECK(chip->logic < 0 || chip->logic != other->logic ||
                  (map->has_name && (chip->name.len == 0 || other->name.len == 0)));
        }
    }
    tell_unknown(r, map->unknown);
}

static void read_topo(reading *r)
{
    cpubind_npusmi_rows *topo = OUT(r, cpubind_npusmi_rows);
    if (!READ_IN_ARENA(r, cpubind_npusmi_parse_topo, topo))
        return;
    CHECK(topo->n >= 1);
    tell(r, "by %s%s\n", topo->row->phy >= 0 ? "phy id" : "card",
         tell_if(topo->has_affinity, ", with affinities"));
    for (int32_t i = 0; i < topo->n; i++) {
        const cpubind_npusmi_row *row = &topo->row[i];
        CHECK((row->card >= 0) == (topo->row->phy < 0) && (row->phy >= 0) == (row->card < 0));
        CHECK(row->n_cpu >= 0 && (topo->has_affinity || row->n_cpu == 0));
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(row->card != topo->row[k].card || row->phy != topo->row[k].phy);
        tell(r, "row %d ", row->phy >= 0 ? row->phy : row->card);
        tell_list(r, row->n_cpu ? row->cpu : NULL, row->n_cpu, CPUBIND_MAX_CPUS);
        tell(r, "\n");
    }
    tell_unknown(r, topo->unknown);
}

static void tell_pci(reading *r, const cpubind_pci_address *pci)
{
    char out[CPUBIND_PCI_ADDRESS_MAX];
    if (pci->domain < 0) {
        CHECK(pci->domain == -1 && pci->bus == -1 && pci->device == -1 && pci->function == -1);
        return;
    }
    CHECK(pci->bus >= 0 && pci->bus < 256 && pci->device >= 0 && pci->device < 32);
    CHECK(pci->function >= 0 && pci->function < 8);
    (void)cpubind_pci_format(out, pci);
    tell(r, " pci %s", out);
}

/* The card and its chip, none of which is in an earlier row. */
#define TELL_CHIP(r, row, i)                                                                   \
    do {                                                                                       \
        CHECK((row)[i].card >= 0);                                                             \
        tell_id(r, "card", (row)[i].card);                                                     \
        tell_id(r, "chip", (row)[i].chip);                                                     \
        for (int32_t other_ = 0; other_ < (i) && other_ < 64; other_++)                        \
            CHECK((row)[other_].card != (row)[i].card || (row)[other_].chip != (row)[i].chip); \
    } while (0)

static void tell_processes(reading *r, const cpubind_npusmi_info *info)
{
    CHECK(info->has_process_table || (info->process.n == 0 && info->device.n > 0));
    CHECK(info->process_status == CPUBIND_TEXT_OK ||
          (info->has_process_table && info->process.n == 0 && info->is_open));
    tell(r, "%s process table%s\n", info->has_process_table ? "a" : "no",
         tell_if(info->is_open, ", open"));
    if (info->process_status != CPUBIND_TEXT_OK)
        tell_fault(r, info->process_status, &info->process_fault, 0);
    for (int32_t i = 0; i < info->process.n; i++) {
        const cpubind_npusmi_row *process = &info->process.row[i];
        CHECK(process->card >= 0);
        tell(r, "process card %d", process->card);
        tell_ids(r, "chip", process->chip, "pid", process->pid, NULL);
        tell(r, "\n");
    }
}

static void read_info(reading *r)
{
    cpubind_npusmi_info *info = OUT(r, cpubind_npusmi_info);
    const cpubind_piece version =
        r->len >= 0 ? cpubind_npusmi_version(r->text, r->len) : (cpubind_piece){0, 0};
    if (!READ_IN_ARENA(r, cpubind_npusmi_parse_info, info))
        return;
    tell_processes(r, info);
    for (int32_t i = 0; i < info->device.n; i++) {
        const cpubind_npusmi_row *device = &info->device.row[i];
        tell(r, "device");
        TELL_CHIP(r, info->device.row, i);
        tell_ids(r, "logic", device->logic, "phy", device->phy, NULL);
        tell_pci(r, &device->pci);
        tell(r, "\n");
        CHECK((device->chip < 0) == (info->device.row->chip < 0));
    }
    tell_name(r, "version", version);
    tell(r, version.len > 0 ? "\n" : "");
    tell_unknown(r, info->device.unknown);
}

static void read_boards(reading *r)
{
    cpubind_npusmi_rows *boards = OUT(r, cpubind_npusmi_rows);
    if (!READ_IN_ARENA(r, cpubind_npusmi_parse_board, boards))
        return;
    CHECK(boards->n >= 1);
    for (int32_t i = 0; i < boards->n; i++) {
        const cpubind_npusmi_row *board = &boards->row[i];
        tell(r, "board");
        TELL_CHIP(r, boards->row, i);
        tell_id(r, "chips", board->n_chip);
        tell(r, "%s", board->pci.domain < 0 ? " pci unknown" : "");
        tell_pci(r, &board->pci);
        tell(r, "\n");
    }
    tell_unknown(r, boards->unknown);
}

/* A reader says ERR_REFUSED of a text with a refusal alone, and at its line. The lost cards of
 * two halves add up to those of the text. */
static void read_refusal(reading *r)
{
    cpubind_piece line = {-7, -7}, again = {-7, -7};
    const cpubind_npusmi_refusal refusal = cpubind_npusmi_find_refusal(r->text, r->len, &line);
    const int32_t lost = cpubind_npusmi_count_lost(r->text, r->len);
    cpubind_text_fault fault = {-7, NULL};
    cpubind_arena none = {NULL, 0, 0};
    cpubind_npusmi_rows map;
    const cpubind_text_status status =
        cpubind_npusmi_parse_map(r->text, r->len, &none, &map, &fault);
    int32_t half = r->len / 2;
    CHECK(refusal >= CPUBIND_NPUSMI_NONE && refusal <= CPUBIND_NPUSMI_NOT_RUN);
    CHECK(cpubind_npusmi_find_refusal(r->text, r->len, NULL) == refusal);
    tell(r, "%d", (int)refusal);
    if (refusal == CPUBIND_NPUSMI_NONE) {
        CHECK(line.at == -7 && line.len == -7 && status != CPUBIND_TEXT_ERR_REFUSED);
    } else {
        tell_name(r, "", line);
        CHECK(line.len > 0);
        CHECK(cpubind_npusmi_find_refusal(r->text + line.at, line.len, &again) == refusal);
        CHECK(again.at == 0 && again.len == line.len);
        CHECK(cpubind_npusmi_find_refusal(r->text, line.at, NULL) == CPUBIND_NPUSMI_NONE);
        CHECK(status != CPUBIND_TEXT_ERR_REFUSED || fault.offset == line.at);
        CHECK(status != CPUBIND_TEXT_ERR_SYNTAX && status != CPUBIND_TEXT_ERR_CUT &&
              status != CPUBIND_TEXT_ERR_MISSING);
    }
    tell(r, lost ? ", lost %d\n" : "\n", lost);
    while (half > 0 && r->text[half - 1] != '\n')
        half--;
    CHECK(lost >= 0 && lost <= r->len / 32);
    CHECK(cpubind_npusmi_count_lost(r->text, half) +
              cpubind_npusmi_count_lost(r->text + half, r->len - half) ==
          lost);
    CHECK(cpubind_npusmi_count_lost(r->text, -1) == 0);
    CHECK(cpubind_npusmi_find_refusal(NULL, 1, NULL) == CPUBIND_NPUSMI_NONE);
    CHECK(cpubind_npusmi_find_refusal(r->text, -1, NULL) == CPUBIND_NPUSMI_NONE);
}

/* == The driver ============================================================= */

static void read_process(reading *r)
{
    cpubind_driver_process *process = OUT(r, cpubind_driver_process);
    if (!READ(r, cpubind_driver_parse_process, process))
        return;
    tell_ids(r, "pid", process->pid, "udevid", process->udevid, NULL);
}

static void read_mailbox(reading *r)
{
    int32_t *udevid = OUT(r, int32_t);
    if (!READ(r, cpubind_driver_parse_mailbox, udevid))
        return;
    tell_id(r, "udevid", *udevid);
}

static void read_node(reading *r)
{
    cpubind_driver_number *node = OUT(r, cpubind_driver_number);
    if (!READ(r, cpubind_driver_parse_number, node))
        return;
    tell_ids(r, "major", node->major, "minor", node->minor, NULL);
}

static void read_namespaces(reading *r)
{
    cpubind_driver_logics *list = OUT(r, cpubind_driver_logics);
    if (!READ_IN_ARENA(r, cpubind_driver_parse_namespaces, list))
        return;
    for (int32_t i = 0; i < list->n; i++) {
        const cpubind_driver_logic *row = &list->row[i];
        tell(r, "logic %d udevid %d\n", row->logic, row->udevid);
        CHECK(row->logic >= 0 && row->logic < CPUBIND_MAX_DEVICES);
        CHECK(row->udevid >= 0 && row->udevid < CPUBIND_MAX_DEVICES);
        CHECK_UNIQUE(list->row, i, logic);
        CHECK_UNIQUE(list->row, i, udevid);
    }
    tell_unknown(r, list->unknown);
}

/* == Redaction ============================================================== */

static int is_none(const cpubind_redacted *counts)
{
    return counts->host_names == 0 && counts->serial_numbers == 0 && counts->process_names == 0;
}

/* What the reader of an input says of a text, with the places of what it says in place of the
 * bytes; and its status. Nothing of an input that has no reader. */
static cpubind_text_status read_places(const char *input, const char *text, int32_t len,
                                       words *said)
{
    static const char *const readers[][2] = {
        {"cmd/npu-smi-info.txt", "npusmi_info"},
        {"cmd/npu-smi-info-m.txt", "npusmi_map"},
        {"cmd/npu-smi-info-t-topo.txt", "npusmi_topo"},
        {"cmd/lscpu.txt", "lscpu_threads"},
        {"cmd/lscpu-e.txt", "lscpu_nodes"},
        {"proc/self/status", "status"},
        {"proc/interrupts", "interrupts"},
    };
    cpubind_piece card, chip;
    const char *name = cpubind_input_is_board(input, &card, &chip) ? "npusmi_board" : NULL;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(input, readers[i][0]) == 0)
            name = readers[i][1];
    return name ? read_once(find_reader(name), "", text, len, 1, said) : CPUBIND_TEXT_OK;
}

/* Redaction changes bytes to "x", but no blank, control character or bar; counts the names it
 * changes; and changes nothing in a second call. */
static void check_bytes(const reading *r, const char *input, const char *out, const char *host,
                        const cpubind_redacted *counts)
{
    cpubind_redacted again = {0, 0, 0};
    char *twice = exact_copy(out, (size_t)r->len);
    int is_changed = 0;
    for (int32_t i = 0; i < r->len; i++) {
        const unsigned char byte = (unsigned char)r->text[i];
        CHECK(out[i] == r->text[i] || (out[i] == 'x' && byte > ' ' && byte != '|'));
        is_changed |= out[i] != r->text[i];
    }
    CHECK(counts->host_names >= 0 && counts->serial_numbers >= 0 && counts->process_names >= 0);
    CHECK(is_changed == !is_none(counts));
    cpubind_redact(input, twice, r->len, host, &again);
    CHECK(is_same(twice, out, (size_t)r->len) && is_none(&again));
    free(twice);
}

/* The reader of the input reads the same from the redacted text. A text that cannot be read
 * fails with the same status, but perhaps at another place, unless the name of a host was
 * redacted. Where npu-smi info has names, this holds for what npu-smi prints: of a damaged
 * table redaction overwrites what may be a name, and the reader may not see one. */
static void check_reading(const reading *r, const char *input, const char *out, int is_strict,
                          const cpubind_redacted *counts)
{
    words before = {NULL, 0, 0}, after = {NULL, 0, 0};
    cpubind_piece a = {-1, -1}, b = {-1, -1};
    const cpubind_text_status status = read_places(input, r->text, r->len, &before);
    if (status != CPUBIND_TEXT_OK && !is_strict) {
        free(before.text);
        return;
    }
    if (strcmp(input, "cmd/npu-smi-info.txt") != 0 || counts->process_names == 0) {
        CHECK(read_places(input, out, r->len, &after) == status);
        CHECK(
            status != CPUBIND_TEXT_OK ||
            (before.len == after.len && is_same(before.text, after.text, (size_t)before.len)));
    }
    if (strncmp(input, "cmd/npu-smi", 11) == 0) {
        CHECK(cpubind_npusmi_find_refusal(r->text, r->len, &a) ==
              cpubind_npusmi_find_refusal(out, r->len, &b));
        CHECK(a.at == b.at && a.len == b.len);
        CHECK(cpubind_npusmi_count_lost(r->text, r->len) ==
              cpubind_npusmi_count_lost(out, r->len));
    }
    free(before.text);
    free(after.text);
}

/* Lines, as they would stand in the data of a case. */
static void tell_lines(reading *r, const char *text, int32_t len)
{
    for (int32_t i = 0; i < len; i++) {
        if (text[i] == '\n')
            tell(r, "\n");
        else
            tell_bytes(r, text + i, 1);
    }
    if (len > 0 && text[len - 1] != '\n')
        tell(r, "\\\n");
}

/* `read redact INPUT [HOST]`: the text of an input, after redaction on a host of this name, and
 * how many names of hosts, serial numbers and names of processes went. */
static void read_redacted(reading *r)
{
    const size_t n = strcspn(r->args, " ");
    const char *host = r->args[n] ? r->args + n + 1 : NULL;
    char *input = string_copy(r->args, (int32_t)n);
    for (int i = 0; i < 1 + (host != NULL); i++) {
        const char *name = i ? host : NULL;
        cpubind_redacted counts = {0, 0, 0};
        char *out = exact_copy(r->text, (size_t)r->len);
        cpubind_redact(input, out, r->len, name, &counts);
        check_bytes(r, input, out, name, &counts);
        check_reading(r, input, out, !name, &counts);
        if (i == (host != NULL)) {
            tell_lines(r, out, r->len);
            tell(r, "%d, %d, %d%s\n", counts.host_names, counts.serial_numbers,
                 counts.process_names,
                 tell_if(host && !cpubind_redact_finds(host), "; the host is not looked for"));
        }
        free(out);
    }
    free(input);
}

static const reader rows[] = {
    {"npusmi_map", read_map, "", NULL, "npusmi", 4096},
    {"npusmi_topo", read_topo, "", NULL, "npusmi", 6144},
    {"npusmi_info", read_info, "", NULL, "npusmi", 10240},
    {"npusmi_board", read_boards, "", NULL, "npusmi", 2048},
    {"npusmi_refusal", read_refusal, "", NULL, "npusmi", 512},
    {"driver_process", read_process, "", NULL, "driver", 64},
    {"driver_mailbox", read_mailbox, "", NULL, "driver", 64},
    {"driver_number", read_node, "", NULL, "driver", 32},
    {"driver_namespaces", read_namespaces, "", NULL, "driver", 2048},
    {"redact", read_redacted, NULL, NULL, "redact", 4096},
};

READERS(rows)
