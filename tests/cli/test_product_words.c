/* test_product_words.c - every row of the product list, as the command prints it
 * SPDX-License-Identifier: MIT
 *
 * By the rules reference, which cut by the strategy of the product.
 * The rows come from products.h; the command is the one that CPUBIND names. The host is that of
 * a fixture whose nodes, threads and ids suit every strategy.
 */
#include "../support/test.h"
#include "run_command.h"

#include "../../adapters/model/products.h"

#define HOST "fixtures/hosts/950-smt1-256cpu.host"

static const cpubind_product products[] = {
#define CPUBIND_X(name, type_word, ...) {.word = (type_word), __VA_ARGS__},
    CPUBIND_PRODUCT_LIST(CPUBIND_X)
#undef CPUBIND_X
};

enum { N_PRODUCT = sizeof products / sizeof products[0] };

static command_result run(const char *a, const char *b, const char *c)
{
    const char *words[] = {command_path(), "plan", "--rules", "reference", a, b, c,
                           "--root",       HOST,   NULL};
    return command_run(words);
}

static void expect_text(const char *text, const char *format, const char *a, const char *b)
{
    char part[256];
    snprintf(part, sizeof part, format, a, b);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

TEST(help_and_the_refusal_of_another_word_name_every_product)
{
    const char *const help[] = {command_path(), "plan", "--help", NULL};
    command_result text = command_run(help);
    command_result refusal = run("--device-type", "a-thing-of-tomorrow", "--quiet");
    assert_int_equal(text.status, 0);
    assert_int_equal(refusal.status, 2);
    for (int i = 0; i < N_PRODUCT; i++) {
        expect_text(text.out, "%s%s", ", ", products[i].word);
        expect_text(refusal.err, "%s%s", ", ", products[i].word);
    }
    command_free(&text);
    command_free(&refusal);
}

TEST(json_has_the_word_and_the_strategy)
{
    static const char *const strategies[] = {"global_slice", "topo_affinity", "cluster"};
    for (int i = 0; i < N_PRODUCT; i++) {
        command_result r = run("--device-type", products[i].word, "--json");
        assert_int_equal(r.status, 0);
        expect_text(r.out, "\"device_type\": \"%s\"%s", products[i].word, "");
        expect_text(r.out, "\"strategy\": \"%s\"%s", strategies[products[i].strategy], "");
        command_free(&r);
    }
}

TEST(the_log_has_the_words_of_the_product_and_its_roles)
{
    for (int i = 0; i < N_PRODUCT; i++) {
        const cpubind_product *product = &products[i];
        command_result r = run("--device-type", product->word, "--quiet");
        assert_int_equal(r.status, 0);
        expect_text(r.out, "\n%sNPU0: %s=[", product->log_name, product->log_main);
        assert_int_equal(strstr(r.out, "acl=[") != NULL,
                         product->roles.count[CPUBIND_ROLE_ACL] > 0);
        assert_int_equal(strstr(r.out, "release=[[") != NULL,
                         product->roles.count[CPUBIND_ROLE_RELEASE] > 0);
        command_free(&r);
    }
}

/* The map shows a letter for each role that a pool has. */
TEST(the_map_has_the_roles_of_the_product)
{
    for (int i = 0; i < N_PRODUCT; i++) {
        const cpubind_product *product = &products[i];
        command_result r = run("--device-type", product->word, "--npus=0");
        const char *map;
        assert_int_equal(r.status, 0);
        expect_text(r.out, "device type %s%s", product->word, ",");
        map = strstr(r.out, "\nnode 0 |");
        assert_non_null(map);
        assert_int_equal(strstr(map, "ii0") != NULL,
                         product->roles.count[CPUBIND_ROLE_IRQ] > 0);
        assert_int_equal(strstr(map, "0ar") != NULL,
                         product->roles.count[CPUBIND_ROLE_ACL] > 0);
        command_free(&r);
    }
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_the_refusal_of_another_word_name_every_product),
        cmocka_unit_test(json_has_the_word_and_the_strategy),
        cmocka_unit_test(the_log_has_the_words_of_the_product_and_its_roles),
        cmocka_unit_test(the_map_has_the_roles_of_the_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

TEST_PROGRAM(run_all)
