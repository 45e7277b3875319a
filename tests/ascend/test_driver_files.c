/* test_driver_files.c - the files that the Ascend driver adds to /proc, /sys and /dev
 * SPDX-License-Identifier: MIT
 */
#include "../text/text_test.h"

#include "../../adapters/ascend/driver_files.h"

#define TEXT(literal) (literal), (int32_t)(sizeof(literal) - 1)

/* == Names and small files ================================================== */

/* A text, and the numbers that it holds or the status and the place of its fault. */
typedef struct number_case {
    const char *text;
    cpubind_text_status status;
    int32_t first, second; /* the offset of the fault in `first` */
} number_case;

/* A reader of one or two numbers; both hold the pattern before. */
typedef cpubind_text_status read_numbers_fn(const char *text, int32_t len, int32_t *out,
                                            cpubind_text_fault *fault);

static void expect_numbers(read_numbers_fn *read, const number_case *cases, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *text = edge_text(cases[i].text, len);
        cpubind_text_fault fault = no_fault;
        int32_t out[2];
        cpubind_text_status status;

        memset(out, EDGE_FILL, sizeof out);
        status = read(text, len, out, &fault);
        if (status != cases[i].status)
            fail_msg("\"%s\": %s", cases[i].text, cpubind_text_status_name(status));
        if (status == CPUBIND_TEXT_OK) {
            assert_int_equal(out[0], cases[i].first);
            assert_int_equal(out[1], cases[i].second);
        } else {
            assert_untouched(out, sizeof out);
            assert_fault(&fault, len);
            assert_int_equal(fault.offset, cases[i].first);
        }
        assert_int_equal(read(text, len, out, NULL), status);
        free(text);
    }
}

static cpubind_text_status read_process(const char *text, int32_t len, int32_t *out,
                                        cpubind_text_fault *fault)
{
    cpubind_driver_process process;
    cpubind_text_status status;

    memcpy(&process, out, sizeof process);
    status = cpubind_driver_parse_process(text, len, &process, fault);
    out[0] = process.pid;
    out[1] = process.udevid;
    return status;
}

