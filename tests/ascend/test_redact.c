/* test_redact.c - the names that are overwritten in an input, and the bytes that must stay
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "../text/readers.h"
#include "captures.h"
#include "fixtures.h"

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/ascend/redact.h"
#include "../../adapters/text/input_name.h"
#include "../../adapters/text/interrupts.h"
#include "../../adapters/text/lscpu.h"
#include "../../adapters/text/procfs.h"

#define INFO   "cmd/npu-smi-info.txt"
#define MAP    "cmd/npu-smi-info-m.txt"
#define BOARD  "cmd/npu-smi-info-t-board-i0-c0.txt"
#define LIST   "cmd/npu-smi-info-l.txt"
#define STATUS "proc/self/status"

static const cpubind_redacted none = {0, 0, 0};

/* A redacted copy of the exact size. */
static char *redacted(const char *input, const char *text, int32_t len, const char *host,
                      cpubind_redacted *counts)
{
    char *copy = edge_text(text, len);
    *counts = none;
    cpubind_redact(input, copy, len, host, counts);
    return copy;
}

static void expect_counts(const cpubind_redacted *counts, int32_t hosts, int32_t serials,
                          int32_t processes)
{
    assert_int_equal(counts->host_names, hosts);
    assert_int_equal(counts->serial_numbers, serials);
    assert_int_equal(counts->process_names, processes);
}

#define RULE "+======================+===============+====================================+\n"
#define HEAD_4                                                                                 \
    "| NPU     Chip         | Process id    | Process name    | Process memory(MB)  |\n" RULE
#define HEAD_5                                                                                 \
    "| NPU     Chip  | Process id | Process name | Process memory(MB) | Process id in "        \
    "container |\n" RULE

/* In every start of a table all names are overwritten. */
TEST(no_cut_leaves_a_name)
{
    static const char table[] =
        HEAD_5 "| 0       0     | 1234       | qqqqqqq      | 512    | 77 |\n" RULE
               "| 1       0     | 1235       | qqq qqq      | 512    | 78 |\n" RULE;
    for (int32_t len = 0; len <= (int32_t)strlen(table); len++) {
        cpubind_redacted counts;
        char *copy = redacted(INFO, table, len, NULL, &counts);
        assert_null(memchr(copy, 'q', (size_t)len));
        free(copy);
    }
}

TEST(a_host_may_have_255_bytes)
{
    for (size_t n = 255; n <= 256; n++) {
        char host[257], text[257];
        cpubind_redacted counts = none;
        memset(host, 'h', n);
        host[n] = '\0';
        memcpy(text, host, n + 1);
        cpubind_redact("x", text, (int32_t)n, host, &counts);
        assert_int_equal(cpubind_redact_finds(host), n == 255);
        assert_int_equal(counts.host_names, n == 255);
        assert_int_equal(text[0], n == 255 ? 'x' : 'h');
    }
}

TEST(pieces_of_each_kind_are_counted_separately)
{
    static const char info[] = HEAD_4 "| 0 0 | 1 | gold7 | 5 |\n" RULE "by gold7, gold7\n";
    static const char board[] = "\tNPU ID : 0\n\tSerial Number : gold7\n\tModel : gold7\n";
    cpubind_redacted counts = {100, 200, INT32_MAX};
    char *a = edge_text(info, (int32_t)strlen(info));
    char *b = edge_text(board, (int32_t)strlen(board));
    cpubind_redact(INFO, a, (int32_t)strlen(info), "gold7", &counts);
    cpubind_redact(BOARD, b, (int32_t)strlen(board), "gold7", &counts);
    expect_counts(&counts, 103, 201, INT32_MAX);
    free(a);
    free(b);
}

TEST(an_empty_text_is_not_changed)
{
    cpubind_redacted counts = none;
    cpubind_redact(INFO, NULL, 0, "gold7", &counts);
    expect_counts(&counts, 0, 0, 0);
}

