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

/* A copy that stays until the host is closed, with a NUL behind it; NULL without memory. */
static const char *keep(cpubind_corpus_host *host, const void *bytes, size_t len)
{
    memory *made = add_memory(host, len);
    if (made && len)
        memcpy(made->bytes, bytes, len);
    return made ? made->bytes : NULL;
}

/* == Names ================================================================== */

static int compare_entries(const void *a, const void *b)
{
    return cpubind_host_file_order(((const cpubind_corpus_entry *)a)->name,
                                   ((const cpubind_corpus_entry *)b)->name);
}

/* The first input whose name is not below `name`. */
static int32_t lower_bound(const cpubind_corpus_host *host, const char *name)
{
    int32_t low = 0, high = host->n_input;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (cpubind_host_file_order(host->input[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cpubind_corpus_entry *find(const cpubind_corpus_host *host, const char *name)
{
    const int32_t at = lower_bound(host, name);
    return at < host->n_input && strcmp(host->input[at].name, name) == 0 ? &host->input[at]
                                                                         : NULL;
}

/* Whether input i is there, below the folder `name`. */
static int is_below(const cpubind_corpus_host *host, int32_t i, const char *name)
{
    const size_t len = strlen(name);
    return i < host->n_input && strncmp(host->input[i].name, name, len) == 0 &&
           host->input[i].name[len] == '/';
}

/* The first input below the folder `name`, if there is one: a file of its name is before it. */
static int32_t first_below(const cpubind_corpus_host *host, const char *name)
{
    const int32_t at = lower_bound(host, name);
    return at + (at < host->n_input && strcmp(host->input[at].name, name) == 0);
}

/* == Reading a host ========================================================= */

/* A host while it is read. */
typedef struct reading {
    cpubind_corpus_host *host;
    int32_t cap;  /* of the array that grows now */
    int64_t left; /* bytes that it may still have */
    int is_full;  /* there was no memory for its row */
} reading;

static cpubind_input failed(int error, const char *why)
{
    return (cpubind_input){.state = CPUBIND_INPUT_FAILED, .error = error, .why = why};
}

static failure fail_damaged(const char *what)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, what);
}

static failure fail_memory(void)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
}

/* Sees to it that an array of n elements has space for one more, of n_byte bytes in all. */
static failure reserve(reading *r, void **array, int32_t n, size_t size, size_t n_byte)
{
    r->left -= (int64_t)n_byte;
    if (n >= CPUBIND_CORPUS_MAX_INPUTS || r->left < 0)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT,
                                 "too many inputs, or too many bytes");
    if (n < r->cap)
        return (failure){0};
    r->cap = n ? n * 2 : 64;
    void *grown = sqlite3_realloc64(*array, (size_t)r->cap * size);
    if (!grown)
        return fail_memory();
    *array = grown;
    return (failure){0};
}

/* The columns of an input; see `read_tables`. */
enum { NAME, EXIT_CODE, CONTENT, BYTES };

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

/* Whether a text is the SHA-256 of bytes. */
static int is_sum(const char *text, const void *bytes, size_t len)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];
    SHA256Data(len ? bytes : "", len, sum);
    return strcmp(sum, text) == 0;
}

static failure take_input(reading *r, sqlite3_stmt *query)
{
    cpubind_corpus_host *host = r->host;
    cpubind_corpus_entry entry = {.input = {.state = CPUBIND_INPUT_PRESENT}};
    failure f = cpubind_priv_text(query, NAME, &entry.name);
    if (!f.status)
        f = cpubind_priv_text(query, CONTENT, &entry.sha256);
    if (f.status)
        return f;
    if (!cpubind_input_is_name(entry.name))
        return fail_damaged("the name of an input breaks the rules");
    if (!is_sound(query, entry.name))
        return fail_damaged("an input is not of the schema");
    const void *bytes = sqlite3_column_blob(query, BYTES);
    const size_t len = (size_t)sqlite3_column_bytes(query, BYTES);
    if (len && !bytes)
        return fail_memory();
    if (!is_sum(entry.sha256, bytes, len))
        return fail_damaged("the bytes of an input are not those of its SHA-256");
    void *array = host->input;
    f = reserve(r, &array, host->n_input, sizeof entry, strlen(entry.name) + 1 + len);
    host->input = array;
    if (f.status)
        return f;
    if (sqlite3_column_type(query, EXIT_CODE) == SQLITE_NULL)
        entry.input.state = CPUBIND_INPUT_TIMEOUT;
    entry.input.exit_code = sqlite3_column_int(query, EXIT_CODE);
    entry.input.len = (int32_t)len;
    entry.name = keep(host, entry.name, strlen(entry.name));
    entry.sha256 = keep(host, entry.sha256, strlen(entry.sha256));
    entry.input.data = len ? keep(host, bytes, len) : NULL;
    if (!entry.name || !entry.sha256 || (len && !entry.input.data))
        return fail_memory();
    host->input[host->n_input++] = entry;
    return f;
}

