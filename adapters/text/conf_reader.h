/* conf_reader.h - the text of /etc/cpubind.conf: rows of a key and a value, and their places
 * SPDX-License-Identifier: MIT
 *
 * Knows no key: adapters/api/settings.c looks keys up among the options of the command, and
 * reads a value as the option of that name does.
 */
#ifndef CPUBIND_TEXT_CONF_READER_H
#define CPUBIND_TEXT_CONF_READER_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One row: the places of its key and of its value, without quotes. */
typedef struct cpubind_conf_row {
    cpubind_piece key;
    cpubind_piece value;
} cpubind_conf_row;

typedef enum cpubind_conf_step {
    CPUBIND_CONF_END = 0, /* no row is left */
    CPUBIND_CONF_ROW = 1,
    CPUBIND_CONF_FAULT = 2 /* the line is no row; the reader may go on with the next line */
} cpubind_conf_step;

/* Reads the next row, from *at on; *at is 0 before the first row.
 *   in      a text of at most CPUBIND_TEXT_MAX bytes; 0 <= *at <= len
 *   out     *at is behind the line that was read, so that a caller finds all faults of a text;
 *           *row after ROW; *fault, which may be NULL, after FAULT
 *   cost    O(bytes read) */
cpubind_conf_step cpubind_conf_next(const char *text, int32_t len, int32_t *at,
                                    cpubind_conf_row *row, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_CONF_READER_H */
