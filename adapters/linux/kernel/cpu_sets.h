/* cpu_sets.h - sets of CPUs, each kept once and known by its number
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. A process of a thousand threads has a handful of masks, so each
 * set is kept once: two sets are equal when their numbers are equal. CPUs are 0 ..
 * CPUBIND_MAX_CPUS - 1, as wide as any kernel's mask. A set of words may be empty: that is the
 * answer of sched_getaffinity(2) for a thread whose CPUs are all offline. Each set has a mask
 * (for system calls and comparing), a list (for callers) and a text (for reports, records and
 * /proc).
 */
#ifndef CPUBIND_LINUX_CPU_SETS_H
#define CPUBIND_LINUX_CPU_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "../linux.h"
#include "../sys.h"

#define CPUBIND_WORD_BITS ((int32_t)(8 * sizeof(unsigned long)))

/* One set. Never changes, and lives until the table is freed. */
typedef struct cpubind_cpu_set {
    unsigned long *word; /* the mask: bit c % CPUBIND_WORD_BITS of word c / CPUBIND_WORD_BITS */
    int32_t n_word;      /* up to the last word that is not 0 */
    int32_t *cpu;        /* ascending */
    int32_t n;           /* 0: empty */
    char *text;          /* "0-3,8", NUL-terminated; "none" when empty */
} cpubind_cpu_set;

/* All zero is an empty table. */
typedef struct cpubind_cpu_sets {
    cpubind_cpu_set *set;
    int32_t n, cap;
} cpubind_cpu_sets;

/* The number of no set. */
enum { CPUBIND_CPUSET_NONE = -1 };

/* The number of a set of this list; a new set is added.
 *   in      cpu[0 .. n - 1] strictly ascending
 *   out     *set; NONE on failure
 *   errors  EILSEQ, "CPUs": the list is empty or out of order; ENOMEM, "memory". The table is
 *           as it was then
 *   cost    O(n + sets x words) */
cpubind_linux_fault cpubind_cpu_sets_of_list(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                             const int32_t *cpu, int32_t n, int32_t *set);

/* The same for the words of a mask, as sched_getaffinity(2) fills them; it may be empty.
 *   errors  EILSEQ, "CPUs": it is wider than any kernel's; ENOMEM, "memory" */
cpubind_linux_fault cpubind_cpu_sets_of_words(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                              const unsigned long *word, int32_t n_word,
                                              int32_t *set);

/* The same for a kernel list, "0-3,8" with or without a line feed. */
cpubind_linux_fault cpubind_cpu_sets_of_text(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                             const char *text, int32_t len, int32_t *set);

/* The number of a value that is no list of CPUs: 1 to 65,535 bytes '!' to '~'. It is kept as a
 * set without CPUs, whose text has "=" before the value.
 *   errors  EILSEQ, "value"; ENOMEM, "memory" */
cpubind_linux_fault cpubind_cpu_sets_of_value(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                              const char *value, int32_t len, int32_t *set);
int cpubind_cpu_sets_is_value(const cpubind_cpu_sets *sets, int32_t set);

/* The text of a set, "none" for NONE. */
const char *cpubind_cpu_sets_text(const cpubind_cpu_sets *sets, int32_t set);

/* The set of the CPUs that two sets have in common, perhaps empty.
 *   errors  ENOMEM, "memory" */
cpubind_linux_fault cpubind_cpu_sets_common(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                            int32_t a, int32_t b, int32_t *set);

/* Whether every CPU of set `part` is in set `whole`. */
int cpubind_cpu_sets_is_part(const cpubind_cpu_sets *sets, int32_t part, int32_t whole);

void cpubind_cpu_sets_free(cpubind_cpu_sets *sets);

#endif /* CPUBIND_LINUX_CPU_SETS_H */
