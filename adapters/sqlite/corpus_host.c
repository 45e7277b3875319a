/* corpus_host.c - a host out of the corpus
 * SPDX-License-Identifier: MIT
 *
 * A host is a table of inputs sorted by name, one of expectations, and one pile that holds
 * every name and every byte of both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../text/input_name.h"
#include "corpus.h"
#include "database.h"

#define LIST_MAX (4 << 20)

typedef struct row {
    const char *name; /* ended by NUL */
    cpubind_input input;
    size_t name_at, data_at; /* where in the pile they are, while it still grows */
    char sum[SUM_SIZE];      /* "" where the bytes are not in the file */
} row;

typedef struct expectation {
    size_t name_at, body_at;
    int32_t len;
} expectation;

typedef struct listing {
    struct listing *next;
    cpubind_input input;
    char name[]; /* ended by NUL; the lines follow */
} listing;

struct cpubind_corpus_host {
    pile texts;   /* of the row of the host first */
    size_t begin; /* where the rest begins, which is limited */
    row *row;     /* ascending in the order of compare_names */
    int32_t n_row, cap_row;
    expectation *expectation;
    int32_t n_expectation, cap_expectation;
    listing *listings;
};

/* == Names ================================================================== */

/* Byte order, but with "/" below every other byte: what is below a folder stands together,
 * right behind a file of its name, and the next parts ascend. */
static int compare_names(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int left = *a == '/' ? 1 : (unsigned char)*a;
    int right = *b == '/' ? 1 : (unsigned char)*b;
    return left - right;
}

static int compare_rows(const void *a, const void *b)
{
    return compare_names(((const row *)a)->name, ((const row *)b)->name);
}

