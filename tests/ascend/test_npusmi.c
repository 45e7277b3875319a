/* test_npusmi.c - the readers of npu-smi: every family, every cut, limits and arguments
 * SPDX-License-Identifier: MIT
 *
 * What is read of a text is in tests/ascend/texts.
 */
#include "lines.h"
#include "samples.h"

static reading got; /* what a test has read last */

SETUP(forget)
{
    end_reading(&got);
    return 0;
}

static cpubind_text_status take_some(reader_fn *read, const char *text, int32_t len)
{
    end_reading(&got);
    return read(&got, text, len);
}

/* == info -m ================================================================ */

#define HEADER "NPU ID  Chip ID  Chip Logic ID  Chip Name\n"

TEST(a_map_without_room_gives_the_room_that_it_needs)
{
    end_reading(&got);
    assert_int_equal(read_map_cap(&got, map_a3, (int32_t)strlen(map_a3), 1),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.n_chip, 2);
}

/* == info -t topo =========================================================== */

TEST(a_matrix_without_room_gives_the_room_that_it_needs)
{
    const int32_t len = (int32_t)strlen(topo_a2);
    end_reading(&got);
    assert_int_equal(read_topo_cap(&got, topo_a2, len, 4, 95), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.topo.n_row, 4);
    assert_int_equal(got.topo.n_cpu, 96);
    end_reading(&got);
    assert_int_equal(read_topo_cap(&got, topo_a2, len, 3, 96), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.topo.n_row, 4);
}

/* == info =================================================================== */

static void check_device(const reading *r, int32_t i, int32_t card, int32_t chip, int32_t logic,
                         int32_t phy, const char *name, const char *health)
{
    const cpubind_npusmi_device *device = &r->info.device[i];

    assert_int_equal(device->card, card);
    assert_int_equal(device->chip, chip);
    assert_int_equal(device->logic, logic);
    assert_int_equal(device->phy, phy);
    assert_true(slice_is(r, device->name, name));
    assert_true(slice_is(r, device->health, health));
}

static void check_pci(const reading *r, int32_t i, int32_t domain, int32_t bus, int32_t device,
                      int32_t function)
{
    const cpubind_pci_address *pci = &r->info.device[i].pci;

    assert_int_equal(pci->domain, domain);
    assert_int_equal(pci->bus, bus);
    assert_int_equal(pci->device, device);
    assert_int_equal(pci->function, function);
}

static void check_process(const reading *r, int32_t i, int32_t card, int32_t chip, int32_t pid,
                          int32_t container_pid, const char *name)
{
    const cpubind_npusmi_process *process = &r->info.process[i];

    assert_int_equal(process->card, card);
    assert_int_equal(process->chip, chip);
    assert_int_equal(process->pid, pid);
    assert_int_equal(process->container_pid, container_pid);
    assert_true(slice_is(r, process->name, name));
}

TEST(tables_without_room_give_the_room_that_they_need)
{
    const int32_t len = (int32_t)strlen(info_a3);
    end_reading(&got);
    assert_int_equal(read_info_cap(&got, info_a3, len, 2, 3), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.info.n_device, 3);
    assert_int_equal(got.info.n_process, 3);
    end_reading(&got);
    assert_int_equal(read_info_cap(&got, info_a3, len, 3, 2), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.info.n_process, 3);
}

/* == families =============================================================== */

/* The layout of the tables of a product family. */
typedef struct family {
    const char *name;
    int32_t n_chip;       /* of a card */
    int32_t first_card;   /* the NPU id of the first card */
    int32_t step;         /* from one card's NPU id to the next */
    int32_t wide;         /* 1: NPU ID and Name are two cells, and there is no chip */
    const char *second;   /* the word behind Chip in the header */
    int32_t has_bus;      /* 0: Bus-Id is NA */
    int32_t n_process;    /* cells of the process table; 0: none is printed */
    const char *die_rule; /* between the chips of a card */
} family;

