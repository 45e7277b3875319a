/* corpus.c - the row of the corpus: an untrusted database is read, and a host added to it
 * SPDX-License-Identifier: MIT
 *
 * The text is the bytes of the database. What is read keeps the promises of
 * adapters/sqlite/corpus.h. When a change is finished, its host can be read.
 */
#include <sha2.h>
#include <stdio.h>

#include "../../adapters/sqlite/corpus.h"
#include "../../adapters/text/host_file.h"
#include "../../adapters/text/input_name.h"
#include "readers.h"

/* A longer file is not read, nor the hosts after the first MAX_HOSTS. */
enum { MAX_FILE = 1 << 18, MAX_HOSTS = 40 };

/* == Reading ================================================================ */

/* A fault has a printable message, and its status has a text. */
static void tell_corpus_fault(reading *r, const cpubind_corpus_fault *fault)
{
    const char *end = (const char *)memchr(fault->message, '\0', sizeof fault->message);
    CHECK(strcmp(cpubind_corpus_status_text(fault->status), "?") != 0);
    CHECK(fault->what && fault->what[0] && end);
    for (const char *c = fault->message; c < end; c++)
        CHECK(*c >= ' ' && *c <= '~');
    tell(r, "%s: %s %s\n", cpubind_corpus_status_text(fault->status), fault->what,
         fault->message);
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
    CHECK((input.len > 0) == (input.data != NULL));
    CHECK(input.state == CPUBIND_INPUT_PRESENT ||
          (input.state == CPUBIND_INPUT_TIMEOUT && input.len == 0));
    SHA256Data((const uint8_t *)(input.len ? input.data : ""), (size_t)input.len, sum);
    CHECK(strcmp(sum, entry->sha256) == 0);
    check_folders(source, entry->name);
    tell(r, "  %s: state %d exit %d, %d bytes\n", entry->name, (int)input.state,
         input.exit_code, input.len);
}

static void tell_host(reading *r, cpubind_corpus_host *host, const char *name)
{
    const cpubind_source source = cpubind_corpus_source(host);
    CHECK(strcmp(host->about.name, name) == 0);
    CHECK((host->about.program == NULL) == (host->about.shape == NULL));
    for (int32_t i = 0; i < host->n_input; i++) {
        CHECK(i == 0 ||
              cpubind_host_file_order(host->input[i - 1].name, host->input[i].name) < 0);
        tell_entry(r, source, &host->input[i]);
    }
    for (int32_t i = 0; i < host->n_expectation; i++) {
        const cpubind_corpus_expectation e = host->expectation[i];
        CHECK(e.len >= 0 && strlen(e.body) == (size_t)e.len && e.name[0]);
        CHECK(!strchr(e.name, '/'));
        CHECK(i == 0 || strcmp(host->expectation[i - 1].name, e.name) < 0);
        tell(r, "  expects %s, %d bytes\n", e.name, e.len);
    }
    CHECK(source.read(source.ctx, "no/such").state == CPUBIND_INPUT_ABSENT ||
          host->n_input > 0);
    CHECK(source.read(source.ctx, "../up").error != 0);
}

/* The hosts of a corpus, as they are visited. */
typedef struct visited {
    reading *r;
    cpubind_corpus *corpus;
    int32_t n;
    char last[256];
} visited;

/* A cpubind_corpus_visit; with a reading it opens the first hosts. */
static int visit_host(void *ctx, const cpubind_corpus_about *about)
{
    visited *v = (visited *)ctx;
    CHECK(v->n == 0 || strcmp(v->last, about->name) < 0);
    (void)snprintf(v->last, sizeof v->last, "%s", about->name);
    if (v->n++ >= MAX_HOSTS || !v->r)
        return 0;
    cpubind_corpus_host *host = NULL;
    tell(v->r, "host %s, %s\n", about->name, about->product);
    const cpubind_corpus_fault fault = cpubind_corpus_open_host(v->corpus, about->name, &host);
    CHECK((fault.status == CPUBIND_CORPUS_OK) == (host != NULL));
    if (host)
        tell_host(v->r, host, about->name);
    else
        tell_corpus_fault(v->r, &fault);
    cpubind_corpus_close_host(host);
    return 0;
}

/* Two walks visit the same hosts, unless the database is damaged: SQLite says so where it meets
 * the damage, which depends on what it has in its cache. */
