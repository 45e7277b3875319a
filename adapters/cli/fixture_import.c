/* fixture_import.c - cpubind fixture import: add hosts, or their shapes, to a corpus
 * SPDX-License-Identifier: MIT
 *
 * One change of the corpus. Without --shapes either all hosts are added, or none, and every
 * file of a folder must be one that fixtures/README.md names; any other file is refused, so
 * that no typing error goes unnoticed. With --shapes a capture that cannot be read is left
 * out: of ten thousand hosts one has always failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ascend/input_list.h"
#include "../linux/source/host_source.h"
#include "../text/host_txt.h"
#include "fixture.h"
#include "output.h"
#include "shape.h"

enum { MAX_SAID = 20 }; /* captures that are left out */

/* One host folder, and the folders inside it that are still to be read. */
typedef struct walk {
    const char *dir; /* for messages */
    cpubind_source source;
    cli_sink *sink;
    api_text *why;
    char **folder;
    int32_t n_folder, cap_folder;
    int32_t n_file;
} walk;

static int refuse(const walk *w, const char *name, const char *what)
{
    return words_fail(API_UNREADABLE, w->why, "\"%s/%s\": %s", w->dir, name, what);
}

/* Refuses a file or a folder that cannot be read. */
static int refuse_answer(const walk *w, const char *name, cpubind_input input)
{
    switch (input.state) {
    case CPUBIND_INPUT_ABSENT:
        return refuse(w, name, "a symbolic link leads nowhere");
    case CPUBIND_INPUT_TOO_LONG:
        return refuse(w, name, "it is too long");
    default:
        break;
    }
    if (input.error == EINVAL && strcmp(input.why, "exit code") == 0)
        return refuse(w, name,
                      "the exit code beside it, cmd/NAME.exit, is neither a number from 0 to "
                      "255 nor the word timeout");
    if (input.error == EINVAL || input.error == EXDEV || input.error == EILSEQ)
        return refuse(w, name, input.why);
    return refuse(w, name, strerror(input.error));
}

static int add_folder(walk *w, const char *name)
{
    if (w->n_folder == w->cap_folder) {
        int32_t cap = w->cap_folder ? w->cap_folder * 2 : 64;
        char **folder = (char **)realloc(w->folder, (size_t)cap * sizeof *folder);
        if (!folder)
            return refuse(w, name, "there is no memory left");
        w->folder = folder;
        w->cap_folder = cap;
    }
    w->folder[w->n_folder] = strdup(name);
    if (!w->folder[w->n_folder])
        return refuse(w, name, "there is no memory left");
    w->n_folder++;
    return API_DONE;
}

/* == Files ================================================================== */

/* Copies the part of `name` between `before` and `after`. Returns 0 when `name` has another
 * form, or when that part is empty or holds a "/". */
static int stem_of(const char *name, const char *before, const char *after, char *out,
                   size_t size)
{
    size_t n = strlen(name), head = strlen(before), tail = strlen(after);
    if (n <= head + tail || strncmp(name, before, head) != 0 ||
        strcmp(name + n - tail, after) != 0)
        return 0;
    n -= head + tail;
    if (n >= size || memchr(name + head, '/', n))
        return 0;
    memcpy(out, name + head, n);
    out[n] = '\0';
    return 1;
}

static int take_expectation(walk *w, const char *name, const char *stem, cpubind_input input)
{
    api_text why = {"", 0};
    words_value *read;
    if (!cpubind_host_txt_is_name(stem))
        return refuse(w, name,
                      "an expectation is named by letters, digits, \".\", \"_\", \"-\"");
    read = cli_read_expectation(input.data, (size_t)input.len, &why);
    if (!read)
        return refuse(w, name, why.text);
    words_free(read);
    return cli_put_expectation(w->sink, stem, input.data, (size_t)input.len, w->why);
}