static failure take_expectation(reading *r, sqlite3_stmt *query)
{
    cpubind_corpus_host *host = r->host;
    const int32_t n = host->n_expectation;
    const char *name, *body;
    failure f = cpubind_priv_text(query, 0, &name);
    if (!f.status)
        f = cpubind_priv_text(query, 1, &body);
    if (f.status)
        return f;
    if (!cpubind_host_txt_is_name(name))
        return fail_damaged("the name of an expectation breaks the rules");
    if (n && strcmp(host->expectation[n - 1].name, name) >= 0)
        return fail_damaged("the expectations do not ascend");
    const size_t len = strlen(body);
    void *array = host->expectation;
    f = reserve(r, &array, n, sizeof *host->expectation, strlen(name) + len + 2);
    host->expectation = array;
    if (f.status)
        return f;
    name = keep(host, name, strlen(name));
    body = keep(host, body, len);
    if (!name || !body)
        return fail_memory();
    host->expectation[host->n_expectation++] =
        (cpubind_corpus_expectation){name, body, (int32_t)len};
    return f;
}

/* Copies the row of the host; a cpubind_corpus_visit. */
static int take_about(void *ctx, const cpubind_corpus_about *about)
{
    reading *r = ctx;
    const char **const text[] = ABOUT_TEXTS(&r->host->about);
    r->host->about = *about;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (*text[i] && !(*text[i] = keep(r->host, *text[i], strlen(*text[i]))))
            r->is_full = 1;
    return 0;
}

/* Reads all rows of a query about the host; ?1 is its name. */
static failure read_rows(cpubind_corpus *corpus, reading *r, const char *sql,
                         failure (*take)(reading *r, sqlite3_stmt *query))
{
    sqlite3_stmt *query;
    failure f = {0};
    int result = cpubind_priv_ask(corpus, &query, sql, "s", r->host->about.name);
    r->cap = 0;
    while (result == SQLITE_OK && !f.status && (result = sqlite3_step(query)) == SQLITE_ROW) {
        f = take(r, query);
        result = SQLITE_OK;
    }
    if (!f.status && result != SQLITE_DONE)
        f = cpubind_priv_fail_sqlite(corpus, result);
    (void)sqlite3_reset(query);
    return f;
}

static failure read_tables(cpubind_corpus *corpus, reading *r, const char *name)
{
    static const char of_inputs[] =
        "SELECT name, exit_code, content, bytes"
        "  FROM inputs LEFT JOIN contents ON sha256 = content WHERE host = ?1";
    static const char of_expectations[] =
        "SELECT name, body FROM expectations WHERE host = ?1 ORDER BY name";
    failure f = cpubind_priv_each(corpus, name, take_about, r);
    if (!f.status && r->is_full)
        f = fail_memory();
    if (!f.status && !r->host->about.name)
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, "no such row in hosts");
    if (!f.status)
        f = read_rows(corpus, r, of_inputs, take_input);
    return !f.status ? read_rows(corpus, r, of_expectations, take_expectation) : f;
}

