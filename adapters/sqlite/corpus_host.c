/* corpus_host.c - one host of the corpus, read as a whole, as a source
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in corpus.h. A host is an array of inputs sorted by name, an array of
 * expectations, and one pool with every name and every byte of both. Every row is checked
 * against the schema, because a damaged file may break it. Nothing here writes to the file.
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
    size_t name_at, data_at; /* where in the pool they are, while it grows and moves */
    char sum[SUM_SIZE];      /* "" if the bytes are not in the file */
    int is_joined;           /* it is the stderr of another row, and leaves the array */
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
    text_pool texts; /* first those of the row of the host */
    size_t begin;    /* where names and bytes begin; their sum has a limit */
    row *row;        /* ascending in the order of compare_names */
    int32_t n_row, cap_row;
    expectation *expectation;
    int32_t n_expectation, cap_expectation;
    listing *listings;
};

/* == Names ================================================================== */

/* Byte order, but with "/" below every other byte: the names below a folder are adjacent and
 * follow a file of the folder's name. */
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

/* The rows below folder `name`: [*first, result), possibly empty. */
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

/* The array, with space for one more element of `size` bytes, or NULL without memory. */
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

static failure fail_damaged(const char *what)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, what);
}

/* Whether one more row with n bytes stays within the limits. */
static failure check_size(const cpubind_corpus_host *host, int32_t n_rows, size_t n)
{
    if (n_rows < CPUBIND_CORPUS_MAX_INPUTS &&
        host->texts.len - host->begin + n <= CPUBIND_CORPUS_MAX_BYTES)
        return no_failure;
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many inputs, or too many bytes");
}

/* The columns of an input; see `read_inputs`. */
enum { NAME, EXIT_CODE, CONTENT, LENGTH, BYTES };

/* The input of a row, still without its bytes. */
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

/* Whether the input may have this exit code. */
static int is_sound_code(sqlite3_stmt *query, const char *name)
{
    int64_t code = sqlite3_column_int64(query, EXIT_CODE);
    int is_command = strncmp(name, "cmd/", 4) == 0;
    if (sqlite3_column_type(query, EXIT_CODE) == SQLITE_NULL)
        return is_command && sqlite3_column_int64(query, LENGTH) == 0;
    return sqlite3_column_type(query, EXIT_CODE) == SQLITE_INTEGER && code >= 0 &&
           code <= 255 && (code == 0 || is_command);
}

/* Whether length and bytes of a row have the types of the schema. */
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

/* The name of the row. Fails if anything but its bytes breaks the rules. */
static failure name_of(sqlite3_stmt *query, const char **name)
{
    failure f = cpubind_priv_text(query, NAME, name);
    if (f.status)
        return f;
    if (!cpubind_input_is_name(*name))
        return fail_damaged("the name of an input breaks the rules");
    if (!is_sound(query) || !is_sound_code(query, *name))
        return fail_damaged("an input is not of the schema");
    return no_failure;
}

/* Copies the SHA-256 of a row and compares the bytes with it. "" if there are no bytes. */
static failure take_sum(sqlite3_stmt *query, const cpubind_input *input, const void *data,
                        row *taken)
{
    char sum[SUM_SIZE];
    const char *content;
    taken->sum[0] = '\0';
    if (input->state == CPUBIND_INPUT_FAILED)
        return no_failure;
    failure f = cpubind_priv_text(query, CONTENT, &content);
    if (f.status)
        return f;
    if (!is_sum(content))
        return fail_damaged("an input is not of the schema");
    memcpy(taken->sum, content, SUM_SIZE);
    if (input->state == CPUBIND_INPUT_TOO_LONG)
        return no_failure;
    cpubind_priv_sum(data, (size_t)input->len, sum);
    if (memcmp(sum, taken->sum, SUM_SIZE) != 0)
        return fail_damaged("the bytes of an input are not those of its SHA-256");
    return no_failure;
}