/* Checks that the output exists; the source has read the exit code and stderr with it. */
static int check_output(walk *w, const char *name, const char *stem)
{
    api_text output = {"", 0};
    api_add(&output, "cmd/%s.txt", stem);
    if (w->source.read(w->source.ctx, output.text).state == CPUBIND_INPUT_ABSENT)
        return refuse(w, name, "there is no output of this command beside it, cmd/NAME.txt");
    return API_DONE;
}

static int take_file(walk *w, const char *name, cpubind_input input)
{
    char stem[CPUBIND_HOST_TXT_NAME_MAX + 2];
    if (strcmp(name, "host.txt") == 0)
        return API_DONE;
    if (stem_of(name, "expect/", ".json", stem, sizeof stem))
        return take_expectation(w, name, stem, input);
    if (stem_of(name, "cmd/", ".exit", stem, sizeof stem))
        return check_output(w, name, stem);
    if (stem_of(name, "cmd/", ".txt.err", stem, sizeof stem))
        return check_output(w, name, stem);
    if (!cpubind_input_list_has(name))
        return refuse(w, name,
                      "this is no input of a host; fixtures/README.md lists them, and cpubind "
                      "capture --root takes them out of a copy of /proc and /sys");
    return cli_put_input(w->sink, name, &input, w->why);
}

static int take_name(walk *w, const char *name)
{
    cpubind_input input = w->source.read(w->source.ctx, name);
    if (input.state == CPUBIND_INPUT_FAILED && input.error == EISDIR)
        return add_folder(w, name);
    if (input.state != CPUBIND_INPUT_PRESENT && input.state != CPUBIND_INPUT_TIMEOUT)
        return refuse_answer(w, name, input);
    if (++w->n_file > CPUBIND_CORPUS_MAX_INPUTS)
        return refuse(w, name, "a host does not have that many files");
    return take_file(w, name, input);
}

/* == Folders ================================================================ */

static int take_folder(walk *w, const char *folder)
{
    cpubind_input listing = w->source.list(w->source.ctx, folder);
    int status = API_DONE;
    if (listing.state != CPUBIND_INPUT_PRESENT)
        return refuse_answer(w, folder, listing);
    for (int32_t at = 0; status == API_DONE && at < listing.len;) {
        const char *line = listing.data + at;
        int n = (int)strcspn(line, "\n");
        api_text name = {"", 0};
        if (strcmp(folder, ".") == 0)
            api_add(&name, "%.*s", n, line);
        else
            api_add(&name, "%s/%.*s", folder, n, line);
        status = take_name(w, name.text);
        at += n + 1;
    }
    return status;
}

static int take_all(walk *w)
{
    int status = add_folder(w, ".");
    for (int32_t i = 0; status == API_DONE && i < w->n_folder; i++)
        status = take_folder(w, w->folder[i]);
    for (int32_t i = 0; i < w->n_folder; i++)
        free(w->folder[i]);
    free(w->folder);
    return status;
}

/* Reads host.txt and puts a NUL after each value. Returns the text, which the caller frees;
 * NULL when it cannot be read. */
static char *read_about(walk *w, cpubind_corpus_about *out)
{
    cpubind_input input = w->source.read(w->source.ctx, "host.txt");
    cpubind_text_fault fault = {0, "it cannot be read"};
    cpubind_host_txt about;
    char *text;
    if (input.state == CPUBIND_INPUT_ABSENT) {
        (void)refuse(w, "host.txt",
                     "there is none, so this is no host folder; one is made of a copy of /proc "
                     "and /sys with cpubind capture --root COPY -o DIR");
        return NULL;
    }
    if (input.state != CPUBIND_INPUT_PRESENT ||
        cpubind_host_txt_parse(input.data, input.len, &about, &fault) != CPUBIND_TEXT_OK) {
        cpubind_position place = cpubind_text_place(input.data, input.len, fault.offset);
        api_add(w->why, "\"%s/host.txt\", line %d, column %d: %s", w->dir, (int)place.line,
                (int)place.column, fault.what);
        return NULL;
    }
    text = (char *)malloc((size_t)input.len + 1);
    if (!text) {
        (void)refuse(w, "host.txt", "there is no memory left");
        return NULL;
    }
    memcpy(text, input.data, (size_t)input.len);
#define CPUBIND_X(member, key)                                                                 \
    text[about.member.at + about.member.len] = '\0';                                           \
    out->member = text + about.member.at;
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    return text;
}

