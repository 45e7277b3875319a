/* corpus.c - the row of the corpus: an untrusted database is read, and a host added to it
 * SPDX-License-Identifier: MIT
 *
 * The text is the database file. What is read keeps the promises of adapters/sqlite/corpus.h.
 * When a host cannot be added, or is not committed, the file has the same bytes as before; when
 * the commit returns OK, the host can be read. The file is in TMPDIR, else in /dev/shm, else in
 * /tmp; each text overwrites it.
 */
#include <sha2.h>
#include <stdio.h>
#include <unistd.h>

#include "../../adapters/sqlite/corpus.h"
#include "../../adapters/sqlite/store.h"
#include "../../adapters/text/host_file.h"
#include "../../adapters/text/input_name.h"
#include "readers.h"

/* A longer file is not read, nor the hosts after the first MAX_HOSTS. */
enum { MAX_FILE = 1 << 18, MAX_HOSTS = 40 };

static char path[256];

/* == The file =============================================================== */

static void remove_files(void)
{
    static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[sizeof path + 16];
        (void)snprintf(name, sizeof name, "%s%s", path, ends[i]);
        (void)unlink(name);
    }
}

static void write_file(const reading *r)
{
    const char *folder = getenv("TMPDIR");
    FILE *file;
    if (!path[0]) {
        if (!folder || !*folder)
            folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        (void)snprintf(path, sizeof path, "%s/cpubind-read-%ld.db", folder, (long)getpid());
        (void)atexit(remove_files);
    }
    remove_files();
    file = fopen(path, "wbe");
    if (!file || fwrite(r->text, 1, (size_t)r->len, file) != (size_t)r->len ||
        fclose(file) != 0)
        abort();
}

static int is_as_before(const reading *r)
{
    char *bytes = (char *)filled((size_t)r->len + 1, 0);
    FILE *file = fopen(path, "rbe");
    const size_t n = file ? fread(bytes, 1, (size_t)r->len + 1, file) : 0;
    const int is = file && n == (size_t)r->len && is_same(bytes, r->text, n);
    if (file)
        (void)fclose(file);
    free(bytes);
    return is;
}

/* == Reading ================================================================ */

/* A fault has a printable message, and its status has a name. */
static void tell_corpus_fault(reading *r, cpubind_corpus_status status,
                              const cpubind_corpus_fault *fault)
{
    const char *end = (const char *)memchr(fault->message, '\0', sizeof fault->message);
    CHECK(strcmp(cpubind_corpus_status_name(status), "?") != 0);
    CHECK(fault->what && fault->what[0] && end);
    for (const char *c = fault->message; c < end; c++)
        CHECK(*c >= ' ' && *c <= '~');
    tell(r, "%s: %s %s\n", cpubind_corpus_status_name(status), fault->what, fault->message);
}

/* Each folder above an input is listed. */
static void check_folders(cpubind_source source, const char *name)
{
    for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
        char *folder = string_copy(name, (int32_t)(end - name));
        CHECK(source.list(source.ctx, folder).state == CPUBIND_INPUT_PRESENT);
        free(folder);
    }
}

static void tell_entry(reading *r, cpubind_source source, const cpubind_corpus_entry *entry)
{
    const cpubind_input input = entry->input;
    char sum[SHA256_DIGEST_STRING_LENGTH];
    CHECK(cpubind_input_is_name(entry->name));
    CHECK(source.read(source.ctx, entry->name).data == input.data);
    CHECK(input.exit_code >= 0 && input.exit_code <= 255);
    CHECK(input.state != CPUBIND_INPUT_ABSENT && (input.len > 0) == (input.data != NULL));
    CHECK(input.state == CPUBIND_INPUT_PRESENT || input.len == 0);
    CHECK((entry->sha256 == NULL) == (input.state == CPUBIND_INPUT_FAILED));
    if (input.state == CPUBIND_INPUT_PRESENT) {
        SHA256Data((const uint8_t *)(input.len ? input.data : ""), (size_t)input.len, sum);
        CHECK(strcmp(sum, entry->sha256) == 0);
    }
    check_folders(source, entry->name);
    tell(r, "  %s: state %d exit %d, %d bytes\n", entry->name, (int)input.state,
         input.exit_code, input.len);
}

