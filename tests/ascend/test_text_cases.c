/* test_text_cases.c - outputs of npu-smi: what is read of each, and what redaction leaves
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/ascend/texts/NAME.txt. A verb has a text, as its data or behind " = ":
 *   map, topo, info, board, list   reads it: the values, or the code, the place and the reason
 *   refusal                        why npu-smi has not answered: the number of the refusal, its
 *                                  line, and how many cards the text says that it lost
 *   redact INPUT [HOST]            what an input becomes on a host of this name, and how many
 *                                  names of hosts, serial numbers and names of processes went
 */
#include "../../adapters/ascend/redact.h"
#include "../support/cases.h"
#include "lines.h"

static said got;

/* The lines of a text, each behind "> ", as they would stand in the data of a verb. */
static void say_lines(const char *text, int32_t len)
{
    for (const char *at = text, *end = text + len; at < end; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (at == text || at[-1] == '\n')
            say(&got, "> ");
        if (byte == '\\')
            say(&got, "\\\\");
        else if ((byte < ' ' && byte != '\t' && byte != '\n') || byte == 0x7f)
            say(&got, "\\x%02x", byte);
        else
            say(&got, "%c", byte);
        if (at + 1 == end && byte != '\n')
            say(&got, "\\\n");
    }
}

/* The text of a step, of its exact size. */
static char *text_of(const step *now, int32_t *len)
{
    static char line[1 << 12];
    const char *text = now->data ? now->data : "";
    if (strncmp(now->rest, "= ", 2) == 0) {
        *decode(now->rest + 2, now->rest + strlen(now->rest), line) = '\0';
        text = line;
    }
    *len = (int32_t)strlen(text);
    return edge_text(text, *len);
}

/* == Readers ================================================================ */

static void say_slice(const reading *r, const char *word, cpubind_slice slice)
{
    if (slice.len > 0)
        say(&got, " %s \"%.*s\"", word, slice.len, r->text + slice.at);
}

static void say_more_of_topo(const reading *r)
{
    say(&got, "> by %s%s, %d CPUs\n",
        r->topo.label == CPUBIND_NPUSMI_LABEL_PHY ? "phy id" : "card",
        r->topo.has_affinity ? ", with affinities" : "", r->topo.n_cpu);
}

static void say_more_of_info(const reading *r)
{
    say(&got, "> %s process table,", r->info.has_process_table ? "a" : "no");
    say_slice(r, "version", r->info.version);
    say(&got, "\n");
}

static void say_more_of_boards(const reading *r)
{
    for (int32_t i = 0; i < r->n_board; i++) {
        const cpubind_npusmi_board *b = &r->board[i];
        say(&got, "> chips %d, ids %x %x", b->n_chip, (unsigned)b->vendor, (unsigned)b->device);
        say_slice(r, "npu", b->npu_name);
        say_slice(r, "type", b->chip_type);
        say_slice(r, "chip", b->chip_name);
        say_slice(r, "product", b->product);
        say_slice(r, "serial", b->serial);
        say(&got, "\n");
    }
}

static void say_more_of_cards(const reading *r)
{
    for (int32_t i = 0; i < r->n_card; i++) {
        say(&got, "> card");
        say_slice(r, "product", r->card[i].product);
        say_slice(r, "serial", r->card[i].serial);
        say(&got, "\n");
    }
}

static const struct {
    const char *word;
    write_fn *write;
    reader_fn *read;
    void (*say_more)(const reading *r);
} readers[] = {
    {"map", write_map, read_map, NULL},
    {"topo", write_topo, read_topo, say_more_of_topo},
    {"info", write_info, read_info, say_more_of_info},
    {"board", write_board, read_board, say_more_of_boards},
    {"list", write_list, read_list, say_more_of_cards},
};

static void read_text(step *now)
{
    static lines all;
    reading r;
    int32_t len;
    char *text = text_of(now, &len);
    size_t i = 0;
    while (strcmp(readers[i].word, now->verb) != 0)
        i++;
    got.len = 0;
    all.len = 0;
    all.text[0] = '\0';
    readers[i].write(&all, text, len);
    (void)readers[i].read(&r, text, len);
    if (all.status != CPUBIND_TEXT_OK)
        say(&got, "> %s at %d: %s\n", cpubind_text_status_name(all.status), all.fault.offset,
            all.fault.what);
    else
        say_lines(all.text, all.len);
    if (all.status == CPUBIND_TEXT_OK && readers[i].say_more)
        readers[i].say_more(&r);
    if (all.status == CPUBIND_TEXT_OK && all.unknown.len > 0)
        say(&got, "> not known: \"%.*s\"\n", all.unknown.len, text + all.unknown.at);
    end_reading(&r);
    free(text);
    expect(now, &got);
}

static void find_refusal(step *now)
{
    cpubind_slice line = {-1, -1};
    int32_t len;
    char *text = text_of(now, &len);
    const cpubind_npusmi_refusal refusal = cpubind_npusmi_find_refusal(text, len, &line);
    const int32_t lost = cpubind_npusmi_count_lost(text, len);
    assert_int_equal(cpubind_npusmi_find_refusal(text, len, NULL), refusal);
    got.len = 0;
    say(&got, "> %d", (int)refusal);
    if (refusal != CPUBIND_NPUSMI_NONE)
        say(&got, " at %d to %d", line.at, line.at + line.len);
    if (lost)
        say(&got, ", lost %d", lost);
    say(&got, "\n");
    free(text);
    expect(now, &got);
}

/* == Redaction ============================================================== */

static void redact(step *now)
{
    char input[256] = "", *host = strchr(now->rest, ' ');
    cpubind_redacted counts = {0, 0, 0}, again = {0, 0, 0};
    int32_t len;
    char *text = text_of(now, &len), *twice;
    (void)snprintf(input, sizeof input, "%.*s", (int)strcspn(now->rest, " "), now->rest);
    cpubind_redact(input, text, len, host ? host + 1 : NULL, &counts);
    got.len = 0;
    say_lines(text, len);
    say(&got, "> %d, %d, %d%s\n", counts.host_names, counts.serial_numbers,
        counts.process_names,
        host && !cpubind_redact_finds(host + 1) ? "; the host is not looked for" : "");
    twice = edge_text(text, len);
    cpubind_redact(input, twice, len, host ? host + 1 : NULL, &again);
    assert_memory_equal(twice, text, (size_t)len);
    assert_int_equal(again.host_names | again.serial_numbers | again.process_names, 0);
    free(twice);
    free(text);
    expect(now, &got);
}

static void start(void)
{
}

static int run_all(void)
{
    static const verb of_program[] = {{"map", read_text},  {"topo", read_text},
                                      {"info", read_text}, {"board", read_text},
                                      {"list", read_text}, {"refusal", find_refusal},
                                      {"redact", redact},  {NULL, NULL}};
    return run_cases("text_cases", "ascend/texts", of_program, start);
}

TEST_PROGRAM(run_all)
