/* readers.h - the npu-smi readers on buffers of the exact size, with all-or-nothing checked
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_TEXT_READERS_H
#define CPUBIND_TESTS_TEXT_READERS_H

#include "text_test.h"

#include "../../adapters/ascend/npusmi.h"
#include "../../adapters/text/interrupts.h"

/* Elements that a reader may write. Reset by each read_...(); the arrays are reused. */
typedef struct reading {
    char *text; /* allocation of the exact size */
    int32_t len;
    cpubind_text_status status;
    cpubind_text_fault fault;
    cpubind_slice unknown; /* of any of the readers */
    cpubind_npusmi_chip *chip;
    int32_t n_chip;
    int32_t has_logic;
    int32_t has_name;
    cpubind_npusmi_topo topo;
    cpubind_npusmi_info info;
    cpubind_npusmi_board *board;
    int32_t n_board;
    cpubind_npusmi_card *card;
    int32_t n_card;
    cpubind_interrupt *irq;
    int32_t n_irq;
    int32_t n_irq_cpu; /* CPUs of its header */
} reading;

static inline void *edge_array(int32_t n, size_t size)
{
    const size_t bytes = (size_t)n * size;
    void *p = malloc(bytes ? bytes : 1);

    if (!p)
        abort();
    memset(p, EDGE_FILL, bytes);
    return p;
}

static inline void start_reading(reading *r, const char *text, int32_t len)
{
    memset(r, 0, sizeof *r);
    r->text = edge_text(text, len);
    r->len = len;
    r->fault = no_fault;
}

static inline void end_reading(reading *r)
{
    free(r->text);
    free(r->chip);
    free(r->topo.row);
    free(r->topo.cpu);
    free(r->info.device);
    free(r->info.process);
    free(r->board);
    free(r->card);
    free(r->irq);
    memset(r, 0, sizeof *r);
}

static inline int is_failure(const reading *r)
{
    if (r->status == CPUBIND_TEXT_OK) {
        assert_null(r->fault.what);
        return 0;
    }
    assert_fault(&r->fault, r->len);
    return 1;
}

