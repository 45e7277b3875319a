/* cmd_capture.c - cpubind capture: write all inputs of a plan as a fixture host
 * SPDX-License-Identifier: MIT
 *
 * Plans, writes the inputs and the plan as an expectation, then plans again from the files
 * that were written and compares: exit status 1 when the two plans differ.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../ascend/npusmi.h"
#include "../ascend/redact.h"
#include "../linux/terminal.h"
#include "../text/host_txt.h"
#include "capture_doctor.h"
#include "capture_names.h"
#include "fixture.h"
#include "output.h"

#define INFO "cmd/npu-smi-info.txt"

typedef struct capture {
    api_options *options;
    api_host host;
    api_planned planned;
    cli_captures inputs;
    int32_t n_written;
    int64_t n_byte;
    int is_short;        /* memory ran out */
    char host_name[256]; /* "" when it is not known */
    cpubind_redacted redacted;
    cli_names names;
    words_value
        *kept; /* what --redact left as it was: names with "#" for numbers, and how many */
    words_value *expectation;
    cli_trial replayed;
    api_text why;
} capture;

/* == Inputs ================================================================= */

static int is_left_out(const cli_captured *in)
{
    return in->input.state != CPUBIND_INPUT_PRESENT && in->input.state != CPUBIND_INPUT_TIMEOUT;
}

static void gather(capture *c)
{
    cli_capture_inputs(&c->host.source, c->options, &c->planned, &c->inputs);
    c->is_short |= c->inputs.is_short;
    for (int32_t i = 0; i < c->inputs.n; i++) {
        c->n_written += !is_left_out(&c->inputs.row[i]);
        c->n_byte += c->inputs.row[i].input.len;
    }
}

/* == Redaction ============================================================== */

/* Reads the first word of a file of the host, which is the name of the host. */
static void read_host_name(const cpubind_source *source, const char *name, char *out,
                           size_t size)
{
    cpubind_input input = source->read(source->ctx, name);
    size_t n = 0;
    if (input.state != CPUBIND_INPUT_PRESENT)
        return;
    while (n < (size_t)input.len && input.data[n] > ' ')
        n++;
    if (n == 0 || n >= size)
        return;
    memcpy(out, input.data, n);
    out[n] = '\0';
}

static void find_host_name(capture *c)
{
    if (!c->options->root) {
        if (cpubind_linux_host_name(c->host_name, sizeof c->host_name).error)
            c->host_name[0] = '\0';
        return;
    }
    read_host_name(&c->host.source, "proc/sys/kernel/hostname", c->host_name,
                   sizeof c->host_name);
    if (!c->host_name[0])
        read_host_name(&c->host.source, "etc/hostname", c->host_name, sizeof c->host_name);
}

/* Returns a redacted copy of an input, which the caller frees; NULL when there are no bytes. */
static char *redact_copy(capture *c, const char *name, const char *data, int32_t len)
{
    char *copy = len > 0 ? (char *)malloc((size_t)len) : NULL;
    if (!copy) {
        c->is_short |= len > 0;
        return NULL;
    }
    memcpy(copy, data, (size_t)len);
    cpubind_redact(name, copy, len, c->host_name[0] ? c->host_name : NULL, &c->redacted);
    cli_names_replace(&c->names, name, copy, len);
    c->is_short |= c->names.is_short;
    return copy;
}

/* Counts an input that was left as it was. One line stands for all that differ in numbers. */
static void add_kept(capture *c, const char *name)
{
    api_text to = {"", 0};
    while (*name) {
        const size_t part = strcspn(name, "/"), digits = strspn(name, "0123456789");
        const int is_address = memchr(name, ':', part) != NULL;
        const size_t n = is_address ? part : digits > 0 ? digits : 1;
        api_add(&to, "%.*s", is_address || digits > 0 ? 1 : (int)n,
                is_address || digits > 0 ? "#" : name);
        name += n;
    }
    words_set(c->kept, to.text, words_number(1 + words_integer_of(c->kept, to.text)));
}

