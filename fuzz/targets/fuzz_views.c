/* fuzz_views.c - fuzz target: the law over pairs of views of a host
 * SPDX-License-Identifier: MIT
 *
 * The input is the random bytes of a case: tests/ascend/random_host.h and random_view.h say
 * what each stands for. A zero byte, and one that is not there, chooses the simplest
 * alternative. The laws are those of tests/ascend/view_law.c: no two processes of a host share
 * a CPU. The text of a broken law goes to standard error, with the host, the views and their
 * plans.
 */
#include "../fuzz.h"

#include "../../tests/ascend/view_law.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static law_case c;
    const int is_kept = view_law_check(data, size, &c, NULL);
    if (!is_kept)
        view_law_print(stderr, &c);
    CHECK(is_kept);
    return 0;
}
