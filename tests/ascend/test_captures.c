/* test_captures.c - captured outputs of real hosts, against tests/vectors/captures.txt
 * SPDX-License-Identifier: MIT
 *
 * The captures are not part of the project; see captures.h.
 */
#define _POSIX_C_SOURCE 200809L

#include "../text/readers.h"
#include "captures.h"

#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/lscpu.h"

enum { MAX_CPUS_IN_ROW = 1024 };

/* == facts: "key=value" ===================================================== */

/* An id of a fact: a number or "-" for -1; *text moves past it. */
static int32_t fact_id(const char **text)
{
    char *end = NULL;
    long value;

    if (**text == '-') {
        ++*text;
        return -1;
    }
    value = strtol(*text, &end, 10);
    assert_true(end != *text);
    *text = end;
    return (int32_t)value;
}

/* "4.1" to card and chip. */
static void fact_key(const char *text, int32_t *card, int32_t *chip)
{
    *card = fact_id(&text);
    assert_int_equal(*text, '.');
    text++;
    *chip = fact_id(&text);
    assert_int_equal(*text, '\0');
}

/* The slice equals the value, where "_" means a blank. */
static void check_words(const reading *r, cpubind_slice slice, const char *value)
{
    assert_int_equal(slice.len, strlen(value));
    for (int32_t i = 0; i < slice.len; i++)
        if (r->text[slice.at + i] != value[i])
            assert_true(r->text[slice.at + i] == ' ' && value[i] == '_');
}

static void check_ids(int32_t logic, int32_t phy, const char *value)
{
    assert_int_equal(logic, fact_id(&value));
    assert_int_equal(*value, '/');
    value++;
    assert_int_equal(phy, fact_id(&value));
}

/* "prefix:" at the start of the key; *key moves past it. */
static int has_prefix(const char **key, const char *prefix)
{
    const size_t n = strlen(prefix);

    if (strncmp(*key, prefix, n) != 0)
        return 0;
    *key += n;
    return 1;
}

static void check_number(const char *value, int32_t number)
{
    assert_int_equal(number, strtol(value, NULL, 10));
}

static void check_map_fact(const reading *r, const char *key, const char *value)
{
    int32_t card, chip, is_name;

    if (strcmp(key, "n") == 0) {
        check_number(value, r->n_chip);
        return;
    }
    is_name = has_prefix(&key, "name:");
    fact_key(key, &card, &chip);
    for (int32_t i = 0; i < r->n_chip; i++) {
        if (r->chip[i].card != card || r->chip[i].chip != chip)
            continue;
        if (is_name)
            check_words(r, r->chip[i].name, value);
        else
            check_ids(r->chip[i].logic, r->chip[i].phy, value);
        return;
    }
    fail_msg("no chip %s", key);
}

/* The CPUs of a row, written as the list that the capture shows. */
static void check_cpus(const cpubind_npusmi_topo *topo, const cpubind_npusmi_affinity *row,
                       const char *value)
{
    char text[MAX_CPUS_IN_ROW];
    int32_t len = 0;

    assert_int_equal(cpubind_cpulist_format(topo->cpu + row->first, row->count, text,
                                            (int32_t)sizeof text, &len),
                     CPUBIND_TEXT_OK);
    assert_int_equal(len, strlen(value));
    assert_memory_equal(text, value, (size_t)len);
}

static void check_topo_fact(const reading *r, const char *key, const char *value)
{
    const cpubind_npusmi_topo *topo = &r->topo;
    const char *id = key;

    if (strcmp(key, "label") == 0) {
        assert_string_equal(topo->label == CPUBIND_NPUSMI_LABEL_PHY ? "phy" : "card", value);
        return;
    }
    if (strcmp(key, "rows") == 0 || strcmp(key, "affinity") == 0) {
        check_number(value, *key == 'r' ? topo->n_row : topo->has_affinity);
        return;
    }
    for (int32_t i = 0, wanted = fact_id(&id); i < topo->n_row; i++) {
        if (topo->row[i].id != wanted)
            continue;
        check_cpus(topo, &topo->row[i], value);
        return;
    }
    fail_msg("no row %s", key);
}

static void check_bus(const cpubind_pci_address *pci, const char *value)
{
    char text[64] = "NA";

    if (pci->domain >= 0)
        (void)snprintf(text, sizeof text, "%04x:%02x:%02x.%x", (unsigned)pci->domain,
                       (unsigned)pci->bus, (unsigned)pci->device, (unsigned)pci->function);
    assert_string_equal(text, value);
}

