/* input_cache.c - a cache of the answers that a source has given, by name
 * SPDX-License-Identifier: MIT
 *
 * Allocates memory through the table of sys.h; makes no other system call.
 */
#include "input_cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/files.h"

#define FIRST_BUCKETS 256 /* a power of two */

static cpubind_answer **bucket_of(const cpubind_input_cache *answers, uint64_t hash)
{
    /* Mix in the high half: the last bytes of a name hardly change the low bits. */
    return &answers->bucket[(hash ^ (hash >> 32)) & (answers->n_bucket - 1)];
}

cpubind_answer *cpubind_input_cache_find(const cpubind_input_cache *answers, const char *name)
{
    if (!answers->n_bucket)
        return NULL;
    uint64_t hash = cpubind_sum(CPUBIND_SUM, name, strlen(name));
    cpubind_answer *a = *bucket_of(answers, hash);
    while (a && (a->hash != hash || strcmp(a->name, name) != 0))
        a = a->next;
    return a;
}

/* Twice as many buckets. 0, or ENOMEM with the table as it was. */
static int grow(cpubind_input_cache *answers, const cpubind_sys *sys)
{
    cpubind_input_cache larger = *answers;
    larger.n_bucket = answers->n_bucket ? answers->n_bucket * 2 : FIRST_BUCKETS;
    larger.bucket = sys->malloc(larger.n_bucket * sizeof *larger.bucket);
    if (!larger.bucket)
        return ENOMEM;
    for (uint32_t i = 0; i < larger.n_bucket; i++)
        larger.bucket[i] = NULL;
    for (uint32_t i = 0; i < answers->n_bucket; i++) {
        for (cpubind_answer *a = answers->bucket[i], *next; a; a = next) {
            next = a->next;
            cpubind_answer **to = bucket_of(&larger, a->hash);
            a->next = *to;
            *to = a;
        }
    }
    free(answers->bucket);
    *answers = larger;
    return 0;
}

cpubind_answer *cpubind_input_cache_add(cpubind_input_cache *answers, const cpubind_sys *sys,
                                        const char *name)
{
    if (answers->n_answer >= answers->n_bucket && grow(answers, sys) && !answers->n_bucket)
        return NULL; /* a table that cannot grow still works, only slower */
    size_t len = strlen(name);
    cpubind_answer *a = sys->malloc(offsetof(cpubind_answer, name) + len + 1);
    if (!a)
        return NULL;
    a->hash = cpubind_sum(CPUBIND_SUM, name, strlen(name));
    a->input = cpubind_input_of(CPUBIND_INPUT_ABSENT);
    memcpy(a->name, name, len + 1);
    cpubind_answer **to = bucket_of(answers, a->hash);
    a->next = *to;
    *to = a;
    answers->n_answer++;
    return a;
}

void cpubind_answer_set(cpubind_answer *answer, const cpubind_sys *sys, cpubind_input input,
                        cpubind_bytes *bytes)
{
    const char *const text = input.err;
    const int32_t n_text = input.err_len;
    input.data = NULL;
    input.len = 0;
    if (input.state == CPUBIND_INPUT_PRESENT && bytes->len > 0) {
        int32_t len = bytes->len;
        char *data = cpubind_bytes_take(bytes, sys);
        if (data) {
            input.data = data;
            input.len = len;
        } else {
            input = cpubind_input_failed(ENOMEM, "memory");
        }
    }
    char *err = n_text > 0 ? sys->malloc((size_t)n_text) : NULL;
    if (err)
        memcpy(err, text, (size_t)n_text);
    input.err = err;
    input.err_len = err ? n_text : 0;
    answer->input = input;
}

void cpubind_input_cache_free(cpubind_input_cache *answers)
{
    for (uint32_t i = 0; i < answers->n_bucket; i++) {
        for (cpubind_answer *a = answers->bucket[i], *next; a; a = next) {
            next = a->next;
            free((char *)a->input.data); /* const for the readers of the answer alone */
            free((char *)a->input.err);
            free(a);
        }
    }
    free(answers->bucket);
    *answers = (cpubind_input_cache){NULL, 0, 0};
}
