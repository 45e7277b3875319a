/* irqbalance_reply.h - reader of the reply to "setup" on the socket of irqbalance
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR  (irqbalance(1), "API"; the keys of an interrupt differ between versions)
 *   setup  = "SLEEP " number " " *( irq " " ) "BANNED " mask [ LF ] *NUL
 *   irq    = "IRQ " number *( " " KEY " " integer )       KEY: capitals, not IRQ, not BANNED
 *   number = "0" / ( "1".."9" *DIGIT )
 *   integer = [ "-" ] 1*DIGIT
 *   mask   = *( HEXDIG / "," )                            the CPUs that irqbalance does not use
 */
#ifndef CPUBIND_TEXT_IRQBALANCE_REPLY_H
#define CPUBIND_TEXT_IRQBALANCE_REPLY_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the interrupts that irqbalance was told not to move.
 *   out     list->out[0 .. list->n - 1], in the order of the text; a number may occur twice
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE; ERR_CUT when the text ends before "BANNED ";
 *           ERR_SPACE with list->n
 *   cost    O(len) */
cpubind_text_status cpubind_irqbalance_parse(const char *text, int32_t len,
                                             cpubind_int_list *list, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_IRQBALANCE_REPLY_H */
