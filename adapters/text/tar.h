/* tar.h - entries of a tar archive, and the header of an entry
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. An archive may come from a stranger: an entry that a host folder cannot
 * have is refused, and so is a name that leads out of a folder. Nothing is written to any
 * folder.
 *
 * GRAMMAR (POSIX.1-1988 ustar, with the long names of pax and of GNU tar)
 *   archive = *entry 1*zeros           nothing but zeros after the first block of zeros
 *   entry   = header data              data are padded with any bytes to whole blocks of 512
 *   header  = 512 bytes; checksum, sizes in octal; "ustar" as magic
 *   kinds   = "0", NUL, "7": a file; "5": a folder; "x": pax records, of which "path" names the
 *             next entry, and "size" is refused; "g": skipped; "L": the name of the next entry
 *   name    = an input's name (input_name.h) after "./" at its start; a folder's may end in "/"
 */
#ifndef CPUBIND_TEXT_TAR_H
#define CPUBIND_TEXT_TAR_H

#include "input_name.h"
#include "text.h"

#define CPUBIND_TAR_BLOCK 512

/* An entry: a file or a folder. */
typedef struct cpubind_tar_entry {
    char name[CPUBIND_INPUT_NAME_MAX + 1]; /* ended by NUL; "": the archive has ended */
    cpubind_slice data;                    /* of a file */
    int32_t is_folder;
} cpubind_tar_entry;

/* Steps to the next entry.
 *   in      *at: 0, or as the last call has left it
 *   out     *out, and *at behind the entry; a name "" at the end
 *   errors  ERR_ARG; ERR_SYNTAX; ERR_CUT: the archive is cut off; fault->offset is that of the
 *           header at fault. *at is as before, *out undefined
 *   cost    O(1) an entry; O(length) of long names */
cpubind_text_status cpubind_tar_next(const char *text, int32_t len, int32_t *at,
                                     cpubind_tar_entry *out, cpubind_text_fault *fault);

/* Bytes of the largest header: a pax header, its record and the header of the file. */
#define CPUBIND_TAR_HEADER_MAX (3 * CPUBIND_TAR_BLOCK + CPUBIND_INPUT_NAME_MAX + 64)

/* Writes the header of a file of mode 0644 and owner 0; a name over 100 bytes has a pax header.
 *   in      name: an input's name, ended by NUL; size >= 0; 0 <= seconds: since 1970
 *   out     out[0 .. CPUBIND_TAR_HEADER_MAX - 1]
 *   returns its bytes, whole blocks */
int32_t cpubind_tar_header(const char *name, int32_t size, int64_t seconds, char *out);

#endif /* CPUBIND_TEXT_TAR_H */