static const family families[] = {
    {"310", 4, 1, 2, 0, "Device", 1, 0, "+-------------------+-----------------+------+\n"},
    {"310P", 1, 33792, 256, 0, "Device", 1, 4, ""},
    {"310P Duo", 2, 1536, 256, 0, "Device", 1, 4, "+-------------------+-----------+----+\n"},
    {"310B", 1, 0, 1, 0, "Device", 0, 0, ""},
    {"910", 1, 0, 1, 0, "", 1, 4, ""},
    {"A2 of 26.x", 1, 4, 2, 0, "", 1, 5, ""},
    {"A3", 2, 0, 1, 0, "Phy-ID", 1, 4, "+----------------------------------------+\n"},
    {"950", 1, 0, 1, 1, "", 1, 4, ""},
    {"950 UB of 26.x", 1, 0, 1, 1, "", 0, 5, ""},
    {"16 chips", 16, 99990, 7, 0, "Device", 1, 4, "+----------+---------+------+\n"},
};

static const char *const process_names[] = {
    "python",
    "",
    "VLLMWorker_TP",
    "a | b",
    "|",
    "x|1|2|",
    "\xe8\xbf\x9b\xe7\xa8\x8b",
    "12",
    "a_name_that_is_wider_than_its_column|",
};

enum { FAMILY_TEXT = 1 << 20, N_NAME = LENGTH(process_names) };

typedef struct writer {
    char *text;
    int32_t len;
} writer;

static void put(writer *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->len, (size_t)(FAMILY_TEXT - w->len), format, args);
    va_end(args);
    assert_in_range(n, 0, FAMILY_TEXT - w->len - 1);
    w->len += n;
}

static int32_t family_card(const family *f, int32_t card)
{
    return f->first_card + card * f->step;
}

/* Card 0 is idle, others have one process on the last chip, every third has two. */
static int32_t family_processes(int32_t card)
{
    return card == 0 ? 0 : card % 3 == 0 ? 2 : 1;
}

static void put_device(writer *w, const family *f, int32_t card, int32_t chip)
{
    const int32_t id = family_card(f, card), index = card * f->n_chip + chip;

    if (f->wide)
        put(w, "| %-7d| %-17s| OK            | 99.0   36   0 / 0 |\n|%8s|%18s|", id, "Chip", "",
            "");
    else if (*f->second)
        put(w, "| %-5d %-20s| OK            | -   36   0 / 0 |\n| %-5d %-20d|", id, "Chip",
            chip, index);
    else
        put(w, "| %-5d %-20s| OK            | 99.0   36   0 / 0 |\n| %-26d|", id, "Chip", chip);
    if (f->has_bus)
        put(w, " 0000:%02X:1F.7  | 0   0    / 0    62336/ 65536 |\n", index & 0xff);
    else
        put(w, " NA            | 0   0    / 0    3130 / 65536 |\n");
}

static void put_devices(writer *w, const family *f, int32_t n_card)
{
    put(w, "+--------------------------------------------------+\n"
           "| npu-smi 25.9.0           Version: 25.9.0         |\n"
           "+------------------+---------------+---------------+\n");
    if (f->wide)
        put(w, "| NPU ID | Name  | Health        | Power(W)  |\n"
               "|        |       | Bus-Id        | HBM-Usage |\n");
    else
        put(w,
            "| NPU   Name     | Health        | Power(W)  |\n"
            "| Chip  %-9s| Bus-Id        | AICore(%%) |\n",
            f->second);
    put(w, "+==================+===============+===============+\n");
    for (int32_t card = 0; card < n_card; card++) {
        for (int32_t chip = 0; chip < f->n_chip; chip++)
            put(w, "%s", chip > 0 ? f->die_rule : ""), put_device(w, f, card, chip);
        put(w, "+==================+===============+===============+\n");
    }
}

static void put_processes(writer *w, const family *f, int32_t n_card)
{
    int32_t n = 0;

    put(w, "+------------------+---------------+---------------+\n");
    put(w, "| %-17s| Process id | Process name | Process memory(MB) |%s\n",
        f->wide ? "NPU ID" : "NPU     Chip", f->n_process == 5 ? " In container |" : "");
    put(w, "+==================+===============+===============+\n");
    for (int32_t card = 0; card < n_card; card++) {
        for (int32_t i = 0; i < family_processes(card); i++, n++) {
            put(w, "| %-7d ", family_card(f, card));
            put(w, f->wide ? "          " : "%-10d", f->n_chip - 1);
            put(w, "| %-11d| %-13s | %-19d|", 4000 + n, process_names[n % N_NAME], n);
            put(w, f->n_process == 5 ? n % 2 ? " NA           |\n" : " %-13d|\n" : "\n",
                70 + n);
        }
        if (family_processes(card) == 0)
            put(w, "| No running processes found in NPU %-7d        |\n", family_card(f, card));
        put(w, "+==================+===============+===============+\n");
    }
}

