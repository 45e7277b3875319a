/* memory_host.h - hosts in memory, as sources
 * SPDX-License-Identifier: MIT
 *
 * A host is a table of inputs. Its source can be made to fail for one of them.
 */
#ifndef CPUBIND_TESTS_SUPPORT_MEMORY_HOST_H
#define CPUBIND_TESTS_SUPPORT_MEMORY_HOST_H

#include <string.h>

#include "../../adapters/source.h"
#include "test.h"

#define MAX_INPUTS 192

typedef struct entry {
    const char *name, *text; /* a listing when the name ends in "/" */
} entry;

/* A host in memory, and which of its answers fail. */
typedef struct memory_host {
    entry entry[MAX_INPUTS];
    int32_t n;
    const char *failing; /* name of the input that fails, or NULL */
    const char *exits_1; /* name of the command that exits with 1, or NULL */
    cpubind_input_state state;
    int32_t error;   /* of the failing input; 0: EIO */
    int32_t has_nul; /* 1: a NUL follows each file of sys/ */
    int32_t
        has_folders;    /* 1: a folder that no entry lists has the names of the entries in it */
    int32_t asked;      /* inputs asked for so far */
    char seen[1 << 16]; /* their names, each followed by a blank */
} memory_host;

static inline cpubind_input absent(void)
{
    cpubind_input none;
    memset(&none, 0, sizeof none);
    return none;
}

static inline cpubind_input answer(memory_host *h, const char *name, int is_list)
{
    cpubind_input input = absent();
    size_t n = strlen(name);
    h->asked++;
    if (h->failing && strcmp(h->failing, name) == 0) {
        input.state = h->state;
        input.error = h->error ? h->error : 5;
        input.why = "read";
        return input;
    }
    for (int32_t i = 0; i < h->n; i++) {
        const entry *e = &h->entry[i];
        int folder = e->name[strlen(e->name) - 1] == '/';
        if (folder != is_list || strncmp(e->name, name, n) != 0 ||
            strlen(e->name) != n + (size_t)folder)
            continue;
        input.state = CPUBIND_INPUT_PRESENT;
        input.len = (int32_t)strlen(e->text);
        input.len += h->has_nul && input.len > 0 && strncmp(name, "sys/", 4) == 0;
        input.data = input.len > 0 ? e->text : NULL;
        input.exit_code = h->exits_1 && strcmp(h->exits_1, name) == 0;
        return input;
    }
    return input;
}

static inline cpubind_input read_input(void *ctx, const char *name)
{
    memory_host *h = (memory_host *)ctx;
    assert_true(strlen(h->seen) + strlen(name) + 2 < sizeof h->seen);
    strcat(strcat(h->seen, name), " ");
    return answer(h, name, 0);
}

static inline int is_later_part(const char *part, size_t n, const char *last, size_t n_last)
{
    const int order = memcmp(part, last, n < n_last ? n : n_last);
    return order > 0 || (order == 0 && n > n_last);
}

/* The next parts of the names below a folder, each once, in ascending order. */
static inline cpubind_input list_parts(memory_host *h, const char *folder)
{
    static char listing[1 << 16];
    static size_t used;
    const size_t n = strlen(folder);
    cpubind_input input = absent();
    const char *last = "", *next;
    size_t n_last = 0, n_next = 0;
    if (used > sizeof listing / 2)
        used = 0; /* a reader looks at the last answers alone */
    input.data = listing + used;
    do {
        next = NULL;
        for (int32_t i = 0; i < h->n; i++) {
            const char *part = h->entry[i].name + n + 1;
            const size_t n_part = strcspn(part, "/");
            if (strncmp(h->entry[i].name, folder, n) != 0 || part[-1] != '/' ||
                !is_later_part(part, n_part, last, n_last) ||
                (next && !is_later_part(next, n_next, part, n_part)))
                continue;
            next = part;
            n_next = n_part;
        }
        if (next) {
            assert_true(used + n_next + 1 < sizeof listing);
            memcpy(listing + used, next, n_next);
            listing[used + n_next] = '\n';
            used += n_next + 1;
            last = next;
            n_last = n_next;
        }
    } while (next);
    input.len = (int32_t)(listing + used - input.data);
    input.state = input.len ? CPUBIND_INPUT_PRESENT : CPUBIND_INPUT_ABSENT;
    return input;
}

static inline cpubind_input list_inputs(void *ctx, const char *name)
{
    memory_host *h = (memory_host *)ctx;
    const cpubind_input input = answer(h, name, 1);
    return h->has_folders && input.state == CPUBIND_INPUT_ABSENT ? list_parts(h, name) : input;
}

static inline void set(memory_host *h, const char *name, const char *text)
{
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->entry[i].name, name) == 0) {
            h->entry[i].text = text;
            return;
        }
    assert_true(h->n < MAX_INPUTS);
    h->entry[h->n].name = name;
    h->entry[h->n++].text = text;
}

static inline void take_away(memory_host *h, const char *name)
{
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->entry[i].name, name) == 0)
            h->entry[i] = h->entry[--h->n];
}

#endif
