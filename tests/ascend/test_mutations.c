/* test_mutations.c - damaged texts: no crash, no write on failure, a place inside the text
 * SPDX-License-Identifier: MIT
 *
 * 2,000 damaged texts from a fixed seed, each given to every reader of adapters/text in a
 * buffer of its exact size; as many of captured outputs, if there are any. The allowed
 * results for a damaged text are in test_damaged.c.
 */
#define _POSIX_C_SOURCE 200809L

#include "../text/readers.h"
#include "captures.h"
#include "samples.h"

#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/cpumask.h"
#include "../../adapters/text/lscpu.h"
#include "../../adapters/text/numa_maps.h"
#include "../../adapters/text/procfs.h"

enum { N_MUTATION = 2000, MAX_TEXT = 1 << 16, MAX_NUMBERS = CPUBIND_MAX_CPUS, N_CAPTURE = 256 };

static const char list_text[] = "0-23,48,50,64-127,192-255,1000,65535\n";
static const char mask_text[] = "ff,00000000,12345678,9abcdef0\n";
static const char status_text[] =
    "Name:\tpython3\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7,9\n"
    "Mems_allowed_list:\t0\n";
static const char nodes_text[] = "CPU NODE\n  0    0\n  1    0\n 24    1\n191    -\n";
static const char lscpu_text[] = "CPU(s):               192\nThread(s) per core:   2\n";
static const char visible_text[] = "0,1,2,5,11,4095";
static const char env_text[] = "PATH=/bin\nASCEND_RT_VISIBLE_DEVICES=0,1\nRANK=1\n";
static const char number_text[] = "0x19e5\n";

static const char interrupts_text[] =
    "           CPU0       CPU1       CPU4       \n"
    "  9:          0          0          7     GICv3  23 Level     arm-pmu, other pmu\n"
    " 44:       1024          0          0   ITS-MSI 524288 Edge      trs-mbox-0-0\n"
    " 45:          0         12          0   ITS-MSI 524289 Edge      sq_send_trigger_irq\n"
    " 46:          0          0          0   ITS-MSI 524290 Edge      \n"
    "IPI0:        11         12         13       Rescheduling interrupts\n"
    "Err:          0\n";

static const char maps_text[] =
    "00400000 default file=/opt/a\\040b mapped=2 N0=2 kernelpagesize_kB=4\n"
    "7f0000000000 prefer (many):0-1 huge anon=3 dirty=3 N0=1 N3=2 kernelpagesize_kB=2048\n"
    "7ffd2b0f1000 default stack anon=1 dirty=1 N1=1 kernelpagesize_kB=4\n"
    "7ffd2b1f3000 default\n";

static const char vmstat_text[] = "nr_free_pages 5\npgmigrate_success 1234567890123\n";

static const sample others[] = {
    SAMPLE(list_text),       SAMPLE(mask_text),    SAMPLE(status_text), SAMPLE(nodes_text),
    SAMPLE(lscpu_text),      SAMPLE(visible_text), SAMPLE(env_text),    SAMPLE(number_text),
    SAMPLE(interrupts_text), SAMPLE(maps_text),    SAMPLE(vmstat_text),
};

/* == damage ================================================================= */

typedef struct damaged {
    char text[MAX_TEXT];
    int32_t len;
} damaged;

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* 0 .. n - 1; 0 for n == 0. */
static int32_t below(uint32_t *seed, int32_t n)
{
    return n > 0 ? (int32_t)(next_random(seed) % (uint32_t)n) : 0;
}

static void insert(damaged *d, int32_t at, const char *bytes, int32_t n)
{
    if (d->len + n > MAX_TEXT)
        return;
    memmove(d->text + at + n, d->text + at, (size_t)(d->len - at));
    memcpy(d->text + at, bytes, (size_t)n);
    d->len += n;
}

static void delete_bytes(damaged *d, int32_t at, int32_t n)
{
    memmove(d->text + at, d->text + at + n, (size_t)(d->len - at - n));
    d->len -= n;
}