static int is_same_bytes(const char *a, const char *b, int32_t len)
{
    return len <= 0 || (a && b && memcmp(a, b, (size_t)len) == 0);
}

static void redact(capture *c)
{
    find_host_name(c);
    c->kept = words_object();
    for (int32_t i = 0; i < c->inputs.n && !c->is_short; i++) {
        cli_captured *in = &c->inputs.row[i];
        const cpubind_input before = in->input;
        char *const distilled = in->copy;
        api_text err_name = {"", 0}, name = {"", 0};
        api_add(&name, "%s", in->name);
        /* The path of a cgroup, which may hold the name, is in proc/self/cgroup too. */
        if (strncmp(in->name, "sys/fs/cgroup/", strlen("sys/fs/cgroup/")) == 0)
            cpubind_redact("", in->name, (int32_t)strlen(in->name),
                           c->host_name[0] ? c->host_name : NULL, &c->redacted);
        cli_names_replace_path(&c->names, in->name);
        in->input.data = in->copy = redact_copy(c, name.text, before.data, before.len);
        api_add(&err_name, "%s.err", name.text);
        in->input.err = in->err = redact_copy(c, err_name.text, before.err, before.err_len);
        if (!is_left_out(in) && strcmp(in->name, name.text) == 0 &&
            is_same_bytes(before.data, in->input.data, before.len))
            add_kept(c, name.text);
        if (before.err_len > 0 && is_same_bytes(before.err, in->input.err, before.err_len))
            add_kept(c, err_name.text);
        free(distilled);
    }
    c->is_short |= !words_is_whole(c->kept);
}

/* == host.txt =============================================================== */

/* Appends the version that npu-smi info prints; "none" without npu-smi, "unknown" when the
 * output has no version. */
static void add_version(const capture *c, api_text *out)
{
    cpubind_input input = c->host.source.read(c->host.source.ctx, INFO);
    cpubind_piece version = {0, 0};
    if (input.state == CPUBIND_INPUT_PRESENT)
        version = cpubind_npusmi_version(input.data, input.len);
    if (input.state == CPUBIND_INPUT_ABSENT)
        api_add(out, "none");
    else if (version.len > 0)
        api_add(out, "%.*s", (int)version.len, input.data + version.at);
    else
        api_add(out, "unknown");
}

static void add_product(const capture *c, api_text *out)
{
    const cpubind_facts *facts = &c->planned.facts;
    if (facts->type == CPUBIND_TYPE_AUTO)
        api_add(out, "unknown");
    else
        api_add(out, "%d NPUs of device type %s", (int)facts->n_device,
                cpubind_type_word(facts->type));
}

/* Sets the name of the host: --name, or the last part of DIR, without the ending of a
 * file. */
static int name_host(const capture *c, api_text *name, api_text *why)
{
    const char *dir = c->options->output;
    if (c->options->name) {
        api_add(name, "%s", c->options->name);
    } else {
        size_t end = strlen(dir), at;
        while (end > 0 && dir[end - 1] == '/')
            end--;
        end -= cli_host_ending(dir);
        for (at = end; at > 0 && dir[at - 1] != '/'; at--)
            ;
        api_add(name, "%.*s", (int)(end - at), dir + at);
    }
    if (cpubind_host_txt_is_name(name->text))
        return API_DONE;
    return words_fail(
        API_USAGE, why,
        "\"%s\" cannot name a host (letters, digits, \".\", \"_\" and \"-\"); give another "
        "with --name NAME",
        name->text);
}

/* == Writing ================================================================ */

static int put_all(const capture *c, cli_sink *sink, api_text *why)
{
    char *body = cli_format_expectation(c->expectation);
    int status = body ? API_DONE : api_no_room(why);
    for (int32_t i = 0; status == API_DONE && i < c->inputs.n; i++)
        if (!is_left_out(&c->inputs.row[i]))
            status = cli_put_input(sink, c->inputs.row[i].name, &c->inputs.row[i].input, why);
    if (status == API_DONE)
        status = cli_put_expectation(sink, "default", body, strlen(body), why);
    free(body);
    return status;
}

