/* nvidia_files.h - the files that the NVIDIA driver adds to /proc
 * SPDX-License-Identifier: MIT
 *
 * Pure: see ../text/text.h. The files are /proc/driver/nvidia/gpus/ADDRESS/information and
 * numa_status; both may be read by every user.
 *
 * GRAMMAR
 *   file = *( line LF )          the last line may lack its LF
 *   line = key ":" value         blanks around the value do not count
 *   A line without a colon is noise. Drivers add keys with each release.
 */
#ifndef CPUBIND_PCI_NVIDIA_FILES_H
#define CPUBIND_PCI_NVIDIA_FILES_H

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the value of a key, such as "GPU UUID".
 *   in      key: ended by NUL, without a colon
 *   out     *out, a slice of the text; the value may be empty. The first line of the key counts
 *   errors  ERR_ARG; ERR_MISSING without such a line; ERR_SYNTAX for a value that holds a
 *           control character
 *   cost    O(len) */
cpubind_text_status cpubind_nvidia_find(const char *text, int32_t len, const char *key,
                                        cpubind_piece *out, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_NVIDIA_FILES_H */