static void tell_host(reading *r, cpubind_corpus_host *host, const char *name)
{
    const cpubind_source source = cpubind_corpus_source(host);
    const int32_t n = cpubind_corpus_n_input(host);
    CHECK(strcmp(cpubind_corpus_about_host(host).name, name) == 0);
    for (int32_t i = 0; i < n; i++) {
        const cpubind_corpus_entry entry = cpubind_corpus_input_at(host, i);
        CHECK(i == 0 || cpubind_host_file_order(cpubind_corpus_input_at(host, i - 1).name,
                                                entry.name) < 0);
        tell_entry(r, source, &entry);
    }
    for (int32_t i = 0; i < cpubind_corpus_n_expectation(host); i++) {
        const cpubind_corpus_expectation e = cpubind_corpus_expectation_at(host, i);
        CHECK(e.len >= 0 && strlen(e.body) == (size_t)e.len && e.name[0]);
        CHECK(!strchr(e.name, '/'));
        CHECK(i == 0 || strcmp(cpubind_corpus_expectation_at(host, i - 1).name, e.name) < 0);
        tell(r, "  expects %s, %d bytes\n", e.name, e.len);
    }
    CHECK(source.read(source.ctx, "no/such").state == CPUBIND_INPUT_ABSENT || n > 0);
    CHECK(source.read(source.ctx, "../up").error != 0);
}

static void tell_host_of(reading *r, cpubind_corpus *corpus, const char *name)
{
    cpubind_corpus_fault fault;
    cpubind_corpus_host *host = (cpubind_corpus_host *)&fault;
    const cpubind_corpus_status status = cpubind_corpus_open_host(corpus, name, &host, &fault);
    CHECK(status == CPUBIND_CORPUS_OK || !host);
    if (status != CPUBIND_CORPUS_OK) {
        tell_corpus_fault(r, status, &fault);
        return;
    }
    tell_host(r, host, name);
    cpubind_corpus_close_host(host);
}

/* Hosts and shapes, as they are visited. */
typedef struct visited {
    int32_t n, n_shape;
} visited;

static int visit_shape(void *ctx, const cpubind_corpus_shape *shape)
{
    visited *v = (visited *)ctx;
    CHECK((shape->program == NULL) == (shape->body == NULL));
    CHECK(shape->len == (shape->body ? (int32_t)strlen(shape->body) : 0));
    v->n++;
    v->n_shape += shape->program != NULL;
    return 0;
}

static void tell_corpus(reading *r, cpubind_corpus *corpus)
{
    cpubind_corpus_fault fault;
    cpubind_corpus_about *list = (cpubind_corpus_about *)&fault, *again = NULL;
    int32_t n = -1, n_again = -1;
    cpubind_corpus_status status = cpubind_corpus_list(corpus, &list, &n, &fault);
    /* The faults may differ: SQLite caches the part of a damaged schema that it could read. */
    CHECK((cpubind_corpus_list(corpus, &again, &n_again, NULL) == CPUBIND_CORPUS_OK) ==
          (status == CPUBIND_CORPUS_OK));
    CHECK(n == n_again && n >= 0);
    if (status != CPUBIND_CORPUS_OK) {
        CHECK(n == 0 && !list && !again);
        tell_corpus_fault(r, status, &fault);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        CHECK(i == 0 || strcmp(list[i - 1].name, list[i].name) < 0);
        tell(r, "host %s, %s\n", list[i].name, list[i].product);
        if (i < MAX_HOSTS)
            tell_host_of(r, corpus, list[i].name);
    }
    visited v = {0, 0};
    status = cpubind_corpus_each_shape(corpus, visit_shape, &v, &fault);
    CHECK(status != CPUBIND_CORPUS_OK || v.n == n);
    if (status != CPUBIND_CORPUS_OK)
        tell_corpus_fault(r, status, &fault);
    cpubind_corpus_free_list(list);
    cpubind_corpus_free_list(again);
}

/* == Writing ================================================================ */

static const cpubind_corpus_about added = {"fuzz", "a product", "synthetic", "none", "a note"};
static const char plan[] = "{\"args\": [], \"exit\": 0, \"plan\": {}}\n";

