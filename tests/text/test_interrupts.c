/* test_interrupts.c - /proc/interrupts: numbers, names, and texts that are no table
 * SPDX-License-Identifier: MIT
 */
#include "readers.h"

/* == Reading ================================================================ */

static reading got; /* what a test has read last */

SETUP(forget)
{
    end_reading(&got);
    return 0;
}

static cpubind_text_status take_some(const char *text, int32_t len)
{
    end_reading(&got);
    return read_interrupts(&got, text, len);
}

static cpubind_text_status take(const char *text)
{
    return take_some(text, (int32_t)strlen(text));
}

static void assert_names(const reading *r, int32_t row, const char *names)
{
    const cpubind_slice are = r->irq[row].names;

    if (are.len != (int32_t)strlen(names) ||
        memcmp(r->text + are.at, names, (size_t)are.len) != 0)
        fail_msg("row %d: \"%.*s\", not \"%s\"", r->irq[row].irq, are.len, r->text + are.at,
                 names);
}

/* A text that is refused: with this status, at this byte. */
static void assert_refused(const char *text, cpubind_text_status status, int32_t offset)
{
    if (take(text) != status || got.fault.offset != offset)
        fail_msg("\"%s\": %s at %d, not %s at %d", text, cpubind_text_status_name(got.status),
                 got.fault.offset, cpubind_text_status_name(status), offset);
}

/* == Building =============================================================== */

/* A text that grows; as the kernel prints it. */
typedef struct builder {
    char *text;
    size_t len, cap;
} builder;

static void add(builder *b, const char *text)
{
    const size_t n = strlen(text);

    if (b->len + n + 1 > b->cap) {
        b->cap = 2 * (b->len + n + 1);
        b->text = (char *)realloc(b->text, b->cap);
        if (!b->text)
            abort();
    }
    memcpy(b->text + b->len, text, n + 1);
    b->len += n;
}

static void add_header(builder *b, int32_t n_cpu)
{
    char word[32];

    add(b, "           ");
    for (int32_t i = 0; i < n_cpu; i++) {
        (void)snprintf(word, sizeof word, "CPU%-8d", i);
        add(b, word);
    }
    add(b, "\n");
}

/* "  24:" and n_cpu counters, each in 11 bytes; then the tail and a line feed. */
static void add_row(builder *b, int32_t irq, int32_t n_cpu, const char *tail)
{
    char word[32];

    (void)snprintf(word, sizeof word, "%4d:", irq);
    add(b, word);
    for (int32_t i = 0; i < n_cpu; i++) {
        (void)snprintf(word, sizeof word, " %10u",
                       i % 3 ? 0U : 4294967295U / (unsigned)(i + 1));
        add(b, word);
    }
    add(b, tail);
    add(b, "\n");
}

/* A header and one row, number 24. */
static builder one_row(int32_t n_cpu, const char *tail)
{
    builder b = {NULL, 0, 0};

    add_header(&b, n_cpu);
    add_row(&b, 24, n_cpu, tail);
    return b;
}

/* == Rows =================================================================== */

#define X86                                                                                    \
    "            CPU0       CPU1       \n"                                                     \
    "   0:         41          0  IR-IO-APIC    2-edge      timer\n"                           \
    "   9:          0          3  IR-IO-APIC    9-fasteoi   acpi\n"                            \
    "  16:          0         12  IR-IO-APIC   16-fasteoi   ehci_hcd:usb1, mei device 2\n"     \
    " 130:     907112 4294967295  IR-PCI-MSI 1048576-edge      nvme queue 3\n"                 \
    " 131:          0          1  IR-PCI-MSIX-0000:5e:00.0   12-edge      ice-ens9f0-TxRx-4\n" \
    "NMI:         12         15   Non-maskable interrupts\n"                                   \
    "LOC:    8120117    7933120   Local timer interrupts\n"                                    \
    "ERR:          0\n"                                                                        \
    "MIS:          0\n"