/* == Laws =================================================================== */

/* A reader's elements in one block of bytes, of the counts that it gives. */
typedef cpubind_text_status law_fn(const char *text, int32_t len, char *out, size_t *n,
                                   cpubind_text_fault *fault);

enum { DIGEST_MAX = 1 << 20 };

static void put(char *out, size_t *n, const void *bytes, size_t size)
{
    assert_true(*n + size <= DIGEST_MAX);
    if (size)
        memcpy(out + *n, bytes, size);
    *n += size;
}

#define PUT_ARRAY(array, n_element) put(out, n, (array), (size_t)(n_element) * sizeof *(array))

static cpubind_text_status law_info(const char *text, int32_t len, char *out, size_t *n,
                                    cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_info(&r, text, len);
    *fault = r.fault;
    if (status == CPUBIND_TEXT_OK) {
        PUT_ARRAY(r.info.device, r.info.n_device);
        PUT_ARRAY(r.info.process, r.info.n_process);
        put(out, n, &r.info.has_process_table, sizeof r.info.has_process_table);
        put(out, n, &r.info.version, sizeof r.info.version);
    }
    end_reading(&r);
    return status;
}

static cpubind_text_status law_map(const char *text, int32_t len, char *out, size_t *n,
                                   cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_map(&r, text, len);
    *fault = r.fault;
    if (status == CPUBIND_TEXT_OK)
        PUT_ARRAY(r.chip, r.n_chip);
    end_reading(&r);
    return status;
}

static cpubind_text_status law_topo(const char *text, int32_t len, char *out, size_t *n,
                                    cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_topo(&r, text, len);
    *fault = r.fault;
    if (status == CPUBIND_TEXT_OK) {
        PUT_ARRAY(r.topo.row, r.topo.n_row);
        PUT_ARRAY(r.topo.cpu, r.topo.n_cpu);
        put(out, n, &r.topo.label, sizeof r.topo.label);
        put(out, n, &r.topo.has_affinity, sizeof r.topo.has_affinity);
    }
    end_reading(&r);
    return status;
}

static cpubind_text_status law_board(const char *text, int32_t len, char *out, size_t *n,
                                     cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_board(&r, text, len);
    *fault = r.fault;
    if (status == CPUBIND_TEXT_OK)
        PUT_ARRAY(r.board, r.n_board);
    end_reading(&r);
    return status;
}

static cpubind_text_status law_list(const char *text, int32_t len, char *out, size_t *n,
                                    cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_list(&r, text, len);
    *fault = r.fault;
    if (status == CPUBIND_TEXT_OK)
        PUT_ARRAY(r.card, r.n_card);
    end_reading(&r);
    return status;
}

static cpubind_text_status law_interrupts(const char *text, int32_t len, char *out, size_t *n,
                                          cpubind_text_fault *fault)
{
    reading r;
    const cpubind_text_status status = read_interrupts(&r, text, len);
    *fault = r.fault;
    if (status == CPUBIND_TEXT_OK)
        PUT_ARRAY(r.irq, r.n_irq);
    end_reading(&r);
    return status;
}

static cpubind_text_status law_status(const char *text, int32_t len, char *out, size_t *n,
                                      cpubind_text_fault *fault)
{
    static int32_t cpu[CPUBIND_MAX_CPUS];
    cpubind_int_list list = {cpu, CPUBIND_MAX_CPUS, 0};
    const cpubind_text_status status = cpubind_status_parse(text, len, &list, fault);
    PUT_ARRAY(cpu, list.n);
    return status;
}

static cpubind_text_status law_lscpu(const char *text, int32_t len, char *out, size_t *n,
                                     cpubind_text_fault *fault)
{
    int32_t threads = 0;
    const cpubind_text_status status = cpubind_lscpu_parse_threads(text, len, &threads, fault);
    put(out, n, &threads, sizeof threads);
    return status;
}

