/* public_copy.h - what static_beside_extern.c asks of the public copy
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_PUBLIC_COPY_H
#define CPUBIND_TESTS_PUBLIC_COPY_H

#include <stdint.h>

typedef int32_t (*version_function)(void);

/* cpubind_version of implementation.c. */
version_function public_version(void);

#endif
