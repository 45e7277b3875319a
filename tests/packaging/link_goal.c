/* link_goal.c - a program of another project that asks for the interrupts of one device
 * SPDX-License-Identifier: MIT
 *
 * C11 and C++11: with the installed headers and libcpubind_ascend.
 */
#include <cpubind/ascend/thread_roles.h>
#include <cpubind/plan/process_goal.h>

#include <string.h>

int main(void)
{
    static const char text[] = "           CPU0\n"
                               " 50:          0  ITS-MSI 50 Edge      trs-mbox-7-0\n"
                               " 51:          0  ITS-MSI 51 Edge      sq_send_trigger_irq\n"
                               " 52:          0  ITS-MSI 52 Edge      cq_update_irq\n";
    static const int32_t msi[] = {50, 51, 52};
    cpubind_interrupt all[3];
    cpubind_interrupt_list list = {all, 3, 0, 0};
    cpubind_irq_search search = {text, all, 0, msi, 3, 7, 0};
    cpubind_irq_goal goal[3];
    cpubind_source source;
    cpubind_problem problem;
    int32_t n = 0;

    memset(&source, 0, sizeof source);
    cpubind_problem_clear(&problem);
    if (cpubind_interrupts_parse(text, (int32_t)(sizeof text - 1), &list, NULL) !=
        CPUBIND_TEXT_OK)
        return 1;
    search.n_all = list.n;
    if (cpubind_ascend_irqs(&search, goal, &n) != CPUBIND_IRQ_FOUND)
        return 1;
    return n == 2 && goal[0].kind == CPUBIND_IRQ_SQ && goal[1].irq == 52 &&
                   strcmp(cpubind_role_word(CPUBIND_ROLE_IRQ), "irq") == 0 &&
                   source.read == NULL && problem.offset == -1
               ? 0
               : 1;
}
