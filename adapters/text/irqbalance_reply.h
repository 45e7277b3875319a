/* irqbalance_reply.h - what irqbalance answers to "setup" on its socket
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR  (irqbalance(1), "API"; versions differ in what they say of an interrupt)
 *   setup  = "SLEEP " number " " *( irq " " ) "BANNED " mask [ LF ] *NUL
 *   irq    = "IRQ " number *( " " KEY " " integer )       KEY: capitals, not IRQ, not BANNED
 *   number = "0" / ( "1".."9" *DIGIT )
 *   integer = [ "-" ] 1*DIGIT
 *   mask   = *( HEXDIG / "," )                            the CPUs that it leaves alone
 */
#ifndef CPUBIND_TEXT_IRQBALANCE_REPLY_H
#define CPUBIND_TEXT_IRQBALANCE_REPLY_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The interrupts that it leaves alone because it was told to.
 *   out     out[0 .. *out_n - 1], in the order of the text; one may be there twice
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE; ERR_CUT when the text ends before "BANNED ";
 *           ERR_SPACE with *out_n, `out` untouched
 *   cost    O(len) */
cpubind_text_status cpubind_irqbalance_parse(const char *text, int32_t len, int32_t *out,
                                             int32_t cap, int32_t *out_n,
                                             cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_IRQBALANCE_REPLY_H */
