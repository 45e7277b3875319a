/* mend_record.h - the record of what cpubind doctor --fix has changed
 * SPDX-License-Identifier: MIT
 *
 * Private to mend.c and mend_text.c.
 */
#ifndef CPUBIND_LINUX_MEND_RECORD_H
#define CPUBIND_LINUX_MEND_RECORD_H

#include "../kernel/bytes.h"
#include "../kernel/files.h"
#include "mend.h"

/* A change that is or may be in effect. Texts are malloc(3)'s. */
typedef struct cpubind_mend_entry {
    cpubind_change_kind kind;
    char *file;
    char *before, *after; /* values; NULL for a ban */
    int32_t pid, tid, irq;
    uint64_t start;  /* of the thread or irqbalance: field 22 of its stat */
    char *old_after; /* of an entry that was on record before; not in the file */
    int is_kept;     /* the file has it, or shall have it */
} cpubind_mend_entry;

typedef struct cpubind_mend_record {
    char boot[64]; /* as in cpubind_record */
    cpubind_mend_entry *entry;
    int32_t n, cap;
} cpubind_mend_record;

void cpubind_mend_record_free(cpubind_mend_record *record);

/* Whether a change may name this file: one of the three of host_change.h. */
int cpubind_mend_is_file(const char *name);

/* Whether a value can be on record: 1 to 65,535 bytes, '!' to '~'. */
int cpubind_mend_is_value(const char *value);

/* Writes the text of the entries that are kept. Reading it gives an equal record, and no other
 * text does.
 *   errors  ENOMEM, "memory"; EINVAL, "argument"; EFBIG, "write" */
cpubind_linux_fault cpubind_mend_format(const cpubind_mend_record *record,
                                        const cpubind_sys *sys, cpubind_bytes *out);

/* Reads the record of a text.
 *   out     *out, all zero on failure
 *   errors  ENOMEM, "memory"; EILSEQ with the line, as cpubind_shared_parse has them */
cpubind_linux_fault cpubind_mend_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                       cpubind_mend_record *out);

#endif /* CPUBIND_LINUX_MEND_RECORD_H */