/* info -m into an array of `cap` chips. */
static inline cpubind_text_status read_map_cap(reading *r, const char *text, int32_t len,
                                               int32_t cap)
{
    cpubind_npusmi_map map;

    start_reading(r, text, len);
    memset(&map, EDGE_FILL, sizeof map);
    r->chip = map.chip = (cpubind_npusmi_chip *)edge_array(cap, sizeof *r->chip);
    map.cap_chip = cap;
    r->status = cpubind_npusmi_parse_map(r->text, len, &map, &r->fault);
    r->n_chip = map.n_chip;
    r->has_logic = map.has_logic;
    r->has_name = map.has_name;
    r->unknown = map.unknown;
    if (is_failure(r)) {
        assert_untouched(r->chip, (size_t)cap * sizeof *r->chip);
        assert_untouched(&r->has_logic, sizeof r->has_logic);
        assert_untouched(&r->has_name, sizeof r->has_name);
        assert_untouched(&r->unknown, sizeof r->unknown);
        if (r->status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(&r->n_chip, sizeof r->n_chip);
    }
    return r->status;
}

/* info -t topo into arrays of these lengths. */
static inline cpubind_text_status read_topo_cap(reading *r, const char *text, int32_t len,
                                                int32_t cap_row, int32_t cap_cpu)
{
    cpubind_npusmi_topo *topo = &r->topo;

    start_reading(r, text, len);
    memset(topo, EDGE_FILL, sizeof *topo);
    topo->row = (cpubind_npusmi_affinity *)edge_array(cap_row, sizeof *topo->row);
    topo->cap_row = cap_row;
    topo->cpu = edge_ints(cap_cpu);
    topo->cap_cpu = cap_cpu;
    r->status = cpubind_npusmi_parse_topo(r->text, len, topo, &r->fault);
    r->unknown = topo->unknown;
    if (is_failure(r)) {
        assert_untouched(&r->unknown, sizeof r->unknown);
        assert_untouched(topo->row, (size_t)cap_row * sizeof *topo->row);
        assert_untouched(topo->cpu, (size_t)cap_cpu * sizeof *topo->cpu);
        assert_untouched(&topo->label, sizeof topo->label);
        assert_untouched(&topo->has_affinity, sizeof topo->has_affinity);
        if (r->status != CPUBIND_TEXT_ERR_SPACE) {
            assert_untouched(&topo->n_row, sizeof topo->n_row);
            assert_untouched(&topo->n_cpu, sizeof topo->n_cpu);
        }
    }
    return r->status;
}

/* info into arrays of these lengths. */
static inline cpubind_text_status read_info_cap(reading *r, const char *text, int32_t len,
                                                int32_t cap_device, int32_t cap_process)
{
    cpubind_npusmi_info *info = &r->info;

    start_reading(r, text, len);
    memset(info, EDGE_FILL, sizeof *info);
    info->device = (cpubind_npusmi_device *)edge_array(cap_device, sizeof *info->device);
    info->cap_device = cap_device;
    info->process = (cpubind_npusmi_process *)edge_array(cap_process, sizeof *info->process);
    info->cap_process = cap_process;
    r->status = cpubind_npusmi_parse_info(r->text, len, info, &r->fault);
    r->unknown = info->unknown;
    if (is_failure(r)) {
        assert_untouched(&r->unknown, sizeof r->unknown);
        assert_untouched(info->device, (size_t)cap_device * sizeof *info->device);
        assert_untouched(info->process, (size_t)cap_process * sizeof *info->process);
        assert_untouched(&info->has_process_table, sizeof info->has_process_table);
        assert_untouched(&info->version, sizeof info->version);
        if (r->status != CPUBIND_TEXT_ERR_SPACE) {
            assert_untouched(&info->n_device, sizeof info->n_device);
            assert_untouched(&info->n_process, sizeof info->n_process);
        }
    }
    return r->status;
}

/* info -t board into an array of `cap` blocks. */
static inline cpubind_text_status read_board_cap(reading *r, const char *text, int32_t len,
                                                 int32_t cap)
{
    cpubind_npusmi_boards boards;

    start_reading(r, text, len);
    memset(&boards, EDGE_FILL, sizeof boards);
    r->board = boards.board = (cpubind_npusmi_board *)edge_array(cap, sizeof *r->board);
    boards.cap_board = cap;
    r->status = cpubind_npusmi_parse_board(r->text, len, &boards, &r->fault);
    r->n_board = boards.n_board;
    r->unknown = boards.unknown;
    if (is_failure(r)) {
        assert_untouched(&r->unknown, sizeof r->unknown);
        assert_untouched(r->board, (size_t)cap * sizeof *r->board);
        if (r->status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(&r->n_board, sizeof r->n_board);
    }
    return r->status;
}

/* info -l into an array of `cap` cards. */
static inline cpubind_text_status read_list_cap(reading *r, const char *text, int32_t len,
                                                int32_t cap)
{
    cpubind_npusmi_cards cards;

    start_reading(r, text, len);
    memset(&cards, EDGE_FILL, sizeof cards);
    r->card = cards.card = (cpubind_npusmi_card *)edge_array(cap, sizeof *r->card);
    cards.cap_card = cap;
    r->status = cpubind_npusmi_parse_list(r->text, len, &cards, &r->fault);
    r->n_card = cards.n_card;
    r->unknown = cards.unknown;
    if (is_failure(r)) {
        assert_untouched(&r->unknown, sizeof r->unknown);
        assert_untouched(r->card, (size_t)cap * sizeof *r->card);
        if (r->status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(&r->n_card, sizeof r->n_card);
    }
    return r->status;
}

/* /proc/interrupts into an array of `cap` rows. */
static inline cpubind_text_status read_interrupts_cap(reading *r, const char *text, int32_t len,
                                                      int32_t cap)
{
    cpubind_interrupt_list list;

    start_reading(r, text, len);
    r->irq = (cpubind_interrupt *)edge_array(cap, sizeof *r->irq);
    list.irq = r->irq;
    list.cap = cap;
    memset(&list.n, EDGE_FILL, sizeof list.n);
    memset(&list.n_cpu, EDGE_FILL, sizeof list.n_cpu);
    r->status = cpubind_interrupts_parse(r->text, len, &list, &r->fault);
    r->n_irq = list.n;
    r->n_irq_cpu = list.n_cpu;
    if (is_failure(r)) {
        assert_untouched(r->irq, (size_t)cap * sizeof *r->irq);
        assert_untouched(&r->n_irq_cpu, sizeof r->n_irq_cpu);
        if (r->status != CPUBIND_TEXT_ERR_SPACE)
            assert_untouched(&r->n_irq, sizeof r->n_irq);
    }
    return r->status;
}

/* The same with the exact room: first the counts are read, then the elements. */
static inline cpubind_text_status read_map(reading *r, const char *text, int32_t len)
{
    int32_t n;

    if (read_map_cap(r, text, len, 0) != CPUBIND_TEXT_ERR_SPACE)
        return r->status;
    n = r->n_chip;
    end_reading(r);
    return read_map_cap(r, text, len, n);
}

static inline cpubind_text_status read_topo(reading *r, const char *text, int32_t len)
{
    int32_t n_row, n_cpu;

    if (read_topo_cap(r, text, len, 0, 0) != CPUBIND_TEXT_ERR_SPACE)
        return r->status;
    n_row = r->topo.n_row;
    n_cpu = r->topo.n_cpu;
    end_reading(r);
    return read_topo_cap(r, text, len, n_row, n_cpu);
}

static inline cpubind_text_status read_info(reading *r, const char *text, int32_t len)
{
    int32_t n_device, n_process;

    if (read_info_cap(r, text, len, 0, 0) != CPUBIND_TEXT_ERR_SPACE)
        return r->status;
    n_device = r->info.n_device;
    n_process = r->info.n_process;
    end_reading(r);
    return read_info_cap(r, text, len, n_device, n_process);
}

static inline cpubind_text_status read_board(reading *r, const char *text, int32_t len)
{
    int32_t n;

    if (read_board_cap(r, text, len, 0) != CPUBIND_TEXT_ERR_SPACE)
        return r->status;
    n = r->n_board;
    end_reading(r);
    return read_board_cap(r, text, len, n);
}

static inline cpubind_text_status read_list(reading *r, const char *text, int32_t len)
{
    int32_t n;

    if (read_list_cap(r, text, len, 0) != CPUBIND_TEXT_ERR_SPACE)
        return r->status;
    n = r->n_card;
    end_reading(r);
    return read_list_cap(r, text, len, n);
}

static inline cpubind_text_status read_interrupts(reading *r, const char *text, int32_t len)
{
    int32_t n;

    if (read_interrupts_cap(r, text, len, 0) != CPUBIND_TEXT_ERR_SPACE)
        return r->status;
    n = r->n_irq;
    end_reading(r);
    return read_interrupts_cap(r, text, len, n);
}

typedef cpubind_text_status reader_fn(reading *r, const char *text, int32_t len);

static inline void check_verdicts(reader_fn *read, const verdict *cases, int32_t n)
{
    int32_t n_wrong = 0;

    for (int32_t i = 0; i < n; i++) {
        reading r;

        if (read(&r, cases[i].text, (int32_t)strlen(cases[i].text)) != cases[i].status ||
            r.fault.offset != cases[i].offset) {
            print_error("%s\n-- %s, \"%s\" at %d\n", cases[i].text,
                        cpubind_text_status_name(r.status), r.fault.what ? r.fault.what : "",
                        r.fault.offset);
            n_wrong++;
        }
        end_reading(&r);
    }
    assert_int_equal(n_wrong, 0);
}

static inline int slice_is(const reading *r, cpubind_slice slice, const char *text)
{
    return slice.len == (int32_t)strlen(text) &&
           memcmp(r->text + slice.at, text, (size_t)slice.len) == 0;
}

#endif
