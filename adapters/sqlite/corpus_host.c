/* corpus_host.c - one host of the corpus, read as a whole, as a source
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in corpus.h. Every row is checked against the schema, because a damaged
 * file may break it.
 */
#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "../text/host_file.h"
#include "../text/host_txt.h"
#include "../text/input_name.h"
#include "corpus.h"
#include "database.h"

#define LIST_MAX (4 << 20)

/* A piece of memory of a host: a text, which does not move. */
typedef struct cpubind_corpus_memory {
    struct cpubind_corpus_memory *next;
    const char *listed; /* it is the listing of this folder; or NULL */
    int32_t len;        /* bytes of that listing */
    char bytes[];       /* a NUL follows them */
} memory;

static memory *add_memory(cpubind_corpus_host *host, size_t len)
{
    memory *made = sqlite3_malloc64(sizeof *made + len + 1);
    if (!made)
        return NULL;
    *made = (memory){.next = host->memory};
    made->bytes[len] = '\0';
    return host->memory = made;
}

/* == Reading a host ========================================================= */

/* A host while it is read. After a failure nothing more is read. */
typedef struct reading {
    cpubind_corpus_host *host;
    int64_t left; /* bytes that it may still have */
    failure f;
} reading;

static void fail_in(reading *r, cpubind_corpus_status status, const char *what)
{
    if (!r->f.status)
        r->f = cpubind_priv_fail(status, what);
}

static void fail_damaged(reading *r, const char *what)
{
    fail_in(r, CPUBIND_CORPUS_ERR_DAMAGED, what);
}

/* A copy that stays until the host is closed, with a NUL behind it; NULL after a failure. */
static const char *keep(reading *r, const void *bytes, size_t len)
{
    memory *made = NULL;
    r->left -= (int64_t)len + 1;
    if (r->left < 0)
        fail_in(r, CPUBIND_CORPUS_ERR_LIMIT, "too many inputs, or too many bytes");
    else if (!(made = add_memory(r->host, len)))
        fail_in(r, CPUBIND_CORPUS_ERR_MEMORY, "memory");
    else if (len > 0)
        memcpy(made->bytes, bytes, len);
    return made ? made->bytes : NULL;
}

static const char *keep_text(reading *r, sqlite3_stmt *query, int column)
{
    const char *text = NULL;
    if (!r->f.status)
        r->f = cpubind_priv_text(query, column, &text);
    return r->f.status ? NULL : keep(r, text, strlen(text));
}

/* The bytes of a column, whose SHA-256 is in another one. */
static const char *keep_bytes(reading *r, sqlite3_stmt *query, int column, const char *sha256,
                              int32_t *len)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];
    const void *bytes = sqlite3_column_blob(query, column);
    *len = sqlite3_column_bytes(query, column);
    if (r->f.status)
        return NULL;
    if (*len > 0 && !bytes)
        fail_in(r, CPUBIND_CORPUS_ERR_MEMORY, "memory");
    else if (SHA256Data(*len > 0 ? bytes : "", (size_t)*len, sum), strcmp(sum, sha256) != 0)
        fail_damaged(r, "the bytes of an input are not those of its SHA-256");
    return *len > 0 && !r->f.status ? keep(r, bytes, (size_t)*len) : NULL;
}

/* The columns of an input; those of the stderr of a command are NULL where it has none. */
enum { NAME, EXIT_CODE, CONTENT, BYTES, ERR_CONTENT, ERR_BYTES };

/* Whether the row has bytes, and an exit code that an input of this name may have. */
static int is_sound(sqlite3_stmt *query, const char *name)
{
    const int is_command = strncmp(name, "cmd/", 4) == 0;
    const int64_t code = sqlite3_column_int64(query, EXIT_CODE);
    if (sqlite3_column_type(query, BYTES) != SQLITE_BLOB)
        return 0;
    if (sqlite3_column_type(query, EXIT_CODE) == SQLITE_NULL)
        return is_command && sqlite3_column_bytes(query, BYTES) == 0;
    return sqlite3_column_type(query, EXIT_CODE) == SQLITE_INTEGER && code >= 0 &&
           code <= 255 && (code == 0 || is_command);
}

static void take_input(reading *r, sqlite3_stmt *query)
{
    cpubind_corpus_entry *entry = &r->host->input[r->host->n_input++];
    cpubind_input *input = &entry->input;
    *entry = (cpubind_corpus_entry){.name = keep_text(r, query, NAME),
                                    .sha256 = keep_text(r, query, CONTENT),
                                    .input = {.state = CPUBIND_INPUT_PRESENT}};
    if (!r->f.status && !cpubind_input_is_name(entry->name))
        fail_damaged(r, "the name of an input breaks the rules");
    if (!r->f.status && !is_sound(query, entry->name))
        fail_damaged(r, "an input is not of the schema");
    if (sqlite3_column_type(query, EXIT_CODE) == SQLITE_NULL)
        input->state = CPUBIND_INPUT_TIMEOUT;
    input->exit_code = sqlite3_column_int(query, EXIT_CODE);
    input->data = keep_bytes(r, query, BYTES, entry->sha256, &input->len);
    if (sqlite3_column_type(query, ERR_CONTENT) == SQLITE_NULL)
        return;
    input->err =
        keep_bytes(r, query, ERR_BYTES, keep_text(r, query, ERR_CONTENT), &input->err_len);
    if (input->err_len > CPUBIND_INPUT_ERR_MAX)
        input->err_len = CPUBIND_INPUT_ERR_MAX;
}