/* Appends a row with its name, SHA-256 and bytes. */
static failure take_bytes(sqlite3_stmt *query, const char *name, cpubind_corpus_host *host)
{
    cpubind_input input = answer_of(query);
    size_t len = (size_t)input.len;
    failure f = check_size(host, host->n_row, strlen(name) + 1 + len);
    if (f.status)
        return f;
    const void *data = len ? sqlite3_column_blob(query, BYTES) : NULL;
    if (len && !data)
        return cpubind_priv_fail_memory();
    row *rows = reserve(host->row, host->n_row, &host->cap_row, sizeof *rows);
    if (!rows)
        return cpubind_priv_fail_memory();
    host->row = rows;
    row *taken = &rows[host->n_row];
    if (cpubind_priv_append(&host->texts, name, strlen(name), &taken->name_at) ||
        cpubind_priv_append(&host->texts, data, len, &taken->data_at))
        return cpubind_priv_fail_memory();
    host->texts.len--; /* the NUL after the bytes does not count */
    taken->input = input;
    f = take_sum(query, &input, data, taken);
    host->n_row += !f.status;
    return f;
}

/* Whether a name is above the one at `last`. A tree with a loop in it repeats a name. */
static int ascends(const cpubind_corpus_host *host, int32_t n, size_t last, const char *name)
{
    return n == 0 || strcmp(host->texts.bytes + last, name) < 0;
}

static failure take_input(sqlite3_stmt *query, cpubind_corpus_host *host)
{
    const char *name;
    failure f = name_of(query, &name);
    if (f.status)
        return f;
    int32_t n = host->n_row;
    if (!ascends(host, n, n ? host->row[n - 1].name_at : 0, name))
        return fail_damaged("the inputs do not ascend");
    return take_bytes(query, name, host);
}

static failure take_expectation(sqlite3_stmt *query, cpubind_corpus_host *host)
{
    const char *name, *body;
    failure f = cpubind_priv_text(query, 0, &name);
    if (!f.status)
        f = cpubind_priv_text(query, 1, &body);
    if (f.status)
        return f;
    int32_t n = host->n_expectation;
    if (!cpubind_priv_is_word(name))
        return fail_damaged("the name of an expectation breaks the rules");
    if (!ascends(host, n, n ? host->expectation[n - 1].name_at : 0, name))
        return fail_damaged("the expectations do not ascend");
    f = check_size(host, n, strlen(name) + strlen(body) + 2);
    if (f.status)
        return f;
    expectation taken = {.len = (int32_t)strlen(body)};
    expectation *all =
        reserve(host->expectation, n, &host->cap_expectation, sizeof *host->expectation);
    if (!all)
        return cpubind_priv_fail_memory();
    host->expectation = all;
    if (cpubind_priv_append(&host->texts, name, strlen(name), &taken.name_at) ||
        cpubind_priv_append(&host->texts, body, (size_t)taken.len, &taken.body_at))
        return cpubind_priv_fail_memory();
    host->expectation[host->n_expectation++] = taken;
    return no_failure;
}

static failure take_host(sqlite3_stmt *query, cpubind_corpus_host *host)
{
    size_t at;
    failure f = cpubind_priv_append_about(query, &host->texts, &at);
    host->begin = host->texts.len;
    return f;
}

/* Adds a row of a query to a host. */
typedef failure row_reader(sqlite3_stmt *query, cpubind_corpus_host *host);

/* Reads all rows of a query. ?1 is the name of the host, ?2 the size limit of an input. */
static failure read_rows(database *d, const char *sql, const char *name,
                         cpubind_corpus_host *host, row_reader *take)
{
    sqlite3_stmt *query = NULL;
    failure f = no_failure;
    int result = sqlite3_prepare_v2(d->db, sql, -1, &query, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    if (result == SQLITE_OK && sqlite3_bind_parameter_count(query) > 1)
        result = sqlite3_bind_int(query, 2, INPUT_MAX);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    for (; result == SQLITE_ROW && !f.status; result = sqlite3_step(query))
        f = take(query, host);
    if (!f.status && result != SQLITE_DONE)
        f = cpubind_priv_fail_sqlite(d, result);
    sqlite3_finalize(query); /* returns the error of the last step again */
    return f;
}

static failure read_tables(database *d, const char *name, cpubind_corpus_host *host)
{
    static const char of_host[] = "SELECT " HOST_COLUMNS " FROM hosts WHERE name = ?1";
    /* The length is a column of its own, so that bytes over the limit are never read. */
    static const char of_inputs[] =
        "SELECT i.name, i.exit_code, i.content, length(c.bytes),"
        "       CASE WHEN length(c.bytes) <= ?2 THEN c.bytes END"
        "  FROM inputs i LEFT JOIN contents c ON c.sha256 = i.content"
        " WHERE i.host = ?1 ORDER BY i.name";
    static const char of_expectations[] =
        "SELECT name, body FROM expectations WHERE host = ?1 ORDER BY name";
    failure f = read_rows(d, of_host, name, host, take_host);
    if (!f.status && host->texts.len == 0)
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "no such row in hosts");
    if (!f.status)
        f = read_rows(d, of_inputs, name, host, take_input);
    if (!f.status)
        f = read_rows(d, of_expectations, name, host, take_expectation);
    return f;
}