static int import_host(walk *w)
{
    cpubind_corpus_about about = {0};
    char *text = read_about(w, &about);
    int status;
    if (!text)
        return API_UNREADABLE;
    status = cli_put_host(w->sink, &about, w->why);
    if (status == API_DONE)
        status = take_all(w);
    free(text);
    return status;
}

static int import_capture(const char *dir, cli_sink *sink, api_text *why)
{
    walk w = {.dir = dir, .sink = sink, .why = why};
    struct cpubind_linux_host *host = NULL;
    int status = cli_open_snapshot(dir, &host, why);
    if (status != API_DONE)
        return status;
    w.source = cpubind_linux_source(host);
    status = import_host(&w);
    cpubind_linux_close(host);
    return status;
}

/* == Captures =============================================================== */

/* A capture that is imported, and the host that it is of. */
typedef struct capture {
    char *path;
    char host[CPUBIND_HOST_TXT_NAME_MAX + 1]; /* "": not known, or not needed */
} capture;

/* One import. */
typedef struct importing {
    const api_options *options;
    cli_sink sink;
    capture *capture;
    int32_t n_capture, cap_capture;
    cli_shape_reader reader;
    int32_t n_added, n_unchanged, n_left_out;
    words_value *left_out; /* [{"path", "text"}] */
} importing;

static int add_capture(importing *m, const char *folder, const char *name, api_text *why)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    capture *to;
    if (m->n_capture == m->cap_capture) {
        const int32_t cap = m->cap_capture ? m->cap_capture * 2 : 64;
        to = (capture *)realloc(m->capture, (size_t)cap * sizeof *to);
        if (!to)
            return api_no_room(why);
        m->capture = to;
        m->cap_capture = cap;
    }
    to = &m->capture[m->n_capture];
    *to = (capture){.path = (char *)malloc(size)};
    if (!to->path)
        return api_no_room(why);
    (void)snprintf(to->path, size, "%s%s%s", folder, *folder ? "/" : "", name);
    m->n_capture++;
    return API_DONE;
}

/* Adds the captures in a folder: files NAME.host and NAME.host.gz, and folders of hosts. */
static int add_folder_of(importing *m, const char *path, const cpubind_source *source,
                         api_text *why)
{
    const cpubind_input names = source->list(source->ctx, ".");
    int status = API_DONE;
    for (int32_t at = 0, end; status == API_DONE && at < names.len; at = end + 1) {
        api_text name = {"", 0}, inside = {"", 0};
        for (end = at; end < names.len && names.data[end] != '\n'; end++)
            ;
        api_add(&name, "%.*s", (int)(end - at), names.data + at);
        api_add(&inside, "%s/host.txt", name.text);
        if (cli_host_ending(name.text) ||
            source->read(source->ctx, inside.text).state == CPUBIND_INPUT_PRESENT)
            status = add_capture(m, path, name.text, why);
    }
    return status;
}

/* Adds what a word of the command line names: a capture, or a folder of captures. */
static int add_word(importing *m, const char *word, api_text *why)
{
    const int32_t before = m->n_capture;
    struct cpubind_linux_host *folder = NULL;
    cpubind_linux_fault fault = {.what = ""};
    int status = API_DONE;
    if (cpubind_linux_open_folder(word, NULL, &folder, &fault) == CPUBIND_LINUX_OK) {
        const cpubind_source source = cpubind_linux_source(folder);
        if (source.read(source.ctx, "host.txt").state == CPUBIND_INPUT_ABSENT)
            status = add_folder_of(m, word, &source, why);
    }
    cpubind_linux_close(folder);
    if (status == API_DONE && m->n_capture == before)
        status = add_capture(m, "", word, why);
    return status;
}

