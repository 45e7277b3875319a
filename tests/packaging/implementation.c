/* implementation.c - the one file of a program that has the public copy
 * SPDX-License-Identifier: MIT
 */
#define CPUBIND_IMPLEMENTATION
#include "../../cpubind.h"
