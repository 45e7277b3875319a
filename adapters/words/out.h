/* out.h - a text of any length
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. A text whose memory runs out says so in is_short, once for all calls.
 */
#ifndef CPUBIND_WORDS_OUT_H
#define CPUBIND_WORDS_OUT_H

#include <stddef.h>
#include <stdint.h>

/* A text that grows. All zero is empty; the caller frees `text`. */
typedef struct api_out {
    char *text; /* ends with NUL; NULL before the first byte */
    size_t len, size;
    int is_short;    /* memory ran out for some part of it */
    int32_t columns; /* of the screen that it is for; 0: 80 */
    int is_file;     /* it is for no screen: the lines of its tables are whole */
    int has_colour;  /* it is for a terminal with colours */
} api_out;

/* Appends as printf does; no byte is replaced. */
__attribute__((format(printf, 2, 3))) void api_put(api_out *to, const char *format, ...);
void api_put_text(api_out *to, const char *text);
void api_put_bytes(api_out *to, const char *bytes, size_t n);

/* Appends a text from column `at` on and a line feed; goes to the next line, indented, after a
 * blank or a comma before the line would be longer than `columns`. */
void api_put_wrapped(api_out *to, const char *text, int32_t at, int32_t indent,
                     int32_t columns);

#endif /* CPUBIND_WORDS_OUT_H */
