/* redact.h - taking names out of an input, each byte where it was
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. What is taken out is overwritten with "x", byte by byte: widths, and with
 * them all tables, stay as they are, and so does the plan. Damaged text is redacted as far as
 * its lines can be told apart: nothing here refuses.
 *
 * THE NAME OF THE HOST
 *   Letters of either case, as a whole word: no letter, digit, "_" or "-" beside it. Of a name
 *   with dots its first part is looked for, and wherever it stands, the domain behind it goes
 *   with it. A name cannot be told from the text around it, and is left there, when
 *     - it has one byte, no letter, bytes that no host name has, or more than 255 of them;
 *     - it is a number of up to 10 hexadecimal digits, or 0x and digits (c1, cafe);
 *     - it is a word of the formats, also with a number behind it (node0, npu, aarch64), the
 *       name of a chip (910b3) or of an interrupt of the driver.
 *   A line with which npu-smi refuses is left as it is: a refusal is known by its words.
 */
#ifndef CPUBIND_ASCEND_REDACT_H
#define CPUBIND_ASCEND_REDACT_H

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was taken out, in pieces. Counts add up over calls. A piece that is all "x" was taken
 * out before, and does not count again. */
typedef struct cpubind_redacted {
    int32_t host_names;     /* the name of the host, as a whole word, in any input */
    int32_t serial_numbers; /* Serial Number, VDie ID, NDie ID, Die ID, UUID ... of boards */
    int32_t process_names;  /* of the process table of npu-smi info; Name: of a status */
} cpubind_redacted;

/* Redacts one input.
 *   in      input: its name in the seam; text[0 .. len - 1], 0 <= len; host: the host's name,
 *           ended by NUL, or NULL when it is not known
 *   out     text, overwritten in place; *counts has grown by what was overwritten. Blanks,
 *           control characters and bars stay, and so does a serial number NA: there is none
 *   after   a reader of this folder that could read the text reads the same of it: numbers,
 *           places and lengths. A second call changes nothing
 *   cost    O(len) times the length of the host's name */
void cpubind_redact(const char *input, char *text, int32_t len, const char *host,
                    cpubind_redacted *counts);

/* Whether a name of a host, ended by NUL, is looked for: it can be told from the text around
 * it, as above. NULL and "" are not. */
int cpubind_redact_finds(const char *host);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_REDACT_H */
