/* cpu_sets.c - sets of CPUs, each kept once and known by its number
 * SPDX-License-Identifier: MIT
 *
 * Allocates memory through the table of sys.h; makes no other system call.
 */
#include "cpu_sets.h"

#include <stdlib.h>
#include <string.h>

#include "../../text/cpulist.h"
#include "bytes.h"
#include "files.h"

/* Words of the widest mask. */
#define MAX_WORDS (CPUBIND_MAX_CPUS / CPUBIND_WORD_BITS)

/* Bytes of the longest value. */
#define VALUE_MAX 65535

static const cpubind_linux_fault no_set = {EILSEQ, "CPUs", 0};
static const char none[] = "none";

static void free_set(cpubind_cpu_set *set)
{
    free(set->word);
    free(set->cpu);
    free(set->text);
}

/* Adds a set, whose memory is the list's then; without memory it is freed. */
static cpubind_linux_fault add(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                               cpubind_cpu_set *added, int32_t *set)
{
    const cpubind_linux_fault why = CPUBIND_APPEND(sys, sets->set, sets->n, sets->cap, added);
    if (why.error)
        free_set(added);
    else
        *set = sets->n - 1;
    return why;
}

/* Makes the three forms of a set. Returns 0 without memory: then it is to be freed. */
static int fill(cpubind_cpu_set *set, const cpubind_sys *sys, const unsigned long *word,
                int32_t n_word)
{
    int32_t n = 0, len = 0;
    for (int32_t i = 0; i < n_word; i++)
        for (unsigned long rest = word[i]; rest; rest &= rest - 1)
            n++;
    *set = (cpubind_cpu_set){.n_word = n_word, .n = n};
    set->word = sys->malloc((size_t)(n_word + 1) * sizeof *word);
    set->cpu = sys->malloc((size_t)(n + 1) * sizeof *set->cpu);
    if (!set->word || !set->cpu)
        return 0;
    memcpy(set->word, word, (size_t)n_word * sizeof *word);
    n = 0;
    for (int32_t cpu = 0; cpu < n_word * CPUBIND_WORD_BITS; cpu++)
        if (word[cpu / CPUBIND_WORD_BITS] >> cpu % CPUBIND_WORD_BITS & 1ul)
            set->cpu[n++] = cpu;
    (void)cpubind_cpulist_format(set->cpu, n, NULL, 0, &len);
    set->text = sys->malloc((size_t)len + sizeof none);
    if (!set->text)
        return 0;
    memcpy(set->text, none, sizeof none);
    if (n == 0)
        return 1;
    (void)cpubind_cpulist_format(set->cpu, n, set->text, len, &len);
    set->text[len] = '\0';
    return 1;
}

cpubind_linux_fault cpubind_cpu_sets_of_words(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                              const unsigned long *word, int32_t n_word,
                                              int32_t *set)
{
    cpubind_cpu_set added;
    *set = CPUBIND_CPUSET_NONE;
    while (n_word > 0 && word[n_word - 1] == 0)
        n_word--;
    if (n_word > MAX_WORDS)
        return no_set;
    for (int32_t i = 0; i < sets->n; i++) {
        if (sets->set[i].n_word == n_word &&
            memcmp(sets->set[i].word, word, (size_t)n_word * sizeof *word) == 0) {
            *set = i;
            return cpubind_no_fault;
        }
    }
    if (fill(&added, sys, word, n_word))
        return add(sets, sys, &added, set);
    free_set(&added);
    return cpubind_fault_of(ENOMEM, "memory");
}

cpubind_linux_fault cpubind_cpu_sets_of_list(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                             const int32_t *cpu, int32_t n, int32_t *set)
{
    unsigned long word[MAX_WORDS];
    int32_t n_word;
    *set = CPUBIND_CPUSET_NONE;
    if (n < 1 || cpu[0] < 0 || cpu[n - 1] >= CPUBIND_MAX_CPUS)
        return no_set;
    n_word = cpu[n - 1] / CPUBIND_WORD_BITS + 1;
    memset(word, 0, (size_t)n_word * sizeof *word);
    for (int32_t i = 0; i < n; i++) {
        if (cpu[i] > cpu[n - 1] || (i > 0 && cpu[i] <= cpu[i - 1]))
            return no_set;
        word[cpu[i] / CPUBIND_WORD_BITS] |= 1ul << cpu[i] % CPUBIND_WORD_BITS;
    }
    return cpubind_cpu_sets_of_words(sets, sys, word, n_word, set);
}