static void put_family(writer *w, const family *f, int32_t n_card)
{
    w->text = (char *)malloc(FAMILY_TEXT);
    w->len = 0;
    assert_non_null(w->text);
    put_devices(w, f, n_card);
    if (f->n_process > 0)
        put_processes(w, f, n_card);
}

static void check_family_devices(const reading *r, const family *f)
{
    for (int32_t i = 0; i < r->info.n_device; i++) {
        const int32_t is_phy = strcmp(f->second, "Phy-ID") == 0;

        check_device(r, i, family_card(f, i / f->n_chip), f->wide ? -1 : i % f->n_chip,
                     *f->second && !is_phy ? i : -1, is_phy ? i : -1, "Chip", "OK");
        if (f->has_bus)
            check_pci(r, i, 0, i & 0xff, 0x1f, 7);
        else
            check_pci(r, i, -1, -1, -1, -1);
    }
}

static void check_family_processes(const reading *r, const family *f, int32_t n_card)
{
    int32_t n = 0;

    for (int32_t card = 0; card < n_card && f->n_process > 0; card++)
        for (int32_t i = 0; i < family_processes(card); i++, n++)
            check_process(r, n, family_card(f, card), f->wide ? -1 : f->n_chip - 1, 4000 + n,
                          f->n_process == 5 && n % 2 == 0 ? 70 + n : -1,
                          process_names[n % N_NAME]);
    assert_int_equal(r->info.n_process, n);
}