static cpubind_text_status law_lscpu_e(const char *text, int32_t len, char *out, size_t *n,
                                       cpubind_text_fault *fault)
{
    static int32_t cpu[CPUBIND_MAX_CPUS], node[CPUBIND_MAX_CPUS];
    cpubind_lscpu_nodes rows = {.cpu = cpu, .node = node, .cap = CPUBIND_MAX_CPUS};
    const cpubind_text_status status = cpubind_lscpu_parse_nodes(text, len, &rows, fault);
    PUT_ARRAY(cpu, rows.n);
    PUT_ARRAY(node, rows.n);
    return status;
}

/* The result of reading an input; of a refusal its kind and its place. */
static cpubind_text_status law_refusal(const char *text, int32_t len, char *out, size_t *n,
                                       cpubind_text_fault *fault)
{
    cpubind_slice line = {0, 0};
    const cpubind_npusmi_refusal refusal = cpubind_npusmi_find_refusal(text, len, &line);
    const int32_t lost = cpubind_npusmi_count_lost(text, len);
    put(out, n, &refusal, sizeof refusal);
    put(out, n, &line, sizeof line);
    put(out, n, &lost, sizeof lost);
    *fault = no_fault;
    return CPUBIND_TEXT_OK;
}

static const struct law {
    const char *input;
    law_fn *read;
} laws[] = {
    {INFO, law_info},
    {MAP, law_map},
    {"cmd/npu-smi-info-t-topo.txt", law_topo},
    {BOARD, law_board},
    {LIST, law_list},
    {"cmd/npu-smi-info-m.txt", law_refusal},
    {"proc/interrupts", law_interrupts},
    {STATUS, law_status},
    {"cmd/lscpu.txt", law_lscpu},
    {"cmd/lscpu-e.txt", law_lscpu_e},
};

/* A reader must give the same result before and after redaction. For a text that it refuses
 * this must hold only without a name of a host. Returns whether the text was read. */
static int check_law(const struct law *law, const char *text, int32_t len, const char *host)
{
    static char before[DIGEST_MAX], after[DIGEST_MAX];
    size_t n_before = 0, n_after = 0;
    cpubind_text_fault fault = no_fault, fault_after = no_fault;
    const cpubind_text_status status = law->read(text, len, before, &n_before, &fault);
    cpubind_text_status status_after;
    cpubind_redacted counts, again = none;
    char *copy = redacted(law->input, text, len, host, &counts);
    char *twice;
    for (int32_t i = 0; i < len; i++)
        assert_true(copy[i] == text[i] ||
                    (copy[i] == 'x' && (unsigned char)text[i] > ' ' && text[i] != '|'));
    status_after = law->read(copy, len, after, &n_after, &fault_after);
    if (status == CPUBIND_TEXT_OK || !host) {
        if (status != status_after || n_before != n_after ||
            memcmp(before, after, n_before) != 0 || fault.offset != fault_after.offset)
            fail_msg("as %s without %s another result:\n%.*s", law->input, host ? host : "-",
                     len, copy);
    }
    twice = edge_text(copy, len);
    cpubind_redact(law->input, twice, len, host, &again);
    assert_memory_equal(twice, copy, (size_t)len);
    expect_counts(&again, 0, 0, 0);
    free(twice);
    free(copy);
    return status == CPUBIND_TEXT_OK;
}

/* Calls with every word of a text that could be a host's name, each once: dots at its ends do
 * not belong to it. */
