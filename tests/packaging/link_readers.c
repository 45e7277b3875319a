/* link_readers.c - another project that includes the readers of text, and nothing else
 * SPDX-License-Identifier: MIT
 *
 * Compiled as C and as C++ against what `make install` put in place.
 */
#include <stdio.h>
#include <string.h>

#include <cpubind/ascend/cpubind_ascend.h>

static const char map[] = "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                          "\t4        0         0               Ascend 910B4\n"
                          "\t4        1         -               Mcu\n"
                          "\t6        0         1               Ascend 910B4\n";

static const char broken[] = "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                             "\t4        zero      0               Ascend 910B4\n";

static char block[4096];

static int reads_the_map(void)
{
    cpubind_arena arena = {block, sizeof block, 0};
    cpubind_npusmi_rows rows;

    return cpubind_npusmi_parse_map(map, (int32_t)strlen(map), &arena, &rows, NULL) ==
               CPUBIND_TEXT_OK &&
           rows.n == 2 && rows.row[1].card == 6 && rows.row[1].logic == 1;
}

static int says_where_it_is_broken(void)
{
    cpubind_arena arena = {block, sizeof block, 0};
    cpubind_text_fault fault;
    cpubind_position at;
    cpubind_npusmi_rows rows;

    if (cpubind_npusmi_parse_map(broken, (int32_t)strlen(broken), &arena, &rows, &fault) !=
        CPUBIND_TEXT_ERR_SYNTAX)
        return 0;
    at = cpubind_text_place(broken, (int32_t)strlen(broken), fault.offset);
    printf("line %d, column %d: %s\n", (int)at.line, (int)at.column, fault.what);
    return at.line == 2 && at.column == 11;
}

static int reads_lists_and_interrupts(void)
{
    static const char rows[] =
        "           CPU0       CPU1\n"
        " 12:          3          0   ITS-MSI 7 Edge      cq_update_irq\n";
    cpubind_interrupt irq[1];
    int32_t cpu[4];
    cpubind_interrupt_list irqs = {irq, 1, 0, 0};
    cpubind_int_list cpus = {cpu, 4, 0};

    return cpubind_cpulist_parse("0-2,7", 5, 64, &cpus, NULL) == CPUBIND_TEXT_OK &&
           cpus.n == 4 && cpu[3] == 7 &&
           cpubind_interrupts_parse(rows, (int32_t)strlen(rows), &irqs, NULL) ==
               CPUBIND_TEXT_OK &&
           irqs.n == 1 && irqs.n_cpu == 2 && irq[0].irq == 12;
}

int main(void)
{
    return reads_the_map() && says_where_it_is_broken() && reads_lists_and_interrupts() ? 0 : 1;
}
