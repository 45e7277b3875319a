/* irq_lookup.c - finds the present number of an interrupt, and moves it
 * SPDX-License-Identifier: MIT
 *
 * A number is that of another interrupt after its driver was loaded again. So an interrupt is
 * found by its function, name and index at each call, and looked up again before each write.
 */
#include <errno.h>
#include <string.h>

#include "binding.h"

static int is_listed(const cpubind_binding *b, const cpubind_irq_id *id)
{
    return strcmp(b->listed.name, id->name) == 0 &&
           strcmp(b->listed.function, id->function) == 0;
}

cpubind_linux_fault cpubind_find_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t *irq)
{
    if (!is_listed(b, id)) {
        const cpubind_linux_fault why = cpubind_irq_list(&b->root, id, &b->listed_irqs);
        b->listed.name[0] = '\0';
        if (why.error)
            return why;
        b->listed = *id;
    }
    if (id->index >= b->listed_irqs.n)
        return cpubind_fault_of(ENOENT, "gone");
    *irq = b->listed_irqs.id[id->index];
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_write_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t irq,
                                      int32_t set)
{
    const cpubind_linux_fault why = cpubind_irq_check(&b->root, id, irq);
    return why.error ? why : cpubind_irq_write(&b->root, irq, &b->record.sets.set[set]);
}