static int write_capture(capture *c, const char *name)
{
    api_text version = {"", 0}, product = {"", 0};
    cpubind_corpus_about about = {.name = name, .origin = "captured"};
    cli_sink sink;
    int status = c->options->output
                     ? cli_open_path_sink(c->options, c->options->output, &sink, &c->why)
                     : cli_open_corpus_sink(c->options, &sink, &c->why);
    add_version(c, &version);
    add_product(c, &product);
    about.npu_smi = version.text;
    about.product = product.text;
    about.notes = "captured with cpubind " CPUBIND_VERSION;
    if (status == API_DONE)
        status = cli_put_host(&sink, &about, &c->why);
    if (status == API_DONE)
        status = put_all(c, &sink, &c->why);
    if (status == API_DONE)
        status = cli_commit_sink(&sink, &c->why);
    cli_close_sink(&sink);
    return status;
}

/* Plans from the files that were written, and compares with the expectation. */
static int replay(capture *c, const char *name)
{
    static api_options written;
    api_host host;
    char *body = cli_format_expectation(c->expectation);
    int status = body ? API_DONE : api_no_room(&c->why);
    written.root = c->options->output;
    written.fixture = c->options->output ? NULL : name;
    written.db = c->options->db;
    if (status == API_DONE)
        status = cli_open_host(&written, &host, &c->why);
    if (body && status == API_DONE) {
        cli_try(&host.source, body, strlen(body), &c->planned, &c->replayed);
        api_close_host(&host);
    }
    free(body);
    return status;
}

/* == Report ================================================================= */

static void print_redacted(const capture *c)
{
    printf("taken out: %d serial numbers, %d names of processes, %d of containers, jobs and "
           "users, ",
           (int)c->redacted.serial_numbers, (int)c->redacted.process_names,
           (int)c->names.n_place);
    if (cpubind_redact_finds(c->host_name))
        printf("the name of the host %d times\n", (int)c->redacted.host_names);
    else if (c->host_name[0])
        puts("not the name of the host, which cannot be told from the words and numbers "
             "around it: look for it by hand");
    else
        puts("not the name of the host, which is not known here: look for it by hand");
    for (int32_t i = 0; i < words_count(c->kept); i++)
        printf("left as it is: %s (%d)\n", words_key(c->kept, i),
               (int)words_integer(words_at(c->kept, i)));
}

/* "proc/interrupts: Permission denied" */
static void add_left_out(const cli_captured *in, api_text *out)
{
    api_add(out, "%s: %s", in->name,
            in->input.state == CPUBIND_INPUT_TOO_LONG ? "it is too long"
                                                      : strerror(in->input.error));
}

static void print_left_out(const capture *c)
{
    for (int32_t i = 0; i < c->inputs.n; i++) {
        api_text line = {"", 0};
        if (!is_left_out(&c->inputs.row[i]))
            continue;
        add_left_out(&c->inputs.row[i], &line);
        printf("left out: %s\n", line.text);
    }
}

static words_value *left_out_json(const capture *c)
{
    words_value *array = words_array();
    for (int32_t i = 0; i < c->inputs.n; i++) {
        api_text line = {"", 0};
        if (!is_left_out(&c->inputs.row[i]))
            continue;
        add_left_out(&c->inputs.row[i], &line);
        words_add(array, words_text(line.text));
    }
    return array;
}

static void print_text(const capture *c)
{
    const words_value *plan = words_get(c->expectation, "plan");
    const words_value *error = words_get(c->expectation, "error");
    const char *word =
        words_string(plan ? words_get(plan, "strategy") : words_get(error, "code"));
    api_text head = {"", 0};
    api_add(&head, "%s: %d inputs, %lld bytes",
            c->options->output ? c->options->output : c->options->db, (int)c->n_written,
            (long long)c->n_byte);
    puts(head.text);
    print_left_out(c);
    if (c->options->redact)
        print_redacted(c);
    if (error && c->replayed.n_difference > 0)
        printf("there is no plan: %s\n", words_string(words_get(error, "text")));
    printf("%s: %s; what was written gives %s\n", plan ? "plan" : "refusal", word ? word : "",
           c->replayed.n_difference == 0 ? "the same" : "another:");
    if (c->replayed.n_difference > 0)
        cli_print_lines(stdout, "    ", c->replayed.text);
}

