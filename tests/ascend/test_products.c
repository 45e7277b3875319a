/* test_products.c - every row of the product list, through each of its readers
 * SPDX-License-Identifier: MIT
 *
 * No test names a product: a new row is tested as soon as it is there. What the command prints
 * of each row is tested in tests/cases/command_plan.txt.
 */
#include "memory_source.h"

#include "../../adapters/ascend/redact.h"

#define PCI      "sys/bus/pci/devices/"
#define FUNCTION PCI "0000:01:00.0"

static const cpubind_device_type first_type = (cpubind_device_type)(CPUBIND_TYPE_AUTO + 1);

#define EACH_TYPE(type)                                                                        \
    for (cpubind_device_type type = first_type; type < CPUBIND_TYPE_COUNT;                     \
         type = (cpubind_device_type)(type + 1))

/* A host with one NPU of this chip name, two nodes of 8 CPUs and the NPU near the first. */
static memory_host one_npu(const char *name, int has_phy)
{
    static char map[256];
    memory_host h;
    memset(&h, 0, sizeof h);
    snprintf(map, sizeof map,
             "\tNPU ID   Chip ID   Chip Logic ID%s   Chip Name\n"
             "\t0        0         0%s               %s\n",
             has_phy ? "   Chip Phy-ID" : "", has_phy ? "   0" : "", name);
    set(&h, "cmd/npu-smi-info-m.txt", map);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-15\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-7\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "8-15\n");
    set(&h, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU0       CPU Affinity\nNPU0       X      8-15\n");
    return h;
}

static attempt plan_first_npu(memory_host *h, cpubind_device_type type, cpubind_rules rules)
{
    static const int32_t zero = 0;
    cpubind_request request = ask_nothing();
    request.type = type;
    request.rules = rules;
    request.has_rules = 1;
    request.device = &zero;
    request.n_device = 1;
    return try(h, &request);
}

static void expect_type(memory_host *h, const char *what, cpubind_device_type type)
{
    attempt a = plan_first_npu(h, CPUBIND_TYPE_AUTO, CPUBIND_RULES_DEFAULT);
    if (a.facts.type != type)
        fail_msg("%s is taken for %s, not for %s", what, cpubind_type_word(a.facts.type),
                 cpubind_type_word(type));
    drop(&a);
}

static void to_case(char *text, int is_upper)
{
    for (; *text; text++)
        if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'))
            *text = (char)(is_upper ? *text & ~0x20 : *text | 0x20);
}

TEST(a_chip_name_in_letters_of_any_case_tells_the_type)
{
    EACH_TYPE(type)
    {
        const cpubind_product *product = cpubind_product_of(type);
        assert_non_null(product->chip[0].part);
        for (int i = 0; i < CPUBIND_PRODUCT_CHIPS && product->chip[i].part; i++) {
            static const char *const formats[] = {"%s", "Ascend %s", "ASCEND%s"};
            for (int k = 0; k < 3; k++) {
                char name[64];
                memory_host h;
                snprintf(name, sizeof name, formats[k], product->chip[i].part);
                for (int is_upper = 0; is_upper < 2; is_upper++) {
                    to_case(name, is_upper);
                    h = one_npu(name, product->chip[i].is_end_with_phy);
                    expect_type(&h, name, type);
                }
            }
        }
    }
}

TEST(a_pci_id_of_any_vendor_tells_the_type)
{
    static const char *const vendors[] = {"0x19e5\n", "0x2092\n", "0x20c6\n", "0x203f\n",
                                          "0x20e9\n"};
    EACH_TYPE(type)
    {
        const cpubind_product *product = cpubind_product_of(type);
        assert_true(product->pci[0] > 0);
        for (int i = 0; i < CPUBIND_PRODUCT_IDS && product->pci[i]; i++) {
            for (size_t v = 0; v < sizeof vendors / sizeof *vendors; v++) {
                memory_host h = one_npu("Something", 0);
                char device[16];
                snprintf(device, sizeof device, "0x%x\n", (unsigned)product->pci[i]);
                set(&h, PCI, "0000:01:00.0\n");
                set(&h, FUNCTION "/vendor", vendors[v]);
                set(&h, FUNCTION "/device", device);
                expect_type(&h, device, type);
                set(&h, FUNCTION "/vendor", "0x10de\n");
                expect_type(&h, device, CPUBIND_TYPE_AUTO);
            }
        }
    }
}

