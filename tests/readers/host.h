/* host.h - a host in memory, made of the text of an input, for the rows of whole paths
 * SPDX-License-Identifier: MIT
 *
 * The text is one of entries. A line "==" SP name starts an entry, which ends before the next
 * such line. Another byte in place of the second "=" means: "-" without the last line feed; "!"
 * the file cannot be read; "p" only root may read the file; "t" the command does not end in
 * time; "l" the output is too long; "1" .. "9" the exit code of the command. What is before the
 * first entry belongs to the row.
 */
#ifndef CPUBIND_TESTS_READERS_HOST_H
#define CPUBIND_TESTS_READERS_HOST_H

#include "../../adapters/source.h"
#include "readers.h"

enum { MAX_ENTRIES = 256 };

typedef struct host_entry {
    char *name; /* ended by NUL */
    char *data; /* allocation of the exact size */
    int32_t len;
    char mark; /* '=', '-', '!', 'p', 't', 'l' or a digit */
} host_entry;

/* A folder that was listed; later calls get the same. */
typedef struct host_listing {
    char *name, *lines;
    int32_t len;
    struct host_listing *next;
} host_listing;

typedef struct text_host {
    host_entry entry[MAX_ENTRIES];
    int32_t n;
    host_listing *listed;
    int32_t head; /* bytes of the text before its first entry */
} text_host;

/* Takes the entries of a text. Leaves out one whose name is no name of an input, and the second
 * of a name. */
void host_open(text_host *h, const char *text, int32_t len);
void host_close(text_host *h);

cpubind_source host_source(text_host *h);

/* The end of the line at `at`: its line feed, or `end`. */
const char *line_end(const char *at, const char *end);

#endif