TEST(every_numbered_row_gives_its_number_and_its_names)
{
    static const struct {
        int32_t irq;
        const char *names;
    } rows[] = {{0, "timer"},
                {9, "acpi"},
                {16, "ehci_hcd:usb1, mei device 2"},
                {130, "nvme queue 3"},
                {131, "ice-ens9f0-TxRx-4"}};
    assert_int_equal(take(X86), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq_cpu, 2);
    assert_int_equal(got.n_irq, LENGTH(rows));
    for (int32_t i = 0; i < got.n_irq; i++) {
        assert_int_equal(got.irq[i].irq, rows[i].irq);
        assert_names(&got, i, rows[i].names);
    }
}

/* The part of a row after its counters, and the names in it. */
static const struct {
    const char *tail, *names;
} tails[] = {
    /* ARM */
    {"     GICv3  27 Level     arch_timer", "arch_timer"},
    {"   ITS-MSI 524288 Edge      cq_update_irq", "cq_update_irq"},
    {" ITS-PCI-MSI-0000:c1:00.0    1 Edge      name", "name"},
    {"     GICv3  27 Level   -fasteoi   arch_timer", "arch_timer"},
    {"     GICv3  27 Edge    -a_very_long_flow  arch_timer", "arch_timer"},
    {"  gpio-bank  3 Edge      Edge detector", "Edge detector"},
    {"  ARM GIC chip   7 Edge      3-0050", "3-0050"},
    {"     dummy     Edge      power key", "power key"},
    /* x86 */
    {"  IO-APIC    9-fasteoi   acpi", "acpi"},
    {"  PCI-MSI 524288-edge      nvme0q0, nvme0q1", "nvme0q0, nvme0q1"},
    {"  PCI-MSI 524288-edge      3-0050", "3-0050"},
    {"  IO-APIC    9-fasteoi-and-a-lot-more  acpi", "acpi"},
    /* no number: an older kernel, or no domain */
    {"  IR-PCI-MSI-edge      eth0-TxRx-0", "eth0-TxRx-0"},
    {"   IO-APIC-fasteoi   uhci_hcd:usb3, ahci", "uhci_hcd:usb3, ahci"},
    {"    XT-PIC      cascade", "cascade"},
    {"    XT-PIC     -edge      cascade", "cascade"},
    {"    XT-PIC      2 of 3", "2 of 3"},
    {"     None         \tname", NULL},
    /* a number alone */
    {"      MIPS   7  timer", "timer"},
    {"      MIPS   7  7", "7"},
    {"      INTC  21  serial  port", "serial  port"},
    /* no handler */
    {"     GICv3  23 Level     ", ""},
    {"     GICv3  23 Level", ""},
    {"     GICv3  23 Edge    -fasteoi ", ""},
    {"   ITS-MSI 524288 Edge", ""},
    {"  IO-APIC    5-edge    ", ""},
    {"      MIPS   7", ""},
    {"      MIPS   7     ", ""},
    {"      None         ", ""},
    {"         -", ""},
    {"         -     Edge    ", ""},
    /* handlers of a chip that is "-" */
    {"         -   3 Edge      wake", "wake"},
    /* more counters than CPUs, and no chip */
    {"          0   IO-APIC    5-edge      acpi", NULL},
    {"   5", NULL},
    {"          ", NULL},
    {"", NULL},
    {":", NULL},
};

/* One CPU or two are read word by word, 16 and 35 are checked as blocks. */
TEST(names_follow_any_text_of_the_chip)
{
    static const int32_t n_cpus[] = {1, 2, 16, 35};

    for (int32_t i = 0; i < LENGTH(tails); i++) {
        for (int32_t k = 0; k < LENGTH(n_cpus); k++) {
            builder b = one_row(n_cpus[k], tails[i].tail);
            const cpubind_text_status status = take(b.text);

            if (status != (tails[i].names ? CPUBIND_TEXT_OK : CPUBIND_TEXT_ERR_SYNTAX))
                fail_msg("\"%s\" of %d CPUs: %s", tails[i].tail, n_cpus[k],
                         cpubind_text_status_name(status));
            if (tails[i].names) {
                assert_int_equal(got.n_irq, 1);
                assert_int_equal(got.n_irq_cpu, n_cpus[k]);
                assert_int_equal(got.irq[0].irq, 24);
                assert_names(&got, 0, tails[i].names);
            }
            free(b.text);
        }
    }
}