TEST(each_product_is_planned_by_its_strategy_and_roles)
{
    EACH_TYPE(type)
    {
        const cpubind_product *product = cpubind_product_of(type);
        memory_host h = one_npu("Something", 0);
        attempt a = plan_first_npu(&h, type, CPUBIND_RULES_REFERENCE);
        assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
        assert_int_equal(a.facts.type, type);
        assert_int_equal(a.plan.core.strategy, product->strategy);
        assert_memory_equal(&a.plan.roles, &product->roles, sizeof a.plan.roles);
        assert_int_equal(a.plan.n_spare > 0, product->strategy == CPUBIND_CLUSTER);
        drop(&a);
    }
}

/* With a bus id that npu-smi does not print, boards are asked for interrupts alone. */
TEST(boards_are_asked_only_where_a_product_binds_interrupts)
{
    EACH_TYPE(type)
    {
        static const int32_t zero = 0;
        memory_host h = one_npu("Something", 0);
        cpubind_request request = ask_nothing();
        attempt a;
        request.type = type;
        request.device = &zero;
        request.n_device = 1;
        request.wants_pci = 1;
        a = try(&h, &request);
        assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
        assert_int_equal(strstr(h.seen, "-t-board") != NULL,
                         cpubind_product_of(type)->roles.count[CPUBIND_ROLE_IRQ] > 0);
        drop(&a);
    }
}

/* Two products with one word or one PCI id could not be told apart. */
TEST(words_and_pci_ids_belong_to_one_product)
{
    EACH_TYPE(a)
    {
        EACH_TYPE(b)
        {
            const cpubind_product *p = cpubind_product_of(a), *q = cpubind_product_of(b);
            if (a == b)
                continue;
            assert_string_not_equal(p->word, q->word);
            for (int i = 0; i < CPUBIND_PRODUCT_IDS && p->pci[i]; i++)
                for (int k = 0; k < CPUBIND_PRODUCT_IDS && q->pci[k]; k++)
                    assert_int_not_equal(p->pci[i], q->pci[k]);
        }
    }
}

TEST(every_row_is_whole)
{
    for (int type = CPUBIND_TYPE_AUTO; type < CPUBIND_TYPE_COUNT; type++) {
        const cpubind_product *product = cpubind_product_of((cpubind_device_type)type);
        assert_true(strlen(product->word) > 0 && strlen(product->log_main) > 0);
        assert_non_null(product->log_name);
        assert_true(product->roles.count[CPUBIND_ROLE_MAIN] > 0);
        assert_true(product->cluster.cores > 0 && product->cluster.uvb_node >= 0);
        assert_string_equal(cpubind_type_word((cpubind_device_type)type), product->word);
    }
}

TEST(a_number_that_is_no_type_is_auto)
{
    static const int numbers[] = {-1, CPUBIND_TYPE_COUNT, 1 << 20};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_string_equal(cpubind_type_word((cpubind_device_type)numbers[i]), "auto");
    assert_string_equal(cpubind_type_word(CPUBIND_TYPE_AUTO), "auto");
}

/* A host may be called as a chip is; redaction leaves chip names, which tell the type. */
TEST(redaction_leaves_chip_names)
{
    EACH_TYPE(type)
    {
        const cpubind_product *product = cpubind_product_of(type);
        for (int i = 0; i < CPUBIND_PRODUCT_CHIPS && product->chip[i].part; i++) {
            char name[32], before[64], text[64];
            cpubind_redacted counts = {0, 0, 0};
            snprintf(name, sizeof name, "%sq7", product->chip[i].part);
            snprintf(before, sizeof before, "0  0  0  %s\n", name);
            memcpy(text, before, sizeof text);
            assert_false(cpubind_redact_finds(name));
            cpubind_redact("cmd/npu-smi-info-m.txt", text, (int32_t)strlen(text), name,
                           &counts);
            assert_string_equal(text, before);
            assert_int_equal(counts.host_names, 0);
        }
    }
}

TEST_FILE(NULL, NULL)