/* A line with its line feed, somewhere. */
static cpubind_slice some_line(const damaged *d, uint32_t *seed)
{
    cpubind_slice line = {below(seed, d->len), 0};

    while (line.at > 0 && d->text[line.at - 1] != '\n')
        line.at--;
    while (line.at + line.len < d->len &&
           (line.len == 0 || d->text[line.at + line.len - 1] != '\n'))
        line.len++;
    return line;
}

/* A line is repeated, moved or dropped. */
static void damage_lines(damaged *d, uint32_t *seed)
{
    static char copy[MAX_TEXT];
    const cpubind_slice line = some_line(d, seed);
    const int32_t how = below(seed, 3);

    memcpy(copy, d->text + line.at, (size_t)line.len);
    if (how > 0)
        delete_bytes(d, line.at, line.len);
    if (how < 2)
        insert(d, some_line(d, seed).at, copy, line.len);
}

/* Bytes that have a meaning for some reader. */
static void damage_byte(damaged *d, uint32_t *seed)
{
    static const char bytes[] = "\0\n\r\t |-+,:.0179aNX\x80\xff";

    if (d->len > 0)
        d->text[below(seed, d->len)] = bytes[below(seed, (int32_t)sizeof bytes - 1)];
}

static void damage_ends_of_lines(damaged *d)
{
    for (int32_t i = 0; i < d->len; i++)
        if (d->text[i] == '\n') {
            insert(d, i, "\r", 1);
            i++;
        }
}

static void damage_length(damaged *d, uint32_t *seed)
{
    static char filler[4000];
    static const char bytes[] = "x |9\0";

    memset(filler, bytes[below(seed, (int32_t)sizeof bytes - 1)], sizeof filler);
    insert(d, below(seed, d->len + 1), filler, 1 + below(seed, (int32_t)sizeof filler));
}

static void damage(damaged *d, uint32_t *seed)
{
    for (int32_t n = 1 + below(seed, 3); n > 0; n--) {
        switch (below(seed, 7)) {
        case 0:
            d->len = below(seed, d->len + 1);
            break;
        case 1:
        case 2:
            damage_lines(d, seed);
            break;
        case 3:
        case 4:
            damage_byte(d, seed);
            break;
        case 5:
            damage_ends_of_lines(d);
            break;
        default:
            damage_length(d, seed);
            break;
        }
    }
}

/* == readers of lists ======================================================= */

/* The text in a buffer of its exact size, and arrays that show each write. */
typedef struct arrays {
    char *text;
    int32_t len;
    int32_t *a;
    int32_t *b;
    int32_t n;
    int32_t used;
    cpubind_text_fault fault;
} arrays;

static void check_arrays(arrays *x, cpubind_text_status status, int32_t n)
{
    if (status == CPUBIND_TEXT_OK) {
        assert_in_range(x->n, 0, n);
        for (int32_t i = 0; i < x->n; i++)
            assert_in_range(x->a[i], 0, CPUBIND_MAX_CPUS - 1);
    } else {
        assert_fault(&x->fault, x->len);
        assert_untouched(x->a, (size_t)n * sizeof *x->a);
        assert_untouched(x->b, (size_t)n * sizeof *x->b);
    }
    memset(x->a, EDGE_FILL, (size_t)n * sizeof *x->a);
    memset(x->b, EDGE_FILL, (size_t)n * sizeof *x->b);
    x->fault = no_fault;
}

static cpubind_text_status parse_list(arrays *x, int32_t cap)
{
    cpubind_int_list list = {x->a, cap, x->n};
    const cpubind_text_status status =
        cpubind_cpulist_parse(x->text, x->len, CPUBIND_MAX_CPUS, &list, &x->fault);

    x->n = list.n;
    return status;
}

static cpubind_text_status parse_mask(arrays *x, int32_t cap)
{
    cpubind_int_list list = {x->a, cap, x->n};
    const cpubind_text_status status =
        cpubind_cpumask_parse(x->text, x->len, CPUBIND_MAX_CPUS, &list, &x->fault);

    x->n = list.n;
    return status;
}

