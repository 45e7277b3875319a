/* cmocka_test.h - cmocka with the headers that it needs, and a test without its unused argument
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_SUPPORT_CMOCKA_TEST_H
#define CPUBIND_TESTS_SUPPORT_CMOCKA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test, and a function that cmocka calls before or after one: cmocka_unit_test(name). */
#define TEST(name)  static void name(__attribute__((unused)) void **test_state)
#define SETUP(name) static int name(__attribute__((unused)) void **test_state)

#endif
