/* fuzz_corpus.c - fuzz target: read an untrusted database, then add a host to it
 * SPDX-License-Identifier: MIT
 *
 * The input is the database file. Everything read from the file keeps the promises of
 * adapters/sqlite/corpus.h, and a second reading gives the same. Then the target adds a host:
 * when adding fails or is not committed, the file has the same bytes as before; when the commit
 * returns OK, the host can be read.
 *
 * The file is in TMPDIR, else in /dev/shm, else in /tmp; each input overwrites the file.
 */
#include "../fuzz.h"

#include <sha2.h>
#include <unistd.h>

#include "../../adapters/sqlite/corpus.h"
#include "../../adapters/sqlite/store.h"
#include "../../adapters/text/input_name.h"

/* The target ignores a longer file, and the hosts after the first MAX_HOSTS. */
#define MAX_FILE  (1 << 18)
#define MAX_HOSTS 40

static char path[256];

/* == The file =============================================================== */

static void remove_one(const char *suffix)
{
    char name[sizeof path + 16];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    (void)unlink(name);
}

static void remove_files(void)
{
    remove_one("");
    remove_one("-journal");
    remove_one("-wal");
    remove_one("-shm");
}

static void choose_path(void)
{
    const char *folder = getenv("TMPDIR");
    if (path[0])
        return;
    if (!folder || !*folder)
        folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(path, sizeof path, "%s/cpubind-fuzz-%ld.db", folder, (long)getpid());
    (void)atexit(remove_files);
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *file;
    remove_files();
    file = fopen(path, "wbe");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static int file_holds(const uint8_t *data, size_t size)
{
    char *bytes = (char *)fuzz_filled(size + 1, 0);
    FILE *file = fopen(path, "rbe");
    size_t n = file ? fread(bytes, 1, size + 1, file) : 0;
    const int same = file && n == size && fuzz_same(bytes, data, size);
    if (file)
        (void)fclose(file);
    free(bytes);
    return same;
}

/* == The reader ============================================================= */

/* A fault has a printable message, and its status has a name. */
static void check_fault(cpubind_corpus_status status, const cpubind_corpus_fault *fault)
{
    const char *end = (const char *)memchr(fault->message, '\0', sizeof fault->message);
    CHECK(strcmp(cpubind_corpus_status_name(status), "?") != 0);
    CHECK(fault->what && fault->what[0]);
    CHECK(end != NULL);
    for (const char *c = fault->message; c < end; c++)
        CHECK(*c >= ' ' && *c <= '~');
}

static int is_same_about(const cpubind_corpus_about *a, const cpubind_corpus_about *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->product, b->product) == 0 &&
           strcmp(a->origin, b->origin) == 0 && strcmp(a->npu_smi, b->npu_smi) == 0 &&
           strcmp(a->notes, b->notes) == 0;
}

static int is_same_input(cpubind_input a, cpubind_input b)
{
    return a.state == b.state && a.len == b.len && a.data == b.data &&
           a.exit_code == b.exit_code && a.error == b.error && a.why == b.why &&
           a.err == b.err && a.err_len == b.err_len;
}

/* Does the listing have this line? */
static int has_line(cpubind_input input, const char *name, size_t len)
{
    for (int32_t at = 0; at < input.len;) {
        const char *line = input.data + at;
        const char *end = (const char *)memchr(line, '\n', (size_t)(input.len - at));
        CHECK(end > line);
        if ((size_t)(end - line) == len && memcmp(line, name, len) == 0)
            return 1;
        at += (int32_t)(end - line) + 1;
    }
    return 0;
}

/* Each folder above an input lists the next part of its name. */
static void check_folders(cpubind_source source, const char *name)
{
    char folder[CPUBIND_INPUT_NAME_MAX + 1];
    for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
        cpubind_input lines;
        memcpy(folder, name, (size_t)(end - name));
        folder[end - name] = '\0';
        lines = source.list(source.ctx, folder);
        CHECK(lines.state == CPUBIND_INPUT_PRESENT);
        CHECK(is_same_input(lines, source.list(source.ctx, folder)));
        CHECK(has_line(lines, end + 1, strcspn(end + 1, "/")));
    }
}

static void check_entry(cpubind_source source, const cpubind_corpus_entry *entry)
{
    const cpubind_input input = entry->input;
    char sum[SHA256_DIGEST_STRING_LENGTH];
    CHECK(cpubind_input_is_name(entry->name));
    CHECK(is_same_input(input, source.read(source.ctx, entry->name)));
    CHECK(input.exit_code >= 0 && input.exit_code <= 255);
    CHECK(input.state != CPUBIND_INPUT_ABSENT);
    CHECK((input.len > 0) == (input.data != NULL));
    CHECK(input.state == CPUBIND_INPUT_PRESENT || input.len == 0);
    CHECK((entry->sha256 == NULL) == (input.state == CPUBIND_INPUT_FAILED));
    if (input.state == CPUBIND_INPUT_PRESENT) {
        SHA256Data((const uint8_t *)(input.len ? input.data : ""), (size_t)input.len, sum);
        CHECK(strcmp(sum, entry->sha256) == 0);
    }
    check_folders(source, entry->name);
}