static void check_device_fact(const reading *r, const char *key, const char *value)
{
    const int32_t is_bus = has_prefix(&key, "bus:"), is_health = has_prefix(&key, "health:");
    int32_t card, chip;

    fact_key(key, &card, &chip);
    for (int32_t i = 0; i < r->info.n_device; i++) {
        const cpubind_npusmi_device *device = &r->info.device[i];

        if (device->card != card || device->chip != chip)
            continue;
        if (is_bus)
            check_bus(&device->pci, value);
        else if (is_health)
            check_words(r, device->health, value);
        else
            check_ids(device->logic, device->phy, value);
        return;
    }
    fail_msg("no device %s", key);
}

/* pid: all processes of a card and chip, in order. name: of the first of them. */
static void check_process_fact(const reading *r, const char *key, const char *value, int is_pid)
{
    int32_t card, chip;

    fact_key(key, &card, &chip);
    for (int32_t i = 0; i < r->info.n_process; i++) {
        const cpubind_npusmi_process *process = &r->info.process[i];

        if (process->card != card || process->chip != chip)
            continue;
        if (!is_pid) {
            check_words(r, process->name, value);
            return;
        }
        assert_int_equal(process->pid, fact_id(&value));
        if (*value == ',')
            value++;
    }
    if (!is_pid || *value)
        fail_msg("no process %s %s", key, value);
}

static void check_info_fact(const reading *r, const char *key, const char *value)
{
    if (strcmp(key, "devices") == 0)
        check_number(value, r->info.n_device);
    else if (strcmp(key, "processes") == 0)
        check_number(value, r->info.n_process);
    else if (strcmp(key, "table") == 0)
        check_number(value, r->info.has_process_table);
    else if (strcmp(key, "version") == 0)
        check_words(r, r->info.version, value);
    else if (has_prefix(&key, "pid:"))
        check_process_fact(r, key, value, 1);
    else if (has_prefix(&key, "name:"))
        check_process_fact(r, key, value, 0);
    else
        check_device_fact(r, key, value);
}

/* "19e5/d802"; "-" is none. */
static void check_pci_ids(const cpubind_npusmi_board *board, const char *value)
{
    char text[32], vendor[8] = "-", device[8] = "-";

    if (board->vendor >= 0)
        (void)snprintf(vendor, sizeof vendor, "%04x", (unsigned)board->vendor & 0xffffu);
    if (board->device >= 0)
        (void)snprintf(device, sizeof device, "%04x", (unsigned)board->device & 0xffffu);
    (void)snprintf(text, sizeof text, "%s/%s", vendor, device);
    assert_string_equal(text, value);
}

static void check_board(const reading *r, const cpubind_npusmi_board *board, const char *fact,
                        const char *value)
{
    if (has_prefix(&fact, "count:"))
        assert_int_equal(board->n_chip, fact_id(&value));
    else if (has_prefix(&fact, "ids:"))
        check_pci_ids(board, value);
    else if (has_prefix(&fact, "name:"))
        check_words(r, board->chip_name, value);
    else if (has_prefix(&fact, "type:"))
        check_words(r, board->chip_type, value);
    else if (has_prefix(&fact, "npu:"))
        check_words(r, board->npu_name, value);
    else if (has_prefix(&fact, "product:"))
        check_words(r, board->product, value);
    else if (has_prefix(&fact, "serial:"))
        check_words(r, board->serial, value);
    else if (board->has_pci)
        check_bus(&board->pci, value);
    else
        assert_string_equal(value, "none");
}

static void check_board_fact(const reading *r, const char *key, const char *value)
{
    const char *colon = strchr(key, ':');
    int32_t card, chip;

    if (strcmp(key, "n") == 0) {
        check_number(value, r->n_board);
        return;
    }
    fact_key(colon ? colon + 1 : key, &card, &chip);
    for (int32_t i = 0; i < r->n_board; i++) {
        if (r->board[i].card != card || r->board[i].chip != chip)
            continue;
        check_board(r, &r->board[i], key, value);
        return;
    }
    fail_msg("no block %s", key);
}

static void check_list_fact(const reading *r, const char *key, const char *value)
{
    const int32_t is_product = has_prefix(&key, "product:");
    const int32_t is_serial = has_prefix(&key, "serial:");

    if (strcmp(key, "n") == 0) {
        check_number(value, r->n_card);
        return;
    }
    for (int32_t i = 0, wanted = fact_id(&key); i < r->n_card; i++) {
        if (r->card[i].card != wanted)
            continue;
        if (is_product)
            check_words(r, r->card[i].product, value);
        else if (is_serial)
            check_words(r, r->card[i].serial, value);
        else
            assert_int_equal(r->card[i].n_chip, fact_id(&value));
        return;
    }
    fail_msg("no card %s", key);
}