/* The devices alone are the same; the array of processes is not looked at. */
static void check_devices_alone(const writer *w, const reading *r)
{
    const size_t bytes = (size_t)r->info.n_device * sizeof(cpubind_npusmi_device);
    cpubind_npusmi_info info = {.cap_device = r->info.n_device, .cap_process = INT32_MAX};

    info.device = (cpubind_npusmi_device *)malloc(bytes);
    assert_non_null(info.device);
    assert_int_equal(cpubind_npusmi_parse_devices(w->text, w->len, &info, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(info.n_device, r->info.n_device);
    assert_int_equal(info.n_process, 0);
    assert_memory_equal(info.device, r->info.device, bytes);
    free(info.device);
}

/* Up to 64 cards, with 1 to 16 chips each. */
TEST(every_family_is_read)
{
    for (int32_t i = 0; i < LENGTH(families); i++) {
        const family *f = &families[i];

        for (int32_t n_card = 1; n_card <= 64; n_card = n_card * 3 + 1) {
            const int32_t n = n_card > 64 / 2 ? 64 : n_card;
            writer w;
            put_family(&w, f, n);
            if (take_some(read_info, w.text, w.len) != CPUBIND_TEXT_OK)
                fail_msg("%s: %s at %d", f->name, got.fault.what, got.fault.offset);
            assert_true(slice_is(&got, got.info.version, "25.9.0"));
            assert_int_equal(got.info.n_device, n * f->n_chip);
            assert_int_equal(got.info.has_process_table, f->n_process > 0);
            check_family_devices(&got, f);
            check_family_processes(&got, f, n);
            check_devices_alone(&w, &got);
            free(w.text);
        }
    }
}

/* == all ==================================================================== */

static int same_slices(cpubind_slice a, cpubind_slice b)
{
    return a.len == b.len && (a.len == 0 || a.at == b.at);
}

static int same_readings(const reading *a, const reading *b)
{
    const cpubind_npusmi_topo *s = &a->topo, *t = &b->topo;
    const cpubind_npusmi_info *u = &a->info, *v = &b->info;

    if (a->status != b->status || a->n_chip != b->n_chip || s->n_row != t->n_row ||
        s->n_cpu != t->n_cpu || u->n_device != v->n_device || u->n_process != v->n_process ||
        u->has_process_table != v->has_process_table || !same_slices(u->version, v->version))
        return 0;
    return (!a->chip || !memcmp(a->chip, b->chip, (size_t)a->n_chip * sizeof *a->chip)) &&
           (!s->row || !memcmp(s->row, t->row, (size_t)s->n_row * sizeof *s->row)) &&
           (!s->cpu || !memcmp(s->cpu, t->cpu, (size_t)s->n_cpu * sizeof *s->cpu)) &&
           (!u->device ||
            !memcmp(u->device, v->device, (size_t)u->n_device * sizeof *u->device)) &&
           (!u->process ||
            !memcmp(u->process, v->process, (size_t)u->n_process * sizeof *u->process));
}

static int reads_like(reader_fn *read, const reading *r, const char *text, int32_t len)
{
    reading other;
    int same;

    (void)read(&other, text, len);
    same = same_readings(r, &other);
    end_reading(&other);
    return same;
}

/* Cut at each byte from `from` on, the text is refused, or reads as without the line that was
 * cut, or as with the whole line. */
static void check_cuts(reader_fn *read, const char *text, int32_t len, int32_t from)
{
    int32_t start = from;

    for (int32_t n = from; n <= len; n++) {
        const char *feed = (const char *)memchr(text + n, '\n', (size_t)(len - n));
        const int32_t next = feed ? (int32_t)(feed - text) + 1 : len;
        reading r;

        if (n > 0 && text[n - 1] == '\n')
            start = n;
        if (read(&r, text, n) == CPUBIND_TEXT_OK && !reads_like(read, &r, text, start) &&
            !reads_like(read, &r, text, next))
            fail_msg("cut at %d: %.*s", n, n - start, text + start);
        end_reading(&r);
    }
}

/* Not info_container: its last name holds what looks like the cells of a shorter row. */
TEST(a_cut_at_any_byte_is_detected_or_loses_whole_lines)
{
    static const sample topos[] = {SAMPLE(topo_a2), SAMPLE(topo_stripped), SAMPLE(topo_a3_nic)};
    static const sample infos[] = {SAMPLE(info_a3), SAMPLE(info_a2), SAMPLE(info_310p),
                                   SAMPLE(info_950), SAMPLE(info_chinese)};

    for (int32_t i = 0; i < LENGTH(topos); i++)
        check_cuts(read_topo, topos[i].text, topos[i].len, 0);
    for (int32_t i = 0; i < LENGTH(infos); i++)
        check_cuts(read_info, infos[i].text, infos[i].len, 0);
}

/* Of a first chip the ids are whole, but a name that was cut looks like a shorter one. */
TEST(a_cut_map_is_detected_or_loses_whole_lines)
{
    static const sample maps[] = {SAMPLE(map_a2), SAMPLE(map_a3), SAMPLE(map_950),
                                  SAMPLE(map_310)};

    for (int32_t i = 0; i < LENGTH(maps); i++) {
        reading whole;
        int32_t second = 0;

        assert_int_equal(read_map(&whole, maps[i].text, maps[i].len), CPUBIND_TEXT_OK);
        second = whole.chip[0].name.at + whole.chip[0].name.len;
        for (int32_t n = 0; n < second; n++) {
            reading r;

            if (read_map(&r, maps[i].text, n) == CPUBIND_TEXT_OK) {
                whole.chip[0].name.len = r.chip[0].name.len;
                assert_int_equal(r.n_chip, 1);
                assert_memory_equal(r.chip, whole.chip, sizeof *r.chip);
            }
            end_reading(&r);
        }
        check_cuts(read_map, maps[i].text, maps[i].len, second);
        end_reading(&whole);
    }
}

TEST(a_cut_family_is_detected_or_loses_whole_lines)
{
    for (int32_t i = 0; i < LENGTH(families); i++) {
        writer w;

        put_family(&w, &families[i], families[i].n_chip > 4 ? 1 : 3);
        check_cuts(read_info, w.text, w.len, 0);
        free(w.text);
    }
}

/* The longest lists of labels and chips that are accepted, and one more. */
TEST(more_devices_than_the_limit_are_refused)
{
    enum { CAP = 1 << 20 };
    char *text = (char *)malloc(CAP);

    assert_non_null(text);
    for (int32_t n = CPUBIND_MAX_DEVICES; n <= CPUBIND_MAX_DEVICES + 1; n++) {
        int32_t map_len = 0, topo_len = 0;
        map_len += snprintf(text, CAP, HEADER);
        for (int32_t i = n; i > 0; i--)
            map_len += snprintf(text + map_len, (size_t)(CAP - map_len), "%d 0 %d x\n", i, i);
        assert_int_equal(take_some(read_map, text, map_len),
                         n > CPUBIND_MAX_DEVICES ? CPUBIND_TEXT_ERR_RANGE : CPUBIND_TEXT_OK);
        for (int32_t i = n; i > 0; i--)
            topo_len += snprintf(text + topo_len, (size_t)(CAP - topo_len), "NPU%d ", i);
        assert_int_equal(take_some(read_topo, text, topo_len), n > CPUBIND_MAX_DEVICES
                                                                   ? CPUBIND_TEXT_ERR_RANGE
                                                                   : CPUBIND_TEXT_ERR_MISSING);
    }
    free(text);
}

TEST(bad_arguments_are_refused)
{
    cpubind_npusmi_chip chip;
    cpubind_npusmi_topo topo;
    cpubind_npusmi_info info;
    cpubind_npusmi_map map = {&chip, 1, 7, 7, 7, {7, 7}};
    cpubind_npusmi_map no_array = {NULL, 1, 7, 7, 7, {7, 7}};

    memset(&topo, 0, sizeof topo);
    memset(&info, 0, sizeof info);
    assert_int_equal(cpubind_npusmi_parse_map(NULL, 1, &map, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, &no_array, NULL), CPUBIND_TEXT_ERR_ARG);
    map.cap_chip = -1;
    assert_int_equal(cpubind_npusmi_parse_map("", 0, &map, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_topo("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_info("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    topo.cap_cpu = 1;
    info.cap_device = 1;
    assert_int_equal(cpubind_npusmi_parse_topo("", 0, &topo, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_info("", 0, &info, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(map.n_chip + no_array.n_chip, 14);
    assert_int_equal(map.has_logic + map.unknown.at + map.unknown.len, 21);
}

/* == boards and lists ======================================================= */

/* A cut text has the address of the chip or none. */
TEST(a_board_that_was_cut_has_no_other_address)
{
    static const cpubind_pci_address whole = {0, 0x5d, 0, 0};
    int32_t n_ok = 0, n_pci = 0;

    for (int32_t len = 0; len <= (int32_t)sizeof board_a2_chip - 1; len++) {
        if (take_some(read_board, board_a2_chip, len) == CPUBIND_TEXT_OK) {
            n_ok++;
            assert_int_equal(got.n_board, 1);
            if (got.board[0].has_pci) {
                assert_memory_equal(&got.board[0].pci, &whole, sizeof whole);
                n_pci++;
            }
        }
    }
    assert_true(n_pci > 0 && n_ok > n_pci);
}

TEST(a_board_without_room_gives_the_room_that_it_needs)
{
    end_reading(&got);
    assert_int_equal(
        read_board_cap(&got, board_card_chips, (int32_t)strlen(board_card_chips), 2),
        CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.n_board, 3);
}

/* Before the end of its last NPU ID a list is never whole. */
TEST(a_cut_list_is_an_error)
{
    const char *last = strstr(list_a2, ": 5");

    assert_non_null(last);
    for (int32_t len = 0; len <= (int32_t)(last - list_a2) + 1; len++) {
        assert_int_not_equal(take_some(read_list, list_a2, len), CPUBIND_TEXT_OK);
    }
}

TEST(a_list_without_room_gives_the_room_that_it_needs)
{
    end_reading(&got);
    assert_int_equal(read_list_cap(&got, list_310, (int32_t)strlen(list_310), 1),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.n_card, 2);
}

/* == samples =================================================================== */

static int is_sample(const sample *s, const char *const *texts, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (s->text == texts[i])
            return 1;
    return 0;
}

/* A list has the form of boards without addresses; nothing else has either form. */
TEST(no_other_output_is_a_board_or_a_list)
{
    static const char *const lists[] = {list_a2, list_310, list_950};
    static const char *const boards[] = {
        board_a2_chip, board_a2_mcu, board_a3_chip, board_card_chips, board_no_pci,
        board_950,     board_950_ub, list_a2,       list_310,         list_950};

    for (int32_t i = 0; i < LENGTH(samples); i++) {
        assert_int_equal(take_some(read_list, samples[i].text, samples[i].len) ==
                             CPUBIND_TEXT_OK,
                         is_sample(&samples[i], lists, LENGTH(lists)));
        assert_int_equal(take_some(read_board, samples[i].text, samples[i].len) ==
                             CPUBIND_TEXT_OK,
                         is_sample(&samples[i], boards, LENGTH(boards)));
    }
}

TEST(wrong_arguments_are_refused)
{
    cpubind_npusmi_board board;
    cpubind_npusmi_card card;
    cpubind_text_fault fault = no_fault;
    cpubind_npusmi_boards boards = {&board, 1, 7, {7, 7}}, no_board = {NULL, 1, 7, {7, 7}};
    cpubind_npusmi_cards cards = {&card, 1, 7, {7, 7}}, no_card = {NULL, 1, 7, {7, 7}};

    assert_int_equal(cpubind_npusmi_parse_board(NULL, 1, &boards, &fault),
                     CPUBIND_TEXT_ERR_ARG);
    assert_non_null(fault.what);
    assert_int_equal(cpubind_npusmi_parse_board("", -1, &boards, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_board("", 0, &no_board, NULL), CPUBIND_TEXT_ERR_ARG);
    boards.cap_board = -1;
    assert_int_equal(cpubind_npusmi_parse_board("", 0, &boards, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_board("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_list(NULL, 1, &cards, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_list("", 0, &no_card, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_list("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(boards.n_board + no_board.n_board + cards.n_card + no_card.n_card, 28);
    assert_int_equal(boards.unknown.at + cards.unknown.len, 14);
    no_card.cap_card = 0;
    assert_int_equal(cpubind_npusmi_parse_list(NULL, 0, &no_card, NULL),
                     CPUBIND_TEXT_ERR_MISSING);
}

/* The most chips that are read, and one more. */
TEST(blocks_are_limited)
{
    static char text[(CPUBIND_MAX_DEVICES + 1) * 16];
    int32_t len = 0, n;
    for (n = 0; n <= CPUBIND_MAX_DEVICES; n++) {
        if (n == CPUBIND_MAX_DEVICES) {
            assert_int_equal(take_some(read_board, text, len), CPUBIND_TEXT_OK);
            assert_int_equal(got.n_board, CPUBIND_MAX_DEVICES);
        }
        len += snprintf(text + len, sizeof text - (size_t)len, "NPU ID:%d\n", (int)n);
    }
    assert_int_equal(take_some(read_board, text, len), CPUBIND_TEXT_ERR_RANGE);
}

/* == refusals =============================================================== */

TEST(lost_cards_are_counted)
{
    static const char text[] = "Failed to get chip number of card1.\n"
                               "\tFailed to get chip number of card 12.\r\n"
                               "No: Failed to get chip number of card3.\n"
                               "Failed to get chip number\n"
                               "Failed to get chip number of card";

    assert_int_equal(cpubind_npusmi_count_lost(text, (int32_t)sizeof text - 1), 3);
    assert_int_equal(cpubind_npusmi_count_lost(text, (int32_t)sizeof text - 2), 2);
    assert_int_equal(cpubind_npusmi_count_lost("", 0), 0);
    assert_int_equal(cpubind_npusmi_count_lost(NULL, 1), 0);
}

TEST(no_sample_is_a_refusal)
{
    for (int32_t i = 0; i < LENGTH(samples); i++)
        if (samples[i].text != board_no_pci)
            assert_int_equal(cpubind_npusmi_find_refusal(samples[i].text, samples[i].len, NULL),
                             CPUBIND_NPUSMI_NONE);
    assert_int_equal(cpubind_npusmi_find_refusal(NULL, 1, NULL), CPUBIND_NPUSMI_NONE);
}

TEST_FILE(NULL, forget)