/* The order of inputs in a corpus a second time: by bytes, with "/" before every other byte. */
static int is_before(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    if (a[i] == b[i])
        return 0;
    if (!a[i] || !b[i])
        return !a[i];
    if (a[i] == '/' || b[i] == '/')
        return a[i] == '/';
    return (unsigned char)a[i] < (unsigned char)b[i];
}

static void check_host(cpubind_corpus_host *host, const cpubind_corpus_about *about)
{
    const cpubind_corpus_about row = cpubind_corpus_about_host(host);
    const cpubind_source source = cpubind_corpus_source(host);
    CHECK(is_same_about(&row, about));
    for (int32_t i = 0; i < cpubind_corpus_n_input(host); i++) {
        const cpubind_corpus_entry entry = cpubind_corpus_input_at(host, i);
        CHECK(i == 0 || is_before(cpubind_corpus_input_at(host, i - 1).name, entry.name));
        check_entry(source, &entry);
    }
    for (int32_t i = 0; i < cpubind_corpus_n_expectation(host); i++) {
        const cpubind_corpus_expectation e = cpubind_corpus_expectation_at(host, i);
        CHECK(e.len >= 0 && strlen(e.body) == (size_t)e.len && e.name[0] &&
              !strchr(e.name, '/'));
        CHECK(i == 0 || strcmp(cpubind_corpus_expectation_at(host, i - 1).name, e.name) < 0);
    }
    CHECK(source.read(source.ctx, "no/such").state == CPUBIND_INPUT_ABSENT ||
          cpubind_corpus_n_input(host) > 0);
    CHECK(source.read(source.ctx, "../up").error != 0);
}

/* Reads a host of the list. Returns 0 if the host is damaged, else 1. */
static int read_host(cpubind_corpus *corpus, const cpubind_corpus_about *about)
{
    cpubind_corpus_fault fault;
    cpubind_corpus_host *host = (cpubind_corpus_host *)&fault;
    const cpubind_corpus_status status =
        cpubind_corpus_open_host(corpus, about->name, &host, &fault);
    if (status != CPUBIND_CORPUS_OK) {
        CHECK(host == NULL);
        check_fault(status, &fault);
        return 0;
    }
    check_host(host, about);
    cpubind_corpus_close_host(host);
    return 1;
}

/* The hosts of a list, as the visit of shapes comes to them. */
typedef struct visited {
    const cpubind_corpus_about *list; /* NULL: only counted */
    int32_t n, n_shape;
} visited;

static int visit_shape(void *ctx, const cpubind_corpus_shape *shape)
{
    visited *v = (visited *)ctx;
    CHECK(!v->list || is_same_about(&v->list[v->n], &shape->about));
    CHECK((shape->program == NULL) == (shape->body == NULL));
    CHECK(shape->len == (shape->body ? (int32_t)strlen(shape->body) : 0));
    v->n++;
    v->n_shape += shape->program != NULL;
    return 0;
}

static void check_shapes(cpubind_corpus *corpus, const cpubind_corpus_about *list, int32_t n)
{
    cpubind_corpus_fault fault;
    visited v = {list, 0, 0};
    const cpubind_corpus_status status =
        cpubind_corpus_each_shape(corpus, visit_shape, &v, &fault);
    if (status == CPUBIND_CORPUS_OK)
        CHECK(v.n == n);
    else
        check_fault(status, &fault);
}

static void check_corpus(cpubind_corpus *corpus)
{
    cpubind_corpus_fault fault;
    cpubind_corpus_about *list = (cpubind_corpus_about *)&fault, *again = NULL;
    int32_t n = -1, n_again = -1;
    const cpubind_corpus_status status = cpubind_corpus_list(corpus, &list, &n, &fault);
    const cpubind_corpus_status second = cpubind_corpus_list(corpus, &again, &n_again, NULL);
    /* The faults may differ: SQLite caches the part of a damaged schema that it could read. */
    CHECK((second == CPUBIND_CORPUS_OK) == (status == CPUBIND_CORPUS_OK));
    CHECK(n == n_again && n >= 0);
    if (status != CPUBIND_CORPUS_OK) {
        CHECK(n == 0 && !list && !again);
        check_fault(status, &fault);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        CHECK(is_same_about(&list[i], &again[i]));
        CHECK(i == 0 || strcmp(list[i - 1].name, list[i].name) < 0);
    }
    for (int32_t i = 0; i < n && i < MAX_HOSTS; i++)
        CHECK(read_host(corpus, &list[i]) == read_host(corpus, &list[i]));
    check_shapes(corpus, list, n);
    cpubind_corpus_free_list(list);
    cpubind_corpus_free_list(again);
}

