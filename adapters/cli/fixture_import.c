/* fixture_import.c - cpubind fixture import: add host folders to a corpus
 * SPDX-License-Identifier: MIT
 *
 * Either all hosts are added, or none. Every file of a folder must be one that
 * fixtures/README.md names; any other file is refused, so that no typing error goes unnoticed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ascend/input_list.h"
#include "../linux/source/host_source.h"
#include "../text/host_txt.h"
#include "fixture.h"

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
    api_add(w->why, "\"%s/%s\": %s", w->dir, name, what);
    return API_UNREADABLE;
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
    json_t *read;
    if (!cpubind_host_txt_is_name(stem))
        return refuse(w, name,
                      "an expectation is named by letters, digits, \".\", \"_\", \"-\"");
    read = cli_read_expectation(input.data, (size_t)input.len, &why);
    if (!read)
        return refuse(w, name, why.text);
    json_decref(read);
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
        cpubind_place place = cpubind_text_place(input.data, input.len, fault.offset);
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
    cpubind_corpus_about about;
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

static int import_folder(const char *dir, cli_sink *sink, api_text *why)
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

int cli_import(int argc, char **argv)
{
    static api_options options;
    api_text why = {"", 0};
    cli_sink sink;
    int status = cli_start(argc, argv, API_IMPORT, NULL, &options);
    if (status >= 0)
        return status;
    status = cli_open_corpus_sink(&options, &sink, &why);
    for (int i = 0; status == API_DONE && i < options.n_word; i++)
        status = import_folder(options.word[i], &sink, &why);
    if (status == API_DONE)
        status = cli_commit_sink(&sink, &why);
    cli_close_sink(&sink);
    if (status != API_DONE)
        return cli_fail(&options, status, why.text);
    return cli_say_change(&options, sink.path, NULL, "%d %s added", options.n_word,
                          options.n_word == 1 ? "host" : "hosts");
}