/* The row of the command whose stderr is in row `r`, or NULL. */
static row *command_of(const cpubind_corpus_host *host, const row *r)
{
    static const char end[] = ".txt" ERR_END;
    char name[CPUBIND_INPUT_NAME_MAX + 1];
    const size_t len = strlen(r->name);
    if (strncmp(r->name, "cmd/", 4) != 0 || len < sizeof end ||
        strcmp(r->name + len - (sizeof end - 1), end) != 0)
        return NULL;
    memcpy(name, r->name, len);
    name[len - strlen(ERR_END)] = '\0';
    const int32_t at = lower_bound(host, name);
    return at < host->n_row && strcmp(host->row[at].name, name) == 0 ? &host->row[at] : NULL;
}

/* Makes the rows of stderr a part of the rows of their commands. Such a row without a command
 * stays as it is. */
static void join_err(cpubind_corpus_host *host)
{
    int32_t n = 0;
    for (int32_t i = 0; i < host->n_row; i++) {
        const cpubind_input err = host->row[i].input;
        row *command = command_of(host, &host->row[i]);
        host->row[i].is_joined = command != NULL;
        if (!command || err.state != CPUBIND_INPUT_PRESENT)
            continue;
        command->input.err = err.data;
        command->input.err_len =
            err.len < CPUBIND_INPUT_ERR_MAX ? err.len : CPUBIND_INPUT_ERR_MAX;
    }
    for (int32_t i = 0; i < host->n_row; i++)
        if (!host->row[i].is_joined)
            host->row[n++] = host->row[i];
    host->n_row = n;
}

/* When the pool no longer moves: sets the addresses of names and bytes, and sorts the rows. */
static void settle(cpubind_corpus_host *host)
{
    for (int32_t i = 0; i < host->n_row; i++) {
        row *r = &host->row[i];
        r->name = host->texts.bytes + r->name_at;
        r->input.data = r->input.len ? host->texts.bytes + r->data_at : NULL;
    }
    if (host->n_row)
        qsort(host->row, (size_t)host->n_row, sizeof *host->row, compare_rows);
    join_err(host);
}

static failure read_host(database *d, const char *name, cpubind_corpus_host *host)
{
    sqlite3_stmt *pin = NULL;
    failure f = cpubind_priv_check_tables(d, 0, &pin);
    if (!f.status)
        f = read_tables(d, name, host);
    cpubind_priv_end_reading(d, pin, f.status != CPUBIND_CORPUS_OK);
    if (!f.status)
        settle(host);
    return f;
}

cpubind_corpus_status cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                               cpubind_corpus_host **out,
                                               cpubind_corpus_fault *fault)
{
    failure f = no_failure;
    cpubind_corpus_host *host = NULL;
    if (out)
        *out = NULL;
    if (!corpus || !name || !out)
        f = cpubind_priv_fail_argument();
    else if (strlen(name) > CPUBIND_INPUT_NAME_MAX)
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "the name is too long");
    else if (!(host = sqlite3_malloc64(sizeof *host)))
        f = cpubind_priv_fail_memory();
    if (!host)
        return cpubind_priv_report(&f, fault);
    *host = (cpubind_corpus_host){0};
    f = read_host(&corpus->d, name, host);
    if (f.status)
        cpubind_corpus_close_host(host);
    else
        *out = host;
    return cpubind_priv_report(&f, fault);
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

/* == Contents =============================================================== */

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

/* Writes the distinct parts at byte `skip` of the names of rows [first, end), each with LF, and
 * returns their size. lines NULL: returns the size only. */
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
    if (first == end) {
        const cpubind_input file = read_input(ctx, name);
        const int is_empty = file.state == CPUBIND_INPUT_PRESENT && file.len == 0;
        /* An empty file below proc/ stands for an empty folder. */
        if (file.state == CPUBIND_INPUT_ABSENT || (is_empty && strncmp(name, "proc/", 5) == 0))
            return file;
        return failed(ENOTDIR, "not a folder");
    }
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