/* The first row whose name is not below `name` in that order. */
static int32_t lower_bound(const cpubind_corpus_host *host, const char *name)
{
    int32_t low = 0, high = host->n_row;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (compare_names(host->row[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The rows below folder `name`: [*first, the result), empty when there are none. */
static int32_t rows_below(const cpubind_corpus_host *host, const char *name, int32_t *first)
{
    size_t len = strlen(name);
    int32_t at = lower_bound(host, name);
    while (at < host->n_row && strcmp(host->row[at].name, name) == 0)
        at++;
    *first = at;
    while (at < host->n_row && strncmp(host->row[at].name, name, len) == 0 &&
           host->row[at].name[len] == '/')
        at++;
    return at;
}

/* == Reading a host ========================================================= */

/* The array with room for one more element of `size` bytes, or NULL. */
static void *reserve(void *array, int32_t n, int32_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    int32_t wanted = *cap ? *cap * 2 : 64;
    void *grown = sqlite3_realloc64(array, (size_t)wanted * size);
    if (grown)
        *cap = wanted;
    return grown;
}

static cpubind_input failed(int error, const char *why)
{
    return (cpubind_input){.state = CPUBIND_INPUT_FAILED, .error = error, .why = why};
}

static cpubind_corpus_status fail_damaged(const char *what, cpubind_corpus_fault *fault)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, what, fault);
}

/* Whether n more bytes are too many. */
static cpubind_corpus_status check_size(const cpubind_corpus_host *host, int32_t n_rows,
                                        size_t n, cpubind_corpus_fault *fault)
{
    if (n_rows < CPUBIND_CORPUS_MAX_INPUTS &&
        host->texts.len - host->begin + n <= CPUBIND_CORPUS_MAX_BYTES)
        return CPUBIND_CORPUS_OK;
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many inputs, or too many bytes",
                             fault);
}

/* The columns of an input; see `read_inputs`. */
enum { NAME, EXIT_CODE, CONTENT, LENGTH, BYTES };

/* The answer that a row stands for, still without its bytes. */
static cpubind_input answer_of(sqlite3_stmt *query)
{
    cpubind_input input = {.state = CPUBIND_INPUT_PRESENT};
    if (sqlite3_column_type(query, LENGTH) == SQLITE_NULL)
        return failed(EIO, "content");
    if (sqlite3_column_int64(query, LENGTH) > INPUT_MAX)
        return (cpubind_input){.state = CPUBIND_INPUT_TOO_LONG};
    if (sqlite3_column_type(query, EXIT_CODE) == SQLITE_NULL)
        input.state = CPUBIND_INPUT_TIMEOUT;
    input.exit_code = sqlite3_column_int(query, EXIT_CODE);
    input.len = sqlite3_column_bytes(query, BYTES);
    return input;
}

/* Whether the exit code is one that the input may have. */
static int is_sound_code(sqlite3_stmt *query, const char *name)
{
    int64_t code = sqlite3_column_int64(query, EXIT_CODE);
    int is_command = strncmp(name, "cmd/", 4) == 0;
    if (sqlite3_column_type(query, EXIT_CODE) == SQLITE_NULL)
        return is_command && sqlite3_column_int64(query, LENGTH) == 0;
    return sqlite3_column_type(query, EXIT_CODE) == SQLITE_INTEGER && code >= 0 &&
           code <= 255 && (code == 0 || is_command);
}

/* Whether the bytes of a row have the types of the schema: in a damaged file they may not. */
static int is_sound(sqlite3_stmt *query)
{
    int length_type = sqlite3_column_type(query, LENGTH);
    int type = sqlite3_column_type(query, BYTES);
    return (type == SQLITE_BLOB || type == SQLITE_NULL) &&
           (length_type == SQLITE_INTEGER || length_type == SQLITE_NULL);
}

static int is_sum(const char *text)
{
    return strlen(text) == SUM_SIZE - 1 && strspn(text, "0123456789abcdef") == SUM_SIZE - 1;
}

/* The name of the row, when all but its bytes is sound; else NULL and a fault. */
static const char *name_of(sqlite3_stmt *query, cpubind_corpus_status *status,
                           cpubind_corpus_fault *fault)
{
    const char *name = cpubind_priv_text(query, NAME, status, fault);
    if (!name)
        return NULL;
    if (!cpubind_input_is_name(name)) {
        *status = fail_damaged("the name of an input breaks the rules", fault);
        return NULL;
    }
    if (!is_sound(query) || !is_sound_code(query, name)) {
        *status = fail_damaged("an input is not of the schema", fault);
        return NULL;
    }
    return name;
}

/* The sum of a row, which its bytes must have. "" where there are none. */
static cpubind_corpus_status take_sum(sqlite3_stmt *query, const cpubind_input *input,
                                      const void *data, row *taken, cpubind_corpus_fault *fault)
{
    char sum[SUM_SIZE];
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    taken->sum[0] = '\0';
    if (input->state == CPUBIND_INPUT_FAILED)
        return CPUBIND_CORPUS_OK;
    const char *content = cpubind_priv_text(query, CONTENT, &status, fault);
    if (!content)
        return status;
    if (!is_sum(content))
        return fail_damaged("an input is not of the schema", fault);
    memcpy(taken->sum, content, SUM_SIZE);
    if (input->state == CPUBIND_INPUT_TOO_LONG)
        return CPUBIND_CORPUS_OK;
    cpubind_priv_sum(data, (size_t)input->len, sum);
    if (memcmp(sum, taken->sum, SUM_SIZE) != 0)
        return fail_damaged("the bytes of an input are not those of its SHA-256", fault);
    return CPUBIND_CORPUS_OK;
}

/* A row with its sum and its bytes, behind the others. */
static cpubind_corpus_status take_bytes(sqlite3_stmt *query, const char *name,
                                        cpubind_corpus_host *host, cpubind_corpus_fault *fault)
{
    cpubind_input input = answer_of(query);
    size_t len = (size_t)input.len;
    cpubind_corpus_status status = check_size(host, host->n_row, strlen(name) + 1 + len, fault);
    if (status != CPUBIND_CORPUS_OK)
        return status;
    const void *data = len ? sqlite3_column_blob(query, BYTES) : NULL;
    if (len && !data)
        return cpubind_priv_fail_memory(fault);
    row *rows = reserve(host->row, host->n_row, &host->cap_row, sizeof *rows);
    if (!rows)
        return cpubind_priv_fail_memory(fault);
    host->row = rows;
    row *taken = &rows[host->n_row];
    if (cpubind_priv_pile(&host->texts, name, strlen(name), &taken->name_at) ||
        cpubind_priv_pile(&host->texts, data, len, &taken->data_at))
        return cpubind_priv_fail_memory(fault);
    host->texts.len--; /* the NUL of the bytes does not count */
    taken->input = input;
    status = take_sum(query, &input, data, taken, fault);
    host->n_row += status == CPUBIND_CORPUS_OK;
    return status;
}

/* Whether a name is behind that at `last`: a tree with a loop in it gives one again. */
static int ascends(const cpubind_corpus_host *host, int32_t n, size_t last, const char *name)
{
    return n == 0 || strcmp(host->texts.bytes + last, name) < 0;
}

static cpubind_corpus_status take_input(sqlite3_stmt *query, cpubind_corpus_host *host,
                                        cpubind_corpus_fault *fault)
{
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    const char *name = name_of(query, &status, fault);
    if (!name)
        return status;
    int32_t n = host->n_row;
    if (!ascends(host, n, n ? host->row[n - 1].name_at : 0, name))
        return fail_damaged("the inputs do not ascend", fault);
    return take_bytes(query, name, host, fault);
}

static cpubind_corpus_status take_expectation(sqlite3_stmt *query, cpubind_corpus_host *host,
                                              cpubind_corpus_fault *fault)
{
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    const char *name = cpubind_priv_text(query, 0, &status, fault);
    const char *body = name ? cpubind_priv_text(query, 1, &status, fault) : NULL;
    if (!body)
        return status;
    int32_t n = host->n_expectation;
    if (!cpubind_priv_is_word(name))
        return fail_damaged("the name of an expectation breaks the rules", fault);
    if (!ascends(host, n, n ? host->expectation[n - 1].name_at : 0, name))
        return fail_damaged("the expectations do not ascend", fault);
    status = check_size(host, n, strlen(name) + strlen(body) + 2, fault);
    if (status != CPUBIND_CORPUS_OK)
        return status;
    expectation taken = {.len = (int32_t)strlen(body)};
    expectation *all =
        reserve(host->expectation, n, &host->cap_expectation, sizeof *host->expectation);
    if (!all)
        return cpubind_priv_fail_memory(fault);
    host->expectation = all;
    if (cpubind_priv_pile(&host->texts, name, strlen(name), &taken.name_at) ||
        cpubind_priv_pile(&host->texts, body, (size_t)taken.len, &taken.body_at))
        return cpubind_priv_fail_memory(fault);
    host->expectation[host->n_expectation++] = taken;
    return CPUBIND_CORPUS_OK;
}

static cpubind_corpus_status take_host(sqlite3_stmt *query, cpubind_corpus_host *host,
                                       cpubind_corpus_fault *fault)
{
    size_t at;
    cpubind_corpus_status status = cpubind_priv_take_about(query, &host->texts, &at, fault);
    host->begin = host->texts.len;
    return status;
}

/* What takes a row of a statement. */
typedef cpubind_corpus_status (*taker)(sqlite3_stmt *query, cpubind_corpus_host *host,
                                       cpubind_corpus_fault *fault);

/* All rows of a statement, which is given the name of the host, and the most bytes. */
static cpubind_corpus_status read_rows(database *d, const char *sql, const char *name,
                                       cpubind_corpus_host *host, taker take,
                                       cpubind_corpus_fault *fault)
{
    sqlite3_stmt *query = NULL;
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    int result = sqlite3_prepare_v2(d->db, sql, -1, &query, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    if (result == SQLITE_OK && sqlite3_bind_parameter_count(query) > 1)
        result = sqlite3_bind_int(query, 2, INPUT_MAX);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    for (; result == SQLITE_ROW && status == CPUBIND_CORPUS_OK; result = sqlite3_step(query))
        status = take(query, host, fault);
    if (status == CPUBIND_CORPUS_OK && result != SQLITE_DONE)
        status = cpubind_priv_fail_sqlite(d, result, fault);
    sqlite3_finalize(query); /* repeats what the last step said */
    return status;
}

static cpubind_corpus_status read_tables(database *d, const char *name,
                                         cpubind_corpus_host *host, cpubind_corpus_fault *fault)
{
    static const char of_host[] = "SELECT " HOST_COLUMNS " FROM hosts WHERE name = ?1";
    /* The length apart, so that bytes over the cap are never read. */
    static const char of_inputs[] =
        "SELECT i.name, i.exit_code, i.content, length(c.bytes),"
        "       CASE WHEN length(c.bytes) <= ?2 THEN c.bytes END"
        "  FROM inputs i LEFT JOIN contents c ON c.sha256 = i.content"
        " WHERE i.host = ?1 ORDER BY i.name";
    static const char of_expectations[] =
        "SELECT name, body FROM expectations WHERE host = ?1 ORDER BY name";
    cpubind_corpus_status status = read_rows(d, of_host, name, host, take_host, fault);
    if (status == CPUBIND_CORPUS_OK && host->texts.len == 0)
        status = cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "no such row in hosts",
                                   fault);
    if (status == CPUBIND_CORPUS_OK)
        status = read_rows(d, of_inputs, name, host, take_input, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = read_rows(d, of_expectations, name, host, take_expectation, fault);
    return status;
}

/* The pile no longer moves: names and bytes get their addresses, and rows their order. */
static void settle(cpubind_corpus_host *host)
{
    for (int32_t i = 0; i < host->n_row; i++) {
        row *r = &host->row[i];
        r->name = host->texts.bytes + r->name_at;
        r->input.data = r->input.len ? host->texts.bytes + r->data_at : NULL;
    }
    if (host->n_row)
        qsort(host->row, (size_t)host->n_row, sizeof *host->row, compare_rows);
}

static cpubind_corpus_status read_host(database *d, const char *name, cpubind_corpus_host *host,
                                       cpubind_corpus_fault *fault)
{
    sqlite3_stmt *pin = NULL;
    cpubind_corpus_status status = cpubind_priv_check_tables(d, 0, &pin, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = read_tables(d, name, host, fault);
    cpubind_priv_end_reading(d, pin, status);
    if (status == CPUBIND_CORPUS_OK)
        settle(host);
    return status;
}

cpubind_corpus_status cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                               cpubind_corpus_host **out,
                                               cpubind_corpus_fault *fault)
{
    if (out)
        *out = NULL;
    if (!corpus || !name || !out)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    if (strlen(name) > CPUBIND_INPUT_NAME_MAX)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "the name is too long",
                                 fault);
    cpubind_corpus_host *host = sqlite3_malloc64(sizeof *host);
    if (!host)
        return cpubind_priv_fail_memory(fault);
    *host = (cpubind_corpus_host){0};
    cpubind_corpus_status status = read_host(&corpus->d, name, host, fault);
    if (status != CPUBIND_CORPUS_OK) {
        cpubind_corpus_close_host(host);
        return status;
    }
    *out = host;
    return CPUBIND_CORPUS_OK;
}

void cpubind_corpus_close_host(cpubind_corpus_host *host)
{
    if (!host)
        return;
    while (host->listings) {
        listing *gone = host->listings;
        host->listings = gone->next;
        sqlite3_free(gone);
    }
    sqlite3_free(host->row);
    sqlite3_free(host->expectation);
    sqlite3_free(host->texts.bytes);
    sqlite3_free(host);
}

/* == What is in it ========================================================== */

cpubind_corpus_about cpubind_corpus_about_host(const cpubind_corpus_host *host)
{
    const char *next = NULL;
    return cpubind_priv_about_at(host->texts.bytes, &next);
}

int32_t cpubind_corpus_n_input(const cpubind_corpus_host *host)
{
    return host->n_row;
}

cpubind_corpus_entry cpubind_corpus_input_at(const cpubind_corpus_host *host, int32_t i)
{
    const row *r = &host->row[i];
    return (cpubind_corpus_entry){r->name, *r->sum ? r->sum : NULL, r->input};
}

int32_t cpubind_corpus_n_expectation(const cpubind_corpus_host *host)
{
    return host->n_expectation;
}

cpubind_corpus_expectation cpubind_corpus_expectation_at(const cpubind_corpus_host *host,
                                                         int32_t i)
{
    const expectation *e = &host->expectation[i];
    return (cpubind_corpus_expectation){host->texts.bytes + e->name_at,
                                        host->texts.bytes + e->body_at, e->len};
}

/* == Answers ================================================================ */

static cpubind_input read_input(void *ctx, const char *name)
{
    const cpubind_corpus_host *host = ctx;
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    int32_t at = lower_bound(host, name);
    if (at < host->n_row && strcmp(host->row[at].name, name) == 0)
        return host->row[at].input;
    int32_t first;
    if (rows_below(host, name, &first) > first)
        return failed(EISDIR, "not a regular file");
    return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
}

/* The distinct parts that start at byte `skip` of rows [first, end), each ended by LF; lines
 * NULL asks for their bytes alone. */
static size_t write_parts(const cpubind_corpus_host *host, int32_t first, int32_t end,
                          size_t skip, char *lines)
{
    const char *last = NULL;
    size_t last_len = 0, size = 0;
    for (int32_t i = first; i < end; i++) {
        const char *part = host->row[i].name + skip;
        size_t len = strcspn(part, "/");
        if (last && len == last_len && memcmp(part, last, len) == 0)
            continue;
        if (lines) {
            memcpy(lines + size, part, len);
            lines[size + len] = '\n';
        }
        size += len + 1;
        last = part;
        last_len = len;
    }
    return size;
}

static cpubind_input list_input(void *ctx, const char *name)
{
    cpubind_corpus_host *host = ctx;
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    for (const listing *known = host->listings; known; known = known->next)
        if (strcmp(known->name, name) == 0)
            return known->input;
    int32_t first;
    int32_t end = rows_below(host, name, &first);
    if (first == end)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    size_t name_size = strlen(name) + 1;
    size_t size = write_parts(host, first, end, name_size, NULL);
    if (size > LIST_MAX)
        return (cpubind_input){.state = CPUBIND_INPUT_TOO_LONG};
    listing *made = sqlite3_malloc64(sizeof *made + name_size + size);
    if (!made)
        return failed(ENOMEM, "memory");
    char *lines = made->name + name_size;
    memcpy(made->name, name, name_size);
    write_parts(host, first, end, name_size, lines);
    made->input =
        (cpubind_input){.state = CPUBIND_INPUT_PRESENT, .data = lines, .len = (int32_t)size};
    made->next = host->listings;
    host->listings = made;
    return made->input;
}

cpubind_source cpubind_corpus_source(cpubind_corpus_host *host)
{
    return (cpubind_source){host, read_input, list_input};
}