static cpubind_text_status parse_status(arrays *x, int32_t cap)
{
    cpubind_int_list list = {x->a, cap, x->n};
    const cpubind_text_status status = cpubind_status_parse(x->text, x->len, &list, &x->fault);

    x->n = list.n;
    return status;
}

static cpubind_text_status parse_nodes(arrays *x, int32_t cap)
{
    cpubind_lscpu_nodes rows = {.cpu = x->a, .node = x->b, .cap = cap, .n = x->n};
    const cpubind_text_status status =
        cpubind_lscpu_parse_nodes(x->text, x->len, &rows, &x->fault);

    x->n = rows.n;
    return status;
}

static cpubind_text_status parse_visible(arrays *x, int32_t cap)
{
    cpubind_visible visible = {x->a, cap, x->n, x->used};
    const cpubind_text_status status =
        cpubind_visible_parse(x->text, x->len, CPUBIND_MAX_DEVICES, &visible, &x->fault);

    x->n = visible.n;
    x->used = visible.used;
    return status;
}

static void read_lists(const damaged *d, int32_t cap)
{
    arrays x = {
        edge_text(d->text, d->len), d->len, edge_ints(cap), edge_ints(cap), 0, 0, {0, 0}};
    cpubind_slice value;
    cpubind_stat stat;

    x.fault = no_fault;
    check_arrays(&x, parse_list(&x, cap), cap);
    check_arrays(&x, parse_mask(&x, cap), cap);
    check_arrays(&x, parse_status(&x, cap), cap);
    check_arrays(&x, parse_nodes(&x, cap), cap);
    check_arrays(&x, parse_visible(&x, cap), cap);
    if (cpubind_number_parse(x.text, x.len, &x.n, &x.fault) != CPUBIND_TEXT_OK)
        assert_fault(&x.fault, x.len);
    if (cpubind_stat_parse(x.text, x.len, &stat, &x.fault) != CPUBIND_TEXT_OK)
        assert_fault(&x.fault, x.len);
    if (cpubind_lscpu_parse_threads(x.text, x.len, &x.n, &x.fault) != CPUBIND_TEXT_OK)
        assert_fault(&x.fault, x.len);
    if (cpubind_env_find(x.text, x.len, "RANK", &value) == CPUBIND_TEXT_OK)
        assert_in_range(value.at + value.len, 0, x.len);
    free(x.a);
    free(x.b);
    free(x.text);
}

/* == readers of sums ======================================================== */

static void read_sums(const damaged *d)
{
    int64_t sums[4] = {1, 2, 3, 4}, value = -1;
    char *text = edge_text(d->text, d->len);
    cpubind_text_fault fault = no_fault;

    if (cpubind_numa_maps_add(text, d->len, 4, sums, LENGTH(sums), &fault) != CPUBIND_TEXT_OK) {
        assert_fault(&fault, d->len);
        for (int32_t i = 0; i < LENGTH(sums); i++)
            assert_int_equal(sums[i], i + 1);
    }
    if (cpubind_vmstat_find(text, d->len, "pgmigrate_success", &value, &fault) !=
        CPUBIND_TEXT_OK) {
        assert_fault(&fault, d->len);
        assert_int_equal(value, -1);
    } else {
        assert_true(value >= 0);
    }
    free(text);
}

/* == readers of tables ====================================================== */

static void check_slice(const reading *r, cpubind_slice slice)
{
    assert_in_range(slice.at, 0, r->len);
    assert_in_range(slice.len, 0, r->len - slice.at);
}

static void read_pairs(const damaged *d)
{
    reading r;

    if (read_board(&r, d->text, d->len) == CPUBIND_TEXT_OK)
        for (int32_t i = 0; i < r.n_board; i++) {
            assert_in_range(r.board[i].card, 0, INT32_MAX);
            check_slice(&r, r.board[i].npu_name);
            check_slice(&r, r.board[i].chip_type);
            check_slice(&r, r.board[i].chip_name);
            check_slice(&r, r.board[i].product);
            check_slice(&r, r.board[i].serial);
        }
    end_reading(&r);
    if (read_list(&r, d->text, d->len) == CPUBIND_TEXT_OK)
        for (int32_t i = 0; i < r.n_card; i++) {
            assert_in_range(r.card[i].card, 0, INT32_MAX);
            check_slice(&r, r.card[i].product);
            check_slice(&r, r.card[i].serial);
        }
    end_reading(&r);
}