/* "n=2 2753=sq_send_trigger_irq" */
static void check_irq_fact(const reading *r, const char *key, const char *value)
{
    const int32_t number = strcmp(key, "n") == 0 ? -1 : fact_id(&key);

    if (number < 0) {
        check_number(value, r->n_irq);
        return;
    }
    for (int32_t i = 0; i < r->n_irq; i++) {
        if (r->irq[i].irq != number)
            continue;
        check_words(r, r->irq[i].names, value);
        return;
    }
    fail_msg("no interrupt %s", key);
}

/* == readings =============================================================== */

typedef void check_fact(const reading *r, const char *key, const char *value);

/* The number that the readers of refusals and of threads return, in n_chip. */
static cpubind_text_status read_refusal(reading *r, const char *text, int32_t len)
{
    start_reading(r, text, len);
    r->n_chip = (int32_t)cpubind_npusmi_find_refusal(r->text, len, NULL);
    return r->status;
}

static cpubind_text_status read_threads(reading *r, const char *text, int32_t len)
{
    start_reading(r, text, len);
    r->status = cpubind_lscpu_parse_threads(r->text, len, &r->n_chip, &r->fault);
    return r->status;
}

static void check_is(const reading *r, const char *key, const char *value)
{
    assert_string_equal(key, "is");
    check_number(value, r->n_chip);
}

static const struct {
    const char *name;
    cpubind_text_status (*read)(reading *r, const char *text, int32_t len);
    check_fact *check;
} readers[] = {
    {"map", read_map, check_map_fact},       {"topo", read_topo, check_topo_fact},
    {"info", read_info, check_info_fact},    {"refusal", read_refusal, check_is},
    {"board", read_board, check_board_fact}, {"list", read_list, check_list_fact},
    {"threads", read_threads, check_is},     {"interrupts", read_interrupts, check_irq_fact},
};

static int32_t find_reader(const char *name)
{
    for (int32_t i = 0; i < LENGTH(readers); i++)
        if (strcmp(readers[i].name, name) == 0)
            return i;
    fail_msg("no reader %s", name);
    return -1;
}

/* One line of the table: file, reader, status, facts. */
static void check_capture(const char *file, const char *name, const char *status, char *facts)
{
    const int32_t index = find_reader(name);
    int32_t len = 0, n_fact = 0;
    char *text = read_capture(file, &len);
    reading r;

    readers[index].read(&r, text, len);
    if (strcmp(cpubind_text_status_name(r.status), status) != 0)
        fail_msg("%s: %s, not %s (%s at %d)", file, cpubind_text_status_name(r.status), status,
                 r.fault.what ? r.fault.what : "", r.fault.offset);
    for (char *save = NULL, *fact = strtok_r(facts, " ", &save); fact;
         fact = strtok_r(NULL, " ", &save), n_fact++) {
        char *value = strchr(fact, '=');

        if (!value) {
            fail_msg("%s: \"%s\" is no fact", file, fact);
            return;
        }
        *value++ = '\0';
        readers[index].check(&r, fact, value);
    }
    assert_true(n_fact > 0 || r.status != CPUBIND_TEXT_OK);
    end_reading(&r);
    free(text);
}

/* The capture of a failed check: an assertion ends the test at once. */
static const char *reading_now;

SETUP(name_the_capture)
{
    if (reading_now)
        print_error("while reading %s\n", reading_now);
    return 0;
}

TEST_WITH(every_capture_reads_as_by_eye, NULL, name_the_capture)
{
    DIR *captures = open_captures();
    char *table, *rest, *line;
    int32_t n_case = 0;

    if (!captures)
        skip();
    (void)closedir(captures);
    table = rest = read_vectors("vectors/captures.txt");
    while ((line = next_case(&rest))) {
        char *save = NULL, *file = strtok_r(line, " ", &save);
        char *name = strtok_r(NULL, " ", &save), *status = strtok_r(NULL, " ", &save);

        assert_non_null(status);
        if (strcmp(name, "skip") == 0)
            continue;
        reading_now = file;
        check_capture(file, name, status, save);
        reading_now = NULL;
        n_case++;
    }
    free(table);
    assert_true(n_case > 0);
}

/* Whether a line of the table starts with this file name. */
static int is_in_table(const char *table, const char *file)
{
    const size_t n = strlen(file);

    for (const char *line = table; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, file, n) == 0 && line[n] == ' ')
            return 1;
    }
    return 0;
}

TEST(every_capture_is_in_the_table)
{
    DIR *captures = open_captures();
    char *table;
    const char *file;
    int32_t n_missing = 0;

    if (!captures)
        skip();
    table = read_vectors("vectors/captures.txt");
    while ((file = next_capture(captures)) != NULL) {
        if (is_in_table(table, file))
            continue;
        print_error("%s is not in tests/vectors/captures.txt\n", file);
        n_missing++;
    }
    (void)closedir(captures);
    free(table);
    assert_int_equal(n_missing, 0);
}

TEST_FILE(NULL, NULL)
