/* test_pci_address.c - addresses of PCI functions, both ways
 * SPDX-License-Identifier: MIT
 */
#include "text_test.h"

#include "../../adapters/text/pci_address.h"

TEST(addresses_are_read_in_every_form)
{
    static const struct {
        const char *text;
        cpubind_pci_address pci;
        const char *written;
    } cases[] = {
        {"0000:c1:00.0", {0, 0xc1, 0, 0}, "0000:c1:00.0"},
        {"00000000:C1:1F.7", {0, 0xc1, 31, 7}, "0000:c1:1f.7"},
        {"17:00.0", {0, 0x17, 0, 0}, "0000:17:00.0"},
        {"10000:e1:00.0", {0x10000, 0xe1, 0, 0}, "10000:e1:00.0"},
        {"7fffffff:ff:1f.7", {INT32_MAX, 0xff, 31, 7}, "7fffffff:ff:1f.7"},
        {"0:0:0.0", {0, 0, 0, 0}, "0000:00:00.0"},
    };
    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *text = edge_text(cases[i].text, len);
        char written[CPUBIND_PCI_ADDRESS_MAX];
        cpubind_pci_address pci;
        assert_int_equal(cpubind_pci_parse(text, len, &pci, NULL), CPUBIND_TEXT_OK);
        assert_int_equal(cpubind_pci_compare(&pci, &cases[i].pci), 0);
        assert_int_equal(cpubind_pci_format(written, &pci), strlen(cases[i].written));
        assert_string_equal(written, cases[i].written);
        free(text);
    }
}

static cpubind_text_status read_address(const char *text, int32_t len,
                                        cpubind_text_fault *fault)
{
    char *edge = edge_text(text, len);
    cpubind_pci_address pci;
    memset(&pci, EDGE_FILL, sizeof pci);
    const cpubind_text_status status = cpubind_pci_parse(edge, len, &pci, fault);
    assert_untouched(&pci, sizeof pci);
    assert_fault(fault, len);
    free(edge);
    return status;
}

TEST(other_texts_are_refused_with_the_place)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"NA", CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"0000:c1:00", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"0000:c1.0", CPUBIND_TEXT_ERR_RANGE, 5},
        {"0000:c1:00.8", CPUBIND_TEXT_ERR_RANGE, 11},
        {"0000:c1:20.0", CPUBIND_TEXT_ERR_RANGE, 8},
        {"0000:100:00.0", CPUBIND_TEXT_ERR_RANGE, 5},
        {"80000000:00:00.0", CPUBIND_TEXT_ERR_RANGE, 0},
        {"0000:c1:00.0 ", CPUBIND_TEXT_ERR_SYNTAX, 12},
        {"0000:0000:c1:00.0", CPUBIND_TEXT_ERR_RANGE, 10},
        {"0000-c1:00.0", CPUBIND_TEXT_ERR_SYNTAX, 4},
    };
    expect_verdicts(read_address, cases, LENGTH(cases));
    assert_int_equal(cpubind_pci_parse(NULL, 1, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST(addresses_are_ordered_by_domain_bus_device_and_function)
{
    static const cpubind_pci_address order[] = {{0, 0, 0, 0}, {0, 0, 0, 7},    {0, 0, 31, 0},
                                                {0, 1, 0, 0}, {0, 255, 31, 7}, {1, 0, 0, 0}};
    for (int32_t i = 0; i < LENGTH(order); i++)
        for (int32_t k = 0; k < LENGTH(order); k++) {
            const int32_t n = cpubind_pci_compare(&order[i], &order[k]);
            assert_int_equal((n > 0) - (n < 0), (i > k) - (i < k));
        }
}

TEST_FILE(NULL, NULL)
