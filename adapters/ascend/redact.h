/* redact.h - overwrite names and serial numbers in an input, keeping its length and layout
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Each byte is overwritten with "x": tables keep their widths, and the plan
 * of a redacted host is the same. Damaged text is redacted line by line and never refused.
 *
 * THE NAME OF THE HOST
 *   It is searched for without case, as a whole word: no letter, digit, "_" or "-" beside it.
 *   Of a name with dots the first part is searched for; a domain after that part is overwritten
 *   with it. A name that cannot be told from the text around it is left in place:
 *     - a name of one byte, without a letter, with a byte that no host name has, or longer than
 *       255 bytes;
 *     - a number of up to 10 hexadecimal digits, or 0x and digits (c1, cafe);
 *     - a word of the formats, with or without a number after it (node0, npu, aarch64), the
 *       name of a chip (910b3) or of an interrupt of the driver.
 *   A line with which npu-smi refuses is not changed: a refusal is known by its words. (A line
 *   of stderr is changed: no reader reads it.)
 */
#ifndef CPUBIND_ASCEND_REDACT_H
#define CPUBIND_ASCEND_REDACT_H

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many pieces were overwritten. Counts add up over calls. A piece that was all "x" before
 * does not count. */
typedef struct cpubind_redacted {
    int32_t host_names; /* the name of the host, as a whole word, in any input */
    int32_t
        serial_numbers; /* Serial Number, VDie ID, NDie ID, Die ID, UUID ... of boards; UUIDs of
                               GPUs, and those in lists of visible devices */
    int32_t process_names; /* of the process table of npu-smi info; Name: of a status; those of
                               the driver's summaries */
} cpubind_redacted;

/* Redacts one input.
 *   in      input: its name in the seam, or cmd/NAME.txt.err for the stderr of a command;
 *           text[0 .. len - 1], 0 <= len; host: the host's name, ended by NUL, or NULL when it
 *           is not known
 *   out     text, overwritten in place except blanks, control characters, bars and the serial
 *           number NA; *counts grew by the pieces that were overwritten
 *   after   a reader of this folder reads the same numbers, places and lengths from the text; a
 *           damaged text has the same status, perhaps with another place. In npu-smi info that
 *           holds unless lines are damaged or unknown: what may be the name of a process is
 *           overwritten. A second call changes nothing
 *   cost    O(len) times the length of the host's name */
void cpubind_redact(const char *input, char *text, int32_t len, const char *host,
                    cpubind_redacted *counts);

/* Whether cpubind_redact searches for this name of a host, ended by NUL. It does not search for
 * NULL, "", and the names listed above. */
int cpubind_redact_finds(const char *host);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_REDACT_H */