/* Adds a host with three inputs, an expectation and a shape. Returns the status of the first
 * step that fails, else OK. */
static cpubind_corpus_status add_host(cpubind_store *store, cpubind_corpus_fault *fault)
{
    static const struct {
        const char *name;
        cpubind_input input;
    } inputs[] = {
        {"proc/self/status", {.state = CPUBIND_INPUT_PRESENT, .data = "0-31\n", .len = 5}},
        {"cmd/a.txt",
         {.state = CPUBIND_INPUT_PRESENT, .data = "no\n", .len = 3, .exit_code = 187}},
        {"cmd/b.txt", {.state = CPUBIND_INPUT_TIMEOUT}},
    };
    const cpubind_store_shape shape = {"fuzz\n", 5, "0", "{\"properties\": {}}"};
    char found[8];
    cpubind_corpus_status status = cpubind_store_put_host(store, &added, 1, fault);
    for (int i = 0; i < 3 && status == CPUBIND_CORPUS_OK; i++)
        status =
            cpubind_store_put_input(store, "fuzz", inputs[i].name, &inputs[i].input, fault);
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

static void check_added(reading *r)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_host *host = NULL;
    visited v = {0, 0};
    cpubind_source source;
    cpubind_input input;
    CHECK(cpubind_corpus_open(path, &corpus, NULL) == CPUBIND_CORPUS_OK);
    CHECK(cpubind_corpus_each_shape(corpus, visit_shape, &v, NULL) != CPUBIND_CORPUS_OK ||
          v.n_shape >= 1);
    CHECK(cpubind_corpus_open_host(corpus, "fuzz", &host, NULL) == CPUBIND_CORPUS_OK);
    tell_host(r, host, added.name);
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

/* Adds a host, as a whole or not at all. */
static void write_to(reading *r, int must_commit)
{
    cpubind_corpus_fault fault = {0, 0, "", ""};
    cpubind_store *store = (cpubind_store *)&fault;
    cpubind_corpus_status status = cpubind_store_open(path, &store, &fault);
    CHECK(status == CPUBIND_CORPUS_OK || !store);
    if (status == CPUBIND_CORPUS_OK) {
        status = add_host(store, &fault);
        if (status == CPUBIND_CORPUS_OK && must_commit)
            status = cpubind_store_commit(store, &fault);
        cpubind_store_close(store);
    }
    if (status != CPUBIND_CORPUS_OK)
        tell_corpus_fault(r, status, &fault);
    if (status != CPUBIND_CORPUS_OK || !must_commit)
        CHECK(is_as_before(r));
    else
        check_added(r);
}

/* == Arguments ============================================================== */

#define REFUSED(call) CHECK((call) == CPUBIND_CORPUS_ERR_ARG)

/* A function refuses what it must not be called with. */
static void check_reader_arguments(void)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_host *host = NULL;
    cpubind_corpus_about *list = NULL;
    int32_t n = 0;
    REFUSED(cpubind_corpus_open(NULL, &corpus, NULL));
    REFUSED(cpubind_corpus_open(path, NULL, NULL));
    CHECK(cpubind_corpus_open("", &corpus, NULL) == CPUBIND_CORPUS_ERR_OPEN);
    CHECK(cpubind_corpus_open(path, &corpus, NULL) == CPUBIND_CORPUS_OK);
    REFUSED(cpubind_corpus_list(NULL, &list, &n, NULL));
    REFUSED(cpubind_corpus_list(corpus, NULL, &n, NULL));
    REFUSED(cpubind_corpus_list(corpus, &list, NULL, NULL));
    REFUSED(cpubind_corpus_each_shape(corpus, NULL, NULL, NULL));
    REFUSED(cpubind_corpus_open_host(corpus, NULL, &host, NULL));
    REFUSED(cpubind_corpus_open_host(NULL, "fuzz", &host, NULL));
    REFUSED(cpubind_corpus_open_host(corpus, "fuzz", NULL, NULL));
    cpubind_corpus_close(corpus);
}