static int by_host(const void *a, const void *b)
{
    const capture *left = (const capture *)a, *right = (const capture *)b;
    const int order = strcmp(left->host, right->host);
    return order ? order : strcmp(left->path, right->path);
}

/* Refuses two captures of one host: which of them counts would depend on their order. */
static int check_hosts(importing *m, api_text *why)
{
    if (m->n_capture > 0)
        qsort(m->capture, (size_t)m->n_capture, sizeof *m->capture, by_host);
    for (int32_t i = 1; i < m->n_capture; i++) {
        const capture *last = &m->capture[i - 1], *own = &m->capture[i];
        if (*own->host == '\0' || strcmp(last->host, own->host) != 0)
            continue;
        return words_fail(API_REFUSED, why,
                          "\"%s\" and \"%s\" are both of a host \"%s\"; nothing has changed",
                          last->path, own->path, own->host);
    }
    return API_DONE;
}

/* == Shapes ================================================================= */

/* Reads a capture as the text of NAME.host, of a folder too. */
static int read_capture(const char *path, cpubind_bytes *out, api_text *why)
{
    struct cpubind_linux_host *folder = NULL;
    cpubind_linux_fault fault = {.what = ""};
    cli_sink parts = {.is_file = 1};
    walk w = {.dir = path, .sink = &parts, .why = why};
    int status;
    if (cpubind_linux_open_folder(path, NULL, &folder, &fault) != CPUBIND_LINUX_OK)
        return cli_read_host_text(path, out, why);
    *out = (cpubind_bytes){0};
    w.source = cpubind_linux_source(folder);
    status = import_host(&w);
    if (status == API_DONE &&
        !cpubind_archive_make(parts.part, parts.n_part, 0, &out->data, &out->len))
        status = api_no_room(why);
    cli_close_sink(&parts);
    cpubind_linux_close(folder);
    return status;
}

/* Reads the shape of a host that is open, and stores it. */
static int store_shape(importing *m, capture *c, const cpubind_source *source,
                       cpubind_corpus_shape *shape, api_text *why)
{
    walk w = {.dir = c->path, .source = *source, .why = why};
    cpubind_corpus_fault fault;
    cpubind_corpus_about about = {0};
    char *const text = read_about(&w, &about);
    words_value *read = text ? cli_read_shape(&m->reader, source) : NULL;
    api_out body = {0};
    int status = API_UNREADABLE;
    if (text) {
        words_put(&body, read, WORDS_COMPACT);
        status = body.is_short ? api_no_room(why) : API_DONE;
    }
    words_free(read);
    if (status == API_DONE) {
        (void)snprintf(c->host, sizeof c->host, "%s", about.name);
        status = cli_put_host(&m->sink, &about, why);
    }
    if (status == API_DONE) {
        shape->body = body.text;
        fault = cpubind_corpus_put_shape(m->sink.corpus.corpus, c->host, shape);
        if (fault.status)
            status = cli_corpus_failed(&fault, &m->sink.corpus, c->host, why);
    }
    free(body.text);
    free(text);
    return status;
}

/* Imports the shape of a capture, unless it is known.
 *   out     *is_read: 1 when the capture was read, so that a failure is one of the corpus */
