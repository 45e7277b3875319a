/* host.c - a host in memory, made of the text of an input
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <errno.h>

#include "../../adapters/text/input_name.h"

const char *line_end(const char *at, const char *end)
{
    const char *feed = at < end ? (const char *)memchr(at, '\n', (size_t)(end - at)) : NULL;
    return feed ? feed : end;
}

/* The first line at or after `at` that starts an entry, or `end`. */
static const char *next_entry(const char *at, const char *end)
{
    while (at < end && !(end - at > 3 && at[0] == '=' && at[1] &&
                         strchr("=-!ptl123456789", at[1]) && at[2] == ' ')) {
        at = line_end(at, end);
        at += at < end;
    }
    return at;
}

static const host_entry *entry_of(const text_host *h, const char *name)
{
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->entry[i].name, name) == 0)
            return &h->entry[i];
    return NULL;
}

void host_open(text_host *h, const char *text, int32_t len)
{
    const char *end = text + len, *at = next_entry(text, end);
    memset(h, 0, sizeof *h);
    h->head = (int32_t)(at - text);
    while (at < end && h->n < MAX_ENTRIES) {
        const char *stop = line_end(at, end), *first = stop + (stop < end);
        const char *next = next_entry(first, end);
        char *name = string_copy(at + 3, (int32_t)(stop - at - 3));
        size_t n = (size_t)(next - first);
        if (at[1] == '-' && n > 0 && first[n - 1] == '\n')
            n--;
        if (cpubind_input_is_name(name) && !entry_of(h, name))
            h->entry[h->n++] = (host_entry){name, exact_copy(first, n), (int32_t)n, at[1]};
        else
            free(name);
        at = next;
    }
}

void host_close(text_host *h)
{
    for (int32_t i = 0; i < h->n; i++) {
        free(h->entry[i].name);
        free(h->entry[i].data);
    }
    for (host_listing *l = h->listed, *next; l; l = next) {
        next = l->next;
        free(l->name);
        free(l->lines);
        free(l);
    }
}

static cpubind_input read_entry(void *ctx, const char *name)
{
    const host_entry *e = entry_of((const text_host *)ctx, name);
    cpubind_input input;
    memset(&input, 0, sizeof input);
    CHECK(cpubind_input_is_name(name));
    if (!e)
        return input;
    if (e->mark == '!' || e->mark == 'p') {
        input.state = CPUBIND_INPUT_FAILED;
        input.error = e->mark == '!' ? EIO : EACCES;
        input.why = "read";
    } else if (e->mark == 't' || e->mark == 'l') {
        input.state = e->mark == 't' ? CPUBIND_INPUT_TIMEOUT : CPUBIND_INPUT_TOO_LONG;
    } else {
        input.state = CPUBIND_INPUT_PRESENT;
        input.data = e->len ? e->data : NULL;
        input.len = e->len;
        input.exit_code = e->mark >= '1' && e->mark <= '9' ? e->mark - '0' : 0;
    }
    return input;
}

static int compare_parts(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const size_t n = strcspn(x, "/"), m = strcspn(y, "/");
    const int order = memcmp(x, y, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

/* The next parts of the names below a folder, each once, in ascending byte order. */
static void list_folder(const text_host *h, host_listing *l)
{
    const size_t n = strlen(l->name);
    const char *part[MAX_ENTRIES];
    size_t n_part = 0;
    words lines = {NULL, 0, 0};
    for (int32_t i = 0; i < h->n; i++) {
        const char *name = h->entry[i].name;
        if (strncmp(name, l->name, n) == 0 && name[n] == '/' && strcspn(name + n + 1, "/") > 0)
            part[n_part++] = name + n + 1;
    }
    qsort(part, n_part, sizeof *part, compare_parts);
    for (size_t i = 0; i < n_part; i++)
        if (i == 0 || compare_parts(&part[i - 1], &part[i]) != 0)
            add_words(&lines, "%.*s\n", (int)strcspn(part[i], "/"), part[i]);
    l->len = lines.len;
    l->lines = exact_copy(lines.text, (size_t)lines.len);
    free(lines.text);
}

static cpubind_input list_entries(void *ctx, const char *name)
{
    text_host *h = (text_host *)ctx;
    host_listing *l = h->listed;
    cpubind_input input;
    CHECK(cpubind_input_is_name(name));
    while (l && strcmp(l->name, name) != 0)
        l = l->next;
    if (!l) {
        l = (host_listing *)filled(sizeof *l, 0);
        l->name = exact_copy(name, strlen(name) + 1);
        list_folder(h, l);
        l->next = h->listed;
        h->listed = l;
    }
    memset(&input, 0, sizeof input);
    input.state = l->len > 0 ? CPUBIND_INPUT_PRESENT : CPUBIND_INPUT_ABSENT;
    input.data = l->len > 0 ? l->lines : NULL;
    input.len = l->len;
    return input;
}

cpubind_source host_source(text_host *h)
{
    const cpubind_source source = {h, read_entry, list_entries};
    return source;
}