static void tell_corpus(reading *r, cpubind_corpus *corpus)
{
    visited first = {.r = r, .corpus = corpus}, again = {0};
    const cpubind_corpus_fault fault = cpubind_corpus_each(corpus, visit_host, &first);
    const cpubind_corpus_fault second = cpubind_corpus_each(corpus, visit_host, &again);
    if (fault.status == CPUBIND_CORPUS_OK && second.status == CPUBIND_CORPUS_OK)
        CHECK(first.n == again.n);
    if (fault.status)
        tell_corpus_fault(r, &fault);
}

/* == Writing ================================================================ */

static const cpubind_corpus_about added = {
    .name = "fuzz", .product = "p", .origin = "synthetic", .npu_smi = "none", .notes = "n"};
static const char plan[] = "{\"args\": [], \"exit\": 0, \"plan\": {}}\n";

/* Adds a host with three inputs, an expectation and a shape. Returns the fault of the first
 * step that fails, which is that of all later ones. */
static cpubind_corpus_fault add_host(cpubind_corpus *corpus)
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
    const cpubind_corpus_shape shape = {"fuzz\n", 5, "0", "{\"properties\": {}}"};
    const char *found = NULL;
    cpubind_corpus_fault fault = cpubind_corpus_put_host(corpus, &added, 1);
    for (int i = 0; i < 3; i++)
        (void)cpubind_corpus_put_input(corpus, "fuzz", inputs[i].name, &inputs[i].input);
    (void)cpubind_corpus_put_expectation(corpus, "fuzz", "default", plan,
                                         (int32_t)sizeof plan - 1);
    (void)cpubind_corpus_put_shape(corpus, "fuzz", &shape);
    const cpubind_corpus_fault last = cpubind_corpus_find_shape(corpus, &shape, &found);
    CHECK(last.status || found);
    CHECK(!fault.status || fault.status == last.status);
    return last;
}

static void check_added(reading *r, const char *bytes, int32_t len)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_host *host = NULL;
    CHECK(cpubind_corpus_open(bytes, len, 0, &corpus).status == CPUBIND_CORPUS_OK);
    CHECK(cpubind_corpus_open_host(corpus, "fuzz", &host).status == CPUBIND_CORPUS_OK);
    tell_host(r, host, added.name);
    const cpubind_source source = cpubind_corpus_source(host);
    CHECK(host->n_input == 3 && host->n_expectation == 1 && host->about.program);
    const cpubind_input input = source.read(source.ctx, "cmd/a.txt");
    CHECK(input.state == CPUBIND_INPUT_PRESENT && input.exit_code == 187 && input.len == 3 &&
          memcmp(input.data, "no\n", 3) == 0);
    CHECK(source.read(source.ctx, "cmd/b.txt").state == CPUBIND_INPUT_TIMEOUT);
    CHECK(source.read(source.ctx, "proc/self/status").len == 5);
    CHECK(strcmp(host->expectation[0].body, plan) == 0);
    cpubind_corpus_close_host(host);
    cpubind_corpus_close(corpus);
}

/* Adds a host to a copy of the text, and reads what came of it. */
static void change(reading *r, const char *text, int32_t len)
{
    cpubind_corpus *corpus = NULL;
    const char *bytes = NULL;
    int32_t n = 0;
    cpubind_corpus_fault fault = cpubind_corpus_open(text, len, 1, &corpus);
    CHECK((fault.status == CPUBIND_CORPUS_OK) == (corpus != NULL));
    if (corpus)
        fault = add_host(corpus);
    if (corpus && !fault.status)
        fault = cpubind_corpus_finish(corpus, &bytes, &n);
    if (fault.status)
        tell_corpus_fault(r, &fault);
    else
        check_added(r, bytes, n);
    cpubind_corpus_close(corpus);
}

static void read_corpus(reading *r)
{
    cpubind_corpus *corpus = NULL;
    if (r->len > MAX_FILE)
        return;
    const cpubind_corpus_fault fault = cpubind_corpus_open(r->text, r->len, 0, &corpus);
    CHECK((fault.status == CPUBIND_CORPUS_OK) == (corpus != NULL));
    if (corpus)
        tell_corpus(r, corpus);
    else
        tell_corpus_fault(r, &fault);
    cpubind_corpus_close(corpus);
    cpubind_corpus_close_host(NULL);
    change(r, r->text, r->len);
}

static const reader rows[] = {
    {"corpus", read_corpus, "", NULL, "corpus", 16384},
};

READERS(rows)