static void read_tables(const damaged *d)
{
    reading r;
    cpubind_slice line = {0, 0};

    if (read_map(&r, d->text, d->len) == CPUBIND_TEXT_OK)
        for (int32_t i = 0; i < r.n_chip; i++)
            check_slice(&r, r.chip[i].name);
    (void)cpubind_npusmi_find_refusal(r.text, r.len, &line);
    check_slice(&r, line);
    end_reading(&r);
    if (read_topo(&r, d->text, d->len) == CPUBIND_TEXT_OK)
        for (int32_t i = 0; i < r.topo.n_row; i++)
            assert_in_range(r.topo.row[i].first + r.topo.row[i].count, 0, r.topo.n_cpu);
    end_reading(&r);
    if (read_info(&r, d->text, d->len) == CPUBIND_TEXT_OK) {
        check_slice(&r, r.info.version);
        for (int32_t i = 0; i < r.info.n_device; i++)
            check_slice(&r, r.info.device[i].name);
        for (int32_t i = 0; i < r.info.n_process; i++)
            check_slice(&r, r.info.process[i].name);
    }
    end_reading(&r);
}

static void read_rows(const damaged *d)
{
    reading r;

    if (read_interrupts(&r, d->text, d->len) == CPUBIND_TEXT_OK)
        for (int32_t i = 0; i < r.n_irq; i++) {
            cpubind_slice name = {0, 0};
            int32_t at = 0;

            assert_true(i == 0 || r.irq[i - 1].irq < r.irq[i].irq);
            check_slice(&r, r.irq[i].names);
            while (cpubind_interrupts_next_name(r.text, r.irq[i].names, &at, &name))
                check_slice(&r, name);
        }
    end_reading(&r);
}

/* Every reader reads the text, and all of them together in less than a second. */
static void read_all(const damaged *d, int32_t cap)
{
    const double start = cpu_seconds();

    read_lists(d, cap);
    read_tables(d);
    read_pairs(d);
    read_rows(d);
    read_sums(d);
    assert_true(cpu_seconds() - start <= HANG_SECONDS);
}

static void damage_and_read(const sample *from, int32_t turn, uint32_t *seed)
{
    static damaged d;

    assert_in_range(from->len, 0, MAX_TEXT);
    memcpy(d.text, from->text, (size_t)from->len);
    d.len = from->len;
    damage(&d, seed);
    read_all(&d, turn % 16 == 0 ? MAX_NUMBERS : turn % 8);
}

TEST(damaged_texts_do_no_harm)
{
    uint32_t seed = 0x2545f491;

    for (int32_t i = 0; i < N_MUTATION; i++) {
        const int32_t pick = i % (LENGTH(samples) + LENGTH(others));

        damage_and_read(pick < LENGTH(samples) ? &samples[pick]
                                               : &others[pick - LENGTH(samples)],
                        i, &seed);
    }
}

TEST(damaged_captures_do_no_harm)
{
    static sample capture[N_CAPTURE];
    DIR *folder = open_captures();
    const char *file;
    uint32_t seed = 0x9e3779b9;
    int32_t n = 0;

    if (!folder)
        skip();
    while ((file = next_capture(folder)) != NULL) {
        assert_in_range(n, 0, N_CAPTURE - 1);
        capture[n].text = read_capture(file, &capture[n].len);
        n++;
    }
    (void)closedir(folder);
    assert_true(n > 0);
    for (int32_t i = 0; i < N_MUTATION; i++)
        damage_and_read(&capture[i % n], i, &seed);
    for (int32_t i = 0; i < n; i++)
        free((void *)(uintptr_t)capture[i].text);
}

TEST_FILE(NULL, NULL)
