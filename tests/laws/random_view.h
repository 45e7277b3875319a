/* random_view.h - random views of a random host, for the law over pairs of views
 * SPDX-License-Identifier: MIT
 *
 * A case is a host and LAW_VIEWS views of it, made from LAW_BYTES bytes: those of the host, of
 * what the views share, and of each view.
 */
#ifndef CPUBIND_TESTS_LAWS_RANDOM_VIEW_H
#define CPUBIND_TESTS_LAWS_RANDOM_VIEW_H

#include <stddef.h>

#include "host_view.h"

enum {
    LAW_VIEWS = 4,       /* of a host */
    LAW_SHARED = 24,     /* bytes for what the views of a case share */
    LAW_VIEW_BYTES = 46, /* for each view */
    LAW_BYTES = HOST_BYTES + LAW_SHARED + LAW_VIEWS * LAW_VIEW_BYTES
};

/* Makes the host and its views; bytes that are not there count as 0. */
void random_views_make(const uint8_t *bytes, size_t len, random_host *host, host_view *view);

#endif