static void take_expectation(reading *r, sqlite3_stmt *query)
{
    cpubind_corpus_expectation *e = &r->host->expectation[r->host->n_expectation++];
    *e = (cpubind_corpus_expectation){keep_text(r, query, 0), keep_text(r, query, 1),
                                      sqlite3_column_bytes(query, 1)};
    if (!r->f.status && !cpubind_host_txt_is_name(e->name))
        fail_damaged(r, "the name of an expectation breaks the rules");
    if (!r->f.status && r->host->n_expectation > 1 && strcmp(e[-1].name, e->name) >= 0)
        fail_damaged(r, "the expectations do not ascend");
}

/* Copies the row of the host; a cpubind_corpus_visit. */
static int take_about(void *ctx, const cpubind_corpus_about *about)
{
    reading *r = ctx;
    const char **const text[] = ABOUT_TEXTS(&r->host->about);
    r->host->about = *about;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (*text[i])
            *text[i] = keep(r, *text[i], strlen(*text[i]));
    return 0;
}

/* Reads all rows of a statement about the host, at most as many as its array has room for: a
 * tree with a loop in it repeats some. */
static void read_rows(cpubind_corpus *corpus, reading *r, const char *sql, int32_t most,
                      void (*take)(reading *r, sqlite3_stmt *query))
{
    sqlite3_stmt *query;
    int result = cpubind_priv_ask(corpus, &query, sql, "s", r->host->about.name);
    for (int32_t n = 0; result == SQLITE_OK && !r->f.status; n++) {
        result = sqlite3_step(query);
        if (result == SQLITE_ROW && n < most)
            take(r, query);
        else if (result == SQLITE_ROW)
            fail_damaged(r, "there are more rows than were counted");
        result = result == SQLITE_ROW ? SQLITE_OK : result;
    }
    if (!r->f.status && result != SQLITE_DONE)
        r->f = cpubind_priv_fail_sqlite(corpus, result);
    (void)sqlite3_reset(query);
}

/* Makes room for as many inputs and expectations as the host has. */
static void count_rows(cpubind_corpus *corpus, reading *r, int32_t n[2])
{
    static const char sql[] = "SELECT (SELECT count(*) FROM inputs WHERE host = ?1),"
                              "  (SELECT count(*) FROM expectations WHERE host = ?1)";
    sqlite3_stmt *query;
    int result = cpubind_priv_ask(corpus, &query, sql, "s", r->host->about.name);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    if (result != SQLITE_ROW) {
        r->f = cpubind_priv_fail_sqlite(corpus, result);
        return;
    }
    for (int i = 0; i < 2; i++) {
        const int64_t counted = sqlite3_column_int64(query, i);
        if (counted > CPUBIND_CORPUS_MAX_INPUTS)
            fail_in(r, CPUBIND_CORPUS_ERR_LIMIT, "too many inputs, or too many bytes");
        n[i] = (int32_t)counted;
    }
    (void)sqlite3_reset(query);
    if (r->f.status)
        return;
    r->host->input = sqlite3_malloc64(((size_t)n[0] + 1) * sizeof *r->host->input);
    r->host->expectation = sqlite3_malloc64(((size_t)n[1] + 1) * sizeof *r->host->expectation);
    if (!r->host->input || !r->host->expectation)
        fail_in(r, CPUBIND_CORPUS_ERR_MEMORY, "memory");
}

static int compare_entries(const void *a, const void *b)
{
    return cpubind_host_file_order(((const cpubind_corpus_entry *)a)->name,
                                   ((const cpubind_corpus_entry *)b)->name);
}

