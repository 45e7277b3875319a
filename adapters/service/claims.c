/* claims.c - what the service was told about processes, kept over a restart
 * SPDX-License-Identifier: MIT
 *
 * Reads and writes one file; decides nothing.
 */
#define _GNU_SOURCE
#include "claims.h"

#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/files.h"
#include "../linux/kernel/run_folder.h"
#include "rights.h"

#define FILE_NAME "service.claims"
#define FILE_MAX  (4 << 20) /* bytes: a line has 40, and a host 65,536 processes or so */

cpubind_ask cpubind_claims_find(const cpubind_claims *claims, int32_t pid, uint64_t start)
{
    cpubind_ask said = claims->is_all_left ? CPUBIND_ASK_LEAVE : CPUBIND_ASK_COUNT;
    for (int32_t i = 0; i < claims->n; i++) {
        const cpubind_asked *row = &claims->row[i];
        const int is_of = row->pid == pid && row->start == start;
        if (row->owner && (is_of || row->pid == 0))
            return CPUBIND_ASK_LEAVE;
        if (is_of)
            said = row->ask;
    }
    return said;
}

cpubind_linux_fault cpubind_claims_note(cpubind_claims *c, const cpubind_asked *asked)
{
    if (asked->pid == 0 && !asked->owner) {
        c->n = 0;
        c->is_all_left = asked->ask == CPUBIND_ASK_LEAVE;
        c->is_changed = 1;
        return cpubind_no_fault;
    }
    for (int32_t i = 0; i < c->n; i++) {
        if (c->row[i].pid != asked->pid || c->row[i].owner != asked->owner)
            continue;
        c->is_changed |= c->row[i].ask != asked->ask || c->row[i].start != asked->start;
        c->row[i] = *asked;
        return cpubind_no_fault;
    }
    c->is_changed = 1;
    return CPUBIND_APPEND(c->sys, c->row, c->n, c->cap, asked);
}

/* One that cannot be read has not ended. */
static int has_ended(const cpubind_claims *c, int32_t pid, uint64_t start)
{
    uint64_t now = start;
    const int error = cpubind_rights_start(c->sys, pid, &now).error;
    return error == ESRCH || (!error && now != start);
}

int cpubind_claims_take_back(cpubind_claims *c, int32_t owner)
{
    const int32_t n = c->n;
    c->n = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_asked row = c->row[i];
        if (!row.owner || (row.owner != owner && !has_ended(c, row.owner, row.owner_start)))
            c->row[c->n++] = row;
    }
    c->is_changed |= c->n < n;
    return c->n < n;
}

void cpubind_claims_free(cpubind_claims *claims)
{
    free(claims->row);
    claims->row = NULL;
    claims->n = claims->cap = 0;
}

/* == The file =============================================================== */

static cpubind_linux_fault read_bytes(const cpubind_claims *c, cpubind_bytes *bytes)
{
    int folder;
    cpubind_linux_fault why = cpubind_run_folder_here(c->sys, 0, &folder);
    if (why.error)
        return why;
    why = cpubind_read_mine(c->sys, folder, FILE_NAME, FILE_MAX, bytes);
    cpubind_remove_temps(c->sys, folder, FILE_NAME);
    (void)c->sys->close(folder);
    return why.error && strcmp(why.what, "file") == 0 ? cpubind_fault_of(why.error, "claims")
                                                      : why;
}

cpubind_linux_fault cpubind_claims_read(cpubind_claims *c)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault why = read_bytes(c, &bytes), damage = cpubind_no_fault;
    for (int32_t at = 0; at < bytes.len && !why.error;) {
        const char *line = bytes.data + at;
        const char *end = (const char *)memchr(line, '\n', (size_t)(bytes.len - at));
        const int32_t len = end ? (int32_t)(end - line) + 1 : bytes.len - at;
        cpubind_asked asked;
        if (cpubind_ask_parse(line, len, &asked, NULL) != CPUBIND_TEXT_OK ||
            asked.ask < CPUBIND_ASK_LEAVE)
            damage = cpubind_fault_of(EILSEQ, "claims");
        else
            why = cpubind_claims_note(c, &asked);
        at += len;
    }
    c->is_changed = 0;
    (void)cpubind_claims_take_back(c, 0);
    cpubind_bytes_free(&bytes);
    if (why.error == ENOENT)
        why = cpubind_no_fault;
    return why.error ? why : damage;
}

static cpubind_linux_fault add_line(const cpubind_claims *c, const cpubind_asked *asked,
                                    cpubind_bytes *bytes)
{
    const cpubind_linux_fault why = cpubind_bytes_reserve(bytes, c->sys, CPUBIND_ASK_MAX);
    if (!why.error)
        bytes->len += cpubind_ask_format(asked, bytes->data + bytes->len);
    return why;
}

/* Drops the rows of processes that have ended. */
static void drop_ended(cpubind_claims *c)
{
    const int32_t n = c->n;
    c->n = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_asked row = c->row[i];
        if (row.pid == 0 || !has_ended(c, row.pid, row.start))
            c->row[c->n++] = row;
    }
}

cpubind_linux_fault cpubind_claims_save(cpubind_claims *c)
{
    static const cpubind_asked all = {.ask = CPUBIND_ASK_LEAVE};
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_no_fault;
    int folder;
    if (!c->is_changed)
        return cpubind_no_fault;
    drop_ended(c);
    if (c->is_all_left)
        why = add_line(c, &all, &bytes);
    for (int32_t i = 0; i < c->n && !why.error; i++)
        why = add_line(c, &c->row[i], &bytes);
    if (!why.error)
        why = cpubind_run_folder_here(c->sys, 1, &folder);
    if (!why.error) {
        why = cpubind_replace(c->sys, folder, FILE_NAME, 0600, bytes.data ? bytes.data : "",
                              bytes.len);
        (void)c->sys->close(folder);
    }
    c->is_changed = why.error != 0;
    cpubind_bytes_free(&bytes);
    return why;
}

cpubind_linux_fault cpubind_claims_forget(const cpubind_sys *sys)
{
    int folder;
    cpubind_linux_fault why = cpubind_run_folder_here(sys, 0, &folder);
    if (why.error)
        return cpubind_fault_of(why.error == ENOENT ? 0 : why.error, why.what);
    if (sys->unlinkat(folder, FILE_NAME, 0) < 0 && errno != ENOENT)
        why = cpubind_fault_errno("claims");
    (void)sys->close(folder);
    return why;
}
