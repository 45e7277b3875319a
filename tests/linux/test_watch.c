/* test_watch.c - what a watch does about threads that cannot be moved now
 * SPDX-License-Identifier: MIT
 *
 * Real threads on a fake host (fake_host.h). No test waits: a period is a call of
 * cpubind_bind_again.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "../../adapters/linux/bind/binding.h"
#include "../support/cmocka_test.h"

/* == The table of troubles ================================================== */

static int note(cpubind_binding *b, int32_t id, int error)
{
    return cpubind_note_outcome(b, CPUBIND_ITEM_THREAD, 1, id, cpubind_fault_of(error, "step"));
}

TEST(a_trouble_is_news_once_and_tried_again_with_growing_pauses)
{
    static cpubind_binding b;
    int64_t pause = 0;
    b = (cpubind_binding){.sys = &cpubind_sys_real};
    assert_true(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 1, 7));
    for (int tries = 0; tries < 10; tries++) {
        pause = pause == 0 ? 1 : pause < 64 ? 2 * pause : 64;
        assert_int_equal(note(&b, 7, EBUSY), tries == 0);
        for (int64_t i = 0; i < pause; i++) {
            assert_false(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 1, 7));
            assert_true(cpubind_is_due(&b, CPUBIND_ITEM_IRQ, 1, 7));
            assert_true(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 2, 7));
            b.n_again++;
        }
        assert_true(cpubind_is_due(&b, CPUBIND_ITEM_THREAD, 1, 7));
    }
    assert_int_equal(note(&b, 7, EPERM), 1); /* for another reason */
    assert_int_equal(note(&b, 8, EPERM), 1);
    assert_int_equal(note(&b, 7, 0), 1);
    assert_int_equal(note(&b, 7, 0), 0);
    assert_int_equal(note(&b, 8, EPERM), 0);
    assert_int_equal(b.n_trouble, 1);
    free(b.trouble);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trouble_is_news_once_and_tried_again_with_growing_pauses),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