static int print_json(const capture *c)
{
    words_value *redacted =
        words_make("host_names:i serial_numbers:i process_names:i names:i is_host_name_known:b "
                   "is_host_name_looked_for:b",
                   (int)c->redacted.host_names, (int)c->redacted.serial_numbers,
                   (int)c->redacted.process_names, (int)c->names.n_place,
                   c->host_name[0] != '\0', cpubind_redact_finds(c->host_name));
    if (c->kept)
        words_set(redacted, "left", words_share(c->kept));
    return cli_print_json(
        stdout,
        words_make("cpubind:s inputs:i bytes:I left_out:v expectation:V redacted:v "
                   "is_same:b",
                   CPUBIND_VERSION, (int)c->n_written, (int64_t)c->n_byte, left_out_json(c),
                   c->expectation, redacted, c->replayed.n_difference == 0));
}

static int say(const capture *c)
{
    if (c->options->json)
        return print_json(c) ? API_DONE : cli_no_memory();
    if (!c->options->quiet)
        print_text(c);
    else if (c->replayed.n_difference > 0) {
        fputs("cpubind: what was written gives another plan:\n", stderr);
        cli_print_lines(stderr, "    ", c->replayed.text);
    }
    return API_DONE;
}

/* == The command ============================================================ */

/* Makes the expectation: the arguments that were given, and the plan or the problem. */
static int expect(capture *c)
{
    words_value *args = words_array();
    api_text text = {"", 0};
    for (int i = 0; args && i < c->options->n_arg; i++)
        words_add(args, words_text(c->options->arg[i]));
    c->expectation =
        args ? cli_make_expectation(args, &c->host.source, &c->planned, c->options, &text)
             : NULL;
    words_free(args);
    c->is_short |= c->planned.code == CPUBIND_PROBLEM_NO_MEMORY ||
                   c->planned.problem.answer.error == ENOMEM;
    return c->expectation ? API_DONE : api_no_room(&c->why);
}

static int run(capture *c, const char *name)
{
    int status = cli_open_host(c->options, &c->host, &c->why);
    if (status == API_DONE)
        status = api_find_devices(&c->host.source, c->options, &c->why);
    if (status != API_DONE)
        return status;
    if (!c->options->root)
        cli_progress(c->options, "cpubind: asking npu-smi ...");
    gather(c);
    status = expect(c);
    if (c->options->redact)
        redact(c);
    cli_progress(c->options, NULL);
    if (c->is_short && status == API_DONE)
        status = api_no_room(&c->why);
    if (status == API_DONE)
        status = write_capture(c, name);
    return status == API_DONE ? replay(c, name) : status;
}

static void free_capture(capture *c)
{
    cli_free_captures(&c->inputs);
    cli_names_free(&c->names);
    words_free(c->kept);
    words_free(c->expectation);
    cli_free_trial(&c->replayed);
    api_free_planned(&c->planned);
    api_close_host(&c->host);
}

int cli_capture(int argc, char **argv)
{
    static api_options options;
    static capture c;
    static api_text name;
    int status = cli_start(argc, argv, API_CAPTURE, &options);
    if (status >= 0)
        return status;
    c.options = &options;
    status = name_host(&c, &name, &c.why);
    if (status == API_DONE)
        status = run(&c, name.text);
    status = status == API_DONE ? say(&c) : cli_fail(&options, status, c.why.text);
    if (status == API_DONE && c.replayed.n_difference > 0)
        status = API_REFUSED;
    free_capture(&c);
    return status;
}