static void check_reader(void)
{
    cpubind_corpus_fault fault;
    cpubind_corpus *corpus = (cpubind_corpus *)&fault;
    const cpubind_corpus_status status = cpubind_corpus_open(path, &corpus, &fault);
    if (status != CPUBIND_CORPUS_OK) {
        CHECK(corpus == NULL);
        check_fault(status, &fault);
        return;
    }
    check_corpus(corpus);
    cpubind_corpus_close(corpus);
}

/* == The writer ============================================================= */

static const cpubind_corpus_about added = {"fuzz", "a product", "synthetic", "none", "a note"};
static const char plan[] = "{\"args\": [], \"exit\": 0, \"plan\": {}}\n";

static cpubind_input present(const char *text, int32_t exit_code)
{
    const cpubind_input input = {.state = CPUBIND_INPUT_PRESENT,
                                 .data = text,
                                 .len = (int32_t)strlen(text),
                                 .exit_code = exit_code};
    return input;
}

/* Adds a host with three inputs, an expectation and a shape. Returns the status of the first
 * step that fails, else OK. */
static cpubind_corpus_status change(cpubind_store *store, cpubind_corpus_fault *fault)
{
    const cpubind_input cpus = present("0-31\n", 0), refused = present("no\n", 187);
    const cpubind_input late = {.state = CPUBIND_INPUT_TIMEOUT};
    const cpubind_store_shape shape = {"fuzz\n", 5, "0", "{\"properties\": {}}"};
    char found[8];
    cpubind_corpus_status status = cpubind_store_put_host(store, &added, 1, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_input(store, "fuzz", "proc/self/status", &cpus, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_input(store, "fuzz", "cmd/a.txt", &refused, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_input(store, "fuzz", "cmd/b.txt", &late, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_expectation(store, "fuzz", "default", plan,
                                               (int32_t)sizeof plan - 1, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_shape(store, "fuzz", &shape, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_find_shape(store, &shape, found, (int32_t)sizeof found, fault);
    CHECK(status != CPUBIND_CORPUS_OK || found[0] != '\0');
    return status;
}

static void check_added(void)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_host *host = NULL;
    visited v = {NULL, 0, 0};
    cpubind_source source;
    cpubind_input input;
    CHECK(cpubind_corpus_open(path, &corpus, NULL) == CPUBIND_CORPUS_OK);
    CHECK(cpubind_corpus_each_shape(corpus, visit_shape, &v, NULL) != CPUBIND_CORPUS_OK ||
          v.n_shape >= 1);
    CHECK(cpubind_corpus_open_host(corpus, "fuzz", &host, NULL) == CPUBIND_CORPUS_OK);
    check_host(host, &added);
    source = cpubind_corpus_source(host);
    CHECK(cpubind_corpus_n_input(host) == 3 && cpubind_corpus_n_expectation(host) == 1);
    input = source.read(source.ctx, "cmd/a.txt");
    CHECK(input.state == CPUBIND_INPUT_PRESENT && input.exit_code == 187 && input.len == 3 &&
          memcmp(input.data, "no\n", 3) == 0);
    CHECK(source.read(source.ctx, "cmd/b.txt").state == CPUBIND_INPUT_TIMEOUT);
    CHECK(source.read(source.ctx, "proc/self/status").len == 5);
    CHECK(strcmp(cpubind_corpus_expectation_at(host, 0).body, plan) == 0);
    cpubind_corpus_close_host(host);
    cpubind_corpus_close(corpus);
}

/* Adds a host, and commits if `must_commit` is set. Returns 1 if the commit returned OK. */
static int write_to(const uint8_t *data, size_t size, int must_commit)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_store *store = (cpubind_store *)&fault;
    cpubind_corpus_status status = cpubind_store_open(path, &store, &fault);
    if (status == CPUBIND_CORPUS_OK) {
        status = change(store, &fault);
        if (status == CPUBIND_CORPUS_OK && must_commit)
            status = cpubind_store_commit(store, &fault);
        cpubind_store_close(store);
    } else {
        CHECK(store == NULL);
    }
    if (status != CPUBIND_CORPUS_OK)
        check_fault(status, &fault);
    if (status != CPUBIND_CORPUS_OK || !must_commit)
        CHECK(file_holds(data, size));
    return status == CPUBIND_CORPUS_OK && must_commit;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_FILE)
        return 0;
    choose_path();
    write_file(data, size);
    check_reader();
    CHECK(file_holds(data, size));
    (void)write_to(data, size, 0);
    if (write_to(data, size, 1))
        check_added();
    return 0;
}