static void read_tables(cpubind_corpus *corpus, reading *r, const char *name)
{
    /* The stderr of a command is in the row of that, and in none of its own. */
    static const char of_inputs[] =
        "SELECT i.name, i.exit_code, i.content, c.bytes, e.content, d.bytes"
        "  FROM inputs i LEFT JOIN contents c ON c.sha256 = i.content"
        "  LEFT JOIN inputs e ON substr(i.name, 1, 4) = 'cmd/' AND substr(i.name, -4) = '.txt'"
        "    AND e.host = i.host AND e.name = i.name || '" ERR_END "'"
        "  LEFT JOIN contents d ON d.sha256 = e.content"
        "  WHERE i.host = ?1 AND NOT (substr(i.name, 1, 4) = 'cmd/'"
        "    AND substr(i.name, -8) = '.txt" ERR_END "'"
        "    AND EXISTS (SELECT 1 FROM inputs WHERE host = i.host"
        "      AND name = substr(i.name, 1, length(i.name) - 4)))";
    static const char of_expectations[] =
        "SELECT name, body FROM expectations WHERE host = ?1 ORDER BY name";
    int32_t n[2] = {0, 0};
    const failure f = cpubind_priv_each(corpus, name, take_about, r);
    if (f.status)
        r->f = f;
    if (!r->f.status && !r->host->about.name)
        fail_in(r, CPUBIND_CORPUS_ERR_UNKNOWN_HOST, "no such row in hosts");
    if (!r->f.status)
        count_rows(corpus, r, n);
    if (!r->f.status)
        read_rows(corpus, r, of_inputs, n[0], take_input);
    if (!r->f.status)
        read_rows(corpus, r, of_expectations, n[1], take_expectation);
    if (!r->f.status)
        qsort(r->host->input, (size_t)r->host->n_input, sizeof *r->host->input,
              compare_entries);
    for (int32_t i = 1; !r->f.status && i < r->host->n_input; i++)
        if (compare_entries(&r->host->input[i - 1], &r->host->input[i]) >= 0)
            fail_damaged(r, "the inputs do not ascend");
}

cpubind_corpus_fault cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                              cpubind_corpus_host **out)
{
    reading r = {.host = sqlite3_malloc64(sizeof *r.host), .left = CPUBIND_CORPUS_MAX_BYTES};
    *out = NULL;
    if (!r.host)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
    *r.host = (cpubind_corpus_host){0};
    read_tables(corpus, &r, name);
    if (r.f.status)
        cpubind_corpus_close_host(r.host);
    else
        *out = r.host;
    return r.f;
}

void cpubind_corpus_close_host(cpubind_corpus_host *host)
{
    if (!host)
        return;
    while (host->memory) {
        memory *gone = host->memory;
        host->memory = gone->next;
        sqlite3_free(gone);
    }
    sqlite3_free(host->input);
    sqlite3_free(host->expectation);
    sqlite3_free(host);
}

/* == Answers ================================================================ */

static cpubind_input failed(int error, const char *why)
{
    return (cpubind_input){.state = CPUBIND_INPUT_FAILED, .error = error, .why = why};
}

static cpubind_host_names names_of(const cpubind_corpus_host *host)
{
    return (cpubind_host_names){host->input, host->n_input, sizeof *host->input};
}

static cpubind_input read_input(void *ctx, const char *name)
{
    const cpubind_corpus_host *host = ctx;
    const cpubind_host_names names = names_of(host);
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    const int32_t i = cpubind_host_names_find(&names, name);
    if (i < host->n_input && strcmp(host->input[i].name, name) == 0)
        return host->input[i].input;
    if (cpubind_host_names_list(&names, name, NULL) >= 0)
        return failed(EISDIR, "not a regular file");
    return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
}

/* The listing of a folder that has inputs, made once; NULL without memory. */
static const memory *list_folder(cpubind_corpus_host *host, const char *name, int32_t len)
{
    const cpubind_host_names names = names_of(host);
    const size_t n_name = strlen(name);
    memory *made = host->memory;
    while (made && (!made->listed || strcmp(made->listed, name) != 0))
        made = made->next;
    if (made || !(made = add_memory(host, (size_t)len + n_name + 1)))
        return made;
    made->len = cpubind_host_names_list(&names, name, made->bytes);
    made->listed = memcpy(made->bytes + len + 1, name, n_name + 1);
    return made;
}

static cpubind_input list_input(void *ctx, const char *name)
{
    cpubind_corpus_host *host = ctx;
    const cpubind_host_names names = names_of(host);
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    const int32_t len = cpubind_host_names_list(&names, name, NULL);
    if (len >= 0) {
        const memory *made = list_folder(host, name, len);
        if (len > LIST_MAX)
            return (cpubind_input){.state = CPUBIND_INPUT_TOO_LONG};
        return made ? (cpubind_input){.state = CPUBIND_INPUT_PRESENT,
                                      .data = made->bytes,
                                      .len = made->len}
                    : failed(ENOMEM, "memory");
    }
    const cpubind_input file = read_input(ctx, name);
    const int is_empty = file.state == CPUBIND_INPUT_PRESENT && file.len == 0;
    /* An empty file below proc/ stands for an empty folder. */
    if (file.state == CPUBIND_INPUT_ABSENT || (is_empty && strncmp(name, "proc/", 5) == 0))
        return file;
    return failed(ENOTDIR, "not a folder");
}

cpubind_source cpubind_corpus_source(cpubind_corpus_host *host)
{
    return (cpubind_source){host, read_input, list_input};
}
