/* messages.h - the one vocabulary of sentences: texts, and why a step failed
 * SPDX-License-Identifier: MIT
 *
 * A sentence says what, where, why, and what to do. What and where are the caller's; why and
 * what to do, for an error of the kernel or a step that says more than its error, are rows of
 * one table in messages.c. Nothing here prints, reads or allocates.
 */
#ifndef CPUBIND_WORDS_MESSAGES_H
#define CPUBIND_WORDS_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "../text/pci_address.h"

/* == Texts ================================================================== */

enum { API_MAX_QUOTE = 80 }; /* bytes of a text that is quoted in a message */

/* A message that is built in parts. A longer one is cut. */
typedef struct api_text {
    char text[4096];
    size_t len;
} api_text;

/* Appends to a message. Messages quote files and threads of other users, and are printed to
 * terminals and as JSON: "?" replaces every control character (line feeds only if the format
 * has none) and every byte that belongs to no character of UTF-8. */
__attribute__((format(printf, 2, 3))) void api_add(api_text *to, const char *format, ...);

/* The same for a call that has failed. Returns its exit status. */
__attribute__((format(printf, 3, 4))) int words_fail(int status, api_text *why,
                                                     const char *format, ...);

/* Appends a list as the kernel prints it; "none" when it is empty. */
void api_add_list(api_text *to, const int32_t *list, int32_t n);

/* Appends a PCI address: "0000:c1:00.0". */
void api_add_pci(api_text *to, const cpubind_pci_address *pci);

/* Appends `: "text"`, at most `max` bytes of it; nothing when it is empty. */
void words_add_quote(api_text *to, const char *text, int32_t len, int32_t max);

/* Appends a number of bytes: "1023K", "23.1G", at most five characters. */
void words_add_bytes(api_text *to, int64_t bytes);

/* Appends a number as people read it: four digits, or all before the point. */
void words_add_real(api_text *to, double number);

/* == Why ==================================================================== */

/* What a step was for, as bits: one error says another thing of each. */
enum words_about {
    WORDS_THREAD = 1 << 0,     /* of the process that is bound */
    WORDS_SHARED = 1 << 1,     /* a thread of the kernel, or of a process beside it */
    WORDS_IRQ = 1 << 2,        /* an interrupt of the device */
    WORDS_IRQBALANCE = 1 << 3, /* its socket */
    WORDS_MEMORY = 1 << 4,     /* pages of the process, and where new ones come from */
    WORDS_EVENTS = 1 << 5,     /* of threads, from the kernel */
    WORDS_PROCESS = 1 << 6,    /* finding it below /proc */
    WORDS_FORCE = 1 << 7,      /* a process that only --force binds */
    WORDS_RECORD = 1 << 8,     /* opening, reading or writing the record of a process */
    WORDS_DAMAGE = 1 << 9,     /* a line of a record: what should be there */
    WORDS_COMMAND = 1 << 10,   /* starting one */
    WORDS_INPUT = 1 << 11,     /* reading what a plan is made of */
    WORDS_SETTINGS = 1 << 12,  /* reading the file of the service */
    WORDS_FILE = 1 << 13,      /* opening a corpus */
    WORDS_CORPUS = 1 << 14,    /* writing one */
    WORDS_SERVICE = 1 << 15,   /* asking the service */
    WORDS_ASKED = 1 << 16,     /* what the service is asked for */
    WORDS_WORKER = 1 << 17,    /* comparing a worker with its pool */
    WORDS_OTHER = 1 << 18      /* anything else */
};

/* Appends why a step failed, and what helps where that is known: "open: Permission denied; run
 * it as root, on the host". */
void words_add_why(api_text *to, unsigned about, const char *step, int error);

/* Whether a call has failed because too many files are open: no file is at fault then. */
int words_is_out_of_files(int error);

/* Whether the caller lacks a right. */
int words_is_right_missing(int error);

#endif /* CPUBIND_WORDS_MESSAGES_H */
