/* view_law.h - the law over pairs of views: two processes of a host never take the same CPU
 * SPDX-License-Identifier: MIT
 *
 * A case is a host and some views of it, made from LAW_BYTES bytes. view_law_check plans every
 * view and holds each pair of plans, and each plan alone, against the law; the text of a broken
 * one says which pools share a CPU. It must not depend on anything but the bytes.
 */
#ifndef CPUBIND_TESTS_LAWS_VIEW_LAW_H
#define CPUBIND_TESTS_LAWS_VIEW_LAW_H

#include <stdio.h>

#include "random_view.h"

enum { LAW_TEXT = 160 };

/* The plan of a view, by devices: NPUs by phy id, then GPUs by address. */
typedef struct view_plan {
    cpubind_problem_code code;
    cpubind_problem problem;
    uint64_t warnings;
    cpubind_origin origin;
    cpubind_strategy strategy;
    uint32_t has_pool; /* a bit for each device with a pool */
    cpu_bits pool[HOST_DEVICES];
    cpu_bits irq[HOST_DEVICES];  /* of a pool, for interrupts */
    cpu_bits part[HOST_DEVICES]; /* of a pool, what this process has for itself */
    cpu_bits kept;
    cpu_bits beside;           /* the CPUs of the engine */
    int32_t rank_phy;          /* of the NPU that the rank drives, or -1 */
    int32_t n_unknown;         /* rows of NPUs that the view does not have */
    int32_t has_failed;        /* the failing input was asked for */
    char broken[LAW_TEXT / 2]; /* a law of this plan alone that it breaks, or empty */
} view_plan;

/* What all cases of a run came to. */
typedef struct law_counts {
    int64_t cases, views, pairs;
    int64_t both;           /* pairs with two plans */
    int64_t equal;          /* pools that both plans of a pair have, and that are the same */
    int64_t excused[16];    /* pairs that would break the law, by the row that excuses them */
    int64_t refused[2][32]; /* views, [is_fair][code] */
    int64_t fair;           /* views that must have a plan */
    int64_t by_driver;      /* plans from the driver's files */
    int64_t by_near;        /* pairs with two plans by the rules near */
    int64_t mixed;          /* plans with a pool of a GPU */
    int64_t gpus_alone;     /* plans of processes without an NPU */
    int64_t parts;          /* pools that two processes of an NPU share in a pair */
} law_counts;

typedef struct law_case {
    random_host host;
    host_view view[LAW_VIEWS];
    view_plan plan[LAW_VIEWS];
    char broken[LAW_TEXT]; /* the law that is broken, and how; empty: none */
    uint32_t is_broken;    /* then a bit for each view that breaks it */
} law_case;

/* Plans the views of a case and checks the laws. Returns 1 when they hold. `counts` may be
 * NULL. */
int view_law_hold(law_case *c, law_counts *counts);

/* Makes a case from `len` bytes, plans its views and checks the laws. Returns 1 when they hold.
 * `counts` may be NULL. */
int view_law_check(const uint8_t *bytes, size_t len, law_case *out, law_counts *counts);

/* Makes the bytes of a broken case as simple as it can be and stay broken. */
void view_law_shrink(uint8_t *bytes, law_case *work);

/* Prints the broken law with its host and its views; a view with its plan. */
void view_law_print(FILE *out, const law_case *c);
void view_law_print_view(FILE *out, const law_case *c, int32_t i);
void view_law_print_counts(FILE *out, const law_counts *counts);

/* Plans one view. */
void view_law_plan(const host_view *view, view_plan *out);

#endif