TEST(rows_without_a_number_are_left_out)
{
    assert_int_equal(take("           CPU0       CPU1       \n"
                          "IPI0:       117        120       Rescheduling interrupts\n"
                          " 11:          0          5     GICv3  30 Level     timer\n"
                          "\n"
                          "IPI1:  \n"
                          "Err:          0\n"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq, 1);
    assert_int_equal(got.irq[0].irq, 11);
    assert_refused("  CPU0\nNMI\n", CPUBIND_TEXT_ERR_SYNTAX, 10);
    assert_refused("  CPU0\nN I: 0\n", CPUBIND_TEXT_ERR_SYNTAX, 8);
    assert_refused("  CPU0\n: 0\n", CPUBIND_TEXT_ERR_SYNTAX, 7);
    assert_refused("  CPU0\n -1: 0  MIPS  7\n", CPUBIND_TEXT_ERR_SYNTAX, 8);
    assert_refused("  CPU0\n12A: 0  MIPS  7\n", CPUBIND_TEXT_ERR_SYNTAX, 9);
}

TEST(a_table_may_have_no_row)
{
    assert_int_equal(take("           CPU0       \n"), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq, 0);
    assert_int_equal(got.n_irq_cpu, 1);
}

TEST(cpus_that_are_offline_have_no_column)
{
    assert_int_equal(take("           CPU0       CPU3       CPU1151    \n"
                          " 24:          1          2          3  MIPS   7  uart\n"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq_cpu, 3);
    assert_names(&got, 0, "uart");
}

/* == Names ================================================================== */

static int32_t count_names(const char *text, const char *const *expected, int32_t n)
{
    const int32_t len = (int32_t)strlen(text);
    char *edge = edge_text(text, len);
    const cpubind_slice all = {0, len};
    cpubind_slice name;
    int32_t at = 0, found = 0;

    while (cpubind_interrupts_next_name(edge, all, &at, &name)) {
        assert_true(found < n);
        assert_int_equal(name.len, strlen(expected[found]));
        assert_memory_equal(edge + name.at, expected[found], (size_t)name.len);
        found++;
    }
    assert_int_equal(cpubind_interrupts_next_name(edge, all, &at, &name), 0);
    free(edge);
    return found;
}

TEST(shared_handlers_are_split_at_comma_and_blank)
{
    static const char *const three[] = {"a", "b c", "d,e"};
    static const char *const comma[] = {"a,"};

    assert_int_equal(count_names("a, b c, d,e", three, 3), 3);
    assert_int_equal(count_names("a, , b c, d,e", three, 3), 3);
    assert_int_equal(count_names("a", three, 1), 1);
    assert_int_equal(count_names("a,", comma, 1), 1);
    assert_int_equal(count_names("", three, 0), 0);
    assert_int_equal(count_names(", ", three, 0), 0);
}

TEST(names_that_cannot_be_read_are_none)
{
    const cpubind_slice all = {0, 1};
    cpubind_slice name = {7, 7};
    int32_t at = -1;

    assert_int_equal(cpubind_interrupts_next_name("a", all, &at, &name), 0);
    at = 0;
    assert_int_equal(cpubind_interrupts_next_name(NULL, all, &at, &name), 0);
    assert_int_equal(cpubind_interrupts_next_name("a", all, NULL, &name), 0);
    assert_int_equal(cpubind_interrupts_next_name("a", all, &at, NULL), 0);
    assert_int_equal(name.at, 7);
}

/* A page of names is more than a row of any host has. */
TEST(names_longer_than_a_page_are_refused)
{
    enum { PAGE = 4096 };
    static const char chip[] = "  MIPS   7  ";
    char tail[PAGE + 2];

    memset(tail, 'x', sizeof tail);
    memcpy(tail, chip, sizeof chip - 1);
    for (int32_t more = 0; more <= 1; more++) {
        builder b;

        tail[PAGE] = more ? 'x' : '\0';
        tail[PAGE + 1] = '\0';
        b = one_row(2, tail);
        assert_int_equal(take(b.text), more ? CPUBIND_TEXT_ERR_SYNTAX : CPUBIND_TEXT_OK);
        if (!more)
            assert_int_equal(got.irq[0].names.len, PAGE - (int32_t)(sizeof chip - 1));
        free(b.text);
    }
}

/* == Counters =============================================================== */

/* Whether the words of a row of n counters are as they should be, one by one. */
static int model_is_row(const char *row, int32_t n)
{
    int32_t words = 0;

    for (const char *p = row; words <= n; words++) {
        const size_t gap = strspn(p, " \t\r"), size = strcspn(p + gap, " \t\r");
        const size_t digits = strspn(p + gap, "0123456789");

        p += gap;
        if (words == n)
            return size == 5 && memcmp(p, "GICv3", 5) == 0;
        if (gap == 0 || digits == 0 || digits > 10 || digits != size)
            return 0;
        p += size;
    }
    return 0;
}

/* Every byte of 35 counters, two blocks and some, changed to every other byte. */
TEST(every_byte_of_a_counter_is_checked)
{
    enum { N_CPU = 35 };
    builder b = one_row(N_CPU, "     GICv3  27 Level     arch_timer");
    const int32_t colon = (int32_t)(strchr(b.text, ':') - b.text);
    int32_t good = 0, bad = 0;

    for (int32_t at = colon + 1; at <= colon + 1 + 11 * N_CPU; at++) {
        const char was = b.text[at];

        for (int32_t byte = 0; byte < 256; byte++) {
            int expected;
            b.text[at] = (char)byte;
            expected = byte != '\0' && model_is_row(b.text + colon + 1, N_CPU);
            if ((take_some(b.text, (int32_t)b.len) == CPUBIND_TEXT_OK) != expected)
                fail_msg("byte %d as %d: %s", at - colon - 1, byte,
                         cpubind_text_status_name(got.status));
            if (expected)
                assert_names(&got, 0, "arch_timer");
            good += expected;
            bad += !expected;
        }
        b.text[at] = was;
    }
    assert_true(good > 1000 && bad > 1000);
    free(b.text);
}

TEST(counters_of_other_widths_are_walked)
{
    builder b = {NULL, 0, 0};
    add_header(&b, 20);
    add(&b, "1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 4294967295 MIPS   7  one\n");
    add_row(&b, 2, 20, "  MIPS   8  two");
    add(&b, "3:  1  2  3  4  5  6  7  8  9  0  1  2  3  4  5  6  7  8  9   0  MIPS 9  three\n");
    add_row(&b, 4, 20, "  MIPS   8  four");
    assert_int_equal(take(b.text), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq, 4);
    assert_names(&got, 0, "one");
    assert_names(&got, 1, "two");
    assert_names(&got, 2, "three");
    assert_names(&got, 3, "four");
    free(b.text);
}

TEST(a_counter_has_at_most_ten_digits)
{
    static const char *const counters[] = {"1 12345678901", "12345678901 1",
                                           "99999999999999999999 1"};

    for (int32_t i = 0; i < LENGTH(counters); i++) {
        char text[128];

        (void)snprintf(text, sizeof text, " CPU0 CPU1\n 7: %s  MIPS   7  uart\n", counters[i]);
        assert_refused(text, CPUBIND_TEXT_ERR_SYNTAX, i == 0 ? 17 : 15);
    }
}

TEST(a_row_has_a_counter_for_each_cpu)
{
    assert_refused(" CPU0 CPU1\n 7: 1  MIPS   7  uart\n", CPUBIND_TEXT_ERR_SYNTAX, 18);
    assert_refused(" CPU0 CPU1\n 7: 1 2 3  MIPS   7  uart\n", CPUBIND_TEXT_ERR_SYNTAX, 19);
    assert_refused(" CPU0 CPU1\n 7:\n", CPUBIND_TEXT_ERR_SYNTAX, 14);
    assert_refused(" CPU0 CPU1\n 7: 1\n", CPUBIND_TEXT_ERR_SYNTAX, 16);
    assert_refused(" CPU0 CPU1\n 7: 1 2\n", CPUBIND_TEXT_ERR_SYNTAX, 18);
    assert_refused(" CPU0\n 7:1  MIPS   7  uart\n", CPUBIND_TEXT_ERR_SYNTAX, 10);
    assert_refused(" CPU0\n 7 1  MIPS   7  uart\n", CPUBIND_TEXT_ERR_SYNTAX, 8);
}

/* A line feed in the counters ends the row; the next line must not continue it. */
TEST(a_row_does_not_continue_in_the_next_line)
{
    builder b = one_row(35, "  MIPS   7  uart");
    char *feed = strchr(b.text, ':') + 1 + 11 * 20;
    *feed = '\n';
    assert_int_equal(take(b.text), CPUBIND_TEXT_ERR_SYNTAX);
    assert_int_equal(got.fault.offset, feed - b.text);
    free(b.text);
}

/* == Numbers and headers ==================================================== */

TEST(numbers_ascend)
{
    assert_refused(" CPU0\n 7: 1  MIPS   7  a\n 7: 1  MIPS   7  b\n", CPUBIND_TEXT_ERR_ORDER,
                   26);
    assert_refused(" CPU0\n 7: 1  MIPS   7  a\n 6: 1  MIPS   7  b\n", CPUBIND_TEXT_ERR_ORDER,
                   26);
}

TEST(a_number_fits_into_31_bits)
{
    assert_int_equal(take(" CPU0\n2147483647: 1  MIPS   7  a\n"), CPUBIND_TEXT_OK);
    assert_int_equal(got.irq[0].irq, INT32_MAX);
    assert_refused(" CPU0\n2147483648: 1  MIPS   7  a\n", CPUBIND_TEXT_ERR_RANGE, 6);
    assert_refused(" CPU0\n99999999999999999999: 1  MIPS   7  a\n", CPUBIND_TEXT_ERR_RANGE, 6);
    assert_refused(" CPU0\n007: 1  MIPS   7  a\n", CPUBIND_TEXT_ERR_SYNTAX, 6);
}

TEST(the_header_names_cpus_in_order)
{
    assert_refused("", CPUBIND_TEXT_ERR_MISSING, 0);
    assert_refused("\n \n", CPUBIND_TEXT_ERR_MISSING, 3);
    assert_refused(" 7: 1  MIPS   7  a\n", CPUBIND_TEXT_ERR_MISSING, 1);
    assert_refused("  cpu0\n", CPUBIND_TEXT_ERR_MISSING, 2);
    assert_refused(" CPU0 x\n", CPUBIND_TEXT_ERR_SYNTAX, 6);
    assert_refused(" CPU\n", CPUBIND_TEXT_ERR_SYNTAX, 4);
    assert_refused(" CPU0 CPU1x\n", CPUBIND_TEXT_ERR_SYNTAX, 10);
    assert_refused(" CPU1 CPU0\n", CPUBIND_TEXT_ERR_ORDER, 9);
    assert_refused(" CPU1 CPU1\n", CPUBIND_TEXT_ERR_ORDER, 9);
    assert_refused(" CPU65536\n", CPUBIND_TEXT_ERR_RANGE, 4);
    assert_refused(" CPU0 CPU1", CPUBIND_TEXT_ERR_CUT, 10);
    assert_refused(" CPU0\n CPU0\n", CPUBIND_TEXT_ERR_SYNTAX, 11);
}

/* == Cuts, bytes, buffers =================================================== */

/* A text may end after a line feed: it is a table with fewer rows then, and no reader can know
 * that rows are missing. A cut anywhere else is an error. */
TEST(a_cut_is_an_error_unless_it_is_after_a_line_feed)
{
    const int32_t len = (int32_t)strlen(X86);
    const char *header = strchr(X86, 'C');

    for (int32_t cut = 0; cut < len; cut++) {
        const int whole = cut > 0 && X86[cut - 1] == '\n';
        (void)take_some(X86, cut);
        if (whole)
            assert_int_equal(got.status, CPUBIND_TEXT_OK);
        else if (cut < header - X86 + 3)
            assert_int_equal(got.status, CPUBIND_TEXT_ERR_MISSING);
        else {
            assert_int_equal(got.status, CPUBIND_TEXT_ERR_CUT);
            assert_int_equal(got.fault.offset, cut);
        }
    }
}

/* The same where counters are checked as blocks. */
TEST(a_cut_in_a_block_is_an_error)
{
    builder b = one_row(20, "  MIPS   7  uart");
    const int32_t row = (int32_t)(strchr(b.text, '\n') - b.text) + 1;

    for (int32_t cut = row + 1; cut < (int32_t)b.len; cut++) {
        assert_int_equal(take_some(b.text, cut), CPUBIND_TEXT_ERR_CUT);
    }
    free(b.text);
}

TEST(an_array_that_is_too_small_gets_the_number_of_rows)
{
    for (int32_t cap = 0; cap < 5; cap++) {
        end_reading(&got);
        assert_int_equal(read_interrupts_cap(&got, X86, (int32_t)strlen(X86), cap),
                         CPUBIND_TEXT_ERR_SPACE);
        assert_int_equal(got.n_irq, 5);
    }
    end_reading(&got);
    assert_int_equal(read_interrupts_cap(&got, X86, (int32_t)strlen(X86), 5), CPUBIND_TEXT_OK);
}

TEST(a_nul_anywhere_is_an_error)
{
    const int32_t len = (int32_t)strlen(X86);
    char *text = edge_text(X86, len);

    for (int32_t at = 0; at < len; at++) {
        text[at] = '\0';
        if (take_some(text, len) == CPUBIND_TEXT_OK)
            fail_msg("a NUL at %d is let through", at);
        text[at] = X86[at];
    }
    free(text);
}

TEST(control_characters_are_in_no_name)
{
    char text[] = " CPU0\n 7: 1  MIPS   7  ab\n";

    for (int32_t byte = 1; byte < 128; byte++) {
        if ((byte >= ' ' && byte != 0x7f) || byte == '\n')
            continue;
        text[23] = (char)byte;
        assert_int_equal(take(text), CPUBIND_TEXT_ERR_SYNTAX);
        assert_int_equal(got.fault.offset, 23);
    }
}

/* X86 with a carriage return before each line feed, as a terminal writes it. */
TEST(carriage_returns_at_the_end_of_lines_do_not_count)
{
    builder b = {NULL, 0, 0};
    reading plain;

    for (const char *p = X86; *p; p++) {
        const char c[2] = {*p, '\0'};

        add(&b, *p == '\n' ? "\r\n" : c);
    }
    assert_int_equal(read_interrupts(&plain, X86, (int32_t)strlen(X86)), CPUBIND_TEXT_OK);
    assert_int_equal(take(b.text), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq, plain.n_irq);
    for (int32_t i = 0; i < got.n_irq; i++) {
        const cpubind_slice a = got.irq[i].names, c = plain.irq[i].names;

        assert_int_equal(got.irq[i].irq, plain.irq[i].irq);
        assert_int_equal(a.len, c.len);
        assert_memory_equal(got.text + a.at, plain.text + c.at, (size_t)a.len);
    }
    end_reading(&plain);
    free(b.text);
}

TEST(bad_arguments_are_refused)
{
    cpubind_interrupt irq[1];
    cpubind_interrupt_list list = {irq, 1, 7, 7}, none = {NULL, 0, 7, 7};
    cpubind_interrupt_list bad[] = {{NULL, 1, 7, 7}, {irq, -1, 7, 7}};

    assert_int_equal(cpubind_interrupts_parse(NULL, 1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_interrupts_parse("", -1, &list, NULL), CPUBIND_TEXT_ERR_ARG);
    for (int32_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(cpubind_interrupts_parse("", 0, &bad[i], NULL), CPUBIND_TEXT_ERR_ARG);
        assert_int_equal(bad[i].n, 7);
    }
    assert_int_equal(cpubind_interrupts_parse("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(list.n, 7);
    assert_int_equal(cpubind_interrupts_parse(NULL, 0, &list, NULL), CPUBIND_TEXT_ERR_MISSING);
    assert_int_equal(cpubind_interrupts_parse(" CPU0\n", 6, &none, NULL), CPUBIND_TEXT_OK);
    assert_int_equal(none.n, 0);
}

/* == NPUs =================================================================== */

/* Whether one of the handlers of a row has a name that starts so. */
static int has_name(const reading *r, int32_t row, const char *start)
{
    const size_t n = strlen(start);
    cpubind_slice name;
    int32_t at = 0;

    while (cpubind_interrupts_next_name(r->text, r->irq[row].names, &at, &name))
        if ((size_t)name.len >= n && memcmp(r->text + name.at, start, n) == 0)
            return 1;
    return 0;
}

/* The vectors of one NPU from `irq` on: its mailbox, one sq, 16 cq. */
static void add_npu(builder *b, int32_t irq, int32_t n_cpu, int32_t npu)
{
    char tail[64];

    (void)snprintf(tail, sizeof tail, "   ITS-MSI %d Edge      trs-mbox-%d-0", 700000 + irq,
                   npu);
    add_row(b, irq, n_cpu, tail);
    add_row(b, irq + 1, n_cpu, "   ITS-MSI 700001 Edge      sq_send_trigger_irq");
    for (int32_t i = 2; i < 18; i++)
        add_row(b, irq + i, n_cpu, "   ITS-MSI 700002 Edge      cq_update_irq");
}

TEST(the_interrupts_of_16_npus_are_found_among_1152_cpus)
{
    enum { N_CPU = 1152, N_NPU = 16 };
    builder b = {NULL, 0, 0};
    int32_t n_mbox = 0, n_sq = 0, n_cq = 0;
    add_header(&b, N_CPU);
    for (int32_t i = 0; i < 32; i++)
        add_row(&b, 100 + i, N_CPU, "   ITS-MSI 300000 Edge      nvme queue");
    for (int32_t i = 0; i < N_NPU; i++)
        add_npu(&b, 2048 + 256 * i, N_CPU, i);
    add(&b, "IPI0:         1          1       Rescheduling interrupts\n");
    assert_int_equal(take(b.text), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq_cpu, N_CPU);
    assert_int_equal(got.n_irq, 32 + 18 * N_NPU);
    for (int32_t i = 0; i < got.n_irq; i++) {
        const int32_t vector = (got.irq[i].irq - 2048) % 256;

        assert_int_equal(has_name(&got, i, "trs-mbox-"), got.irq[i].irq >= 2048 && vector == 0);
        assert_int_equal(has_name(&got, i, "sq_send_trigger_irq"),
                         got.irq[i].irq >= 2048 && vector == 1);
        n_mbox += has_name(&got, i, "trs-mbox-");
        n_sq += has_name(&got, i, "sq_send_trigger_irq");
        n_cq += has_name(&got, i, "cq_update_irq");
    }
    assert_int_equal(n_mbox, N_NPU);
    assert_int_equal(n_sq, N_NPU);
    assert_int_equal(n_cq, 16 * N_NPU);
    free(b.text);
}

/* Two chips on one PCI function: the numbers from a mailbox row to the next one belong to its
 * chip. */
TEST(two_npus_on_one_function_are_distinguished_by_their_mailboxes)
{
    builder b = {NULL, 0, 0};
    int32_t npu = -1;
    add_header(&b, 4);
    add_npu(&b, 500, 4, 3);
    add_npu(&b, 518, 4, 2);
    assert_int_equal(take(b.text), CPUBIND_TEXT_OK);
    assert_int_equal(got.n_irq, 36);
    for (int32_t i = 0; i < got.n_irq; i++) {
        if (has_name(&got, i, "trs-mbox-"))
            npu = got.text[got.irq[i].names.at + 9] - '0';
        assert_int_equal(npu, got.irq[i].irq < 518 ? 3 : 2);
    }
    free(b.text);
}

TEST_FILE(NULL, forget)