static void each_word(const char *text, int32_t len,
                      void (*call)(const char *text, int32_t len, const char *word))
{
    static char seen[1 << 16];
    static const char host_bytes[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n_seen = 1;
    memcpy(seen, " ", 2);
    for (int32_t at = 0; at < len;) {
        char word[66];
        int32_t n = 0;
        while (at + n < len && text[at + n] && strchr(host_bytes, text[at + n]))
            n++;
        if (n >= 2 && n < 64) {
            word[0] = ' ';
            memcpy(word + 1, text + at, (size_t)n);
            memcpy(word + 1 + n, " ", 2);
            if (!strstr(seen, word) && n_seen + (size_t)n + 2 < sizeof seen) {
                strcat(seen, word + 1);
                n_seen += (size_t)n + 1;
                word[n + 1] = '\0';
                call(text, len, word + 1);
            }
        }
        at += n > 0 ? n : 1;
    }
}

static int32_t n_read;

static void check_all_laws(const char *text, int32_t len, const char *host)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        n_read += laws[i].read != law_refusal && check_law(&laws[i], text, len, host);
    if (!host)
        return;
    check_law(&laws[5], text, len, host);
}

static int32_t n_own;

/* Each input of a host, by its own name. */
static void check_fixture(fixture_host *h, const char *name)
{
    (void)name;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        const cpubind_input input = read_fixture(h, laws[i].input);
        if (input.state != CPUBIND_INPUT_PRESENT)
            continue;
        n_own += check_law(&laws[i], input.data, input.len, NULL);
        check_all_laws(input.data, input.len, NULL);
        each_word(input.data, input.len, check_all_laws);
    }
}

TEST(a_fixture_reads_the_same_whatever_its_host_is_called)
{
    (void)each_fixture(check_fixture);
    assert_true(n_own > 100);
}

/* Each capture as every input: its reader decides which input it is. */
TEST(a_capture_reads_the_same_whatever_its_host_is_called)
{
    DIR *folder = open_captures();
    const char *file;
    if (!folder)
        skip();
    n_read = 0;
    while ((file = next_capture(folder)) != NULL) {
        int32_t len;
        char *text = read_capture(file, &len);
        check_all_laws(text, len, NULL);
        each_word(text, len, check_all_laws);
        free(text);
    }
    (void)closedir(folder);
    assert_true(n_read > 50);
}

/* The process names of the captures are gone, and nothing else. */
TEST(the_names_of_captured_processes_are_gone)
{
    DIR *folder = open_captures();
    const char *file;
    int32_t n_name = 0;
    if (!folder)
        skip();
    while ((file = next_capture(folder)) != NULL) {
        int32_t len, n = 0;
        char *text = read_capture(file, &len), *copy;
        cpubind_redacted counts;
        reading r;
        if (read_info(&r, text, len) == CPUBIND_TEXT_OK) {
            copy = redacted(INFO, text, len, NULL, &counts);
            for (int32_t i = 0; i < r.info.n_process; i++) {
                const cpubind_slice name = r.info.process[i].name;
                n += name.len > 0;
                for (int32_t k = name.at; k < name.at + name.len; k++) {
                    assert_true(copy[k] == 'x' || copy[k] == ' ');
                    copy[k] = text[k];
                }
            }
            assert_memory_equal(copy, text, (size_t)len);
            expect_counts(&counts, 0, 0, n);
            n_name += n;
            free(copy);
        }
        end_reading(&r);
        free(text);
    }
    (void)closedir(folder);
    assert_true(n_name > 20);
}

/* A line of nothing but hosts, and one of nothing but bars, of a few MiB. */
TEST(long_lines_cost_no_more_than_their_length)
{
    static const char *const pieces[] = {"gold7 ",        "|", "| ",     "gold7.",
                                         "Process name|", ":", "Name: ", "npu-smi gold7 "};
    static const char *const inputs[] = {INFO, BOARD, STATUS};
    const int32_t len = 4 << 20;
    char *text = (char *)malloc((size_t)len);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
            const double start = cpu_seconds();
            const size_t n = strlen(pieces[i]);
            cpubind_redacted counts = none;
            for (int32_t at = 0; at < len; at++)
                text[at] = pieces[i][(size_t)at % n];
            cpubind_redact(inputs[k], text, len, "gold7", &counts);
            assert_true(cpu_seconds() - start < 4 * HANG_SECONDS);
        }
    free(text);
}

TEST_FILE(NULL, NULL)