TEST(the_name_of_a_folder_is_a_process_and_its_device)
{
    static const number_case cases[] = {
        {"4242-17-dev-3", CPUBIND_TEXT_OK, 4242, 3},
        {"1-0-dev-116", CPUBIND_TEXT_OK, 1, 116},
        {"2147483647-9223372036854775807-dev-0", CPUBIND_TEXT_OK, INT32_MAX, 0},
        {"7--1-dev-0", CPUBIND_TEXT_OK, 7, 0},
        {"2147483648-1-dev-0", CPUBIND_TEXT_ERR_RANGE, 0, 0},
        {"1-1-dev-2147483648", CPUBIND_TEXT_ERR_RANGE, 8, 0},
        {"", CPUBIND_TEXT_ERR_MISSING, 0, 0},
        {"summary", CPUBIND_TEXT_ERR_MISSING, 0, 0},
        {"dev0-ts0", CPUBIND_TEXT_ERR_MISSING, 0, 0},
        {"-1-1-dev-0", CPUBIND_TEXT_ERR_MISSING, 0, 0},
        {"01-1-dev-0", CPUBIND_TEXT_ERR_MISSING, 0, 0},
        {"12", CPUBIND_TEXT_ERR_MISSING, 2, 0},
        {"12-", CPUBIND_TEXT_ERR_MISSING, 3, 0},
        {"12-dev-3", CPUBIND_TEXT_ERR_MISSING, 3, 0},
        {"12-7", CPUBIND_TEXT_ERR_MISSING, 4, 0},
        {"12-7-dev-", CPUBIND_TEXT_ERR_MISSING, 9, 0},
        {"12-7-dev-3x", CPUBIND_TEXT_ERR_MISSING, 10, 0},
        {"12-7-dev-3\n", CPUBIND_TEXT_ERR_MISSING, 10, 0},
    };

    expect_numbers(read_process, cases, LENGTH(cases));
    assert_int_equal(cpubind_driver_parse_process(TEXT("1-1-dev-0"), NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

static cpubind_text_status read_mailbox(const char *text, int32_t len, int32_t *out,
                                        cpubind_text_fault *fault)
{
    const cpubind_text_status status = cpubind_driver_parse_mailbox(text, len, out, fault);

    if (status == CPUBIND_TEXT_OK)
        out[1] = 0;
    return status;
}

TEST(the_name_of_a_mailbox_has_the_device)
{
    static const number_case cases[] = {
        {"trs-mbox-0-0", CPUBIND_TEXT_OK, 0, 0},
        {"trs-mbox-15-1", CPUBIND_TEXT_OK, 15, 0},
        {"trs-mbox-3-", CPUBIND_TEXT_OK, 3, 0},
        {"trs-mbox-3", CPUBIND_TEXT_ERR_MISSING, 10, 0},
        {"trs-mbox-", CPUBIND_TEXT_ERR_MISSING, 9, 0},
        {"trs-mbox-03-0", CPUBIND_TEXT_ERR_MISSING, 9, 0},
        {"trs-mbox--1-0", CPUBIND_TEXT_ERR_MISSING, 9, 0},
        {"trs-mbox-2147483648-0", CPUBIND_TEXT_ERR_RANGE, 9, 0},
        {"sq_send_trigger_irq", CPUBIND_TEXT_ERR_MISSING, 0, 0},
        {"", CPUBIND_TEXT_ERR_MISSING, 0, 0},
    };

    expect_numbers(read_mailbox, cases, LENGTH(cases));
    assert_int_equal(cpubind_driver_parse_mailbox(TEXT("trs-mbox-0-0"), NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

static cpubind_text_status read_device_number(const char *text, int32_t len, int32_t *out,
                                              cpubind_text_fault *fault)
{
    cpubind_driver_number number;
    cpubind_text_status status;

    memcpy(&number, out, sizeof number);
    status = cpubind_driver_parse_number(text, len, &number, fault);
    out[0] = number.major;
    out[1] = number.minor;
    return status;
}

TEST(a_device_node_has_a_major_and_a_minor_number)
{
    static const number_case cases[] = {
        {"236:3\n", CPUBIND_TEXT_OK, 236, 3},
        {"236:116", CPUBIND_TEXT_OK, 236, 116},
        {"0:0\n", CPUBIND_TEXT_OK, 0, 0},
        {"", CPUBIND_TEXT_ERR_SYNTAX, 0, 0},
        {":3\n", CPUBIND_TEXT_ERR_SYNTAX, 0, 0},
        {"236\n", CPUBIND_TEXT_ERR_SYNTAX, 3, 0},
        {"236:\n", CPUBIND_TEXT_ERR_SYNTAX, 4, 0},
        {"236: 3\n", CPUBIND_TEXT_ERR_SYNTAX, 4, 0},
        {"236:-1\n", CPUBIND_TEXT_ERR_SYNTAX, 4, 0},
        {"236:03\n", CPUBIND_TEXT_ERR_SYNTAX, 4, 0},
        {"236:3\n236:4\n", CPUBIND_TEXT_ERR_SYNTAX, 6, 0},
        {"236:2147483648\n", CPUBIND_TEXT_ERR_RANGE, 4, 0},
    };

    expect_numbers(read_device_number, cases, LENGTH(cases));
    assert_int_equal(cpubind_driver_parse_number(TEXT("1:1\n"), NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

/* == Tables ================================================================= */

enum { MAX_ROWS = 16 };

/* What a reader of a table read; of functions, `first` is their address in one number. */
typedef struct reading {
    int32_t n;
    int64_t first[MAX_ROWS];
    int32_t udevid[MAX_ROWS];
    cpubind_slice unknown;
} reading;

typedef cpubind_text_status read_table_fn(const char *text, int32_t len, int32_t cap,
                                          reading *out, cpubind_text_fault *fault);

/* Memory of the exact size for `cap` rows, filled with the pattern. */
static void *edge_rows(int32_t cap, size_t size)
{
    void *rows = malloc((size_t)cap * size + 1);

    if (!rows)
        abort();
    memset(rows, EDGE_FILL, (size_t)cap * size + 1);
    return realloc(rows, cap > 0 ? (size_t)cap * size : 1);
}

static cpubind_text_status read_namespaces(const char *text, int32_t len, int32_t cap,
                                           reading *out, cpubind_text_fault *fault)
{
    cpubind_driver_logic *row = (cpubind_driver_logic *)edge_rows(cap, sizeof *row);
    cpubind_driver_logics list = {row, cap, out->n, {-7, -7}};
    const cpubind_text_status status = cpubind_driver_parse_namespaces(text, len, &list, fault);

    out->n = list.n;
    out->unknown = list.unknown;
    if (status != CPUBIND_TEXT_OK)
        assert_untouched(row, (size_t)cap * sizeof *row);
    for (int32_t i = 0; status == CPUBIND_TEXT_OK && i < list.n; i++) {
        out->first[i] = row[i].logic;
        out->udevid[i] = row[i].udevid;
    }
    free(row);
    return status;
}

#define PCI(domain, bus, device, function)                                                     \
    (((int64_t)(domain)*0x10000 + (bus)*0x100 + (device)*8 + (function)))

static cpubind_text_status read_functions(const char *text, int32_t len, int32_t cap,
                                          reading *out, cpubind_text_fault *fault)
{
    cpubind_driver_function *row = (cpubind_driver_function *)edge_rows(cap, sizeof *row);
    cpubind_driver_functions list = {row, cap, out->n, {-7, -7}};
    const cpubind_text_status status = cpubind_driver_parse_functions(text, len, &list, fault);

    out->n = list.n;
    out->unknown = list.unknown;
    if (status != CPUBIND_TEXT_OK)
        assert_untouched(row, (size_t)cap * sizeof *row);
    for (int32_t i = 0; status == CPUBIND_TEXT_OK && i < list.n; i++) {
        const cpubind_pci_address pci = row[i].pci;

        out->first[i] = PCI(pci.domain, pci.bus, pci.device, pci.function);
        out->udevid[i] = row[i].udevid;
    }
    free(row);
    return status;
}

/* Reads a text with room for its rows, and checks that less room is not enough. */
static cpubind_text_status read_table(read_table_fn *read, const char *text, int32_t len,
                                      reading *out, cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_text_status status;

    out->n = -7;
    *fault = no_fault;
    status = read(edge, len, MAX_ROWS, out, fault);
    if (status == CPUBIND_TEXT_OK && out->n > 0) {
        reading less = {.n = -7};
        cpubind_text_fault other = no_fault;

        assert_int_equal(read(edge, len, out->n - 1, &less, &other), CPUBIND_TEXT_ERR_SPACE);
        assert_int_equal(less.n, out->n);
        assert_int_equal(less.unknown.at, -7);
        assert_int_equal(read(edge, len, out->n, &less, NULL), CPUBIND_TEXT_OK);
    } else if (status != CPUBIND_TEXT_OK) {
        assert_int_equal(out->n, -7);
        assert_fault(fault, len);
    }
    free(edge);
    return status;
}

/* The text has these rows, and the first thing in it that is not known is `unknown`. */
static void expect_rows(read_table_fn *read, const char *text, const int64_t (*rows)[2],
                        int32_t n, const char *unknown)
{
    reading found;
    cpubind_text_fault fault;
    const cpubind_text_status status =
        read_table(read, text, (int32_t)strlen(text), &found, &fault);

    if (status != CPUBIND_TEXT_OK)
        fail_msg("%s at %d: %s", cpubind_text_status_name(status), fault.offset, text);
    assert_int_equal(found.n, n);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(found.first[i], rows[i][0]);
        assert_int_equal(found.udevid[i], rows[i][1]);
    }
    assert_int_equal(found.unknown.len, strlen(unknown));
    assert_memory_equal(text + found.unknown.at, unknown, strlen(unknown));
}

/* A text with a fault. "^" stands before the byte of the fault and is no part of the text;
 * without it the fault is at the end. */
typedef struct fault_case {
    const char *text;
    cpubind_text_status status;
} fault_case;

static void expect_faults(read_table_fn *read, const fault_case *cases, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        char text[1024];
        const char *mark = strchr(cases[i].text, '^');
        int32_t len = (int32_t)strlen(cases[i].text), place = len;
        reading found;
        cpubind_text_fault fault;
        cpubind_text_status status;

        assert_true(len < (int32_t)sizeof text);
        memcpy(text, cases[i].text, (size_t)len);
        if (mark) {
            place = (int32_t)(mark - cases[i].text);
            memmove(text + place, mark + 1, (size_t)(len - place - 1));
            len--;
        }
        status = read_table(read, text, len, &found, &fault);
        if (status != cases[i].status || fault.offset != place)
            fail_msg("%s at %d (%s): %s", cpubind_text_status_name(status), fault.offset,
                     fault.what, cases[i].text);
    }
}

/* == /proc/uda/namespace_node =============================================== */

#define HEAD(ns, n, mark)                                                                      \
    "ns_id " ns " identify f0000000 root_tgid 1 dev_num " n " namespace 00000000e1a2b3c4" mark \
    ", udev list:\n"
#define COLUMNS "logic_devid udevid\n"
#define FOREIGN                                                                                \
    HEAD("128", "3", "")                                                                       \
    COLUMNS "       0        0\n       1        4\n       2        "                           \
            "6\n\n\n"
#define OWN       HEAD("3", "2", "(#)") COLUMNS "       0        4\n       1        6\n\n\n"
#define OWN_FIRST HEAD("3", "2", "(#)") COLUMNS "0 4\n"

TEST(the_table_of_the_own_namespace_is_read)
{
    static const int64_t own[][2] = {{0, 4}, {1, 6}};
    static const int64_t virtual_npus[][2] = {{0, 116}, {1, 117}};

    expect_rows(read_namespaces, OWN, own, 2, "");
    expect_rows(read_namespaces, FOREIGN OWN, own, 2, "");
    expect_rows(read_namespaces, OWN FOREIGN, own, 2, "");
    expect_rows(read_namespaces, FOREIGN OWN FOREIGN, own, 2, "");
    expect_rows(read_namespaces, HEAD("1", "0", "(#)") COLUMNS "\n\n" FOREIGN, NULL, 0, "");
    expect_rows(read_namespaces, HEAD("1", "2", "(#)") COLUMNS "0 116\n1 117\n", virtual_npus,
                2, "");
}

/* The kernel hides the address of a namespace as "(ptrval)" or "(____ptrval____)". */
TEST(the_mark_follows_any_name_of_a_namespace)
{
    static const int64_t own[][2] = {{0, 4}};

    expect_rows(read_namespaces,
                "ns_id 1 dev_num 1 namespace (____ptrval____), udev list:\n" COLUMNS "0 3\n"
                "ns_id 2 dev_num 1 namespace (____ptrval____)(#), udev list:\n" COLUMNS "0 4\n",
                own, 1, "");
}

TEST(columns_and_lines_that_are_not_known_are_passed_over)
{
    static const int64_t own[][2] = {{0, 5}, {1, 7}};

    expect_rows(read_namespaces,
                "ns_id 1 kind x dev_num 2 state ok namespace 1(#)\r\n"
                "udevid numa logic_devid bus\r\n5 n0 0 c1\r\n7 n1 1 c2\r\n",
                own, 2, "numa");
    expect_rows(read_namespaces,
                "version 2\n" HEAD("1", "2", "(#)") COLUMNS "0 5\n-- shared --\n1 7\nend\n",
                own, 2, "version 2");
}

TEST(several_namespaces_may_have_the_same_device)
{
    static const int64_t own[][2] = {{0, 4}, {1, 6}};

    expect_rows(read_namespaces, FOREIGN FOREIGN OWN HEAD("9", "1", "") COLUMNS "0 4\n", own, 2,
                "");
}

TEST(faults_of_namespaces_have_their_place)
{
    static const fault_case cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING},
        {FOREIGN, CPUBIND_TEXT_ERR_MISSING},
        {OWN FOREIGN "^" OWN, CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "^0 6\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "1 ^4\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST, CPUBIND_TEXT_ERR_CUT},
        {OWN_FIRST "1 6", CPUBIND_TEXT_ERR_CUT},
        {OWN_FIRST "x 6\n", CPUBIND_TEXT_ERR_CUT},
        {OWN_FIRST "^" FOREIGN, CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "1 6\n^2 7\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "1 6^x\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "1 ^-6\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "1 ^06\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "^1\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "^1 6 7\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN_FIRST "1 ^4096\n", CPUBIND_TEXT_ERR_RANGE},
        {OWN_FIRST "1 ^4294967295\n", CPUBIND_TEXT_ERR_RANGE},
        {"^0 4\n" OWN, CPUBIND_TEXT_ERR_SYNTAX},
        {HEAD("1", "1", "(#)") "^0 4\n", CPUBIND_TEXT_ERR_SYNTAX},
        {HEAD("1", "1", "(#)") COLUMNS "^" COLUMNS "0 4\n", CPUBIND_TEXT_ERR_SYNTAX},
        {HEAD("1", "1", "(#)") "udevid logic_devid ^udevid\n", CPUBIND_TEXT_ERR_SYNTAX},
        {HEAD("1", "^4294967297", "(#)"), CPUBIND_TEXT_ERR_RANGE},
        {HEAD("1", "^x", "(#)"), CPUBIND_TEXT_ERR_SYNTAX},
        {"^ns_id 1 dev_num 1 dev_num 1 namespace 1(#)\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^ns_id 1 dev_num 1 root(#)\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^ns_id 1 namespace 1(#)\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"ns_id 1 namespace 1(#) dev_num^\n", CPUBIND_TEXT_ERR_SYNTAX},
    };

    expect_faults(read_namespaces, cases, LENGTH(cases));
}

TEST(a_fault_in_the_table_of_another_namespace_is_one)
{
    static const fault_case cases[] = {
        {OWN HEAD("9", "2", "") COLUMNS "0 7\n^0 8\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN HEAD("9", "2", "") COLUMNS "0 7\n1 ^7\n", CPUBIND_TEXT_ERR_SYNTAX},
        {OWN HEAD("9", "2", "") COLUMNS "0 7\n", CPUBIND_TEXT_ERR_CUT},
    };

    expect_faults(read_namespaces, cases, LENGTH(cases));
}

/* A text that is cut has no table of the reader, or a fault, or only lacks other tables. */
TEST(every_prefix_of_the_namespaces_is_whole_or_a_fault)
{
    static const char text[] = FOREIGN OWN FOREIGN;
    const int32_t whole = (int32_t)sizeof(FOREIGN OWN) - 1;
    reading found;
    cpubind_text_fault fault;

    for (int32_t len = 0; len < (int32_t)sizeof text; len++) {
        const cpubind_text_status status =
            read_table(read_namespaces, text, len, &found, &fault);

        if (status == CPUBIND_TEXT_OK) {
            assert_true(len >= whole - 2);
            assert_int_equal(found.n, 2);
        }
    }
}

/* == devdrv_sysfs_bdf_to_devid ============================================== */

#define NEW "bdf      udevid add_id\n"

TEST(both_forms_of_the_table_of_functions_are_read)
{
    static const int64_t rows[][2] = {
        {PCI(-1, 0xc1, 0, 0), 0}, {PCI(-1, 0x81, 0, 0), 2}, {PCI(-1, 0x0a, 0x1f, 7), 12}};
    static const int64_t domains[][2] = {{PCI(0, 0xc1, 0, 0), 0},
                                         {PCI(0x10002, 0xc1, 0, 0), 1}};

    expect_rows(read_functions, "c1:00.0 ---> 0\n81:00.0 ---> 2\n0A:1F.7 ---> 12\n", rows, 3,
                "");
    expect_rows(read_functions, NEW "c1:00.0  0      5\n81:00.0  2      4\n0a:1f.7  12     3\n",
                rows, 3, "");
    expect_rows(read_functions, "0000:c1:00.0 ---> 0\n10002:c1:00.0 ---> 1\n", domains, 2, "");
    expect_rows(read_functions, "", NULL, 0, "");
    expect_rows(read_functions, NEW, NULL, 0, "");
}

/* A 300I Duo has two devices at one function, and two domains may have the same bus. */
TEST(an_address_may_be_there_more_than_once)
{
    static const int64_t rows[][2] = {{PCI(-1, 0x0a, 0, 0), 0}, {PCI(-1, 0x0a, 0, 0), 1}};

    expect_rows(read_functions, "0a:00.0 ---> 0\n0a:00.0 ---> 1\n", rows, 2, "");
    expect_rows(read_functions, NEW "0a:00.0 0 0\n0a:00.0 1 1\n", rows, 2, "");
}

TEST(columns_of_the_table_of_functions_are_found_by_name)
{
    static const int64_t rows[][2] = {{PCI(-1, 0xc1, 0, 0), 3}};

    expect_rows(read_functions, "chip udevid add_id bdf\r\nA2 3 7 c1:00.0\r\n", rows, 1,
                "chip");
    expect_rows(read_functions, "devices:\n\nc1:00.0 ---> 3\nend\n", rows, 1, "devices:");
}

TEST(faults_of_the_table_of_functions_have_their_place)
{
    static const fault_case cases[] = {
        {"c1:00.0 ---> 0\nc2:00.0 ---> ^0\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^c1:00.0 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^c1:00.0 -> 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^c1:00.0 --->\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^c1:00.0 ---> 3 4\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"c1:00.0 ---> 3", CPUBIND_TEXT_ERR_CUT},
        {"c1:00.0 ---> 3^x\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"c1:00.0 ---> ^03\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"c1:00.0 ---> ^4096\n", CPUBIND_TEXT_ERR_RANGE},
        {"^100:00.0 ---> 3\n", CPUBIND_TEXT_ERR_RANGE},
        {"c1:^20.0 ---> 3\n", CPUBIND_TEXT_ERR_RANGE},
        {"c1:00.^8 ---> 3\n", CPUBIND_TEXT_ERR_RANGE},
        {"^80000000:c1:00.0 ---> 3\n", CPUBIND_TEXT_ERR_RANGE},
        {"0:0:^c1:00.0 ---> 3\n", CPUBIND_TEXT_ERR_RANGE},
        {"c1:00^ ---> 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"c1:00.0^x ---> 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"^c1:00.0 ---> 1c2:00.0 ---> 2\n", CPUBIND_TEXT_ERR_SYNTAX},
        {NEW "^c1:00.0  3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {NEW "^c1:00.0 3 3 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {NEW "c1:00.0 ^---> 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {NEW "^" NEW "c1:00.0 3 3\n", CPUBIND_TEXT_ERR_SYNTAX},
        {"c1:00.0 ---> 3\n^" NEW, CPUBIND_TEXT_ERR_SYNTAX},
        {"bdf udevid ^bdf\n", CPUBIND_TEXT_ERR_SYNTAX},
    };

    expect_faults(read_functions, cases, LENGTH(cases));
}

TEST(arguments_outside_their_range_are_refused)
{
    cpubind_driver_logics logics = {NULL, 1, 0, {0, 0}};
    cpubind_driver_functions functions = {NULL, 1, 0, {0, 0}};

    assert_int_equal(cpubind_driver_parse_namespaces(TEXT(OWN), &logics, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_driver_parse_namespaces(TEXT(OWN), NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_driver_parse_functions(TEXT(NEW), &functions, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_driver_parse_functions(NULL, 1, &functions, NULL),
                     CPUBIND_TEXT_ERR_ARG);
}

TEST_FILE(NULL, NULL)