static void check_writer_arguments(void)
{
    static const cpubind_input input = {.state = CPUBIND_INPUT_PRESENT, .data = "x", .len = 1},
                               bad[] = {
                                   {.state = CPUBIND_INPUT_ABSENT},
                                   {.state = CPUBIND_INPUT_TIMEOUT, .data = "x", .len = 1},
                                   {.state = CPUBIND_INPUT_PRESENT, .len = 1},
                                   {.state = CPUBIND_INPUT_PRESENT, .data = "x", .len = -1},
                                   {.data = "x", .len = 1, .err_len = -1},
                                   {.data = "x", .len = 1, .err_len = 1}};
    static const cpubind_store_shape shape = {"x", 1, "1.0", NULL};
    cpubind_corpus_about about = added;
    const char **const texts[] = {&about.name, &about.product, &about.origin, &about.npu_smi,
                                  &about.notes};
    cpubind_store *store = NULL;
    REFUSED(cpubind_store_open(NULL, &store, NULL));
    REFUSED(cpubind_store_open(path, NULL, NULL));
    CHECK(cpubind_store_open("", &store, NULL) == CPUBIND_CORPUS_ERR_OPEN);
    CHECK(cpubind_store_open(path, &store, NULL) == CPUBIND_CORPUS_OK);
    REFUSED(cpubind_store_put_host(store, NULL, 0, NULL));
    REFUSED(cpubind_store_put_host(NULL, &about, 0, NULL));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *const good = *texts[i];
        *texts[i] = NULL;
        REFUSED(cpubind_store_put_host(store, &about, 0, NULL));
        *texts[i] = good;
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(cpubind_store_put_input(store, "fuzz", "cmd/a", &bad[i], NULL));
    REFUSED(cpubind_store_put_input(NULL, "fuzz", "a", &input, NULL));
    REFUSED(cpubind_store_put_input(store, NULL, "a", &input, NULL));
    REFUSED(cpubind_store_put_input(store, "fuzz", NULL, &input, NULL));
    REFUSED(cpubind_store_put_input(store, "fuzz", "a", NULL, NULL));
    REFUSED(cpubind_store_put_expectation(NULL, "fuzz", "a", plan, 1, NULL));
    REFUSED(cpubind_store_put_expectation(store, "fuzz", "a", NULL, 1, NULL));
    REFUSED(cpubind_store_put_expectation(store, "fuzz", "a", plan, -1, NULL));
    REFUSED(cpubind_store_put_shape(store, "fuzz", &shape, NULL));
    REFUSED(cpubind_store_remove_host(store, NULL, NULL));
    REFUSED(cpubind_store_remove_host(NULL, "fuzz", NULL));
    REFUSED(cpubind_store_remove_expectation(store, "fuzz", NULL, NULL));
    REFUSED(cpubind_store_rename_host(store, "fuzz", NULL, NULL));
    REFUSED(cpubind_store_commit(NULL, NULL));
    CHECK(cpubind_store_commit(store, NULL) == CPUBIND_CORPUS_OK);
    REFUSED(cpubind_store_commit(store, NULL));
    REFUSED(cpubind_store_remove_host(store, "fuzz", NULL)); /* it can only be closed */
    cpubind_store_close(store);
    cpubind_store_close(NULL);
    cpubind_corpus_close(NULL);
    cpubind_corpus_close_host(NULL);
}

static void read_corpus(reading *r)
{
    cpubind_corpus_fault fault;
    cpubind_corpus *corpus = (cpubind_corpus *)&fault;
    cpubind_corpus_status status;
    int is_empty;
    if (r->len > MAX_FILE)
        return;
    write_file(r);
    status = cpubind_corpus_open(path, &corpus, &fault);
    CHECK(status == CPUBIND_CORPUS_OK || !corpus);
    if (status == CPUBIND_CORPUS_OK) {
        tell_corpus(r, corpus);
        cpubind_corpus_close(corpus);
    } else {
        tell_corpus_fault(r, status, &fault);
    }
    CHECK(is_as_before(r));
    is_empty = status == CPUBIND_CORPUS_OK && r->said.len == 0;
    write_to(r, 0);
    write_to(r, 1);
    if (is_empty && !is_as_before(r)) { /* of few inputs, for time */
        check_reader_arguments();
        check_writer_arguments();
    }
}

static const reader rows[] = {
    {"corpus", read_corpus, "", NULL, "corpus", 16384},
};

READERS(rows)