static int import_shape(importing *m, capture *c, int *is_read, api_text *why)
{
    cpubind_corpus_shape shape = {.program = CLI_SHAPE_PROGRAM};
    struct cpubind_linux_host *host = NULL;
    cpubind_bytes text, copy = {0};
    cpubind_source source;
    const char *known;
    int status = read_capture(c->path, &text, why);
    *is_read = 0;
    if (status != API_DONE)
        return status;
    shape.capture = text.len ? text.data : "";
    shape.capture_len = text.len;
    const cpubind_corpus_fault fault =
        cpubind_corpus_find_shape(m->sink.corpus.corpus, &shape, &known);
    if (fault.status) {
        *is_read = 1;
        status = cli_corpus_failed(&fault, &m->sink.corpus, NULL, why);
    } else if (known) {
        (void)snprintf(c->host, sizeof c->host, "%s", known);
        m->n_unchanged++;
    } else {
        copy.data = (char *)malloc((size_t)text.len + 1);
        copy.len = text.len;
        if (copy.data)
            memcpy(copy.data, shape.capture, (size_t)text.len);
        status = copy.data ? cli_open_host_text(c->path, &copy, &host, why) : api_no_room(why);
        if (status == API_DONE) {
            source = cpubind_linux_source(host);
            status = store_shape(m, c, &source, &shape, why);
            *is_read = *c->host != '\0';
            m->n_added += status == API_DONE;
        }
        cpubind_linux_close(host);
    }
    free(text.data);
    return status;
}

/* Says that a capture is left out; with --json all are said at the end, else the first ones. */
static void leave_out(importing *m, capture *c, const api_text *why)
{
    m->n_left_out++;
    if (m->options->json) {
        words_add(m->left_out, words_make("path:s text:s", c->path, why->text));
        return;
    }
    if (m->n_left_out > MAX_SAID)
        return;
    cli_progress(m->options, NULL);
    fprintf(stderr, "cpubind: left out: %s\n", why->text);
}

/* == The command ============================================================ */

static int import_all(importing *m, api_text *why)
{
    char progress[64];
    int status = API_DONE, is_read = 1;
    for (int i = 0; status == API_DONE && i < m->options->n_word; i++)
        status = add_word(m, m->options->word[i], why);
    for (int32_t i = 0; status == API_DONE && i < m->n_capture; i++) {
        capture *c = &m->capture[i];
        (void)snprintf(progress, sizeof progress, "cpubind: %d of %d captures ...", (int)i + 1,
                       (int)m->n_capture);
        cli_progress(m->options, progress);
        if (!m->options->shapes) {
            status = import_capture(c->path, &m->sink, why);
            m->n_added += status == API_DONE;
            continue;
        }
        status = import_shape(m, c, &is_read, why);
        if (status == API_DONE || is_read)
            continue;
        leave_out(m, c, why);
        *why = (api_text){"", 0};
        status = API_DONE;
    }
    cli_progress(m->options, NULL);
    if (status == API_DONE)
        status = check_hosts(m, why);
    return status == API_DONE ? cli_commit_sink(&m->sink, why) : status;
}

static int say_import(importing *m)
{
    api_text more = {"", 0};
    words_value *counts = NULL;
    if (m->options->shapes) {
        counts = words_make("added:i unchanged:i left_out:V", (int)m->n_added,
                            (int)m->n_unchanged, m->left_out);
        api_add(&more, ", %d unchanged, %d left out", (int)m->n_unchanged, (int)m->n_left_out);
    }
    return cli_say_change(m->options, m->sink.corpus.path, counts, "%d %s added%s",
                          (int)m->n_added, m->n_added == 1 ? "host" : "hosts", more.text);
}

int cli_import(int argc, char **argv)
{
    static api_options options;
    static importing m;
    api_text why = {"", 0};
    int status = cli_start(argc, argv, API_IMPORT, &options);
    if (status >= 0)
        return status;
    m = (importing){.options = &options, .left_out = words_array()};
    status = m.left_out ? cli_open_corpus_sink(&options, &m.sink, &why) : cli_no_memory();
    if (status == API_DONE)
        status = import_all(&m, &why);
    cli_close_sink(&m.sink);
    if (status != API_DONE)
        status = cli_fail(&options, status, why.text);
    else if ((status = say_import(&m)) == API_DONE && m.n_left_out > 0)
        status = API_UNREADABLE;
    for (int32_t i = 0; i < m.n_capture; i++)
        free(m.capture[i].path);
    free(m.capture);
    words_free(m.left_out);
    cli_free_shape_reader(&m.reader);
    return status;
}