cpubind_linux_fault cpubind_cpu_sets_of_text(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                             const char *text, int32_t len, int32_t *set)
{
    cpubind_int_list cpus = {NULL, 0, 0};
    cpubind_linux_fault fault;
    *set = CPUBIND_CPUSET_NONE;
    if (cpubind_cpulist_parse(text, len, CPUBIND_MAX_CPUS, &cpus, NULL) !=
        CPUBIND_TEXT_ERR_SPACE)
        return no_set;
    cpus.cap = cpus.n;
    cpus.out = sys->malloc((size_t)cpus.cap * sizeof *cpus.out);
    if (!cpus.out)
        return cpubind_fault_of(ENOMEM, "memory");
    (void)cpubind_cpulist_parse(text, len, CPUBIND_MAX_CPUS, &cpus, NULL);
    fault = cpubind_cpu_sets_of_list(sets, sys, cpus.out, cpus.n, set);
    free(cpus.out);
    return fault;
}

cpubind_linux_fault cpubind_cpu_sets_of_value(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                              const char *value, int32_t len, int32_t *set)
{
    cpubind_cpu_set added = {.n_word = -1};
    *set = CPUBIND_CPUSET_NONE;
    for (int32_t i = 0; i < len; i++)
        if (value[i] < '!' || value[i] > '~')
            return cpubind_fault_of(EILSEQ, "value");
    if (len < 1 || len > VALUE_MAX)
        return cpubind_fault_of(EILSEQ, "value");
    for (int32_t i = 0; i < sets->n; i++)
        if (cpubind_cpu_sets_is_value(sets, i) &&
            strlen(sets->set[i].text + 1) == (size_t)len &&
            memcmp(sets->set[i].text + 1, value, (size_t)len) == 0) {
            *set = i;
            return cpubind_no_fault;
        }
    added.text = (char *)sys->malloc((size_t)len + 2);
    if (!added.text)
        return cpubind_fault_of(ENOMEM, "memory");
    added.text[0] = '=';
    memcpy(added.text + 1, value, (size_t)len);
    added.text[len + 1] = '\0';
    return add(sets, sys, &added, set);
}

int cpubind_cpu_sets_is_value(const cpubind_cpu_sets *sets, int32_t set)
{
    return set >= 0 && sets->set[set].n_word < 0;
}

const char *cpubind_cpu_sets_text(const cpubind_cpu_sets *sets, int32_t set)
{
    return set < 0 ? none : sets->set[set].text;
}

cpubind_linux_fault cpubind_cpu_sets_common(cpubind_cpu_sets *sets, const cpubind_sys *sys,
                                            int32_t a, int32_t b, int32_t *set)
{
    const cpubind_cpu_set *x = &sets->set[a], *y = &sets->set[b];
    const int32_t n_word = x->n_word < y->n_word ? x->n_word : y->n_word;
    unsigned long word[MAX_WORDS];
    word[0] = 0;
    for (int32_t i = 0; i < n_word; i++)
        word[i] = x->word[i] & y->word[i];
    return cpubind_cpu_sets_of_words(sets, sys, word, n_word, set);
}

int cpubind_cpu_sets_is_part(const cpubind_cpu_sets *sets, int32_t part, int32_t whole)
{
    const cpubind_cpu_set *a = &sets->set[part], *b = &sets->set[whole];
    if (a->n_word > b->n_word)
        return 0;
    for (int32_t i = 0; i < a->n_word; i++)
        if (a->word[i] & ~b->word[i])
            return 0;
    return 1;
}

void cpubind_cpu_sets_free(cpubind_cpu_sets *sets)
{
    for (int32_t i = 0; i < sets->n; i++)
        free_set(&sets->set[i]);
    free(sets->set);
    memset(sets, 0, sizeof *sets);
}
