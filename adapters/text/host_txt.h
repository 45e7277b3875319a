/* host_txt.h - reader of host.txt, the description of a fixture host
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   host.txt = 5*5( key ": " value LF )        each key once, in any order; the last LF may
 *                                              be missing
 *   key      = "name" / "product" / "origin" / "npu-smi" / "notes"
 *   value    = 1*byte                          no control character; "name" as below, "origin"
 *                                              "captured", "documented" or "synthetic"
 *   name     = alnum *( alnum / "-" / "." / "_" )     up to CPUBIND_HOST_TXT_NAME_MAX bytes
 */
#ifndef CPUBIND_TEXT_HOST_TXT_H
#define CPUBIND_TEXT_HOST_TXT_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Longest name of a host or of an expectation, in bytes: with ".json" it is a file name. */
#define CPUBIND_HOST_TXT_NAME_MAX 200

/* (member, key), in the order in which a host.txt is written. */
#define CPUBIND_HOST_TXT_LIST(X)                                                               \
    X(name, "name")                                                                            \
    X(product, "product")                                                                      \
    X(origin, "origin")                                                                        \
    X(npu_smi, "npu-smi")                                                                      \
    X(notes, "notes")

/* The values, as slices of the text. */
typedef struct cpubind_host_txt {
#define CPUBIND_X(member, key) cpubind_piece member;
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_host_txt;

/* Reads host.txt.
 *   out     *out
 *   errors  ERR_ARG; ERR_SYNTAX (a key unknown or twice, a value empty or not as above);
 *           ERR_MISSING, at the end of the text: a key that is not there
 *   cost    O(len) */
cpubind_text_status cpubind_host_txt_parse(const char *text, int32_t len, cpubind_host_txt *out,
                                           cpubind_text_fault *fault);

/* Whether a text, ended by NUL, may name a host or an expectation. */
int cpubind_host_txt_is_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_HOST_TXT_H */
