/* record_text.h - a record as the text of its file, both ways
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. The grammar is in record_text.c. What is written is read back
 * equal, and no text but that one is read as this record.
 */
#ifndef CPUBIND_LINUX_RECORD_TEXT_H
#define CPUBIND_LINUX_RECORD_TEXT_H

#include "../kernel/bytes.h"
#include "record.h"

#define CPUBIND_RECORD_FORMAT "2"

/* The text of a record.
 *   out     `out`, empty before, holds it; undefined on failure, to be freed all the same
 *   errors  ERR_MEMORY; ERR_ARG: a record that could not be read back; ERR_STATE with EFBIG
 *   cost    O(length of the text) */
cpubind_linux_status cpubind_priv_record_format(const cpubind_record *state,
                                                const cpubind_sys *sys, cpubind_bytes *out,
                                                cpubind_linux_fault *fault);

/* The record of a text.
 *   out     *out, all zero on failure; *line, from 1: the last line that was read
 *   errors  ERR_MEMORY; ERR_DAMAGED with EILSEQ, fault->what being the first word of the line
 *           that is wrong, or missing; "line" when it begins with no known word, "format" for
 *           another format, "older" for the JSON of cpubind 0.1, "end" for bytes after the sum
 *   cost    O(length x sets) */
cpubind_linux_status cpubind_priv_record_parse(const char *text, int32_t len,
                                               const cpubind_sys *sys, cpubind_record *out,
                                               int32_t *line, cpubind_linux_fault *fault);

/* The order of UVB threads: by tid, then start. Below, at or above 0. */
int cpubind_priv_record_other_order(const cpubind_record_other *a,
                                    const cpubind_record_other *b);

#endif /* CPUBIND_LINUX_RECORD_TEXT_H */
