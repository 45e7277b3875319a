/* doctor_inputs.h - what a capture keeps of the inputs that cpubind doctor alone reads
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. input_list.h has which these are.
 */
#ifndef CPUBIND_ASCEND_DOCTOR_INPUTS_H
#define CPUBIND_ASCEND_DOCTOR_INPUTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Removes what no check reads from the bytes of such an input, before anybody keeps them:
 * environments and command lines hold keys and tokens.
 *   environ    the variables that pin threads stay, and those that tell ranks and devices
 *   cmdline    words of engines and of irqbalance stay, and counts, with names of folders and
 *              all other values removed; "x" stands for each other word
 *   mountinfo  the mounts of /proc and below it stay
 *   others     all bytes stay
 *   in         text[0 .. len - 1]; changed in place
 *   returns    the new length, at most len
 *   after      doctor finds the same */
int32_t cpubind_doctor_input_distill(const char *name, char *text, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_DOCTOR_INPUTS_H */