/* The input of the command whose stderr is input `err`, or NULL. */
static cpubind_input *command_of(const cpubind_corpus_host *host, const char *err)
{
    static const char end[] = ".txt" ERR_END;
    char name[CPUBIND_INPUT_NAME_MAX + 1];
    const size_t len = strlen(err);
    if (strncmp(err, "cmd/", 4) != 0 || len < sizeof end ||
        strcmp(err + len - (sizeof end - 1), end) != 0)
        return NULL;
    memcpy(name, err, len);
    name[len - strlen(ERR_END)] = '\0';
    cpubind_corpus_entry *command = find(host, name);
    return command ? &command->input : NULL;
}

/* Sorts the inputs, and makes the rows of stderr a part of the inputs of their commands. Such a
 * row without a command stays as it is. A tree with a loop in it repeats a name. */
static failure settle(cpubind_corpus_host *host)
{
    const int32_t n = host->n_input;
    if (n)
        qsort(host->input, (size_t)n, sizeof *host->input, compare_entries);
    host->n_input = 0; /* those that stay; a command is before its stderr */
    for (int32_t i = 0; i < n; i++) {
        const cpubind_corpus_entry entry = host->input[i];
        cpubind_input *command = command_of(host, entry.name);
        if (i && compare_entries(&host->input[i - 1], &entry) >= 0)
            return fail_damaged("the inputs do not ascend");
        if (!command) {
            host->input[host->n_input++] = entry;
        } else {
            const int32_t len = entry.input.len;
            command->err = entry.input.data;
            command->err_len = len < CPUBIND_INPUT_ERR_MAX ? len : CPUBIND_INPUT_ERR_MAX;
        }
    }
    return (failure){0};
}

cpubind_corpus_fault cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                              cpubind_corpus_host **out)
{
    reading r = {.host = sqlite3_malloc64(sizeof *r.host), .left = CPUBIND_CORPUS_MAX_BYTES};
    *out = NULL;
    if (!r.host)
        return fail_memory();
    *r.host = (cpubind_corpus_host){0};
    failure f = read_tables(corpus, &r, name);
    if (!f.status)
        f = settle(r.host);
    if (f.status)
        cpubind_corpus_close_host(r.host);
    else
        *out = r.host;
    return f;
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

static cpubind_input read_input(void *ctx, const char *name)
{
    const cpubind_corpus_host *host = ctx;
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    const cpubind_corpus_entry *entry = find(host, name);
    if (entry)
        return entry->input;
    if (is_below(host, first_below(host, name), name))
        return failed(EISDIR, "not a regular file");
    return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
}

static cpubind_input listing_of(const memory *made)
{
    if (made->len > LIST_MAX)
        return (cpubind_input){.state = CPUBIND_INPUT_TOO_LONG};
    return (cpubind_input){
        .state = CPUBIND_INPUT_PRESENT, .data = made->bytes, .len = made->len};
}

/* The listing of a folder that has inputs: the next parts of their names, each once. */
static cpubind_input make_listing(cpubind_corpus_host *host, const char *name)
{
    const size_t skip = strlen(name) + 1;
    const int32_t first = first_below(host, name);
    size_t room = 0, len = 0, last = 0;
    for (int32_t i = first; is_below(host, i, name); i++)
        room += strcspn(host->input[i].name + skip, "/") + 1;
    memory *made = add_memory(host, room);
    if (!made)
        return failed(ENOMEM, "memory");
    for (int32_t i = first; is_below(host, i, name); i++) {
        const char *part = host->input[i].name + skip;
        const size_t n = strcspn(part, "/");
        if (len > 0 && len - last == n + 1 && memcmp(made->bytes + last, part, n) == 0)
            continue;
        last = len;
        memcpy(made->bytes + len, part, n);
        made->bytes[len + n] = '\n';
        len += n + 1;
    }
    made->len = (int32_t)len;
    made->listed = keep(host, name, skip - 1);
    return listing_of(made);
}

static cpubind_input list_input(void *ctx, const char *name)
{
    cpubind_corpus_host *host = ctx;
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    for (const memory *known = host->memory; known; known = known->next)
        if (known->listed && strcmp(known->listed, name) == 0)
            return listing_of(known);
    if (is_below(host, first_below(host, name), name))
        return make_listing(host, name);
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
