/* report.c - what a replay came to, as text, TAP, JUnit or JSON
 * SPDX-License-Identifier: MIT
 */
#include "report.h"

#include <string.h>

/* How often each came out. */
typedef struct tally {
    int32_t n_case, n_held, n_unread;
} tally;

static tally count(const cli_replayed *host, int32_t n_host)
{
    tally t = {0, 0, 0};
    for (int32_t i = 0; i < n_host; i++) {
        t.n_unread += host[i].status != CLI_DONE;
        t.n_case += host[i].n_trial;
        for (int32_t k = 0; k < host[i].n_trial; k++)
            t.n_held += host[i].trial[k].n_difference == 0;
    }
    return t;
}

static int exit_of(tally t)
{
    if (t.n_unread > 0)
        return CLI_UNREADABLE;
    return t.n_held < t.n_case || t.n_case == 0 ? CLI_REFUSED : CLI_DONE;
}

static const char *or_none(const char *text)
{
    return text ? text : "there is no memory left\n";
}

/* == Text =================================================================== */

static void print_host_text(const cli_replayed *host)
{
    if (host->status != CLI_DONE)
        cli_print_lines(stdout, "", host->why);
    for (int32_t k = 0; k < host->n_trial; k++) {
        const cli_replayed_case *c = &host->trial[k];
        cli_text head = {"", 0};
        if (c->n_difference == 0)
            continue;
        cli_add(&head, "%s %s: %d %s", host->name, or_none(c->name), c->n_difference,
                c->n_difference == 1 ? "difference" : "differences");
        puts(head.text);
        cli_print_lines(stdout, "    ", c->text);
    }
}

static void print_text(const cli_options *options, const cli_replayed *host, int32_t n_host,
                       tally t, double seconds)
{
    for (int32_t i = 0; i < n_host; i++)
        print_host_text(&host[i]);
    if (t.n_case == 0 && t.n_unread == 0)
        puts("there is no expectation to hold");
    else if (!options->quiet)
        printf("%d of %d expectations of %d hosts hold (%.2f s, %.0f a second)\n",
               (int)t.n_held, (int)t.n_case, (int)n_host, seconds,
               seconds > 0 ? t.n_case / seconds : 0.0);
}

/* == TAP ==================================================================== */

/* A test; "#" would start a directive. */
static void print_tap_line(int is_ok, int number, const char *host, const char *name)
{
    cli_text text = {"", 0};
    cli_add(&text, "%s %d - %s%s%s", is_ok ? "ok" : "not ok", number, host, *name ? " " : "",
            name);
    for (char *at = text.text; *at; at++)
        if (*at == '#')
            *at = '?';
    puts(text.text);
}

static void print_tap(const cli_replayed *host, int32_t n_host, tally t)
{
    int number = 0;
    puts("TAP version 13");
    printf("1..%d\n", (int)(t.n_case + t.n_unread));
    for (int32_t i = 0; i < n_host; i++) {
        if (host[i].status != CLI_DONE) {
            print_tap_line(0, ++number, host[i].name, "");
            cli_print_lines(stdout, "# ", host[i].why);
        }
        for (int32_t k = 0; k < host[i].n_trial; k++) {
            const cli_replayed_case *c = &host[i].trial[k];
            print_tap_line(c->n_difference == 0, ++number, host[i].name, or_none(c->name));
            if (c->n_difference)
                cli_print_lines(stdout, "# ", c->text);
        }
    }
}

/* == JUnit ================================================================== */

/* Text inside an element or an attribute of XML: ASCII, line feeds kept. */
static void print_xml(const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", stdout);
        else if (*text == '<')
            fputs("&lt;", stdout);
        else if (*text == '>')
            fputs("&gt;", stdout);
        else if (*text == '"')
            fputs("&quot;", stdout);
        else
            putchar((*text >= ' ' && *text <= '~') || *text == '\n' ? *text : '?');
    }
}

static void print_attribute(const char *name, const char *value)
{
    printf(" %s=\"", name);
    print_xml(value);
    putchar('"');
}

/* A test case; why NULL: it holds. */
static void print_junit_case(const char *host, const char *name, const char *element,
                             const char *why)
{
    fputs("    <testcase", stdout);
    print_attribute("classname", host);
    print_attribute("name", name);
    if (!why) {
        puts("/>");
        return;
    }
    printf("><%s message=\"%s\">", element,
           strcmp(element, "error") == 0 ? "the host cannot be opened" : "the plan differs");
    print_xml(why);
    printf("</%s></testcase>\n", element);
}

static void print_junit_host(const cli_replayed *host)
{
    const tally t = count(host, 1);
    fputs("  <testsuite", stdout);
    print_attribute("name", host->name);
    printf(" tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.6f\">\n",
           (int)(t.n_case + t.n_unread), (int)(t.n_case - t.n_held), (int)t.n_unread,
           host->seconds);
    if (host->status != CLI_DONE)
        print_junit_case(host->name, "open", "error", or_none(host->why));
    for (int32_t k = 0; k < host->n_trial; k++) {
        const cli_replayed_case *c = &host->trial[k];
        print_junit_case(host->name, or_none(c->name), "failure",
                         c->n_difference ? or_none(c->text) : NULL);
    }
    puts("  </testsuite>");
}

static void print_junit(const cli_replayed *host, int32_t n_host, tally t, double seconds)
{
    puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    printf("<testsuites name=\"cpubind fixture replay\" tests=\"%d\" failures=\"%d\" "
           "errors=\"%d\" time=\"%.6f\">\n",
           (int)(t.n_case + t.n_unread), (int)(t.n_case - t.n_held), (int)t.n_unread, seconds);
    for (int32_t i = 0; i < n_host; i++)
        print_junit_host(&host[i]);
    puts("</testsuites>");
}

/* == JSON =================================================================== */

static json_t *failure_json(const char *host, const char *name, const char *text)
{
    return json_pack("{s:o, s:o, s:o}", "host", cli_json_text(host), "case",
                     name ? cli_json_text(name) : json_null(), "text", cli_json_text(text));
}

static int print_json(const cli_replayed *host, int32_t n_host, tally t, double seconds)
{
    json_t *failures = json_array();
    for (int32_t i = 0; failures && i < n_host; i++) {
        if (host[i].status != CLI_DONE)
            failures = cli_json_append(failures,
                                       failure_json(host[i].name, NULL, or_none(host[i].why)));
        for (int32_t k = 0; failures && k < host[i].n_trial; k++)
            if (host[i].trial[k].n_difference)
                failures = cli_json_append(
                    failures, failure_json(host[i].name, or_none(host[i].trial[k].name),
                                           or_none(host[i].trial[k].text)));
    }
    return cli_print_json(
        stdout, json_pack("{s:s, s:i, s:i, s:i, s:f, s:o}", "cpubind", CPUBIND_VERSION, "hosts",
                          (int)n_host, "expectations", (int)t.n_case, "held", (int)t.n_held,
                          "seconds", seconds, "failures", failures));
}

int cli_print_replayed(const cli_options *options, const cli_replayed *host, int32_t n_host,
                       double seconds)
{
    const tally t = count(host, n_host);
    if (options->json) {
        if (!print_json(host, n_host, t, seconds))
            return cli_no_memory();
    } else if (options->format == CLI_FORMAT_TAP) {
        print_tap(host, n_host, t);
    } else if (options->format == CLI_FORMAT_JUNIT) {
        print_junit(host, n_host, t, seconds);
    } else {
        print_text(options, host, n_host, t, seconds);
    }
    return exit_of(t);
}
