/* record_text.h - a state as the text of its file, both ways
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. What is written is read back equal. Names hold any bytes, and JSON
 * holds characters: byte b of a name is the character U+00b, which is escaped from U+007F on.
 */
#ifndef CPUBIND_LINUX_RECORD_TEXT_H
#define CPUBIND_LINUX_RECORD_TEXT_H

#include "../kernel/bytes.h"
#include "record.h"

#define CPUBIND_RECORD_FORMAT 1

/* The text of a state.
 *   out     `out`, empty before, holds it; undefined on failure, to be freed all the same
 *   errors  ERR_MEMORY; ERR_ARG: a state that could not be read back; ERR_STATE with EFBIG
 *   cost    O(length of the text); one allocation besides */
cpubind_linux_status cpubind_priv_record_format(const cpubind_record *state,
                                                const cpubind_sys *sys, cpubind_bytes *out,
                                                cpubind_linux_fault *fault);

/* The state of a text.
 *   out     *out, all zero on failure
 *   errors  ERR_MEMORY; ERR_DAMAGED with EILSEQ, "what" being the member that is wrong
 *   cost    O(length + threads log threads), and of each list as cpu_sets.h has it */
cpubind_linux_status cpubind_priv_record_parse(const char *text, int32_t len,
                                               const cpubind_sys *sys, cpubind_record *out,
                                               cpubind_linux_fault *fault);

/* The orders of the arrays, below, at or above 0. */
int cpubind_priv_record_thread_order(const cpubind_record_thread *a,
                                     const cpubind_record_thread *b);
int cpubind_priv_record_other_order(const cpubind_record_other *a,
                                    const cpubind_record_other *b);
int cpubind_priv_record_irq_order(const cpubind_record_irq *a, const cpubind_record_irq *b);

#endif /* CPUBIND_LINUX_RECORD_TEXT_H */
