/* plugin_core.c - the implementation inside a library that embeds the header HEADER
 * SPDX-License-Identifier: MIT
 */
#define CPUBIND_IMPLEMENTATION
#include HEADER
